"""Recording: a PyTorch pass whose gradients its engine captured, edge by edge."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .measures import bytes_of
from .sides import outputs_of, saved_by, sides

Edge = tuple[Any, int]  # a node, and the number of one of its outputs
Kept = tuple[tuple[str, Any], ...]  # names, and what stands for them
HEAVY = 512 * 2**20  # bytes of gradients that are not held as they are
MOST = 2000  # gradients that are kept of one pass


class Graph:
    """The nodes behind the roots of a pass."""

    __slots__ = ("seen", "nodes", "edges", "left", "again", "leaves", "kept", "saving", "origins",
                 "retaining", "numbers", "inner")  # fmt: skip

    def __init__(self) -> None:
        self.seen: dict[Any, Any] = {}  # all of them, with the node by which each was found
        self.nodes: list[tuple[int, Any, Sequence[Edge]]] = []  # as they run; no leaves
        self.edges: dict[Edge, int] = {}  # how many gradients are added up on each
        self.left: set[Edge] = set()  # those that the engine is not asked for
        self.again: set[Any] = set()  # nodes that can be called again
        self.leaves: dict[Any, Any] = {}  # what they accumulate into
        self.kept: dict[int, Kept] = {}  # what nodes had saved, by their identity
        self.numbers: dict[int, Kept] = {}  # those of Python, saved as tensors; lists, as a whole
        self.saving: list[Any] = []  # nodes with any of both
        self.origins: list[Any] = []  # kinds of nodes, and where they were made; as they were found
        self.retaining: list[Any] = []
        self.inner: dict[Any, Any] = {}  # that an operation made on its way; the node of its result


class CapturedPass:
    """The gradients that its nodes received. They are not shared, so they stay as they are."""

    __slots__ = ("graph", "nodes", "kept", "shape", "bytes", "_came", "_left", "_handed",
                 "_several")  # fmt: skip

    def __init__(self, graph: Graph, came: dict[Edge, Any], handed: dict[int, Any]) -> None:
        self.graph, self.nodes, self.kept = graph, graph.nodes, graph.kept
        self._came = came
        self._left: set[Edge] | None = graph.left  # None: all that was left out is known
        self._handed = handed  # what nodes passed on, where several gradients meet on an edge
        self._several: set[Any] | None = None  # nodes with several outputs
        there = [one for one in came.values() if one is not None]
        try:
            sizes = [one.nbytes for one in there]
        except RuntimeError:  # one is sparse
            sizes = [bytes_of(one) for one in there]
        self.bytes = sum(sizes)
        # Kinds of nodes and where they were made, sizes: passes that are alike have the same.
        self.shape = graph.origins, sizes

    @property
    def is_heavy(self) -> bool:
        """Whether it would hold too much memory."""
        return self.bytes > HEAVY

    def _on(self, edge: Edge) -> Any:
        """The gradient on an edge."""
        if self._left and edge in self._left:
            self._call_again()
        return self._came.get(edge)

    def _call_again(self) -> None:
        """What was left out: nodes that can be called again pass on what they passed on."""
        left, self._left = self._left, None
        if left is None or sides.live is None:
            return
        for _, node, following in self.nodes:
            if node in self.graph.again:
                found = self._handed[id(node)] = sides.live.passed_again(node, self.given(node))
                for edge, grad in zip(following, found, strict=True):
                    if edge in left:
                        self._came[edge] = grad

    def given(self, node: Any) -> tuple[Any, ...]:
        """The gradients of a node's outputs."""
        if self._several is None:
            self._several = {node for node, number in self.graph.edges if number}
        if node not in self._several:
            return (self._on((node, 0)),)
        return tuple(self._on((node, number)) for number in range(outputs_of(node)))

    def steps(self) -> Iterator[tuple[Any, tuple[Any, ...], Sequence[Any]]]:
        """Each node as it ran, what it was given and what it passed on."""
        self._call_again()
        for _, node, following in self.nodes:
            yield node, self.given(node), self.passed(node, following)

    def passed(self, node: Any, following: Sequence[Edge]) -> Sequence[Any]:
        """The gradients that a node passed on along its edges."""
        edges = self.graph.edges
        if node in self.graph.again and any(edges.get(edge, 0) > 1 for edge in following):
            self._call_again()
        results = self._handed.get(id(node))
        return list(map(self._on, following)) if results is None else results

    def before_leaves(self) -> Iterator[tuple[Any, int, Any]]:
        """The nodes next to leaves: each with the place of the edge, and the leaf."""
        leaves = self.graph.leaves
        for _, node, following in self.nodes:
            for place, (child, _) in enumerate(following):
                if child in leaves:
                    yield node, place, leaves[child]

    def saved(self, node: Any) -> dict[str, Any]:
        """What a node had saved, by its name."""
        found = dict(saved_by(node))
        found.update(self.kept.get(id(node), ()))
        found.update(self.graph.numbers.get(id(node), ()))
        return found

    def flows(self, keep: Callable[[Any], Any]) -> Iterator[tuple[tuple[int, int], Any]]:
        """The gradients of the first nodes that ran, by a node's identity and the output."""
        room = MOST
        for _, node, _ in self.nodes:
            for number, grad in enumerate(self.given(node)):
                if grad is not None and room:
                    room -= 1
                    yield (id(node), number), keep(grad)
