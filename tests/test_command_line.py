"""Tests of the fast way in: what it reads, typer reads the same; what it leaves, typer words."""

from __future__ import annotations

import random
import re
import sys
from typing import Any

import pytest

from gradcli import cli
from gradcli.command_line import read
from gradcli.commands import NAMES, module_of
from gradcli.options import Command, Misuse, Option, seconds, size

WORDS = ("a", "a,b", "x=2.0", "3", "text", "json", "cpu", "64KiB", "2s", "-", "always", "-1", "")
CHOICES = re.compile(r"[\w.]+")  # what help and metavar list: text|json, nan, inf


def through_typer(line: list[str], monkeypatch: pytest.MonkeyPatch) -> tuple[str, Any] | None:
    """The call that typer makes of a line; None where it refuses."""
    calls: list[tuple[str, Any]] = []
    for name in NAMES:

        def record(*given: Any, name: str = name) -> int:
            calls.append((name, given))
            return 0

        monkeypatch.setattr(module_of(name), "command", record)
    try:
        cli.app(line, prog_name="gradcli", standalone_mode=False)
    except Exception:
        return None
    return calls[0] if calls else None


def options() -> list[tuple[str, Option]]:
    return [(name, o) for name in NAMES for o in module_of(name).COMMAND.every if o.flags]


@pytest.mark.parametrize("name", NAMES)
def test_declarations_agree(name: str) -> None:
    """The fields of the tuple are the options, in their order; flags are unique."""
    command: Command = module_of(name).COMMAND
    assert command.name == name
    assert tuple(o.field for o in command.options) == command.asked._fields  # type: ignore[attr-defined]
    flags = [text for o in command.every for text in o.flags]
    assert len(set(flags)) == len(flags)
    for option in command.every:
        assert option.help.endswith("."), option.field


def line_of(seed: int) -> list[str]:
    """A command with up to four words and flags."""
    drawn = random.Random(seed)
    name = drawn.choice(NAMES)
    flags = [text for o in module_of(name).COMMAND.every for text in o.flags]
    line = [name]
    for _ in range(drawn.randrange(5)):
        word, flag = drawn.choice(WORDS), drawn.choice(flags)
        line += drawn.choice([[word], [flag], [flag, word], [f"{flag}={word}"]])
    return line


def test_typer_reads_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most lines are wrong, and left to typer."""
    lines = [(line, fast) for line in map(line_of, range(600)) if (fast := read(line)) is not None]
    assert len(lines) > 100
    for line, fast in lines:
        assert through_typer(line, monkeypatch) == (fast.name, fast.given), line


@pytest.mark.parametrize("name,option", options(), ids=lambda value: getattr(value, "field", value))
def test_every_option_is_read(name: str, option: Option, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each option alone, with a value that it takes: both ways read the same."""
    listed = CHOICES.findall(f"{option.metavar or ''} {option.help}")
    texts = (*WORDS, str(option.default), "float64", *listed)
    text = next((t for t in texts if _takes(option, t)), None)
    assert text is not None, "no value of the list fits"
    for flag in option.flags:
        line = [name, "a.expr", flag] if option.parse is None else [name, "a.expr", flag, text]
        if any(not o.flags and o.required for o in module_of(name).COMMAND.every):
            line.insert(2, "b")
        fast = read(line)
        assert fast is not None, line
        assert through_typer(line, monkeypatch) == (fast.name, fast.given), line


def _takes(option: Option, text: str) -> bool:
    try:
        return option.parse is None or (bool(text) and option.parse(text) is not None)
    except Misuse:
        return False


def test_variables_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADCLI_MAX_STEPS", "12k")
    call = read(["run", "a.expr"])
    assert call is not None and call.given[0].max_steps == 12_000
    monkeypatch.setenv("GRADCLI_MAX_STEPS", "many")
    assert read(["run", "a.expr"]) is None


@pytest.mark.parametrize(
    "line",
    [[], ["--help"], ["nope"], ["run", "--help"], ["run", "--nope"], ["run", "a", "b"],
     ["run", "--timeout"], ["run", "--timeout", "x"], ["run", "--quiet=1"]],
    ids=" ".join,
)  # fmt: skip
def test_what_is_left_to_typer(line: list[str]) -> None:
    assert read(line) is None


@pytest.mark.parametrize("text", ["", "x", "-5", "1e", "1..2", "inf", "4 xb", "1e400", "0", "1 2"])
def test_amounts_that_are_none(text: str) -> None:
    with pytest.raises(Misuse):
        size(text)


def test_amounts() -> None:
    assert [size(t) for t in ("4GiB", "1_000", "1e6", " 12 k ", "1.5KiB")] == [
        2**32, 1000, 10**6, 12_000, 1536,
    ]  # fmt: skip
    assert size("9" * 21) == size("1e300 TB") < sys.maxsize // 16  # a call of the system takes it
    assert [seconds(t) for t in ("90", "500ms", "2m")] == [90.0, 0.5, 120.0]
