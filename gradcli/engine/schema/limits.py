"""Engine: torch.finfo and torch.iinfo: what the numbers of an element type can hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from . import dtypes
from .class_name import NamedInC
from .dtypes import DType
from .errors import type_name

# Bits of the significand and the largest exponent of the floating types.
_FLOATING = {
    "float16": (11, 16, 1e-3),
    "bfloat16": (8, 128, 1e-2),
    "float32": (24, 128, 1e-6),
    "float64": (53, 1024, 1e-15),
}
_PARTS = {"complex64": "float32", "complex128": "float64"}


class finfo(metaclass=NamedInC):
    """The limits of a floating type; of complex numbers, those of their parts."""

    _torch_name = "torch.finfo"

    PUBLIC = ("bits", "eps", "max", "min", "tiny", "smallest_normal", "resolution", "dtype")

    def __reduce__(self) -> str:
        raise TypeError(f"cannot pickle '{self._torch_name}' object")

    def __init__(self, type: DType | None = None) -> None:
        given = dtypes.default_dtype() if type is None else type
        _check(given, "finfo")
        name = _PARTS.get(given.name, given.name)
        if name not in _FLOATING:
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle "
                "'torch.finfo'"
            )
        digits, exponent, self.resolution = _FLOATING[name]
        self.dtype = name
        self.bits = 8 * dtypes.BY_NAME[name].itemsize
        self.eps = 2.0 ** (1 - digits)
        self.max = (2.0 - self.eps) * 2.0 ** (exponent - 1)
        self.min = -self.max
        self.tiny = self.smallest_normal = 2.0 ** (2 - exponent)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, finfo) and other.dtype == self.dtype

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __repr__(self) -> str:
        limits = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        shown = ", ".join(f"{name}={getattr(self, name):.6g}" for name in limits)
        return f"finfo({shown}, dtype={self.dtype})"


class iinfo(metaclass=NamedInC):
    """The limits of an integer type."""

    _torch_name = "torch.iinfo"

    PUBLIC = ("bits", "max", "min", "dtype")

    def __init__(self, *types: DType, **named: DType) -> None:
        given = (*types, *named.values())
        if not given:
            raise TypeError('iinfo() missing 1 required positional arguments: "type"')
        type = given[0]
        _check(type, "iinfo")
        if type.category == dtypes.BOOL:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        if type.category != dtypes.INTEGER:
            raise TypeError(
                "torch.iinfo() requires an integer input type. Use torch.finfo to handle "
                "'torch.iinfo'"
            )
        self.dtype = type.name
        self.bits = 8 * type.itemsize
        signed = type.is_signed
        self.max = 2 ** (self.bits - signed) - 1
        self.min = -self.max - 1 if signed else 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, iinfo) and other.dtype == self.dtype

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:.6g}, max={self.max:.6g}, dtype={self.dtype})"


def _check(given: object, name: str) -> None:
    if not isinstance(given, DType):
        raise TypeError(
            f"{name}(): argument 'type' (position 1) must be torch.dtype, not {type_name(given)}"
        )


# What C++ calls the types, in PyTorch's words for a number that one of them can't hold.
_C_WORDS = {
    "uint8": "uint8_t", "int8": "int8_t", "int16": "int16_t", "int32": "int", "int64": "int64_t",
    "float16": "c10::Half", "bfloat16": "c10::BFloat16", "float32": "float",
    "float64": "double",
}  # fmt: skip


def as_element(value: Any, dtype: DType, words: Mapping[str, str] = _C_WORDS) -> Any:
    """A number as an element of this type; an unsigned one takes -1 as its greatest number, and a
    complex one is real where it has no imaginary part."""
    if value.__class__ is complex and dtype.category < dtypes.COMPLEX:
        if dtype is dtypes.bool_:
            return value != 0
        if not value.imag:
            real = value.real
            whole = dtype.category == dtypes.INTEGER and math.isfinite(real)
            return as_element(int(real) if whole else real, dtype, words)
    if dtype.category == dtypes.INTEGER and value.__class__ in (int, float):
        bounds = iinfo(dtype)
        whole = value.__class__ is int
        least = -bounds.max if whole and not bounds.min else bounds.min
        if least <= value <= bounds.max:
            return value % (bounds.max + 1) if least <= value < bounds.min else value
    elif dtype.category == dtypes.FLOATING and value.__class__ in (int, float):
        if dtype.itemsize == 8 or abs(value) <= finfo(dtype).max or value - value != 0:
            return value
    elif value.__class__ is not complex or dtype.category == dtypes.COMPLEX:
        return value
    word = words.get(dtype.name, dtype.name)
    raise RuntimeError(f"value cannot be converted to type {word} without overflow")
