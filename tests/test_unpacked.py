"""Tests: what hooks unpack for a pass may be anything, and reaches no memory but its own."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy
import pytest
from examine import evaluate, tensors
from numpy.lib import stride_tricks
from numpy.lib.array_utils import byte_bounds

import gradcli as torch
from gradcli.operators import catalogue

UNPACKED: tuple[Callable[[Any], Any], ...] = (
    lambda t: torch.tensor(2.0),
    lambda t: torch.empty(0),
    lambda t: t.flatten()[:1],
    lambda t: t.flatten(),
    lambda t: t.unsqueeze(0).expand(2, *t.shape),
    lambda t: t.unsqueeze(-1),
    lambda t: torch.cat([t.flatten()] * 5),
    lambda t: t.mT if t.dim() > 1 else t[None],
    lambda t: torch.cat([t, t], -1) if t.dim() else t,
    lambda t: t[..., :-1] if t.dim() else t,
    lambda t: t[1:] if t.dim() else t,
    lambda t: t.double(),
    lambda t: t.half(),
    lambda t: t.long(),
    lambda t: t.bool(),
    lambda t: t.to(torch.complex64),
    lambda t: t * 0 + (2**40 if t.dtype != torch.bool else 1),  # an index far away
    lambda t: t * 0 - 100 if t.dtype != torch.bool else t,
    lambda t: torch.arange(t.numel()).reshape(t.shape) + 3,
    lambda t: torch.stack([t, t], -1)[..., 0],
)
SAMPLES = sorted({text for row in catalogue.rows.values() for text in row.samples})


@pytest.fixture
def _within(monkeypatch: pytest.MonkeyPatch) -> None:
    """A view made by strides stays in the memory of the array that it is made of."""
    made = stride_tricks.as_strided

    def as_strided(x: Any, *args: Any, **kwargs: Any) -> Any:
        out, owner = made(x, *args, **kwargs), x
        while owner.base is not None:
            owner = owner.base if isinstance(owner.base, numpy.ndarray) else owner.base.base
        if out.size:
            (first, last), (start, end) = byte_bounds(out), byte_bounds(owner)
            assert start <= first and last <= end, (out.shape, out.strides, owner.shape)
        return out

    monkeypatch.setattr(stride_tricks, "as_strided", as_strided)


@pytest.mark.usefixtures("_within")
@pytest.mark.parametrize("number", range(len(UNPACKED)))
def test_unpacked(number: int) -> None:
    """Each hook with every fifth sample."""
    for place, text in enumerate(SAMPLES[number % 5 :: 5]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            passed(text, UNPACKED[number], create_graph=place % 2 == 0)


def passed(text: str, unpack: Callable[[Any], Any], create_graph: bool) -> None:
    """A pass through a sample: it ends as it should or in an ordinary error."""
    try:
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t, unpack):
            value, operands = evaluate(torch, text)
        roots = [t for t in tensors(value, torch) if t.grad_fn is not None]
        torch.autograd.backward(roots, [torch.ones_like(t) for t in roots], None, create_graph)
    except (IndexError, RuntimeError, ValueError):
        return
    for name, leaf in operands.items():
        assert leaf.grad is None or leaf.grad.shape == leaf.shape, (text, name)
        assert leaf.grad is None or leaf.grad.dtype == leaf.dtype, (text, name)
