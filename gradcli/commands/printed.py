"""commands: a program's own output before an answer: on a terminal, its first and last lines."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

FIRST = LAST = 10


class Ends:
    """Takes text as it is printed; writes the first lines at once, and the last ones at the end."""

    def __init__(self, write: Callable[[str], object], mark: str) -> None:
        self.write, self.mark = write, mark
        self.lines = 0  # that are written and whole
        self.kept: deque[str] = deque()
        self.left_out = 0

    def __call__(self, text: str) -> None:
        for line in text.splitlines(keepends=True):
            if self.lines < FIRST:
                self.write(line)
                self.lines += line.endswith("\n")
            elif self.kept and not self.kept[-1].endswith("\n"):
                self.kept[-1] += line
            else:
                self.kept.append(line)
                if len(self.kept) > LAST:
                    self.kept.popleft()
                    self.left_out += 1

    def end(self) -> None:
        """The program prints no more."""
        if self.left_out:
            self.write(f"{self.mark} {self.left_out:,} lines left out (--output shows them)\n")
        self.write("".join(self.kept))
        self.kept.clear()
        self.left_out = 0


def ends_of(text: str, mark: str) -> str:
    """A text that is there already, cut in the same way."""
    pieces: list[str] = []
    ends = Ends(pieces.append, mark)
    ends(text)
    ends.end()
    return "".join(pieces)
