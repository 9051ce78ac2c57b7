"""Recording: what values of a program are and hold, asked so that no method of theirs runs.

`isinstance` reads `__class__`, which may be a property, wake a lazy module or find that what a
weak proxy stands for is gone; a class on top of dict may load what its `items` shows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def is_a(value: Any, kinds: Any) -> bool:
    """isinstance(value, kinds), by its type alone."""
    return issubclass(type(value), kinds)


def base_of(container: Any) -> type:
    """Whose methods show what is in it: list, tuple or dict."""
    return next(base for base in (dict, list, tuple) if issubclass(type(container), base))


def pairs(container: Any) -> Iterator[tuple[Any, Any]]:
    """Keys or places with items."""
    base: Any = base_of(container)
    return iter(dict.items(container)) if base is dict else enumerate(base.__iter__(container))


def size(container: Any) -> int:
    base: Any = base_of(container)
    length: int = base.__len__(container)
    return length


def table_of(value: Any) -> dict[str, Any]:
    """Its __dict__; nothing where it has none."""
    try:
        held = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return held if type(held) is dict else {}
