"""Recording: a PyTorch pass whose gradients its engine captured, edge by edge."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .measures import bytes_of
from .sides import outputs_of, saved_by

Edge = tuple[Any, int]  # a node, and the number of one of its outputs
Kept = tuple[tuple[str, Any], ...]  # names, and what stands for them
HEAVY = 512 * 2**20  # bytes of gradients that are not held as they are
MOST = 2000  # gradients that are kept of one pass


class CapturedPass:
    """The gradients that its nodes received. They are not shared, so they stay as they are."""

    __slots__ = ("nodes", "came", "kept", "shape", "bytes", "handed", "numbers", "several",
                 "leaves")  # fmt: skip

    def __init__(
        self, nodes: Sequence[tuple[int, Any, Sequence[Edge]]], came: dict[Edge, Any],
        kept: dict[int, Kept], origins: tuple[Any, ...], leaves: dict[Any, Any],
    ) -> None:  # fmt: skip
        self.nodes = nodes  # their sequence numbers and edges beside them, as they ran
        self.came = came
        self.kept = kept  # what they had saved, by their identity
        self.leaves = leaves  # by the nodes that accumulate into them
        self.numbers: dict[int, Kept] = {}  # the same of numbers of Python, and of whole lists
        self.handed: dict[int, Sequence[Any]] = {}  # where several gradients meet on an edge
        self.several = {node for node, number in came if number}
        there = [one for one in came.values() if one is not None]
        try:
            sizes = [one.nbytes for one in there]
        except RuntimeError:  # one is sparse
            sizes = [bytes_of(one) for one in there]
        self.bytes = sum(sizes)
        # Kinds of nodes and where they were made, sizes: passes that are alike have the same.
        self.shape = origins, sizes

    @property
    def is_heavy(self) -> bool:
        """Whether it would hold too much memory."""
        return self.bytes > HEAVY

    def given(self, node: Any) -> tuple[Any, ...]:
        """The gradients of a node's outputs."""
        if node not in self.several:
            return (self.came.get((node, 0)),)
        return tuple(self.came.get((node, number)) for number in range(outputs_of(node)))

    def steps(self) -> Iterator[tuple[Any, tuple[Any, ...], Sequence[Any]]]:
        """Each node as it ran, what it was given and what it passed on."""
        for _, node, following in self.nodes:
            yield node, self.given(node), self.passed(node, following)

    def passed(self, node: Any, following: Sequence[Edge]) -> Sequence[Any]:
        """The gradients that a node passed on along its edges."""
        results = self.handed.get(id(node))
        return [self.came.get(edge) for edge in following] if results is None else results

    def before_leaves(self) -> Iterator[tuple[Any, int, Any]]:
        """The nodes next to leaves: each with the place of the edge, and the leaf."""
        leaves = self.leaves
        for _, node, following in self.nodes:
            for place, (child, _) in enumerate(following):
                if child in leaves:
                    yield node, place, leaves[child]

    def saved(self, node: Any) -> dict[str, Any]:
        """What a node had saved, by its name."""
        found = dict(saved_by(node))
        found.update(self.kept.get(id(node), ()))
        found.update(self.numbers.get(id(node), ()))
        return found

    def flows(self, keep: Callable[[Any], Any]) -> Iterator[tuple[tuple[int, int], Any]]:
        """The gradients of the first nodes that ran, by a node's identity and the output."""
        room = MOST
        for _, node, _ in self.nodes:
            for number, grad in enumerate(self.given(node)):
                if grad is not None and room:
                    room -= 1
                    yield (id(node), number), keep(grad)
