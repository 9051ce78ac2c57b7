"""The fuzzer's long run: many programs a process, differences by kind, each cut down."""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter
from typing import NamedTuple

from .compare import Difference
from .findings import verdict
from .programs import program, written
from .shrink import shrunk
from .sides import PyTorch
from .workers import Died, Say, spread

CHUNK = 100  # programs a task
PROGRESS = 1000  # programs from one word about it to the next
SHRUNK = 40  # kinds of differences that are cut down
ATTEMPTS = 400
SEEDS = 50  # of each kind are told
CRASH = "PyTorch itself ends the process"


class Tally(NamedTuple):
    """What came of some programs."""

    programs: int
    seconds: float  # of the processor
    kinds: Counter[str]  # statements written, by kind
    ended: Counter[str]  # programs that ended in an error, by its type
    reasons: Counter[str]  # differences that are explained
    numbers: Counter[str]  # tensors that were the same to the last bit, or close
    findings: list[tuple[int, Difference]]

    def with_all(self, other: Tally) -> Tally:
        return Tally(*(mine + theirs for mine, theirs in zip(self, other)))


NOTHING = Tally(0, 0.0, Counter(), Counter(), Counter(), Counter(), [])
_made: list[PyTorch] = []


def pytorch() -> PyTorch:
    """The other side, once a process."""
    if not _made:
        from oracle import torch

        if torch is None:
            raise SystemExit("fuzz: PyTorch is not installed, and it is the other side")
        warnings.simplefilter("ignore", SyntaxWarning)
        _made.append(PyTorch(torch))
    return _made[0]


def task(say: Say, *given: object) -> object:
    """What a worker is asked: to run programs, or to cut one down."""
    return cut(say, *given) if isinstance(given[1], str) else tally(say, *given)  # type: ignore[arg-type]


def tally(say: Say, first: int, count: int, skipped: tuple[int, ...]) -> Tally:
    """Runs the programs of these seeds."""
    other, start = pytorch(), time.process_time()
    found = NOTHING._replace(
        programs=count, kinds=Counter(), ended=Counter(), reasons=Counter(), numbers=Counter(),
        findings=[],
    )  # fmt: skip
    for seed in range(first, first + count):
        if seed in skipped:
            continue
        text, kinds = written(seed)
        came = verdict(text, other, lambda side, seed=seed: say((seed, side)))
        found.kinds.update(kinds)
        found.reasons.update(came.explained)
        found.numbers.update(exact=came.exact, close=came.close)
        if came.ended:
            found.ended[came.ended] += 1
        if came.findings:
            found.findings.append((seed, came.findings[0]))
    return found._replace(seconds=time.process_time() - start)


class Run:
    """All the programs, and what came of them so far: findings on stdout, progress on stderr."""

    def __init__(self) -> None:
        self.total = NOTHING
        self.told = 0

    def heard(self, given: tuple[int, int, tuple[int, ...]], came: Tally | Died) -> object:
        if isinstance(came, Died):
            return self.died(given, came)
        self.total = self.total.with_all(came)
        for seed, difference in came.findings:
            print(f"seed {seed}: {difference}", flush=True)
        if self.total.programs >= self.told + PROGRESS:
            self.told = self.total.programs
            print(progress(self.total), file=sys.stderr, flush=True)
        return None

    def died(self, given: tuple[int, int, tuple[int, ...]], came: Died) -> object:
        """Says what a process died of; the same programs without that one are the next task."""
        print(f"seed {came.seed}: {came}", flush=True)
        if came.side == "PyTorch":
            self.total.reasons[CRASH] += 1
        else:
            told = Difference("defect", "", f"the process ends: {came.how}", "it goes on")
            self.total.findings.append((came.seed, told))
        return (*given[:2], (*given[2], came.seed))


def run(programs: int, seed: int, jobs: int) -> int:
    """Runs them all and prints what came of it; 1 where a difference is left, 130 after Ctrl-C."""
    last = seed + programs
    every = Run()
    chunks = [(at, min(CHUNK, last - at), ()) for at in range(seed, last, CHUNK)]
    try:
        spread(task, chunks, jobs, every.heard)
    except KeyboardInterrupt:
        summary(every.total)
        return 130
    kinds = summary(every.total)
    firsts = [(found[0][0], kind) for kind, found in kinds.items()]

    def heard(given: tuple[int, str], came: str | Died) -> None:
        print(f"\nseed {given[0]}, cut down: {given[1]}\n{came}", flush=True)

    try:
        spread(task, firsts[:SHRUNK], jobs, heard)
    except KeyboardInterrupt:
        return 130
    return 1 if kinds else 0


def summary(found: Tally) -> dict[str, list[tuple[int, Difference]]]:
    """Prints what ran and which kinds of differences there are; returns the kinds."""
    print(report(found))
    kinds = by_kind(found)
    for met in kinds.values():
        seed, difference = met[0]
        print(f"\n{len(met)} programs differ, such as seed {seed}: {difference}")
        print("seeds:", *[at for at, _ in met[:SEEDS]], flush=True)
    return kinds


def by_kind(found: Tally) -> dict[str, list[tuple[int, Difference]]]:
    """The findings, the most frequent kind first."""
    kinds: dict[str, list[tuple[int, Difference]]] = {}
    for seed, difference in found.findings:
        kinds.setdefault(difference.kind, []).append((seed, difference))
    return dict(sorted(kinds.items(), key=lambda item: -len(item[1])))


def progress(found: Tally) -> str:
    rate = found.programs / max(found.seconds, 1e-9)
    return (
        f"{found.programs:,} programs, {len(found.findings)} differ, "
        f"{rate:.0f} a second of the processor"
    )


def report(found: Tally) -> str:
    """What ran: statements by kind, ends, numbers, explained differences."""

    def table(counts: Counter[str]) -> list[str]:
        return [f"  {count:>9,}  {name}" for name, count in counts.most_common()]

    return "\n".join(
        (
            progress(found), "statements:", *table(found.kinds), "programs that end in an error:",
            *table(found.ended), "tensors and gradients by their numbers:",
            *table(found.numbers), "differences that are explained:", *table(found.reasons),
        )
    )  # fmt: skip


def cut(say: Say, seed: int, kind: str) -> str:
    """The program of this seed, as short as it can be with a difference of this kind."""

    def holds(text: str) -> bool:
        try:
            compile(text, "program.expr", "exec")
        except (SyntaxError, ValueError):
            return False
        found = verdict(text, pytorch(), lambda side: say((seed, side))).findings
        return bool(found) and found[0].kind == kind

    return shrunk(program(seed), holds, ATTEMPTS)
