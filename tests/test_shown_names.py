"""Tests of names: leaves and modules of objects that came and went, names that come late."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import pytest
from command_here import here
from test_cli import gradcli, home  # noqa: F401
from test_shown import gradients, sum_of_paths, tree

from gradcli.pipeline.request import Request
from gradcli.questions.trace import Options, recorded, trace_report
from gradcli.render import trace as page
from gradcli.render.text import Look

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


NAMED = """\
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 1))
def lossof(x):
    h = net(x)
    return (h - 1).sum()
s = torch.tensor(2., requires_grad=True)
s = s * 3
for i in range(2):
    loss = lossof(torch.ones(1, 2)) * s
    loss.backward(retain_graph=True)
"""


@pytest.mark.parametrize("name", ["h", "s#2", "loss#1", "net.0.weight", "net.2.bias", "s"])
def test_what_one_command_prints_every_other_takes(name: str, home: Path) -> None:  # noqa: F811
    (home / "p.expr").write_text(NAMED, encoding="utf-8")
    path = str(home / "p.expr")
    of = ("--of", name)
    asked = [
        ("trace", path, *of), ("grad", path, "--wrt", name), ("paths", path, "--wrt", name),
        ("why", path, name), ("grad", path, "--order", "2", "--wrt", name),
        ("trace", path, "--wrt", name), ("trace", path, "--hook", f"{name}=norm"),
        ("trace", path, "--retain-grad", name), ("show", path, *of, "--no-open", "-o", "p.html"),
    ]  # fmt: skip
    if "net" not in name:
        asked += [
            ("grad", path, *of),
            ("step", path, "--plain", *of),
            ("step", path, "--break", name),
        ]
    failed = [(words, done.stderr) for words in asked if (done := here(*words)).returncode]
    assert failed == []


WITHIN = """\
torch.manual_seed(0)
def train():
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    frozen = nn.Linear(1, 1).requires_grad_(False)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for i in range(2):
        opt.zero_grad()
        out = net(torch.ones(4, 2))
        loss = frozen(out).pow(2).mean()
        loss.backward()
        opt.step()
train()
start = torch.zeros(2)
start.copy_(torch.ones(2, requires_grad=True) * 3)
"""


@pytest.mark.parametrize("name", ["net.2.bias", "loss", "out", "frozen.weight", "start"])
def test_names_of_a_network_in_a_function_are_taken(name: str, home: Path) -> None:  # noqa: F811
    """`--of loss` is about the pass where the weights have changed since."""
    (home / "p.expr").write_text(WITHIN, encoding="utf-8")
    path, of, wrt = str(home / "p.expr"), ("--of", name), ("--wrt", name)
    asked = [("trace", path, *of), ("why", path, name)]
    if name != "start":  # which does not require grad at first
        asked += [("grad", path, *wrt), ("trace", path, *wrt)]
    if name != "frozen.weight":
        asked += [("trace", path, "--hook", f"{name}=norm"), ("trace", path, "--retain-grad", name)]
    if name in ("net.2.bias", "loss"):
        asked += [("grad", path, *of), ("step", path, *of, "--plain"),
                  ("step", path, "--break", name),
                  ("paths", path, *of, "--wrt", "net.2.bias")]  # fmt: skip
    failed = [(words, done.stderr) for words in asked if (done := here(*words)).returncode]
    assert failed == []
    if name == "loss":
        every, anew = (json.loads(here("grad", path, "--format", "json", *more).stdout)
                       for more in ((), of))  # fmt: skip
        assert every["gradients"] == anew["gradients"]


UPDATED = """\
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, t = torch.randn(5, 3), torch.randn(5, 1)
for turn in range(3):
    out = net(x)
    loss = ((out - t) ** 2).mean()
    opt.zero_grad()
    print(torch.autograd.grad(out.sum(), net[2].weight, retain_graph=True)[0].tolist())
    loss.backward()
    opt.step()
