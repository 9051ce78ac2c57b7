"""Tests: optimisers, schedules, Jacobians and Hessians, against PyTorch."""

from __future__ import annotations

from pathlib import Path

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


@pytest.mark.parametrize("words", ['"cpu"', '"cpu", dtype=torch.float16'])
def test_autocast_of_the_cpu_is_refused(words: str) -> None:
    """Operations would choose their types; what is off already, on a machine without CUDA, runs."""
    mode = eval(f"torch.autocast({words})", {"torch": gradcli})
    with pytest.raises(NotImplementedError, match="on the cpu is not supported here"), mode:
        pass
