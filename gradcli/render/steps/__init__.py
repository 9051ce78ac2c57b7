"""Render: the text of `gradcli step`: backward passes node by node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from ...recording.facts.steps import StepsReport, WalkFact
from ..escape import Terminal
from ..fold import repeats
from ..folds import Expand, Folds, unfolded
from ..seeds import gradient, names_of, vector_of
from ..text import BLANK, Cell, Line, Look, after, cell, counted, ellipsis, paint, wrap
from .block import Blocks, is_plain
from .values import lines_of

FEW_PASSES = 3  # so many are shown in full, whether they are alike or not
MOST_STEPS = 60  # of one pass, after folding
LAST_STEPS = 10
LEAST_HIDDEN = 4  # steps that are worth a fold


def text(
    report: StepsReport,
    look: Look,
    *,
    stops: Mapping[int, frozenset[int]] | None = None,
    expand: Expand = False,
    streamed: bool = False,
) -> Terminal:
    """The narration; with `stops` only the steps of these numbers are shown, for each pass."""
    lines = unfolded(lambda folds: _page(report, look, stops, folds), expand)
    return after(report.output, paint(lines, look), streamed)


def _page(
    report: StepsReport, look: Look, stops: Mapping[int, frozenset[int]] | None, folds: Folds
) -> list[Line]:
    lines: list[Line] = []
    for same_as, group in groupby(report.walks, lambda walk: walk.same_as):
        walks = list(group)
        if same_as is None or len(report.walks) <= FEW_PASSES or folds.opens(walks[0].number):
            for walk in walks:
                told = None if stops is None else stops[walk.number]
                lines.extend(
                    (*((BLANK,) if lines else ()), *_walk(walk, report, look, told, folds))
                )
        else:
            lines.extend((BLANK, _same([walk.number for walk in walks], same_as, folds, look)))
    if not report.walks and report.error is None:
        lines.append((cell("there is no backward pass", "dim"),))
    left = report.passes - report.walks[-1].number if len(report.walks) > 1 else 0
    if left:
        lines.extend(
            (
                BLANK,
                (cell(f"{counted(left, 'more pass', 'more passes')}; --pass N shows one", "dim"),),
            )
        )
    return lines


def _same(numbers: list[int], same_as: int, folds: Folds, look: Look) -> Line:
    """Passes in a row that go over the same places as an earlier one."""
    first, last = numbers[0], numbers[-1]
    which = f"pass {first:,}" if first == last else f"passes {first:,} to {last:,}"
    tells = f"--pass {first} shows it" if first == last else "--pass N shows one"
    told = f"{which}: the same steps as pass {same_as:,}, other numbers; {tells}"
    return folds.row(first, told, look)


def title(walk: WalkFact, report: StepsReport, look: Look) -> Line:
    """Which pass, who asked for it."""
    words = walk.text or "after the program"
    if report.of is not None and not walk.text:
        words = f"{report.of.name}.backward(), after the program"
    line = "" if walk.line is None else f"   line {walk.line}"
    number = f"pass {walk.number:,} of {report.passes:,}"
    room = look.width - len(number) - len(line) - 3
    shown = look.fit(cell(words).text, room)
    return (cell(number, "name"), Cell(f"   {shown}"), cell(line))


def opening(walk: WalkFact, report: StepsReport, look: Look) -> list[Line]:
    """The title of a pass and what it begins with."""
    lines: list[Line] = [title(walk, report, look)]
    for given, root in zip(names_of(walk.roots), walk.roots, strict=True):
        first, *others = lines_of(root.value)
        head, name = "  begins with ", ""
        if given:
            head += f"{given} = "
            name = f"   given for {look.fit(cell(root.name).text, 32)}"
        elif is_plain(root.name):
            head += f"d{root.name}/d{root.name} = "
        else:
            room = max(12, look.width - len(head) - len(first) - 5)
            name = f" for {look.fit(cell(root.name).text, room)}"
        lines.append((cell(head, "dim"), cell(first), Cell(name, "dim")))
        lines.extend((Cell(" " * len(head)), cell(other)) for other in others)
    if vector_of(walk.roots) and walk.roots[0].value.shape:
        name = gradient(walk.roots, "LEAF", look.times)
        words = f"each step multiplies what came by its Jacobian: at a leaf that makes {name}"
        rows = [words] if look.whole else wrap(words, look.width - 2)
        lines.extend((cell(f"  {row}", "dim"),) for row in rows)
    return lines


def closing(walk: WalkFact) -> Line:
    """How a pass ends."""
    count = len(walk.steps)
    steps = "one step" if count == 1 else f"{count:,} steps"
    if walk.failed:
        return (cell(f"  stopped in step {count:,} by an error", "error"),)
    if walk.retained:
        why = "create_graph" if walk.created else "retain_graph"
        kept = f"{why} keeps what the nodes had saved, {walk.bytes:,} bytes"
        return (cell(f"  {steps}; {kept}", "dim"),)
    if not walk.freed:
        return (cell(f"  {steps}; nothing that takes memory was saved", "dim"),)
    return (cell(f"  {steps}; {walk.bytes:,} bytes of saved tensors released", "dim"),)


def _walk(
    walk: WalkFact, report: StepsReport, look: Look, stops: frozenset[int] | None, folds: Folds
) -> list[Line]:
    lines = opening(walk, report, look)
    blocks = Blocks(walk, look)
    for piece in chosen(walk.kinds, stops, expand=folds.every):
        lines.append(BLANK)
        key = walk.number, piece
        if isinstance(piece, int):
            lines.extend(blocks.lines(walk.steps[piece]))
        elif piece[2] and not folds.opens(key):
            lines.append((Cell(blocks.indent), *folds.row(key, _left_out(piece), look)))
        elif piece[2]:
            for place in range(*piece[:2]):
                lines.extend((*blocks.lines(walk.steps[place]), BLANK))
            lines.pop()
        else:
            lines.append((cell(f"{blocks.indent}{ellipsis(look)} {_left_out(piece)}", "dim"),))
    lines.append(BLANK)
    lines.append(closing(walk))
    return lines


class Fold(tuple[int, int, str]):
    """Steps from one number up to another that are not told, and why."""


def _left_out(fold: Fold) -> str:
    start, end, why = fold
    count = end - start
    steps = f"step {start + 1:,}" if count == 1 else f"steps {start + 1:,} to {end:,}"
    return f"{steps}{why}"


def chosen(
    kinds: Sequence[int], stops: frozenset[int] | None, *, expand: bool
) -> Iterator[int | Fold]:
    """Which steps are shown, by place, and the folds between them."""
    if expand:
        yield from range(len(kinds))
    elif stops is not None:
        yield from _between(sorted(at - 1 for at in stops), len(kinds), "")
    else:
        told = list(_unrepeated(kinds))
        inner = [piece for piece in told if isinstance(piece, int)]
        if len(inner) <= MOST_STEPS:
            yield from told
            return
        kept = {*inner[: MOST_STEPS - LAST_STEPS], *inner[-LAST_STEPS:]}
        yield from _between(sorted(kept), len(kinds), ", folded")


def _between(places: Sequence[int], count: int, why: str) -> Iterator[int | Fold]:
    at = 0
    for place in places:
        if place > at:
            yield Fold((at, place, why))
        yield place
        at = place + 1
    if at < count:
        yield Fold((at, count, why))


def _unrepeated(kinds: Sequence[int]) -> Iterator[int | Fold]:
    """Of repeated stretches the first and the last are shown."""
    at = 0
    for repeat in repeats(kinds):
        yield from range(at, repeat.start)
        end = repeat.start + repeat.period * repeat.times
        first, last = repeat.start + repeat.period, end - repeat.period
        yield from range(repeat.start, first)
        if last - first >= LEAST_HIDDEN:
            what = "the step above" if repeat.period == 1 else f"the {repeat.period} steps above"
            yield Fold((first, last, f": {what}, {repeat.times - 2:,} times more"))
        else:
            yield from range(first, last)
        yield from range(last, end)
        at = end
    yield from range(at, len(kinds))
