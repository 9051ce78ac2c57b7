"""Render: tables: every tensor of a program, everything that is saved for backward."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod

from ..recording.facts import (
    FEW,
    EffectFact,
    EffectValue,
    EventFact,
    Report,
    SavedFact,
    ShownPass,
    Spread,
    TensorFact,
)
from .fold import repeats
from .folds import Folds
from .text import Cell, Line, Look, at, bare, cell, columns, least, listed, one_line, width_of, wrap

MOST_SAVED, MOST_EVENTS = 40, 20
EXACT = 17  # digits with which any two numbers differ
SHORT = 14  # a longer value is shown as its shape and range
MOST_ELEMENTS = 6  # of one list or dict; the others are counted
LEAST_NAME = 18  # columns of names of which some are too long for the page
FEW_ROWS = 9  # of modules that repeat each other; so many are not folded
MOST_NAMES, FIRST_NAMES, LAST_NAMES = 120, 60, 20  # rows; of more both ends are shown


_DTYPE = re.compile(r",\s+dtype=torch\.(\w+)")  # PyTorch breaks long lines before it
FREEING = 4  # lines that freed saved tensors
MEASURES = "mean, norm"  # the head of their column


def type_text(fact: TensorFact) -> str:
    """float32[2, 3], or float32[2, 3] sparse_coo; the shape of a single number is left out."""
    layout = "" if fact.layout == "strided" else f" {fact.layout}"
    return fact.dtype + shape_text(fact.shape) + layout


def shape_text(shape: tuple[int, ...]) -> str:
    """[2, 3]; nothing for a single number."""
    return str(list(shape)) if shape else ""


def summary(text: str | None, shape: tuple[int, ...], span: Spread | None) -> str:
    """The value where it is short or has few elements, else from where to where its numbers go."""
    if text is None:
        return ""
    short = bare(text)
    if span is None or (text and (len(short) <= SHORT or prod(shape) <= FEW)):
        return short
    return between(span)


def between(span: Spread) -> str:
    """-0.31…0.42; where there is a NaN among them: nan, -0.31…0.42; of complex numbers
    abs 0.1…2.5, of truth values 44 % True"""
    if span.of == "bool":
        return truths(span)
    low, high = ends(span, 3)
    told = low if low == high else f"{low}…{high}"
    if span.of == "abs":
        told = f"abs {told}"
    return f"nan, {told}" if span.has_nan and low != "nan" else told


def truths(span: Spread) -> str:
    """Which part of truth values is True."""
    if span.low == span.high:
        return f"all {span.low > 0}"
    part = 100 * (span.mean or 0.0)
    return f"{part:.3g} % True" if 1 <= part <= 99 else "few True" if part < 1 else "few False"


def ends(span: Spread, digits: int) -> tuple[str, str]:
    """The least and the greatest with so many digits; numbers that differ have as many more as
    tell them apart."""
    low, high = span.low + 0.0, span.high + 0.0  # -0.0 is 0
    while low != high and digits < EXACT and f"{low:.{digits}g}" == f"{high:.{digits}g}":
        digits += 1
    return f"{low:.{digits}g}", f"{high:.{digits}g}"


def shorter(shape: tuple[int, ...], span: Spread | None) -> str:
    """What a narrow column shows in place of a list that it would cut."""
    return "" if span is None else summary("", shape, span)


def ranged(shape: tuple[int, ...], span: Spread | None) -> str:
    """-0.127…0.14, mean 0.00436, norm 0.442"""
    mean, norm = ("", "") if span is None else measures(span)
    tail = (f", mean {mean}" if mean else "") + (f", norm {norm}" if norm else "")
    return summary("", shape, span) + tail


def untyped(shown: str) -> str:
    """Numbers without their dtype, where another column has it."""
    return _DTYPE.sub("", shown)


def dtype_of(text: str | None) -> str:
    """The dtype that PyTorch prints behind numbers; empty for what goes without saying."""
    match = _DTYPE.search(text or "")
    return "" if match is None else match[1]


def mean_and_norm(span: Spread | None) -> str:
    """0.0121, 3.4: nothing where all numbers are shown, or are the same."""
    mean, norm = ("", "") if span is None else measures(span)
    return f"{mean or '-'}, {norm}" if norm else ""


def measures(span: Spread, digits: int = 3) -> tuple[str, str]:
    """Mean and norm; nothing where numbers are the same. Complex numbers have the norm only."""
    if span.norm is None or span.low == span.high or span.has_nan:
        return "", ""
    mean = "" if span.mean is None else f"{span.mean:.{digits}g}"
    return mean, f"{span.norm:.{digits}g}"


def tensor_table(report: Report, look: Look, folds: Folds) -> list[Line]:
    """One line for each tensor that a name holds; long lists and what repeats are folded."""
    if not report.tensors:
        return []
    elsewhere = any(fact.device != "cpu" for fact in report.tensors)
    heads = (
        "tensor", "type", "requires_grad", "leaf / grad_fn", "value", MEASURES, "grad", MEASURES,
        "device" if elsewhere else "", "line",
    )  # fmt: skip
    rows: list[tuple[Cell, ...]] = [tuple(cell(head, "head") for head in heads)]
    for fact, name, left_out in _thinned(_rows(report.tensors), folds):
        if left_out:
            rows.append(folds.more(("tensors", name), left_out, look))
            continue
        leaf = "leaf" if fact.requires_grad else ""
        none = "None" if fact.requires_grad and not fact.has_grad else ""
        grad = untyped(summary(fact.grad_text, fact.shape, fact.grad_range))
        rows.append((
            cell(name, leaf if fact.is_leaf else ""),
            cell(type_text(fact)),
            _requires(fact),
            cell("leaf", leaf) if fact.grad_fn is None else cell(fact.grad_fn, "node"),
            cell(untyped(summary(fact.text, fact.shape, fact.range)))._replace(
                short=shorter(fact.shape, fact.range)
            ),
            cell(mean_and_norm(fact.range), "dim"),
            cell(grad or none, "dim" if none else "")._replace(
                short=shorter(fact.shape, fact.grad_range)
            ),
            cell(mean_and_norm(fact.grad_range), "dim"),
            cell(fact.device if elsewhere else "", "dim"),
            at(fact.line),
        ))  # fmt: skip
    names = (0, least((row[0] for row in rows if len(row) > 2), look, LEAST_NAME))
    return columns(
        without_empty(rows, 5, 7), look, right=frozenset({9}),
        giving=(5, 7, ((4, 14), (6, 14)), 8, (names,), 3, 9, 1, 2, ((4, 6), (6, 6))),
    )  # fmt: skip


def without_empty(rows: list[tuple[Cell, ...]], *places: int) -> list[tuple[Cell, ...]]:
    """The rows, the first of them heads: none over a column with nothing in it."""
    body = [row for row in rows[1:] if len(row) > 2]
    heads = list(rows[0])
    for place in places:
        if not any(row[place].text for row in body):
            heads[place] = Cell("")
    return [tuple(heads), *rows[1:]]


def _requires(fact: TensorFact) -> Cell:
    """yes, a parameter; no: inside no_grad, line 7."""
    owned = fact.kind == "parameter" and "." in fact.name  # in a function it has no path
    if fact.requires_grad:
        return cell("yes, a parameter" if owned else "yes")
    if fact.kind == "buffer":
        return cell("no, a buffer", "dim")
    if owned and not fact.why_not:
        return cell("no, a frozen parameter", "dim")
    return cell(f"no: {fact.why_not}" if fact.why_not else "no", "dim")


def _rows(tensors: tuple[TensorFact, ...]) -> list[tuple[TensorFact, str]]:
    """The tensors with the words for their names; names of one tensor share a row."""
    groups: dict[tuple[int, ...], list[TensorFact]] = {}
    for place, fact in enumerate(tensors):
        key: tuple[int, ...] = (place if fact.first is None else fact.first,)
        if fact.node is not None:
            key = fact.node, fact.output_nr
        groups.setdefault(key, []).append(fact)
    firsts = {id(_first_of(names)): names for names in groups.values()}
    return [(fact, _names(fact, firsts[id(fact)])) for fact in tensors if id(fact) in firsts]


def _first_of(names: list[TensorFact]) -> TensorFact:
    """A name of its own before an element of a list, and any before a loop's."""
    return min(names, key=lambda fact: (fact.passing, "[" in fact.name))


