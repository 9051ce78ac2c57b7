"""Questions: `gradcli step`: the backward passes of a program, or that of one of its results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ...diagnostics import Diagnostic
from ...engine.passes.backward import backward
from ...engine.schema.mode import state
from ...engine.schema.run_state import as_new
from ...named import NamedTuple
from ...opening import UsageError
from ...pipeline.request import Ran, Request
from ...pipeline.run import execute
from ...pipeline.values import grad_output
from ...recording.facts import TensorFact
from ...recording.facts.steps import StepsReport
from ...recording.sides import array_of, is_live, sides
from ...recording.steps import PASSES, Steps, Walk
from ..errors import error_fact
from ..grad import FAILURES, NOTHING_REQUIRES_GRAD, failure, must_have_numbers
from ..graph import collected, numbering
from ..interventions import Interventions, complain, watching
from ..ledger import tensor_names
from ..meaning import as_in_pass, result_of, with_expressions
from ..shown_pass import Stop, passes_there, root_nodes
from ..unchanged import unchanged
from .facts import Namer, same_passes, walk_fact
from .local import local_derivatives
from .replay import Pause, Pausing, Reached


class Options(NamedTuple):
    """Of which result, from which gradient on, or which pass of the program."""

    of: tuple[str, ...] = ()
    grad_output: str | None = None
    only: int | None = None
    retain_graph: bool = False
    create_graph: bool = False
    interventions: Interventions = Interventions()


def recorded(
    request: Request, write: Callable[[str], None] | None, options: Options,
    pause: Pause | None = None, stop: Stop | None = None,
) -> Ran:  # fmt: skip
    """The run whose passes are shown; with a pause it stops there."""
    ran = _run(request, write, options, pause, stop)
    if pause is not None or not options.of or options.only is not None:
        return ran
    if options.grad_output is None and as_in_pass(ran, options.of) is not None:
        return ran
    return unchanged(ran, options.of, None, partial(_run, request, None, options, None))


def _run(
    request: Request, write: Callable[[str], None] | None, options: Options,
    pause: Pause | None, stop: Stop | None,
) -> Ran:  # fmt: skip
    recording = watching(options.interventions)
    steps = Steps(recording.passes, recording.hooks)
    steps.local = local_derivatives
    recording.attach(recording.buffers, steps)
    only = options.only
    if pause is not None:
        recording.attach(Pausing(pause, steps))
        only = pause.walk
    if stop is not None:
        recording.attach(stop)
    recording.passes.keep(*((PASSES, 0) if only is None else (0, 1, (only,))))
    return execute(request, write, recording)


def steps_report(ran: Ran, options: Options, *, texts: bool) -> tuple[Ran, StepsReport]:
    """Every pass, or the requested one; with --of, or where the program has none, that of
    a result. An error on the way ends up in what is returned."""
    report = StepsReport(ran.request.name, ran.request.device, output=ran.output,
                         warnings=ran.warnings)  # fmt: skip
    recording = ran.recording
    steps = recording.find(Steps)
    if ran.outcome is None or ran.program is None or steps is None:
        return ran, report._replace(error=error_fact(ran.error))
    passes = recording.passes
    of: TensorFact | None = None
    chosen = options.only
    if options.grad_output is None and (same := as_in_pass(ran, options.of)) is not None:
        chosen = same.number
    elif ran.error is None and (options.of or not passes.count):
        if chosen is None:
            passes.keep(passes.first, 1)  # its own pass too, behind however many
        ran, of = differentiated(ran, options)
        if of is not None and options.of and chosen is None and ran.error is None:
            chosen = passes.count
    assert ran.outcome is not None
    if ran.error is None:
        complain(recording)
    kept = steps.walks
    if chosen is not None and chosen not in kept:
        raise UsageError(f"--pass {chosen}: {passes_there(passes.count)}")
    namer = Namer(ran, tensor_names(ran, collected(ran.outcome, texts=False, recording=recording)))
    outcome = ran.outcome

    def numbered(walk: Walk) -> Mapping[int, int]:
        """The numbers of the nodes, in JSON alone: they are for programs."""
        return {} if texts else numbering(outcome, recording.names, root_nodes(walk.over))

    told = kept if chosen is None else {chosen: kept[chosen]}
    alike = same_passes(kept)
    walks = tuple(
        walk_fact(number, walk, ran, namer, numbered(walk), texts=texts, same_as=alike[number])
        for number, walk in told.items()
    )
    return ran, report._replace(
        of=of, walks=walks, passes=passes.count, output=ran.output, error=error_fact(ran.error)
    )


def differentiated(ran: Ran, options: Options) -> tuple[Ran, TensorFact | None]:
    """backward() on what --of names, else on the result that `gradcli grad` would take."""
    ran = with_expressions(ran, options.of)
    assert ran.outcome is not None
    found = collected(ran.outcome, texts=False)
    at = result_of(found, options.of)
    if at is None:
        message = "no result requires grad: nothing to differentiate"
        error = Diagnostic("RuntimeError", message, (), (NOTHING_REQUIRES_GRAD,), ran.request.name)
        return ran._replace(error=error), None
    fact, result = found.tensors[at], found.held[at]
    must_have_numbers(fact.name, result)
    text = options.grad_output
    seed: Any = None if text is None else grad_output(text, result)
    before = state.observer
    state.observer = ran.recording.observer
    assert ran.outcome is not None
    try:
        if sides.live is not None and is_live(result):
            _backward_of_live(ran.outcome.machine, result, seed, options)
        else:
            with ran.outcome.again():
                backward(result, seed, retain_graph=options.retain_graph or None,
                         create_graph=options.create_graph)  # fmt: skip
    except FAILURES as raised:
        return ran._replace(error=failure(raised, fact.name, fact.shape, fact.line, ran)), fact
    finally:
        state.observer = before
    return ran, fact


def _backward_of_live(machine: Any, result: Any, seed: Any, options: Options) -> None:
    """PyTorch's pass, heard as the program's own are."""
    assert sides.live is not None
    given = None if seed is None else array_of(seed)
    origin, state.origin = state.origin, None
    try:
        with machine.recorder.recording():
            sides.live.backward(result, given, keep=options.retain_graph or None,
                                create_graph=options.create_graph)  # fmt: skip
    finally:
        state.origin = origin


def repeated_steps(ran: Ran, options: Options) -> StepsReport:
    """The passes of another run, with the gradients that these options set."""
    with as_new():
        return steps_report(recorded(ran.request, None, options), options, texts=True)[1]


def value_at(ran: Ran, options: Options, pause: Pause) -> str:
    """The value of an expression behind a step (0: at the beginning) of a pass, as text."""
    before = ran.recording.find(Stop)
    stop = None if before is None else Stop(before.place, before.count)
    try:
        again = recorded(ran.request, None, options, pause, stop)
        if again.error is None:
            differentiated(again, options)
    except Reached as reached:
        return reached.text
    return "this run did not come to that step again"
