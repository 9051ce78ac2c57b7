"""Questions: what is wrong in a training run: one sentence each, with lines.

A verdict is said only where it holds for what a run did, not for one unlucky pass: a gradient that
becomes small while a run converges does not vanish, and one that is 0 because the loss is 0 is not
dead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ...recording.facts import Place
from ...recording.facts.flow import VerdictFact
from ...recording.flow_tracks import Track
from ...recording.optimizers import Optimizer
from ..declared import zero_in
from ..doubts import worries
from ..slips import slips
from .training import Leaf, Training

MOST_OF = 0.9  # of the passes: a leaf is small beside others
LATE = 0.1  # of the passes: it has been 0 since
QUIET = 0.25  # of the passes: it has not changed since
FEW = 3  # passes in a row, where there are so many
GROWTH, JUMP = 5.0, 1e2  # of a gradient's norm: beside a loss that grows, before an infinity
WORSE = 10.0  # times the first loss
HUGE, UNDERFLOW = 1e6, 1e-25
WHY = {"flat": "has no slope", "cancels": "multiplies by 0"}
REGULAR = frozenset({"rectifies", "clamps", "mask"})

INSIDE = re.compile(r"(\w+(?:\.\w+)+)\[(\d+|'[^']*')\]")  # net.layers[0].weight


class Verdict(NamedTuple):
    """A verdict on one leaf; those of the same words are put together, `{n}` is their numbers, and
    `{times}` says how often."""

    verdict: str
    sentence: str
    lines: tuple[int | None, ...] = ()


def verdicts(training: Training) -> list[VerdictFact]:
    """All of them, each with the leaves that it holds for."""
    groups: dict[tuple[str, str], list[tuple[str, float, Verdict]]] = {}
    for leaf in training.leaves:
        for said, number in _of(leaf, training):
            groups.setdefault(said[:2], []).append((leaf.name, number, said))
    facts = [_fact(*words, entries) for words, entries in groups.items()]
    return [*_of_text(training), *_in_vain(training), *facts]


def _in_vain(training: Training) -> Iterator[VerdictFact]:
    """Optimisers that step in a program that goes back nowhere."""
    if training.ran.recording.passes.count or training.ran.error is not None:
        return
    for one in training.optimizers.all:
        names = tuple(leaf.name for leaf in training.leaves if leaf.optimiser is one)
        if 0 < one.steps == one.idle and names and one.line is not None:
            sentence = (
                f"the optimizer made on line {one.line} steps, and backward() is never called"
            )
            yield VerdictFact("not updated", names, sentence, (one.line,))


def _of_text(training: Training) -> Iterator[VerdictFact]:
    """Losses that nobody means, and lines without an effect."""
    for worry in worries(training.ran):
        names, sentence = (_at(worry.place),), worry.sentence
        yield VerdictFact(worry.verdict, names, sentence, worry.lines, worry.advice)
    for slip in slips(training.ran):
        place = training.place(slip.node)
        if place is not None:
            yield VerdictFact(slip.verdict, (_at(place),), slip.sentence, (place.line,))


def _at(place: Place) -> str:
    return f"{place.text} on line {place.line}"


def _fact(verdict: str, sentence: str, entries: list[tuple[str, float, Verdict]]) -> VerdictFact:
    names, found, each = zip(*entries, strict=True)
    low, high = _short(min(found)), _short(max(found))
    numbers = low if low == high else f"{low} to {high}"
    lines = dict.fromkeys(line for said in each for line in said.lines if line is not None)
    times = "once" if numbers == "1" else f"{numbers} times"
    sentence = sentence.replace("{times}", times).replace("{n}", numbers)
    return VerdictFact(verdict, names, sentence, tuple(lines))


Weighed = tuple[Verdict, float]


def _of(leaf: Leaf, training: Training) -> Iterator[Weighed]:
    track = leaf.track
    if track is None:
        yield from _not_reached(leaf, training)
        return
    for find in (_exploding, _dead, _vanishing):
        found: Weighed | None = find(track, training)
        if found is not None:
            yield found
            break
    if track.stale:
        line = track.changed_line
        yield Verdict(
            "stale", f"line {track.stale_line} adds to the gradient of an earlier pass, although "
            f"line {line} has changed the tensor since, and the sum changes it again ({{times}}): "
            "zero_grad() is missing between them", (track.stale_line, line),
        ), track.stale  # fmt: skip
    if found is None or found[0].verdict == "exploding":
        change = _not_in_optimizer if leaf.optimiser is None else _not_updated
        said = change(leaf, track, training)
        if said is not None:
            yield said, track.updated


# ---------------------------------------------------------------- what flowed


def _exploding(track: Track, training: Training) -> Weighed | None:
    first, last = track.first_row, track.last_row
    if first is None or last is None:
        return None
    lines = (last.one.line, track.changed_line)
    if track.first_bad is not None:
        since = f"in pass {track.first_bad}"
        if track.peak > JUMP * track.first > 0:
            grows = f"the norm of the gradient grows to {{n}} until it is infinite or NaN {since}"
            return Verdict("exploding", grows, lines), track.peak
        sentence = f"the gradient is infinite or NaN, first {since}"
        return Verdict("nan", sentence, (last.one.line,)), 0
    beside = _beside(track, training)
    if beside is not None:
        return _compared_with("exploding", track, beside, training)
    same = first.one.origin is last.one.origin and first.loss is not None and last.loss is not None
    worse = same and (last.loss or 0) > WORSE * abs(first.loss or 0)
    if worse and track.last > GROWTH * track.first > 0:
        sentence = (
            f"the norm of the gradient grows to {{n}} times that of pass {first.one.number}, and "
        )
        return Verdict("exploding", sentence + "the loss with it", lines), track.last / track.first
    if min(track.first, track.last) > HUGE * max(1.0, track.size):
        lines = (_used(track, training), last.one.line)
        least = min(track.first, track.last)
        return Verdict("exploding", "the norm of the gradient is {n} and more", lines), least
    return None


def _beside(track: Track, training: Training) -> Track | None:
    """A leaf nearer to the loss whose gradients are next to nothing beside this one's."""
    for other in training.flow.tracks.values():
        small = other.under_first and other.under >= MOST_OF * other.passes
        if small and other.louder is track:
            return other
    return None


