"""Questions: `gradcli diff`: two runs, each in an engine as new, and what differs in them."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import NamedTuple

from ...diagnostics import Diagnostic, Label, LimitReached, ProgramError, Span
from ...engine.schema.origin import current_place
from ...engine.schema.run_state import as_new
from ...numerics.random import draws
from ...pipeline.request import Ran, Request
from ...process.deadline import last_place
from ...process.ending import keep
from ...process.memory import reached
from ...recording.facts import NodeFact, Report, TensorFact
from ...recording.facts.diff import DifferenceFact, DiffReport, SideFact, StepFact
from ..check.numeric.tape import recording
from ..graph import place_reader
from ..trace import Options, recorded, trace_report
from .digits import by_line
from .facts import Comparison, Steps, Tolerance, paired, parting
from .trail import Trail, TrailObserver

MOST_SHOWN = 40  # lines of printed text that differs


def compared(
    a: Request, b: Request, settings: tuple[str, str], tolerance: Tolerance
) -> tuple[DiffReport | None, Ran]:
    """The comparison, and the run that decides about an error; no comparison where one of the two
    could not start or ran into a limit."""
    single = a.dtype != b.dtype
    one = _run(a, single)
    if _stopped(one.ran):
        return None, one.ran
    other = _run(b, single)
    if _stopped(other.ran):
        return None, other.ran
    with _limits_reported(a):
        return _side_by_side(one, other, settings, tolerance), one.ran


class Side(NamedTuple):
    """One of the two runs."""

    ran: Ran
    report: Report
    steps: Steps

    def fact(self, settings: str) -> SideFact:
        request, report = self.ran.request, self.report
        return SideFact(request.name, settings, request.device, request.dtype or "float32",
                        len(report.tensors), len(report.nodes), report.error,
                        self.ran.text)  # fmt: skip


def _side_by_side(a: Side, b: Side, settings: tuple[str, str], tolerance: Tolerance) -> DiffReport:
    """What differs in two runs that came to their ends."""
    comparison = Comparison(a.report, b.report, tolerance)
    found = (*_ends(a.ran, b.ran), *comparison.differences())
    if tolerance.types and tolerance.devices:
        found = (*found, *_printed(a.report, b.report))
    first, exact = comparison.first(found), a.ran.request.engine == b.ran.request.engine
    if found:
        part = parting(a.steps, b.steps, tolerance, exact=exact)
        # A name whose operation is another one says it better.
        if part is not None and (part.kind == "value" or _is_number(first)):
            first = part
    mine, yours = a.fact(settings[0]), b.fact(settings[1])
    digits = by_line(paired(a.steps, b.steps, exact=exact), (mine.dtype, yours.dtype))
    return DiffReport(mine, yours, found, first, comparison.same(), digits)


def _is_number(fact: DifferenceFact | None) -> bool:
    """Whether only numbers differ there."""
    return fact is not None and fact.kind in ("value", "gradient")


def _run(request: Request, single: bool) -> Side:
    """`single`: random numbers are drawn in single precision, whatever type they get."""
    trail = Trail()
    with as_new(), _limits_reported(request):
        draws.single = single
        if request.engine == "own":
            with recording(trail):
                ran = recorded(request, None)
        else:
            from ...live.library import seed_torch

            seed_torch()
            ran = recorded(request, None, besides=(TrailObserver(trail),))
        report = trace_report(ran, Options(texts=False))
        keep(ran)
        steps = () if ran.program is None else trail.facts(place_reader(ran.program))
        return Side(ran, report, steps)


@contextmanager
def _limits_reported(request: Request) -> Iterator[None]:
    """A limit reached outside a run is reported with the program it concerns."""
    try:
        yield
    except LimitReached as error:
        raise ProgramError(error.as_diagnostic(request.name, _place(error.__traceback__))) from None
    except MemoryError as error:
        limit = reached(request.limits.max_memory)
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
