"""Render: the text of `gradcli grad`: one result, its gradients as PyTorch prints them."""

from __future__ import annotations

from ..recording.facts import GradReport
from .escape import Terminal
from .table import events
from .text import BLANK, Cell, Line, Look, after, cell, paint, width_of


def text(report: GradReport, look: Look, *, streamed: bool = False) -> Terminal:
    """What the program printed, the result, its gradients, the hooks that ran."""
    lines: list[Line] = []
    of = report.of if report.error is None else None
    if of is not None:
        line = "" if of.line is None else f"line {of.line}"
        value = report.of_text.split("\n")
        rows = [f"{of.name} = {value[0]}", *value[1:]]
        indent = " " * (len(of.name) + 3)
        lines.extend(_indented(rows, indent, "result", line, look))
        lines.append(BLANK)
    names = [f"d{of.name}/d{fact.name}" if of is not None else fact.name
             for fact in report.gradients]  # fmt: skip
    width = max(map(width_of, names), default=0)
    for name, fact in zip(names, report.gradients, strict=True):
        head = name + " " * (width - width_of(name)) + " = "
        shown = (fact.text or "None").split("\n")
        pieces = [cell(head, "leaf"), cell(shown[0])]
        if fact.text is None and fact.reason:
            pieces.append(cell(f"   {fact.reason}", "dim"))
        lines.append(tuple(pieces))
        lines.extend((Cell(" " * width_of(head)), cell(rest)) for rest in shown[1:])
    if report.events:
        lines.extend((BLANK, *events(report.events, look, None)))
    page = paint(lines, look)
    return after(report.output, page, streamed)


def _indented(rows: list[str], indent: str, style: str, tail: str, look: Look) -> list[Line]:
    first = rows[0]
    room = look.width - width_of(first) - len(tail)
    pieces = [cell(first, style)]
    if tail:
        pieces.append(cell(" " * max(3, room) + tail if len(rows) == 1 else f"   {tail}", "dim"))
    return [tuple(pieces), *((Cell(indent), cell(row)) for row in rows[1:])]