"""


@pytest.mark.parametrize("number", [None, 1, 2, 4])
def test_of_is_computed_where_nothing_was_updated_yet(
    home: Path,  # noqa: F811
    number: int | None,
) -> None:
    """PyTorch can't go back through `out` after the step; the program printed what it could then.

    Each turn has two passes: pass 2 is the backward call of the first one.
    """
    (home / "p.expr").write_text(UPDATED, encoding="utf-8")
    path, of = str(home / "p.expr"), ("--of", "out.sum()")
    asked = (*of, "--wrt", "net.2.weight", "--format", "json",
             *(() if number is None else ("--pass", str(number))))  # fmt: skip
    grad, paths = (json.loads(here(verb, path, *asked).stdout) for verb in ("grad", "paths"))
    printed = [json.loads(line) for line in grad["output"].splitlines()]
    then = printed[-1 if number is None else (number - 1) // 2]
    assert grad["gradients"][0]["grad"] == then == paths["reverse"]
    told = 5 if number is None else number
    assert [document["pass"]["number"] for document in (grad, paths)] == [told, told]


def test_what_was_updated_is_said(home: Path) -> None:  # noqa: F811
    (home / "p.expr").write_text(UPDATED, encoding="utf-8")
    path, of = str(home / "p.expr"), ("--of", "out.sum()")
    page = here("grad", path, *of)
    assert "after pass 5 of 6   torch.autograd.grad(" in page.stdout
    assert "later the program changed in place what it was computed from" in page.stderr
    page = here("step", path, *of, "--plain")
    assert (page.returncode, "pass 6 of 6   out.sum()" in page.stdout) == (0, True), page
    again = here("step", path, *of, "--commands", "-", stdin="run\nshow out.sum() * 0\n")
    assert "tensor(0., grad_fn=<MulBackward0>)" in again.stdout.replace("-0.", "0."), again


@pytest.mark.parametrize("verb", ["grad", "paths", "step"])
def test_what_no_pass_saw_unchanged_is_refused(home: Path, verb: str) -> None:  # noqa: F811
    text = "x = torch.ones(2, requires_grad=True)\n(x * x).sum().backward()\ny = x.exp()\n"
    (home / "p.expr").write_text(text + "with torch.no_grad():\n    y.mul_(2)\n", "utf-8")
    done = here(verb, str(home / "p.expr"), "--of", "y.sum()")
    assert done.returncode == 3 and "modified by an inplace operation" in done.stderr, done


def test_leaves_keep_their_names_in_a_pass_before_they_change_their_type() -> None:
    rows = tree(
        "net = nn.Linear(1, 1)\nnn.init.ones_(net.bias)\n"
        "loss = net(torch.ones(1)).sum()\nloss.backward()\n"
        "later = net.double()(torch.ones(1).double()).sum()\n"
    )
    assert next(row for row in rows if "net.bias leaf" in row).split()[-3:-1] == ["[1.]", "[1.]"]


def test_an_element_is_no_tensor_with_a_gradient(home: Path) -> None:  # noqa: F811
    (home / "p.expr").write_text("x = torch.ones(2, requires_grad=True)\nx.sum().backward()\n")
    done = here("grad", str(home / "p.expr"), "--wrt", "x[0]")
    assert (done.returncode, "x[0] an element of it: ask for x" in done.stderr) == (2, True)


def test_a_leaf_without_a_name_is_asked_by_its_words(home: Path) -> None:  # noqa: F811
    words = "torch.ones(2, requires_grad=True)"
    (home / "p.expr").write_text(f"y = {words} * 3\ny.sum().backward()\n", encoding="utf-8")
    path = str(home / "p.expr")
    for asked in (("grad", path, "--wrt", words), ("paths", path, "--wrt", words),
                  ("why", path, words), ("why", path, f"{words}.grad[0]")):  # fmt: skip
        done = here(*asked)
        assert (done.returncode, words in done.stdout) == (0, True), done


def test_a_parameter_that_only_self_led_to_is_asked(home: Path) -> None:  # noqa: F811
    text = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(1, 1)
    def forward(self, x):
        return self.lin(x)
print(Net()(torch.ones(1, 1)).shape)
"""
    (home / "p.expr").write_text(text, encoding="utf-8")
    done = here("why", str(home / "p.expr"), "self.lin.bias")
    assert (done.returncode, "backward was never called" in done.stdout) == (0, True), done


