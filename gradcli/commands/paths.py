"""commands: `gradcli paths`: every chain-rule path from a result to a tensor, and their sum."""

from __future__ import annotations

from ..diagnostics import ExitStatus
from ..named import NamedTuple
from ..options import Command, Misuse, Option, Shared, count, flag, shared, under
from ..process.ending import keep
from .differentiation import GRAD_OUTPUT, OF, ONE, PASS, SHOWN
from .environment import Environment, guarded


class Arguments(NamedTuple):
    """The options of paths."""

    of: list[str]
    wrt: list[str]
    grad_output: str | None
    chosen: int | None
    edges: bool
    top: int
    symbolic: bool
    jacobian: bool
    element: tuple[int, ...] | None


def _index(text: str) -> tuple[int, ...]:
    """1,0: an index of an element."""
    try:
        return tuple(int(part) for part in text.strip("[]() ").split(",") if part.strip())
    except ValueError:
        raise Misuse(f"{text!r} is not an index: 1,0 is") from None


COMMAND = Command(
    "paths",
    """Show the chain rule, path by path.

    Every path from a result to a tensor, the derivative on each edge, the product
    along it, and the sum, compared with reverse mode.

    \b
    gradcli paths chain.expr --of L --wrt a
    gradcli paths chain.expr --of L --wrt a --symbolic
    gradcli paths net.expr --of loss --wrt W --element 1,0
    gradcli paths loop.expr --of y --wrt a --edges --top 5
    """,
    Arguments,
    (
        OF,
        ONE,
        GRAD_OUTPUT,
        PASS,
        *under(
            SHOWN,
            flag("edges", "--edges", help="Paths through the full graph, node by node; "
                 "without it they run through the tensors that have a name."),
            Option("top", ("--top",), "List the N paths with the largest products.", "20", count,
                   metavar="N", show_default=True),
            flag("symbolic", "--symbolic", help="The gradient as a formula in the program's names, "
                 "and the formula of every local derivative."),
            flag("jacobian", "--jacobian", help="For tensors: the Jacobian of every edge, number "
                 "by number."),
            Option("element", ("--element",), "For tensors: one element of the Jacobian, such as "
                   "1,0: the index of the result's element, then that of the tensor's.", None,
                   _index, metavar="I,J"),
        ),
    ),
    shared("text", "json", "latex", "markdown", engine=True, prints=True),
)  # fmt: skip


def command(common: Shared, asked: Arguments) -> int:
    """Runs the program and follows the chain rule; its exit code."""

    def body(env: Environment) -> int:
        request = env.request(wrt=tuple(asked.wrt), holds_graph=True, placeholders=True)
        from ..questions import paths

        streams = common.format == "text"
        formula = asked.symbolic or common.format in ("latex", "markdown")
        wanted = paths.Options(
            tuple(asked.of), tuple(asked.wrt), asked.grad_output, asked.top, asked.edges, formula,
            asked.jacobian, asked.element, asked.chosen,
        )  # fmt: skip
        ran = paths.recorded(request, env.printer() if streams else None, wanted)
        ran = env.explained(ran, tries=False)
        ran, report = paths.paths_report(ran, wanted)
        keep(report)
        if streams:
            from ..render import paths as page

            report = env.after_output(report)
            env.answer([page.text(report, env.look, streamed=True)])
        elif common.format == "json":
            from ..render.json import paths as document

            env.answer(document.paths(report))
        else:
            from ..render.paths.page import page as notes

            env.answer([notes(report, common.format)])
        status = env.finish(ran)
        if status == ExitStatus.OK and report.equal is False:
            return ExitStatus.CHECK_FAILED
        return status

    return guarded(common, body)
