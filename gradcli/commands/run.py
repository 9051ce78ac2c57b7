"""commands: `gradcli run`: what the program prints, as it prints it."""

from __future__ import annotations

from ..named import NamedTuple
from ..options import Command, Shared, shared
from .environment import Environment, guarded


class Arguments(NamedTuple):
    """Nothing of its own."""


COMMAND = Command(
    "run",
    """Run a program, and print only its output.

    \b
    gradcli run training.expr
    gradcli run formula.expr --set w=2.0 --set x=[1.0,2.0,3.0]
    """,
    Arguments,
    (),
    shared(engine=True, by_ending=False),  # what it writes is the program's
)


def command(common: Shared, asked: Arguments) -> int:
    """Runs the program; its exit code."""

    def body(env: Environment) -> int:
        request = env.request()
        from ..pipeline.run import execute

        if common.format == "text":
            return env.finish(env.explained(execute(request, env.printer(alone=True))))
        from ..questions.trace import run_report
        from ..render import json

        ran = env.explained(execute(request, None))
        env.answer(json.run(run_report(ran)))
        return env.finish(ran)

    return guarded(common, body)
