"""The fuzzer of parser and checker: every text is a program or a diagnostic, and runs to an end.

A text that parses is run within small limits as the command `gradcli run` runs it: it ends well,
with an error of the program or at a limit; never with an error of gradcli itself.
"""

from __future__ import annotations

import contextlib
import io
import resource
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from gradcli.command_line import read
from gradcli.diagnostics import ProgramError
from gradcli.language.program import parse
from gradcli.language.source import Source

from .sides import Endless, alarm
from .texts import text
from .workers import Died, Say, spread

CHUNK = 200
LIMITS = (
    "--timeout", "30", "--max-steps", "200000", "--max-memory", "256MiB", "--max-output", "256KiB",
    "--max-nodes", "20000",
)  # fmt: skip
FINE = (0, 2, 3, 4, 5)  # 2: a bad comment `# set:` at the top; 5: a device that is not here
HOST = ("Traceback (most recent call last)", "InternalError")
MOST_BYTES = 2**31  # what a worker may hold: the limit of the runs, and what the libraries take


class Fault(NamedTuple):
    """A text that gradcli does not bear."""

    seed: int
    told: str


class Came(NamedTuple):
    """What came of some texts."""

    ends: Counter[str]
    faults: list[Fault]
    held: int = 0  # the most bytes that the process held
    seconds: float = 0.0  # of the processor

    def with_all(self, other: Came) -> Came:
        return Came(
            self.ends + other.ends, self.faults + other.faults, max(self.held, other.held),
            self.seconds + other.seconds,
        )  # fmt: skip


def fault_of(data: bytes, place: Path, ends: Counter[str]) -> str | None:
    """What is wrong with how a text is taken; None where all is well."""
    try:
        with alarm():
            parse(Source.from_bytes(data, place.name))
    except ProgramError as error:
        ends[f"refused: {error.diagnostic.type}"] += 1
    except Endless:
        return "the parser does not end"
    except BaseException:
        return f"the parser fails: {traceback.format_exc(limit=-3)}"
    else:
        ends["parsed"] += 1
    return _ran(data, place, ends)


def _ran(data: bytes, place: Path, ends: Counter[str]) -> str | None:
    place.write_bytes(data)
    out, errors = io.StringIO(), io.StringIO()
    call = read(["run", str(place), *LIMITS])
    assert call is not None
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors), alarm():
            status = int(call.run())
    except Endless:
        return "the run does not end"
    except BaseException:
        return f"the run fails: {traceback.format_exc(limit=-3)}"
    ends[f"exit code {status}"] += 1
    told = errors.getvalue()
    if status not in FINE or any(word in told for word in HOST):
        return f"exit code {status}: {told[-500:]}"
    return None


def task(say: Say, first: int, corpus: tuple[str, ...], skipped: tuple[int, ...]) -> Came:
    """Takes a few hundred texts."""
    programs = [Path(name).read_bytes() for name in corpus]
    came, start = Came(Counter(), []), time.process_time()
    with tempfile.TemporaryDirectory() as home:
        place = Path(home) / "text.expr"
        for seed in range(first, first + CHUNK):
            if seed in skipped:
                continue
            say((seed, "gradcli"))
            told = fault_of(text(seed, programs), place, came.ends)
            if told is not None:
                came.faults.append(Fault(seed, told))
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    if held > MOST_BYTES:
        came.faults.append(Fault(first, f"the process held {held:,} bytes"))
    return came._replace(held=held, seconds=time.process_time() - start)


def run(minutes: float, seed: int, jobs: int, folders: list[str]) -> int:
    """Takes texts for so many minutes of the processor.

    Returns 1 where one is not borne, 130 after Ctrl-C."""
    corpus = tuple(
        str(path)
        for folder in folders
        for path in sorted(Path(folder).rglob("*"))
        if path.suffix in (".expr", ".txt") and path.stat().st_size < 50_000
    )
    total = Came(Counter(), [])
    lots = [seed + CHUNK * place for place in range(jobs)]

    def heard(given: tuple[int, tuple[str, ...], tuple[int, ...]], came: Came | Died) -> object:
        nonlocal total
        first, _, skipped = given
        if isinstance(came, Died):
            told = f"the process ends: {came.how}"
            total.faults.append(Fault(came.seed, told))
            print(f"\nseed {came.seed}: {told}", flush=True)
            return (first, corpus, (*skipped, came.seed))
        total = total.with_all(came)
        print(f"{_taken(total.ends):,} texts, {len(total.faults)} faults", flush=True)
        for fault in came.faults:
            print(f"\nseed {fault.seed}: {fault.told}", flush=True)
        return (first + CHUNK * jobs, corpus, ()) if total.seconds < minutes * 60 else None

    interrupted = False
    try:
        spread(task, [(first, corpus, ()) for first in lots], jobs, heard)
    except KeyboardInterrupt:
        interrupted = True
    print(f"{_taken(total.ends):,} texts, {total.seconds:.0f} seconds of the processor, ", end="")
    print(f"{total.held:,} bytes at most")
    for word, count in total.ends.most_common():
        print(f"  {count:>9,}  {word}")
    print(f"{len(total.faults)} faults")
    return 130 if interrupted else bool(total.faults)


def _taken(ends: Counter[str]) -> int:
    return sum(count for word, count in ends.items() if word.startswith(("refused", "parsed")))
