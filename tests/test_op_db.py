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
TYPES = ("float32", "float64", "int64", "int32", "uint8", "bool")


class Difference(NamedTuple):
    """What differs in an entry, with one element type: more of its samples run always."""

    aspect: str
    kind: str
    reason: str


_EXACT = Difference(
    "value",
    "float64",
    "PyTorch evaluates Cephes' fractions without the leading term of their denominators, and is "
    "off by up to 1e-6 in double precision; the integrals here agree with SciPy to 1e-14",
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


@functools.cache
def entries() -> dict[str, Any]:
    return {op_database.identity(entry): entry for entry in op_database.load()}


def chosen(entry: Any, whole: str = "") -> list[Any]:
    """The samples that run, evenly spread over the entry's own; more of the type `whole`."""
    kinds = TYPES if ASKED else tuple(dict.fromkeys((*FEW, *([whole] if whole else []))))
    kinds = tuple(kind for kind in kinds if getattr(torch, kind) in entry.dtypes)
    found: list[Any] = []
    for kind in kinds or ("",):
        first = None if ASKED else FIRST
        samples = op_database.samples(entry, getattr(torch, kind, None), first)
        limit = len(samples)
        if kind != whole and ASKED != "all":
            limit = int(ASKED) if ASKED else FEW.get(kind, 4)
        if len(samples) > limit:
            step = len(samples) / limit
            samples = [samples[int(place * step)] for place in range(limit)]
        found += samples
    return found


def faults_of(entry: Any, whole: str = "") -> list[tuple[str, str]]:
    found = []
    for number, sample in enumerate(chosen(entry, whole)):
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
    assert set(EXCEPTIONS) <= known
    assert all(known.reason for known in EXCEPTIONS.values())
