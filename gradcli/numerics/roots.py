"""Numerics: the square root of singles as Intel's vector library has it.

It starts from the processor's estimate of 1 / sqrt(x) (VRSQRT14PS) and makes one step of Newton's:
one root of 150 is rounded down where it should be rounded up, and Adam divides by it at every step.
The estimate is a line in each of 64 parts of a number's last bit of the exponent and first bits of
the fraction, the same on all processors that have it.
"""

from __future__ import annotations

from typing import Any

import numpy

_single, _double = numpy.float32, numpy.float64
_START = numpy.array([
    13896320, 13171840, 12480000, 11817472, 11183616, 10574720, 9990272, 9428096, 8887936, 8367488,
    7864960, 7380608, 6912640, 6460672, 6023296, 5600640, 5190528, 4792704, 4407168, 4033664,
    3670400, 3317504, 2974208, 2640896, 2316544, 2000512, 1692544, 1392384, 1100416, 814720, 536576,
    264960, 33551488, 32526464, 31548032, 30611712, 29714176, 28853120, 28026496, 27232384,
    26467584, 25731200, 25021312, 24336896, 23675136, 23035136, 22417280, 21818752, 21238656,
    20676992, 20131712, 19602432, 19089024, 18590080, 18105344, 17633664, 17174400, 16727424,
    16292608, 15867648, 15454080, 15051520, 14657408, 14273792,
], numpy.int32)  # fmt: skip
_FALL = numpy.array([
    707, 675, 647, 619, 595, 571, 549, 527, 509, 491, 473, 457, 441, 427, 413, 401, 389, 377, 365,
    355, 345, 335, 325, 317, 309, 301, 293, 285, 279, 271, 265, 259, 1001, 955, 915, 877, 841, 807,
    775, 747, 719, 693, 669, 647, 625, 603, 585, 567, 549, 533, 517, 501, 487, 473, 461, 449, 437,
    425, 415, 403, 393, 385, 375, 367,
], numpy.int32)  # fmt: skip
_FEW = 1 << 11
_SHRUNK = 1 - 5.5e-9  # by no more than this a root is too small
_SMALLEST, _SCALE, _UNSCALE = _single(2.0**-100), _single(2.0**64), _single(2.0**-32)
_HALF = numpy.array(0.5, _single)
# Arrays without dimensions take half the time that numbers take.
(
    _ZERO, _TO_PART, _PARTS, _TO_PLACE, _PLACES, _FIRST_BIT, _TO_POWER, _POWER, _CUT, _LAID,
    _ESTIMATE, _LOWEST,
) = (
    numpy.array(number, numpy.int32)
    for number in (
        0, 18, 63, 8, 1023, 0x800000, 24, 23, 9, 7, 0x5E800000, _SMALLEST.view(numpy.int32),
    )
)  # fmt: skip
_REACH = numpy.array(_single(numpy.inf).view(numpy.int32) - _LOWEST, numpy.uint32)


def vector_sqrt(x: Any) -> Any:
    """sqrt(x) for singles of any shape."""
    if x.size <= _FEW:
        return _of_few(x)
    if 0 in x.strides:
        x = x.copy()  # numbers that stand for several have no place of their own
    exact = x.astype(_double)
    found = numpy.sqrt(exact, out=exact).astype(_single)
    exact *= _SHRUNK
    differs = found != exact.astype(_single)  # perhaps
    places = numpy.flatnonzero(differs.ravel(order="K"))
    found.ravel(order="K")[places] = _of_few(x.ravel(order="K")[places])
    return found


def _of_few(x: Any) -> Any:
    bits = x.view(numpy.int32)
    is_plain = (bits - _LOWEST).view(numpy.uint32) < _REACH
    if is_plain.all():
        return _of_normal(x)
    is_plain |= bits == _ZERO
    if is_plain.all():
        return _of_normal(x)
    is_small = (x > 0) & (x < _SMALLEST)
    of_small = _of_normal(numpy.where(is_small, x * _SCALE, 1)) * _UNSCALE
    of_normal = _of_normal(numpy.where(is_plain, x, _single(1)))
    return numpy.where(is_plain, of_normal, numpy.where(is_small, of_small, numpy.sqrt(x)))


def _of_normal(x: Any) -> Any:
    bits = x.view(numpy.int32)
    part = bits >> _TO_PART & _PARTS
    line = _START.take(part) - _FALL.take(part) * (bits >> _TO_PLACE & _PLACES)
    half = bits - _FIRST_BIT >> _TO_POWER << _POWER
    estimate = ((line >> _CUT << _LAID) + _ESTIMATE - half).view(_single)
    root = x * estimate
    wide = root.astype(_double)
    left = (x - wide * wide).astype(_single)
    return (left * (estimate * _HALF).astype(_double) + wide).astype(_single)
