"""Recording: a copy of a value: whole while it is small, else a summary."""

from __future__ import annotations

from math import inf, sqrt
from typing import Any

from numpy import generic

from ..engine.mode import state
from ..engine.tensor import Tensor, from_array, plain
from ..named import NamedTuple
from .facts import Nested, Spread
from .numbers import numbers, range_of, text_of
from .sides import looked_at, sides

LARGEST = 4096  # elements of a value that is kept


class Summary(NamedTuple):
    """Stands for a value that is too large to be kept; no range where it holds a NaN."""

    shape: tuple[int, ...]
    range: Spread | None


class Number(NamedTuple):
    """A number on its own; most are never looked at."""

    data: Any
    kind: Any


def snapshot(value: Any, largest: float = LARGEST) -> Any:
    """A tensor, or a gradient that the engine holds as an array, as it is now."""
    if value.__class__ is Tensor:
        tensor = value
    else:
        live = sides.live
        if live is not None and isinstance(value, live.tensor):
            return live.snapshot(value, largest)
        tensor = as_tensor(value)
    data = tensor._data
    if isinstance(data, generic) or not hasattr(data, "__setitem__"):
        return tuple.__new__(Number, (data, tensor._kind))  # it can't change
    if data.size <= largest:
        return plain(data.copy(), tensor._kind)
    return Summary(data.shape, _spread(data))


def _spread(data: Any) -> Spread | None:
    """The range of an array; an expanded one may have more elements than can be looked at."""
    some = looked_at(data)
    low, high = some.min(), some.max()
    if data.dtype.kind not in "fiu" or low != low or high != high:
        return None
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


def whole(value: Any) -> Any:
    """The same, however large it is."""
    return snapshot(value, inf)


def restored(snapshot: Any) -> Any:
    """A snapshot as the tensor that it was; a summary stays one, None too."""
    if snapshot.__class__ is Number:
        return plain(snapshot.data, snapshot.kind)
    return snapshot.restored() if hasattr(snapshot, "restored") else snapshot


def as_tensor(value: Any) -> Any:
    """A gradient that the engine holds as an array, as a tensor."""
    if isinstance(value, Tensor):
        return value
    import numpy

    live = sides.live
    if live is not None and isinstance(value, live.tensor):
        value = live.array(value)  # it may be on a device
    return from_array(value if hasattr(value, "strides") else numpy.asarray(value))


class PlainSnapshot(NamedTuple):
    """A snapshot in plain Python types."""

    shape: tuple[int, ...] = ()
    text: str | None = None
    range: Spread | None = None
    value: Nested | None = None


NOTHING = PlainSnapshot()


def snapshot_text(snapshot: Any, *, full: bool) -> PlainSnapshot:
    """A snapshot as text, with `full` as numbers too; nothing of None."""
    if snapshot is None:
        return NOTHING
    if isinstance(snapshot, Summary):
        return PlainSnapshot(snapshot.shape, "", snapshot.range)
    value = numbers(snapshot) if full else None
    return PlainSnapshot(tuple(snapshot.shape), text_of(snapshot), range_of(snapshot), value)
