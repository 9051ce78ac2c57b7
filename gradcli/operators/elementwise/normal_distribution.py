"""Operators: functions of the normal distribution, and entropy."""

from __future__ import annotations

from math import inf, pi, sqrt
from typing import Any

from ...engine.schema.dtypes import FLOATING, default_dtype
from ...engine.schema.operator import Reduced, composite, operator
from ...numerics.reduced_kernels import entropy
from ...numerics.special import in_double
from ..conventions import Late, full_precision, native, real_only
from .error_function import erf

exp = Late("exp")
log = Late("log")
square = Late("pow.Tensor_Scalar")

TWO_OVER_SQRT_PI = 1.1283791670955126


def _entropy(xp: Any, self: Any) -> Any:
    positive = self > 0
    value = -self * xp.log(xp.where(positive, self, 1))
    rest = xp.where(self == 0, 0.0, xp.where(self != self, self, -inf))
    return xp.where(positive, value, rest)


entr = operator(
    "entr(Tensor self) -> Tensor",
    node="SpecialEntrBackward0",
    dtype="promote_float",
    where="special",
    refuse=real_only("entr_cpu"),
    forward=_entropy,
    reduced=Reduced(entropy),
    self=lambda grad, self: grad * -(log(self) + 1),
    doc="-x log(x): 0 at 0, minus infinity below.",
    computes="where(self > 0, -self*log(self), where(self == 0, 0, -inf))",
    corners=("torch.special.entr(tensor([0., -1.]))",),
    samples=("torch.special.entr(p)", "torch.special.entr(x)", "torch.special.entr(i)"),
)

erfcx = operator(
    "erfcx(Tensor self) -> Tensor",
    node="SpecialErfcxBackward0",
    dtype="promote_float",
    where="special",
    refuse=full_precision("erfcx_cpu"),
    forward=in_double("erfcx"),
    self=lambda grad, self, result: (self * 2.0 * result - TWO_OVER_SQRT_PI) * grad,
    doc="exp(x * x) erfc(x), without leaving the range of numbers.",
    computes="exp(self**2)*erfc(self)",
    samples=("torch.special.erfcx(x)", "torch.special.erfcx(p.detach() * 20)"),
)


def _ndtr(self: Any) -> Any:
    if self.dtype.category < FLOATING:
        self = self.to(default_dtype())
    return (erf.run(self * sqrt(0.5)) + 1) * 0.5


composite(
    "ndtr(Tensor self) -> Tensor",
    native(_ndtr),
    where="special",
    doc="The cumulative distribution of the standard normal distribution.",
    computes="(1 + erf(self/sqrt(2)))/2",
    samples=("torch.special.ndtr(x)", "torch.special.ndtr(i)"),
)

log_ndtr = operator(
    "log_ndtr(Tensor self) -> Tensor",
    node="SpecialLogNdtrBackward0",
    dtype="promote_float",
    where="special",
    refuse=full_precision("log_ndtr_cpu"),
    forward=in_double("log_ndtr"),
    self=lambda grad, self, result: grad / sqrt(2 * pi) * exp(-(result + square(self, 2) / 2)),
    doc="The logarithm of ndtr, exact far below zero.",
    computes="log(ndtr(self))",
    samples=("torch.special.log_ndtr(x)", "torch.special.log_ndtr(x.detach() * 20)"),
)

ndtri = operator(
    "ndtri(Tensor self) -> Tensor",
    node="SpecialNdtriBackward0",
    dtype="promote_float",
    where="special",
    refuse=full_precision("ndtri_cpu"),
    forward=in_double("ndtri"),
    self=lambda grad, result: grad * sqrt(2 * pi) * exp(square(result, 2) / 2),
    doc="The number below which the standard normal distribution lies with probability x.",
    corners=("torch.special.ndtri(tensor([0., 1., 2.]))",),
    samples=("torch.special.ndtri(p / 3)", "torch.special.ndtri(p / 3000)"),
)