def _dead(track: Track, training: Training) -> Weighed | None:
    blocked, first, last = track.blocked, track.first_row, track.last_row
    every = track.blanks == track.passes
    if first is None or last is None or (last.loss == 0 and not (every and first.loss == 0)):
        return None  # a run that has come to its end, a margin that is kept
    if track.blanks < max(min(FEW, track.passes), LATE * track.passes):
        return None
    if blocked is None:
        return (
            (Verdict("zero", "the gradient is 0 in every pass", (last.one.line,)), 0)
            if every
            else None
        )
    text, line = training.where(blocked)
    place = "" if line is None else f" on line {line}"
    zero = zero_in(blocked.row, blocked.name)
    verdict = "zero"
    if zero == "saturates" or blocked.size < UNDERFLOW:
        verdict = "vanishing"
    elif zero in REGULAR:
        verdict = "dead"
    elif not every and zero != "flat":
        return None  # where a run has come to rest, slopes are 0
    why = WHY.get(zero, "blocks it") if verdict != "vanishing" else (
        "is flat there" if zero == "saturates" else "received almost nothing")  # fmt: skip
    since = "" if every else f" since pass {track.blank_since}"
    return Verdict(verdict, f"the gradient is 0{since}: {text}{place} {why}", (line,)), 0


def _vanishing(track: Track, training: Training) -> Weighed | None:
    other = track.louder
    if other is None or not track.faint_first or track.faint < MOST_OF * track.passes:
        return None
    return _compared_with("vanishing", track, other, training)


def _compared_with(verdict: str, track: Track, other: Track, training: Training) -> Weighed:
    name = training.name_of(other)
    sentence = f"the gradient is {{n}} times that of {name}, which is closer to the loss"
    lines = _used(track, training), _used(other, training)
    return Verdict(verdict, sentence, lines), track.first / other.first if other.first else 0.0


# ---------------------------------------------------------------- what changed


def _not_reached(leaf: Leaf, training: Training) -> Iterator[Weighed]:
    rows = training.flow.last or training.flow.first
    if not rows or rows[-1].one.failed:  # which might have reached it
        return
    siblings = any(other.track is not None and other.owner == leaf.owner and other is not leaf
                   for other in training.leaves)  # fmt: skip
    trained = leaf.optimiser is not None or (leaf.is_parameter and siblings)
    by_hand = not leaf.is_parameter and not training.optimizers.known and _is_training(training)
    if trained or by_hand:
        line = leaf.optimiser.line if leaf.optimiser is not None else None
        yield Verdict("not reached", "no backward pass reaches it", (leaf.line, line)), 0


