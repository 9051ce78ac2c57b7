"""Render: `gradcli trace --views`: tensors that share memory, and what was changed in place."""

from __future__ import annotations

from ..recording.facts.views import ViewsFact
from .folds import Folds
from .text import BLANK, Cell, Line, Look, cell, columns, counted, least, one_line

LEAST = 12  # columns of names of which some are too long for the page
MOST = 40  # rows of a table; of more the ends


def lines(fact: ViewsFact, look: Look, folds: Folds) -> list[Line]:
    """Two tables."""
    found = _tensors(fact, look)
    changes = _changes(fact, look, folds)
    return [*found, *((BLANK,) if found and changes else ()), *changes]


def _tensors(fact: ViewsFact, look: Look) -> list[Line]:
    heads = ("memory", "shape", "view of", "offset", "strides", "version")
    rows: list[tuple[Cell, ...]] = [tuple(cell(head, "head") for head in heads)]
    shared = fact.shared()
    for one in sorted(shared, key=lambda one: one.memory):
        also = f" (also {', '.join(one.others)})" if one.others else ""
        rows.append((
            cell(one.name + also, "name"), cell(str(list(one.shape))),
            cell(one.base), cell(str(one.offset)), cell(str(list(one.strides))),
            cell("" if one.version is None else str(one.version)),
        ))  # fmt: skip
    left = len(fact.views) - len(shared)
    alone = counted(left, "tensor shares", "tensors share")
    words = f"{alone} memory with no other and never changed"
    rest: list[Line] = [(cell(words, "dim"),)] if left else []
    if len(rows) == 1:
        return rest
    first = (0, least((row[0] for row in rows), look, LEAST))
    giving = ((first,), 4, 1, ((2, 8),), 3)
    found = columns(rows, look, giving=giving, right=frozenset({3, 5}), kept="name")
    return [*found, *rest]


def _changes(fact: ViewsFact, look: Look, folds: Folds) -> list[Line]:
    rest: list[Line] = []
    if left := fact.changes - len(fact.writes) - fact.nameless:
        rest.append((cell(f"{counted(left, 'later change')} in place", "dim"),))
    if fact.nameless:
        words = f"{counted(fact.nameless, 'change')} of tensors that no name leads to"
        rest.append((cell(words, "dim"),))
    if not fact.writes:
        return rest
    arrow = "→" if look.unicode else "->"
    heads = ("tensor", "changed in place", "version", "seen by", "line")
    rows: list[tuple[Cell, ...]] = [tuple(cell(head, "head") for head in heads)]
    whole = folds.opens("changes") or len(fact.writes) <= MOST
    half = len(fact.writes) if whole else MOST // 2
    for number, one in enumerate(fact.writes):
        if half <= number < len(fact.writes) - half:
            if number == half:
                left = len(fact.writes) - 2 * half
                rows.append(folds.row("changes", counted(left, "change"), look))
            continue
        versions = f"{one.before} {arrow} {one.after}" if one.after is not None else "not counted"
        rows.append((
            cell(one.name, "name"), cell(one_line(one.source)), cell(versions),
            cell(", ".join(one.seen)), cell("" if one.line is None else str(one.line), "dim"),
        ))  # fmt: skip
    first = (0, least((row[0] for row in rows if len(row) > 2), look, LEAST))
    giving = (((1, 16), (3, 12)), (first,), ((1, 8), (3, 8)))
    return [*columns(rows, look, giving=giving, right=frozenset({4}), kept="name"), *rest]
