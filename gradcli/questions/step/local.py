"""Questions: the local derivatives of a node that is about to run, from its own formulas.

A node computes vector-Jacobian products. Given ones it answers its whole derivative where its
result is a single number; where it works element by element, which a second, irregular vector
shows, it answers the derivative of each element. Elsewhere the Jacobian is a matrix that nobody
ever forms, and what the node does with the incoming gradient is described in words.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy

from ...engine.memory.device import module_of
from ...engine.schema.operator import Row
from ...engine.tensors.tensor import Tensor
from ...recording.sides import (
    FLOATS,
    array_of,
    edges_of,
    is_live,
    is_packed,
    probed,
    row_of,
    sides,
    users_class,
)
from ...recording.steps import Local

LARGEST = 4096  # elements of a result whose local derivatives are computed
GOLDEN = 0.6180339887498949
TOLERANCE = {"float64": 1e-9, "float32": 1e-4}

# What a node does with the incoming gradient, by what the matrix of its derivative is called, and
# by how its row acts.
OF_JACOBIAN = {
    "convolution": "convolution, transposed",
    "sum": "the gradient spread over what was summed",
    "mean": "the gradient, spread evenly over what was averaged",
    "placement": "the part that belongs to it",
    "triangle of ones": "running sum of the gradient from behind",
    "softmax": "the gradient less its part along the softmax",
    "log-softmax": "the gradient less its part along the softmax",
    "reshape": "the same numbers, arranged as the input",
}
OF_WINDOWS = {
    "mean": "the gradient, spread evenly over each window",
    "selection": "the gradient put at each window's maximum",
}
OF_ACTS = {
    "pointwise": "each element times its own derivative",
    "product": "matrix product with the other factor, transposed",
    "selects": "the gradient put where the result came from, zeros elsewhere",
    "moves": "the same numbers, arranged as the input",
    "spreads": "the gradients of all copies, summed",
}
CONJUGATE = "each element times the conjugate of its own derivative"
OF_PARTS = "each element by the derivatives of its real and its imaginary part"
TARGET = "minus the weight at the target, zeros elsewhere"
READ = "the gradient put where it was read, zeros elsewhere"
ADDED = "the gradient, summed back to its shape"
OTHER = "vector-Jacobian product"
# Nodes without a row.
OF_NODES = {
    "BackwardHookFunctionBackward": "passed on as it is: a place for a module's hooks",
    "CopySlices": "the part that was overwritten goes one way, the rest the other",
    "AsStridedBackward0": READ,
}


def local_derivatives(node: Any, grads: tuple[Any, ...]) -> tuple[Local | None, ...]:
    """One for each input; None where nothing is known or no gradient goes."""
    edges = edges_of(node)
    count = len(edges)
    alone = grads[0] if len(grads) == 1 else None
    row = row_of(node)  # what computes by itself has none
    if alone is None or row is None or row.listed or is_packed(node):
        return _in_words(node, count)
    grad, live = alone._data if isinstance(alone, Tensor) else alone, False
    if grad.__class__ not in FLOATS:
        live = is_live(alone)
        if live:
            if len(row.signature.outputs) > 1:  # PyTorch's has a gradient for the first alone
                return _in_words(node, count)
            grad = array_of(alone)
        if grad.dtype.kind != "f" or grad.size > LARGEST:
            told = _in_words(node, count)
            return _conjugate(row, told) if grad.dtype.kind == "c" else told
    try:
        found = _of_live(node, alone, row) if live else _by_probes(node, grad)
    except Exception:  # it goes back for several at once, or will say itself what is wrong with it
        return _in_words(node, count)
    if None not in found:
        return tuple(found)
    return tuple(
        local if local is not None or edge is None else _local_of(node, place)
        for place, (local, edge) in enumerate(zip(found, edges, strict=True))
    )


def _conjugate(row: Row, found: tuple[Local | None, ...]) -> tuple[Local | None, ...]:
    """Words for a complex gradient, which goes back by the conjugate of a derivative; conj and abs
    have none."""
    said = CONJUGATE if row.holomorphic else OF_PARTS
    pointwise = OF_ACTS["pointwise"]
    return tuple(
        Local(one.kind, one.value, said) if one is not None and one.words == pointwise else one
        for one in found
    )


def _in_words(node: Any, count: int) -> tuple[Local | None, ...]:
    if users_class(node):
        return (Local("structure", None, "what the program's own backward computes"),) * count
    return tuple(_local_of(node, place) for place in range(count))


def _local_of(node: Any, place: int) -> Local:
    row = row_of(node)
    if row is None:
        name = node.name().rpartition("::")[2]
        return Local("structure", None, OF_NODES.get(name, OTHER))
    return Local("structure", None, _words(row, place))


@functools.cache
def _words(row: Row, place: int) -> str:
    """What a node of this row does for the input at this place."""
    if row.acts == "product" and _is_only_added(row, place):
        return ADDED
    if not {"kernel_size", "output_size"}.isdisjoint(row.signature.names):
        return OF_WINDOWS.get(row.jacobian, OTHER)
    if row.listed:
        return OF_JACOBIAN["placement"]
    if row.jacobian == "selection" and row.acts != "selects":
        return READ if row.acts == "moves" else TARGET
    if row.jacobian == "mean" and row.acts != "along":  # a loss
        return OTHER
    by_acts = OF_ACTS["moves"] if row.view and row.acts == "leading" else OF_ACTS.get(row.acts)
    return OF_JACOBIAN.get(row.jacobian) or by_acts or OTHER


def _is_only_added(row: Row, place: int) -> bool:
    """Whether a product adds an operand to the rest: its gradient asks for no tensor."""
    names = {parameter.name for parameter in row.tensors}
    own = row.tensors[place].name if place < len(row.tensors) else ""
    asked = next((f.needs for f in row.formulas if f.inputs == (own,)), None)
    return own == "bias" if asked is None else names.isdisjoint(asked)


def _by_probes(node: Any, grad: Any) -> list[Local | None]:
    if grad.__class__ in FLOATS:  # a number of NumPy stays one: that is what nodes are given
        return list(map(_of_one_number, probed(node, grad.dtype.type(1))))
    xp = module_of(grad)
    ones = xp.ones_like(grad) if hasattr(grad, "__setitem__") else grad.dtype.type(1)
    answers = probed(node, ones)
    if grad.size == 1:
        return list(map(_of_one_number, answers))
    probe = _probe(grad)
    found = _pointwise(answers, probed(node, probe), probe)
    inputs = getattr(node, "inputs", None)
    if inputs is None or all(local is not None or a is None
                             for local, a in zip(found, answers, strict=True)):  # fmt: skip
        return found
    node.inputs = None  # before what was broadcast is summed back
    try:
        wide, other = probed(node, ones), probed(node, probe)
    finally:
        node.inputs = inputs
    summed = _pointwise(wide, other, probe)
    return [
        local or (None if broad is None or answer is None else _summed(broad, answer))
        for local, broad, answer in zip(found, summed, answers, strict=True)
    ]


def _of_live(node: Any, alone: Any, row: Any) -> list[Local | None]:
    """The same of a node of PyTorch's: what it makes is summed back by the engine, behind it."""
    assert sides.live is not None
    grad, dtype = array_of(alone), str(alone.dtype).removeprefix("torch.")
    shapes = sides.live.given_shapes(node)
    ones = numpy.ones_like(grad)
    wide = probed(node, ones)
    answers = [_reduced(one, shape) for one, shape in zip(wide, shapes, strict=True)]
    if grad.size == 1:
        return [_of_one_number(answer) for answer in answers]
    probe = _probe(grad)
    others = probed(node, probe)
    narrow = [_reduced(one, shape) for one, shape in zip(others, shapes, strict=True)]
    found = _pointwise(answers, narrow, probe, dtype)
    if row.acts == "product":
        return found
    summed = _pointwise(wide, others, probe, dtype)
    return [
        local or (None if broad is None or answer is None else _summed(broad, answer))
        for local, broad, answer in zip(found, summed, answers, strict=True)
    ]


