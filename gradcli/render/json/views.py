"""Render: shared memory in JSON."""

from __future__ import annotations

from typing import Any

from ...recording.facts.views import ViewsFact


def views(fact: ViewsFact | None) -> dict[str, Any] | None:
    """Every tensor with its place in memory, and every change in place."""
    if fact is None:
        return None
    return {
        "tensors": [one._asdict() for one in fact.views],
        "writes": [one._asdict() for one in fact.writes],
        "changes": fact.changes,
        "nameless": fact.nameless,
    }
