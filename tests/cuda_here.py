"""Tests: a CUDA device to run on: a GPU with CuPy where there is one, and always its stand-in.

Tests that ask for the fixture `cuda` run on the stand-in (tests/stand_in, which refuses what CuPy
refuses) and, where a GPU is, on that too.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

from gradcli.engine.memory import device as devices
from gradcli.engine.schema.carriers import RUNTIME
from gradcli.engine.tensors.tensor_type import FastShape, TensorType, _kind_on

STAND_IN = Path(__file__).parent / "stand_in"
# How far numbers may be from the CPU's, which alone sums gradients in PyTorch's order.
PLACES = {"stand_in": 5e-5, "gpu": 2e-4}


def has_gpu() -> bool:
    """Is there a GPU that CuPy can use?"""
    try:
        import cupy

        return "stand_in" not in str(cupy.__file__) and bool(cupy.cuda.runtime.getDeviceCount())
    except Exception:  # no CuPy, no driver, no device: all the same here
        return False


@contextlib.contextmanager
def standing_in(count: int = 1) -> Iterator[None]:
    """Within it `import cupy` finds the stand-in, with so many devices."""
    patch = pytest.MonkeyPatch()
    before = {name: sys.modules.pop(name) for name in list(sys.modules) if _is_cupy(name)}
    library, ones = list(devices._cuda), dict(RUNTIME.ones)
    arrays = dict(RUNTIME.arrays)
    devices._cuda.clear()
    _forget()
    patch.syspath_prepend(str(STAND_IN))
    patch.setenv("STAND_IN_DEVICES", str(count))
    try:
        yield
    finally:
        patch.undo()
        for name in [name for name in sys.modules if _is_cupy(name)]:
            del sys.modules[name]
        sys.modules.update(before)
        _forget()
        devices._cuda[:] = library
        RUNTIME.ones.update(ones)
        RUNTIME.arrays.update(arrays)


def _is_cupy(name: str) -> bool:
    return name.partition(".")[0] in ("cupy", "cupyx")


def _forget() -> None:
    """What the engine keeps of a device that is gone."""
    for array in [a for a in RUNTIME.arrays if RUNTIME.arrays[a] is not numpy]:
        del RUNTIME.arrays[array]
    for key in [key for key, kind in TensorType._made.items() if kind.xp is not numpy]:
        del TensorType._made[key]
    for key in [key for key in FastShape._made if key[0].xp is not numpy]:
        del FastShape._made[key]
    _kind_on.cache_clear()
    RUNTIME.mixed = False


@contextlib.contextmanager
def place(name: str) -> Iterator[float]:
    """The device of the fixture `cuda`, and how far its numbers may be from the CPU's."""
    with standing_in() if name == "stand_in" else contextlib.nullcontext():
        yield PLACES[name]


def asked() -> list[Any]:
    """The parameters of the fixture `cuda`."""
    gpu = [pytest.param("gpu", marks=pytest.mark.cuda)] if has_gpu() else []
    return [pytest.param("stand_in", marks=pytest.mark.stand_in), *gpu]


def on(device: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function answers where tensors live on a device unless they say otherwise."""
    devices.set_default_device(device)
    try:
        return function(*arguments)
    finally:
        devices.set_default_device("cpu")


# What a GPU changes in words, and only there.
_WORDS = (
    (re.compile(r",\s+device='cuda:0'"), ""),
    (re.compile(r" \(cuda:0\)"), ""),
    (re.compile(r"torch\.cuda\."), "torch."),
    (re.compile(r"device\(type='cuda', index=0\)"), "device(type='cpu')"),
    (re.compile(r"cuda:0"), "cpu"),
    (re.compile(r"\bCUDA(?=\w+Type)"), "CPU"),
    (re.compile(r"(?<![\d.e])-0\.(?!\d)"), "0."),  # the sign of a zero is left to the library
    (re.compile(r"\s+"), ""),
)


_NUMBER = re.compile(r"\d+\.\d*(?:e[-+]\d+)?")  # as a program prints them


def apart(there: Any, here: Any, close: float, path: str = "") -> str | None:
    """Where two answers differ, None where nothing does; numbers may be close."""
    if isinstance(there, float) or isinstance(here, float):
        try:
            if abs(there - here) <= close * max(1.0, abs(here)):
                return None
        except TypeError:
            pass
        return None if there == here else f"{path}: {there!r} on the GPU, {here!r} on the CPU"
    if isinstance(there, dict) and isinstance(here, dict) and there.keys() == here.keys():
        parts = [apart(there[key], here[key], close, f"{path}.{key}") for key in here]
        return next((part for part in parts if part), None)
    if isinstance(there, list) and isinstance(here, list) and len(there) == len(here):
        parts = [apart(a, b, close, f"{path}[{n}]") for n, (a, b) in enumerate(zip(there, here))]
        return next((part for part in parts if part), None)
    if isinstance(there, str) and isinstance(here, str):
        for pattern, text in _WORDS:
            there, here = pattern.sub(text, there), pattern.sub(text, here)
        if _NUMBER.sub("#", there) == _NUMBER.sub("#", here):
            pairs = zip(_NUMBER.findall(there), _NUMBER.findall(here), strict=True)
            parts = [apart(float(one), float(other), close, path) for one, other in pairs]
            return next((part for part in parts if part), None)
    return None if there == here else f"{path}: {there!r} on the GPU, {here!r} on the CPU"


def only_values(facts: Any) -> Any:
    """Facts without the graph: where PyTorch's CPU has a node of its own for a whole layer."""
    if isinstance(facts, dict):
        left = ("grad_fn", "next", "saved", "output_nr")
        return {name: only_values(value) for name, value in facts.items() if name not in left}
    return [only_values(item) for item in facts] if isinstance(facts, list) else facts


def comparable(facts: Any) -> Any:
    """Facts that a CUDA device has too."""
    return only_values(facts) if "Mkldnn" in json.dumps(facts) else facts
