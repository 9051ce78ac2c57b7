"""Questions: the tensors behind the names that a question asks for, earlier ones too: `x#2`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..engine.tensors.tensor import Tensor
from ..opening import UsageError
from ..recording.sides import AnyTensor, node_of
from ..recording.spectator import Spectator

if TYPE_CHECKING:
    from ..recording.passes import Pass

KEPT = 1000  # tensors of one name
_ASKED = re.compile(r"\s*([^\W\d]\w*)(?:#(\d{1,9}))?")


class AskedNames(Spectator):
    """Observes bindings, and holds what the asked names stood for; a tensor that a name is bound
    to once more counts once."""

    wished: frozenset[str]

    def __init__(self, texts: Iterable[str]) -> None:
        found = map(_ASKED.match, texts)
        self.wished = frozenset(match[1] for match in found if match is not None)
        self.outer: dict[str, list[AnyTensor]] = {}
        self.inner: dict[str, list[AnyTensor]] = {}
        self.in_pass: dict[str, AnyTensor] = {}  # what they stood for in the last pass

    def begin(self, machine: Any) -> None:
        """The inputs are bound."""
        for name, value in machine.globals.values.items():
            self.bound(name, value)

    def bound(self, name: str, value: Any) -> None:
        """A global name."""
        if name in self.wished and (type(value) is Tensor or isinstance(value, AnyTensor)):
            _note(self.outer.setdefault(name, []), value)

    def bound_inside(self, scope: Any, name: str, value: Any) -> None:
        """A name inside a function."""
        if name in self.wished and (type(value) is Tensor or isinstance(value, AnyTensor)):
            _note(self.inner.setdefault(name, []), value)

    def over(self, one: Pass, freed: list[Any]) -> None:
        """A pass has ended."""
        bound = {**self.inner, **self.outer}
        self.in_pass = one.asked = {name: tensors[-1] for name, tensors in bound.items()}

    def tensors(self, text: str) -> list[AnyTensor]:
        """What a name stood for, in order, or the one that a number asks for: `x#2`. A global name
        goes before that of a function."""
        match = _ASKED.fullmatch(text)
        if match is None or match[1] not in self.wished:
            return []
        name, number = match[1], match[2]
        if number is None:
            return self._with_gradient(self.outer, name) or self._with_gradient(self.inner, name)
        every = self._every(name)
        if not 0 < int(number) <= len(every):
            known = f"{name}#1" + (f" to {name}#{len(every)}" if len(every) > 1 else "")
            count = "one tensor" if len(every) == 1 else f"{len(every):,} tensors"
            raise UsageError(f"{text}: {name} stood for {count} with a gradient", known)
        return [every[int(number) - 1]]

    def may_be(self, name: str, tensor: AnyTensor) -> bool:
        """Whether a name stood for a tensor: one of a function is none of a global one."""
        held = self.outer.get(name)
        return held is None or any(_is_same(one, tensor) for one in held)

    def numbered(self, name: str, tensor: AnyTensor) -> str:
        """The name that tells a tensor from what the name stood for else: x#2; empty if unknown."""
        every = self._every(name)
        at = next((at for at, one in enumerate(every, 1) if _is_same(one, tensor)), 0)
        return f"{name}#{at}" if at else ""

    def _every(self, name: str) -> list[AnyTensor]:
        outer, inner = (self._with_gradient(held, name) for held in (self.outer, self.inner))
        return [*outer, *(one for one in inner if not any(_is_same(one, two) for two in outer))]

    def _with_gradient(self, held: dict[str, list[AnyTensor]], name: str) -> list[AnyTensor]:
        return [one for one in held.get(name, ()) if one.requires_grad]


def _note(held: list[AnyTensor], tensor: AnyTensor) -> None:
    if len(held) < KEPT and not (held and _is_same(held[-1], tensor)):
        held.append(tensor)


def _is_same(one: AnyTensor, other: AnyTensor) -> bool:
    """Whether both are one tensor, or one result of the same node."""
    node = node_of(one)
    return one is other or (
        node is not None and node_of(other) is node and one.output_nr == other.output_nr
    )
