"""Render: the text of `gradcli grad`: one result, its gradients as PyTorch prints them."""

from __future__ import annotations

from ..recording.facts import GradReport, TensorFact
from . import seeds
from .escape import Terminal
from .folds import Folds
from .table import events, mean_and_norm, pass_heading, ranged, shape_text
from .text import BLANK, Cell, Line, Look, after, cell, paint, width_of


def text(report: GradReport, look: Look, *, streamed: bool = False) -> Terminal:
    """What the program printed, the result, its gradients, the hooks that ran."""
    lines: list[Line] = []
    of = report.of if report.error is None else None
    if of is not None:
        if heading := pass_heading(report.shown):
            lines += [*heading, BLANK]
        for root, value in ((of, report.of_text), *report.more_roots):
            lines.extend(_root(root, value, look))
        lines.extend(seeds.lines(report.seeds, look))
        lines.append(BLANK)
    names = [fact.name for fact in report.gradients]
    if of is not None and report.seeds:
        names = [seeds.gradient(report.seeds, name, look.times) for name in names]
    elif of is not None:
        names = [f"{seeds.differential(of.name)}/{seeds.differential(name)}" for name in names]
    width = max(map(width_of, names), default=0)
    for name, fact in zip(names, report.gradients, strict=True):
        head = name + " " * (width - width_of(name)) + " = "
        shown = (fact.text or "None").split("\n")
        if look.whole or width_of(head) + max(map(width_of, shown)) <= look.width:
            pieces = [cell(head, "leaf"), cell(shown[0])]
            if fact.text is None and fact.reason:
                pieces.append(cell(f"   {fact.reason}", "dim"))
            lines.append(tuple(pieces))
            shown, indent = shown[1:], width_of(head)
        else:  # on lines of its own a row of numbers keeps its columns
            lines.append((cell(f"{name} =", "leaf"),))
            shown, indent = _numbers(shown), 2
        lines.extend((Cell(" " * indent), cell(rest)) for rest in shown)
        if mean_and_norm(fact.range):
            words = f"{shape_text(fact.shape)}  {ranged(fact.shape, fact.range)}"
            lines.append((Cell(" " * indent), cell(words, "dim")))
    if of is not None and not report.gradients and report.derivatives is None:
        lines.append((cell("no tensor with a name received a gradient", "dim"),))
    if report.derivatives is not None:
        from .derivatives import lines as matrices

        lines.extend(matrices(report.derivatives, look, below=bool(report.gradients)))
    if report.events:
        lines.extend((BLANK, *events(report.events, look, Folds(True))))
    lines.extend((cell(words, "dim"),) for words in report.left_out)
    page = paint(lines, look)
    return after(report.output, page, streamed)


def _numbers(rows: list[str]) -> list[str]:
    """A printed tensor without `tensor(` and what that indents."""
    first, *others = rows
    rest = [row.removeprefix(" " * len("tensor(")) for row in others]
    *most, last = first.removeprefix("tensor("), *rest
    return [*most, last.removesuffix(")")]


def _root(of: TensorFact, text: str, look: Look) -> list[Line]:
    """What was differentiated, with its line."""
    line = "" if of.line is None else f"line {of.line}"
    value = text.split("\n")
    rows = [f"{of.name} = {value[0]}", *value[1:]]
    return _indented(rows, " " * (len(of.name) + 3), "result", line, look)


def _indented(rows: list[str], indent: str, style: str, tail: str, look: Look) -> list[Line]:
    first = rows[0]
    room = look.width - width_of(first) - len(tail)
    pieces = [cell(first, style)]
    if tail:
        pieces.append(cell(" " * max(3, room) + tail if len(rows) == 1 else f"   {tail}", "dim"))
    return [tuple(pieces), *((Cell(indent), cell(row)) for row in rows[1:])]
