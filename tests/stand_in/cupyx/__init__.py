"""Stand-in for CuPy: what it has beyond NumPy."""

from __future__ import annotations

from typing import Any


def scatter_add(a: Any, slices: Any, value: Any) -> None:
    a.scatter_add(slices, value)
