"""Render: a diagnostic as text: place, source lines with carets, the error, advice.

    chain.expr:8:1
      7 | L.backward()
        | ------------ freed what MulBackward0 had saved
      8 | L.backward()
        | ^^^^^^^^^^^^ needs it again
    RuntimeError: Trying to backward through the graph a second time ...
    help: L.backward(retain_graph=True) on line 7

The error is `Type: message`, in one line or as many as PyTorch's message has; on a terminal long
lines of it are wrapped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..diagnostics import CELL_MARK, CellLine, Diagnostic, Label, Span
from .escape import Terminal, block
from .text import Cell, Line, Look, cell, cut, ellipsis, paint, width_of, wrap

LONGEST = 400  # columns of a quoted line without a terminal
GAP = 2  # lines left out between two labels are marked when there are more than these
MOST_LINES = 4  # of one label that spans several
LEAD = 12  # characters in front of the first label that a long line keeps
TRIED = "      tried:"  # what is in a note between advice and the answer of trying it
LEAST_WORDS = 44  # columns that the words of a label get on a line of their own


def text(diagnostic: Diagnostic, source: str | None, look: Look) -> Terminal:
    """The whole message, ending in a line end."""
    lines: list[Line] = []
    if source is not None and ".ipynb" in diagnostic.file:
        diagnostic = in_cells(diagnostic, source.split("\n"))
    if diagnostic.labels and source is not None:
        last = max(label.span.end_line for label in diagnostic.labels)
        lines.extend(frame(diagnostic, source.split("\n", last), look))  # no line after it is shown
    elif diagnostic.file not in ("", "<input>"):
        lines.append((cell(_position(diagnostic), "note"),))
    advice = [line for said in diagnostic.notes for line in note(said, look)]
    return Terminal(paint(lines, look) + _error(diagnostic, look) + paint(advice, look))


def beneath(diagnostic: Diagnostic, source: str, look: Look) -> Terminal:
    """What explains an error that Python has shown already: places and advice."""
    lines = frame(diagnostic, source.split("\n"), look)
    lines.extend(line for said in diagnostic.notes for line in note(said, look))
    return Terminal(paint(lines, look).rstrip("\n"))


def note(said: str, look: Look) -> list[Line]:
    """Advice: its word in colour, what trying gave behind it, a table below it as it stands."""
    first, *rows = said.split("\n")
    first, tried, answer = first.partition(TRIED)
    word, colon, rest = first.partition(":")
    known = colon and word in ("help", "note")
    beside = tried and width_of(first + tried + answer) <= look.width
    first, *more = _rows(first, 0, "    ", look)
    rest = first[len(word + colon) :]
    lines: list[Line] = [(cell(word + colon, "advice"), cell(rest)) if known else (cell(first),)]
    lines.extend((cell(row),) for row in more)
    if beside:
        lines = [(*lines[0], Cell(tried, "advice"), cell(answer))]
    elif tried:
        answer, *more = _rows(answer, len(tried), "        ", look)
        lines.append((Cell(tried, "advice"), cell(answer)))
        lines.extend((cell(row),) for row in more)
    return [*lines, *((cell(row),) for row in rows)]


def _rows(said: str, before: int, indent: str, look: Look) -> list[str]:
    """A sentence on a terminal, within its width; it begins in column `before`."""
    if look.whole or before + width_of(said) <= look.width:
        return [said]
    words = said.lstrip()
    pad = " " * (before + len(said) - len(words))
    rows = wrap(words, look.width, initial_indent=pad, subsequent_indent=indent,
                break_long_words=False, break_on_hyphens=False)  # fmt: skip
    return [rows[0][before:], *rows[1:]]


def in_cells(diagnostic: Diagnostic, source: Sequence[str]) -> Diagnostic:
    """The same in words that count lines as a notebook does: by cell, and from the cell's start."""

    def said(words: str) -> str:
        return re.sub(
            r"\bline (\d+)(?! of cell)\b",
            lambda match: f"line {of_cell(int(match[1]), source)}",
            words,
        )

    labels = tuple(label._replace(text=said(label.text)) for label in diagnostic.labels)
    return diagnostic._replace(labels=labels, notes=tuple(map(said, diagnostic.notes)))


