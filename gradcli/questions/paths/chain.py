"""Questions: the chain rule between two tensors: stops, local derivatives, the sum over all paths.

Where every stop is one real number, an edge has one number too, and the sum over all paths is
worked out stop by stop in double precision. Else an edge is a matrix that nobody writes down: what
it does to a gradient (a vector-Jacobian product) is run whenever it is wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any, NamedTuple

import numpy

from .best import Best, cost
from .graph import Numbers, Position, Run, Ways

Ones = Callable[[Any], Any]


class Edge(NamedTuple):
    """From one stop to another: to which, and over the graph's own edges by which input."""

    to: int
    place: int = -1


class Chain:
    """The stops between a result and a tensor, and the edges between them.

    `named` are the positions that count as stops; None makes a stop of every position, and an edge
    of every edge of the graph. `one` makes a gradient of ones in the shape of another.
    """

    def __init__(
        self, ways: Ways, named: Mapping[Position, Any] | None, run: Run, seed: Any, one: Ones
    ) -> None:
        self.ways, self.run, self.one = ways, run, one
        self.by_edges = named is None
        self.stops: list[Position] = []
        self.number = Numbers()
        self.edges: list[list[Edge]] = []
        self.models: list[Any] = []  # for each stop a gradient that arrives there: type and shape
        self.factors: list[list[float]] = []  # for each edge, where all stops are single numbers
        self._discover(named, seed)

    # ---- the stops

    def _discover(self, named: Mapping[Position, Any] | None, seed: Any) -> None:
        """Stop after stop, the result first: what follows it, and what it hands on."""
        ways, end = self.ways, self.ways.end
        assert end is not None
        models: dict[Position, Any] = {ways.start: seed}
        reached: dict[int, list[int]] = {}
        wanted = _Everything() if named is None else named
        stops = self.number = _Reached(self, wanted, end)
        self._add(ways.start)
        reached[ways.start[0]] = [0]
        single = True
        for number in ways.order:
            for stop in reached.pop(number, ()):
                position = self.stops[stop]
                model = models.pop(position)
                self.models[stop] = model
                single = single and model is not None and is_number(model)
                if position == end:
                    continue
                known = len(self.stops)
                ones = None if model is None else self.one(model)
                arrived = self._next(position, stops, ones)
                for new in range(known, len(self.stops)):
                    reached.setdefault(self.stops[new][0], []).append(new)
                    models[self.stops[new]] = None
                for to, _, value in arrived:
                    if models[self.stops[to]] is None:
                        models[self.stops[to]] = value
                self.edges[stop] = [tuple.__new__(Edge, (to, place)) for to, place, _ in arrived]
                self.factors[stop] = [number_of(value) for _, _, value in arrived] if single else []
        self.single = single and all(model is None or is_number(model) for model in self.models)
        self._renumber()

    def _add(self, position: Position) -> int:
        number = self.number[position] = len(self.stops)
        self.stops.append(position)
        self.edges.append([])
        self.factors.append([])
        self.models.append(None)
        return number

    def _next(self, position: Position, stops: Numbers, seed: Any) -> list[tuple[int, int, Any]]:
        """(next stop, input, what arrives there) for every edge of a stop."""
        ways = self.ways
        if not self.by_edges:
            behind = ways.region(position, stops, seed, self.run)
            return [(to, -1, value) for to, value in behind.items()]
        results = () if seed is None else self.run(
            ways.graph.alive[position[0]], {position[1]: seed})  # fmt: skip
        found = []
        for place, edge in ways.inputs[position[0]]:
            stop = stops[edge]
            assert stop is not None  # every position is a stop
            found.append((stop, place, results[place] if place < len(results) else None))
        return found

    def _renumber(self) -> None:
        """Stops in topological order, the end last."""
        rank, end = self.ways.rank, self.ways.end
        order = sorted(
            range(len(self.stops)),
            key=lambda stop: (rank[self.stops[stop][0]], self.stops[stop] == end, stop),
        )
        new = {old: number for number, old in enumerate(order)}
        self.stops = [self.stops[old] for old in order]
        self.models = [self.models[old] for old in order]
        self.edges = [
            [tuple.__new__(Edge, (new[to], place)) for to, place in self.edges[old]]
            for old in order
        ]
        self.factors = [self.factors[old] for old in order]
        self.number = Numbers(zip(self.stops, range(len(self.stops)), strict=True))

    # ---- what holds for all paths

    def count(self) -> int:
        """How many paths there are."""
        counts = [0] * len(self.stops)
        counts[0] = 1
        for stop, edges in enumerate(self.edges):
            for edge in edges:
                counts[edge.to] += counts[stop]
        return counts[-1]

    def longest(self) -> int:
        """The number of edges of the longest path."""
        depths = [0] * len(self.stops)
        for stop, edges in enumerate(self.edges):
            for edge in edges:
                depths[edge.to] = max(depths[edge.to], depths[stop] + 1)
        return depths[-1]

    def total(self) -> tuple[float, float]:
        """The sum of all products, and of their sizes, where all stops are single numbers."""
        sums, sizes = [0.0] * len(self.stops), [0.0] * len(self.stops)
        sums[0] = sizes[0] = 1.0
        for stop, edges in enumerate(self.edges):
            if not sizes[stop]:
                continue
            for edge, factor in zip(edges, self.factors[stop], strict=True):
                sums[edge.to] += sums[stop] * factor
                sizes[edge.to] += sizes[stop] * abs(factor)
        return sums[-1], sizes[-1]

    def flow(self, seed: Any) -> tuple[Any, list[list[float]]]:
        """The sum over all paths of what they make of a gradient; how much each edge hands on."""
        arrived: list[Any] = [None] * len(self.stops)
        arrived[0] = seed
        gains: list[list[float]] = []
        for stop, edges in enumerate(self.edges):
            if arrived[stop] is None or not edges:
                gains.append([0.0] * len(edges))
                continue
            found = self.through(stop, arrived[stop])
            whole = size_of(arrived[stop])
            gains.append([size_of(value) / whole if whole else 0.0 for value in found])
            for edge, value in zip(edges, found, strict=True):
                if value is not None:
                    held = arrived[edge.to]
                    arrived[edge.to] = value if held is None else held + value
        return arrived[-1], gains

    # ---- single edges and paths

    def through(self, stop: int, grad: Any) -> list[Any]:
        """What a gradient becomes along each edge of a stop."""
        found = self._next(self.stops[stop], self.number, grad)
        if self.by_edges:
            return [value for _, _, value in found]
        by_stop = {to: value for to, _, value in found}
        return [by_stop[edge.to] for edge in self.edges[stop]]

    def best(self, sizes: list[list[float]], most: int) -> list[list[int]]:
        """The paths with the largest products of these sizes, as numbers of edges."""
        return Best([
            [(edge.to, cost(size)) for edge, size in zip(edges, row, strict=True)]
            for edges, row in zip(self.edges, sizes, strict=True)
        ]).paths(most)  # fmt: skip

    def stops_of(self, path: list[int]) -> list[int]:
        """The stops that a path passes, both ends included."""
        stops = [0]
        for place in path:
            stops.append(self.edges[stops[-1]][place].to)
        return stops

    def carried(self, paths: list[list[int]], seed: Any) -> list[list[Any]]:
        """What arrives behind each edge of each path; common beginnings are run once."""
        order = sorted(range(len(paths)), key=lambda number: paths[number])
        found: list[list[Any]] = [[] for _ in paths]
        before: list[int] = []
        values: list[Any] = []
        for number in order:
            path = paths[number]
            same = 0
            while same < min(len(path), len(before)) and path[same] == before[same]:
                same += 1
            del values[same:]
            stop = self.stops_of(path[:same])[-1]
            for place in path[same:]:
                grad = values[-1] if values else seed
                values.append(None if grad is None else self.through(stop, grad)[place])
                stop = self.edges[stop][place].to
            before = path
            found[number] = list(values)
        return found