def _names(first: TensorFact, names: list[TensorFact]) -> str:
    others = [fact.name for fact in names if fact is not first]
    return f"{first.name} (also {', '.join(others)})" if others else first.name


_Shown = tuple[TensorFact, str, int]  # with a number: so many rows are folded behind this name


def _thinned(rows: list[tuple[TensorFact, str]], folds: Folds) -> list[_Shown]:
    """(fact, name, 0), or (any, name, n) in place of n rows: of a long list, of modules that are
    built alike, of very many."""
    kept: list[_Shown] = []
    at = 0
    for start, end in (*_alike(rows), (len(rows), len(rows))):
        kept.extend((*row, 0) for row in rows[at:start])
        hidden = rows[start:end]
        if hidden and folds.opens(("tensors", hidden[0][1])):
            kept.extend((*row, 0) for row in hidden)
        elif hidden:
            kept.append((*hidden[0], len(hidden)))
        at = end
    between = kept[FIRST_NAMES:-LAST_NAMES]
    if len(kept) <= MOST_NAMES or folds.opens(("tensors", between[0][1])):
        return kept
    left_out = sum(number or 1 for _, _, number in between)
    return [*kept[:FIRST_NAMES], (*between[0][:2], left_out), *kept[-LAST_NAMES:]]


def _alike(rows: list[tuple[TensorFact, str]]) -> Iterator[tuple[int, int]]:
    """Stretches that can be folded: elements of one list, tensors of modules built alike. What
    they begin and end with stays."""
    interned: dict[object, int] = {}
    tokens = []
    for place, (fact, _) in enumerate(rows):
        base, bracket, _rest = fact.name.partition("[")
        key: object = place
        if bracket:
            key = base
        elif "." in fact.name:
            key = re.sub(r"\d+", "#", fact.name), fact.dtype, fact.shape
        tokens.append(interned.setdefault(key, len(interned)))
    for start, period, times in repeats(tokens):
        first = MOST_ELEMENTS - 1 if period == 1 else period
        hidden = start + first, start + period * (times - 1)
        if hidden[1] - hidden[0] > (2 if period == 1 else FEW_ROWS):
            yield hidden


