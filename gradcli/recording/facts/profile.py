"""Recording: time and bytes of a run, line by line."""

from __future__ import annotations

from ...named import NamedTuple


class LineFact(NamedTuple):
    """One line of a program: how often it ran, and what it cost forward and backward.

    `forward_bytes` are the results that entered the graph and have memory of their own,
    `backward_bytes` the gradients that the nodes of this line passed on.
    """

    line: int
    text: str
    times: int
    forward_seconds: float
    forward_bytes: int
    backward_seconds: float
    backward_bytes: int

    @property
    def seconds(self) -> float:
        """Forward and backward together."""
        return self.forward_seconds + self.backward_seconds


class ProfileFact(NamedTuple):
    """The lines that ran, in the order in which they ran first."""

    lines: tuple[LineFact, ...] = ()

    @property
    def forward_seconds(self) -> float:
        """The time of all lines that is not their nodes' on the way back."""
        return sum(line.forward_seconds for line in self.lines)

    @property
    def backward_seconds(self) -> float:
        """The time of all nodes on the way back."""
        return sum(line.backward_seconds for line in self.lines)

    @property
    def heaviest(self) -> int | None:
        """The line that took the longest."""
        return max(self.lines, key=lambda line: line.seconds).line if self.lines else None
