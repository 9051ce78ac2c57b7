"""Tests of every declaration of the catalogue, driven by its own samples and errors.

Value, type, graph, gradients of first and second order, in-place twin and error texts are compared
with PyTorch's; reverse mode is also compared with finite differences, which need no PyTorch.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from examine import examine, inplace_twin, refuse, slope_fault
from oracle import oracle

import gradcli
from gradcli.operators import catalogue

# Differences of less than this share of the largest number are the last bits of float32 kernels;
# gradients are made of many of them.
CLOSE, CLOSE_DOUBLE = 2e-6, 1e-12
CLOSE_GRADIENT = 1e-5
# What is made of singular values: the library's steps differ from one processor to another.
LOOSER, SINGULAR = 5, ("pinv", "svd")
# A random function has no slope that differences could find, nor has a rounding one; a function of
# torch.autograd takes slopes itself.
NO_SLOPE = ("rand", "normal", "bernoulli", "dropout", "multinomial", "rrelu", "gumbel", "empty",
            "autograd")  # fmt: skip


def _samples(kind: str) -> list[tuple[str, str]]:
    return [(key, text) for key, row in catalogue.rows.items() for text in getattr(row, kind)]


def _twins() -> Iterator[tuple[str, str]]:
    for key, row in catalogue.rows.items():
        if row.inplace:
            for text in row.samples:
                twin = inplace_twin(text, row.name, row.inplace)
                if twin is not None:
                    yield key, twin


def _named(pairs: Iterable[tuple[str, str]]) -> list[Any]:
    """For each declaration its texts; sorted, because the catalogue's order is that in which its
    files were read."""
    texts: dict[str, list[str]] = {}
    for key, text in sorted(set(pairs)):
        texts.setdefault(key, []).append(text)
    return [pytest.param(of_one, id=key) for key, of_one in texts.items()]


SAMPLES = _samples("samples")


def difference(ours: Any, theirs: Any, where: str = "") -> str:
    """The first place where two descriptions differ, empty where they agree."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        if "error" in ours and "error" not in theirs:
            return f"{where}: {ours['error']}"
        looser = LOOSER if any(name in where for name in SINGULAR) else 1
        close = looser * (CLOSE_DOUBLE if theirs.get("dtype") == "torch.float64" else CLOSE)
        for key in (*theirs, *(key for key in ours if key not in theirs)):
            if key not in ours or key not in theirs:
                return f"{where}.{key}: {ours.get(key)!r}, PyTorch {theirs.get(key)!r}"
            place = f"{where}.{key}"
            if key in ("second", "gradients"):
                found = _far(ours[key], theirs[key], looser * CLOSE_GRADIENT, place)
            elif key == "value":
                found = _far(ours[key], theirs[key], close, place)
            else:
                found = difference(ours[key], theirs[key], place)
            if found:
                return found
        return ""
    if isinstance(theirs, list) and isinstance(ours, list) and len(ours) == len(theirs):
        for at, (mine, its) in enumerate(zip(ours, theirs, strict=True)):
            if found := difference(mine, its, f"{where}[{at}]"):
                return found
        return ""
    return "" if ours == theirs else f"{where}: {ours!r}, PyTorch {theirs!r}"


def _far(ours: Any, theirs: Any, close: float, where: str) -> str:
    if isinstance(theirs, dict) and isinstance(ours, dict) and set(ours) == set(theirs):
        for key in theirs:
            if found := _far(ours[key], theirs[key], close, f"{where}.{key}"):
                return found
        return ""
    mine, its = list(_flat(ours)), list(_flat(theirs))
    largest = max((abs(v) for v in its if _finite(v)), default=0.0)
    same = len(mine) == len(its) and all(
        a == b or (_finite(a) and _finite(b) and abs(a - b) <= close * max(1.0, largest))
        for a, b in zip(mine, its, strict=True)
    )
    return "" if same else f"{where}: {ours!r}, PyTorch {theirs!r}"


def _finite(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        yield None  # the nesting counts too
        for item in value:
            yield from _flat(item)
    elif isinstance(value, bool) or not isinstance(value, int | float):
        yield str(value)
    else:
        yield value


def unlike(texts: list[str], *, may_fail: bool = False) -> list[str]:
    """What gradcli does otherwise than PyTorch, which takes samples."""
    found = []
    for text in texts:
        wanted = oracle.ask("examine", text)
        if "error" in wanted and not may_fail:
            found.append(f"{text}: the sample fails in PyTorch: {wanted['error']}")
        found.append(difference(examine(gradcli, text), wanted, text))
    return [words for words in found if words]


@pytest.mark.parametrize("texts", _named(SAMPLES))
def test_samples(texts: list[str]) -> None:
    assert unlike(texts) == []


@pytest.mark.parametrize("texts", _named(_samples("errors")))
def test_errors(texts: list[str]) -> None:
    wanted = {text: oracle.ask("refuse", text) for text in texts}
    assert "nothing was raised" not in wanted.values(), "PyTorch accepts one of these"
    assert {text: refuse(gradcli, text) for text in texts} == wanted


@pytest.mark.parametrize("texts", _named(_twins()))
def test_inplace_twins(texts: list[str]) -> None:
    assert unlike(texts, may_fail=True) == []


SLOPES = [pair for pair in SAMPLES if not any(word in pair[1] for word in NO_SLOPE)]


@pytest.mark.parametrize("texts", _named(SLOPES))
def test_reverse_mode_equals_differences(texts: list[str]) -> None:
    """Unless PyTorch's own reverse mode differs from them: at ties, or by its conventions."""
    faults = {text: slope_fault(gradcli, text) for text in texts}
    assert [faults[t] for t in texts if faults[t] and not oracle.ask("slope_fault", t)] == []


def test_every_declaration_is_documented_and_sampled() -> None:
    apart = {"cuda", "resize.other"}  # test_cuda.py calls the first; the other only refuses
    bare = [
        key
        for key, row in catalogue.rows.items()
        if not key.split(".")[0].endswith("_")
        and not (row.doc.strip() and (row.samples or key in apart))
    ]
    assert bare == []
