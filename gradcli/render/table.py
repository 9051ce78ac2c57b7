"""Render: tables: every tensor of a program, everything that is saved for backward."""

from __future__ import annotations

from math import prod

from ..recording.facts import EventFact, Report, SavedFact, TensorFact
from .text import Cell, Line, Look, bare, cell, columns, ellipsis, one_line, width_of

MOST_SAVED = 40
SHORT = 14  # a value of more characters is told by its shape and range
FEW = 6  # elements that are shown in full
MOST_ELEMENTS = 6  # of one list or dict; the others are counted
MOST_NAMES, FIRST_NAMES, LAST_NAMES = 120, 60, 20  # rows; of more both ends are shown


def type_text(fact: TensorFact) -> str:
    """float32[2, 3]; the shape of a single number is left out."""
    return fact.dtype + shape_text(fact.shape)


def shape_text(shape: tuple[int, ...]) -> str:
    """[2, 3]; nothing for a single number."""
    return str(list(shape)) if shape else ""


def summary(text: str | None, shape: tuple[int, ...], span: tuple[float, float] | None) -> str:
    """The value where it is short or has few elements, else from where to where its numbers go."""
    if text is None:
        return ""
    short = bare(text)
    if span is None or (text and (len(short) <= SHORT or prod(shape) <= FEW)):
        return short
    low, high = (f"{number:.3g}" for number in span)
    return low if low == high else f"{low}…{high}"


