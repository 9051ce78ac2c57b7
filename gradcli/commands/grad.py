"""commands: `gradcli grad`: gradients of one result."""

from __future__ import annotations

from typing import NamedTuple

from ..ending import keep
from ..options import Command, Shared, shared
from .differentiation import GRAD_OUTPUT, GRAPH, OF, PASS, WRT
from .environment import Environment, guarded


class Asked(NamedTuple):
    """The options of grad."""

    wrt: list[str]
    of: list[str]
    grad_output: str | None
    retain_graph: bool
    create_graph: bool
    retain_grad: list[str]
    hooks: list[str]
    all: bool
    chosen: int | None


COMMAND = Command(
    "grad",
    """Print gradients of anything that has a name.

    \b
    gradcli grad chain.expr --wrt w1,a
    gradcli grad chain.expr --of d --wrt b
    gradcli grad formula.expr --set x=3.0
    gradcli grad curve.expr --wrt x --grad-output [1.0,0.0]
    """,
    Asked,
    (WRT, OF, GRAD_OUTPUT, *GRAPH, PASS),
    shared(engine=True),
)


def command(common: Shared, asked: Asked) -> int:
    """Runs the program, differentiates its result; its exit code."""

    def body(env: Environment) -> int:
        request = env.request(
            wrt=tuple(asked.wrt), retain_graph=True, create_graph=asked.create_graph
        )
        from ..questions.grad import Options, grad_report, recorded
        from ..questions.watching import Wishes

        streams = common.format == "text"
        wrt = tuple(asked.wrt)
        wishes = Wishes(tuple(asked.hooks), tuple(asked.retain_grad), wrt)
        options = Options(
            tuple(asked.of), wrt, asked.grad_output, asked.create_graph, asked.all, asked.chosen
        )
        write = env.printer() if streams else None
        ran = env.explained(recorded(request, write, wishes, options))
        ran, report = grad_report(ran, options)
        keep(report)
        if streams:
            from ..render import grad as render_grad

            env.answer([render_grad.text(report, env.look, streamed=True)])
        else:
            from ..render import json

            env.answer(json.grad(report))
        return env.finish(ran)

    return guarded(common, body)
