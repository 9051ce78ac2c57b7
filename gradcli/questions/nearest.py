"""Questions: how close a tensor comes to a result that does not depend on it."""

from __future__ import annotations

from ..recording.collect import Collected
from ..recording.nearest import furthest


def not_reached(of: str, name: str, found: Collected) -> str:
    """L does not depend on a; a came as far as c, line 4."""
    words = f"{of} does not depend on {name}"
    own = next((place for place, one in enumerate(found.tensors) if one.name == name), None)
    place = None if own is None else furthest(found.held[own], found.held)
    if place is None:
        return f"{words}, and nothing with a name does"
    last = found.tensors[place]
    where = "" if last.line is None else f", line {last.line}"
    return f"{words}; {name} came as far as {last.name}{where}"
