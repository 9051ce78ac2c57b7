"""Recording: the numbers of a tensor as facts: nested tuples, PyTorch's text, their range."""

from __future__ import annotations

import warnings
from math import hypot, inf, nan, sqrt
from typing import Any

from ..engine.memory.sparse_array import SHOWN
from ..engine.schema.mode import state
from .facts import FEW, Nested, Spread
from .side import looked_at
from .sides import array_of, side_of, sides, with_one_shape

RANGED = 100_000  # elements of an array that is summed up in double precision
UNORDERED = frozenset({"bool", "complex32", "complex64", "complex128"})


def frozen(value: Any) -> Nested:
    """What tolist() gave, with tuples for lists."""
    if not isinstance(value, list):
        return value
    if value and isinstance(value[0], list):
        return tuple(map(frozen, value))
    return tuple(value)


def numbers(value: Any) -> Nested:
    """The numbers of a tensor, or of an array, as nested tuples."""
    return frozen((_dense(value) if hasattr(value, "detach") else value).tolist())


def _dense(tensor: Any) -> Any:
    """With all its elements as numbers: it may be sparse, or quantized."""
    held = with_one_shape(tensor).detach()
    if getattr(held, "is_quantized", False):
        return held.dequantize()
    if not (getattr(held, "is_sparse", False) or getattr(held, "is_sparse_csr", False)):
        return held
    if held.numel() > SHOWN:
        return held.coalesce().values() if held.is_sparse else held.values()
    return held.to_dense()


def text_of(tensor: Any) -> str:
    """What PyTorch prints for the values alone."""
    held = with_one_shape(tensor).detach()
    return side_of(held).text(held)


def range_of(tensor: Any) -> Spread | None:
    """The least and the greatest of several numbers, of more than a few their mean and norm too;
    nothing for one, and for very many of a type that NumPy does not have."""
    kind, size = str(tensor.dtype).removeprefix("torch."), tensor.numel()
    if size <= 1 or (size <= FEW and kind in UNORDERED):
        return None
    held = _dense(tensor)
    if kind in ("float32", "float64") and str(held.device) == "cpu" and size > FEW:
        array = held.numpy() if sides.live is None else array_of(held)
        return spread(array) if size > RANGED else _in_double(array.astype("float64").reshape(-1))
    if size > RANGED:
        return None
    found: list[Any] = held.reshape(-1).tolist()
    if kind in UNORDERED:
        return _truths(sum(found) / size) if kind == "bool" else _magnitudes([*map(abs, found)])
    rest = [number for number in found if number == number]
    if len(found) <= FEW:
        return Spread(min(found), max(found)) if len(rest) == len(found) else None
    if len(rest) < len(found):
        return beside_nan(min(rest), max(rest)) if rest else beside_nan()
    return Spread(min(found), max(found), sum(found) / len(found), hypot(*found))


def beside_nan(low: float = nan, high: float = nan) -> Spread:
    """Where there is a NaN, which mean and norm then are: the range of the other numbers."""
    return Spread(float(low), float(high), nan, nan)


def _beside_nan(values: Any) -> Spread:
    rest = values[values == values]
    return beside_nan(rest.min(), rest.max()) if rest.size else beside_nan()


def _truths(share: float) -> Spread:
    """Of truth values, so many of which are True."""
    return Spread(float(share == 1), float(share > 0), share, of="bool")


def _magnitudes(found: list[float]) -> Spread:
    """Of complex numbers of these magnitudes."""
    rest = [number for number in found if number == number]
    low, high = (min(rest), max(rest)) if rest else (nan, nan)
    return Spread(low, high, None, hypot(*found) if len(rest) == len(found) else nan, "abs")


def spread(data: Any) -> Spread | None:
    """The range of an array; an expanded one may have more elements than can be looked at."""
    some = looked_at(data)
    kind = data.dtype.kind
    if kind == "b":
        return _truths(float(some.mean()))
    if kind == "c":
        state.reserve(some.nbytes)
        found = spread(abs(some))
        return None if found is None else found._replace(mean=None, of="abs")
    if kind not in "fiu":
        return None
    low, high = some.min(), some.max()
    if low != low:
        state.reserve(some.nbytes)
        return _beside_nan(some)
    if not some.flags.c_contiguous:
        state.reserve(some.nbytes)
    flat = some.reshape(-1)
    norm = norm_of(flat) * sqrt(data.size / some.size)
    return Spread(float(low), float(high), float(flat.mean()), norm)


def norm_of(flat: Any) -> float:
    """The Euclidean norm of an array of one dimension, by one product of vectors; in double
    precision where the squares of single precision or of integers would not do."""
    if flat.dtype.kind == "f":
        squares = float(flat @ flat)
        if 0.0 < squares < inf:
            return squares**0.5
    wide = flat.astype("float64")
    largest = float(abs(wide).max())
    if not 0.0 < largest < inf:
        return largest
    wide /= largest
    return largest * float(wide @ wide) ** 0.5


def _in_double(values: Any) -> Spread:
    """The same of a flat array of doubles."""
    least, most = float(values.min()), float(values.max())
    if least != least:
        return _beside_nan(values)
    largest = max(-least, most)
    norm = largest
    if 0 < largest < inf:  # a square of the numbers themselves may be too large
        scaled = values / largest
        norm *= float(scaled @ scaled) ** 0.5
    return Spread(least, most, _mean(values), norm)


def _mean(values: Any) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # infinities of both signs
        return float(values.sum()) / len(values)
