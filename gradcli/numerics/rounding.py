"""Numerics: functions and fused operations of small arrays of singles, rounded once."""

from __future__ import annotations

import functools
import math
from typing import Any

from ..engine.schema.carriers import ARRAYS, RUNTIME, Body, one
from .thresholds import FUSED, ROUNDED, SMALL


def precise(function: Body, *arrays: Any) -> Any:
    """A float32 transcendental of a small tensor, computed in double and rounded once."""
    first = arrays[0]
    if first.size > ROUNDED:
        return function(*arrays)
    if first.dtype.char == "f":
        kind = first.dtype.type
        if all(a.__class__ is kind for a in arrays):  # scalars: the C library's function, if any
            of_float = getattr(math, _MATH.get(function.__name__, function.__name__), None)
            if of_float is not None:
                try:
                    return kind(of_float(*arrays))
                except (ValueError, OverflowError):
                    pass  # outside its domain: the array library knows which infinity or NaN it is
        return function(*arrays, dtype=RUNTIME.double).astype(kind)
    return function(*arrays)


@functools.cache
def vector_code() -> Any:
    """Loaded late: it needs the array library, and the catalogue is read without one."""
    from . import vector_code as found

    return found


def exp_in_kernel(xp: Any, x: Any, given: Any) -> Any:
    """exp(x) inside a kernel of PyTorch's that is compiled with vector code: sigmoid and others;
    x is made of what is `given` to the kernel."""
    if x.dtype.char != "f" or not 0 < x.size <= ROUNDED or xp.__name__ != "numpy":
        return precise(xp.exp, x)
    return vector_code().exp_in_turns(x, x.size if given.flags.c_contiguous else _run(given))


def _run(given: Any) -> int:
    """How many elements lie side by side in memory."""
    run = 1
    for stride, size in sorted(zip(given.strides, given.shape, strict=True)):
        if size > 1 and stride == run * given.itemsize:
            run *= size
        elif size > 1:
            break
    return run


def _alike(one: Any, other: Any) -> bool:
    """Two arrays of one type, shape and layout."""
    return (
        one.__class__ is other.__class__ and one.dtype == other.dtype
        and one.shape == other.shape and one.strides == other.strides
    )  # fmt: skip


def multiply_add(x: Any, factor: Any, offset: Any, most: int = FUSED) -> Any:
    """x * factor + offset, rounded once where a reader sees the number.

    PyTorch's compiled code fuses the two. Where they cancel, as in 1 - tanh(x)**2 for a large x,
    that decides what is printed. Numbers are taken in the type of `x`; on tensors and symbols it is
    what it says.
    """
    xp = ARRAYS.get(x.__class__)
    if xp is None or x.size > most or x.dtype.char != "f":
        product = x * factor
        if xp is not None and x.size > SMALL and _alike(product, offset):
            product += offset  # no third array of that size
            return product
        return product + offset
    kind = x.dtype.type
    if factor.__class__ is float:
        factor = kind(factor)
    if offset.__class__ is float:
        offset = kind(offset)
    if x.size > SMALL and _covers(x, factor) and _covers(x, offset):
        wide = x.astype(RUNTIME.double)
        wide *= factor
        wide += offset
    else:
        wide = xp.multiply(x, factor, dtype=RUNTIME.double) + offset
    return wide.astype(kind)


def _covers(x: Any, operand: Any) -> bool:
    """Has what comes from the two the shape of the first one?"""
    return not getattr(operand, "ndim", 0) or bool(operand.shape == x.shape)


def less_square(x: Any) -> Any:
    """1 - x * x, rounded once where a reader sees the number."""
    dtype = x.dtype
    if dtype.char != "f":
        return multiply_add(-x, x, one(x))
    if x.size > ROUNDED:
        return one(x) - x * x
    wide = x.astype(RUNTIME.double)
    return (one(wide) - wide * wide).astype(dtype)


def transcendental(
    name: str, most: int = ROUNDED, vectors: Body | None = None, few: int = ROUNDED
) -> Body:
    """The forward of a row that is one function of the array library, as `precise` computes it.
    More numbers than `few` go to `vectors`, which works as PyTorch's vector code does."""

    def forward(xp: Any, self: Any) -> Any:
        function, size, dtype = getattr(xp, name), self.size, self.dtype
        if size > most:
            return function(self)
        if size > 1 and dtype.char == "f":
            if size > few and vectors is not None and xp.__name__ == "numpy":
                return vectors(self)
            return function(self, dtype=RUNTIME.double).astype(dtype)
        return precise(function, self)

    # Calls of many numbers, and of singles that are only rounded once, go there directly.
    forward.ufunc = name  # type: ignore[attr-defined]
    forward.bounds = min(few, most), most  # type: ignore[attr-defined]
    return forward


# The names of the math module that differ from the array library's.
_MATH = {
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh",
    "arctanh": "atanh", "arctan2": "atan2", "power": "no such",
}  # fmt: skip
