"""Tests of the pass that `trace` draws: values and gradients of one moment, names, places."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from test_cli import gradcli, home  # noqa: F401

from gradcli.options import EVERY_PASS
from gradcli.pipeline.request import Request
from gradcli.questions import paths
from gradcli.questions.grad import (
    Options as GradOptions,
    grad_report,
    recorded as recorded_for_grad,
)
from gradcli.questions.interventions import Interventions
from gradcli.questions.trace import Options, recorded, trace_report
from gradcli.recording.facts import Report
from gradcli.recording.facts.paths import PathsReport
from gradcli.render import trace as page
from gradcli.render.legend import SIGNS
from gradcli.render.text import Look

UPDATED = """\
w = torch.tensor(2., requires_grad=True)
y = w * 3
loss = (y - 1)**2
loss.backward()
with torch.no_grad():
    w -= 0.1 * w.grad
"""
NETWORK = """\
import torch
from torch import nn
torch.manual_seed(0)
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
    def forward(self, x):
        return torch.relu(self.fc(x)) + x
net = nn.Sequential(Block(), nn.Linear(3, 2), nn.Tanh())
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, t = torch.randn(4, 3), torch.zeros(4, 2)
def train():
    opt.zero_grad()
    loss = ((net(x) - t) ** 2).mean()
    loss.backward()
    opt.step()
for i in range(3):
    train()
"""
PASSES = """\
x = torch.tensor([1., 2.], requires_grad=True)
for k in range(3):
    y = (x * (k + 1)).sum()
    y.backward()
    x.grad.zero_()
"""


def report(text: str, number: int | None = None, **options: Any) -> Report:
    ran = recorded(Request(text.encode(), "p.expr"), None, number=number)
    assert ran.error is None, ran.error
    return trace_report(ran, Options(number=number, **options))


def tree(text: str, number: int | None = None, width: int = 400) -> list[str]:
    """The rows of the trees, in words with single blanks."""
    shown = page.text(report(text, number), Look(False, True, width)).split("\n\ntensor ")[0]
    rows = (row for row in shown.splitlines() if row and not row.startswith("pass "))
    return [" ".join(row.split()) for row in rows]


def test_values_and_gradients_are_of_the_pass() -> None:
    assert tree(UPDATED) == [
        "grad_fn value grad line",
        "loss = (y - 1)**2 PowBackward0 25. 1. 3",
        "└─ y - 1 SubBackward0 5. 10. 3",
        "└─ y = w * 3 MulBackward0 6. 10. 2",
        "└─ w leaf 2. → -1. 30. 1",
    ]


def test_the_dtype_stands_once() -> None:
    text = "x = torch.ones(2, dtype=torch.float64, requires_grad=True)\n(x * 2).sum().backward()\n"
    assert tree(text)[-1] == "└─ x leaf float64[2] [1., 1.] [2., 2.] 1"
    zeros = "x = torch.zeros(9, requires_grad=True)\n(x * -0.0).sum().backward()\n"
    assert "└─ x leaf [9] 0 0 1" in [row.replace("├", "└") for row in tree(zeros)]


def test_a_loss_inside_of_a_function() -> None:
    rows = tree(NETWORK)
    assert rows[1].startswith("● loss = ((net(x) - t) ** 2).mean() MeanBackward0")
    names = [row for row in rows if " leaf " in row]
    assert [row.split(" leaf ")[0].split()[-1] for row in names] == [
        "net.1.bias", "net.1.weight", "net.0.fc.bias", "net.0.fc.weight",
    ]  # fmt: skip


def test_nodes_stand_where_the_program_made_them() -> None:
    """What a container of the library calls behind a module of the program, too."""
    rows = {row.split("Backward")[0].split()[-1]: row for row in tree(NETWORK) if "Backward" in row}
    assert "net(x), in net.2 Tanh" in rows["Tanh"] and rows["Tanh"].endswith(" 15")
    assert "torch.relu(self.fc(x))" in rows["Relu"] and rows["Relu"].endswith(" 9")


def test_a_name_stands_at_the_node_that_it_was_bound_to() -> None:
    """A layer in the middle is no result of the call; a module of the program made that."""
    text = NETWORK.partition("opt = ")[0].replace(
        "nn.Sequential(", "nn.Sequential(nn.Linear(2, 3), "
    )
    text = text.replace(", nn.Tanh())", ", nn.Linear(2, 3), Block())")
    rows = tree(text + "out = net(torch.ones(1, 2))\nout.sum().backward()\n")
    assert any("out: torch.relu(self.fc(x)) + x AddBackward0" in row for row in rows)
    assert not any("out = " in row for row in rows)
    assert any("net(torch.ones(1, 2)), in net.3 AddmmBackward0" in row for row in rows)


@pytest.mark.parametrize(("number", "gradient"), [(1, 1), (2, 2), (3, 3), (None, 3)])
def test_which_pass(number: int | None, gradient: int) -> None:
    found = report(PASSES, number)
    assert found.shown is not None and found.shown.of == 3
    assert found.shown.number == (number or 3) and found.shown.line == 4
    (leaf,) = (flow for flow in found.flows if flow.node == found.tensors[0].node)
    assert leaf.grad_text == f"tensor([{gradient}., {gradient}.])"


def test_a_pass_that_is_not_there(home: Path) -> None:  # noqa: F811
    (home / "p.expr").write_text(PASSES)
    done = gradcli("trace", "p.expr", "--pass", "4")
    assert done.returncode == 2
    assert "UsageError: --pass 4: there are 3 backward passes" in done.stderr


def test_the_root_of_grad_is_drawn() -> None:
    rows = tree("x = torch.tensor(3., requires_grad=True)\n"
                "g, = torch.autograd.grad((x * x).sin(), x)\n")  # fmt: skip
    assert [row.split("Backward0")[0].split()[-1] for row in rows[1:3]] == ["Sin", "Mul"]
    assert any(row.startswith("├─ x leaf 3.") and row.endswith("1") for row in rows)


def test_results_without_a_pass_are_drawn_without_gradients() -> None:
    rows = tree("x = torch.tensor(3., requires_grad=True)\na = x * 2\na.backward()\nb = x * 5\n")
    assert "b = x * 5 MulBackward0 15. 4" in rows
    assert "a = x * 2 MulBackward0 6. 1. 2" in rows


def test_names_that_only_a_function_knew() -> None:
    text = """\
