"""Tests of torch.finfo and torch.iinfo: every element type, every attribute, beside PyTorch."""

from __future__ import annotations

from typing import Any

import pytest
from oracle import oracle, question

import gradcli

TYPES = (
    "float16 bfloat16 float32 float64 complex64 complex128 uint8 int8 int16 int32 int64 bool"
).split()
ATTRIBUTES = "bits eps max min tiny smallest_normal resolution dtype".split()
OTHERS = (
    "torch.finfo()", "torch.iinfo()", "torch.finfo(3)", "torch.finfo(type=torch.float64)",
    "torch.finfo(torch.float32) == torch.finfo(torch.float32)",
    "torch.finfo(torch.float32) == torch.finfo(torch.float64)",
    "torch.ones(2).masked_fill(torch.tensor([True, False]), torch.finfo(torch.float32).min)",
)  # fmt: skip


@question
def said(torch: Any, text: str) -> str:
    """What an expression prints, or its error."""
    try:
        return repr(eval(text, {"torch": torch}))
    except TypeError as error:
        return f"TypeError: {error}".splitlines()[0]


@question
def limits(torch: Any, function: str, kind: str) -> list[str]:
    """The printed form and all attributes."""
    call = f"torch.{function}(torch.{kind})"
    shown = said(torch, call)
    if shown.startswith("TypeError"):
        return [shown]
    made = eval(call, {"torch": torch})
    return [shown, *(repr(getattr(made, name, None)) for name in ATTRIBUTES)]


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("function", ["finfo", "iinfo"])
def test_the_limits_of_a_type(function: str, kind: str) -> None:
    assert limits(gradcli, function, kind) == oracle.ask("limits", function, kind)


@pytest.mark.parametrize("text", OTHERS)
def test_what_is_reported_of_limits(text: str) -> None:
    assert said(gradcli, text) == oracle.ask("said", text)
