"""Live: the causes of an error of a backward pass, from a recording: what saved, changed, freed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ..engine.schema.mode import state
from ..named import NamedTuple

if TYPE_CHECKING:
    from .recorder import Recorder

Cause = tuple[Any, str]
LEAF, SCALAR = "a leaf Variable that requires grad", "created only for scalar outputs"
MOST = 4  # operands that are described
OF_TYPES, OF_DEVICES = ("type", "Double", "Long", "Half"), ("device", "cuda", "meta")
NAMED = re.compile(r"\[[\w.]+ \[([\d, ]*)\]\].* is at version (\d+)")
UNUSED = re.compile(r"Tensor at index (\d+) appears to not have been used")
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
    elif told := UNUSED.search(message):
        found = [_unused(int(told[1]))]
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


def _unused(place: int) -> Cause | None:
    """The input of torch.autograd.grad with this number."""
    call: Any = state.origin
    words = {word.arg: word.value for word in getattr(call, "keywords", ())}
    inputs = words.get("inputs") or (call.args[1] if len(getattr(call, "args", ())) > 1 else None)
    if isinstance(inputs, (ast.List, ast.Tuple)) and place < len(inputs.elts):
        inputs = inputs.elts[place]
    elif place:
        return None
    return None if inputs is None else (inputs, "the result was not computed from it")


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


class Refusal(NamedTuple):
    """An operation that raised an error: the expression, and what it was given."""

    error: tuple[int, str]  # its identity and its message: what it holds is the program's
    node: Any
    words: str

    @classmethod
    def of(cls, error: BaseException, node: Any, given: Any, module: Any, tensor: Any) -> Refusal:
        """The one that is being raised. `given` are the arguments, in the module that runs."""
        message = str(error)
        own = {} if module is None else module._parameters
        inputs: list[str] = []
        held: list[str] = []
        for one in _flat(given, tensor):
            name = next((name for name, known in own.items() if known is one), "")
            said = _described(one, error)
            (held if name else inputs).append(f"its {name} is {said}" if name else said)
        words = " and ".join(inputs[:MOST])
        if "does not require grad" in message:
            words = "goes back from a result that has no graph"
        elif LEAF in message:
            words = "changes a leaf while gradients are recorded"
        elif SCALAR in message and words:
            words = f"goes back from a result of the shape {words}"
        elif words:
            who = "" if module is None else f"{type(module).__name__} is "
            words = ", ".join([f"{who}given {words}", *held[:MOST]])
        return cls((id(error), message), node, words)

    def causes_of(self, error: BaseException) -> list[Cause]:
        """What explains an error, if it is this one."""
        is_known = self.error == (id(error), str(error)) and self.words and self.node is not None
        return [(self.node, self.words)] if is_known else []


def _flat(given: Iterable[Any], tensor: Any) -> Iterator[Any]:
    """The tensors among arguments, and in lists of them."""
    for one in given:
        for part in one if isinstance(one, (list, tuple)) else (one,):
            if isinstance(part, tensor) and not hasattr(type(part), "materialize"):
                yield part


def _described(tensor: Any, error: BaseException) -> str:
    """Its shape, and what else the error is about."""
    message, said = str(error), str(list(tensor.shape))
    if any(word in message for word in OF_TYPES):
        said += f" {str(tensor.dtype).removeprefix('torch.')}"
    if any(word in message for word in OF_DEVICES):
        said += f" on {tensor.device}"
    is_index = not tensor.is_floating_point() and not tensor.is_complex() and tensor.is_cpu
    if isinstance(error, IndexError) and is_index and tensor.numel():
        said += f" with numbers from {int(tensor.min())} to {int(tensor.max())}"
    return said
