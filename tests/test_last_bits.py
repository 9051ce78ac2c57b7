"""Tests of numbers that agree with PyTorch's to the last bit, where its kernels are known."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from oracle import oracle, question

import gradcli

PROGRAMS = {
    "gelu": "F.gelu(x)",
    "gelu of a part": "F.gelu(x[200:231])",
    "gelu of whole numbers": "F.gelu(torch.arange(-8.0, 8.0, 0.5))",
    "gelu's slope": "torch.autograd.grad(F.gelu(x).sum(), x)[0]",
    "gelu's pass back": "torch.autograd.grad(F.gelu(x), x, torch.cos(x * 0) + 0.5 * x)[0]",
    "tanh's pass back": "back(torch.tanh, x[:30])",
    "tanh far out": "back(torch.tanh, torch.arange(-12.0, 12.0, requires_grad=True))",
    "sigmoid": "torch.sigmoid(x[:31])",
    "sigmoid far out": "back(torch.sigmoid, torch.arange(-20.0, 20.0, 2.0, requires_grad=True))",
    "silu": "back(F.silu, x[:30])",
    "sums scaled": "torch.add(x[:20], x[20:40], alpha=0.3) - x[:20].sub(x[20:40], alpha=0.7)",
    "addcmul": "torch.addcmul(x[:20], x[20:40], x[40:60], value=0.3)",
    "lerp": "torch.lerp(x[:20], x[20:40], 0.3) + torch.lerp(x[:20], x[20:40], 0.9)",
    "softmax of few": "back(lambda x: torch.softmax(x, 1), x[:12].view(3, 4))",
    "softmax of many": "back(lambda x: torch.softmax(x, 1), x[:120].view(3, 40))",
    "softmax down": "back(lambda x: torch.softmax(x, 0), x[:12].view(3, 4))",
    "a row that adds up to one": "flat(lambda x: torch.softmax(x, -1), x[:50].view(5, 10))",
    "log_softmax, flat": "flat(lambda x: torch.log_softmax(x, -1), x[:30].view(3, 10))",
    "layer_norm": "back(lambda x: F.layer_norm(x, (10,)), x[:40].view(4, 10))",
    "layer_norm scaled": "back(lambda x: F.layer_norm(x, (6,), x[0], x[1]), x[:24].view(4, 6))",
    "layer_norm, flat": "flat(lambda x: F.layer_norm(x, (5,)), x[:20].view(4, 5))",
    "batch_norm": "back(lambda x: F.batch_norm(x, None, None, training=True), x[:20].view(5, 4))",
    "batch_norm, flat": (
        "flat(lambda x: F.batch_norm(x, *2 * [None], training=True), x[:20].view(5, 4))"
    ),
    "mse_loss": "F.mse_loss(x[:21], x[21:42])",
    "smooth_l1_loss": "F.smooth_l1_loss(x[:21], x[21:42])",
    "nll_loss": "F.nll_loss(x[:160].view(40, 4), torch.arange(40) % 4)",
    "a squared difference": "((x[:50] - x[50:100]) ** 2).mean()",
}


def back(lib: Any, function: Any, x: Any) -> Any:
    """The gradient under a cotangent without pattern."""
    x = x.detach().requires_grad_()
    y = function(x)
    return lib.autograd.grad(y, x, lib.linspace(-1, 2, y.numel()).view(y.shape))[0]


def flat(lib: Any, function: Any, x: Any) -> Any:
    """The gradient of the sum, which is zero but for roundings."""
    x = x.detach().requires_grad_()
    return lib.autograd.grad(function(x).sum(), x)[0]


@question
def bits(torch: Any, text: str, scale: float) -> list[int]:
    """The bits of the singles that `text` makes of a thousand normals, `scale` wide."""
    torch.manual_seed(7)
    x = (torch.randn(1000) * scale).requires_grad_()
    space = {"torch": torch, "F": torch.nn.functional, "x": x}
    space |= {"back": partial(back, torch), "flat": partial(flat, torch)}
    return list(eval(text, space).detach().reshape(-1).view(torch.int32).tolist())


@pytest.mark.parametrize("scale", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_last_bit_is_pytorchs(name: str, scale: float) -> None:
    text = PROGRAMS[name]
    assert bits(gradcli, text, scale) == oracle.ask("bits", text, scale)
