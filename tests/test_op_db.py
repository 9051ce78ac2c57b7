"""Tests of the operators against PyTorch's own operator database, live.

Each entry of the database that a user of dense real tensors calls (tests/op_db_domain.json, by
tier: 1 the most used) is a test. Its samples run under PyTorch and here; what is compared: value,
type, shape, leaf and gradient flags, the whole graph with saved names, gradients of first and
second order under random cotangents, the graph that create_graph makes, the in-place form.

By default each entry runs some samples of single and double precision, every second one more of a
half type.
GRADCLI_OP_DB=all runs all samples of all element types; GRADCLI_OP_DB=<number> as many of each type
as it says.
"""

from __future__ import annotations

import functools
import json
import os
from pathlib import Path
from typing import Any, NamedTuple

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
FEW = {"float32": 3, "float64": 2}
FIRST = 64  # of which the few are taken: some entries make a thousand
HALVES = ("float16", "bfloat16")  # by default half of the entries run a sample of one of them
TYPES = ("float32", "float64", "int64", "int32", "uint8", "bool", *HALVES)


class Difference(NamedTuple):
    """What differs in an entry, with one element type: more of its samples run always."""

    aspect: str
    kind: str
    reason: str


_EXACT = Difference(
    "value",
    "float64",
    "PyTorch is off by up to 1e-6 in double precision, for a reason that was not found; the "
    "functions here are SciPy's, exact to 1e-14",
)
_BYTES = Difference(
    "value", "uint8", "PyTorch resamples bytes in 16-bit fixed point, here they are rounded once"
)
EMPTY = Difference("value", "float32", "PyTorch leaves memory as it finds it; empty is zeros here")

# A difference that is gone fails the test: it is taken off.
EXCEPTIONS: dict[str, Difference] = {
    "empty_like": EMPTY,
    **dict.fromkeys(("special.airy_ai", "special.bessel_j0", "special.bessel_j1"), _EXACT),
    **dict.fromkeys(("special.bessel_y0", "special.bessel_y1"), _EXACT),
    **dict.fromkeys(
        [f"nn.functional.interpolate:{how}" for how in ("bilinear", "bicubic")], _BYTES
    ),
}


class Half(NamedTuple):
    """What differs with the half types, in some of the samples."""

    aspects: tuple[str, ...]
    reason: str


_VALUES = ("value", "first", "create_graph value", "second")

_ORDER = Half(
    _VALUES,
    "sums of rounded numbers, which PyTorch takes in an order of its own: some numbers differ by "
    "more than a unit",
)
HALF_EXCEPTIONS: dict[str, Half] = {
    **dict.fromkeys(
        ("complex", "view_as_complex"),
        Half(("description",), "complex numbers of half precision are single here"),
    ),
    "matrix_exp": Half(_VALUES, "PyTorch's polynomials overflow or cancel in half precision"),
    "nn.functional.grid_sample": Half(_VALUES, "PyTorch rounds places and weights to half too"),
    **dict.fromkeys(
        ("logspace", "logspace:tensor_overload"),
        Half(("value",), "PyTorch rounds the exponents to half; here the powers are rounded once"),
    ),
    "normal": Half(("value",), "a deviation that is a tensor is rounded once more there"),
    **dict.fromkeys(
        (
            "dist", "index_reduce:prod", "nn.functional.batch_norm", "nn.functional.bilinear",
            "nn.functional.conv3d",
            "nn.functional.cross_entropy", "nn.functional.embedding_bag",
            "nn.functional.instance_norm", "nn.functional.interpolate:trilinear",
            "nn.functional.normalize",
        ),
        _ORDER,
    ),
}  # fmt: skip


@functools.cache
def entries() -> dict[str, Any]:
    return {op_database.identity(entry): entry for entry in op_database.load()}


def turn_of(entry: Any) -> tuple[str, ...]:
    """The half type whose sample runs by default, if it is the entry's turn."""
    turn = sum(map(ord, op_database.identity(entry))) % 4
    return HALVES[turn : turn + 1]


def chosen(entry: Any, whole: str = "") -> list[tuple[str, Any]]:
    """The samples that run, with their types, evenly spread over the entry's own; more of the type
    `whole`."""
    few = (*FEW, *([whole] if whole else []), *turn_of(entry))
    kinds = TYPES if ASKED else tuple(dict.fromkeys(few))
    kinds = tuple(kind for kind in kinds if getattr(torch, kind) in entry.dtypes)
    found: list[tuple[str, Any]] = []
    for kind in kinds or ("",):
        first = None if ASKED else FIRST // 4 if kind in HALVES else FIRST
        samples = op_database.samples(entry, getattr(torch, kind, None), first)
        limit = len(samples)
        if kind != whole and ASKED != "all":
            limit = int(ASKED) if ASKED else 1 if kind in HALVES else FEW.get(kind, 4)
        if len(samples) > limit:
            step = len(samples) / limit
            start = 0.5 if kind in HALVES else 0.0  # the first ones are the plainest
            samples = [samples[int((start + place) * step)] for place in range(limit)]
        found += [(kind, sample) for sample in samples]
    return found


def faults_of(entry: Any, whole: str = "") -> list[tuple[str, str]]:
    found = []
    half = HALF_EXCEPTIONS.get(op_database.identity(entry))
    for number, (kind, sample) in enumerate(chosen(entry, whole)):
        faults = op_database.compare(entry, sample)
        twins = op_database.compare_inplace(entry, sample)
        faults += [(f"in place: {aspect}", text) for aspect, text in twins]
        if kind in HALVES and half is not None:
            known = (*half.aspects, *(f"in place: {aspect}" for aspect in half.aspects))
            faults = [fault for fault in faults if fault[0] not in known]
        found += [(aspect, f"sample {number}, {kind}: {text}") for aspect, text in faults]
    return found


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, id=f"tier{tier}-{name}") for tier in DOMAIN for name in DOMAIN[tier]],
)
def test_entry(name: str) -> None:
    known = EXCEPTIONS.get(name)
    found = faults_of(entries()[name], known.kind if known else "")
    if known is EMPTY:  # what lies in memory may be zeros there too
        found = [fault for fault in found if fault[0] != known.aspect]
    elif known:
        assert known.aspect in {aspect for aspect, _ in found}, f"no longer so: {known.reason}"
        found = [fault for fault in found if fault[0] != known.aspect]
    assert found == []


def test_exceptions_are_of_the_domain() -> None:
    known = {name for names in DOMAIN.values() for name in names}
    assert {*EXCEPTIONS, *HALF_EXCEPTIONS} <= known
    assert all(known.reason for known in (*EXCEPTIONS.values(), *HALF_EXCEPTIONS.values()))
