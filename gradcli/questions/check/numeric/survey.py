"""Questions: every operation behind the results by itself: wrong derivatives, and kinks.

Two wrong derivatives may cancel, and at a kink a central quotient may well agree with the gradient
(abs at 0): the gradients of the leaves tell neither. So each operation is moved along one direction
of all elements of an operand; only where that shows something are elements looked at one by one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ....autograd import grad as autograd_grad
from ....engine.tensors.tensor import Tensor
from ....named import NamedTuple
from ....recording.facts.check import EdgeCheck
from .edges import MOST_STEPS, REFUSED, Recorded, edge_check, is_symmetric, left_out, recorded
from .live_tape import LiveTape
from .operation import Operation
from .points import Result, one_element, slope_along, unravelled
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
STAYS = 0.5  # of how far a value moves is left however small the step: it jumps


class Survey(NamedTuple):
    """Operations that are wrong by themselves, and those that are at a kink."""

    wrong: tuple[EdgeCheck, ...] = ()
    kinks: tuple[EdgeCheck, ...] = ()


def survey(
    tape: Tape | LiveTape, steps: list[Step], roots: Sequence[Key | None], asked: Result
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
        if step.is_sparse:
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


def _looked_at(part: Recorded, slopes: Slopes, asked: Result) -> EdgeCheck | None:
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
    if step.library is not None and _jump(part, weights, direction):
        return _jump_of(part, weights, direction, asked)
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


def _kink_of(part: Recorded, weights: list[Any], direction: Any, asked: Result) -> EdgeCheck:
    """The kink in one element and one number of the output, where they can be isolated."""
    tolerance = asked.tolerance.atol
    element = _element_of(
        part, direction, lambda some: _kink(part, weights, some, tolerance) is not None
    )
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


def _jump(part: Operation, weights: list[Any], direction: Any) -> float:
    """How far the outputs move however small the step is; 0.0 where they move less and less."""
    before = 0.0
    for size in STEPS:
        sides = part.sides(weights, direction, size)
        moved = max(sides.ahead, sides.behind, key=abs)
        if not abs(moved) > max(30 * ROUNDING * sides.size, STAYS * abs(before)):
            return 0.0
        before = moved
    return before


def _jump_of(part: Recorded, weights: list[Any], direction: Any, asked: Result) -> EdgeCheck:
    """The jump in one element and one number of the output, where they can be isolated."""
    element = _element_of(part, direction, lambda some: bool(_jump(part, weights, some)))
    place: tuple[int, ...] = ()
    if element is not None:
        direction = one_element(part.start, element, 1.0)
        place = unravelled(element, tuple(part.start.shape))
    output = part.output_of(weights, direction)
    if output is not None and _jump(part, part.only(*output), direction):
        weights = part.only(*output)
    slope = slope_along(part.start, part.gradient(weights), direction)
    edge = edge_check(part, place, slope, Quotient(0.0, 0.0, 0.0, 0.0, 0.0), asked)
    size = abs(_jump(part, weights, direction))
    return edge._replace(cause=f"kink: the value jumps by {size:.6g}")


def _element_of(part: Operation, direction: Any, is_one: Callable[[Any], bool]) -> int | None:
    """The first element that shows it by itself: halves are looked at, not each element."""
    xp, total = part.start._kind.xp, int(direction.size)
    if total > MOST_ELEMENTS:
        return None
    low, high = 0, total
    numbers = xp.arange(total)
    while high - low > 1:
        middle = (low + high) // 2
        if is_one(xp.where((numbers >= low) & (numbers < middle), direction, 0.0)):
            high = middle
        else:
            low = middle
    return low if is_one(one_element(part.start, low, 1.0)) else None


def _tie(part: Recorded, slopes: Slopes) -> tuple[int, ...] | None:
    """Where a mask chooses between equal numbers, as `where(x > 0, x, -x)` does at 0: the mask of a
    comparison is no function of its operands any more, so no step shows the kink."""
    chosen, other, mask = _choice(part.step)
    if mask is None or chosen is None or part.place != min(_connected(part.step)):
        return None
    xp = part.start._kind.xp
    one, two = (item.data if isinstance(item, Operand) else item for item in (chosen, other))
    shape = tuple(map(int, part.values[0]._data.shape))
    if not (isinstance(chosen, Operand) and isinstance(other, Operand)):
        # Zeros are filled in where a mask of another origin says so, too: that one is no kink.
        compared = (one > two, one >= two, one < two, one <= two)
        if not any(bool((mask.data == sides).all()) for sides in compared):
            return None
    for number in xp.flatnonzero(xp.broadcast_to(one == two, shape))[:MOST_TIES]:
        place = unravelled(int(number), shape)
        if slopes.differ(chosen, other, place):
            return place
    return None


def _connected(step: Step) -> Iterator[int]:
    """The places of the operands that gradients flow to."""
    return (place for place, _, one in operands_of(step) if one.connected)


def _choice(step: Step) -> tuple[Any, Any, Any]:
    """What an operation takes where its mask holds, what elsewhere, the mask; None without one."""
    if "condition" in step.names:
        return step.argument("self"), step.argument("other"), step.argument("condition")
    if "mask" in step.names:  # masked_fill; others have no value
        return step.argument("value"), step.argument("self"), step.argument("mask")
    return None, None, None


class Slopes:
    """How elements of operands move with the leaves."""

    def __init__(self, tape: Tape | LiveTape, steps: list[Step]) -> None:
        self.tape, self.steps = tape, steps

    def differ(self, one: Any, other: Any, place: tuple[int, ...]) -> bool:
        """Whether it makes a difference to the leaves which of two elements is taken: of operands,
        or of a number."""
        pairs = zip(self._of(one, place), self._of(other, place), strict=True)
        return any(bool(((a < b) | (a > b)).any()) for a, b in pairs)  # a NaN says nothing

    def _of(self, operand: Any, place: tuple[int, ...]) -> list[Any]:
        again = Repetition(self.tape, self.steps)
        leaves = again.fresh_leaves()
        for leaf in leaves.values():
            leaf.requires_grad_()
        nothing = [leaf._kind.xp.zeros_like(leaf._data) for leaf in leaves.values()]
        if not isinstance(operand, Operand) or not operand.connected:
            return nothing
        value: Any = again.run(leaves, operand)
        inner = place[len(place) - len(value.shape) :]
        element = value[tuple(0 if size == 1 else at for at, size in zip(inner, value.shape))]
        if not element.requires_grad:
            return nothing
        found = autograd_grad(element, list(leaves.values()), allow_unused=True)
        return [zero if gradient is None else gradient._data
                for zero, gradient in zip(nothing, found, strict=True)]  # fmt: skip
