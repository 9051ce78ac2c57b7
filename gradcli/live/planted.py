"""Live: what a recording puts into PyTorch: functions in place of PyTorch's, and hooks.

Nothing of it is left afterwards, and it can be put aside in between.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import getattr_static
from types import FunctionType
from typing import Any, ClassVar

INHERITED = object()


class Replaced:
    """A name of an owner: its value before (INHERITED: the owner has none of its own), that of the
    recording, and what stands there aside."""

    __slots__ = ("aside", "before", "mine", "name", "owner")

    def __init__(self, owner: Any, name: str, before: Any, mine: Any) -> None:
        self.owner, self.name, self.before, self.mine = owner, name, before, mine
        self.aside: Callable[[], Any] = lambda: self.before


class Link:
    """The way from a function in PyTorch's place to its recorder. Somebody may keep the function,
    as `square = Square.apply` does: when the recording has ended, it is PyTorch's own."""

    __slots__ = ("recorder",)

    def __init__(self, recorder: Any) -> None:
        self.recorder = recorder

    def hearing(self) -> Any:
        """The recorder, while it listens to this thread."""
        recorder = self.recorder
        return None if recorder is None or recorder.is_apart() else recorder


class Planted:
    """What one recording has put there."""

    every: ClassVar[list[Replaced]] = []  # of all recordings, which may end in any order

    def __init__(self) -> None:
        self._values: list[Replaced] = []
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
        mine = made(plain)
        if isinstance(mine, FunctionType):
            functools.update_wrapper(mine, plain)
        entry = Replaced(owner, name, vars(owner).get(name, INHERITED), mine)
        if aside is not None:
            entry.aside = functools.cache(lambda: aside(mine))
        self._values.append(entry)
        self.every.append(entry)
        setattr(owner, name, mine)
        try:
            yield
        finally:
            self._values.remove(entry)
            self.every.remove(entry)
            above = next((other for other in self.every if other.before is mine), None)
            if above is None:
                _set(owner, name, entry.before)
            else:  # another recording began since, and still listens
                above.before = entry.before

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
        for entry in self._values:
            _set(entry.owner, entry.name, entry.aside())
        for handle in self._hooks:
            tables = (handle.hooks_dict_ref(), *(known() for known in handle.extra_dict_ref))
            self._held += [
                (table, handle.id, table.pop(handle.id))
                for table in tables if table is not None and handle.id in table
            ]  # fmt: skip

    def put_back(self) -> None:
        """The recording listens again."""
        for entry in self._values:
            setattr(entry.owner, entry.name, entry.mine)
        for table, number, hook in self._held:
            table[number] = hook
        self._held.clear()


def _set(owner: Any, name: str, value: Any) -> None:
    if value is not INHERITED:
        setattr(owner, name, value)
    elif name in vars(owner):
        delattr(owner, name)
