"""Tests of whole programs on a CUDA device: every command says what it says on the CPU."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from command_here import here as gradcli
from cuda_here import apart, has_gpu
from programs_under import sections

from gradcli.engine.schema.run_state import as_new

ROOT = Path(__file__).parent
EXPRESSIONS = sorted((ROOT.parent / "expressions").rglob("*.expr"))
# Every row runs there in test_cuda_operators.py; of the programs the gate runs every second one.
ALL = os.environ.get("GRADCLI_CUDA") == "all" or has_gpu()
COMMANDS = ("trace", "grad", "paths", "why", "step", "flow", "check")
WRITTEN = [
    pytest.param(text, id=f"{name}: {title}")
    for name in ("engine", "networks", "optimisers", "tensors", "functional", "pasted")
    for title, text in sections(ROOT / "programs" / f"{name}.txt").items()
    if "error)[:" not in text and "e)[:" not in text  # a message that is cut, with a device in it
][:: 1 if ALL else 2]
# PyTorch's CPU has a node of its own for a whole layer, or says why it has not.
OF_THE_CPU = ("Mkldnn", "oneDNN")
# What the way back of such a product gives lies in columns or in rows, and then its own way back
# has a transposition more.
IN_COLUMNS = "m @ m.mH"
# A program that goes to the CPU by itself makes a copy there, which is a node of the graph.
NAMES_A_DEVICE = ("'cpu'", '"cpu"', ".cpu()", "cuda")
# Memory: a number of its own on the CPU is a piece of another array on the GPU.
MEMORY = ("device", "bytes", "saved_bytes", "memory_bytes", "buffers")


def document(command: str, file: str, device: str) -> tuple[int, Any]:
    with as_new():
        done = gradcli(command, file, "--device", device, "--format", "json")
    try:
        answer = without_memory(json.loads(done.stdout))
    except ValueError:
        answer = done.stdout
    return done.returncode, [answer, done.stderr]


def without_memory(value: Any) -> Any:
    if isinstance(value, dict):
        if value.get("kind") in ("parameter", "buffer"):  # Adam divides by what roundings leave
            value = {**value, "value": None}
        if "seeds" in value and value.get("number", 1) > 1:  # so do values behind its first step
            value = {**value, "nodes": None}
        return {key: without_memory(v) for key, v in value.items() if key not in MEMORY}
    return [without_memory(item) for item in value] if isinstance(value, list) else value


def same_on_both(command: str, file: Path, close: float) -> None:
    status, here = document(command, str(file), "cpu")
    other, there = document(command, str(file), "cuda")
    text = file.read_text("utf-8")
    if any(word in text for word in NAMES_A_DEVICE):
        assert other in (0, 1, 2, 3), there
        return
    if IN_COLUMNS in text or any(word in json.dumps(here) for word in OF_THE_CPU):
        here, there = values_of(here), values_of(there)
    assert apart(there, here, close) is None
    assert other == status


def values_of(document: Any) -> Any:
    tensors = document[0]["tensors"]
    return [[fact["name"], fact["shape"], fact["value"], fact["grad"]] for fact in tensors]


# Each program under `trace` and one command more, in turns; all of them where somebody asks.
ASKED = [
    pytest.param(file, command, id=f"{file.stem}-{command}")
    for place, file in enumerate(EXPRESSIONS)
    for turn, command in enumerate(COMMANDS)
    if turn in (0, place % (len(COMMANDS) - 1) + 1) or ALL
]


@pytest.mark.parametrize(("file", "command"), ASKED)
def test_expressions(cuda: float, file: Path, command: str) -> None:
    if command == "check" and file.stem == "modified_after_saving":
        return  # what it prints is an error that names the type, with the device in it
    same_on_both(command, file, cuda)


@pytest.mark.parametrize("text", WRITTEN)
def test_written(cuda: float, text: str, tmp_path: Path) -> None:
    file = tmp_path / "program.expr"
    file.write_text(text)
    same_on_both("trace", file, cuda)


def test_two_devices_are_compared(cuda: float, tmp_path: Path) -> None:
    file = tmp_path / "program.expr"
    file.write_text("x = torch.tensor([1.0, 2.0], requires_grad=True)\n(x ** 2).sum().backward()\n")
    done = gradcli("diff", str(file), "--device", "cpu,cuda")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("equal") or "equal" in done.stdout.splitlines()[-1]


def test_a_table_says_where_tensors_are(cuda: float, tmp_path: Path) -> None:
    file = tmp_path / "program.expr"
    file.write_text("x = torch.tensor([1.0, 2.0], requires_grad=True)\ny = (x ** 2).sum().cpu()\n")
    assert "device" not in gradcli("trace", str(file)).stdout
    table = gradcli("trace", str(file), "--device", "cuda").stdout.partition("\ntensor ")[2]
    assert [line.split() for line in table.splitlines()] == [
        ["type", "requires_grad", "leaf", "/", "grad_fn", "value", "grad", "device", "line"],
        ["x", "float32[2]", "yes", "leaf", "[1.,", "2.]", "None", "cuda:0", "1"],
        ["y", "float32", "yes", "ToCopyBackward0", "5.", "None", "cpu", "2"],
    ]


def test_random_numbers_are_those_of_the_cpu(cuda: float, tmp_path: Path) -> None:
    file = tmp_path / "program.expr"
    file.write_text(
        "torch.manual_seed(1)\n"
        "print(torch.randn(20).tolist(), torch.rand(3).tolist(), torch.randperm(9).tolist())\n"
        "print(torch.nn.Linear(3, 2).weight.tolist(), F.dropout(torch.ones(9)).tolist())\n"
        "print(torch.zeros(4).normal_().tolist(), torch.bernoulli(torch.ones(9) / 2).tolist())\n"
    )
    with as_new():
        here = gradcli("run", str(file)).stdout
    with as_new():
        assert gradcli("run", str(file), "--device", "cuda").stdout == here
