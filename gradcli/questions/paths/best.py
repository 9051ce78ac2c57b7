"""Questions: the paths with the largest products, without listing the others."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from math import inf, log

ZERO, INFINITE, NAN = 1e9, -1e9, -2e9  # a factor of zero costs more than anything finite


def cost(factor: float | None) -> float:
    """The smaller, the more a factor of this size brings; what is not a number comes first."""
    if factor is None:
        return 0.0
    size = abs(factor)
    if size != size:
        return NAN
    if size == inf:
        return INFINITE
    return -log(size) if size else ZERO


class Best:
    """A graph of stops in topological order, the last one the end: where the edges of each stop
    lead, and the size of each edge's factor.

    Every path is the best one from some stop on: it leaves the path that it resembles at one edge,
    and what the detour costs is known beforehand. So the paths come out in order, and only as many
    are made as are requested.
    """

    def __init__(
        self, targets: Sequence[Sequence[int]], sizes: Sequence[Sequence[float | None]]
    ) -> None:
        self.targets, self.sizes = targets, sizes
        # For each stop the cost of the best path from there on.
        self.rest = rest = [0.0] * len(targets)
        for stop in range(len(targets) - 2, -1, -1):
            least = inf
            for to, size in zip(targets[stop], sizes[stop], strict=True):
                whole = cost(size) + rest[to]
                if whole < least:
                    least = whole
            rest[stop] = least
        self.detours: dict[int, list[tuple[float, int]]] = {}

    def _detours(self, stop: int) -> list[tuple[float, int]]:
        """The edges of a stop from the best to the worst: (what more it costs, edge)."""
        found = self.detours.get(stop)
        if found is None:
            pairs = zip(self.targets[stop], self.sizes[stop], strict=True)
            costs = [cost(size) + self.rest[to] - self.rest[stop] for to, size in pairs]
            found = self.detours[stop] = sorted((more, at) for at, more in enumerate(costs))
        return found

    def paths(self, most: int) -> list[list[int]]:
        """Up to `most` paths, each as the numbers of the edges taken, best first."""
        found: list[list[int]] = []
        heap: list[tuple[float, int, int, int, int]] = [(self.rest[0], 0, -1, 0, 0)]
        serial = 0
        while heap and len(found) < most:
            total, _, parent, at, choice = heapq.heappop(heap)
            path, stops = self._followed([] if parent < 0 else found[parent][:at], choice)
            number = len(found)
            found.append(path)
            for place in range(at, len(path)):
                nth = choice + 1 if place == at else 1
                detours = self._detours(stops[place])
                if nth < len(detours):
                    serial += 1
                    more = detours[nth][0] - detours[nth - 1][0]
                    heapq.heappush(heap, (total + more, serial, number, place, nth))
        return found

    def _followed(self, path: list[int], choice: int) -> tuple[list[int], list[int]]:
        """A beginning, one detour, and from there on the best edges; with the stops passed."""
        stops = [0]
        for place in path:
            stops.append(self.targets[stops[-1]][place])
        last = len(self.targets) - 1
        while stops[-1] != last:
            place = self._detours(stops[-1])[choice][1]
            choice = 0
            path.append(place)
            stops.append(self.targets[stops[-1]][place])
        return path, stops
