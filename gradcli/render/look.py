"""Render: how a page is shown, known before anything is drawn, and what fits on it."""

from __future__ import annotations

from collections.abc import Sequence
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


def broken_sentence(pieces: Sequence[str], width: int) -> list[str]:
    """A sentence that is longer than a line, broken between words; it goes on where its last piece
    begins, if there is room, or as far in as it began. A word as long as a line is not indented."""
    sentence = "".join(pieces).rstrip()
    start = width_of("".join(pieces[:-1]))
    lead = len(sentence) - len(sentence.lstrip())
    hang = start if lead < start <= width // 2 else lead
    if max(map(width_of, sentence.split())) > width - hang:
        hang = 0
    return wrap(
        sentence, width, replace_whitespace=False, break_on_hyphens=False,
        subsequent_indent=" " * hang,
    )  # fmt: skip


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
