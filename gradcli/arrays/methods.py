"""arrays: methods and properties of an array and of a number, from the rows of the table."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy

from .costs import COSTS
from .extents import count, sizes, width
from .functions import Signature, converted, run
from .payment import pay
from .table import METHODS, Row, rows
from .values import Array, Number, wrap

PROPERTIES = "shape dtype ndim size itemsize nbytes strides".split()
# What changes an array in place; a number has none of these.
CHANGING = frozenset({"fill", "sort", "partition", "put", "resize"})


def _method(row: Row) -> Callable[..., Any]:
    signature, cost, name = Signature(row.name, row.parameters), COSTS[row.cost], row.name
    whole = Signature(row.name, f"a, {row.parameters}" if row.parameters else "a")

    def numpys(array: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(array, name)(*args, **kwargs)

    if name == "view":
        numpys = _view

    def method(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        given = {"a": self, **signature.bind(args, kwargs)}
        return wrap(run(numpys, whole, cost, converted(given)))

    method.__name__ = method.__qualname__ = name
    return method


def _view(array: Any, dtype: Any) -> Any:
    """view: no number stands for every letter, so texts are looked at as texts only."""
    if (array.dtype.kind == "U") != (numpy.dtype(dtype).kind == "U"):
        raise TypeError("an array of texts can't be viewed as numbers here, nor numbers as texts")
    return array.view(dtype)


def _properties() -> dict[str, Any]:
    def read(name: str) -> Any:
        return property(lambda self: wrap(getattr(self.array, name)))

    return {name: read(name) for name in PROPERTIES}


def _transposed(self: Any) -> Any:
    return wrap(self.array.T)


def _part(name: str) -> Any:
    """real and imag: views of complex arrays; of others imag is made of zeros."""

    def read(self: Any) -> Any:
        pay(count(self.array), count(self.array) * width(self.array))
        return wrap(self.array.real if name == "real" else self.array.imag)

    return property(read)


def _resize(self: Any, /, *new_shape: Any, refcheck: Any = True) -> None:
    """Another shape for the same array: zeros where it grows; only where no other shares it."""
    held = self.array
    given = converted({"shape": new_shape[0] if len(new_shape) == 1 else new_shape})["shape"]
    shape = tuple(sizes(given))
    if any(size < 0 for size in shape):
        raise ValueError("negative dimensions are not allowed")
    size = math.prod(shape)
    if size != held.size and held.base is not None:
        raise ValueError("cannot resize this array: it does not own its data")
    pay(size, size * width(held))
    made = numpy.zeros(shape, held.dtype)
    made.ravel()[: held.size] = held.ravel()[:size]
    self.array = made


def _flat(self: Any) -> Iterator[Any]:
    return map(wrap, self.array.flat)


def attach() -> None:
    """The rows of METHODS on both classes, and the list of what is public."""
    table: dict[str, Any] = {name: _method(row) for name, row in rows(METHODS).items()}
    table.update(_properties())
    table["resize"] = _resize
    table.update(T=property(_transposed), real=_part("real"), imag=_part("imag"))
    for name, body in table.items():
        setattr(Array, name, body)
        if name not in CHANGING and name != "item":
            setattr(Number, name, body)
    Array.flat = property(_flat)  # type: ignore[attr-defined]
    Array.PUBLIC = (*table, "flat")
    Number.PUBLIC = tuple(name for name in table if name not in CHANGING)
