"""Engine: exp of singles, with the last bits of PyTorch's vector code.

Elementwise functions of fewer than 32 numbers run the C library there, one number at a time, and
rounding once from double agrees with that. softmax always runs vectors: the exponential of Sleef's
1.0-ULP family, which is another single in one case of ten.
"""

from __future__ import annotations

from typing import Any

import numpy

_single, _double = numpy.float32, numpy.float64
_LOG2_E = _single(1.442695040888963)
# ln 2 in two parts, negated: a multiple of the first is exact.
_LN2_HIGH, _LN2_LOW = _double(-0.693145751953125), _double(_single(-1.428606765330187e-06))
# (exp(s) - 1 - s) / s**2 on [-ln 2 / 2, ln 2 / 2], highest power first.
_FIRST, *_POWERS = (
    _double(_single(c))
    for c in (
        0.000198527617612853646278381, 0.00139304355252534151077271,
        0.00833336077630519866943359, 0.0416664853692054748535156,
        0.166666671633720397949219, 0.5,
    )
)  # fmt: skip
_LOWEST = _single(-104)  # exp of it is 0 in single precision


def vector_exp(x: Any) -> Any:
    """exp(x) for singles of any shape that are not positive; each step is rounded once."""
    x = numpy.maximum(x, _LOWEST)
    whole = numpy.rint(x * _LOG2_E)
    wide = whole.astype(_double)
    rest = (wide * _LN2_HIGH + x).astype(_single)
    rest = (wide * _LN2_LOW + rest).astype(_single)
    wide = rest.astype(_double)
    total = _FIRST
    for power in _POWERS:  # a product of two singles is exact in double
        total = (total * wide + power).astype(_single)
    total = (rest * rest * total.astype(_double) + wide).astype(_single) + _single(1)
    return numpy.ldexp(total, whole.astype(numpy.int32))
