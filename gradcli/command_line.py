"""command_line: reads correct command lines without typer.

Typer takes as long to load as Python to start. It gets whatever is unclear: help, a misspelt
option, an invalid value.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from .commands import NAMES, module_of
from .named import NamedTuple
from .options import Command, Misuse, Option


class Unclear(Exception):
    """Typer shall say what is wrong, or help."""


class Call(NamedTuple):
    """A command and what its function is called with."""

    name: str
    given: tuple[Any, ...]

    def run(self) -> int:
        """Its exit code."""
        status: int = module_of(self.name).command(*self.given)
        return status


def read(line: list[str]) -> Call | None:
    """The call that the words of a command line mean; None where typer must look at them."""
    if not line or line[0] not in NAMES or "_GRADCLI_COMPLETE" in os.environ:
        return None
    command: Command = module_of(line[0]).COMMAND
    try:
        line, arguments = parted(with_settings(line))
        given = _values(command, _pairs(command, with_values(line)[1:]))
        return Call(line[0], command.filled({**given, "arguments": arguments}))
    except (Unclear, Misuse):
        return None


def with_settings(line: list[str]) -> list[str]:
    """A line of check behind the settings of the folder: of two values the last one counts."""
    if line[:1] != ["check"] or "--help" in line or "-h" in line:
        return line
    from .commands.settings import words_of

    return [line[0], *words_of(module_of(line[0]).COMMAND.every, line), *line[1:]]


def with_values(line: list[str]) -> list[str]:
    """A line in which every option that may stand alone has a value: the word behind it where that
    is one, else what it stands for."""
    if not line or line[0] not in NAMES:
        return line
    options = module_of(line[0]).COMMAND.every
    alone = {flag: option for option in options if option.alone for flag in option.flags}
    words: list[str] = []
    at = 0
    while at < len(line):
        word = line[at]
        option = alone.get(word)
        at += 1
        if option is not None and at < len(line) and option.takes(line[at]):
            word, at = f"{word}={line[at]}", at + 1
        elif option is not None:
            word = f"{word}={option.alone}"
        words.append(word)
    return words


def parted(line: list[str]) -> tuple[list[str], tuple[str, ...]]:
    """The words for gradcli, and those for the program: what stands behind --."""
    if "--" not in line or line[0] not in NAMES or not module_of(line[0]).COMMAND.hands_on:
        return line, ()
    at = line.index("--")
    return line[:at], tuple(line[at + 1 :])


def _pairs(command: Command, line: list[str]) -> Iterator[tuple[Option, str]]:
    """Each option with its text, in the order of the line; arguments as they come."""
    by_flag = {text: option for option in command.every for text in option.flags}
    arguments = [option for option in command.every if not option.flags]
    words = iter(line)
    for word in words:
        if word == "--":
            raise Unclear
        if word == "-" or not word.startswith("-"):
            if not arguments:
                raise Unclear
            yield (arguments[0] if arguments[0].many else arguments.pop(0)), word
            continue
        name, equals, text = word.partition("=")
        option = by_flag.get(name)
        if option is None or (equals and not name.startswith("--")):
            raise Unclear
        if option.parse is None:
            if equals:
                raise Unclear
        elif not equals:
            following = next(words, None)
            if following is None:
                raise Unclear
            text = following
        yield option, text


def _values(command: Command, pairs: Iterator[tuple[Option, str]]) -> dict[str, Any]:
    """The value of every field: from the line, from the environment, or the default."""
    given: dict[str, list[str]] = {}
    for option, text in pairs:
        given.setdefault(option.field, []).append(text)
    return {option.field: _value(option, given.get(option.field)) for option in command.every}


def _value(option: Option, texts: list[str] | None) -> Any:
    if option.parse is None:
        return len(texts or ()) if option.counted else texts is not None
    if texts is None and option.variable is not None and os.environ.get(option.variable):
        texts = [os.environ[option.variable]]
    if option.many:
        if option.required and not texts:
            raise Unclear
        return option.gather([option.parse(text) for text in texts or option.default])
    if texts is not None:
        return option.parse(texts[-1])
    if option.required:
        raise Unclear
    return option.parse(option.default) if isinstance(option.default, str) else option.default
