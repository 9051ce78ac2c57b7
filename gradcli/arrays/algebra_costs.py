"""arrays: what products, decompositions, fits, Fourier transforms cost."""

from __future__ import annotations

import math

from .extents import (
    WIDEST,
    Given,
    count,
    extent,
    is_part,
    number,
    plain_number,
    sizes,
    spread_shapes,
    widest,
)
from .payment import pay


def quadrature(given: Given) -> None:
    """Nodes and weights: the eigenvalues of a square matrix."""
    degree = number(given.get("deg"))
    pay(degree**3, 64 * degree**2)


def multiplied(given: Given) -> None:
    """matmul: stacks of matrices are broadcast with each other."""
    a, b = extent(given["x1"]), extent(given["x2"])
    rows, between = (a[-2] if len(a) > 1 else 1), (a[-1] if a else 1)
    columns = b[-1] if len(b) > 1 else 1
    stacks = spread_shapes([a[:-2], b[:-2]])
    copies = math.prod(a) + math.prod(b)
    elements = stacks * rows * columns
    pay(elements * max(between, 1) // 32, (elements + copies) * widest(given))


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
    a, b, axes = extent(given["a"]), extent(given["b"]), plain_number(given.get("axes", 2))
    over: list[int] = []
    if isinstance(axes, int) and 0 < axes <= len(a):
        over = list(a[len(a) - axes :])
    elif is_part(axes) and len(axes) == 2:
        places = axes[0] if is_part(axes[0]) else (axes[0],)
        named = {plain_number(place) for place in places}
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
        axis = plain_number(given.get("axis", -1))
        along = shape[-len(replaced) :] if "s" in given else ()
        if isinstance(axis, int) and -len(shape) <= axis < len(shape) and "s" not in given:
            along = (shape[axis],)
        elements = elements // max(math.prod(along), 1) * math.prod(replaced)
        if "axes" in given:
            elements = math.prod(shape) * math.prod(replaced)
    pay(8 * elements * max(elements.bit_length(), 1), 4 * max(elements, math.prod(shape)) * WIDEST)


COSTS = (
    quadrature, multiplied, slid, outer, inner, product, contracted, summed, normed, solved,
    powered, fitted, correlated, transformed,
)  # fmt: skip
