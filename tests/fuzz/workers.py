"""The fuzzer's processes: each runs one task after another, and its end is no end of the run.

PyTorch itself ends its process with a segmentation fault on some programs; a worker says before
each side of each program what it does, so that its parent knows what it died of.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import threading
from collections.abc import Callable, Iterable
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

CONTEXT = multiprocessing.get_context("spawn")
TASKS = 30  # tasks a process: what leaks anywhere ends with it

Say = Callable[[tuple[int, str]], None]


class Died(NamedTuple):
    """A process ended in the middle of a task."""

    seed: int
    side: str
    status: int | None = None  # its exit code; of a signal, less than 0


def serve(pipe: Connection, task: Callable[..., Any]) -> None:
    """What a worker does: tasks in, answers out."""

    def say(place: tuple[int, str]) -> None:
        pipe.send(("at", place))

    with contextlib.suppress(EOFError, BrokenPipeError):  # nobody listens any more
        while (given := pipe.recv()) is not None:
            pipe.send(("done", task(say, *given)))


class Worker:
    """One process at a time, made anew when it died or has done its share."""

    def __init__(self, task: Callable[..., Any]) -> None:
        self.task = task
        self.done = 0
        self.process: Any = None

    def start(self) -> None:
        self.pipe, other = CONTEXT.Pipe()
        self.process = CONTEXT.Process(target=serve, args=(other, self.task), daemon=True)
        self.process.start()
        other.close()
        self.done = 0

    def stop(self) -> None:
        if self.process is not None:
            self.pipe.send(None)
            self.process.join()
            self.process = None

    def ask(self, *given: Any) -> Any:
        """The answer to a task, or what the process died of."""
        if self.done >= TASKS:
            self.stop()
        if self.process is None:
            self.start()
        self.pipe.send(given)
        at = (0, "start")
        try:
            while True:
                word, told = self.pipe.recv()
                if word == "done":
                    self.done += 1
                    return told
                at = told
        except EOFError:
            self.process.join()
            status, self.process = self.process.exitcode, None
            return Died(*at, status)


def spread(
    task: Callable[..., Any], given: Iterable[Any], jobs: int, heard: Callable[[Any, Any], Any]
) -> None:
    """Every task is done by some worker; `heard` gets each answer, and may give another task."""
    waiting, lock = list(given)[::-1], threading.Lock()

    def work() -> None:
        worker = Worker(task)
        while True:
            with lock:
                if not waiting:
                    break
                now = waiting.pop()
            answer = worker.ask(*now)
            with lock:
                again = heard(now, answer)
                if again is not None:
                    waiting.append(again)
        worker.stop()

    threads = [threading.Thread(target=work) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
