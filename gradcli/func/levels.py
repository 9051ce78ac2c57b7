"""Func: levels: which transformations are open just now, innermost last."""

from __future__ import annotations

from typing import Any

from ..engine.row import CARRIERS

RANDOM_ERROR = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or "
    "'different' randomness flags on vmap or perform the randomness operation out of vmap"
)


class Level:
    """One open transformation; a context manager."""

    __slots__ = ("kind", "number", "samples", "randomness")

    def __init__(self, kind: str, samples: int = 0, randomness: str = "") -> None:
        self.kind, self.samples, self.randomness = kind, samples, randomness
        self.number = 0

    def __enter__(self) -> Level:
        self.number = len(stack) + 1
        stack.append(self)
        CARRIERS.levels += 1
        _refresh()
        return self

    def __exit__(self, *error: Any) -> None:
        stack.pop()
        CARRIERS.levels -= 1
        _refresh()


stack: list[Level] = []


def batches() -> list[Level]:
    """The vmaps that are open, outermost first."""
    return [level for level in stack if level.kind == "vmap"]


def _refresh() -> None:
    """Random functions ask only while a vmap is open that forbids them."""
    forbidden = any(level.randomness == "error" for level in stack if level.kind == "vmap")
    CARRIERS.draw = _forbid if forbidden else None


def _forbid() -> None:
    raise RuntimeError(RANDOM_ERROR)
