"""commands: `gradcli check`: the gate: programs, their recorded answers, their gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from ..diagnostics import most_urgent
from ..memory import standard
from ..opening import UsageError
from ..options import (
    Command,
    Misuse,
    Option,
    Shared,
    Standard,
    count,
    flag,
    named,
    number,
    one_of,
    shared,
    words,
)
from ..output import tell
from ..render.escape import block
from .environment import Environment, guarded
from .reports import Reports

if TYPE_CHECKING:
    from ..recording.facts.check import FileCheck

GATES = ("nan", "inf", "none", "zero", "stale")
ALLOWED = ("kink", *GATES)


TRUSTED = "note: --against torch runs PyTorch's own code on these programs: it trusts them\n"


class Asked(NamedTuple):
    """The options of check."""

    files: list[str]
    update: bool
    fail_on: list[str]
    allow: list[str]
    against: str | None
    require_record: bool
    require_gradient: bool
    no_numeric: bool
    rtol: float
    atol: float
    jobs: int
    exclude: list[str]
    first: bool
    durations: int
    junit: str | None
    sarif: str | None
    github: bool


def _some_of(*known: str) -> Callable[[str], str]:
    """A parser that takes these words, with commas between them."""

    def parse(text: str) -> str:
        named(text)
        for word in words([text]):
            if word not in known:
                raise Misuse(f"{word!r} is not one of {', '.join(known)}")
        return text

    return parse


COMMAND = Command(
    "check",
    """Check programs: asserts, recorded answers, gradients.

    Runs each program; compares what it prints with the file beside it (chain.out for
    chain.expr); compares every gradient with difference quotients in double precision.
    A folder stands for the .expr files below it.

    \b
    gradcli check formulas/
    gradcli check formulas/ --fail-on nan,none --jobs 4 --format junit -o report.xml
    gradcli check chain.expr --update           records what it prints
    gradcli check chain.expr --against torch    compares with PyTorch itself
    """,
    Asked,
    (
        Option("files", (), "Programs, or folders of them; - is standard input.", (), many=True,
               metavar="[FILE]..."),
        flag("update", "--update", help="Record what each program prints, in FILE.out."),
        Option("fail_on", ("--fail-on",), "Gradients that fail the check beside NaN and infinity: "
               "none, zero (all elements), stale (added to after an update, without a reset). "
               "Named here, nan and inf fail results without a backward call too.", (),
               _some_of(*GATES), many=True, gather=words, metavar="nan,inf,none,zero,stale"),
        Option("allow", ("--allow",), "What does not fail: nan, inf, kink (a gradient where there "
               "is no derivative), or what --fail-on names.", (), _some_of(*ALLOWED), many=True,
               gather=words, metavar="nan,inf,kink,..."),
        Option("against", ("--against",), "Run the same checked program on PyTorch's own tensors, "
               "and compare. Only for programs that you trust.", None, one_of("torch"),
               metavar="torch"),
        flag("require_record", "--require-record", help="Fail programs without a recorded answer."),
        flag("require_gradient", "--require-gradient",
             help="Fail programs of which no gradient was checked."),
        flag("no_numeric", "--no-numeric", help="Leave out the difference quotients."),
        Option("rtol", ("--rtol",), "How far a gradient may be off, relative to its size.", "1e-5",
               number, metavar="R", show_default=True),
        Option("atol", ("--atol",), "How far it may be off in any case.", "1e-7", number,
               metavar="A", show_default=True),
        Option("jobs", ("--jobs", "-j"), "Check with N processes.", "1", count, metavar="N",
               show_default=True),
        Option("exclude", ("--exclude",), "Leave out programs and folders of this name or path; "
               "may be given several times.", (), many=True, metavar="GLOB"),
        flag("first", "--exitfirst", "-x", help="Stop after the first program that fails."),
        Option("durations", ("--durations",), "List the N slowest programs.", "0", count,
               metavar="N"),
        Option("junit", ("--junit",), "Write a JUnit report too, with the times.", metavar="FILE"),
        Option("sarif", ("--sarif",), "Write a SARIF report too, for code scanning.",
               metavar="FILE"),
        flag("github", "--github", help="Write annotations for GitHub's log too."),
    ),
    shared("text", "json", "junit", "github", arguments=()),
)  # fmt: skip


def command(common: Shared, asked: Asked) -> int:
    """Checks every program; of their exit codes the most urgent."""
    several = max(1, len(asked.files)) * 1000
    whole = common._replace(timeout=min(10.0**7, common.timeout * several))

    def body(env: Environment) -> int:
        if asked.require_gradient and asked.no_numeric:
            raise UsageError("--require-gradient needs the difference quotients, which "
                             "--no-numeric leaves out")  # fmt: skip
        from ..pipeline.request import Limits
        from ..questions.check import Wishes
        from ..questions.check.files import places
        from ..questions.check.jobs import side_by_side
        from ..questions.check.numeric.points import Tolerance

        found, notes = places(asked.files, common.max_source, asked.exclude)
        for place in found:
            env.spare(place.path)
        reports = Reports(asked.junit, asked.sarif, asked.github)
        reports.ready(env, [place.path for place in found])
        if not common.quiet:
            tell(block("".join(f"{note}\n" for note in notes)))
        memory = common.max_memory
        if isinstance(memory, Standard):
            memory = standard(min(asked.jobs, len(found)))
        limits = Limits(
            common.timeout, common.max_steps, common.max_nodes, memory,
            common.max_output, common.max_source, common.max_depth,
        )  # fmt: skip
        wishes = Wishes(
            limits, tuple(common.sets), tuple(common.no_grad), common.device, common.dtype,
            Tolerance(asked.rtol, asked.atol), tuple(asked.fail_on), tuple(asked.allow),
            asked.update, asked.against, not asked.no_numeric, len(found) > 1,
            asked.require_record, asked.require_gradient,
        )  # fmt: skip
        if asked.against is not None:
            from ..live.library import require_torch

            require_torch("--against torch")
            if not common.quiet:
                tell(block(TRUSTED))
        facts = side_by_side(found, wishes, asked.jobs)
        if asked.first:
            facts = _to_the_first(facts)
        done, status = _told(env, facts, [place.name for place in found], asked.durations)
        if len(done) < len(found) and not common.quiet:
            env.note(f"stopped at the first failure: {len(found) - len(done)} not checked")
        reports.write(env, done, status)
        return status

    return guarded(whole, body, foreign=asked.against is not None)


def _to_the_first(facts: Iterator[FileCheck]) -> Iterator[FileCheck]:
    """As far as the first program that does not pass."""
    for fact in facts:
        yield fact
        if fact.status != "passed":
            return


def _told(
    env: Environment, facts: Iterator[FileCheck], names: list[str], durations: int
) -> tuple[list[FileCheck], int]:
    """Writes the answer in the form that was asked for; what was checked, and the exit code."""
    form, quiet = env.common.format, env.common.quiet
    done: list[FileCheck] = []

    def kept() -> Iterable[FileCheck]:
        for fact in facts:
            done.append(fact)
            yield fact

    if form == "text":
        from ..render import check as page

        env.answer(page.pieces(kept(), names, env.look, quiet=quiet > 0))
        if durations:
            env.answer([page.slowest(done, durations)])
    elif form == "github":
        from ..render import github

        env.answer(github.pieces(kept()))
    done.extend(facts)  # what nobody wanted to read is checked too
    status = most_urgent(fact.exit_code for fact in done)
    if form == "junit":
        from ..render import junit

        env.answer([junit.text(done)])
    elif form == "json":
        from ..recording.facts.check import CheckReport
        from ..render.json.check import check

        env.answer(check(CheckReport(env.common.device, tuple(done), status)))
    env.save()
    return done, status
