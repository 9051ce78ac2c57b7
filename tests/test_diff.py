"""Tests of `gradcli diff`: what differs between two runs, and where they part first."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from command_here import here as gradcli
from schemas import fits

BASE = """\
# set: w=2.0
x = torch.tensor([1.0, 2.0, 3.0])
h = torch.sigmoid(w * x)
d = h - 0.5
loss = (d**2).mean()
loss.backward()
print(loss.item())
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.expr").write_text(BASE)
    return tmp_path


def document(*words: str) -> Any:
    done = gradcli("diff", *words, "--format", "json")
    doc = json.loads(done.stdout)
    fits(doc, "gradcli.diff-1")
    assert done.returncode == (0 if doc["equal"] else 1)
    assert doc["equal"] == (not doc["differences"]) == (doc["first"] is None)
    return doc


def against(home: Path, old: str, new: str, *options: str) -> Any:
    """The base program against one with a piece of text replaced."""
    assert old in BASE
    (home / "b.expr").write_text(BASE.replace(old, new))
    return document("a.expr", "b.expr", *options)


def told(doc: Any) -> list[tuple[str, str]]:
    return [(d["kind"], d["name"]) for d in doc["differences"]]


def test_equal(home: Path) -> None:
    doc = document("a.expr", "a.expr")
    assert doc["equal"] and doc["same"] == {
        "tensors": 5, "nodes": 6, "values": 5, "gradients": 1, "largest": 0.0,
    }  # fmt: skip
    page = gradcli("diff", "a.expr", "a.expr").stdout
    assert page.splitlines()[-1] == "equal: 5 tensors, 6 nodes, 1 gradient"


def test_a_tensor_of_two_modules_is_compared_once(home: Path) -> None:
    (home / "tied.expr").write_text(
        "net = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False))\n"
        "net[1].weight = net[0].weight\nnet(torch.ones(2)).sum().backward()\n"
    )
    doc = document("tied.expr", "tied.expr")
    assert doc["equal"] and doc["same"]["tensors"] == doc["a"]["tensors"] == 2


def test_another_operation(home: Path) -> None:
    doc = against(home, "h - 0.5", "h * 0.5")
    first = doc["first"]
    assert (first["kind"], first["name"], first["a"], first["b"]) == (
        "node", "d", "SubBackward0", "MulBackward0",
    )  # fmt: skip
    assert (first["line_a"], first["line_b"]) == (4, 4)
    assert (first["expression_a"], first["expression_b"]) == ("d = h - 0.5", "d = h * 0.5")
    kinds = told(doc)
    assert ("gradient", "w") in kinds and ("output", "") in kinds
    assert ("value", "h") not in kinds and not any(name == "x" for _, name in kinds)


def test_another_number(home: Path) -> None:
    doc = against(home, "h - 0.5", "h - 0.25")
    first = doc["first"]
    assert (first["kind"], first["line_a"]) == ("value", 4)
    assert first["expression_b"] == "d = h - 0.25"


def test_lines_of_either(home: Path) -> None:
    doc = against(home, "d = h", "unused = x * 2\n\nd = 2 * h")
    assert ("tensor", "unused") in told(doc)
    assert (doc["first"]["line_a"], doc["first"]["line_b"]) == (4, 6)


def test_detached(home: Path) -> None:
    """Same values, another gradient: the edge that carries none is the difference."""
    doc = against(home, "(d**2)", "(d * d.detach())")
    assert (doc["first"]["a"], doc["first"]["b"]) == ("PowBackward0", "MulBackward0")
    doc = against(home, "torch.sigmoid(w * x)", "torch.sigmoid(w * x + 0 * w)")
    assert {"node"} <= {kind for kind, _ in told(doc)}


RANDOM = """\
torch.manual_seed(3)
net = nn.Linear(3, 20)
x = torch.randn(2, 3)
u = torch.rand(5)
n = torch.randn(17)
b = torch.bernoulli(u)
d = F.dropout(n, 0.5)
p = torch.randperm(6)
e = torch.empty(4).exponential_()
"""


