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

from ...engine.schema.run_state import run_state
from ..adoption import ADOPTERS
from ..attributes import STATICS
from ..calls import call
from ..formatting import SPECS
from ..members import members_of_type
from ..operations import type_name
from ..session import session
from .publishing import classes, functions

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
    return timed() - start


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


class timezone(host.tzinfo):
    """datetime.timezone: so far from UTC, all the year."""

    _torch_name = "datetime.timezone"
    PUBLIC = ("utcoffset", "tzname")
    __slots__ = ("_zone",)

    def __new__(cls, *args: Any, **named: Any) -> timezone:
        return super().__new__(cls)

    def __init__(self, offset: Any, name: Any = None) -> None:
        self._zone = host.timezone(offset) if name is None else host.timezone(offset, name)

    def utcoffset(self, dt: Any) -> Any:
        return _own(self._zone.utcoffset(dt))

    def tzname(self, dt: Any) -> str:
        return self._zone.tzname(dt)

    def dst(self, dt: Any) -> None:
        """There is no summer time."""

    def fromutc(self, dt: Any) -> Any:
        return dt + self._zone.utcoffset(dt)

    def __eq__(self, other: object) -> Any:
        return isinstance(other, timezone) and self._zone == other._zone

    def __hash__(self) -> int:
        return hash(self._zone)

    def __repr__(self) -> str:
        return repr(self._zone)

    def __str__(self) -> str:
        return str(self._zone)


UTC = timezone(host.timedelta(0))


class _Moment:
    """What dates and times share: their patterns, and a repr that names the module."""

    def strftime(self, format: str) -> str:
        zone = self.tzname() if hasattr(self, "tzname") else None
        moment = getattr(self, "timetuple", lambda: host.datetime(1900, 1, 1).timetuple())()
        return formatted(super().strftime, format, moment, zone or "")  # type: ignore[misc]

    def __repr__(self) -> str:
        return f"datetime.{super().__repr__().rpartition('datetime.')[2]}"


class date(_Moment, host.date):
    _torch_name = "datetime.date"
    PUBLIC = (*FIELDS, "strftime", "isoformat", "weekday", "isoweekday", "ctime", "replace",
              "toordinal", "timetuple", "isocalendar")  # fmt: skip

    def timetuple(self) -> struct_time:  # type: ignore[override]
        return struct_time(super().timetuple())

    def __sub__(self, other: Any) -> Any:
        return _own(super().__sub__(other))


class time(_Moment, host.time):
    _torch_name = "datetime.time"
    PUBLIC = (*TIMES, "tzinfo", "strftime", "isoformat", "replace", "utcoffset", "tzname")


class datetime(_Moment, host.datetime):
    _torch_name = "datetime.datetime"
    PUBLIC = (*FIELDS, *TIMES, "tzinfo", "strftime", "isoformat", "weekday", "isoweekday", "ctime",
              "timestamp", "date", "time", "replace", "toordinal", "timetuple", "astimezone",
              "utcoffset", "tzname", "isocalendar")  # fmt: skip

    def timestamp(self) -> float:
        return self.replace(tzinfo=self.tzinfo or UTC)._since_1970()

    def _since_1970(self) -> float:
        return super().timestamp()

    def astimezone(self, tz: Any = None) -> datetime:
        aware = self.replace(tzinfo=self.tzinfo or UTC)
        return host.datetime.astimezone(aware, tz or UTC)

    def timetuple(self) -> struct_time:  # type: ignore[override]
        return struct_time(super().timetuple())

    def date(self) -> date:
        return date(self.year, self.month, self.day)

    def time(self) -> time:
        return time(self.hour, self.minute, self.second, self.microsecond)

    def __sub__(self, other: Any) -> Any:
        return _own(super().__sub__(other))


def _own(value: Any) -> Any:
    """What Python's own classes give, as one of these."""
    if type(value) is host.timedelta:
        return timedelta(value.days, value.seconds, value.microseconds)
    return value


def _ours(method: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, *other: _own(method(self, *other))


for _method in ("__add__", "__radd__", "__sub__", "__rsub__", "__neg__", "__mul__", "__rmul__",
                "__truediv__", "__floordiv__", "__mod__", "__abs__"):  # fmt: skip
    setattr(timedelta, _method, _ours(getattr(host.timedelta, _method)))


def _now(tz: Any = None) -> datetime:
    moment = datetime.fromtimestamp(tick() // 1000 / 1e6, UTC)
    return moment.replace(tzinfo=None) if tz is None else moment.astimezone(tz)


def _from_timestamp(timestamp: Any, tz: Any = None) -> datetime:
    moment = datetime.fromtimestamp(timestamp, tz or UTC)
    return moment if tz is not None else moment.replace(tzinfo=None)


def _parsed(date_string: Any, format: Any) -> datetime:
    for given in (date_string, format):
        if type(given) is not str:
            raise TypeError(f"strptime() argument must be str, not {type_name(given)}")
        if len(given) > 200:
            raise ValueError("a date of more than 200 characters")
    return datetime.strptime(date_string, format)


ADOPTERS.update(
    {
        host.timedelta: _own,
        host.timezone: lambda zone: timezone(zone.utcoffset(None), zone.tzname(None)),
    }
)
STATICS.update({
    ("datetime", "now"): _now, ("datetime", "today"): _now, ("datetime", "utcnow"): _now,
    ("date", "today"): lambda: _now().date(), ("datetime", "strptime"): _parsed,
    ("datetime", "fromtimestamp"): _from_timestamp, ("datetime", "combine"): datetime.combine,
    ("date", "fromtimestamp"): lambda timestamp: _from_timestamp(timestamp).date(),
    **{(kind.__name__, "fromisoformat"): kind.fromisoformat for kind in (date, time, datetime)},
    **{(kind.__name__, "fromordinal"): kind.fromordinal for kind in (date, datetime)},
})  # fmt: skip
members_of_type(timezone).constants["utc"] = UTC
for _kind in (date, time, datetime):
    members_of_type(_kind).constants.update(min=_kind.min, max=_kind.max)
SPECS.update({kind: lambda moment, spec: moment.strftime(spec) for kind in (date, time, datetime)})
MODULES = {
    "time": {
        **functions({
            "time": _seconds, "perf_counter": _since_start, "monotonic": _since_start,
            "process_time": _since_start, "thread_time": _since_start, "time_ns": tick,
            **dict.fromkeys(("perf_counter_ns", "monotonic_ns", "process_time_ns"),
                            lambda: tick() - START * 10**9),
            "sleep": sleep,
            "strptime": lambda string, format: _parsed(string, format).timetuple(),
            "strftime": strftime, "localtime": _moment, "gmtime": _moment, "ctime": _ctime,
            "asctime": lambda t=None: host_time.asctime(tuple(_moment() if t is None else t)),
            "mktime": lambda t: float(calendar.timegm(tuple(t))),
        }),
        **classes([struct_time]),
    },
    "timeit": functions({"default_timer": _since_start, "timeit": timeit, "repeat": _repeat}),
    "datetime": {
        **classes([datetime, date, time, timedelta, timezone]), "UTC": UTC, "MINYEAR": 1,
        "MAXYEAR": 9999,
    },
}  # fmt: skip
