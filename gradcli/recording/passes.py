"""Recording: the backward passes of a run: where each started, which are kept.

Of a pass that is kept other parts noted what they know: values, gradients, steps.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Container, Iterable, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakSet, ref

from ..engine.schema.mode import sequence_so_far
from ..engine.schema.origin import current_line, current_origin
from .facts import BackwardFact
from .lines import Lines
from .sides import mark_of
from .spectator import Spectator

if TYPE_CHECKING:
    from .buffers import Buffers
    from .captured_pass import CapturedPass
    from .recording import Recording
    from .steps import Walk

CALLS = 1000  # backward calls
FREED = 100_000  # nodes


class Pass:
    """One backward call, or one of autograd.grad. What is not kept has no roots."""

    __slots__ = (
        "number", "origin", "line", "keep", "creates", "captures", "inputs", "failed",
        "changes", "nodes", "is_kept", "roots", "gradients", "began", "seeds", "beside", "walk",
        "buffers", "captured_pass", "of_flow", "of_leaf", "_flows", "_leaves", "unread", "asked",
        "astray", "returned",
    )  # fmt: skip

    def __init__(self, number: int, keep: bool, creates: bool, captures: bool) -> None:
        self.number, self.origin, self.line = number, current_origin(), current_line()
        self.keep, self.creates, self.captures = keep, creates, captures
        self.inputs: tuple[Any, ...] | None = None  # what it is to reach alone, held weakly
        self.failed = False
        self.changes = 0  # of tensors in place, up to its end
        self.nodes = 0  # that the program made up to its end
        self.is_kept = False
        self.buffers: Buffers | None = None
        self.forget()

    def forget(self) -> None:
        """Nothing of the graph is held any more."""
        self.is_kept = False
        self.roots: tuple[Any, ...] = ()
        self.gradients: tuple[Any, ...] = ()  # that it began with
        self.began: dict[int, Any] = {}  # the values of the roots, by identity
        self.seeds: tuple[Any, ...] = ()  # those of the gradients
        # Leaves that a pass with `inputs` may not reach: tensor, value; by identity.
        self.beside: dict[int, tuple[Any, Any]] = {}
        self._flows: dict[tuple[int, int], Any] = {}
        self.captured_pass: CapturedPass | None = None  # what flows is read off it on demand
        self.of_flow: Callable[[Any], Any] | None = None
        self.of_leaf: Callable[[Any], Any] | None = None
        self._leaves: dict[int, tuple[Any, Any, Any]] = {}
        self.unread: dict[int, Any] = {}  # gradients of leaves that are not shared
        # Nodes, what it gave for their results, and of which type.
        self.returned: list[tuple[Any, Any, str]] = []
        self.walk: Walk | None = None
        self.asked: dict[str, Any] = {}  # what names of a question stood for when it ended
        self.astray: frozenset[int] = frozenset()  # leaves that their names no longer led to then

    def asks_for(self, tensor: Any) -> bool:
        """Whether the call names this tensor among its inputs."""
        return any(reference() is tensor for reference in self.inputs or ())

    @property
    def flows(self) -> dict[tuple[int, int], Any]:
        """What flowed, by a node's identity and its output."""
        if self.captured_pass is not None and self.of_flow is not None:
            captured, self.captured_pass = self.captured_pass, None
            self._flows.update(captured.flows(self.of_flow))
        return self._flows

    def keep_leaf(self, variable: Any, value: Any, gradient: Any) -> None:
        """What a leaf was, and what came to it."""
        self._leaves[id(variable)] = variable, value, gradient

    @property
    def leaves(self) -> dict[int, tuple[Any, Any, Any]]:
        """Of leaves by their identity the tensor, its value, the gradient that came."""
        if self.unread and self.of_leaf is not None:
            for identity, gradient in self.unread.items():
                variable, value, _ = self._leaves[identity]
                self._leaves[identity] = variable, value, self.of_leaf(gradient)
            self.unread = {}
        return self._leaves


