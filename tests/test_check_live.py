"""Tests of `gradcli check --engine torch`: the verdicts of the own engine, about PyTorch's run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from oracle import oracle
from test_check import write
from test_check_expect import FAIL, HOLD
from test_check_numeric import FUNCTION, KINKED, KINKS, RIGHT, WRONG, X
from test_cli import gradcli

from gradcli.questions.check import check
from gradcli.questions.check.options import CheckOptions
from gradcli.recording.facts.check import FileCheck

pytestmark = pytest.mark.skipif(not oracle.has_torch, reason="PyTorch is not installed")
SEVERAL = ("none", "zero", "stale")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def checked(text: str, **options: Any) -> FileCheck:
    return check(None, "program.expr", text.encode(), CheckOptions(**options))


def said(fact: FileCheck) -> tuple[Any, ...]:
    """Everything that a reader is told, but for the order of the leaves."""
    leaves = sorted((leaf.result, leaf.leaf, leaf.status, leaf.cause) for leaf in fact.leaves)
    kinks = [(kink.line, kink.text, kink.cause) for kink in fact.kinks]
    counts = fact.asserts, fact.expectations, fact.exit_code
    return fact.problems, leaves, fact.notes, kinks, counts


# Functions that PyTorch wrote in Python: a call is one operation, its argument is called input.
BY_PYTHON = ("norm", "l1_loss", "hardswish")
PROGRAMS = {
    **{f"right: {name}": text for name, text in RIGHT.items()},
    **{f"kink: {name}": text for name, text in KINKS.items()},
    **{f"holds: {name}": text for name, text in HOLD.items()},
    **{f"does not hold: {name}": text for name, (text, _, _) in FAIL.items()},
    **{f"wrong: {name}": FUNCTION.format(forward=forward, backward=backward) + X
       + "L = (Own.apply((x * 3).exp()) * 2).sum()\nL.backward()\n"
       for name, (forward, backward, _) in WRONG.items()},
    **{f"at a kink: {name}": "x = tensor([0.0, 1.0, -2.0], requires_grad=True)\n"
       f"y = {call}\nL = (y * 1.5).sum()\n"
       for call, name in KINKED.items() if name not in BY_PYTHON},
    "a penalty": "torch.manual_seed(0)\nnet = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), "
                 "nn.Linear(4, 1))\nx = torch.randn(2, 3, requires_grad=True)\n"
                 "g, = torch.autograd.grad(net(x).sum(), x, create_graph=True)\n"
                 "loss = ((g.norm(dim=1) - 1) ** 2).mean()\nloss.backward()\n",
    "the third derivative": "x = tensor(0.7, requires_grad=True)\ng = x.sin() * x\n"
                            "for _ in range(2):\n    (g,) = torch.autograd.grad(g, x, "
                            "create_graph=True)\ng.backward()\n",
    "padding": "torch.manual_seed(0)\ne = nn.Embedding(5, 16, padding_idx=1)\n"
               "loss = e(tensor([1, 2])).tanh().mean()\nloss.backward()\n",
    "a failed assert": X + "assert False, 'small'\n",
    "stale": X + "for _ in range(2):\n    (x * x).sum().backward()\n"
             "    with torch.no_grad():\n        x -= 0.1 * x.grad\n",
    "none": X + "u = tensor(1.0, requires_grad=True)\n(x * x).sum().backward()\n",
    "nan": "x = tensor([0.0, 1.0], requires_grad=True)\ny = x.sqrt() * 0\ny.sum().backward()\n",
    "its end": "# check: raises ValueError\nraise ValueError('so')\n",
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_engines_say_the_same(name: str) -> None:
    text = PROGRAMS[name]
    own = checked(text, fail_on=SEVERAL)
    assert said(checked(text, fail_on=SEVERAL, engine="torch")) == said(own)


def test_padding_gets_no_gradient_and_that_is_right() -> None:
    fact = checked(PROGRAMS["padding"])
    assert [leaf.status for leaf in fact.leaves] == ["equal"]


@pytest.mark.parametrize("text", [
    "bn = nn.BatchNorm1d(3)\nd = nn.Dropout(0.5)\nx = torch.randn(4, 3, requires_grad=True)\n"
    "loss = (d(bn(x)) * bn(x)).sum()\n",
    "l = nn.LSTM(2, 3, batch_first=True)\nloss = l(torch.randn(2, 4, 2))[0].pow(2).sum()\n",
    "t = nn.TransformerEncoderLayer(4, 2, 8)\nloss = t(torch.randn(3, 2, 4)).pow(2).sum()\n",
    "x = torch.randn(3, requires_grad=True)\ny = torch.zeros(3, 3).t()\ny[1:, 0] = x[:2]\n"
    "y.diagonal().mul_(x)\nloss = (y * y).sum() + y.t()[0].exp().sum()\n",
    "x = torch.randn(3, requires_grad=True)\n"
    "loss = (x.half().float() * x.to(torch.float32)).sum()\n",
    "x = torch.randn(3, requires_grad=True)\n"
    "y = torch.utils.checkpoint.checkpoint(lambda v: v.sin() * v, x, use_reentrant=False)\n"
    "loss = y.sum()\n",
])  # fmt: skip
def test_modules_of_pytorch(text: str) -> None:
    """What they do inside is theirs; their calls are made again, with the same random numbers."""
    fact = checked(f"import torch.utils.checkpoint\ntorch.manual_seed(1)\n{text}loss.backward()\n",
                   engine="torch", require_gradient=True)  # fmt: skip
    assert fact.problems == () and {leaf.status for leaf in fact.leaves} == {"equal"}, fact


def test_wrong_backward_of_a_module_in_a_script(home: Path) -> None:
    write(home, "train.py", "import sys, torch\n\n\nclass Half(torch.autograd.Function):\n"
          "    @staticmethod\n    def forward(ctx, x):\n        return x * 2\n\n"
          "    @staticmethod\n    def backward(ctx, grad):\n        return grad\n\n\n"
          "x = torch.ones(int(sys.argv[1]), requires_grad=True)\n"
          "loss = Half.apply(x).sum()\nloss.backward()\n")  # fmt: skip
    done = gradcli("check", "train.py", "--engine", "torch", "--", "3")
    assert done.returncode == 1 and "it trusts them" in done.stderr
    assert "train.py:15:8" in done.stdout
    assert "cause: the backward of Half is wrong: it gives 0.5 times the derivative" in done.stdout


def test_a_recorded_answer_holds_under_both(home: Path) -> None:
    """Nodes are printed with addresses, which are other ones each time."""
    write(home, "a.expr", X + "y = x * 2\nprint(y.grad_fn, (y + 1).grad_fn)\n")
    for recorded_by, other in (("own", "torch"), ("torch", "own")):
        assert gradcli("check", "a.expr", "--update", "--engine", recorded_by).returncode == 0
        done = gradcli("check", "a.expr", "--require-record", "--engine", other)
        assert done.returncode == 0, done.stdout


ENDS: dict[str, tuple[str, int, str]] = {
    "its own process": ("import os\nos._exit(3)\n", 3, "ProcessEnded: the process that ran it"),
    "a limit": ("while True:\n    pass\n", 4, "LIMIT"),
    "its code": ("import sys\nsys.exit(2)\n", 3, "SystemExit"),
}


@pytest.mark.parametrize("name", ENDS)
def test_each_runs_in_a_process_of_its_own(home: Path, name: str) -> None:
    text, status, words = ENDS[name]
    write(home, "a.py", text)
    write(home, "b.py", "import torch\nassert torch.get_default_dtype() is torch.float32\n")
    done = gradcli("check", "a.py", "b.py", "--engine", "torch", "--timeout", "2")
    assert done.returncode == status and words in done.stdout
    assert "passed  b.py" in done.stdout


def asked_wrongly() -> list[tuple[tuple[str, ...], str]]:
    return [
        (("--engine", "torch", "--against", "torch"), "compares gradcli's own engine"),
        (("--", "3"), "for a program that Python runs"),
    ]


@pytest.mark.parametrize(("words", "message"), asked_wrongly())
def test_what_excludes_each_other(home: Path, words: tuple[str, ...], message: str) -> None:
    write(home, "a.expr", X)
    done = gradcli("check", "a.expr", *words)
    assert done.returncode == 2 and message in done.stderr


def test_a_folder_never_asks_for_it(home: Path) -> None:
    """Settings come with the programs: whom to trust is not for them to say."""
    write(home, "pyproject.toml", "[tool.gradcli]\nengine = 'torch'\n")
    write(home, "a.expr", X)
    done = gradcli("check", "a.expr")
    assert done.returncode == 2 and "--engine is for the command line only" in done.stderr


FAILING = {
    "changed in place": "x = torch.ones(2, requires_grad=True)\ny = x.sigmoid()\ny.sigmoid_()\n"
                        "y.sum().backward()\n",
    "no graph": "r = torch.randn(2)\nloss = (r * 2).sum()\nloss.backward()\n",
    "a second pass": "x = torch.ones(2, requires_grad=True)\nloss = (x * x).sum()\n"
                     "loss.backward()\nloss.backward()\n",
}  # fmt: skip


@pytest.mark.parametrize("title", FAILING)
def test_failures_are_explained_as_by_the_own_engine(title: str, home: Path) -> None:
    (home / "p.expr").write_text(FAILING[title], "utf-8")
    own, live = (gradcli("check", "p.expr", "--engine", engine) for engine in ("own", "torch"))
    trusts = "note: runs these programs with Python and PyTorch: it trusts them\n"
    assert (own.returncode, own.stdout) == (live.returncode, live.stdout.replace(trusts, ""))
    assert own.returncode == 3 and re.search("^  line [123]: ", own.stdout, re.M)
