"""arrays: what random numbers cost."""

from __future__ import annotations

import math

from .extents import Given, count, extent, is_part, number, sizes, spread, widest
from .payment import pay


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


COSTS = (drawn, spread_out, chosen, shuffled)
