"""How many columns of a terminal a text takes."""

from __future__ import annotations

# Characters that trees and rules are drawn with: one column each, and most of what is not ASCII.
DRAWN = dict.fromkeys(map(ord, "│├└─┌┐┘┤┬┴┼…→←·×²³"), None)


def width_of(text: str) -> int:
    """Columns that a terminal needs for the text."""
    if text.isascii() or text.translate(DRAWN).isascii():
        return len(text)
    import unicodedata

    total = 0
    for character in text:
        if unicodedata.combining(character) or character in "\u200c\u200d\ufe0f":
            continue
        total += 2 if unicodedata.east_asian_width(character) in "WF" else 1
    return total


def pad(text: str, width: int, right: bool = False) -> str:
    """The text filled with spaces up to so many columns."""
    space = " " * (width - width_of(text))
    return space + text if right else text + space
