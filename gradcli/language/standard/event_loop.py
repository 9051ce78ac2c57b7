"""language: asyncio: tasks that take turns, in the order in which Python's loop gives them.

Time is the loop's own: where all wait, it is as late as the first to wake up.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Generator, Iterator
from typing import Any

from ...engine.schema.run_state import run_state
from ..builtins.errors import value_of
from ..calls import call
from ..compile.flow import catchable
from ..session import session
from ..values import Lazy
from .publishing import classes, functions

_BYTES = 200


class _Loop:
    """The loop that runs: what is to be called, and what wakes up when."""

    __slots__ = ("count", "now", "ready", "running", "timers")

    def __init__(self) -> None:
        self.ready: deque[Callable[[], Any]] = deque()
        self.timers: list[tuple[float, int, Future]] = []
        self.now, self.count, self.running = 0.0, 0, False


loop = run_state(_Loop())


class Future:
    """asyncio.Future"""

    _torch_name = "_asyncio.Future"
    PUBLIC: tuple[str, ...] = ("result", "exception", "done", "set_result", "add_done_callback")

    def __init__(self) -> None:
        session.budget.charge_bytes(_BYTES)
        self._callbacks: list[Callable[[], Any]] = []
        self._over, self._value = False, None
        # With its traceback, which says where the error happened; raised again where it is asked.
        self._error: Exception | None = None

    def _end(self, value: Any, error: Exception | None = None) -> None:
        self._over, self._value, self._error = True, value, error
        loop.ready.extend(self._callbacks)

    def _then(self, callback: Callable[[], Any]) -> None:
        if self._over:
            loop.ready.append(callback)
        else:
            self._callbacks.append(callback)

    def _awaited(self) -> Generator[Any, Any, Any]:
        if not self._over:
            yield self
        return self.result()

    def set_result(self, result: Any) -> None:
        if self._over:
            raise RuntimeError("invalid state")
        self._end(result)

    def done(self) -> bool:
        return self._over

    def result(self) -> Any:
        if not self._over:
            raise RuntimeError("Result is not set.")
        if self._error is not None:
            raise self._error
        return self._value

    def exception(self) -> Any:
        return None if self._error is None else value_of(self._error)

    def add_done_callback(self, fn: Any) -> None:
        self._then(lambda: call(fn, (self,), {}))


class Task(Future):
    """asyncio.Task: a coroutine on its way."""

    _torch_name = "_asyncio.Task"
    PUBLIC = ()

    def __init__(self, coro: Any) -> None:
        super().__init__()
        if type(coro) is not Lazy or coro.kind != "coroutine":
            raise TypeError(f"a coroutine was expected, got {coro!r}")
        self._steps: Any = coro.steps()
        loop.ready.append(self._step)

    def set_result(self, result: Any) -> None:
        raise RuntimeError("Task does not support set_result operation")

    def _step(self) -> None:
        session.budget.charge(1)
        try:
            waits = self._steps.send(None)
        except StopIteration as end:
            self._end(end.value)
        except Exception as error:
            if not catchable(error):
                raise
            self._end(None, error)
        else:
            if waits is None:
                loop.ready.append(self._step)
            else:
                waits._then(self._step)


def _task(coro: Any, **options: Any) -> Future:
    if not loop.running:
        raise RuntimeError("no running event loop")
    return Task(coro)


def _awaitable(coro_or_future: Any) -> Future:
    """asyncio.ensure_future"""
    if isinstance(coro_or_future, Future):
        return coro_or_future
    if type(coro_or_future) is not Lazy or coro_or_future.kind != "coroutine":
        raise TypeError("An asyncio.Future, a coroutine or an awaitable is required")
    return _task(coro_or_future)


def _slept(delay: float, result: Any) -> Iterator[Any]:
    if delay != delay:
        raise ValueError("Invalid delay: NaN (not a number)")
    if delay <= 0:
        yield None
    else:
        waits = Future()
        loop.count += 1
        heapq.heappush(loop.timers, (loop.now + delay, loop.count, waits))
        yield waits
    return result


def _sleep(delay: float, result: Any = None) -> Lazy:
    return Lazy("coroutine", _slept(delay, result), "sleep")


class _Gathered(Future):
    PUBLIC = ()

    def __init__(self, tasks: list[Future], errors: bool) -> None:
        super().__init__()
        self._tasks, self._errors = tasks, errors
        for task in tasks:
            task._then(lambda task=task: self._heard(task))  # type: ignore[misc]
        if not tasks:
            self._end([])

    def _heard(self, task: Future) -> None:
        if self._over:
            return
        if task._error is not None and not self._errors:
            self._end(None, task._error)
        elif all(one._over for one in self._tasks):
            values = [one._value if one._error is None else one.exception() for one in self._tasks]
            self._end(values)


def _gather(*coros: Any, return_exceptions: Any = False) -> _Gathered:
    tasks = {id(one): _awaitable(one) for one in {id(one): one for one in coros}.values()}
    return _Gathered([tasks[id(one)] for one in coros], bool(return_exceptions))


def run(main: Any, *, debug: Any = None) -> Any:
    """asyncio.run"""
    if loop.running:
        raise RuntimeError("asyncio.run() cannot be called from a running event loop")
    if type(main) is not Lazy or main.kind != "coroutine":
        raise ValueError(f"a coroutine was expected, got {main!r}")
    loop.__init__()  # type: ignore[misc]
    loop.running = True
    try:
        task = Task(main)
        while not task._over:
            _turn()
        return task.result()
    finally:
        loop.running = False


def _turn() -> None:
    """What is ready now; where nothing is, the first that wakes up."""
    session.budget.charge(1)
    if not loop.ready:
        if not loop.timers:
            raise RuntimeError("every task waits for another, without end")
        loop.now = loop.timers[0][0]
        while loop.timers and loop.timers[0][0] <= loop.now:
            waits = heapq.heappop(loop.timers)[2]
            loop.ready.append(lambda waits=waits: waits.set_result(None))  # type: ignore[misc]
    for _ in range(len(loop.ready)):
        loop.ready.popleft()()


class EventLoop:
    """asyncio.get_event_loop()"""

    _torch_name = "asyncio.unix_events._UnixSelectorEventLoop"
    PUBLIC = ("run_until_complete", "create_task", "close", "is_running", "time")

    def __init__(self) -> None:
        self._closed = False

    def run_until_complete(self, future: Any) -> Any:
        if self._closed:
            raise RuntimeError("Event loop is closed")
        return run(future)

    def create_task(self, coro: Any) -> Future:
        return _task(coro)

    def close(self) -> None:
        self._closed = True

    def is_running(self) -> bool:
        return loop.running

    def time(self) -> float:
        return loop.now


MODULES: dict[str, dict[str, Any]] = {
    "asyncio": {
        **functions({
            "run": run, "sleep": _sleep, "gather": _gather, "create_task": _task,
            "ensure_future": _awaitable, "get_event_loop": EventLoop, "new_event_loop": EventLoop,
            "get_running_loop": EventLoop, "set_event_loop": lambda loop: None,
        }),
        **classes([Future, Task]),
    },
}  # fmt: skip
