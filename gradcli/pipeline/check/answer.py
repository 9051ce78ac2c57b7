"""pipeline: what a program prints against the answer that is recorded beside it."""

from __future__ import annotations

import difflib
import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING

from ...diagnostics import ExitStatus
from ...opening import Unusable
from ...render.escape import block
from ...report.model.check import FileCheck, Problem
from ..request import Ran

if TYPE_CHECKING:
    from . import Wishes

CONTEXT = 3
MOST_SHOWN = 60  # lines of a difference
DEVICE = re.compile(r",\s+device='cuda:\d+'")


def compared(
    fact: FileCheck, ran: Ran, path: str | None, wishes: Wishes, raises: str | None
) -> FileCheck:
    """The recorded answer, compared or, with --update, written."""
    if path is None:
        return fact
    place = recorded_path(path)
    fact = fact._replace(recorded_file=place)
    answer = str(block(ran.output))
    if raises is not None and ran.error is not None:
        gap = "" if not answer or answer.endswith("\n") else "\n"
        answer += f"{gap}{block(ran.error.type)}: {block(ran.error.message)}\n"
    before = _read(place, wishes.limits.max_output)
    if wishes.update:
        return _updated(fact, place, before, answer)
    if before is None:
        return fact._replace(notes=(*fact.notes, "no recorded answer; --update writes one"))
    if before == answer or (wishes.device != "cpu" and _same_elsewhere(before, answer)):
        return fact._replace(recorded="equal")
    problem = _problem(fact.file, place, before, answer)
    return fact._replace(
        recorded="different", status="failed", exit_code=int(ExitStatus.CHECK_FAILED),
        problems=(*fact.problems, problem),
    )  # fmt: skip


def _same_elsewhere(before: str, answer: str) -> bool:
    """An answer recorded on the CPU holds on other devices; the device's name moves line ends."""
    return before.split() == DEVICE.sub("", answer).split()


def recorded_path(path: str) -> str:
    """Where the recorded answer of a program lies."""
    root, suffix = os.path.splitext(path)
    return (root if suffix == ".expr" else path) + ".out"


def _read(place: str, most: int) -> str | None:
    """The recorded answer; a link is not followed, since it could lead anywhere."""
    if os.path.islink(place):
        raise Unusable(f"{place} is a link; a recorded answer is a file beside its program")
    try:
        with open(place, "rb") as file:
            data = file.read(most + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unusable(f"{place} can't be read: {error.strerror}") from None
    if len(data) > most:
        raise Unusable(f"{place} has more than {most:,} bytes", "--max-output raises the limit")
    return data.decode("utf-8", "replace")


def _updated(fact: FileCheck, place: str, before: str | None, answer: str) -> FileCheck:
    if fact.problems:  # what failed is no answer
        return fact
    if before == answer:
        return fact._replace(recorded="unchanged")
    unfinished = f"{place}.unfinished"
    try:
        with open(unfinished, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as f:
            f.write(answer)
        os.replace(unfinished, place)
    except OSError as error:
        with suppress(OSError):
            os.remove(unfinished)
        raise Unusable(f"{place} can't be written: {error.strerror}") from None
    return fact._replace(recorded="written")


def _problem(file: str, place: str, before: str, answer: str) -> Problem:
    """The difference, line by line, the way patches have it."""
    lines = difflib.unified_diff(
        _lines(before), _lines(answer), place, f"{file} prints", lineterm="", n=CONTEXT
    )
    shown = list(lines)
    left = len(shown) - MOST_SHOWN
    if left > 0:
        shown[MOST_SHOWN:] = [f"... {left} more lines"]
    number = next((i for i, (a, b) in enumerate(zip(_lines(before), _lines(answer), strict=False))
                   if a != b), min(len(_lines(before)), len(_lines(answer))))  # fmt: skip
    return Problem(
        "output", f"the output differs from {place} in line {number + 1}", shown=tuple(shown),
        advice=("do: gradcli check --update, if the new output is right",),
    )  # fmt: skip


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    elif lines:
        lines[-1] += "  (no line end)"
    return lines
