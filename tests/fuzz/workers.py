"""The fuzzer's processes: each runs one task after another, and its end is no end of the run.

PyTorch itself ends its process with a segmentation fault on some programs; a worker says before
each side of each program what it does, so that its parent knows what it died of.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import pickle
import signal
import time
import traceback
from collections.abc import Callable, Iterable
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple

CONTEXT = multiprocessing.get_context("spawn")
TASKS = 30  # tasks a process: what leaks anywhere ends with it
SILENT = 400  # seconds without a word: one side's alarm rings after twenty, of each of its runs

Say = Callable[[tuple[int, str]], None]
Heard = Callable[[Any, Any], Any]
START: tuple[int, str] = (0, "start")


class Died(NamedTuple):
    """A process ended in the middle of a task."""

    seed: int
    side: str
    how: str

    def __str__(self) -> str:
        return f"{self.side} ends its process: {self.how}"


def serve(pipe: Connection, task: Callable[..., Any]) -> None:
    """What a worker does: tasks in, answers out."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it, and decides

    def say(place: tuple[int, str]) -> None:
        pipe.send(("at", place))

    with contextlib.suppress(EOFError, OSError):  # nobody listens any more
        while (given := pipe.recv()) is not None:
            try:
                pipe.send(("done", task(say, *given)))
            except BaseException as error:
                pipe.send(("died", traceback.format_exception_only(error)[-1].strip()))
                raise


class Worker:
    """One process at a time, made anew when it died or has done its share."""

    def __init__(self, task: Callable[..., Any]) -> None:
        self.task = task
        self.done = 0
        self.process: Any = None
        self.given: Any = None  # what it is busy with

    def start(self) -> None:
        self.pipe, other = CONTEXT.Pipe()
        self.process = CONTEXT.Process(target=serve, args=(other, self.task), daemon=True)
        self.process.start()
        other.close()
        self.done = 0

    def stop(self) -> None:
        """Ends the process: one that is idle by itself, one that is busy by force."""
        if self.process is None:
            return
        if self.given is None:
            with contextlib.suppress(OSError):
                self.pipe.send(None)
            self.process.join(10)
        self.process.kill()
        self.process.join()
        self.pipe.close()
        self.process = self.given = None

    def give(self, given: Any) -> None:
        """Starts a task."""
        if self.done >= TASKS:
            self.stop()
        if self.process is None:
            self.start()
        self.given, self.at, self.heard = given, START, time.monotonic()
        with contextlib.suppress(OSError):  # it died while it was idle: `hear` finds out
            self.pipe.send(given)

    def hear(self) -> tuple[Any] | None:
        """The answer to the task in a tuple, or what the process died of; None in between."""
        try:
            word, told = self.pipe.recv()
        except (EOFError, OSError, pickle.UnpicklingError):
            self.process.join(10)
            return (self._died(_ended(self.process.exitcode)),)
        self.heard = time.monotonic()
        if word == "done":
            self.done, self.given = self.done + 1, None
            return (told,)
        if word == "died":
            return (self._died(told),)
        self.at = told
        return None

    def hung(self) -> tuple[Died] | None:
        """What is told of a process that says nothing any more, and is ended."""
        if time.monotonic() - self.heard < SILENT:
            return None
        return (self._died(f"nothing for {SILENT} seconds"),)

    def _died(self, how: str) -> Died:
        self.stop()
        if self.at == START:
            raise RuntimeError(f"a process of the fuzzer does not start: {how}")
        return Died(*self.at, how)


def _ended(status: int | None) -> str:
    """A process's exit code in words."""
    if status is not None and status < 0:
        return signal.Signals(-status).name
    return f"exit code {status}"


def spread(task: Callable[..., Any], given: Iterable[Any], jobs: int, heard: Heard) -> None:
    """Every task is done by some worker; `heard` gets each answer, and may give another task."""
    waiting = list(given)[::-1]
    workers = [Worker(task) for _ in range(jobs)]
    try:
        while True:
            for worker in workers:
                if worker.given is None and waiting:
                    worker.give(waiting.pop())
            busy = {worker.pipe: worker for worker in workers if worker.given is not None}
            if not busy:
                return
            ready = wait(list(busy), timeout=SILENT)
            for pipe, worker in busy.items():
                now = worker.given
                answer = worker.hear() if pipe in ready else worker.hung()
                again = None if answer is None else heard(now, answer[0])
                if again is not None:
                    waiting.append(again)
    finally:
        for worker in workers:
            worker.stop()
