"""Recording: a series of numbers of any length in fixed space: the maxima of groups."""

from __future__ import annotations

ROOM = 64  # groups; when all are taken, neighbours are put together


class Curve:
    """The course of a number. NaN counts as larger than any other."""

    __slots__ = ("groups", "span", "filled")

    def __init__(self) -> None:
        self.groups: list[float] = []
        self.span = 1  # numbers in a group
        self.filled = 0  # of them in the last one

    def add(self, number: float) -> None:
        """One more number at the end."""
        if self.groups and self.filled < self.span:
            self.groups[-1] = _larger(self.groups[-1], number)
            self.filled += 1
            return
        if len(self.groups) == ROOM:
            pairs = zip(self.groups[::2], self.groups[1::2], strict=True)
            self.groups = [_larger(one, other) for one, other in pairs]
            self.span *= 2
        self.groups.append(number)
        self.filled = 1


def _larger(one: float, other: float) -> float:
    return one if one != one or one > other else other
