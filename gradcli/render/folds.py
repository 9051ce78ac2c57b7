"""Render: the folds of a page: their numbers, which are open, how a closed one looks."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar

from ..opening import UsageError
from ..options import EVERY_FOLD
from .text import Line, Look, cell, counted

Page = TypeVar("Page")
Expand = frozenset[int] | bool  # the numbers of the folds that are to be open; True: all
AGAIN = 16  # folds within folds that can be opened at once


class Folds:
    """Which folds are open. A fold is known by a key that says what it hides, and gets its number
    when it is first drawn; so numbers stay as they are when others are opened."""

    def __init__(self, expand: Expand = False) -> None:
        wanted = frozenset({EVERY_FOLD} if expand is True else expand or ())
        self.every = EVERY_FOLD in wanted
        self.wanted = wanted - {EVERY_FOLD}
        self.numbers: dict[Hashable, int] = {}
        self.opened: set[Hashable] = set()

    def opens(self, key: Hashable) -> bool:
        """Whether this fold is open."""
        return self.every or key in self.opened

    def number(self, key: Hashable) -> int:
        """The number of a closed fold."""
        return self.numbers.setdefault(key, len(self.numbers) + 1)

    def sign(self, key: Hashable, look: Look) -> str:
        """⋮ 3, which precedes what the fold hides."""
        return f"{'⋮' if look.unicode else ':'} {self.number(key)}"

    def row(self, key: Hashable, words: str, look: Look) -> Line:
        """A closed fold in a list or a table."""
        return (cell(f"{self.sign(key, look)}  {words}", "dim"),)

    def more(self, key: Hashable, left: int, look: Look, word: str = "", plural: str = "") -> Line:
        """The same for so many things that are left out."""
        words = counted(left, f"more {word}", f"more {plural}" if plural else "")
        return self.row(key, words if word else f"{left:,} more", look)

    def again(self) -> bool:
        """Whether folds were drawn closed that are to be open."""
        found = {key for key, number in self.numbers.items() if number in self.wanted}
        fresh = found - self.opened
        self.opened |= fresh
        return bool(fresh)

    def footer(self, *ways: str) -> list[Line]:
        """How what is folded can be seen."""
        closed = [number for key, number in self.numbers.items() if not self.opens(key)]
        if not closed:
            return []
        all_of_them = "--expand opens the fold"
        if len(closed) > 1:
            all_of_them = f"--expand opens all folds, --expand {closed[0]} one of them"
        return [(cell(", ".join((all_of_them, *ways)), "dim"),)]


def unfolded(draw: Callable[[Folds], Page], expand: Expand) -> Page:
    """The page with these folds open. It is drawn again where one of them was drawn closed: only
    then it is known which number is whose."""
    folds = Folds(expand)
    page = draw(folds)
    for _ in range(AGAIN):
        if not folds.again():
            break
        page = draw(folds)
    unknown = folds.wanted - set(folds.numbers.values())
    if unknown:
        count = len(folds.numbers)
        there = f"there {'is one fold' if count == 1 else f'are {count:,} folds'}"
        raise UsageError(f"--expand {min(unknown)}: {there if count else 'nothing is folded'}")
    return page
