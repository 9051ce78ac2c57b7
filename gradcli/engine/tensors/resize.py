"""Engine: resize_: a tensor takes another shape over the memory that it lies in."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..schema.mode import state
from .tensor import Tensor
from .tensor_type import offset_in


def resize(tensor: Tensor, sizes: Sequence[int]) -> Tensor:
    """Row-major over the same memory; where that ends, a copy with room for the rest."""
    if tensor.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    if any(size < 0 for size in sizes):
        raise RuntimeError("numel: integer multiplication overflow")
    if tensor.shape != tuple(sizes):
        resized(tensor, sizes)
        tensor._bump()
    return tensor


def resized(tensor: Tensor, sizes: Sequence[int]) -> Tensor:
    """The same as a part of a larger change."""
    array = tensor._need_array()
    if array.shape != tuple(sizes):
        whole = array
        while whole.base.__class__ is array.__class__ and whole.base.itemsize == array.itemsize:
            whole = whole.base
        whole = whole.view(array.dtype)  # rounding leaves numbers in the memory of their bits
        if 0 in whole.strides:
            whole = whole[(slice(0, 1),) * whole.ndim]  # as far as it has memory of its own
        flat = whole.reshape(-1)  # memory is allocated row-major, so this is no copy
        start, count = offset_in(whole, array), math.prod(sizes)
        held = flat[start : start + count]
        if held.size < count:
            state.reserve(count * array.itemsize)
            room = tensor._kind.xp.zeros(count, dtype=array.dtype)
            room[: held.size] = held
            held = room
        tensor._data, tensor._form = held.reshape(tuple(sizes)), None
    return tensor
