"""Tests of `gradcli.testing`: gradients of gradcli's and PyTorch's functions in other tests."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from oracle import oracle, torch as pytorch

import gradcli
from gradcli.testing import GradientWarning, assert_gradients


def libraries() -> list[Any]:
    """Gradcli, and PyTorch where it is installed."""
    return [gradcli, *([pytorch] if oracle.has_torch else [])]


@pytest.fixture(params=libraries(), ids=lambda library: library.__name__)
def torch(request: pytest.FixtureRequest) -> Any:
    return request.param


def function_of(torch: Any, name: str, factor: Callable[[Any], Any]) -> Any:
    """A square whose backward is wrong by a factor."""

    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    def backward(ctx: Any, grad: Any) -> Any:
        (x,) = ctx.saved_tensors
        return grad * 2 * x * factor(x)

    spaces = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type(name, (torch.autograd.Function,), spaces).apply


def failure(function: Any, *inputs: Any, **options: Any) -> str:
    with pytest.raises(AssertionError) as raised:
        assert_gradients(function, *inputs, **options)
    return str(raised.value)


def test_right_gradients(torch: Any) -> None:
    x = torch.tensor([[0.5, -1.0], [2.0, 0.3]], requires_grad=True)
    w = torch.tensor([[1.0, 2.0], [0.1, -3.0]], requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_gradients(lambda x, w: torch.tanh(x @ w).exp().sum(), x, w)
        assert_gradients(lambda x: (x.softmax(1), {"log": (x * x).log()}), x)
        assert_gradients(lambda x, w: x.mul(2).mul_(w).add_(x), x, w)
        assert_gradients(torch.nn.functional.dropout, x)
        assert_gradients(lambda x, y: x * y, x, x)
        assert_gradients(torch.nn.Linear(2, 3), x)


def test_a_wrong_backward_is_named(torch: Any) -> None:
    square = function_of(torch, "Square", lambda x: 0.5)

    def loss(x: Any, w: Any) -> Any:
        return (square(x) * w).sum()

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    told = failure(loss, x, torch.tensor([3.0, 4.0], requires_grad=True))
    assert told.startswith("gradient: dloss/dx[1] is 8, difference quotients give 16\n")
    assert "cause: the backward of Square is wrong: it gives 0.5 times the derivative" in told
    line = loss.__code__.co_firstlineno + 1
    said = rf"test_testing\.py:{line}: SquareBackward passes 2 to .*\[1\], the slope is 4"
    assert re.search(said, told)
    assert "dw" not in told


def test_kinks_are_reported(torch: Any) -> None:
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    with pytest.warns(GradientWarning, match="kink: the slope is 0 on the left, 1 on the right"):
        assert_gradients(torch.relu, x)
    assert "there is no derivative" in failure(torch.relu, x, fail_on_kink=True)


def test_a_precision_that_is_too_low(torch: Any) -> None:
    x = torch.tensor([3e-3, 2.0], requires_grad=True)
    with pytest.warns(GradientWarning, match="float32: rounding spoils this gradient"):
        assert_gradients(lambda x: ((1 - x.cos()) / x**2).sum(), x)


def test_dependent_inputs(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    part = x.detach()[1:].requires_grad_()
    assert "dependent inputs: x and y share memory" in failure(lambda x, y: x.sum() * y, x, part)
    wide = torch.ones(1).expand(3).requires_grad_()
    assert "dependent inputs: elements of x share memory" in failure(lambda x: x * 2, wide)


def test_what_is_not_deterministic(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    calls = iter(range(1, 100))
    assert "not deterministic" in failure(lambda x: x * next(calls), x)


def test_nothing_to_check(torch: Any) -> None:
    x = torch.tensor([1.0])
    assert "no input requires grad" in failure(torch.sin, x)
    assert "no result requires grad" in failure(lambda x: x.detach(), x.requires_grad_())


@pytest.mark.skipif(not oracle.has_torch, reason="needs PyTorch")
def test_modules_of_pytorch() -> None:
    torch = pytorch
    x = torch.randn(4, 2, requires_grad=True)
    assert_gradients(torch.nn.LSTM(2, 3), x)
    linear = torch.nn.Linear(2, 3)
    assert_gradients(lambda x: linear(x).tanh(), x)  # in single precision: so are its weights
    assert linear.weight.dtype == torch.float32
