"""Questions: which layer made a node: a module of the library that holds no others."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

from ...engine.graph.node import Node
from ...engine.schema.mode import sequence_so_far
from ...language.classes import is_instance
from ...recording.sides import sequence_of, sides
from ...recording.spectator import Spectator

MOST = 10_000  # calls
Time = tuple[int, int]  # the numbers of the last nodes: of ours, of PyTorch's


class Layers(Spectator):
    """The calls of layers, and between which nodes they were."""

    def __init__(self) -> None:
        self.running: list[Time] = []
        self.calls: list[tuple[Time, Time, str, int]] = []  # from, to; its class, its identity

    def entering(self, module: Any) -> None:
        if _is_layer(module):
            self.running.append(_now())

    def leaving(self, module: Any) -> None:
        if _is_layer(module) and self.running:
            began = self.running.pop()
            self.calls.append((began, _now(), type(module).__name__, id(module)))
            if len(self.calls) > 2 * MOST:
                del self.calls[:MOST]

    def of(self, node: Any) -> tuple[str, int]:
        """The class and the identity of the layer that made a node; "" where it was none."""
        side = 0 if isinstance(node, Node) else 1
        number = sequence_of(node)
        at = bisect_left(self.calls, number, key=lambda call: call[1][side])
        if at == len(self.calls):
            return "", 0
        began, _, name, identity = self.calls[at]
        return (name, identity) if began[side] < number else ("", 0)

    def drops(self, node: Any) -> str:
        """The class of the layer that made a node, if it sets elements to 0 at random."""
        name, _ = self.of(node)
        return name if "Dropout" in name else ""


def _is_layer(module: Any) -> bool:
    return not module._modules and not is_instance(module)


def _now() -> Time:
    live = sides.live
    return sequence_so_far() - 1, -1 if live is None else live.clock() - 1
