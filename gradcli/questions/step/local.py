"""Questions: the local derivatives of a node that is about to run, by its own formulas.

A node computes vector-Jacobian products. Given ones it answers its whole derivative where its
result is a single number; where it works element by element, which a second, irregular vector
shows, it answers the derivative of each element. Elsewhere the Jacobian is a matrix that nobody
ever forms, and what the node does with the incoming gradient is told in words.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from ...engine.device import module_of
from ...engine.node import Packed
from ...engine.tensor import Tensor
from ...recording.steps import Local

LARGEST = 4096  # elements of a result whose local derivatives are computed
GOLDEN = 0.6180339887498949
TOLERANCE = {"float64": 1e-9, "float32": 1e-4}

# What a node does with the incoming gradient, by the beginning of its name.
STRUCTURES: tuple[tuple[tuple[str, ...], str], ...] = (
    (("Mm", "Mv", "Bmm", "Addmm", "Addmv", "Addbmm", "Baddbmm", "Linear", "Dot", "Vdot", "Ger"),
     "matrix product with the other factor, transposed"),
    (("Conv", "Convolution", "MkldnnConvolution"), "convolution, transposed"),
    (("Sum",), "the gradient spread over what was summed"),
    (("Mean",), "the gradient, spread evenly over what was averaged"),
    (("Select", "Slice", "Index", "Gather", "Take", "AsStrided", "Diagonal", "Embedding",
      "MaskedSelect", "Unfold"),
     "the gradient put where it was read, zeros elsewhere"),
    (("Max", "Min", "Amax", "Amin", "Median", "Kthvalue", "Mode", "Sort", "Topk"),
     "the gradient put where the result came from, zeros elsewhere"),
    (("View", "UnsafeView", "Reshape", "Unsqueeze", "Squeeze", "T0", "TBackward", "Transpose",
      "Permute", "Alias", "Clone", "Roll", "Flip", "Rot90", "Unflatten"),
     "the same numbers, arranged as the input"),
    (("Expand", "Repeat"), "the gradients of all copies, summed"),
    (("Cat", "Stack", "Split", "Unbind", "Chunk", "Unsafe"), "the part that belongs to it"),
    (("Cumsum",), "running sum of the gradient from behind"),
    (("Softmax", "LogSoftmax"), "the gradient less its part along the softmax"),
    (("NllLoss",), "minus the weight at the target, zeros elsewhere"),
    (("AvgPool", "AdaptiveAvg"), "the gradient, spread evenly over each window"),
    (("MaxPool", "AdaptiveMax"), "the gradient put at each window's maximum"),
    (("BackwardHookFunction",), "passed on as it is: a place for a module's hooks"),
    (("CopySlices",), "the part that was overwritten goes one way, the rest the other"),
)  # fmt: skip
OTHER = "vector-Jacobian product"
# Inputs that are only added: where they stand among the inputs of such nodes.
ADDED = {"Addmm": 0, "Addmv": 0, "Addbmm": 0, "Baddbmm": 0, "Addr": 0, "Conv": 2, "Linear": 2}


def local_derivatives(node: Any, grads: tuple[Any, ...]) -> tuple[Local | None, ...]:
    """One for each input; None where nothing is known or no gradient goes."""
    count = len(node.edges)
    alone = grads[0] if len(grads) == 1 else None
    row = getattr(node, "row", None)  # what computes by itself has none
    if alone is None or row is None or row.listed or _is_packed(node):
        return _in_words(node, count)
    grad = alone._data if isinstance(alone, Tensor) else alone
    if grad.dtype.kind != "f" or grad.size > LARGEST:
        return _in_words(node, count)
    try:
        found = _by_probes(node, grad)
    except Exception:  # it will say itself what is wrong with it
        return (None,) * count
    return tuple(
        local if local is not None or edge is None else _told(node, place)
        for place, (local, edge) in enumerate(zip(found, node.edges, strict=True))
    )


def _in_words(node: Any, count: int) -> tuple[Local | None, ...]:
    if type(node).__name__ == "FunctionNode":
        return (Local("structure", None, "what the program's own backward computes"),) * count
    return tuple(_told(node, place) for place in range(count))


def _told(node: Any, place: int) -> Local:
    return Local("structure", None, _words(node.name(), place))


@functools.cache
def _words(node_name: str, place: int) -> str:
    """What a node of this name does for the input at this place."""
    name = node_name.rpartition("::")[2]
    if any(name.startswith(start) and place == at for start, at in ADDED.items()):
        return "the gradient, summed back to its shape"
    return next((words for starts, words in STRUCTURES if name.startswith(starts)), OTHER)


def _is_packed(node: Any) -> bool:
    """Unpacking runs functions of the program: they must not run twice."""
    saved = node.saved
    return isinstance(saved, tuple) and any(value.__class__ is Packed for value in saved)


def _by_probes(node: Any, grad: Any) -> list[Local | None]:
    backward = node.row.backward
    xp = module_of(grad)
    # A number of NumPy stays one: that is what nodes are given on the CPU.
    ones = xp.ones_like(grad) if hasattr(grad, "__setitem__") else grad.dtype.type(1)
    answers = backward(node, ones)
    if grad.size == 1:
        return [_of_one_number(answer) for answer in answers]
    steps = xp.arange(1, grad.size + 1, dtype="float64") * GOLDEN
    probe = (0.5 + steps % 1.0).astype(grad.dtype).reshape(grad.shape)
    found = _pointwise(answers, backward(node, probe), probe)
    inputs = node.inputs
    if inputs is None or all(local is not None or a is None
                             for local, a in zip(found, answers, strict=True)):  # fmt: skip
        return found
    node.rest.inputs = None  # before what was broadcast is summed back
    try:
        wide, probed = backward(node, ones), backward(node, probe)
    finally:
        node.rest.inputs = inputs
    summed = _pointwise(wide, probed, probe)
    return [
        local or (None if broad is None or answer is None else _summed(broad, answer))
        for local, broad, answer in zip(found, summed, answers, strict=True)
    ]


def _of_one_number(answer: Any) -> Local | None:
    if answer is None:
        return None
    return Local("number" if answer.size == 1 else "row", answer)


def _pointwise(answers: Sequence[Any], probed: Sequence[Any], probe: Any) -> list[Local | None]:
    """Local derivatives where the answer to any vector is that vector times them."""
    found: list[Local | None] = []
    for answer, other in zip(answers, probed, strict=True):
        local = None
        if answer is not None and answer.shape == probe.shape and answer.dtype.kind == "f":
            xp = module_of(probe)
            scale = TOLERANCE.get(probe.dtype.name, 1e-2)
            if bool(xp.allclose(other, answer * probe, rtol=scale, atol=scale, equal_nan=True)):
                local = Local("elementwise", answer)
        found.append(local)
    return found


def _summed(broad: Local, answer: Any) -> Local:
    """The same where the input was broadcast to the result's shape."""
    shape = list(answer.shape)
    return Local("elementwise", broad.value, f"summed back to {shape or 'a single number'}")
