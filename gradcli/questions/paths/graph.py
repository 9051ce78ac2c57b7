"""Questions: everything between a result and a tensor below it: what lies on a way, how many.

A position is one output of one backward node: (number of the node, number of the output). Nothing
recurses, and ways are counted, never walked one by one.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from operator import attrgetter
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
        waiting = self._leading_to(end)
        if self.start[0] not in waiting:
            return False
        edges, inputs, outputs = self.graph.next, self.inputs, self.outputs
        outputs[self.start[0]] = [self.start]
        order = self.order = [self.start[0]]
        for number in order:  # every node before those that it hands gradients to
            near: list[tuple[int, Position]] = []
            inputs[number] = near
            for place, edge in enumerate(edges[number]):
                if edge is None:
                    continue
                below = edge[0]
                left = waiting.get(below)
                if left is not None:
                    waiting[below] = left - 1
                    if left == 1:
                        order.append(below)
                elif edge != end:
                    continue
                near.append((place, edge))
                known = outputs.get(below)
                if known is None:
                    outputs[below] = [edge]
                elif edge not in known:
                    known.append(edge)
        order.append(end[0])
        inputs[end[0]] = []
        self.rank = dict(zip(order, range(len(order)), strict=True))
        return True

    def _leading_to(self, end: Position) -> dict[int, int]:
        """The nodes from which a way leads to the end, and by how many edges ways reach them."""
        edges, waiting = self.graph.next, dict[int, int]()
        made = list(map(attrgetter("sequence"), self.graph.alive))
        for number in sorted(range(len(edges)), key=made.__getitem__):  # what made it comes first
            leads = False
            for edge in edges[number]:
                if edge is not None:
                    if edge[0] in waiting:
                        leads = True
                        waiting[edge[0]] += 1
                    elif edge == end:
                        leads = True
            if leads:
                waiting[number] = 0
        return waiting

    def count(self) -> int:
        """How many ways lead over the graph's own edges, parallel edges apart."""
        assert self.end is not None
        counts = dict.fromkeys(self.order, 0)  # to any output of a node
        counts[self.start[0]] = 1
        for number in self.order:
            total = counts[number]
            for _, edge in self.inputs[number]:
                counts[edge[0]] += total
        return counts[self.end[0]]

    # ---- stops

    def region(self, position: Position, stops: Numbers, seed: Any, run: Run) -> dict[int, Any]:
        """What arrives at the next stops when `seed` starts at this one; None for no gradient."""
        stop_of, alive, inputs = stops.get, self.graph.alive, self.inputs
        results: Sequence[Any]
        while len(near := inputs[position[0]]) == 1:  # nothing else comes to the next node
            place, edge = near[0]
            results = () if seed is None else run(alive[position[0]], {position[1]: seed})
            seed = results[place] if place < len(results) else None
            if (only := stop_of(edge)) is not None:
                return {only: seed}
            position = edge
        found: dict[int, Any] = {}
        following: list[Any] = [stop_of(edge) for _, edge in near]
        if None not in following:  # one node lies between the stops
            results = self.run_at(position, seed, run)
            count = len(results)
            for (place, _), stop in zip(near, following, strict=True):
                value = results[place] if place < count else None
                found[stop] = _added(found[stop], value) if stop in found else value
            return found
        grads: dict[int, dict[int, Any]] = {position[0]: {position[1]: seed}}
        pending = [self.rank[position[0]]]
        while pending:
            number = self.order[heapq.heappop(pending)]
            given = grads.pop(number)
            if any(grad is None for grad in given.values()):
                given = {nr: grad for nr, grad in given.items() if grad is not None}
            results = run(alive[number], given) if given else ()
            count = len(results)
            for place, edge in inputs[number]:
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

    def run_at(self, position: Position, seed: Any, run: Run) -> Sequence[Any]:
        """What the node at a position makes of a gradient of this output."""
        return () if seed is None else run(self.graph.alive[position[0]], {position[1]: seed})


def _added(held: Any, value: Any) -> Any:
    if held is None:
        return value
    return held if value is None else held + value
