"""Tests: the engine's semantics, program by program, against PyTorch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from oracle import oracle
from programs_under import program, sections

import gradcli

PROGRAMS = sections(Path(__file__).parent / "programs" / "engine.txt")


def close(ours: Any, theirs: Any) -> bool:
    """Equal, numbers within the last bits of single precision."""
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(
            close(a, b) for a, b in zip(ours, theirs, strict=True)
        )
    if isinstance(ours, float) and isinstance(theirs, float):
        return abs(ours - theirs) <= 1e-6 + 1e-5 * abs(theirs)
    return type(ours) is type(theirs) and bool(ours == theirs)


@pytest.mark.parametrize("title", PROGRAMS)
def test_program(title: str) -> None:
    theirs = oracle.ask("program", PROGRAMS[title])
    ours = json.loads(json.dumps(program(gradcli, PROGRAMS[title])))
    for aspect in ("output", "error", "warnings"):
        assert ours[aspect] == theirs[aspect], aspect
    assert list(ours["tensors"]) == list(theirs["tensors"])
    for name, facts in theirs["tensors"].items():
        mine = ours["tensors"][name]
        for aspect in ("dtype", "shape", "flags", "graph"):
            assert mine[aspect] == facts[aspect], f"{name}: {aspect}"
        assert close(mine["value"], facts["value"]), f"{name}: value"
        assert close(mine["grad"], facts["grad"]), f"{name}: grad"
