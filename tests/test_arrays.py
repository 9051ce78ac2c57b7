"""Tests: what `import numpy as np` gives a program, compared with NumPy line by line."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from oracle import oracle
from programs_under import sections
from test_language import level, ran
from test_pasted import pasted

SECTIONS = sections(Path(__file__).parent / "programs" / "arrays.txt")
FIRST = "import math\nimport numpy as np\nimport torch\n"


def program(lines: str) -> str:
    """Each line shows its value by itself, or what went wrong; `;;` stands between statements."""
    return FIRST + "".join(map(_shown, lines.strip().splitlines()))


def _shown(line: str) -> str:
    try:
        ast.parse(line, mode="eval")
        body = f"    value = {line}\n    print(type(value).__name__, repr(value), '|', value)\n"
    except SyntaxError:
        body = "".join(f"    {statement.strip()}\n" for statement in line.split(";;"))
    said = "    print(type(error).__name__, error)\n"
    return f"try:\n{body}except Exception as error:\n{said}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("title", SECTIONS)
def test_the_same_text_prints_the_same(title: str) -> None:
    text = program(SECTIONS[title])
    out, outcome = ran(text)
    assert outcome.error is None
    assert [level(out), None] == oracle.ask(pasted.__name__, text)
