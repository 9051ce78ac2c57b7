"""Questions: programs checked in worker processes, several at a time, reported in order.

This process runs no program, waits no longer than the clock allows, and goes on whatever becomes
of one of them. Where the system can fork, a worker is a copy of this process, in which the engine
is loaded. A program finds in it what a new process has, and what it does to its process ends with
it: a worker takes another program only where the last one ended by itself, within its limits and
with little memory left behind. Elsewhere a process is started for each program.
"""

from __future__ import annotations

import gc
import math
import mmap
import os
import pickle
import select
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from ...diagnostics import ExitStatus
from ...process.deadline import CLOCK, reached, telling
from ...process.memory import bounded, data_size
from ...recording.facts.check import FileCheck
from ...recording.facts.check_wire import END, packed, unpacked
from . import check, defect
from .files import Place, checked_within
from .options import CheckOptions

# A forked process must not use Apple's libraries, which NumPy computes with there.
CAN_FORK = hasattr(os, "fork") and sys.platform != "darwin"
PIECE = 1 << 20
PLACE = struct.Struct("=qq?")
SIZE = struct.Struct("=q")
ENDED_BY_ITSELF = (0, ExitStatus.CHECK_FAILED, ExitStatus.USAGE, ExitStatus.PROGRAM_ERROR)
# Bytes of memory that a program may leave in a process that goes on; the stacks of two threads that
# its nets need, eight megabytes each, are among them where the command itself has not run any.
LEFT_BEHIND = 32 << 20
WORKER = "gradcli.questions.check.jobs"
# A program of ours that uses what most programs use: what it loads is there for all of them.
FIRST = b"""\
import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
a, b = [torch.tensor([i], requires_grad=True) for i in (2.0, 5.0)]
loss = ((x * 2 + 1) / 3 - x ** 2).exp().sum() + (10 - a * b)
loss.backward()
for number, leaf in enumerate([a, b, x], start=1):
    first, *_ = leaf.grad.data
    print(f"{number}: {first}", first.item(), leaf.grad)
"""

# What the numeric check makes PyTorch load: a third of a second in each process.
OF_TORCH = ("torch.fx.experimental.symbolic_shapes", "gradcli.pipeline.live")

Numbered = tuple[int, FileCheck]


def side_by_side(found: Sequence[Place], options: CheckOptions, jobs: int) -> Iterator[FileCheck]:
    """The answers in order, each as soon as it and those before it are there."""
    if len(found) > 1:
        load(options.engine)
    with processes(options, max(1, min(jobs, len(found)))) as workers:
        yield from in_order(workers.checked(found))


def in_order(numbered: Iterable[Numbered]) -> Iterator[FileCheck]:
    """Answers that come in any order."""
    answers: dict[int, FileCheck] = {}
    told = 0
    for number, answer in numbered:
        answers[number] = answer
        while told in answers:
            yield answers.pop(told)
            told += 1


def processes(options: CheckOptions, jobs: int) -> Workers | Started:
    """So many processes at most that check programs, within a `with`."""
    # The driver of a GPU, once CuPy has loaded it, does not work in a copy of its process.
    forks = CAN_FORK and "cupy_backends" not in sys.modules
    return Workers(options, jobs) if forks else Started(options, jobs)


def load(engine: str = "own") -> None:
    """What programs load when they run is loaded once, before there are copies of this process."""
    if CAN_FORK:
        for name in ("fcntl", "resource", "gradcli.process.net"):
            with suppress(ImportError):
                import_module(name)
        check(None, "<first>", FIRST, CheckOptions())
        for name in OF_TORCH if engine == "torch" else ():
            import_module(name)  # PyTorch runs nothing before there are copies: it has threads


def clock(options: CheckOptions) -> float:
    """Seconds until a process that does not answer is ended: behind every other net."""
    return 2 * CLOCK * options.limits.timeout + 5


# ---------------------------------------------------------------- copies of this process


class Shared:
    """What a worker and this process both see: how far its program has come, and if it goes on."""

    def __init__(self) -> None:
        self.memory = mmap.mmap(-1, PLACE.size)

    def begin(self) -> None:
        """The next program: it has not run, and nothing is known of how it leaves its process."""
        PLACE.pack_into(self.memory, 0, 0, 0, False)

    def at(self, line: int, column: int) -> None:
        """The worker reports a line and a column."""
        PLACE.pack_into(self.memory, 0, line, column, False)

    def stays_alive(self) -> None:
        """The worker takes another program."""
        PLACE.pack_into(self.memory, 0, 0, 0, True)

    def last(self) -> tuple[int, int] | None:
        """The line and column reported last; None before the program ran."""
        line, column, _ = PLACE.unpack_from(self.memory)
        return (line, column) if min(line, column) > 0 else None

    def takes_another(self) -> bool:
        """Did the worker say that it goes on?"""
        return bool(PLACE.unpack_from(self.memory)[2])


