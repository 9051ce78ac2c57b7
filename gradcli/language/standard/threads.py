"""language: threading, queue and concurrent.futures: a thread runs whole when it is started.

A program has one processor and the same answer on every run, so a thread comes to its end before
the line after `start()` runs. What would wait for another thread without end says so instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...engine.schema.mode import enable_grad
from ...engine.schema.origin import current_line
from ...engine.schema.run_state import run_state
from ...engine.schema.settable import Takes
from ..attributes import get_attribute
from ..builtins.errors import message_of, name_of, value_of
from ..builtins.types import host_type
from ..calls import call
from ..compile.flow import catchable
from ..operations import collect, iterate, less
from ..session import session
from ..values import Lazy
from .publishing import called, classes, functions

_ALONE = "would wait without end: threads run here one after the other, each when it is started"
_BYTES = 200  # what one of these objects weighs

# ---------------------------------------------------------------- threading


class Thread:
    """threading.Thread"""

    _torch_name = "threading.Thread"
    EXTENSIBLE = True
    PUBLIC = ("start", "run", "join", "is_alive", "name", "daemon", "ident")
    TAKES: Mapping[str, Takes] = {"name": Takes.VALUE, "daemon": Takes.VALUE}
    ident: int

    def __init__(
        self, group: Any = None, target: Any = None, name: Any = None, args: Any = (),
        kwargs: Any = None, *, daemon: Any = None,
    ) -> None:  # fmt: skip
        session.budget.charge_bytes(_BYTES)
        threads.made += 1
        self.name = f"Thread-{threads.made}" if name is None else name
        self.daemon, self.ident = bool(daemon), threads.made + 1
        self._work = target, tuple(collect(args)), dict(kwargs or {})
        self._started = False

    def run(self) -> None:
        target, args, kwargs = self._work
        if target is not None:
            call(target, args, kwargs)

    def start(self) -> None:
        if self._started:
            raise RuntimeError("threads can only be started once")
        self._started = True
        session.budget.enter()
        before, threads.current = threads.current, self
        try:
            with enable_grad():  # a thread begins with the modes of a program
                call(get_attribute(self, "run"), (), {})
        except Exception as error:
            if not catchable(error):
                raise
            session.notes.setdefault(
                f"a thread ended with {_error_text(error)}, line {current_line()}"
            )
        finally:
            threads.current = before
            session.budget.depth -= 1

    def join(self, timeout: Any = None) -> None:
        if not self._started:
            raise RuntimeError("cannot join thread before it is started")

    def is_alive(self) -> bool:
        return threads.current is self


def _error_text(error: Exception) -> str:
    """The type and the first line of the message, whose words may be the program's own code."""
    name = name_of(error)
    try:
        words = message_of(error).partition("\n")[0]
    except Exception as own:
        if not catchable(own):
            raise
        return name
    return f"{name}: {words}" if words else name


class _Threads:
    """The threads of a run: how many were made, and which one is at work."""

    __slots__ = ("current", "made", "main")
    current: Thread
    main: Thread
    made: int

    def __init__(self) -> None:
        self.made = 0
        self.main = self.current = Thread.__new__(Thread)
        vars(self.main).update(name="MainThread", daemon=False, ident=1, _started=True)


threads = run_state(_Threads())


class Lock:
    """threading.Lock, RLock and Semaphore: of several that hold it there is one thread."""

    _torch_name = "_thread.lock"
    PUBLIC: tuple[str, ...] = ("acquire", "release", "locked")
    most: float = 1

    def __init__(self) -> None:
        self._held = 0

    def __reduce__(self) -> str:
        raise TypeError(f"cannot pickle '{self._torch_name}' object")

    def acquire(self, blocking: Any = True, timeout: Any = -1) -> bool:
        if self._held >= self.most:
            if blocking and timeout == -1:
                raise RuntimeError(f"acquire() {_ALONE}")
            return False
        self._held += 1
        return True

    def release(self) -> None:
        if not self._held:
            raise RuntimeError("release unlocked lock")
        self._held -= 1

    def locked(self) -> bool:
        return self._held > 0

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *error: object) -> None:
        self.release()


class RLock(Lock):
    _torch_name = "_thread.RLock"
    most = float("inf")


class Semaphore(Lock):
    _torch_name = "threading.Semaphore"

    def __init__(self, value: int = 1) -> None:
        super().__init__()
        self.most = value


class Event:
    """threading.Event"""

    _torch_name = "threading.Event"
    PUBLIC = ("set", "clear", "is_set", "wait")

    def __init__(self) -> None:
        self._set = False

    def set(self) -> None:
        self._set = True

    def clear(self) -> None:
        self._set = False

    def is_set(self) -> bool:
        return self._set

    def wait(self, timeout: Any = None) -> bool:
        if not self._set and timeout is None:
            raise RuntimeError(f"wait() {_ALONE}")
        return self._set


