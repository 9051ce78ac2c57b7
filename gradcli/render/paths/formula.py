"""Render: the formula of a gradient, with the numbers put in."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...diagnostics import some
from ...recording.facts.paths import PathsReport
from ..text import BLANK, Cell, Line, Look, broken, cell, pad, width_of

INDENT = 4  # of a formula below its name
LEAST = 24  # columns of a formula beside it


def formula_lines(report: PathsReport, look: Look, name: str) -> list[Line]:
    """The lines it needs, the formula, the numbers put in; where asked for, each local one."""
    formula = report.formula
    if formula is None:
        return sentence_lines(report.no_formula, "dim", look) if report.no_formula else []
    lines: list[Line] = []
    if report.symbolic and formula.steps:
        heads = [look.fit(f"d{of}/d{wrt}", look.width // 3)
                 for of, wrt, _, _ in formula.steps]  # fmt: skip
        width = max(map(width_of, heads))
        for head, (_, _, text, _) in zip(heads, formula.steps, strict=True):
            lines += _equation("  " + pad(head, width), text, look, "dim")
        lines.append(BLANK)
    for left, right in formula.lines:
        lines += _equation(left, right, look, "")
    lines += _equation(name, formula.text, look, "name")
    space = " " * width_of(name)
    if formula.numbers and formula.numbers != formula.text:
        lines += _equation(space, formula.numbers, look, "")
    if formula.aliases:
        told = some([f"{name} is {label}" for name, label in formula.aliases], 6)
        lines += sentence_lines(f"here {told}", "dim", look)
    return lines


def sentence_lines(text: str, style: str, look: Look) -> list[Line]:
    """A sentence in lines that fit the page."""
    lines = [""]
    for word in text.split(" "):
        if lines[-1] and width_of(lines[-1]) + 1 + width_of(word) > look.width:
            lines.append(word)
        else:
            lines[-1] += f" {word}" if lines[-1] else word
    return [(cell(look.fit(line, look.width), style),) for line in lines]


def _equation(left: str, right: str, look: Look, style: str) -> list[Line]:
    """left = right; on a screen a long right side in lines, broken at spaces and behind *."""
    room = look.width - width_of(left) - 3
    if look.whole or width_of(right) <= room:
        return [(cell(left, style), cell(f" = {right}"))]
    head = (cell(left, style), cell(" = "))
    if below := room < LEAST:  # under the name, which leaves no room beside it
        room = look.width - INDENT
    parts = [""]
    for word in _words(right, room):
        if parts[-1] and width_of(parts[-1]) + width_of(word) > room:
            parts.append(word.lstrip(" "))
        else:
            parts[-1] += word
    if below:
        return [head, *((Cell(" " * INDENT), cell(part)) for part in parts)]
    space = " " * (width_of(left) + 3)
    return [(*head, cell(parts[0])), *((Cell(space), cell(part)) for part in parts[1:])]


def _words(text: str, room: int) -> Iterator[str]:
    """Pieces of a formula; where one is too long for a line, it is broken at brackets, or wherever
    the line ends."""
    for word in re.findall(r"[^ *]+\**|\*+| +", text):
        if width_of(word) <= room:
            yield word
            continue
        for piece in re.findall(r"[^(,]+[(,]*|[(,]+", word):
            yield from broken(piece, room)
