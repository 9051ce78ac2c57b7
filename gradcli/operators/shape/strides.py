"""Operators: the same memory under raw sizes and strides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.schema.operator import operator
from ..geometry import contiguous_strides, sizes_text, strided
from .constants import zeros_of
from .shape import reshape

# ---- raw strides


def check_strided(
    self: Any, size: Sequence[int], stride: Sequence[int], storage_offset: int | None
) -> None:
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(step < 0 for step in stride):
        raise RuntimeError(
            "as_strided: Negative strides are not supported at the moment, got strides: "
            f"{sizes_text(stride)}"
        )
    if any(length < 0 for length in size):
        raise RuntimeError(f"Storage size calculation overflowed with sizes={sizes_text(size)}")
    if storage_offset is not None and storage_offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {storage_offset}")
    offset = self.storage_offset() if storage_offset is None else storage_offset
    item, extent = self.itemsize, _extent(size, stride, offset)
    have = _memory(self._data).size
    if extent > have:
        raise RuntimeError(
            f"setStorage: sizes {sizes_text(size)}, strides {sizes_text(stride)}, storage offset "
            f"{offset}, and itemsize {item} requiring a storage size of {extent * item} are out of "
            f"bounds for storage of size {have * item}"
        )


def _extent(size: Sequence[int], stride: Sequence[int], offset: int) -> int:
    """How many elements of memory a geometry reaches over."""
    if 0 in size:
        return 0
    return offset + 1 + sum((n - 1) * step for n, step in zip(size, stride, strict=True))


def _memory(array: Any) -> Any:
    """The array that owns the memory below a view."""
    while getattr(array, "base", None) is not None and hasattr(array.base, "strides"):
        if array.base.dtype != array.dtype:
            break
        array = array.base
    return array


def _restrided(
    xp: Any, self: Any, size: Sequence[int], stride: Sequence[int], offset: int | None
) -> Any:
    if offset is None:
        return strided(xp, self, size, stride)
    memory = _memory(self)
    flat = strided(xp, memory, (memory.size,), (1,))
    return strided(xp, flat[min(offset, memory.size) :], size, stride)


restride = operator(
    "_restride(Tensor self, int[] size, int[] stride, int offset, int[] to_size, int[] to_stride, "
    "int to_offset) -> Tensor",
    node="AsStridedBackward0",
    where="hidden",
    forward=lambda xp, self, *geometry: _moved_memory(xp, self, *geometry),
    self=lambda grad, size, stride, offset, to_size, to_stride, to_offset: restride(
        grad, to_size, to_stride, to_offset, size, stride, offset
    ),
    acts="moves",
    jacobian="selection",
    doc="Values added to where one geometry lies in memory, read where another lies.",
    samples=("x.as_strided((2, 2), (1, 2))",),
)


def _memory_gradient(
    grad: Any,
    size: Sequence[int],
    stride: Sequence[int],
    offset: int,
    to_size: Sequence[int],
    to_stride: Sequence[int],
    to_offset: int,
) -> Any:
    """The same made of what PyTorch's formula is made of, where a graph is to be seen."""
    if not hasattr(grad, "requires_grad"):
        return restride(grad, size, stride, offset, to_size, to_stride, to_offset)
    least = min(offset, to_offset)
    offset, to_offset = offset - least, to_offset - least
    extent = max(_extent(size, stride, offset), _extent(to_size, to_stride, to_offset))
    memory = zeros_of(grad, (extent,))
    if _overlaps(size, stride):
        places = memory_places(memory, size, stride, offset)
        memory = memory.index_add(0, places, reshape(grad, (-1,)))
    else:
        as_strided(memory, size, stride, offset).copy_(grad)
    return as_strided(memory, to_size, to_stride, to_offset)


def _overlaps(size: Sequence[int], stride: Sequence[int]) -> bool:
    """May two elements share memory? Steps must clear all that lies below them."""
    reach = 0
    for step, length in sorted(zip(stride, size, strict=True)):
        if length != 1 and step <= reach:
            return True
        reach += step * (length - 1)
    return False


