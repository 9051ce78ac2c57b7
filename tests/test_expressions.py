"""Tests of the programs in expressions/: gradcli and PyTorch print what is recorded beside them."""

from __future__ import annotations

import builtins
import contextlib
import io
import re
import subprocess
import warnings
from pathlib import Path
from typing import Any

import pytest
import warm
from oracle import oracle, question

EXPRESSIONS = Path(__file__).parent.parent / "expressions"
PROGRAMS = sorted(EXPRESSIONS.rglob("*.expr"))
# The lines that may be thought in front of every program when PyTorch runs it.
PREAMBLE = """
import math
import torch
from torch import *
import torch.nn.functional as F
from torch import nn, optim
from torch.autograd import Variable
"""


def level(text: str) -> str:
    """Addresses differ from run to run in PyTorch; gradcli prints a stable number there."""
    return re.sub(r"\bobject at \w+>", "object at 0x>", text)


@question
def program_output(torch: Any, text: str) -> str:
    """What a program prints under PyTorch, the error that ended it in the last line."""
    names: dict[str, Any] = {}
    exec(PREAMBLE, names)
    visible = {name: value for name, value in names.items() if not name.startswith("__")}
    # Python's own sum, range, abs ... win over PyTorch's, as they do after `import torch`.
    scope = {"__name__": "__main__", "__builtins__": {**visible, **vars(builtins)}}
    torch.manual_seed(torch.Generator().initial_seed())
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(text, "<program>", "exec"), scope)
        except Exception as error:
            print(f"{type(error).__name__}: {error}")
    return level(printed.getvalue())


def run(path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return warm.run(["run", str(path), *options])


def named(path: Path) -> str:
    return path.relative_to(EXPRESSIONS).as_posix()


@pytest.mark.parametrize("path", PROGRAMS, ids=named)
def test_gradcli_prints_the_record(path: Path) -> None:
    done = run(path)
    assert done.stdout == path.with_suffix(".out").read_text("utf-8"), done.stderr
    assert done.returncode == 0


@pytest.mark.parametrize("path", PROGRAMS, ids=named)
def test_pytorch_prints_the_record(path: Path) -> None:
    expected = oracle.ask("program_output", path.read_text("utf-8"))
    assert level(path.with_suffix(".out").read_text("utf-8")) == expected


def test_every_program_says_what_it_shows() -> None:
    silent = [named(path) for path in PROGRAMS if not path.read_text("utf-8").startswith("# ")]
    assert PROGRAMS and silent == []
