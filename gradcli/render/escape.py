"""Render: escapes foreign text. Nothing else may write a string from a program.

Whatever a program, a path or a message brings, a terminal must not act on it: control characters,
escape sequences, characters that turn the reading direction, lone surrogates become visible.
"""

from __future__ import annotations

import re
from typing import NewType

from ..pattern import pattern

Terminal = NewType("Terminal", str)
"""Text for a terminal or a text file: made here, and the only thing that the door writes."""

_HARMLESS = frozenset("\u00a0\u3000\u200c\u200d")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
# What the runners of GitHub (`::error`, `##[error]`), Azure (`##vso[`) and TeamCity obey in a log.
_COMMAND = pattern(r"^([^\S\n]*):(?=:)|#(?=#[A-Za-z]*\[)", re.MULTILINE)
_IN_A_LINE = pattern(r"##(?=[A-Za-z]*\[)")
_SGR = pattern(r"\x1b\[[0-9;]*m")


def _visible(character: str) -> str:
    if character.isprintable() or character in _HARMLESS:
        return character
    short = _SHORT.get(character)
    if short is not None:
        return short
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def line(text: str) -> Terminal:
    """Foreign text as part of one line: line ends become visible too."""
    if text.isprintable():
        return Terminal(text)
    return Terminal("".join(map(_visible, text)))


def block(text: str) -> Terminal:
    """Foreign text of several lines: line ends and tabs stay."""
    if text.isprintable():
        return Terminal(text)
    return Terminal(
        "\n".join(
            part if part.isprintable() else "\t".join(line(piece) for piece in part.split("\t"))
            for part in text.split("\n")
        )
    )


def log(text: Terminal) -> Terminal:
    """The same text for the log of a CI system: no line of it is a command to who reads it."""
    return Terminal(_COMMAND.sub(lambda found: f"{found[1] or ''}\\x{ord(found[0][-1]):02x}", text))


def log_string(json: str) -> str:
    """JSON whose strings hold no such command: commands after `##` are obeyed within a line too."""
    return _IN_A_LINE.sub(r"#\\u0023", json) if "##" in json else json


def log_xml(xml: str) -> str:
    """Text of XML, no line of which is such a command."""
    return _COMMAND.sub(lambda found: f"{found[1] or ''}&#{ord(found[0][-1])};", xml)


def plain(text: Terminal) -> Terminal:
    """The same text without colours."""
    return Terminal(_SGR.sub("", text))
