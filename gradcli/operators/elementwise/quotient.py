"""Operators: quotients and remainders."""

from __future__ import annotations

from typing import Any

from ...engine.schema.dtypes import promote_types
from ...engine.schema.operator import Domain, Reduced, catalogue, composite, operator
from ...numerics.reduced_kernels import number, rounded_quotient
from ..conventions import COMPLEX, Late, unimplemented
from ..shape.constants import zeros_as
from .arithmetic import number_first

where = Late("where.self")


div = operator(
    "div.Tensor(Tensor self, Tensor other) -> Tensor",
    symbol="/",
    node="DivBackward0",
    inplace="div_",
    numbers="other",
    dtype="promote_float",
    aliases=("divide", "true_divide"),
    forward=lambda xp, self, other: self / other,
    reduced=Reduced(wide_numbers=True),
    self=lambda grad, other: grad / other,
    other=lambda grad, self, other: -grad * ((self / other) / other),
    domain=Domain(nonzero=True, of="other"),
    doc="Quotient, elementwise; integers become floating.",
    computes="self/other",
    corners=("tensor(1.) / tensor(0.)", "tensor(0.) / tensor(0.)"),
    samples=("x / p", "x / 2", "torch.div(x, s)", "x.div(z)", "i / 2", "x / d", "x.true_divide(p)"),
    errors=("torch.div(x, r)", "x / 'a'", "torch.div(1.0)"),
)

number_first(
    "div.Number", "", div, ("torch.div(2, x)", "torch.div(2, i)"), aliases=("divide", "true_divide")
)

operator(
    "div.Scalar(Tensor self, Scalar other) -> Tensor",
    node="DivBackward1",
    dtype="promote_float",
    where="hidden",
    forward=lambda xp, self, other: xp.true_divide(self, other),
    self=lambda grad, other: grad / other,
    domain=Domain(nonzero=True, of="other"),
    doc="Quotient by a number, inside formulas.",
    samples=("torch.autograd.grad((x ** 2).mean(), x, create_graph=True)[0]",),
)


def _rounded(xp: Any, self: Any, other: Any, mode: str) -> Any:
    if mode == "floor":
        return floored(xp, self, other)
    quotient = xp.true_divide(self, other)
    return xp.trunc(quotient)


def floored(xp: Any, self: Any, other: Any) -> Any:
    """Division rounded down: an infinity for a floating zero divisor, where NumPy has NaN."""
    kind = getattr(self, "dtype", None) or other.dtype
    if kind.kind != "f":
        _no_zero(xp, self, other)
        return xp.floor_divide(self, other)
    quotient = xp.floor_divide(self, other)
    return xp.where(xp.equal(other, 0), xp.true_divide(self, other), quotient)


def _no_zero(xp: Any, self: Any, other: Any) -> None:
    """Of no elements none is divided."""
    if getattr(self, "size", 1) and bool(xp.any(xp.equal(other, 0))):
        raise RuntimeError("ZeroDivisionError")


def _check_mode(self: Any, other: Any, rounding_mode: str | None) -> None:
    if rounding_mode not in (None, "floor", "trunc"):
        raise RuntimeError(
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
            f"'{rounding_mode}'"
        )
    kind = promote_types(self.dtype, other.dtype) if hasattr(other, "dtype") else self.dtype
    if rounding_mode is not None and kind.word in ("Bool", *COMPLEX):
        raise NotImplementedError(f"\"div_{rounding_mode}_cpu\" not implemented for '{kind.word}'")


def _by_mode(xp: Any, self: Any, other: Any, rounding_mode: str | None) -> Any:
    if rounding_mode is None:
        return xp.true_divide(self, other)
    kind = getattr(self, "dtype", None) or other.dtype
    if rounding_mode == "trunc" and kind.kind in "iu":
        _no_zero(xp, self, other)
        quotient = xp.floor_divide(self, other)
        inexact = xp.not_equal(quotient * other, self)
        return quotient + (inexact & xp.less(quotient, 0))
    return _rounded(xp, self, other, rounding_mode)


div_mode = operator(
    "div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
    node="DivBackward2",
    inplace="div_",
    numbers="other",
    dtype="promote",
    aliases=("divide",),
    check=_check_mode,
    forward=_by_mode,
    reduced=Reduced(rounded_quotient, wide_numbers=True),
    self=lambda grad, other, rounding_mode: (
        grad / other if rounding_mode is None else zeros_as(grad)
    ),
    other=lambda grad, self, other, rounding_mode: (
        -grad * ((self / other) / other) if rounding_mode is None else zeros_as(grad)
    ),
    zero="flat",
    domain=Domain(nonzero=True, of="other"),
    doc="Quotient, rounded down ('floor') or towards zero ('trunc').",
    computes="",
    corners=(
        "tensor(-7.).div(tensor(2.), rounding_mode='floor')",
        "tensor(-7.).div(tensor(2.), rounding_mode='trunc')",
    ),
    samples=(
        "torch.div(x, p, rounding_mode='floor')", "torch.div(x, p, rounding_mode='trunc')",
        "x.div(2, rounding_mode='floor')", "torch.div(i, 2, rounding_mode='trunc')",
        "torch.div(i, 2, rounding_mode='floor')",
    ),
    errors=("torch.div(x, p, rounding_mode='up')",),
)  # fmt: skip

number_first(
    "div.Number_mode", ", *, str? rounding_mode", div_mode,
    ("torch.div(3, p, rounding_mode='floor')",), aliases=("divide",), computes="",
)  # fmt: skip

