"""Tests: the engine's semantics, program by program, against PyTorch."""

from __future__ import annotations

from pathlib import Path

import pytest
from programs_under import compare, sections

PROGRAMS = sections(Path(__file__).parent / "programs" / "engine.txt")


@pytest.mark.parametrize("title", PROGRAMS)
def test_program(title: str) -> None:
    compare(PROGRAMS[title])
