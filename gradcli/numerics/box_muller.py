"""Numerics: pairs of uniforms into pairs of normals, with the last bits that PyTorch's CPU gives.

In single precision PyTorch runs its own vector code: the Cephes polynomials with fused
multiply-add. In double precision it calls the C library, one value at a time, as Python's math
module does; NumPy's vector functions differ from both in the last bit.
"""

from __future__ import annotations

import math
from typing import Any

import numpy

_single = numpy.float32
_SMALLEST_NORMAL = _single(2.0**-126)
_HALF_ROOT = _single(math.sqrt(0.5))
# log(1 + m) / m - 1 + m / 2 over m * m, highest power first; Cephes logf.
_LOG = (
    0.070376836292, -0.1151461031, 0.116769987, -0.12420140846, 0.14249322787,
    -0.16668057665, 0.20000714765, -0.24999993993, 0.33333331174,
)  # fmt: skip
_LN2_HIGH, _LN2_LOW = 0.693359375, -0.000212194440
# Cephes sinf and cosf on [-pi/4, pi/4], and pi/4 in three parts that multiply exactly.
_SIN = (-0.00019515295891, 0.0083321608736, -0.16666654611)
_COS = (2.443315711809948e-5, -0.001388731625493765, 0.04166664568298827)
_QUARTER_PI = (-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8)
_FOUR_OVER_PI = _single(4 / math.pi)
_SIGN = numpy.uint32(1 << 31)
IN_CACHE = 1 << 15  # numbers whose steps stay in the processor's cache


def fused_single(a: Any, b: Any, c: Any) -> Any:
    """a * b + c with one rounding: the product of two singles is exact in double."""
    product = numpy.multiply(a, b, dtype=numpy.float64)
    return numpy.add(product, c, out=product).astype(_single)


def fused_double(a: Any, b: Any, c: Any) -> Any:
    """The same in double: exact product and sum in two parts each, joined by rounding to odd.

    Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008.
    """
    product, product_rest = _exact_product(a, b)
    low, low_rest = _exact_sum(c, product_rest)
    high, high_rest = _exact_sum(product, low)
    rest, lost = _exact_sum(low_rest, high_rest)
    even = (numpy.asarray(rest).view(numpy.int64) & 1) == 0
    towards = numpy.where(lost > 0, numpy.inf, -numpy.inf)
    rest = numpy.where((lost != 0) & even, numpy.nextafter(rest, towards), rest)
    exact = high + rest
    # Splitting overflows for infinities; there the plain operation is right.
    return numpy.where(numpy.isfinite(exact), exact, a * b + c)


def _exact_sum(a: Any, b: Any) -> tuple[Any, Any]:
    total = a + b
    b_part = total - a
    return total, (a - (total - b_part)) + (b - b_part)


def _exact_product(a: Any, b: Any) -> tuple[Any, Any]:
    product = a * b
    (a_high, a_low), (b_high, b_low) = _split(a), _split(b)
    return product, (
        ((a_high * b_high - product) + a_high * b_low) + a_low * b_high
    ) + a_low * b_low


def _split(a: Any) -> tuple[Any, Any]:
    scaled = a * 134217729.0  # 2**27 + 1: half of a double's bits
    high = scaled - (scaled - a)
    return high, a - high


def _polynomial(x: Any, coefficients: tuple[float, ...]) -> Any:
    value: Any = _single(coefficients[0])
    for coefficient in coefficients[1:]:
        value = fused_single(value, x, _single(coefficient))
    return value


def _log(x: Any) -> Any:
    bits = numpy.maximum(x, _SMALLEST_NORMAL).view(numpy.int32)
    exponent = ((bits >> 23) - 126).astype(_single)
    mantissa = ((bits & 0x007FFFFF) | 0x3F000000).view(_single)
    below = mantissa < _HALF_ROOT
    exponent -= below
    mantissa = (mantissa - _single(1)) + mantissa * below
    square = mantissa * mantissa
    tail = _polynomial(mantissa, _LOG) * mantissa
    tail = fused_single(tail, square, exponent * _single(_LN2_LOW))
    tail = fused_single(square, _single(-0.5), tail)
    return fused_single(exponent, _single(_LN2_HIGH), mantissa + tail)


def _sin_cos(x: Any) -> tuple[Any, Any]:
    octant = ((x * _FOUR_OVER_PI).astype(numpy.int32) + 1) & ~1
    turns = octant.astype(_single)
    for part in _QUARTER_PI:
        x = fused_single(turns, _single(part), x)
    square = x * x
    cosine = _polynomial(square, _COS) * square
    cosine = fused_single(cosine, square, square * _single(-0.5)) + _single(1)
    sine = fused_single(_polynomial(square, _SIN) * square, x, x)
    # Chosen by bits: on masks that nothing predicts that takes a fifth of `where`.
    turned = octant.view(numpy.uint32)
    swapped = numpy.negative((turned >> 1) & 1)
    sine_bits, cosine_bits = sine.view(numpy.uint32), cosine.view(numpy.uint32)
    either = (sine_bits ^ cosine_bits) & swapped
    sign = turned << 29 & _SIGN
    sine_bits ^= either ^ sign
    cosine_bits ^= either ^ sign ^ (swapped & _SIGN)
    return sine, cosine


def transform_single(uniform: Any, mean: float, std: float) -> Any:
    """Blocks of sixteen float32 uniforms (the last axis) into blocks of normals."""
    rows = IN_CACHE // 16
    if len(uniform) > rows:
        parts = (uniform[first : first + rows] for first in range(0, len(uniform), rows))
        return numpy.concatenate([transform_single(part, mean, std) for part in parts])
    radius = numpy.sqrt(_single(-2) * _log(_single(1) - uniform[..., :8]))
    sine, cosine = _sin_cos(_single(2 * math.pi) * uniform[..., 8:])
    both = numpy.concatenate([radius * cosine, radius * sine], axis=-1)
    return fused_single(both, _single(std), _single(mean))


def transform_double(uniform: Any, mean: float, std: float) -> Any:
    """The same for float64."""
    half = (*uniform.shape[:-1], 8)
    first = (1.0 - uniform[..., :8]).ravel().tolist()
    angles = (2.0 * math.pi * uniform[..., 8:]).ravel().tolist()
    radius = numpy.sqrt(-2.0 * _through(math.log, first)).reshape(half)
    cosine = _through(math.cos, angles).reshape(half)
    sine = _through(math.sin, angles).reshape(half)
    both = numpy.concatenate([radius * cosine, radius * sine], axis=-1)
    return both if (mean, std) == (0.0, 1.0) else fused_double(both, std, mean)


def _through(function: Any, values: list[float]) -> Any:
    return numpy.fromiter(map(function, values), numpy.float64, len(values))
