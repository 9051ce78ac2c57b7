"""commands: `gradcli man`: manual pages, made of the same declarations as help."""

from __future__ import annotations

import os
from collections.abc import Iterator
from inspect import cleandoc
from typing import NamedTuple

from ..opening import UsageError
from ..options import Command, Option
from ..output import put_in_place
from ..render.escape import block
from . import EXIT_CODES, NAMES, module_of
from .environment import Environment, guarded
from .pages import as_shared


class Arguments(NamedTuple):
    """The options of man."""

    name: str | None
    folder: str | None


COMMAND = Command(
    "man",
    """Print a manual page, or write all of them into a folder.

    \b
    gradcli man trace | man -l -
    gradcli man --folder build/man1             gradcli.1, gradcli-trace.1, ...
    """,
    Arguments,
    (
        Option("name", (), "The page of this command; by default that of gradcli.",
               metavar="[COMMAND]", among=NAMES),
        Option("folder", ("--folder",), "Write every page into this folder, which is made where it "
               "is missing.", metavar="DIR"),
    ),
)  # fmt: skip


def command(asked: Arguments) -> int:
    """Prints one page or writes all; its exit code."""

    def body(env: Environment) -> int:
        if asked.folder is not None:
            os.makedirs(asked.folder, exist_ok=True)
            for name, text in pages().items():
                put_in_place(os.path.join(asked.folder, name), [block(text)])
        elif asked.name is None:
            env.answer([block(_of_all())])
        elif asked.name in NAMES:
            env.answer([block(_of_command(module_of(asked.name).COMMAND))])
        else:
            raise UsageError(f"there is no command {asked.name}", "gradcli --help lists them")
        return 0

    return guarded(as_shared(None), body)


def pages() -> dict[str, str]:
    """Every page, by the name of its file."""
    found = {f"gradcli-{name}.1": _of_command(module_of(name).COMMAND) for name in NAMES}
    return {"gradcli.1": _of_all(), **found}


def _of_command(command: Command) -> str:
    title, prose, examples = _parts(command)
    name = f"gradcli-{command.name}"
    arguments = [option for option in command.every if not option.flags]
    called = " ".join(_escaped(option.metavar or option.field.upper()) for option in arguments)
    lines = [
        *_head(name, title),
        ".SH SYNOPSIS",
        f".B gradcli {command.name}",
        f"[\\fIOPTIONS\\fR] {called}".rstrip(),
        ".SH DESCRIPTION",
        *(line for paragraph in (title + ".", *prose) for line in (".PP", _line(paragraph))),
        *_options(command),
    ]
    if examples:
        lines += [".SH EXAMPLES", ".nf", *map(_line, examples), ".fi"]
    others = [".BR gradcli (1)"]
    return "\n".join([*lines, *_exits(), ".SH SEE ALSO", *others]) + "\n"


def _of_all() -> str:
    lines = [
        *_head("gradcli", "Show how a program's gradients come about"),
        ".SH SYNOPSIS",
        ".B gradcli",
        "\\fICOMMAND\\fR [\\fIOPTIONS\\fR] [\\fIFILE\\fR]",
        ".SH DESCRIPTION",
        "Programs are PyTorch code in .expr files; PyTorch itself is not needed.",
        ".SH COMMANDS",
    ]
    for name in NAMES:
        title, _, _ = _parts(module_of(name).COMMAND)
        lines += [".TP", f".BR gradcli\\-{name} (1)", _line(title + ".")]
    return "\n".join([*lines, *_exits()]) + "\n"


def _head(name: str, title: str) -> list[str]:
    from .. import __version__

    heading = f'.TH {name.upper()} 1 "" "gradcli {__version__}" "gradcli"'
    return [heading, ".SH NAME", f"{_escaped(name)} \\- {_escaped(title[0].lower() + title[1:])}"]


def _parts(command: Command) -> tuple[str, list[str], list[str]]:
    """What the help text of a command has: its first sentence, its paragraphs, its examples."""
    first, *rest = cleandoc(command.help).split("\n\n")
    examples = [part.removeprefix("\b\n").splitlines() for part in rest if part.startswith("\b")]
    prose = [" ".join(part.split()) for part in rest if not part.startswith("\b")]
    return first.strip().rstrip("."), prose, [line for lines in examples for line in lines]


def _options(command: Command) -> Iterator[str]:
    """Arguments and options under the headings that help has."""
    groups: dict[str, list[Option]] = {}
    for option in command.every:
        groups.setdefault(option.panel or ("Options" if option.flags else "Arguments"), [])
        groups[option.panel or ("Options" if option.flags else "Arguments")].append(option)
    yield ".SH OPTIONS"
    for name, options in groups.items():
        yield f".SS {_escaped(name)}"
        for option in options:
            yield ".TP"
            yield _heading(option)
            yield _line(option.help)
            if option.show_default and option.default not in (None, ""):
                yield _line(f"The default is {option.default}.")
            if option.variable is not None:
                yield _line(f"The environment variable {option.variable} sets it too.")


def _heading(option: Option) -> str:
    value = "" if option.parse is None else f" \\fI{_escaped(option.metavar or 'TEXT')}\\fR"
    if not option.flags:
        return value.strip()
    return ", ".join(f"\\fB{_escaped(flag)}\\fR" for flag in option.flags) + value


def _exits() -> Iterator[str]:
    yield ".SH EXIT STATUS"
    for code, meaning in EXIT_CODES.items():
        yield from (".TP", f".B {code}", _line(meaning))


def _line(text: str) -> str:
    """A line of text: one that begins with a dot or a quote would be a request."""
    text = _escaped(" ".join(text.split()) if not text.startswith(" ") else text)
    return f"\\&{text}" if text[:1] in (".", "'") else text


def _escaped(text: str) -> str:
    return text.replace("\\", "\\e").replace("-", "\\-")
