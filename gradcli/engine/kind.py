"""Engine: what a tensor's elements are, where they live, and how an array lies in memory."""

from __future__ import annotations

from typing import Any

import numpy

from .device import Device, array_module, cpu
from .dtypes import COMPLEX, FLOATING, DType
from .row import CARRIERS

Array = Any  # numpy.ndarray or cupy.ndarray


class Kind:
    """An element type on a device; there is one object for each pair, compared by `is`."""

    __slots__ = ("dtype", "device", "xp", "array_dtype", "differentiable")

    _made: dict[tuple[str, str], Kind] = {}

    def __init__(self, dtype: DType, device: Device) -> None:
        self.dtype, self.device = dtype, device
        self.xp = array_module(device)
        self.array_dtype = numpy.dtype(dtype.numpy)
        self.differentiable = dtype.category >= FLOATING

    def of(self, dtype: DType) -> Kind:
        return self if dtype is self.dtype else kind_of(dtype, self.device)


def kind_of(dtype: DType, device: Device = cpu) -> Kind:
    key = (dtype.name, str(device))
    kind = Kind._made.get(key)
    if kind is None:
        kind = Kind._made[key] = Kind(dtype, device)
        if dtype.category == COMPLEX and not CARRIERS.complex:
            from .formula import complex_appears

            complex_appears()
    return kind


class Layout:
    """torch.strided, the only layout there is here."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "torch.strided"


strided = Layout()


def wrap_dim(dim: int, ndim: int) -> int:
    """A dimension counted from the front; IndexError in PyTorch's words."""
    span = max(ndim, 1)
    if not -span <= dim < span:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-span}, {span - 1}], but got "
            f"{dim})"
        )
    return dim + span if dim < 0 else dim


def torch_strides(array: Array) -> tuple[int, ...]:
    """Strides in bytes as PyTorch would have them: NumPy leaves those of size-1 axes arbitrary."""
    if array.flags.c_contiguous:
        strides, step = [], array.itemsize
        for size in reversed(array.shape):
            strides.append(step)
            step *= max(size, 1)
        return tuple(reversed(strides))
    return tuple(array.strides)


def offset_in(base: Array, view: Array) -> int:
    """Where a view begins in its base, in elements."""
    if isinstance(base, numpy.ndarray):
        apart = view.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    else:
        apart = view.data.ptr - base.data.ptr
    return int(apart // base.itemsize)
