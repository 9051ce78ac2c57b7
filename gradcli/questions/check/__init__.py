"""Questions: `gradcli check`: one program: its asserts, its recorded answer, its gradients.

A program may say in the comments at its top or its end what it is there to show, so that a
folder of programs can hold some that are meant to fail:

    # check: raises RuntimeError     the error is part of the recorded answer, in its last line
    # check: allow kink, zero        not held against it
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from ...deadline import Clock
from ...diagnostics import (
    Diagnostic,
    ExitStatus,
    Label,
    ProgramError,
    bounded,
    most_urgent,
    noted,
)
from ...engine.mode import state
from ...engine.run_state import as_new
from ...language.interpreter import Outcome
from ...language.session import session
from ...opening import UsageError
from ...pipeline.request import Limits, Ran, Request
from ...pipeline.run import execute, program_of
from ...recording.facts.check import EdgeCheck, FileCheck, LeafCheck, Problem
from ..errors import error_fact
from ..graph import collected, places
from ..watching import watching
from .answer import compared
from .duties import missing, unchecked
from .expected import ends_as_expected, expected
from .gates import Gates, gates
from .numeric import checked
from .numeric.points import Asked, Tolerance
from .numeric.tape import Tape, Unrepeatable, recording
from .results import results_of

_DIRECTIVE = re.compile(r"#\s*check:\s*(raises|allow)\s+(.*\S)\s*$")
_NAME = re.compile(r"[\w.]+(\[[^\]]*\])*")
ALLOWED = ("kink", "nan", "inf", "none", "zero", "stale")


class Wishes(NamedTuple):
    """What every program of a call is checked for."""

    limits: Limits = Limits()
    sets: tuple[str, ...] = ()
    no_grad: tuple[str, ...] = ()
    device: str = "cpu"
    dtype: str | None = None
    tolerance: Tolerance = Tolerance()
    fail_on: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    update: bool = False
    against: str | None = None
    gradients: bool = True
    several: bool = False  # --set may name inputs that only some of the programs have
    require_record: bool = False
    require_gradient: bool = False


class Directives(NamedTuple):
    """What a program says about itself."""

    raises: str | None = None
    allow: tuple[str, ...] = ()


def check(path: str | None, name: str, data: bytes, wishes: Wishes) -> FileCheck:
    """One program, checked; path is None for standard input."""
    request = Request(
        data, name, path, _sets(data, name, wishes), wishes.no_grad, wishes.device, wishes.dtype,
        wishes.limits, expectations=True,
    )  # fmt: skip
    clock = Clock(wishes.limits.timeout)
    tape = Tape()
    with as_new():
        with recording(tape):
            ran = execute(request, None, *watching())
        return _answered(request, ran, tape, wishes, clock)


def _answered(request: Request, ran: Ran, tape: Tape, wishes: Wishes, clock: Clock) -> FileCheck:
    """What is to be said of a run."""
    name, path = request.name, request.path
    said = directives(ran.text)
    fact = FileCheck(name, "passed", 0, output=ran.output, warnings=ran.warnings, text=ran.text)
    if ran.program is not None:
        nodes = (node for part in ran.program.body for node in ast.walk(part))
        asserts = sum(isinstance(node, ast.Assert) for node in nodes)
        fact = fact._replace(asserts=asserts)
    fact = expected(_ended(fact, ran, said), ran)
    if wishes.against is not None and ran.outcome is not None and fact.status != "limit":
        from .against import compared_with_torch

        fact = compared_with_torch(fact, ran, request)
    if fact.exit_code not in (0, ExitStatus.CHECK_FAILED):
        return fact
    fact = compared(fact, ran, path, wishes, said.raises or ends_as_expected(ran))
    if not any(problem.kind == "assert" for problem in fact.problems):
        allow = frozenset((*wishes.allow, *said.allow))
        try:
            fact = _gradients(fact, ran, tape, wishes, allow, clock)
        except ProgramError as raised:
            error = raised.diagnostic.bounded()
            fact = _with(fact, _problem_of("error", error, ran.text), error.exit_status)
        for problem in missing(fact, wishes):
            fact = _with(fact, problem, ExitStatus.CHECK_FAILED)
    return unchecked(fact)


def directives(text: str) -> Directives:
    """The `# check:` lines of the comment blocks at the top and at the end."""
    raises: str | None = None
    allow: list[str] = []
    lines = text.splitlines()
    for line in (*_comments(lines), *_comments(reversed(lines))):
        match = _DIRECTIVE.match(line)
        if match is None:
            continue
        if match[1] == "raises":
            raises = match[2]
        else:
            allow.extend(word.strip() for word in match[2].split(",") if word.strip())
    unknown = [word for word in allow if word not in ALLOWED]
    if unknown:
        raise UsageError(f"# check: allow {unknown[0]}: expected {', '.join(ALLOWED)}")
    return Directives(raises, tuple(allow))


def _comments(lines: Iterable[str]) -> Iterator[str]:
    for line in map(str.strip, lines):
        if line and not line.startswith("#"):
            return
        yield line


def _sets(data: bytes, name: str, wishes: Wishes) -> tuple[str, ...]:
    """The --set options for this program."""
    if not wishes.sets or not wishes.several:
        return wishes.sets
    try:
        program = program_of(Request(data, name, limits=wishes.limits))
    except ProgramError:
        return ()
    known = {*program.inputs, *program.literals}
    return tuple(text for text in wishes.sets if text.partition("=")[0].strip() in known)


def _ended(fact: FileCheck, ran: Ran, said: Directives) -> FileCheck:
    """How the program ended, and whether that is how it was meant to."""
    error = ran.error
    if error is None:
        if said.raises is None:
            return fact
        message = f"was meant to end in {said.raises}, and ended well"
        return _with(fact, Problem("error", message), ExitStatus.CHECK_FAILED)
    if error.type in (said.raises, ends_as_expected(ran)):
        return fact._replace(error=error_fact(error))
    status = error.exit_status
    kind = "error"
    if error.type == "AssertionError" and status is ExitStatus.PROGRAM_ERROR:
        kind, status = "assert", ExitStatus.CHECK_FAILED
    fact = fact._replace(error=error_fact(error))
    return _with(fact, _problem_of(kind, error, ran.text), status)


def _placed(label: Label, line: int, text: str) -> str:
    """What is said of another place of the program, with that place in words."""
    span = label.span
    if span.line != line or span.end_line != line:
        return f"line {span.line}: {label.text}"
    code = text.split("\n")[line - 1][span.column - 1 : span.end_column - 1]
    return f"{code}: {label.text}"


def _problem_of(kind: str, error: Diagnostic, text: str) -> Problem:
    span = error.span
    message = error.type + (f": {error.message}" if error.message else "")
    if span is None:
        return Problem(kind, message, advice=error.notes)
    shown = tuple(
        _placed(label, span.line, text)
        for label in error.labels
        if label.text and not label.primary
    )
    return Problem(kind, message, span.line, span.column, span.end_line, span.end_column,
                   shown, error.notes)  # fmt: skip


def _with(fact: FileCheck, problem: Problem, status: int) -> FileCheck:
    """One more problem; of two exit codes the more urgent."""
    code = most_urgent((fact.exit_code, status))
    return fact._replace(problems=(*fact.problems, problem), exit_code=code, status=_word(code))


def _word(status: int) -> str:
    if status == ExitStatus.LIMIT_REACHED:
        return "limit"
    return "passed" if status == 0 else "failed" if status == 1 else "error"


# ---------------------------------------------------------------- gradients


def _gradients(
    fact: FileCheck, ran: Ran, tape: Tape, wishes: Wishes, allow: frozenset[str], clock: Clock
) -> FileCheck:
    """Difference quotients, and the gates of --fail-on."""
    assert ran.outcome is not None and ran.program is not None
    found = collected(ran.outcome, texts=False)
    results, names = results_of(ran, tape, found)
    leaves: list[LeafCheck] = []
    notes: list[str] = []
    place = places(ran.program)
    with _functions_may_run(ran.outcome):
        for result in results if wishes.gradients else ():
            asked = Asked(
                result.tensor, result.name, result.line, names, place, wishes.tolerance, clock.look
            )  # fmt: skip
            state.origin = ran.outcome.nodes.get(result.name)  # where a limit is reached
            try:
                leaves.extend(checked(tape, asked))
            except Unrepeatable as error:
                why = str(error).split(". Hint")[0]
                notes.append(f"{result.name} is not checked numerically: {why}")
    if wishes.gradients and not results:
        notes.append("no gradient to check: no result requires grad")
    fact = fact._replace(leaves=tuple(leaves), notes=(*fact.notes, *notes))
    for leaf in leaves:
        fact = _judged(fact, leaf, allow)
    for problem in gates(fact, ran, found, results, Gates.of(wishes.fail_on, allow)):
        fact = _with(fact, problem, ExitStatus.CHECK_FAILED)
    return fact


@contextmanager
def _functions_may_run(outcome: Outcome) -> Iterator[None]:
    """The program's own functions (of autograd) run again, and print nothing this time."""
    before, session.write = session.write, lambda text: None
    try:
        with outcome.again():
            yield
    finally:
        session.write = before


