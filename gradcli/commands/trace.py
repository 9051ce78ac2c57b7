"""commands: `gradcli trace`: graphs and tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..diagnostics import ExitStatus, most_urgent
from ..named import NamedTuple
from ..opening import UsageError
from ..options import EXAMPLE, FILE, PROGRAM, Command, Shared, flag, shared, under
from ..output import tell
from ..process.ending import keep
from ..render.escape import block
from .differentiation import ANY_PASS, DEPTH, DRAWN, EXPAND, FOLD, GRAPH, HIDE, SHOWN, WRT
from .environment import Environment, guarded
from .pictures import FORMATS as PICTURE_FORMATS, OPTIONS as PICTURES, Wanted, drawn

if TYPE_CHECKING:
    from ..pipeline.request import Ran, Request
    from ..questions.interventions import Interventions
    from ..recording.facts import Report


class Arguments(NamedTuple):
    """The options of trace."""

    files: list[str]
    of: list[str]
    wrt: list[str]
    chosen: int | None
    retain_graph: bool
    create_graph: bool
    retain_grad: list[str]
    hooks: list[str]
    all: bool
    saved: bool
    depth: int | None
    expand: frozenset[int]
    fold: str | None
    hide: list[str]
    views: bool
    stats: bool
    profile: bool
    ledger: bool
    legend: bool
    theme: str
    direction: str


COMMAND = Command(
    "trace",
    """Draw the graphs of a program, and list its tensors.

    \b
    gradcli trace chain.expr
    gradcli trace net.expr --of loss --depth 5
    gradcli trace chain.expr --format json | jq '.tensors[] | {name, grad}'
    gradcli trace chain.expr --hook 'b=lambda g: g * 2' --saved
    gradcli trace before.expr after.expr
    """,
    Arguments,
    (
        FILE._replace(field="files", many=True, default=(), metavar="[FILE]...",
                      help=f"{FILE.help} Several files give one page each."),
        DRAWN,
        WRT,
        ANY_PASS,
        *GRAPH,
        *under(
            SHOWN,
            flag("saved", "--saved",
                 help="List what is saved for backward: value, version, bytes, alive or freed."),
            DEPTH,
            EXPAND,
            FOLD,
            HIDE,
            flag("views", "--views", help="Tensors that share memory: base, offset, strides, and "
                 "their versions before and after each change in place."),
            flag("stats", "--stats", help="The graph in numbers: nodes by kind, depth, memory of "
                 "saved tensors, largest values and gradients."),
            flag("profile", "--profile",
                 help="Time and bytes of every line, forward and backward."),
            flag("ledger", "--ledger", help="Every entry of every gradient, and what each backward "
                 "call freed."),
            flag("legend", "--legend", help="Explain the signs of the page; without FILE, "
                 "print nothing else."),
        ),
        *PICTURES,
    ),
    (EXAMPLE._replace(panel=PROGRAM),
     *shared("text", "json", *PICTURE_FORMATS, arguments=(), engine=True, prints=True)),
)  # fmt: skip


def command(common: Shared, asked: Arguments) -> int:
    """Runs each program and draws what it left; of the exit codes the most urgent."""
    if asked.legend and not asked.files and common.example is None:
        return guarded(common, _legend)
    if len(asked.files) < 2:
        return _traced(common._replace(file=next(iter(asked.files), None)), asked)
    if common.out is not None or common.format != "text":
        return guarded(common, _refused)
    first, *others = asked.files
    pages = [(first, f"==> {first} <==\n"), *((path, f"\n==> {path} <==\n") for path in others)]
    return most_urgent([_traced(common._replace(file=path), asked, head) for path, head in pages])


def _legend(env: Environment) -> int:
    """What the signs mean, without a program."""
    from ..render import legend
    from ..render.text import paint

    env.answer([paint(legend.lines(env.look), env.look)])
    env.save()
    return ExitStatus.OK


def _refused(env: Environment) -> int:
    option = f"--format {env.common.format}" if env.common.out is None else "-o"
    raise UsageError(f"{option} takes one program")


def _no_profile_of_torch(asked: Arguments, common: Shared) -> None:
    if asked.profile and common.engine == "torch":
        raise UsageError(
            "--profile times the own engine: with PyTorch, it would time the recording",
            "torch.profiler in a run of its own",
        )


def _traced(common: Shared, asked: Arguments, heading: str = "") -> int:
    """One program; one of several has a heading."""

    def body(env: Environment) -> int:
        if heading:
            env.answer([block(heading)])
        _no_profile_of_torch(asked, common)
        request = env.request(
            wrt=tuple(asked.wrt), retain_graph=asked.retain_graph,
            create_graph=asked.create_graph, placeholders=True,
        )  # fmt: skip
        from ..questions.interventions import Interventions

        interventions = Interventions(tuple(asked.hooks), tuple(asked.retain_grad),
                                      tuple(asked.wrt), tuple(asked.of))  # fmt: skip
        if common.format in PICTURE_FORMATS:
            _no_tables(asked, common.format)
            wanted = Wanted(asked.fold, asked.expand, asked.depth, asked.theme, asked.direction,
                            tuple(asked.hide))  # fmt: skip
            ran = drawn(request, env, interventions, tuple(asked.of), asked.chosen, wanted,
                        common.format, env.answer)  # fmt: skip
            return env.finish(ran)
        ran, report = _report(env, asked, request, interventions, streams=common.format == "text")
        if common.format == "text":
            _show(env, asked, report)
        else:
            from ..render import json

            env.answer(json.trace(report))
        return env.finish(ran)

    return guarded(common, body)


def _report(
    env: Environment, asked: Arguments, request: Request, interventions: Interventions, *,
    streams: bool,
) -> tuple[Ran, Report]:  # fmt: skip
    """Runs the program; with `streams` what it prints is shown meanwhile."""
    from ..questions.interventions import Tables
    from ..questions.trace import Options, recorded, trace_report

    tables = Tables(asked.views, asked.stats, asked.saved, asked.ledger or not streams)
    units = streams and asked.fold not in (None, "none")
    detail = (units or (asked.all and not streams)) and not asked.profile
    write = env.printer() if streams else None
    if detail:
        from ..questions.picture import recorded as recorded_in_detail

        ran = recorded_in_detail(request, write, interventions, number=asked.chosen,
                                 thorough=not units, tables=tables)  # fmt: skip
    else:
        ran = recorded(request, write, interventions, number=asked.chosen,
                       profile=asked.profile, tables=tables)  # fmt: skip
    ran = env.explained(ran)
    report = trace_report(ran, Options(
        tuple(asked.of), streams, streams or asked.all, asked.chosen, tables, detail,
    ))  # fmt: skip
    keep(report)
    return ran, report


def _show(env: Environment, asked: Arguments, report: Report) -> None:
    """The page for people."""
    from ..render import trace as render_trace

    report = env.after_output(report)
    page = render_trace.text(
        report, env.look, depth=asked.depth, expand=asked.expand, fold=asked.fold,
        hide=tuple(asked.hide), saved=asked.saved, ledger=asked.ledger,
        legend=asked.legend, streamed=True,
    )  # fmt: skip
    env.answer([page])
    if not env.common.quiet:
        _warn_of_stale(report, env)


def _no_tables(asked: Arguments, format: str) -> None:
    """Refuses what only a text or a document can say."""
    for field in ("views", "stats", "saved", "profile", "ledger", "legend"):
        if getattr(asked, field):
            others = "text" if field == "legend" else "text or json"
            raise UsageError(
                f"--{field} has no place in a picture: use --format {others}, not {format}"
            )


def _warn_of_stale(report: Report, env: Environment) -> None:
    """Gradients that were added to although their leaf had changed."""
    if report.ledger is None or not report.ledger.stale:
        return
    from ..render.ledger import stale
    from ..render.text import paint

    tell(paint(stale(report.ledger.stale, env.look_of_errors), env.look_of_errors))
