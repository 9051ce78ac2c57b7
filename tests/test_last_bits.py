"""Tests of numbers that agree with PyTorch's to the last bit, where its kernels are known."""

from __future__ import annotations

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
}


@question
def bits(torch: Any, text: str, scale: float) -> list[int]:
    """The bits of the singles that `text` makes of a thousand normals, `scale` wide."""
    torch.manual_seed(7)
    x = (torch.randn(1000) * scale).requires_grad_()
    space = {"torch": torch, "F": torch.nn.functional, "x": x}
    return list(eval(text, space).detach().view(torch.int32).tolist())


@pytest.mark.parametrize("scale", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_last_bit_is_pytorchs(name: str, scale: float) -> None:
    text = PROGRAMS[name]
    assert bits(gradcli, text, scale) == oracle.ask("bits", text, scale)