composite(
    "true_divide_(Tensor self, Tensor other) -> Tensor",
    lambda self, other: catalogue.methods["div_"](self, other),
    numbers="other",
    where="method",
    doc="The quotient in the place of the dividend.",
    samples=("x.clone().true_divide_(p)", "x.clone().true_divide_(2)"),
)

floor_divide = operator(
    "floor_divide(Tensor self, Tensor other) -> Tensor",
    node="torch::autograd::NotImplemented",
    inplace="floor_divide_",
    numbers="other",
    dtype="promote",
    refuse=unimplemented("div_floor_cpu", "Bool", *COMPLEX),
    forward=floored,
    reduced=Reduced(
        lambda kind, self, other: rounded_quotient(kind, self, other, "floor"), wide_numbers=True
    ),
    domain=Domain(0, None, of="other"),
    doc="Quotient rounded down; it has no derivative, and backward says so.",
    corners=("tensor([7., -7., 7.]) // 0",),
    samples=("torch.floor_divide(i, 2)", "i // 2", "x.detach() // 2", "7 // p.detach()"),
    errors=("(x // 2).sum().backward()", "k // k"),
)

number_first(
    "floor_divide.Number", "", floor_divide,
    ("torch.floor_divide(7, p.detach())", "torch.floor_divide(7, 2)"),
)  # fmt: skip


def _remainder(xp: Any, self: Any, other: Any) -> Any:
    kind = getattr(self, "dtype", None) or other.dtype
    if kind.kind != "f":
        _no_zero(xp, self, other)
        return xp.remainder(self, other)
    # A remainder of 0 has the sign of the dividend, where NumPy gives it the divisor's.
    rest = xp.fmod(self, other)
    return xp.where((rest != 0) & ((rest < 0) != xp.less(other, 0)), rest + other, rest)


remainder = operator(
    "remainder.Tensor(Tensor self, Tensor other) -> Tensor",
    node="RemainderBackward1",
    inplace="remainder_",
    dtype="promote",
    refuse=unimplemented("remainder_cpu", "Bool", *COMPLEX),
    forward=_remainder,
    self=lambda grad: grad,
    other=lambda grad, self, other: -grad * div_mode(self, other, "floor"),
    domain=Domain(0, None, of="other"),
    doc="Remainder (modulo) with the sign of the divisor, as Python's %.",
    computes="self - other*floor(self/other)",
    corners=("tensor(-3.).remainder(tensor(2.))",),
    samples=("torch.remainder(x, p)", "x % y", "i % 2"),
    errors=("k % k",),
)

operator(
    "remainder.Scalar(Tensor self, Scalar other) -> Tensor",
    node="RemainderBackward0",
    inplace="remainder_",
    dtype="scalar",
    refuse=unimplemented("remainder_cpu", "Bool", *COMPLEX),
    forward=lambda xp, self, other: _remainder(xp, self, other),
    reduced=Reduced(lambda kind, self, other: _remainder(kind.xp, self, number(kind, other))),
    self=lambda grad: grad,
    domain=Domain(0, None, of="other"),
    doc="Remainder by a number.",
    corners=("tensor([4., -3., 3.]).remainder(2)", "tensor(1.).remainder(0)"),
    samples=("x % 2", "x.remainder(-1.5)"),
)

operator(
    "remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor",
    node="torch::autograd::NotImplemented",
    dtype="scalar",
    where="torch",
    refuse=unimplemented("remainder_cpu", "Bool", *COMPLEX),
    forward=_remainder,
    domain=Domain(0, None, of="other"),
    doc="Remainder of a number.",
    samples=("7 % p.detach()", "torch.remainder(7, i + 1)"),
)


def _fmod(xp: Any, self: Any, other: Any) -> Any:
    kind = getattr(self, "dtype", None) or other.dtype
    if kind.kind != "f":
        _no_zero(xp, self, other)
    return xp.fmod(self, other)


fmod = operator(
    "fmod.Tensor(Tensor self, Tensor other) -> Tensor",
    node="FmodBackward1",
    inplace="fmod_",
    dtype="promote",
    refuse=unimplemented("fmod_cpu", "Bool", *COMPLEX),
    forward=_fmod,
    self=lambda grad: grad,
    other=lambda grad, self, other: -grad * div_mode(self, other, "trunc"),
    doc="Remainder (modulo) with the sign of the dividend, as C's fmod.",
    computes="self - other*trunc(self/other)",
    corners=("tensor(-3.).fmod(tensor(2.))",),
    samples=("torch.fmod(x, p)", "x.fmod(y)", "torch.fmod(i, i + 1)"),
    errors=("torch.fmod(i, i)", "k.fmod(k)"),
)

operator(
    "fmod.Scalar(Tensor self, Scalar other) -> Tensor",
    node="FmodBackward0",
    inplace="fmod_",
    dtype="scalar",
    refuse=unimplemented("fmod_cpu", "Bool", *COMPLEX),
    forward=_fmod,
    reduced=Reduced(lambda kind, self, other: _fmod(kind.xp, self, number(kind, other))),
    self=lambda grad: grad,
    doc="Remainder by a number, with the sign of the dividend.",
    corners=("tensor([4., -3., 3.]).fmod(2)", "tensor(1.).fmod(0)"),
    samples=("torch.fmod(x, 2)", "x.fmod(-0.7)"),
    errors=("i.fmod(0)",),
)