def run():
    weights = [torch.tensor(1., requires_grad=True)]
    model = nn.Linear(1, 1)
    scale = torch.tensor(2., requires_grad=True)
    loss = (model(torch.ones(1)) * scale).sum()
    loss.backward()
run()
"""
    leaves = {row.split(" leaf ")[0].split()[-1] for row in tree(text) if " leaf " in row}
    assert leaves == {"model.weight", "model.bias", "scale"}


def test_objects_have_paths() -> None:
    text = """\
class Trainer:
    def __init__(self):
        self.model = nn.Linear(1, 1)
        self.w = torch.tensor(1., requires_grad=True)
    def fit(self):
        (self.model(torch.ones(1)) * self.w).sum().backward()
trainer = Trainer()
trainer.fit()
"""
    leaves = {row.split(" leaf ")[0].split()[-1] for row in tree(text) if " leaf " in row}
    assert leaves == {"trainer.model.weight", "trainer.model.bias", "trainer.w"}


def test_the_document_says_which_pass(home: Path) -> None:  # noqa: F811
    (home / "p.expr").write_text(PASSES)
    document = json.loads(gradcli("trace", "p.expr", "--format", "json").stdout)
    assert document["pass"] == {"number": 3, "of": 3, "line": 4, "source": "y.backward()"}
    assert document["results"] == ["y"]


# ---------------------------------------------------------------- grad


def gradients(text: str, number: int | None = None, *wrt: str) -> dict[str, Any]:
    options = GradOptions(wrt=wrt, number=number)
    request = Request(text.encode(), "p.expr", wrt=wrt, retain_graph=True)
    ran, found = grad_report(
        recorded_for_grad(request, None, Interventions(leaves=wrt), options), options
    )
    assert ran.error is None, ran.error
    return {fact.name: fact.value for fact in found.gradients}


def test_grad_reports_what_flowed_in_the_pass() -> None:
    assert gradients(UPDATED) == {"w": 30.0}
    assert gradients(PASSES) == {"x": (3.0, 3.0)}
    assert gradients(PASSES, 2, "x") == {"x": (2.0, 2.0)}
    assert set(gradients(NETWORK)) == {
        "net.0.fc.weight", "net.0.fc.bias", "net.1.weight", "net.1.bias",
    }  # fmt: skip


def test_grad_with_a_seed_of_the_program() -> None:
    text = """\
