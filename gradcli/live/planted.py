"""Live: what a recording puts into PyTorch: functions in place of PyTorch's, and hooks.

Nothing of it is left afterwards, and it can be put aside in between.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import getattr_static
from types import FunctionType
from typing import Any

INHERITED = object()


class Planted:
    """What one recording has put there."""

    def __init__(self) -> None:
        # The owner, the name, PyTorch's value (INHERITED: the owner has none of its own), that of
        # the recording, and what stands there aside.
        self._values: list[tuple[Any, str, Any, Any, Callable[[], Any]]] = []
        self._hooks: list[Any] = []  # their handles
        self._held: list[tuple[Any, int, Any]] = []  # tables, numbers, and the hooks from there

    @contextmanager
    def replaced(
        self, owner: Any, name: str, made: Callable[[Any], Any],
        aside: Callable[[Any], Any] | None = None,
    ) -> Iterator[None]:  # fmt: skip
        """Within it the name has what is made of PyTorch's value; `aside` makes of that what
        stands there while the rest is put aside, left out, PyTorch's own."""
        plain = getattr_static(owner, name)
        own = vars(owner).get(name, INHERITED)
        mine = made(plain)
        if isinstance(mine, FunctionType):
            functools.update_wrapper(mine, plain)
        entry = owner, name, own, mine, functools.cache(
            lambda: own if aside is None else aside(mine))  # fmt: skip
        self._values.append(entry)
        setattr(owner, name, mine)
        try:
            yield
        finally:
            self._values.remove(entry)
            _set(owner, name, own)

    @contextmanager
    def hooked(self, *handles: Any) -> Iterator[None]:
        """Within it these hooks are called."""
        self._hooks.extend(handles)
        try:
            yield
        finally:
            for handle in handles:
                self._hooks.remove(handle)
                handle.remove()

    def put_aside(self) -> None:
        """PyTorch is as it was."""
        for owner, name, _, _, aside in self._values:
            _set(owner, name, aside())
        for handle in self._hooks:
            tables = (handle.hooks_dict_ref(), *(known() for known in handle.extra_dict_ref))
            self._held += [
                (table, handle.id, table.pop(handle.id))
                for table in tables if table is not None and handle.id in table
            ]  # fmt: skip

    def put_back(self) -> None:
        """The recording listens again."""
        for owner, name, _, mine, _ in self._values:
            setattr(owner, name, mine)
        for table, number, hook in self._held:
            table[number] = hook
        self._held.clear()


def _set(owner: Any, name: str, value: Any) -> None:
    if value is not INHERITED:
        setattr(owner, name, value)
    elif name in vars(owner):
        delattr(owner, name)
