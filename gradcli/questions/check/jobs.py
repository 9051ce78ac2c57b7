"""Questions: each program checked by a process of its own, several at a time, told in order.

What a program does to its process ends with it: limits, a crash, counters, settings. Where the
system can fork, a process is a copy of this one, in which the engine is loaded; elsewhere each is
started. This process runs no program, waits no longer than the clock allows, and goes on whatever
becomes of one of them.
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

from ...deadline import CLOCK, reached, telling
from ...diagnostics import ExitStatus
from ...memory import bounded
from ...recording.facts.check import FileCheck
from ...recording.facts.check_wire import END, packed, unpacked
from . import Wishes, check, defect
from .files import Place, checked_within

# A forked process must not use Apple's libraries, which NumPy computes with there.
CAN_FORK = hasattr(os, "fork") and sys.platform != "darwin"
PIECE = 1 << 20
PLACE = struct.Struct("=qq")
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

Numbered = tuple[int, FileCheck]


def side_by_side(found: Sequence[Place], wishes: Wishes, jobs: int) -> Iterator[FileCheck]:
    """The answers in order, each as soon as it and those before it are there."""
    answers: dict[int, FileCheck] = {}
    told = 0
    work = _forked if CAN_FORK else _started
    for number, answer in work(found, wishes, max(1, min(jobs, len(found)))):
        answers[number] = answer
        while told in answers:
            yield answers.pop(told)
            told += 1


def clock(wishes: Wishes) -> float:
    """Seconds until a process that does not answer is ended: behind every other net."""
    return 2 * CLOCK * wishes.limits.timeout + 5


# ---------------------------------------------------------------- copies of this process


class Come:
    """How far a program has come, in memory that its process and this one share."""

    def __init__(self) -> None:
        self.shared = mmap.mmap(-1, PLACE.size)

    def at(self, line: int, column: int) -> None:
        """The process tells a line and a column."""
        PLACE.pack_into(self.shared, 0, line, column)

    def last(self) -> tuple[int, int] | None:
        """What was told last; None before the program ran."""
        place = PLACE.unpack_from(self.shared)
        self.shared.close()
        return place if min(place) > 0 else None


class Worker:
    """One program in a process of its own, and what that process has said so far."""

    def __init__(
        self, number: int, pid: int, ends: tuple[int, int], come: Come, wishes: Wishes
    ) -> None:  # fmt: skip
        self.number, self.pid, self.come = number, pid, come
        self.answers, self.life = ends
        self.ends = time.monotonic() + clock(wishes)
        limits = wishes.limits
        self.most = 16 * (limits.max_output + limits.max_source) + 64 * PIECE
        self.said = bytearray()
        self.late = self.endless = False

    def listen(self) -> bool:
        """Reads a piece; whether this is the end."""
        piece = os.read(self.answers, PIECE)
        self.said += piece
        self.endless = len(self.said) > self.most
        return not piece or piece.endswith(END) or self.endless

    def end(self) -> int:
        """The process is over, whatever it still does; how it ended."""
        os.close(self.answers)
        os.close(self.life)
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def _forked(found: Sequence[Place], wishes: Wishes, jobs: int) -> Iterator[Numbered]:
    if len(found) > 1:
        load()
    gc.freeze()  # what is here already is not looked at, and so not copied, in a worker
    waiting = list(enumerate(found))[::-1]
    at_work: dict[int, Worker] = {}
    try:
        while waiting or at_work:
            while waiting and len(at_work) < jobs:
                number, place = waiting.pop()
                worker = _begun(number, place, wishes, at_work.values())
                if worker is not None:
                    at_work[worker.answers] = worker
                elif at_work:  # the system has no room for more at a time
                    waiting.append((number, place))
                    break
                else:
                    yield number, _no_process(place)
            for worker in _heard(at_work):
                del at_work[worker.answers]
                yield worker.number, _answer(worker, found[worker.number], wishes)
    finally:
        for worker in at_work.values():
            worker.end()
        gc.unfreeze()


def load() -> None:
    """What programs load when they run is loaded once, before there are workers."""
    for name in ("fcntl", "resource", "gradcli.net"):
        with suppress(ImportError):
            import_module(name)
    check(None, "<first>", FIRST, Wishes())


def _begun(
    number: int, place: Place, wishes: Wishes, others: Iterable[Worker]
) -> Worker | None:  # fmt: skip
    """A process that checks this program; None where the system refuses one."""
    hear, say = os.pipe()
    lives, life = os.pipe()  # the end that we hold is open as long as the command lives
    come = Come()
    try:
        pid = os.fork()
    except OSError:
        for end in (hear, say, lives, life):
            os.close(end)
        return None
    if pid == 0:
        ours = [end for worker in others for end in (worker.answers, worker.life)]
        _check_here(place, wishes, come, (say, lives), (hear, life, *ours))
    os.close(say)
    os.close(lives)
    return Worker(number, pid, (hear, life), come, wishes)


def _heard(at_work: dict[int, Worker]) -> list[Worker]:
    """Waits for the next answers; workers that are done, or late."""
    poll = select.poll()
    for place in at_work:
        poll.register(place, select.POLLIN)
    patience = min((worker.ends for worker in at_work.values()), default=0) - time.monotonic()
    ready = [place for place, _ in poll.poll(max(0, math.ceil(patience * 1000)))]
    done = [at_work[place] for place in ready if at_work[place].listen()]
    for worker in at_work.values():
        if worker.answers not in ready and time.monotonic() > worker.ends:
            worker.late = True
            done.append(worker)
    return done


def _answer(worker: Worker, place: Place, wishes: Wishes) -> FileCheck:
    status = worker.end()
    at = worker.come.last()
    if worker.late:
        return _out_of_time(place, wishes, at, by_clock=True)
    if worker.endless:
        message = f"InternalError: more than {worker.most:,} bytes of answer from the process that"
        return defect(place.name, f"{message} checked it", ExitStatus.DEFECT, at=at)
    return _understood(bytes(worker.said), place, wishes, status, at)


def _check_here(
    place: Place, wishes: Wishes, come: Come, its: tuple[int, int], not_its: Iterable[int]
) -> NoReturn:  # fmt: skip
    """What a forked process does; it never goes back to what this process was about to do."""
    status = int(ExitStatus.DEFECT)
    try:
        say, lives = its
        for other in not_its:
            os.close(other)
        _alone(lives, wishes)
        with telling(come.at):
            left = packed(_checked(place, wishes))
        while left:
            left = left[os.write(say, left) :]
        status = 0
    finally:
        os._exit(status)


def _alone(lives: int, wishes: Wishes) -> None:
    """Nothing of the command is within reach, and the system ends what the interpreter can't."""
    import resource

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
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    most = math.ceil(2 * wishes.limits.timeout) + 2
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    if hard == resource.RLIM_INFINITY or most < hard:
        resource.setrlimit(resource.RLIMIT_CPU, (most, hard))


