"""Questions: the gradients that a pass starts with, at each of its roots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..recording.facts.seeds import SeedFact
from ..recording.snapshot import Summary, restored, snapshot, snapshot_text


def seed_facts(names: Sequence[str], gradients: Sequence[Any]) -> tuple[SeedFact, ...]:
    """One for each root; the gradients are tensors, arrays, or snapshots of them."""
    return tuple(_seed(name, gradient) for name, gradient in zip(names, gradients, strict=True))


def _seed(name: str, gradient: Any) -> SeedFact:
    held = restored(gradient)
    if not isinstance(held, Summary):
        held = restored(snapshot(held))  # a large one is summed up
    shown = snapshot_text(held, full=True)
    dtype = str(getattr(held, "dtype", "")).removeprefix("torch.")
    return SeedFact(
        name, shown.shape, dtype, shown.text or "", shown.range, shown.value, is_one(shown.value)
    )


def is_one(value: Any) -> bool:
    """Of numbers as nested tuples: whether they are the single number 1."""
    while isinstance(value, tuple) and len(value) == 1:
        (value,) = value
    return not isinstance(value, tuple) and value == 1
