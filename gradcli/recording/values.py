"""Recording: the values of results, and in the passes that are kept gradients, as they pass.

It holds on to the first and the last so many results, because a report draws the two ends of a
long chain and folds what lies between.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from .lines import Modules
from .passes import Pass, Passes
from .snapshot import snapshot
from .spectator import Spectator

ENDS = 1000  # results that are held at each end


class Entry:
    """A result that entered the graph: as it was then, and the module that made it."""

    __slots__ = ("node", "output_nr", "value", "module")

    def __init__(self, node: Any, output_nr: int, value: Any, module: Any) -> None:
        self.node, self.output_nr = node, output_nr
        self.value, self.module = value, module


class Values(Spectator):
    """Results by node and output; roots, flows and leaves of passes (`passes.Pass`)."""

    def __init__(self, passes: Passes, modules: Modules) -> None:
        self.passes, self.modules = passes, modules
        # What is kept of gradients.
        self.of_flow: Callable[[Any], Any] = snapshot
        self.of_leaf: Callable[[Any], Any] = snapshot
        self.first: list[Entry] = []
        self.last: deque[Entry] = deque()
        self.by_node: dict[tuple[int, int], Entry] = {}

    def made(self, tensor: Any) -> None:
        """A result that has a grad_fn was made."""
        if tensor is None:
            return
        node, output_nr = tensor.grad_fn, tensor.output_nr
        if node is None or (id(node), output_nr) in self.by_node:
            return
        running = self.modules.running
        entry = Entry(node, output_nr, snapshot(tensor), running[-1] if running else None)
        if len(self.first) < ENDS:
            self.first.append(entry)
        else:
            self.last.append(entry)
            if len(self.last) > ENDS:
                gone = self.last.popleft()
                self.by_node.pop((id(gone.node), gone.output_nr), None)
        self.by_node[id(node), output_nr] = entry

    def began(self, one: Pass) -> None:
        """A pass begins."""
        if one.is_kept:
            one.began = {id(root): snapshot(root) for root in one.roots}
            one.seeds = tuple(self.of_flow(seed) for seed in one.gradients)

    def arrived(self, node: Any, grads: tuple[Any, ...]) -> None:
        """The gradients of a node's outputs are complete."""
        now = self.passes.now
        if now is None:
            return
        for output_nr, grad in enumerate(grads):
            if grad is not None and (id(node), output_nr) in self.by_node:
                now.flows[id(node), output_nr] = self.of_flow(grad)

    def accumulated(self, variable: Any, grad: Any) -> None:
        """A tensor is about to be given a gradient."""
        now = self.passes.now
        if now is not None:
            now.leaves[id(variable)] = variable, snapshot(variable), self.of_leaf(grad)

    def captured(self, node: Any, place: int, grad: Any) -> None:
        """A gradient that the pass was asked for."""
        variable = getattr(node, "variable", None)
        if variable is not None:
            self.accumulated(variable, grad)