x = torch.tensor([1., 2., 3.], requires_grad=True)
y = x * 2
y.backward(torch.tensor([0.1, 1.0, 10.0]))
"""
    (found,) = gradients(text).values()
    assert found == pytest.approx((0.2, 2.0, 20.0))


def test_grad_of_a_large_tensor_is_whole() -> None:
    (found,) = gradients("w = torch.ones(5000, requires_grad=True)\n(w * 2).sum().backward()\n"
                         ).values()  # fmt: skip
    assert found == (2.0,) * 5000


def test_without_a_pass_grad_differentiates_itself() -> None:
    assert gradients("x = torch.tensor(3., requires_grad=True)\ny = x * x\n") == {"x": 6.0}


# ---------------------------------------------------------------- paths


def sum_of_paths(text: str, wrt: str, number: int | None = None) -> PathsReport:
    asked = paths.Options(wrt=(wrt,), number=number)
    request = Request(text.encode(), "p.expr", wrt=(wrt,), retain_graph=True, placeholders=True)
    ran, found = paths.paths_report(paths.recorded(request, None, asked), asked)
    assert ran.error is None and found.error is None, found.error
    return found


def test_paths_follow_the_pass_before_the_update() -> None:
    found = sum_of_paths(UPDATED, "w")
    assert (found.of, found.sum, found.equal) == ("loss", 30.0, True)


def test_paths_of_a_loss_inside_of_a_function() -> None:
    for number, expected in ((None, gradients(NETWORK)), (1, gradients(NETWORK, 1))):
        found = sum_of_paths(NETWORK, "net.1.bias", number)
        assert found.wrt == "net.1.bias" and found.reverse == expected["net.1.bias"]
        assert found.equal


def test_paths_with_the_seed_of_the_program() -> None:
    text = """\
x = torch.tensor([1., 2.], requires_grad=True)
y = x * x
y.backward(torch.tensor([1., 10.]))
"""
    assert sum_of_paths(text, "x").sum == (2.0, 40.0)


# ---------------------------------------------------------------- whole in a pipe

CUT = re.compile(r"…")
FOLD = re.compile(r"^\s*…|[-+.\dena]…[-+.\dina]")


@pytest.mark.parametrize("verb", [
    ("trace",), ("trace", "--all", "--ledger"), ("grad",), ("paths", "--wrt", "net.0.fc.weight"),
    ("why", "net.0.fc.weight"), ("step",),
])  # fmt: skip
def test_nothing_is_cut_in_a_pipe(home: Path, verb: tuple[str, ...]) -> None:  # noqa: F811
    (home / "p.expr").write_text(NETWORK)
    done = gradcli(verb[0], "p.expr", *verb[1:])
    assert done.returncode == 0, done.stderr
    cuts = [line for line in done.stdout.splitlines() if CUT.search(line)]
    assert [line for line in cuts if not FOLD.search(line)] == []


def test_few_elements_are_shown_in_full() -> None:
    rows = tree("x = torch.tensor([[0.12345, 2.5, -3.75], [1e-3, 5., 6.25]], requires_grad=True)\n"
                "(x * x).sum().backward()\n", width=300)  # fmt: skip
    (leaf,) = (row for row in rows if " leaf [2, 3] [[" in row)
    assert leaf.count(",") == 1 + 10 and "…" not in leaf  # of the shape, of value and gradient


def test_a_loop_hides_no_parameter() -> None:
    text = """\
net = nn.Linear(1, 1)
for p in net.parameters():
    nn.init.ones_(p)
