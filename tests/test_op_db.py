"""Tests of the operators against PyTorch's own operator database, live.

Each entry of the database that a user of dense real tensors calls (tests/op_db_domain.json, by
tier: 1 the most used) is a test. Its samples run under PyTorch and here; what is compared: value,
type, shape, leaf and gradient flags, the whole graph with saved names, gradients of first and
second order under random cotangents, the graph that create_graph makes, the in-place form.

By default each entry runs some samples of single and double precision. GRADCLI_OP_DB=all runs all
samples of all element types; GRADCLI_OP_DB=<number> as many of each type as it says.
"""

from __future__ import annotations

import functools
import json
import os
from pathlib import Path
from typing import Any

import pytest
from oracle import torch

if torch is None:
    pytest.skip(
        "PyTorch is not installed: its operator database can't be asked", allow_module_level=True
    )

import op_database

DOMAIN: dict[str, list[str]] = json.loads(
    (Path(__file__).parent / "op_db_domain.json").read_text("utf-8")
)
ASKED = os.environ.get("GRADCLI_OP_DB", "")
FEW = {"float32": 5, "float64": 4}
TYPES = ("float32", "float64", "int64", "int32", "uint8", "bool", "float16")

# Entry: the aspects in which it differs, and why. A difference that is gone fails the test, so
# these run with all their samples always.
_EXACT = (
    ("value",),
    "PyTorch's polynomials are off by some 1e-7 in double precision; the integrals here agree with "
    "SciPy to 1e-14",
)
_LAYOUT = (
    ("create_graph graph",),
    "a difference of operands that lie differently in memory is row-major here and lies like the "
    "first of them in PyTorch, so that reshape names its view otherwise",
)
_ONE_ROW = (
    ("create_graph graph",),
    "the stride of a dimension of size 1 says nothing here; PyTorch takes a matrix of one row for "
    "a transposed one by it, and multiplies in the other order",
)
EXCEPTIONS: dict[str, tuple[tuple[str, ...], str]] = {
    "empty_like": (("value",), "PyTorch leaves memory as it finds it; here empty is zeros"),
    **dict.fromkeys(("special.airy_ai", "special.bessel_j0", "special.bessel_j1"), _EXACT),
    **dict.fromkeys(("special.bessel_y0", "special.bessel_y1"), _EXACT),
    **dict.fromkeys(("pinverse", "linalg.pinv", "linalg.pinv:hermitian", "linalg.lstsq"), _LAYOUT),
    **dict.fromkeys(("cov", "corrcoef", "svd", "linalg.svd"), _ONE_ROW),
}


@functools.cache
def entries() -> dict[str, Any]:
    return {op_database.identity(entry): entry for entry in op_database.load()}


def chosen(entry: Any, every: bool) -> list[Any]:
    """The samples that run: evenly spread over the entry's own."""
    kinds = TYPES if every or ASKED else tuple(FEW)
    kinds = tuple(kind for kind in kinds if getattr(torch, kind) in entry.dtypes)
    found: list[Any] = []
    for kind in kinds or ("",):
        samples = op_database.samples(entry, getattr(torch, kind, None))
        limit = len(samples)
        if not every and ASKED != "all":
            limit = int(ASKED) if ASKED else FEW.get(kind, 4)
        if len(samples) > limit:
            step = len(samples) / limit
            samples = [samples[int(place * step)] for place in range(limit)]
        found += samples
    return found


def faults_of(entry: Any, every: bool) -> list[tuple[str, str]]:
    found = []
    for number, sample in enumerate(chosen(entry, every)):
        faults = op_database.compare(entry, sample)
        twins = op_database.compare_inplace(entry, sample)
        faults += [(f"in place: {aspect}", text) for aspect, text in twins]
        found += [(aspect, f"sample {number}: {text}") for aspect, text in faults]
    return found


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, id=f"tier{tier}-{name}") for tier in DOMAIN for name in DOMAIN[tier]],
)
def test_entry(name: str) -> None:
    allowed, reason = EXCEPTIONS.get(name, ((), ""))
    found = faults_of(entries()[name], bool(allowed))
    differing = {aspect for aspect, _ in found}
    gone = set(allowed) - differing
    assert not gone, f"no longer differs in {sorted(gone)} ({reason}): take it off EXCEPTIONS"
    assert [fault for fault in found if fault[0] not in allowed] == []


def test_exceptions_are_of_the_domain() -> None:
    known = {name for names in DOMAIN.values() for name in names}
    assert set(EXCEPTIONS) <= known
    assert all(reason for _, reason in EXCEPTIONS.values())
