"""Benchmarks: whole commands, each beside another process that takes turns with it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import programs

Words = Callable[[Path], list[str]]


def _gradcli(*words: str) -> Words:
    """`gradcli VERB FILE ...`"""
    return lambda path: [sys.executable, "-m", "gradcli", words[0], str(path), *words[1:]]


def _python(*words: str) -> Words:
    return lambda path: [sys.executable, *words]


def _pictured(path: Path) -> list[str]:
    """The program under PyTorch, and torchviz's text of its graph."""
    return [sys.executable, str(path.with_name("pictured.py"))]


class Compared(NamedTuple):
    """Commands on one file (or on a folder of `count` files); ratios are to the first of them."""

    what: str
    text: Callable[[int], str]
    sizes: tuple[int, ...]
    commands: dict[str, Words]
    count: int = 0  # of the files; times are for each


COMPARED: dict[str, Compared] = {
    "W10": Compared(
        "a chain of so many nodes: drawn, explained, its paths", lambda n: programs.loop(n // 2),
        (2_000, 20_000, 200_000),
        {"run": _gradcli("run"), "trace": _gradcli("trace"),
         "json": _gradcli("trace", "--format=json"), "why": _gradcli("why", "a"),
         "paths": _gradcli("paths", "--of=y", "--wrt=a")},
    ),
    "W12": Compared(
        "check of a folder of small programs, for each", programs.two_paths, (1,),
        {"one job": _gradcli("check", "--jobs=1"), "two jobs": _gradcli("check", "--jobs=2")},
        count=200,
    ),
    "W14": Compared(
        "a syntax error in the last line", lambda _: programs.two_paths(1) + "x = = 3\n", (1,),
        {"python -c ''": _python("-c", ""), "run": _gradcli("run")},
    ),
    "W15": Compared(
        "the whole job from cold: the program, and a picture of so many nodes as text",
        programs.tree, (10, 1_000, 100_000),
        {"torchviz": _pictured, "dot": _gradcli("trace", "--format=dot"),
         "trace": _gradcli("trace")},
    ),
    "W16": Compared(
        "four leaves and one backward call from cold", programs.two_paths, (1,),
        {"import numpy": _python("-c", "import numpy"), "run": _gradcli("run"),
         "trace": _gradcli("trace")},
    ),
}  # fmt: skip


def written(row: Compared, size: int, folder: Path) -> Path:
    """What the commands are given: a file, or a folder of them."""
    text = row.text(size)
    if not row.count:
        path = folder / "program.py"
        path.write_text(text, encoding="utf-8")
        picture = "import sys\nsys.setrecursionlimit(10**6)\nfrom torchviz import make_dot\n"
        path.with_name("pictured.py").write_text(
            f"{picture}{text}print(make_dot(out).source)\n", encoding="utf-8"
        )
        return path
    home = folder / "programs"
    home.mkdir()
    for number in range(row.count):
        (home / f"p{number:03}.expr").write_text(text, encoding="utf-8")
    return home
