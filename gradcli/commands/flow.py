"""commands: `gradcli flow`: a training run at a glance."""

from __future__ import annotations

from typing import NamedTuple

from ..diagnostics import ExitStatus
from ..options import Command, Option, Shared, flag, one_pass, shared, under
from ..process.ending import keep
from .differentiation import EXPAND, GRADIENTS, SHOWN
from .environment import Environment, guarded


class Arguments(NamedTuple):
    """The options of flow."""

    chosen: int | None
    expand: frozenset[int]
    legend: bool


COMMAND = Command(
    "flow",
    """Show how gradients flow in a training run.

    One row for each backward pass, one for each parameter, and what is wrong:
    vanishing, exploding, stale, dead, not reached, never updated.

    \b
    gradcli flow train.expr
    gradcli flow train.expr --pass 17
    gradcli flow train.expr --format json | jq '.verdicts[] | {verdict, names}'
    """,
    Arguments,
    (
        Option("chosen", ("--pass",), "Show the gradients of this backward pass; 1 is the first.",
               None, one_pass, metavar="N", panel=GRADIENTS),
        EXPAND,
        *under(SHOWN, flag("legend", "--legend", help="Explain the columns and signs below the "
                           "tables; without FILE, print nothing else.")),
    ),
    shared(engine=True, prints=True),
)  # fmt: skip


def command(common: Shared, asked: Arguments) -> int:
    """Runs the program and shows its passes; its exit code."""

    def body(env: Environment) -> int:
        if asked.legend and common.file is None and common.example is None:
            return _legend(env)
        from ..questions.flow import flow_report, recorded

        streams = common.format == "text"
        write = env.printer() if streams else None
        ran = env.explained(recorded(env.request(), write, asked.chosen))
        report = flow_report(ran, asked.chosen)
        keep(report)
        if streams:
            from ..render import flow as render_flow

            report = env.after_output(report)
            env.answer([render_flow.text(report, env.look, expand=asked.expand,
                                         with_legend=asked.legend)])  # fmt: skip
        else:
            from ..render.json import flow as json

            env.answer(json.flow(report))
        return env.finish(ran)

    return guarded(common, body)


def _legend(env: Environment) -> int:
    """What columns and signs mean, without a program."""
    from ..render.flow import legend
    from ..render.text import paint

    env.answer([paint(legend(env.look), env.look)])
    env.save()
    return ExitStatus.OK
