"""Render: the page of `gradcli paths` for tensors of several elements: a matrix for each edge."""

from __future__ import annotations

from ...recording.facts.paths import PathFact, PathsReport
from ..seeds import differential, names_of
from ..text import BLANK, Cell, Line, Look, broken, cell, counted, ellipsis, pad, width_of
from .words import INDENT, KEPT, LONG, Strokes, against_text, folded, number, share_text

RATIO, KIND = 24, 8  # columns of dy/dx on a terminal, and the fewest of what kind of matrix it is


def tensors(report: PathsReport, look: Look, strokes: Strokes) -> list[Line]:
    lines: list[Line] = []
    for place, path in enumerate(report.paths, 1):
        share = share_text(path.share)
        note = against_text(path)
        lead = f"path {place}  " if len(report.paths) > 1 else ""
        tail = "  ".join(word for word in (share, note) if word)
        room = look.width - width_of(tail) - 2
        *above, head = _head(lead, path, room, look, strokes)
        lines += [(Cell(part, "name"),) for part in above]
        lines.append((Cell(head, "name"), Cell(" " * max(2, room - width_of(head) + 2)),
                      cell(tail, "mark" if note else "dim")))  # fmt: skip
        lines += _product(report, path, look, strokes)
        lines += _steps(report, path, look, strokes)
        lines.append(BLANK)
    return lines


def _head(lead: str, path: PathFact, room: int, look: Look, strokes: Strokes) -> list[str]:
    """The names on the way, in as many lines as they need; all of the last one, which is a leaf."""
    names = folded([("x", name) for name in path.names], strokes)
    *inner, last = [cell(name or label).text for label, name in names]
    lines = [lead]
    for name in inner:
        piece = f"{look.fit(name, room - width_of(lead) - 2)} {strokes.arrow} "
        if lines[-1] != lead and width_of(lines[-1] + piece.rstrip()) > room:
            lines.append(" " * width_of(lead))
        lines[-1] += piece
    if width_of(lines[-1] + last) <= room or look.whole:
        return [*lines[:-1], lines[-1] + last]
    return [*lines, *broken(f"{' ' * width_of(lead)}{last}", room)]


def _product(report: PathsReport, path: PathFact, look: Look, strokes: Strokes) -> list[Line]:
    """v · dy/dh · dh/dx, and the sizes of what is multiplied: [3] · [3 × 3] · [3 × 2] = [2]."""
    given = names_of(report.seeds)
    if len(given) != 1 or not given[0]:
        return []
    cross = "×" if look.unicode else "x"
    pairs = list(zip(path.names, path.names[1:], path.steps, strict=False))
    shapes = [step.shape or (1, 1) for _, _, step in pairs]
    names = [given[0], *(f"{differential(of)}/{differential(wrt)}" for of, wrt, _ in pairs)]
    sizes = [
        f"[{shapes[0][0]:,}]",
        *(f"[{rows:,} {cross} {columns:,}]" for rows, columns in shapes),
    ]
    if len(pairs) > KEPT:
        names, sizes = ([*parts[:KEPT], strokes.fold, parts[-1]] for parts in (names, sizes))
    product = f"{strokes.times.join(names)}   "
    shown = f"{strokes.times.join(sizes)} = [{shapes[-1][1]:,}]"
    if width_of(INDENT + product + shown) <= look.width:
        return [(Cell(INDENT), cell(product), cell(shown, "dim"))]
    return [(Cell(INDENT), cell(product.rstrip())), (Cell(INDENT), cell(shown, "dim"))]


def _ratio(over: str, under: str, look: Look, more: int = 0) -> str:
    """dy/dx; where there is no room for the upper words, the lower ones tell the edges apart."""
    words = f"{over}/{under}"
    if look.whole or width_of(words) + more <= RATIO:
        return words
    return f"d({ellipsis(look)})/{under}"


