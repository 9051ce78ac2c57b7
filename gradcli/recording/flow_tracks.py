"""Recording: the data of a training run: a row for each pass, a track for each leaf."""

from __future__ import annotations

from math import inf, sqrt
from typing import Any
from weakref import ref

from .curve import Curve
from .measures import Measure, copy_of, is_blank, moved
from .passes import Pass
from .sides import has_numbers, is_parameter, origin_of, row_of, shape_of, standing

Key = tuple[Any, str]  # the function that binds a name, or None; the name


class Row:
    """One pass."""

    __slots__ = (
        "one", "root", "loss", "square", "largest", "largest_norm", "changed", "change",
    )  # fmt: skip

    def __init__(self, one: Pass) -> None:
        self.one = one
        self.root: Any = None  # where the first root was made
        self.loss: float | None = None
        self.square = 0.0
        self.largest: Track | None = None
        self.largest_norm = 0.0
        self.changed: Track | None = None
        self.change: float | None = None

    @property
    def norm(self) -> float:
        """Of all gradients that came to leaves."""
        return sqrt(self.square) if self.square >= 0 else self.square

    def reached(self, track: Track, norm: float) -> None:
        """A leaf was given a gradient."""
        self.square += norm * norm
        if self.largest is None or norm > self.largest_norm or norm != norm:
            self.largest, self.largest_norm = track, norm

    def moved(self, track: Track, change: float | None) -> None:
        """A leaf has changed since; a change without a ratio counts where no other does."""
        if self.changed is None or (change is not None and self._is_larger(change)):
            self.changed, self.change = track, change

    def _is_larger(self, change: float) -> bool:
        known = self.change
        return known is None or change > known or (change != change and known == known)


class Blocked:
    """Where gradients became 0: the node's place, its module, and how much had come to it."""

    __slots__ = ("name", "row", "origin", "module", "size")

    def __init__(self, node: Any, module: Any, size: float) -> None:
        self.name, self.row = str(node.name()), row_of(node)
        self.origin, self.module, self.size = origin_of(node), module, size


class Track:
    """One leaf. A name that is bound to a new leaf in each turn stays one track."""

    __slots__ = (
        "tensor", "name", "shape", "line", "is_parameter", "passes", "first_row", "last_row",
        "first", "last", "peak", "curve", "zeros", "elements", "bad", "first_bad", "blank_since",
        "blanks", "blocked", "origin", "start", "before", "updates", "ratios", "captured",
        "updated", "faint", "faint_first", "under", "under_first", "louder", "unchanged", "known",
        "was_known", "key", "mixed", "stale", "stale_line", "size",
        "changed_line", "measured", "standing", "made", "is_root",
    )  # fmt: skip

    def __init__(self, tensor: Any, key: Key, line: int | None) -> None:
        self.tensor, self.key, self.line = ref(tensor), key, line
        self.name = key[1]
        self.shape = shape_of(tensor)
        self.is_parameter = is_parameter(tensor)
        self.passes = self.zeros = self.elements = self.bad = self.blanks = 0
        self.updates = self.measured = 0  # changes, and those whose size is a number
        self.updated = 0  # the last pass behind which it had changed
        self.faint = self.under = 0  # passes in which it was small beside others, before or after
        self.faint_first = self.under_first = self.captured = False
        self.is_root = False  # whether the last pass began at it
        self.mixed = False  # whether .grad holds a sum with what was there before an update
        self.stale = 0  # updates by such a sum
        self.stale_line: int | None = None
        self.changed_line: int | None = None
        self.louder: Track | None = None  # the largest beside it, while it is small
        self.first_row: Row | None = None
        self.last_row: Row | None = None
        self.first_bad: int | None = None
        self.blank_since: int | None = None  # the first pass since which all gradients were 0
        self.blocked: Blocked | None = None
        self.first = self.last = self.peak = self.ratios = 0.0
        self.size = 0.0  # of the leaf itself, in the first pass
        self.curve = Curve()
        self.origin: Any = None  # of the node that uses it
        self.made: Any = None  # what was evaluated when one without a name was made
        self.start: Any = None  # its numbers in the first pass, and in the last one
        self.before: Any = None
        self.standing: Any = None  # as of the last look
        self.known = self.was_known = False  # whether its numbers are followed, or were
        self.unchanged: float | None = None

    def arrived(self, row: Row, found: Measure, blocked: Blocked | None) -> None:
        """A gradient came in this pass."""
        norm = found.norm
        if not self.passes:
            self.first, self.first_row = norm, row
        self.passes += 1
        self.last, self.last_row = norm, row
        if norm < inf:
            self.peak = max(self.peak, norm)
        self.curve.add(norm)
        self.zeros += found.zeros
        self.elements += found.size
        if found.bad:
            self.bad += 1
            self.first_bad = self.first_bad or row.one.number
        if found.zeros < found.size or not found.size:
            self.blank_since = self.blocked = None
            self.blanks = 0
        else:
            self.blank_since = self.blank_since or row.one.number
            self.blanks += 1
            self.blocked = blocked

    def adds(self, tensor: Any, row: Row, changed: bool) -> None:
        """A gradient is about to be added to `.grad`; has the leaf changed since the one before?"""
        if tensor.grad is None or is_blank(tensor.grad):
            self.mixed = False
        elif changed:
            self.mixed, self.stale_line = True, row.one.line

    def look(self, tensor: Any) -> float | None:
        """How far it has moved since the last look, against its size; None where it had none."""
        if not self.known:
            return 0.0
        known, self.standing = self.standing, standing(tensor)
        if (known is not None and known == self.standing) or not has_numbers(tensor):
            return 0.0
        ratio = 0.0 if self.before is None else moved(self.before, tensor)
        if ratio != 0:
            self.updates += 1
            self.updated = self.passes
            if ratio is not None and ratio < inf:
                self.ratios += ratio
                self.measured += 1
            self.stale += self.mixed
        if ratio != 0 or self.before is None:
            self.before = copy_of(tensor)
        if self.start is None:
            self.start = self.before
        return ratio
