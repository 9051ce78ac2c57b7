"""Questions: everything between a result and a tensor below it: what lies on a way, how many.

A position is one output of one backward node: (number of the node, number of the output). Nothing
recurses, and ways are counted, never walked one by one.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ...recording.collect import Graph

Position: TypeAlias = tuple[int, int]
Run: TypeAlias = Callable[[Any, dict[int, Any]], Sequence[Any]]
Numbers: TypeAlias = dict[Position, int]  # of stops


class Ways:
    """The part of a graph that lies between two positions, in topological order."""

    def __init__(self, root: Any, output_nr: int) -> None:
        self.graph = Graph()
        number = self.graph.add(root)
        assert number is not None
        self.start: Position = (number, output_nr)
        self.end: Position | None = None
        self.order: list[int] = []  # the nodes on a way, the result's first, the end's last
        self.rank: dict[int, int] = {}
        # The edges of a node that lie on a way: (which of its inputs, where it leads).
        self.inputs: dict[int, list[tuple[int, Position]]] = {}
        self.outputs: dict[int, list[Position]] = {}  # the positions of a node that lie on a way

    def leaf(self, variable: Any) -> Position | None:
        """The position of a leaf, where this graph ends in it."""
        number = self.graph.leaves.get(id(variable))
        return None if number is None else (number, 0)

    def inner(self, node: Any, output_nr: int) -> Position | None:
        """The position of a result, where this graph holds it."""
        number = self.graph.ids.get(id(node))
        return None if number is None else (number, output_nr)

    def lead_to(self, end: Position) -> bool:
        """Finds what lies on a way to this position; False where nothing does."""
        self.end = end
        if end == self.start:
            self.order, self.rank = [end[0]], {end[0]: 0}
            self.inputs[end[0]], self.outputs[end[0]] = [], [end]
            return True
        kept = self._leading_to(end)
        if self.start[0] not in kept:
            return False
        self.order = self._sorted(kept)
        self.order.append(end[0])
        rank = self.rank = {number: place for place, number in enumerate(self.order)}
        edges, last, outputs = self.graph.next, end[0], self.outputs
        outputs[self.start[0]] = [self.start]
        for number in self.order:
            near: list[tuple[int, Position]] = []
            self.inputs[number] = near
            for place, edge in enumerate(edges[number]):
                if edge is None or edge[0] not in rank or (edge[0] == last and edge != end):
                    continue
                near.append((place, edge))
                known = outputs.get(edge[0])
                if known is None:
                    outputs[edge[0]] = [edge]
                elif edge not in known:
                    known.append(edge)
        return True

    def _leading_to(self, end: Position) -> set[int]:
        """The nodes from which a way leads to the end."""
        edges = self.graph.next
        users: list[list[int]] = [[] for _ in edges]
        first: list[int] = []
        for number, inputs in enumerate(edges):
            for edge in inputs:
                if edge is not None:
                    users[edge[0]].append(number)
                    if edge == end:
                        first.append(number)
        kept = set(first)
        pending = list(kept)
        while pending:
            for user in users[pending.pop()]:
                if user not in kept:
                    kept.add(user)
                    pending.append(user)
        kept.discard(end[0])
        return kept

    def _sorted(self, kept: set[int]) -> list[int]:
        """Every node before those that it hands gradients to."""
        edges = self.graph.next
        waiting = dict.fromkeys(kept, 0)
        for number in kept:
            for edge in edges[number]:
                if edge is not None and edge[0] in waiting:
                    waiting[edge[0]] += 1
        order = [self.start[0]]
        for number in order:
            for edge in edges[number]:
                if edge is not None and edge[0] in waiting:
                    waiting[edge[0]] -= 1
                    if not waiting[edge[0]]:
                        order.append(edge[0])
        return order

    def count(self) -> int:
        """How many ways lead over the graph's own edges, parallel edges apart."""
        end = self.end
        assert end is not None
        counts = {position: 0 for number in self.order for position in self.outputs[number]}
        counts[self.start] = 1
        for number in self.order[:-1]:
            total = sum([counts[position] for position in self.outputs[number]])
            for _, edge in self.inputs[number]:
                counts[edge] += total
        return counts[end]

    # ---- stops

    def region(self, position: Position, stops: Numbers, seed: Any, run: Run) -> dict[int, Any]:
        """What arrives at the next stops when `seed` starts at this one; None for no gradient."""
        stop_of = stops.get
        near = self.inputs[position[0]]
        following = [stop_of(edge) for _, edge in near]
        while len(near) == 1 and following[0] is None:  # nothing else comes to the next node
            passed = self.run_at(position, seed, run)
            place, position = near[0]
            seed = passed[place] if place < len(passed) else None
            near = self.inputs[position[0]]
            following = [stop_of(edge) for _, edge in near]
        if None not in following:
            return self._step(position, near, following, seed, run)
        grads: dict[int, dict[int, Any]] = {position[0]: {position[1]: seed}}
        pending = [self.rank[position[0]]]
        alive = self.graph.alive
        found: dict[int, Any] = {}
        while pending:
            number = self.order[heapq.heappop(pending)]
            given = grads.pop(number)
            if any(grad is None for grad in given.values()):
                given = {nr: grad for nr, grad in given.items() if grad is not None}
            results: Sequence[Any] = run(alive[number], given) if given else ()
            count = len(results)
            for place, edge in self.inputs[number]:
                value = results[place] if place < count else None
                stop = stop_of(edge)
                if stop is not None:
                    found[stop] = _added(found[stop], value) if stop in found else value
                    continue
                held = grads.get(edge[0])
                if held is None:
                    grads[edge[0]] = {edge[1]: value}
                    heapq.heappush(pending, self.rank[edge[0]])
                else:
                    held[edge[1]] = _added(held.get(edge[1]), value)
        return found

    def _step(
        self, position: Position, near: list[tuple[int, Position]],
        following: Sequence[Any], seed: Any, run: Run,
    ) -> dict[int, Any]:  # fmt: skip
        """The same where one node lies between the stops."""
        found: dict[int, Any] = {}
        results = self.run_at(position, seed, run)
        count = len(results)
        for (place, _), stop in zip(near, following, strict=True):
            value = results[place] if place < count else None
            found[stop] = _added(found[stop], value) if stop in found else value
        return found

    def run_at(self, position: Position, seed: Any, run: Run) -> Sequence[Any]:
        """What the node at a position makes of a gradient of this output."""
        return () if seed is None else run(self.graph.alive[position[0]], {position[1]: seed})


def _added(held: Any, value: Any) -> Any:
    if held is None:
        return value
    return held if value is None else held + value
