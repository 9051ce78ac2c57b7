"""Tests: programs that reach for the host, each of which must end with an error of the program."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command_here import here
from programs_under import sections
from test_cli import gradcli

from gradcli.diagnostics import Diagnostic, ExitStatus, ProgramError
from gradcli.language.interpreter import run
from gradcli.language.program import parse
from gradcli.language.source import Source

ATTACKS = sections(Path(__file__).parent / "programs" / "attacks.txt")
# What shows that something of the host was reached, or that the library took a program's code for
# its own.
OF_THE_HOST = re.compile(r"gradcli|builtins|<module 'o|uid=|0x[0-9a-f]*7f[0-9a-f]{6}|called|handed")


def outcome_of(text: str) -> tuple[str, Diagnostic | None]:
    out: list[str] = []
    try:
        outcome = run(parse(Source(text)), {}, write=out.append)
    except ProgramError as error:
        return "", error.diagnostic
    return "".join(out), outcome.error


@pytest.mark.parametrize("title", ATTACKS)
def test_no_attack_succeeds(title: str) -> None:
    out, error = outcome_of(ATTACKS[title])
    assert not OF_THE_HOST.search(out), out
    if title.endswith("(harmless)"):
        assert error is None, error
        return
    assert error is not None, out
    assert error.exit_status is ExitStatus.PROGRAM_ERROR
    assert error.span is not None
    assert not OF_THE_HOST.search(error.message), error.message


# Every method that an answer might be tempted to call, and that the program itself never does.
ENDLESS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)
    def forward(self, x): return self.layer(x)
""" + "".join(
    f"    def {name}(self, *a, **k):\n        while True: pass\n"
    for name in (
        "named_parameters parameters named_modules modules children named_children buffers "
        "state_dict extra_repr __len__ __iter__ __getitem__ __getattr__ __eq__ __hash__ __repr__ "
        "__str__ __bool__ __contains__"
    ).split()
) + """
class Box:
    def __hash__(self): return 1
""" + "".join(
    f"    def {name}(self, *a, **k):\n        while True: pass\n"
    for name in "__eq__ __repr__ __str__ __len__ __bool__ __iter__ __float__ __index__".split()
) + """
net, box = Net(), Box()
kept = {Box(): net, "x": [Box(), net]}
x = torch.ones(1, 2, requires_grad=True)
x.box = box
y = net(x).sum()
y.backward()
"""  # fmt: skip


@pytest.mark.parametrize(
    "line",
    ["run", "trace", "trace --saved --all", "trace --format json", "grad --wrt x", "step",
     "paths --of y --wrt x", "why", "check --no-numeric", "trace --profile", "flow"],
)  # fmt: skip
def test_an_answer_runs_no_method_of_the_program(line: str, tmp_path: Path) -> None:
    file = tmp_path / "endless.expr"
    file.write_text(ENDLESS)
    name, *options = line.split()
    names = ["x"] if name == "why" else []
    ended = here(name, str(file), *names, *options, "--max-steps", "100000")
    assert ended.returncode == 0, ended.stderr


DIGITS = "9" * 5000  # more than int() takes


@pytest.mark.parametrize("name", ["step", "flow", "trace", "grad", "paths"])
@pytest.mark.parametrize("number", ["²", DIGITS, "-1", "1e99", ""])
def test_a_number_of_a_pass_that_is_none(name: str, number: str, tmp_path: Path) -> None:
    (tmp_path / "p.expr").write_text("x = torch.ones(2, requires_grad=True)\n")
    ended = gradcli(name, str(tmp_path / "p.expr"), "--pass", number)
    assert ended.returncode == 2 and len(ended.stderr) < 2000, ended.stderr


@pytest.mark.parametrize("cell", ["²", DIGITS, "0", "9"])
def test_a_cell_that_is_none(cell: str, tmp_path: Path) -> None:
    (tmp_path / "n.ipynb").write_text('{"cells": [{"cell_type": "code", "source": "x = 1"}]}')
    ended = here("run", f"{tmp_path}/n.ipynb:{cell}")
    assert ended.returncode in (2, 3) and len(ended.stderr) < 2500, ended.stderr


@pytest.mark.parametrize("amount", ["1e99TB", "99999999999999999999"])
def test_more_memory_than_any_machine_has(amount: str) -> None:
    assert gradcli("run", "-", "--max-memory", amount, stdin="print(1)\n").stdout == "1\n"
