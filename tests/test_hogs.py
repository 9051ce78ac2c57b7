"""Tests of programs that want everything: each ends within its limits of work and of memory.

The programs stand in tests/hogs, by topic. Each runs in a process of its own; what it took is what
the system says: processor time, and the most memory that it held at once.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confined import Taken, run

TIMEOUT = 0.3  # seconds of processor time; the net beneath ends a program at twice that
MEMORY, SPARE = 150_000_000, 200_000_000
START = "import math, copy\n"
FOLDER = Path(__file__).parent / "hogs"
# Each is a process: of all of them the gate runs a fifth, GRADCLI_HOGS=all runs the rest.
EVERY = 1 if os.environ.get("GRADCLI_HOGS") == "all" else 5

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks what Linux tells of a child")


def programs() -> Iterator[object]:
    for file in sorted(FOLDER.glob("*.txt")):
        texts = file.read_text("utf-8").strip("\n").split("\n----\n")
        for number, text in list(enumerate(texts))[::EVERY]:
            yield pytest.param(text, id=f"{file.stem}-{number}")


def ended(text: str) -> Taken:
    """What a program took, which is little enough."""
    took = run(
        "run", "-", "--max-steps", "150_000", "--timeout", f"{TIMEOUT}s", "--max-memory",
        str(MEMORY), "--max-output", "1MB", text=text,
    )  # fmt: skip
    assert took.status in (0, 2, 3, 4), took
    assert took.seconds < 2 * TIMEOUT + 2, took
    assert took.peak < MEMORY + SPARE, took
    if took.status == 4:
        assert re.search(r"(?m)^<stdin>:\d+:\d+\s(.*\n)*LimitReached: ", took.errors), took
    return took


@pytest.mark.parametrize("text", list(programs()))
def test_a_hog_ends(text: str) -> None:
    ended(START + text + "\n")


LONG = 8 * 2**20 - 200
# What Python's parser is given before anything of ours counts: at most --max-source.
TEXTS: dict[str, Callable[[], str]] = {
    "a list": lambda: "x = [" + "1," * (LONG // 2) + "]",
    "a dict": lambda: "x = {" + "1:1," * (LONG // 4) + "}",
    "a sum": lambda: "x = " + "1+" * (LONG // 2) + "1",
    "a comparison": lambda: "1<" * (LONG // 2) + "1",
    "arguments": lambda: "f(" + "1," * (LONG // 2) + ")",
    "parameters": lambda: "def f(" + ",".join(f"a{i}" for i in range(800_000)) + "): pass",
    "statements of one line": lambda: ";".join(["a"] * (LONG // 2)),
    "lines": lambda: "a\n" * (LONG // 2),
    "names": lambda: "\n".join(f"a{i}=1" for i in range(600_000)),
    "defaults": lambda: "".join(f"# set: a{i}=1\n" for i in range(300_000)),
    "brackets": lambda: "[" * LONG,
    "signs": lambda: "-" * LONG + "1",
    "words": lambda: "not " * (LONG // 4) + "1",
    "lambdas": lambda: "lambda:" * (LONG // 7) + "1",
    "calls": lambda: "a" + "()" * (LONG // 2),
    "attributes": lambda: "a" + ".a" * (LONG // 2),
    "conditions": lambda: "1 if 1 else " * (LONG // 12) + "1",
    "branches": lambda: "if 1: pass\n" + "elif 1: pass\n" * (LONG // 13),
    "decorators": lambda: "@a\n" * (LONG // 3) + "def f(): pass",
    "targets": lambda: "a=" * (LONG // 2) + "1",
    "indices": lambda: "a[" + ":," * (LONG // 2) + "]",
    "loops": lambda: "[1 " + "for a in b " * (LONG // 11) + "]",
    "an f-string": lambda: "x = f'" + "{1}" * 10**6 + "'",
    "an f-string of lines": lambda: "x = f'''" + "{1}\n" * 10**6 + "'''",
    "an f-string of joined lines": lambda: "x = f'" + "{1}\\\n" * 10**6 + "'",
    "a text": lambda: "x = '" + "a" * LONG + "'",
    "a number": lambda: "x = " + "1" * LONG,
    "quotes": lambda: "'" * LONG,
    "joined lines": lambda: "\\\n" * (LONG // 2) + "1",
    "an open bracket at the end": lambda: "a\n" * (LONG // 2) + "(",
}


@pytest.mark.parametrize("name", list(TEXTS)[::EVERY])
def test_the_parser_stays_within_the_limits(name: str) -> None:
    ended(TEXTS[name]())


def test_a_chain_of_slices_is_freed() -> None:
    """Python frees it by recursion in C: a million need more than the stack."""
    text = "x = None\nfor _ in range(10**6): x = slice(x)\nx = 1\nprint(x)\n"
    took = run("run", "-", "--max-memory", "2GiB", text=text)
    assert (took.status, took.out) == (0, "1\n")


def test_slices_within_slices() -> None:
    text = "x = slice(1, slice(2, slice(3)))\nprint(x, x.stop.stop.stop, x == slice(1, x.stop))\n"
    said = "slice(1, slice(2, slice(None, 3, None), None), None) 3 True\n"
    assert run("run", "-", text=text).out == said
