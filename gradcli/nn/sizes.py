"""Library: sizes that may be given once or for each dimension."""

from __future__ import annotations

from typing import Any


def spread(value: Any, count: int) -> tuple[Any, ...]:
    """One number for all dimensions, or one for each."""
    if isinstance(value, tuple | list):
        return tuple(value)
    return (value,) * count
