"""Operators: rounding and signs, which are flat, and replacing what is no number."""

from __future__ import annotations

from math import inf
from sys import float_info
from typing import Any

from ...engine.schema.operator import Reduced, catalogue, composite, operator
from ..conventions import INTEGERS, Late, real_by_rule, real_only
from ..shape.constants import zeros_as
from .complex_parts import conj_row, is_complex

isfinite = Late("isfinite")

# ---- flat, so their gradients are zeros


def _same(xp: Any, self: Any, function: str) -> Any:
    """A copy of integers: what is written into the result must not reach the operand."""
    return +self if self.dtype.kind in "iu" else getattr(xp, function)(self)


def _refuse_bool(kernel: str) -> dict[str, Any]:
    return {"Bool": f"\"{kernel}\" not implemented for 'Bool'"}


floor = operator(
    "floor(Tensor self) -> Tensor",
    node="FloorBackward0",
    inplace="floor_",
    refuse=_refuse_bool("floor_vml_cpu")
    | real_by_rule("floor is not supported for complex inputs", NotImplementedError),
    forward=lambda xp, self: _same(xp, self, "floor"),
    self=lambda grad: zeros_as(grad),
    zero="flat",
    doc="The largest integer less than or equal to x.",
    corners=("tensor([1., 1.5]).floor()",),
    samples=("torch.floor(x)", "x.floor()", "i.floor()"),
)

ceil = operator(
    "ceil(Tensor self) -> Tensor",
    node="CeilBackward0",
    inplace="ceil_",
    refuse=_refuse_bool("ceil_vml_cpu")
    | real_by_rule("ceil is not supported for complex inputs", NotImplementedError),
    forward=lambda xp, self: _same(xp, self, "ceil"),
    self=lambda grad: zeros_as(grad),
    zero="flat",
    doc="The smallest integer greater than or equal to x.",
    corners=("tensor([1., 1.5]).ceil()",),
    samples=("torch.ceil(x)", "x.ceil()"),
)

trunc = operator(
    "trunc(Tensor self) -> Tensor",
    node="TruncBackward0",
    inplace="trunc_",
    aliases=("fix",),
    refuse=_refuse_bool("trunc_vml_cpu")
    | real_by_rule("trunc is not supported for complex inputs", NotImplementedError),
    forward=lambda xp, self: _same(xp, self, "trunc"),
    self=lambda grad: zeros_as(grad),
    zero="flat",
    doc="The integer part of x.",
    corners=("tensor([-1.5, 1.5]).trunc()",),
    samples=("torch.trunc(x)", "x.trunc()", "torch.fix(x)"),
)

round_ = operator(
    "round(Tensor self) -> Tensor",
    node="RoundBackward0",
    inplace="round_",
    refuse=_refuse_bool("round_vml_cpu") | real_only("round_vml_cpu"),
    forward=lambda xp, self: _same(xp, self, "rint"),
    self=lambda grad: zeros_as(grad),
    zero="flat",
    doc="The nearest integer; halves round to even.",
    corners=("tensor([0.5, 1.5, 2.5, -0.5]).round()",),
    samples=("torch.round(x)", "x.round()"),
)


def _ten_to(power: int) -> float:
    """A power of ten, infinite where no float is as large."""
    return 10.0**power if power <= float_info.max_10_exp else inf


round_decimals = operator(
    "round.decimals(Tensor self, *, int decimals) -> Tensor",
    node="RoundBackward1",
    inplace="round_",
    refuse={w: f"\"round_cpu\" not implemented for '{w}'" for w in (*INTEGERS, "Bool")}
    | real_only("round_cpu"),
    forward=lambda xp, self, decimals: (
        xp.rint(self * _ten_to(decimals)) / _ten_to(decimals)
        if decimals >= 0
        else xp.rint(self / _ten_to(-decimals)) * _ten_to(-decimals)
    ),
    self=lambda grad: zeros_as(grad),
    zero="flat",
    doc="Rounded to a number of decimals.",
    samples=("torch.round(x, decimals=1)", "x.round(decimals=-1)"),
    errors=("i.round(decimals=1)",),
)

