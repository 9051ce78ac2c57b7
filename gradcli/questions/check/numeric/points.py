"""Questions: what the numeric check of a result and that of an operation share."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ....engine.tensors.tensor import Tensor
from ....named import NamedTuple
from ....recording.sides import AnyTensor
from .quotient import Quotient, Sides, quotient

DOUBLE = 2.0**-52  # the precision that noise is counted in


class Tolerance(NamedTuple):
    """Equal is what differs by no more than atol + rtol * the larger of the two."""

    rtol: float = 1e-5
    atol: float = 1e-7

    def allows(self, a: float, b: float) -> bool:
        return a == b or abs(a - b) <= self.around(max(abs(a), abs(b)))

    def around(self, value: float) -> float:
        return self.atol + self.rtol * abs(value)


class Result(NamedTuple):
    """A result to check: its tensor, name and line; what leaves are called; where nodes are."""

    tensor: AnyTensor
    name: str
    line: int | None
    leaf_name: Callable[[Tensor], tuple[str, int | None]]
    place: Callable[[Any], Any]
    tolerance: Tolerance
    look: Callable[[], None]  # raises when time is up


def weights_of(value: Tensor) -> Any:
    """What a result is multiplied with before it is summed: every number counts, by another
    amount; infinities and NaN do not."""
    xp = value._kind.xp
    finite = xp.isfinite(value._data)
    if value._data.size == 1:
        return xp.asarray(finite.astype(float))
    amounts = 1.0 + 0.5 * xp.sin(12.9898 * xp.arange(value._data.size))
    return amounts.reshape(value._data.shape) * finite


def sides_of(
    ahead: list[Tensor], middle: list[Tensor], behind: list[Tensor], weights: list[Any]
) -> Sides:
    """How far the weighted sum of results moves; each number is subtracted before they are summed,
    so that large ones that stay where they are hide nothing."""
    moved, returned, size = 0.0, 0.0, 0.0
    for after, here, before, weight in zip(ahead, middle, behind, weights, strict=True):
        xp = here._kind.xp
        counts = weight != 0
        up, down = after._data - here._data, here._data - before._data
        moved += float(xp.where(counts, (up * weight).real, 0.0).sum())
        returned += float(xp.where(counts, (down * weight).real, 0.0).sum())
        sizes = xp.where(counts & ((up != 0) | (down != 0)), abs(here._data * weight), 0.0)
        size += float(sizes.sum())
    if not size:  # nothing moved: so much might have gone lost in rounding
        size = sum(float(abs(here._data)[weight != 0].sum())
                   for here, weight in zip(middle, weights, strict=True))  # fmt: skip
    roughest = max((float(one._kind.xp.finfo(one._data.dtype).eps) for one in middle), default=0.0)
    return Sides(moved, returned, size * max(1.0, roughest / DOUBLE))


def one_element(tensor: Tensor, element: int, unit: complex) -> Any:
    """One element by itself."""
    direction = tensor._kind.xp.zeros(tensor._data.size, dtype=tensor._data.dtype)
    direction[element] = unit if direction.dtype.kind == "c" else unit.real
    return direction


def all_elements(tensor: Tensor, number: int) -> Any:
    """All elements at once, each by another amount."""
    xp = tensor._kind.xp
    return xp.cos(1.0 + (number + 1) * 3.774 * xp.arange(tensor._data.size))


def slope_along(tensor: Tensor, gradient: Any, direction: Any) -> float:
    """The gradient along a direction; elements that it leaves alone have no say."""
    product = (gradient * direction.conj()).real
    return float(tensor._kind.xp.where(direction == 0, 0.0, product).sum())


def unravelled(element: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    place: list[int] = []
    for size in reversed(shape):
        element, last = divmod(element, size)
        place.append(last)
    return tuple(reversed(place))


def gap_of(analytic: float, found: Quotient, tolerance: Tolerance) -> float:
    """The difference as a multiple of what is allowed; more than 1 is too much."""
    if math.isfinite(analytic) and found.finite:
        allowed = tolerance.around(max(abs(analytic), abs(found.value)))
        return abs(analytic - found.value) / allowed if allowed else math.inf
    if math.isinf(analytic) and not (found.finite and found.error < abs(found.value) * 0.1):
        return 0.5  # the slope grows without end, as the quotients do
    return math.inf if math.isfinite(analytic) or found.finite else 0.5


def compared(
    sides: Callable[[float], Sides], start: Tensor, direction: Any, slope: float,
    tolerance: Tolerance,
) -> tuple[float, Quotient]:  # fmt: skip
    """A slope and the quotient along a direction: how far they are apart, in terms of what is
    allowed, and the quotient.

    Steps are first as large as what is perturbed, at least about 1. Where that disagrees and the
    numbers are small, there may be a pole or a kink within such a step: smaller ones are tried.
    """
    sizes = abs(start._data.reshape(-1)[direction.reshape(-1) != 0])
    sizes = sizes[start._kind.xp.isfinite(sizes)]
    largest = max(1.0, float(sizes.max())) if sizes.size else 1.0

    def wanted(value: float) -> float:
        return 0.01 * tolerance.around(value)

    found = quotient(sides, largest, wanted)
    gap = gap_of(slope, found, tolerance)
    small = sizes[sizes > 0]
    if gap > 1.0 and small.size and float(small.min()) < 1.0:
        nearer = quotient(sides, float(small.min()), wanted)
        if (closer := gap_of(slope, nearer, tolerance)) < gap:
            return closer, nearer
    return gap, found


def words_of(data: Any) -> tuple[str, ...]:
    """What is worth telling of an array: that it holds a NaN or an infinity, or zeros only."""
    if data.dtype.kind not in "fc" or not data.size:
        return ()
    if not bool((data != 0).any()):
        return ("zero",)
    told = ("nan",) if bool((data != data).any()) else ()
    return (*told, "inf") if bool((abs(data) == math.inf).any()) else told


def kink(found: Quotient) -> str:
    """The words for a place without a derivative."""
    return f"kink: the slope is {found.left:.6g} on the left, {found.right:.6g} on the right"


def undefined(analytic: float) -> str:
    """The words for a gradient that no finite slope contradicts."""
    if math.isnan(analytic):
        return "the gradient and the difference quotient are both NaN"
    return f"the gradient is {analytic}, and difference quotients give no finite slope either"
