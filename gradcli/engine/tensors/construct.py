"""Engine: tensors made from values: torch.tensor, as_tensor, the old constructors."""

from __future__ import annotations

import math
from collections.abc import MutableSequence
from typing import Any

import numpy

from ..memory.device import Device, array_module, as_device, cpu, default_device, to_numpy
from ..memory.layout import MOST_NESTED, check_dimensions, preserved
from ..schema import dtypes
from ..schema.carriers import RUNTIME
from ..schema.dtypes import OF_ARRAY, DType
from ..schema.errors import type_name
from ..schema.limits import as_element
from ..schema.mode import as_bool, state
from ..schema.numpy_wrappers import Wrapped, WrappedNumber, unwrapped
from ..schema.signature import python_dtype
from .tensor import Tensor, from_array, plain
from .tensor_type import TensorType, kind_of

CUDA_OF_DLPACK = 2  # the number that the exchange format gives to GPUs
LEAF_BYTES = 40  # what a number takes on its way from nested lists into an array
FLOAT_ONLY = "Only Tensors of floating point and complex dtype can require gradients"


def tensor(
    data: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """torch.tensor: a leaf that copies numbers, nested sequences or arrays."""
    if isinstance(data, Tensor):
        state.warn(
            "To copy construct from a tensor, it is recommended to use "
            "sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than "
            "torch.tensor(sourceTensor)."
        )
    as_bool(requires_grad, "tensor", "requires_grad")
    return tensor_from(data, _dtype(dtype), device, requires_grad, copy=True)


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """torch.as_tensor: the tensor itself, or one that shares an array's memory where it can."""
    wanted = _dtype(dtype)
    if isinstance(data, Tensor):
        same = (wanted is None or data.dtype is wanted) and (
            device is None or as_device(device) == data.device
        )
        return data if same else data.to(device=device, dtype=wanted)  # type: ignore[attr-defined]
    return tensor_from(data, wanted, device, False, copy=False)


def asarray(
    obj: Any,
    *,
    dtype: Any = None,
    device: Any = None,
    copy: bool | None = None,
    requires_grad: bool | None = None,
) -> Tensor:
    """torch.asarray: shares memory where it can; copies, or refuses to, where `copy` says so."""
    wanted = _dtype(dtype)
    if not isinstance(obj, Tensor):
        shares = is_array(obj) and wanted in (None, OF_ARRAY.get(unwrapped(obj).dtype.name))
        out: Any = tensor_from(obj, wanted, device, requires_grad or False, copy=bool(copy))
    else:
        out = as_tensor(obj, wanted, device)
        shares = out is obj
    if copy is False and not shares:
        from .data_errors import no_alias

        raise no_alias(obj, wanted)
    if not isinstance(obj, Tensor):
        return out
    if copy and shares:
        out = out.clone()
    if requires_grad is None:
        if out.requires_grad:
            state.warn(
                "torch.asarray: unspecified requires_grad now defaults to obj.requires_grad "
                "instead of False. Pass requires_grad=False explicitly to get the old behavior "
                "and silence this warning."
            )
        return out
    if requires_grad and not out._kind.differentiable:
        raise RuntimeError(FLOAT_ONLY)
    if out.is_leaf:
        return out.requires_grad_(requires_grad)
    return out if requires_grad else out.detach()


def from_numpy(array: Any) -> Tensor:
    """torch.from_numpy: shares the array's memory."""
    if not is_array(array):
        raise TypeError(f"expected np.ndarray (got {type_name(array)})")
    return tensor_from(array, None, None, False, copy=False)


def index_of_array(item: Any) -> Any:
    """An array between the brackets of a tensor, as the tensor that it stands for."""
    return from_numpy(item) if is_array(item) else item


def index_type(data: Any) -> DType:
    """The type of the tensor that a sequence between the brackets stands for: a mask, or indices,
    whatever numbers they are written as."""
    if data.__class__ is list:
        state.charge(len(data))
        if all(item.__class__ is int for item in data):
            return dtypes.int64
    from .data_errors import inferred

    found = inferred(data)
    if isinstance(found, Exception):
        raise found
    return found if found in (dtypes.bool_, dtypes.uint8) else dtypes.int64


def index_array(data: Any) -> Any:
    """The elements of that tensor."""
    kind = index_type(data)
    shape, leaves, _ = _walked(data, kind)
    return _filled(shape, leaves, kind)


def is_array(value: Any) -> bool:
    """Is it an array of NumPy's?"""
    return isinstance(unwrapped(value), numpy.ndarray)


def from_dlpack(source: Any) -> Tensor:
    """torch.from_dlpack: shares the memory of another library's array."""
    if not hasattr(source, "__dlpack_device__"):
        raise TypeError("from_dlpack takes a tensor, or an array of another library")
    on_gpu = source.__dlpack_device__()[0] == CUDA_OF_DLPACK
    return from_array((array_module(Device("cuda")) if on_gpu else numpy).from_dlpack(source))


def _dtype(dtype: Any) -> DType | None:
    if dtype is None or isinstance(dtype, DType):
        return dtype
    found: DType | None = python_dtype(dtype)
    if found is not None:
        return found
    raise TypeError(f"tensor(): argument 'dtype' must be torch.dtype, not {type_name(dtype)}")


def tensor_from(
    data: Any, dtype: DType | None, device: Any, requires_grad: bool, copy: bool
) -> Tensor:
    place = default_device() if device is None else as_device(device)
    data = unwrapped(data)
    if data.__class__ is RUNTIME.sparse and data is not None:
        made = data.detach().clone() if dtype is None else data.detach().to(dtype)
        return made.requires_grad_() if requires_grad else made
    if isinstance(data, Tensor):
        place = data.device if device is None and place is cpu else place
        array, inferred = data._data, data.dtype
    elif isinstance(data, numpy.ndarray | numpy.generic):
        if isinstance(data, numpy.str_):
            raise TypeError("new(): invalid data type 'numpy.str_'")
        array = _forwards(numpy.asarray(data))
        if array.dtype.name not in OF_ARRAY:
            raise TypeError(
                f"can't convert np.ndarray of type numpy.{array.dtype.type.__name__}. The only "
                "supported types are: float64, float32, float16, complex64, complex128, int64, "
                "int32, int16, int8, uint64, uint32, uint16, uint8, and bool."
            )
        inferred = OF_ARRAY[array.dtype.name]
        if copy or dtype is not None:
            state.reserve(array.size * (dtype or inferred).itemsize)
    else:
        array, inferred = _from_values(data, dtype)
    kind = kind_of(dtype or inferred, place)
    if requires_grad and not kind.differentiable:
        raise RuntimeError(FLOAT_ONLY)
    array = _on(array, kind, copy)
    out = plain(array[()] if copy and array.ndim == 0 and kind.xp is numpy else array, kind)
    out._requires_grad = bool(requires_grad)
    if requires_grad and state.observer is not None:
        state.observer.required(out)
    return out


def _forwards(array: Any) -> Any:
    """Tensors have no negative strides."""
    if any(stride < 0 for stride in array.strides):
        raise ValueError(
            "At least one stride in the given numpy array is negative, and tensors with negative "
            "strides are not currently supported. (You can probably work around this by making a "
            "copy of your array  with array.copy().) "
        )
    return array


def _on(array: Any, kind: TensorType, copy: bool) -> Any:
    if kind.xp is numpy:
        array = to_numpy(array)
        if array.dtype != kind.array_dtype or kind.is_reduced:
            return cast_array(array, kind)
        return preserved(array, kind.array_dtype) if copy else array
    array = kind.xp.array(array, dtype=kind.array_dtype, copy=copy)
    return kind.settle(array) if kind.is_reduced else array


def cast_array(array: Any, kind: TensorType) -> Any:
    """A conversion with PyTorch's rules: floats are cut to integers, NaN becomes the minimum."""
    if array.dtype.kind == "c" and kind.array_dtype.kind != "c":
        if kind.array_dtype.kind == "b":
            return array != 0
        if array.size:
            state.warn("Casting complex values to real discards the imaginary part")
        array = array.real
    if array.dtype.kind == "f" and kind.array_dtype == numpy.uint8:  # elsewhere -1. would be 0
        array = array.astype("int64")
    return kind.settle(array) if kind.is_reduced else array.astype(kind.array_dtype)


def _from_values(data: Any, dtype: DType | None) -> tuple[Any, DType]:
    kind = data.__class__
    if dtype is not None and dtype.category == dtypes.INTEGER and kind in (int, float):
        data = _as_element(data, dtype)
    if kind is complex:
        _refuse_complex(dtype)
        if dtype is dtypes.bool_:
            return numpy.array(data != 0), dtype
    if kind is float:
        inferred = dtypes.default_dtype()
        return numpy.array(data, dtype="float64" if dtype else inferred.numpy), inferred
    if kind is int or kind is bool or kind is complex:
        inferred = dtypes.of_number(data)
        try:
            return numpy.array(
                data, dtype=(inferred.numpy if dtype is None or kind is not int else _wide(data))
            ), inferred
        except OverflowError:
            raise ValueError("Overflow when unpacking long long") from None
    if isinstance(data, str):
        raise TypeError(f"new(): invalid data type '{kind.__name__}'")
    if not isinstance(data, SEQUENCES):
        raise _refused(data, dtype)
    if len(data) and isinstance(data[0], Wrapped | numpy.ndarray):
        rows = _stacked([unwrapped(item) for item in data])
        if rows is not None:
            return rows
    shape, leaves, inferred = _walked(data, dtype)
    return _filled(shape, leaves, dtype or inferred), inferred


def _stacked(rows: list[Any]) -> tuple[Any, DType] | None:
    """A list of arrays of one shape and type; others are walked over like lists."""
    first = rows[0]
    alike = all(
        isinstance(row, numpy.ndarray) and row.shape == first.shape and row.dtype == first.dtype
        for row in rows
    )
    if not alike or not first.ndim or first.dtype.name not in OF_ARRAY:
        return None
    state.reserve(first.nbytes * len(rows))
    return numpy.stack(rows), OF_ARRAY[first.dtype.name]


def _wide(value: int) -> str:
    return "int64" if -(2**63) <= value < 2**63 else "uint64" if 0 <= value < 2**64 else "float64"


SEQUENCES = (list, tuple, range, MutableSequence, numpy.ndarray)
NUMBERS = frozenset({float, int, bool, complex})


def _walked(data: Any, dtype: DType | None) -> tuple[tuple[int, ...], list[Any], DType]:
    """Shape, flat values and type of nested sequences of numbers and one-element tensors."""
    shape: list[int] = []
    level: Any = data
    while isinstance(level, SEQUENCES):
        shape.append(len(level))
        if len(shape) > MOST_NESTED:
            raise _refused(data, dtype)
        if not len(level):
            break
        level = unwrapped(level[0])
    check_dimensions(len(shape))
    if len(shape) > 1 and not shape[-1]:  # nothing will be stored, whatever else is there
        if (refused := refusal_of(data, dtype)) is not None:
            raise refused
        return tuple(shape), [], dtypes.default_dtype()
    state.reserve(LEAF_BYTES * math.prod(shape))
    flat: list[Any] = [data]
    for size in shape:
        following: list[Any] = []
        for item in flat:
            item = unwrapped(item)
            if isinstance(item, Tensor) and not item._data.ndim:
                raise _refused(data, dtype)
            if not isinstance(item, (*SEQUENCES, Tensor)) or len(item) != size:
                raise _refused(data, dtype)
            following.extend(item)
        flat = following
    if any(item.__class__ not in NUMBERS for item in flat):
        flat = [state.plain(unwrapped(item)) for item in flat]
    best: DType | None = None
    for item in flat:
        if item.__class__ in NUMBERS:
            mine = dtypes.of_number(item)
        elif isinstance(item, Tensor) and item._data.size == 1:
            mine = item.dtype
            if dtype is not None and mine.category > dtypes.INTEGER:
                if dtype.category <= dtypes.INTEGER:
                    raise _refused(data, dtype)
        elif isinstance(item, numpy.generic):
            mine = OF_ARRAY[item.dtype.name]
        else:
            raise _refused(data, dtype)
        best = mine if best is None else dtypes.promote_types(best, mine)
    return tuple(shape), flat, best or dtypes.default_dtype()


def refusal_of(data: Any, dtype: DType | None) -> Exception | None:
    from .data_errors import refusal

    return refusal(data, dtype)


def _refused(data: Any, dtype: DType | None) -> Exception:
    return refusal_of(data, dtype) or RuntimeError(f"Could not infer dtype of {type_name(data)}")


def _filled(shape: tuple[int, ...], leaves: list[Any], dtype: DType) -> Any:
    values = [item.item() if isinstance(item, Tensor) else item for item in leaves]
    if any(value.__class__ is complex for value in values):
        _refuse_complex(dtype)
    if dtype.category == dtypes.INTEGER and (
        dtype is not dtypes.int64 or any(v.__class__ is float for v in values)
    ):
        values = [int(_as_element(value, dtype)) for value in values]
    try:
        array = numpy.array(values, dtype=dtype.numpy)
    except OverflowError:
        raise ValueError("Overflow when unpacking long long") from None
    return array.reshape(shape)


def _refuse_complex(dtype: DType | None) -> None:
    if dtype is not None and dtype.category == dtypes.INTEGER:
        raise TypeError("'complex' object cannot be interpreted as an integer")
    if dtype is not None and dtype.category == dtypes.FLOATING:
        raise TypeError("must be real number, not complex")


def _as_element(value: Any, dtype: DType) -> Any:
    if value.__class__ is int and not -(2**63) <= value < 2**63:
        raise ValueError("Overflow when unpacking long long")
    return as_element(value, dtype, {})  # here PyTorch says uint8 and not uint8_t


def new(cls: type[Tensor], data: Any = None, *more: Any, **options: Any) -> Tensor:
    """torch.Tensor(...)"""
    return legacy_tensor(data, *more, typed=False, **options)


def _options_of(dtype: DType, data: Tensor) -> str:
    return (
        f"TensorOptions(dtype={dtype.c_word}, device={data.device}, layout=Strided, "
        "requires_grad=false (default), pinned_memory=false (default), memory_format=(nullopt))"
    )


def new_alike(tensor: Tensor, data: Any = None, *more: Any, device: Any = None) -> Tensor:
    """x.new(...): as torch.Tensor(...), with the tensor's type and device."""
    dtype, place = tensor.dtype, tensor.device if device is None else device
    return legacy_tensor(data, *more, dtype=dtype, device=place)


def legacy_tensor(
    data: Any = None,
    *more: Any,
    dtype: DType | None = None,
    device: Any = None,
    typed: bool = True,
    **others: Any,
) -> Tensor:
    """torch.Tensor(2, 3), torch.FloatTensor([..]): sizes make memory, a sequence makes values.

    Not `typed` takes a tensor of any element type, as torch.Tensor alone does.
    """
    if data is None and others.keys() == {"size"} and isinstance(others["size"], tuple | list):
        return legacy_tensor(*others["size"], dtype=dtype, device=device, typed=typed)
    if others:
        from .data_errors import no_such_constructor

        given = () if data is None else (data, *more)
        raise no_such_constructor(given, others)
    dtype = dtype or dtypes.default_dtype()
    kind = kind_of(dtype, default_device() if device is None else as_device(device))
    data = unwrapped(data) if not isinstance(data, WrappedNumber) else data.item()
    if data is None and not more:
        return plain(kind.xp.zeros(0, dtype=kind.array_dtype), kind)
    if isinstance(data, Tensor) and not more:
        if typed and data.dtype is not dtype:
            raise TypeError(
                f"expected {_options_of(dtype, data)} (got {_options_of(data.dtype, data)})"
            )
        return data[...]  # type: ignore[index]
    sizes = (
        data if isinstance(data, tuple) and hasattr(data, "numel") and not more else (data, *more)
    )
    if all(value.__class__ is int for value in sizes):
        count = 1
        check_dimensions(len(sizes))
        for size in sizes:
            count *= size
        state.reserve(count * dtype.itemsize)
        return plain(kind.xp.zeros(sizes, dtype=kind.array_dtype), kind)
    if more or not isinstance(data, SEQUENCES):
        from .data_errors import no_sizes

        raise no_sizes(data, more)
    shares = isinstance(data, numpy.ndarray)  # where it has the element type
    return tensor_from(data, dtype, device, False, copy=not shares)
