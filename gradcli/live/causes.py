"""Live: the causes of an error of a backward pass, from a recording: what saved, changed, freed."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from ..named import NamedTuple

if TYPE_CHECKING:
    from .recorder import Recorder

Cause = tuple[Any, str]
NAMED = re.compile(r"\[[\w.]+ \[([\d, ]*)\]\].* is at version (\d+)")
INPLACE, FREED = "modified by an inplace operation", "backward through the graph a second time"


class Change(NamedTuple):
    """A change of a tensor in place: its sizes and those of what it is a view of, in order, how
    often it was changed by then, and where."""

    sizes: tuple[list[int], ...]
    version: int
    origin: Any

    @classmethod
    def of(cls, tensor: Any, origin: Any) -> Change:
        """The one that just happened."""
        whole = tensor if tensor._base is None else tensor._base
        return cls((sorted(tensor.shape), sorted(whole.shape)), tensor._version, origin)


def causes_of(error: Exception, recorder: Recorder, nodes: list[Any]) -> list[Cause]:
    """Places that explain it; none where the recording does not know."""
    message = str(error)
    # The engine runs what was made last first; a leaf's number is the largest, and tells nothing.
    nodes = sorted(nodes, key=lambda node: node._sequence_nr(), reverse=True)
    if INPLACE in message:
        found = [_saver(recorder, nodes), _changer(recorder, message)]
    elif FREED in message:
        found = [_freeing(recorder, nodes)]
    else:
        return []
    return [cause for cause in found if cause is not None and isinstance(cause[0], ast.AST)]


def _freeing(recorder: Recorder, nodes: list[Any]) -> Cause | None:
    """The call that freed the saved tensors of the first node without any."""
    side = recorder.side
    for node in nodes:
        mark = None if hasattr(node, "variable") else side.mark(node)
        if mark is not None and mark.is_freed:
            name = node.name().rpartition("::")[2]
            text = recorder.text.words(mark.origin)
            return mark.freed_at, f"freed what {name}{f' ({text})' if text else ''} had saved"
    return None


def _saver(recorder: Recorder, nodes: list[Any]) -> Cause | None:
    """The node that finds a saved tensor changed."""
    side = recorder.side
    for node in nodes:
        if hasattr(node, "variable") or side.is_packed(node):
            continue
        for name, _ in side.kept_names(node):
            try:
                getattr(node, name)
            except RuntimeError as wrong:
                if INPLACE in str(wrong):
                    return side.origin(node), "saved here for backward"
            except AttributeError:
                continue
    return None


def _changer(recorder: Recorder, message: str) -> Cause | None:
    """The change in place that made the version in the message; of a weight that was saved
    transposed the shape has another order."""
    told = NAMED.search(message)
    if told is None:
        return None
    sizes, version = sorted(map(int, re.findall(r"\d+", told[1]))), int(told[2])
    alike = [change for change in recorder.changes if sizes in change.sizes]
    for change in reversed(alike):
        if change.version == version:
            return change.origin, "changed in place here"
    return (alike[-1].origin, "changed in place here") if alike else None
