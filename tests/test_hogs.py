"""Tests of programs that want everything: each ends within its limits of work and of memory.

The programs stand in tests/hogs, by topic. Each runs in a process of its own; what it took is what
the system says: processor time, and the most memory that it held at once.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from confined import run

TIMEOUT = 1.0  # seconds of processor time; the net beneath ends a program at twice that
MEMORY, SPARE = 150_000_000, 200_000_000
START = "import math, copy\n"
FOLDER = Path(__file__).parent / "hogs"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks what Linux tells of a child")


def programs() -> Iterator[object]:
    for file in sorted(FOLDER.glob("*.txt")):
        texts = file.read_text("utf-8").strip("\n").split("\n----\n")
        for number, text in enumerate(texts):
            yield pytest.param(text, id=f"{file.stem}-{number}")


@pytest.mark.parametrize("text", list(programs()))
def test_a_hog_ends(text: str) -> None:
    took = run(
        "run", "-", "--max-steps", "500_000", "--timeout", f"{TIMEOUT}s", "--max-memory",
        str(MEMORY), "--max-output", "1MB", text=START + text + "\n",
    )  # fmt: skip
    assert took.status in (0, 3, 4), took
    assert took.seconds < 2 * TIMEOUT + 2, took
    assert took.peak < MEMORY + SPARE, took
    if took.status == 4:
        assert "LimitReached" in took.errors and "--" in took.errors, took
