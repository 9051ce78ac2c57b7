"""language: asyncio: locks, events and queues, for tasks that wait for each other."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Mapping
from typing import Any

from ..attributes import KEPT_BYTES
from ..builtins.types import host_type
from ..session import session
from ..values import Lazy
from . import event_loop
from .event_loop import Future
from .publishing import classes

Steps = Generator[Any, Any, Any]


def _coroutine(name: str, work: Callable[..., Steps]) -> Callable[..., Lazy]:
    return lambda self, *given: Lazy("coroutine", work(self, *given), name)


class _Waited:
    """What tasks wait for, in the order in which they came, as Python's loop lets them go on."""

    ASYNC: Mapping[str, Callable[..., Steps]] = {}

    def __init__(self) -> None:
        session.budget.charge_bytes(KEPT_BYTES)
        self._waiting: deque[Future] = deque()

    def _turn(self) -> Steps:
        """Waits in line."""
        turn = Future()
        self._waiting.append(turn)
        yield turn
        self._waiting.remove(turn)

    def _wake(self) -> bool:
        """Lets the first in line go on, which has not been told yet."""
        for turn in self._waiting:
            session.budget.charge(1)
            if not turn.done():
                turn.set_result(None)
                return True
        return False


class _Held(_Waited):
    PUBLIC: tuple[str, ...] = ("acquire", "release", "locked")

    def _acquired(self) -> Steps:
        raise NotImplementedError

    def release(self) -> None:
        raise NotImplementedError

    def _entered(self) -> Steps:
        yield from self._acquired()

    def _left(self, *error: Any) -> Steps:
        self.release()
        yield from ()

    acquire = _coroutine("acquire", lambda self: self._acquired())
    ASYNC = {"__aenter__": _entered, "__aexit__": _left}


class Lock(_Held):
    """asyncio.Lock()"""

    _torch_name = "asyncio.locks.Lock"
    PUBLIC = ()

    def __init__(self) -> None:
        super().__init__()
        self._locked = False

    def _acquired(self) -> Steps:
        if self._locked or self._waiting:
            yield from self._turn()
        self._locked = True
        return True

    def release(self) -> None:
        if not self._locked:
            raise RuntimeError("Lock is not acquired.")
        self._locked = False
        if self._waiting and not self._waiting[0].done():
            self._wake()

    def locked(self) -> bool:
        return self._locked


class Semaphore(_Held):
    """asyncio.Semaphore(value)"""

    _torch_name = "asyncio.locks.Semaphore"
    PUBLIC = ()

    def __init__(self, value: int = 1) -> None:
        super().__init__()
        if value < 0:
            raise ValueError("Semaphore initial value must be >= 0")
        self._value = value

    def _acquired(self) -> Steps:
        if self.locked():
            yield from self._turn()
        else:
            self._value -= 1
        return True

    def release(self) -> None:
        if not self._wake():  # who waits is given it as it is
            self._value += 1

    def locked(self) -> bool:
        return not self._value or bool(self._waiting)


class Event(_Waited):
    """asyncio.Event()"""

    _torch_name = "asyncio.locks.Event"
    PUBLIC = ("set", "clear", "is_set", "wait")

    def __init__(self) -> None:
        super().__init__()
        self._set = False

    def _waits(self) -> Steps:
        if not self._set:
            yield from self._turn()
        return True

    wait = _coroutine("wait", _waits)

    def set(self) -> None:
        self._set = True
        session.budget.charge(len(self._waiting))
        for turn in self._waiting:
            if not turn.done():
                turn.set_result(None)

    def clear(self) -> None:
        self._set = False

    def is_set(self) -> bool:
        return self._set


class Queue:
    """asyncio.Queue(maxsize)"""

    _torch_name = "asyncio.queues.Queue"
    PUBLIC = ("put", "get", "put_nowait", "get_nowait", "qsize", "empty", "full", "maxsize",
              "join", "task_done")  # fmt: skip

    def __init__(self, maxsize: int = 0) -> None:
        self.maxsize, self._items, self._open = maxsize, deque[Any](), 0
        self._getting, self._putting, self._done = _Waited(), _Waited(), Event()
        self._done.set()

    def _puts(self, item: Any) -> Steps:
        while self.full():
            yield from self._putting._turn()
        self.put_nowait(item)

    def _gets(self) -> Steps:
        while not self._items:
            yield from self._getting._turn()
        return self.get_nowait()

    def _joins(self) -> Steps:
        yield from self._done._waits()

    put, get = _coroutine("put", _puts), _coroutine("get", _gets)
    join = _coroutine("join", _joins)

    def put_nowait(self, item: Any) -> None:
        if self.full():
            raise QueueFull()
        session.budget.charge_bytes(KEPT_BYTES)
        self._items.append(item)
        self._open += 1
        self._done.clear()
        self._getting._wake()

    def get_nowait(self) -> Any:
        if not self._items:
            raise QueueEmpty()
        item = self._items.popleft()
        self._putting._wake()
        return item

    def task_done(self) -> None:
        if not self._open:
            raise ValueError("task_done() called too many times")
        self._open -= 1
        if not self._open:
            self._done.set()

    def qsize(self) -> int:
        return len(self._items)

    def empty(self) -> bool:
        return not self._items

    def full(self) -> bool:
        return 0 < self.maxsize <= len(self._items)


class QueueEmpty(Exception):
    _torch_name = "asyncio.queues.QueueEmpty"


class QueueFull(Exception):
    _torch_name = "asyncio.queues.QueueFull"


MODULES: dict[str, dict[str, Any]] = {
    "asyncio": {
        **event_loop.MODULES["asyncio"], **classes([Event, Lock, Queue, Semaphore]),
        "QueueEmpty": host_type(QueueEmpty), "QueueFull": host_type(QueueFull),
    },
}  # fmt: skip
