"""Tests of gradients that are worked out in blocks: the bits of those that are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gradcli as torch
from gradcli.engine.graph.blocks import MANY

SIZE = MANY + 7
FORMULAS: dict[str, Callable[[Any, Any], Any]] = {
    "a product": lambda x, p: x * p,
    "a square": lambda x, p: x * x,
    "a quotient": lambda x, p: x / p,
    "a number first": lambda x, p: 2.5 / p,
    "one step after another": lambda x, p: -(x * 3).exp().neg(),
    "several steps": lambda x, p: torch.tanh(x) * torch.sigmoid(x) + torch.sin(p),
    "a gradient that goes to two": lambda x, p: (x + p) * 1 + (x - p) / p,
    "a fused sum": lambda x, p: torch.addcmul(x, x, p, value=0.3) * torch.tanh(p),
    "an operand that is spread": lambda x, p: x * p[:1],
    "a view": lambda x, p: (x[1::2] * p[1::2].flip(0)).exp(),
    "two element types": lambda x, p: x.double() * p,
    "a reshaped one": lambda x, p: x[:-7].view(-1, 2).t() * p[:-7].view(2, -1),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_blocks_change_no_bit(name: str) -> None:
    """A pass that a hook watches takes whole arrays."""
    torch.manual_seed(1)
    values = torch.rand(SIZE) * 4 - 2, torch.rand(SIZE) + 0.1
    found = []
    for watched in (False, True):
        x, p = (value.clone().requires_grad_() for value in values)
        y = FORMULAS[name](x, p)
        seed = torch.linspace(-1, 1, y.numel(), dtype=y.dtype).reshape(y.shape)
        before = seed.clone()
        if watched:
            y.register_hook(lambda gradient: None)
        y.backward(seed)
        assert torch.equal(seed, before)  # what the program handed in is the program's
        found.append([x.grad, p.grad])
    for ordinary, whole in zip(*found, strict=True):
        assert (ordinary is None) == (whole is None)
        assert ordinary is None or torch.equal(ordinary.view(torch.int32), whole.view(torch.int32))


def test_what_is_saved_stays() -> None:
    x = torch.linspace(-1, 1, SIZE).requires_grad_()
    middle = x * 2
    y = (middle.exp() * middle).mean()
    y.backward(retain_graph=True)
    first = x.grad.clone()
    x.grad = None
    y.backward()
    assert torch.equal(x.grad, first)
    assert torch.equal(middle, x * 2)
    assert torch.autograd.grad((x * x).sum(), x)[0].stride() == (1,)
