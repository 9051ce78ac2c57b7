"""Questions: which nodes a module made that sets elements to 0 at random."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

from ...engine.graph.node import Node
from ...engine.schema.mode import sequence_so_far
from ...recording.sides import sequence_of, sides
from ...recording.spectator import Spectator

MOST = 10_000  # calls
Time = tuple[int, int]  # the numbers of the last nodes: of ours, of PyTorch's


class Dropouts(Spectator):
    """The calls of such modules, and between which nodes they were."""

    def __init__(self) -> None:
        self.running: list[Time] = []
        self.calls: list[tuple[Time, Time, str]] = []  # where they began and ended; what it is

    def entering(self, module: Any) -> None:
        if "Dropout" in type(module).__name__:
            self.running.append(_now())

    def leaving(self, module: Any) -> None:
        name = type(module).__name__
        if "Dropout" in name and self.running:
            began = self.running.pop()
            self.calls.append((began, _now(), name))
            if len(self.calls) > 2 * MOST:
                del self.calls[:MOST]

    def of(self, node: Any) -> str:
        """The class of the module that made a node; nothing where it was none of these."""
        side = 0 if isinstance(node, Node) else 1
        number = sequence_of(node)
        at = bisect_left(self.calls, number, key=lambda call: call[1][side])
        if at == len(self.calls):
            return ""
        began, _, name = self.calls[at]
        return name if began[side] < number else ""


def _now() -> Time:
    live = sides.live
    return sequence_so_far() - 1, -1 if live is None else live.clock() - 1
