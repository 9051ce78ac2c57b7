"""pipeline: difference quotients: a derivative by central differences, extrapolated to step 0.

Romberg's scheme on central differences: the error of each is a series in the square of the step, so
quotients at h, h/4, h/16 ... combine into one whose error falls with every row, until rounding
takes over. The entry that agrees best with its neighbours is the answer, their distance its error.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

FIRST = 2.0**-8  # of the magnitude of what is perturbed
SHRINK = 4.0
ROWS = 14


class Quotient(NamedTuple):
    """A derivative from differences: its value, how far it can be trusted, what lies on each side.

    `left` and `right` are one-sided quotients at the smallest step that was tried.
    """

    value: float
    error: float
    left: float
    right: float
    bend: float  # how far left and right were apart at the largest step

    @property
    def finite(self) -> bool:
        return math.isfinite(self.value)

    def is_kink(self, tolerance: float) -> bool:
        """Left and right stay apart however small the step: no derivative is there."""
        apart = abs(self.right - self.left)
        return apart > tolerance and apart > 0.7 * self.bend


def quotient(
    function: Callable[[float], float],
    middle: float,
    magnitude: float,
    wanted: Callable[[float], float],
) -> Quotient:
    """The derivative at 0 of a function of the step; stops when its error is as small as wanted."""
    step = FIRST * magnitude
    rows: list[list[float]] = []
    value, error, left, right, bend = math.nan, math.inf, math.nan, math.nan, 0.0
    for _ in range(ROWS):
        ahead, behind = function(step), function(-step)
        left, right = (middle - behind) / step, (ahead - middle) / step
        row = [(ahead - behind) / (2 * step)]
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
                if distance <= error:
                    value, error = row[place], distance
        else:
            value = row[0]
        rows.append(row)
        if error <= wanted(value):
            break
        step /= SHRINK
    return Quotient(value, error, left, right, bend)
