"""Engine: the current place in the program.

The interpreter sets `state.origin`; the engine passes it to nodes and never looks inside.
"""

from __future__ import annotations

from typing import Any

from .mode import state


def current_origin() -> Any:
    """The place that the program in progress is at."""
    return state.origin


def current_line() -> int | None:
    """The line that the program in progress is on."""
    return line_of(state.origin)


def current_place() -> tuple[int, int] | None:
    """The line and the column that the program in progress is at."""
    origin: Any = state.origin
    line = line_of(origin)
    return None if line is None else (line, origin.col_offset + 1)


def line_of(origin: object) -> int | None:
    """The line of a place of the program."""
    line = getattr(origin, "lineno", None)
    return line if isinstance(line, int) else None
