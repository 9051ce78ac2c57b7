"""Questions: `gradcli check`: one program: its asserts, its recorded answer, its gradients.

A program may say in the comments at its top or its end what it is there to show, so that a
folder of programs can hold some that are meant to fail:

    # check: raises RuntimeError     the error is part of the recorded answer, in its last line
    # check: allow kink, zero        not held against it
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from ...diagnostics import (
    Diagnostic,
    ExitStatus,
    Label,
    ProgramError,
    bounded,
    noted,
)
from ...engine.schema.mode import state
from ...engine.schema.run_state import as_new
from ...language.interpreter import Outcome
from ...language.session import session
from ...named import NamedTuple
from ...opening import UsageError
from ...pipeline.request import Ran, Request
from ...pipeline.run import execute, program_of
from ...process.deadline import Clock
from ...recording.facts.check import FileCheck, Problem
from ...recording.sides import node_of, origin_of
from ..errors import error_fact
from ..graph import collected, places
from ..interventions import watching
from ..tried_advice import failed_alike
from .answer import compared
from .culprits import Culprits
from .expected import ends_as_expected, expected
from .gates import Gates, gates
from .numeric import checked, operations
from .numeric.live_tape import LiveTape
from .numeric.points import Result
from .numeric.tape import Tape, Unrepeatable, recording
from .options import CheckOptions
from .problems import judged, noted_on, readable, surveyed, with_problem
from .repeated import bits_of, once_more, repeated
from .requirements import missing, unchecked
from .results import MOST, results_of

_DIRECTIVE = re.compile(r"#\s*check:\s*(raises|allow)\s+(.*\S)\s*$")
ALLOWED = ("kink", "nan", "inf", "none", "zero", "stale")


class Directives(NamedTuple):
    """What a program says about itself."""

    raises: str | None = None
    allow: tuple[str, ...] = ()


def check(path: str | None, name: str, data: bytes, options: CheckOptions) -> FileCheck:
    """One program, checked; path is None for standard input."""
    request = Request(
        data, name, path, _sets(data, name, options), options.no_grad, options.device,
        options.dtype, options.limits, engine=options.engine, arguments=options.arguments,
        expectations=True,
    )  # fmt: skip
    clock = Clock(options.limits.timeout)
    with as_new():
        ran, tape = _run(request)
        bits = bits_of(ran) if options.repeat > 1 else None
        fact = _answered(request, ran, tape, options, clock)
        if bits is not None and fact.exit_code in (0, ExitStatus.CHECK_FAILED):
            other = repeated(request, bits, options.repeat)
            if other is not None:
                fact = with_problem(fact, other, ExitStatus.CHECK_FAILED)
        return readable(fact)


def _run(request: Request) -> tuple[Ran, Tape | LiveTape]:
    """The run, and its operations."""
    if request.engine == "torch":
        played = LiveTape()
        heard = watching()
        heard.attach(played)
        ran = once_more(request, heard)
        own = failed_alike(ran)
        return (ran if own is None else ran._replace(error=own.error)), played
    tape = Tape()
    with recording(tape):
        return execute(request, None, watching()), tape


def _answered(
    request: Request, ran: Ran, tape: Tape | LiveTape, options: CheckOptions, clock: Clock
) -> FileCheck:
    """What is to be said of a run."""
    name, path = request.name, request.path
    said = directives(ran.text)
    fact = FileCheck(name, "passed", 0, output=ran.output, warnings=ran.warnings, text=ran.text)
    if ran.program is not None:
        fact = fact._replace(asserts=sum(_asserts(ran.program.body)))
    fact = expected(_ended(fact, ran, said), ran)
    if options.against is not None and ran.outcome is not None and fact.status != "limit":
        from .against import compared_with_torch

        fact = compared_with_torch(fact, ran, request)
    if fact.exit_code not in (0, ExitStatus.CHECK_FAILED):
        return fact
    fact = compared(fact, ran, path, options, said.raises or ends_as_expected(ran))
    if not any(problem.kind == "assert" for problem in fact.problems):
        allow = frozenset((*options.allow, *said.allow))
        try:
            fact = _gradients(fact, ran, tape, options, allow, clock)
        except ProgramError as raised:
            error = raised.diagnostic.bounded()
            fact = with_problem(fact, _problem_of("error", error, ran.text), error.exit_status)
        for problem in missing(fact, options):
            fact = with_problem(fact, problem, ExitStatus.CHECK_FAILED)
    return unchecked(fact)


def _asserts(body: Sequence[ast.AST]) -> Iterator[bool]:
    """Of each statement and those within it: is it an assert? Expressions, most of a tree, hold
    none."""
    blocks = [body]
    while blocks:
        for statement in blocks.pop():
            yield type(statement) is ast.Assert
            for field in ("body", "orelse", "finalbody", "handlers", "cases"):
                block = getattr(statement, field, None)
                if block:
                    blocks.append(block)


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


def _sets(data: bytes, name: str, options: CheckOptions) -> tuple[str, ...]:
    """The --set options for this program."""
    if not options.sets or not options.several:
        return options.sets
    try:
        program = program_of(Request(data, name, limits=options.limits))
    except ProgramError:
        return ()
    known = {*program.inputs, *program.literals}
    return tuple(text for text in options.sets if text.partition("=")[0].strip() in known)


def _ended(fact: FileCheck, ran: Ran, said: Directives) -> FileCheck:
    """How the program ended, and whether that is how it was meant to."""
    error = ran.error
    if error is None:
        if said.raises is None:
            return fact
        message = f"should have raised {said.raises}, and raised nothing"
        return with_problem(fact, Problem("error", message), ExitStatus.CHECK_FAILED)
    if error.type in (said.raises, ends_as_expected(ran)):
        return fact._replace(error=error_fact(error))
    status = error.exit_status
    kind = "error"
    if error.type == "AssertionError" and status is ExitStatus.PROGRAM_ERROR:
        kind, status = "assert", ExitStatus.CHECK_FAILED
    fact = fact._replace(error=error_fact(error))
    return with_problem(fact, _problem_of(kind, error, ran.text), status)


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
    label = next((label.text for label in error.labels if label.primary), "")
    return Problem(kind, message, span.line, span.column, span.end_line, span.end_column,
                   shown, error.notes, label)  # fmt: skip


# ---------------------------------------------------------------- gradients


def _gradients(
    fact: FileCheck, ran: Ran, tape: Tape | LiveTape, options: CheckOptions, allow: frozenset[str],
    clock: Clock,
) -> FileCheck:  # fmt: skip
    """Difference quotients, each operation by itself, and the gates of --fail-on."""
    assert ran.outcome is not None and ran.program is not None
    found = collected(ran.outcome, texts=False)
    every, names = results_of(ran, tape, found)
    results = every[:MOST]
    if (left := len(every) - MOST) > 0:
        said = f"of {len(every):,} results the first {MOST} are checked: {left:,} more are not"
        fact = noted_on(fact, said)
    place = places(ran.program)
    if options.gradients and results:
        with _functions_may_run(ran.outcome):
            for result in results:
                asked = Result(result.tensor, result.name, result.line, names, place,
                              options.tolerance, clock.look)  # fmt: skip
                made = origin_of(node_of(result.tensor))  # not each has a name
                state.origin = ran.outcome.nodes.get(result.name, made)  # where a limit is reached
                fact = _with_leaves(fact, tape, asked)
            alone = operations(tape, [result.tensor for result in results], asked)
        fact = surveyed(fact, alone, "kink" in options.fail_on and "kink" not in allow)
    elif options.gradients:
        fact = noted_on(fact, "no gradient to check: no result requires grad")
    for leaf in fact.leaves:
        fact = judged(fact, leaf, allow)
    culprits = Culprits(ran, tape, [result.tensor for result in results], place)
    for problem in gates(fact, ran, found, results, Gates.of(options.fail_on, allow), culprits):
        fact = with_problem(fact, problem, ExitStatus.CHECK_FAILED)
    return fact


def _with_leaves(fact: FileCheck, tape: Tape | LiveTape, asked: Result) -> FileCheck:
    """The gradients of one result, or why they can't be checked."""
    try:
        return fact._replace(leaves=(*fact.leaves, *checked(tape, asked)))
    except Unrepeatable as error:
        why = str(error).split(". Hint")[0]
        return noted_on(fact, f"{asked.name} is not checked numerically: {why}")


@contextmanager
def _functions_may_run(outcome: Outcome) -> Iterator[None]:
    """The program's own functions (of autograd) run again, and print nothing this time."""
    before, session.write = session.write, lambda text: None
    try:
        with outcome.again():
            yield
    finally:
        session.write = before


def defect(
    name: str, message: str, status: int, advice: str = "", at: tuple[int, int] | None = None
) -> FileCheck:
    """A program that could not be checked to its end; `at` is the statement it had come to."""
    notes = tuple(bounded(note, 600) for note in noted(advice))
    problem = Problem("error", bounded(message), advice=notes)
    if at is not None:
        line, column = at
        problem = problem._replace(line=line, column=column, end_line=line, end_column=column + 1)
    return with_problem(FileCheck(name, "error", 0), problem, status)
