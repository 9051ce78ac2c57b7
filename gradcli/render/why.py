"""Render: the text of `gradcli why`: one sentence, the places that explain it, what to do.

a.grad is None: a does not require grad, so backward had nothing to store there.

  chain.expr:1:5
  1 | a = tensor(4.0)
    |     ^^^^^^^^^^^ made without requires_grad=True

help: a = tensor(4.0, requires_grad=True)      tried: a.grad becomes tensor(-53.)
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..diagnostics import Diagnostic, Label, Span, command
from ..recording.facts.basic import grad_name
from ..recording.facts.reasons import TrialFact, WhyReport
from . import error
from .escape import Terminal
from .table import without_empty
from .text import BLANK, Cell, Line, Look, after, cell, columns, one_line, paint, width_of, wrap

INDENT = "  "
LONGEST = 3  # lines of a gradient that are shown
FINE = "fine"  # a verdict that needs no sentence


def text(report: WhyReport, source: str, look: Look) -> Terminal:
    """The page, behind what the program printed."""
    if not report.sentence:
        return after(report.output, Terminal(""), streamed=False)  # the error says it
    lines: list[Line] = [(cell(row, "name"),) for row in wrap(report.sentence, look.width)]
    lines.extend(_gradient(report))
    if report.labels:
        lines.append(BLANK)
        lines.extend(_frame(report, source, look))
    if report.facts or report.trial is not None:
        lines.append(BLANK)
    for fact in report.facts:
        lines.extend(_wrapped(f"note: {fact}", look))
    if report.trial is not None:
        lines.extend(_advice(report.trial, look))
    return after(report.output, paint(lines, look), streamed=False)


def overview(whole: WhyReport, reports: Sequence[WhyReport], file: str, look: Look) -> Terminal:
    """One row for each leaf, behind what the program printed."""
    lines: list[Line] = []
    if reports:
        rows = [tuple(Cell(head, "head") for head in ("tensor", "verdict", "lines", "why"))]
        rows.extend(map(_row, reports))
        lines.extend(_table(without_empty(rows, 2), look))
        told = [fact for fact in reports[0].facts if fact.startswith("line ")]
        notes = [fact for fact in told if all(fact in report.facts for report in reports)]
        if notes:
            lines.append(BLANK)
        lines.extend(row for fact in notes for row in _wrapped(f"note: {fact}", look))
        worst = next((report for report in reports if report.verdict != FINE), None)
        if worst is not None:
            words = (worst.name,) if file == "<stdin>" else (file, worst.name)
            said = command("why", *words)
            lines.extend((BLANK, *error.note(f"help: {said} shows the lines, and a fix", look)))
        lines.extend(row for fact in whole.facts for row in _wrapped(f"note: {fact}", look))
    elif whole.error is None:
        lines.append((cell("no leaf with a name requires grad: nothing to explain"),))
    return after(whole.output, paint(lines, look), streamed=False)


def _table(rows: Sequence[tuple[Cell, ...]], look: Look) -> list[Line]:
    """Where a page has no room for the sentences they stand below their rows; one that is like that
    of the row above, but for the name, is not said again."""
    natural = columns(rows, look._replace(whole=True))
    widest = max(sum(width_of(piece.text) for piece in line) for line in natural)
    if look.whole or widest <= look.width:
        return natural
    narrow: list[tuple[Cell, ...]] = []
    before = rows[0]  # with the word for the column
    for row in rows:
        narrow.append(row[:3])
        name = re.compile(rf"(?<![\w.]){re.escape(before[0].text)}(?!\w)")
        said = name.sub(row[0].text.replace("\\", r"\\"), before[3].text)
        if row[3].text not in (before[3].text, said) and row[1].text != FINE:
            before = row
            told = wrap(row[3].text, look.width - 2 * len(INDENT))
            narrow.extend((Cell(2 * INDENT + part),) for part in told)
    return columns(narrow, look, giving=(2, ((0, 12),)))


def _row(report: WhyReport) -> tuple[Cell, ...]:
    where = ", ".join(map(str, report.lines[:LONGEST]))
    return (
        cell(report.name, "leaf"),
        cell(report.verdict, "good" if report.verdict == FINE else "mark"),
        cell(where, "dim"),
        cell(report.sentence.removeprefix(f"{report.name}.")),
    )


def _gradient(report: WhyReport) -> list[Line]:
    """The numbers, where the sentence does not say them."""
    if report.grad_text is None or report.grad_text in report.sentence:
        return []
    head = f"{INDENT}{grad_name(report.name, report.element)} = "
    rows = report.grad_text.split("\n")
    shown = rows if len(rows) <= LONGEST else [*rows[: LONGEST - 1], "..."]
    pad = " " * width_of(head)
    return [BLANK, *((cell((head if not i else pad) + row),) for i, row in enumerate(shown))]


def _frame(report: WhyReport, source: str, look: Look) -> list[Line]:
    """The places in the program, in the form in which errors show them."""
    labels = tuple(
        Label(Span(fact.line, fact.column, fact.end_line, fact.end_column), fact.text, fact.primary)
        for fact in report.labels
    )
    lines = error.frame(Diagnostic("", "", labels, (), report.file), source.split("\n"), look)
    return [(Cell(INDENT), *lines[0]), *lines[1:]]


def _advice(trial: TrialFact, look: Look) -> list[Line]:
    """What to do, and the result of trying it."""
    if not trial.outcome:
        return _wrapped(f"help: {trial.advice}", look)
    if trial.helped is False:
        return _wrapped(f"note: {trial.advice} does not help: {one_line(trial.outcome)}", look)
    told = f"help: {trial.advice}{error.TRIED} {one_line(trial.outcome)}"
    if width_of(f"help: {trial.advice}") <= look.width:
        return error.note(told, look)
    tried = error.note(told, look._replace(whole=False))
    at = next(place for place, line in enumerate(tried) if line[0].text == error.TRIED)
    return [*_wrapped(f"help: {trial.advice}", look), *tried[at:]]


def _wrapped(said: str, look: Look) -> list[Line]:
    first, *rest = wrap(said, look.width, subsequent_indent="    ") or [""]
    return [*error.note(first, look), *((cell(row),) for row in rest)]
