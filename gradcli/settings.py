"""settings: `[tool.gradcli]` of pyproject.toml: options of `gradcli check`, as words."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from .options import Misuse, Option

FILE, TABLE = "pyproject.toml", "[tool.gradcli]"
LARGEST = 1 << 20
# What writes files, or trusts programs, is for who runs the command and not for a folder to say.
ONLY_ON_THE_LINE = frozenset(
    {"against", "update", "review", "out", "junit", "sarif", "last-failed", "lf", "changed-since"}
)


class Unusable(Exception):
    """A table that can't be used; the words of the message say where and why."""

    def format_message(self) -> str:
        """As typer's errors have it."""
        return str(self)


def words_of(every: Iterable[Option]) -> list[str]:
    """The settings of this folder as words of a command line that has these options."""
    found = _nearest()
    if found is None:
        return []
    path, table = found
    options = {name: option for option in every for name in _names(option)}
    return [word for key, value in table.items() for word in _words(path, key, value, options)]


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
        if b"gradcli" not in data or len(data) > LARGEST:
            return None
        tool = tomllib.loads(data.decode("utf-8")).get("tool", {})
    except (OSError, ValueError, RecursionError) as error:
        raise Unusable(f"{path} can't be read: {error}") from None
    table = tool.get("gradcli") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise Unusable(f"{path}: {TABLE} is not a table")
    return table


def _names(option: Option) -> Iterator[str]:
    return (flag[2:] for flag in option.flags if flag.startswith("--"))


def _words(path: str, key: str, value: Any, options: dict[str, Option]) -> Iterator[str]:
    """One setting as words; an error names the file and the key."""
    option = options.get(key)
    if option is None:
        from difflib import get_close_matches

        near = get_close_matches(key, options, 1)
        advice = f"; did you mean {near[0]}?" if near else ""
        raise Unusable(f"{path}: {TABLE} has no setting {key}{advice}")
    if key in ONLY_ON_THE_LINE:
        raise Unusable(f"{path}: {key} in {TABLE}: --{key} is for the command line only")
    try:
        yield from _options(f"--{key}", value, option)
    except Misuse as error:
        raise Unusable(f"{path}: {key} in {TABLE}: {error}") from None


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
            yield from [flag] * int(one)
            continue
        option.parse(str(one))
        yield f"{flag}={one}"