def of_cell(line: int, source: Sequence[str]) -> int:
    """A line of the text that a notebook's cells make, as sentences have it: 2 of cell 3."""
    cell_number, start = cell_of(line, source)
    return CellLine.of(line, cell_number, start) if cell_number else line


def in_cell(line: int, source: Sequence[str]) -> str:
    """The same at the head of a report: cell 3, line 2."""
    cell_number, start = cell_of(line, source)
    return f"cell {cell_number}, line {line - start}" if cell_number else f"line {line}"


def cell_of(line: int, source: Sequence[str]) -> tuple[str, int]:
    """The number of a notebook's cell and the line of its mark; nothing for another text."""
    for number in range(min(line, len(source)), 0, -1):
        if source[number - 1].startswith(CELL_MARK):
            return source[number - 1].removeprefix(CELL_MARK), number
    return "", 0


def _position(diagnostic: Diagnostic, source: Sequence[str] = ()) -> str:
    span = diagnostic.span
    if span is not None and ".ipynb" in diagnostic.file:
        name = re.sub(r"(\.ipynb):\d+$", r"\1", diagnostic.file)
        return f"{name}, {in_cell(span.line, source)}, column {span.column}"
    return diagnostic.file if span is None else f"{diagnostic.file}:{span.line}:{span.column}"


def _error(diagnostic: Diagnostic, look: Look) -> Terminal:
    """`Type: message`; PyTorch's own line ends stay, everything else is made harmless."""
    kind, message = block(diagnostic.type), str(block(diagnostic.message))
    head = paint([(Cell(f"{kind}:" if message else kind, "error"),)], look)[:-1]
    if not message:
        return Terminal(f"{head}\n")
    if not look.whole:
        message = wrapped(message, len(kind) + 2, look.width)
    return Terminal(f"{head} {message}\n")


def wrapped(message: str, before: int, width: int) -> str:
    """A message within the width of a terminal; its first line begins in column `before`."""
    rows: list[str] = []
    for line in message.split("\n"):
        pad = "" if rows else " " * before
        if len(pad) + width_of(line) <= width:
            rows.append(pad + line)
            continue
        rows.extend(
            wrap(line, width, initial_indent=pad, subsequent_indent="  ",
                          break_long_words=False, break_on_hyphens=False)
        )  # fmt: skip
    return "\n".join(rows)[before:]


def frame(diagnostic: Diagnostic, source: Sequence[str], look: Look) -> list[Line]:
    """The position, and every labelled line with its marks."""
    labels = sorted(diagnostic.labels, key=lambda label: (label.span.line, label.span.column))
    primary = next((label for label in labels if label.primary), labels[0])
    number_width = len(str(int(max(label.span.end_line for label in labels))))
    place = cell(_position(diagnostic, source), "note")
    lines: list[Line] = [(place._replace(line=primary.span.line),)]
    before: int | None = None
    starts = _Starts(source if ".ipynb" in diagnostic.file else (), primary.span.line)
    by_line: dict[int, list[Label]] = {}
    for label in labels:
        by_line.setdefault(label.span.line, []).append(label)
    numbers = list(by_line)
    for number, following in zip(numbers, [*numbers[1:], len(source) + 1], strict=True):
        group = by_line[number]
        lines.extend(starts.enter(number))
        if before is not None and number > before + GAP:
            lines.append((Cell("  " + (" " * number_width) + _bar(look, True), "dim"),))
        elif before is not None and number == before + GAP:
            lines.append(_source_line(source, before + 1, number_width, look, 0, starts.at))
        before = number
        wide = max(label.span.end_line for label in group)
        skipped = _skipped(group, source, _room(number_width, look))
        lines.append(_source_line(source, number, number_width, look, skipped, starts.at))
        for label in sorted(group, key=lambda label: label is not primary):
            lines.extend(_marks(label, label is primary, source, number_width, look, skipped))
        if wide > number:
            last = min(wide, number + MOST_LINES, following - 1)
            for extra in range(number + 1, last + 1):
                lines.append(_source_line(source, extra, number_width, look, 0, starts.at))
            before = last
    return lines


