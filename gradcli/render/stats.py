"""Render: `gradcli trace --stats`: a graph in numbers."""

from __future__ import annotations

from collections.abc import Sequence

from ..recording.facts.stats import LargeFact, StatsFact
from .profile import size
from .text import BLANK, Cell, Line, Look, cell, columns, counted, ellipsis, one_line

LINES = 4  # of a kind that are listed
SOURCE = 40  # columns of an expression


def lines(fact: StatsFact, look: Look) -> list[Line]:
    """Sums, then a table of kinds, and what is largest."""
    sums = [
        counted(fact.nodes, "node"), counted(fact.edges, "edge"), f"depth {fact.depth:,}",
        f"{counted(fact.leaves, 'leaf', 'leaves')} with {counted(fact.elements, 'element')}",
        f"{size(fact.bytes)} saved for backward",
    ]  # fmt: skip
    found: list[Line] = [(cell("graph: " + ", ".join(sums), "name"),)]
    for part in (_kinds(fact, look), _saved(fact, look), _large("value", fact.values, look),
                 _large("gradient", fact.gradients, look)):  # fmt: skip
        if part:
            found.extend((BLANK, *part))
    return found


def _kinds(fact: StatsFact, look: Look) -> list[Line]:
    rows = [tuple(cell(head, "head") for head in ("grad_fn", "nodes", "saved", "lines"))]
    for kind in fact.kinds:
        listed = ", ".join(map(str, kind.lines[:LINES]))
        more = f", {ellipsis(look)}" if len(kind.lines) > LINES else ""
        rows.append((
            cell(kind.name, "node"), cell(f"{kind.nodes:,}"),
            cell(size(kind.bytes) if kind.bytes else ""), cell(listed + more, "dim"),
        ))  # fmt: skip
    return columns(rows, look, right=frozenset({1, 2})) if len(rows) > 1 else []


def _saved(fact: StatsFact, look: Look) -> list[Line]:
    rows = [tuple(cell(head, "head") for head in ("largest saved", "by", "name", "bytes", "line"))]
    for one in fact.saved:
        rows.append((
            cell(one_line(one.source)), cell(one.node, "node"), cell(one.name),
            cell(size(one.bytes)), _line(one.line),
        ))  # fmt: skip
    first = (((0, SOURCE // 2),), ((1, 12),))
    return columns(rows, look, giving=first, right=frozenset({3, 4})) if len(rows) > 1 else []


def _large(what: str, facts: Sequence[LargeFact], look: Look) -> list[Line]:
    heads = (
        f"largest {what}",
        "grad_fn",
        "largest",
        "norm",
        "zeros",
        "NaN, inf",
        "elements",
        "line",
    )
    rows: list[tuple[Cell, ...]] = [tuple(cell(head, "head") for head in heads)]
    for one in facts:
        share = f"{100 * one.zeros / one.size:.0f} %" if one.size and one.zeros else ""
        rows.append((
            cell(one_line(one.source)), cell(one.node, "leaf" if one.node == "leaf" else "node"),
            cell(_number(one.largest)), cell(_number(one.norm)),
            cell(share), cell(f"{one.bad:,}" if one.bad else "", "error"),
            cell(f"{one.size:,}"), _line(one.line),
        ))  # fmt: skip
    first = (((0, SOURCE // 2),),)
    if not facts:
        return []
    return columns(rows, look, giving=(*first, 6, 4), right=frozenset(range(2, 8)))


def _number(value: float) -> str:
    return "" if value != value else f"{value:.4g}"


def _line(line: int | None) -> Cell:
    return cell("" if line is None else str(line), "dim")
