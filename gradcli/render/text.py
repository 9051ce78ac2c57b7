"""Render: lines of cells for a terminal or a pipe; columns, widths and colours live here.

A cell takes foreign text through the escape and nothing else, so whatever is drawn with cells can
be written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..columns import pad as pad, width_of as width_of
from ..named import NamedTuple
from ..recording.facts import Elsewhere
from . import escape
from .escape import Terminal
from .look import Look as Look, broken_sentence, cut as cut, ellipsis as ellipsis, wrap as wrap

CODES = {
    "leaf": "32", "result": "33", "head": "2", "dim": "2", "node": "36", "error": "1;31",
    "mark": "31", "note": "34", "name": "1", "good": "32", "advice": "32",
}  # fmt: skip


class Cell(NamedTuple):
    """A piece of a line, already harmless. Its first `bare` characters take no style; `line` is the
    line of the program that it is about, 0 where it is about none; `short` says it in fewer words,
    where there is no room for all of it. Where it is cut, its last `tail` characters stay if some
    words before them can. `instead` stands in its place where the column behind it is not shown."""

    text: str
    style: str = ""
    bare: int = 0
    line: int = 0
    short: str = ""
    tail: int = 0
    instead: str = ""


Line = tuple[Cell, ...]
Giving = int | Sequence[tuple[int, int]]  # a column that goes, or columns that get narrower
BLANK: Line = ()


SOME = 5  # columns of an expression that is cut before its tail
BESIDE = 28  # columns of a page that names leave for numbers
_NUMBER = re.compile(r"(\d+(?:\.\d*)?(?:e[-+]?\d+)?)")
CONTINUED = str.maketrans("├└─`-", "│    ")  # the lines of a tree, one row further down


def cell(text: str, style: str = "") -> Cell:
    """Foreign text becomes a cell: one line, nothing that a terminal would act on."""
    return Cell(escape.line(text), style)


def at(line: int | None, elsewhere: Elsewhere | None = None) -> Cell:
    """The number of a line of the program, which leads there; behind it, where there is room, the
    place in another file that is called there."""
    text = "" if line is None else str(line)
    if elsewhere is None:
        return Cell(text, "dim", line=line or 0)
    return cell(f"{text}, {elsewhere}" if text else str(elsewhere), "dim")._replace(
        line=line or 0, short=text
    )


def broken(text: str, width: int) -> list[str]:
    """All of the text in lines of so many columns."""
    lines = []
    while (head := cut(text, width, "")) != text and head:
        lines.append(head)
        text = text[len(head) :]
    return [*lines, text]


def counted(number: int, word: str, plural: str = "") -> str:
    """1 gradient, 2 gradients; 1 more entry, 2,000 more entries."""
    return f"{number:,} {word if number == 1 else plural or word + 's'}"


def listed(words: Sequence[str]) -> str:
    """a, b and c."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def one_line(text: str) -> str:
    """A printed text without its line ends and the indentation behind them."""
    return " ".join(text.split()) if "\n" in text or "  " in text else text


def bare(text: str) -> str:
    """`tensor(-202.)` as -202., `tensor([1., 2.])` as [1., 2.]; where it lives is said once."""
    shown = one_line(text)
    if shown.startswith("tensor(") and shown.endswith(")"):
        return re.sub(r", device='cuda:\d+'", "", shown[len("tensor(") : -1])
    return shown


def paint(lines: Iterable[Line], look: Look) -> Terminal:
    """The page: cells put together, colours only where they are wanted."""
    if look.rich:
        from . import terminal

        return terminal.drawn(lines, look)
    out: list[str] = []
    for line in lines:
        if look.color:
            shown = "".join(_painted(piece) for piece in line)
        else:
            shown = "".join(piece.text for piece in line).rstrip()
            if width_of(shown) > look.width and not look.whole and " " in shown.strip():
                shown = "\n".join(broken_sentence([piece.text for piece in line], look.width))
        out.append(shown)
    return Terminal("\n".join(out) + "\n" if out else "")