composite(
    "round.special(Tensor self, *, int decimals=0) -> Tensor",
    lambda self, decimals: round_decimals.run(self, decimals),
    where="special",
    doc="Rounded to a number of decimals.",
    samples=("torch.special.round(x)", "torch.special.round(x, decimals=1)"),
)

frac = operator(
    "frac(Tensor self) -> Tensor",
    node="FracBackward0",
    inplace="frac_",
    refuse={word: f"\"frac_cpu\" not implemented for '{word}'" for word in (*INTEGERS, "Bool")}
    | real_only("frac_cpu"),
    forward=lambda xp, self: self - xp.trunc(self),
    self=lambda grad: grad,
    doc="The fractional part of x, with its sign.",
    computes="self - trunc(self)",
    corners=("tensor([1., -1.5]).frac()",),
    samples=("torch.frac(x)", "x.frac()"),
)


def _sign(xp: Any, self: Any) -> Any:
    """NaN has sign 0 in PyTorch."""
    if self.dtype.kind == "b":
        return self
    return xp.where(self != self, xp.zeros_like(self), xp.sign(self))


sign = operator(
    "sign(Tensor self) -> Tensor",
    node="SignBackward0",
    inplace="sign_",
    refuse=real_by_rule(
        "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn "
        "instead.",
        NotImplementedError,
    ),
    forward=_sign,
    self=lambda grad: zeros_as(grad),
    zero="flat",
    doc="-1, 0 or 1.",
    corners=("tensor([0., -0., math.nan]).sign()",),
    samples=("torch.sign(x)", "x.sign()", "i.sign()"),
)


def _direction(xp: Any, self: Any) -> Any:
    """z / |z|, and 0 for 0."""
    if self.dtype.kind != "c":
        return _sign(xp, self)
    size = xp.abs(self)
    return xp.where(size == 0, 0, self / xp.where(size == 0, 1, size))


def _sgn_gradient(grad: Any, result: Any, self: Any) -> Any:
    """A real sign is flat; a direction turns with its number and keeps its length."""
    if not is_complex(self):
        return zeros_as(grad)
    size = catalogue.row("abs")(self)
    turned = (grad - result * result * conj_row(grad)) / (size * 2)
    return catalogue.row("masked_fill.Scalar")(turned, size == 0, 0)


sgn = operator(
    "sgn(Tensor self) -> Tensor",
    node="SgnBackward0",
    inplace="sgn_",
    holomorphic=False,
    forward=_direction,
    self=lambda grad, result, self: _sgn_gradient(grad, result, self),
    zero="flat",
    doc="The sign; of a complex number its direction z / |z|.",
    corners=("tensor([0., -2.]).sgn()",),
    samples=("torch.sgn(x)", "x.sgn()", "torch.complex(x, y).sgn()"),
)


# ---- replacing what is no number


LARGEST = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38}


def _nan_to_num(
    xp: Any, self: Any, nan: float | None, posinf: float | None, neginf: float | None,
    most: float | None = None,
) -> Any:  # fmt: skip
    if self.dtype.kind != "f":
        return self.copy()
    most = float(xp.finfo(self.dtype).max) if most is None else most
    up, down = (most if posinf is None else posinf), (-most if neginf is None else neginf)
    fixed = xp.where(self != self, 0.0 if nan is None else nan, self)
    fixed = xp.where(fixed == float("inf"), up, fixed)
    return xp.where(fixed == -float("inf"), down, fixed)


nan_to_num = operator(
    "nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",
    node="NanToNumBackward0",
    inplace="nan_to_num_",
    forward=_nan_to_num,
    reduced=Reduced(
        lambda kind, *given: _nan_to_num(kind.xp, *given, most=LARGEST[kind.dtype.name])
    ),
    self=lambda grad, self: grad * isfinite(self),
    zero="mask",
    doc="NaN and infinities replaced by numbers.",
    corners=("tensor([math.nan, math.inf, 1.]).nan_to_num()",),
    samples=("torch.nan_to_num(x)", "(x / 0).nan_to_num(1.0, 2.0, 3.0)"),
)