def tensor_table(report: Report, look: Look, *, expand: bool = False) -> list[Line]:
    """One line for each tensor that a name holds."""
    if not report.tensors:
        return []
    elsewhere = any(fact.device != "cpu" for fact in report.tensors)
    heads = (
        "tensor", "type", "requires_grad", "leaf / grad_fn", "value", "grad",
        "device" if elsewhere else "", "line",
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = [tuple(cell(head, "head") for head in heads)]
    for fact, name, left_out in _thinned(_rows(report.tensors), expand):
        if left_out:
            rows.append((cell(f"  {ellipsis(look)} {left_out:,} more", "dim"),))
            continue
        leaf = "leaf" if fact.requires_grad else ""
        none = "None" if fact.requires_grad and not fact.has_grad else ""
        grad = summary(fact.grad_text, fact.shape, fact.grad_range)
        rows.append((
            cell(name, leaf if fact.is_leaf else ""),
            cell(type_text(fact)),
            _requires(fact),
            cell("leaf", leaf) if fact.grad_fn is None else cell(fact.grad_fn, "node"),
            cell(summary(fact.text, fact.shape, fact.range)),
            cell(grad or none, "dim" if none else ""),
            cell(fact.device if elsewhere else "", "dim"),
            cell("" if fact.line is None else str(fact.line), "dim"),
        ))  # fmt: skip
    return columns(
        rows, look, first=(((4, 14), (5, 14)),), dropped=(6, 3, 7, 1, 2),
        flexible=(((4, 6), (5, 6)),), right=frozenset({7}),
    )  # fmt: skip


def _requires(fact: TensorFact) -> Cell:
    """yes, a parameter; no: inside no_grad, line 7."""
    if fact.requires_grad:  # leaves that only a function knew have the kind, and no path
        owned = fact.kind == "parameter" and "." in fact.name
        return cell("yes, a parameter" if owned else "yes")
    if fact.kind == "buffer":
        return cell("no, a buffer", "dim")
    return cell(f"no: {fact.why_not}" if fact.why_not else "no", "dim")


def _rows(tensors: tuple[TensorFact, ...]) -> list[tuple[TensorFact, str]]:
    """The tensors with the words for their names; names of one tensor share a row."""
    by_tensor: dict[tuple[int, int], list[TensorFact]] = {}
    rows: list[tuple[TensorFact, list[TensorFact]]] = []
    for fact in tensors:
        if fact.node is None:
            rows.append((fact, [fact]))
            continue
        names = by_tensor.setdefault((fact.node, fact.output_nr), [])
        if not names:
            rows.append((fact, names))
        names.append(fact)
    told = [(_first_of(names), names) for _, names in rows]
    return [(fact, _names(fact, names)) for fact, names in told]


def _first_of(names: list[TensorFact]) -> TensorFact:
    """A name of its own before an element of a list, and any before a loop's."""
    return min(names, key=lambda fact: (fact.passing, "[" in fact.name))


def _names(first: TensorFact, names: list[TensorFact]) -> str:
    others = [fact.name for fact in names if fact is not first]
    return f"{first.name} (also {', '.join(others)})" if others else first.name


def _thinned(rows: list[tuple[TensorFact, str]], expand: bool) -> list[tuple[TensorFact, str, int]]:
    """(fact, name, 0), or (any, "", n) in place of n rows of a long list or of very many."""
    if expand:
        return [(*row, 0) for row in rows]
    kept: list[tuple[TensorFact, str, int]] = []
    start = 0
    while start < len(rows):
        base = rows[start][0].name.partition("[")[0]
        end = start
        while end < len(rows) and rows[end][0].name.partition("[")[0] == base:
            end += 1
        group = rows[start:end]
        if len(group) > MOST_ELEMENTS + 2:
            kept.extend((*row, 0) for row in group[: MOST_ELEMENTS - 1])
            kept.append((*group[0], len(group) - MOST_ELEMENTS))
            kept.append((*group[-1], 0))
        else:
            kept.extend((*row, 0) for row in group)
        start = end
    if len(kept) <= MOST_NAMES:
        return kept
    first, last = kept[:FIRST_NAMES], kept[-LAST_NAMES:]
    between = kept[FIRST_NAMES:-LAST_NAMES]
    left_out = sum(number or 1 for _, _, number in between)
    return [*first, (*between[0][:2], left_out), *last]


def saved_table(report: Report, look: Look, *, expand: bool = False) -> list[Line]:
    """What each node keeps for backward, and who freed the rest."""
    heads = ("saved for backward", "by", "name", "value", "version", "bytes", "state")
    rows: list[tuple[Cell, ...]] = [tuple(cell(head, "head") for head in heads)]
    facts = report.saved if expand else report.saved[:MOST_SAVED]
    for fact in facts:
        node = report.nodes[fact.node]
        value = summary(fact.text, fact.shape, None)
        if fact.holder is not None:
            value = f"{fact.holder} = {value}"
        rows.append((
            cell(one_line(node.place.text) if node.place is not None else ""),
            cell(node.name, "node"),
            cell(fact.name),
            cell(value),
            cell("" if fact.version is None else str(fact.version)),
            cell("" if fact.freed else f"{fact.bytes:,}"),
            cell(_state(fact, report), "dim" if fact.freed else ""),
        ))  # fmt: skip
    if len(rows) == 1:
        return [(cell("nothing is saved for backward", "dim"),)]
    flexible = (((0, 14), (3, 10)), ((1, 12),))
    lines = columns(rows, look, flexible=flexible, right=frozenset({4, 5}))
    alive = sum(fact.bytes for fact in report.saved if not fact.freed)
    left = len(report.saved) - len(facts)
    more = f"; {left:,} more: --expand" if left else ""
    lines.append((cell(f"{alive:,} bytes are kept for backward{more}", "dim"),))
    return lines


def _state(fact: SavedFact, report: Report) -> str:
    """alive, or who freed it."""
    if not fact.freed:
        return "alive"
    last = report.backwards[-1].line if report.backwards else None
    line = last if fact.freed_by is None else fact.freed_by
    return "freed" if line is None else f"freed by line {line}"


def events(facts: tuple[EventFact, ...], look: Look, most: int | None) -> list[Line]:
    """The hooks that ran, one line each: whose, which, the gradient before and after."""
    lines: list[Line] = [(cell("hooks that ran, in order", "head"),)]
    arrow = " → " if look.unicode else " -> "
    for number, fact in enumerate(facts[:most], start=1):
        after = "unchanged" if fact.after is None else one_line(fact.after)
        words = "  ".join(part for part in (f"{number:>3}", fact.name, one_line(fact.hook)) if part)
        change = (cell(one_line(fact.before)), Cell(arrow), cell(after))
        place = cell(_registered(fact), "dim")
        head = cell(f"{words}  ")
        if sum(width_of(piece.text) for piece in (head, *change, place)) <= look.width:
            lines.append((head, *change, place))
        else:
            lines.extend(((cell(words), place), (Cell("     "), *change)))
    if most is not None and len(facts) > most:
        lines.append((cell(f"  {ellipsis(look)} {len(facts) - most:,} more", "dim"),))
    return lines


def _registered(fact: EventFact) -> str:
    """Of what kind a hook is, where it is no tensor's, and on which line it was registered."""
    kind = "" if fact.kind == "tensor" else f"{fact.kind} hook"
    line = "" if fact.line is None else f"line {fact.line}"
    said = ", ".join(part for part in (kind, line) if part)
    return f"   ({said})" if said else ""
