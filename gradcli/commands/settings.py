"""commands: `[tool.gradcli]` of pyproject.toml: options of `gradcli check`, as words."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..options import Misuse, Option
from ..process.memory import Standard

FILE, TABLE = "pyproject.toml", "[tool.gradcli]"
LARGEST = 1 << 17
MOST_TIMES = 9  # that an option which counts can be given
MOST_PARTS = 100  # of the keys on one line: tomllib takes time with their square
# The file comes with the programs, perhaps from a stranger. What writes files, reads other ones,
# trusts programs or takes a GPU is for who runs the command and not for a folder to say.
ONLY_ON_THE_LINE = frozenset(
    {"against", "update", "review", "out", "junit", "sarif", "last-failed", "lf", "changed-since",
     "data", "device", "engine"}
)  # fmt: skip


class SettingsError(Misuse):
    """A table that can't be used; the words of the message say where and why."""

    def format_message(self) -> str:
        """As typer's errors have it."""
        return str(self)


def words_of(every: Iterable[Option], line: Sequence[str] = ()) -> list[str]:
    """The settings of this folder as words of a command line that has these options.

    `line` are the words that the caller gave: of a limit that they name, the file says nothing.
    """
    found = _nearest()
    if found is None:
        return []
    path, table = found
    options = {name: option for option in every for name in _names(option)}
    said = {word.partition("=")[0] for word in line}
    return [
        word for key, value in table.items() for word in _words(path, key, value, options, said)
    ]


def _nearest() -> tuple[str, dict[str, Any]] | None:
    """The table of the nearest pyproject.toml that has one, from this folder upwards."""
    folder = os.getcwd()
    while True:
        path = os.path.join(folder, FILE)
        if os.path.isfile(path):
            table = _table(path)
            if table is not None:
                return path, table
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def _table(path: str) -> dict[str, Any] | None:
    import tomllib

    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1)
        if b"gradcli" not in data:
            return None
        if len(data) > LARGEST:
            raise ValueError(f"it has more than {LARGEST:,} bytes")
        text = data.decode("utf-8")
        if any(line.count(".") > MOST_PARTS for line in _without_texts(text)):
            raise ValueError("a key has too many parts")
        tool = tomllib.loads(text).get("tool", {})
    except (OSError, ValueError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise SettingsError(f"{path} can't be read: {why}") from None
    table = tool.get("gradcli") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise SettingsError(f"{path}: {TABLE} is not a table")
    return table


def _without_texts(text: str) -> list[str]:
    """The lines of a TOML file; what is in quotes may have as many dots as it likes."""
    import re

    return re.sub(r"""("[^"\n]*"|'[^'\n]*')""", "", text).splitlines()


def _names(option: Option) -> Iterator[str]:
    return (flag[2:] for flag in option.flags if flag.startswith("--"))


def _words(
    path: str, key: str, value: Any, options: dict[str, Option], said: set[str]
) -> Iterator[str]:
    """One setting as words; an error names the file and the key."""
    option = options.get(key)
    if option is None:
        from difflib import get_close_matches

        near = get_close_matches(key, options, 1)
        advice = f"; did you mean {near[0]}?" if near else ""
        raise SettingsError(f"{path}: {TABLE} has no setting {key}{advice}")
    if key in ONLY_ON_THE_LINE:
        raise SettingsError(f"{path}: {key} in {TABLE}: --{key} is for the command line only")
    try:
        words = list(_options(f"--{key}", value, option))
        if option.is_limit:
            words = [] if said.intersection(option.flags) else _lower(words, option)
        yield from words
    except Misuse as error:
        raise SettingsError(f"{path}: {key} in {TABLE}: {error}") from None


def _options(flag: str, value: Any, option: Option) -> Iterator[str]:
    if option.parse is None and not option.counted:
        if not isinstance(value, bool):
            raise Misuse("true or false is expected")
        yield from [flag] if value else []
        return
    values = value if isinstance(value, list) and option.many else [value]
    for one in values:
        if isinstance(one, bool) or not isinstance(one, (str, int, float)):
            expected = "a list of texts" if option.many else "a text or a number"
            raise Misuse(f"{expected} is expected")
        if option.parse is None:
            if not isinstance(one, int) or not 0 <= one <= MOST_TIMES:
                raise Misuse(f"a number from 0 to {MOST_TIMES} is expected")
            yield from [flag] * one
            continue
        option.parse(str(one))
        if flag == "--set" and str(one).partition("=")[2].lstrip().startswith("@"):
            raise Misuse(f"{one!r} names a file, which is for the command line only; a program "
                         "names data beside it in a line # set:")  # fmt: skip
        yield f"{flag}={one}"


def _lower(words: list[str], option: Option) -> list[str]:
    """A limit of the file counts where it is lower than what the caller allows: what the
    environment says, or else the default, and of processes no more than there are processors."""
    assert option.parse is not None
    (word,) = words
    flag, _, text = word.partition("=")
    asked = option.parse(text)
    if option.most is not None:
        return [f"{flag}={min(asked, option.most())}"]
    by_caller = os.environ.get(option.variable or "")
    try:
        most = option.parse(by_caller or option.default)
    except Misuse:
        return []  # who reads the environment says what is wrong with it
    if isinstance(most, Standard):
        return [f"{flag}=standard:{text}"]
    if asked > most and not by_caller:
        told = f"{most:g}s" if option.default == "standard" else option.default
        raise Misuse(f"{text} is more than {told}; the caller may allow it: "
                     f"{flag} {text}, or {option.variable}")  # fmt: skip
    return [] if asked > most else words
