"""Questions: stops the run where the pass that `paths` follows has ended.

Nothing was updated yet there, so what nodes saved is what the pass used.
"""

from __future__ import annotations

from typing import Any

from ...diagnostics import Enough
from ...recording.passes import Pass
from ...recording.spectator import Spectator


class Stop(Spectator):
    """Stops it behind the pass with this number."""

    def __init__(self, number: int) -> None:
        self.number = number

    def over(self, one: Pass, freed: list[Any]) -> None:
        if one.number == self.number and not one.failed:
            raise Enough
