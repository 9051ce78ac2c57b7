"""Benchmarks: what the work costs at least in NumPy, written by hand; no graph is made."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise

import numpy as np


def _least(run: Callable[[], object], times: int) -> float:
    found = []
    for _ in range(times):
        start = time.process_time()
        run()
        found.append(time.process_time() - start)
    return min(found)


def regression(size: int) -> dict[str, float]:
    """One epoch: the two sums that the gradients are, and the update."""
    x = (np.sin(np.arange(120) * 1.7) * 1.5).astype(np.float32)
    target = 2 * x + 3
    state = {"w": np.float32(-0.7), "b": np.float32(0.3)}

    def epoch() -> None:
        grad = (state["b"] + state["w"] * x - target) * np.float32(2 / 120)
        state["w"] -= np.float32(0.1) * grad.dot(x)
        state["b"] -= np.float32(0.1) * grad.sum()

    return {"epoch": _least(lambda: [epoch() for _ in range(size)], 5) / size}


def network(size: int) -> dict[str, float]:
    """The matrix products alone, forward and backward."""
    draw = np.random.default_rng(0)
    x = draw.standard_normal((64, 784), np.float32)
    widths = (784, 512, 512, 10)
    weights = [draw.standard_normal(s, np.float32) for s in pairwise(widths)]

    def step() -> None:
        kept = [x]
        for w in weights:
            kept.append(kept[-1] @ w)
        grad = kept.pop()
        for place in (2, 1, 0):
            kept[place].T @ grad
            if place:
                grad = grad @ weights[place].T

    return {"step": _least(step, size)}


def elementwise(size: int) -> dict[str, float]:
    """The same numbers and their derivative, whole arrays at a time."""
    x = np.linspace(-3, 3, size, dtype=np.float32)

    def both_ways() -> None:
        s, e, t, q = np.sin(x), np.exp(-x * x), np.tanh(x), 1 + x * x
        (s * e + t / q).mean()
        (np.cos(x) * e - 2 * x * s * e + (1 - t * t) / q - t * 2 * x / (q * q)) / x.size

    return {"both ways": _least(both_ways, 2)}


def fan_out(size: int) -> dict[str, float]:
    """A product of two vectors of 64, once forward and twice backward, for each operation."""
    x, y = np.linspace(0, 1, 64, dtype=np.float32), np.linspace(1, 2, 64, dtype=np.float32)

    def products() -> None:
        for _ in range(size):
            x * y
            x * y
            x * y

    return {"total": _least(products, 5) / size}
