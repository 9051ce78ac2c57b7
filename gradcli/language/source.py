"""language: a program's text with its line table, decoded from bytes."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cached_property
from typing import Any

from ..diagnostics import Diagnostic, ExitStatus, Label, ProgramError, Span

BYTE_ORDER_MARK = "\ufeff"
LONG = 2000  # bytes before a column that are counted again for each statement


def is_notebook(name: str) -> bool:
    """Whether a name means a notebook or a cell of one; for no other is their file read."""
    if ".ipynb" not in name:
        return False
    from .notebook import of_notebook

    return of_notebook(name) is not None


class Source:
    """The text of one `.expr` file; positions are 1-based lines and columns in characters."""

    def __init__(self, text: str, name: str = "<input>") -> None:
        if text.startswith(BYTE_ORDER_MARK):
            text = text[1:]
        # Python's parser reads \r\n and \r as line ends; one form keeps every position equal.
        self.text = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
        self.name = name
        self.notes: tuple[str, ...] = ()  # what of the file is not in the program
        self.expectations: tuple[Any, ...] = ()  # `# expect:` comments, if asked for
        self.mark: Callable[[int, int], None] | None = None  # called as parsing proceeds
        self.reached = Span(1, 1, 1, 2)  # that place
        self._ascii = self.text.isascii()

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "<input>") -> Source:
        """Decode UTF-8; another encoding is refused with the place of the first bad byte."""
        if is_notebook(name):
            return cls._of_notebook(data, name)
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise _not_text(data, error.start, name) from None
        zero = data.find(0)
        if zero >= 0:
            raise _not_text(data, zero, name)
        return cls(text, name)

    @classmethod
    def _of_notebook(cls, data: bytes, name: str) -> Source:
        """The cells of a notebook as one text."""
        from . import notebook

        asked = notebook.of_notebook(name)
        try:
            cells = notebook.read(data, None if asked is None else asked[1])
        except notebook.NotANotebook as error:
            note = "help: gradcli run notes.ipynb runs all cells, notes.ipynb:3 the third"
            raise ProgramError(Diagnostic("SyntaxError", str(error), (), (note,), name)) from None
        source = cls(cells.text, name)
        if cells.left_out:
            lines = "1 line" if cells.left_out == 1 else f"{cells.left_out} lines"
            source.notes = (f"{lines} with magics or shell commands left out",)
        return source

    @cached_property
    def cells(self) -> list[int]:
        """The lines on which cells begin, in a notebook or a script that marks them."""
        if not self.is_python or "%%" not in self.text:
            return []
        from .notebook import starts

        return starts(self.text)

    @property
    def is_python(self) -> bool:
        """Written for Python: a script or a notebook."""
        return self.name.endswith(".py") or self.is_notebook

    @property
    def is_notebook(self) -> bool:
        return is_notebook(self.name)

    @cached_property
    def lines(self) -> list[str]:
        """The lines without their ends; only \\n ends a line, as for Python's parser."""
        return self.text.split("\n")

    @cached_property
    def line_starts(self) -> list[int]:
        """Offset in characters at which each line starts."""
        starts = [0]
        for line in self.lines:
            starts.append(starts[-1] + len(line) + 1)
        starts.pop()
        return starts

    def line(self, number: int) -> str:
        """The text of a line; empty beyond the end."""
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""

    def column(self, line: int, byte_offset: int) -> int:
        """1-based column in characters of an offset in UTF-8 bytes, as `ast` gives them."""
        if self._ascii:
            return byte_offset + 1
        text = self.line(line)
        if text.isascii():
            return byte_offset + 1
        return len(text[:byte_offset].encode("utf-8")[:byte_offset].decode("utf-8", "replace")) + 1

    def start_of(self, statement: ast.stmt) -> tuple[int, int]:
        """Its line and column; of a line that is long to count, and no ASCII, about that column."""
        line, offset = statement.lineno, statement.col_offset
        return line, self.column(line, offset) if offset < LONG else offset + 1

    def span_of(self, node: object) -> Span:
        """The span of a syntax node (anything with `lineno` and the three that belong to it)."""
        line: int = node.lineno  # type: ignore[attr-defined]
        end_line: int = node.end_lineno or line  # type: ignore[attr-defined]
        start = self.column(line, node.col_offset)  # type: ignore[attr-defined]
        end_offset = node.end_col_offset  # type: ignore[attr-defined]
        end = start + 1 if end_offset is None else self.column(end_line, end_offset)
        return Span(line, start, end_line, end)

    def place_of(self, node: object) -> Span:
        """The span that begins where Python's tracebacks point: a method's name on a line of its
        own begins its call."""
        span = self.span_of(node)
        named = getattr(node, "func", node)
        if not isinstance(named, ast.Attribute) or named.end_lineno in (None, span.line):
            return span
        line: int = named.end_lineno
        end = self.column(line, named.end_col_offset or 0)
        return Span(line, end - len(named.attr), span.end_line, span.end_column)

    def span_at(self, offset: int) -> Span:
        """The span of the character at an offset."""
        from bisect import bisect_right

        line = bisect_right(self.line_starts, offset)
        column = offset - self.line_starts[line - 1] + 1
        return Span(line, column, line, column + 1)

    def text_of(self, span: Span) -> str:
        """The piece of the text that a span covers."""
        if span.line == span.end_line:
            return self.line(span.line)[span.column - 1 : span.end_column - 1]
        first = self.line(span.line)[span.column - 1 :]
        between = self.lines[span.line : span.end_line - 1]
        return "\n".join([first, *between, self.line(span.end_line)[: span.end_column - 1]])

    def words_of(self, span: Span) -> str:
        """The same on one line, without the comments between its lines."""
        text = self.text_of(span)
        return on_one_line(text) if "\n" in text else text

    def comes_to(self, piece: str, before: int = 0) -> None:
        """Parsing has come to a piece of the text, with so many lines before it.

        Python's parser knows no place until it is done: the piece begins it, or the one line that
        is more than half of the piece.
        """
        middle = len(piece) // 2
        start, end = piece.rfind("\n", 0, middle) + 1, piece.find("\n", middle)
        if end < 0:
            end = len(piece)
        if 2 * (end - start) > len(piece):
            before += piece.count("\n", 0, start)
        self.reached = Span(before + 1, 1, before + 1, 2)
        if self.mark is not None:
            self.mark(before + 1, 1)

    def too_deep(self, words: str, span: Span) -> ProgramError:
        """The limit of nesting, ours or that of Python's parser."""
        error = self.error(
            "LimitReached", words, span, "help: give the inner parts names of their own"
        )
        return ProgramError(error.diagnostic._replace(exit_status=ExitStatus.LIMIT_REACHED))

    def error(
        self, type: str, message: str, span: Span, *notes: str, label: str = ""
    ) -> ProgramError:
        """A program error that points at one span of this source."""
        labels = (Label(span, label, primary=True),)
        return ProgramError(Diagnostic(type, message, labels, notes, self.name))


