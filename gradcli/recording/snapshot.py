"""Recording: a copy of a value: whole while it is small, else a summary."""

from __future__ import annotations

from math import inf
from typing import Any

from numpy import generic

from ..engine.memory.repr import needs_no_dtype
from ..engine.memory.sparse_array import SHOWN
from ..engine.schema.carriers import RUNTIME
from ..engine.schema.dtypes import BY_NAME
from ..engine.tensors.tensor import Tensor, from_array, plain
from ..engine.tensors.tensor_type import kind_of_array
from ..named import NamedTuple
from .facts import Nested, Spread
from .numbers import numbers, range_of, spread, text_of
from .sides import sides

LARGEST = 4096  # elements of a value that is kept


class Summary(NamedTuple):
    """Stands for a value that is too large to be kept; no range where its numbers have no order."""

    shape: tuple[int, ...]
    range: Spread | None
    dtype: str


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
    if tensor.__class__ is RUNTIME.sparse:
        return _of_sparse(tensor, largest)
    data = tensor._data
    if isinstance(data, generic) or not hasattr(data, "__setitem__"):
        return tuple.__new__(Number, (data, tensor._kind))  # it can't change
    if data.size <= largest:
        return plain(data.copy(), tensor._kind)
    return Summary(data.shape, spread(data), tensor.dtype.name)


def _of_sparse(tensor: Any, largest: float) -> Any:
    """What it keeps is never changed, so it is no copy."""
    data = tensor._data
    if data.size <= min(largest, SHOWN):
        return tensor.detach()
    return Summary(data.shape, spread(data.values), tensor.dtype.name)


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
    if isinstance(value, RUNTIME.payload):
        return RUNTIME.around(value, kind_of_array(value.values))
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
    dtype: str = ""  # nothing where it goes without saying


NOTHING = PlainSnapshot()


def snapshot_text(snapshot: Any, *, full: bool) -> PlainSnapshot:
    """A snapshot as text, with `full` as numbers too; nothing of None."""
    if snapshot is None:
        return NOTHING
    if isinstance(snapshot, Summary):
        return PlainSnapshot(snapshot.shape, "", snapshot.range, dtype=stated(snapshot.dtype))
    value = numbers(snapshot) if full else None
    dtype = stated(str(snapshot.dtype).removeprefix("torch."))
    return PlainSnapshot(tuple(snapshot.shape), text_of(snapshot), range_of(snapshot), value, dtype)


def stated(dtype: str) -> str:
    """The dtype where PyTorch prints one behind numbers."""
    return "" if dtype in BY_NAME and needs_no_dtype(BY_NAME[dtype]) else dtype
