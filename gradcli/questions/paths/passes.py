"""Questions: the pass of the program that `paths` follows: the run stops where that pass has ended.

Nothing was updated yet there, so what nodes saved is what the pass used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...diagnostics import Enough
from ...recording.spectator import Spectator


class PassSeen(Spectator):
    """Keeps the root and the seed of the last pass; stops the run behind pass number `stop`."""

    def __init__(self, stop: int | None = None) -> None:
        self.stop, self.count = stop, 0
        self.root: Any = None
        self.seed: Any = None
        self.changed_since = False  # whether a tensor was changed in place behind the last pass
        self.running: list[int] = []

    def started(
        self, roots: Sequence[Any], gradients: Sequence[Any], keep: bool, create_graph: bool,
        inputs: Sequence[Any] | None, capture: bool,
    ) -> None:  # fmt: skip
        self.count += 1
        self.running.append(self.count)
        self.root, self.seed = roots[0], gradients[0]

    def changed(self, tensor: Any) -> None:
        self.changed_since = True

    def failed(self, freed: list[Any]) -> None:
        self.running.pop()

    def walked(self, freed: list[Any], keep: bool, create_graph: bool) -> None:
        self.changed_since = False
        if self.running.pop() == self.stop:
            raise Enough
