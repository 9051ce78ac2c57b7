"""commands: `gradcli schema`: what `--format json` prints, as JSON Schema."""

from __future__ import annotations

import os
from typing import NamedTuple

from ..opening import UsageError
from ..options import OUTPUT, Command, Option
from ..render.escape import Terminal, block
from .environment import Environment, guarded
from .pages import as_shared

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "schemas")


class Arguments(NamedTuple):
    """The options of schema."""

    name: str | None
    out: str | None


COMMAND = Command(
    "schema",
    """Print the JSON Schema of a document that gradcli writes, or list them.

    \b
    gradcli schema
    gradcli schema trace
    gradcli schema gradcli.check/1
    """,
    Arguments,
    (
        Option("name", (), "A command, or the schema that a document names: trace, "
               "gradcli.trace/1.", metavar="[NAME]", kind="schema"),
        Option("out", ("--out", "-o"), "Write the schema into this file.", metavar="OUT",
               panel=OUTPUT),
    ),
)  # fmt: skip


def command(asked: Arguments) -> int:
    """Prints one, or the names of all; its exit code."""

    def body(env: Environment) -> int:
        names = known()
        if asked.name is None:
            env.answer(block(f"{name}\n") for name in names)
        else:
            found = names.get(asked.name) or names.get(f"gradcli.{asked.name}/1")
            if found is None:
                raise UsageError(f"there is no schema {asked.name}", "gradcli schema lists them")
            with open(os.path.join(FOLDER, found), encoding="utf-8") as file:
                env.answer([Terminal(file.read())])
        env.save()
        return 0

    return guarded(as_shared(asked.out), body)


def known() -> dict[str, str]:
    """The file of each schema, by the name that documents give it."""
    files = sorted(name for name in os.listdir(FOLDER) if name.endswith(".json"))
    return {_name(file): file for file in files}


def _name(file: str) -> str:
    """gradcli.trace-1.json is the schema of gradcli.trace/1."""
    name, _, number = file.removesuffix(".json").rpartition("-")
    return f"{name}/{number}"
