"""language: how a file of `standard` gives its functions and classes to programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..adoption import VALUES, adopting
from ..builtins.types import CONSTRUCTIBLE, host_type
from ..values import Builtin


def functions(given: dict[str, Callable[..., Any]]) -> dict[str, Any]:
    """Each under its name; what it returns becomes a value."""
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