def _not_in_optimizer(leaf: Leaf, track: Track, training: Training) -> Verdict | None:
    """It has gradients, and nothing changes it."""
    if track.updates or not track.was_known or track.captured or track.peak == 0:
        return None
    if track.is_root:
        return None  # a loss whose requires_grad was switched on
    if not leaf.is_parameter and (track.passes < 2 or leaf.name in training.read):
        return None
    optimizers = training.optimizers.all
    if not optimizers:
        if _is_training(training) and track.passes > 1:
            return Verdict("not updated", "gradients arrive, but no line changes it", (leaf.line,))
        return None
    if not any(one.steps for one in optimizers):
        return None
    if leaf.is_parameter and not any(one.of_modules for one in optimizers):
        return _copies(leaf, optimizers, training)
    line = _nearest(leaf, training)
    made = "" if line is None else f" made on line {line}"
    within = INSIDE.match(leaf.name) if leaf.is_parameter else None
    why = ""
    if within is not None:
        registers = "nn.ModuleList" if within[2].isdigit() else "nn.ModuleDict"
        why = f": {within[1]} is plain Python, and parameters() looks only into {registers}"
    sentence = f"gradients arrive, but the optimizer{made} was given other parameters{why}"
    late = leaf.line is not None and any(one.line == line for one in leaf.before)
    if late and not why:
        sentence = (
            f"gradients arrive, but line {leaf.line} made it when the optimizer{made} had been "
            "given its parameters: make the optimizer after that"
        )
    return Verdict("not given to the optimiser", sentence, (line, leaf.line))


def _copies(leaf: Leaf, optimizers: list[Optimizer], training: Training) -> Verdict | None:
    """No optimizer has parameters. Where one has an input that passes reach, the network is meant
    to stay; where no pass reaches what they have, that was copied from the network."""
    tracks = training.flow.tracks
    if any(id(tensor) in tracks for one in optimizers for tensor in one.tensors):
        return None
    line = optimizers[0].line
    made = "" if line is None else f" made on line {line}"
    return Verdict(
        "not given to the optimiser", f"gradients arrive, but the optimizer{made} has other "
        "tensors, such as copies, and no backward pass reaches those", (line, leaf.line),
    )  # fmt: skip


def _not_updated(leaf: Leaf, track: Track, training: Training) -> Verdict | None:
    """An optimiser has it, and it stays as it was."""
    optimiser = leaf.optimiser
    if optimiser is None or not track.was_known or track.peak == 0:
        return None
    lines, rate = (optimiser.line,), leaf.rate
    made = "" if optimiser.line is None else f" made on line {optimiser.line}"
    if track.updates:
        tracks = training.flow.tracks.values()
        quiet = track.passes - max(other.updated for other in tracks)
        if quiet < max(FEW, QUIET * track.passes) or track.last < track.peak / JUMP:
            return None  # a run that has come to its end
        told = "" if rate is None else f", with lr {rate:.3g} at the end"
        sentence = f"after pass {{n}} the optimizer{made} no longer changes it{told}"
        return Verdict("not updated", sentence, lines)
    if not optimiser.steps:
        if track.passes < 2:
            return None
        return Verdict("not updated", f"the optimizer{made} never steps", lines)
    if optimiser.idle == optimiser.steps:
        line = optimiser.cleared_at
        why = "" if line is None else f": line {line} clears them between backward() and step()"
        return Verdict("not updated", f"the optimizer{made} finds no gradients when it steps{why}",
                    (line, optimiser.line))  # fmt: skip
    if rate == 0:
        return Verdict("not updated", f"with lr 0 the optimizer{made} changes nothing", lines)
    return Verdict("not updated", f"the optimizer{made} changes it by less than its last digit",
                   lines)  # fmt: skip


def _is_training(training: Training) -> bool:
    return any(leaf.track is not None and leaf.track.updates > 1 for leaf in training.leaves)


def _nearest(leaf: Leaf, training: Training) -> int | None:
    """The line of the optimiser that has a leaf of the same owner, else of the first one."""
    for other in training.leaves:
        if other.optimiser is not None and other.owner == leaf.owner:
            return other.optimiser.line
    return training.optimizers.all[0].line


# ---------------------------------------------------------------- words


def _used(track: Track, training: Training) -> int | None:
    place = training.place(track.origin)
    return None if place is None else place.line


def _short(number: float) -> str:
    return f"{number:.3g}"
