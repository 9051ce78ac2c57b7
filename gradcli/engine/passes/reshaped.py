"""Engine: leaves that took another shape in place since a graph began at them.

PyTorch's AccumulateGrad keeps the shape that its leaf had when the graph was made: a gradient must
fit that one, and is copied into the shape of today.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..graph.node import AccumulateGrad, Node
from ..memory.layout import contiguous_strides, element_strides
from ..schema.catalogue import catalogue
from ..schema.errors import check_gradient
from ..tensors.tensor import Tensor
from .hook_calls import as_tensor


def all_fitted(node: Node, results: Sequence[Any]) -> list[Any]:
    """A node's gradients, those for such leaves in the shape that the leaf had."""
    start = f"Function {node.name()} returned an "
    return [
        value if edge is None else fitted(edge, value, place, start)
        for place, (edge, value) in enumerate(zip(node.edges, results))
    ]


def fitted(edge: Node, value: Any, place: int, start: str = "") -> Any:
    """A gradient in the shape that PyTorch's leaf knows, summed where it was spread out."""
    shape = edge.extra if edge.__class__ is AccumulateGrad else None
    if shape is None or value is None or tuple(value.shape) == shape:
        return value
    check_gradient(start, place, value.shape, shape)
    summed = catalogue.methods["sum_to_size"](as_tensor(value), shape)
    return summed if isinstance(value, Tensor) else summed._data


def started(node: Node, value: Any, place: int, captures: bool) -> Any:
    """The same for the gradient that a pass starts with: what is to become a leaf's first gradient
    is held by the pass too, so PyTorch never takes it as it is."""
    fits = fitted(node, value, place)
    if fits is value or captures or not isinstance(node, AccumulateGrad):
        return fits
    if node.variable.grad is not None:
        return fits
    shape = tuple(node.variable.shape)
    spread = catalogue.methods["expand"](as_tensor(fits), shape)
    return spread if isinstance(value, Tensor) else spread._data


def is_kept(new: Tensor, leaf: Tensor) -> bool:
    """Does PyTorch take this gradient of another shape as it is? It compares strides alone, and
    behind those of a leaf that lost dimensions it reads what they were."""
    shape, own = new._data.shape, element_strides(leaf._data)
    before = (*own, *contiguous_strides(shape)[len(own) :])
    steps = zip(shape, element_strides(new._data), before)
    return all(size == 1 or step == had for size, step, had in steps)
