"""Render: lanes between two rows of a picture, so that parallel wires turn one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise

from .items import Item

WIDE = 30.0  # a wire that goes less far to the side needs no lane
SHARED = 40.0  # of their ways to the side, from which curves may run into each other
APART = 8.0  # of these, from which two wires need a lane each
LANE = 7.0
NEAR, RUN = 3.0, 14.0  # curves that are so near for so long run together
GAP, STEEP, MOST_GAP = 17.0, 0.16, 54.0
PLACES = 24  # of a curve that are looked at

_Wire = tuple[float, float, int]  # from where to where it goes, and its number


class Lanes:
    """For each gap between rows the wires that go far to the side, each in a lane."""

    def __init__(
        self, ways: Sequence[list[Item]], lines: list[float],
        ends: Mapping[tuple[int, int], float], rows: int,
    ) -> None:  # fmt: skip
        gaps: list[list[_Wire]] = [[] for _ in range(rows)]
        for number, way in enumerate(ways):
            at = ends[number, 0]
            for _, item in pairwise(way):
                to = ends[number, 1] if item is way[-1] else lines[item.number]
                if abs(to - at) >= WIDE:
                    gaps[item.row].append((at, to, number))
                at = to
        self.counts = [1] * rows
        self.lanes: dict[tuple[int, int], int] = {}
        for row, wires in enumerate(gaps):
            height = gap_for(max((abs(to - at) for at, to, _ in wires), default=0.0))
            if any(_run_together(*pair, height) for pair in combinations(wires, 2)):
                self._divide(row, wires)

    def _divide(self, row: int, wires: list[_Wire]) -> None:
        """Wires to the right from the last on, then those to the left from the first on: so none
        crosses another that starts and ends on one side of it."""
        right = sorted((wire for wire in wires if wire[1] > wire[0]), reverse=True)
        left = sorted(wire for wire in wires if wire[1] < wire[0])
        taken: list[tuple[_Wire, int]] = []
        for wire in (*right, *left):
            beside = [lane for other, lane in taken if _shared(wire, other) > APART]
            lane = max(beside, default=-1) + 1
            taken.append((wire, lane))
            self.lanes[wire[2], row] = lane
        self.counts[row] = max(lane for _, lane in taken) + 1

    def room(self, row: int) -> float:
        """What the gap before a row needs."""
        return LANE * (self.counts[row] + 1) if self.counts[row] > 1 else 0.0

    def share(self, number: int, row: int) -> float | None:
        """Where in the gap before a row a wire crosses over: 0.5 is halfway; None: in a curve."""
        count = self.counts[row]
        lane = self.lanes.get((number, row))
        return None if lane is None or count < 2 else (lane + 1) / (count + 1)


def gap_for(wide: float) -> float:
    """The gap between two rows, by how far a wire goes to the side in it."""
    return GAP + min(MOST_GAP - GAP, STEEP * wide)


def _run_together(one: _Wire, other: _Wire, height: float) -> bool:
    """Whether two wires, drawn as curves, would be too near to each other for some way."""
    shared = _shared(one, other)
    if shared <= SHARED:
        return False
    start, step = max(min(one[:2]), min(other[:2])), shared / PLACES
    run = 0.0
    for place in range(1, PLACES):
        across = start + place * step
        apart = height * abs(_fallen(one, across) - _fallen(other, across))
        run = run + step if apart < NEAR else 0.0
        if run > RUN:
            return True
    return False


def _fallen(wire: _Wire, across: float) -> float:
    """How far down a curve is at a place, as a share of its height."""
    share = (across - wire[0]) / (wire[1] - wire[0])
    time = share
    for _ in range(4):  # 3 t^2 - 2 t^3 = share
        slope = 6 * time * (1 - time)
        if slope < 0.05:
            break
        time = min(1.0, max(0.0, time - (time * time * (3 - 2 * time) - share) / slope))
    return 1.5 * time * (1 - time) + time**3


def _shared(one: _Wire, other: _Wire) -> float:
    """How far two wires go to the side above or below each other."""
    return min(max(one[:2]), max(other[:2])) - max(min(one[:2]), min(other[:2]))
