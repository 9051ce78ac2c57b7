"""Tests of the operators on a CUDA device: every sample gives there what it gives on the CPU."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cuda_here import apart, comparable, has_gpu, on, only_values
from examine import examine, examined, refuse

import gradcli
from gradcli.operators import catalogue

ROWS = {name: row for name, row in sorted(catalogue.rows.items()) if row.samples or row.errors}


@pytest.mark.cuda
def test_a_gpu_is_here() -> None:
    """The tests below run on a GPU too where one is; this one says so where none is."""
    if not has_gpu():
        pytest.skip("no GPU with CuPy here: the CUDA path ran on its stand-in only")


@pytest.mark.parametrize("name", ROWS)
def test_samples_and_errors(cuda: float, name: str) -> None:
    for text in ROWS[name].samples:
        here, (there, made) = on("cpu", examine, gradcli, text), on("cuda", examined, gradcli, text)
        if "Mkldnn" in json.dumps(here):
            here, there = comparable(here), only_values(there)
        if "cpu" not in text:  # a sample that goes there has a graph of its own
            assert apart(there, here, cuda) is None, text
            assert misplaced(made) == [], text
    for text in ROWS[name].errors:
        there = on("cuda", refuse, gradcli, text)
        assert apart(there, on("cpu", refuse, gradcli, text), cuda) is None, text


def misplaced(tensors: list[Any]) -> list[Any]:
    """Those that are not on the GPU, or say that they are and are not."""
    return [
        (tensor.shape, tensor.device)
        for tensor in tensors
        if tensor.device.type != "cuda"
        or "cupy" not in type(tensor._data).__module__
        or tensor._data.dtype != tensor._kind.array_dtype
    ]
