"""Questions: what a program prints against the answer that is recorded beside it."""

from __future__ import annotations

import difflib
import os
import re
import stat
from typing import TYPE_CHECKING

from ...diagnostics import ExitStatus
from ...opening import UsageError, at_once_without_links
from ...output import put_in_place
from ...pipeline.request import Ran
from ...recording.facts import ErrorFact
from ...recording.facts.check import FileCheck, Problem
from ...render.escape import Terminal, block

if TYPE_CHECKING:
    from .options import CheckOptions

CONTEXT = 3
MOST_SHOWN = 60  # lines of a difference
HUNK = re.compile(r"([-+])(\d+)")  # where a hunk begins, in its head
MOST_COMPARED = 2000  # lines, from the first that differs on
WIDEST = 2000  # characters of such a line
ADDRESS = re.compile(r"(?<= at )0x[0-9a-fA-F]+(?=>)")
DEVICE = re.compile(r",\s+device='cuda:\d+'")


def compared(
    fact: FileCheck, ran: Ran, path: str | None, options: CheckOptions, raises: str | None
) -> FileCheck:
    """The recorded answer, compared or, with --update, written."""
    if path is None:
        return fact
    place = recorded_path(path)
    fact = fact._replace(recorded_file=place)
    printed = ran.output if options.engine == "own" else _numbered(ran.output)
    answer = _answer(printed, fact.error if raises is not None else None)
    before = _read(place, options.limits.max_output)
    if options.update:
        return _updated(fact, place, before, answer)
    if before is None:
        return fact._replace(notes=(*fact.notes, "no recorded answer; --update writes one"))
    if before == answer or (options.device != "cpu" and _same_elsewhere(before, answer)):
        return fact._replace(recorded="equal")
    problem = _problem(fact.file, place, before, answer)
    return fact._replace(
        recorded="different", status="failed", exit_code=int(ExitStatus.CHECK_FAILED),
        problems=(*fact.problems, problem),
    )  # fmt: skip


def _answer(output: str, error: ErrorFact | None) -> Terminal:
    """What is recorded: what was printed, and the error that the program is meant to end in."""
    answer = block(output)
    if error is None:
        return answer
    gap = "" if not answer or answer.endswith("\n") else "\n"
    return Terminal(f"{answer}{gap}{block(error.type)}: {block(error.message)}\n")


def _numbered(output: str) -> str:
    """Addresses as gradcli's own engine prints them: by their order, the same in every run."""
    seen: dict[str, str] = {}
    return ADDRESS.sub(lambda found: seen.setdefault(found[0], f"0x{len(seen) + 1:012x}"), output)


def _same_elsewhere(before: str, answer: str) -> bool:
    """An answer recorded on the CPU holds on other devices; the device's name moves line ends."""
    return before.split() == DEVICE.sub("", answer).split()


def recorded_path(path: str) -> str:
    """Where the recorded answer of a program lies."""
    root, suffix = os.path.splitext(path)
    return (root if suffix == ".expr" else path) + ".out"


def _read(place: str, most: int) -> str | None:
    """The recorded answer; a link is not followed, since it could lead anywhere."""
    try:
        with open(place, "rb", opener=at_once_without_links) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise UsageError(f"{place} is not a file")
            data = file.read(most + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        if os.path.islink(place):
            message = f"{place} is a link; a recorded answer is a file beside its program"
            raise UsageError(message) from None
        raise UsageError(f"{place} can't be read: {error.strerror}") from None
    if len(data) > most:
        raise UsageError(f"{place} has more than {most:,} bytes", "--max-output raises the limit")
    # git writes \r\n on Windows; an answer has no \r, since what a program prints is escaped
    return data.decode("utf-8", "replace").replace("\r\n", "\n")


def _updated(fact: FileCheck, place: str, before: str | None, answer: Terminal) -> FileCheck:
    if fact.problems:  # what failed is no answer
        return fact
    if before == answer:
        return fact._replace(recorded="unchanged")
    try:
        put_in_place(place, [answer])
    except OSError as error:
        raise UsageError(f"{place} can't be written: {error.strerror}") from None
    change = _difference(before or "", answer, (place, f"{fact.file} prints"))
    return fact._replace(recorded="written", change=change)


# ---------------------------------------------------------------- one by one


def is_pending(fact: FileCheck) -> bool:
    """Whether there is nothing against this program but that its answer is not the recorded one."""
    if fact.recorded_file is None or fact.recorded not in ("missing", "different"):
        return False
    return all(problem.kind in ("output", "record") for problem in fact.problems)


def change_of(fact: FileCheck) -> tuple[str, ...]:
    """The recorded answer and the new one, as patches show them."""
    shown = [problem.shown for problem in fact.problems if problem.kind == "output"]
    if shown:
        return shown[0]
    answer = _answer(fact.output, fact.error)
    return _difference("", answer, (str(fact.recorded_file), f"{fact.file} prints"))


def recorded(fact: FileCheck) -> FileCheck:
    """The fact after its answer was written."""
    assert fact.recorded_file is not None
    try:
        put_in_place(fact.recorded_file, [_answer(fact.output, fact.error)])
    except OSError as error:
        raise UsageError(f"{fact.recorded_file} can't be written: {error.strerror}") from None
    return fact._replace(status="passed", exit_code=0, problems=(), recorded="written")


# ---------------------------------------------------------------- differences


def _problem(file: str, place: str, before: str, answer: str) -> Problem:
    """The difference, line by line, the way patches have it."""
    first = _first(_lines(before), _lines(answer))
    return Problem(
        "output", f"the output differs from {place} in line {first + 1}",
        shown=_difference(before, answer, (place, f"{file} prints")),
        advice=("help: gradcli check --update, if the new output is right",),
    )  # fmt: skip


def _first(old: list[str], new: list[str]) -> int:
    """The number of the first line that differs."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(old), len(new)))


def _difference(before: str, answer: str, names: tuple[str, str]) -> tuple[str, ...]:
    """From the first line that differs on; of what is very long, the beginning.

    What is compared is bounded: the time that it takes grows with the square of the lines.
    """
    old, new = _lines(before), _lines(answer)
    start = max(0, _first(old, new) - CONTEXT)
    end = start + MOST_COMPARED
    lines = difflib.unified_diff(
        old[start:end], new[start:end], *names, lineterm="", n=CONTEXT
    )  # fmt: skip
    shown = [_moved(line, start) if line.startswith("@@ ") else line for line in lines]
    left = len(shown) - MOST_SHOWN
    if left > 0:
        shown[MOST_SHOWN:] = [f"... {left} more lines"]
    return tuple(line if len(line) <= WIDEST else f"{line[:WIDEST]}..." for line in shown)


def _moved(head: str, start: int) -> str:
    """The head of a hunk, counted from the first line of all."""
    return HUNK.sub(lambda found: f"{found[1]}{int(found[2]) + start}", head)


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    elif lines:
        lines[-1] += "  (no line end)"
    return lines
