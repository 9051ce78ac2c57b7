"""Recording: an observer of the engine: values, gradients, hooks and freed buffers as they pass.

It holds on to the first and the last so many results, because a report draws the two ends of a
long chain and folds what lies between.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Sequence
from typing import Any
from weakref import WeakSet, ref

from .facts import BackwardFact, EventFact
from .hook_log import HookLog
from .ledger import Book
from .sides import mark_of
from .spectator import Spectator

ENDS = 1000  # results that are held at each end
CALLS = 1000  # backward calls
PASSES = 100  # of which everything is kept
LEAVES = 100_000


class Entry:
    """A result that entered the graph: as it was then, and the module that made it."""

    __slots__ = ("node", "output_nr", "value", "module")

    def __init__(self, node: Any, output_nr: int, value: Any, module: Any) -> None:
        self.node, self.output_nr = node, output_nr
        self.value, self.module = value, module


class Pass:
    """One backward pass: its roots, what flowed, and the leaves as they were in it."""

    __slots__ = ("number", "origin", "roots", "captures", "flows", "leaves", "began", "seeds")

    def __init__(self, number: int, origin: Any, roots: Sequence[Any], captures: bool) -> None:
        self.number, self.origin, self.captures = number, origin, captures
        self.roots = tuple(roots)
        self.flows: dict[tuple[int, int], Any] = {}  # by a node's identity and its output
        self.leaves: dict[int, tuple[Any, Any, Any]] = {}  # tensor, value, gradient; by identity
        self.began: dict[int, Any] = {}  # the values of the roots, by identity
        self.seeds: tuple[Any, ...] = ()  # the gradients that it began with


class Watch(Spectator):
    """Give it to a run.

    `line` says where the program is; `snapshot` keeps a value or a gradient as it is now; `memory`
    tells whose memory a tensor or an array shares. `values` is False when only hooks, gradients of
    leaves and backward calls are of interest. Of the passes the last one is kept, or those with
    the numbers in `wanted`.
    """

    wanted: Container[int] | None = None
    origin: Callable[[], Any] = staticmethod(lambda: None)  # where the program is

    def __init__(
        self,
        line: Callable[[], int | None],
        snapshot: Callable[[Any], Any],
        *,
        memory: Callable[[Any], Any] = lambda value: None,
        values: bool = True,
    ) -> None:
        self.line, self.snapshot = line, snapshot
        self.of_flow = self.of_leaf = snapshot  # what is kept of gradients; by default as of values
        self.hooks = HookLog(line)
        self.book = Book(line, memory)
        self.first: list[Entry] = []
        self.last: deque[Entry] = deque()
        self.by_node: dict[tuple[int, int], Entry] = {}
        self.backwards: list[BackwardFact] = []
        self.freed_by: dict[int, int] = {}
        self.values = values
        self.modules: list[Any] = []  # those that are running, the outermost first
        self.count = 0  # of passes
        self.passes: dict[int, Pass] = {}
        self.running: list[Pass | None] = []
        self.rooted: WeakSet[Any] = WeakSet()  # marks of nodes that some pass began at
        self.changed_at: dict[int, tuple[Any, int | None]] = {}  # lines, by a tensor's identity
        self.born: dict[int, tuple[Any, int | None]] = {}  # where parameters were made

    # ---- what the engine tells

    def entering(self, module: Any) -> None:
        self.modules.append(module)

    def leaving(self, module: Any) -> None:
        self.modules.pop()

    def made(self, tensor: Any) -> None:
        """A result that has a grad_fn was made."""
        if not self.values or tensor is None:
            return
        node, output_nr = tensor.grad_fn, tensor.output_nr
        if node is None or (id(node), output_nr) in self.by_node:
            return
        module = self.modules[-1] if self.modules else None
        entry = Entry(node, output_nr, self.snapshot(tensor), module)
        if len(self.first) < ENDS:
            self.first.append(entry)
        else:
            self.last.append(entry)
            if len(self.last) > ENDS:
                gone = self.last.popleft()
                self.by_node.pop((id(gone.node), gone.output_nr), None)
        self.by_node[id(node), output_nr] = entry

    def changed(self, tensor: Any) -> None:
        """A tensor was given new values in place."""
        self.book.changed(tensor)
        if len(self.changed_at) < LEAVES:  # whether it is a leaf, a view may not be asked
            self.changed_at[id(tensor)] = ref(tensor), self.line()

    def parameter(self, tensor: Any) -> None:
        """A parameter was made."""
        if len(self.born) < LEAVES:
            self.born[id(tensor)] = ref(tensor), self.line()

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
        self.count += 1
        for root in roots:
            if root.grad_fn is not None:
                self.rooted.add(mark_of(root.grad_fn))
        kept = self.values and (self.wanted is None or self.count in self.wanted)
        now = Pass(self.count, self.origin(), roots, capture) if kept else None
        if now is not None:
            now.began = {id(root): self.snapshot(root) for root in roots}
            now.seeds = tuple(self.of_flow(seed) for seed in gradients)
        self.running.append(now)

    def arrived(self, node: Any, grads: tuple[Any, ...]) -> None:
        """The gradients of a node's outputs are complete."""
        if self.book.running:
            self.book.running[-1].arrived(node)
        now = self.running[-1] if self.running else None
        if now is None:
            return
        for output_nr, grad in enumerate(grads):
            if grad is not None and (id(node), output_nr) in self.by_node:
                now.flows[id(node), output_nr] = self.of_flow(grad)

    def applied(self, node: Any, grads: tuple[Any, ...], results: Sequence[Any]) -> None:
        """A node has run."""
        if self.book.running:
            self.book.running[-1].applied(node)

    def accumulated(self, variable: Any, grad: Any) -> None:
        """A tensor is about to be given a gradient."""
        self.book.accumulated(variable, grad)
        self._reached(variable, grad)

    def _reached(self, variable: Any, grad: Any) -> None:
        now = self.running[-1] if self.running else None
        if now is not None:
            now.leaves[id(variable)] = variable, self.snapshot(variable), self.of_leaf(grad)

    def captured(self, node: Any, place: int, grad: Any) -> None:
        """A gradient that the pass was asked for."""
        variable = getattr(node, "variable", None)
        if variable is not None:
            self._reached(variable, grad)

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
        self._over()
        self.hooks.ended()
        self.book.ended(freed, failed=True)

    def walked(self, freed: list[Any], keep: bool, create_graph: bool) -> None:
        """A backward pass has ended."""
        self._over()
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

    def _over(self) -> None:
        over = self.running.pop() if self.running else None
        if over is None:
            return
        if self.wanted is None:
            self.passes.clear()
        elif len(self.passes) == PASSES:
            del self.passes[list(self.passes)[PASSES // 2]]  # the first ones stay, and the last
        self.passes[over.number] = over

    # ---- what it amounts to

    def line_of_change(self, tensor: Any) -> int | None:
        """The line that changed a tensor in place last."""
        known, line = self.changed_at.get(id(tensor), (None, None))
        return line if known is not None and known() is tensor else None

    def told(self, names: Callable[[Any], str]) -> tuple[EventFact, ...]:
        """The hooks that ran, in their order."""
        return self.hooks.facts(names)