def _step(
    report: PathsReport, path: PathFact, at: int, look: Look
) -> tuple[str, str, str, str, str]:
    """An edge: its name, its structure, its size, and the gradient behind it with its own name:
    what came along this path to the place where the edge ends."""
    of, wrt, step = path.names[at], path.names[at + 1], path.steps[at]
    cross = " × " if look.unicode else " x "
    kind = step.structure if step.derivative is None else number(step.derivative)
    size = "" if step.shape is None else f"{step.shape[0]:,}{cross}{step.shape[1]:,}"
    name = _ratio(differential(of), differential(wrt), look)
    if step.jacobian_text or not step.passed_text:
        return name, kind, size, "", step.jacobian_text or step.passed_text
    said = f"{_ratio(_begun(report), differential(wrt), look, 2)} ="
    # No name is cut: it stands in a line of its own, or above.
    if not look.whole and width_of(said) > (RATIO if look.width >= 80 else 0):
        said = "its part =" if len(report.paths) > 1 else "gradient ="
    return name, kind, size, said, step.passed_text


def _steps(report: PathsReport, path: PathFact, look: Look, strokes: Strokes) -> list[Line]:
    """One line for each edge; of a long path those at both ends."""
    edges = len(path.steps)
    hidden = edges - 2 * KEPT if edges > LONG else 0
    places = [*range(KEPT), *range(edges - KEPT, edges)] if hidden else list(range(edges))
    rows = [_step(report, path, at, look) for at in places]
    widths = [max(width_of(row[i]) for row in rows) for i in range(4)]
    if not look.whole:
        widths[0] = min(widths[0], RATIO)
        others = len(INDENT) + widths[0] + widths[2] + widths[3] + 7
        widths[1] = min(widths[1], max(KIND, min(30, look.width - others)))
    left = len(INDENT) + sum(widths) + 6 + (1 if widths[3] else 0)
    lines: list[Line] = []
    for place, (name, kind, size, said, value) in enumerate(rows):
        if hidden and place == KEPT:
            fold = f"{strokes.fold} {counted(hidden, 'edge')} {strokes.fold}"
            lines.append((Cell(INDENT), cell(fold, "dim")))
        if width_of(name) > widths[0]:
            shown = broken(cell(name).text, look.width - len(INDENT))
            lines += [(Cell(INDENT), cell(part)) for part in shown]
            name = ""
        parts = value.split("\n") if value else [""]
        is_wide = max(map(width_of, parts)) > look.width - left
        first = (
            Cell(INDENT), cell(pad(name, widths[0])), Cell("  "),
            cell(pad(look.fit(kind, widths[1]), widths[1]), "node"), Cell("  "),
            cell(pad(size, widths[2], right=True), "dim"), Cell("  "),
            cell(pad(said, widths[3])), Cell(" " if widths[3] else ""),
        )  # fmt: skip
        if is_wide:
            lines.append(first)
            fits = look.whole or max(map(width_of, parts)) <= look.width - 4
            indent = INDENT * 2 if fits else ""
            lines += [(Cell(indent), cell(part)) for part in parts]
        else:
            lines.append((*first, cell(parts[0])))
            lines += [(Cell(" " * left), cell(part)) for part in parts[1:]]
    return lines


def _begun(report: PathsReport) -> str:
    """What all that comes along the paths is a derivative of: dloss, v·dy; of several paths each
    brings its part."""
    given = names_of(report.seeds)
    head = differential(report.of)
    if len(given) == 1 and given[0]:
        head = f"{given[0]}·{head}"
    return f"part of {head}" if len(report.paths) > 1 else head


def total(report: PathsReport, look: Look) -> list[Line]:
    """The sum of tensors, and what reverse mode says."""
    if report.equal:
        rows = [("sum", report.sum_text, "equal to reverse mode", "good")]
    else:
        rows = [("sum", report.sum_text, "", ""),
                ("reverse mode", report.reverse_text, "not equal", "error")]  # fmt: skip
    width = max(len(row[0]) for row in rows) + 2
    lines: list[Line] = []
    for name, value, verdict, style in rows:
        parts = value.split("\n")
        if max(map(width_of, parts)) > look.width - width and not look.whole:
            lines += [(cell(name, "name"),), *((cell(part),) for part in parts)]
            lines += [(cell(verdict, style),)] if verdict else []
            continue
        lines.append((cell(pad(name, width), "name"), cell(parts[0])))
        lines += [(Cell(" " * width), cell(part)) for part in parts[1:]]
        if verdict:
            lines.append((Cell(" " * width), cell(verdict, style)))
    return lines