def test_two_types_draw_the_same_random_numbers(home: Path) -> None:
    (home / "r.expr").write_text(RANDOM)
    doc = document("r.expr", "--dtype", "float32,float64", "--rtol", "1e-5")
    assert doc["equal"], doc["differences"]


def test_flags_and_types(home: Path) -> None:
    doc = against(home, "x = torch.tensor([1.0, 2.0, 3.0])",
                  "x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)")  # fmt: skip
    assert ("flag", "x") in told(doc) and ("gradient", "x") in told(doc)
    doc = against(home, "[1.0, 2.0, 3.0]", "[1, 2, 3]")
    assert ("dtype", "x") in told(doc)
    doc = against(home, "[1.0, 2.0, 3.0]", "[1.0, 2.0]")
    assert ("shape", "x") in told(doc) and doc["first"]["name"] == "x"


def test_inputs(home: Path) -> None:
    doc = document("a.expr", "--set-b", "w=2.5")
    assert (doc["a"]["settings"], doc["b"]["settings"]) == ("", "--set w=2.5")
    assert ("value", "w") in told(doc) and doc["first"]["line_a"] == 3
    assert document("a.expr", "--set-a", "w=2.0", "--set-b", "w=2.0")["equal"]


def test_precision(home: Path) -> None:
    doc = document("a.expr", "--dtype", "float32,float64")
    assert doc["equal"] and 0 < doc["same"]["largest"] < 1e-6
    assert (doc["a"]["dtype"], doc["b"]["dtype"]) == ("float32", "float64")
    assert not document("a.expr", "--dtype", "float32,float64", "--rtol", "0", "--atol",
                        "0")["equal"]  # fmt: skip
    assert not document("a.expr", "--dtype", "float16,float64")["equal"]


def test_a_loop_parts_where_it_parts(home: Path) -> None:
    text = (
        "w = tensor(1.0, requires_grad=True)\nfor i in range(5):\n    loss = (w * 3 - 1) ** 2\n"
        "    loss.backward()\n    with torch.no_grad():\n        w -= {} * w.grad\n"
        "    w.grad = None\n"
    )
    (home / "a.expr").write_text(text.format("0.01"))
    (home / "b.expr").write_text(text.format("0.02"))
    first = document("a.expr", "b.expr")["first"]
    assert (first["words"], first["line_a"], first["expression_a"]) == (
        "value of operation 4 of 15", 3, "w * 3",
    )  # fmt: skip


def test_the_element_that_parts_first(home: Path) -> None:
    text = (
        "x = ones(2, 3, requires_grad=True)\nx.sigmoid()\n"
        "y = x * tensor([1.0, 2.0, {}])\nz = y * y\n"
    )
    (home / "a.expr").write_text(text.format("3.0"))
    (home / "b.expr").write_text(text.format("4.0"))
    first = document("a.expr", "b.expr")["first"]
    assert (first["words"], first["a"], first["b"]) == (
        "element [0, 2] of operation 2 of 3",
        "3",
        "4",
    )


def test_a_backward_parts_where_it_parts(home: Path) -> None:
    """The operation that was given the same gradient and hands on another one."""
    text = (
        "class Own(autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
        "        return x * 2\n    @staticmethod\n    def backward(ctx, g):\n"
        "        return g * {}\n"
        "x = tensor([1.0, 2.0], requires_grad=True)\nh = Own.apply(x.exp())\nL = (h * 3).sum()\n"
        "L.backward()\n"
    )
    (home / "a.expr").write_text(text.format("2"))
    (home / "b.expr").write_text(text.format("1"))
    doc = document("a.expr", "b.expr")
    assert told(doc) == [("gradient", "x[1]")]
    first = doc["first"]
    assert (first["name"], first["line_a"], first["expression_a"], first["a"], first["b"]) == (
        "h", 9, "h = Own.apply(x.exp())", "6", "3",
    )  # fmt: skip
    assert first["words"] == "gradient that it passes to ExpBackward0"


def test_parameters_of_modules(home: Path) -> None:
    text = "torch.manual_seed({})\nnet = nn.Linear(2, 1)\nloss = net(torch.ones(1, 2)).sum()\n"
    (home / "a.expr").write_text(text.format(0))
    (home / "b.expr").write_text(text.format(1))
    names = [name for _, name in told(document("a.expr", "b.expr"))]
    assert any(name.startswith("net.weight") for name in names) and "net.bias" in names


