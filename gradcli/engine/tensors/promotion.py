"""Engine: where operands of different types, shapes and devices meet, by PyTorch's rules."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy

from ..memory.device import cpu, placed
from ..memory.layout import preserved
from ..schema import dtypes
from ..schema.carriers import RUNTIME
from ..schema.causes import mismatch
from ..schema.dtypes import DType
from ..schema.row import Row
from .tensor import Tensor
from .tensor_type import TensorType, kind_of


def meet(
    policy: str, operands: Sequence[Any], wide_numbers: bool = False
) -> tuple[TensorType, list[Any]]:
    """PyTorch's promotion: the common kind, and the operands' arrays cast to it.

    Python numbers stay Python numbers: NumPy treats them as weakly as PyTorch does. Only those
    beside reduced precision are rounded to it, unless they are `wide_numbers`.
    """
    flat: list[Any] = []
    for value in operands:
        flat.extend(value) if value.__class__ is list else flat.append(value)
    tensors = [t for t in flat if t.__class__ is Tensor]
    kind = tensors[0]._kind
    if kind.is_plain and len(tensors) == len(flat) == len([t for t in tensors if t._kind is kind]):
        return kind, [
            [t._data for t in value] if value.__class__ is list else value._data
            for value in operands
        ]
    dimensioned = [t._kind.dtype for t in tensors if t._data.ndim]
    zero_dim = [t._kind.dtype for t in tensors if not t._data.ndim]
    numbers = [dtypes.of_number(v) for v in flat if v.__class__ is not Tensor and v is not None]
    dtype = dtypes.result_type(dimensioned, zero_dim, numbers)
    if policy == "promote_float" and dtype.category < dtypes.FLOATING:
        dtype = dtypes.default_dtype()
    device = _common_device(tensors)
    kind = kind_of(dtype, device)
    cast = _cast_reduced if kind.is_reduced else _cast
    arrays = [cast(value, kind) for value in operands]
    if wide_numbers and kind.is_reduced:  # in the second place only
        arrays[1] = _cast_wide(operands[1], kind)
    return kind, arrays


def _cast(value: Any, kind: TensorType) -> Any:
    if value.__class__ is Tensor:
        data = value._data
        if value._kind.device is not kind.device and value._kind.device != kind.device:
            data = placed(data, kind.xp)
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


def _cast_reduced(value: Any, kind: TensorType) -> Any:
    if value.__class__ is list:
        return [_cast_reduced(item, kind) for item in value]
    if value is None or (value.__class__ is Tensor and value._kind is kind):
        return _cast(value, kind)
    return kind.settle(_cast(value, kind) if value.__class__ is Tensor else numpy.float32(value))


def _cast_wide(value: Any, kind: TensorType) -> Any:
    single = value.__class__ is not Tensor or not value._data.ndim
    return (_cast if single else _cast_reduced)(value, kind)


def _fits(value: int, kind: TensorType) -> bool:
    limits = numpy.iinfo(kind.array_dtype)
    return bool(limits.min <= value <= limits.max)


def _wrapped(value: int, kind: TensorType) -> Any:
    """An integer that the element type can't hold wraps around, or overflows in PyTorch's words."""
    if not -(2**63) <= value < 2**64:
        raise RuntimeError("Overflow when unpacking long long")
    return numpy.array(value & (2**64 - 1), dtype="uint64").astype(kind.array_dtype)[()]


def _common_device(tensors: Sequence[Tensor]) -> Any:
    """Where operands meet that broadcast: on the first GPU; numbers of the CPU come along."""
    device = tensors[0]._kind.device
    for tensor in tensors:
        if tensor._kind.device is not device:
            return _common_gpu(tensors)
    return device


def _common_gpu(tensors: Sequence[Tensor]) -> Any:
    device = next((t._kind.device for t in tensors if t._kind.device is not cpu), cpu)
    for tensor in tensors:
        other = tensor._kind.device
        if other == device:
            continue
        if other is not cpu or tensor._data.ndim:
            two_devices(device, other)
        RUNTIME.mixed = True
    return device


def two_devices(device: Any, other: Any) -> None:
    raise RuntimeError(
        "Expected all tensors to be on the same device, but found at least two devices, "
        f"{device} and {other}!"
    )


def one_device(row: Row, kind: TensorType, operands: Sequence[Any]) -> None:
    """Refuses operands of several devices where PyTorch does; lists of tensors may be unpacked."""
    device = kind.device
    for operand in operands:
        if operand.__class__ is Tensor:
            if operand._kind.device is not device:
                _check_apart(row, kind, operands)
                return
        elif operand.__class__ is list:
            one_device(row, kind, operand)


# Operators that look at the devices of their operands themselves, or move them.
ANYWHERE = frozenset({"copy"})
# Those that take a single number from the CPU.
NUMBERS = frozenset({"fill", "masked_fill", "index_fill", "index_put", "_index_put_impl"})
# Those that PyTorch checks like operands that broadcast.
ITERATED = frozenset({"index", "where", "masked_select", *NUMBERS})
# Those whose kernels PyTorch declares as structured: how it names them in its complaint.
STRUCTURED = frozenset(
    "addmm addmv baddbmm bmm cat gather index_add index_copy index_reduce isin mm "
    "nll_loss_forward scatter scatter_add scatter_reduce".split()
)


def _check_apart(row: Row, kind: TensorType, operands: Sequence[Any]) -> None:
    if row.name in ANYWHERE:
        return
    names = [p.name for p in row.tensors]
    for place, operand in enumerate(operands):
        if operand.__class__ is not Tensor or operand._kind.device == kind.device:
            continue
        if operand._kind.device is cpu and not operand._data.ndim:
            if row.name in NUMBERS or row.where == "hidden":
                RUNTIME.mixed = True
                continue
        if row.name in ITERATED:
            _common_gpu([t for t in operands if t.__class__ is Tensor])
        method, name = _kernel_name(row), names[min(place, len(names) - 1)]
        raise other_device(method, NAMED.get(method, {}).get(name, name), operand, kind.device)


def other_device(method: str, name: str, tensor: Tensor, device: Any) -> RuntimeError:
    """An argument that is not where those before it are, as PyTorch's generated checks say it."""
    return RuntimeError(
        f"Expected all tensors to be on the same device, but got {name} is on "
        f"{tensor._kind.device}, different from other tensors on {device} (when checking argument "
        f"in method wrapper_CUDA_{method})"
    )


# Rows that stand for a kernel of another name, and what that kernel calls their arguments.
KERNELS = {"embedding": "_index_select"}
NAMED = {"_index_select": {"indices": "index"}}


def _kernel_name(row: Row) -> str:
    name, overload = row.name, row.signature.overload
    if name in KERNELS:
        return KERNELS[name]
    if name in STRUCTURED:
        return f"{name}_{overload}" if overload else name
    return f"{overload}_{name}"


def shape_error(arrays: Sequence[Any], error: Exception) -> Exception:
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
