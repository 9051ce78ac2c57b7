"""Render: texts of a page that share their pieces, so that none is written twice.

A piece that several texts have stands in a table, and in the texts one character of Unicode's
private use stands for it, or for many blanks. Lines of a tensor that go on lose their indentation:
its brackets tell it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

FIRST, BLANKS, LAST = 0xE000, 0xF700, 0xF8FF
FEWEST, MOST = 4, LAST - BLANKS  # blanks that one character stands for
COST = 4  # bytes of a character that stands for a piece, about
SHORTEST = 6
_PRIVATE = re.compile(f"[{chr(FIRST)}-{chr(LAST)}]")
_RUN = re.compile(f" {{{FEWEST},{MOST}}}")
TEXT = re.compile(r"( {2,}|\n *| = )")  # between pieces
MARKUP = re.compile(r"([\d.]+|(?<=>)(?=.)|(?<=.)(?=<))")
_GOES_ON = re.compile(r"\n +(?=\S)")


class Table:
    """The pieces, and what makes a text shorter by them."""

    def __init__(self, texts: Iterable[str], between: re.Pattern[str] = TEXT) -> None:
        every, self.between = list(texts), between
        count: Counter[str] = Counter()
        for text in every:
            count.update(piece for piece in between.split(text)[::2] if len(piece) >= SHORTEST)
        gains = {
            piece: times * (len(piece.encode()) - COST) - len(piece.encode()) - COST
            for piece, times in count.items()
            if times > 1
        }
        best = sorted((piece for piece, gain in gains.items() if gain > 0),
                      key=lambda piece: (-gains[piece], piece))  # fmt: skip
        self.is_used = not any(map(_PRIVATE.search, every))
        self.pieces = best[: BLANKS - FIRST] if self.is_used else []
        self.signs = {piece: chr(FIRST + at) for at, piece in enumerate(self.pieces)}

    def packed(self, text: str) -> str:
        """The text with signs in it."""
        parts = self.between.split(text)
        parts[::2] = [self.signs.get(piece, piece) for piece in parts[::2]]
        whole = "".join(parts)
        return _RUN.sub(lambda run: chr(BLANKS + len(run[0])), whole) if self.is_used else whole


def outdented(text: str) -> str:
    """A tensor as PyTorch prints it, its lines without what stands before them."""
    return _GOES_ON.sub("\n", text)
