"""process: how long a command may work, and what ends it where the interpreter does not count.

A limit of time is a limit of work: processor time of this process, all its threads together. The
clock is a second limit, so many times as large, for a machine that is busy with other things. The
budget of the language looks at both whenever it has counted some steps. What does not come back to
it (one long call into an array library, say) is ended by a signal a little later; and what runs no
signal handler either, an endless call in C, by the net at twice the time.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # as in `interrupts`
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from math import inf
from types import FrameType

from ..diagnostics import ExitStatus, LimitReached
from .interrupts import interruptible, is_main_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .net import Net, Quote

CLOCK = 10  # times the limit of work: how much time may go by
LATER = 1.25  # times the limit: when the signal comes
START = 0.3  # seconds of work more, for what comes before the program
NET = 1.0  # seconds at least, from the limit to the net: twice the limit where that is more

STANDARD = 60.0  # seconds of work

SOON = 1e-6  # seconds: a timer of none would be off

Handler = Callable[[int, "FrameType | None"], None]
Mark = Callable[[int, int], None]  # told the line and the column that the program has come to


class Standard(float):
    """The default limit of time, which nobody has set."""


def reached(seconds: float, by_clock: bool = False) -> LimitReached:
    """The error of a program that took too long."""
    most = seconds * CLOCK if by_clock else seconds
    limit = f"limit of {most:g} second{'s' * (most != 1)}"
    return LimitReached(f"{limit} by the clock" if by_clock else limit, "--timeout")


class Clock:
    """What may be used of both kinds of time, from now on, within the deadline that is in force:
    a program that took long to parse has less of it left."""

    __slots__ = ("clock_ends", "seconds", "work_ends")

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.work_ends = time.process_time() + seconds
        self.clock_ends = time.monotonic() + seconds * CLOCK
        if _in_force:
            around = _in_force[-1].clock
            self.work_ends = min(self.work_ends, around.work_ends + START)
            self.clock_ends = min(self.clock_ends, around.clock_ends + START * CLOCK)

    def look(self) -> None:
        """Raises LimitReached when one of them is used up."""
        if time.process_time() > self.work_ends:
            raise reached(self.seconds)
        if time.monotonic() > self.clock_ends:
            raise reached(self.seconds, by_clock=True)


class _Open:
    """A deadline that is in force, and the net beneath it once a program is read."""

    __slots__ = ("clock", "held", "mark", "name", "net", "seconds")

    def __init__(self, seconds: float) -> None:
        self.clock = Clock(seconds)
        self.seconds = seconds
        self.net = ExitStack()
        self.held: Net | None = None
        self.name: str | None = None
        self.mark: Mark = _come_to


_in_force: list[_Open] = []  # the inner ones last
_listening: list[Mark] = []  # who else is notified of the current line
_places: list[tuple[int, int]] = []  # the last line and column reported


def time_for(seconds: float, *, trusted: bool) -> float:
    """A program that is trusted meets no limit that nobody set: a training run takes hours, and
    may have timers and signals of its own."""
    return inf if trusted and isinstance(seconds, Standard) else seconds


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Within it LimitReached is raised when the time is used up; the net ends what goes on."""
    if seconds == inf:
        yield
        return
    if not _in_force:
        _places.clear()
    ring = _ringing if hasattr(signal, "setitimer") and is_main_thread() else _watched
    _in_force.append(_Open(seconds))
    try:
        with ring(seconds):
            yield
    finally:
        _in_force.pop().net.close()


def reading(name: str) -> Mark | None:
    """A program of this name is parsed: from here on the deadline needs no interpreter."""
    if not _in_force or not is_main_thread():
        return None
    here = _in_force[-1]
    if here.name != name:
        here.net.close()
        held = here.held = here.net.enter_context(_net(name, here.seconds))
        here.name, here.mark = name, _come_to if held is None else _both(_come_to, held.at)
        _places.clear()
    if here.held is not None:
        here.held.quote = None  # of the text before
    return _both(_listening[-1], here.mark) if _listening else here.mark


def begin(name: str, quote: Quote) -> Mark | None:
    """A program of this name starts to run; `quote` gives the text of a place."""
    interruptible()
    mark = reading(name)
    if mark is not None and _in_force[-1].held is not None:
        _in_force[-1].held.quote = quote
    return mark


@contextmanager
def telling(mark: Mark) -> Iterator[None]:
    """Within it another listener is notified of the current line as well."""
    _listening.append(mark)
    try:
        yield
    finally:
        _listening.pop()


def last_place() -> tuple[int, int] | None:
    """The line and the column that the program, or its parser, came to last."""
    return _places[0] if _places else None


def _come_to(line: int, column: int) -> None:
    _places[:] = [(line, column)]


def _both(one: Mark, other: Mark) -> Mark:
    def mark(line: int, column: int) -> None:
        one(line, column)
        other(line, column)

    return mark


@contextmanager
def _net(name: str, seconds: float) -> Iterator[Net | None]:
    last = seconds + max(seconds, NET)
    try:
        if not sys.platform.startswith("linux"):
            raise ImportError
        from .net import Net

        net = Net(name, f"LimitReached: {reached(seconds)}\n", last, last * CLOCK)
    except (ImportError, AttributeError, OSError):
        with _default_signal(last):
            yield None
        return
    try:
        yield net
    finally:
        net.gone()


@contextmanager
def _ringing(seconds: float) -> Iterator[None]:
    """Two signals whose handler raises; they come again, should something swallow the error."""

    def work(number: int, frame: FrameType | None) -> None:
        raise reached(seconds)

    def clock(number: int, frame: FrameType | None) -> None:
        raise reached(seconds, by_clock=True)

    later = seconds * LATER + START
    with (
        _timer(signal.ITIMER_PROF, signal.SIGPROF, later, work, time.process_time),
        _timer(signal.ITIMER_REAL, signal.SIGALRM, later * CLOCK, clock, time.monotonic),
    ):
        yield


@contextmanager
def _timer(
    kind: int, number: int, seconds: float, handler: Handler, now: Callable[[], float]
) -> Iterator[None]:
    """A signal after so many seconds, unless the timer around this one comes before it; that goes
    on with what is left of its time."""
    left, every = signal.getitimer(kind)
    if 0 < left <= seconds:
        yield
        return
    before, begun = signal.signal(number, handler), now()
    signal.setitimer(kind, seconds, max(seconds / 4, 0.5))
    try:
        yield
    finally:
        signal.setitimer(kind, 0)
        signal.signal(number, before)
        if left:
            signal.setitimer(kind, max(left - (now() - begun), SOON), every)


@contextmanager
def _default_signal(seconds: float) -> Iterator[None]:
    """A signal that no handler waits for ends the process; the shell says which it was."""
    usable = hasattr(signal, "setitimer")
    if usable:
        signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        if usable:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)


@contextmanager
def _watched(seconds: float) -> Iterator[None]:
    """A thread ends the process: for systems without such timers."""
    import threading  # where signals do it, nothing needs it

    over = threading.Event()
    limits = Clock(seconds + max(seconds, NET))

    def watch() -> None:
        while not over.wait(min(1.0, seconds / 4)):
            try:
                limits.look()
            except LimitReached:
                with suppress(OSError, ValueError):
                    sys.stdout.flush()
                os.write(2, f"LimitReached: {reached(seconds)}\n".encode())
                os._exit(ExitStatus.LIMIT_REACHED)

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        over.set()
