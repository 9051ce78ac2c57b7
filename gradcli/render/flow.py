"""Render: the text of `gradcli flow`: passes, leaves with their curves, verdicts.

pass  line  loss      |grad|   largest gradient      largest change
   1     9  4.812       6.31   model.0.weight 5.9    model.2.bias 0.12
"""

from __future__ import annotations

from itertools import pairwise
from math import inf, log10

from ..diagnostics import command
from ..recording.facts.flow import FlowGradient, FlowLeaf, FlowPass, FlowReport, VerdictFact
from .escape import Terminal
from .folds import Expand, Folds, unfolded
from .text import (
    BESIDE,
    BLANK,
    Cell,
    Giving,
    Line,
    Look,
    after,
    at,
    cell,
    columns,
    counted,
    paint,
    width_of,
    wrap,
)

ENDS = 5  # passes that are shown at each end
MOST_LEAVES = 40
MOST_NAMES = 8
STEPS = 10  # columns of a curve
RIGHT = frozenset({3, 4, 5, 6})
ASKED = frozenset({"dead", "zero", "nan", "vanishing", "not reached"})  # `why` says more of these
BARS, PLAIN_BARS = "▁▂▃▄▅▆▇█", "_.-~+*#@"
LEGEND = (
    "pass              the number of the backward pass; torch.autograd.grad is one too",
    "line              the line of the call that ran it",
    "loss              the value of what the pass began at, where it is a single number",
    "|grad|            the norm of all gradients that came to leaves in the pass",
    "largest gradient  the leaf whose gradient had the largest norm, and the norm",
    "largest change    the leaf that changed most before the next pass: norm(change) / "
    "norm(value), or `from 0`",
    "curve             norms from the first pass to the last on a scale of powers of ten; the "
    "lowest and the highest bar are the least and the largest of this row, 0 is a zero, ! is "
    "NaN or infinite",
    "first → last      the norm in the first pass and in the last one",
    "zeros             the share of elements that were 0, of the gradients of all passes",
    "NaN               the first pass whose gradient has a NaN or an infinity",
    "unchanged         the share of the leaf's elements that are as they were in the first pass",
    "update            the mean of norm(change) / norm(value) over all changes; - means no change",
)


def text(
    report: FlowReport, look: Look, *, expand: Expand = False, with_legend: bool = False
) -> Terminal:  # fmt: skip
    """The page, behind what the program printed."""
    lines = unfolded(lambda folds: _page(report, look, folds, with_legend), expand)
    return after(report.output, paint(lines, look), streamed=True)


def _page(report: FlowReport, look: Look, folds: Folds, with_legend: bool) -> list[Line]:
    lines: list[Line] = []
    if report.one is not None:
        lines.extend(_one(report, look))
    elif report.total:
        lines.extend(_passes(report, look, folds))
        if report.leaves:
            lines.extend((BLANK, *_leaves(report, look, folds)))
    elif report.error is None:
        lines.append((cell("no backward pass: nothing flowed"),))
    for verdict in report.verdicts:
        lines.extend((BLANK, *_verdict(verdict, report.file, look)))
    if report.total and report.one is None:
        if not report.verdicts and report.leaves and report.error is None:
            lines.extend((BLANK, (cell("no problem found in these gradients"),)))
        if footer := folds.footer():
            lines.extend((BLANK, *footer))
    if with_legend:
        lines.extend((BLANK, *legend(look)))
    return lines


def legend(look: Look) -> list[Line]:
    """What columns and signs mean."""
    return [(cell(part, "dim"),) for row in LEGEND for part in _wrapped(row, look, 18)]


# ---------------------------------------------------------------- passes


def _passes(report: FlowReport, look: Look, folds: Folds) -> list[Line]:
    heads = ("pass", "line", "loss", "|grad|", "largest gradient", "largest change")
    rows: list[tuple[Cell, ...]] = [tuple(cell(head, "head") for head in heads)]
    previous = 0
    kept = {fact.number for fact in report.passes}
    for fact in _chosen(report, folds):
        left = fact.number - previous - 1
        if left and previous + 1 in kept:
            rows.append(folds.more(("passes", previous), left, look, "pass", "passes"))
        elif left:
            sign = "⋮" if look.unicode else ":"
            words = counted(left, "more pass", "more passes")
            rows.append((cell(f"{sign}  {words}; not kept", "dim"),))
        previous = fact.number
        rows.append(_pass_row(fact))
    giving: tuple[Giving, ...] = (5, 4)  # a name without its number would say nothing
    return columns(rows, look, giving=giving, right=frozenset({0, 1}))


