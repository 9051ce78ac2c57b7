"""Render: the page of `gradcli diff`: where two runs diverge, and everything that differs."""

from __future__ import annotations

from collections.abc import Sequence

from ..recording.facts.diff import DifferenceFact, DiffReport, SideFact
from .escape import Terminal
from .text import (
    BLANK,
    Cell,
    Line,
    Look,
    cell,
    columns,
    counted,
    pad,
    paint,
    width_of,
)

MOST_ROWS = 60
MOST_LINES = 12  # that lose digits: those that lose most
TITLES = {"error": "they end differently", "output": "they print different text"}


def text(report: DiffReport, look: Look) -> Terminal:
    """The page."""
    widest = max(width_of(_title(side)) for side in (report.a, report.b))
    lines: list[Line] = [_side("A", report.a, widest, look), _side("B", report.b, widest, look)]
    if report.equal:
        lines += [BLANK, _equal(report), *_digits(report, look)]
        error = report.a.error
        if error is not None:
            lines.append((cell(f"both end in {error.type}: " + error.message.partition("\n")[0]),))
        return paint(lines, look)
    if report.first is not None:
        lines += [BLANK, *_first(report, report.first, look)]
    rows = [d for d in report.differences if d.kind not in ("output", "error", "warning")]
    if rows:
        lines += [BLANK, *_table(rows, look)]
    for difference in report.differences:
        if difference.kind in ("error", "warning"):
            lines += [BLANK, *_message_lines(difference)]
        elif difference.kind == "output":
            lines += [BLANK, *(_difference_line(line, look) for line in difference.shown)]
    lines += [*_digits(report, look), BLANK, _different(report)]
    return paint(lines, look)


def _title(side: SideFact) -> str:
    words = cell(side.file).text
    return f"{words}  {cell(side.settings).text}" if side.settings else words


def _side(letter: str, side: SideFact, widest: int, look: Look) -> Line:
    known = f"{counted(side.tensors, 'tensor')}, {counted(side.nodes, 'node')}"
    wide = min(widest, look.width - len(known) - 5)
    return (
        Cell(f"{letter}  ", "name"),
        Cell(pad(look.fit(_title(side), wide), wide)),
        Cell(f"  {known}", "dim"),
    )


def _first(report: DiffReport, first: DifferenceFact, look: Look) -> list[Line]:
    """The first divergence, with both lines of the programs."""
    what = f"{first.name}: {first.words}" if first.name else TITLES.get(first.kind, first.words)
    lines: list[Line] = [(Cell("first divergence  ", "error"), cell(what))]
    values = [(first.a, "A"), (first.b, "B")]
    sides = [(report.a, first.line_a, first.expression_a),
             (report.b, first.line_b, first.expression_b)]  # fmt: skip
    rows: list[list[Cell]] = []
    for (value, letter), (side, line, expression) in zip(values, sides, strict=True):
        place = "" if line is None else f"line {line}"
        rows.append([
            Cell(f"  {letter}", "name"), Cell(place, "dim"),
            cell(expression or _line(side, line)), cell("" if value is None else value, "result"),
        ])  # fmt: skip
    lines += columns(rows, look, giving=[[(2, 12)], [(3, 8)]])
    lines += [_difference_line(line, look) for line in first.shown]
    return lines


def _line(side: SideFact, line: int | None) -> str:
    """The program's own line, where no expression is known."""
    source = side.text.split("\n")
    return source[line - 1].strip() if line is not None and 0 < line <= len(source) else ""


def _table(rows: Sequence[DifferenceFact], look: Look) -> list[Line]:
    """Everything that is not the same, name by name."""
    head = [Cell(word, "head") for word in ("name", "what", "A", "B", "distance", "lines")]
    table = [head]
    for row in rows[:MOST_ROWS]:
        distance = "" if row.distance is None else f"{row.distance:.3g}"
        table.append([
            cell(row.name, "name"), cell(row.words), cell(row.a or "", "result"),
            cell(row.b or "", "result"), Cell(distance), Cell(_lines(row), "dim"),
        ])  # fmt: skip
    lines = columns(table, look, giving=[[(0, 14)], [(2, 9), (3, 9)], [(1, 8)]],
                    right=frozenset({4}))  # fmt: skip
    if len(rows) > MOST_ROWS:
        lines.append((Cell(f"... {len(rows) - MOST_ROWS} more", "dim"),))
    return lines


def _lines(row: DifferenceFact) -> str:
    a = "-" if row.line_a is None else str(row.line_a)
    b = "-" if row.line_b is None else str(row.line_b)
    return a if a == b else f"{a}, {b}"


def _message_lines(difference: DifferenceFact) -> list[Line]:
    """Errors and warnings, each as it was said."""
    return [
        (Cell(f"{letter} {difference.words}: ", "name"),
         cell((said or "none").partition("\n")[0]))
        for letter, said in (("A", difference.a), ("B", difference.b))
    ]  # fmt: skip


def _difference_line(line: str, look: Look) -> Line:
    style = {"+": "good", "-": "mark", "@": "note"}.get(line[:1], "")
    return (Cell(look.fit(cell(line).text, look.width), style),)


def _digits(report: DiffReport, look: Look) -> list[Line]:
    """The lines after which the lower precision has a digit less than it could have."""
    if not report.digits:
        return []
    worst = min(report.digits, key=lambda fact: fact.left)
    most = worst.left + worst.lost
    lossy = [fact for fact in report.digits if fact.lost >= 1]
    if not lossy:
        said = f"every line keeps at least {worst.left:.1f} of {most:.1f} decimal digits"
        return [BLANK, (Cell(said, "good"),)]
    heads = ("digits lost", "left", "line", f"of {most:.1f} decimal digits, after")
    table = [[Cell(word, "head") for word in heads]]
    kept = sorted(sorted(lossy, key=lambda fact: fact.left)[:MOST_LINES])
    for fact in kept:
        table.append([Cell(f"{fact.lost:.1f}"), Cell(f"{fact.left:.1f}"),
                      Cell(str(fact.line), "dim"), cell(fact.text)])  # fmt: skip
    lines = columns(table, look, giving=[[(3, 12)]], right=frozenset({0, 1, 2}))
    if len(lossy) > len(kept):
        lines.append((Cell(f"... {counted(len(lossy) - len(kept), 'more line')}", "dim"),))
    return [BLANK, *lines]


def _equal(report: DiffReport) -> Line:
    same = report.same
    parts = [counted(same.tensors, "tensor"), counted(same.nodes, "node"),
             counted(same.gradients, "gradient")]  # fmt: skip
    most = f"; no number differs by more than {same.largest:.2g}" if same.largest else ""
    return (Cell(f"equal: {', '.join(parts)}", "good"), Cell(most))


def _different(report: DiffReport) -> Line:
    same = report.same
    total = min(report.a.tensors, report.b.tensors)
    return (
        Cell(
            f"{counted(len(report.differences), 'difference')}; {same.tensors:,} of "
            f"{counted(total, 'tensor')} and {same.nodes:,} of "
            f"{counted(max(report.a.nodes, report.b.nodes), 'node')} are equal"
        ),
    )
