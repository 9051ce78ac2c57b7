"""Render: the places of a scene on a page, in pixels: what every writer of coordinates draws."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil
from typing import NamedTuple

from ..text import width_of
from .layout import Link, Placed, Size, layout
from .scene import Box, Row, Scene, Wire
from .words import wrapped

LETTER = 7.4  # pixels of a column: at most .615 em of 12 px in the fonts that browsers have
LINE = 16.0
PAD, TOP, FOOT = 10.0, 19.0, 9.0  # around the words of a box; the first base line; the foot
LEAST = 84.0
SMALL = 6.8  # a column of the words on a wire, 11 px
STEP = 13.5
BESIDE = 7.0
MARGIN = 18.0
HEAD, NOTES = 30.0, 17.0
NARROWEST = 430.0
MOST_HEADS = 3
ROUND = 6.0  # corners of a wire in a lane
TIP = 9.0  # of a wire at its arrow, before it bends


class Drawn(NamedTuple):
    """A box with its corner and extent."""

    box: Box
    x: float
    y: float
    width: float
    height: float


class Strand(NamedTuple):
    """A wire: the points of its straight stretches, the lanes in which it crosses over to these
    (None: in a curve), and for its words where each line begins (the base line)."""

    wire: Wire
    points: tuple[tuple[float, float, float, float], ...]
    lanes: tuple[float | None, ...]
    words: tuple[tuple[float, float, str], ...]


class Picture(NamedTuple):
    """A scene with everything in its place."""

    scene: Scene
    boxes: tuple[Drawn, ...]
    wires: tuple[Strand, ...]
    notes: tuple[tuple[float, float, Row], ...]
    width: float
    height: float
    sideways: bool


Rooms = dict[object, tuple[float, float]]  # the least extents of boxes, and of words on wires


def picture(scene: Scene, *, sideways: bool = False, rooms: Rooms | None = None) -> Picture:
    """A scene laid out, from the top down or (`sideways`) to the right."""
    rooms = {} if rooms is None else rooms
    extents = [_largest(_extent(box), rooms.get(box.key)) for box in scene.boxes]
    sizes = [Size(h, w) if sideways else Size(w, h) for w, h in extents]
    numbers = {box.key: number for number, box in enumerate(scene.boxes)}
    links = [_link(wire, numbers, rooms, sideways=sideways) for wire in scene.wires]
    placed = layout(sizes, links)
    across, along = placed.across, placed.along
    inner = (along, across) if sideways else (across, along)
    heading = wrapped(scene.title, int(max(inner[0], NARROWEST) / LETTER))[:MOST_HEADS]
    lines = (*heading, *(row.text for row in scene.notes))
    widest = max([inner[0], *(width_of(line) * LETTER for line in lines)])
    left = MARGIN + (widest - inner[0]) / 2
    top = MARGIN + HEAD + NOTES * (len(heading) - 1)
    boxes = tuple(
        Drawn(box, *_turned(*corner, left, top, sideways=sideways), *extent)
        for box, corner, extent in zip(scene.boxes, placed.boxes, extents, strict=True)
    )
    wires = tuple(
        _strand(wire, placed, number, left, top, sideways=sideways)
        for number, wire in enumerate(scene.wires)
    )
    bottom = top + inner[1] + MARGIN
    notes = [(MARGIN, MARGIN + 6 + NOTES * at, Row(line, "title"))
             for at, line in enumerate(heading)]  # fmt: skip
    notes += [(MARGIN, bottom + NOTES * (at + 0.6), row) for at, row in enumerate(scene.notes)]
    height = bottom + NOTES * len(scene.notes) + (MARGIN / 2 if scene.notes else 0)
    width = ceil(widest) + 2 * MARGIN
    return Picture(scene, boxes, wires, tuple(notes), width, float(ceil(height)), sideways)


def _extent(box: Box) -> tuple[float, float]:
    widest = max((width_of(row.text) for row in box.rows), default=0)
    width = max(LEAST, widest * LETTER + 2 * PAD + (8 if _has_chip(box) else 0))
    return float(ceil(width)), TOP + LINE * (len(box.rows) - 1) + FOOT


def _has_chip(box: Box) -> bool:
    return any(row.style == "constant" for row in box.rows)


def common_rooms(runs: Sequence[Sequence[Scene]]) -> list[Rooms]:
    """For several passes and the scenes of each the rooms with which boxes and wires of scenes that
    are built alike have the same places."""
    alike: dict[object, list[tuple[int, Scene]]] = {}
    for number, scenes in enumerate(runs):
        for scene in scenes:
            place = {box.key: at for at, box in enumerate(scene.boxes)}
            boxes = tuple(len(box.rows) for box in scene.boxes)
            wires = tuple((place[wire.source], place[wire.target]) for wire in scene.wires)
            alike.setdefault((boxes, wires), []).append((number, scene))
    found: list[Rooms] = [{} for _ in runs]
    for group in alike.values():
        for same in zip(*(scene.boxes for _, scene in group), strict=True):
            _join(found, group, [(box.key, _extent(box)) for box in same])
        for same_ in zip(*(scene.wires for _, scene in group), strict=True):
            _join(found, group, [(_key(wire), _words(wire)) for wire in same_])
    return found


def _join(
    found: list[Rooms], group: list[tuple[int, Scene]],
    sizes: list[tuple[object, tuple[float, float]]],
) -> None:  # fmt: skip
    width, height = (max(size[k] for _, size in sizes) for k in (0, 1))
    for (number, _), (key, _) in zip(group, sizes, strict=True):
        found[number][key] = _largest((width, height), found[number].get(key))


def _largest(one: tuple[float, float], other: tuple[float, float] | None) -> tuple[float, float]:
    return one if other is None else (max(one[0], other[0]), max(one[1], other[1]))


def _key(wire: Wire) -> object:
    return wire.source, wire.target, wire.place


def _words(wire: Wire) -> tuple[float, float]:
    """What the words of a wire take; without words 0."""
    if not wire.rows:
        return 0.0, 0.0
    return max(map(width_of, wire.rows)) * SMALL + BESIDE + 2, len(wire.rows) * STEP + 2


def _link(wire: Wire, numbers: dict[str, int], rooms: Rooms, *, sideways: bool) -> Link:
    source, target = numbers[wire.source], numbers[wire.target]
    width, height = _largest(_words(wire), rooms.get(_key(wire)))
    if not height:
        return Link(source, target)
    if sideways:
        return Link(source, target, height + 3, 2.0, width)
    return Link(source, target, 2.0, width, height)


def _turned(
    across: float, along: float, left: float, top: float, *, sideways: bool
) -> tuple[float, float]:
    x, y = (along, across) if sideways else (across, along)
    return float(round(left + x)), float(round(top + y))


def _strand(
    wire: Wire, placed: Placed, number: int, left: float, top: float, *, sideways: bool
) -> Strand:
    points, lanes = [], list[float | None]()
    for bend in placed.wires[number]:
        start = _turned(bend.across, bend.start, left, top, sideways=sideways)
        end = _turned(bend.across, bend.end, left, top, sideways=sideways)
        points.append((*start, *end))
        at = left if sideways else top
        lanes.append(None if bend.turn is None else float(round(at + bend.turn)))
    place = placed.words[number]
    words: list[tuple[float, float, str]] = []
    if place is not None:
        x, y = _turned(*place, left, top, sideways=sideways)
        if sideways:
            x, y = x + 4, y - STEP * len(wire.rows) - 5
        else:
            x += BESIDE
        words = [(x, float(round(y + STEP * (k + 0.8))), row) for k, row in enumerate(wire.rows)]
    return Strand(wire, tuple(points), tuple(lanes), tuple(words))


class Piece(NamedTuple):
    """A piece of a path that ends at (x, y): straight, or curved with two points of control."""

    x: float
    y: float
    control: tuple[float, float, float, float] | None = None


def pieces(strand: Strand, *, sideways: bool) -> Iterator[Piece]:
    """The path of a wire from its input on: straight stretches, and curves between them. The tip
    of its arrow lies on a straight one."""
    x0, y0, x, y = strand.points[0]
    yield Piece(x0, y0)
    for (x1, y1, x2, y2), lane in zip(strand.points[1:], strand.lanes[1:], strict=True):
        if (y1 == y) if sideways else (x1 == x):
            yield Piece(x2, y2)
        else:
            if (x, y) == strand.points[0][2:]:
                x, y = (x + TIP, y) if sideways else (x, y + TIP)
                yield Piece(x, y)
            if lane is not None:
                yield from _across(x, y, x1, y1, lane, sideways=sideways)
            elif sideways:
                middle = (x + x1) / 2
                yield Piece(x1, y1, (middle, y, middle, y1))
            else:
                middle = (y + y1) / 2
                yield Piece(x1, y1, (x, middle, x1, middle))
            if (x1, y1) != (x2, y2):
                yield Piece(x2, y2)
        x, y = x2, y2


def _across(
    x: float, y: float, x1: float, y1: float, lane: float, *, sideways: bool
) -> Iterator[Piece]:
    """To a lane, along it, and on, with round corners."""
    if sideways:
        for piece in _across(y, x, y1, x1, lane, sideways=False):
            turned = piece.control and tuple(piece.control[k] for k in (1, 0, 3, 2))
            yield Piece(piece.y, piece.x, turned)  # type: ignore[arg-type]
        return
    before, after = max(0.0, min(ROUND, lane - y)), max(0.0, min(ROUND, y1 - lane))
    side = 1 if x1 > x else -1
    yield Piece(x, lane - before)
    yield Piece(x + side * before, lane, (x, lane, x, lane))
    yield Piece(x1 - side * after, lane)
    yield Piece(x1, lane + after, (x1, lane, x1, lane))
    yield Piece(x1, y1)


def curve(strand: Strand, *, sideways: bool) -> str:
    """The same as SVG writes it: straight stretches in a row are one."""
    parts: list[str] = []
    for x, y, control in pieces(strand, sideways=sideways):
        if control is not None:
            parts.append("C" + " ".join(map(_n, (*control, x, y))))
            continue
        if parts and parts[-1].startswith("L"):
            parts.pop()
        parts.append(f"{'L' if parts else 'M'}{_n(x)} {_n(y)}")
    return "".join(parts)


def _n(number: float) -> str:
    """A coordinate, as short as it can be."""
    return f"{number:.1f}".removesuffix(".0")


number = _n
