"""cli: help, completion, misspelt options: what typer is there for. Words only."""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Callable, Mapping
from shutil import get_terminal_size
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from .command_line import parted, with_settings, with_values
from .commands import EXIT_CODES, NAMES, module_of
from .diagnostics import bounded
from .options import LIMITED, OUTPUT, PROGRAM, Command, Misuse, Option

EPILOG = "gradcli help COMMAND describes a command and its options.\n\nExit codes: {}.".format(
    ", ".join(f"{code} {meaning}" for code, meaning in EXIT_CODES.items())
)
SETTINGS: dict[str, Any] = {
    "context_settings": {"help_option_names": ["-h", "--help"], "max_content_width": 96},
    "rich_markup_mode": None,
}


NARROW, LEAST_HELP = 52, 24  # columns: typer goes no lower; of what an option means, beside it
OTHERS = "Options"  # the heading of what has none
# What every command shares stands below what is its own.
LAST = {PROGRAM: 1, OUTPUT: 2, LIMITED: 3}


def _page(command: Any, ctx: Any) -> str:
    """The help of a command, on a narrow terminal as well."""
    formatter = ctx.make_formatter()
    columns = get_terminal_size().columns
    if columns < NARROW:
        formatter.width = max(columns - 2, LEAST_HELP)
    command.format_help(ctx, formatter)
    return str(formatter.getvalue()).rstrip("\n")


def _defined(formatter: Any, rows: list[tuple[str, str]]) -> None:
    """Options and what they mean; the meaning below where there is no room beside them."""
    beside = formatter.width - max(len(option) for option, _ in rows) - 4
    if beside >= LEAST_HELP or formatter.width + 2 >= NARROW:
        formatter.write_dl(rows)
        return
    for option, meaning in rows:
        formatter.write(f"{'':>{formatter.current_indent}}{option}\n")
        with formatter.indentation():
            formatter.write_text(meaning)


class Commands(TyperGroup):
    """The commands, each made on demand; a file in the place of one gets a hint."""

    def get_help(self, ctx: Any) -> str:
        return _page(self, ctx)

    def list_commands(self, ctx: Any) -> list[str]:
        return list(NAMES)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in NAMES:
            return None
        return typer_command(module_of(cmd_name).COMMAND)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        word = args[0] if args else ""
        if word.endswith(".expr") and word not in NAMES:
            ctx.fail(f"{word} is a file; say what to do with it: gradcli trace {word}")
        known: Any = dict.fromkeys(NAMES)  # "did you mean" looks here
        self.commands = known
        return super().resolve_command(ctx, args)


class Spelled(TyperCommand):
    """A command whose options may stand without their values; help lists them by headings."""

    def get_help(self, ctx: Any) -> str:
        return _page(self, ctx)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if ctx.resilient_parsing and args and self._awaits_value(args[-1]):
            # The value is what a shell asks for; without it typer would forget the arguments.
            args = args[:-1]
        return super().parse_args(ctx, with_values([self.name or "", *args])[1:])

    def _awaits_value(self, word: str) -> bool:
        return any(
            word in parameter.opts and not (parameter.is_flag or parameter.count)
            for parameter in self.params
            if isinstance(parameter, TyperOption)
        )

    def format_options(self, ctx: Any, formatter: Any) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            row = parameter.get_help_record(ctx)
            if row is not None:
                plain = "Arguments" if parameter.param_type_name == "argument" else OTHERS
                name = getattr(parameter, "rich_help_panel", None) or plain
                groups.setdefault(OUTPUT if parameter.name == "help" else name, []).append(row)
        for name in sorted(groups, key=lambda name: LAST.get(name, 0)):
            with formatter.section(name):
                _defined(formatter, groups[name])


