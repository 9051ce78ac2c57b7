"""Tests of one row: made-up operators, each declared once, are known to every question."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from test_paths import report as paths_of
from test_step import walked
from test_why import ask

import gradcli
from gradcli.autograd import forward_ad
from gradcli.engine.schema.operator import Domain, catalogue, operator
from gradcli.questions.ops.detail import detail
from gradcli.questions.ops.rows import named, operators
from gradcli.recording.facts.operators import CatalogueFact
from gradcli.render import ops as page
from gradcli.render.text import Look

LEAF = "x = tensor([3.0, -1.0, 2.0], requires_grad=True)\n"


def _ramp() -> Any:
    return operator(
        "ramp(Tensor self) -> Tensor",
        where="torch",
        node="RampBackward0",
        dtype="promote_float",
        forward=lambda xp, self: xp.maximum(self, 0),
        self=lambda grad, self: grad * (self > 0),
        zero="rectifies",
        smooth="torch.nn.functional.softplus(self)",
        doc="The larger of an element and 0.",
        computes="maximum(self, 0)",
        corners=("torch.ramp(tensor([0., 1.]))",),
        samples=("torch.ramp(x)",),
    )


def _top() -> Any:
    return operator(
        "top(Tensor self, int dim=-1) -> Tensor",
        where="torch",
        node="TopBackward0",
        forward=lambda xp, self, dim: self.max(axis=dim),
        self=lambda grad, self, result, dim: (
            catalogue.row("unsqueeze")(grad, dim)
            * (self == catalogue.row("unsqueeze")(result, dim))
        ),
        layout="row-major",
        acts="selects",
        smooth="torch.logsumexp(self, dim)",
        doc="The largest element of each line.",
        corners=("torch.top(tensor([3., 3., 1.]))",),
        samples=("torch.top(x)",),
    )


def _length() -> Any:
    return operator(
        "length(Tensor self, int dim=-1) -> Tensor",
        where="torch",
        node="LengthBackward0",
        forward=lambda xp, self, dim: xp.sqrt((self * self).sum(axis=dim)),
        self=lambda grad, self, result, dim: self * catalogue.row("unsqueeze")(grad / result, dim),
        layout="row-major",
        acts="along",
        domain=Domain(nonzero=True),
        doc="The Euclidean length of each line.",
        computes="sqrt((self*self).sum(dim))",
        corners=("torch.length(tensor([0., 0.]))",),
        samples=("torch.length(x)",),
    )


MADE_UP = {"ramp": _ramp, "top": _top, "length": _length}


@pytest.fixture(autouse=True)
def declared() -> Iterator[None]:
    """The rows, declared for the time of a test."""
    operators.cache_clear()
    for make in MADE_UP.values():
        make()
    yield
    for name in MADE_UP:
        del catalogue.functions[name]
        dict.__delitem__(catalogue.rows, name)
    operators.cache_clear()


@pytest.mark.parametrize(
    ("text", "name", "verdict", "advice"),
    [
        ("y = torch.ramp(x).sum()\ny.backward()", "x.grad[1]", "dead-relu",
         "y = F.softplus(x).sum()"),
        ("y = torch.top(x) * 2\ny.backward()", "x.grad[1]", "masked",
         "a share for all: y = torch.logsumexp(x.flatten(), 0) * 2"),
        ("z = x * 0\ny = torch.length(z)\ny.backward()", "x", "nan-born-backward",
         "y = torch.length((z + 1e-6))"),
    ],
    ids=list(MADE_UP),
)  # fmt: skip
def test_why_is_right_and_tried(text: str, name: str, verdict: str, advice: str) -> None:
    found = ask(LEAF + text + "\n", name)[1]
    assert found.verdict == verdict
    assert found.trial is not None and found.trial.helped
    assert found.trial.advice == advice


@pytest.mark.parametrize("name", MADE_UP)
def test_paths_has_a_formula_that_gives_the_gradient(name: str) -> None:
    found = paths_of(f"{LEAF}y = (torch.{name}(x) * 2).sum()\n", "x", "y", formula=True)
    assert found.formula is not None
    formula = eval(found.formula.text, {"x": gradcli.tensor([3.0, -1.0, 2.0]), "torch": gradcli})
    leaf = gradcli.tensor([3.0, -1.0, 2.0], requires_grad=True)
    (gradient,) = gradcli.autograd.grad((getattr(gradcli, name)(leaf) * 2).sum(), leaf)
    assert gradcli.allclose(formula * 1.0, gradient)


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("ramp", "elementwise", ""),
        ("top", "structure", "the gradient put where the result came from, zeros elsewhere"),
        ("length", "structure", "vector-Jacobian product"),
    ],
)
def test_step_reports_the_local_derivative(name: str, kind: str, words: str) -> None:
    walk = walked(f"{LEAF}y = torch.{name}(torch.stack([x, x * 2]))\ny.sum().backward()\n")
    step = next(s for s in walk.steps if s.node_name == f"{name.capitalize()}Backward0")
    local = step.edges[0].local
    assert local is not None and (local.kind, local.words) == (kind, words)


@pytest.mark.parametrize("name", MADE_UP)
def test_vmap_is_one_by_one(name: str) -> None:
    method = getattr(gradcli, name)
    many = gradcli.tensor([[3.0, -1.0, 2.0], [0.5, 4.0, -2.0]])
    wanted = gradcli.stack([method(sample) for sample in many])
    assert gradcli.func.vmap(method)(many).tolist() == wanted.tolist()


@pytest.mark.parametrize("name", MADE_UP)
def test_forward_is_backward_transposed(name: str) -> None:
    x = gradcli.tensor([3.0, -1.0, 2.0], requires_grad=True)
    along = gradcli.tensor([0.5, 2.0, -1.0])
    y = getattr(gradcli, name)(x)
    (jacobian,) = gradcli.autograd.grad(y.sum(), x)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x.detach(), along)
        tangent = forward_ad.unpack_dual(getattr(gradcli, name)(dual)).tangent
    assert gradcli.allclose(tangent.sum(), (jacobian * along).sum())


@pytest.mark.parametrize("name", MADE_UP)
def test_ops_has_a_page(name: str) -> None:
    facts = detail(CatalogueFact(named(name), True, (name,)), examples=True)
    text = "".join(page.text(facts, Look()))
    row = catalogue.row(name)
    for told in (row.doc, row.computes or "", row.node, *row.corners):
        assert told in text
