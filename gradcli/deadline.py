"""deadline: the net beneath the budget: a clock that stops what the interpreter does not count.

The budget of the language charges work before it is done. What slips through (one long call into
an array library, say) is stopped by an alarm signal, and what ignores signals by a thread that
ends the process. An address-space limit turns a runaway allocation into a MemoryError.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

GRACE = 2.0  # seconds between the budget's own end, the signal and the thread
HEADROOM = 1 << 30  # address space beyond the memory limit: libraries, stacks, mapped files


class OutOfTime(BaseException):
    """The alarm rang. Not an Exception: no `except` of a program matches it."""


@contextmanager
def deadline(seconds: float, last_words: Callable[[], str], status: int) -> Iterator[None]:
    """Within it OutOfTime is raised after so many seconds; later still the process ends."""
    thread = threading.Timer(seconds + GRACE, _end, (last_words, status))
    thread.daemon = True
    before = None
    usable = hasattr(signal, "SIGALRM") and threading.current_thread() is threading.main_thread()
    if usable:
        before = signal.signal(signal.SIGALRM, _ring)
        signal.setitimer(signal.ITIMER_REAL, seconds + GRACE / 2)
    thread.start()
    try:
        yield
    finally:
        thread.cancel()
        if usable:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


def _ring(number: int, frame: FrameType | None) -> None:
    raise OutOfTime


def _end(last_words: Callable[[], str], status: int) -> None:
    sys.stdout.flush()
    os.write(2, last_words().encode("utf-8", "backslashreplace"))
    os._exit(status)


@contextmanager
def address_space(limit: int) -> Iterator[None]:
    """Within it the process can map so much more memory than now, and no more."""
    try:
        import resource
    except ImportError:
        yield
        return
    now = _mapped()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = now + limit + HEADROOM
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
    except (ValueError, OSError):
        yield
        return
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _mapped() -> int:
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGESIZE")
    except (OSError, ValueError, IndexError):
        return 0