def test_a_result_that_had_a_name_is_differentiated(home: Path) -> None:  # noqa: F811
    (home / "p.expr").write_text(NAMED, encoding="utf-8")
    path = str(home / "p.expr")
    wanted = ("grad", path, "--wrt", "net.0.weight", "--format", "json")
    first, again = (json.loads(here(*wanted, *more).stdout)["gradients"][0]["grad"]
                    for more in (("--pass", "1"), ("--of", "loss#1")))  # fmt: skip
    assert first == again
    page = here("grad", path, "--of", "loss#1", "--wrt", "net.0.weight").stdout
    assert page.splitlines()[0].endswith("line 9")
    done = here("trace", path, "--of", "s#7")
    assert (done.returncode, "s stood for 2 tensors" in done.stderr) == (2, True)
    assert here("trace", path, "--wrt", "zz").returncode == 2


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


OBJECT = """\
class Line:
    def __init__(self):
        self.w = torch.tensor(1., requires_grad=True)
    def step(self):
        self.w = (self.w - 0.1 * self.w.grad).detach().requires_grad_()
line = Line()
for i in range(3):
    loss = (line.w * 2 - 1) ** 2
    loss.backward()
    line.step()
"""
TABLE = """\
params = {"w": torch.tensor(1., requires_grad=True)}
def fit(params):
    for i in range(3):
        loss = (params["w"] * 2 - 1) ** 2
        loss.backward()
        for key in params:
            params[key] = (params[key] - 0.1 * params[key].grad).detach().requires_grad_()
fit(params)
"""
INNER = """\
def fit():
    params = [torch.tensor(1., requires_grad=True)]
    for i in range(3):
        loss = (params[0] * 2 - 1) ** 2
        loss.backward()
        params[0] = (params[0] - 0.1 * params[0].grad).detach().requires_grad_()
fit()
"""
GONE = """\
class Layer:
    def __init__(self):
        self.held = {"w": torch.tensor(1., requires_grad=True)}
layers = [Layer()]
for i in range(3):
    for layer in layers:
        loss = (layer.held["w"] * 2 - 1) ** 2
    loss.backward()
    for layer in layers:
        w = layer.held["w"]
        layer.held["w"] = (w - 0.1 * w.grad).detach().requires_grad_()
layers.clear()
del layer, w
"""
CLOSURE = """\
def make():
    w = torch.tensor(1., requires_grad=True)
    def step():
        nonlocal w
        loss = (w * 2 - 1) ** 2
        loss.backward()
        w = (w - 0.1 * w.grad).detach().requires_grad_()
        return loss
    return step
step = make()
for i in range(3):
    out = step()
"""
PLAIN = """\
w = torch.tensor(1., requires_grad=True)
for i in range(3):
    loss = (w * 2 - 1) ** 2
    loss.backward()
    w = (w - 0.1 * w.grad).detach().requires_grad_()
"""


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (OBJECT, "line.w"), (TABLE, "params['w']"), (INNER, "params[0]"),
        (GONE, "layers[0].held['w']"), (CLOSURE, "w"), (PLAIN, "w"),
    ],
)  # fmt: skip
def test_a_leaf_has_the_name_that_led_to_it_in_the_pass(
    home: Path,  # noqa: F811
    text: str, name: str,
) -> None:  # fmt: skip
    """In every command, though the name leads to another tensor at the end."""
    (leaf,) = (row for row in tree(text) if " leaf " in row)
    assert leaf.split(" leaf ")[0].split()[-1] == name
    assert re.search(r" 0\.5200 (→ 0\.5040 )?0\.1600 ", leaf), leaf
    found = gradients(text, None, name)[name]
    assert found == pytest.approx(0.16)
    assert sum_of_paths(text, name).reverse == pytest.approx(0.16)
    (home / "p.expr").write_text(text, encoding="utf-8")
    told = gradcli("why", "p.expr", name, "--no-try", cwd=home)
    assert told.stdout.startswith(f"{name}.grad is tensor(0.1600)"), told
    if importlib.util.find_spec("torch") is not None:
        live = here("paths", str(home / "p.expr"), "--wrt", name, "--engine", "torch")
        assert "reverse mode: 0.16, equal" in live.stdout, live


