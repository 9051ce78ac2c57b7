"""options: what every command takes, declared once. No command is imported here."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import typer

_UNITS = {
    "": 1, "b": 1, "k": 10**3, "kb": 10**3, "kib": 2**10, "m": 10**6, "mb": 10**6, "mib": 2**20,
    "g": 10**9, "gb": 10**9, "gib": 2**30, "t": 10**12, "tb": 10**12, "tib": 2**40,
}  # fmt: skip
_SECONDS = {"": 1.0, "s": 1.0, "ms": 0.001, "m": 60.0, "min": 60.0, "h": 3600.0}
_AMOUNT = re.compile(r"\s*([0-9][0-9_,]*\.?[0-9]*(?:e[0-9]+)?)\s*([a-z]*)\s*", re.IGNORECASE)
LIMITS = "Limits"


class Shared(NamedTuple):
    """The options that every command shares, as they were given."""

    file: str | None
    sets: list[str]
    no_grad: list[str]
    device: str
    dtype: str | None
    format: str
    out: str | None
    quiet: int
    color: str
    timeout: float
    max_steps: int
    max_nodes: int
    max_memory: int
    max_output: int
    max_source: int
    max_depth: int


def size(text: str | int) -> int:
    """4GiB, 500MB, 100_000, 1e6: a whole number of bytes or of things."""
    if isinstance(text, int):
        return text
    match = _AMOUNT.fullmatch(text)
    unit = _UNITS.get(match[2].lower()) if match else None
    if match is None or unit is None:
        raise typer.BadParameter(f"{text!r} is not an amount: 4GiB, 500MB, 1e6 are")
    number = int(float(match[1].replace("_", "").replace(",", "")) * unit)
    if number < 1:
        raise typer.BadParameter("the least is 1; no limit can be switched off")
    return number


def seconds(text: str | float) -> float:
    """60, 90s, 500ms, 2m."""
    if isinstance(text, (int, float)):
        return float(text)
    match = _AMOUNT.fullmatch(text)
    unit = _SECONDS.get(match[2].lower()) if match else None
    if match is None or unit is None:
        raise typer.BadParameter(f"{text!r} is not a time: 60, 90s, 500ms, 2m are")
    number = float(match[1].replace("_", "").replace(",", "")) * unit
    if not 0 < number <= 10**7:
        raise typer.BadParameter("a time limit lies between 0 and 10000000 seconds")
    return number


def words(given: list[str] | None) -> list[str]:
    """Names given with commas between them, or one by one."""
    return [name.strip() for text in given or () for name in text.split(",") if name.strip()]


def one_of(*choices: str) -> Callable[[str], str]:
    """A parser that takes one of these words."""

    def parse(text: str) -> str:
        if text not in choices:
            raise typer.BadParameter(f"{text!r} is not one of {', '.join(choices)}")
        return text

    return parse


def _limit(name: str, default: str, what: str, parser: Callable[[Any], Any]) -> tuple[Any, Any]:
    option = typer.Option(
        f"--{name}", envvar="GRADCLI_" + name.replace("-", "_").upper(), parser=parser,
        metavar="TIME" if parser is seconds else "N", help=what, show_default=default,
        show_envvar=True, rich_help_panel=LIMITS,
    )  # fmt: skip
    return Annotated[Any, option], default


SHARED: dict[str, tuple[Any, Any]] = {
    "file": (
        Annotated[str | None, typer.Argument(
            metavar="[FILE]", show_default=False,
            help="The program; - is standard input. May be left out where the folder holds one "
            ".expr file or something is piped in.")],
        None,
    ),
    "sets": (
        Annotated[list[str], typer.Option(
            "--set", "-s", metavar="NAME=VALUE", show_default=False,
            help="Give an input a value: w=2.0, x=[1.0,2.0] (floats become leaves that require "
            "grad), n=3, x=@data.npy, x=@data.npz:KEY.")],
        [],
    ),
    "no_grad": (
        Annotated[list[str], typer.Option(
            "--no-grad", metavar="NAMES", show_default=False,
            help="Inputs that need no gradient.")],
        [],
    ),
    "device": (
        Annotated[str, typer.Option(
            "--device", metavar="cpu|cuda|cuda:N", help="Where tensors live.")],
        "cpu",
    ),
    "dtype": (
        Annotated[str | None, typer.Option(
            "--dtype", metavar="TYPE", show_default=False,
            parser=one_of("float16", "float32", "float64", "bfloat16", "half", "float", "double"),
            help="What floats become: float64 instead of float32, say.")],
        None,
    ),
    "format": (
        Annotated[str, typer.Option(
            "--format", "-f", metavar="text|json", parser=one_of("text", "json"),
            help="Text for people, JSON for programs.")],
        "text",
    ),
    "out": (
        Annotated[str | None, typer.Option(
            "--out", "-o", metavar="OUT", show_default=False,
            help="Write the answer into this file.")],
        None,
    ),
    "quiet": (
        Annotated[int, typer.Option(
            "--quiet", "-q", count=True, show_default=False,
            help="No notes, no warnings; -qq: no answer either, only the exit code.")],
        0,
    ),
    "color": (
        Annotated[str, typer.Option(
            "--color", metavar="auto|always|never", parser=one_of("auto", "always", "never"),
            help="Colours; auto asks the terminal, FORCE_COLOR, NO_COLOR.")],
        "auto",
    ),
    "timeout": _limit("timeout", "60s", "Time for the program.", seconds),
    "max_steps": _limit("max-steps", "100_000_000", "Steps of the interpreter.", size),
    "max_nodes": _limit("max-nodes", "10_000_000", "Backward nodes.", size),
    "max_memory": _limit("max-memory", "4GiB", "Memory for values.", size),
    "max_output": _limit("max-output", "16MiB", "What the program may print.", size),
    "max_source": _limit("max-source", "8MiB", "Size of the file.", size),
    "max_depth": _limit("max-depth", "1000", "Calls within calls.", size),
}  # fmt: skip


def shared(command: Callable[..., None]) -> Callable[..., None]:
    """A command `f(shared, own options...)` with the shared options in front of its own."""

    def with_shared(**given: Any) -> None:
        taken = Shared(*(given.pop(name) for name in SHARED))
        command(taken, **given)

    own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]
    kind = inspect.Parameter.KEYWORD_ONLY
    first, *others = [
        inspect.Parameter(name, kind, default=default, annotation=annotation)
        for name, (annotation, default) in SHARED.items()
    ]
    parameters = [first, *(parameter.replace(kind=kind) for parameter in own), *others]
    with_shared.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    with_shared.__name__, with_shared.__doc__ = command.__name__, command.__doc__
    with_shared.__annotations__ = {p.name: p.annotation for p in parameters}
    return with_shared
