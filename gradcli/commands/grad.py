"""commands: `gradcli grad`: gradients of one result."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..diagnostics import ExitStatus
from ..named import NamedTuple
from ..options import OUTPUT, Command, Shared, flag, shared, under
from ..process.ending import keep
from .differentiation import GRAD_OUTPUT, GRAPH, OF, ORDER, PASS, WRT
from .environment import Environment, guarded

if TYPE_CHECKING:
    from ..pipeline.request import Ran, Request
    from ..questions.interventions import Interventions
    from ..recording.facts import GradReport


class Arguments(NamedTuple):
    """The options of grad."""

    wrt: list[str]
    of: list[str]
    grad_output: str | None
    chosen: int | None
    order: int | None
    mode: str | None
    retain_graph: bool
    create_graph: bool
    retain_grad: list[str]
    hooks: list[str]
    all: bool
    value: bool


COMMAND = Command(
    "grad",
    """Print gradients of anything that has a name.

    \b
    gradcli grad chain.expr --wrt w1,a
    gradcli grad chain.expr --of d --wrt b
    gradcli grad formula.expr --set x=3.0
    gradcli grad formula.expr --set x=3.0 --value
    gradcli grad curve.expr --wrt x --grad-output [1.0,0.0]
    gradcli grad rosenbrock.expr --order 2 --mode both
    """,
    Arguments,
    (
        WRT,
        OF,
        GRAD_OUTPUT,
        PASS,
        *ORDER,
        *GRAPH,
        *under(OUTPUT, flag("value", "--value", help="Print the numbers alone: one gradient on "
                            "each line, as a number or a list.")),
    ),
    shared(engine=True, prints=True),
)  # fmt: skip


def command(common: Shared, asked: Arguments) -> int:
    """Runs the program, differentiates its result; its exit code."""

    def body(env: Environment) -> int:
        request = env.request(
            wrt=tuple(asked.wrt),
            # What is computed anew needs graphs that the program may have gone over.
            holds_graph=bool(asked.of) or asked.grad_output is not None,
            retain_graph=asked.retain_graph,
            create_graph=asked.create_graph,
        )
        from ..questions.grad import Options, grad_report, recorded
        from ..questions.interventions import Interventions

        streams = common.format == "text"
        wrt = tuple(asked.wrt)
        interventions = Interventions(tuple(asked.hooks), tuple(asked.retain_grad), wrt,
                                      tuple(asked.of))  # fmt: skip
        options = Options(
            tuple(asked.of), wrt, asked.grad_output, asked.create_graph, asked.all, asked.chosen
        )
        write = env.printer() if streams and not asked.value else None
        if asked.order is not None or asked.mode is not None:
            ran, report = _derivatives(request, write, env, asked, interventions)
        else:
            ran = env.explained(recorded(request, write, interventions, options))
            ran, report = grad_report(ran, options)
        keep(report)
        if asked.value:
            from ..render.json.values import values

            env.answer(values(report))
        elif streams:
            from ..render import grad as render_grad

            report = env.after_output(report)
            env.answer([render_grad.text(report, env.look, streamed=True)])
        else:
            from ..render import json

            env.answer(json.grad(report))
        told = report.derivatives
        differ = told is not None and told.agreement is not None and not told.agreement.equal
        return env.finish(ran) or (ExitStatus.CHECK_FAILED if differ else ExitStatus.OK)

    return guarded(common, body)


def _derivatives(
    request: Request, write: Callable[[str], None] | None, env: Environment, asked: Arguments,
    interventions: Interventions,
) -> tuple[Ran, GradReport]:  # fmt: skip
    """Matrices of derivatives, or gradients in the requested mode."""
    from ..questions.derivatives import Options, derivatives_report, recorded

    options = Options(
        tuple(asked.of), tuple(asked.wrt), asked.grad_output, asked.order, asked.mode,
        asked.chosen, texts=env.common.format == "text",
    )  # fmt: skip
    done = recorded(request, write, interventions, options)
    return derivatives_report(done._replace(ran=env.explained(done.ran)), options)
