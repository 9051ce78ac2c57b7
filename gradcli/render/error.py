"""Render: a diagnostic as a person reads it: place, source lines with carets, advice, the error.

    chain.expr:8:1
      7 | L.backward()
        | ------------ freed what MulBackward0 had saved
      8 | L.backward()
        | ^^^^^^^^^^^^ needs it again
    do: L.backward(retain_graph=True) on line 7
    RuntimeError: Trying to backward through the graph a second time ...

The last line (or lines, if PyTorch's message has several) is always `Type: message`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..diagnostics import Diagnostic, Label, Span
from .escape import Terminal, block
from .text import Cell, Line, Look, cell, cut, ellipsis, paint, width_of

GAP = 2  # lines left out between two labels are marked when there are more than these
MOST_LINES = 4  # of one label that spans several


def text(diagnostic: Diagnostic, source: str | None, look: Look) -> Terminal:
    """The whole message, ending in a line end."""
    lines: list[Line] = []
    if diagnostic.labels and source is not None:
        lines.extend(_frame(diagnostic, source.split("\n"), look))
    elif diagnostic.file and diagnostic.file != "<input>" and diagnostic.labels:
        lines.append((cell(_position(diagnostic), "note"),))
    for note in diagnostic.notes:
        word, colon, rest = note.partition(":")
        known = colon and word in ("do", "note", "did you mean")
        styled = (cell(word + colon, "advice"), cell(rest)) if known else (cell(note),)
        lines.append(styled)
    page = paint(lines, look)
    return Terminal(page + _last(diagnostic, look))


def _position(diagnostic: Diagnostic) -> str:
    span = diagnostic.span
    return diagnostic.file if span is None else f"{diagnostic.file}:{span.line}:{span.column}"


def _last(diagnostic: Diagnostic, look: Look) -> Terminal:
    """`Type: message`; PyTorch's own line ends stay, everything else is made harmless."""
    kind, *more = block(diagnostic.type), block(diagnostic.message)
    message = more[0]
    head = paint([(Cell(f"{kind}:", "error"),)], look)[:-1]
    return Terminal(
        f"{head} {message}\n" if message else f"{head[:-1] if not look.color else kind}\n"
    )


def _frame(diagnostic: Diagnostic, source: Sequence[str], look: Look) -> list[Line]:
    """The position, and every labelled line with its marks."""
    labels = sorted(diagnostic.labels, key=lambda label: (label.span.line, label.span.column))
    primary = next((label for label in labels if label.primary), labels[0])
    number_width = len(str(max(label.span.end_line for label in labels)))
    lines: list[Line] = [(cell(_position(diagnostic), "note"),)]
    before: int | None = None
    by_line: dict[int, list[Label]] = {}
    for label in labels:
        by_line.setdefault(label.span.line, []).append(label)
    for number, group in by_line.items():
        if before is not None and number > before + GAP:
            lines.append((Cell("  " + (" " * number_width) + _bar(look, True), "dim"),))
        elif before is not None and number == before + GAP:
            lines.append(_source_line(source, before + 1, number_width, look))
        before = number
        wide = max(label.span.end_line for label in group)
        lines.append(_source_line(source, number, number_width, look))
        for label in sorted(group, key=lambda label: label is not primary):
            lines.append(_marks(label, label is primary, source, number_width, look))
        if wide > number:
            before = _continued(lines, source, number, wide, number_width, look)
    return lines


def _continued(
    lines: list[Line], source: Sequence[str], number: int, end: int, width: int, look: Look
) -> int:
    """The further lines of a span of several, not too many of them."""
    for extra in range(number + 1, min(end, number + MOST_LINES) + 1):
        lines.append(_source_line(source, extra, width, look))
    return min(end, number + MOST_LINES)


def _bar(look: Look, gap: bool = False) -> str:
    if look.unicode:
        return " ⋮" if gap else " │ "
    return " :" if gap else " | "


def _source_line(source: Sequence[str], number: int, width: int, look: Look) -> Line:
    text = source[number - 1] if 0 < number <= len(source) else ""
    room = max(20, look.width - width - 5)
    shown = cut(cell(_tabs(text)).text, room, ellipsis(look))
    return (Cell(f"  {number:>{width}}{_bar(look)}", "dim"), Cell(shown))


def _tabs(text: str) -> str:
    return text.replace("\t", "    ")


def _marks(label: Label, primary: bool, source: Sequence[str], width: int, look: Look) -> Line:
    span: Span = label.span
    text = source[span.line - 1] if 0 < span.line <= len(source) else ""
    end = span.end_column if span.end_line == span.line else len(text) + 1
    room = max(20, look.width - width - 5)
    start = min(width_of(cell(_tabs(text[: span.column - 1])).text), room - 1)
    length = width_of(cell(_tabs(text[span.column - 1 : max(end - 1, span.column)])).text)
    length = max(1, min(length, room - start))
    mark = ("^" if primary else "-") * length
    words = f" {label.text}" if label.text else ""
    return (
        Cell(" " * (2 + width) + _bar(look), "dim"),
        Cell(" " * start),
        Cell(mark, "mark" if primary else "note"),
        cell(words, "mark" if primary else "note"),
    )
