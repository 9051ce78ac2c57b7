"""Numerics: gelu in single precision, with the last bits that PyTorch's CPU gives.

PyTorch hands a contiguous tensor of more than one element to oneDNN, which approximates: forward
by a polynomial for each quarter of a power of two, backward by the error function of Abramowitz
and Stegun (7.1.26) and a short exponential. Both end up to five units in the last place from the
exact value, and 3 * cdf(3) prints as 2.9959 for it. The coefficients were read from the kernels
that PyTorch 2.13 makes on a processor with AVX-512, and agree with them in a million of a million
values. Everything is multiplied and added with one rounding, as those kernels do.
"""

from __future__ import annotations

from typing import Any

import numpy

from .box_muller import fused_single
from .vector_code import in_pieces

_single = numpy.float32


def _singles(words: str) -> Any:
    """Singles from the hexadecimal digits of their bits: nothing is lost on the way."""
    return numpy.frombuffer(bytes.fromhex(words), dtype=">f4").astype(_single)


# erf(x / sqrt(2)) for x > 0: six coefficients, lowest power first, for each quarter of a power of
# two from (1/8, 5/32] to (5, 6]; what lies below belongs to the first piece; the last is 1.
_PIECES = _singles(
    """
    32827792 3f4c421f 3735e4cf be084570 39f097a3 3c9b6050
    3381cc0c 3f4c4207 37f2ff89 be08639b 3a5845dc 3c978d11
    34523d4a 3f4c41cb 388c23be be089837 3ab1fa35 3c92e850
    351ac44d 3f4c413b 3917535c be08f409 3b0cefb8 3c8d058b
    35f36d88 3f4c3fad 39ab2ab0 be09ab95 3b653ab6 3c848454
    36ee8229 3f4c3a2f 3a60fadb be0b66d0 3bcae527 3c6cd623
    37b8a3bb 3f4c2d40 3af9b960 be0e400a 3c221712 3c4c824b
    3867a213 3f4c146a 3b6e5491 be124df8 3c6c5840 3c2a7935
    3940033b 3f4bc341 3c0a4ec5 be1bde02 3cc0a703 3be0b390
    3a2a5a1d 3f4ad08c 3ca5aa8c be2f19c9 3d1dcc19 3b0651ac
    3ae35863 3f48f8cf 3d2138d9 be4931bf 3d63656d bb232f53
    3b7828f2 3f45fac7 3d8737d4 be685fbc 3d955907 bbd42fa0
    3c08b14b 3f404e07 3ddfb660 be89c95f 3dbf9910 bc2c5366
    3c515ed3 3f3b980f 3e0f27ab be96cbca 3dd53f69 bc492c9e
    bb503236 3f48dff3 3d94004b be8044aa 3db7dcef bc2a7aa6
    bd8d8e5e 3f78b21b be0efdeb be0550f2 3d639ebe bbd55d04
    be8abcd9 3fbb0704 bf1d96c3 3dcfd6a1 ba6ede48 ba823a76
    bf0c19a2 40019c32 bf89db58 3e94c826 bd22be69 3b102aa8
    beccb328 3fe536d6 bf6d9897 3e79345f bd041cf1 3ae25a7e
    3e176ced 3f81331e bef69fb8 3decec91 bc64f5ab 3a31f792
    3f470d99 3e6c8684 bdc4f8a8 3ca46568 bb097a32 38b84375
    3f7abb28 3c98f936 bbde6422 3aa1e00a b8ebf380 3689bb5a
    3f800000 00000000 00000000 00000000 00000000 00000000
    """
).reshape(-1, 6)
_BY_POWER = numpy.ascontiguousarray(_PIECES.T[::-1])
_FIRST = 0x3E000001  # the bits of the first single above 1/8
_QUARTER_OCTAVE = 21  # a piece is as many bits wide
_ONE_FROM = _single(5.542594)  # above it the error function is 1 in single precision

# The error function of Abramowitz and Stegun, 7.1.26, and exp, highest power first.
_ERF = _singles("3f87dc22 bfba00e3 3fb5f0e3 be91a98e 3e827906")
_ERF_SLOPE, _HALF_ROOT, _HALF_DENSITY = _singles("3ea7ba05 3f3504f3 3f106eba")
_EXP = _singles("3c07cfce 3d2b9d0d 3e2aad40 3efffee3 3f7ffffb 3f800000")
_LN2, _LOG2_E, _EXP_LOWEST = _singles("3f317218 3fb8aa3b c2aeac50")
_HALF, _ONE = _single(0.5), _single(1)


def kernel_takes(x: Any) -> bool:
    """Does PyTorch hand this array to these kernels?"""
    return x.dtype.char == "f" and x.size > 1 and x.flags.c_contiguous and type(x) is numpy.ndarray


@in_pieces
def gelu(x: Any) -> Any:
    """x * cdf(x), of the shape of `x`."""
    size = numpy.abs(x)
    piece = (size.view(numpy.int32) - _FIRST) >> _QUARTER_OCTAVE
    piece = numpy.clip(piece, 0, len(_PIECES) - 2)
    piece[size > _ONE_FROM] = len(_PIECES) - 1
    erf = _polynomial([column.take(piece) for column in _BY_POWER], size)
    return (numpy.copysign(erf, x) + _ONE) * x * _HALF


@in_pieces
def gelu_slope(x: Any) -> Any:
    """The derivative: cdf(x) + x * pdf(x), of the shape of `x`."""
    scaled = x * _HALF_ROOT
    power = _exp(-(scaled * scaled))
    part = _ONE / fused_single(numpy.abs(scaled), _ERF_SLOPE, _ONE)
    erf = fused_single(-power * part, _polynomial(_ERF, part), _ONE)
    density = scaled * _HALF_DENSITY * power
    return fused_single(numpy.copysign(erf, scaled), _HALF, density + _HALF)


def _exp(x: Any) -> Any:
    """exp of what is not positive, 0 below the normal numbers."""
    held = numpy.maximum(x, _EXP_LOWEST)
    whole = numpy.floor(held * _LOG2_E + _HALF)
    rest = fused_single(-whole, _LN2, held)
    # Half the power, then doubled: the power itself would overflow at the other end.
    half = numpy.where(x < _EXP_LOWEST, _single(0), numpy.exp2(whole - _ONE))
    return _polynomial(_EXP, rest) * half * _single(2)


def _polynomial(coefficients: Any, x: Any) -> Any:
    """Horner's rule from the highest power, one rounding a step."""
    total = coefficients[0]
    for coefficient in coefficients[1:]:
        total = fused_single(total, x, coefficient)
    return total
