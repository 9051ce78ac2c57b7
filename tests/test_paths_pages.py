"""Tests of `gradcli paths`: formulas, pages, the command."""

from __future__ import annotations

import json
from pathlib import Path

import paths_programs
import pytest
from oracle import oracle
from test_cli import TWO_PATHS, gradcli
from test_paths import close, printed, report

from gradcli.render import (
    json as documents,  # noqa: F401  (the package loads without the engine)
)
from gradcli.render.paths.page import page


@pytest.mark.parametrize(
    ("text", "wrt", "formula"),
    [
        ("L = sin(x * y)", "x", "cos(x*y)*y"),
        ("L = x ** 3", "x", "3*x**2"),
        ("L = x / y", "y", "-x/y**2"),
        ("L = (x + y) ** 2 / 2", "x", "x + y"),
        ("b = x * y\nL = b * b", "x", "2*b*y"),
        ("L = exp(-x * x)", "x", "-2*exp(-x**2)*x"),
        ("L = log(x) + x.sqrt()", "x", "1/x + 1/(2*sqrt(x))"),
        ("L = x.sigmoid()", "x", "(1 - sigmoid(x))*sigmoid(x)"),
        ("L = x.tanh()", "x", "1 - tanh(x)**2"),
        ("L = torch.relu(x - y)", "y", "-where(relu(x - y) > 0, 1.0, 0.0)"),
        ("L = 7 - x", "x", "-1"),
        ("L = 2 * x * y + 4 * x * x", "x", "2*(4*x + y)"),
    ],
)
def test_formulas(text: str, wrt: str, formula: str) -> None:
    given = ("x=2.0", "y=3.0")[: 1 + ("y" in text)]
    found = report(text + "\n", wrt, "L", sets=given, formula=True)
    assert found.formula is not None, found.no_formula
    assert found.formula.program == formula


def test_a_formula_names_what_no_name_holds_any_more() -> None:
    text = "x = tensor(3.0, requires_grad=True)\nx = x * x\nL = x * x\n"
    found = report(text, "x#1", "L", formula=True)
    assert found.formula is not None
    assert found.formula.lines == (("x_1", "torch.tensor(3.0)"),)
    assert found.formula.text == "4*x*x_1"
    assert "here x is x#2" in printed(found)


def test_numbers_of_the_program_keep_their_names() -> None:
    text = "rate = 0.25\nx = tensor(3.0, requires_grad=True)\nL = sin(rate * x)\n"
    found = report(text, "x", formula=True)
    assert found.formula is not None and found.formula.text == "0.25*cos(rate*x)"


def test_no_formula_is_reported_only_where_asked() -> None:
    text = "x = zeros(3)\na = tensor(2.0, requires_grad=True)\nx[0] = a\nx[1] = 3.0\nL = x.sum()\n"
    assert report(text, "a", "L").no_formula == ""
    told = report(text, "a", "L", formula=True)
    assert told.formula is not None or told.no_formula.startswith("no formula: ")


# ---------------------------------------------------------------- pages, command


def test_latex() -> None:
    text = str(page(report(TWO_PATHS, "a", "L", formula=True), "latex"))
    assert "\\frac{\\partial L}{\\partial a} &= -\\left(w_{3} w_{1} + w_{4} w_{2}\\right)" in text
    assert "&= (-1) \\cdot 7 \\cdot 5 + (-1) \\cdot 9 \\cdot 2 \\\\" in text
    assert "&= -35 - 18 = -53" in text
    assert text.count("\\begin{") == text.count("\\end{") == 2
    assert text.count("{") == text.count("}")


def test_markdown() -> None:
    text = str(page(report(TWO_PATHS, "a", "L", formula=True), "markdown"))
    assert text.startswith("# `dL/da = -53`\n")
    assert "| `L` → `d` → `c` → `a` | -1 · 7 · 5 = -35 | 66 % |" in text
    assert "reverse mode says -53: equal." in text


@pytest.mark.parametrize("kind", ["latex", "markdown"])
@pytest.mark.parametrize("seed", range(0, 30, 3))
def test_pages_of_random_programs(kind: str, seed: int) -> None:
    text = str(page(report(paths_programs.program(seed), "a", "L", formula=True), kind))
    plain = text.replace("\\{", "").replace("\\}", "")
    assert plain.count("{") == plain.count("}")
    assert text.count("\\left(") == text.count("\\right)")


def test_pages_fit_their_width() -> None:
    for seed in range(20):
        for options in ({}, {"edges": True}, {"formula": True}):
            text = printed(report(paths_programs.program(seed), "a", "L", **options))
            head = text.splitlines()
            assert all(len(line) <= 80 for line in head), text


def test_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("two.expr").write_text(TWO_PATHS)
    done = gradcli("paths", "two.expr", "--of", "L", "--wrt", "a", "--format", "json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["sum"] == -53
    missing = gradcli("paths", "two.expr", "--of", "L")
    assert missing.returncode == 2
    assert "--wrt NAME is missing; the leaves of L are a, w1, w2, w3, w4" in missing.stderr
    loop = "net = nn.Linear(2, 1)\nL = net(ones(2)).sum()\nL.backward()\n"
    Path("net.expr").write_text(
        f"{loop}with no_grad():\n    for p in net.parameters():\n        p += 1\n"
    )
    later = gradcli("paths", "net.expr").stderr
    assert "the leaves of L are net.weight, net.bias\n" in later
    assert gradcli("paths", "two.expr", "--wrt", "a", "--element", "x").returncode == 2
    ascii_page = gradcli("paths", "two.expr", "--wrt", "a", PYTHONIOENCODING="ascii")
    assert "L -(-1)-> d" in ascii_page.stdout
    again = gradcli("paths", "two.expr", "--wrt", "a", "--symbolic")
    assert again.stdout == gradcli("paths", "two.expr", "--wrt", "a", "--symbolic").stdout


def test_names_of_every_kind_of_parameter() -> None:
    text = """\
a = tensor(2.0, requires_grad=True)
def f(u, *rest, k):
    return u * rest[0] + k
L = f(a * 2, a * 3, k=a * 4)
"""
    assert {path.names for path in report(text, "a", "L").paths} == {
        ("L", "u", "a"), ("L", "rest[0]", "a"), ("L", "k", "a"),
    }  # fmt: skip


def test_formulas_of_losses_over_classes() -> None:
    text = """\
x = tensor([[1.0, 2.0], [0.5, -1.0]])
W = tensor([[0.1, 0.2, 0.3], [0.3, -0.4, 0.0]], requires_grad=True)
t = tensor([0, 2])
z = x @ W
loss = F.cross_entropy(z, t)
"""
    found = report(text, "W", "loss", formula=True)
    assert found.formula is not None and "F.one_hot(t, 3)" in found.formula.text
    lines = found.formula.program.split("\n")
    theirs, ours = oracle.ask("gradient_and_formula", text, "loss", "W", lines)
    assert close(theirs, ours)


def test_expressions_of_very_many_steps_have_no_formula() -> None:
    text = "a = tensor(1.0, requires_grad=True)\n_y = a\nfor i in range(300):\n"
    text += "    _y = (_y * 0.5).sin()\nL = _y * 1.0\n"
    found = report(text, "a", "L", formula=True)
    assert found.equal and found.formula is None and found.no_formula.startswith("no formula: ")