class _Everything:
    """Every position is a stop."""

    def __contains__(self, position: object) -> bool:
        return True


class _Reached(Numbers):
    """While stops are looked for: one that is met for the first time gets the next number."""

    def __init__(self, chain: Chain, wanted: Any, end: Position) -> None:
        super().__init__()
        self.chain, self.wanted, self.end = chain, wanted, end

    def __missing__(self, position: Position) -> int | None:
        if position == self.end or position in self.wanted:
            return self.chain._add(position)
        return None


def is_number(value: Any) -> bool:
    """One real number, of whatever shape."""
    return isinstance(value, numpy.floating) or (value.size == 1 and value.dtype.kind == "f")


def number_of(value: Any) -> float:
    """The one number of a local derivative; where no gradient flows, zero."""
    if isinstance(value, numpy.floating):
        return float(value)
    return 0.0 if value is None or value.size != 1 else float(value.reshape(-1)[0].real)


def size_of(value: Any) -> float:
    """The Euclidean norm of a gradient."""
    if value is None:
        return 0.0
    flat = value.reshape(-1)
    return float(abs((flat * flat.conj()).sum())) ** 0.5


def share_of(value: float, whole: float) -> float | None:
    """Which part of the whole this is; nothing can be said where the whole is zero."""
    if not whole or not isfinite(whole) or not isfinite(value):
        return None
    return value / whole
