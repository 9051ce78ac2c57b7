"""commands: `gradcli step`: backward passes node by node, printed at once or interactively."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING

from ..diagnostics import ExitStatus, some
from ..named import NamedTuple
from ..opening import UsageError
from ..options import Command, Option, Shared, flag, names, one_pass, shared, under
from ..output import tell, write
from ..process.deadline import deadline, time_for
from ..process.ending import keep
from ..render.escape import Terminal, block
from .differentiation import EXPAND, GRAD_OUTPUT, GRADIENTS, GRAPH, OF
from .environment import Environment, guarded

if TYPE_CHECKING:
    from ..pipeline.request import Ran, Request
    from ..questions.step.report import Options
    from ..recording.facts.steps import StepsReport
    from ..render.steps.session import Session

PATIENT = 10.0**7  # seconds that a person may take
MOST = 8 * 2**20  # bytes of commands


class Arguments(NamedTuple):
    """The options of step."""

    of: list[str]
    grad_output: str | None
    chosen: int | None
    stops: list[str]
    commands: str | None
    plain: bool
    keys: bool
    expand: frozenset[int]
    retain_graph: bool
    create_graph: bool
    retain_grad: list[str]
    hooks: list[str]


COMMAND = Command(
    "step",
    """Walk through the backward pass, node by node.

    The incoming gradient, the local derivative, their product, and where it goes.
    On a terminal, step through it.

    \b
    gradcli step chain.expr
    gradcli step chain.expr --of d --break b
    gradcli step train.expr --pass 3 --plain
    printf 'run b\\nshow a.grad\\n' | gradcli step chain.expr --commands -
    """,
    Arguments,
    (
        OF,
        GRAD_OUTPUT,
        Option("chosen", ("--pass",), "Which backward pass of the program, where it has several.",
               None, one_pass, metavar="N", panel=GRADIENTS),
        *under(
            "Stepping",
            names("stops", "--break", help="Show only the steps of these names, nodes or numbers; "
                  "when stepping, stop there."),
            Option("commands", ("--commands",), "Step with the commands of this file, one on each "
                   "line; - is standard input.", metavar="FILE"),
            flag("plain", "--plain", help="Print all steps at once, on a terminal too."),
            flag("keys", "--keys", help="Step with single keys: a screen shows the program, the "
                 "steps and the current one."),
        ),
        EXPAND,
        *(option for option in GRAPH if option.field != "all"),
    ),
    shared(engine=True, prints=True),
)  # fmt: skip


def command(common: Shared, asked: Arguments) -> int:
    """Runs the program and prints its passes; returns the exit code."""

    def body(env: Environment) -> int:
        if asked.keys and not patient:
            raise UsageError("--keys needs a terminal, and goes with no other way to step",
                             "without it, --commands FILE reads the steps")  # fmt: skip
        request = env.request(
            retain_graph=asked.retain_graph,
            holds_graph=bool(asked.of),
            create_graph=asked.create_graph,
        )
        request = request._replace(limits=request.limits._replace(timeout=timeout))
        lines = None if asked.commands is None else _commands(asked.commands, env)
        with deadline(timeout) if patient else nullcontext():
            ran, report = _run_and_report(request, env, asked)
        if common.format == "text":
            report = env.after_output(report)
        if common.format != "text":
            from ..render.json import steps as json

            env.answer(json.steps(report, _stops(report, asked)))
        elif lines is not None:
            _scripted(env, ran, report, asked, lines)
        elif patient and report.walks:
            # Errors come first: whoever steps through a pass wants to know where it ends.
            status = ExitStatus.OK if ran.error is None else env.fail(ran.error, ran.error_text)
            _stepped(env, ran, report, asked)
            return env.finish(ran._replace(error=None)) or status
        else:
            from ..render import steps as render_steps

            stops = _stops(report, asked)
            page = render_steps.text(report, env.look, stops=stops, expand=asked.expand,
                                     streamed=True)  # fmt: skip
            env.answer([page])
        return env.finish(ran)

    timeout = time_for(common.timeout, trusted=common.engine == "torch")
    patient = _is_interactive(common, asked)
    return guarded(common._replace(timeout=PATIENT) if patient else common, body)


def _is_interactive(common: Shared, asked: Arguments) -> bool:
    """Whether a person can answer: both ends are a terminal, and no option says otherwise."""
    if asked.plain or asked.commands is not None or common.quiet or common.out is not None:
        return False
    if common.format != "text" or common.file == "-":
        return False
    try:
        return sys.stdin.isatty() and sys.stdout.isatty()
    except (AttributeError, ValueError):
        return False


def _options(asked: Arguments) -> Options:
    from ..questions.interventions import Interventions
    from ..questions.step.report import Options

    interventions = Interventions(tuple(asked.hooks), tuple(asked.retain_grad),
                                  results=tuple(asked.of))  # fmt: skip
    return Options(tuple(asked.of), asked.grad_output, asked.chosen, asked.retain_graph,
                   asked.create_graph, interventions)  # fmt: skip


def _run_and_report(
    request: Request, env: Environment, asked: Arguments
) -> tuple[Ran, StepsReport]:
    from ..questions.step.report import recorded, steps_report

    streams = env.common.format == "text"
    options = _options(asked)
    ran = env.explained(recorded(request, env.printer() if streams else None, options))
    ran, report = steps_report(ran, options, texts=streams)
    keep(report)
    return ran, report


def _stops(report: StepsReport, asked: Arguments) -> dict[int, frozenset[int]] | None:
    """For each pass, the numbers of the steps that --break means."""
    if not asked.stops:
        return None
    from ..render.steps.session import matching

    found: dict[int, frozenset[int]] = {}
    known: set[str] = set()
    for walk in report.walks:
        places: set[int] = set()
        for word in asked.stops:
            hits = matching(walk, word)
            known.update([word] if hits else [])
            places.update(hits)
        found[walk.number] = frozenset(place + 1 for place in places)
    for word in asked.stops:
        if word not in known and report.walks:
            raise UsageError(f"--break {word}: no step has this name", _near(word, report))
    return found


def _near(word: str, report: StepsReport) -> str:
    from difflib import get_close_matches

    steps = dict.fromkeys(name for walk in report.walks for name in walk.names)
    near = get_close_matches(word, steps, 1, 0.5)
    if near:
        return f"did you mean {near[0]}?"
    return f"the steps are {some(list(steps), 8)}"


# ---------------------------------------------------------------- step by step


def _session(env: Environment, ran: Ran, report: StepsReport, asked: Arguments) -> Session:
    from ..render.steps.session import Session

    def options(settings: Iterable[tuple[str, int, str]]) -> Options:
        """With the gradients that were set."""
        from ..questions.interventions import Setting

        plain = _options(asked)
        held = tuple(Setting(*setting) for setting in settings)
        return plain._replace(interventions=plain.interventions._replace(settings=held))

    def show(walk: int, step: int, text: str) -> str:
        from ..questions.step.replay import Pause
        from ..questions.step.report import value_at

        with deadline(ran.request.limits.timeout):
            return value_at(ran, options(session.changes()), Pause(walk, step, text))

    def change(settings: Iterable[tuple[str, int, str]]) -> StepsReport | str:
        from ..questions.step.report import repeated_steps

        try:
            with deadline(ran.request.limits.timeout):
                found = repeated_steps(ran, options(settings))
        except UsageError as misuse:  # of what has no name
            return str(misuse)
        error = found.error
        return found if error is None else f"{error.type}: {error.message}"

    session = Session(report, env.look, show, change)
    _stops(report, asked)  # says so if there is no such step
    session.stops.update(dict.fromkeys(asked.stops))
    return session


def _commands(path: str, env: Environment) -> list[str]:
    """The lines of a file of commands."""
    if path == "-":
        if env.common.file == "-" or (env.program is not None and env.program.path is None):
            raise UsageError("--commands -: standard input is the program already",
                           "gradcli step FILE --commands -")  # fmt: skip
        return sys.stdin.read(MOST).splitlines()
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(MOST).splitlines()
    except OSError as error:
        why = error.strerror or str(error)
        raise UsageError(f"--commands {path}: {why}") from None


def _scripted(
    env: Environment, ran: Ran, report: StepsReport, asked: Arguments, lines: Iterable[str]
) -> None:
    """Every command and its answer, as on a terminal."""
    env.answer(_script(env, ran, report, asked, lines))


def _script(
    env: Environment, ran: Ran, report: StepsReport, asked: Arguments, lines: Iterable[str]
) -> Iterator[Terminal]:
    from ..render.text import paint

    gap = "" if not report.output else "\n" if report.output.endswith("\n") else "\n\n"
    if not report.walks:
        return
    session = _session(env, ran, report, asked)
    yield Terminal(gap + paint(session.begin(), env.look))
    for line in lines:
        if line.lstrip().startswith("#"):
            continue
        yield Terminal("\n" + block(session.prompt + line.strip()) + "\n")
        yield paint(session.answer(line), env.look)
        if session.is_over:
            break


def _stepped(env: Environment, ran: Ran, report: StepsReport, asked: Arguments) -> None:
    """On a terminal: a prompt, a line, its answer, until quit or the end of the input."""
    from ..render.text import paint

    try:
        import readline  # noqa: F401  # lines can be edited, and earlier ones come back
    except ImportError:
        pass
    if report.output and not report.output.endswith("\n"):
        write([Terminal("\n")])
    session = _session(env, ran, report, asked)
    if asked.keys:
        from .step_keys import stepped

        stepped(session, ran.text, env.look)
        return
    gap = "\n" if report.output or ran.error is not None else ""
    write([Terminal(gap + paint(session.begin(), env.look))])
    if session.stops:
        write([paint(session.answer("run"), env.look)])
    while not session.is_over:
        try:
            write([Terminal("\n")])
            line = input(session.prompt)
        except EOFError:
            write([Terminal("\n")])
            return
        except KeyboardInterrupt:
            tell(Terminal("\nquit leaves\n"))
            continue
        write([paint(session.answer(line), env.look)])
        sys.stdout.flush()
