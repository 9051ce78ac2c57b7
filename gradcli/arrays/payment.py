"""arrays: what a call costs is charged to the program before NumPy runs."""

from __future__ import annotations

from ..engine.schema.mode import state

PER_STEP = 6  # so many bits of a number of elements: a step looks at 64


def pay(elements: float, size: float = 0) -> None:
    """Charges for looking at that many elements, and for memory of that many bytes."""
    state.reserve(int(size))
    state.charge(int(elements) >> PER_STEP)
