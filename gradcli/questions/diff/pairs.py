"""Questions: which nodes of two graphs hold the same place, and where the graphs part.

Nodes are paired from the tensors that have the same name on both sides, and from what the passes
began at, down along the edges. Where only nodes of one side lie between two places that both have,
they are the difference, and the walk goes on below them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product, zip_longest
from typing import Literal, NamedTuple

from ...recording.facts import NodeFact, Report
from ...recording.facts.diff import DifferenceFact

FARTHEST = 200  # nodes that are looked at below one that has no partner
Nodes = tuple[NodeFact, ...]
Edge = tuple[int, int] | None


class Lone(NamedTuple):
    """A node without a partner, and the nodes of both sides that were made of it, or without it."""

    above: tuple[int, int]
    node: int
    side: Literal["A", "B"]


class Pairs:
    """The pairs, and the differences that were found on the way, each with a node of the first
    graph that was made of what differs."""

    def __init__(self, a: Report, b: Report) -> None:
        self.a, self.b = a.nodes, b.nodes
        self.pairs: dict[int, int] = {}
        self.back: dict[int, int] = {}
        self.names: dict[int, str] = {}  # of nodes of the first
        self.names_b: dict[int, str] = {}
        self.parted: list[tuple[int, DifferenceFact]] = []
        self.without: list[Lone] = []
        self.lone = {fact.name for fact in a.tensors} ^ {fact.name for fact in b.tensors}
        for node, other in self._named(a, b):  # what has a name is paired by that name
            if node not in self.pairs and other not in self.back:
                self._pair(node, other)
        seen: set[tuple[int, int]] = set()
        pending = list(self.pairs.items())
        while pending:
            pair = pending.pop()
            if pair not in seen and self.pairs.get(pair[0]) == pair[1]:
                seen.add(pair)
                pending.extend(self._below(*pair))
        for lone in self._lone():
            self.parted.append((lone.above[0], self._lone_fact(lone)))

    def _named(self, a: Report, b: Report) -> list[tuple[int, int]]:
        known = {fact.name: fact for fact in b.tensors}
        for fact in b.tensors:
            if fact.node is not None:
                self.names_b.setdefault(fact.node, fact.name)
        found: list[tuple[int, int]] = []
        for fact in a.tensors:
            if fact.node is None:
                continue
            self.names.setdefault(fact.node, fact.name)
            other = known.get(fact.name)
            if other is not None and other.node is not None:
                found.append((fact.node, other.node))
        for mine, yours in zip(a.roots, b.roots, strict=False):
            self.names.setdefault(mine.node, mine.name)
            found.append((mine.node, yours.node))
        return found

    def _pair(self, node: int, other: int) -> tuple[int, int]:
        self.pairs[node], self.back[other] = other, node
        return node, other

    def _below(self, node: int, other: int) -> Iterator[tuple[int, int]]:
        mine, yours = self.a[node], self.b[other]
        if mine.name != yours.name or len(mine.next) != len(yours.next):
            del self.pairs[node], self.back[other]
            found = self._inserted((node, other), node, other)
            if found is None:
                self._pair(node, other)
                self._part(node, other, "node", mine.name, yours.name)
            else:
                yield found
            return
        for place, (edge, edge_b) in enumerate(zip_longest(mine.next, yours.next), 1):
            if edge is None or edge_b is None:
                if edge is not edge_b:
                    self._edge(node, other, place, edge, edge_b)
                continue
            below, below_b = edge[0], edge_b[0]
            if below not in self.pairs and below_b not in self.back:
                yield self._pair(below, below_b)
            elif self.pairs.get(below) != below_b:
                found = self._inserted((node, other), below, below_b)
                if found is None:
                    self._edge(node, other, place, edge, edge_b)
                else:
                    yield found

    def _inserted(self, above: tuple[int, int], node: int, other: int) -> tuple[int, int] | None:
        """The next pair on the way down, where only nodes of one side lie before it; these are
        differences. `above` is what was made of them."""
        known = self.pairs.get(node)
        way = None if other in self.back else _way(
            self.b, other, self.back,
            lambda at: at == known if known is not None else _alike(self.a, node, self.b, at),
        )  # fmt: skip
        if way is not None:
            self.without += [Lone(above, number, "B") for number in reversed(way[:-1])]
            return (node, known) if known is not None else self._pair(node, way[-1])
        known = self.back.get(other)
        way = None if node in self.pairs else _way(
            self.a, node, self.pairs,
            lambda at: at == known if known is not None else _alike(self.b, other, self.a, at),
        )  # fmt: skip
        if way is None:
            return None
        self.without += [Lone(above, number, "A") for number in reversed(way[:-1])]
        return (way[-1], other) if known is not None else self._pair(way[-1], other)

    def _lone(self) -> list[Lone]:
        """Nodes without a partner, in the order of the work; two of them of one kind, made of
        pairs, are a pair that names have led past."""
        left = self._without()
        if len(left) <= FARTHEST:
            for ours, theirs in product(left, left):
                if (ours.side, theirs.side) == ("A", "B") and self._made_alike(
                    ours.node, theirs.node
                ):
                    self._pair(ours.node, theirs.node)
        return self._without()

    def _without(self) -> list[Lone]:
        partners = {"A": self.pairs, "B": self.back}
        return [one for one in self.without if one.node not in partners[one.side]]

    def _made_alike(self, node: int, other: int) -> bool:
        mine, yours = self.a[node], self.b[other]
        if node in self.pairs or other in self.back:
            return False
        return mine.name == yours.name and len(mine.next) == len(yours.next) and all(
            edge is edge_b or (edge and edge_b and self.pairs.get(edge[0]) == edge_b[0])
            for edge, edge_b in zip(mine.next, yours.next, strict=True)
        )  # fmt: skip

    def _lone_fact(self, lone: Lone) -> DifferenceFact:
        """A node that only one side has; on the other, the place of what is made without it."""
        above, number, side = lone
        node = (self.a if side == "A" else self.b)[number]
        named = (self.names if side == "A" else self.names_b).get(number, "")
        name = named if named in self.lone else node.name
        a, b = (node, self.b[above[1]]) if side == "A" else (self.a[above[0]], node)
        return DifferenceFact(
            "node", name, f"only in {side}", node.name if side == "A" else None,
            node.name if side == "B" else None, line_of(a), line_of(b), text_of(a), text_of(b),
        )  # fmt: skip

    def _edge(self, node: int, other: int, place: int, edge: Edge, edge_b: Edge) -> None:
        a = "no gradient" if edge is None else self.name(edge[0])
        b = "no gradient" if edge_b is None else (
            self.names_b.get(edge_b[0]) or self.b[edge_b[0]].name
        )  # fmt: skip
        self._part(node, other, "edge", a, b, f"input {place} of {self.a[node].name}")

    def _part(
        self, node: int, other: int, kind: str, a: str, b: str, words: str = "operation"
    ) -> None:
        mine, yours = self.a[node], self.b[other]
        self.parted.append((node, DifferenceFact(
            kind, self.name(node), words, a, b, line_of(mine), line_of(yours), text_of(mine),
            text_of(yours),
        )))  # fmt: skip

    def name(self, node: int) -> str:
        """The name that holds what a node of the first graph made, else the node's own."""
        return self.names.get(node) or self.a[node].name


