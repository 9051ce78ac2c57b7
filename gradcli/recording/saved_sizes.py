"""Recording: sizes of what nodes save for backward, noted before a pass frees it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .memory import key_of, memory_or_own, size_of
from .passes import Passes
from .sides import kept_by
from .spectator import Spectator

MOST = 200_000  # nodes


class SavedSize(NamedTuple):
    """One saved tensor: its name at the node, whose memory it is, how many bytes that has. What
    passes freed may have left its place to other memory, so it counts by the pass (0: none)."""

    name: str
    memory: tuple[int, int]
    bytes: int


def saved_sizes_of(node: Any, number: int = 0) -> tuple[SavedSize, ...]:
    """What a node keeps now, in the pass with this number."""
    found = []
    for name, array in kept_by(node):
        shared = memory_or_own(array)
        found.append(SavedSize(name, (number, key_of(shared)), size_of(shared, array)))
    return tuple(found)


class SavedSizes(Spectator):
    """Of the nodes that passes ran; of the last pass, where several ran one."""

    is_prompt = True

    def __init__(self, passes: Passes) -> None:
        self.passes = passes
        self.nodes: dict[int, tuple[SavedSize, ...]] = {}  # by identity: passes hold the graphs

    def arrived(self, node: Any, grads: Sequence[Any]) -> None:
        """A node is about to run."""
        if self.passes.now is not None and len(self.nodes) < MOST:
            kept = saved_sizes_of(node, self.passes.count)
            if kept:
                self.nodes[id(node)] = kept