def saved_table(report: Report, look: Look, folds: Folds) -> list[Line]:
    """What each node keeps for backward, and who freed the rest."""
    heads = ("saved for backward", "by", "name", "value", "version", "bytes", "state")
    rows: list[tuple[Cell, ...]] = [tuple(cell(head, "head") for head in heads)]
    facts = report.saved if folds.opens("saved") else report.saved[:MOST_SAVED]
    for fact in facts:
        node = report.nodes[fact.node]
        value = summary(fact.text, fact.shape, None)
        if fact.holder is not None:
            value = f"{fact.holder} = {value}"
        rows.append((
            cell(node.place.text if node.place is not None else ""),
            cell(node.name, "node"),
            cell(fact.name),
            cell(value),
            cell("" if fact.version is None else str(fact.version)),
            cell("" if fact.freed else f"{fact.bytes:,}"),
            cell(_state(fact, report), "dim" if fact.freed else ""),
        ))  # fmt: skip
    if len(rows) == 1:
        return [(cell("nothing is saved for backward", "dim"),)]
    # Of the state nothing is cut: version and bytes go before it.
    giving = (((0, 14), (3, 10)), ((1, 12),), 4, ((0, 8), (1, 8), (2, 10), (3, 6)), 5)
    lines = columns(without_empty(rows, 3, 4, 5), look, giving=giving, right=frozenset({4, 5}))
    left = len(report.saved) - len(facts)
    if left:
        lines.append(folds.more("saved", left, look))
    kept = _kept(report)
    lines.extend((cell(row, "dim"),) for row in ([kept] if look.whole else wrap(kept, look.width)))
    return lines


