"""Utils: torch.utils, as far as gradients have to do with it."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    from ..namespace import resolve

    return resolve(f"utils.{name}")
