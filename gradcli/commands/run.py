"""commands: `gradcli run`: what the program prints, as it prints it."""

from __future__ import annotations

from typing import NamedTuple

from ..options import Command, Shared, shared
from .desk import Desk, guarded


class Asked(NamedTuple):
    """Nothing of its own."""


COMMAND = Command(
    "run",
    """Run a program: what it prints, and nothing else.

    \b
    gradcli run training.expr
    gradcli run formula.expr --set w=2.0 --set x=[1.0,2.0,3.0]
    """,
    Asked,
    (),
    shared(),
)


def command(common: Shared, asked: Asked) -> int:
    """Runs the program; its exit code."""

    def body(desk: Desk) -> int:
        request = desk.request()
        from ..pipeline.run import execute

        if common.format == "text":
            return desk.finish(desk.explained(execute(request, desk.printer())))
        from ..questions.trace import run_report
        from ..render import json

        ran = desk.explained(execute(request, None))
        desk.answer(json.run(run_report(ran)))
        return desk.finish(ran)

    return guarded(common, body)
