"""The fuzzer's findings: one program on both sides, and what of the differences is explained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .compare import Difference, distance, judged, words_of
from .known import reason_of
from .nudges import nudged, roundings
from .sides import Left, PyTorch, ours

AMPLIFIED = "the program makes as much of a last bit of its inputs"
NUDGES = 8
MARGIN = 30.0  # a program's roundings are many, a nudge is one
NUMBERS = ("value", "grad value", "plain")


class Finding(NamedTuple):
    """A program with a difference that nothing explains."""

    seed: int
    difference: Difference


class Verdict(NamedTuple):
    """What came of one program."""

    findings: list[Difference]
    explained: list[str]  # reasons
    exact: int = 0
    close: int = 0
    ended: str = ""  # the type of the error that ended it


def verdict(text: str, pytorch: PyTorch, say: Callable[[str], None] = lambda side: None) -> Verdict:
    """Runs a program on both sides; `say` hears which one is about to run."""
    say("PyTorch")
    theirs = pytorch.left(text)
    say("gradcli")
    ended = theirs.error[0] if theirs.error else ""
    try:
        mine = ours(text)
    except Exception as error:  # whatever it is: the host's own error is a finding
        told = f"{type(error).__name__}: {error}"
        return Verdict([Difference("defect", "", told, "no traceback")], [], ended=ended)
    judgement = judged(mine, theirs)
    findings: list[Difference] = []
    reasons: list[str] = []
    amplified: Amplified | None = None
    for difference in judgement.differences:
        reason = reason_of(difference, text)
        if reason is None:
            say("PyTorch")
            amplified = amplified or Amplified(text, theirs, pytorch)
            reason = amplified.explains(difference, mine)
        if reason is None:
            findings.append(difference)
        else:
            reasons.append(reason)
            if parts_ways(difference):
                break  # the rest comes of it
    return Verdict(findings, reasons, judgement.exact, judgement.close, ended)


def parts_ways(difference: Difference) -> bool:
    """Whether an error came where there was none, or later: what comes after differs too."""
    if difference.aspect == "output":
        return ("Error " in difference.ours) != ("Error " in difference.theirs)
    return difference.aspect in ("error", "line of the error")


class Amplified:
    """The same program from numbers, and by operators, with other last bits: PyTorch alone."""

    def __init__(self, text: str, theirs: Left, pytorch: PyTorch) -> None:
        self.theirs = theirs
        self.others = []
        for number in range(NUDGES):
            moved, names = nudged(pytorch.torch, text, number)
            inside = roundings(pytorch.torch, number)
            self.others.append(pytorch.left(moved, names, inside))

    def explains(self, difference: Difference, mine: Left) -> str | None:
        """Whether these runs differ from PyTorch's first as much as gradcli does."""
        for other in self.others:
            if difference.aspect in NUMBERS:
                there = _numbers(self.theirs, difference)
                apart = distance(_numbers(other, difference), there)
                if apart and distance(_numbers(mine, difference), there) <= MARGIN * apart:
                    return AMPLIFIED
            elif any(_comes_of(difference, d) for d in judged(other, self.theirs).differences):
                return AMPLIFIED
        return None


def _comes_of(difference: Difference, moved: Difference) -> bool:
    """Whether a difference is the one that other last bits make, or shows its numbers later on:
    of two outputs only the first line that differs is told."""
    if difference.aspect != moved.aspect:
        return False
    if difference.name == moved.name:
        return True
    places = [name.removeprefix("line ") for name in (moved.name, difference.name)]
    return (
        difference.aspect == "output"
        and int(places[0]) < int(places[1])
        and words_of(difference.ours) == words_of(difference.theirs)
    )


def _numbers(left: Left, difference: Difference) -> Any:
    facts = left.names.get(difference.name, {})
    if difference.aspect == "grad value":
        facts = facts.get("grad") or {}
    return facts.get("plain" if difference.aspect == "plain" else "value")