app = typer.Typer(
    name="gradcli", cls=Commands, pretty_exceptions_enable=False, epilog=EPILOG, **SETTINGS
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
        bool,
        typer.Option(
            "--version", "-V", callback=_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Shows how a program's gradients come about: graphs, leaves, gradients, and why.

    Programs are PyTorch code in .expr files; PyTorch itself is not needed.

    \b
    gradcli trace chain.expr                    the graph, values, gradients
    gradcli grad chain.expr --wrt a             dL/da
    echo 'y = x**2' | gradcli grad --set x=3.0  the derivative of x**2 at 3
    """
    if ctx.invoked_subcommand is None:
        print(ctx.get_help())


def typer_command(command: Command) -> Any:
    """The declaration as typer has it."""

    def call(**given: Any) -> None:
        values = {option.field: _gathered(option, given[option.field]) for option in command.every}
        values["arguments"] = parted(sys.argv[1:])[1]
        status = module_of(command.name).command(*command.filled(values))
        if status:
            raise typer.Exit(status)

    kind = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter(option.field, kind, default=default, annotation=annotation)
        for option in command.every
        for annotation, default in [_parameter(option)]
    ]
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {p.name: p.annotation for p in parameters}
    single = typer.Typer(add_completion=False, pretty_exceptions_enable=False, **SETTINGS)
    single.command(command.name, cls=Spelled, help=inspect.cleandoc(command.help))(call)
    made: Any = typer.main.get_command(single)
    made.name = command.name
    return made


def _gathered(option: Option, value: Any) -> Any:
    return option.gather(list(value or ())) if option.many else value


def _parameter(option: Option) -> tuple[Any, Any]:
    """The annotation and the default of typer's parameter."""
    told: dict[str, Any] = {"help": option.help, "show_default": option.show_default}
    if option.metavar is not None:
        told["metavar"] = option.metavar
    if option.variable is not None:
        told.update(envvar=option.variable, show_envvar=True)
    if option.panel is not None:
        told["rich_help_panel"] = option.panel
    if option.kind or option.among:
        told["autocompletion"] = _completer(option)
    kind: Any = bool
    if option.parse is None:
        if option.counted:
            kind, told["count"] = int, True
    else:
        kind = list[str] if option.many else Any
        told["parser"] = _parser(option.parse)
    if not option.flags:
        info = typer.Argument(**told)
    else:
        info = typer.Option(*option.flags, **told)
    default: Any = list(option.default or ()) if option.many else option.default
    return Annotated[kind, info], ... if option.required else default


def _completer(option: Option) -> Callable[[typer.Context, str], list[str]]:
    def complete(ctx: typer.Context, incomplete: str) -> list[str]:
        from .commands.completion import values

        return values(option, ctx.params, incomplete)

    complete.__annotations__ = {"ctx": typer.Context, "incomplete": str}
    return complete


def _parser(parse: Callable[[str], Any]) -> Callable[[Any], Any]:
    """Misuse in typer's words; a default that is a value already stays it."""

    def parser(text: Any) -> Any:
        if not isinstance(text, str):
            return text
        try:
            return parse(text)
        except Misuse as error:
            raise typer.BadParameter(str(error)) from None

    return parser


def called() -> Any:
    """What typer makes of the command line; its exit code."""
    line = sys.argv[1:]
    if line[:1] == ["help"]:
        line = [*(name for name in line[1:2] if name != "help"), "--help"]
    if os.environ.get("_GRADCLI_COMPLETE") == "complete_bash":
        os.environ.update(_without_equals(os.environ))
    try:
        return app(parted(with_settings(line))[0], prog_name="gradcli", standalone_mode=False)
    except typer.Abort:
        return 130
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):
            return 0  # typer says 1 of a reader that is gone
        raise


def _without_equals(shell: Mapping[str, str]) -> dict[str, str]:
    """What bash asks to complete: it makes three words of --wrt=w1, and typer expects two."""
    words, left_out = re.subn(r"(?<=\s)=\s+(?=\S)", "", shell.get("COMP_WORDS", ""))
    return {"COMP_WORDS": words, "COMP_CWORD": str(int(shell.get("COMP_CWORD", "0")) - left_out)}


def misused(error: Exception) -> int | None:
    """An option or command that does not exist, or a value that it does not take."""
    words = getattr(error, "format_message", None)
    if words is None:
        return None
    from .render.escape import block

    context = getattr(error, "ctx", None)
    path = " ".join(("gradcli", *sys.argv[1:2])) if context is None else context.command_path
    message = _unknown_option(error) or words()
    sys.stderr.write(f"{block('UsageError: ' + bounded(message))}\nhelp: {path} --help\n")
    return 2


def _unknown_option(error: Any) -> str | None:
    """typer names up to three options, however far they are: only a near one is suggested."""
    options = getattr(error, "possibilities", None)
    if not options:
        return None
    from difflib import get_close_matches

    near = get_close_matches(error.option_name, options, 1, cutoff=0.75)
    return f"{error.message}; did you mean {near[0]}?" if near else str(error.message)
