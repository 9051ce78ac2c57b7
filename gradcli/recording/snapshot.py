"""Recording: what is kept of a value: itself while it is small, else what sums it up."""

from __future__ import annotations

from typing import Any, NamedTuple

from .collect import numbers, range_of, text_of
from .facts import Nested

LARGEST = 4096  # elements of a value that is kept


class Summary(NamedTuple):
    """Stands for a value that is too large to be kept; no range where it holds a NaN."""

    shape: tuple[int, ...]
    range: tuple[float, float] | None


class Told(NamedTuple):
    """A snapshot in plain Python types."""

    shape: tuple[int, ...] = ()
    text: str | None = None
    range: tuple[float, float] | None = None
    value: Nested | None = None


NOTHING = Told()


def told(snapshot: Any, *, full: bool) -> Told:
    """A snapshot as text, with `full` as numbers too; None tells nothing."""
    if snapshot is None:
        return NOTHING
    if isinstance(snapshot, Summary):
        return Told(snapshot.shape, "", snapshot.range)
    value = numbers(snapshot) if full else None
    return Told(tuple(snapshot.shape), text_of(snapshot), range_of(snapshot), value)
