"""Recording: an observer of the engine: values, gradients, hooks and freed buffers as they pass.

It holds on to the first and the last so many results, because a report draws the two ends of a
long chain and folds what lies between.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from .collect import Collected, numbers, range_of, text_of
from .facts import BackwardFact, EventFact, FlowFact
from .hook_log import HookLog
from .ledger import Book
from .spectator import Spectator

ENDS = 1000  # results that are held at each end
LARGEST = 4096  # elements of a result that is held
CALLS = 1000  # backward calls


class Entry:
    """A result that entered the graph, and the gradient that arrived at it last."""

    __slots__ = ("tensor", "node", "output_nr", "grad")

    def __init__(self, tensor: Any, node: Any, output_nr: int) -> None:
        self.tensor, self.node, self.output_nr = tensor, node, output_nr
        self.grad: Any = None


class Watch(Spectator):
    """Give it to a run.

    `line` says where the program is; `as_tensor` makes a tensor of a gradient that the engine holds
    as an array; `memory` tells whose memory a
    tensor or an array shares. `values` is False when only hooks, gradients of leaves and backward
    calls are of interest.
    """

    def __init__(
        self,
        line: Callable[[], int | None],
        as_tensor: Callable[[Any], Any],
        *,
        memory: Callable[[Any], Any] = lambda value: None,
        values: bool = True,
    ) -> None:
        self.line, self.as_tensor = line, as_tensor
        self.hooks = HookLog(line)
        self.book = Book(line, memory)
        self.first: list[Entry] = []
        self.last: deque[Entry] = deque()
        self.by_node: dict[tuple[int, int], Entry] = {}
        self.backwards: list[BackwardFact] = []
        self.freed_by: dict[int, int] = {}
        self.values = values

    # ---- what the engine tells

    def made(self, tensor: Any) -> None:
        """A result that has a grad_fn was made."""
        if not self.values or tensor is None:
            return
        node = tensor.grad_fn
        if node is None or tensor.numel() > LARGEST:
            return
        entry = Entry(tensor, node, tensor.output_nr)
        if len(self.first) < ENDS:
            self.first.append(entry)
        else:
            self.last.append(entry)
            if len(self.last) > ENDS:
                gone = self.last.popleft()
                self.by_node.pop((id(gone.node), gone.output_nr), None)
        self.by_node[id(node), entry.output_nr] = entry

    def changed(self, tensor: Any) -> None:
        """A tensor was given new values in place."""
        self.book.changed(tensor)

    def assigned(self, tensor: Any, value: Any) -> None:
        """A .grad is about to be set."""
        self.book.assigned(tensor, value)

    def registered(self, number: int, hook: Any) -> None:
        """A hook was registered."""
        self.hooks.registered(number)

    def started(
        self, roots: Sequence[Any], gradients: Sequence[Any], keep: bool, create_graph: bool,
        inputs: Sequence[Any] | None, capture: bool,
    ) -> None:  # fmt: skip
        """A backward pass begins."""
        self.hooks.started()
        self.book.started(keep, create_graph, capture)

    def arrived(self, node: Any, grads: tuple[Any, ...]) -> None:
        """The gradients of a node's outputs are complete."""
        if self.book.running:
            self.book.running[-1].arrived(node)
        by_node = self.by_node
        for output_nr, grad in enumerate(grads):
            if grad is not None:
                entry = by_node.get((id(node), output_nr))
                if entry is not None:
                    entry.grad = grad

    def applied(self, node: Any, grads: tuple[Any, ...], results: Sequence[Any]) -> None:
        """A node has run."""
        if self.book.running:
            self.book.running[-1].applied(node)

    def accumulated(self, variable: Any, grad: Any) -> None:
        """A tensor is about to be given a gradient."""
        self.book.accumulated(variable, grad)

    def stored(self, variable: Any) -> None:
        """It was given it."""
        self.book.stored(variable)

    def hooking(self, kind: str, node: Any, hook: Any, number: int, value: Any) -> None:
        """A hook is about to run."""
        self.hooks.hooking(kind, node, hook, number, value)

    def hooked(self, kind: str, node: Any, hook: Any, number: int, before: Any, after: Any) -> None:
        """A hook ran on a gradient."""
        self.hooks.hooked(kind, hook, before, after)

    def failed(self, freed: list[Any]) -> None:
        """A backward pass has ended in an error."""
        self.hooks.ended()
        self.book.ended(freed, failed=True)

    def walked(self, freed: list[Any], keep: bool, create_graph: bool) -> None:
        """A backward pass has ended."""
        self.hooks.ended()
        self.book.ended(freed, failed=False)
        line = self.line() or 0
        if len(self.backwards) < CALLS:
            self.backwards.append(BackwardFact(line, keep, create_graph))
        else:
            self.backwards[-1] = BackwardFact(line, keep, create_graph)
        if len(self.freed_by) < ENDS * 100:
            for node in freed:
                self.freed_by[id(node)] = line

    # ---- what it amounts to

    def flows(self, collected: Collected, *, full: bool) -> tuple[FlowFact, ...]:
        """Values and gradients of the results that were held, as far as their nodes are known."""
        ids = {id(node): number for number, node in enumerate(collected.alive)}
        found = []
        for entry in (*self.first, *self.last):
            number = ids.get(id(entry.node))
            if number is not None:
                found.append(self._flow(number, entry, full))
        return tuple(found)

    def _flow(self, number: int, entry: Entry, full: bool) -> FlowFact:
        tensor = entry.tensor if entry.tensor.grad_fn is entry.node else None
        grad = None if entry.grad is None else self.as_tensor(entry.grad)
        return FlowFact(
            number,
            entry.output_nr,
            tuple(entry.tensor.shape),
            None if tensor is None else text_of(tensor),
            None if grad is None else text_of(grad),
            None if tensor is None else range_of(tensor),
            None if grad is None else range_of(grad),
            numbers(tensor) if full and tensor is not None else None,
            numbers(grad) if full and grad is not None else None,
        )

    def told(self, names: Callable[[Any], str]) -> tuple[EventFact, ...]:
        """The hooks that ran, in their order."""
        return self.hooks.facts(names)
