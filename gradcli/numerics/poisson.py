"""Numerics: Poisson numbers: products of uniforms for small rates, rejection for large ones.

W. Hoermann, "The transformed rejection method for generating Poisson random variables", 1993.
"""

from __future__ import annotations

import math
from collections.abc import Callable

Uniform = Callable[[], float]
_LARGE = 10.0


def draw(rate: float, uniform: Uniform) -> float:
    """One number, from as many uniforms as PyTorch takes for it."""
    if rate >= _LARGE:
        return _rejected(rate, uniform)
    if rate == 0:
        return 0.0
    least, product, count = math.exp(-rate), 1.0, 0
    while True:
        product *= uniform()
        if product <= least:
            return float(count)
        count += 1


def _rejected(rate: float, uniform: Uniform) -> float:
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    surely = 0.9277 - 3.6224 / (b - 2)
    while True:
        u, v = uniform() - 0.5, uniform()
        edge = 0.5 - abs(u)
        count = math.floor((2 * a / edge + b) * u + rate + 0.43)
        if edge >= 0.07 and v <= surely:
            return float(count)
        if count < 0 or (edge < 0.013 and v > edge):
            continue
        left = math.log(v) + math.log(inverse_alpha) - math.log(a / (edge * edge) + b)
        if left <= count * math.log(rate) - rate - math.lgamma(count + 1):
            return float(count)