def test_a_name_that_is_bound_again_shows_what_it_holds_at_the_end() -> None:
    assert tree(PLAIN)[-1] == "└─ w leaf 0.5200 → 0.5040 0.1600 5"
    inner = "".join(f"    {line}\n" for line in PLAIN.splitlines())
    text = f"def run():\n{inner}run()\nw = torch.tensor(7.)\n"  # another w
    assert tree(text)[-1] == "└─ w leaf 0.5200 0.1600 6"


def test_json_tells_the_names_of_the_end_from_other_leaves(tmp_path: Path) -> None:
    """Without modules' tensors, a document has the names that are bound when the program ends."""
    file = tmp_path / "program.expr"
    file.write_text(
        "def step(x):\n    w = torch.ones(2, requires_grad=True)\n    return (w * x).sum()\n"
        "y = step(torch.ones(2)) + torch.tensor(2., requires_grad=True)\n"
        "m = nn.Linear(1, 1)\nz = m(torch.ones(1)) + y\n"
    )
    tensors = json.loads(here("trace", str(file), "--format", "json").stdout)["tensors"]
    kinds = {fact["name"]: fact["kind"] for fact in tensors}
    assert [name for name, kind in kinds.items() if kind == "tensor"] == ["y", "z"]
    assert {"m.weight", "m.bias", "w", "torch.tensor(2., requires_grad=True)"} <= kinds.keys()


SWAPPED = """\
w = torch.tensor(2., requires_grad=True)
v = w
w = torch.tensor(3., requires_grad=True)
loss = v * v + w
loss.backward()
w = v
"""


def test_a_name_that_another_leaf_has_at_the_end(home: Path) -> None:  # noqa: F811
    """In the pass both had names of their own, and every command goes by these."""
    leaves = [" ".join(row.split()) for row in tree(SWAPPED) if " leaf " in row]
    assert [row.split(" leaf ")[0].split()[-1] for row in leaves if "see" not in row] == ["v", "w"]
    assert gradients(SWAPPED) == {"v": 4.0, "w": 1.0} == gradients(SWAPPED, None, "v", "w")
    assert sum_of_paths(SWAPPED, "v").reverse == 4.0 and sum_of_paths(SWAPPED, "w").reverse == 1.0
    (home / "p.expr").write_text(SWAPPED, encoding="utf-8")
    told = gradcli("why", "p.expr", "w", cwd=home).stdout
    assert told.startswith("w.grad is tensor(1.)") and "line 6 bound w to another tensor\n" in told


def test_what_a_function_calls_like_a_global_name_is_no_later_tensor(home: Path) -> None:  # noqa: F811
    """A transformation binds tensors of its own to the names of what it differentiates."""
    text = "from torch.func import jacrev, vjp\n\ndef f(x):\n    return x ** 2\n\n"
    text += "x = torch.ones(2)\njacrev(f)(x)\n_, pull = vjp(f, x)\npull(torch.ones(2))\n"
    (home / "p.expr").write_text(text, encoding="utf-8")
    told = gradcli("why", "p.expr", "x", "--no-try", cwd=home).stdout
    assert "vjp() returns gradients" in told and "another tensor" not in told


