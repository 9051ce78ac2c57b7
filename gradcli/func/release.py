"""Func: results leave a transformed function without the graph that belongs to it alone.

Inside, every result records what it was made by. Outside only what the program itself tracks may be
seen: tensors that required grad before. Nodes made inside are therefore connected past the aliases
that they were made on, and those that led nowhere else are cut off.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..engine.graph.leaf import edge_of
from ..engine.graph.node import AccumulateGrad, Node
from ..engine.schema.causes import Freed
from ..engine.schema.mode import next_sequence, state
from ..engine.tensors.tensor import Tensor
from .batched import Batched, batched
from .dual import Dual, dual
from .reverse import UNCHOSEN, nodes_below
from .tree import flatten, mapped


def plain_tensors(value: Any) -> list[Tensor]:
    """The ordinary tensors below nested containers and carriers."""
    found: list[Tensor] = []
    stack = flatten(value)[0]
    while stack:
        item = stack.pop()
        if item.__class__ is Batched:
            stack.append(item.value)
        elif item.__class__ is Dual:
            stack += [item.primal, item.tangent]
        elif isinstance(item, Tensor):
            found.append(item)
    return found


def asks(value: Any) -> bool:
    """Does a tensor in it require grad?"""
    return any(tensor.requires_grad for tensor in plain_tensors(value))


Pairs = list[tuple[Tensor, Tensor]]  # an alias, and the tensor that it stands for


class Session:
    """One run of a transformed function: what was made during it has a higher number."""

    __slots__ = ("start", "recording", "pairs")

    def __init__(self) -> None:
        self.start = next_sequence()
        self.recording = state.grad_enabled
        self.pairs: Pairs = []

    def needs_graph(self, outputs: Any) -> bool:
        """Does anything outside the function ask for gradients of what it gives?"""
        if not self.recording:
            return False
        if any(outside.requires_grad for _, outside in self.pairs):
            return True
        own = {id(inside) for inside, _ in self.pairs}
        for node in nodes_below([t for t in plain_tensors(outputs) if t.requires_grad]):
            if isinstance(node, AccumulateGrad):
                if id(node.variable) not in own and not _is_unchosen(node.variable):
                    return True
            elif node.sequence < self.start:
                return True
        return False

    def kept(self, value: Any, create: bool) -> Any:
        """Results while the aliases still live: a pull may come back to them."""
        own = {id(inside): outside for inside, outside in self.pairs}
        return mapped(lambda item: self._outside(item, own, create), value)

    def released(self, value: Any, create: bool) -> Any:
        """Results once nothing comes back to the aliases."""
        own = {id(inside): outside for inside, outside in self.pairs}
        if create:
            self._reconnect(plain_tensors(value))
        return mapped(lambda item: self._outside(item, own, create), value)

    def _outside(self, item: Any, own: dict[int, Tensor], create: bool) -> Any:
        """The same for the world outside: an alias is what it stood for, and what was recorded
        inside is forgotten unless it is wanted."""
        if item.__class__ is Batched:
            inner = self._outside(item.value, own, create)
            return item if inner is item.value else batched(inner, item.place, item.level)
        if item.__class__ is Dual:
            primal = self._outside(item.primal, own, create)
            tangent = self._outside(item.tangent, own, create)
            same = primal is item.primal and tangent is item.tangent
            return item if same else dual(primal, tangent, item.level)
        if id(item) in own:
            return own[id(item)]
        if create or not isinstance(item, Tensor) or not item.requires_grad:
            return item
        node = item.grad_fn
        if node is None or node.sequence < self.start:
            return item  # the program's own
        return item.detach()

    def _reconnect(self, results: Sequence[Tensor]) -> None:
        """Connects the nodes made inside past the aliases, and cuts off what led only to them."""
        ends: dict[Node, Any] = {}  # an alias's node -> (node that it stands for or None, number)
        views: set[Node] = set()  # of what requires grad and has no node: made where none recorded
        for inside, outside in self.pairs:
            node = edge_of(inside)
            assert node is not None
            ends[node] = (edge_of(outside), outside._output_nr)
            if outside.requires_grad and ends[node][0] is None:
                views.add(node)
        reached = [
            node
            for node in nodes_below([t for t in results if t.requires_grad])
            if self.start < node.sequence < 2**64 - 1
        ]
        for node in sorted(reached, key=lambda node: node.sequence):
            if not any(edge in ends for edge in node.edges):
                continue
            numbers = list(node.numbers or (0,) * len(node.edges))
            edges = list(node.edges)
            stays = not views.isdisjoint(edges)
            for place, edge in enumerate(edges):
                if edge in ends:
                    edges[place], numbers[place] = ends[edge]
            node.edges = tuple(edges)
            if any(numbers) or node.numbers is not None:
                node.numbers = tuple(numbers)
            if not stays and all(edge is None for edge in edges):
                ends[node] = (None, 0)
        for node in reached:
            if not isinstance(node.saved, Freed):
                _unmark(node.saved, ends)
        _unmark(results, ends)
        for inside, outside in self.pairs:  # nodes save the aliases themselves
            inside._grad_fn, inside._output_nr = outside._grad_fn, outside._output_nr
            inside._requires_grad = outside.requires_grad
            inside._need_meta().accumulator = outside._need_meta().accumulator


def _is_unchosen(leaf: Tensor) -> bool:
    return leaf._meta is not None and leaf._meta.creation == UNCHOSEN


def _unmark(values: Sequence[Any], ends: dict[Node, Any]) -> None:
    """Tensors whose history was cut off require no grad."""
    for value in values:
        if value.__class__ is list:
            _unmark(value, ends)
        elif value.__class__ is Tensor and value._grad_fn in ends:
            value._grad_fn, value._output_nr = ends[value._grad_fn]
            value._requires_grad = value._grad_fn is not None