memory_places = operator(
    "_memory_places(Tensor self, int[] size, int[] stride, int offset) -> Tensor",
    where="hidden",
    dtype="int64",
    forward=lambda xp, self, size, stride, offset: _positions(xp, size, stride, offset).reshape(-1),
    doc="Where in memory the elements of a geometry stand.",
    samples=("torch.autograd.grad(x.as_strided((2, 2), (1, 1)).sum(), x, create_graph=True)[0]",),
)


def _positions(xp: Any, size: Sequence[int], stride: Sequence[int], offset: int) -> Any:
    places = xp.full(tuple(size), offset, dtype="int64")
    for dim, (length, step) in enumerate(zip(size, stride, strict=True)):
        along = xp.arange(length) * step
        places = places + along.reshape((-1,) + (1,) * (len(size) - dim - 1))
    return places


def _moved_memory(
    xp: Any,
    self: Any,
    size: Sequence[int],
    stride: Sequence[int],
    offset: int,
    to_size: Sequence[int],
    to_stride: Sequence[int],
    to_offset: int,
) -> Any:
    least = min(offset, to_offset)
    offset, to_offset = offset - least, to_offset - least
    extent = max(_extent(size, stride, offset), _extent(to_size, to_stride, to_offset))
    memory = xp.zeros(extent, dtype=self.dtype)
    xp.add.at(memory, _positions(xp, size, stride, offset), self)
    return memory[_positions(xp, to_size, to_stride, to_offset)]


as_strided = operator(
    "as_strided(Tensor self, int[] size, int[] stride, int? storage_offset=None) -> Tensor",
    node="AsStridedBackward0",
    inplace="as_strided_",
    inplace_node="AsStridedBackward1",
    view=True,
    check=check_strided,
    forward=lambda xp, self, size, stride, storage_offset: _restrided(
        xp, self, size, stride, storage_offset
    ),
    self=lambda grad, self_shape, self_strides, self_start, size, stride, storage_offset: (
        _memory_gradient(
            grad,
            size,
            stride,
            self_start if storage_offset is None else storage_offset,
            self_shape,
            self_strides,
            self_start,
        )
    ),
    jacobian="selection",
    doc="A view of the same memory with the given size and strides.",
    samples=(
        "x.as_strided((2, 2), (1, 2))", "torch.as_strided(x, (2, 2), (1, 1), 1)",
        "x.as_strided((6,), (1,))",
    ),
    errors=(
        "x.as_strided((10, 10), (1, 1))", "x.as_strided((2,), (1, 1))", "x.as_strided((2,), (-1,))",
    ),
)  # fmt: skip


def _check_scatter(
    self: Any, src: Any, size: Sequence[int], stride: Sequence[int], storage_offset: int | None
) -> None:
    check_strided(self, size, stride, storage_offset)
    if list(src.shape) != list(size):
        raise RuntimeError(
            "expected src to have a size equal to the slice of self. src size = "
            f"{list(src.shape)}, slice size = {list(size)}"
        )


as_strided_scatter = operator(
    "as_strided_scatter(Tensor self, Tensor src, int[] size, int[] stride, "
    "int? storage_offset=None) -> Tensor",
    node="AsStridedScatterBackward0",
    check=_check_scatter,
    layout="like",
    forward=lambda xp, self, src, size, stride, storage_offset: _scattered(
        xp, self, src, size, stride, storage_offset or 0
    ),
    # PyTorch gives self the gradient of the part that was written over; so do we.
    self=lambda grad, self_shape, size, stride, storage_offset: _memory_gradient(
        as_strided(grad, size, stride, storage_offset),
        size,
        stride,
        storage_offset or 0,
        self_shape,
        contiguous_strides(self_shape),
        0,
    ),
    src=lambda grad, size, stride, storage_offset: as_strided(grad, size, stride, storage_offset),
    jacobian="placement",
    doc="A copy whose memory is written over where a geometry lies.",
    samples=("torch.as_strided_scatter(x, a[:2, :2], (2, 2), (1, 2))",),
)


def _scattered(
    xp: Any, self: Any, src: Any, size: Sequence[int], stride: Sequence[int], offset: int
) -> Any:
    result = self.copy(order="C")
    _restrided(xp, result, size, stride, offset)[...] = src
    return result
