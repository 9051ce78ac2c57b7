"""Questions: difference quotients: a derivative by central differences, extrapolated to step 0.

Romberg's scheme on central differences: the error of each is a series in the square of the step, so
quotients at h, h/4, h/16 ... combine into one whose error falls with every row, until rounding
takes over. The entry that agrees best with its neighbours is the answer, their distance its error.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ....named import NamedTuple

FIRST = 2.0**-8  # of the magnitude of what is perturbed
SHRINK = 4.0
ROWS = 14
ROUNDING = 4 * 2.0**-53


class Quotient(NamedTuple):
    """A derivative from differences: its value, how far it can be trusted, what lies on each side.

    `left` and `right` are one-sided quotients at the smallest step that was tried.
    """

    value: float
    error: float
    left: float
    right: float
    bend: float  # how far left and right were apart at the largest step
    noise: float = 0.0  # what rounding may add to left and right

    @property
    def finite(self) -> bool:
        return math.isfinite(self.value)

    def is_kink(self, tolerance: float) -> bool:
        """Left and right stay apart however small the step: no derivative is there."""
        apart = abs(self.right - self.left)
        return apart > max(tolerance, 10 * self.noise) and apart > 0.7 * self.bend

    @property
    def is_jump(self) -> bool:
        """The slopes on the two sides grow apart as the step shrinks."""
        return abs(self.right - self.left) > 2 * self.bend


class Sides(NamedTuple):
    """How far a function moves when it goes a step ahead, and behind; the size of the numbers that
    were subtracted for it, which decides what rounding leaves of the differences."""

    ahead: float  # f(step) - f(0)
    behind: float  # f(0) - f(-step)
    size: float


def quotient(
    sides: Callable[[float], Sides], magnitude: float, wanted: Callable[[float], float]
) -> Quotient:
    """The derivative at 0 of a function; stops when its error is as small as wanted."""
    step = FIRST * magnitude
    rows: list[list[float]] = []
    value, error, left, right, bend = math.nan, math.inf, math.nan, math.nan, 0.0
    noise = 0.0
    for _ in range(ROWS):
        ahead, behind, size = sides(step)
        left, right, noise = behind / step, ahead / step, ROUNDING * size / step
        row = [(ahead + behind) / (2 * step)]
        if not math.isfinite(row[0]):
            rows.clear()  # outside the domain: smaller steps may lie within
            step /= SHRINK
            continue
        if not rows:
            bend = abs(right - left)
        power = 1.0
        for before in rows[-1] if rows else ():
            power *= SHRINK * SHRINK
            row.append((power * row[-1] - before) / (power - 1.0))
        if rows:
            last = rows[-1]
            for place in range(1, len(row)):
                distance = max(abs(row[place] - row[place - 1]), abs(row[place] - last[place - 1]))
                distance = max(distance, noise)
                if distance <= error:
                    value, error = row[place], distance
        else:
            value = row[0]
        rows.append(row)
        if error <= wanted(value):
            break
        step /= SHRINK
    return Quotient(value, error, left, right, bend, noise)
