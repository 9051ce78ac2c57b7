"""commands: the programs that come with gradcli, by name: expressions/ of the repository."""

from __future__ import annotations

import os
from typing import NamedTuple

from ..opening import SUFFIX, UsageError

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# In a wheel they lie in the package, in a clone of the repository beside it.
FOLDERS = (os.path.join(HERE, "expressions"), os.path.join(os.path.dirname(HERE), "expressions"))


class Example(NamedTuple):
    """One program: what it is called, its group, where it lies, its first comment."""

    name: str
    group: str
    path: str
    about: str


def examples() -> list[Example]:
    """All of them, by group and name."""
    folder = next(filter(os.path.isdir, FOLDERS), None)
    if folder is None:
        raise UsageError("the examples are missing: this installation has no expressions/")
    found = []
    for here, _, files in os.walk(folder):
        group = os.path.relpath(here, folder).replace(os.sep, "/")
        for file in files:
            if file.endswith(SUFFIX):
                path = os.path.join(here, file)
                found.append(Example(file.removesuffix(SUFFIX), group, path, _about(path)))
    return sorted(found, key=lambda example: (example.group, example.name))


def _about(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        line = file.readline()
    return line.lstrip("# ").rstrip() if line.startswith("#") else ""


def example(name: str) -> Example:
    """The example of this name; UsageError names those that are near."""
    known = {one.name: one for one in examples()}
    found = known.get(name.removesuffix(SUFFIX))
    if found is None:
        from difflib import get_close_matches

        near = get_close_matches(name, known, 3)
        advice = f"did you mean {' or '.join(near)}?" if near else "gradcli examples"
        raise UsageError(f"there is no example {name}", advice)
    return found