def test_nothing_of_one_run_reaches_the_other(home: Path) -> None:
    (home / "a.expr").write_text("torch.set_default_dtype(torch.float64)\nx = torch.rand(3)\n")
    assert document("a.expr", "a.expr")["equal"]


def test_errors(home: Path) -> None:
    (home / "a.expr").write_text("x = tensor(1.0)\nx.backward()\n")
    (home / "b.expr").write_text("x = tensor(1.0)\nx.sideways()\n")
    doc = document("a.expr", "b.expr")
    assert told(doc) == [("error", "")] and doc["first"]["line_b"] == 2
    assert document("a.expr", "a.expr")["equal"]
    both = gradcli("diff", "a.expr", "a.expr").stdout.splitlines()[-1]
    assert both.startswith("both end in RuntimeError: element 0 of tensors does not require grad")
    (home / "b.expr").write_text("x = (\n")
    done = gradcli("diff", "a.expr", "b.expr")
    assert done.returncode == 3 and done.stderr.splitlines()[-1].startswith("SyntaxError:")
    (home / "b.expr").write_text("while True:\n    pass\n")
    assert gradcli("diff", "a.expr", "b.expr", "--max-steps", "1000").returncode == 4


@pytest.mark.parametrize(
    "words",
    [("a.expr",), ("a.expr", "a.expr", "a.expr"), ("a.expr", "nowhere.expr"),
     ("a.expr", "--dtype", "float32,float64,half"), ("a.expr", "--dtype", "int8"),
     ("a.expr", "--device", "cpu,moon"), ("a.expr", "--set-b", "nobody=1.0")],
)  # fmt: skip
def test_misuse(home: Path, words: tuple[str, ...]) -> None:
    done = gradcli("diff", *words)
    assert done.returncode == 2 and "UsageError:" in done.stderr and "Traceback" not in done.stderr


def test_long_graphs(home: Path) -> None:
    text = "x = tensor(1.0, requires_grad=True)\ny = x\nfor i in range(30000):\n    y = y * {}\n"
    (home / "a.expr").write_text(text.format("1.0001"))
    (home / "b.expr").write_text(text.format("1.0001") + "z = y * 2\n")
    assert told(document("a.expr", "b.expr")) == [("tensor", "z")]


def test_another_operation_within_a_module(home: Path) -> None:
    """That is where they part, and not a parameter that both updated otherwise."""
    text = "net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())\n"
    text += "net(torch.ones(1, 2)).sum().backward()\n"
    step = "optim.SGD(net.parameters(), lr=0.1).step()\n"
    (home / "a.expr").write_text(text + step)
    (home / "b.expr").write_text(text.replace("ReLU", "Tanh") + step)
    page = gradcli("diff", "a.expr", "b.expr").stdout
    assert (
        """
first divergence  ReluBackward0: operation
  A  line 2  net(torch.ones(1, 2))  ReluBackward0
  B  line 2  net(torch.ones(1, 2))  TanhBackward0
"""
        in page
    )


def test_nodes_behind_a_root_without_a_name(home: Path) -> None:
    text = "w = tensor([1.0, 2.0], requires_grad=True)\n(w * w).sum().backward()\n"
    (home / "a.expr").write_text(text)
    (home / "b.expr").write_text(text.replace("sum", "mean"))
    assert "equal: 1 tensor, 3 nodes, 1 gradient" in gradcli("diff", "a.expr", "a.expr").stdout
    page = gradcli("diff", "a.expr", "b.expr").stdout
    assert "first divergence  SumBackward0: operation\n" in page
    assert "1 of 3 nodes are equal" in page


