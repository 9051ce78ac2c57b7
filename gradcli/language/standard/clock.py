"""language: time, timeit and datetime: a clock that stands where the program started and steps.

Every look at it takes it a thousandth of a second further, and `sleep` as far as it says: the same
program prints the same times on every run.
"""

from __future__ import annotations

import calendar
import datetime as host
import re
import time as host_time
from collections.abc import Callable
from operator import itemgetter
from typing import Any

from ...engine.run_state import run_state
from ..attributes import STATICS
from ..calls import call
from ..formatting import SPECS
from ..operations import type_name
from ..session import session
from .published import classes, functions

START = 1_767_225_600  # 2026-01-01, in seconds since 1970, in nanoseconds below
STEP = 1_000_000


class _Clock:
    """Nanoseconds since 1970."""

    __slots__ = ("now",)

    def __init__(self) -> None:
        self.now = START * 10**9


clock = run_state(_Clock())


def tick() -> int:
    """The time, in nanoseconds; then the clock steps."""
    now = clock.now
    clock.now += STEP
    return now


def sleep(secs: Any, /) -> None:
    """time.sleep: the clock goes on, without waiting."""
    if type(secs) not in (int, float, bool):
        raise TypeError(f"'{type_name(secs)}' object cannot be interpreted as an integer")
    if secs < 0:
        raise ValueError("sleep length must be non-negative")
    clock.now += int(min(secs, 10**9) * 10**9)


def _seconds() -> float:
    return tick() / 1e9


def _since_start() -> float:
    return (tick() - START * 10**9) / 1e9


_OF_THE_MACHINE = re.compile(r"%%|%[^%A-Za-z]*([Zs])")


def formatted(render: Callable[[str], str], pattern: str, moment: Any, zone: str) -> str:
    """strftime: what a pattern can't ask for is width, and where on earth the machine stands."""
    if type(pattern) is not str:
        raise TypeError(f"strftime() argument must be str, not {type_name(pattern)}")
    if len(pattern) > 1000 or re.search(r"%[^%A-Za-z]*\d", pattern):
        raise ValueError("Invalid format string")

    def known(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0]
        return zone if found[1] == "Z" else str(calendar.timegm(moment))

    return render(_OF_THE_MACHINE.sub(known, pattern))


class struct_time(tuple):  # type: ignore[type-arg]
    """time.struct_time: nine numbers with names."""

    _torch_name = "time.struct_time"
    _fields = ("tm_year", "tm_mon", "tm_mday", "tm_hour", "tm_min", "tm_sec", "tm_wday",
               "tm_yday", "tm_isdst")  # fmt: skip
    __slots__ = ()

    def __repr__(self) -> str:
        listed = zip(self._fields, self, strict=True)
        return f"time.struct_time({', '.join(f'{name}={value}' for name, value in listed)})"


for _place, _name in enumerate(struct_time._fields):
    setattr(struct_time, _name, property(itemgetter(_place)))


def _moment(secs: Any = None) -> struct_time:
    seconds = _seconds() if secs is None else secs
    return struct_time(host_time.gmtime(seconds))


def strftime(format: str, t: Any = None) -> str:
    moment = tuple(_moment() if t is None else t)
    return formatted(lambda pattern: host_time.strftime(pattern, moment), format, moment, "UTC")


def _ctime(secs: Any = None) -> str:
    return host_time.asctime(tuple(_moment(secs)))


# ---------------------------------------------------------------- timeit


def timeit(
    stmt: Any = "pass", setup: Any = "pass", timer: Any = None, number: Any = 1_000_000,
    globals: Any = None,
) -> float:  # fmt: skip
    """What the clock says of so many calls of a function: a step for each look of theirs at it."""
    for given in (setup, stmt):
        if type(given) is str and given != "pass":
            raise TypeError("timeit takes functions here; a text would be another program")
    if setup != "pass":
        call(setup, (), {})
    timed = _since_start if timer is None else lambda: call(timer, (), {})
    start = timed()
    for _ in range(number if stmt != "pass" else 0):
        session.budget.charge(1)
        call(stmt, (), {})
    return timed() - start  # type: ignore[no-any-return]


