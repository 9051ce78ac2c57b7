"""Pipeline: runs a checked program within its limits and keeps its output."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..diagnostics import Enough, bounded
from ..engine.graph.aside import put_back
from ..engine.schema.mode import state
from ..language.budget import Budget
from ..language.interpreter import Machine, missing_inputs
from ..language.program import Program
from ..language.session import session
from ..process.deadline import begin
from ..render.escape import line
from ..render.last_words import quoting
from .prepared import Warned, printer
from .request import Ran, Request
from .values import Values

if TYPE_CHECKING:
    from ..engine.graph.observer import Observer
    from ..recording.recording import Recording


@contextmanager
def _watched(
    request: Request, budget: Budget, warned: Warned, observer: Observer | None
) -> Iterator[None]:
    """The engine reports warnings and events, charges memory, and keeps graphs."""
    before = state.warn, state.observer, state.keep_graph, state.create_graph, state.aside
    asked = state.reserve, state.charge
    state.reserve, state.charge = budget.charge_bytes, budget.charge
    state.warn, state.observer = warned, observer
    state.keep_graph = request.retain_graph
    state.create_graph = request.create_graph
    state.aside = {} if request.holds_graph else None
    try:
        yield
    finally:
        put_back()
        state.warn, state.observer, state.keep_graph, state.create_graph, state.aside = before
        state.reserve, state.charge = asked


def running(
    request: Request, program: Program, values: Values, write: Callable[[str], None] | None,
    recording: Recording | None,
) -> Ran:  # fmt: skip
    """The run of a program whose inputs have their values."""
    limits = request.limits
    budget = Budget(
        max_steps=limits.max_steps, max_memory=limits.max_memory, max_output=limits.max_output,
        max_depth=limits.max_depth, max_nodes=limits.max_nodes, timeout=limits.timeout,
        max_asked=limits.max_asked,
    )  # fmt: skip
    printed: list[str] = []
    warned = Warned(budget.charge_output)
    guessed = bool(values.missing) and request.placeholders

    session.folder = request.folder
    machine = Machine(program, values.inputs, values.overrides)
    machine.mark = begin(line(request.name), quoting(program.source.lines))
    observer = None
    if recording is not None:
        observer = recording.observer
        machine.globals.on_bind_of = recording.on_bind_of
        machine.globals.on_local = recording.on_local
    with _watched(request, budget, warned, observer):
        if recording is not None:
            recording.begin(machine)
        try:
            outcome = machine.run(budget, printer(printed, write, guessed))
        except Enough:
            outcome = machine.outcome(None, budget)
    error = outcome.error
    if guessed and error is not None:
        error = missing_inputs(program, list(values.missing))
    error = None if error is None else error.bounded()
    missing = values.missing if guessed else ()
    notes = tuple(map(bounded, (*program.source.notes, *session.notes)))
    return Ran(request, program, program.source.text, outcome, printed,
               tuple(warned.places), error, missing, recording, tuple(warned.places.values()),
               notes, budget.base_memory)  # fmt: skip
