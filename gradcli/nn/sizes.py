"""Library: sizes that may be given once or for each dimension."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def spread(value: Any, count: int) -> tuple[Any, ...]:
    """One number for all dimensions, or one for each."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * count


def _ntuple(n: int, name: str = "parse") -> Callable[[Any], tuple[Any, ...]]:
    def parse(x: Any) -> tuple[Any, ...]:
        return spread(x, n)

    return parse


def _single(x: Any) -> tuple[Any, ...]:
    return spread(x, 1)


def _pair(x: Any) -> tuple[Any, ...]:
    return spread(x, 2)


def _triple(x: Any) -> tuple[Any, ...]:
    return spread(x, 3)


def _quadruple(x: Any) -> tuple[Any, ...]:
    return spread(x, 4)
