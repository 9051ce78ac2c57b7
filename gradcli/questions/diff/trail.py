"""Questions: the trail of a run: what its operations gave, in the order in which they ran.

Two runs of programs of one shape part where their trails part: in the second round of a loop, say,
long before what is left at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...recording.facts import Nested, Place
from ...recording.facts.diff import StepFact
from ...recording.numbers import frozen
from ...recording.sides import array_of, node_of, origin_of
from ...recording.spectator import Spectator

MOST = 100_000  # operations that are followed
SMALL = 64  # elements of a value that is kept as it is


class Trail:
    """Give it to the engine as its recorder while a program runs."""

    def __init__(self) -> None:
        self.steps: list[tuple[str, object, Nested, bool]] = []

    def operation(self, node: Any, outs: Any, arguments: Any, before: Any) -> None:
        """An operation entered the graph."""
        if outs and outs[0] is not None:
            self.add(node.name().rpartition("::")[2], node.origin, array_of(outs[0]))

    def add(self, name: str, origin: object, data: Any) -> None:
        """One step more."""
        if len(self.steps) < MOST:
            self.steps.append((name, origin, _summary(data), data.size <= SMALL))

    def facts(self, place: Callable[[Any], Place | None]) -> tuple[StepFact, ...]:
        """The steps with their places, which `place` reads off an origin."""
        found = []
        for name, origin, value, whole in self.steps:
            where = place(origin)
            text, line = "", None
            if where is not None:
                line = where.line
                text = where.named(where.target)
            found.append(StepFact(name, line, text, value, whole))
        return tuple(found)


class TrailObserver(Spectator):
    """Observes the results of a run of PyTorch, for a trail."""

    is_prompt = True

    def __init__(self, trail: Trail) -> None:
        self.trail = trail

    def made(self, result: Any) -> None:
        if result.output_nr == 0:
            node = node_of(result)
            name = node.name().rpartition("::")[2]
            self.trail.add(name, origin_of(node), array_of(result))


def _summary(data: Any) -> Nested:
    """The value; of a large one its mean, its mean square and its ends."""
    if data.size <= SMALL:
        return frozen(data.tolist())
    flat = data.reshape(-1)
    if data.dtype.kind not in "fc":
        return frozen(flat[:SMALL].tolist())
    square = (flat * flat.conj()).real
    return (complex(flat.mean()).real, float(square.mean()), frozen(flat[:4].tolist()),
            frozen(flat[-4:].tolist()))  # fmt: skip