net(torch.ones(1)).sum().backward()
"""
    leaves = [row.split(" leaf ")[0].split()[-1] for row in tree(text) if " leaf " in row]
    assert sorted(leaves) == ["net.bias", "net.weight"]


# ---------------------------------------------------------------- --of an expression


@pytest.mark.parametrize(
    "line", ["trace", "grad", "paths --wrt x", "step --plain", "grad --format json"]
)
def test_of_takes_an_expression(home: Path, line: str) -> None:  # noqa: F811
    (home / "p.expr").write_text("x = torch.tensor([1., 2.], requires_grad=True)\nz = x * x\n")
    verb, *rest = line.split()
    done = gradcli(verb, "p.expr", "--of", "z.sum()", *rest)
    assert done.returncode == 0, done.stderr
    assert "z.sum()" in done.stdout
    wrong = gradcli(verb, "p.expr", "--of", "1 + 1", *rest)
    assert wrong.returncode == 2 and "--of 1 + 1: its value is not a tensor" in wrong.stderr


def test_every_pass_has_a_tree_of_its_own() -> None:
    ran = recorded(Request(PASSES.encode(), "p.expr"), None, number=EVERY_PASS)
    told = trace_report(ran, Options(number=EVERY_PASS))
    shown = page.text(told, Look(False, True, 80, whole=True))
    heads = [line for line in shown.splitlines() if line.startswith("pass ")]
    assert heads == [f"pass {n} of 3   y.backward()   line 4" for n in (1, 2, 3)]
    grads = [line.split()[-3:-1] for line in shown.splitlines() if " x  " in line]
    assert grads[:3] == [["[1.,", "1.]"], ["[2.,", "2.]"], ["[3.,", "3.]"]]


def test_of_very_many_passes_the_ends_are_drawn() -> None:
    text = PASSES.replace("range(3)", "range(300)")
    ran = recorded(Request(text.encode(), "p.expr"), None, number=EVERY_PASS)
    told = trace_report(ran, Options(number=EVERY_PASS))
    numbers = [one.shown.number for one in told.passes]
    assert len(numbers) == 100 and numbers[:2] == [1, 2] and numbers[-1] == 300
    shown = page.text(told, Look(False, True, 80))
    heads = [line.split()[1] for line in shown.splitlines() if line.startswith("pass ")]
    assert heads == ["1", "2", "298", "299", "300"] and "95 more passes" in shown


def test_the_document_has_the_passes(home: Path) -> None:  # noqa: F811
    (home / "p.expr").write_text(PASSES)
    told = json.loads(gradcli("trace", "p.expr", "--format", "json", "--pass", "all").stdout)
    assert [one["seeds"] for one in told["passes"]] == [[1.0]] * 3
    (leaf,) = [fact["node"] for fact in told["tensors"] if fact["name"] == "x"]
    flows = [row["grad"] for one in told["passes"] for row in one["nodes"] if row["id"] == leaf]
    assert flows == [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]
    last = json.loads(gradcli("trace", "p.expr", "--format", "json").stdout)["passes"]
    assert [one["number"] for one in last] == [3]
    refused = gradcli("trace", "p.expr", "--pass", "0")
    assert refused.returncode == 2 and "counted from 1" in refused.stderr


def test_names_of_one_tensor_share_a_row() -> None:
    shown = page.text(
        report(
            "a = torch.ones(1, requires_grad=True)\nb = a\nc = [a, b * 2]\nd = c[1]\n"
            "net = nn.Linear(1, 1, bias=False)\nfor n, p in net.named_parameters():\n    pass\n"
        ),
        Look(False, True, 200),
    )
    assert [row.split("  ")[0] for row in shown.splitlines() if "  float32" in row] == [
        "a (also b, c[0])", "d (also c[1])", "net.weight (also p)",
    ]  # fmt: skip


def test_why_a_tensor_has_no_gradient() -> None:
    text = (
        "a = torch.ones(1, requires_grad=True)\nb = a.detach()\nwith torch.no_grad():\n"
        "    c = a * 2\nd = torch.tensor([1])\ne = torch.ones(1)\n"
    )
    told = {fact.name: fact.why_not for fact in report(text).tensors}
    assert told == {
        "a": "", "b": "detach(), line 2", "c": "inside no_grad, line 4",
        "d": "no floating numbers", "e": "",
    }  # fmt: skip


def test_on_a_narrow_terminal_names_of_leaves_stay() -> None:
    told = report(NETWORK)
    for width in (60, 80):
        shown = page.text(told, Look(False, True, width))
        tree = shown[shown.index("value") :].partition("\n\n")[0]
        assert "net.0.fc.weight" in tree and "net.1.bias" in tree
        assert max(map(len, shown.splitlines())) <= width or "backward on line" in shown


def test_without_a_column_of_nodes_they_stand_for_words_that_are_repeated() -> None:
    told = report(NETWORK)
    narrow, wide = (page.text(told, Look(False, True, width)) for width in (40, 80))
    assert "grad_fn" not in narrow.partition("tensor  ")[0]
    assert "●  TBackward0" in narrow or "TBackwar" in narrow
    assert "grad_fn" in wide and "TBackward0, in" not in wide
    values = [line.split()[-1] for line in narrow.splitlines() if "Backwa" in line]
    assert values and "…" not in values  # a gradient with one digit is better than none


def test_words_that_no_other_row_has_stay() -> None:
    text = "w = torch.ones(2, requires_grad=True)\ny = w * 2\ny.add_(1)\ny.sum().backward()\n"
    shown = page.text(report(text), Look(False, True, 40))
    assert "w * 2" in shown and "MulBack" not in shown


def test_ten_thousand_names_are_not_ten_thousand_rows() -> None:
    text = "".join(f"x{i} = torch.tensor({i}.)\n" for i in range(10_000))
    shown = page.text(report(text), Look(False, True, 80))
    assert len(shown.splitlines()) < 100 and "9,920 more" in shown


def test_the_legend_is_the_list_of_the_docs() -> None:
    text = (Path(__file__).parent.parent / "docs" / "trace.md").read_text("utf-8")
    for sign, meaning in SIGNS:
        assert f"| `{sign}` | {meaning} |" in text


def test_the_legend_alone(home: Path) -> None:  # noqa: F811
    """Without FILE it is all that is printed."""
    rows = gradcli("trace", "--legend", cwd=home).stdout.splitlines()
    assert [row.split("  ")[-1].strip() for row in rows] == [meaning for _, meaning in SIGNS]
    assert gradcli("flow", "--legend", cwd=home).stdout.startswith("pass   ")


def test_a_warning_has_its_line_and_names_a_command(home: Path) -> None:  # noqa: F811
    (home / "p.expr").write_text(
        "x = torch.ones(2, requires_grad=True)\ny = x * 2\ny.sum().backward()\n"
        "for i in range(3):\n    print(y.grad)\n"
    )
    done = gradcli("run", "p.expr")
    assert done.stdout == "None\nNone\nNone\n"
    first, advice = done.stderr.splitlines()
    assert first.startswith("p.expr:5: UserWarning: The .grad attribute of a Tensor that is not a")
    assert advice.startswith("help: gradcli why p.expr NAME, for the tensor that was asked, or gr")
    assert advice.endswith("adcli trace p.expr --retain-grad all")
    assert gradcli("run", "-q", "p.expr").stderr == ""


def test_constants_have_the_values_that_were_used() -> None:
    """Not those of the end; a number is no row, and F.linear's weight is no constant."""
    text = """\
x, w = torch.tensor([1., 2.]), torch.tensor([[3., 4.]], requires_grad=True)
t, total = torch.tensor(0.5), 0
for i in range(3):
    t = t + 1
    total = total + F.linear(x, w, None).sum() * t
total.backward()
x += 5
"""
    found = report(text).constants
    assert [(one.text, one.value) for one in found if not one.shape] == [
        ("t", "tensor(3.5000)"), ("t", "tensor(2.5000)"), ("t", "tensor(1.5000)"),
    ]  # fmt: skip
    assert {(one.text, one.value) for one in found if one.shape} <= {("x", "tensor([1., 2.])")}
    layer = "x, w, b = torch.ones(1, 2), torch.ones(1, 2).requires_grad_(), torch.ones(1)\n"
    found = report(f"{layer}y = F.linear(x, w, b)\ny.backward()\n").constants
    assert [one.text for one in found] == ["b", "x"]


