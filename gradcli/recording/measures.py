"""Recording: measures of a gradient or a weight: norms, zeros, how far it has moved.

A value is a tensor, or an array of the engine's, of whatever library; a number on its own has the
methods of an array too.
"""

from __future__ import annotations

from math import inf, nan, sqrt
from typing import Any

from numpy import count_nonzero, ndarray

from ..engine.memory.device import module_of
from ..engine.tensors.tensor import Tensor
from ..named import NamedTuple
from .side import array_in, looked_at
from .sides import OWN, has_numbers, side_of

TINY = 1e-25  # a sum of squares in single precision that none of them was lost from


class Measure(NamedTuple):
    """Of one gradient. The norm is NaN or inf where an element is; `bad` counts these."""

    norm: float
    largest: float
    zeros: int
    bad: int
    size: int


def address_of(tensor: Any) -> int:
    """Where its memory begins; 0 where it has none of its own."""
    try:
        return int(tensor.untyped_storage().data_ptr())
    except (RuntimeError, NotImplementedError):  # sparse, or of a transform
        return 0


def bytes_of(value: Any) -> int:
    """How many bytes its elements are; of a sparse tensor as if it had them all."""
    try:
        return int(value.nbytes)
    except RuntimeError:
        return int(value.numel() * value.itemsize)


def array_of(value: Any) -> Any:
    """The numbers themselves."""
    if isinstance(value, Tensor):
        return array_in(value)
    side = side_of(value)
    return value if side is OWN else side.array(value)


def measured(value: Any, *, largest: bool = True) -> Measure:
    """All measures at once; `largest` is False where that one is not needed."""
    side = side_of(value)
    if side is OWN:
        return _measured(array_of(value), largest)
    found = _measured(side.array(value), largest)
    if not found.bad:
        side.found_finite(value)
    return found


def _measured(array: Any, largest: bool) -> Measure:
    if not array.size:
        return Measure(0.0, 0.0, 0, 0, 0)
    some = looked_at(array) if array.ndim else array
    times = array.size // some.size
    if type(some) is ndarray and some.dtype.char == "f":
        found = _single(some, times, largest)
        if found is not None:
            return found
    size = abs(some).astype("float64")
    top = float(size.max())  # NaN wins
    bad = 0 if top < inf else size.size - int((size < inf).sum())
    zeros = size.size - int(module_of(size).count_nonzero(size))
    norm = _norm(size, top) * sqrt(times)
    return Measure(norm, top, zeros * times, bad * times, array.size)


def _single(some: Any, times: int, largest: bool) -> Measure | None:
    """Of single precision; None where one is not finite. Where its squares are out of the range of
    single precision, double precision holds them."""
    flat = some.reshape(-1)
    square = float(flat @ flat)
    if not TINY < square < inf:
        wide = flat.astype("float64")
        square = float(wide @ wide)
        if not square < inf:
            return None
    top = float(abs(flat).max()) if largest else nan
    zeros = flat.size - int(count_nonzero(flat != 0))
    return Measure(sqrt(square) * sqrt(times), top, zeros * times, 0, flat.size * times)


def _norm(size: Any, top: float) -> float:
    """Without an overflow on the way."""
    if not 0 < top < inf:
        return top
    return top * sqrt(float(((size / top) ** 2).sum()))


def norm_of(value: Any) -> float:
    """The Euclidean norm."""
    array = array_of(value)
    if not array.size:
        return 0.0
    some = looked_at(array) if array.ndim else array
    size = abs(some).astype("float64")
    return _norm(size, float(size.max())) * sqrt(array.size // some.size)


def is_blank(value: Any) -> bool:
    """Whether there is nothing but zeros, as far as there are numbers."""
    if not has_numbers(value):
        return False
    array = array_of(value)
    if array.size and array.ndim and array[(0,) * array.ndim]:
        return False  # most are not: that is seen without a look at all of them
    return not bool(array.any())


def weight_of(values: Any) -> float:
    """The sum of all absolute values."""
    total = 0.0
    for value in values:
        if value is not None:
            total += float(abs(array_of(value)).sum())
    return total


def copy_of(tensor: Any) -> Any:
    """The numbers as they are now."""
    array = array_of(tensor)
    return array.copy() if hasattr(array, "__setitem__") else array


def moved(before: Any, tensor: Any) -> float | None:
    """norm(change) / norm(before); None for a change from zeros, or from another shape."""
    now = array_of(tensor)
    if now.shape != before.shape:
        return None
    if (now == before).all():
        return 0.0
    difference = (now if now.dtype.kind == "c" else now.astype("float64")) - before
    if not difference.any():
        return 0.0
    change, size = norm_of(difference), norm_of(before)
    return change / size if size else None


def unchanged(before: Any, tensor: Any) -> int:
    """How many elements are as they were."""
    now = array_of(tensor)
    return int((now == before).sum()) if now.shape == before.shape else 0
