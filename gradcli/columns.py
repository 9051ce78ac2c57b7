"""How a text is written where its characters have no code, and how many columns it takes."""

from __future__ import annotations

import codecs

_encodings: list[str] = []  # the one, other than UTF, that pages are written in

WRITABLE = "gradcli.writable"  # what a stream does with characters that it has no code for
# The signs of pages in ASCII.
SIGNS = {
    "…": "...", "⋯": "...", "→": "->", "←": "<-", "·": "*", "∘": "o", "×": "x", "≈": "~",
    "²": "^2", "³": "^3", "├": "|", "└": "`", "│": "|", "─": "-", "●": "o", "⋮": ":",
}  # fmt: skip

# Characters that trees and rules are drawn with: one column each, and most of what is not ASCII.
DRAWN = dict.fromkeys(map(ord, "│├└─┌┐┘┤┬┴┼…→←·×²³≈"), None)


def _writable(error: UnicodeError) -> tuple[str | bytes, int]:
    """Signs of pages in ASCII, other characters as escapes."""
    if not isinstance(error, UnicodeEncodeError) or error.object[error.start] not in SIGNS:
        return codecs.backslashreplace_errors(error)
    return SIGNS[error.object[error.start]], error.start + 1


codecs.register_error(WRITABLE, _writable)


def written_in(encoding: str) -> None:
    """How pages are encoded from now on."""
    _encodings[:] = [] if encoding.startswith("utf") else [encoding]


def as_written(text: str) -> str:
    """The text in the characters that pages are written in."""
    if text.isascii() or not _encodings:
        return text
    return text.encode(_encodings[0], WRITABLE).decode(_encodings[0])


def width_of(text: str) -> int:
    """Columns that a terminal needs for the text."""
    if text.isascii():
        return len(text)
    text = as_written(text)
    if text.translate(DRAWN).isascii():
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
