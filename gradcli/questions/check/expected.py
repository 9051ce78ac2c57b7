"""Questions: what a program expects beside its lines, `# expect: x.grad is None`, and what came."""

from __future__ import annotations

from collections.abc import Iterator

from ...diagnostics import ExitStatus, Span, bounded, most_urgent
from ...language.expectations import Expectation, Failure, Log
from ...pipeline.request import Ran
from ...recording.facts.check import FileCheck, Problem


def log_of(ran: Ran) -> Log | None:
    """What became of the expectations; None where there are none."""
    machine = None if ran.outcome is None else ran.outcome.machine
    return None if machine is None else machine.log


def ends_as_expected(ran: Ran) -> str | None:
    """The type of the error that ended the program, where the line says so."""
    log = log_of(ran)
    if log is None or not log.ends_as_expected or ran.error is None:
        return None
    return ran.error.type


def expected(fact: FileCheck, ran: Ran) -> FileCheck:
    """The same, with the expectations that do not hold."""
    log = log_of(ran)
    if log is None:
        return fact
    fact = fact._replace(expectations=len(log.expectations))
    problems = tuple(_problems(fact, ran, log))
    if not problems:
        return fact
    code = most_urgent((fact.exit_code, ExitStatus.CHECK_FAILED))
    status = "failed" if code == ExitStatus.CHECK_FAILED else fact.status
    return fact._replace(problems=(*fact.problems, *problems), exit_code=code, status=status)


def _problems(fact: FileCheck, ran: Ran, log: Log) -> Iterator[Problem]:
    for expectation in log.expectations:
        failure = log.failures.get(expectation)
        if failure is None and expectation not in log.reached:
            failure = _unreached(fact, ran, expectation)
        if failure is not None:
            yield _problem(expectation, failure)


def _unreached(fact: FileCheck, ran: Ran, expectation: Expectation) -> Failure | None:
    """Where the program failed before, only that error is reported."""
    if not fact.problems:
        raised = "" if expectation.raises is None else ", or another error was raised"
        return Failure(f"the program did not reach this line{raised}")
    span = None if ran.error is None else ran.error.span
    if expectation.raises is not None and ran.error is not None and span is not None:
        if span.line == expectation.span.line:
            return Failure(f"the error is {ran.error.type}")
    return None


def _problem(expectation: Expectation, failure: Failure) -> Problem:
    span: Span = expectation.span
    message = bounded(f"{expectation.text}: {failure.why}", 600)
    return Problem("expect", message, span.line, span.column, span.line, span.end_column,
                   failure.shown)  # fmt: skip
