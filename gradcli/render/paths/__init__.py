"""Render: the text of `gradcli paths`: each path with its derivatives, its product, the sum."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...diagnostics import some
from ...named import NamedTuple
from ...recording.facts.paths import PathFact, PathsReport, StepFact
from .. import seeds
from ..escape import Terminal
from ..table import pass_heading
from ..text import BLANK, Cell, Line, Look, after, cell, pad, paint, width_of
from .formula import formula_lines, sentence_lines
from .tensors import tensors, total
from .words import (
    ASCII,
    INDENT,
    UNICODE,
    Strokes,
    against_text,
    derivative_of,
    folded,
    number,
    share_text,
    whole,
)

PRODUCT = (
    "This is a vector-Jacobian product. {} stands as a row of numbers; each edge multiplies the "
    "row by the Jacobian of its step, rows for the result and columns for the input, and the "
    "numbers beside the edge are the row that this gives."
)


def text(report: PathsReport, look: Look, *, streamed: bool = False) -> Terminal:
    """The page that a person reads."""
    if report.error is not None:
        return after(report.output, Terminal(""), streamed)
    strokes = UNICODE if look.unicode else ASCII
    heading = pass_heading(report.shown)
    lines: list[Line] = [*heading, *([BLANK] if heading else []), *_head(report, look)]
    lines += [*seeds.lines(report.seeds, look), BLANK]
    if report.paths and (report.single or report.element is not None):
        lines += _numbers(report, look, strokes)
    elif report.paths:
        lines += tensors(report, look, strokes)
    lines += _others(report, look)
    if report.reverse is not None and not (report.paths and _columned(report)):
        lines += total(report, look)
    lines += _notes(report, look)
    formula = formula_lines(report, look, derivative_of(report, strokes.times.strip()))
    if formula:
        lines += [*([BLANK] if lines[-1] != BLANK else []), *formula]
    while lines and lines[-1] == BLANK:
        lines.pop()
    return after(report.output, paint(lines, look), streamed)


def _columned(report: PathsReport) -> bool:
    return report.single or report.element is not None


def _head(report: PathsReport, look: Look) -> Iterator[Line]:
    name = derivative_of(report, look.times)
    if not report.path_count:
        yield from sentence_lines(f"{name}: no path, since {report.reason}", "name", look)
        return
    plural = "path" if report.path_count == 1 else "paths"
    told = whole(report.path_count)
    over = ""
    count = report.path_count
    if report.by_edges:
        count, told = report.edge_count, whole(report.edge_count)
        plural = "path" if count == 1 else "paths"
        over = " through the full graph"
    what = f"{told} {plural}{over}"
    value = ""
    if _columned(report):
        value = f" = {'?' if report.sum is None else number(report.sum)}"
    shape = "" if _columned(report) else f", of shape {list(report.wrt_shape)}"
    if report.jacobian:
        shape = f", the Jacobian of shape {[*report.of_shape, *report.wrt_shape]}"
    first = cell(f"{name}{value}", "name")
    rest = f"{shape}, {'by one path' if count == 1 and not over else 'the sum of ' + what}"
    if width_of(first.text) + width_of(rest) <= look.width:
        yield (first, cell(rest))
    else:
        yield from sentence_lines(first.text + rest, "name", look)
    if report.others:
        near = report.others[-1]
        name = report.wrt.partition("#")[0]
        words = f"{name} stands for {len(report.others) + 1} tensors on the way; "
        yield from sentence_lines(words + f"--wrt {near} asks for another", "dim", look)
    if not report.by_edges and report.edge_count != report.path_count:
        plural = "path" if report.edge_count == 1 else "paths"
        words = f"the full graph has {whole(report.edge_count)} {plural} (show with --edges)"
        yield (cell(words, "dim"),)


# ---------------------------------------------------------------- paths of numbers


class Row(NamedTuple):
    """One path: its stops and edges, the factors, the product, its share."""

    path: list[tuple[str, str]]  # (label of the edge that leads here, name); the first has no edge
    factors: str
    product: str
    share: str
    note: str


def _numbers(report: PathsReport, look: Look, strokes: Strokes) -> list[Line]:
    rows = [_row(report, path, strokes) for path in report.paths]
    drawn = [_drawn(row.path, strokes) for row in rows]
    total = "" if report.sum is None else number(report.sum)
    value = max(max(width_of(row.product) for row in rows), width_of(total))
    share = max(width_of(row.share) for row in rows)
    note = max(width_of(row.note) for row in rows)
    tail = (3 + share if share else 0) + (2 + note if note else 0)
    room = look.width - len(INDENT) - value - tail
    wide = max(map(width_of, drawn))
    factors = max(width_of(row.factors) for row in rows)
    if wide + 3 + factors > room:
        factors = 0  # they stand on the edges already
    lines: list[Line] = []
    if wide + 3 <= room:
        left = wide + 3 + factors
        for row, path in zip(rows, drawn, strict=True):
            given = pad(row.factors if factors else "", factors, right=True)
            lines.append((Cell(INDENT), *_colored(row, strokes, pad("", wide - width_of(path) + 3)),
                          cell(given, "dim"), *_tail(row, value, share)))  # fmt: skip
    else:
        left = room
        for row in rows:
            parts = _wrapped(row.path, strokes, look.width - len(INDENT) - 4, look)
            last = width_of(parts[-1])
            lines += [(Cell(INDENT if i == 0 else INDENT * 3), cell(part))
                      for i, part in enumerate(parts[:-1])]  # fmt: skip
            lead = INDENT if len(parts) == 1 else INDENT * 3
            if last + len(lead) - len(INDENT) + 2 > room:
                lines.append((Cell(lead), cell(parts[-1])))
                lines.append((Cell(INDENT + " " * left), *_tail(row, value, share)))
            else:
                space = " " * (left - last - len(lead) + len(INDENT))
                lines.append((Cell(lead), cell(parts[-1] + space), *_tail(row, value, share)))
    if report.sum is None:
        return lines
    lines.append((Cell(INDENT + " " * left + strokes.rule * value),))
    verdict = _verdict(report)
    whole_line = (Cell(INDENT + " " * left), cell(pad(total, value, right=True), "name"))
    needed = sum(width_of(piece.text) for piece in verdict)
    if len(INDENT) + left + value + needed <= look.width:
        return [*lines, (*whole_line, *verdict)]
    indent = Cell(" " * max(0, len(INDENT) + left + value - needed))
    return [*lines, whole_line, (indent, *verdict)]


def _tail(row: Row, value: int, share: int) -> list[Cell]:
    cells = [cell(pad(row.product, value, right=True))]
    if share:
        cells.append(cell("   " + pad(row.share, share, right=True), "dim"))
    if row.note:
        cells.append(cell("  " + row.note, "mark"))
    return cells


def _verdict(report: PathsReport) -> list[Cell]:
    if report.equal is None:
        return []
    reverse = "None" if report.reverse is None else number(report.reverse)
    word = ("equal", "good") if report.equal else ("not equal", "error")
    return [cell(f"   reverse mode: {reverse}, ", "dim"), cell(*word)]


def _row(report: PathsReport, path: PathFact, strokes: Strokes) -> Row:
    labels = [_label(step, strokes) for step in path.steps]
    pairs = list(zip(["", *labels], path.names, strict=True))
    known = [step.derivative for step in path.steps]
    factors = ""
    given = [seed.value for seed in report.seeds if not seed.is_one][: len(report.seeds) == 1]
    if report.single and len(known) + len(given) > 1 and None not in known:
        factors = strokes.times.join(number(value) for value in (*given, *known)) + " = "
    product = "?" if path.product is None else number(path.product)
    return Row(folded(pairs, strokes), factors, product, share_text(path.share),
               against_text(path))  # fmt: skip


def _label(step: StepFact, strokes: Strokes) -> str:
    if step.derivative is not None:
        return f"({number(step.derivative)})"
    return f"({step.structure or '?'})"


def _piece(pair: tuple[str, str], strokes: Strokes) -> str:
    """An edge and the name that it leads to."""
    label, name = pair
    if not label:
        return name
    if not name:
        return f" {strokes.line}{label}"
    return f" {strokes.line}{label}{strokes.arrow} {name}"


def _drawn(pairs: Sequence[tuple[str, str]], strokes: Strokes) -> str:
    return cell("".join(_piece(pair, strokes) for pair in pairs)).text


def _colored(row: Row, strokes: Strokes, space: str) -> list[Cell]:
    """A path whose edges stand back and whose ends are marked."""
    cells: list[Cell] = []
    last = len(row.path) - 1
    for place, (label, name) in enumerate(row.path):
        piece = _piece((label, name), strokes)
        edge = cell(piece[: len(piece) - len(name)]).text
        if edge:
            cells.append(Cell(edge, "dim"))
        if name:
            style = "result" if place == 0 else "leaf" if place == last else ""
            cells.append(cell(name, style))
    return [*cells, Cell(space)]


def _wrapped(pairs: list[tuple[str, str]], strokes: Strokes, room: int, look: Look) -> list[str]:
    """A path in lines of that many columns, broken before edges."""
    lines = [""]
    for pair in pairs:
        piece = cell(_piece(pair, strokes)).text
        if lines[-1] and width_of(lines[-1]) + width_of(piece) > room:
            lines.append(piece.lstrip())
        else:
            lines[-1] += piece
    return [look.fit(line, room) for line in lines]


# ---------------------------------------------------------------- remarks


def _others(report: PathsReport, look: Look) -> list[Line]:
    count = report.edge_count if report.by_edges else report.path_count
    left = count - len(report.paths)
    if left <= 0 or not report.path_count:
        return []
    if not report.paths:
        return []
    words = f"and {whole(left)} more, in the sum as well; --top N lists N"
    if report.by_estimate:
        words += " (of these many, the likely largest)"
    return sentence_lines(words, "dim", look)


def _notes(report: PathsReport, look: Look) -> list[Line]:
    lines: list[Line] = []
    if report.reason and report.path_count:
        lines += sentence_lines(report.reason, "dim", look)
    if report.paths and not report.single and (vector := seeds.vector_of(report.seeds)):
        lines += [BLANK, *sentence_lines(PRODUCT.format(vector), "dim", look)]
    if report.equal is False and report.hooked:
        names = some(report.hooked, 4)
        have = "has a hook that changes" if len(report.hooked) == 1 else "have hooks that change"
        words = f"{names} {have} the gradient on its way; the chain rule knows nothing of hooks."
        lines += [BLANK, *sentence_lines(words, "note", look)]
    elif report.equal is False:
        words = (
            f"The products are summed in double precision, reverse mode works in {report.dtype}."
        )
        lines += [BLANK, *sentence_lines(words, "note", look)]
    if report.missing and report.path_count:
        names = some(report.missing, 6)
        have = "has no value" if len(report.missing) == 1 else "have no value"
        words = f"? where a value would stand: {names} {have}; "
        words += f"--set {report.missing[0]}=1.0 gives one"
        lines += [BLANK, *sentence_lines(words, "dim", look)]
    return lines
