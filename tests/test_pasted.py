"""Tests: programs as people paste them, run by the language and by PyTorch: what they print."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

import numpy
import pytest
from oracle import oracle, question
from programs_under import sections
from test_language import level, ran

PROGRAMS = sections(Path(__file__).parent / "programs" / "pasted.txt")


@question
def pasted(lib: Any, text: str) -> Any:
    """What a program prints with the names that stand without an import, and how it ends."""
    names = {"torch": lib, "nn": lib.nn, "F": lib.nn.functional, "optim": lib.optim}
    out = io.StringIO()
    error = None
    # A program may change the folder, and how NumPy prints.
    with contextlib.redirect_stdout(out), contextlib.chdir("."), numpy.printoptions():
        try:
            code = compile(text, "<program>", "exec", dont_inherit=True)
            exec(code, {"__name__": "__main__", **names})
        except Exception as raised:
            error = [type(raised).__name__, str(raised)]
    lib.set_grad_enabled(True)
    lib.set_printoptions(profile="default")
    return [level(out.getvalue()), error]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("title", PROGRAMS)
def test_pasted(title: str) -> None:
    out, outcome = ran(PROGRAMS[title])
    error = None if outcome.error is None else [outcome.error.type, outcome.error.message]
    assert [level(out), error] == oracle.ask("pasted", PROGRAMS[title])


def test_classes_that_pytorch_would_script_run() -> None:
    """PyTorch reads their text from a file, which the programs here are not in."""
    program = """
class Next(torch.jit.ScriptModule):
    @torch.jit.script_method
    def forward(self, x):
        return x + 1
print(Next()(torch.ones(2)))
"""
    assert ran(program)[0] == "tensor([2., 2.])\n"
