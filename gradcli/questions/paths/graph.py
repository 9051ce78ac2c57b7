"""Questions: everything between a result and a tensor below it: what lies on a way, how many.

A position is one output of one backward node: (number of the node, number of the output). Nothing
recurses, and ways are counted, never walked one by one.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
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
        # Of each node on a way those of its inputs whose edges lie on one; most have the same.
        self.inputs: dict[int, tuple[int, ...]] = {}
        self._several = output_nr > 0  # whether a way passes another output than a node's first

    def leaf(self, variable: Any) -> Position | None:
        """The position of a leaf, where this graph ends in it."""
        number = self.graph.leaves.get(id(variable))
        return None if number is None else self.graph.firsts[number]

    def inner(self, node: Any, output_nr: int) -> Position | None:
        """The position of a result, where this graph holds it."""
        number = self.graph.ids.get(id(node))
        if number is None or output_nr:
            return None if number is None else (number, output_nr)
        return self.graph.firsts[number]

    def lead_to(self, end: Position) -> bool:
        """Finds what lies on a way to this position; False where nothing does."""
        self.end = end
        self.inputs[end[0]] = ()
        if end == self.start:
            self.order = [end[0]]
            return True
        waiting = self._leading_to(end)
        if waiting[self.start[0]] is None:
            return False
        edges, inputs = self.graph.next, self.inputs
        alike: dict[tuple[int, ...], tuple[int, ...]] = {}
        order = self.order = [self.start[0]]
        for number in order:  # every node before those that it hands gradients to
            near: list[int] = []
            for place, edge in enumerate(edges[number]):
                if edge is None:
                    continue
                below = edge[0]
                left = waiting[below]
                if left is not None:
                    waiting[below] = left - 1
                    if left == 1:
                        order.append(below)
                elif edge != end:
                    continue
                near.append(place)
                if edge[1]:
                    self._several = True
            places = tuple(near)
            inputs[number] = alike.setdefault(places, places)
        order.append(end[0])
        return True

    def _leading_to(self, end: Position) -> list[int | None]:
        """By how many edges ways reach each node that one leads on from to the end; else None."""
        edges = self.graph.next
        waiting: list[int | None] = [None] * len(edges)
        made = list(map(attrgetter("sequence"), self.graph.alive))
        for number in sorted(range(len(edges)), key=made.__getitem__):  # what made it comes first
            leads = False
            for edge in edges[number]:
                if edge is not None:
                    count = waiting[edge[0]]
                    if count is not None:
                        leads = True
                        waiting[edge[0]] = count + 1
                    elif edge == end:
                        leads = True
            if leads:
                waiting[number] = 0
        return waiting

    @cached_property
    def outputs(self) -> dict[int, list[Position]]:
        """The positions of each node that lie on a way."""
        outputs = {self.start[0]: [self.start]}
        for number in self.order:
            for place in self.inputs[number]:
                edge = self.graph.next[number][place]
                assert edge is not None
                known = outputs.setdefault(edge[0], [])
                if edge not in known:
                    known.append(edge)
        return outputs

    @property
    def positions(self) -> Iterable[Position]:
        """All of them, in topological order."""
        if not self._several:
            return map(self.graph.firsts.__getitem__, self.order)
        return (position for number in self.order for position in self.outputs[number])

    @cached_property
    def rank(self) -> dict[int, int]:
        """Where the nodes stand in that order."""
        return {number: place for place, number in enumerate(self.order)}

    def count(self) -> int:
        """How many ways lead over the graph's own edges, parallel edges apart."""
        assert self.end is not None
        edges = self.graph.next
        counts = [0] * len(edges)  # to any output of a node
        counts[self.start[0]] = 1
        for number in self.order:
            for place in self.inputs[number]:
                counts[edges[number][place][0]] += counts[number]  # type: ignore[index]
        return counts[self.end[0]]

    # ---- stops

    def region(self, position: Position, stops: Numbers, seed: Any, run: Run) -> dict[int, Any]:
        """What arrives at the next stops when `seed` starts at this one; None for no gradient."""
        stop_of, alive, inputs, edges = stops.get, self.graph.alive, self.inputs, self.graph.next
        results: Sequence[Any]
        edge: Any = position
        while len(near := inputs[number := edge[0]]) == 1:  # nothing else comes to the next node
            (place,) = near
            results = () if seed is None else run(alive[number], {edge[1]: seed})
            seed = results[place] if place < len(results) else None
            edge = edges[number][place]
            if (only := stop_of(edge)) is not None:
                return {only: seed}
        found: dict[int, Any] = {}
        given = {} if seed is None else {edge[1]: seed}
        grads: dict[int, dict[int, Any]] = {}
        pending: list[int] = []
        while True:
            results = run(alive[number], given) if given else ()
            count = len(results)
            for place in inputs[number]:
                value = results[place] if place < count else None
                edge = edges[number][place]
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
            if not pending:  # as where one node lies between the stops
                return found
            number = self.order[heapq.heappop(pending)]
            held = grads.pop(number)
            given = {nr: grad for nr, grad in held.items() if grad is not None}


def _added(held: Any, value: Any) -> Any:
    if held is None:
        return value
    return held if value is None else held + value