class Worker:
    """A process that checks programs, and what it has said so far of the one that it checks."""

    def __init__(self, pid: int, ends: tuple[int, int, int], shared: Shared) -> None:
        self.pid, self.shared, self.ends = pid, shared, ends
        self.questions, self.answers, _ = ends
        self.said = bytearray()
        self.late = self.endless = False

    def ask(self, number: int, place: Place, options: CheckOptions) -> None:
        """The program to check next."""
        self.number = number
        self.until = time.monotonic() + clock(options)
        limits = options.limits
        self.most = 16 * (limits.max_output + limits.max_source) + 64 * PIECE
        self.said.clear()
        self.shared.begin()
        question = pickle.dumps(place)
        left = memoryview(SIZE.pack(len(question)) + question)
        with suppress(BrokenPipeError):  # it is gone: its answer will be none
            while left:
                left = left[os.write(self.questions, left) :]

    def listen(self) -> bool:
        """Reads a piece; whether this is the end."""
        piece = os.read(self.answers, PIECE)
        self.said += piece
        self.endless = len(self.said) > self.most
        return not piece or piece.endswith(END) or self.endless

    def end(self) -> int:
        """The process is over, whatever it still does; how it ended."""
        for end in self.ends:
            os.close(end)
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


class Workers:
    """So many processes at most, within a `with`."""

    def __init__(self, options: CheckOptions, jobs: int) -> None:
        self.options, self.jobs = options, jobs
        self.at_work: dict[int, Worker] = {}
        self.idle: list[Worker] = []

    def __enter__(self) -> Workers:
        gc.freeze()  # what is here already is not looked at, and so not copied, in a worker
        return self

    def __exit__(self, *error: object) -> None:
        for worker in (*self.at_work.values(), *self.idle):
            worker.end()
        gc.unfreeze()

    def checked(self, found: Sequence[Place]) -> Iterator[Numbered]:
        """The answers, each with its number, in the order in which they come."""
        waiting = list(enumerate(found))[::-1]
        while waiting or self.at_work:
            while waiting and len(self.at_work) < self.jobs:
                number, place = waiting.pop()
                worker = self.idle.pop() if self.idle else self._new()
                if worker is not None:
                    self.at_work[worker.answers] = worker
                    worker.ask(number, place, self.options)
                elif self.at_work:  # the system has no room for more at a time
                    waiting.append((number, place))
                    break
                else:
                    yield number, _no_process(place)
            for worker in self._heard():
                del self.at_work[worker.answers]
                yield worker.number, self._answer(worker, found[worker.number])

    def _new(self) -> Worker | None:
        """One more process; None where the system refuses it."""
        ends: list[int] = []
        try:
            for _ in range(3):
                ends += os.pipe()
            shared = Shared()
            pid = os.fork()
        except OSError:  # no room for processes, for memory, or for open files
            for end in ends:
                os.close(end)
            return None
        asked, ask, hear, say, lives, life = ends  # `life` is open as long as the command lives
        if pid == 0:
            others = (*self.at_work.values(), *self.idle)
            ours = [ask, hear, life, *(end for worker in others for end in worker.ends)]
            _work_here(self.options, shared, (asked, say, lives), ours)
        for end in (asked, say, lives):
            os.close(end)
        return Worker(pid, (ask, hear, life), shared)

    def _heard(self) -> list[Worker]:
        """Waits for the next answers; workers that are done, or late."""
        poll = select.poll()
        for place in self.at_work:
            poll.register(place, select.POLLIN)
        first = min((worker.until for worker in self.at_work.values()), default=0)
        patience = max(0, math.ceil((first - time.monotonic()) * 1000))
        ready = [place for place, _ in poll.poll(patience)]
        done = [self.at_work[place] for place in ready if self.at_work[place].listen()]
        for worker in self.at_work.values():
            if worker.answers not in ready and time.monotonic() > worker.until:
                worker.late = True
                done.append(worker)
        return done

    def _answer(self, worker: Worker, place: Place) -> FileCheck:
        """What it said; the worker waits for another program, or its process ends."""
        said, at = bytes(worker.said), worker.shared.last()
        if worker.shared.takes_another() and said.endswith(END):
            self.idle.append(worker)
            return _understood(said, place, self.options, 0, at)
        status = worker.end()
        if worker.late:
            return _out_of_time(place, self.options, at, by_clock=True)
        if worker.endless:
            message = f"InternalError: more than {worker.most:,} bytes of answer from the process"
            return defect(place.name, f"{message} that checked it", ExitStatus.DEFECT, at=at)
        return _understood(said, place, self.options, status, at)


def _work_here(
    options: CheckOptions, shared: Shared, its: tuple[int, int, int], not_its: Iterable[int]
) -> NoReturn:  # fmt: skip
    """What a forked process does; it never goes back to what this process was about to do."""
    status = int(ExitStatus.DEFECT)
    try:
        asked, say, lives = its
        for other in not_its:
            os.close(other)
        _alone(lives)
        held = data_size()
        while question := _read(asked, SIZE.size):
            place = pickle.loads(_read(asked, *SIZE.unpack(question)))
            _limit_work(options)
            with telling(shared.at):
                fact = _checked(place, options)
            left = packed(fact)
            if _leaves_as_found(fact, options) and _data_after_collection() - held < LEFT_BEHIND:
                shared.stays_alive()
            while left:
                left = left[os.write(say, left) :]
        status = 0
    finally:
        os._exit(status)


