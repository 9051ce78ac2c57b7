"""Tests of gradcheck and gradgradcheck: verdicts and words, against PyTorch."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from oracle import oracle, question

import gradcli

SETUP = """
class Bad(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return a ** 2
    @staticmethod
    def backward(ctx, grad):
        a, = ctx.saved_tensors
        return grad * 3 * a
class Second(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b, a.sum()
    @staticmethod
    def backward(ctx, g, h):
        a, b = ctx.saved_tensors
        return g * b + h, g * a * 1.1
class Adding(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * 2
    @staticmethod
    def backward(ctx, grad):
        return grad * 2 + 1e-30
class Restless(torch.autograd.Function):
    calls = 0
    @staticmethod
    def forward(ctx, a):
        return a * 2
    @staticmethod
    def backward(ctx, grad):
        Restless.calls += 1
        return grad * 2 + (Restless.calls % 2) * 1e-7
class Narrow(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * 2
    @staticmethod
    def backward(ctx, grad):
        return grad.sum().expand(2)
check = torch.autograd.gradcheck
check2 = torch.autograd.gradgradcheck
x = torch.tensor([0.1, 0.5, -0.3], dtype=torch.float64, requires_grad=True)
y = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
m = torch.tensor([[0.1, 0.2], [0.3, 0.4]], dtype=torch.float64, requires_grad=True)
c = torch.tensor([1 + 1j], dtype=torch.complex128, requires_grad=True)
f = torch.tensor([0.1, 0.5, -0.3], requires_grad=True)
def two(a, b):
    return a * b, (a ** 2).sum()
"""


@question
def checked(lib: Any, text: str) -> Any:
    """The verdict, or the whole error; the warnings."""
    names: dict[str, Any] = {"torch": lib}
    exec(SETUP, names)
    lib.manual_seed(0)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            answer = str(eval(text, names))
        except Exception as error:
            answer = f"{type(error).__name__}: {error}"
    return [answer, [str(w.message) for w in told if "jit" not in str(w.message)]]


CALLS = (
    "check(torch.sin, (x,))", "check(torch.sin, x)", "check(two, (x, y))", "check(Bad.apply, (x,))",
    "check(Second.apply, (x, y))", "check(Bad.apply, (x,), raise_exception=False)",
    "check(torch.sin, (x,), fast_mode=True)", "check(two, (x, y), fast_mode=True)",
    "check(Bad.apply, (x,), fast_mode=True)", "check(Second.apply, (x, y), fast_mode=True)",
    "check(torch.sin, (x,), check_forward_ad=True)", "check(two, (x, y), check_forward_ad=True)",
    "check(Bad.apply, (x,), check_forward_ad=True, check_backward_ad=False)",
    "check(torch.sin, (x,), check_batched_grad=True)", "check(lambda a: a * a, (f,))",
    "check(torch.sin, (x.detach(),))", "check(lambda a, b: a * b, (x, 2.0))",
    "check(lambda a: torch.ones(2, dtype=torch.float64), (x,))",
    "check(lambda a: a.detach() * 2, (x,))", "check(lambda a: 3.0, (x,))",
    "check(lambda a: (a * 2).long(), (x,))", "check(lambda a: (a * 2, a.argmax()), (x,))",
    "check(torch.abs, (torch.zeros(2, dtype=torch.float64, requires_grad=True),))",
    "check(lambda a: torch.round(a) * a, (torch.tensor([0.5], dtype=torch.float64, "
    "requires_grad=True),))",
    "check(lambda a: a ** 3, (x,), eps=1e-1)", "check(lambda a: Bad.apply(a).sum(0), (m,))",
    "check(torch.sin, (x.sum().expand(3),))", "check(torch.sin, (x * 2,))",
    "check(Restless.apply, (x,))", "check(Adding.apply, (x,))", "check(Narrow.apply, (x,))",
    "check(torch.exp, (c,))", "check(torch.abs, (c,))", "check(torch.sin, (x,), 1e-6)",
    "check(torch.sin, (x,), check_backward_ad=False)",
    "check2(torch.sin, (x,))", "check2(lambda a, b: a * b ** 2, (x, y))", "check2(Bad.apply, (x,))",
    "check2(torch.sin, (x.detach(),))", "check2(torch.sin, (x,), y)",
    "check2(lambda a: a * 2, (x,))",
    "check2(torch.sin, (x,), fast_mode=True)", "check2(torch.sin, (x,), check_fwd_over_rev=True)",
    "check2(lambda a: a ** 2, (x,), gen_non_contig_grad_outputs=True)",
    "check2(torch.sin, (x,), torch.ones(2, dtype=torch.float64, requires_grad=True))",
)  # fmt: skip


@pytest.mark.parametrize("text", CALLS)
def test_verdicts(text: str) -> None:
    assert checked(gradcli, text) == oracle.ask("checked", text)


def test_inputs_are_put_back() -> None:
    x = gradcli.tensor([0.1, 0.5], dtype=gradcli.float64, requires_grad=True)
    gradcli.autograd.gradcheck(gradcli.sin, (x,))
    assert x.tolist() == [0.1, 0.5]
    assert x.grad is None