class Passes(Spectator):
    """Numbers the passes. Of those in `only` it keeps the first and the last so many."""

    def __init__(self, lines: Lines, others: Sequence[Spectator]) -> None:
        self.lines = lines
        self.others = others  # who hear that a pass begins and ends
        self.first = self.last = 0
        self.only: Container[int] | None = None
        self.count = 0
        self.kept: dict[int, Pass] = {}  # that are over, by their numbers
        self.running: list[Pass] = []  # the one that began first comes first
        self.first_node = 0  # the number of the first that the program makes

    def begin(self, machine: Any) -> None:
        self.first_node = sequence_so_far()

    @property
    def nodes(self) -> int:
        """How many nodes the program has made so far."""
        return sequence_so_far() - self.first_node

    def keep(self, first: int, last: int, only: Container[int] | None = None) -> None:
        """The first and the last so many of those in `only`; left out, of all."""
        self.first, self.last, self.only = first, last, only

    def started(
        self, roots: Sequence[Any], gradients: Sequence[Any], retain_graph: bool,
        create_graph: bool, inputs: Sequence[Any] | None, capture: bool,
    ) -> None:  # fmt: skip
        """A pass begins."""
        self.count += 1
        now = Pass(self.count, retain_graph, create_graph, capture)
        now.roots, now.gradients = tuple(roots), tuple(gradients)
        now.inputs = None if inputs is None else tuple(map(ref, inputs))
        if (self.last or self.count <= self.first) and (
            self.only is None or self.count in self.only
        ):
            now.is_kept = True
            if not self.running:
                self._make_room()
        self.running.append(now)
        for one in self.others:
            one.began(now)

    def failed(self, freed: list[Any]) -> None:
        """A pass has ended in an error."""
        self.running[-1].failed = True
        self._over(freed)

    def walked(self, freed: list[Any], retain_graph: bool, create_graph: bool) -> None:
        """A pass has ended."""
        self._over(freed)

    def _over(self, freed: list[Any]) -> None:
        ended = self.running.pop()
        ended.changes, ended.nodes = self.lines.changes, self.nodes
        if ended.is_kept:
            self._make_room()
            self.kept[ended.number] = ended
        for one in self.others:
            one.over(ended, freed)
        if not ended.is_kept:
            ended.forget()

    def _make_room(self) -> None:
        """For one more; those in the middle are dropped."""
        while self.kept and len(self.kept) >= self.first + self.last:
            self.kept.pop(list(self.kept)[self.first]).forget()

    @property
    def now(self) -> Pass | None:
        """The pass that runs, if it is kept."""
        running = self.running
        return running[-1] if running and running[-1].is_kept else None


class Ends(Spectator):
    """Where passes began, and how they ended."""

    def __init__(self) -> None:
        self.rooted: WeakSet[Any] = WeakSet()  # marks of nodes that some pass began at
        self.backwards: list[BackwardFact] = []
        self.any_stored = self.any_kept = False  # gradients in `.grad`; the graph

    def began(self, one: Pass) -> None:
        for root in one.roots:
            if root.grad_fn is not None:
                self.rooted.add(mark_of(root.grad_fn))

    def over(self, one: Pass, freed: list[Any]) -> None:
        self.any_stored |= not one.captures
        self.any_kept |= one.keep
        if one.failed:
            return
        line = current_line() or 0
        fact = BackwardFact(line, one.keep, one.creates)
        if len(self.backwards) < CALLS:
            self.backwards.append(fact)
        else:
            self.backwards[-1] = fact


class Frees(Spectator):
    """The line of the call that freed what a node had saved."""

    def __init__(self) -> None:
        # Of each call its line and the identities of the nodes' marks: a table of all nodes would
        # take ten times the memory.
        self.calls: list[tuple[int, array[int]]] = []
        self.count = 0
        self.lines: dict[int, int] | None = None  # by identity, once a node was asked about

    def of(self, node: Any) -> int | None:
        """The line that freed what a node had saved."""
        if self.lines is None:
            self.lines = {key: line for line, keys in self.calls for key in keys}
        return self.lines.get(id(mark_of(node)))

    def lines_of(self, nodes: Iterable[Any]) -> set[int]:
        """The lines that freed what these had saved. A node that is gone left its identity to a
        younger one, so the last call counts."""
        left, lines = set(map(id, map(mark_of, nodes))), set()
        for line, keys in reversed(self.calls):
            before = len(left)
            left.difference_update(keys)
            if len(left) < before:
                lines.add(line)
            if not left:
                break
        return lines

    def over(self, one: Pass, freed: list[Any]) -> None:
        if freed:
            if self.count > FREED:
                self.calls.clear()  # of nodes that a run had so long ago, few are left
                self.count = 0
            self.calls.append((one.line or 0, array("Q", map(id, map(mark_of, freed)))))
            self.count += len(freed)
            self.lines = None


def frees_of(recording: Recording) -> Frees:
    """What a recording knows of them; nothing where nobody asked."""
    return recording.find(Frees) or Frees()
