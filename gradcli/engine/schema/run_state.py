"""Engine: everything that a program can change, gathered so that it can be reset.

Each part is an object with slots of some floor or room above. Its class, called without arguments,
makes what a new process has; who imports the object holds the same one throughout.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

Part = TypeVar("Part")
_PARTS: list[Any] = []


def run_state(part: Part) -> Part:
    """Makes an object part of what a run may change. Everything else outlives a run unchanged."""
    _PARTS.append(part)
    return part


@contextmanager
def as_new() -> Iterator[None]:
    """Within it a program finds what a new process has; afterwards all is as it was before."""
    before = [(part, _contents(part)) for part in _PARTS]
    _renew()
    try:
        yield
    finally:
        _renew()  # parts too whose files were read only now
        for part, contents in before:
            for name, value in contents.items():
                setattr(part, name, value)


def _renew() -> None:
    for part in _PARTS:
        type(part).__init__(part)


def _contents(part: Any) -> dict[str, Any]:
    """What the slots of an object hold."""
    names = [name for kind in type(part).__mro__ for name in getattr(kind, "__slots__", ())]
    return {name: getattr(part, name) for name in names}
