"""Render: how a page is shown, known before anything is drawn, and what fits on it."""

from __future__ import annotations

from typing import Any

from ..columns import width_of
from ..named import NamedTuple

FILLER = "\uffff"  # is no character: stands for the other column of a wide one


class Look(NamedTuple):
    """How the page is shown: colours or not, which drawing characters, how wide."""

    color: bool = False
    unicode: bool = True
    width: int = 80
    whole: bool = False  # not for a screen: sentences are wrapped, nothing is cut
    rich: bool = False  # on a terminal that shows colours: `terminal` draws what is painted
    path: str = ""  # of the program, where cells can lead to its lines

    @property
    def times(self) -> str:
        """The sign of a product."""
        return "·" if self.unicode else "*"

    def fit(self, text: str, width: int) -> str:
        """The text within so many columns, where it has to be."""
        return text if self.whole else cut(text, width, ellipsis(self))


def wrap(text: str, width: int, **options: Any) -> list[str]:
    """textwrap.wrap() by columns, of which a wide character takes two."""
    from textwrap import wrap as by_characters

    if width_of(text) <= len(text):
        return by_characters(text, width, **options)
    wide = "".join(FILLER * (width_of(one) - 1) + one for one in text)
    return [row.replace(FILLER, "") for row in by_characters(wide, width, **options)]


def cut(text: str, width: int, mark: str = "…") -> str:
    """The text within so many columns, its end replaced by … where it is longer."""
    if width_of(text) <= width:
        return text
    if width < len(mark):
        return ""
    room = width - len(mark)
    if text.isascii():
        return text[:room] + mark
    kept: list[str] = []
    for character in text:
        room -= width_of(character)
        if room < 0:
            break
        kept.append(character)
    return "".join(kept) + mark


def ellipsis(look: Look) -> str:
    """What stands for words that were cut."""
    return "…" if look.unicode else "..."
