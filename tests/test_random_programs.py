"""Tests: programs that nobody wrote, against PyTorch: values, flags, graphs, gradients, errors."""

from __future__ import annotations

import json

import pytest
from oracle import oracle
from program_generator import program as written
from programs_under import close, program

import gradcli

SEEDS = range(240)


@pytest.mark.parametrize("first", range(0, len(SEEDS), 20))
def test_random_programs(first: int) -> None:
    for seed in SEEDS[first : first + 20]:
        text = written(seed)
        theirs = oracle.ask("program", text)
        ours = json.loads(json.dumps(program(gradcli, text)))
        assert ours["error"] == theirs["error"], text
        assert list(ours["tensors"]) == list(theirs["tensors"]), text
        for name, facts in theirs["tensors"].items():
            mine = ours["tensors"][name]
            for aspect in ("dtype", "shape", "flags", "graph"):
                assert mine[aspect] == facts[aspect], f"{name}: {aspect}\n{text}"
            assert close(mine["value"], facts["value"]), f"{name}: value\n{text}"
            assert close(mine["grad"], facts["grad"]), f"{name}: grad\n{text}"
