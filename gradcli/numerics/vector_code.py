"""Numerics: exp and log of singles, with the last bits of PyTorch's vector code.

Elementwise functions of fewer than 32 numbers run the C library there, one number at a time, and
rounding once from double agrees with that. softmax always runs vectors: the functions of Sleef's
1.0-ULP family, which give another single in one case of ten for exp, in one of fifty for log.
"""

from __future__ import annotations

import math
from typing import Any

import numpy

from ..engine.schema.carriers import Body
from . import c_library
from .thresholds import PIECE

_single, _double = numpy.float32, numpy.float64


def _constant(value: float, kind: Any = _double) -> Any:
    """A single, held as `kind`: an array without dimensions costs half of what a scalar does."""
    return numpy.array(_single(value), dtype=kind)


_LOG2_E = _constant(1.442695040888963, _single)
# ln 2 in two parts, negated: a multiple of the first is exact.
_LN2_HIGH, _LN2_LOW = _constant(-0.693145751953125), _constant(-1.428606765330187e-06)
# (exp(s) - 1 - s) / s**2 on [-ln 2 / 2, ln 2 / 2], highest power first.
_FIRST, *_POWERS = (
    _constant(c)
    for c in (
        0.000198527617612853646278381, 0.00139304355252534151077271,
        0.00833336077630519866943359, 0.0416664853692054748535156,
        0.166666671633720397949219, 0.5,
    )
)  # fmt: skip
_ONE, _TWO, _LOWEST = (_constant(c, _single) for c in (1, 2, -104))  # exp(-104) is 0 as a single


def in_pieces(function: Body) -> Body:
    """The same function of singles of any shape, piece by piece."""

    def run(x: Any, *rest: Any) -> Any:
        if x.size <= PIECE:
            return function(x, *rest)
        if 0 in x.strides:
            x = x.copy()  # numbers that stand for several have no place of their own
        found = numpy.empty_like(x)
        line, out = x.ravel(order="K"), found.ravel(order="K")
        for start in range(0, x.size, PIECE):
            out[start : start + PIECE] = function(line[start : start + PIECE], *rest)
        return found

    return run


@in_pieces
def vector_exp(x: Any) -> Any:
    """exp(x) for singles of any shape.

    Products and sums are rounded once together, which double precision can do: the product of two
    singles is exact in it.
    """
    x = numpy.maximum(x, _LOWEST)
    whole = numpy.rint(x * _LOG2_E)
    wide = whole.astype(_double)
    rest = (wide * _LN2_HIGH + x.astype(_double)).astype(_single)
    rest = (wide * _LN2_LOW + rest.astype(_double)).astype(_single)
    wide, total = rest.astype(_double), _FIRST
    for power in _POWERS:
        total = (total * wide + power).astype(_single).astype(_double)
    square = (rest * rest).astype(_double)
    total = (square * total + wide).astype(_single) + _ONE
    return numpy.ldexp(total, whole.astype(numpy.int32))


TURN = 32  # numbers that PyTorch's vector code takes at a time
WIDE = 16  # columns that its kernels go down at a time


def exp_in_turns(x: Any, run: int, turn: int = TURN) -> Any:
    """exp(x) for singles that lie without gaps, of which a kernel takes so many in a run, `turn` of
    them at a time; the C library gets the rest."""
    whole = run // turn * turn
    found = numpy.empty_like(x)
    rows, out = (part.ravel(order="K").reshape(-1, run) for part in (x, found))
    if whole:
        out[:, :whole] = vector_exp(rows[:, :whole])
    if whole < run:
        out[:, whole:] = c_library.exp(numpy.ascontiguousarray(rows[:, whole:]))
    return found


_LN2 = numpy.array(0.6931471805599453)
# log((1 + x) / (1 - x)) - 2 x over x**3, highest power first.
_LOG_FIRST, _LOG_SECOND, _LOG_THIRD = (
    _constant(c, _single) for c in (0.3027294874, 0.3996108174, 0.6666694880)
)
_QUARTER_MORE = _constant(1 / 0.75, _single)


