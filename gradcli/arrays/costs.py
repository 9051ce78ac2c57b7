"""arrays: what a call of NumPy takes at most: bytes that it makes, elements that it looks at.

A cost is a function of the bound arguments, as NumPy gets them. It is paid before NumPy runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy

from ..engine.mode import state

Given = dict[str, Any]
Shape = tuple[int, ...]
PER_STEP = 6  # so many bits of a number of elements: a step looks at 64
WIDEST = 16  # bytes of the widest number
PRINTED = 64  # bytes of text that an element becomes, and more than the steps it takes


def pay(elements: float, size: float = 0) -> None:
    """Charge for looking at so many elements, and for memory of so many bytes."""
    state.reserve(int(size))
    state.charge(int(elements) >> PER_STEP)


# ---------------------------------------------------------------- what arguments measure


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
        return sum(map(count, value)) if any(map(_is_part, value)) else len(value)
    return 1


def _is_part(value: Any) -> bool:
    return isinstance(value, numpy.ndarray | list | tuple)


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
    parts = value if isinstance(value, list | tuple) else numpy.atleast_1d(value).tolist()
    return [abs(int(part)) for part in parts if isinstance(part, int | numpy.integer)]


def arrays(given: Given) -> list[Any]:
    """The arguments that are arrays, or become some."""
    return [value for name, value in given.items() if name not in SETTINGS and _is_part(value)]


SETTINGS = frozenset({"axis", "axes", "shape", "newshape", "keepdims", "reps", "order"})


def spread(values: Iterable[Any]) -> int:
    """How many elements arrays have that are broadcast with each other, at most."""
    shapes = [extent(value) for value in values]
    rank = max(map(len, shapes), default=0)
    total = 1
    for place in range(1, rank + 1):
        total *= max(shape[-place] for shape in shapes if len(shape) >= place)
    return total


def _whole(given: Given) -> int:
    return sum(map(count, arrays(given)))


def _widest(given: Given) -> int:
    own = given.get("dtype")
    asked = own.itemsize if isinstance(own, numpy.dtype) else 8
    return max([asked, *[width(value) for value in given.values()]])


def _number(value: Any, otherwise: int = 0) -> int:
    """An integer among the arguments; what is none NumPy will refuse itself."""
    if isinstance(value, int | float | numpy.number) and math.isfinite(value):
        return abs(int(value))
    return otherwise


# ---------------------------------------------------------------- the costs


def view(given: Given) -> None:
    pay(64)


def copied(given: Given) -> None:
    pay(_whole(given), _whole(given) * _widest(given))


def filled(given: Given) -> None:
    shape = given.get("shape", given.get("new_shape"))
    like = next((given[name] for name in ("a", "prototype") if name in given), None)
    elements = math.prod(sizes(shape)) if shape is not None else count(like)
    pay(elements, elements * _widest(given))


def converted(given: Given) -> None:
    """astype: numbers as texts are 32 letters and more."""
    elements = count(given["a"])
    dtype = given.get("dtype")
    letters = isinstance(dtype, numpy.dtype) and dtype.kind == "U"
    size = max(dtype.itemsize, 256) if letters else _widest(given)  # type: ignore[union-attr]
    pay(elements * (8 if letters else 1), elements * size)


def counted(given: Given) -> None:
    start, stop, step = given["start"], given.get("stop"), given.get("step", 1)
    if stop is None:
        start, stop = 0, start
    try:
        elements = max(math.ceil(float(stop - start) / float(step)), 0)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        elements = 0  # NumPy has words for it
    pay(elements, elements * 2 * _widest(given))


def spaced(given: Given) -> None:
    ends = spread([given.get("start", 0), given.get("stop", 0)])
    elements = _number(given.get("num", given.get("n", 50))) * ends
    pay(elements, elements * 2 * WIDEST)


def square(given: Given) -> None:
    rows = next((given[name] for name in ("N", "n", "v", "x") if name in given), 0)
    length = count(rows) if isinstance(rows, numpy.ndarray | list | tuple) else _number(rows)
    offset = _number(given.get("k"))
    if isinstance(rows, numpy.ndarray) and rows.ndim > 1 and "k" in given and rows.ndim == 2:
        length = max(rows.shape)
    columns = next((_number(given[name]) for name in ("M", "m", "N") if name in given), 0)
    ndim = _number(given.get("ndim", 2))
    elements = max(length + offset, 1) * max(
        columns if "x" in given or columns else 0, length + offset
    )
    pay(elements * max(ndim, 1), elements * max(_widest(given), 2 * 8))


def grid(given: Given) -> None:
    parts = given.get("xi")
    shape = sizes(given["dimensions"]) if parts is None else [count(part) for part in parts]
    pay(math.prod(shape) * len(shape), math.prod(shape) * len(shape) * _widest(given))


def elementwise(given: Given) -> None:
    values = arrays(given)
    elements = spread(values)
    total = sum(map(width, values)) if any(width(v) > WIDEST for v in values) else _widest(given)
    pay(4 * elements, elements * total)


def whole(given: Given) -> None:
    elements = _whole(given)
    pay(4 * elements, elements * _widest(given))


def reduced(given: Given) -> None:
    elements = _whole(given)
    inner = given.get("a")
    casts = isinstance(inner, numpy.ndarray) and inner.dtype == numpy.float16
    pay(2 * elements, elements * 8 if casts or not isinstance(inner, numpy.ndarray) else 0)


def sorted_(given: Given) -> None:
    elements = _whole(given)
    pay(4 * elements * max(elements.bit_length(), 1), 2 * elements * _widest(given))


def found(given: Given) -> None:
    value = given["a"]
    rank = max(len(extent(value)), 1)
    pay(count(value) * rank, count(value) * 8 * rank)


def located(given: Given) -> None:
    """where: of three arguments elementwise, of one the places."""
    if "x" in given:
        elementwise(given)
    else:
        found({"a": given["condition"]})


def repeatedly(given: Given) -> None:
    times = min(_number(given.get("n", 1)), max(extent(given["a"]), default=0))
    pay(_whole(given) * max(times, 1), _whole(given) * _widest(given) * 2)


def gradients(given: Given) -> None:
    value = given["f"]
    rank = max(len(extent(value)), 1)
    pay(8 * count(value) * rank, count(value) * WIDEST * rank)


def slid(given: Given) -> None:
    a, v = count(given["a"]), count(given["v"])
    pay(a * v, (a + v) * WIDEST)


def outer(given: Given) -> None:
    elements = count(given["a"]) * count(given["b"])
    pay(elements, elements * _widest(given) * (2 if "out" not in given else 1))


def inner(given: Given) -> None:
    a, b = extent(given["a"]), extent(given["b"])
    rows, columns = math.prod(a[:-1]), math.prod(b[:-1])
    pay(rows * columns * (a[-1] if a else 1), rows * columns * _widest(given))


def product(given: Given) -> None:
    a = extent(given["a"] if "a" in given else given["x1"])
    b = extent(given["b"] if "b" in given else given["x2"])
    rows, between = math.prod(a[:-1]), a[-1] if a else 1
    columns = (b[-1] if len(b) > 1 else 1) * (1 if a else math.prod(b[:-1]))
    stacks = math.prod(b[:-2])
    elements = max(rows, 1) * max(columns, 1) * max(stacks, 1)
    copies = math.prod(a) + math.prod(b)
    pay(elements * max(between, 1) // 4, (elements + copies) * _widest(given))


def contracted(given: Given) -> None:
    """The worst case is no axis in common."""
    a, b, axes = extent(given["a"]), extent(given["b"]), given.get("axes", 2)
    over = (
        a[len(a) - axes :] if isinstance(axes, int) and 0 < axes <= len(a) else
        [a[place] for place in sizes(axes[0]) if place < len(a)]
        if isinstance(axes, list | tuple) and axes else []
    )  # fmt: skip
    between = max(math.prod(over), 1)
    elements = math.prod(a) * math.prod(b) // (between * between)
    pay(elements * between, (elements + math.prod(a) + math.prod(b)) * _widest(given))


def summed(given: Given) -> None:
    """einsum: every letter is a loop."""
    text, operands = given["subscripts"], given.get("operands", ())
    if not isinstance(text, str):
        raise TypeError("einsum takes its subscripts as a text here")
    terms, _, target = text.replace(" ", "").partition("->")
    lengths: dict[str, int] = {}
    loose = 1
    for term, operand in zip(terms.split(","), operands, strict=False):
        shape = list(extent(operand))
        letters = term.replace("...", "")
        loose *= (
            max(math.prod(shape[: max(len(shape) - len(letters), 0)]), 1) if "..." in term else 1
        )
        front, _, back = term.partition("...")
        for letter, length in [
            *zip(front, shape, strict=False),
            *zip(reversed(back), reversed(shape), strict=False),
        ]:
            lengths[letter] = max(lengths.get(letter, 1), length)
    every = math.prod(lengths.values()) * loose
    kept = math.prod(lengths.get(letter, 1) for letter in target) if "->" in text else every
    pay(every * 2, (kept * loose + _whole({"a": list(operands)})) * _widest(given) * 2)


def normed(given: Given) -> None:
    """A norm of a matrix may be of its singular values."""
    shape = extent(given["x"])
    side = min(shape[-2:]) if given.get("ord") in (2, -2, "nuc") and len(shape) > 1 else 1
    pay(8 * math.prod(shape) * max(side, 1), math.prod(shape) * WIDEST)


def solved(given: Given) -> None:
    """Factorisations: as many steps as the elements times the longer side."""
    a = extent(next(iter(given.values())))
    elements, side = math.prod(a), max(a[-2:], default=1)
    right = math.prod(extent(given["b"])) if "b" in given else 0
    rows = a[-2] if len(a) > 1 else 1
    full = rows * rows * math.prod(a[:-2])  # U of a singular value decomposition
    longest = max(elements, full if given.get("full_matrices", True) else elements)
    pay(8 * (elements + right) * max(side, 1), (4 * elements + 2 * right + longest) * WIDEST)


def powered(given: Given) -> None:
    a, times = extent(given["a"]), _number(given["n"]).bit_length()
    side = max(a[-2:], default=1)
    pay(2 * math.prod(a) * side * max(times, 1), 4 * math.prod(a) * WIDEST)


def fitted(given: Given) -> None:
    degree = _number(given["deg"]) + 1 if "deg" in given else count(given["p"])
    elements = count(given["x"])
    work = elements * degree * (degree if "deg" in given else 1)
    pay(4 * work, elements * WIDEST * (3 * degree if "deg" in given else 2))


def correlated(given: Given) -> None:
    m = extent(given.get("m", given.get("x", ())))
    y = extent(given["y"]) if given.get("y") is not None else (0,)
    by_row = given.get("rowvar", True)
    rows = (m[0] if by_row or len(m) < 2 else m[-1]) if len(m) > 1 else 1
    rows += (y[0] if by_row or len(y) < 2 else y[-1]) if len(y) > 1 else 1
    elements = math.prod(m) + math.prod(y)
    pay(elements * rows, (4 * elements + rows * rows * 2) * WIDEST)


def transformed(given: Given) -> None:
    shape = extent(given["a"])
    sides = given.get("s") if given.get("s") is not None else given.get("n")
    asked = math.prod(sizes(sides)) if sides is not None else 1
    elements = max(math.prod(shape) * max(asked, 1), math.prod(shape))
    pay(8 * elements * max(elements.bit_length(), 1), 3 * elements * WIDEST)


def placed(given: Given) -> None:
    elements = _whole(given) + spread([given["obj"], given["values"]])
    if given.get("axis") is not None:
        elements += count(given["obj"]) * count(given["arr"])
    pay(4 * elements, 2 * elements * _widest(given))


def pieces(given: Given) -> None:
    parts = given.get("indices_or_sections")
    many = len(parts) if isinstance(parts, list | tuple | numpy.ndarray) else _number(parts)
    pay(200 * many, 200 * many)


def tiled(given: Given) -> None:
    elements = count(given["A"]) * math.prod(sizes(given["reps"]))
    pay(elements, 2 * elements * _widest(given))


def repeated(given: Given) -> None:
    times = numpy.asarray(given["repeats"])
    most = int(times.max()) if times.size and times.dtype.kind in "iub" else 1
    elements = count(given["a"]) * max(most, 1)
    pay(elements, elements * _widest(given))


def padded(given: Given) -> None:
    shape = extent(given["array"])
    around = numpy.asarray(given["pad_width"])
    most = int(numpy.abs(around).max()) if around.size and around.dtype.kind in "iu" else 0
    elements = math.prod(size + 2 * most for size in shape)
    pay(8 * elements, 2 * elements * _widest(given))


def taken(given: Given) -> None:
    first, second = [*given.values()][:2]
    indices = given.get("indices", second)
    along = 1
    if given.get("axis") is not None:
        shape = extent(first)
        along = max(math.prod(shape) // max(min(shape, default=1), 1), 1)
    elements = count(indices) * along
    pay(4 * elements, elements * max(_widest(given), 8))


def binned(given: Given) -> None:
    bins = given.get("bins", 10)
    elements = sum(count(given[name]) for name in ("a", "x", "y") if name in given)
    many = count(bins) if _is_part(bins) else _number(bins, 10)
    if isinstance(bins, str):
        many = 0
        bins_by_name(given)
    many = (
        many
        if "y" not in given
        else (math.prod(map(_bins, bins)) if _is_part(bins) and len(bins) == 2 else many)
        ** (1 if _is_part(bins) and len(bins) == 2 else 2)
    )
    pay(16 * elements * max(many.bit_length(), 1) + many, (elements * 4 + 3 * many) * WIDEST)


def _bins(value: Any) -> int:
    return count(value) if _is_part(value) else _number(value, 10)


def bins_by_name(given: Given) -> None:
    raise ValueError("histogram takes a number of bins, or their edges, here")


def tallied(given: Given) -> None:
    values = numpy.asarray(given["x"])
    most = int(values.max()) + 1 if values.size and values.dtype.kind in "iub" else 0
    elements = max(most, _number(given.get("minlength")))
    pay(values.size + elements, elements * 8)


def printed(given: Given) -> None:
    elements = _whole(given)
    pay(PRINTED * 8 * elements, PRINTED * elements)


def listed(given: Given) -> None:
    elements = count(given["a"])
    pay(8 * elements, LISTED * elements)


LISTED = 40  # bytes of a number of Python's in a list


def drawn(given: Given) -> None:
    """Random numbers: as many as are asked for, or as the parameters broadcast to."""
    size = given.get("size")
    rest = [value for name, value in given.items() if name not in ("size", "dtype")]
    own = spread(rest)
    elements = max(math.prod(sizes(size)) if size is not None else 1, own)
    last = max((extent(value)[-1] for value in rest if extent(value)), default=1)
    if "pvals" in given or "alpha" in given:
        elements *= last
    pay(16 * elements, elements * 8)


def spread_out(given: Given) -> None:
    """Normal numbers in several dimensions: their covariance is factored."""
    side = count(given["mean"])
    size = given.get("size")
    elements = (math.prod(sizes(size)) if size is not None else 1) * side
    pay(16 * elements * max(side, 1) + 16 * side**3, (3 * elements + 6 * side * side) * 8)


def chosen(given: Given) -> None:
    value, size = given["a"], given.get("size")
    several = _is_part(value)
    population = (extent(value) or (1,))[0] if several else _number(value)
    each = count(value) // max(population, 1) if several else 1
    drawn_ = math.prod(sizes(size)) if size is not None else 1
    whole_ = population if not given.get("replace", True) or given.get("p") is not None else 0
    pay(16 * (whole_ + drawn_ * max(each, 1)), 16 * whole_ + drawn_ * max(each, 1) * _widest(given))


def shuffled(given: Given) -> None:
    value = given["x"]
    elements = count(value) if _is_part(value) else _number(value)
    pay(32 * elements, 2 * elements * _widest(given))


COSTS: dict[str, Callable[[Given], None]] = {
    "view": view, "copied": copied, "filled": filled, "converted": converted, "counted": counted,
    "spaced": spaced, "square": square, "grid": grid, "elementwise": elementwise, "whole": whole,
    "reduced": reduced, "sorted": sorted_, "found": found, "located": located,
    "repeatedly": repeatedly,
    "gradients": gradients, "slid": slid, "outer": outer, "inner": inner, "product": product,
    "contracted": contracted, "summed": summed, "normed": normed, "solved": solved,
    "powered": powered, "fitted": fitted, "correlated": correlated, "transformed": transformed,
    "placed": placed, "pieces": pieces, "tiled": tiled, "repeated": repeated, "padded": padded,
    "taken": taken, "binned": binned, "tallied": tallied, "printed": printed, "listed": listed,
    "drawn": drawn, "spread": spread_out, "chosen": chosen, "shuffled": shuffled,
}  # fmt: skip
