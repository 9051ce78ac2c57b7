"""Recording: which nodes belong to the graph of a gradient, and which pass made them."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from ..engine.graph.observer import NOBODY, OfNodes
from .passes import Pass
from .sides import gradient_of, is_end, is_live, mark_of, node_of, sequence_of, sides
from .spectator import Spectator


class Maker:
    """A pass with create_graph. `order` is 1 for a pass over what the program computed, and one
    more than that of the nodes it ran where these came from such a pass themselves."""

    __slots__ = ("one", "order", "newest")

    def __init__(self, one: Pass) -> None:
        self.one = one
        self.order = 1
        self.newest: int | None = None  # of the nodes that there were


class Orders(Spectator):
    """Observes passes and of what is made while one runs; of all other nodes it knows nothing."""

    def __init__(self) -> None:
        self.running: list[Maker | None] = []  # None: a pass that makes no graph
        self._makers: WeakKeyDictionary[Any, Maker] = WeakKeyDictionary()  # by a node's mark
        self.is_any = False  # whether some pass made a graph

    def began(self, one: Pass) -> None:
        """A pass begins."""
        maker = Maker(one) if one.creates else None
        self.running.append(maker)
        if maker is not None and sides.live is not None and any(map(is_live, one.roots)):
            maker.newest = sides.live.clock() - 1

    def over(self, one: Pass, freed: list[Any]) -> None:
        """It has ended."""
        self.running.pop()

    def made(self, tensor: Any) -> None:
        """Something was made, while a pass runs or not."""
        maker = self.running[-1] if self.running else None
        node = None if maker is None or tensor is None else tensor.grad_fn
        if maker is None or node is None:
            return
        if maker.newest is None or sequence_of(node) > maker.newest:  # else it came up just now
            self._makers.setdefault(mark_of(node), maker)
            self.is_any = True

    def captured(self, node: Any, place: int, grad: Any) -> None:
        """A requested gradient."""
        self._answered(grad)

    def stored(self, variable: Any) -> None:
        """A gradient was added."""
        if self.running and self.running[-1] is not None:
            self._answered(gradient_of(variable))

    def _answered(self, gradient: Any) -> None:
        """A pass of PyTorch came to this gradient: the nodes that it created were not reported."""
        maker = self.running[-1] if self.running else None
        live = sides.live
        if maker is None or maker.newest is None or gradient is None or live is None:
            return
        pending = [node_of(tensor) for tensor in live.levels(gradient)]
        for node in pending:
            if node is None or is_end(node) or sequence_of(node) <= maker.newest:
                continue
            self.is_any = True
            if self._makers.setdefault(mark_of(node), maker) is maker:
                pending.extend(child for child, _ in node.next_functions)

    def ran(self, node: Any) -> None:
        """A node has run in the pass in progress."""
        maker = self.running[-1] if self.running else None
        if maker is not None and self._makers:
            before = self._makers.get(mark_of(node))
            if before is not None and before is not maker:
                maker.order = max(maker.order, before.order + 1)

    def of_nodes(self, *, at_once: bool = False) -> OfNodes:
        """A pass that makes no graph has nothing to report."""
        makes = self.running and self.running[-1] is not None
        return OfNodes([], [self.ran], []) if makes else NOBODY

    def maker(self, node: Any) -> Maker | None:
        """The pass that made a node; None of one that the program made by itself."""
        return self._makers.get(mark_of(node))
