"""arrays: upper bounds for a call of NumPy: bytes it allocates, elements it reads.

A cost is a function of the bound arguments, as NumPy gets them. It is paid before NumPy runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from ..engine.memory.layout import once
from . import algebra_costs, random_costs
from .extents import (
    WIDEST,
    Given,
    all_elements,
    arrays,
    count,
    extent,
    is_part,
    number,
    plain_number,
    sizes,
    spread,
    widest,
    width,
)
from .payment import pay

STEPS = 6  # of what is composed of several functions
PIECE = 512  # bytes of a part of an array, and more than the steps it takes
LISTED = 40  # bytes of a number of Python's in a list


def view(given: Given) -> None:
    pay(64)


def copied(given: Given) -> None:
    pay(all_elements(given), all_elements(given) * widest(given))


def filled(given: Given) -> None:
    shape = given.get("shape", given.get("new_shape"))
    like = next((given[name] for name in ("a", "prototype") if name in given), None)
    elements = math.prod(sizes(shape)) if shape is not None else count(like)
    pay(elements, elements * widest(given))


def converted(given: Given) -> None:
    """astype: numbers as texts are 32 letters and more."""
    elements = count(given["a"])
    dtype = given.get("dtype")
    letters = isinstance(dtype, numpy.dtype) and dtype.kind == "U"
    size = max(dtype.itemsize, 256) if letters else widest(given)  # type: ignore[union-attr]
    pay(elements * (8 if letters else 1), elements * size)


def counted(given: Given) -> None:
    start, stop, step = (plain_number(given.get(name)) for name in ("start", "stop", "step"))
    if stop is None:
        start, stop = 0, start
    try:
        length = (stop - start) / (1 if step is None else step)
        elements = math.ceil(abs(length)) if isinstance(length, complex) or length > 0 else 0
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        elements = 0  # NumPy has words for it
    pay(elements, elements * 2 * widest(given))


def spaced(given: Given) -> None:
    ends = spread([given[name] for name in ("start", "stop", "base") if name in given])
    elements = number(given.get("num", given.get("n", given.get("M", 50)))) * ends
    pay(elements, elements * 3 * WIDEST)


def square(given: Given) -> None:
    """A matrix: N rows, as many columns unless M says otherwise."""
    rows = number(given.get("N", given.get("n", 0)))
    columns = max([number(given[name]) for name in ("M", "m") if name in given], default=rows)
    if given.get("M", 0) is None or given.get("m", 0) is None:
        columns = rows
    pay(4 * rows * columns, rows * columns * max(widest(given), 3 * 8))


def diagonal(given: Given) -> None:
    """diag: of a matrix its diagonal, of a line the matrix that has it there."""
    if len(extent(given["v"])) > 1:
        view(given)
    else:
        diagonals(given)


def diagonals(given: Given) -> None:
    side = count(given["v"]) + number(given.get("k"))
    pay(side * side, side * side * widest(given))


def powers(given: Given) -> None:
    elements = count(given["x"])
    columns = given.get("N")
    elements *= elements if columns is None else number(columns)
    pay(elements, 2 * elements * widest(given))


def unravelled(given: Given) -> None:
    elements = count(given["indices"]) * max(len(sizes(given["shape"])), 1)
    pay(4 * elements, elements * 8)


def rolled(given: Given) -> None:
    """Along several dimensions, the parts on both sides of each are moved."""
    elements = all_elements(given)
    parts = 2 ** len(extent(given["a"])) if given.get("axis") is not None else 2
    pay(4 * elements + 256 * parts, elements * widest(given))


def selected(given: Given) -> None:
    conditions, choices = list(given["condlist"]), list(given["choicelist"])
    every = [*conditions, *choices, given.get("default", 0)]
    elements = spread(every)
    pay(4 * elements * len(every), 3 * elements * max(map(width, every)))


def quantiles(given: Given) -> None:
    a, q = given["a"], given["q"]
    shape = extent(a)
    lines = 1 if given.get("axis") is None else count(a) // max(min(shape, default=1), 1)
    elements = count(a)
    pay(8 * elements * max(elements.bit_length(), 1) + 16 * lines * count(q),
        2 * elements * widest(given) + 8 * 8 * lines * count(q))  # fmt: skip


def grid(given: Given) -> None:
    parts = given.get("xi")
    shape = sizes(given["dimensions"]) if parts is None else [count(part) for part in parts]
    pay(math.prod(shape) * len(shape), math.prod(shape) * len(shape) * widest(given))


def elementwise(given: Given) -> None:
    values = arrays(given)
    elements = spread(values)
    total = sum(map(width, values)) if any(width(v) > WIDEST for v in values) else widest(given)
    pay(4 * elements, elements * total)


def composed(given: Given) -> None:
    """Elementwise in several steps, each with an array of its own."""
    elements = spread(arrays(given))
    pay(STEPS * 4 * elements, STEPS * elements * widest(given))


def whole(given: Given) -> None:
    elements = all_elements(given)
    pay(4 * elements, elements * widest(given))


def cleaned(given: Given) -> None:
    """A copy without what is not a number, and marks of where it was."""
    elements = all_elements(given)
    pay(8 * elements, 3 * elements * widest(given))


def reduced(given: Given) -> None:
    elements = all_elements(given)
    inner = given.get("a")
    pay(2 * elements, 0 if isinstance(inner, numpy.ndarray) else elements * widest(given))


def sorted_(given: Given) -> None:
    elements, wide = all_elements(given), widest(given)
    rounds = 4 * max(elements.bit_length(), 1)
    pay(rounds * elements * max(wide // WIDEST, 1), 4 * elements * max(wide, 8))


def distinct(given: Given) -> None:
    """Sorted with places to go back by."""
    sorted_(given)
    elements = all_elements(given)
    pay(elements, 4 * elements * max(widest(given), 8))


def found(given: Given) -> None:
    value = given.get("a", given.get("arr"))
    rank = max(len(extent(value)), 1)
    pay(count(value) * rank, 2 * count(value) * 8 * rank)


def located(given: Given) -> None:
    """where: of three arguments elementwise, of one the places."""
    if "x" in given:
        elementwise(given)
    else:
        found({"a": given["condition"]})


def repeatedly(given: Given) -> None:
    """diff: every requested round counts, also when nothing is left."""
    times, longest = number(given.get("n", 1)), max(extent(given["a"]), default=0)
    elements = all_elements(given)
    pay(elements * max(min(times, longest), 1) + 256 * times, elements * widest(given) * 3)


def gradients(given: Given) -> None:
    value = given["f"]
    rank = max(len(extent(value)), 1)
    pay(8 * count(value) * rank, count(value) * WIDEST * rank)


def placed(given: Given) -> None:
    elements = all_elements(given) + spread([given["obj"], given["values"]])
    if given.get("axis") is not None:
        elements += count(given["obj"]) * count(given["arr"])
    pay(4 * elements, 2 * elements * widest(given))


def pieces(given: Given) -> None:
    parts = given.get("indices_or_sections")
    many = count(parts) if is_part(parts) else number(parts)
    pay(PIECE * many, PIECE * many)


def tiled(given: Given) -> None:
    elements = count(given["A"]) * math.prod(sizes(given["reps"]))
    pay(elements, 2 * elements * widest(given))


def repeated(given: Given) -> None:
    times = numpy.asarray(given["repeats"])
    most = int(times.max()) if times.size and times.dtype.kind in "iub" else 1
    elements = count(given["a"]) * max(most, 1)
    pay(elements, elements * widest(given))


def padded(given: Given) -> None:
    shape = extent(given["array"])
    around = numpy.asarray(given["pad_width"])
    most = int(numpy.abs(around).max()) if around.size and around.dtype.kind in "iu" else 0
    elements = math.prod(size + 2 * most for size in shape)
    pay(8 * elements, 2 * elements * widest(given))


def taken(given: Given) -> None:
    first, second = [*given.values()][:2]
    indices = given.get("indices", second)
    along = 1
    if given.get("axis") is not None:
        shape = extent(first)
        along = max(math.prod(shape) // max(min(shape, default=1), 1), 1)
    elements = count(indices) * along
    pay(4 * elements, elements * max(widest(given), 8))


def binned(given: Given) -> None:
    bins = given.get("bins", 10)
    if isinstance(bins, str):
        raise TypeError("histogram takes a number of bins, or their edges, here")
    elements = sum(count(given[name]) for name in ("a", "x", "y") if name in given)
    if "y" not in given:
        many = _bins(bins)
    elif is_part(bins) and len(bins) == 2:
        many = (_bins(bins[0]) + 2) * (_bins(bins[1]) + 2)
    else:
        many = (_bins(bins) + 2) ** 2
    pay(16 * elements * max(many.bit_length(), 1) + many, (elements * 4 + 3 * many) * WIDEST)


def _bins(value: Any) -> int:
    return count(value) if is_part(value) else number(value, 10)


def tallied(given: Given) -> None:
    values = once(numpy.asarray(given["x"]))
    most = int(values.max()) + 1 if values.size and values.dtype.kind in "iub" else 0
    elements = max(most, number(given.get("minlength")))
    pay(count(given["x"]) + elements, elements * 8)


def listed(given: Given) -> None:
    elements = count(given["a"])
    pay(8 * elements, LISTED * elements)


_OWN = (
    view, copied, filled, converted, counted, spaced, square, diagonal, diagonals, powers,
    unravelled, rolled, selected, quantiles, grid, elementwise, whole, composed, cleaned,
    distinct, reduced, sorted_, found, located, repeatedly, gradients, placed, pieces, tiled,
    repeated, padded, taken, binned, tallied, listed,
)  # fmt: skip
COSTS: dict[str, Callable[[Given], None]] = {
    cost.__name__.rstrip("_"): cost for cost in (*_OWN, *algebra_costs.COSTS, *random_costs.COSTS)
}