def _kept(report: Report) -> str:
    """How many bytes these are in all, and why that is not their sum."""
    kept = f"{report.saved_bytes:,} bytes are kept for backward"
    if any(fact.packed for fact in report.saved):
        kept += ", and what hooks packed"
    apart = sum(fact.bytes for fact in report.saved if not (fact.freed or fact.packed))
    if report.saved_bytes < apart:
        kept += ": memory that several share counts once"
    elif report.saved_bytes > apart:
        kept += ": a part of a larger tensor keeps all of its memory"
    return kept


def freed(report: Report) -> str:
    """Which calls freed the saved tensors of how many nodes."""
    if not (report.freed and report.saving and report.backwards):
        return ""
    gone = f"{report.freed:,} of {report.saving:,} nodes' saved tensors"
    if report.saving == 1:
        gone = "the saved tensors of the one node that had some"
    shown = [str(line) for line in report.freeing or (report.backwards[-1].line,)]
    if len(shown) > FREEING:
        shown[FREEING - 1 :] = [f"{len(shown) - FREEING + 1:,} more"]
    return f"backward on line{'s' * (len(shown) > 1)} {listed(shown)} freed {gone}"


def _state(fact: SavedFact, report: Report) -> str:
    """alive, or who freed it, or that backward will refuse it."""
    if not fact.freed:
        if fact.packed:
            return "packed by a hook"
        return "changed in place since" if fact.changed else "alive"
    last = report.backwards[-1].line if report.backwards else None
    line = last if fact.freed_by is None else fact.freed_by
    return "freed" if line is None else f"freed by line {line}"


def events(facts: tuple[EventFact, ...], look: Look, folds: Folds) -> list[Line]:
    """The hooks that ran, one line each: whose, which, the gradient before and after."""
    most = None if folds.opens("hooks") else MOST_EVENTS
    lines: list[Line] = [(cell("hooks that ran, in order", "head"),)]
    room = look.width - 5
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
            lines.append((cell(words), place))
            told = "".join(piece.text for piece in change)
            parts = [told] if look.whole else wrap(told, room)
            lines.extend((Cell("     "), cell(part)) for part in parts)
    if most is not None and len(facts) > most:
        lines.append(folds.more("hooks", len(facts) - most, look))
    return lines


def effects(facts: tuple[EffectFact, ...], look: Look) -> list[Line]:
    """The leaves whose gradients hooks changed: without any hook, and with them."""
    if not facts:
        return []
    heads = ("leaf, as hooks changed it", "gradient without hooks", "gradient")
    shorts = ("leaf", "without hooks", "")
    rows: list[tuple[Cell, ...]] = [
        tuple(
            cell(head, "head")._replace(short=one) for head, one in zip(heads, shorts, strict=True)
        )
    ]
    for fact in facts:
        rows.append((cell(fact.name, "leaf"), _effect(fact.without), _effect(fact.now)))
    return columns(rows, look, giving=(((1, 12), (2, 12)), ((0, 4),)))


def _effect(value: EffectValue | None) -> Cell:
    """A gradient; the range, mean and norm of one with many elements."""
    if value is None:
        return Cell("None")
    whole = bare(value.text) if prod(value.shape) <= FEW else ranged(value.shape, value.range)
    return cell(whole)._replace(short=shorter(value.shape, value.range))


def _registered(fact: EventFact) -> str:
    """Of what kind a hook is, where it is no tensor's, and on which line it was registered."""
    kind = "" if fact.kind == "tensor" else f"{fact.kind} hook"
    line = "" if fact.line is None else f"line {fact.line}"
    said = ", ".join(part for part in (kind, line) if part)
    return f"   ({said})" if said else ""


def pass_heading(shown: ShownPass | None) -> list[Line]:
    """pass 3 of 200   loss.backward()   line 12, or after pass 3 of 200 ...

    Nothing of an only pass: there is no other that could be meant.
    """
    if shown is None or (shown.of == 1 and not shown.failed and not shown.ended):
        return []
    where = "" if shown.line is None else f"   {one_line(shown.source)}   line {shown.line}"
    where += ", ended in an error" if shown.failed else ""
    of = f" of {shown.of:,}" if shown.of else ""
    which = f"{'after ' if shown.ended else ''}pass {shown.number:,}{of}"
    words = cell(which + where, "dim")
    return [(words._replace(line=shown.line or 0),)]