@in_pieces
def vector_log(x: Any) -> Any:
    """log(x) for finite singles of any shape that are at least 1."""
    exponent = numpy.frexp(x * _QUARTER_MORE)[1] - 1
    part = numpy.ldexp(x, -exponent)  # from 0.75 to 1.5
    return _log_of(part - _ONE, _ONE, part, exponent)


@in_pieces
def vector_log1p(x: Any) -> Any:
    """log(1 + x) for finite singles of any shape that are not negative."""
    exponent = numpy.frexp((x + _ONE) * _QUARTER_MORE)[1] - 1
    scale = numpy.ldexp(1.0, -exponent)
    rest = (x * scale + (scale - 1)).astype(_single)
    return _log_of(rest, _TWO, rest, exponent)


def _log_of(above: Any, one: Any, other: Any, exponent: Any) -> Any:
    """2 atanh(above / (one + other)) and a multiple of ln 2.

    Sleef carries the sum in two singles; double stands for the pair.
    """
    ratio = above.astype(_double) / (one.astype(_double) + other)
    high = above * (_ONE / (one + other))
    square = high * high
    wide = square.astype(_double)
    steep = (wide * _LOG_FIRST.astype(_double) + _LOG_SECOND).astype(_single)
    steep = (wide * steep.astype(_double) + _LOG_THIRD).astype(_single)
    return (exponent * _LN2 + 2 * ratio + square * high * steep).astype(_single)


# sin(r) / r - 1 over r**2 on [-pi / 2, pi / 2], highest power first: the polynomial of doubles that
# Intel's vector library takes, as far as its answers tell; none of 30 million differs.
_SINE = (
    2.6057806871549435e-06, -0.0001980960292520327, 0.008333066246424827, -0.166666595504436,
)  # fmt: skip
_SINE_WIDE = tuple(numpy.array(power) for power in _SINE)
_PI, _REST_OF_PI = numpy.array(numpy.pi), numpy.array(1.2246467991473532e-16)
_AHEAD, _ONE_WIDE = numpy.array(0.5), numpy.array(1.0)
_HALF_TURN, _PARITY = numpy.array(1 / numpy.pi), numpy.array(63)
_WHOLE = numpy.array(1.5 * 2**52)  # what is added to it is rounded to a whole number
_FAR = 1e4  # beyond it more of pi is asked for


@in_pieces
def sine(x: Any, ahead: float = 0.0) -> Any:
    """sin(x) of singles; with 0.5 ahead, that of x + pi / 2, which is cos(x)."""
    wide = x.astype(_double)
    near = numpy.vdot(wide, wide) <= _FAR * _FAR or bool((abs(wide) <= _FAR).all())
    if not near:
        return (numpy.cos if ahead else numpy.sin)(wide).astype(_single)
    if x.size == 1:  # numbers of Python's are quicker
        found = _single(_sine_of(x.item(), ahead))
        return numpy.full(x.shape, found) if x.ndim else found
    turns = wide * _HALF_TURN
    if ahead:
        turns += _AHEAD
    turns += _WHOLE
    sign = turns.view(numpy.int64) << _PARITY
    turns -= _WHOLE
    if ahead:
        turns -= _AHEAD
    wide -= turns * _PI
    turns *= _REST_OF_PI
    wide -= turns
    square = wide * wide
    total = square * _SINE_WIDE[0]
    for power in _SINE_WIDE[1:]:
        total += power
        total *= square
    total += _ONE_WIDE
    total *= wide
    bits = total.view(numpy.int64)
    bits ^= sign
    return total.astype(_single)


def _sine_of(x: float, ahead: float) -> float:
    turns = round(x / math.pi + ahead)
    whole = turns - ahead
    rest = x - whole * math.pi - whole * float(_REST_OF_PI)
    square = rest * rest
    total = square * _SINE[0]
    for power in _SINE[1:]:
        total = (total + power) * square
    return rest * (1 + total) * (1 - 2 * (turns % 2))
