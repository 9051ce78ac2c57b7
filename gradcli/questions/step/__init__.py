"""Questions: `gradcli step`: the backward passes of a program, or that of one of its results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ...diagnostics import Diagnostic
from ...engine.backward import backward
from ...engine.mode import state
from ...opening import UsageError
from ...pipeline.request import Ran, Request, current_line
from ...pipeline.run import execute
from ...pipeline.values import grad_output
from ...recording.facts import TensorFact
from ...recording.facts.steps import StepsReport
from ...recording.sides import edge_of, memory
from ...recording.steps import StepWatch, Walk
from ..errors import error_fact
from ..grad import FAILURES, NOTHING_REQUIRES_GRAD, failure, result_of
from ..graph import collected, numbering, with_expressions
from ..ledger import tensor_names
from ..shown import root_nodes
from ..watching import Binder, Wishes, snapshot
from .facts import Namer, same_passes, walk_fact
from .local import local_derivatives
from .replay import Pause, PausingWatch, Reached


class Options(NamedTuple):
    """Of which result, from which gradient on, or which pass of the program."""

    of: tuple[str, ...] = ()
    grad_output: str | None = None
    only: int | None = None
    retain_graph: bool = False
    create_graph: bool = False
    wishes: Wishes = Wishes()


def recorded(
    request: Request, write: Callable[[str], None] | None, options: Options,
    pause: Pause | None = None,
) -> Ran:  # fmt: skip
    """The run whose passes are told; with a pause it stops there."""
    given = current_line, snapshot
    if pause is None:
        watch = StepWatch(*given, memory=memory, values=False)
        watch.only = options.only
    else:
        watch = PausingWatch(*given, memory=memory, values=False)
        watch.pause, watch.only = pause, pause.walk
    watch.origin, watch.node_of = lambda: state.origin, edge_of
    watch.local = local_derivatives
    return execute(request, write, Binder(options.wishes, watch), watch)


def watch_of(ran: Ran) -> StepWatch:
    """What watched the run."""
    watch = ran.seen(StepWatch)
    assert watch is not None
    return watch


def steps_report(ran: Ran, options: Options, *, texts: bool) -> tuple[Ran, StepsReport]:
    """Every pass, or the one that was asked for; with --of, or where the program has none, that of
    a result. An error on the way ends up in what is returned."""
    report = StepsReport(ran.request.name, ran.request.device, output=ran.output,
                         warnings=ran.warnings)  # fmt: skip
    binder = ran.seen(Binder)
    if ran.outcome is None or ran.program is None or binder is None:
        return ran, report._replace(error=error_fact(ran.error))
    watch = watch_of(ran)
    of: TensorFact | None = None
    chosen = options.only
    if ran.error is None and (options.of or not watch.count):
        ran, of = differentiated(ran, options)
        if of is not None and options.of and chosen is None:
            chosen = watch.count
    assert ran.outcome is not None
    if ran.error is None:
        binder.complain()
    if chosen is not None and chosen not in watch.walks:
        raise UsageError(f"--pass {chosen}: {_passes(watch.count)}")
    namer = Namer(ran, tensor_names(ran, collected(ran.outcome, texts=False)))
    outcome = ran.outcome

    def numbered(walk: Walk) -> Mapping[int, int]:
        """The numbers of the nodes, in JSON alone: they are for programs."""
        return {} if texts else numbering(outcome, binder, root_nodes(walk))

    told = watch.walks if chosen is None else {chosen: watch.walks[chosen]}
    alike = same_passes(watch.walks)
    walks = tuple(
        walk_fact(number, walk, ran, namer, numbered(walk), texts=texts, same_as=alike[number])
        for number, walk in told.items()
    )
    return ran, report._replace(
        of=of, walks=walks, passes=watch.count, output=ran.output, error=error_fact(ran.error)
    )


def _passes(count: int) -> str:
    if not count:
        return "there is no backward pass"
    return f"there {'is one backward pass' if count == 1 else f'are {count:,} backward passes'}"


def differentiated(ran: Ran, options: Options) -> tuple[Ran, TensorFact | None]:
    """backward() on what --of names, else on the result that `gradcli grad` would take."""
    ran = with_expressions(ran, options.of)
    assert ran.outcome is not None
    found = collected(ran.outcome, texts=False)
    at = result_of(found, options.of)
    if at is None:
        message = "no result: nothing that requires grad was computed and bound to a name"
        error = Diagnostic("RuntimeError", message, (), (NOTHING_REQUIRES_GRAD,), ran.request.name)
        return ran._replace(error=error), None
    fact, result = found.tensors[at], found.held[at]
    text = options.grad_output
    seed: Any = None if text is None else grad_output(text, result)
    before = state.observer
    state.observer = watch_of(ran)
    assert ran.outcome is not None
    try:
        with ran.outcome.again():
            backward(result, seed, retain_graph=options.retain_graph or None,
                     create_graph=options.create_graph)  # fmt: skip
    except FAILURES as raised:
        return ran._replace(error=failure(raised, fact.name, fact.shape, fact.line, ran)), fact
    finally:
        state.observer = before
    return ran, fact


def value_at(ran: Ran, options: Options, pause: Pause) -> str:
    """The value of an expression behind a step (0: at the beginning) of a pass, as text."""
    try:
        again = recorded(ran.request, None, options, pause)
        if again.error is None:
            differentiated(again, options)
    except Reached as reached:
        return reached.text
    return "this run did not come to that step again"
