"""Questions: the tensors of the names that a question asks for, those that are gone too: `x#2`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ..opening import UsageError
from ..recording.sides import AnyTensor, node_of
from ..recording.spectator import Spectator

KEPT = 1000  # tensors of one name
_ASKED = re.compile(r"\s*([^\W\d]\w*)(?:#(\d{1,9}))?")


class AskedNames(Spectator):
    """Hears of bindings, and holds what the asked names stood for; a tensor that a name is bound
    to once more counts once."""

    def __init__(self, texts: Iterable[str]) -> None:
        found = map(_ASKED.match, texts)
        self.names = frozenset(match[1] for match in found if match is not None)
        self.outer: dict[str, list[AnyTensor]] = {}
        self.inner: dict[str, list[AnyTensor]] = {}

    def begin(self, machine: Any) -> None:
        """The inputs are bound."""
        for name, value in machine.globals.values.items():
            self.bound(name, value)

    def bound(self, name: str, value: Any) -> None:
        """A global name."""
        if name in self.names and isinstance(value, AnyTensor):
            _note(self.outer.setdefault(name, []), value)

    def bound_inside(self, scope: Any, name: str, value: Any) -> None:
        """A name inside a function."""
        if name in self.names and isinstance(value, AnyTensor):
            _note(self.inner.setdefault(name, []), value)

    def tensors(self, text: str) -> list[AnyTensor]:
        """What a name stood for, in order, or the one that a number asks for: `x#2`. A global name
        goes before that of a function."""
        match = _ASKED.fullmatch(text)
        if match is None:
            return []
        name, number = match[1], match[2]
        outer, inner = (
            [one for one in found.get(name, ()) if one.requires_grad]
            for found in (self.outer, self.inner)
        )
        if number is None:
            return outer or inner
        every = [*outer, *(one for one in inner if not any(_is_same(one, two) for two in outer))]
        if not 0 < int(number) <= len(every):
            known = f"{name}#1" + (f" to {name}#{len(every)}" if len(every) > 1 else "")
            count = "one tensor" if len(every) == 1 else f"{len(every):,} tensors"
            raise UsageError(f"{text}: {name} stood for {count} with a gradient", known)
        return [every[int(number) - 1]]


def _note(held: list[AnyTensor], tensor: AnyTensor) -> None:
    if len(held) < KEPT and not (held and _is_same(held[-1], tensor)):
        held.append(tensor)


def _is_same(one: AnyTensor, other: AnyTensor) -> bool:
    """Whether both are one tensor, or one result of the same node."""
    node = node_of(one)
    return one is other or (
        node is not None and node_of(other) is node and one.output_nr == other.output_nr
    )
