"""Questions: one operation at a time against difference quotients: which of them is wrong?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from ....autograd import grad as autograd_grad
from ....autograd.function import Function
from ....engine.mode import state
from ....engine.row import Row
from ....engine.tensor import Tensor, plain
from ....recording.facts.check import EdgeCheck
from .points import (
    Asked,
    all_elements,
    compared,
    kink,
    one_element,
    sides_of,
    slope_along,
    unravelled,
    weights_of,
)
from .quotient import Quotient, Sides
from .repeat import doubled, widened
from .tape import Key, Operand, Step, operands_of

MOST_STEPS = 2000  # operations that are looked at
MOST_ELEMENTS = 32  # of one operand
MOST_WRONG = 5  # that are told
EXACT = 1e-6
NEAR = 1e-3  # how far to move to see which number of the output moves


# What these read of a matrix is one triangle, and their gradient is that of a symmetric matrix.
SYMMETRIC = ("Cholesky", "LinalgCholesky", "LinalgEigh", "Eigh")


class Findings(NamedTuple):
    """Operations by their number among the steps: those that are wrong by themselves, and those
    whose slope has no bound where they were asked."""

    wrong: tuple[tuple[int, EdgeCheck], ...]
    unbounded: tuple[tuple[int, EdgeCheck], ...]
    complete: bool  # every element of every operand was looked at


def edges(steps: list[Step], root: Key | None, asked: Asked) -> Findings:
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
        places = [place for place, (_, key) in enumerate(step.outs) if key in used]
        for place, inner, operand in operands_of(step):
            if not operand.connected and not (step.inplace and place == 0):
                continue
            try:
                found, gap, whole = _operand(step, place, inner, operand, places, asked)
            except (RuntimeError, ValueError, TypeError, IndexError, NotImplementedError):
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


def _operand(
    step: Step, place: int, inner: int | None, operand: Operand, places: list[int], asked: Asked
) -> tuple[EdgeCheck | None, float, bool]:
    """The element of one operand with the largest difference, if that is too large to be none; the
    difference in terms of what is allowed; whether every element was looked at."""
    start = doubled(operand.tensor, operand.data)
    if not start._kind.differentiable:
        return None, 0.0, True
    local = _Local(step, place, inner, start, places)
    if not local.values:
        return None, 0.0, True
    weights = [weights_of(value) for value in local.values]
    along = local.gradient(weights)
    sane = all(
        bool(one.tensor._kind.xp.isfinite(one.data).all()) for _, _, one in operands_of(step)
    )
    worst: tuple[float, Any, float, Quotient] | None = None
    for element, direction, slope in _directions(step, start, along):
        if not (sane or math.isfinite(slope)):
            continue  # an infinity came in from elsewhere
        gap, found = local.compared(weights, direction, slope, asked)
        if worst is None or gap > worst[0]:
            worst = gap, (element, direction), slope, found
    whole = start._data.size <= MOST_ELEMENTS
    if worst is None or (worst[0] <= 1.0 and math.isfinite(worst[2])):
        return None, 0.0, whole
    gap, (element, direction), slope, found = worst
    if gap > 1.0 and math.isfinite(slope) and not found.is_kink(asked.tolerance.around(slope)):
        if abs(slope - found.value) <= 3 * found.error:
            return None, 0.0, False  # no quotient to rely on
    output = local.output_of(weights, direction)
    if output is not None:  # one number of the output tells it more plainly than a weighted sum
        alone = local.only(*output)
        plainly = slope_along(start, local.gradient(alone), direction)
        nearer, quotient = local.compared(alone, direction, plainly, asked)
        if nearer > 1.0:
            slope, found = plainly, quotient
    told = () if element is None else unravelled(element, tuple(start.shape))
    return _fact(step, place, inner, operand, told, slope, found, asked), gap, whole


class _Local:
    """One operation as a function of one of its operands; the others stay as they were."""

    def __init__(
        self, step: Step, place: int, inner: int | None, start: Tensor, places: list[int]
    ) -> None:
        self.step, self.place, self.inner, self.start, self.places = (
            step, place, inner, start, places,
        )  # fmt: skip
        self.given = [_constant(value) for value in step.arguments]
        self.leaf = plain(start._data, start._kind).requires_grad_()
        self.values = self.outputs(self.leaf)

    def outputs(self, tensor: Tensor) -> list[Tensor]:
        """What it gives for this operand."""
        return _outputs(
            _called(self.step, _with(self.given, self.place, self.inner, tensor)), self.places
        )

    def gradient(self, weights: list[Any]) -> Any:
        """What it hands back to the operand, flat."""
        seeds = [
            plain(value._kind.xp.asarray(weight).astype(value._kind.array_dtype), value._kind)
            for weight, value in zip(weights, self.values, strict=True)
        ]
        (found,) = autograd_grad(
            self.values, [self.leaf], seeds, retain_graph=True, allow_unused=True
        )
        xp = self.start._kind.xp
        return xp.zeros(self.start._data.size) if found is None else found._data.reshape(-1)

    def moved(self, direction: Any, step_size: float) -> list[Tensor]:
        """The outputs beside the point."""
        data = self.start._data + step_size * direction.reshape(self.start._data.shape)
        before, state.grad_enabled = state.grad_enabled, False
        try:
            return self.outputs(plain(data, self.start._kind))
        finally:
            state.grad_enabled = before

    def compared(
        self, weights: list[Any], direction: Any, slope: float, asked: Asked
    ) -> tuple[float, Quotient]:
        """A slope against the quotient of the weighted sum of the outputs."""

        def sides(size: float) -> Sides:
            ahead, behind = self.moved(direction, size), self.moved(direction, -size)
            return sides_of(ahead, self.values, behind, weights)

        return compared(sides, self.start, direction, slope, asked.tolerance)

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


def _directions(step: Step, start: Tensor, along: Any) -> Iterator[tuple[int | None, Any, float]]:
    """(element, direction, the gradient along it): each alone, or all of them and the first few."""
    total = int(start._data.size)
    units: tuple[complex, ...] = (1.0, 1j) if start._kind.dtype.category > 2 else (1.0,)
    both = step.name.startswith(SYMMETRIC) and start._data.ndim > 1
    finite = start._kind.xp.isfinite(start._data.reshape(-1)) & ~_left_out(step, start)
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


def _left_out(step: Step, start: Tensor) -> Any:
    """Elements that get no gradient by convention: the row of an embedding that pads."""
    xp = start._kind.xp
    left = xp.zeros(start._data.shape, dtype=bool)
    names = step.function.signature.names if isinstance(step.function, Row) else ()
    if "padding_idx" in names and start._data.ndim == 2:
        row = step.arguments[names.index("padding_idx")]
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
    """The outputs that something came of and that can have a gradient."""
    listed = result if isinstance(result, (tuple, list)) else (result,)
    chosen = [listed[place] for place in places] or listed
    return [t for t in chosen if isinstance(t, Tensor) and t._kind.differentiable]


def _fact(
    step: Step, place: int, inner: int | None, operand: Operand, element: tuple[int, ...],
    analytic: float, found: Quotient, asked: Asked,
) -> EdgeCheck:  # fmt: skip
    where = asked.place(step.node)
    name, _ = asked.leaf_name(operand.tensor)
    if not name.isidentifier():
        name = step.argument_name(place) + ("" if inner is None else f"[{inner}]")
    cause = _cause(step, analytic, found, asked)
    if where is None:
        return EdgeCheck(step.name, name, element, analytic, found.value, cause, "", None, None,
                         None, None)  # fmt: skip
    return EdgeCheck(step.name, name, element, analytic, found.value, cause, where.text,
                     where.line, where.column, where.end_line, where.end_column)  # fmt: skip


def _cause(step: Step, analytic: float, found: Quotient, asked: Asked) -> str:
    """Why the two may differ, as far as the numbers tell it."""
    if not math.isfinite(analytic):
        if not found.finite or found.error > abs(found.value) * 0.1:
            return f"{step.name} has no bounded slope here"
        if not found.value:
            return f"{step.name} multiplies 0 by a slope without bound: {analytic}"
        return f"the operation hands back {analytic} where its slope is {found.value:.6g}"
    if not found.finite:
        return "the operation has no value next to this one"
    if found.is_kink(asked.tolerance.around(max(abs(analytic), abs(found.value)))):
        return kink(found)
    if found.error > 0.01 * abs(found.value) + asked.tolerance.atol:
        return "step size: no step gives a stable quotient here"
    if isinstance(step.function, Row):
        return f"the derivative of {step.function.name} is not its slope here"
    said = f"the backward of {step.name.removesuffix('Backward')} is wrong"
    if found.value and analytic:
        ratio = analytic / found.value
        if abs(ratio - round(ratio, 3)) < EXACT:
            said += f": it gives {ratio:.4g} times the derivative"
    return said
