"""Engine: torch.FloatTensor and its kin: the name of an element type on a device, as a class."""

from __future__ import annotations

from functools import cache
from typing import Any

from .construct import legacy_tensor
from .device import cpu
from .dtypes import ALL, DType
from .tensor import Tensor


class _TypedTensorType(type):
    """A tensor is an instance of its element type's class; no object is made of one."""

    dtype: DType

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, Tensor) and value.dtype is cls.dtype and value.device is cpu

    def __call__(cls, data: Any = None, *more: Any) -> Tensor:
        return legacy_tensor(data, *more, dtype=cls.dtype)


@cache
def typed_tensor(word: str) -> type:
    """The class of a word: "Float" for torch.FloatTensor."""
    name = f"{word}Tensor"
    dtype = next(dtype for dtype in ALL if dtype.word == word)
    return _TypedTensorType(name, (), {"dtype": dtype, "_torch_name": f"torch.{name}"})
