"""language: notebooks and percent-format scripts: from cells to one program text.

A notebook becomes one text: each cell of code below a line `# %% cell N`, which is how editors
mark the cells of a script too. Magics and lines for the shell are left out and counted.
"""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_right
from typing import Any

from ..diagnostics import CELL_MARK, CellLine
from ..named import NamedTuple
from ..pattern import pattern

_NAMED = pattern(r"(.*\.ipynb)(?::(\d{1,9}))?")
_CELL = pattern(r"#\s*%%(?!%)")
_OWN_MARK = pattern(r"^#(?=\s*%%(?!%))", re.MULTILINE)
_LEFT_OUT = pattern(r"(\s*)(?:%{1,2}[A-Za-z_]|!|\?)|(\s*)[\w.]+\?{1,2}\s*$")
# Cell magics whose cell is a program all the same; below any other stands another language.
PYTHON = frozenset("time timeit capture prun python python3 pypy".split())


class NotANotebook(ValueError):
    """The file is not what its name says."""


class Cells(NamedTuple):
    """A text with cells: the lines on which they begin, and what was left out."""

    text: str
    left_out: int


def of_notebook(name: str) -> tuple[str, int | None] | None:
    """The path and the cell that `notes.ipynb` or `notes.ipynb:3` mean; None for other files."""
    match = _NAMED.fullmatch(name)
    if match is None:
        return None
    return match[1], None if match[2] is None else int(match[2])


def read(data: bytes, only: int | None) -> Cells:
    """The cells of code of a notebook, or one of them."""
    import json  # which no other program needs

    try:
        cells = [cell for cell in json.loads(data)["cells"] if cell["cell_type"] == "code"]
        sources = [_joined(cell["source"]) for cell in cells]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise NotANotebook("the file is not a notebook: it is no JSON with cells") from error
    if only is not None and not 0 < only <= len(sources):
        raise NotANotebook(f"the notebook has {len(sources)} cells of code, and no cell {only}")
    left_out, parts = 0, []
    for number, source in enumerate(sources, start=1):
        if only is None or number == only:
            text, count = without_magics(source)
            parts.append(f"{CELL_MARK}{number}\n{text}\n")
            left_out += count
    return Cells("".join(parts), left_out)


def _joined(source: Any) -> str:
    if isinstance(source, list):
        source = "".join(source)
    if not isinstance(source, str):
        raise TypeError("a cell is a text, or a list of lines")
    source.encode("utf-8")  # JSON can write halves of a letter
    text = source.rstrip("\n").replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    # A cell pasted from a script may have its marks: as an indented comment each is none here.
    return _OWN_MARK.sub(" #", text) if "%%" in text else text


def without_magics(source: str) -> tuple[str, int]:
    """A cell without what is no Python, each such line as one that does nothing."""
    if not any(letter in source for letter in "%!?") or _is_python(source):
        return source, 0
    lines = source.split("\n")
    first = next((line for line in lines if line.strip()), "")
    magic = re.match(r"\s*%%(\w+)", first)
    if magic is not None and magic[1] not in PYTHON:
        return "\n".join(["pass", *[""] * (len(lines) - 1)]), len(lines)
    count = 0
    for place, line in enumerate(lines):
        found = _LEFT_OUT.match(line)
        if found is not None:
            lines[place] = f"{found[1] or found[2] or ''}pass"
            count += 1
    return "\n".join(lines), count


def _is_python(source: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True


def starts(text: str) -> list[int]:
    """The lines on which the cells of a text begin: those of their marks."""
    lines = enumerate(text.split("\n"), start=1)
    return [number for number, line in lines if _CELL.match(line)]


def count_within_cells(body: list[ast.stmt], text: str, begins: list[int]) -> None:
    """Lets each line of a notebook's tree say in which cell it stands."""
    lines = text.split("\n")
    known: dict[int, CellLine] = {}
    for place, start in enumerate(begins):
        end = begins[place + 1] if place + 1 < len(begins) else len(lines) + 1
        cell = lines[start - 1].removeprefix(CELL_MARK)
        known.update((line, CellLine.of(line, cell, start)) for line in range(start, end))
    for statement in body:
        for node in ast.walk(statement):
            if hasattr(node, "lineno"):
                node.lineno = known.get(node.lineno, node.lineno)


def runs_on(body: list[ast.stmt], begins: list[int]) -> bool:
    """Whether a statement begins in one cell and ends in a later one."""
    for node in body:
        first = min(getattr(node, "decorator_list", None) or [node], key=lambda n: n.lineno).lineno
        following = bisect_right(begins, first)
        if following < len(begins) and begins[following] <= (node.end_lineno or first):
            return True
    return False


def mark_echoes(body: list[ast.stmt], text: str, begins: list[int]) -> None:
    """A cell's last value is shown, unless a semicolon stands behind it."""
    lines = text.split("\n")
    last_in: dict[int, ast.stmt] = {}  # by the number of the mark above it
    for node in body:
        if not hasattr(node, "expectation_step"):
            last_in[bisect_right(begins, node.lineno)] = node
    for last in last_in.values():
        if isinstance(last, ast.Expr) and not _is_silenced(lines, last):
            last.echo = True  # type: ignore[attr-defined]


def _is_silenced(lines: list[str], node: ast.Expr) -> bool:
    line = lines[(node.end_lineno or node.lineno) - 1]
    behind = line.encode("utf-8")[node.end_col_offset or 0 :].decode("utf-8", "replace")
    return behind.lstrip().startswith(";")
