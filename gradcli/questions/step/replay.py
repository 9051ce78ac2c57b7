"""Questions: values in the middle of a pass: the program is run again, up to that step.

The same file does the same on every run, so what an expression is worth behind step 3 of a pass is
found by going there once more; values that are not shown need not be kept.
"""

from __future__ import annotations

from ...diagnostics import ProgramError
from ...engine.schema.mode import state
from ...language.formatting import quoted
from ...language.interpreter import Machine
from ...named import NamedTuple
from ...recording.spectator import Spectator
from ...recording.steps import Steps, Walk


class Pause(NamedTuple):
    """Behind which step of which pass the run stops, and the expression that is wanted there."""

    walk: int
    step: int
    text: str


class Reached(BaseException):
    """The run is where it was to go. Not an Exception: no `except` of a program matches it."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class Pausing(Spectator):
    """Stops the run behind a step."""

    def __init__(self, pause: Pause, steps: Steps) -> None:
        self.pause = pause
        self.machine: Machine | None = None
        steps.begun = self.look

    def begin(self, machine: Machine) -> None:
        self.machine = machine

    def look(self, walk: Walk) -> None:
        """A step begins, or the pass has ended."""
        pause = self.pause
        if walk.over.number == pause.walk and len(walk.steps) == pause.step:
            assert self.machine is not None
            raise Reached(_evaluated(self.machine, pause.text))


def _evaluated(machine: Machine, text: str) -> str:
    """What Python's prompt would print for the expression, or the error."""
    before = state.observer, state.grad_enabled
    state.observer, state.grad_enabled = None, True
    try:
        return quoted(machine.evaluate(text, "show"))
    except ProgramError as error:
        return f"{error.diagnostic.type}: {error.diagnostic.message}"
    finally:
        state.observer, state.grad_enabled = before
