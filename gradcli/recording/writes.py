"""Recording: in-place changes: which tensor, where, from which version to which."""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import ref

from ..engine.schema.origin import current_line, current_origin
from .memory import common_of, counter_of, key_of
from .spectator import Spectator

MOST = 10_000  # changes


class Write(NamedTuple):
    """A change; `memory` says which tensors it changed, `counter` whose versions count it."""

    tensor: ref[Any]
    memory: int
    counter: int
    origin: Any
    line: int | None
    before: int
    after: int


class Writes(Spectator):
    """Observes changes in place; of very many it keeps the first ones."""

    def __init__(self) -> None:
        self.entries: list[Write] = []
        self.count = 0
        self._versions: dict[int, int] = {}  # by memory
        self._kept: list[Any] = []  # memory: its identity must stay its own

    def accumulated(self, variable: Any, grad: Any) -> None:
        """A backward pass adds in place to a gradient that is there already."""
        held = variable.grad
        if held is not None:
            self._known(counter_of(held), held._version)

    def _known(self, counter: Any, version: int) -> None:
        """This is the version of what has this counter, unless another is known."""
        if key_of(counter) not in self._versions:
            self._versions[key_of(counter)] = version
            self._kept.append(counter)

    def stored(self, variable: Any) -> None:
        """It did so, unless that gradient became another tensor."""
        held = variable.grad
        if held is not None and key_of(counter_of(held)) in self._versions:
            self.changed(held)

    def changed(self, tensor: Any) -> None:
        """A tensor was given new values."""
        if tensor.is_inference():
            return
        after = tensor._version
        memory, counter = common_of(tensor), counter_of(tensor)
        key = key_of(counter)
        self._known(counter, after - 1)
        before = self._versions[key]
        if after <= before:
            return  # .data = value gives it other memory, and counts nothing
        self.count += 1
        if len(self.entries) < MOST:
            self._versions[key] = after
            self.entries.append(Write(
                ref(tensor), key_of(memory), key, current_origin(), current_line(), before, after
            ))  # fmt: skip
            self._kept.append(memory)
