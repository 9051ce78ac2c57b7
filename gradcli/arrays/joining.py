"""arrays: np.c_, np.r_, np.mgrid and np.ogrid, whose brackets make arrays; np.s_."""

from __future__ import annotations

import math
from typing import Any

import numpy

from .extents import WIDEST, count, number, width
from .operators import index_of
from .payment import pay
from .values import host, wrap

OBJECTS = {name: getattr(numpy, name) for name in ("c_", "r_", "mgrid", "ogrid")}


class Joining:
    """One of NumPy's objects that are there for their brackets."""

    __slots__ = ("name",)
    PUBLIC: tuple[str, ...] = ()

    def __init__(self, name: str) -> None:
        if name not in OBJECTS:
            raise TypeError("cannot create instances of this class")
        self.name = name

    def __getitem__(self, key: Any) -> Any:
        parts = key if type(key) is tuple else (key,)
        if any(type(part) is str for part in parts):
            raise TypeError(f"np.{self.name} takes arrays, numbers and slices here")
        made = tuple([_part(part) for part in parts])
        lengths = [_length(part) for part in made]
        if self.name in ("c_", "r_"):
            wide = max([WIDEST, *map(width, made)])
            pay(sum(lengths) + len(made), 4 * sum(lengths) * wide)
        else:
            pay(math.prod(lengths) * len(made), 3 * math.prod(lengths) * len(made) * WIDEST)
        return wrap(OBJECTS[self.name][made if type(key) is tuple else made[0]])

    def __repr__(self) -> str:
        return f"<numpy.{self.name}>"


def _part(part: Any) -> Any:
    return index_of(part) if type(part) is slice else host(part)


def _length(part: Any) -> int:
    """How many numbers a slice stands for; a complex step says how many."""
    if not isinstance(part, slice):
        return count(part)
    start, stop, step = part.start or 0, part.stop, 1 if part.step is None else part.step
    if isinstance(step, complex):
        return number(abs(step))
    try:
        return max(math.ceil((stop - start) / step), 0)
    except (TypeError, ZeroDivisionError, ValueError, OverflowError):
        return 0  # NumPy has words for it


class Sliced:
    """np.s_: gives what stands between its brackets."""

    __slots__ = ()
    PUBLIC: tuple[str, ...] = ()

    def __getitem__(self, key: Any) -> Any:
        return key
