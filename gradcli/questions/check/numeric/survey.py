"""Questions: every operation behind the results by itself: wrong derivatives, and kinks.

Two wrong derivatives may cancel, and at a kink a central quotient may well agree with the gradient
(abs at 0): the gradients of the leaves tell neither. So each operation is moved along one direction
of all elements of an operand; only where that shows something are elements looked at one by one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ....autograd import grad as autograd_grad
from ....engine.tensor import Tensor
from ....recording.facts.check import EdgeCheck
from .edges import MOST_STEPS, REFUSED, Recorded, edge_check, is_symmetric, left_out, recorded
from .live_tape import LiveTape
from .operation import Operation
from .points import Asked, one_element, slope_along, unravelled
from .quotient import ROUNDING, Quotient
from .repeat import Repetition
from .tape import Key, Operand, Step, Tape, operands_of

SAME = 3  # of the operations that one expression makes again and again
STEPS = (2.0**-14, 2.0**-20, 2.0**-26)  # of the size of each element: how close a kink must be
SOON = 0.35  # of the bend of a large step is left in a small one: there may be a kink
LASTS = 0.7  # of it is left however small the step: there is one
RISES = 1.5  # times as much: that is no kink but a jump
MOST_ELEMENTS = 4096  # of an operand: more are not searched for the one with the kink
MOST_KINKS = 20
MOST_TIES = 4  # of one operation, until one is found that makes a difference
EQUAL = "the condition chooses between equal numbers"


class Survey(NamedTuple):
    """Operations that are wrong by themselves, and those that stand at a kink."""

    wrong: tuple[EdgeCheck, ...] = ()
    kinks: tuple[EdgeCheck, ...] = ()


def survey(
    tape: Tape | LiveTape, steps: list[Step], roots: Sequence[Key | None], asked: Asked
) -> Survey:
    """Looks at each operation once, and at those of a loop a few times."""
    slopes = Slopes(tape, steps)
    used = {one.key for step in steps for _, _, operand in operands_of(step)
            for one in (operand, operand.base) if one is not None}  # fmt: skip
    used.update(roots)
    wrong: list[EdgeCheck] = []
    kinks: list[EdgeCheck] = []
    seen: dict[tuple[Any, ...], int] = {}
    for step in steps[:MOST_STEPS]:
        key = (asked.place(step.node), id(step.kind))
        seen[key] = seen.get(key, 0) + 1
        if seen[key] > SAME or step.function is None or step.is_bound or step.drawn is not None:
            continue
        asked.look()
        for part in recorded(step, used):
            try:
                found = _looked_at(part, slopes, asked)
            except REFUSED:
                continue
            if found is not None:
                (kinks if found.cause.startswith("kink") else wrong).append(found)
    return Survey(tuple(wrong), tuple(_first_of_each(kinks))[:MOST_KINKS])


def _first_of_each(kinks: Sequence[EdgeCheck]) -> Iterator[EdgeCheck]:
    """One for each expression, however often it ran."""
    seen: set[tuple[Any, ...]] = set()
    for edge in kinks:
        place = (edge.node, edge.line, edge.column)
        if place not in seen:
            seen.add(place)
            yield edge


def _looked_at(part: Recorded, slopes: Slopes, asked: Asked) -> EdgeCheck | None:
    """A wrong derivative, or a kink; None where the operation is smooth and right."""
    part.run()
    start, step = part.start, part.step
    if not part.values or not _finite(start, *part.values):
        return None
    tie = _tie(part, slopes)
    if tie is not None:
        edge = edge_check(part, tie, 0.0, Quotient(0.0, 0.0, 0.0, 0.0, 0.0), asked)
        return edge._replace(cause=f"kink: {EQUAL}")
    direction = _direction(step, start)
    weights = part.weights()
    slope = slope_along(start, part.gradient(weights), direction)
    if not math.isfinite(slope):
        return None
    gap, found = part.compared(weights, direction, slope, asked.tolerance)
    tolerance = asked.tolerance.around(max(abs(slope), abs(found.value)))
    apart = abs(found.right - found.left)
    if not is_symmetric(step, start) and apart > max(tolerance, SOON * found.bend):
        if _kink(part, weights, direction, tolerance) is not None:
            return _kink_of(part, weights, direction, asked)
    if gap <= 1.0:
        return None
    finding = part.worst(part.directions(part.gradient(weights)), asked.tolerance, True)
    if finding is None or finding.gap <= 1.0 or finding.is_doubtful:
        return None
    edge = edge_check(part, finding.element, finding.slope, finding.found, asked)
    return edge if edge.cause.startswith(("the backward of", "the derivative of")) else None


def _finite(*tensors: Tensor) -> bool:
    return all(bool(one._kind.xp.isfinite(one._data).all()) for one in tensors)


def _direction(step: Step, start: Tensor) -> Any:
    """All elements at once, each by another part of its size; what is left out stays."""
    xp, flat = start._kind.xp, abs(start._data.reshape(-1))
    amounts = xp.cos(1.0 + 3.774 * xp.arange(flat.size)) * xp.maximum(1.0, flat)
    amounts = xp.where(left_out(step, start), 0.0, amounts)
    if is_symmetric(step, start):
        square = amounts.reshape(start._data.shape)
        amounts = ((square + square.swapaxes(-1, -2)) / 2).reshape(-1)
    return amounts


def _kink(
    part: Operation, weights: list[Any], direction: Any, tolerance: float
) -> tuple[float, float] | None:
    """The slopes on the left and on the right, where they stay apart however small the step is."""
    before = 0.0
    left = right = 0.0
    for number, size in enumerate(STEPS):
        sides = part.sides(weights, direction, size)
        left, right = sides.behind / size, sides.ahead / size
        apart = abs(right - left)
        noise = 30 * ROUNDING * sides.size / size
        if not apart > max(tolerance, noise):
            return None
        if number and not LASTS * before < apart < RISES * before:
            return None
        before = apart
    return left, right


def _kink_of(part: Recorded, weights: list[Any], direction: Any, asked: Asked) -> EdgeCheck:
    """The kink in one element and one number of the output, where they can be told apart."""
    tolerance = asked.tolerance.atol
    element = _element_of(part, weights, direction, tolerance)
    place: tuple[int, ...] = ()
    if element is not None:
        direction = one_element(part.start, element, 1.0)
        place = unravelled(element, tuple(part.start.shape))
    output = part.output_of(weights, direction)
    if output is not None:
        alone = part.only(*output)
        if _kink(part, alone, direction, tolerance) is not None:
            weights = alone
    slope = slope_along(part.start, part.gradient(weights), direction)
    left, right = _kink(part, weights, direction, tolerance) or (math.nan, math.nan)
    found = Quotient((left + right) / 2, 0.0, left, right, abs(right - left))
    return edge_check(part, place, slope, found, asked)


def _element_of(part: Operation, weights: list[Any], direction: Any, least: float) -> int | None:
    """The first element that has a kink by itself: halves are looked at, not each element."""
    xp, total = part.start._kind.xp, int(direction.size)
    if total > MOST_ELEMENTS:
        return None
    low, high = 0, total
    numbers = xp.arange(total)
    while high - low > 1:
        middle = (low + high) // 2
        half = xp.where((numbers >= low) & (numbers < middle), direction, 0.0)
        if _kink(part, weights, half, least) is not None:
            high = middle
        else:
            low = middle
    single = one_element(part.start, low, 1.0)
    return low if _kink(part, weights, single, least) is not None else None


def _tie(part: Recorded, slopes: Slopes) -> tuple[int, ...] | None:
    """Where a mask chooses between equal numbers, as `where(x > 0, x, -x)` does at 0: the mask of a
    comparison is no function of its operands any more, so no step shows the kink."""
    step = part.step
    if step.names[:1] != ("condition",):
        return None
    given = [one for _, _, one in operands_of(step)]
    if len(given) != 3 or part.place != 1:
        return None
    _, chosen, other = (one.data for one in given)
    xp = part.start._kind.xp
    equal = xp.broadcast_to(chosen == other, part.values[0]._data.shape)
    shape = tuple(map(int, equal.shape))
    for number in xp.flatnonzero(equal)[:MOST_TIES]:
        place = unravelled(int(number), shape)
        if slopes.differ(given[1], given[2], place):
            return place
    return None


class Slopes:
    """How elements of operands move with the leaves."""

    def __init__(self, tape: Tape | LiveTape, steps: list[Step]) -> None:
        self.tape, self.steps = tape, steps

    def differ(self, one: Operand, other: Operand, place: tuple[int, ...]) -> bool:
        """Whether it makes a difference to the leaves which of two elements is taken."""
        if not (one.connected or other.connected):
            return False
        pairs = zip(self._of(one, place), self._of(other, place), strict=True)
        return any(bool((a != b).any()) for a, b in pairs)

    def _of(self, operand: Operand, place: tuple[int, ...]) -> list[Any]:
        again = Repetition(self.tape, self.steps)
        leaves = again.fresh_leaves()
        for leaf in leaves.values():
            leaf.requires_grad_()
        nothing = [leaf._kind.xp.zeros_like(leaf._data) for leaf in leaves.values()]
        if not operand.connected:
            return nothing
        value: Any = again.run(leaves, operand)
        inner = place[len(place) - len(value.shape) :]
        element = value[tuple(0 if size == 1 else at for at, size in zip(inner, value.shape))]
        if not element.requires_grad:
            return nothing
        found = autograd_grad(element, list(leaves.values()), allow_unused=True)
        return [zero if gradient is None else gradient._data
                for zero, gradient in zip(nothing, found, strict=True)]  # fmt: skip
