"""Render: a picture with some of its folds open, stored as what it shares with the pictures of the
page: a box or a wire that stands there already is moved, anything else is written out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, combinations
from typing import Any

from .drawing import Drawing, DrawOptions
from .geometry import Picture, Rooms, Strand, curve, number, picture
from .svg import box_markup, wire_markup

MOST_FOLDS = 12  # of one picture that open one by one
FEW_FOLDS = 4  # so many open in any combination
MOST_BOXES = 80  # of a picture with one of them open
MARK = "\x01"  # stands for what the ids of a picture begin with; no text of a picture has it

_PAIR = re.compile(r"(-?[\d.]+) (-?[\d.]+)")
Shift = tuple[int, float, float]  # of which picture, how far to the right and down


def unfolded(
    drawing: Drawing, variants: Sequence[DrawOptions], views: Sequence[Picture],
    steps: Mapping[int, int], rooms: Rooms, *, sideways: bool,
) -> list[dict[str, Any]]:  # fmt: skip
    """For each picture of the page, and for each fold in it that can be opened alone: the picture
    that this makes, by the key of the fold's box; of few folds any several, by all their keys."""
    shared = _Shared(views, steps, sideways=sideways)
    last = len(views) - 1
    return [
        dict(_opened(drawing, options, view, shared.data, rooms, sideways=sideways))
        if at < last
        else {}
        for at, (options, view) in enumerate(zip(variants, views, strict=True))
    ]


class _Shared:
    """What is in the pictures of a page: boxes by their keys, wires by their words and ends."""

    def __init__(
        self, views: Sequence[Picture], steps: Mapping[int, int], *, sideways: bool
    ) -> None:
        self.steps, self.sideways = steps, sideways
        self.boxes = {drawn.box: (at, place, drawn) for at, view in enumerate(views)
                      for place, drawn in enumerate(view.boxes)}  # fmt: skip
        self.wires = {strand.wire: (at, place, strand) for at, view in enumerate(views)
                      for place, strand in enumerate(view.wires)}  # fmt: skip

    def data(self, one: Picture) -> dict[str, Any]:
        """`boxes` and `wires`: [picture, right, down, places in it]; `bent`: [picture, place, path,
        right, down] of wires that go another way; `new`: markup, the wires first."""
        boxes: dict[Shift, list[int]] = {}
        wires: dict[Shift, list[int]] = {}
        bent, new = [], []
        for strand in one.wires:
            at, place, other = self.wires.get(strand.wire, (0, 0, None))
            if other is None or len(other.words) != len(strand.words):
                new.append(wire_markup(strand, MARK, sideways=self.sideways))
                continue
            shift = _between(strand.points[0], other.points[0])
            right, down = _between(strand.words[0], other.words[0]) if strand.words else shift
            if (right, down) == shift and self._path(other, shift) == self._path(strand):
                wires.setdefault((at, *shift), []).append(place)
            else:
                bent.append([at, place, self._path(strand), right, down])
        for drawn in one.boxes:
            at, place, known = self.boxes.get(drawn.box, (0, 0, None))
            if known is None:
                new.append(box_markup(drawn, MARK, self.steps))
            else:
                boxes.setdefault((at, *_between(drawn[1:3], known[1:3])), []).append(place)
        return {"size": [number(one.width), number(one.height)],
                "boxes": [[*shift, *places] for shift, places in boxes.items()],
                "wires": [[*shift, *places] for shift, places in wires.items()],
                "bent": bent, "new": new}  # fmt: skip

    def _path(self, strand: Strand, shift: tuple[float, float] = (0.0, 0.0)) -> str:
        """The path, or the one that a page makes of it when it moves it."""
        path = curve(strand, sideways=self.sideways)
        if shift == (0.0, 0.0):
            return path
        return _PAIR.sub(lambda pair: f"{number(float(pair[1]) + shift[0])} "
                                      f"{number(float(pair[2]) + shift[1])}", path)  # fmt: skip


def _between(one: Sequence[Any], other: Sequence[Any]) -> tuple[float, float]:
    """How far one point lies from another one."""
    return round(one[0] - other[0], 1), round(one[1] - other[1], 1)


def _opened(
    drawing: Drawing, options: DrawOptions, view: Picture,
    data: Callable[[Picture], dict[str, Any]], rooms: Rooms, *, sideways: bool,
) -> Iterator[tuple[str, dict[str, Any]]]:  # fmt: skip
    folds = {box.key for box in view.scene.boxes if box.kind == "fold"}
    numbers = range(1, min(len(folds), MOST_FOLDS) + 1)
    most = len(folds) if len(folds) <= FEW_FOLDS else 1
    for opened in chain.from_iterable(combinations(numbers, n + 1) for n in range(most)):
        scene = drawing.scene(options._replace(opened=frozenset(opened)))
        gone = folds - {box.key for box in scene.boxes}
        if len(gone) == len(opened) and len(scene.boxes) <= MOST_BOXES:
            yield "+".join(sorted(gone)), data(picture(scene, sideways=sideways, rooms=rooms))
