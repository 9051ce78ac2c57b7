"""Engine: where operands of different types, shapes and devices meet, by PyTorch's rules."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy

from . import dtypes
from .causes import mismatch
from .device import cpu
from .dtypes import DType
from .kind import Kind, kind_of
from .layout import preserved
from .tensor import Tensor


def meet(
    policy: str, operands: Sequence[Any], wide_numbers: bool = False
) -> tuple[Kind, list[Any]]:
    """PyTorch's promotion: the common kind, and the operands' arrays cast to it.

    Python numbers stay Python numbers: NumPy treats them as weakly as PyTorch does. Only those
    beside reduced precision are rounded to it, unless they are `wide_numbers`.
    """
    flat: list[Any] = []
    for value in operands:
        flat.extend(value) if value.__class__ is list else flat.append(value)
    tensors = [t for t in flat if t.__class__ is Tensor]
    dimensioned = [t._kind.dtype for t in tensors if t._data.ndim]
    zero_dim = [t._kind.dtype for t in tensors if not t._data.ndim]
    numbers = [dtypes.of_number(v) for v in flat if v.__class__ is not Tensor and v is not None]
    dtype = dtypes.result_type(dimensioned, zero_dim, numbers)
    if policy == "promote_float" and dtype.category < dtypes.FLOATING:
        dtype = dtypes.default_dtype()
    device = _common_device(tensors)
    kind = kind_of(dtype, device)
    cast = (_cast_wide if wide_numbers else _cast_reduced) if kind.is_reduced else _cast
    return kind, [cast(value, kind) for value in operands]


def _cast(value: Any, kind: Kind) -> Any:
    if value.__class__ is Tensor:
        data = value._data
        if value._kind.device is not kind.device and value._kind.device != kind.device:
            data = kind.xp.asarray(data)
        return data if data.dtype == kind.array_dtype else preserved(data, kind.array_dtype)
    if value.__class__ is list:
        return [_cast(item, kind) for item in value]
    if value is None:
        return None
    if kind.dtype.category == dtypes.INTEGER and value.__class__ is int:
        return (
            kind.array_dtype.type(value)
            if -(2**63) <= value < 2**63 and _fits(value, kind)
            else _wrapped(value, kind)
        )
    return value


def _cast_reduced(value: Any, kind: Kind) -> Any:
    if value.__class__ is list:
        return [_cast_reduced(item, kind) for item in value]
    if value is None or (value.__class__ is Tensor and value._kind is kind):
        return _cast(value, kind)
    return kind.settle(_cast(value, kind) if value.__class__ is Tensor else numpy.float32(value))


def _cast_wide(value: Any, kind: Kind) -> Any:
    single = value.__class__ is not Tensor or not value._data.ndim
    return (_cast if single else _cast_reduced)(value, kind)


def _fits(value: int, kind: Kind) -> bool:
    limits = numpy.iinfo(kind.array_dtype)
    return bool(limits.min <= value <= limits.max)


def _wrapped(value: int, kind: Kind) -> Any:
    """An integer that the element type can't hold wraps around, or overflows in PyTorch's words."""
    if not -(2**63) <= value < 2**64:
        raise RuntimeError("Overflow when unpacking long long")
    return numpy.array(value & (2**64 - 1), dtype="uint64").astype(kind.array_dtype)[()]


def _common_device(tensors: Sequence[Tensor]) -> Any:
    device = tensors[0]._kind.device
    for tensor in tensors:
        other = tensor._kind.device
        if other is device or other == device:
            continue
        if tensor._data.ndim == 0 and other is cpu:
            continue
        if device is cpu and all(t._data.ndim == 0 for t in tensors if t._kind.device is cpu):
            device = other
            continue
        raise RuntimeError(
            "Expected all tensors to be on the same device, but found at least two devices, "
            f"{device} and {other}!"
        )
    return device


def one_device(kind: Kind, operands: Sequence[Any]) -> None:
    device = kind.device
    for operand in operands:
        if operand.__class__ is Tensor and operand._kind.device is not device:
            _common_device([t for t in operands if t.__class__ is Tensor])
            return


def shape_error(arrays: Sequence[Any], error: ValueError) -> Exception:
    """PyTorch's words for operands that do not broadcast; the kernel's own error otherwise."""
    flat = [a for v in arrays for a in (v if isinstance(v, list) else [v])]
    shapes = [a.shape for a in flat if hasattr(a, "shape")]
    for left, right in pairwise(shapes):
        message = broadcast_message(left, right)
        if message:
            return mismatch(RuntimeError(message), left, right)
    return error


def broadcast_message(left: Sequence[int], right: Sequence[int]) -> str | None:
    """The mismatch of two shapes, or None when they broadcast."""
    width = max(len(left), len(right))
    for place in range(width - 1, -1, -1):
        i, j = place - width + len(left), place - width + len(right)
        a, b = (left[i] if i >= 0 else 1), (right[j] if j >= 0 else 1)
        if a != b and a != 1 and b != 1:
            return (
                f"The size of tensor a ({a}) must match the size of tensor b ({b}) at "
                f"non-singleton dimension {place}"
            )
    return None


def result_dtype(*tensors: Any) -> DType:
    """torch.result_type of tensors and numbers."""
    return meet("promote", tensors)[0].dtype
