"""Tests: optimisers, schedules, Jacobians and Hessians, against PyTorch."""

from __future__ import annotations

from pathlib import Path

import pytest
from programs_under import compare, sections

HERE = Path(__file__).parent / "programs"
OPTIMISERS = sections(HERE / "optimisers.txt")
FUNCTIONAL = sections(HERE / "functional.txt")


@pytest.mark.parametrize("title", OPTIMISERS)
def test_optimiser(title: str) -> None:
    compare(OPTIMISERS[title])


@pytest.mark.parametrize("title", FUNCTIONAL)
def test_functional(title: str) -> None:
    compare(FUNCTIONAL[title])