def test_the_page(home: Path) -> None:
    (home / "b.expr").write_text(BASE.replace("h - 0.5", "h * 0.5"))
    page = gradcli("diff", "a.expr", "b.expr").stdout
    assert max(map(len, page.splitlines())) <= 80
    assert "first divergence  d: operation" in page
    assert "  A  line 4  d = h - 0.5  SubBackward0" in page.splitlines()
    plain = gradcli("diff", "a.expr", "b.expr", PYTHONIOENCODING="ascii", LC_ALL="C").stdout
    assert plain.isascii()
    assert "\x1b[" in gradcli("diff", "a.expr", "b.expr", "--color", "always").stdout
    (home / "b.expr").write_text("print('\\x1b[31m')\n")
    assert "\x1b" not in gradcli("diff", "a.expr", "b.expr").stdout


CANCELLING = """\
torch.manual_seed(0)
x = torch.rand(5, requires_grad=True)
y = x * 3
z = (x + 1000.0) - 1000.0
large = (torch.linspace(1, 2, 500) + x[0] + 1e5) - 1e5
w = y.sum() + z.sum() + large.mean()
"""


@pytest.mark.parametrize("types", ["float32,float64", "float64,float32"])
def test_digits_that_a_line_loses(home: Path, types: str) -> None:
    (home / "a.expr").write_text(CANCELLING)
    doc = document("a.expr", "--dtype", types)
    lost = {fact["line"]: fact["lost"] for fact in doc["digits"]}
    assert lost[3] < 0.5 and 1.8 < lost[4] < 3.5 and 3.8 < lost[5] < 5.5
    assert all(abs(fact["left"] + fact["lost"] - 7.22) < 0.01 for fact in doc["digits"])
    page = gradcli("diff", "a.expr", "--dtype", types).stdout
    assert re.search(r"digits lost  left  line .*\n.*    4  z = \(x \+ 1000\.0\) - 1000\.0\n", page)
    assert document("a.expr", "a.expr")["digits"] == []


def test_digits_of_numbers_that_are_not_finite(home: Path) -> None:
    (home / "a.expr").write_text("x = torch.tensor([1e-30, 200.], requires_grad=True)\n"
                                 "y = x / x * x.exp()\nz = (x * 0).log()\n")  # fmt: skip
    doc = document("a.expr", "--dtype", "float32,float64")
    left = {fact["line"]: fact["left"] for fact in doc["digits"]}
    assert left[2] == 0 and left[3] > 7


def test_an_operation_that_only_one_side_has(home: Path) -> None:
    """It is one difference, and what lies above and below it is the same."""
    base = document("a.expr", "a.expr")["same"]["nodes"]
    doc = against(home, "torch.sigmoid(w * x)", "torch.sigmoid((w * x).tanh())")
    lone = [d for d in doc["differences"] if d["kind"] == "node"]
    assert [(d["name"], d["a"], d["b"]) for d in lone] == [("TanhBackward0", None, "TanhBackward0")]
    assert doc["first"] == lone[0] and doc["same"]["nodes"] == base
    doc = document("b.expr", "a.expr")
    assert (doc["first"]["words"], doc["first"]["a"]) == ("only in A", "TanhBackward0")
    assert doc["first"]["expression_b"] == "w * x"


def test_an_operation_with_a_name_that_only_one_side_has(home: Path) -> None:
    doc = against(home, "h = torch.sigmoid(w * x)", "z = w * x\nh = torch.sigmoid(z.exp())")
    assert ("tensor", "z") in told(doc) and ("node", "ExpBackward0") in told(doc)
    doc = against(home, "h = torch.sigmoid(w * x)", "z = (w * x).exp()\nh = torch.sigmoid(z)")
    assert ("tensor", "z") in told(doc) and doc["first"]["b"] == "ExpBackward0"
    assert not any(kind == "node" for kind, _ in told(doc))  # the row of z says it


def test_an_operation_that_takes_another_tensor(home: Path) -> None:
    """Values and operations are the same, and the graph is not."""
    (home / "x.expr").write_text("x = tensor(2., requires_grad=True)\ny = x * 1\nL = x.exp()\n")
    (home / "y.expr").write_text("x = tensor(2., requires_grad=True)\ny = x * 1\nL = y.exp()\n")
    first = document("x.expr", "y.expr")["first"]
    assert (first["kind"], first["name"], first["a"], first["b"]) == ("edge", "L", "x", "y")