def after(output: str, page: Terminal, streamed: bool) -> Terminal:
    """A page behind what a program printed (which may have been written before)."""
    printed = "" if streamed else escape.block(output)
    gap = "" if not output or output.endswith("\n") else "\n"
    return Terminal(f"{printed}{gap}{chr(10) if output and page else ''}{page}")


def _painted(piece: Cell) -> str:
    code = CODES.get(piece.style)
    bare, words = piece.text[: piece.bare], piece.text[piece.bare :]
    stripped = words.rstrip(" ")
    if code is None or not stripped:
        return piece.text
    return f"{bare}\x1b[{code}m{stripped}\x1b[0m{words[len(stripped) :]}"


def columns(
    rows: Sequence[Sequence[Cell]],
    look: Look,
    *,
    giving: Sequence[Giving] = (),
    right: frozenset[int] = frozenset(),
    gap: int = 2,
    kept: str = "leaf",
) -> list[Line]:
    """Rows in columns as wide as their widest cell; a row of one or two cells stands free.

    Where the page is too narrow the columns of `giving` give way, in this order: a number is a
    column that goes, a group of (number, least width) are columns that get narrower, the widest of
    them first; their cells are cut. A first cell of the style `kept` is never cut: where its column
    is too narrow, the other cells of its row stand below it.
    """
    each = rows_in_columns(rows, look, giving=giving, right=right, gap=gap, kept=kept)
    return [line for lines in each for line in lines]


def rows_in_columns(
    rows: Sequence[Sequence[Cell]], look: Look, *, giving: Sequence[Giving] = (),
    right: frozenset[int] = frozenset(), gap: int = 2, kept: str = "leaf",
) -> list[list[Line]]:  # fmt: skip
    """The same, with the one or two lines of each row by themselves."""
    body = [row for row in rows if len(row) > 2]
    if not body:
        return [[fitted(row, look)] for row in rows]
    widths = _needed(body)
    if not look.whole and _total(widths, gap) > look.width:
        _fit(widths, look.width, gap, giving)
        rows = [_shorter(row, widths) for row in rows]  # which may leave room for other columns
        widths = _needed([row for row in rows if len(row) > 2])
        _fit(widths, look.width, gap, giving)
    mark = ellipsis(look)
    narrow = _total(widths, gap) > look.width and not look.whole
    grid = Grid(tuple(widths), right, gap)
    found: list[list[Line]] = []
    for row in rows:
        lines: list[Line] = []
        found.append(lines)
        if len(row) <= 2:
            lines.append(fitted(row, look))
            continue
        pieces: list[Cell] = []
        if row[0].style == kept and width_of(row[0].text) > widths[0]:
            lines.extend((row[0]._replace(text=part),) for part in broken(row[0].text, look.width))
            row = (Cell(row[0].text[: row[0].bare].translate(CONTINUED).rstrip()), *row[1:])
        for i, piece in enumerate(row):
            if not widths[i]:
                continue
            if pieces:
                pieces.append(Cell(" " * gap))
            if piece.instead and not widths[i + 1]:
                piece = piece._replace(text=piece.instead, tail=0)
            text = pad(_cut(piece, widths[i], mark), widths[i], i in right)
            pieces.append(piece._replace(text=text))
        line = fitted(pieces, look) if narrow else tuple(pieces)
        lines.append(GridLine(line, grid) if look.rich else line)
    return found


def _cut(piece: Cell, width: int, mark: str) -> str:
    """The text of a cell within so many columns: its end goes, or what stands before its tail."""
    if piece.short and width_of(piece.text) > width:
        fits = width_of(piece.short) <= width  # the column may have got narrower since
        return piece.short if fits else _rounded(piece.short, width, mark)
    tail = piece.text[len(piece.text) - piece.tail :]
    room = width - width_of(tail)
    if not tail or room < piece.bare + SOME or width_of(piece.text) <= width:
        return cut(piece.text, width, mark)
    return cut(piece.text[: -piece.tail], room, mark) + tail


