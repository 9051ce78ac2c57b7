"""Operators: bits of integers."""

from __future__ import annotations

from typing import Any

from ...engine.schema.operator import operator
from ..conventions import COMPLEX, REDUCED

_NOT_INTEGERS = (*REDUCED, "Float", "Double", *COMPLEX)


def _bitwise(name: str, ufunc: str, symbol: str, doc: str, kernel: str, *refused: str) -> Any:
    return operator(
        f"{name}.Tensor(Tensor self, Tensor other) -> Tensor",
        numbers="self, other",
        dtype="promote",
        inplace=f"{name}_",
        refuse={w: f"\"{kernel}\" not implemented for '{w}'" for w in (*_NOT_INTEGERS, *refused)},
        forward=lambda xp, self, other: getattr(xp, ufunc)(self, other),
        doc=doc,
        samples=(f"torch.{name}(i, i + 1)", f"i {symbol} 3", f"3 {symbol} i"),
        errors=(f"x {symbol} i", *(f"k {symbol} k" for _ in refused)),
    )


for _word, _symbol, _doc in (
    ("and", "&", "Bitwise AND."),
    ("or", "|", "Bitwise OR."),
    ("xor", "^", "Bitwise XOR (exclusive or)."),
):
    _bitwise(f"bitwise_{_word}", f"bitwise_{_word}", _symbol, _doc, f"bitwise_{_word}_cpu")
_LEFT, _RIGHT = "Bitwise shift to the left.", "Bitwise shift to the right."
_bitwise("bitwise_left_shift", "left_shift", "<<", _LEFT, "lshift_cpu", "Bool")
_bitwise("bitwise_right_shift", "right_shift", ">>", _RIGHT, "rshift_cpu", "Bool")

bitwise_not = operator(
    "bitwise_not(Tensor self) -> Tensor",
    inplace="bitwise_not_",
    refuse={w: f"\"bitwise_not_cpu\" not implemented for '{w}'" for w in _NOT_INTEGERS},
    forward=lambda xp, self: xp.logical_not(self) if self.dtype.kind == "b" else xp.invert(self),
    doc="Bitwise NOT.",
    samples=("torch.bitwise_not(i)", "~k"),
)
