"""Render: a graph in numbers, in JSON."""

from __future__ import annotations

from typing import Any

from ...recording.facts.stats import StatsFact


def stats(fact: StatsFact | None) -> dict[str, Any] | None:
    """The same keys as in the facts."""
    if fact is None:
        return None
    found = fact._asdict()
    for key in ("kinds", "saved", "values", "gradients"):
        found[key] = [row._asdict() for row in found[key]]
    return found