UNPACKED = """\
def train():
    w = torch.tensor(1., requires_grad=True)
    for i in range(2):
        loss = (w * 2 - 1) ** 2
        loss.backward()
        w, = [(p - 0.1 * p.grad).detach().requires_grad_() for p in (w,)]
    return w
w = train()
"""
LAYERS = """\
def main():
    layers = [nn.Linear(1, 1), nn.Linear(1, 1)]
    def forward(x):
        for layer in layers:
            x = layer(x)
        return x
    forward(torch.ones(1)).sum().backward()
main()
"""


def test_a_name_of_a_function_that_the_result_gets_too() -> None:
    assert sum_of_paths(UNPACKED, "w").reverse == pytest.approx(0.8)
    assert sum_of_paths(UNPACKED, "w", 1).reverse == pytest.approx(4.0)


COMPREHENSION = LAYERS.replace(
    "        for layer in layers:",
    "        _ = [p for m in layers for p in m.parameters()]\n        for layer in layers:",
)


@pytest.mark.parametrize("text", [LAYERS, COMPREHENSION])
def test_a_loops_name_of_a_layer_is_no_path(text: str) -> None:
    names = {row.split(" leaf ")[0].split()[-1] for row in tree(text) if " leaf " in row}
    assert names == {f"layers[{i}].{name}" for i in (0, 1) for name in ("weight", "bias")}


def test_a_leaf_whose_name_had_moved_on_before_the_pass_has_no_later_value() -> None:
    text = "x = torch.tensor(3., requires_grad=True)\nx = x * 2\n(x * x).backward()\n"
    (leaf,) = (row for row in tree(text) if " leaf " in row)
    assert leaf.endswith("x leaf 3. 24. 1")


@pytest.mark.parametrize("engine", ["own", "torch"])
def test_results_that_a_function_took_apart_have_their_names(home: Path, engine: str) -> None:  # noqa: F811
    if engine == "torch" and importlib.util.find_spec("torch") is None:
        pytest.skip("PyTorch is not installed")
    file = home / "p.expr"
    file.write_text(
        "def attend(x):\n    q, k = x.chunk(2)\n    U, S, V = torch.svd(x)\n"
        "    return (q * k).sum() + U.sum() * S.sum() * V.sum()\n"
        "attend(torch.tensor([[1., 2.], [3., 5.]], requires_grad=True)).backward()\n",
        "utf-8",
    )
    shown = here("trace", str(file), "--engine", engine).stdout
    place = r"(\w): (?:x.chunk|torch.svd)\(\w+\)(?:, see #\d above)?  +(\w+)"
    found = re.findall(place, shown)
    assert sorted(found) == [("S", "LinalgSvdBackward0"), ("U", "LinalgSvdBackward0"),
                             ("k", "SplitBackward0"), ("q", "SplitBackward0")]  # fmt: skip


def test_a_leaf_whose_name_has_moved_on_is_known_without_a_pass(home: Path) -> None:  # noqa: F811
    file = home / "p.expr"
    file.write_text("x = torch.tensor(1., requires_grad=True)\nx = x * 3\ny = x + 1\n", "utf-8")
    assert re.search(r"└─ x +leaf +1\. +1\n", here("trace", str(file)).stdout)
    assert "dy/dx#1 = tensor(3.)\n" in here("grad", str(file)).stdout
    assert "x#1" in here("paths", str(file)).stdout
    assert "a leaf without a name" not in here("trace", str(file), "--format", "dot").stdout


def test_a_pass_that_failed_says_so() -> None:
    text = "x = torch.tensor(3., requires_grad=True)\ny = x * 2\ny.backward()\ny.backward()\n"
    ran = recorded(Request(text.encode(), "p.expr"), None)
    shown = page.text(trace_report(ran, Options()), Look(False, True, 80))
    assert shown.startswith("pass 2 of 2   y.backward()   line 4, ended in an error\n")


def test_grad_shows_what_autograd_grad_gave_for_results() -> None:
    """As it was given, under the name that the result had."""
    text = "w = torch.tensor([1., 2.], requires_grad=True)\nfor i in range(2):\n"
    text += "    g, = torch.autograd.grad((w * w).sum(), w)\n    w = w - 0.25 * g\ng *= 9\n"
    assert gradients(text) == {"w": (1.0, 2.0)} == gradients(text, None, "w")
    assert gradients(text, 1) == {"w": (2.0, 4.0)}