def _way(
    nodes: Nodes, start: int, partners: dict[int, int], is_wanted: Callable[[int], bool]
) -> list[int] | None:
    """The shortest way down from a node without a partner to a wanted one, over others without."""
    came: dict[int, int | None] = {start: None}
    pending = [start]
    for at in pending:
        if at != start and is_wanted(at):
            way: list[int] = [at]
            while (before := came[way[-1]]) is not None:
                way.append(before)
            return way[::-1]
        if at in partners or len(came) > FARTHEST:
            continue
        for edge in nodes[at].next:
            if edge is not None and edge[0] not in came:
                came[edge[0]] = at
                pending.append(edge[0])
    return None


def _alike(nodes: Nodes, node: int, others: Nodes, other: int) -> bool:
    """Whether two nodes, and what they were made of, are of the same kinds."""
    mine, yours = nodes[node], others[other]
    return mine.name == yours.name and [
        None if edge is None else nodes[edge[0]].name for edge in mine.next
    ] == [None if edge is None else others[edge[0]].name for edge in yours.next]


def line_of(node: NodeFact | None) -> int | None:
    """The line that made it."""
    return None if node is None or node.place is None else node.place.line


def text_of(node: NodeFact | None) -> str:
    """The expression that made it, with the name that it was given."""
    if node is None or node.place is None:
        return ""
    return node.place.named(node.place.target)
