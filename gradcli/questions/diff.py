"""Questions: `gradcli diff`: two runs, each in an engine as new, and what differs in them."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from contextlib import contextmanager

from ..diagnostics import Diagnostic, LimitReached, ProgramError
from ..ending import keep
from ..engine.run_state import as_new
from ..language.interpreter import Outcome
from ..numerics.random import draws
from ..numerics.twister import DEFAULT_SEED
from ..pipeline.live import seed_torch
from ..pipeline.request import Ran, Request
from ..recording import collect as collecting
from ..recording.facts import Report
from ..recording.facts.diff import DifferenceFact, DiffReport, SideFact, StepFact
from ..recording.sides import AnyTensor
from .check.numeric.tape import recording
from .diff_digits import by_line
from .diff_facts import Comparison, Tolerance, paired, parting
from .diff_trail import Made, Trail
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
    comparison = Comparison(report_a, report_b, tolerance)
    found = (*_ends(first, second), *comparison.differences())
    if tolerance.types and tolerance.devices:
        found = (*found, *_printed(report_a, report_b))
    sides = [
        SideFact(ran.request.name, said, ran.request.device, ran.request.dtype or "float32",
                 len(report.tensors), len(report.nodes), report.error, ran.text)
        for ran, report, said in ((first, report_a, settings[0]), (second, report_b, settings[1]))
    ]  # fmt: skip
    first_of_all = comparison.first(found)
    if found:
        exact = a.engine == b.engine
        first_of_all = parting(steps_a, steps_b, tolerance, exact=exact) or first_of_all
    types = sides[0].dtype, sides[1].dtype
    digits = by_line(paired(steps_a, steps_b, exact=a.engine == b.engine), types)
    return DiffReport(sides[0], sides[1], found, first_of_all, comparison.same(), digits), first


def _run(request: Request, single: bool) -> tuple[Ran, Report, tuple[StepFact, ...]]:
    """`single`: random numbers are drawn in single precision, whatever type they get."""
    trail = Trail()
    with as_new(), _told_with(request):
        draws.single = single
        if request.engine == "own":
            with recording(trail):
                ran = recorded(request, None)
        else:
            seed_torch(DEFAULT_SEED)
            ran = recorded(request, None, besides=(Made(trail),))
        if ran.outcome is not None:
            ran = ran._replace(outcome=with_parameters(ran.outcome, AnyTensor))
        report = trace_report(ran, Options(texts=False))
        keep(ran)
        steps = () if ran.program is None else trail.facts(place_reader(ran.program))
        return ran, report, steps


@contextmanager
def _told_with(request: Request) -> Iterator[None]:
    """A limit that is met beside a run is told with the program that it was about."""
    try:
        yield
    except LimitReached as error:
        raise ProgramError(error.told(request.name)) from None
    except MemoryError:
        limit = LimitReached(f"limit of {request.limits.max_memory:,} bytes", "--max-memory")
        raise ProgramError(limit.told(request.name)) from None


def with_parameters(outcome: Outcome, kind: type) -> Outcome:
    """The parameters of modules as tensors with names of their own: `net.0.weight`."""
    inner = dict(collecting.parameters(outcome.bindings, kind))
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
