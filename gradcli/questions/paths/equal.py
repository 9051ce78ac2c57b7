"""Questions: whether the sum over paths and reverse mode are the same but for rounding."""

from __future__ import annotations

from math import isfinite, isnan
from typing import Any

from ...recording.facts import Nested

ENOUGH = 16  # units in the last place that a short sum may be off


def _flat(value: Nested | None) -> list[Any]:
    """The numbers of nested tuples in their order."""
    flat: list[Any] = []
    pending: list[Any] = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, tuple):
            pending.extend(reversed(item))
        elif item is not None:
            flat.append(item)
    return flat


_EPSILON = {"float64": 2.3e-16, "complex128": 2.3e-16, "float32": 1.2e-7, "complex64": 1.2e-7,
            "float16": 9.8e-4, "bfloat16": 7.9e-3}  # fmt: skip
_LARGEST = {"float16": 65504.0, "float64": 1.7976931348623157e308, "complex128": 1.7e308}
_SMALLEST = {"float16": 6.2e-5, "float64": 2.3e-308, "complex128": 2.3e-308}


def equal(total: Any, reverse: Any, scale: float, length: int, dtype: str) -> bool:
    """The same but for rounding: each of the sum's steps may be off by a unit or two."""
    epsilon = _EPSILON.get(dtype, 1.2e-7)
    largest, smallest = _LARGEST.get(dtype, 3.4028234e38), _SMALLEST.get(dtype, 1.2e-38)
    one, other = _flat(total), _flat(reverse)
    if not other:
        return not any(one)
    if len(one) != len(other):
        return False
    most = max([scale, *(abs(x) for x in other if not isnan(abs(x)))], default=0.0)
    room = epsilon * (ENOUGH + 2 * length) * (most if isfinite(most) else 0.0)
    room += smallest * length
    return all(_close(x, y, room, largest) for x, y in zip(one, other, strict=True))


def _close(x: Any, y: Any, room: float, largest: float) -> bool:
    if isnan(abs(x)) or isnan(abs(y)):
        return isnan(abs(x)) and isnan(abs(y))
    if abs(y) > largest:
        return bool(abs(x) > largest and (x > 0) == (y > 0))
    return bool(abs(x - y) <= room)
