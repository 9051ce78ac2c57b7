"""Render: the same lines on a terminal, drawn by rich: tables, colours, source code, links.

A page is made of cells wherever it goes; here it gets what a pipe has no use for. This file is
loaded only where standard output, or standard error, is a terminal that shows colours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from io import StringIO
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pygments import token
from rich.box import Box
from rich.cells import cell_len
from rich.console import Console, OverflowMethod, RenderableType
from rich.style import Style
from rich.syntax import ANSISyntaxTheme, Syntax
from rich.table import Table
from rich.text import Text

from ..columns import as_written
from .escape import Terminal
from .look import broken_sentence

if TYPE_CHECKING:
    from .text import Cell, Grid, Line, Look

# Each colour is as far from white as from black, so that it can be read on both.
GREEN, MAGENTA, TEAL, RED, BLUE, ORANGE = (
    "#138827", "#ca2bbd", "#118097", "#e6211a", "#2472e0", "#ad630e"
)  # fmt: skip
STYLES = {
    "leaf": GREEN, "result": f"bold {ORANGE}", "head": "bold", "dim": "dim", "node": TEAL,
    "error": f"bold {RED}", "mark": f"bold {RED}", "note": BLUE, "name": "bold", "good": GREEN,
    "advice": f"bold {GREEN}",
}  # fmt: skip
RULED = Box(" " * 4 + "\n" + " " * 4 + "\n" + " ── \n" + (" " * 4 + "\n") * 5)
CODE = ANSISyntaxTheme({
    token.Comment: Style(dim=True),
    token.Keyword: Style.parse(MAGENTA),
    token.Operator.Word: Style.parse(MAGENTA),
    token.String: Style.parse(GREEN),
    token.Number: Style.parse(ORANGE),
    token.Name.Builtin: Style.parse(TEAL),
    token.Name.Class: Style(bold=True),
    token.Name.Function: Style(bold=True),
})  # fmt: skip
BARE = Style.parse("dim")


def drawn(lines: Iterable[Line], look: Look) -> Terminal:
    """The page as rich writes it to a terminal of this width."""
    page = list(lines)
    tables = (line for line in page if look.whole or _grid(line) is not None)
    widest = max((sum(cell_len(piece.text) for piece in line) for line in tables), default=0)
    console = Console(
        file=StringIO(), force_terminal=True, width=max(look.width, widest), highlight=False,
        color_system=_colors(), markup=False, emoji=False, legacy_windows=False,
    )  # fmt: skip
    with console.capture() as written:
        for part in parts(page, look):
            width: int | None = None
            overflow: OverflowMethod | None = None
            if isinstance(part, Text) and not look.whole:
                width = look.width
                # One long word is a path, which a reader may copy: it stays in one piece.
                overflow = None if " " in part.plain.strip() else "ignore"
            console.print(part, width=width, overflow=overflow, crop=False)
    return Terminal(written.get())


Colors = Literal["standard", "256", "truecolor", "windows"]


@cache
def _colors() -> Colors:
    """What the terminal can show, as its environment says."""
    found: Any = Console(force_terminal=True).color_system
    return found or "standard"


def parts(lines: Iterable[Line], look: Look) -> Iterator[RenderableType]:
    """Tables, and lines between them."""
    for grid, group in groupby(lines, _grid):
        rows = list(group)
        if grid is not None and rows[0][0].style == "head":
            yield _table(rows, grid, look)
        else:
            for row in rows:
                yield from [_text(row, look)] if grid is not None else _broken(row, look)


def _grid(line: Line) -> Grid | None:
    """The columns of the table that a line is a row of."""
    return getattr(line, "grid", None)


def _table(rows: list[Line], grid: Grid, look: Look) -> Table:
    """Rows under their heads, with a rule between."""
    table = Table(box=RULED, show_edge=False, pad_edge=False, padding=(0, grid.gap - 1, 0, 0),
                  header_style="", border_style="dim")  # fmt: skip
    for piece in rows[0][::2]:
        table.add_column(
            _text((piece,), look), no_wrap=True, overflow="ignore", min_width=len(piece.text)
        )
    for row in rows[1:]:
        table.add_row(*(_text((piece,), look) for piece in row[::2]))
    return table


def _broken(line: Line, look: Look) -> Iterator[Text]:
    """A sentence with its styles, broken where it is without them."""
    line = tuple(piece._replace(text=as_written(piece.text)) for piece in line)
    text = _text(line, look, wraps=True)
    if look.whole or cell_len(text.plain) <= look.width or " " not in text.plain.strip():
        yield text
        return
    at = 0
    for row in broken_sentence([piece.text for piece in line], look.width):
        words = row.lstrip(" ")
        at = text.plain.index(words, at) + len(words)
        yield Text(" " * (len(row) - len(words))).append_text(text[at - len(words) : at])


def _text(line: Line, look: Look, *, wraps: bool = False) -> Text:
    """A line with its styles; sentences are wrapped, what is in columns is not."""
    text = Text(no_wrap=not wraps, overflow="fold" if wraps else "ignore", end="")
    for piece in line:
        text.append_text(_piece(piece, look))
    text.rstrip()
    text.end = "\n"
    return text


def _piece(piece: Cell, look: Look) -> Text:
    piece = piece._replace(text=as_written(piece.text))
    if piece.style == "code":
        return _code(piece.text)
    style = Style.parse(STYLES.get(piece.style, ""))
    bare, words = piece.text[: piece.bare], piece.text[piece.bare :]
    text = Text.assemble((bare, BARE), (words, style))
    if piece.line and look.path:
        start = len(piece.text) - len(words.lstrip())
        text.stylize(Style(link=_address(look.path, piece.line)), start, len(piece.text.rstrip()))
    return text


def _code(source: str) -> Text:
    """Python in the terminal's own colours."""
    indent = len(source) - len(source.lstrip())
    text = Syntax("", "python", theme=CODE, background_color="default").highlight(source.strip())
    text.rstrip()
    return Text(" " * indent).append_text(text)


def _address(path: str, line: int) -> str:
    """Where a click leads: terminals and editors know a line of a file by this."""
    return f"{Path(path).absolute().as_uri()}#{int(line)}"
