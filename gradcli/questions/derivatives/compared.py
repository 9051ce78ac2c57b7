"""Questions: forward mode compared with reverse mode, element by element."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy

from ...recording.facts.derivatives import AgreementFact
from .matrices import Axis
from .modes import Derivatives

ROUNDING = 1000  # units in the last place of the largest element, which rounding may cost


def agreement(
    forward: Derivatives, reverse: Derivatives, of: Axis, axes: Sequence[Axis]
) -> AgreementFact:
    """The largest difference, in units of what rounding may cost."""
    worst, worst_gap, largest = None, -1.0, 0.0
    for one, other, wrt in _pairs(forward, reverse, axes):
        if not one.size:
            continue
        gap = _gaps(one, other)
        largest = max(largest, float(numpy.where(numpy.isfinite(gap), gap, 0).max()))
        relative = gap / _allowed(one, other)
        at = int(relative.argmax())
        if float(relative.reshape(-1)[at]) > worst_gap:
            worst_gap = float(relative.reshape(-1)[at])
            worst = one.reshape(-1)[at].item(), other.reshape(-1)[at].item(), at, wrt
    if worst is None or worst_gap <= 1:
        return AgreementFact(True, largest)
    left, right, at, wrt = worst
    names = [list(axis.elements()) for axis in (of, *wrt)]
    places = numpy.unravel_index(at, tuple(len(each) for each in names))
    where = [each[int(place)] for each, place in zip(names, places, strict=True)]
    return AgreementFact(False, largest, where[0], tuple(where[1:]), left, right)


def _pairs(
    forward: Derivatives, reverse: Derivatives, axes: Sequence[Axis]
) -> Iterator[tuple[Any, Any, tuple[Axis, ...]]]:
    """Each block in both modes, and the tensors that it is of."""
    for one, other, axis in zip(forward.first, reverse.first, axes, strict=True):
        yield one, other, (axis,)
    for row, others, axis in zip(forward.second, reverse.second, axes, strict=False):
        for one, other, across in zip(row, others, axes, strict=True):
            yield one, other, (axis, across)


def _gaps(one: Any, other: Any) -> Any:
    """Differences; NaN equals NaN, and inf equals inf."""
    with numpy.errstate(invalid="ignore"):
        gap = abs(one.astype("float64") - other.astype("float64"))
    same = (one == other) | (numpy.isnan(one) & numpy.isnan(other))
    return numpy.where(same, 0.0, numpy.where(numpy.isnan(gap), numpy.inf, gap))


def _allowed(one: Any, other: Any) -> float:
    """What rounding may cost."""
    both = numpy.concatenate([abs(one).reshape(-1), abs(other).reshape(-1)])
    finite = both[numpy.isfinite(both)]
    scale = float(finite.max()) if finite.size else 1.0
    kind = one.dtype if one.dtype.kind == "f" else numpy.dtype("float64")
    return max(scale * ROUNDING * float(numpy.finfo(kind).eps), 1e-30)
