"""Render: positions of boxes and wires: rows by Sugiyama's method, in either direction.

Everything is computed for a picture that reads from the top down; one that reads to the right is
the same with both axes changed. Wires with words have a row for these between the rows of boxes.
Wires run straight along the rows that they cross and bend between rows, where no box is.

Of ten pictures that graphlay 0.3.1 drew as well it crosses no wires, where this crosses one or two
in two of them; its columns are straighter. This keeps the order of the program and a place for the
words of every wire, and needs no compiler at an installation.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from .aligning import aligned
from .items import Item
from .lanes import Lanes, gap_for

PORT = 15.0  # between two wires that end at one side of a box
CORNER = 12.0
STRAIGHT = 4.0  # a bend that is smaller is none
SWEEPS = 12
LONG = 2  # boxes behind each other, from which a way is a spine


class Size(NamedTuple):
    """Of a box: its extent across the rows and along them."""

    across: float
    along: float


class Link(NamedTuple):
    """A wire between two boxes, and the room that its words need beside it: before it and after
    it across the rows, and along them. Without words that is 0."""

    source: int
    target: int
    before: float = 0.0
    after: float = 0.0
    along: float = 0.0


class Bend(NamedTuple):
    """A stretch of a wire: straight at `across`, from one place along the rows to another. The
    wire crosses over to it at `turn`, or in a curve where it has no lane."""

    across: float
    start: float
    end: float
    turn: float | None = None


class Placed(NamedTuple):
    """Where everything lies: of each box its first corner, of each wire its straight stretches and
    the place of its words (across at the wire, along where they begin), and the extent of all."""

    boxes: tuple[tuple[float, float], ...]
    wires: tuple[tuple[Bend, ...], ...]
    words: tuple[tuple[float, float] | None, ...]
    across: float
    along: float


def layout(sizes: Sequence[Size], links: Sequence[Link]) -> Placed:
    """Boxes stand behind those that they use; each link goes from an earlier box to a later."""
    if not sizes:
        return Placed((), (), (), 0.0, 0.0)
    return _Layout(sizes, links).placed()


class _Layout:
    def __init__(self, sizes: Sequence[Size], links: Sequence[Link]) -> None:
        self.sizes, self.links = sizes, links
        self.rank = self._ranks()
        self.items: list[Item] = []
        self.rows: list[list[Item]] = [[] for _ in range(2 * max(self.rank) + 1)]
        self.box_items = [
            self._item(2 * self.rank[i], size.across / 2, size.across / 2, size.along, i)
            for i, size in enumerate(sizes)
        ]
        self.ways = [self._way(link) for link in links]
        self._find_spine()
        self._first_order()
        self._uncross()

    # ---- rows

    def _ranks(self) -> list[int]:
        """The row of each box: as high as it can be, but what has few inputs stands near its
        users."""
        count = len(self.sizes)
        inputs: list[list[int]] = [[] for _ in range(count)]
        users: list[list[int]] = [[] for _ in range(count)]
        for link in self.links:
            inputs[link.target].append(link.source)
            users[link.source].append(link.target)
        rank = [0] * count
        for box in range(count):
            rank[box] = max((rank[one] + 1 for one in inputs[box]), default=0)
        for _ in range(2):
            for box in range(count - 1, -1, -1):
                if users[box] and len(set(inputs[box])) <= len(set(users[box])):
                    rank[box] = min(rank[one] for one in users[box]) - 1
        least = min(rank)
        return [one - least for one in rank]

    def _item(self, row: int, before: float, after: float, along: float, box: int = -1) -> Item:
        item = Item(len(self.items), row, before, after, along, box)
        self.items.append(item)
        self.rows[row].append(item)
        return item

    def _way(self, link: Link) -> list[Item]:
        """The items that a wire runs through, its boxes at both ends."""
        first, last = self.box_items[link.source], self.box_items[link.target]
        way = [first]
        for row in range(first.row + 1, last.row):
            worded = row == first.row + 1
            before, after, along = (link.before, link.after, link.along) if worded else (0, 0, 0)
            way.append(self._item(row, before, after, along))
        way.append(last)
        for one, other in pairwise(way):
            one.below.append(other)
            other.above.append(one)
        return way

    def _find_spine(self) -> None:
        """Where one way behind a box is much longer than all others, the box stands on it."""
        for side in (0, 1):
            length = [0] * len(self.sizes)
            ends = ((link.source, link.target) for link in self.links)
            pairs = sorted(((b, a) if side else (a, b) for a, b in ends), key=lambda p: p[1],
                           reverse=bool(side))  # fmt: skip
            for near, box in pairs:
                length[box] = max(length[box], length[near] + 1)
            near_end, own_end = (-1, 0) if side else (0, -1)
            for item in self.box_items:
                ways = sorted(
                    (-length[way[near_end].box], number)
                    for number, way in enumerate(self.ways)
                    if way[own_end] is item
                )
                if ways and -ways[0][0] >= LONG and (len(ways) < 2 or ways[0][0] < ways[1][0] - 1):
                    self._mark_main(self.ways[ways[0][1]], side)

    def _mark_main(self, way: list[Item], side: int) -> None:
        for one, other in pairwise(way):
            if side:
                one.main[1] = other
            else:
                other.main[0] = one

    # ---- the order within rows

    def _first_order(self) -> None:
        """Boxes in the order of the file, wires where their boxes are."""
        position: dict[int, float] = {}
        for row in self.rows:
            for item in row:
                if item.box >= 0:
                    position[item.number] = float(item.box)
        for way in self.ways:
            start, end = way[0].box, way[-1].box
            for k, item in enumerate(way[1:-1], 1):
                position[item.number] = start + (end - start) * k / len(way)
        for row in self.rows:
            row.sort(key=lambda item: position[item.number])
        self._number()

    def _number(self) -> None:
        for row in self.rows:
            for place, item in enumerate(row):
                item.place = place

    def _uncross(self) -> None:
        """Rows are sorted by the middle of their neighbours, up and down; the best order stays."""
        best, least = [list(row) for row in self.rows], self._crossings()
        for sweep in range(SWEEPS):
            if not least:
                break
            down = sweep % 2 == 0
            for row in self.rows[1:] if down else reversed(self.rows[:-1]):
                self._sort(row, down=down)
            self._swap()
            crossings = self._crossings()
            if crossings < least:
                best, least = [list(row) for row in self.rows], crossings
        self.rows = best
        self._number()

    def _sort(self, row: list[Item], *, down: bool) -> None:
        keys: dict[int, float] = {}
        for item in row:
            near = item.above if down else item.below
            places = sorted(one.place for one in near)
            if places:
                keys[item.number] = sum(places) / len(places)
        free = [place for place, item in enumerate(row) if item.number in keys]
        moved = sorted((row[place] for place in free), key=lambda item: keys[item.number])
        for place, item in zip(free, moved, strict=True):
            row[place] = item
        for place, item in enumerate(row):
            item.place = place

    def _swap(self) -> None:
        """Neighbours change places where that saves crossings."""
        for row in self.rows:
            for place in range(len(row) - 1):
                one, other = row[place], row[place + 1]
                if _crossed(other, one) < _crossed(one, other):
                    row[place], row[place + 1] = other, one
                    other.place, one.place = place, place + 1

    def _crossings(self) -> int:
        total = 0
        for row in self.rows[1:]:
            seen: list[int] = []
            for item in row:
                places = [one.place for one in item.above]
                total += sum(1 for place in places for other in seen if other > place)
                seen.extend(places)
        return total

    # ---- coordinates

    def placed(self) -> Placed:
        lines = aligned(self.rows)
        start = min(lines[item.number] - item.before for item in self.items)
        lines = [line - start for line in lines]
        ends = self._ends(lines)
        lanes = Lanes(self.ways, lines, ends, len(self.rows))
        tops, bottoms = self._along(lines, lanes)
        across = max(lines[item.number] + item.after for item in self.items)
        boxes = tuple((lines[item.number] - item.before, tops[item.row]) for item in self.box_items)
        wires, words = [], []
        for number, way in enumerate(self.ways):
            wires.append(tuple(self._bends(number, way, lines, ends, lanes, tops, bottoms)))
            place = None
            if self.links[number].along and len(way) > 2:
                place = lines[way[1].number], tops[way[1].row]
            words.append(place)
        return Placed(boxes, tuple(wires), tuple(words), across, bottoms[-1])

    def _along(self, lines: list[float], lanes: Lanes) -> tuple[list[float], list[float]]:
        """Where each row begins and ends; the wider wires run between two rows, the more room."""
        tops, bottoms, at = [], [], 0.0
        for number, row in enumerate(self.rows):
            height = max((item.along for item in row), default=0.0)
            if number:
                wide = max(
                    (abs(lines[item.number] - self._toward(one, lines[item.number], lines))
                     for item in row for one in item.above), default=0.0)  # fmt: skip
                at += max(gap_for(wide), lanes.room(number))
            tops.append(at)
            at += height
            bottoms.append(at)
        return tops, bottoms

    def _toward(self, item: Item, line: float, lines: list[float]) -> float:
        """The place of an item that is nearest to a line."""
        if item.box < 0:
            return lines[item.number]
        low, high = lines[item.number] - item.before, lines[item.number] + item.after
        nearest = min(max(line, low + CORNER), high - CORNER)
        return line if abs(nearest - line) <= STRAIGHT else nearest

    def _ends(self, lines: list[float]) -> dict[tuple[int, int], float]:
        """Where each wire leaves its two boxes: (wire, 0 or 1)."""
        found: dict[tuple[int, int], float] = {}
        sides: dict[tuple[int, int], list[tuple[float, int]]] = {}
        for number, way in enumerate(self.ways):
            for end, (box, near) in enumerate(((way[0], way[1]), (way[-1], way[-2]))):
                at = self._toward(box, lines[near.number], lines)
                sides.setdefault((box.number, end), []).append((at, number))
        for (number, end), ways in sides.items():
            item = self.items[number]
            ways.sort(key=lambda pair: (self._order(pair[1], end), pair[1]))
            low, high = lines[number] - item.before + CORNER, lines[number] + item.after - CORNER
            wanted = [at for at, _ in ways]
            places = _spread(wanted, min(low, *wanted), max(high, *wanted))
            found.update({(way, end): at for at, (_, way) in zip(places, ways, strict=True)})
        return found

    def _order(self, number: int, end: int) -> int:
        way = self.ways[number]
        return way[1].place if end == 0 else way[-2].place

    def _bends(
        self, number: int, way: list[Item], lines: list[float],
        ends: dict[tuple[int, int], float], lanes: Lanes, tops: list[float], bottoms: list[float],
    ) -> list[Bend]:  # fmt: skip
        first, last = way[0], way[-1]
        start = tops[first.row] + first.along
        found = [Bend(ends[number, 0], start, bottoms[first.row])]
        for item in way[1:]:
            row, is_last = item.row, item is last
            across = ends[number, 1] if is_last else lines[item.number]
            share = lanes.share(number, row)
            gap = tops[row] - bottoms[row - 1]
            turn = None if share is None else bottoms[row - 1] + gap * share
            found.append(Bend(across, tops[row], tops[row] if is_last else bottoms[row], turn))
        return found


def _crossed(one: Item, other: Item) -> int:
    """Crossings between the wires of two items when the first stands before the second."""
    return sum(
        1
        for mine, theirs in ((one.above, other.above), (one.below, other.below))
        for a in mine
        for b in theirs
        if a.place > b.place
    )


def _spread(wanted: list[float], low: float, high: float) -> list[float]:
    """Places in this order, as near to what is wanted as distances allow."""
    count = len(wanted)
    gap = min(PORT, (high - low) / max(count - 1, 1))
    places: list[float] = []
    for number, place in enumerate(wanted):
        least = low if not places else places[-1] + gap
        places.append(min(max(place, least), high - gap * (count - 1 - number)))
    for number in range(count - 2, -1, -1):
        most = places[number + 1] - gap
        if places[number] > most:
            places[number] = most
    return places
