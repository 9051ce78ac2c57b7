"""Render: `gradcli trace --stats`: a graph in numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..recording.facts.stats import LargeFact, StatsFact
from .profile import size
from .table import without_empty
from .text import BLANK, Line, Look, at, cell, columns, counted, ellipsis, least, one_line

LINES = 4  # stretches of lines of a kind that a screen shows
LEAST = 12  # columns of an expression


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
        listed = list(_stretches(kind.lines))
        more = f", {ellipsis(look)}" if len(listed) > LINES and not look.whole else ""
        shown = ", ".join(listed[:LINES] if more else listed)
        rows.append((
            cell(kind.name, "node"), cell(f"{kind.nodes:,}"),
            cell(size(kind.bytes) if kind.bytes else ""), cell(shown + more, "dim"),
        ))  # fmt: skip
    giving = (((3, 8),), ((0, LEAST),))
    return columns(rows, look, giving=giving, right=frozenset({1, 2})) if len(rows) > 1 else []


def _stretches(lines: Sequence[int]) -> Iterator[str]:
    """3-5, 9: lines that follow each other as one."""
    first = last = 0
    for line in (*lines, 0):
        if line == last + 1 and last:
            last = line
            continue
        if last:
            yield str(first) if first == last else f"{first}-{last}"
        first = last = line


def _saved(fact: StatsFact, look: Look) -> list[Line]:
    rows = [tuple(cell(head, "head") for head in ("largest saved", "by", "name", "bytes", "line"))]
    for one in fact.saved:
        rows.append((
            cell(one_line(one.source)), cell(one.node, "node"), cell(one.name),
            cell(size(one.bytes)), at(one.line),
        ))  # fmt: skip
    giving = (((0, LEAST), (1, LEAST)), 2)
    return columns(rows, look, giving=giving, right=frozenset({3, 4})) if len(rows) > 1 else []


HEADS = ("grad_fn", "largest", "norm", "zeros", "NaN, inf", "elements", "line")


def _large(what: str, facts: Sequence[LargeFact], look: Look) -> list[Line]:
    rows = [tuple(cell(head, "head") for head in (f"largest {what}", *HEADS))]
    for one in facts:
        share = f"{100 * one.zeros / one.size:.0f} %" if one.size and one.zeros else ""
        leaf = "leaf" if one.node == "leaf" else ""
        rows.append((
            cell(one_line(one.source), leaf), cell(one.node, leaf or "node"),
            cell(_number(one.largest)), cell(_number(one.norm)),
            cell(share), cell(f"{one.bad:,}" if one.bad else "", "error"),
            cell(f"{one.size:,}"), at(one.line),
        ))  # fmt: skip
    if not facts:
        return []
    first = (0, least((row[0] for row in rows if row[0].style == "leaf"), look, LEAST))
    giving = ((first,), 6, 4, 1, 3, 7)
    return columns(without_empty(rows, 4, 5), look, giving=giving, right=frozenset(range(2, 8)))


def _number(value: float) -> str:
    return "" if value != value else f"{value:.4g}"
