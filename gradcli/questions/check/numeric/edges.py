"""Questions: one operation at a time against difference quotients: which of them is wrong?"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from ....autograd import grad as autograd_grad
from ....autograd.function import Function
from ....engine.schema.mode import state
from ....engine.schema.row import Row
from ....engine.tensors.tensor import Tensor, plain
from ....named import NamedTuple
from ....recording.facts.check import EdgeCheck
from .operation import Operation, cause
from .points import (
    Result,
    all_elements,
    one_element,
    slope_along,
)
from .quotient import Quotient
from .repeat import doubled, widened
from .tape import Key, Operand, Step, operands_of

MOST_STEPS = 2000  # operations that are looked at
MOST_ELEMENTS = 32  # of one operand
MOST_WRONG = 5  # that are reported


# What these read of a matrix is one triangle, and their gradient is that of a symmetric matrix.
SYMMETRIC = ("Cholesky", "LinalgCholesky", "LinalgEigh", "Eigh")


# What an operation says that does not run by itself, or not in double precision.
REFUSED = (RuntimeError, ValueError, TypeError, IndexError, NotImplementedError)


class Findings(NamedTuple):
    """Operations by their number among the steps: those that are wrong by themselves, and those
    whose slope has no bound where they were asked."""

    wrong: tuple[tuple[int, EdgeCheck], ...]
    unbounded: tuple[tuple[int, EdgeCheck], ...]
    complete: bool  # every element of every operand was looked at


def edges(steps: list[Step], root: Key | None, asked: Result) -> Findings:
    """Looks at each operation alone, with the operands that it had."""
    used = {one.key for step in steps for _, _, operand in operands_of(step)
            for one in (operand, operand.base) if one is not None}  # fmt: skip
    used.add(root)
    wrong: list[tuple[int, EdgeCheck]] = []
    unbounded: list[tuple[int, EdgeCheck]] = []
    complete = len(steps) <= MOST_STEPS
    for number, step in enumerate(steps[:MOST_STEPS]):
        asked.look()
        if step.function is None or step.is_bound:
            complete = complete and step.function is None
            continue
        for part in recorded(step, used):
            try:
                found, gap, whole = _looked_at(part, asked)
            except REFUSED:
                complete = False
                continue
            complete = complete and whole
            if found is not None:
                (wrong if gap > 1.0 else unbounded).append((number, found))
        if len(wrong) >= MOST_WRONG:
            complete = False
            break
    return Findings(tuple(wrong), tuple(unbounded), complete)


def depending(steps: list[Step], leaf: Tensor) -> set[int]:
    """The numbers of the steps that a leaf has a part in."""
    numbers: set[int] = set()
    keys: set[Key | None] = set()
    for number, step in enumerate(steps):
        given = [one for _, _, operand in operands_of(step)
                 for one in (operand, operand.base) if one is not None]  # fmt: skip
        if any(one.tensor is leaf or (one.key is not None and one.key in keys) for one in given):
            numbers.add(number)
            keys.update(key for _, key in step.outs)
            if step.base is not None:
                keys.add(step.base[1])
    keys.discard(None)
    return numbers


def recorded(step: Step, used: Collection[Key | None]) -> Iterator[Recorded]:
    """The operation as a function of each operand that gradients flow to."""
    places = [place for place, (_, key) in enumerate(step.outs) if key in used]
    for place, inner, operand in operands_of(step):
        if operand.connected or (step.inplace and place == 0):
            if operand.tensor._kind.differentiable:
                yield Recorded(step, place, inner, operand, places)


def _looked_at(part: Recorded, asked: Result) -> tuple[EdgeCheck | None, float, bool]:
    """The element of one operand with the largest difference, if that is too large to be none; the
    difference in terms of what is allowed; whether every element was looked at."""
    part.run()
    if not part.values:
        return None, 0.0, True
    along = part.gradient(part.weights())
    sane = all(
        bool(one.tensor._kind.xp.isfinite(one.data).all()) for _, _, one in operands_of(part.step)
    )
    worst = part.worst(part.directions(along), asked.tolerance, sane)
    whole = part.start._data.size <= MOST_ELEMENTS
    if worst is None:
        return None, 0.0, whole
    if worst.is_doubtful:
        return None, 0.0, False
    return edge_check(part, worst.element, worst.slope, worst.found, asked), worst.gap, whole


class Recorded(Operation):
    """A recorded operation, with the other operands as they were."""

    def __init__(
        self, step: Step, place: int, inner: int | None, operand: Operand, places: list[int]
    ) -> None:
        self.step, self.place, self.inner, self.places = step, place, inner, places
        self.operand = operand
        self.start = doubled(operand.tensor, operand.data)
        self.leaf = plain(self.start._data, self.start._kind).requires_grad_()

    def run(self) -> None:
        """Runs it in double precision; who looks at it expects that it may refuse."""
        self.given = [_constant(value) for value in self.step.arguments]
        self.values = self._run(self.leaf)

    def outputs(self, operand: Tensor) -> list[Tensor]:
        before, state.grad_enabled = state.grad_enabled, False
        try:
            return self._run(operand)
        finally:
            state.grad_enabled = before

    def _run(self, operand: Tensor) -> list[Tensor]:
        given = _with(self.given, self.place, self.inner, operand)
        return _outputs(_called(self.step, given), self.places)

    def gradient(self, weights: list[Any]) -> Any:
        seeds = [
            plain(value._kind.xp.asarray(weight).astype(value._kind.array_dtype), value._kind)
            for weight, value in zip(weights, self.values, strict=True)
        ]
        (found,) = autograd_grad(
            self.values, [self.leaf], seeds, retain_graph=True, allow_unused=True
        )
        xp = self.start._kind.xp
        return xp.zeros(self.start._data.size) if found is None else found._data.reshape(-1)

    def directions(self, along: Any) -> Iterator[tuple[int | None, Any, float]]:
        """(element, direction, the gradient along it): each alone, or all and the first few."""
        start = self.start
        total = int(start._data.size)
        units: tuple[complex, ...] = (1.0, 1j) if start._kind.dtype.category > 2 else (1.0,)
        both = is_symmetric(self.step, start)
        finite = start._kind.xp.isfinite(start._data.reshape(-1)) & ~left_out(self.step, start)
        for element in range(min(total, MOST_ELEMENTS)):
            for unit in units if finite[element] else ():
                direction = one_element(start, element, unit)
                if both:
                    square = direction.reshape(start._data.shape)
                    direction = ((square + square.swapaxes(-1, -2).conj()) / 2).reshape(-1)
                yield element, direction, slope_along(start, along, direction)
        if total > MOST_ELEMENTS and not both and bool(finite.all()):
            direction = all_elements(start, 0)
            yield None, direction, slope_along(start, along, direction)


def is_symmetric(step: Step, start: Tensor) -> bool:
    """Whether it reads one half of a matrix and hands back the gradient of a symmetric one."""
    return step.name.startswith(SYMMETRIC) and start._data.ndim > 1


def left_out(step: Step, start: Tensor) -> Any:
    """Elements that get no gradient by convention: the row of an embedding that pads."""
    xp = start._kind.xp
    left = xp.zeros(start._data.shape, dtype=bool)
    if start._data.ndim == 2:
        row = step.argument("padding_idx")
        if isinstance(row, int) and 0 <= row < start._data.shape[0]:
            left[row] = True
    return left.reshape(-1)


def _constant(value: Any) -> Any:
    if isinstance(value, Operand):
        return doubled(value.tensor, value.data)
    if isinstance(value, (list, tuple)):
        return type(value)(_constant(item) for item in value)
    return widened(value)


def _with(given: list[Any], place: int, inner: int | None, tensor: Tensor) -> list[Any]:
    """The arguments with one of them replaced."""
    changed = list(given)
    if inner is None:
        changed[place] = tensor
    else:
        items = list(changed[place])
        items[inner] = tensor
        changed[place] = type(given[place])(items)
    return changed


def _called(step: Step, given: list[Any]) -> Any:
    """The operation, out of place."""
    if isinstance(step.function, Row):
        return step.function.run(*given)
    apply: Any = Function.apply
    return apply.__func__(step.function, *given)


def _outputs(result: Any, places: list[int]) -> list[Tensor]:
    """The outputs that something came from and that can have a gradient."""
    listed = result if isinstance(result, (tuple, list)) else (result,)
    chosen = [listed[place] for place in places] or listed
    return [t for t in chosen if isinstance(t, Tensor) and t._kind.differentiable]


def edge_check(
    part: Recorded, element: tuple[int, ...], slope: float, found: Quotient, asked: Result
) -> EdgeCheck:
    """The fact: what is handed back to an element, what its slope is, why they may differ."""
    step, name = part.step, asked.leaf_name(part.operand.tensor)[0]
    if not name.isidentifier():
        name = step.argument_name(part.place) + ("" if part.inner is None else f"[{part.inner}]")
    steady = step.library is not None or part.is_steady()
    why = cause(step.name, step.library, slope, found, asked.tolerance, steady)
    where = asked.place(step.node)
    fact = EdgeCheck(step.name, name, element, slope, found.value, why, "", *(None,) * 4)
    if where is None:
        return fact
    return fact._replace(text=where.text, line=where.line, column=where.column,
                         end_line=where.end_line, end_column=where.end_column)  # fmt: skip
