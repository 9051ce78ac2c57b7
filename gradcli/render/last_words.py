"""Render: the text of a place, for the last words of a process that can't say more."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .escape import line

SHOWN = 64  # characters of a line


def quoting(lines: Sequence[str]) -> Callable[[int, int], str]:
    """What quotes one of these lines, cut to fit a screen, with a mark below the column."""

    def quote(number: int, column: int) -> str:
        start = 0 if column < SHOWN else column - 10
        text = lines[number - 1]
        before, after = line(text[start : column - 1]), line(text[column - 1 : start + SHOWN])
        beside = " " * len(str(number))
        return f"  {number} | {before}{after}\n  {beside} | {' ' * len(before)}^\n"

    return quote
