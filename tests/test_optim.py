"""Tests: optimisers, schedules, Jacobians and Hessians, against PyTorch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from programs_under import compare, sections

import gradcli

HERE = Path(__file__).parent / "programs"
OPTIMISERS = sections(HERE / "optimisers.txt")
FUNCTIONAL = sections(HERE / "functional.txt")


@pytest.mark.parametrize("title", OPTIMISERS)
def test_optimiser(title: str) -> None:
    compare(OPTIMISERS[title])


@pytest.mark.parametrize("title", FUNCTIONAL)
def test_functional(title: str) -> None:
    compare(FUNCTIONAL[title])


def test_a_class_of_python_has_hooks_around_its_step() -> None:
    told: list[str] = []

    class Down(gradcli.optim.Optimizer):
        def __init__(self, params: Any) -> None:
            super().__init__(params, {"lr": 0.5})

        def step(self, closure: Any = None) -> Any:
            told.append("step")
            return closure and closure()

    class Below(Down):
        def step(self, closure: Any = None) -> Any:
            return super().step(closure)

    below = Below([gradcli.ones(1, requires_grad=True)])
    below.register_step_pre_hook(lambda one, args, kwargs: (args, {"closure": lambda: 7}))
    below.register_step_post_hook(lambda one, args, kwargs: told.append(f"after {len(args)}"))
    assert (below.step(), told) == (7, ["step", "after 1"])
    below.register_step_pre_hook(lambda one, args, kwargs: 3)
    with pytest.raises(RuntimeError, match="must return None or a tuple"):
        below.step()
