"""Numerics: gamma and binomial numbers, from as many uniforms and normals as PyTorch takes.

G. Marsaglia and W. Tsang, "A simple method for generating gamma variables", 2000; W. Hoermann,
"The generation of binomial random variates", 1993, with the steps and the precision of PyTorch's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from ..engine.schema.dtypes import float64

Draw = Callable[[], float]
_THIRD = float(numpy.float32(1) / numpy.float32(3))
_SQUEEZE = float(numpy.float32(0.0331))
_TAILS = (
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
    0.0166446911898211, 0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
    0.00925546218271273, 0.00833056343336287,
)  # fmt: skip


def gamma(alpha: Any, uniform: Draw, normal: Draw) -> float:
    """One number; `alpha` is a number of the type whose precision PyTorch keeps for it."""
    scale, kind = 1.0, type(alpha)
    if alpha < 1:
        if alpha == 0:
            return 0.0
        scale *= (1 - uniform()) ** float(kind(1) / alpha)
        alpha = alpha + kind(1)
    d = float(alpha - kind(_THIRD))
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal()
        y = 1.0 + c * x
        while y <= 0:
            x = normal()
            y = 1.0 + c * x
        v = y * y * y
        u, xx = 1 - uniform(), x * x
        if u < 1.0 - _SQUEEZE * xx * xx or math.log(u) < 0.5 * xx + d * (1.0 - v + math.log(v)):
            return scale * d * v


DRAWN = 48  # steps that a number takes: each is made by itself


def gammas(alphas: Any, source: Any) -> Any:
    """A number for each concentration of an array, from a generator's stream; never zero."""

    def uniform() -> float:
        return float(source.fractions(1, float64)[0])

    def normal() -> float:
        return float(source.spread_gaussians(1, 0.0, 1.0)[0])

    smallest = float(numpy.finfo(alphas.dtype).tiny)
    drawn = [max(smallest, gamma(alpha, uniform, normal)) for alpha in alphas.ravel()]
    return numpy.array(drawn, numpy.float64).reshape(alphas.shape).astype(alphas.dtype)


def shares(alphas: Any, source: Any) -> Any:
    """Gamma numbers of double precision, divided by their sum along the last dimension."""
    smallest = float(numpy.finfo(alphas.dtype).tiny)
    drawn = numpy.maximum(gammas(alphas.astype(numpy.float64), source), smallest)
    largest = numpy.nextafter(alphas.dtype.type(1), alphas.dtype.type(0))
    parts = (drawn / drawn.sum(-1, keepdims=True)).astype(alphas.dtype)
    return numpy.clip(parts, smallest, largest)


def binomial(count: Any, p: Any, uniform: Draw) -> float:
    """One number; count and probability are of the tensors' type."""
    if count <= 0 or p <= 0:
        return 0.0
    if p >= 1:
        return float(count)
    if p > 0.5:
        return float(count) - _seldom(count, type(p)(1.0 - float(p)), uniform)
    return _seldom(count, p, uniform)


def _seldom(count: Any, p: Any, uniform: Draw) -> float:
    if count * p >= 10.0:
        return _rejected(count, p, uniform)
    step, total, found = float(numpy.log1p(-p)), 0.0, 0.0
    while True:
        u = uniform()
        total += math.ceil(math.log(u) / step) if u else math.inf
        if total > count:
            return found
        found += 1


def _tail(k: float) -> float:
    if k < len(_TAILS):
        return _TAILS[int(k)]
    square = (k + 1) * (k + 1)
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)


def _rejected(count: Any, p: Any, uniform: Draw) -> float:
    one = type(p)(1)
    spread = float(numpy.sqrt(count * p * (one - p)))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * float(p)
    c, most = float(count * p) + 0.5, float(count)
    fast, r = 0.92 - 4.2 / b, float(p / (one - p))
    alpha = (2.83 + 5.1 / b) * spread
    m = math.floor(float((count + one) * p))
    while True:
        u, v = uniform() - 0.5, uniform()
        left = 0.5 - abs(u)
        if left == 0:
            continue
        k = math.floor((2 * a / left + b) * u + c)
        if k < 0 or k > most:
            continue
        if left >= 0.07 and v <= fast:
            return float(k)
        upper = (
            (m + 0.5) * math.log((m + 1) / (r * (most - m + 1)))
            + (most + 1) * math.log((most - m + 1) / (most - k + 1))
            + (k + 0.5) * math.log(r * (most - k + 1) / (k + 1))
            + _tail(m) + _tail(most - m) - _tail(k) - _tail(most - k)
        )  # fmt: skip
        v = v * alpha / (a / (left * left) + b)
        if v <= 0 or math.log(v) <= upper:
            return float(k)