def _chosen(report: FlowReport, folds: Folds) -> list[FlowPass]:
    """The ends, the pass of the largest gradient, the first with a NaN, and what is open."""
    passes = report.passes
    if folds.every or len(passes) <= 2 * ENDS + 2:
        return list(passes)
    inner = passes[ENDS:-ENDS]
    marked = {fact.number for fact in inner if not fact.norm < inf and fact is _first_bad(passes)}
    peak = max((fact for fact in passes if fact.norm < inf), key=lambda f: f.norm, default=None)
    if peak is not None:
        marked.add(peak.number)
    opened, before = False, passes[ENDS - 1].number
    for fact in inner:
        opened = (opened or folds.opens(("passes", before))) and fact.number not in marked
        if opened:
            marked.add(fact.number)
        before = fact.number if fact.number in marked else before
    between = [fact for fact in inner if fact.number in marked]
    return [*passes[:ENDS], *between, *passes[-ENDS:]]


def _first_bad(passes: tuple[FlowPass, ...]) -> FlowPass | None:
    return next((fact for fact in passes if not fact.norm < inf), None)


def _pass_row(fact: FlowPass) -> tuple[Cell, ...]:
    norm = "-" if fact.largest is None else _number(fact.norm)  # no leaf was reached
    if fact.failed:
        norm = f"{norm}  failed" if fact.norm else "failed"
    return (
        cell(str(fact.number)),
        at(fact.line),
        cell("-" if fact.loss is None else _number(fact.loss)),
        cell(norm, "" if fact.norm < inf else "mark"),
        cell(_named(fact.largest, fact.largest_norm)),
        cell(_named(fact.changed, fact.change, "from 0")),
    )


def _named(name: str | None, number: float | None, other: str = "") -> str:
    if name is None:
        return "-"
    return f"{name} {other if number is None else _number(number)}"


# ---------------------------------------------------------------- leaves


