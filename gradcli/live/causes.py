"""Live: what a recording knows of an error of a pass: who saved, who changed, who freed."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .recorder import Recorder

Cause = tuple[Any, str]
INPLACE, FREED = "modified by an inplace operation", "backward through the graph a second time"


def causes_of(error: Exception, recorder: Recorder, nodes: list[Any]) -> list[Cause]:
    """Places that explain it; none where the recording does not know."""
    message = str(error)
    if INPLACE in message:
        found = [_saver(recorder, nodes), _changer(recorder, message)]
    elif FREED in message:
        freed = (recorder.side.mark(node) for node in nodes if not hasattr(node, "variable"))
        origin = next((mark.freed_at for mark in freed if mark.is_freed), None)
        found = [(origin, "this call gave up what the graph had saved")]
    else:
        return []
    return [cause for cause in found if cause is not None and isinstance(cause[0], ast.AST)]


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
    """The last change in place of a tensor of the shape that the message names."""
    for shape, origin in reversed(recorder.changes):
        if f"{list(shape)}]" in message:
            return origin, "changed in place here"
    return None