def _judged(fact: FileCheck, leaf: LeafCheck, allow: frozenset[str]) -> FileCheck:
    """A gradient that is wrong fails; what is merely worth knowing is noted."""
    told = f"d{_of(leaf.result)}/d{_of(leaf.leaf)}"
    kind = "kink" if leaf.cause.startswith("kink") else "" if _finite(leaf) else "nan"
    if leaf.status == "different" and kind not in allow:
        return _with(fact, _gradient_problem(leaf, told), ExitStatus.CHECK_FAILED)
    if leaf.status in ("equal", "undefined") and not leaf.cause:
        return fact
    return fact._replace(notes=(*fact.notes, f"{told}: {leaf.cause}"))


def _of(name: str) -> str:
    """The name behind a d: whole expressions in brackets."""
    return name if _NAME.fullmatch(name) else f"({name})"


def _slope(edge: EdgeCheck) -> str:
    if math.isfinite(edge.numeric):
        return f"the slope is {edge.numeric:.6g}"
    return "the slope has no bound"


def _finite(leaf: LeafCheck) -> bool:
    return leaf.analytic is None or math.isfinite(leaf.analytic)


def _gradient_problem(leaf: LeafCheck, told: str) -> Problem:
    assert leaf.analytic is not None and leaf.numeric is not None
    element = "" if not leaf.element else f"[{', '.join(map(str, leaf.element))}]"
    along = " along a direction of all elements" if leaf.element is None else ""
    numeric = f"difference quotients give {leaf.numeric:.6g}"
    if leaf.cause.startswith("kink"):
        numeric = "there is no derivative"
    of = f" (of a weighted sum of {leaf.result})" if leaf.weighted else ""
    message = f"{told}{element}{along} is {leaf.analytic:.6g}, {numeric}{of}"
    shown = tuple(
        f"{edge.node} hands {edge.analytic:.6g} to {edge.argument}"
        f"{list(edge.element) if edge.element else ''}, {_slope(edge)}"
        for edge in leaf.edges
    )
    advice: tuple[str, ...] = (f"cause: {leaf.cause}",)
    if "is not its slope" in leaf.cause:
        advice += ("note: --against torch says whether PyTorch's derivative is the same",)
    if not leaf.edges:
        return Problem("gradient", message, leaf.result_line, shown=shown, advice=advice)
    edge = leaf.edges[0]
    return Problem("gradient", message, edge.line, edge.column, edge.end_line, edge.end_column,
                   shown, advice)  # fmt: skip


def defect(
    name: str, message: str, status: int, advice: str = "", at: tuple[int, int] | None = None
) -> FileCheck:
    """A program that could not be checked to its end; `at` is the statement it had come to."""
    notes = tuple(bounded(note, 600) for note in noted(advice))
    problem = Problem("error", bounded(message), advice=notes)
    if at is not None:
        line, column = at
        problem = problem._replace(line=line, column=column, end_line=line, end_column=column + 1)
    return _with(FileCheck(name, "error", 0), problem, status)
