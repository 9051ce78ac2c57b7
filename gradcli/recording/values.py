"""Recording: the values of results, and in the passes that are kept gradients, as they pass.

It holds on to the first and the last so many results, because a report draws the two ends of a
long chain and folds what lies between.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

from ..engine.node import Node
from ..engine.observer import NOBODY, OfNodes
from ..engine.tensor import Tensor
from .collect import leaves_behind
from .lines import Modules
from .passes import Pass, Passes
from .sides import is_alone
from .snapshot import snapshot
from .spectator import Spectator
from .sweep import Sweep

ENDS = 1000  # results that are held at each end


class Entry(NamedTuple):
    """A result that entered the graph: as it was then, and the module that made it."""

    node: Any
    output_nr: int
    value: Any
    module: Any


Entries: TypeAlias = dict[tuple[int, int], Entry]  # by a node's identity and the output


class Values(Spectator):
    """Results by node and output; roots, flows and leaves of passes (`passes.Pass`)."""

    def __init__(self, passes: Passes, modules: Modules) -> None:
        self.passes, self.modules = passes, modules
        # What is kept of gradients.
        self.of_flow: Callable[[Any], Any] = snapshot
        self.of_leaf: Callable[[Any], Any] = snapshot
        self.first: Entries = {}
        self._recent: Entries = {}  # and some before them: each cut costs

    def made(self, tensor: Any) -> None:
        """A result that has a grad_fn was made."""
        if tensor is None:
            return
        if tensor.__class__ is Tensor and tensor._meta is None:  # what most results are
            node, output_nr = tensor._grad_fn, tensor._output_nr
        else:
            node, output_nr = tensor.grad_fn, tensor.output_nr
        if node is not None:
            self._keep(node, output_nr, tensor)

    def met(self, node: Any, value: Any) -> None:
        """A node of which nobody has its result."""
        self._keep(node, 0, value)

    def _keep(self, node: Any, output_nr: int, value: Any) -> None:
        key, first, recent = (id(node), output_nr), self.first, self._recent
        if key in first or key in recent:
            return
        running = self.modules.running
        module = running[-1] if running else None
        held = None if value is None else snapshot(value)
        entry = tuple.__new__(Entry, (node, output_nr, held, module))
        if len(first) < ENDS:
            first[key] = entry
            return
        recent[key] = entry
        if len(recent) > 4 * ENDS:
            self._cut()

    def _cut(self) -> None:
        """Only the last ones are held."""
        recent = self._recent
        if len(recent) > ENDS:
            self._recent = dict(islice(recent.items(), len(recent) - ENDS, None))

    @property
    def last(self) -> Entries:
        """The last results behind the first ones."""
        self._cut()
        return self._recent

    def find(self, node: Any, output_nr: int) -> Entry | None:
        """What is held of an output."""
        key = id(node), output_nr
        return self.first.get(key) or self._recent.get(key)

    def began(self, one: Pass) -> None:
        """A pass begins."""
        self._cut()
        if one.is_kept:
            one.began = {id(root): snapshot(root) for root in one.roots}
            one.seeds = tuple(self.of_flow(seed) for seed in one.gradients)
            if one.inputs is not None:  # what it leaves out may have other values at the end
                one.beside = {
                    id(leaf): (leaf, snapshot(leaf)) for leaf in leaves_behind(one.roots, ENDS)
                }

    def arrived(self, node: Any, grads: tuple[Any, ...]) -> None:
        """The gradients of a node's outputs are complete."""
        now = self.passes.now
        if now is None:
            return
        untold = not isinstance(node, Node) and len(now.flows) < 2 * ENDS
        for output_nr, grad in enumerate(grads):
            if grad is not None and (untold or self.find(node, output_nr) is not None):
                now.flows[id(node), output_nr] = self.of_flow(grad)

    def of_nodes(self, *, at_once: bool = False) -> OfNodes:
        """What flows is kept of a pass that is kept."""
        if self.passes.now is None:
            return NOBODY
        if at_once:
            return OfNodes([], [], [], [self._swept])
        held = {key[0] for key in (*self.first, *self.last)}  # the nodes that may run are made

        def arrived(node: Any, grads: tuple[Any, ...]) -> None:
            if id(node) in held or len(grads) > 1 or not isinstance(node, Node):
                self.arrived(node, grads)

        return OfNodes([arrived], [], [])

    def _swept(self, sweep: Sweep) -> None:
        """Most passes are forgotten before anybody asks what flowed in them."""
        now = self.passes.now
        if now is not None:
            now.sweep, now.of_flow = sweep, self.of_flow
            if sweep.is_heavy:
                assert now.flows is not None

    def accumulated(self, variable: Any, grad: Any) -> None:
        """A tensor is about to be given a gradient."""
        now = self.passes.now
        if now is None:
            return
        if is_alone(grad):
            now.of_leaf, now.unread[id(variable)] = self.of_leaf, grad
            now.keep_leaf(variable, snapshot(variable), None)
        else:
            now.keep_leaf(variable, snapshot(variable), self.of_leaf(grad))

    def withheld(self, variable: Any, grad: Any) -> None:
        """A gradient that came to a tensor which keeps none."""
        self.accumulated(variable, grad)

    def captured(self, node: Any, place: int, grad: Any) -> None:
        """A gradient that the pass was asked for."""
        variable = getattr(node, "variable", None)
        if variable is not None:
            self.accumulated(variable, grad)