def _leaves(report: FlowReport, look: Look, folds: Folds) -> list[Line]:
    """One row for each leaf, with as much of its curve as there is room for."""
    for steps in (STEPS, STEPS // 2, 0):
        rows = _leaf_rows(report, look, folds, steps)
        natural = columns(rows, look._replace(whole=True), right=RIGHT)
        if (
            look.whole
            or max(sum(width_of(piece.text) for piece in line) for line in natural) <= look.width
        ):
            break
    names: Giving = ((0, look.width - BESIDE),)  # a longer one has lines of its own
    giving: tuple[Giving, ...] = (names, ((7, 8),), 5, 3, 4, ((7, 4),), 1, 6)
    lines = natural if look.whole else columns(rows, look, giving=giving, right=RIGHT)
    if report.others:
        left = counted(report.others, "leaf", "leaves")
        lines.append((cell(f"and {left} without a name", "dim"),))
    return lines


def _leaf_rows(
    report: FlowReport, look: Look, folds: Folds, steps: int
) -> list[tuple[Cell, ...]]:  # fmt: skip
    """Where there are many, those with a verdict and both ends; columns that say nothing are
    empty."""
    arrow = "→" if look.unicode else "->"
    heads = ("leaf", "curve" if steps else "", f"first {arrow} last", "zeros", "NaN", "unchanged",
             "update", "verdict")  # fmt: skip
    rows: list[tuple[Cell, ...]] = [tuple(cell(head, "head") for head in heads)]
    previous = -1
    for place in _worth(report.leaves, folds):
        if place > previous + 1:
            left = place - previous - 1
            rows.append(folds.more(("leaves", previous), left, look, "leaf", "leaves"))
        previous = place
        rows.append(_leaf_row(report.leaves[place], look, steps))
    for column in (4, 7):
        if not any(len(row) > 2 and row[column].text for row in rows[1:]):
            rows[0] = (*rows[0][:column], Cell(""), *rows[0][column + 1 :])
    return rows


def _worth(leaves: tuple[FlowLeaf, ...], folds: Folds) -> list[int]:
    if folds.every or len(leaves) <= MOST_LEAVES:
        return list(range(len(leaves)))
    half = MOST_LEAVES // 4
    wrong = [i for i, leaf in enumerate(leaves) if leaf.verdicts][:MOST_LEAVES]
    kept = sorted({*range(half), *wrong, *range(len(leaves) - half, len(leaves))})
    opened = [range(a, b) for a, b in pairwise(kept) if folds.opens(("leaves", a))]
    return sorted({*kept, *(place for stretch in opened for place in stretch)})


def _leaf_row(leaf: FlowLeaf, look: Look, steps: int) -> tuple[Cell, ...]:
    words = (verdict.removesuffix(" to the optimiser") for verdict in leaf.verdicts)
    verdict = cell(", ".join(words), "mark")
    if not leaf.passes:
        blank = Cell("")
        none = (cell("-", "dim"),) * 2
        return (cell(leaf.name, "leaf"), *none, blank, blank, blank, blank, verdict)
    arrow = " → " if look.unicode else " -> "
    return (
        cell(leaf.name, "leaf"),
        cell(curve(leaf.curve, look, steps), "node"),
        cell(f"{_maybe(leaf.first)}{arrow}{_maybe(leaf.last)}"),
        cell(_share(leaf.zeros)),
        cell("" if leaf.first_bad is None else f"pass {leaf.first_bad}", "mark"),
        cell(_share(leaf.unchanged)),
        cell("?" if leaf.update is None else _number(leaf.update) if leaf.update else "-"),
        verdict,
    )


def curve(groups: tuple[float, ...], look: Look, steps: int = STEPS) -> str:
    """The course of norms in a few bars, on a scale of powers of ten."""
    bars = BARS if look.unicode else PLAIN_BARS
    values = _reduced(groups, steps)
    logs = [log10(value) for value in values if 0 < value < inf]
    low, high = (min(logs), max(logs)) if logs else (0.0, 0.0)
    room = high - low
    text = ""
    for value in values:
        if not value < inf:
            text += "!"
        elif value <= 0:
            text += "0"  # no bar
        else:
            share = (log10(value) - low) / room if room > 1e-3 else 0.5
            text += bars[min(len(bars) - 1, int(share * len(bars)))]
    return text if text.strip("0") else text[:1]


def _reduced(groups: tuple[float, ...], steps: int) -> list[float]:
    """So many columns: of neighbours the largest."""
    if not steps or len(groups) <= steps:
        return list(groups) if steps else []
    edges = [round(i * len(groups) / steps) for i in range(steps + 1)]
    return [_largest(groups[a:b]) for a, b in pairwise(edges)]


def _largest(numbers: tuple[float, ...]) -> float:
    return next((number for number in numbers if number != number), max(numbers))


# ---------------------------------------------------------------- verdicts


def _verdict(fact: VerdictFact, file: str, look: Look) -> list[Line]:
    left = len(fact.names) - MOST_NAMES
    more = f" and {left:,} more" if left > 0 else ""
    head = f"{fact.verdict}: {', '.join(fact.names[:MOST_NAMES])}{more}"
    first, *rest = _wrapped(head, look, 2)
    said = _wrapped(f"  {fact.sentence}", look, 2)
    if fact.help is not None:
        said += _wrapped(f"  help: {fact.help}", look, 4)
    if fact.verdict in ASKED and not file.startswith("<"):
        said.append(f"  {command('why', file, fact.names[0])}")
    return [
        (cell(first, "name"),),
        *((cell(row, "name"),) for row in rest),
        *((cell(row),) for row in said),
    ]


def _wrapped(said: str, look: Look, indent: int) -> list[str]:
    if look.whole:
        return [said]
    return wrap(said, look.width, subsequent_indent=" " * indent) or [""]


# ---------------------------------------------------------------- one pass


def _one(report: FlowReport, look: Look) -> list[Line]:
    assert report.one is not None
    one = report.one
    where = "" if one.line is None else f", line {one.line}"
    loss = "" if one.loss is None else f", {one.root or 'loss'} = {_number(one.loss)}"
    said = f"pass {one.number} of {report.total:,}{where}{loss}, |grad| = {_number(one.norm)}"
    heads = ("leaf", "|grad|", "largest element", "zeros", "|value|", "|change| / |value|")
    rows: list[tuple[Cell, ...]] = [tuple(cell(head, "head") for head in heads)]
    rows.extend(_gradient_row(fact) for fact in report.gradients)
    body = columns(rows, look, giving=(((0, look.width - BESIDE),), 3, 4, 2), right=frozenset({3}))
    return [
        (cell(said),),
        BLANK,
        *(body if report.gradients else [(cell("no leaf received a gradient in this pass"),)]),
    ]


def _gradient_row(fact: FlowGradient) -> tuple[Cell, ...]:
    return (
        cell(fact.name, "leaf"),
        cell(_number(fact.norm), "" if fact.norm < inf else "mark"),
        cell(_number(fact.largest)),
        cell(_share(fact.zeros)),
        cell(_number(fact.weight)),
        cell("-" if not fact.changed else "from 0" if not fact.change else _number(fact.change)),
    )


# ---------------------------------------------------------------- numbers


def _number(value: float) -> str:
    return f"{value:.4g}"


def _maybe(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def _share(value: float | None) -> str:
    """0 % and 100 % only where that is exact."""
    if value is None:
        return ""
    shown = min(99.9, max(0.1, 100 * value)) if 0 < value < 1 else 100 * value
    return f"{shown:.0f} %" if shown in (0, 100) or 1 <= shown < 99 else f"{shown:.1f} %"
