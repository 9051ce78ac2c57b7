"""commands: `gradcli check`: the gate: programs, their recorded answers, their gradients."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from ..diagnostics import most_urgent
from ..named import NamedTuple
from ..opening import UsageError
from ..options import (
    Command,
    Misuse,
    Option,
    Shared,
    count,
    destination,
    flag,
    named,
    one_of,
    shared,
    tolerance,
    under,
    words,
)
from ..output import tell
from ..process.memory import Standard, standard
from ..render.escape import block, log
from .environment import Environment, guarded
from .reports import Reports
from .review import ready, reviewed

if TYPE_CHECKING:
    from ..questions.check.files import Place
    from ..questions.check.options import CheckOptions
    from ..recording.facts.check import FileCheck

GATES = ("nan", "inf", "none", "zero", "stale", "kink")


TRUSTED = "note: --against torch runs PyTorch's own code on these programs: it trusts them\n"
FREE = "note: --engine torch runs these programs with Python and PyTorch: it trusts them\n"


class Arguments(NamedTuple):
    """The options of check."""

    files: list[str]
    fail_on: list[str]
    allow: list[str]
    require_record: bool
    require_gradient: bool
    no_numeric: bool
    rtol: float
    atol: float
    repeat: int
    against: str | None
    update: bool
    review: bool
    exclude: list[str]
    first: bool
    last_failed: bool
    changed_since: str | None
    jobs: int
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


def _jobs(text: str) -> int:
    """A number of processes; auto: as many as there are processors for us."""
    if text != "auto":
        return count(text)
    return _processors()


def _processors() -> int:
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed is not None else os.cpu_count() or 1


COMMAND = Command(
    "check",
    """Check programs: asserts, recorded answers, gradients.

    Runs each program; compares what it prints with the file beside it (chain.out for
    chain.expr); compares every gradient with difference quotients in double precision.
    A folder stands for the .expr files below it.

    \b
    gradcli check formulas/
    gradcli check formulas/ --fail-on nan,none -j 4 -f junit -o report.xml
    gradcli check chain.expr --update         records what it prints
    gradcli check formulas/ --changed-since main -j auto
    gradcli check chain.expr --against torch  compares with PyTorch itself
    gradcli check train.py --engine torch     trusts it: Python and PyTorch run it
    """,
    Arguments,
    (
        Option("files", (), "Programs, or folders of them; - is standard input.", (), many=True,
               metavar="[FILE]...", kind="program"),
        *under(
            "What fails",
            Option("fail_on", ("--fail-on",), "Gradients that fail the check in addition to "
                   "NaN and infinity: none, zero (all elements), stale (added to after an update, "
                   "without a reset), kink (no derivative, such as abs at 0). If nan or inf are "
                   "named here, results without a backward call fail too.", (), _some_of(*GATES),
                   many=True, gather=words, metavar="nan,inf,none,zero,stale,kink", among=GATES),
            Option("allow", ("--allow",), "What does not fail: nan, inf, or what --fail-on names.",
                   (), _some_of(*GATES), many=True, gather=words, metavar="nan,inf,...",
                   among=GATES),
            flag("require_record", "--require-record",
                 help="Fail programs without a recorded answer."),
            flag("require_gradient", "--require-gradient",
                 help="Fail programs without a checked gradient."),
            flag("no_numeric", "--no-numeric", help="Leave out the difference quotients."),
            Option("rtol", ("--rtol",), "Relative tolerance of a gradient.", "1e-5",
                   tolerance, metavar="R", show_default=True),
            Option("atol", ("--atol",), "Absolute tolerance of a gradient.", "1e-7", tolerance,
                   metavar="A", show_default=True),
            Option("repeat", ("--repeat",), "Run each program N times, and fail it if its results "
                   "differ in any bit.", "1", count, metavar="N", show_default=True),
            Option("against", ("--against",), "Run the same checked program on PyTorch's own "
                   "tensors, and compare. Only for programs that you trust.", None,
                   one_of("torch"), metavar="torch", among=("torch",)),
        ),
        *under(
            "Recorded answers",
            flag("update", "--update", help="Record what each program prints, in FILE.out."),
            flag("review", "--review",
                 help="Ask for each new or changed answer whether to record it."),
        ),
        *under(
            "Which programs",
            Option("exclude", ("--exclude",), "Leave out programs and folders of this name or "
                   "path; may be given several times.", (), many=True, metavar="GLOB"),
            flag("first", "--exitfirst", "-x", help="Stop after the first program that fails."),
            flag("last_failed", "--last-failed", "--lf", help="Check only programs that failed "
                 "last time, or all if none did."),
            Option("changed_since", ("--changed-since",), "Check only programs that differ "
                   "from a git revision: text, recorded answer, or data that they name.",
                   metavar="REV"),
            Option("jobs", ("--jobs", "-j"), "Check with N processes; auto: one for each "
                   "processor.", "1", _jobs, metavar="N|auto", show_default=True,
                   most=_processors),
        ),
        *under(
            "Reports",
            Option("durations", ("--durations",), "List the N slowest programs.", "0", count,
                   metavar="N"),
            Option("junit", ("--junit",), "Write a JUnit report too, with the times.", None,
                   destination, metavar="FILE"),
            Option("sarif", ("--sarif",), "Write a SARIF report too, for code scanning.", None,
                   destination, metavar="FILE"),
            flag("github", "--github", help="Write annotations for GitHub's log too."),
        ),
    ),
    shared("text", "json", "junit", "github", arguments=(), engine=True),
)  # fmt: skip


def command(common: Shared, asked: Arguments) -> int:
    """Checks every program; of their exit codes the most urgent."""
    several = max(1, len(asked.files)) * 1000
    whole = common._replace(timeout=min(10.0**7, common.timeout * several))

    def body(env: Environment) -> int:
        _contradicting(common, asked)
        if asked.review:
            ready(env)
        from ..questions.check.files import places
        from ..questions.check.jobs import side_by_side
        from ..questions.check.selection import remember

        found, notes = places(asked.files, common.max_source, asked.exclude)
        found = _selected(env, asked, found)
        for place in found:
            env.spare(place.path)
        reports = Reports(asked.junit, asked.sarif, asked.github)
        reports.ready(env, [place.path for place in found])
        if not common.quiet:
            tell(log(block("".join(f"{note}\n" for note in notes))))
        options = options_of(common, asked, len(found))
        _with_torch(common, asked)
        facts = side_by_side(found, options, asked.jobs)
        if asked.review:
            facts = reviewed(facts)
        if asked.first:
            facts = _to_the_first(facts)
        done, status = _write_answer(env, facts, [place.name for place in found], asked.durations)
        if len(done) < len(found) and not common.quiet:
            env.note(f"stopped at the first failure: {len(found) - len(done)} not checked")
        reports.write(env, done, status)
        remember(done, found)
        return status

    return guarded(whole, body, foreign=asked.against is not None)


def _with_torch(common: Shared, asked: Arguments) -> None:
    """PyTorch is loaded once, and who is trusted is said."""
    option = "--engine torch" if common.engine == "torch" else "--against torch"
    if common.engine == "torch" or asked.against is not None:
        from ..live.library import require_torch

        require_torch(option)
        if not common.quiet:
            tell(block(FREE if common.engine == "torch" else TRUSTED))


def _contradicting(common: Shared, asked: Arguments) -> None:
    """Options that can't be had together."""
    if common.engine == "torch" and asked.against is not None:
        raise UsageError("--against torch compares gradcli's own engine with PyTorch",
                         "leave out --engine torch")  # fmt: skip
    if common.arguments and common.engine != "torch":
        raise UsageError("-- ARGUMENTS are for a program that Python runs", "--engine torch")
    if asked.review and asked.update:
        raise UsageError("--review asks, --update does not: one of them is enough")
    if asked.require_gradient and asked.no_numeric:
        raise UsageError("--require-gradient needs the difference quotients, which "
                         "--no-numeric leaves out")  # fmt: skip


