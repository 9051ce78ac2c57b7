"""Engine: arrays as another element type or on another device, for declarations.

Loads no array library itself: declarations are imported where only names are wanted.
"""

from __future__ import annotations

from typing import Any

from ..schema.dtypes import BY_NAME, OF_ARRAY, DType, default_dtype, of_number as dtype_of_number

__all__ = [
    "BY_NAME",
    "MEAN",
    "NONE",
    "OF_ARRAY",
    "SUM",
    "converted",
    "default_dtype",
    "device_named",
    "dtype_of_number",
    "on_library",
    "other_device",
    "tensor_of",
]


def converted(array: Any, dtype: DType | None, device: Any) -> Any:
    """A copy as another type, elsewhere; None keeps what is."""
    from ..memory.device import array_module, placed
    from ..memory.layout import alike
    from .construct import cast_array
    from .tensor_type import kind_of, kind_of_array

    if device is not None:
        array = placed(array, array_module(device))
    if dtype is None or (dtype.numpy == array.dtype.name and not dtype.is_reduced):
        return alike(array.copy(), array) if getattr(array, "ndim", 0) else array.copy()
    kind = kind_of_array(array) if device is None else kind_of(dtype, device)
    cast = cast_array(array, kind.of(dtype))
    return alike(cast, array) if getattr(array, "ndim", 0) > 1 else cast


def on_library(array: Any, xp: Any) -> Any:
    """An array of any device as the array library's own."""
    from ..memory.device import placed

    return placed(array, xp)


def other_device(method: str, name: str, tensor: Any, device: Any) -> Exception:
    """PyTorch's complaint about an argument that is elsewhere."""
    from .promotion import other_device as complaint

    return complaint(method, name, tensor, device)


def device_named(name: str) -> Any:
    """A device by its name."""
    from ..memory.device import as_device

    return as_device(name)


def tensor_of(data: Any, dtype: DType | None, device: Any, requires_grad: bool) -> Any:
    """torch.tensor, for declarations that make tensors of Python values."""
    from .construct import tensor_from

    return tensor_from(data, dtype, device, requires_grad, copy=True)


# What the losses of ATen call `reduction`, as their nodes save it.
NONE, MEAN, SUM = 0, 1, 2
