"""Render: the `profile` of a JSON document."""

from __future__ import annotations

from typing import Any

from ...recording.facts.profile import ProfileFact


def profile(fact: ProfileFact | None) -> dict[str, Any] | None:
    """Seconds and bytes, line by line in the order in which lines ran first."""
    if fact is None:
        return None
    return {
        "forward_seconds": fact.forward_seconds,
        "backward_seconds": fact.backward_seconds,
        "heaviest": fact.heaviest,
        "lines": [line._asdict() for line in fact.lines],
    }
