"""pipeline: values in the middle of a pass: the program is run again, up to that step.

The same file does the same on every run, so what an expression is worth behind step 3 of a pass is
found by going there once more; nothing has to be kept of values that nobody asks for.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ...diagnostics import ProgramError
from ...engine.mode import state
from ...language.formatting import quoted
from ...language.interpreter import Machine
from ...report.steps import StepWatch, Walk
from ..request import Ran, Request
from ..run import execute


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


class PausingWatch(StepWatch):
    """A StepWatch that stops the run behind a step."""

    pause: Pause
    machine: Machine | None = None

    def begun(self, walk: Walk) -> None:
        self._look(walk)

    def _end(self, *, failed: bool) -> None:
        if self.walk is not None:
            self._look(self.walk)
        super()._end(failed=failed)

    def _look(self, walk: Walk) -> None:
        pause = self.pause
        if walk.number == pause.walk and len(walk.steps) == pause.step:
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


def value_at(ran: Ran, walk: int, step: int, text: str) -> str:
    """The value of an expression behind a step (0: at the beginning) of a pass, as text."""
    from . import differentiated

    request: Request = ran.request._replace(pause=Pause(walk, step, text))
    try:
        again = execute(request, None)
        if again.error is None:
            differentiated(again)
    except Reached as reached:
        return reached.text
    return "this run did not come to that step again"


def pausing(pause: Any, *arguments: Any, **options: Any) -> PausingWatch:
    """The watch of a run that stops."""
    watch = PausingWatch(*arguments, **options)
    watch.pause, watch.only = pause, pause.walk
    return watch
