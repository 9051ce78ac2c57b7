"""Render: the graph of a report, indexed for drawing. Nothing here recurses."""

from __future__ import annotations

from functools import cached_property

from ..recording.facts import Edge, NodeFact, Report, TensorFact

ANY_LEAF = -2
TALL = 12  # side branches higher than this count as different from each other


class Graph:
    """Names, inputs, heights and labels of nodes."""

    def __init__(self, report: Report) -> None:
        self.facts: tuple[NodeFact, ...] = report.nodes
        self.next: list[tuple[Edge, ...]] = [node.next for node in report.nodes]
        self.names: list[str] = [node.name for node in report.nodes]
        self.tensors: dict[tuple[int, int], TensorFact] = {}
        self.constants = {(fact.node, fact.edge): fact for fact in report.constants}
        self.flows = {(fact.node, fact.output_nr): fact for fact in report.flows}
        self.elsewhere = dict(report.elsewhere)
        for fact in report.tensors:
            self._name(fact)
        self.several = {key[0] for known in (self.flows, self.tensors) for key in known if key[1]}
        self.height = self._heights()
        self._signatures: dict[int, int] = {}
        self._interned: dict[tuple[object, ...], int] = {}

    def _name(self, fact: TensorFact) -> None:
        """The first plain name wins, then the first `name[0]`; a loop's name never does."""
        if fact.node is None:
            return
        key = (fact.node, fact.output_nr)
        known = self.tensors.get(key)
        if (
            known is None
            or (known.passing and not fact.passing)
            or ("[" in known.name and "[" not in fact.name and not fact.passing)
            or (known.kind != "parameter" and fact.kind == "parameter")
        ):
            self.tensors[key] = fact

    def _heights(self) -> list[int]:
        """The longest way down to an end of the graph, for each node."""
        # Most nodes are numbered before what they lead to, but for the ends, which many share.
        height = [-1 if any(edges) else 0 for edges in self.next]
        for node in range(len(height) - 1, -1, -1):
            most = -1
            for edge in self.next[node]:
                if edge is not None:
                    below = height[edge[0]]
                    if below < 0:
                        break
                    if below > most:
                        most = below
            else:
                height[node] = 1 + most
        self._fill(height)
        return height

    def _fill(self, height: list[int]) -> None:
        """The heights that are still unknown."""
        for root in range(len(self.next)):
            if height[root] >= 0:
                continue
            stack = [root]
            while stack:
                node = stack[-1]
                if height[node] >= 0:
                    stack.pop()
                    continue
                below = [edge[0] for edge in self.next[node] if edge is not None]
                open_ends = [child for child in below if height[child] < 0]
                if open_ends:
                    stack.extend(open_ends)
                else:
                    height[node] = 1 + max((height[child] for child in below), default=-1)
                    stack.pop()

    def kind_of(self, node: int) -> tuple[str, str]:
        """What makes two nodes look alike: their name, and the words that made them."""
        place = self.facts[node][3]  # the place; by its number, as every node is asked
        if self.elsewhere:
            return self.names[node], self.source(node)
        return self.names[node], "" if place is None else place.text

    def source(self, node: int) -> str:
        """The words that made a node: those of another file, where that did."""
        place, inner = self.facts[node].place, self.elsewhere.get(node)
        if inner is not None and inner.source:
            return inner.source
        return "" if place is None else place.text

    def words(self, node: int) -> str:
        """The same with the name that another file gives to what its expression made at last."""
        inner = self.elsewhere.get(node)
        if inner is None or (node in self._within and not self._is_called(node, inner.target)):
            return self.source(node)
        return inner.named or self.source(node)

    @cached_property
    def _within(self) -> set[int]:
        """The nodes that other files made on the way to the value of an expression; one of the same
        name may be the value of the turn before."""
        return {
            edge[0] for node, inner in self.elsewhere.items() for edge in self.next[node]
            if edge is not None and self.elsewhere.get(edge[0]) == inner
            and self.names[edge[0]] != self.names[node]
        }  # fmt: skip

    def _is_called(self, node: int, name: str) -> bool:
        flow = self.flows.get((node, 0))
        return flow is not None and bool(name) and flow.name == name

    def signature(self, root: int) -> int:
        """Equal for branches that read alike, whatever their leaves are called."""
        known = self._signatures.get(root)
        if known is not None:
            return known
        if self.height[root] > TALL:
            return self._remember(root, ("tall", root))
        stack = [root]
        while stack:
            node = stack[-1]
            if node in self._signatures:
                stack.pop()
                continue
            below = [edge[0] for edge in self.next[node] if edge is not None]
            missing = [child for child in below if child not in self._signatures]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            shape = tuple(
                None if edge is None else self._signatures[edge[0]] for edge in self.next[node]
            )
            self._remember(node, (self.kind_of(node), shape) if below else (ANY_LEAF,))
        return self._signatures[root]

    def _remember(self, node: int, key: tuple[object, ...]) -> int:
        number = self._interned.setdefault(key, len(self._interned))
        self._signatures[node] = number
        return number
