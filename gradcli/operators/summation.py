"""Operators: how sums are added up: PyTorch's order, so that the last bits agree."""

from __future__ import annotations

from typing import Any


def sum_of(xp: Any, self: Any, axis: Any, keepdim: bool, dtype: Any) -> Any:
    """The sum over axes in the type asked for; integers add up as int64."""
    kind = self.dtype.char
    if dtype is None and kind in "fd":
        return xp.add.reduce(self, axis=axis, keepdims=keepdim)
    if dtype is not None:
        self = self.astype(dtype.numpy)
        kind = self.dtype.char
    if kind == "e":
        return xp.add.reduce(self, axis=axis, keepdims=keepdim, dtype="float32").astype("float16")
    if self.dtype.kind in "biu":
        wide = "int64" if dtype is None else self.dtype
        return xp.add.reduce(self, axis=axis, keepdims=keepdim, dtype=wide)
    return xp.add.reduce(self, axis=axis, keepdims=keepdim)


def mean_of(xp: Any, self: Any, axis: Any, keepdim: bool, dtype: Any) -> Any:
    """The sum divided by the count, in the type asked for."""
    total = sum_of(xp, self, axis, keepdim, dtype)
    return total / total.dtype.type(self.size // max(total.size, 1) if total.size else 0)