def test_leaves_have_the_line_that_made_them() -> None:
    """Wherever they are kept, and whoever is given them."""
    text = """\
held, made = {}, []
held["w"] = torch.tensor(1., requires_grad=True)
made.append(torch.ones(()).requires_grad_())
made += [
    torch.tensor(2., requires_grad=True),
    torch.tensor(3., requires_grad=True),
]
def new(value):
    return torch.tensor(value, requires_grad=True)
v = new(4.)
held["p"] = nn.Parameter(torch.ones(()))
y = torch.tensor(6.)
y.requires_grad_()
made.append(y * 2)
loss = sum(made) * held["w"] * v * held["p"]
loss.backward()
"""
    lines = {fact.name: fact.line for fact in report(text).tensors}
    assert lines == {
        "held['w']": 2, "made[0]": 3, "made[1]": 5, "made[2]": 6, "v": 9, "held['p']": 11,
        "y": 12, "made[3]": 14, "loss": 15,
    }  # fmt: skip


def test_every_output_of_a_node_has_its_value_and_gradient() -> None:
    start = "x = torch.tensor([[1., 2., 3.], [4., 0., -1.]], requires_grad=True)\n"
    rows = tree(start + "a, b, c = x.unbind(1)\n((a * b) * a).sum().backward()\n")
    assert [row.strip("│├└─ ") for row in rows if "Unbind" in row][:3] == [
        "#1 a: x.unbind(1) UnbindBackward0 [2] [1., 4.] [4., 0.] 2",
        "b: x.unbind(1), see #1 above UnbindBackward0 [2] [2., 0.] [ 1., 16.] 2",
        "a: x.unbind(1) UnbindBackward0 see #1 above",
    ]
    later = tree("def f():\n    return torch.ones(3, requires_grad=True).split([1, 2])\n"
                 "a, b = f()\ny = b.sum()\nfor i in range(4):\n    y = y * 2 + 1\n"
                 "(a * y).sum().backward()\n")  # fmt: skip
    assert [row for row in later if "Split" in row and "see #1 below" in row and "[47.]" in row]