# ---------------------------------------------------------------- queue


class Empty(Exception):
    _torch_name = "_queue.Empty"


class Full(Exception):
    _torch_name = "queue.Full"


class Queue:
    """queue.Queue: first in, first out."""

    _torch_name = "queue.Queue"
    PUBLIC = ("put", "get", "put_nowait", "get_nowait", "empty", "full", "qsize", "task_done",
              "join", "maxsize")  # fmt: skip

    def __init__(self, maxsize: int = 0) -> None:
        self.maxsize = maxsize
        self._items: list[Any] = []

    def put(self, item: Any, block: Any = True, timeout: Any = None) -> None:
        if self.full():
            if block and timeout is None:
                raise RuntimeError(f"put() {_ALONE}")
            raise Full
        session.budget.charge_bytes(_BYTES)
        self._items.append(item)

    def get(self, block: Any = True, timeout: Any = None) -> Any:
        if not self._items:
            if block and timeout is None:
                raise RuntimeError(f"get() {_ALONE}")
            raise Empty
        session.budget.charge(1 + (len(self._items) >> 4))
        return self._items.pop(self._next())

    def _next(self) -> int:
        return 0

    def put_nowait(self, item: Any) -> None:
        self.put(item, False)

    def get_nowait(self) -> Any:
        return self.get(False)

    def empty(self) -> bool:
        return not self._items

    def full(self) -> bool:
        return 0 < self.maxsize <= len(self._items)

    def qsize(self) -> int:
        return len(self._items)

    def task_done(self) -> None:
        """Nobody waits for it."""

    join = task_done


class LifoQueue(Queue):
    _torch_name = "queue.LifoQueue"

    def _next(self) -> int:
        return -1


class PriorityQueue(Queue):
    _torch_name = "queue.PriorityQueue"

    def _next(self) -> int:
        place = 0
        for other in range(1, len(self._items)):
            session.budget.charge(1)
            if less(self._items[other], self._items[place]):
                place = other
        return place


# ---------------------------------------------------------------- concurrent.futures


class Future:
    """What submit() returns: the function has run."""

    _torch_name = "concurrent.futures._base.Future"
    PUBLIC = ("result", "exception", "done", "running", "cancel", "cancelled", "add_done_callback")

    def __init__(self) -> None:
        self._result: Any = None
        self._error: Exception | None = None

    def result(self, timeout: Any = None) -> Any:
        if self._error is not None:
            raise self._error
        return self._result

    def exception(self, timeout: Any = None) -> Any:
        return None if self._error is None else value_of(self._error)

    def done(self) -> bool:
        return True

    def running(self) -> bool:
        return False

    cancel = cancelled = running

    def add_done_callback(self, fn: Any) -> None:
        call(fn, (self,), {})


@called("ThreadPoolExecutor")
class Executor:
    """concurrent.futures.ThreadPoolExecutor"""

    _torch_name = "concurrent.futures.thread.ThreadPoolExecutor"
    PUBLIC = ("submit", "map", "shutdown")

    def __init__(self, max_workers: Any = None, *args: Any, **kwargs: Any) -> None:
        if max_workers is not None and max_workers <= 0:
            raise ValueError("max_workers must be greater than 0")

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future:
        session.budget.charge_bytes(_BYTES)
        made = Future()
        try:
            with enable_grad():
                made._result = call(fn, args, kwargs)
        except Exception as error:
            if not catchable(error):
                raise
            made._error = error
        return made

    def map(self, fn: Any, *iterables: Any, timeout: Any = None, chunksize: Any = 1) -> Lazy:
        rows = zip(*map(iterate, iterables), strict=False)
        made = [self.submit(fn, *row) for row in rows]
        return Lazy("generator", (one.result() for one in made))

    def shutdown(self, wait: Any = True, *, cancel_futures: Any = False) -> None:
        """All has run."""

    def __enter__(self) -> Executor:
        return self

    def __exit__(self, *error: object) -> None:
        """All has run."""


def _completed(fs: Any, timeout: Any = None) -> Iterator[Any]:
    return iter(collect(fs))


_FUTURES = {
    **classes([Future]), "ThreadPoolExecutor": classes([Executor])["ThreadPoolExecutor"],
    **functions({"as_completed": _completed}),
}  # fmt: skip
MODULES: dict[str, dict[str, Any]] = {
    "threading": {
        **classes([Thread, Lock, RLock, Semaphore, Event]),
        **functions({
            "current_thread": lambda: threads.current, "main_thread": lambda: threads.main,
            "active_count": lambda: 1, "get_ident": lambda: threads.current.ident,
        }),
    },
    "queue": {
        **classes([Queue, LifoQueue, PriorityQueue]), "SimpleQueue": host_type(Queue),
        "Empty": host_type(Empty), "Full": host_type(Full),
    },
    "concurrent.futures": _FUTURES,
}  # fmt: skip
