"""Func: levels: which transformations are active, innermost last."""

from __future__ import annotations

from typing import Any

from ..engine.schema.carriers import TRANSFORMS


def batches() -> list[Any]:
    """The vmaps that are open, outermost first."""
    return [level for level in TRANSFORMS.stack if level.kind == "vmap"]


def randomness_at(number: int) -> str:
    """What the vmap of a level says about random numbers."""
    return next((level.randomness for level in TRANSFORMS.stack if level.number == number), "same")
