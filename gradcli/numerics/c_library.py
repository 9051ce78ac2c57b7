"""Numerics: log and log1p of singles as the C library has them (glibc until 2.40).

PyTorch's binary_cross_entropy takes them of one number at a time. Rounding once from double gives
another single in one log1p of fourteen, and in one log of a hundred.
"""

from __future__ import annotations

from typing import Any

import numpy

_single, _double = numpy.float32, numpy.float64

# log(z) for z in one of 16 parts of [0.7, 1.4): 1 / c and log(c) of a c in its middle.
_PARTS = numpy.array([
    (float.fromhex(inverse), float.fromhex(log))
    for inverse, log in (
        ("0x1.661ec79f8f3bep+0", "-0x1.57bf7808caadep-2"),
        ("0x1.571ed4aaf883dp+0", "-0x1.2bef0a7c06ddbp-2"),
        ("0x1.49539f0f010bp+0", "-0x1.01eae7f513a67p-2"),
        ("0x1.3c995b0b80385p+0", "-0x1.b31d8a68224e9p-3"),
        ("0x1.30d190c8864a5p+0", "-0x1.6574f0ac07758p-3"),
        ("0x1.25e227b0b8eap+0", "-0x1.1aa2bc79c81p-3"),
        ("0x1.1bb4a4a1a343fp+0", "-0x1.a4e76ce8c0e5ep-4"),
        ("0x1.12358f08ae5bap+0", "-0x1.1973c5a611cccp-4"),
        ("0x1.0953f419900a7p+0", "-0x1.252f438e10c1ep-5"),
        ("0x1p+0", "0x0p+0"),
        ("0x1.e608cfd9a47acp-1", "0x1.aa5aa5df25984p-5"),
        ("0x1.ca4b31f026aap-1", "0x1.c5e53aa362eb4p-4"),
        ("0x1.b2036576afce6p-1", "0x1.526e57720db08p-3"),
        ("0x1.9c2d163a1aa2dp-1", "0x1.bc2860d22477p-3"),
        ("0x1.886e6037841edp-1", "0x1.1058bc8a07ee1p-2"),
        ("0x1.767dcf5534862p-1", "0x1.4043057b6ee09p-2"),
    )
])  # fmt: skip
_CUBE, _SQUARE, _LINE = map(
    float.fromhex, ("-0x1.00ea348b88334p-2", "0x1.5575b0be00b6ap-2", "-0x1.ffffef20a4123p-2")
)
_LN2 = 0.6931471805599453
_START = 0x3F330000  # the bits of 0.7
_LEAST = numpy.finfo(_single).tiny


def log(x: Any) -> Any:
    """logf(x) for finite singles that are not negative."""
    bits = x.view(numpy.int32)
    above = bits - _START
    part = _PARTS[above >> 19 & 15]
    exponent = above >> 23
    z = (bits - (above & -0x800000)).view(_single).astype(_double)
    rest = z * part[..., 0] - 1
    square = rest * rest
    total = (_CUBE * square + (_SQUARE * rest + _LINE)) * square
    found = (total + (part[..., 1] + exponent * _LN2 + rest)).astype(_single)
    if (x < _LEAST).any():  # 0, and what is in no normal form
        found = numpy.where(x < _LEAST, numpy.log(x, dtype=_double).astype(_single), found)
    return found


# (2**r - 1 - r ln 2) / r**2 for r within a 64th of 0, and ln 2, of r taken 32 times.
_CUBIC, _SQUARED, _SLOPE = (
    float.fromhex(c) / 32**power
    for c, power in (
        ("0x1.c6af84b912394p-5", 3), ("0x1.ebfce50fac4f3p-3", 2), ("0x1.62e42ff0c52d6p-1", 1)
    )
)  # fmt: skip
_ROOTS = numpy.array([2.0 ** (part / 32) for part in range(32)])


def exp(x: Any) -> Any:
    """expf(x) for singles of any size."""
    turns = numpy.clip(x.astype(_double), -104, 89) * (32 / _LN2)
    whole = numpy.rint(turns)
    rest = turns - whole
    total = (_CUBIC * rest + _SQUARED) * (rest * rest) + (_SLOPE * rest + 1)
    steps = whole.astype(numpy.int64)
    return numpy.ldexp(total * _ROOTS[steps & 31], steps >> 5).astype(_single)


_HALF, _ONE, _TWO = _single(0.5), _single(1), _single(2)
_LN2_HIGH, _LN2_LOW = _single(6.9313812256e-01), _single(9.0580006145e-06)
_SEVENTH, *_SERIES = map(_single, (
    1.4798198640e-01, 1.5313838422e-01, 1.8183572590e-01, 2.2222198546e-01, 2.8571429849e-01,
    4.0000000596e-01, 6.6666668653e-01,
))  # fmt: skip
# Down to here 1 + x is above the root of 1/2, and the series is taken of x as it is.
_NEAR = -numpy.array(0x3E95F61F, numpy.int32).view(_single)
_FAINT = _single(-(2.0**-29))


def log_of_rest(x: Any) -> Any:
    """log1pf(-x) for singles from 0 to 1."""
    x = numpy.negative(x)
    is_near = x >= _NEAR
    u = _ONE + x
    lost = (x - (u - _ONE)) / numpy.maximum(u, _LEAST)
    bits = u.view(numpy.int32)
    mantissa = bits & 0x7FFFFF
    is_low = mantissa < 0x3504F7  # the part is between 1 and the root of 2, else it is halved
    part = (mantissa | numpy.where(is_low, 0x3F800000, 0x3F000000).astype(numpy.int32)).view(
        _single
    )
    f = numpy.where(is_near, x, part - _ONE)
    scale = ((bits >> 23) - 127 + ~is_low).astype(_single)
    half = _HALF * f * f
    s = f / (_TWO + f)
    square = s * s
    total = _SEVENTH * square
    for power in _SERIES:
        total = square * (power + total)
    total = s * (half + total)
    far = scale * _LN2_HIGH - ((half - (total + (scale * _LN2_LOW + lost))) - f)
    found = numpy.where(is_near, f - (half - total), far)
    found = numpy.where(x > _FAINT, x - x * x * _HALF, found)
    return numpy.where(u > 0, found, -numpy.inf)
