"""The fuzzer's long run: many programs a process, differences by kind, each cut down."""

from __future__ import annotations

import multiprocessing
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import NamedTuple

from .compare import Difference
from .findings import verdict
from .programs import program, written
from .shrink import shrunk
from .sides import PyTorch

CHUNK = 100  # programs a task
TASKS = 30  # tasks a process: what leaks anywhere ends with it
SHRUNK = 40  # kinds of differences that are cut down
ATTEMPTS = 400


class Tally(NamedTuple):
    """What came of some programs."""

    programs: int
    seconds: float  # of the processor
    kinds: Counter[str]  # statements written, by kind
    ended: Counter[str]  # programs that ended in an error, by its type
    reasons: Counter[str]  # differences that are explained
    numbers: Counter[str]  # tensors that were the same to the last bit, or close
    findings: list[tuple[int, Difference]]


_made: list[PyTorch] = []


def pytorch() -> PyTorch:
    """The other side, once a process."""
    if not _made:
        from oracle import torch

        if torch is None:
            raise SystemExit("fuzz: PyTorch is not installed, and it is the other side")
        _made.append(PyTorch(torch))
    return _made[0]


def tally(first: int, count: int) -> Tally:
    """Runs the programs of these seeds."""
    other, start = pytorch(), time.process_time()
    found = Tally(count, 0.0, Counter(), Counter(), Counter(), Counter(), [])
    for seed in range(first, first + count):
        text, kinds = written(seed)
        came = verdict(text, other)
        found.kinds.update(kinds)
        found.reasons.update(came.explained)
        found.numbers.update(exact=came.exact, close=came.close)
        if came.ended:
            found.ended[came.ended] += 1
        if came.findings:
            found.findings.append((seed, came.findings[0]))
    return found._replace(seconds=time.process_time() - start)


def run(programs: int, seed: int, jobs: int) -> int:
    """Runs them all and prints what came of it; 1 where a difference is left."""
    starts = range(seed, seed + programs, CHUNK)
    every: list[Tally] = []
    lost: list[int] = []
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, max_tasks_per_child=TASKS) as pool:
        asked = {pool.submit(tally, at, min(CHUNK, seed + programs - at)): at for at in starts}
        for done, future in enumerate(as_completed(asked), 1):
            try:
                every.append(future.result())
            except BrokenProcessPool:
                lost.append(asked[future])
            if done % 50 == 0:
                print(progress(every), flush=True)
    print(report(every))
    for at in lost:
        print(f"a process died with the programs from seed {at} on")
    kinds = by_kind(every)
    for number, (kind, found) in enumerate(kinds.items()):
        seed, difference = found[0]
        print(f"\n{len(found)} programs differ, such as seed {seed}: {difference}")
        if number < SHRUNK:
            print(cut(seed, kind))
    return 1 if kinds or lost else 0


def by_kind(every: list[Tally]) -> dict[str, list[tuple[int, Difference]]]:
    """The findings, the most frequent kind first."""
    kinds: dict[str, list[tuple[int, Difference]]] = {}
    for found in every:
        for seed, difference in found.findings:
            kinds.setdefault(difference.kind, []).append((seed, difference))
    return dict(sorted(kinds.items(), key=lambda item: -len(item[1])))


def progress(every: list[Tally]) -> str:
    programs = sum(found.programs for found in every)
    differ = sum(len(found.findings) for found in every)
    rate = programs / max(sum(found.seconds for found in every), 1e-9)
    return f"{programs:,} programs, {differ} differ, {rate:.0f} a second of the processor"


def report(every: list[Tally]) -> str:
    """What ran: statements by kind, ends, numbers, explained differences."""

    def table(counts: Counter[str]) -> list[str]:
        return [f"  {count:>9,}  {name}" for name, count in counts.most_common()]

    def total(part: str) -> Counter[str]:
        return sum((getattr(found, part) for found in every), Counter())

    return "\n".join(
        (
            progress(every), "statements:", *table(total("kinds")), "programs that end in an error:",
            *table(total("ended")), "tensors and gradients by their numbers:",
            *table(total("numbers")), "differences that are explained:", *table(total("reasons")),
        )
    )  # fmt: skip


def cut(seed: int, kind: str) -> str:
    """The program of this seed, as short as it can be with a difference of this kind."""

    def holds(text: str) -> bool:
        try:
            compile(text, "program.expr", "exec")
        except (SyntaxError, ValueError):
            return False
        found = verdict(text, pytorch()).findings
        return bool(found) and found[0].kind == kind

    return shrunk(program(seed), holds, ATTEMPTS)