def _bar(look: Look, gap: bool = False) -> str:
    if look.unicode:
        return " ⋮" if gap else " │ "
    return " :" if gap else " | "


def _source_line(
    source: Sequence[str], number: int, width: int, look: Look, skipped: int = 0, start: int = 0
) -> Line:
    shown = _windowed(source, number, skipped, _room(width, look), look)
    shown_number = Cell(f"  {number - start:>{width}}", "dim", line=number)
    return (shown_number, Cell(_bar(look), "dim"), Cell(shown, "code"))


class _Starts:
    """Where the cell of the lines that are shown begins; 0 in a text without cells."""

    def __init__(self, source: Sequence[str], primary: int) -> None:
        self.source, self.at = source, cell_of(primary, source)[1]  # which the position names

    def enter(self, number: int) -> list[Line]:
        """The cell of this line; a word where it is another than before."""
        name, start = cell_of(number, self.source)
        changed, self.at = start != self.at, start
        return [(Cell(f"  cell {name}", "dim"),)] if changed else []


def _room(width: int, look: Look) -> int:
    """Columns behind the line's number and the bar."""
    return max(20, (LONGEST if look.whole else look.width) - width - 5)


def _harmless(text: str) -> str:
    return cell(text.replace("\t", "    ")).text


def _windowed(source: Sequence[str], number: int, skipped: int, room: int, look: Look) -> str:
    """The line without its first characters, within the page."""
    text = source[number - 1] if 0 < number <= len(source) else ""
    if skipped:
        return cut(ellipsis(look) + _harmless(text[skipped:]), room, ellipsis(look))
    return cut(_harmless(text), room, ellipsis(look))


def _skipped(group: Sequence[Label], source: Sequence[str], room: int) -> int:
    """How many characters of a long line are left out in front, so that its labels can be seen."""
    number = group[0].span.line
    text = source[number - 1] if 0 < number <= len(source) else ""
    ends = [_end(label.span, text) for label in group]
    if width_of(_harmless(text[: max(ends) - 1])) <= room - 1:
        return 0
    first = min(label.span.column for label in group)
    return max(0, first - 1 - LEAD) if first - 1 > LEAD else 0


def _end(span: Span, text: str) -> int:
    """The column behind the part of a span that lies on its first line."""
    return span.end_column if span.end_line == span.line else len(text) + 1


def _marks(
    label: Label, primary: bool, source: Sequence[str], width: int, look: Look, skipped: int = 0
) -> list[Line]:
    """Carets or dashes under a label's place and its words, on lines of their own if too long."""
    span: Span = label.span
    text = source[span.line - 1] if 0 < span.line <= len(source) else ""
    room = _room(width, look)
    before = width_of(_harmless(text[skipped : span.column - 1]))
    start = min(before + (len(ellipsis(look)) if skipped else 0), room - 1)
    piece = text[span.column - 1 : max(_end(span, text) - 1, span.column)]
    length = max(1, min(width_of(_harmless(piece)), room - start))
    style = "mark" if primary else "note"
    margin = Cell(" " * (2 + width) + _bar(look), "dim")
    marks = Cell(("^" if primary else "-") * length, style)
    words = cell(label.text).text
    room = _room(width, look._replace(whole=False))  # sentences are wrapped all the same
    if start + length + 1 + width_of(words) <= room:
        said = Cell(f" {words}" if words else "", style)
        return [(margin, Cell(" " * start), marks, said)]
    indent = start if start + width_of(words) <= room else max(0, min(start, room - LEAST_WORDS))
    wrapped = wrap(words, max(1, room - indent))
    return [
        (margin, Cell(" " * start), marks),
        *((margin, Cell(" " * indent), Cell(line, style)) for line in wrapped),
    ]