def _checked(place: Place, wishes: Wishes) -> FileCheck:
    foreign = wishes.device != "cpu" or wishes.against is not None
    begun = time.perf_counter()
    with bounded(wishes.limits.max_memory, foreign):
        fact = checked_within(place, wishes)
    return fact._replace(seconds=round(time.perf_counter() - begun, 6))


# ---------------------------------------------------------------- processes that are started


def _started(found: Sequence[Place], wishes: Wishes, jobs: int) -> Iterator[Numbered]:
    from concurrent.futures import ThreadPoolExecutor

    pool = ThreadPoolExecutor(jobs)
    try:
        yield from enumerate(pool.map(lambda place: _asked(place, wishes), found))
    finally:
        pool.shutdown(cancel_futures=True)


def _asked(place: Place, wishes: Wishes) -> FileCheck:
    known = os.environ.get("PYTHONPATH")
    package = str(Path(__file__).resolve().parents[3])
    path = package if not known else f"{package}{os.pathsep}{known}"
    try:
        done = subprocess.run(
            [sys.executable, "-m", WORKER], input=pickle.dumps((place, wishes)),
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=clock(wishes),
            env={**os.environ, "PYTHONPATH": path}, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return _out_of_time(place, wishes, by_clock=True)
    except OSError:
        return _no_process(place)
    return _understood(done.stdout, place, wishes, done.returncode)


def work() -> None:
    """What a process that was started does: one question, one answer."""
    place, wishes = pickle.load(sys.stdin.buffer)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what may be printed by accident is no answer
    with answers:
        answers.write(packed(_checked(place, wishes)))


# ---------------------------------------------------------------- what came back


def _understood(
    said: bytes, place: Place, wishes: Wishes, status: int, at: tuple[int, int] | None = None
) -> FileCheck:
    """The answer; where there is none, how the process ended, and at which statement."""
    answer = unpacked(said) if said.endswith(END) else None
    if answer is not None and answer.file == place.name:
        return answer
    if status in (ExitStatus.LIMIT_REACHED, -getattr(signal, "SIGXCPU", 24)):
        return _out_of_time(place, wishes, at)
    if status == -9:
        message = (
            "LimitReached: the system ended the process that checked it, most likely for want of "
            "memory; a smaller --max-memory ends the program sooner"
        )
        return defect(place.name, message, ExitStatus.LIMIT_REACHED, at=at)
    how = f"ended with status {status}" if status >= 0 else f"was ended by {_signal(-status)}"
    message = f"InternalError: the process that checked it {how}"
    return defect(place.name, message, ExitStatus.DEFECT, at=at)


def _out_of_time(
    place: Place, wishes: Wishes, at: tuple[int, int] | None = None, by_clock: bool = False
) -> FileCheck:
    error = reached(wishes.limits.timeout, by_clock)
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
