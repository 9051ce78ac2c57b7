"""Library: allocates parameters before they are initialised."""

from __future__ import annotations

from typing import Any

from ..operators import catalogue


def empty(size: tuple[int, ...], device: Any = None, dtype: Any = None) -> Any:
    return catalogue.functions["empty"](size, device=device, dtype=dtype)


def zeros(size: tuple[int, ...], device: Any = None, dtype: Any = None) -> Any:
    return catalogue.functions["zeros"](size, device=device, dtype=dtype)


def ones(size: tuple[int, ...], device: Any = None, dtype: Any = None) -> Any:
    return catalogue.functions["ones"](size, device=device, dtype=dtype)
