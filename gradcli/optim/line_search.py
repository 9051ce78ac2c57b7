"""Library: a step length that satisfies the strong Wolfe conditions, for L-BFGS.

J. Nocedal and S. Wright, "Numerical Optimization", 2006, algorithms 3.5 and 3.6.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

_DECREASE, _CURVATURE = 1e-4, 0.9


class Point(NamedTuple):
    """What was found at a step: the loss, the gradient, its part along the direction."""

    step: Any
    loss: float
    grad: Any
    slope: Any


Evaluate = Callable[[Any], Point]


def _minimum(one: Point, other: Point, low: Any, high: Any) -> Any:
    """Where the cubic through two points, with their slopes, is least between bounds."""
    inner = one.slope + other.slope - 3 * (one.loss - other.loss) / (one.step - other.step)
    square = inner**2 - one.slope * other.slope
    if not square >= 0:
        return (low + high) / 2.0
    root = square.sqrt()
    near, far = (one, other) if one.step <= other.step else (other, one)
    share = (far.slope + root - inner) / (far.slope - near.slope + 2 * root)
    return min(max(far.step - (far.step - near.step) * share, low), high)


class Search:
    """One search: how often it may evaluate, and how often it did."""

    def __init__(self, evaluate: Evaluate, start: Point, tolerance: float, most: int) -> None:
        self._evaluate, self.start, self.tolerance = evaluate, start, tolerance
        self.most, self.evaluations, self.tries = most, 0, 0

    def evaluate(self, step: Any) -> Point:
        self.evaluations += 1
        return self._evaluate(step)

    def _too_high(self, point: Point) -> bool:
        start = self.start
        return bool(point.loss > start.loss + _DECREASE * point.step * start.slope)

    def _flat(self, point: Point) -> bool:
        return bool(abs(point.slope) <= -_CURVATURE * self.start.slope)

    def run(self, step: Any, width: Any) -> Point:
        """The accepted point; `width` is the direction's largest part."""
        bracket, done = self._bracketed(step)
        return bracket[0] if done else self._zoomed(bracket, width)

    def _bracketed(self, step: Any) -> tuple[list[Point], bool]:
        """Goes further and further, until a good step lies in between."""
        before, point = self.start, self.evaluate(step)
        while self.tries < self.most:
            risen = self.tries > 1 and point.loss >= before.loss
            if self._too_high(point) or risen:
                return [before, point], False
            if self._flat(point):
                return [point], True
            if point.slope >= 0:
                return [before, point], False
            low = point.step + 0.01 * (point.step - before.step)
            further = _minimum(before, point, low, point.step * 10)
            before, point = point, self.evaluate(further)
            self.tries += 1
        return [self.start, point], False

    def _zoomed(self, bracket: list[Point], width: Any) -> Point:
        """Narrows the bracket down."""
        best = 0 if bracket[0].loss <= bracket[1].loss else 1
        stuck = False
        while self.tries < self.most:
            steps = [point.step for point in bracket]
            if abs(steps[1] - steps[0]) * width < self.tolerance:
                break
            one, other = bracket
            step = _minimum(one, other, min(steps), max(steps))
            step, stuck = _moved_inside(step, steps, stuck)
            point = self.evaluate(step)
            self.tries += 1
            if self._too_high(point) or point.loss >= bracket[best].loss:
                bracket[1 - best] = point
                best = 0 if bracket[0].loss <= bracket[1].loss else 1
                continue
            done = self._flat(point)
            if not done and point.slope * (bracket[1 - best].step - bracket[best].step) >= 0:
                bracket[1 - best] = bracket[best]
            bracket[best] = point
            if done:
                break
        return bracket[best]


def _moved_inside(step: Any, steps: list[Any], stuck: bool) -> tuple[Any, bool]:
    """A step too near the bracket's end twice over is moved a tenth of the bracket inside."""
    least, most = min(steps), max(steps)
    margin = 0.1 * (most - least)
    if not min(most - step, step - least) < margin:
        return step, False
    if not (stuck or step >= most or step <= least):
        return step, True
    return (most - margin if abs(step - most) < abs(step - least) else least + margin), False