def _selected(env: Environment, asked: Arguments, found: list[Place]) -> list[Place]:
    """Those that --changed-since and --last-failed leave."""
    from ..questions.check.selection import changed_since, failed_last

    if asked.changed_since is not None:
        found = changed_since(asked.changed_since, found)
        if not found and not env.common.quiet:
            env.note(f"no program has changed since {asked.changed_since}")
    if asked.last_failed:
        failed = failed_last(found)
        if not failed and found and not env.common.quiet:
            env.note("none of these failed the last time: all are checked")
        found = failed or found
    return found


def options_of(common: Shared, asked: Arguments, programs: int) -> CheckOptions:
    """What so many programs are checked for; those that run at once share the memory."""
    from ..pipeline.request import Limits
    from ..questions.check.numeric.points import Tolerance
    from ..questions.check.options import CheckOptions

    memory = common.max_memory
    if isinstance(memory, Standard):
        memory = Standard(min(memory, standard(min(asked.jobs, programs))))
    limits = Limits(
        common.timeout, common.max_steps, common.max_nodes, memory,
        common.max_output, common.max_source, common.max_depth,
    )  # fmt: skip
    return CheckOptions(
        limits, tuple(common.sets), tuple(common.no_grad), common.device, common.dtype,
        Tolerance(asked.rtol, asked.atol), tuple(asked.fail_on), tuple(asked.allow),
        asked.update, asked.against, not asked.no_numeric, programs > 1,
        asked.require_record, asked.require_gradient, asked.repeat, common.engine or "own",
        common.arguments or (),
    )  # fmt: skip


def _to_the_first(facts: Iterator[FileCheck]) -> Iterator[FileCheck]:
    """As far as the first program that does not pass."""
    for fact in facts:
        yield fact
        if fact.status != "passed":
            return


def _write_answer(
    env: Environment, facts: Iterator[FileCheck], names: list[str], durations: int
) -> tuple[list[FileCheck], int]:
    """Writes the answer in the requested form; what was checked, and the exit code."""
    form, quiet = env.common.format, env.common.quiet
    done: list[FileCheck] = []

    def remembered() -> Iterable[FileCheck]:
        for fact in facts:
            done.append(fact)
            yield fact

    if form == "text":
        from ..render import check as page

        env.answer(map(log, page.pieces(remembered(), names, env.look, quiet=quiet > 0)))
        if durations:
            env.answer([log(page.slowest(done, durations))])
    elif form == "github":
        from ..render import github

        env.answer(github.pieces(remembered()))
    done.extend(facts)  # programs after a closed pipe are checked too
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
