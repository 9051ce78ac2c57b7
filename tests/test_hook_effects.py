"""Tests of --hook on all tensors and on paths, and of what hooks change, leaf by leaf."""

from __future__ import annotations

import json
from typing import Any

import pytest
from oracle import oracle, question
from test_cli import answer, refused
from test_shown import report

from gradcli.pipeline.request import Request
from gradcli.questions.interventions import Interventions
from gradcli.questions.trace import Options, recorded, trace_report
from gradcli.recording.facts import EffectValue, Report

GIVEN = """\
x = torch.tensor([1., 2.], requires_grad=True)
w = torch.tensor([3., 4.], requires_grad=True)
u = torch.tensor(5., requires_grad=True)
y = x * w
"""
PROGRAMS = {
    "of a result": GIVEN + "y.register_hook(lambda g: g.clamp(max=0.5))\nL = y.sum() + u\n",
    "of a leaf": GIVEN + "x.register_hook(lambda g: g * 0)\nL = y.prod() * u\n",
    "of a node": GIVEN + "y.grad_fn.register_hook(lambda i, o: (i[0] * 3, i[1]))\nL = y.sum()\n",
    "before a node": GIVEN + "y.grad_fn.register_prehook(lambda o: (o[0] + 1,))\nL = y.sum() * u\n",
    "nothing is changed": GIVEN + "y.register_hook(lambda g: None)\nL = y.sum()\n",
    "in place": GIVEN + "y.register_hook(lambda g: g.mul_(2))\nL = (y * y).sum()\n",
}


@question
def gradients_with_and_without_hooks(torch: Any, program: str) -> list[dict[str, Any]]:
    """The .grad of the leaves, and those of a run in which nothing registers."""
    Tensor = torch.Tensor
    found = []
    for silent in (False, True):
        plain = Tensor.register_hook
        text = program
        if silent:
            Tensor.register_hook = lambda self, hook: None
            text = "\n".join(
                line for line in program.splitlines() if "grad_fn.register" not in line
            )
        try:
            names: dict[str, Any] = {"torch": torch}
            exec(text, names)
            names["L"].backward()
        finally:
            Tensor.register_hook = plain
        grads = {name: names[name].grad for name in ("x", "w", "u")}
        found.append({name: None if g is None else g.tolist() for name, g in grads.items()})
    return found


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_every_leaf_that_hooks_changed_is_reported(program: str) -> None:
    now, without = oracle.ask("gradients_with_and_without_hooks", program)
    told = report(program + "L.backward()\n").effects
    assert {fact.name for fact in told} == {name for name in now if now[name] != without[name]}
    for fact in told:
        assert _numbers(fact.now) == now[fact.name]
        assert _numbers(fact.without) == without[fact.name]


def _numbers(value: EffectValue | None) -> Any:
    text = "None" if value is None else value.text
    inner = text.removeprefix("tensor(").removesuffix(")").replace(".,", ".0,")
    return eval(inner.replace(".]", ".0]"))


NETWORK = """\
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
ws = [torch.tensor(2., requires_grad=True), torch.tensor(3., requires_grad=True)]
y = net(torch.ones(2))
z = y
L = (z * ws[0]).sum() * ws[1]
L.backward()
"""


def hooked(*hooks: str) -> Report:
    ran = recorded(Request(NETWORK.encode(), "p.expr"), None, Interventions(hooks))
    assert ran.error is None, ran.error
    return trace_report(ran, Options())


def test_all_is_every_tensor_with_a_name_once() -> None:
    told = hooked("all=norm")
    assert sorted(fact.name for fact in told.events) == [
        "L", "net.0.bias", "net.0.weight", "ws[0]", "ws[1]", "z",
    ]  # fmt: skip
    assert told.output.count(" norm ") == 6 and not told.effects


def test_paths_are_names_too() -> None:
    told = hooked("net.0.weight=zero", "ws[1]=lambda g: g * 2")
    assert {fact.name for fact in told.events} == {"net.0.weight", "ws[1]"}
    effects = {fact.name: fact.now and fact.now.text for fact in told.effects}
    assert effects["net.0.weight"] == "tensor([[0., 0.],\n        [0., 0.]])"
    assert set(effects) == {"net.0.weight", "ws[1]"}


def test_all_zero_leaves_nothing() -> None:
    told = hooked("all=zero")
    assert {fact.name for fact in told.effects} == {"ws[0]", "ws[1]", "net.0.weight", "net.0.bias"}
    assert all(fact.now is None or "1" not in fact.now.text for fact in told.effects)


LARGE = """\
w = torch.linspace(0, 1, 200_000).requires_grad_()
v = torch.ones(2_000, requires_grad=True)
y = w * 2
y.register_hook(lambda g: g * 2)
u = v * 1
u.register_hook(lambda g: torch.where(torch.arange(2000) == 1000, g * 2, g))
(y.sum() + u.sum()).backward()
"""


def test_large_gradients_are_compared_by_their_numbers_and_shown_by_their_ranges() -> None:
    page = answer("trace", stdin=LARGE)
    assert "1., 1., 1.]), 1…1, norm 44.7214 → tensor([" in page  # printed, both are the same
    rows = [row.split() for row in page.partition("gradient without hooks")[2].splitlines()[1:3]]
    assert rows == [["v", "1", "1…2,", "mean", "1,", "norm", "44.8"], ["w", "2", "4"]]
    effects = json.loads(answer("trace", "--format", "json", stdin=LARGE))["hook_effects"]
    assert effects[1] == {"name": "w", "without": "2", "now": "4"}
    assert effects[0]["now"].endswith("..., 1., 1., 1.]), 1…2, mean 1, norm 44.8")


def test_the_words_of_the_command() -> None:
    page = answer("trace", "--hook", "all=zero", stdin=NETWORK)
    assert "leaf, as hooks changed it  gradient without hooks" in page
    assert "no tensor that requires grad was bound to ne" in refused(
        2, "grad", "--hook", "ne=zero", stdin=NETWORK
    )
    assert "any name" in refused(2, "trace", "--hook", "all=zero", stdin="x = 3\n")
    assert "expected NAME=FUNCTION" in refused(2, "grad", "--hook", "a b=norm", stdin=NETWORK)
