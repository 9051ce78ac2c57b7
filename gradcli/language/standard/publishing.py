"""language: how the modules of `standard` export functions and classes to programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any, TypeVar

from ..adoption import VALUES, adopting
from ..builtins.types import CONSTRUCTIBLE, host_type
from ..values import Builtin

Kind = TypeVar("Kind", bound=type)


def called(name: str) -> Callable[[Kind], Kind]:
    """Decorator: the name of a class in the messages of the host, which is Python's."""

    def rename(kind: Kind) -> Kind:
        kind.__name__ = kind.__qualname__ = name
        for word, method in vars(kind).items():
            if type(method) is FunctionType:
                method.__qualname__ = f"{name}.{word}"
        return kind

    return rename


def functions(given: dict[str, Callable[..., Any]]) -> dict[str, Any]:
    """Each under its name, also in the host's errors; what it returns becomes a value."""
    for name, function in given.items():
        if type(function) is FunctionType:
            function.__qualname__ = name
    return {
        name: Builtin(name, adopting(function), f"<function {name}>")
        for name, function in given.items()
    }


def classes(given: Iterable[type]) -> dict[str, Any]:
    """Classes that programs may call, with what each lists in PUBLIC."""
    found: dict[str, Any] = {}
    for kind in given:
        CONSTRUCTIBLE.add(kind)
        VALUES.add(kind)
        found[kind.__name__] = host_type(kind)
    return found
