"""Questions: `gradcli diff`: two runs, each in an engine as new, and what differs in them."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

from ..diagnostics import Diagnostic, Label, LimitReached, ProgramError, Span
from ..engine.origin import current_place
from ..engine.run_state import as_new
from ..language.interpreter import Outcome
from ..numerics.random import draws
from ..pipeline.request import Ran, Request
from ..process.deadline import last_place
from ..process.ending import keep
from ..recording import holding
from ..recording.facts import NodeFact, Report, TensorFact
from ..recording.facts.diff import DifferenceFact, DiffReport, SideFact, StepFact
from ..recording.sides import AnyTensor
from .check.numeric.tape import recording
from .diff_digits import by_line
from .diff_facts import Comparison, Steps, Tolerance, paired, parting
from .diff_trail import Trail, TrailObserver
from .graph import place_reader
from .trace import Options, recorded, trace_report

MOST_SHOWN = 40  # lines of printed text that differs


def compared(
    a: Request, b: Request, settings: tuple[str, str], tolerance: Tolerance
) -> tuple[DiffReport | None, Ran]:
    """The comparison, and the run that decides about an error; no comparison where one of the two
    could not start or ran into a limit."""
    single = a.dtype != b.dtype
    first, report_a, steps_a = _run(a, single)
    if _stopped(first):
        return None, first
    second, report_b, steps_b = _run(b, single)
    if _stopped(second):
        return None, second
    with _limits_reported(a):
        steps = steps_a, steps_b
        return _side_by_side(
            (first, second), (report_a, report_b), steps, settings, tolerance
        ), first


def _side_by_side(
    runs: tuple[Ran, Ran], reports: tuple[Report, Report], steps: tuple[Steps, Steps],
    settings: tuple[str, str], tolerance: Tolerance,
) -> DiffReport:  # fmt: skip
    """What differs in two runs that came to their ends."""
    (first, second), (a, b) = runs, (runs[0].request, runs[1].request)
    comparison = Comparison(*reports, tolerance)
    found = (*_ends(first, second), *comparison.differences())
    if tolerance.types and tolerance.devices:
        found = (*found, *_printed(*reports))
    sides = [
        SideFact(ran.request.name, said, ran.request.device, ran.request.dtype or "float32",
                 len(report.tensors), len(report.nodes), report.error, ran.text)
        for ran, report, said in zip(runs, reports, settings, strict=True)
    ]  # fmt: skip
    first_of_all = comparison.first(found)
    if found:
        part = parting(*steps, tolerance, exact=a.engine == b.engine)
        # A name whose operation is another one says it better.
        if part is not None and (part.kind == "value" or _is_number(first_of_all)):
            first_of_all = part
    types = sides[0].dtype, sides[1].dtype
    digits = by_line(paired(*steps, exact=a.engine == b.engine), types)
    return DiffReport(sides[0], sides[1], found, first_of_all, comparison.same(), digits)


def _is_number(fact: DifferenceFact | None) -> bool:
    """Whether only numbers differ there."""
    return fact is not None and fact.kind in ("value", "gradient")


def _run(request: Request, single: bool) -> tuple[Ran, Report, tuple[StepFact, ...]]:
    """`single`: random numbers are drawn in single precision, whatever type they get."""
    trail = Trail()
    with as_new(), _limits_reported(request):
        draws.single = single
        if request.engine == "own":
            with recording(trail):
                ran = recorded(request, None)
        else:
            from ..live.library import seed_torch

            seed_torch()
            ran = recorded(request, None, besides=(TrailObserver(trail),))
        if ran.outcome is not None:
            ran = ran._replace(outcome=with_parameters(ran.outcome, AnyTensor))
        report = trace_report(ran, Options(texts=False))
        keep(ran)
        steps = () if ran.program is None else trail.facts(place_reader(ran.program))
        return ran, report, steps


@contextmanager
def _limits_reported(request: Request) -> Iterator[None]:
    """A limit reached outside a run is reported with the program it concerns."""
    try:
        yield
    except LimitReached as error:
        raise ProgramError(error.as_diagnostic(request.name, _place(error.__traceback__))) from None
    except MemoryError as error:
        limit = LimitReached(f"limit of {request.limits.max_memory:,} bytes", "--max-memory")
        raise ProgramError(limit.as_diagnostic(request.name, _place(error.__traceback__))) from None


def _place(trace: TracebackType | None) -> Label:
    """The tensor, node or operation that was looked at; else where the run had come to."""
    line, column = current_place() or last_place() or (1, 1)
    while trace is not None:
        for value in trace.tb_frame.f_locals.values():
            if isinstance(value, TensorFact | StepFact) and value.line is not None:
                line, column = value.line, 1
            elif isinstance(value, NodeFact) and value.place is not None:
                line, column = value.place.line, value.place.column
        trace = trace.tb_next
    return Label(Span(line, column, line, column + 1), "", primary=True)


def with_parameters(outcome: Outcome, kind: type) -> Outcome:
    """The parameters of modules as tensors with names of their own: `net.0.weight`."""
    inner = dict(holding.parameters(outcome.bindings, kind))
    return outcome.with_bindings(inner) if inner else outcome


def _stopped(ran: Ran) -> bool:
    """Nothing to compare: not a program, or a limit ended it."""
    if ran.outcome is None:
        return True
    return ran.error is not None and ran.error.type == "LimitReached"


def _ends(first: Ran, second: Ran) -> Iterator[DifferenceFact]:
    """How the two ended, and what they were warned of."""
    said, heard = _words(first.error), _words(second.error)
    if said != heard:
        yield DifferenceFact(
            "error", "", "error", said, heard,
            None if first.error is None else first.error.line,
            None if second.error is None else second.error.line,
        )  # fmt: skip
    for text in first.warnings:
        if text not in second.warnings:
            yield DifferenceFact("warning", "", "warning", text, None, None, None)
    for text in second.warnings:
        if text not in first.warnings:
            yield DifferenceFact("warning", "", "warning", None, text, None, None)


def _words(error: Diagnostic | None) -> str | None:
    return None if error is None else f"{error.type}: {error.message}"


def _printed(a: Report, b: Report) -> Iterator[DifferenceFact]:
    if a.output == b.output:
        return
    lines = list(
        difflib.unified_diff(
            a.output.splitlines(), b.output.splitlines(), "A prints", "B prints", lineterm="", n=2
        )
    )
    left = len(lines) - MOST_SHOWN
    if left > 0:
        lines[MOST_SHOWN:] = [f"... {left} more line{'s' if left > 1 else ''}"]
    yield DifferenceFact("output", "", "output", None, None, None, None, shown=tuple(lines))