def _not_text(data: bytes, place: int, name: str) -> ProgramError:
    """What is not text is not shown either: only where it stops to be text."""
    before = data[:place]
    line = before.count(b"\n") + 1
    column = place - (before.rfind(b"\n") + 1) + 1
    message = (
        f"the file is not UTF-8 text: byte 0x{data[place]:02x} at line {line}, "
        f"byte {column} of the line"
    )
    note = "help: save the file as UTF-8"
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        note = "help: save the file as UTF-8; it looks like UTF-16"
    elif b"\0" in data:
        note = "help: name a program; this looks like a file of another kind"
    labels = (Label(Span(line, column, line, column + 1), "", primary=True),)
    return ProgramError(Diagnostic("SyntaxError", message, labels, (note,), name))


def on_one_line(text: str) -> str:
    """A piece of a program without the comments between its lines."""
    return " ".join((_without_comments(text) if "#" in text and "\n" in text else text).split())


def _without_comments(text: str) -> str:
    """A piece of a program without its comments; what looks like one within a string stays."""
    from tokenize import COMMENT, TokenError, generate_tokens

    lines = f"({text}\n)".splitlines(keepends=True)
    try:
        found = [token for token in generate_tokens(iter(lines).__next__) if token.type == COMMENT]
    except (TokenError, SyntaxError):
        return text
    for token in reversed(found):
        row, column = token.start
        lines[row - 1] = lines[row - 1][:column] + "\n"
    return "".join(lines)[1:-1]