def test_a_copied_leaf_has_the_line_that_copied_it() -> None:
    text = "import copy\na = nn.Linear(2, 1)\nb = copy.deepcopy(a)\n"
    text += "enc = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 1, 4), 2)\n"
    text += "(b(torch.ones(2)).sum() + enc(torch.ones(1, 1, 4)).sum()).backward()\n"
    lines = {fact.name: fact.line for fact in report(text).tensors}
    assert (lines["a.weight"], lines["b.weight"], lines["enc.layers.1.norm1.bias"]) == (2, 3, 4)


@pytest.mark.parametrize("engine", ["own", "torch"])
def test_the_type_stands_beside_every_shape(home: Any, engine: str) -> None:  # noqa: F811
    """Of long texts, which PyTorch breaks before the type, and of tensors without a text too."""
    if engine == "torch":
        pytest.importorskip("torch")
    (home / "long.py").write_text("""\
import torch
x = torch.randn(3, 36, dtype=torch.float64, requires_grad=True)
y = (x * 2).relu()
z = torch.ones(90, 90, dtype=torch.float64) * y.flatten()[0]
z.sum().backward()
""")
    done = gradcli("trace", "long.py", "--engine", engine, cwd=home)
    tree = done.stdout.partition("\n\n")[0].splitlines()[1:]
    assert tree and all("float64" in row for row in tree if "see above" not in row), done.stdout


def test_the_line_of_a_leaf_is_one_in_all_documents(home: Any) -> None:  # noqa: F811
    """It is where the leaf was made, and not where it got its last name."""
    (home / "named.expr").write_text("""\
net = torch.nn.Linear(2, 1)
loss = net(torch.ones(3, 2)).sum()
loss.backward()
weight = net.weight
""")
    lines = {}
    for command in ("trace", "grad"):
        document = json.loads(gradcli(command, "named.expr", "--format", "json", cwd=home).stdout)
        facts = document["tensors" if command == "trace" else "gradients"]
        lines[command] = {fact["name"]: fact["line"] for fact in facts}
    assert lines["grad"]["weight"] == lines["trace"]["weight"] == 1
    asked = gradcli("grad", "named.expr", "--wrt", "weight", "--format", "json", cwd=home).stdout
    assert json.loads(asked)["gradients"][0]["line"] == 1