def _rounded(numbers: str, width: int, mark: str) -> str:
    """Numbers with fewer digits: one that is cut would read as another number."""
    for form in ("%.2g", "%.1g"):
        text = "".join(form % float(part) if i % 2 else part
                       for i, part in enumerate(_NUMBER.split(numbers)))  # fmt: skip
        low, between, high = text.partition("…")
        text = f"≈{low}" if between and low == high else text
        if width_of(text) <= width:
            return text
    return mark


def _needed(rows: Sequence[Sequence[Cell]]) -> list[int]:
    """How wide the columns have to be for all of each cell."""
    return [max(width_of(row[i].text) for row in rows) for i in range(len(rows[0]))]


def _shorter(row: Sequence[Cell], widths: Sequence[int]) -> Sequence[Cell]:
    """The row with fewer words where a cell has them, and no room for all of its own."""
    if len(row) <= 2 or not any(piece.short for piece in row):
        return row
    return tuple(
        piece._replace(text=piece.short) if piece.short and width_of(piece.text) > wide else piece
        for piece, wide in zip(row, widths, strict=True)
    )


def least(cells: Iterable[Cell], look: Look, otherwise: int) -> int:
    """How wide the first column is at least so that these cells are in it, or `otherwise` where
    they leave no room for the others."""
    wide = max((width_of(one.text) for one in cells), default=0)
    return max(wide, otherwise) if wide <= look.width - BESIDE else otherwise


class Grid(NamedTuple):
    """The columns of a table."""

    widths: tuple[int, ...]
    right: frozenset[int]
    gap: int


class GridLine(tuple[Cell, ...]):
    """A row of a table that says so: cells, gaps between them."""

    grid: Grid

    def __new__(cls, line: Line, grid: Grid) -> GridLine:
        made = super().__new__(cls, line)
        made.grid = grid
        return made


def _total(widths: Sequence[int], gap: int) -> int:
    """The columns of a line with gaps between its cells."""
    return sum(widths) + gap * sum(1 for width in widths[1:] if width)


def _fit(widths: list[int], width: int, gap: int, giving: Sequence[Giving]) -> None:
    """Takes from the widths what is too much; a column of width 0 is not shown. Where columns that
    went have left room, those that were narrowed before have it back."""
    full = tuple(widths)
    for one in giving:
        excess = _total(widths, gap) - width
        if excess <= 0:
            break
        if isinstance(one, int):
            widths[one] = 0
        else:
            _shrink(widths, one, excess)
    shown = [at for at, wide in enumerate(widths) if wide]
    while len(shown) > 1:
        before = _total(widths[: shown[-1]], gap) + gap
        if before + min(SOME, widths[shown[-1]]) <= width:
            break
        widths[shown.pop()] = 0  # it lies beyond the page, or a mere … of it would be seen
    room = max(0, width - _total(widths, gap))
    for one in reversed(giving):
        for i, _ in () if isinstance(one, int) else one:
            more = min(room, full[i] - widths[i]) if widths[i] else 0
            widths[i], room = widths[i] + more, room - more


def fitted(row: Sequence[Cell], look: Look) -> Line:
    """A line that is no wider than the page."""
    if look.whole:
        return tuple(row)
    room = look.width
    pieces = []
    for piece in row:
        words = piece.text if width_of(piece.text) <= room else piece.text.rstrip(" ")
        pieces.append(piece._replace(text=look.fit(words, room)))
        room = max(0, room - width_of(piece.text))
    return tuple(pieces)


def _shrink(widths: list[int], flexible: Sequence[tuple[int, int]], excess: int) -> None:
    """Takes the excess from the flexible columns, always from the widest of them."""
    while excess > 0:
        able = [(widths[i], i, least) for i, least in flexible if widths[i] > least]
        if not able:
            return
        width, i, least = max(able)
        following = max((w for w, j, _ in able if j != i), default=0)
        take = min(excess, width - least, max(1, width - following))
        widths[i] -= take
        excess -= take
