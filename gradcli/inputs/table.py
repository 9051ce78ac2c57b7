"""Inputs: numbers in a .csv file, read row by row."""

from __future__ import annotations

import io
from array import array
from collections.abc import Iterator
from typing import IO, Any

from .bounds import damaged
from .refused import InputError, shortened

LONGEST_ROW = 1 << 22  # characters
WHOLE = frozenset("0123456789+- ")


def read_csv(file: IO[bytes], size: int, key: str, most: int, path: str) -> Any:
    """All numbers, or the column with this name or number."""
    if size * 8 > most:  # a number of two characters becomes eight bytes, and four once more
        raise InputError(f"{path}: {size:,} bytes of text are more than --max-memory allows")
    table = Table(path)
    try:
        for number, row in _rows(io.TextIOWrapper(file, "utf-8-sig"), path):
            table.add(number, row)
    except UnicodeDecodeError:
        raise damaged(path, "not UTF-8 text") from None
    found = table.made()
    if key:
        found = found[:, table.column(key)]
    return found[:, 0] if found.ndim == 2 and table.width == 1 else found


def _rows(text: IO[str], path: str) -> Iterator[tuple[int, list[str]]]:
    """Each row with its number among those that are not empty."""
    number = 0
    while line := text.readline(LONGEST_ROW):
        if len(line) == LONGEST_ROW:
            raise InputError(f"{path}: row {number + 1} has {LONGEST_ROW:,} characters or more")
        if line.strip():
            number += 1
            yield number, line.rstrip("\n").split(",")


class Table:
    """The numbers so far: whole ones as such until the first that is not."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.heads: list[str] = []
        self.width = self.rows = 0
        self.numbers: Any = array("q")
        self.too_large: InputError | None = None  # as a whole number; as a fraction it is none

    def add(self, number: int, row: list[str]) -> None:
        if number == 1:
            self.width = len(row)
            if not all(map(_is_number, row)):
                self.heads = [shortened(head.strip().strip('"')) for head in row]
                return
        if len(row) != self.width:
            raise InputError(
                f"{self.path}: row {number} has {len(row)} numbers, the first {self.width}"
            )
        self.rows += 1
        for cell in row:
            self._take(number, cell)

    def _take(self, number: int, cell: str) -> None:
        if not _is_number(cell):
            raise InputError(
                f"{self.path}: row {number}: '{shortened(cell.strip())}' is not a number"
            )
        if self.numbers.typecode == "q":
            if WHOLE.issuperset(cell) and len(cell) < 40:
                value = int(cell)
                if -(2**63) <= value < 2**63:
                    self.numbers.append(value)
                    return
            if WHOLE.issuperset(cell):
                words = f"row {number}: {shortened(cell.strip())} does not fit into 64 bits"
                self.too_large = self.too_large or InputError(f"{self.path}: {words}")
            else:
                self.too_large = None
            self.numbers = array("d", self.numbers)
        elif self.too_large is not None and not WHOLE.issuperset(cell):
            self.too_large = None
        self.numbers.append(float(cell))

    def made(self) -> Any:
        """The numbers as an array: integers where all are whole."""
        import numpy

        if not self.rows:
            if not self.heads:
                raise damaged(self.path, "there is nothing in it")
            word = next(head for head in self.heads if not _is_number(head))
            raise damaged(self.path, f"its only row names columns: '{word}' is not a number")
        if self.too_large is not None:
            raise self.too_large
        flat = numpy.frombuffer(self.numbers, self.numbers.typecode).reshape(self.rows, self.width)
        return flat.astype(numpy.int64 if self.numbers.typecode == "q" else numpy.float32)

    def column(self, key: str) -> int:
        """The place of a column, by its name or its number."""
        if key in self.heads:
            return self.heads.index(key)
        if key.isdecimal() and len(key) < 10 and int(key) < self.width:
            return int(key)
        listed = ", ".join(self.heads) if self.heads else f"0 to {self.width - 1}"
        raise InputError(
            f"{self.path}: there is no column '{shortened(key)}'; the columns are "
            f"{shortened(listed, 200)}"
        )


def _is_number(cell: str) -> bool:
    """A number as files have it: Python's own 1_000 and the digits of other scripts are none."""
    if not cell.isascii() or "_" in cell:
        return False
    try:
        float(cell)
    except ValueError:
        return False
    return True
