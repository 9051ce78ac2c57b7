"""Questions: gradients against difference quotients, in double precision: whole, then edge by edge.

The recorded operations behind a result are run again in double precision: once with gradients, then
with each leaf perturbed. Where the two disagree every operation on the way is looked at alone, with
the operands that it had, so that the one that is wrong can be named.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from numpy.exceptions import ComplexWarning

from ....autograd import grad as autograd_grad
from ....engine.schema import dtypes
from ....engine.schema.carriers import RUNTIME
from ....engine.schema.row import Row
from ....engine.tensors.tensor import Tensor, plain
from ....recording.facts.check import LeafCheck
from ....recording.sides import AnyTensor
from .edges import REFUSED, Findings, depending, edges, left_out
from .live_tape import LiveTape
from .points import (
    Result,
    all_elements,
    compared,
    kink,
    one_element,
    sides_of,
    slope_along,
    undefined,
    unravelled,
    weights_of,
    words_of,
)
from .quotient import Quotient, Sides
from .repeat import Repetition, undisturbed
from .survey import Survey, survey
from .tape import Operand, Step, Tape, Unrepeatable, leaves_of, operands_of

MOST_ELEMENTS = 64  # of one leaf, perturbed one by one
SAMPLED = 16  # of a leaf that has more
DIRECTIONS = 2
WORK = 1_000_000  # operations that the quotients of one result may run
EVALUATIONS = 6  # of the result, for one quotient
NOTHING = 1e-5  # differences that training leaves at its end
PRECISIONS = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 1.2e-7, "complex64": 1.2e-7}
TINY = 1e-20  # a complex step: nothing is subtracted, so it can be as small as that
LOST = 30.0  # times the root of the precision: so far off is a gradient that rounding has spoilt


def checked(tape: Tape | LiveTape, asked: Result) -> tuple[LeafCheck, ...]:
    """Every leaf behind the result; Unrepeatable says why there is no answer."""
    if tape.full:
        raise Unrepeatable(tape.full)
    steps = tape.behind(asked.tensor)
    root = tape.operand(asked.tensor)
    if any(leaf.__class__ is RUNTIME.sparse for leaf in leaves_of(steps)):
        raise Unrepeatable("a leaf is sparse")
    try:
        return tuple(_Result(tape, steps, root, asked).leaves())
    except (RuntimeError, ValueError, TypeError, IndexError, NotImplementedError) as error:
        raise Unrepeatable(str(error).partition("\n")[0]) from error


def operations(tape: Tape | LiveTape, tensors: Sequence[AnyTensor], asked: Result) -> Survey:
    """Every operation behind these results by itself; nothing where the recording is not whole."""
    if tape.full:
        return Survey()
    behind = {id(step.node) for tensor in tensors for step in tape.behind(tensor)}
    steps = [step for step in tape.steps if id(step.node) in behind]
    roots = [tape.operand(tensor).key for tensor in tensors]
    with undisturbed(grad=True):
        return survey(tape, steps, roots, asked)


class _Result:
    """One result: its gradient in double precision, and the result as a function of its leaves."""

    def __init__(
        self, tape: Tape | LiveTape, steps: list[Step], root: Operand, asked: Result
    ) -> None:
        self.tape, self.steps, self.root, self.asked = tape, steps, root, asked
        self.repetition = Repetition(tape, steps)
        with undisturbed(grad=True):
            leaves = self.repetition.fresh_leaves()
            self.gradients, value = _gradients(self.repetition, leaves, root)
        self.weights = weights_of(value)
        self.fixed = {key: plain(leaf._data, leaf._kind) for key, leaf in leaves.items()}
        self.value = value
        self.is_finite = bool((self.weights != 0).all())
        self.findings: Findings | None = None
        self.by = "complex step"
        self.is_holomorphic = _allow_complex(steps, self.repetition.leaves)

    def leaves(self) -> Iterator[LeafCheck]:
        coarse = self._coarse()
        for leaf in self.repetition.leaves:
            self.by = "complex step"
            fact = self._leaf(leaf, coarse)
            yield fact._replace(by=self.by if fact.elements or fact.directions else "differences")

    def _coarse(self) -> dict[int, Any]:
        """The gradients in the program's own precision."""
        if all(leaf._kind.array_dtype.itemsize >= 8 for leaf in self.repetition.leaves):
            return {}
        again = Repetition(self.tape, self.steps, double=False)
        with undisturbed(grad=True):
            gradients, _ = _gradients(again, again.fresh_leaves(), self.root)
        return gradients

    # ---- one leaf

    def _leaf(self, leaf: Tensor, coarse: dict[int, Any]) -> LeafCheck:
        name, line = self.asked.leaf_name(leaf)
        gradient = self.gradients[id(leaf)]
        total = int(leaf._data.size)
        elements, directions = self._chosen(total)
        fact = LeafCheck(
            self.asked.name, self.asked.line, name, line, tuple(leaf.shape),
            str(leaf.dtype).removeprefix("torch."), "equal", len(elements), total, directions,
            None, None, None, "", words=words_of(coarse.get(id(leaf), gradient)),
            weighted=self.weights.size > 1,
        )  # fmt: skip
        worst: tuple[float, Any, float, Quotient] | None = None
        for place, analytic, gap, found in self._quotients(leaf, gradient, elements, directions):
            if worst is None or gap > worst[0]:
                worst = gap, place, analytic, found
        if not self.weights.any():
            return fact._replace(status="undefined", cause=f"{fact.result} is not finite")
        if worst is None:
            return fact
        gap, place, analytic, found = worst
        fact = fact._replace(element=place, analytic=analytic, numeric=found.value)
        if not self.is_finite and not math.isfinite(analytic):
            return fact._replace(status="undefined", cause=f"{fact.result} is not finite")
        if gap > 1.0:
            return self._judged(fact, leaf, analytic, found)
        if not math.isfinite(analytic):
            return fact._replace(status="undefined", cause=undefined(analytic))
        return lost(fact, gradient, coarse.get(id(leaf)))

    def _chosen(self, total: int) -> tuple[list[int], int]:
        """Which elements are perturbed alone, and along how many directions all together."""
        affordable = WORK // (EVALUATIONS * max(1, len(self.steps)))
        affordable = min(MOST_ELEMENTS, affordable // max(1, len(self.repetition.leaves)))
        if total <= max(affordable, 1):
            return list(range(total)), 0
        count = min(SAMPLED, affordable)
        if count < 2:
            return [], 1
        return [round(i * (total - 1) / (count - 1)) for i in range(count)], DIRECTIONS

    def _quotients(
        self, leaf: Tensor, gradient: Any, elements: list[int], directions: int
    ) -> Iterator[tuple[Any, float, float, Quotient]]:
        """(element or None for a direction, gradient along it, how far off, quotient)"""
        start = self.fixed[id(leaf)]
        along = gradient.reshape(-1)
        padding = self._padding(leaf, start)
        units: tuple[complex, ...] = (1.0, 1j) if start._kind.dtype.category > 2 else (1.0,)
        for element in elements:
            if padding[element]:
                continue
            place = unravelled(element, tuple(leaf.shape))
            for unit in units:
                yield place, *self._compared(leaf, one_element(start, element, unit), along)
        for number in range(directions):
            direction = start._kind.xp.where(padding, 0.0, all_elements(start, number))
            yield None, *self._compared(leaf, direction, along)

    def _padding(self, leaf: Tensor, start: Tensor) -> Any:
        """Elements that an operation gives no gradient to by convention."""
        left = start._kind.xp.zeros(start._data.size, dtype=bool)
        for step in self.steps:
            if any(one.tensor is leaf for _, _, one in operands_of(step)):
                left |= left_out(step, start)
        return left

    def _compared(self, leaf: Tensor, direction: Any, along: Any) -> tuple[float, float, Quotient]:
        start = self.fixed[id(leaf)]
        slope = slope_along(start, along, direction)
        shaped = direction.reshape(start._data.shape)
        exact = self._complex_slope(leaf, shaped)
        if exact is not None and self.asked.tolerance.allows(slope, exact):
            return slope, 0.0, Quotient(exact, 0.0, exact, exact, 0.0)
        self.by = "differences"

        def at(step: float) -> list[Tensor]:
            self.asked.look()
            moved = plain(start._data + step * shaped, start._kind)
            with undisturbed(grad=False):
                return [self.repetition.run({**self.fixed, id(leaf): moved}, self.root)]

        def sides(step: float) -> Sides:
            return sides_of(at(step), [self.value], at(-step), [self.weights])

        told = compared(sides, start, direction, slope, self.asked.tolerance)
        return slope, *told

    def _complex_slope(self, leaf: Tensor, direction: Any) -> float | None:
        """The slope from a complex step, which loses no digits; None where the program does not
        allow it. What it gives counts only where it agrees: a kernel may not be holomorphic."""
        if not self.is_holomorphic:
            return None
        self.asked.look()
        start = self.fixed[id(leaf)]
        kind = start._kind.of(dtypes.BY_NAME["complex128"])
        moved = plain(start._data + 1j * TINY * direction, kind)
        try:
            with undisturbed(grad=False), warnings.catch_warnings():
                warnings.simplefilter("error", ComplexWarning)  # a kernel that takes the real part
                value = self.repetition.run({**self.fixed, id(leaf): moved}, self.root)
        except (*REFUSED, ComplexWarning):
            self.is_holomorphic = False
            return None
        if value._data.dtype.kind != "c" or value._data.shape != self.weights.shape:
            return None
        rise = kind.xp.where(self.weights != 0, value._data.imag * self.weights, 0.0)
        return float(rise.sum()) / TINY

    # ---- where they disagree

    def _judged(self, fact: LeafCheck, leaf: Tensor, analytic: float, found: Quotient) -> LeafCheck:
        """The cause: an operation, the step size, or unknown."""
        if self.findings is None:
            with undisturbed(grad=True):
                self.findings = edges(self.steps, self.root.key, self.asked)
        on_the_way = depending(self.steps, leaf)
        wrong = tuple(edge for number, edge in self.findings.wrong if number in on_the_way)
        if wrong:
            smooth = [edge for edge in wrong if not edge.cause.startswith("kink")]
            status = "different" if smooth else "kink"
            return fact._replace(status=status, cause=(smooth or wrong)[0].cause, edges=wrong)
        if not math.isfinite(analytic):
            poles = tuple(e for number, e in self.findings.unbounded if number in on_the_way)
            said = f"the gradient is {analytic} where the slope is {found.value:.6g}"
            if poles:
                said = f"{poles[0].cause}, and 0 times that is nan"
            return fact._replace(status="different", cause=said, edges=poles)
        tolerance = self.asked.tolerance.around(analytic)
        if found.is_kink(tolerance) and not self.findings.complete:
            return fact._replace(status="kink", cause=kink(found))
        complete = self.findings.complete
        if complete or abs(analytic - found.value) <= 3 * found.error:
            said = "every operation on the way agrees by itself" if complete else ""
            if found.error > tolerance:
                said = "step size: no step gives a stable quotient" + (said and f"; {said}")
            return fact._replace(status="unclear", cause=said)
        return fact._replace(status="different", cause="not found: each operation agrees by itself")


def _allow_complex(steps: Sequence[Step], leaves: Sequence[Tensor]) -> bool:
    """Operations that have a derivative for complex numbers, as far as they say so."""
    real = all(leaf._kind.dtype.category == dtypes.FLOATING for leaf in leaves)
    return real and all(
        step.function is None or (isinstance(step.function, Row) and step.function.holomorphic)
        for step in steps
    )


def _gradients(
    repetition: Repetition, leaves: dict[int, Tensor], root: Operand
) -> tuple[dict[int, Any], Tensor]:
    """The gradient of every leaf as an array; zeros where the result does not depend on it."""
    for leaf in leaves.values():
        leaf.requires_grad_()
    value = repetition.run(leaves, root)
    if not value.requires_grad:  # drawn at random, say: nothing comes from the leaves
        nothing = {key: leaf._kind.xp.zeros_like(leaf._data) for key, leaf in leaves.items()}
        return nothing, value
    weights = weights_of(value)
    seed = plain(value._kind.xp.asarray(weights).astype(value._kind.array_dtype), value._kind)
    found = autograd_grad(value, list(leaves.values()), seed, allow_unused=True)
    gradients = {
        key: leaf._kind.xp.zeros_like(leaf._data) if gradient is None else gradient.to_dense()._data
        for (key, leaf), gradient in zip(leaves.items(), found, strict=True)
    }
    return gradients, value.detach()


def lost(fact: LeafCheck, gradient: Any, coarse: Any) -> LeafCheck:
    """Whether the program's own precision is enough for this gradient: `coarse` is what it gives,
    None where that is the same."""
    precision = PRECISIONS.get(fact.dtype)
    if coarse is None or precision is None or not gradient.size:
        return fact
    largest = float(abs(gradient).max())
    off = float(abs(coarse - gradient).max())
    if not math.isfinite(off) or off <= LOST * math.sqrt(precision) * largest + NOTHING:
        return fact
    place = int(abs(coarse - gradient).argmax())
    return fact._replace(
        status="float32",
        element=unravelled(place, fact.shape),
        analytic=float(coarse.reshape(-1)[place].real),
        numeric=float(gradient.reshape(-1)[place].real),
        cause=f"{fact.dtype}: rounding spoils this gradient; --dtype float64 gives the other value",
    )
