"""Render: the items in the rows of a picture during layout."""

from __future__ import annotations

SIDE = 26.0  # between two boxes of a row
STRAND = 14.0  # between wires, and between a wire and a box


class Item:
    """Something in a row: a box, the words of a wire, or a wire that crosses the row."""

    __slots__ = (
        "above", "after", "along", "before", "below", "box", "main", "number", "place", "row",
    )  # fmt: skip

    def __init__(
        self, number: int, row: int, before: float, after: float, along: float, box: int = -1
    ) -> None:
        self.number, self.row, self.box = number, row, box
        self.before, self.after, self.along = before, after, along
        self.above: list[Item] = []
        self.below: list[Item] = []
        self.main: list[Item | None] = [None, None]  # above and below: what it should are under
        self.place = 0

    def gap(self, other: Item) -> float:
        """The least distance between the lines of this item and of the next one in its row."""
        between = SIDE if self.box >= 0 and other.box >= 0 else STRAND
        return self.after + between + other.before
