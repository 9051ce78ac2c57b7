"""Questions: one operation by itself: what it hands back to an operand, and its slope there."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ....engine.tensors.tensor import Tensor, plain
from ....named import NamedTuple
from .points import (
    Tolerance,
    compared,
    kink,
    sides_of,
    slope_along,
    unravelled,
    weights_of,
)
from .quotient import Quotient, Sides

EXACT = 1e-6
NEAR = 1e-3  # how far to move to see which number of the output moves
NOTHING_TIMES = "multiplies 0 by a slope that is infinite or NaN"


class Finding(NamedTuple):
    """The element with the largest difference: what is handed back, what the quotient is, how far
    they are apart in terms of what is allowed. The element () stands for a direction of all, and
    where it is doubtful no step gave a quotient to rely on."""

    element: tuple[int, ...]
    slope: float
    found: Quotient
    gap: float
    is_doubtful: bool = False


Directions = Iterable[tuple[int | None, Any, float]]  # element, direction, the gradient along it


class Operation:
    """Something that computes, as a function of one of its operands; the others stay.

    `start` is that operand in double precision, `values` are the outputs that count.
    """

    start: Tensor
    values: list[Tensor]

    def outputs(self, operand: Tensor) -> list[Tensor]:
        """What it gives for this operand, without a graph."""
        raise NotImplementedError

    def gradient(self, weights: list[Any]) -> Any:
        """What it hands back to the operand for these gradients of its outputs, flat."""
        raise NotImplementedError

    def weights(self) -> list[Any]:
        """What the outputs are multiplied with before they are summed."""
        return [weights_of(value) for value in self.values]

    def is_steady(self) -> bool:
        """Whether it hands back the same bits when it is asked twice."""
        weights = self.weights()
        one, other = self.gradient(weights), self.gradient(weights)
        return bool(((one == other) | ((one != one) & (other != other))).all())

    def moved(self, direction: Any, step: float) -> list[Tensor]:
        """The outputs beside the point."""
        start = self.start
        return self.outputs(
            plain(start._data + step * direction.reshape(start._data.shape), start._kind)
        )

    def worst(self, directions: Directions, tolerance: Tolerance, sane: bool) -> Finding | None:
        """Where gradient and quotient differ most; None where every one of them agrees.

        An operation that is not `sane` was given infinities by others: its own are no fault of it.
        """
        weights = self.weights()
        worst: tuple[float, Any, Any, float, Quotient] | None = None
        for element, direction, slope in directions:
            if not (sane or math.isfinite(slope)):
                continue
            gap, found = self.compared(weights, direction, slope, tolerance)
            if worst is None or gap > worst[0]:
                worst = gap, element, direction, slope, found
        if worst is None or (worst[0] <= 1.0 and math.isfinite(worst[3])):
            return None
        gap, element, direction, slope, found = worst
        doubtful = gap > 1.0 and math.isfinite(slope) and _is_doubtful(slope, found, tolerance)
        output = self.output_of(weights, direction)
        if output is not None:  # one number of the output shows it more plainly than a weighted sum
            alone = self.only(*output)
            plainly = slope_along(self.start, self.gradient(alone), direction)
            nearer, quotient = self.compared(alone, direction, plainly, tolerance)
            if nearer > 1.0:
                slope, found = plainly, quotient
        place = () if element is None else unravelled(element, tuple(self.start.shape))
        return Finding(place, slope, found, gap, doubtful)

    def compared(
        self, weights: list[Any], direction: Any, slope: float, tolerance: Tolerance
    ) -> tuple[float, Quotient]:
        """A slope against the quotient of the weighted sum of the outputs."""

        def sides(size: float) -> Sides:
            return self.sides(weights, direction, size)

        return compared(sides, self.start, direction, slope, tolerance)

    def sides(self, weights: list[Any], direction: Any, size: float) -> Sides:
        """How far the weighted sum of the outputs moves on the two sides of the point."""
        ahead, behind = self.moved(direction, size), self.moved(direction, -size)
        return sides_of(ahead, self.values, behind, weights)

    def output_of(self, weights: list[Any], direction: Any) -> tuple[int, int] | None:
        """The number of the output that moves most: which output, which element."""
        best: tuple[float, int, int] | None = None
        for number, (ahead, behind, weight) in enumerate(
            zip(self.moved(direction, NEAR), self.moved(direction, -NEAR), weights, strict=True)
        ):
            apart = abs(ahead._data - behind._data) * (weight != 0)
            if apart.size and (best is None or float(apart.max()) > best[0]):
                best = float(apart.max()), number, int(apart.argmax())
        return None if best is None or not math.isfinite(best[0]) else best[1:]

    def only(self, number: int, element: int) -> list[Any]:
        """Weights that let one number through."""
        xp = self.start._kind.xp
        alone = [xp.zeros(value._data.shape) for value in self.values]
        alone[number].reshape(-1)[element] = 1.0
        return alone


def _is_doubtful(slope: float, found: Quotient, tolerance: Tolerance) -> bool:
    is_kink = found.is_kink(tolerance.around(slope))
    return not is_kink and abs(slope - found.value) <= 3 * found.error


def cause(
    node: str, library: str | None, slope: float, found: Quotient, tolerance: Tolerance,
    steady: bool = True,
) -> str:  # fmt: skip
    """Why the two may differ, as far as the numbers show it; `library` is whose derivative it is,
    where it is none of the program's."""
    if not math.isfinite(slope):
        if math.isnan(slope) and not found.value:
            return f"{node} {NOTHING_TIMES}"
        if not found.finite or found.error > abs(found.value) * 0.1:
            return f"{node} has no bounded slope here"
        return f"the operation returns {slope} where its slope is {found.value:.6g}"
    if not found.finite:
        return "the operation has no value next to this one"
    if found.is_kink(tolerance.around(max(abs(slope), abs(found.value)))):
        if library is None and found.is_jump:
            return f"{node.removesuffix('Backward')} jumps here: it has no derivative"
        return kink(found)
    if found.error > 0.01 * abs(found.value) + tolerance.atol:
        return "step size: no step gives a stable quotient here"
    if library is not None:
        return f"the derivative of {library} is not its slope here"
    if not steady:
        return f"the backward of {node.removesuffix('Backward')} gives another gradient each time"
    said = f"the backward of {node.removesuffix('Backward')} is wrong"
    if found.value and slope:
        ratio = slope / found.value
        if abs(ratio - round(ratio, 3)) < EXACT:
            said += f": it gives {ratio:.4g} times the derivative"
    return said
