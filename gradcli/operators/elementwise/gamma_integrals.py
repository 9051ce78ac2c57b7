"""Operators: incomplete and multivariate gamma functions, Hurwitz's zeta function."""

from __future__ import annotations

from math import log, pi
from typing import Any

from ...engine.schema.operator import Reduced, composite, operator
from ...numerics.reduced_kernels import log_gamma_many
from ...numerics.special import in_double
from ..conventions import Late, floating_only, full_precision, real_only, underivable
from ..reduce.sums import sum_dims
from .special import digamma, lgamma, zeta_of

exp = Late("exp")
logarithm = Late("log")
unsqueeze = Late("unsqueeze")

# ---- incomplete gamma functions


igamma = operator(
    "igamma(Tensor self, Tensor other) -> Tensor",
    node="IgammaBackward0",
    inplace="igamma_",
    dtype="promote",
    refuse=floating_only("igamma_cpu"),
    forward=in_double("gammainc"),
    self=lambda grad: underivable("igamma: input"),
    other=lambda grad, self, other: (
        grad * exp((self - 1) * logarithm(other) - other - lgamma(self))
    ),
    doc="The lower incomplete gamma function of order self, divided by the whole.",
    corners=("torch.igamma(tensor(1.).detach(), tensor(0.))",),
    samples=("torch.igamma(p.detach(), q)", "p.detach().igamma(q * 9)"),
    errors=("torch.igamma(i, i)", "torch.igamma(p, q).sum().backward()"),
)

igammac = operator(
    "igammac(Tensor self, Tensor other) -> Tensor",
    node="IgammacBackward0",
    inplace="igammac_",
    dtype="promote",
    refuse=floating_only("igammac_cpu"),
    forward=in_double("gammaincc"),
    self=lambda grad: underivable("igammac: input"),
    other=lambda grad, self, other: (
        -grad * exp((self - 1) * logarithm(other) - other - lgamma(self))
    ),
    doc="The upper incomplete gamma function of order self, divided by the whole.",
    corners=("torch.igammac(tensor(1.).detach(), tensor(0.))",),
    samples=("torch.igammac(p.detach(), q)", "p.detach().igammac(q * 9)"),
    errors=("torch.igammac(p, q).sum().backward()",),
)

for _name, _row in (("gammainc", igamma), ("gammaincc", igammac)):
    composite(
        f"{_name}(Tensor self, Tensor other) -> Tensor",
        lambda self, other, _row=_row: _row.run(self, other),
        where="special",
        doc=_row.doc,
        samples=(f"torch.special.{_name}(p.detach(), q)",),
    )

# ---- Hurwitz's zeta function


def _zeta(xp: Any, self: Any, other: Any) -> Any:
    kind = getattr(self, "dtype", None) or other.dtype
    order, start = (xp.asarray(number, dtype="float64") for number in (self, other))
    return zeta_of(xp, order, start).astype(kind)


zeta = operator(
    "zeta(Tensor self, Tensor other) -> Tensor",
    node="SpecialZetaBackward0",
    dtype="promote_float",
    where="special",
    refuse=full_precision("zeta_cpu"),
    forward=_zeta,
    self=lambda grad: underivable("zeta"),
    other=lambda grad, self, other: grad * -self * zeta(self + 1.0, other),
    doc="Hurwitz's zeta function: the sum of (other + k) ** -self over k >= 0.",
    corners=("torch.special.zeta(tensor(2.).detach(), tensor(0.))",),
    samples=("torch.special.zeta((p + 1).detach(), q)", "torch.special.zeta(i + 2, q)"),
    errors=("torch.special.zeta(p + 1, q).sum().backward()",),
)

operator(
    "zeta.other_scalar(Tensor self, Scalar other) -> Tensor",
    node="SpecialZetaBackward2",
    dtype="promote_float",
    where="special",
    refuse=full_precision("zeta_cpu"),
    forward=_zeta,
    self=lambda grad: underivable("zeta"),
    doc="Hurwitz's zeta function at a number.",
    samples=("torch.special.zeta((p + 1).detach(), 2)", "torch.special.zeta(i + 2, 1)"),
)

zeta_of_number = operator(
    "zeta.self_scalar(Scalar self, Tensor other) -> Tensor",
    node="SpecialZetaBackward1",
    dtype="promote_float",
    where="special",
    refuse=full_precision("zeta_cpu"),
    forward=_zeta,
    other=lambda grad, self, other: grad * -self * zeta_of_number(self + 1.0, other),
    doc="Hurwitz's zeta function of a number's order.",
    samples=("torch.special.zeta(2, q)", "torch.special.zeta(1.5, p)"),
)

# ---- the multivariate gamma function

half_steps = operator(
    "half_steps(Tensor self, int p) -> Tensor",
    where="hidden",
    forward=lambda xp, self, p: xp.arange(1 - p, 1).astype(self.dtype) / 2,
    doc="The numbers from (1 - p) / 2 to 0 in steps of one half, outside the graph.",
    samples=("torch.autograd.grad(torch.mvlgamma(p + 2, 2).sum(), p, create_graph=True)[0]",),
)


def _mvlgamma(xp: Any, self: Any, p: int) -> Any:
    arguments = self[..., None] + xp.arange(1 - p, 1).astype(self.dtype) / 2
    total = lgamma.forward(xp, arguments).sum(axis=-1)
    return (total + p * (p - 1) / 4 * log(pi)).astype(self.dtype)


def _check_dimension(self: Any, p: int) -> None:
    if self.dtype.word == "Bool":
        raise RuntimeError("The input tensor may not be a boolean tensor.")
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")


mvlgamma = operator(
    "mvlgamma(Tensor self, int p) -> Tensor",
    node="MvlgammaBackward0",
    inplace="mvlgamma_",
    cast_words="mvlgamma: result type {given} can't be cast to the desired output type {result}",
    dtype="promote_float",
    check=_check_dimension,
    refuse=real_only("arange_cpu"),
    forward=_mvlgamma,
    reduced=Reduced(lambda kind, self, p: log_gamma_many(kind, lgamma.forward, self, p)),
    self=lambda grad, self, p: (
        grad * sum_dims(digamma(half_steps(self, p) + unsqueeze(self, -1)), (-1,), False)
    ),
    doc="The logarithm of the multivariate gamma function of dimension p.",
    samples=("torch.mvlgamma(p + 2, 2)", "(p + 1).mvlgamma(3)"),
    errors=("torch.mvlgamma(p, 0)", "(i + 2).mvlgamma_(1)"),
)

composite(
    "multigammaln(Tensor self, int p) -> Tensor",
    lambda self, p: mvlgamma.run(self, p),
    where="special",
    doc="The logarithm of the multivariate gamma function of dimension p.",
    samples=("torch.special.multigammaln(p + 2, 2)",),
)
