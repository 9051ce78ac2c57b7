"""Tests of PyTorch's operator database on a CUDA device: what holds on the CPU holds there.

The entries of the first tier (see test_op_db) run one sample in single precision and one of complex
numbers; GRADCLI_OP_DB=all runs all entries and more element types.
"""

from __future__ import annotations

import pytest
from cuda_here import on
from oracle import torch

if torch is None:
    pytest.skip(
        "PyTorch is not installed: its operator database can't be asked", allow_module_level=True
    )

import op_database
from test_op_db import ASKED, DOMAIN, EMPTY, EXCEPTIONS, FIRST, entries

TIERS = tuple(DOMAIN) if ASKED else tuple(DOMAIN)[:1]
TYPES = ("float32", "complex64", "float64", "int64", "bool", "float16", "bfloat16")
TYPES = TYPES if ASKED else TYPES[:2]
# Its samples go to the CPU, which is another device here.
ELSEWHERE = frozenset({"to"})


@pytest.mark.parametrize("name", [name for tier in TIERS for name in DOMAIN[tier]])
def test_entry(cuda: float, name: str) -> None:
    if name in ELSEWHERE or EXCEPTIONS.get(name) is EMPTY:
        return
    entry = entries()[name]
    for kind in TYPES:
        if getattr(torch, kind) not in entry.dtypes:
            continue
        samples = op_database.samples(entry, getattr(torch, kind), FIRST)
        if samples:
            sample = samples[len(samples) // 2]
            found = on("cuda", op_database.compare, entry, sample)
            if found:
                known = {aspect for aspect, _ in on("cpu", op_database.compare, entry, sample)}
                assert [fault for fault in found if fault[0] not in known] == [], kind
