"""language: what `await`, `async for` and `async with` ask of an object.

A generator that is written with `async` yields to two: values to who walks through it, which are
`Given`, and what it waits for to the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Any

from ..builtins.errors import Raised
from ..operations import type_handlers, type_name
from ..values import Lazy


class Given:
    """A value that a generator yields to who walks through it."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def awaited(value: Any) -> Iterator[Any]:
    """The steps of what stands behind `await`."""
    if type(value) is Lazy and value.kind == "coroutine":
        return value.steps()
    steps = getattr(type(value), "_awaited", None)
    if steps is None:
        raise TypeError(f"object {type_name(value)} can't be used in 'await' expression")
    found: Iterator[Any] = steps(value)
    return found


def async_method(value: Any, name: str) -> Callable[..., Any]:
    """`__aenter__` and its like, of an object of the program or of asyncio."""
    found: Any = type_handlers.special(value, name)
    own = getattr(type(value), "ASYNC", {}).get(name)
    if own is not None:
        return lambda *given: Lazy("coroutine", own(value, *given), name)
    if found is None:
        what = "iterator" if name == "__anext__" else "context manager"
        raise TypeError(
            f"'{type_name(value)}' object does not support the asynchronous {what} protocol"
        )
    return found


def next_step(value: Any) -> Callable[[], Any]:
    """What `async for` awaits at each turn."""
    if type(value) is Lazy and value.kind == "async_generator":
        return lambda: Lazy("coroutine", next_of(value), "__anext__")
    walk = type_handlers.special(value, "__aiter__")
    if walk is None:
        raise TypeError(
            f"'async for' requires an object with __aiter__ method, got {type_name(value)}"
        )
    items = walk()
    return next_step(items) if type(items) is Lazy else async_method(items, "__anext__")


def next_of(value: Lazy) -> Generator[Any, Any, Any]:
    """Walks on to the next value that is given; what is waited for goes to the loop."""
    steps: Any = value.items
    received = None
    while True:
        try:
            item = steps.send(received)
        except StopIteration:
            raise StopAsyncIteration from None
        except Raised as error:
            if error.value.kind.host is StopAsyncIteration:
                raise RuntimeError("async generator raised StopAsyncIteration") from error
            raise
        if type(item) is Given:
            return item.value
        received = yield item
