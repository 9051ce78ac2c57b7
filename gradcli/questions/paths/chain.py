"""Questions: the chain rule between two tensors: stops, local derivatives, the sum over all paths.

Where every stop is one real number, an edge has one number too, and the sum over all paths is
worked out stop by stop in double precision. Else an edge is a matrix that nobody writes down: what
it does to a gradient (a vector-Jacobian product) is run whenever it is wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from math import isfinite
from typing import Any

import numpy

from .best import Best
from .graph import Numbers, Position, Run, Ways

Ones = Callable[[Any], Any]


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
        ends = ways.start, ways.end
        # In topological order, the end last.
        self.stops = [
            position
            for position in ways.positions
            if named is None or position in named or position in ends
        ]
        count = len(self.stops)
        self.number: Numbers = dict(zip(self.stops, range(count), strict=True))
        self.edges: list[list[int]] = []  # for each stop, to which stops they lead
        # For each stop a gradient that arrives there: type and shape.
        self.models: list[Any] = [seed, *[None] * (count - 1)]
        self.factors: list[list[float]] = []  # for each edge, where all stops are single numbers
        self.single = self._run(count - 1) or all(
            model is None or is_number(model) for model in self.models
        )

    def _run(self, last: int) -> bool:
        """Stop after stop: what follows it, and what it passes on; whether each is one number."""
        models, single = self.models, True
        for stop, model in enumerate(models):  # they are filled as it goes
            single = single and model is not None and is_number(model)
            if stop == last:
                break
            edges, values = self._next(stop, None if model is None else self.one(model))
            for to, value in zip(edges, values, strict=True):
                if models[to] is None:
                    models[to] = value
            self.edges.append(edges)
            self.factors.append([number_of(value) for value in values] if single else [])
        self.edges.append([])
        self.factors.append([])
        return single

    def _next(self, stop: int, seed: Any) -> tuple[list[int], list[Any]]:
        """The next stop for every edge of a stop, and what arrives there."""
        ways, position = self.ways, self.stops[stop]
        if not self.by_edges:
            behind = ways.region(position, self.number, seed, self.run)
            return list(behind), list(behind.values())
        number, output_nr = position
        given = {output_nr: seed}
        results = () if seed is None else self.run(ways.graph.alive[number], given)
        places, edges = ways.inputs[number], ways.graph.next[number]
        count = len(results)
        return (
            [self.number[edges[place]] for place in places],  # type: ignore[index]
            [results[place] if place < count else None for place in places],
        )

    def input_of(self, stop: int, place: int) -> int:
        """Over which input of its node an edge of the graph's own leads."""
        return self.ways.inputs[self.stops[stop][0]][place]

    # ---- what holds for all paths

    @cached_property
    def extent(self) -> tuple[int, int]:
        """How many paths there are, and how many edges the longest one has."""
        counts, depths = [0] * len(self.stops), [0] * len(self.stops)
        counts[0] = 1
        for edges, count, depth in zip(self.edges, counts, depths):  # both grow as it goes
            for to in edges:
                counts[to] += count
                if depth >= depths[to]:
                    depths[to] = depth + 1
        return counts[-1], depths[-1]

    @cached_property
    def total(self) -> tuple[float, float]:
        """The sum of all products, and of their sizes, where all stops are single numbers."""
        sums, sizes = [0.0] * len(self.stops), [0.0] * len(self.stops)
        sums[0] = sizes[0] = 1.0
        for edges, factors, part, size in zip(self.edges, self.factors, sums, sizes):
            if size:  # what came to the stop is complete
                for to, factor in zip(edges, factors):
                    sums[to] += part * factor
                    sizes[to] += size * abs(factor)
        return sums[-1], sizes[-1]

    def flow(self, seed: Any) -> tuple[Any, list[list[float]]]:
        """The sum over all paths of what they make of a gradient; how much each edge passes on."""
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
            for to, value in zip(edges, found, strict=True):
                if value is not None:
                    held = arrived[to]
                    arrived[to] = value if held is None else held + value
        return arrived[-1], gains

    # ---- single edges and paths

    def through(self, stop: int, grad: Any) -> list[Any]:
        """What a gradient becomes along each edge of a stop."""
        return self._next(stop, grad)[1]

    def best(self, sizes: list[list[float]], most: int) -> list[list[int]]:
        """The paths with the largest products of these sizes, as numbers of edges."""
        return Best(self.edges, sizes).paths(most)

    def stops_of(self, path: list[int]) -> list[int]:
        """The stops that a path passes, both ends included."""
        stops = [0]
        for place in path:
            stops.append(self.edges[stops[-1]][place])
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
                stop = self.edges[stop][place]
            before = path
            found[number] = list(values)
        return found


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
