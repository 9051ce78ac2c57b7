"""cli: the door. Commands, their options, exit codes; words only, the work is done elsewhere."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from .options import Shared, shared, words

EPILOG = """\
\b
Exit codes: 0 all is well, 2 wrong usage, 3 the program has an error, 4 a limit was reached,
5 a device or an extra is missing, 70 a bug in gradcli, 130 interrupted.
"""


class Commands(TyperGroup):
    """The commands; a file in the place of one gets a hint."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        word = args[0] if args else ""
        if word.endswith(".expr") and word not in self.commands:
            ctx.fail(f"{word} is a file; say what to do with it: gradcli trace {word}")
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name="gradcli",
    cls=Commands,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 96},
    epilog=EPILOG,
)


def _version(wanted: bool) -> None:
    if wanted:
        from . import __version__

        print(f"gradcli {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def gradcli(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_version, is_eager=True, help="The version.")
    ] = False,
) -> None:
    """Shows how a program's gradients come about: graphs, leaves, gradients, and why.

    Programs are PyTorch code in .expr files; PyTorch itself is not needed.

    \b
    gradcli trace chain.expr                    the graph, with values and gradients
    gradcli grad chain.expr --wrt a             dL/da
    echo 'y = x**2' | gradcli grad --set x=3.0  the derivative of x**2 at 3
    """
    if ctx.invoked_subcommand is None:
        print(ctx.get_help())


Of = Annotated[
    list[str],
    typer.Option(
        "--of", metavar="NAME", show_default=False,
        help="The result; left out, the last tensor that requires grad and that nothing else uses.",
    ),
]  # fmt: skip
Wrt = Annotated[
    list[str],
    typer.Option(
        "--wrt", metavar="NAMES", show_default=False,
        help="With respect to these, leaf or not. A name that the program sets to a number "
        "becomes a leaf with that value.",
    ),
]  # fmt: skip
RetainGraph = Annotated[
    bool,
    typer.Option(
        "--retain-graph", help="The program's backward calls keep their buffers, as with "
        "retain_graph=True.",
    ),
]  # fmt: skip
CreateGraph = Annotated[
    bool,
    typer.Option("--create-graph", help="Gradients get a graph of their own: second derivatives."),
]
RetainGrad = Annotated[
    list[str],
    typer.Option(
        "--retain-grad", metavar="NAMES|all", show_default=False,
        help="retain_grad() for these intermediate tensors.",
    ),
]  # fmt: skip
Hook = Annotated[
    list[str],
    typer.Option(
        "--hook", metavar="NAME=EXPR", show_default=False,
        help="A hook on a tensor: print, norm, or a function of the gradient such as "
        "'b=lambda g: g * 2'.",
    ),
]  # fmt: skip
All = Annotated[
    bool, typer.Option("--all", help="Gradients of intermediate values too, without retain_grad.")
]
Saved = Annotated[
    bool,
    typer.Option(
        "--saved", help="What is saved for backward: value, version, bytes, alive or freed."
    ),
]
Depth = Annotated[
    int | None,
    typer.Option("--depth", metavar="N", min=0, show_default=False, help="Draw N levels of nodes."),
]
Expand = Annotated[bool, typer.Option("--expand", help="Draw everything; fold nothing.")]
GradOutput = Annotated[
    str | None,
    typer.Option(
        "--grad-output", metavar="VALUE", show_default=False,
        help="The gradient to start from, for a result that is not a single number.",
    ),
]  # fmt: skip


@app.command()
@shared
def run(common: Shared) -> None:
    """Run a program: what it prints, and nothing else.

    \b
    gradcli run training.expr
    gradcli run formula.expr --set w=2.0 --set x=[1.0,2.0,3.0]
    """
    from .commands import run

    _leave(run(common))


@app.command()
@shared
def trace(
    common: Shared,
    of: Of = [],  # noqa: B006 - typer reads the default and copies it
    wrt: Wrt = [],  # noqa: B006
    retain_graph: RetainGraph = False,
    create_graph: CreateGraph = False,
    retain_grad: RetainGrad = [],  # noqa: B006
    hook: Hook = [],  # noqa: B006
    all_: All = False,
    saved: Saved = False,
    depth: Depth = None,
    expand: Expand = False,
) -> None:
    """Draw the graphs of a program, and list its tensors.

    \b
    gradcli trace chain.expr
    gradcli trace net.expr --of loss --depth 5
    gradcli trace chain.expr --format json | jq '.tensors[] | {name, grad}'
    gradcli trace chain.expr --hook 'b=lambda g: g * 2' --saved
    """
    from .commands import Asked, trace

    asked = Asked(words(of), words(wrt), retain_graph, create_graph, words(retain_grad), hook,
                  all_, saved, depth, expand, None)  # fmt: skip
    _leave(trace(common, asked))


@app.command()
@shared
def grad(
    common: Shared,
    wrt: Wrt = [],  # noqa: B006
    of: Of = [],  # noqa: B006
    grad_output: GradOutput = None,
    retain_graph: RetainGraph = False,
    create_graph: CreateGraph = False,
    retain_grad: RetainGrad = [],  # noqa: B006
    hook: Hook = [],  # noqa: B006
    all_: All = False,
) -> None:
    """Print gradients of anything that has a name.

    \b
    gradcli grad chain.expr --wrt w1,a
    gradcli grad chain.expr --of d --wrt b
    gradcli grad formula.expr --set x=3.0
    gradcli grad curve.expr --wrt x --grad-output [1.0,0.0]
    """
    from .commands import Asked, grad

    asked = Asked(words(of), words(wrt), retain_graph, create_graph, words(retain_grad), hook,
                  all_, False, None, False, grad_output)  # fmt: skip
    _leave(grad(common, asked))


def _leave(status: int) -> None:
    if status:
        raise typer.Exit(status)


def main() -> None:
    """The command `gradcli`: whatever happens, no traceback reaches a user."""
    try:
        status = app(prog_name="gradcli", standalone_mode=False)
    except BrokenPipeError:
        status = 0
    except (KeyboardInterrupt, typer.Abort):
        status = 130
    except OSError as error:
        from .ending import unwritable

        status = unwritable(error)
    except Exception as error:
        status = _misused(error)
    sys.exit(status if isinstance(status, int) else 0)


def process() -> None:
    """The command as a process of its own."""
    from . import ending

    ending.begin()
    status: Any = 0
    try:
        main()
    except SystemExit as end:
        status = end.code
    ending.leave(status if isinstance(status, int) else 0)


def _misused(error: Exception) -> int:
    """An option or command that does not exist, or a value that it does not take."""
    words = getattr(error, "format_message", None)
    if words is None:
        from .defects import told

        sys.stderr.write(told(error))
        return 70
    from .render.escape import block

    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "gradcli"
    sys.stderr.write(f"do: {path} --help\n{block('UsageError: ' + words())}\n")
    return 2
