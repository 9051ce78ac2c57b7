"""pipeline: programs checked side by side by processes of our own, told in the order asked.

A process that dies with its program (the net beneath its limits ended it) is replaced; what it was
at work on is told as over its limit, and the others go on.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ...diagnostics import ExitStatus
from ...report.model.check import FileCheck
from . import Wishes, defect
from .files import Place, checked_within

WORKER = "gradcli.pipeline.check.jobs"


def side_by_side(found: Sequence[Place], wishes: Wishes, jobs: int) -> Iterator[FileCheck]:
    """The answers in order, each as soon as it and those before it are there."""
    answers: list[FileCheck | None] = [None] * len(found)
    ready = threading.Condition()
    waiting = iter(range(len(found)))
    helpers: list[subprocess.Popen[bytes]] = []

    def serve() -> None:
        worker: subprocess.Popen[bytes] | None = None
        while True:
            with ready:
                number = next(waiting, None)
            if number is None:
                break
            if worker is None:
                worker = _started()
                helpers.append(worker)
            answer = _asked(worker, found[number], wishes)
            if answer is None:
                status = worker.wait()
                worker = None
                answer = _lost(found[number], wishes, status)
            with ready:
                answers[number] = answer
                ready.notify_all()
        if worker is not None and worker.stdin is not None:
            with suppress(OSError):
                worker.stdin.close()

    threads = [threading.Thread(target=serve, daemon=True) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    try:
        for number in range(len(found)):
            with ready:
                while answers[number] is None:
                    ready.wait(0.2)
            answer = answers[number]
            assert answer is not None
            yield answer
    finally:
        for helper in helpers:
            with suppress(OSError):
                if helper.poll() is None and any(answer is None for answer in answers):
                    helper.kill()


def _started() -> subprocess.Popen[bytes]:
    package = str(Path(__file__).resolve().parents[3])
    known = os.environ.get("PYTHONPATH")
    path = package if not known else f"{package}{os.pathsep}{known}"
    return subprocess.Popen(
        [sys.executable, "-m", WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip


def _asked(worker: subprocess.Popen[bytes], place: Place, wishes: Wishes) -> FileCheck | None:
    """The worker's answer; None when it has died."""
    assert worker.stdin is not None and worker.stdout is not None
    try:
        pickle.dump((place, wishes), worker.stdin)
        worker.stdin.flush()
        answer: FileCheck = pickle.load(worker.stdout)
    except (OSError, EOFError, pickle.UnpicklingError):
        return None
    return answer


def _lost(place: Place, wishes: Wishes, status: int) -> FileCheck:
    if status in (ExitStatus.LIMIT_REACHED, -9):
        message = (
            f"LimitReached: the limit of {wishes.limits.timeout:g} seconds or of "
            f"{wishes.limits.max_memory:,} bytes is reached; --timeout, --max-memory raise them"
        )
        return defect(place.name, message, ExitStatus.LIMIT_REACHED)
    message = f"InternalError: the process that checked it ended with status {status}"
    return defect(place.name, message, ExitStatus.DEFECT)


def work() -> None:
    """What a worker does: answers one question after the other, until nobody asks."""
    from ...deadline import address_space

    questions, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what may be printed by accident is no answer
    while True:
        try:
            question: Any = pickle.load(questions)
        except EOFError:
            return
        place, wishes = question
        with address_space(wishes.limits.max_memory):
            answer = checked_within(place, wishes)
        pickle.dump(answer, answers)
        answers.flush()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt, BrokenPipeError):
        work()
