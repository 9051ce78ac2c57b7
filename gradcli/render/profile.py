"""Render: time and memory of a run: a table of lines in order, the heaviest marked."""

from __future__ import annotations

from ..recording.facts.profile import LineFact, ProfileFact
from .folds import Folds
from .text import BLANK, Cell, Line, Look, cell, columns, counted

MOST = 40  # lines that are shown; of more the heaviest
MARKS = ("▶", ">")
_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
_SIZES = ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


def seconds(amount: float, look: Look) -> str:
    """1.23 s, 45.6 ms, 789 µs; three digits that matter."""
    for unit, name in _TIMES:
        if amount >= unit or unit == 1e-6:
            number = amount / unit
            digits = 2 if number < 9.995 else 1 if number < 99.95 else 0
            return f"{number:.{digits}f} {name if look.unicode else name.replace('µ', 'u')}"
    return ""


def size(amount: int) -> str:
    """800 B, 1.50 KiB, 12.3 MiB."""
    for unit, name in _SIZES:
        if amount >= unit:
            number = amount / unit
            return f"{number:.{2 if number < 9.995 else 1 if number < 99.95 else 0}f} {name}"
    return f"{amount} B"


def table(profile: ProfileFact, look: Look, folds: Folds) -> list[Line]:
    """One row for each line that ran; a long program's light lines are counted."""
    if not profile.lines:
        return []
    total = profile.forward_seconds + profile.backward_seconds
    heads = ("line", "times", "forward", "bytes", "backward", "bytes", "%", "")
    rows: list[tuple[Cell, ...]] = [tuple(cell(head, "head") for head in heads)]
    for fact, count, light, first in _thinned(profile, folds):
        if fact is None:
            words = f"{counted(count, 'lighter line')}, {seconds(light, look)}"
            rows.append(folds.row(("lines", first), words, look))
        else:
            rows.append(_row(fact, profile.heaviest, total, look))
    lines = columns(rows, look, giving=(((7, 12),),), right=frozenset(range(7)))
    forward, backward = profile.forward_seconds, profile.backward_seconds
    sums = f"forward {seconds(forward, look)}, backward {seconds(backward, look)}"
    return [
        *lines,
        BLANK,
        (cell(f"{seconds(forward + backward, look)} in all: {sums}", "dim"),),
        (cell("bytes: of results that entered the graph, and of gradients passed on", "dim"),),
    ]


def _row(fact: LineFact, heaviest: int | None, total: float, look: Look) -> tuple[Cell, ...]:
    is_heaviest = fact.line == heaviest
    style = "mark" if is_heaviest else ""
    mark = MARKS[0 if look.unicode else 1] if is_heaviest else ""
    share = f"{100 * fact.seconds / total:.0f}" if total else ""
    return (
        cell(f"{mark}{fact.line}", style or "dim"),
        cell(f"{fact.times:,}", style),
        cell(seconds(fact.forward_seconds, look), style),
        cell(size(fact.forward_bytes) if fact.forward_bytes else "", style),
        cell(seconds(fact.backward_seconds, look) if fact.backward_seconds else "", style),
        cell(size(fact.backward_bytes) if fact.backward_bytes else "", style),
        cell(share, style),
        cell(fact.text),
    )


def _thinned(profile: ProfileFact, folds: Folds) -> list[tuple[LineFact | None, int, float, int]]:
    """(line, 1, 0, its number), or (None, n, seconds, the first) in the place of n light lines that
    follow each other."""
    facts = profile.lines
    kept = sorted(facts, key=lambda fact: -fact.seconds)[:MOST]
    chosen = {fact.line for fact in kept}
    rows: list[tuple[LineFact | None, int, float, int]] = []
    stretch: list[LineFact] = []
    for fact in (*facts, None):
        if fact is not None and fact.line not in chosen:
            stretch.append(fact)
            continue
        if stretch and folds.opens(("lines", stretch[0].line)):
            rows.extend((one, 1, 0.0, one.line) for one in stretch)
        elif stretch:
            light = sum(one.seconds for one in stretch)
            rows.append((None, len(stretch), light, stretch[0].line))
        stretch = []
        if fact is not None:
            rows.append((fact, 1, 0.0, fact.line))
    return rows
