"""Tests of torch.autograd.forward_ad: dual tensors, what they show, where their tangents go."""

from __future__ import annotations

from typing import Any

import pytest
from examine import first_line
from oracle import oracle, question
from transformations import close, scope

import gradcli

SETUP = """
d = fw.make_dual(s, torch.tensor(1.0))
D = fw.make_dual(X, torch.tensor([1.0, -2.0, 0.5]))
dr = fw.make_dual(sr, torch.tensor(1.0))
def unpacked(value):
    parts = fw.unpack_dual(value)
    return [None if p is None else [float(f"{v:.5g}") for v in flat(p)] for p in parts]
def flat(value):
    return value.detach().reshape(-1).tolist()
def changed(a):
    a.mul_(2)
    a[0] = 5
    return a
def written(a, b):
    a[1] = b
    return a
def without_grad(f):
    with torch.no_grad():
        return f()
"""


@question
def dual(lib: Any, text: str) -> Any:
    """What an expression over dual tensors gives."""
    names = scope(lib)
    with names["fw"].dual_level():
        exec(SETUP, names)
        try:
            value = eval(text, names)
            return value if isinstance(value, list | bool) else str(value)
        except Exception as error:
            return first_line(error)


EXPRESSIONS = (
    "d", "D", "dr", "d * 3", "d ** 2", "d.sin()", "D.sum()", "D[1]", "D[1:]", "D.max(0)", "D > 0",
    "d.long()", "d.detach()", "d.data", "d.item()", "D.tolist() == X.tolist()", "d.requires_grad",
    "d.grad_fn is None", "d.is_leaf", "d._base is s", "dr.requires_grad", "f'{d:.2f}'", "-d",
    "unpacked(d)", "unpacked(s)", "unpacked(d * d)", "unpacked(D @ A)", "unpacked(D.softmax(0))",
    "unpacked(torch.cat([D, X]))", "unpacked(torch.stack([D, X]))", "unpacked(X + D)",
    "unpacked(2 ** D)", "unpacked(1 - D)", "unpacked(1 / D)", "unpacked(torch.where(D > 0, D, X))",
    "unpacked(F.relu(D))", "unpacked(F.logsigmoid(D))", "unpacked(F.mse_loss(D, X * 0))",
    "unpacked(D.view(3, 1) * D)",
    "unpacked(torch.linalg.inv(A * D))", "unpacked(without_grad(lambda: D * 2))",
    "unpacked(changed(D * 1))", "unpacked(X.clone().mul_(D))",
    "unpacked(written(torch.zeros(3), d))",
    "unpacked(D.clone().copy_(X))", "unpacked(torch.zeros(3).add_(D))", "unpacked(D.double())",
    "unpacked(torch.sin(dr))", "torch.sin(dr).grad_fn.name()",
    "unpacked(torch.autograd.grad(torch.sin(dr), dr, create_graph=True)[0])",
    "unpacked(torch.autograd.grad(torch.sin(dr), sr)[0])",
    "flat(torch.autograd.grad(fw.unpack_dual(torch.sin(dr)).tangent, sr)[0])",
    "unpacked(nn.Linear(3, 1).requires_grad_(False)(D))[1] is not None",
    "unpacked(D.sort()[0])", "unpacked(D.norm())", "unpacked(D.cumsum(0))", "unpacked(D.flip(0))",
    "unpacked(D.unbind(0)[2])", "unpacked(D.expand(2, 3))", "unpacked(D.t())",
    # refused
    "fw.make_dual(X, torch.ones(2))", "fw.make_dual(torch.arange(3), torch.ones(3))",
    "fw.make_dual(X, torch.arange(3))", "fw.make_dual(d, s)", "fw.enter_dual_level()",
    "fw.exit_dual_level(level=5)", "torch.cdist(D[None], X[None])",
)  # fmt: skip


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_duals(text: str) -> None:
    ours, theirs = dual(gradcli, text), oracle.ask("dual", text)
    if "nn.Linear" in text:  # initialised alike, printed alike
        assert ours == theirs
    else:
        assert close(ours, theirs), f"{text}\n{ours}\n{theirs}"


def test_levels_end() -> None:
    forward = gradcli.autograd.forward_ad
    with forward.dual_level():
        dual = forward.make_dual(gradcli.tensor(2.0), gradcli.tensor(1.0))
        more = dual * 2
        assert forward.unpack_dual(more).tangent.item() == 2.0
    assert type(more) is gradcli.Tensor
    assert str(more) == "tensor(4.)"
    assert forward.unpack_dual(more).tangent is None
    assert (more * dual).item() == 8.0
    with pytest.raises(RuntimeError, match="no level exists"):
        forward.make_dual(gradcli.tensor(2.0), gradcli.tensor(1.0))
    with pytest.raises(RuntimeError, match="Dual level must be a positive number"):
        forward.exit_dual_level()


def test_a_user_function_pushes_by_its_jvp() -> None:
    class Square(gradcli.autograd.Function):
        @staticmethod
        def forward(a: Any) -> Any:
            return a**2

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_forward(*inputs)

        @staticmethod
        def jvp(ctx: Any, tangent: Any) -> Any:
            (a,) = ctx.saved_tensors
            return 3 * a * tangent  # not the derivative: it shows who was asked

    out, tangent = gradcli.func.jvp(Square.apply, (gradcli.tensor(2.0),), (gradcli.tensor(1.0),))
    assert (out.item(), tangent.item()) == (4.0, 6.0)
