"""Questions: the digits that the lines of a program lose in the lower of two precisions.

The other run, in the higher precision, is taken for the truth. An error is measured against the
largest number of its tensor: an element that is nearly zero beside large ones loses nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from math import isfinite, log10
from typing import Any

from ...recording.facts.diff import DigitsFact, StepFact

# Half a unit in the last place of 1.
ROUNDING = {"bfloat16": 2.0**-8, "float16": 2.0**-11, "float32": 2.0**-24, "float64": 2.0**-53}


def digits_of(dtype: str) -> float:
    """The decimal digits that a number of this type has."""
    return -log10(ROUNDING[dtype])


def by_line(
    pairs: Sequence[tuple[StepFact, StepFact]], types: tuple[str, str]
) -> tuple[DigitsFact, ...]:
    """For each line the digits that are left after its worst operation; nothing where both runs
    have one precision."""
    if any(name not in ROUNDING for name in types) or ROUNDING[types[0]] == ROUNDING[types[1]]:
        return ()
    lower = max(types, key=ROUNDING.__getitem__)
    most = digits_of(lower)
    worst: dict[int, DigitsFact] = {}
    for mine, yours in pairs:
        if mine.line is None:
            continue
        exact, rounded = (yours, mine) if lower == types[0] else (mine, yours)
        left = min(most, _digits(flat(rounded.value), flat(exact.value)))
        known = worst.get(mine.line)
        if known is None or left < known.left:
            worst[mine.line] = DigitsFact(mine.line, mine.text, left, most - left)
    return tuple(worst[line] for line in sorted(worst))


def _digits(rounded: list[Any], exact: list[Any]) -> float:
    """The digits in which two lists of numbers agree."""
    if len(rounded) != len(exact):
        return 0.0
    largest = max((abs(x) for x in exact if isfinite(abs(x))), default=0.0)
    errors = [0.0 if x == y or (x != x and y != y) else abs(x - y)
              for x, y in zip(rounded, exact, strict=True)]  # fmt: skip
    error = max(errors, default=0.0)
    if not error:
        return float("inf")
    if not isfinite(error) or error >= largest:
        return 0.0
    return -log10(error / largest)


def flat(value: Any) -> list[Any]:
    """The numbers of nested tuples."""
    return list(chain.from_iterable(map(flat, value))) if isinstance(value, tuple) else [value]
