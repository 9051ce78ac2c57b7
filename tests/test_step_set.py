"""Tests of `set` while stepping through a pass: what follows is what PyTorch makes of it."""

from __future__ import annotations

from typing import Any

import pytest
from oracle import oracle, question
from test_cli import answer

GIVEN = """\
a = torch.tensor([1., 2.], requires_grad=True)
w = torch.tensor(3., requires_grad=True)
b = a * w
c = b ** 2
L = c.sum()
L.backward()
"""


@question
def gradients_after_setting(torch: Any, name: str, value: str) -> list[Any]:
    """The gradients of a and w where the one of a name is another one."""
    names: dict[str, Any] = {"torch": torch}
    *lines, last = GIVEN.splitlines()
    exec("\n".join(lines), names)
    new = eval(value, names)

    def replace(grad: Any) -> Any:
        return torch.as_tensor(new, dtype=grad.dtype).expand_as(grad)

    names[name].register_hook(replace)
    exec(last, names)
    return [repr(names["a"].grad), repr(names["w"].grad)]


def stepped(tmp_path: Any, program: str, *commands: str) -> list[str]:
    """The answers, one for each command."""
    (tmp_path / "p.expr").write_text(program)
    page = answer("step", str(tmp_path / "p.expr"), "--commands", "-", stdin="\n".join(commands))
    return [part.partition("\n")[2].strip("\n") for part in page.split("\nstep ")[1:]]


@pytest.mark.parametrize(
    ("name", "value"),
    [("b", "[10., 1.]"), ("c", "2.0"), ("L", "0.5"), ("a", "7"), ("b", "torch.zeros(2)"),
     ("b", "a * 2"), ("w", "-1.0")],
)  # fmt: skip
def test_what_follows_is_pytorchs(tmp_path: Any, name: str, value: str) -> None:
    told = stepped(tmp_path, GIVEN, f"set {name} {value}", "run", "show [a.grad, w.grad]")
    assert told[-1] == "[{}, {}]".format(*oracle.ask("gradients_after_setting", name, value))


def test_it_is_reported_and_taken_back(tmp_path: Any) -> None:
    told = stepped(
        tmp_path, GIVEN, "run b", "set b 1.0", "set zz 1", "set b foo", "set c [1., 2., 3.]",
        "set b", "unset zz", "unset b", "run", "show a.grad",
    )  # fmt: skip
    assert told[1].startswith("the gradient of b is 1.0 in this pass, step 3")
    assert "hook      set b 1.0   (tensor hook)" in told[1] and "goes on   [1., 1.]" in told[1]
    assert told[2].startswith("no step of this pass is called zz")
    assert told[3] == "NameError: name 'foo' is not defined"
    assert told[4].startswith("RuntimeError: The size of tensor a (2) must match")
    assert told[5] == "set NAME EXPR, such as set b 2.0" and told[6] == "zz was not set"
    assert "hook" not in told[7] and told[-1] == "tensor([18., 36.])"


def test_only_that_pass_and_that_tensor(tmp_path: Any) -> None:
    loop = (
        "x = torch.tensor(2., requires_grad=True)\nfor i in range(3):\n    y = x * 3\n"
        "    y.backward()\n"
    )
    told = stepped(tmp_path, loop, "pass 2", "set y 10.0", "run", "show x.grad")
    assert told[-1] == "tensor(33.)"
    twice = "x = torch.tensor(2., requires_grad=True)\ny = x * 3\ny = y * y\ny.backward()\n"
    assert stepped(tmp_path, twice, "set y#1 1.0", "run", "show x.grad")[-1] == "tensor(3.)"
    of = "x = torch.tensor(2., requires_grad=True)\ny = x * 3\nz = y * y\n"
    assert stepped(tmp_path, of, "set y 1.0", "run", "show x.grad")[-1] == "tensor(3.)"


INNER = """\
w = torch.tensor(3., requires_grad=True)
x = torch.tensor(2., requires_grad=True)
x = x * w
x = x + 1
def f(h):
    for _ in range(2):
        h = h * w
    return F.relu(h).sin()
y = f(x)
y.backward()
"""


@pytest.mark.parametrize(
    ("name", "line"),
    [("x#2", "x = x + 1"), ("x#3", "def f(h):"), ("h", "")],
)
def test_each_name_that_a_step_has_can_be_set(tmp_path: Any, name: str, line: str) -> None:
    """What follows is what a hook does that the program has before that line."""
    told = stepped(tmp_path, INNER, f"set {name} 5.0", "run", "show w.grad")
    inner = "        h = h * w\n" if name == "h" else line
    hook = f"{name[0]}.register_hook(lambda g: g * 0 + 5.0)\n"
    text = INNER.replace(inner, f"{inner}        {hook}" if name == "h" else f"{hook}{inner}")
    (tmp_path / "q.expr").write_text(f"{text}print(w.grad)\n", encoding="utf-8")
    assert told[-1] == answer("run", str(tmp_path / "q.expr")).strip() != "tensor(0.)"


def test_what_has_no_name_is_not_set(tmp_path: Any) -> None:
    told = stepped(tmp_path, INNER, "set F.relu(h) 5.0", "run", "show w.grad")
    assert told[0] == "set F.relu(h): no name of the program leads to this gradient"
    assert "hook" not in told[1]