GROUPS = """
model = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
decay = [p for n, p in model.named_parameters() if p.dim() >= 2]
loss = model(torch.ones(1, 2)).sum()
loss.backward()
"""


def test_a_list_of_parameters_is_no_name_before_the_module_s(home: Path) -> None:  # noqa: F811
    """The list's names are told beside it, and taken."""
    paths = [f"model.{layer}.{name}" for layer in (0, 2) for name in ("weight", "bias")]
    rows = tree(GROUPS)
    assert {row.split(" leaf ")[0].split()[-1] for row in rows if " leaf " in row} == set(paths)
    assert list(gradients(GROUPS)) == paths
    (home / "p.expr").write_text(GROUPS, "utf-8")
    assert "model.2.weight (also decay[1])" in gradcli("trace", "p.expr").stdout
    tensors = json.loads(gradcli("trace", "p.expr", "--format", "json").stdout)["tensors"]
    assert [fact["name"] for fact in tensors] == ["loss", *paths, "decay[0]", "decay[1]"]
    reasons = json.loads(gradcli("why", "p.expr", "--format", "json").stdout)["answers"]
    assert [fact["name"] for fact in reasons] == paths
    assert f"the leaves of loss are {', '.join(paths)}" in gradcli("paths", "p.expr").stderr
    asked = gradcli("grad", "p.expr", "--wrt", "decay[0]").stdout
    assert asked.count("dloss/ddecay[0]") == 1


def test_a_tied_weight_is_known_by_both_names(home: Path) -> None:  # noqa: F811
    text = """\
class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok, self.head = nn.Embedding(3, 2), nn.Linear(2, 3, bias=False)
        self.head.weight = self.tok.weight
    def forward(self, x):
        return self.head(self.tok(x))
def train():
    model = Tied()
    model(torch.tensor([0, 2])).sum().backward()
train()
"""
    (home / "p.expr").write_text(text, encoding="utf-8")
    path, name = str(home / "p.expr"), "model.head.weight"
    page = here("trace", path).stdout
    assert "model.tok.weight (also model.head.weight) " in page
    rows = json.loads(here("trace", path, "--format", "json").stdout)["tensors"]
    assert [(row["name"], row["kind"]) for row in rows] == [
        ("model.tok.weight", "parameter"), (name, "parameter"),
    ]  # fmt: skip
    first, second = rows
    assert {**second, "name": first["name"]} == first
    for asked in (("why", path, name), ("grad", path, "--wrt", name),
                  ("paths", path, "--wrt", name), ("trace", path, "--wrt", name),
                  ("step", path, "--plain", "--break", name),
                  ("trace", path, "--hook", f"{name}=norm")):  # fmt: skip
        done = here(*asked)
        assert done.returncode == 0, done
    assert "model.tok.weight" in here("step", path, "--plain", "--break", name).stdout
    assert here("grad", path).stdout.count("/dmodel.") == 1  # one row for one tensor


def test_leaves_of_a_pass_come_in_the_order_of_their_names_wherever_they_lie(
    tmp_path: Path,
) -> None:
    """New leaves take the memory of those that are gone."""
    text = """\
x, y = tensor([1., 2., 3.]), tensor([3., 5., 7.])
w = tensor(0.5, requires_grad=True)
b = tensor(0.1, requires_grad=True)
for i in range(50):
    loss = ((w * x + b - y)**2).mean()
    gw, gb = torch.autograd.grad(loss, [w, b])
    w = (w - 0.05 * gw).detach().requires_grad_()
    b = (b - 0.05 * gb).detach().requires_grad_()
"""
    (tmp_path / "p.expr").write_text(text)
    told = json.loads(gradcli("grad", str(tmp_path / "p.expr"), "--format", "json").stdout)
    assert [one["name"] for one in told["gradients"]] == ["w", "b"]
