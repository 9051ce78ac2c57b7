"""commands: `gradcli examples`: the programs that come with gradcli."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..options import ANSWER, OUTPUT, Command, Option, choice, under
from ..render.escape import Terminal, block
from .environment import Environment, guarded
from .pages import as_shared

if TYPE_CHECKING:
    from .example_programs import Example


class Arguments(NamedTuple):
    """The options of examples."""

    name: str | None
    format: str
    out: str | None
    quiet: int
    color: str
    wide: bool
    no_pager: bool


COMMAND = Command(
    "examples",
    """List the programs that come with gradcli, or print one.

    \b
    gradcli examples
    gradcli examples two_paths
    gradcli trace --example two_paths
    """,
    Arguments,
    (
        Option("name", (), "Print this example.", metavar="[NAME]", kind="example"),
        *under(OUTPUT, choice("format", "--format", "-f", of=("text", "json"), default="text",
                              help="Text for people, JSON for programs.")),
        *ANSWER,
    ),
)  # fmt: skip


def command(asked: Arguments) -> int:
    """Lists them, or prints one; its exit code."""

    def body(env: Environment) -> int:
        from .example_programs import example, examples

        chosen = examples() if asked.name is None else [example(asked.name)]
        if asked.format == "json":
            from ..render.json import document

            rows = [{**one._asdict(), "program": _text(one.path)} for one in chosen]
            env.answer(document({"schema": "gradcli.examples/1", "examples": rows}))
        elif asked.name is not None:
            env.answer([block(_text(chosen[0].path))])
        else:
            wide = max(len(one.name) for one in chosen)
            env.answer(_rows(chosen, wide, env))
        env.save()
        return 0

    common = as_shared(
        asked.out, asked.format, asked.quiet, asked.color, asked.wide, asked.no_pager
    )
    return guarded(common, body)


def _rows(chosen: Sequence[Example], wide: int, env: Environment) -> Iterator[Terminal]:
    group = ""
    for one in chosen:
        if one.group != group:
            group = one.group
            yield block(f"{group}\n")
        line = f"  {one.name:{wide}}  {one.about}"
        yield block(f"{env.look.fit(line, env.look.width).rstrip()}\n")
    yield Terminal("\ngradcli trace --example NAME runs one\n")


def _text(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()
