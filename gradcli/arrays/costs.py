"""arrays: upper bounds for a call of NumPy: bytes it allocates, elements it reads.

A cost is a function of the bound arguments, as NumPy gets them. It is paid before NumPy runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from ..engine.layout import once
from ..engine.mode import state
from .extents import (
    WIDEST,
    Given,
    all_elements,
    arrays,
    count,
    extent,
    is_part,
    number,
    sizes,
    spread,
    spread_shapes,
    widest,
    width,
)

PER_STEP = 6  # so many bits of a number of elements: a step looks at 64
PRINTED = 64  # bytes of text that an element becomes, and more than the steps it takes


def pay(elements: float, size: float = 0) -> None:
    """Charges for looking at that many elements, and for memory of that many bytes."""
    state.reserve(int(size))
    state.charge(int(elements) >> PER_STEP)


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
    start, stop, step = (_plain(given.get(name)) for name in ("start", "stop", "step"))
    if stop is None:
        start, stop = 0, start
    try:
        length = (stop - start) / (1 if step is None else step)
        elements = math.ceil(abs(length)) if isinstance(length, complex) or length > 0 else 0
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        elements = 0  # NumPy has words for it
    pay(elements, elements * 2 * widest(given))


def _plain(value: Any) -> Any:
    """A number of Python's for one of NumPy's."""
    one = isinstance(value, numpy.generic) or (isinstance(value, numpy.ndarray) and value.size == 1)
    return value.item() if one else value


def spaced(given: Given) -> None:
    ends = spread([given[name] for name in ("start", "stop", "base") if name in given])
    elements = number(given.get("num", given.get("n", 50))) * ends
    pay(elements, elements * 3 * WIDEST)


def quadrature(given: Given) -> None:
    """Nodes and weights: the eigenvalues of a square matrix."""
    degree = number(given.get("deg"))
    pay(degree**3, 64 * degree**2)


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


def multiplied(given: Given) -> None:
    """matmul: stacks of matrices are broadcast with each other."""
    a, b = extent(given["x1"]), extent(given["x2"])
    rows, between = (a[-2] if len(a) > 1 else 1), (a[-1] if a else 1)
    columns = b[-1] if len(b) > 1 else 1
    stacks = spread_shapes([a[:-2], b[:-2]])
    copies = math.prod(a) + math.prod(b)
    elements = stacks * rows * columns
    pay(elements * max(between, 1) // 32, (elements + copies) * widest(given))


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
    value = given["a"]
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


def slid(given: Given) -> None:
    a, v = count(given["a"]), count(given["v"])
    pay(a * v, (a + v) * WIDEST)


def outer(given: Given) -> None:
    elements = count(given["a"]) * count(given["b"])
    pay(elements, elements * widest(given) * (2 if "out" not in given else 1))


def inner(given: Given) -> None:
    a, b = extent(given["a"]), extent(given["b"])
    rows, columns = math.prod(a[:-1]), math.prod(b[:-1])
    pay(rows * columns * (a[-1] if a else 1), rows * columns * widest(given))


def product(given: Given) -> None:
    """dot: every line of one with every line of the other."""
    a = extent(given["a"])
    b = extent(given["b"])
    rows, between = math.prod(a[:-1]), a[-1] if a else 1
    columns = math.prod(b[:-2]) * b[-1] if len(b) > 1 else 1
    if not a or not b:
        rows, columns, between = math.prod(a), math.prod(b), 1
    elements = max(rows, 1) * max(columns, 1)
    copies = math.prod(a) + math.prod(b)
    pay(elements * max(between, 1) // 32, (elements + copies) * widest(given))


def contracted(given: Given) -> None:
    """tensordot: the products of what is not summed; the worst case is no axis in common."""
    a, b, axes = extent(given["a"]), extent(given["b"]), _plain(given.get("axes", 2))
    over: list[int] = []
    if isinstance(axes, int) and 0 < axes <= len(a):
        over = list(a[len(a) - axes :])
    elif is_part(axes) and len(axes) == 2:
        places = axes[0] if is_part(axes[0]) else (axes[0],)
        named = {_plain(place) for place in places}
        over = [a[place] for place in named if isinstance(place, int) and -len(a) <= place < len(a)]
    between = max(math.prod(over), 1)
    elements = math.prod(a) * math.prod(b) // (between * between)
    copies = math.prod(a) + math.prod(b)
    pay(elements * between // 4, (elements + copies) * widest(given))


def summed(given: Given) -> None:
    """einsum: every letter is a loop."""
    text, operands = given["subscripts"], given.get("operands", ())
    if not isinstance(text, str):
        raise TypeError("einsum takes its subscripts as a text here")
    terms, arrow, target = text.replace(" ", "").partition("->")
    lengths: dict[str, int] = {}
    loose = 1
    for term, operand in zip(terms.split(","), operands, strict=False):
        shape = extent(operand)
        front, dots, back = term.partition("...")
        inner = shape[len(front) : len(shape) - len(back)] if dots else ()
        loose *= max(math.prod(inner), 1)
        ends = (*zip(front, shape, strict=False),
                *zip(reversed(back), reversed(shape), strict=False))  # fmt: skip
        for letter, length in ends:
            lengths[letter] = max(lengths.get(letter, 1), length)
    every = math.prod(lengths.values()) * loose
    kept = math.prod(lengths.get(letter, 1) for letter in target) * loose if arrow else every
    between = every if len(operands) > 2 and given.get("optimize") else 0
    copies = sum(map(count, operands))
    pay(2 * every, (kept + copies + between) * widest({"operands": list(operands)}) * 2)


def normed(given: Given) -> None:
    """A norm of a matrix may be of its singular values."""
    shape = extent(given["x"])
    side = min(shape[-2:]) if given.get("ord") in (2, -2, "nuc") and len(shape) > 1 else 1
    pay(8 * math.prod(shape) * max(side, 1), math.prod(shape) * WIDEST)


def solved(given: Given) -> None:
    """Factorisations: as many steps as the elements times the longer side."""
    a = extent(next(given[name] for name in ("a", "A", "x") if name in given))
    elements, sides = math.prod(a), a[-2:]
    right = math.prod(extent(given["b"])) if "b" in given else 0
    full = sum(side * side for side in sides) * math.prod(a[:-2])  # factors that are square
    pay(8 * (elements + right) * max(sides, default=1), (4 * elements + 2 * right + full) * WIDEST)


def powered(given: Given) -> None:
    a, times = extent(given["a"]), number(given["n"]).bit_length()
    side = max(a[-2:], default=1)
    pay(2 * math.prod(a) * side * max(times, 1), 4 * math.prod(a) * WIDEST)


def fitted(given: Given) -> None:
    elements = count(given["x"])
    if "deg" in given:
        degree = number(given["deg"]) + 1
        right = count(given["y"])
        pay(4 * (elements * degree + right) * degree, (4 * elements * degree + 2 * right) * WIDEST)
    else:
        terms = count(given["p"])
        pay((elements + 256) * terms, 3 * elements * WIDEST)


def correlated(given: Given) -> None:
    m = extent(given.get("m", given.get("x", ())))
    y = extent(given["y"]) if given.get("y") is not None else (0,)
    by_row = given.get("rowvar", True)
    rows = (m[0] if by_row or len(m) < 2 else m[-1]) if len(m) > 1 else 1
    rows += (y[0] if by_row or len(y) < 2 else y[-1]) if len(y) > 1 else 1
    elements = math.prod(m) + math.prod(y)
    pay(elements * rows, (4 * elements + rows * rows * 2) * WIDEST)


def transformed(given: Given) -> None:
    """Fourier transforms: along an axis of another length, or in two dimensions."""
    shape = extent(given["a"])
    sides = given.get("s") if given.get("s") is not None else given.get("n")
    elements = math.prod(shape)
    if sides is not None and shape:
        replaced = sizes(sides)
        axis = _plain(given.get("axis", -1))
        along = shape[-len(replaced) :] if "s" in given else ()
        if isinstance(axis, int) and -len(shape) <= axis < len(shape) and "s" not in given:
            along = (shape[axis],)
        elements = elements // max(math.prod(along), 1) * math.prod(replaced)
        if "axes" in given:
            elements = math.prod(shape) * math.prod(replaced)
    pay(8 * elements * max(elements.bit_length(), 1), 4 * max(elements, math.prod(shape)) * WIDEST)


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


STEPS = 6  # of what is composed of several functions
PIECE = 512  # bytes of a part of an array, and more than the steps it takes
LISTED = 40  # bytes of a number of Python's in a list


def drawn(given: Given) -> None:
    """Random numbers: as many as are requested, or as the parameters broadcast to."""
    size = given.get("size")
    rest = [value for name, value in given.items() if name not in ("size", "dtype")]
    own = spread(rest)
    elements = max(math.prod(sizes(size)) if size is not None else 1, own)
    last = max((extent(value)[-1] for value in rest if extent(value)), default=1)
    if "pvals" in given or "alpha" in given:
        elements *= last
    pay(16 * elements, elements * 2 * 8)


def spread_out(given: Given) -> None:
    """Normal numbers in several dimensions: their covariance is factored."""
    side = count(given["mean"])
    size = given.get("size")
    elements = (math.prod(sizes(size)) if size is not None else 1) * side
    pay(16 * elements * max(side, 1) + 16 * side**3, (3 * elements + 6 * side * side) * 8)


def chosen(given: Given) -> None:
    """Without replacement all are shuffled; with probabilities their sums are made."""
    value, size = given["a"], given.get("size")
    several = is_part(value)
    population = (extent(value) or (1,))[0] if several else number(value)
    each = max(count(value) // max(population, 1), 1) if several else 1
    wanted = math.prod(sizes(size)) if size is not None else 1
    every = population if not given.get("replace", True) or given.get("p") is not None else 0
    pay(16 * (every + wanted * each), 2 * 8 * (every + wanted) + wanted * each * widest(given))


def shuffled(given: Given) -> None:
    value = given["x"]
    elements = count(value) if is_part(value) else number(value)
    pay(32 * elements, 2 * elements * widest(given))


COSTS: dict[str, Callable[[Given], None]] = {
    "view": view, "copied": copied, "filled": filled, "converted": converted, "counted": counted,
    "spaced": spaced, "square": square, "diagonal": diagonal, "diagonals": diagonals,
    "powers": powers, "unravelled": unravelled, "rolled": rolled, "selected": selected,
    "quantiles": quantiles, "multiplied": multiplied, "quadrature": quadrature,
    "grid": grid, "elementwise": elementwise, "whole": whole,
    "composed": composed, "cleaned": cleaned, "distinct": distinct,
    "reduced": reduced, "sorted": sorted_, "found": found, "located": located,
    "repeatedly": repeatedly,
    "gradients": gradients, "slid": slid, "outer": outer, "inner": inner, "product": product,
    "contracted": contracted, "summed": summed, "normed": normed, "solved": solved,
    "powered": powered, "fitted": fitted, "correlated": correlated, "transformed": transformed,
    "placed": placed, "pieces": pieces, "tiled": tiled, "repeated": repeated, "padded": padded,
    "taken": taken, "binned": binned, "tallied": tallied, "listed": listed,
    "drawn": drawn, "spread": spread_out, "chosen": chosen, "shuffled": shuffled,
}  # fmt: skip
