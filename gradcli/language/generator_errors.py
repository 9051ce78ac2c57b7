"""language: errors in code that runs when a generator is closed.

Python runs a generator's `finally` when nobody holds it any more, prints what goes wrong there and
goes on. A limit that is met there ends the run at its next step; an error of the program becomes a
warning.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ..engine.schema.mode import state
from .budget import Budget
from .builtins.errors import name_of


@contextmanager
def heard(budget: Budget) -> Iterator[None]:
    """Within it such errors are the run's."""

    def hear(unraisable: Any) -> None:
        error = unraisable.exc_value
        if isinstance(error, (MemoryError, RecursionError)) or not isinstance(error, Exception):
            budget.missed = error
            budget.fuel = -1
            return
        with suppress(Exception):  # a program may turn warnings into errors
            state.warn(f"Exception ignored in a generator that was given up: {name_of(error)}")

    before = sys.unraisablehook
    sys.unraisablehook = hear
    try:
        yield
    finally:
        sys.unraisablehook = before


def end_generators(budget: Budget) -> None:
    """Those that a run left end before the next one begins, which must hear nothing of them: no
    step of theirs is allowed any more."""
    budget.fuel = budget.steps_left = 0
    before, sys.unraisablehook = sys.unraisablehook, lambda unraisable: None
    try:
        gc.collect()
    finally:
        sys.unraisablehook = before
