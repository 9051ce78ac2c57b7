"""arrays: what the arguments of a call measure: shapes, elements, bytes of an element."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy

Given = dict[str, Any]
Shape = tuple[int, ...]
WIDEST = 16  # bytes of the widest number


def extent(value: Any) -> Shape:
    """The shape that a value has as an array; of nested lists, along the first elements."""
    if isinstance(value, numpy.ndarray | numpy.generic):
        return value.shape
    shape: list[int] = []
    while isinstance(value, list | tuple):
        shape.append(len(value))
        if not value:
            break
        value = value[0]
    return (*shape, *extent(value)) if isinstance(value, numpy.ndarray) else tuple(shape)


def count(value: Any) -> int:
    """How many elements there are, in the parts of a list of arrays too."""
    if isinstance(value, numpy.ndarray):
        return value.size
    if isinstance(value, list | tuple):
        return sum(map(count, value)) if any(map(is_part, value)) else len(value)
    return 1


def is_part(value: Any) -> bool:
    """Arrays and lists; an array of no dimension is a number."""
    return isinstance(value, list | tuple) or (isinstance(value, numpy.ndarray) and value.ndim > 0)


def width(value: Any) -> int:
    """Bytes of an element."""
    if isinstance(value, numpy.ndarray | numpy.generic):
        return max(value.dtype.itemsize, 1)
    if isinstance(value, str):
        return 4 * len(value) + 4
    if isinstance(value, list | tuple) and value:
        return max(map(width, value))
    return 8


def sizes(value: Any) -> list[int]:
    """A shape that a program gave, as numbers; what is no number NumPy will refuse itself."""
    parts = value if is_part(value) else (value,)
    return [number(part) for part in parts]


def arrays(given: Given) -> list[Any]:
    """The arguments that are arrays, or become some."""
    return [value for name, value in given.items() if name not in SETTINGS and is_part(value)]


SETTINGS = frozenset({"axis", "axes", "shape", "newshape", "keepdims", "reps", "order"})


def spread(values: Iterable[Any]) -> int:
    """How many elements arrays have that are broadcast with each other, at most."""
    return spread_shapes([extent(value) for value in values])


def spread_shapes(shapes: list[Shape]) -> int:
    total = 1
    for place in range(1, max(map(len, shapes), default=0) + 1):
        total *= max(shape[-place] for shape in shapes if len(shape) >= place)
    return total


def all_elements(given: Given) -> int:
    return sum(map(count, arrays(given)))


def widest(given: Given) -> int:
    own = given.get("dtype")
    asked = own.itemsize if isinstance(own, numpy.dtype) else 8
    return max([asked, *[width(value) for value in given.values()]])


def number(value: Any, otherwise: int = 0) -> int:
    """The size of an integer among the arguments; what is none NumPy will refuse itself."""
    if isinstance(value, numpy.ndarray) and value.size == 1:
        value = value.item()
    if isinstance(value, int | float | numpy.number) and math.isfinite(value):
        return abs(int(value))
    return otherwise


def plain_number(value: Any) -> Any:
    """A number of Python's for one of NumPy's."""
    one = isinstance(value, numpy.generic) or (isinstance(value, numpy.ndarray) and value.size == 1)
    return value.item() if one else value
