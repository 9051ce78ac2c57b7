"""pipeline: `gradcli step`: the backward passes of a program, or that of one of its results."""

from __future__ import annotations

from typing import Any

from ...diagnostics import Diagnostic
from ...engine.backward import backward
from ...engine.mode import state
from ...opening import Unusable
from ...report.model import TensorFact
from ...report.model.steps import StepsReport
from ...report.steps import StepWatch
from ..gradients import FAILURES, NOTHING_REQUIRES_GRAD, failure, result_of
from ..ledger import tensor_names
from ..reports import collected, error_fact
from ..request import Ran
from ..values import grad_output
from .facts import Namer, same_passes, walk_fact


def watch_of(ran: Ran) -> StepWatch:
    """What watched the run."""
    assert ran.binder is not None and isinstance(ran.binder.watch, StepWatch)
    return ran.binder.watch


def steps_report(ran: Ran, *, texts: bool) -> tuple[Ran, StepsReport]:
    """Every pass, or the one that was asked for; with --of, or where the program has none, that of
    a result. An error on the way ends up in what is returned."""
    report = StepsReport(ran.request.name, ran.request.device, output=ran.output,
                         warnings=ran.warnings)  # fmt: skip
    if ran.outcome is None or ran.program is None or ran.binder is None:
        return ran, report._replace(error=error_fact(ran.error))
    watch, binder = watch_of(ran), ran.binder
    of: TensorFact | None = None
    chosen = ran.request.only
    if ran.error is None and (ran.request.of or not watch.count):
        ran, of = differentiated(ran)
        if of is not None and ran.request.of and chosen is None:
            chosen = watch.count
    assert ran.outcome is not None
    if ran.error is None:
        binder.complain()
    if chosen is not None and chosen not in watch.walks:
        raise Unusable(f"--pass {chosen}: {_passes(watch.count)}")
    namer = Namer(ran, tensor_names(ran, collected(ran.outcome, texts=False)))
    told = watch.walks if chosen is None else {chosen: watch.walks[chosen]}
    alike = same_passes(watch.walks)
    walks = tuple(
        walk_fact(number, walk, ran, namer, texts=texts, same_as=alike[number])
        for number, walk in told.items()
    )
    return ran, report._replace(
        of=of, walks=walks, passes=watch.count, output=ran.output, error=error_fact(ran.error)
    )


def _passes(count: int) -> str:
    if not count:
        return "there is no backward pass"
    return f"there {'is one backward pass' if count == 1 else f'are {count:,} backward passes'}"


def differentiated(ran: Ran) -> tuple[Ran, TensorFact | None]:
    """backward() on what --of names, else on the result that `gradcli grad` would take."""
    assert ran.outcome is not None
    found = collected(ran.outcome, texts=False)
    at = result_of(found, ran)
    if at is None:
        message = "no result: nothing that requires grad was computed and bound to a name"
        error = Diagnostic("RuntimeError", message, (), (NOTHING_REQUIRES_GRAD,), ran.request.name)
        return ran._replace(error=error), None
    fact, result = found.tensors[at], found.held[at]
    text = ran.request.grad_output
    seed: Any = None if text is None else grad_output(text, result)
    before = state.observer
    state.observer = watch_of(ran)
    assert ran.outcome is not None
    try:
        with ran.outcome.again():
            backward(result, seed, retain_graph=ran.request.retain_graph or None,
                     create_graph=ran.request.create_graph)  # fmt: skip
    except FAILURES as raised:
        return ran._replace(error=failure(raised, fact.name, fact.shape, fact.line, ran)), fact
    finally:
        state.observer = before
    return ran, fact
