"""Questions: which names the program gave to which tensors, in order; local names too."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import Any
from weakref import ref

from ...engine.schema.mode import next_sequence
from ...engine.tensors.tensor import Tensor
from ...language.interpreter import Machine
from ...language.names import Scope
from ...named import NamedTuple
from ...recording.holding import tensors_in
from ...recording.names import levels
from ...recording.spectator import Spectator

HELD = 1000  # tensors of names that were requested
PRUNED = 4096  # bindings of one name, after which those of dead tensors are dropped


class Bound(NamedTuple):
    """A name was bound.

    `clock` lies between the sequence numbers of the nodes made before and after. `key` is the
    node (or the leaf, or the constant) behind a weak reference, and `tensor` what was bound, in
    the same way; a Python number is its own.
    """

    name: str
    scope: Scope | None
    clock: float
    output_nr: int
    key: Any
    tensor: Any = None
    number: float | int | None = None
    turn: int = 0  # which of the tensors with a gradient that its name stood for, from 1 on

    @property
    def alive(self) -> Any:
        """What the name stood for, while it lives: a node, a leaf, a constant, a number."""
        return self.number if self.key is None else self.key()


class History:
    """All that one name stood for, in order; what died without being asked for is forgotten."""

    __slots__ = ("entries", "limit", "count")

    def __init__(self) -> None:
        self.entries: list[tuple[Any, ...]] = []  # the fields of `Bound`: there are very many
        self.limit = PRUNED
        self.count = 0  # tensors with a gradient

    def add(self, facts: tuple[Any, ...]) -> None:
        """A binding by its fields."""
        self.entries.append(facts)
        if len(self.entries) > self.limit:
            self.prune()

    def prune(self) -> None:
        """What died without being asked for is forgotten."""
        self.entries = [one for one in self.entries if (key := one[4]) is None or key() is not None]
        self.limit = max(PRUNED, 2 * len(self.entries))


class Naming(Spectator):
    """Observes every binding while a program runs.

    Tensors of the `asked` names are held, so that one which only a function knew can be asked for;
    other names that start with an underscore are private.
    """

    def __init__(self, asked: Iterable[str] = ()) -> None:
        self.asked = frozenset(asked)
        self.held: list[Tensor] = []
        self.histories: dict[tuple[Scope | None, str], History] = {}

    def begin(self, machine: Machine) -> None:
        """The inputs are bound."""
        for name, value in machine.globals.values.items():
            self.bound(name, value)

    def bound(self, name: str, value: Any) -> None:
        """A global name."""
        self.bound_inside(None, name, value)

    def bound_inside(self, scope: Scope | None, name: str, value: Any) -> None:
        """A name inside a function, or with no scope a global one."""
        if name.startswith("_") and name not in self.asked:
            return
        kind = type(value)
        if isinstance(value, Tensor):
            for tensor in levels(value):
                self.tensor(scope, name, tensor)
        elif kind is int or kind is float:
            self.number(scope, name, value, next_sequence())
        elif isinstance(value, (list, tuple, dict)):  # named tuples too
            for inner, tensor in tensors_in(name, value, Tensor):
                self.tensor(scope, inner, tensor)

    def _history(self, scope: Scope | None, name: str) -> History:
        key = (scope, name)
        history = self.histories.get(key)
        if history is None:
            history = self.histories[key] = History()
        return history

    def number(self, scope: Scope | None, name: str, value: float, clock: float) -> None:
        """A name was given this number."""
        self._history(scope, name).add((name, scope, clock, 0, None, None, value, 0))

    def passed_over(self, scope: Scope | None, name: str) -> None:
        """A name was given a tensor with a gradient that no question can be about."""
        self._history(scope, name).count += 1

    def tensor(
        self, scope: Scope | None, name: str, tensor: Tensor, clock: float | None = None,
        edge: tuple[Any, int] | None = None,
    ) -> None:  # fmt: skip
        """A name was given this tensor, now or at a time, when it was this output of a node."""
        history = self.histories.get((scope, name)) or self._history(scope, name)
        entries = history.entries
        node: Any
        if edge is not None:
            node, output_nr = edge
        elif tensor.__class__ is Tensor and tensor._meta is None:  # as most are
            node, output_nr = tensor._grad_fn, tensor._output_nr
        else:
            try:
                node, output_nr = tensor.grad_fn, tensor.output_nr
            except RuntimeError:  # a view whose base was changed: asking is an error of its own
                return
        if entries and (last := entries[-1][4]) is not None:
            known = last()
            if known is tensor or (
                node is not None and known is node and output_nr == entries[-1][3]
            ):
                return
        if name in self.asked and len(self.held) < HELD:
            self.held.append(tensor)
        key = tensor if node is None else node
        clock = next_sequence() if clock is None else clock
        history.count += tensor.requires_grad
        entries.append((name, scope, clock, output_nr, ref(key), ref(tensor), None, history.count))
        if len(entries) > history.limit:
            history.prune()

    # ---- once the program has run

    def entries(self) -> list[Bound]:
        """Every tensor that was bound and lives, in order."""
        alive = [
            tuple.__new__(Bound, facts)
            for history in self.histories.values()
            for facts in history.entries
            if facts[4] is not None and facts[4]() is not None
        ]
        return sorted(alive, key=attrgetter("clock"))

    def last(self, scope: Scope | None, name: str, before: int) -> Bound | None:
        """What a name stood for when the node with this sequence number was made."""
        history = self.histories.get((scope, name))
        if history is None:
            return None
        found = None
        for facts in history.entries:
            if facts[2] > before:
                break
            found = facts
        return None if found is None else Bound._make(found)