def _repeat(
    stmt: Any = "pass", setup: Any = "pass", timer: Any = None, repeat: Any = 5,
    number: Any = 1_000_000, globals: Any = None,
) -> list[float]:  # fmt: skip
    return [timeit(stmt, setup, timer, number) for _ in range(repeat)]


# ---------------------------------------------------------------- datetime

FIELDS = ("year", "month", "day")
TIMES = ("hour", "minute", "second", "microsecond")


class timedelta(host.timedelta):
    _torch_name = "datetime.timedelta"
    PUBLIC = ("days", "seconds", "microseconds", "total_seconds")

    def __repr__(self) -> str:
        return super().__repr__().replace("timedelta(", "datetime.timedelta(", 1)


class date(host.date):
    _torch_name = "datetime.date"
    PUBLIC = (*FIELDS, "strftime", "isoformat", "weekday", "isoweekday", "ctime")

    def strftime(self, format: str) -> str:
        return formatted(super().strftime, format, self.timetuple(), "")

    def __repr__(self) -> str:
        return f"datetime.date({self.year}, {self.month}, {self.day})"


class datetime(host.datetime):
    _torch_name = "datetime.datetime"
    PUBLIC = (*FIELDS, *TIMES, "strftime", "isoformat", "weekday", "isoweekday", "ctime",
              "timestamp", "date")  # fmt: skip

    def strftime(self, format: str) -> str:
        return formatted(super().strftime, format, self.timetuple(), "")

    def timestamp(self) -> float:
        return calendar.timegm(self.timetuple()) + self.microsecond / 1e6

    def date(self) -> date:  # type: ignore[override]
        return date(self.year, self.month, self.day)

    def __sub__(self, other: Any) -> Any:
        return _own(super().__sub__(other))

    def __repr__(self) -> str:
        parts = [*(getattr(self, name) for name in FIELDS + TIMES)]
        while len(parts) > 5 and not parts[-1]:
            parts.pop()
        return f"datetime.datetime({', '.join(map(str, parts))})"


def _own(value: Any) -> Any:
    """What Python's own classes give, as one of these."""
    if type(value) is host.timedelta:
        return timedelta(value.days, value.seconds, value.microseconds)
    return value


def _ours(method: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, *other: _own(method(self, *other))


for _method in ("__add__", "__sub__", "__neg__", "__mul__", "__rmul__", "__truediv__", "__abs__"):
    setattr(timedelta, _method, _ours(getattr(host.timedelta, _method)))


def _now(kind: Any = None) -> datetime:
    return datetime.fromtimestamp(tick() // 1000 / 1e6, host.UTC).replace(tzinfo=None)


def _today() -> date:
    return _now().date()


STATICS.update({
    ("datetime", "now"): _now, ("datetime", "today"): _now, ("datetime", "utcnow"): _now,
    ("date", "today"): _today,
})  # fmt: skip
SPECS.update({kind: lambda moment, spec: moment.strftime(spec) for kind in (date, datetime)})
MODULES = {
    "time": {
        **functions({
            "time": _seconds, "perf_counter": _since_start, "monotonic": _since_start,
            "process_time": _since_start, "time_ns": tick,
            "perf_counter_ns": lambda: tick() - START * 10**9, "sleep": sleep,
            "strftime": strftime, "localtime": _moment, "gmtime": _moment, "ctime": _ctime,
            "asctime": lambda t=None: host_time.asctime(tuple(_moment() if t is None else t)),
            "mktime": lambda t: float(calendar.timegm(tuple(t))),
        }),
        **classes([struct_time]),
    },
    "timeit": functions({"default_timer": _since_start, "timeit": timeit, "repeat": _repeat}),
    "datetime": classes([datetime, date, timedelta]),
}  # fmt: skip