def _reduced(answer: Any, shape: tuple[int, ...] | None) -> Any:
    """Summed up to the shape of the input."""
    if answer is None or shape is None or answer.shape == shape:
        return answer
    extra = answer.ndim - len(shape)
    axes = tuple(
        axis for axis, size in enumerate(answer.shape)
        if axis < extra or (shape[axis - extra] == 1 and size != 1)
    )  # fmt: skip
    return answer.sum(axes, keepdims=True).reshape(shape)


def _probe(grad: Any) -> Any:
    """Numbers of which no two are alike, in the shape of a gradient."""
    steps = module_of(grad).arange(1, grad.size + 1, dtype="float64") * GOLDEN
    return (0.5 + steps % 1.0).astype(grad.dtype).reshape(grad.shape)


def _of_one_number(answer: Any) -> Local | None:
    if answer is None:
        return None
    return Local("number" if answer.size == 1 else "row", answer)


def _pointwise(
    answers: Sequence[Any], probed: Sequence[Any], probe: Any, dtype: str = ""
) -> list[Local | None]:
    """Local derivatives where the answer to any vector is that vector times them; `dtype` is what
    PyTorch computes in, which may be of fewer bits than the arrays."""
    found: list[Local | None] = []
    for answer, other in zip(answers, probed, strict=True):
        local = None
        if answer is not None and answer.shape == probe.shape and answer.dtype.kind == "f":
            xp = module_of(probe)
            kinds = dtype or probe.dtype.name, answer.dtype.name  # of an input that was promoted
            scale = max(TOLERANCE.get(kind, 1e-2) for kind in kinds)
            if bool(xp.allclose(other, answer * probe, rtol=scale, atol=scale, equal_nan=True)):
                local = Local("elementwise", answer)
        found.append(local)
    return found


def _summed(broad: Local, answer: Any) -> Local:
    """The same where the input was broadcast to the result's shape."""
    shape = list(answer.shape)
    return Local("elementwise", broad.value, f"summed back to {shape or 'a single number'}")
