"""Tests of names: leaves and modules of objects that came and went, names that come late."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command_here import here
from test_cli import gradcli, home  # noqa: F401
from test_shown import gradients, sum_of_paths, tree

KEPT = """\
from collections import namedtuple
class Vector:
    def __init__(self, x):
        self.x = torch.tensor(x, requires_grad=True)
Pair = namedtuple("Pair", "a b")
pair = Pair(torch.tensor(2., requires_grad=True), 3.)
v = Vector(5.)
v2 = v
v = Vector(7.)
loss = v2.x * pair.a * torch.tensor(4., requires_grad=True)
loss.backward()
"""


def test_leaves_of_objects_that_came_and_went() -> None:
    """Lines of leaves in objects; one without a name is called by its expression."""
    rows = tree(KEPT)
    assert [row for row in rows if " leaf " in row] == [
        "│ ├─ v2.x leaf 5. 8. 4", "│ └─ pair[0] leaf 2. 20. 6",
        "└─ torch.tensor(4., requires_grad=True) leaf 4. 10. 10",
    ]  # fmt: skip
    assert sum_of_paths(KEPT, "pair[0]").reverse == 20.0


REPLACED = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(1, 1), nn.Tanh())
    def forward(self, x):
        return self.body(x)
def train(params):
    loss = (params ** 2).sum()
    loss.backward()
    with torch.no_grad():
        params -= 0.1 * params.grad
    return params
for i in range(2):
    model = Net()
    out = model(torch.ones(1))
    out.backward()
theta = train(torch.ones(2, requires_grad=True))
"""


def test_names_of_a_model_that_was_replaced_and_of_a_result_bound_later() -> None:
    rows = tree(REPLACED, 1)
    assert any("self.body(x), in model.body.1" in row for row in rows), rows
    assert sorted(gradients(REPLACED, 1)) == ["model.body.0.bias", "model.body.0.weight"]
    assert sum_of_paths(REPLACED, "theta").reverse == (2.0, 2.0)
    assert sum_of_paths(REPLACED, "model.body.0.bias", 2).equal


def test_modules_in_objects_and_containers_have_paths() -> None:
    text = """\
class Keeper:
    def __init__(self, inner):
        self.inner = inner
k = Keeper([nn.Sequential(nn.Identity(), nn.Tanh())])
d = {"a": k}
def run(x):
    return d["a"].inner[0](x)
run(torch.ones(1, requires_grad=True)).backward()
"""
    assert tree(text)[1].startswith("""d["a"].inner[0](x), in k.inner[0].1 Tanh""")


def test_a_named_result_says_its_layer() -> None:
    text = "net = nn.Sequential(nn.Linear(1, 1), nn.Tanh())\nout = net(torch.ones(1))\nout.sum()"
    assert tree(text + ".backward()\n")[2].startswith("└─ out = net(torch.ones(1)), in net.1 Tanh")


def test_commas_in_brackets_belong_to_an_expression(home: Path) -> None:  # noqa: F811
    text = "x = torch.tensor([1., 2.], requires_grad=True)\ny = x * 2\ny.sum().backward()\n"
    (home / "p.expr").write_text(text, encoding="utf-8")
    done = gradcli("trace", "p.expr", "--of", "torch.dot(x, y), y")
    assert done.stdout.splitlines()[1].startswith("torch.dot(x, y)  DotBackward0"), done
    wrt = "torch.ones(2, requires_grad=True)"
    (home / "p.expr").write_text(f"({wrt} * 2).sum().backward()\n", encoding="utf-8")
    done = gradcli("grad", "p.expr", "--wrt", wrt)
    assert f"/d({wrt}) = tensor([2., 2.])" in done.stdout, done


def test_a_model_that_a_function_makes_anew_in_each_call() -> None:
    text = """\
def fold(x):
    model = nn.Linear(1, 1)
    model(torch.full((1,), x)).backward()
for x in (1.0, 2.0):
    fold(x)
"""
    assert sum_of_paths(text, "model.weight").reverse == 2.0
    assert sum_of_paths(text, "model.weight", 1).reverse == 1.0
    assert gradients(text) == {"model.weight": ((2.0,),), "model.bias": (1.0,)}


def test_leaves_of_nested_containers_that_a_loop_replaces() -> None:
    text = """\
layers = [{"w": torch.tensor(i + 2., requires_grad=True)} for i in range(2)]
heads = [torch.tensor(5., requires_grad=True)]
y = torch.ones(())
for params in (heads, [*heads, y]):
    y = y * params[0]
for layer in layers:
    y = y * layer["w"]
y.backward()
for layer in layers:
    layer["w"] = (layer["w"] - layer["w"].grad).detach().requires_grad_()
"""
    assert gradients(text) == {"heads[0]": 60.0, "layers[0]['w']": 75.0, "layers[1]['w']": 50.0}
    rows = [row for row in tree(text) if " leaf " in row]
    assert all(any(f"{name} leaf" in row for row in rows) for name in gradients(text)), rows


REBOUND = """\
x = torch.tensor(3., requires_grad=True)
x = x * 2
x = x + 1
def f(x):
    u = x * 5
    return u
y = f(x) * x
y.backward()
"""


@pytest.mark.parametrize(
    "name, gradient", [("x", 70), ("x#1", 140), ("x#2", 70), ("x#3", 70), ("u", 7), ("u#1", 7)]
)
def test_a_numbered_name_is_the_same_tensor_everywhere(
    name: str, gradient: int, home: Path,  # noqa: F811
) -> None:  # fmt: skip
    (home / "p.expr").write_text(REBOUND, encoding="utf-8")
    path = str(home / "p.expr")
    assert f"/d{name} = tensor({gradient}.)" in here("grad", path, "--wrt", name).stdout
    assert f" = {gradient}, " in here("paths", path, "--wrt", name).stdout
    assert here("why", path, name).stdout.startswith(f"{name}.grad is ")


def test_lists_tell_tensors_of_one_name_apart(home: Path) -> None:  # noqa: F811
    path = str(home / "p.expr")
    Path(path).write_text(REBOUND, encoding="utf-8")
    assert "dy/dx#1 = tensor(140.)" in here("grad", path).stdout
    assert "x#3 = x + 1" in here("step", path, "--plain").stdout
    done = here("grad", path, "--wrt", "x#4")
    assert (done.returncode, "x stood for 3 tensors" in done.stderr) == (2, True), done
    text = "x = torch.tensor(3., requires_grad=True)\ny = x * 2\n"
    Path(path).write_text(f"{text}{text.splitlines()[0]}\n(y * x).backward()\n", encoding="utf-8")
    assert re.search(r"^x#1 .*\d", here("flow", path).stdout, re.MULTILINE)
    assert "leaf · line 1" in here("trace", path, "--format", "svg").stdout


def test_rows_have_the_assignments_of_the_text() -> None:
    text = """\
x = torch.ones(2, requires_grad=True)
y: torch.Tensor = x * 2
a = b = y.exp()
z = (a  # not of the expression
     + b)
z.sum().backward()
"""
    rows = [row.split("  ")[0].strip("└─├│● ") for row in tree(text)]
    assert [row.partition(" [2] ")[0] for row in rows if ":" in row and "above" not in row] == [
        "z: a + b AddBackward0", "#1 a: y.exp() ExpBackward0", "y: x * 2 MulBackward0",
    ]  # fmt: skip