def _leaves_as_found(fact: FileCheck, options: CheckOptions) -> bool:
    """Is nothing known that a program may have left in its process, or in a foreign library?"""
    ended = fact.exit_code in ENDED_BY_ITSELF
    return ended and options.device == "cpu" and not _is_foreign(options)


def _data_after_collection() -> int:
    gc.collect()
    return data_size()


def _is_foreign(options: CheckOptions) -> bool:
    return options.against is not None or options.engine == "torch"


def _read(end: int, count: int) -> bytes:
    """So many bytes of a pipe; fewer where it was closed."""
    said = bytearray()
    while len(said) < count and (piece := os.read(end, count - len(said))):
        said += piece
    return bytes(said)


def _alone(lives: int) -> None:
    """Nothing of the command is within reach, and the process ends with it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nowhere, stream)
    with suppress(ImportError, AttributeError, OSError):
        import fcntl

        # When the command dies, its end of the pipe is closed, and this signal ends the process.
        fcntl.fcntl(lives, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(lives, fcntl.F_SETFL, os.O_ASYNC)
    with suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
        file.write("1000")  # where memory ends, the worker goes and not the command


def _limit_work(options: CheckOptions) -> None:
    """The system ends what the interpreter can't."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    most = math.ceil(time.process_time() + 2 * options.limits.timeout) + 2
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    if hard == resource.RLIM_INFINITY or most < hard:
        resource.setrlimit(resource.RLIMIT_CPU, (most, hard))


def _checked(place: Place, options: CheckOptions) -> FileCheck:
    begun = time.perf_counter()
    trusted = options.engine == "torch"
    with bounded(options.limits.max_memory, foreign=_is_foreign(options), trusted=trusted):
        fact = checked_within(place, options)
    return fact._replace(seconds=round(time.perf_counter() - begun, 6))


# ---------------------------------------------------------------- processes that are started


class Started:
    """A process for each program, so many at a time."""

    def __init__(self, options: CheckOptions, jobs: int) -> None:
        from concurrent.futures import ThreadPoolExecutor

        self.options, self.pool = options, ThreadPoolExecutor(jobs)

    def __enter__(self) -> Started:
        return self

    def __exit__(self, *error: object) -> None:
        self.pool.shutdown(cancel_futures=True)

    def checked(self, found: Sequence[Place]) -> Iterator[Numbered]:
        """The answers with their numbers, in order."""
        return enumerate(self.pool.map(self._answer_at, found))

    def _answer_at(self, place: Place) -> FileCheck:
        known = os.environ.get("PYTHONPATH")
        package = str(Path(__file__).resolve().parents[3])
        path = package if not known else f"{package}{os.pathsep}{known}"
        try:
            done = subprocess.run(
                [sys.executable, "-P", "-m", WORKER], input=pickle.dumps((place, self.options)),
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=clock(self.options),
                env={**os.environ, "PYTHONPATH": path}, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return _out_of_time(place, self.options, by_clock=True)
        except OSError:
            return _no_process(place)
        return _understood(done.stdout, place, self.options, done.returncode)


def work() -> None:
    """What a process that was started does: one question, one answer."""
    place, options = pickle.load(sys.stdin.buffer)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what may be printed by accident is no answer
    with answers:
        answers.write(packed(_checked(place, options)))


# ---------------------------------------------------------------- what came back


def _understood(
    said: bytes, place: Place, options: CheckOptions, status: int, at: tuple[int, int] | None = None
) -> FileCheck:
    """The answer; where there is none, how the process ended, and at which statement."""
    answer = unpacked(said) if said.endswith(END) else None
    if answer is not None and answer.file == place.name:
        return answer
    if status in (ExitStatus.LIMIT_REACHED, -getattr(signal, "SIGXCPU", 24)):
        return _out_of_time(place, options, at)
    if status == -9:
        message = (
            "LimitReached: the system ended the process that checked it, most likely because "
            "memory ran out; a smaller --max-memory ends the program sooner"
        )
        return defect(place.name, message, ExitStatus.LIMIT_REACHED, at=at)
    how = f"ended with status {status}" if status >= 0 else f"was ended by {_signal(-status)}"
    if options.engine == "torch":  # Python runs it: it can do that to its process
        message = f"ProcessEnded: the process that ran it {how}"
        return defect(place.name, message, ExitStatus.PROGRAM_ERROR, at=at)
    message = f"InternalError: the process that checked it {how}"
    return defect(place.name, message, ExitStatus.DEFECT, at=at)


def _out_of_time(
    place: Place, options: CheckOptions, at: tuple[int, int] | None = None, by_clock: bool = False
) -> FileCheck:
    error = reached(options.limits.timeout, by_clock)
    return defect(place.name, f"LimitReached: {error}", ExitStatus.LIMIT_REACHED, at=at)


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _no_process(place: Place) -> FileCheck:
    message = "LimitReached: the system has no room for a process that checks it"
    return defect(place.name, message, ExitStatus.LIMIT_REACHED)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt, BrokenPipeError):
        work()
