"""Operators: incomplete and multivariate gamma functions, Hurwitz's zeta function."""

from __future__ import annotations

from math import factorial, inf, log, nan, pi
from typing import Any

from ...engine.operator import Reduced, composite, operator
from ...numerics.reduced_kernels import log_gamma_many
from ..conventions import Late, floating_only, full_precision
from ..reduce.sums import sum_dims
from .special import digamma, lgamma

exp = Late("exp")
logarithm = Late("log")
unsqueeze = Late("unsqueeze")

_ENOUGH = 2.0**-54
_LONGEST = (
    100_000  # terms: more than the square root of any order that double precision tells apart
)

# ---- incomplete gamma functions


def _log_gamma(xp: Any, a: Any) -> Any:
    return lgamma.forward(xp, a)


def _series(xp: Any, a: Any, x: Any) -> Any:
    """The lower function by its power series, for x below a + 1."""
    total = term = xp.ones_like(x)
    for k in range(1, _LONGEST):
        term = term * x / (a + k)
        total = total + term
        if not bool((term > _ENOUGH * total).any()):
            break
    return total / a


def _fraction(xp: Any, a: Any, x: Any) -> Any:
    """The upper function by its continued fraction (Lentz's method), for x above a + 1."""
    b = x + 1 - a
    c = xp.full_like(x, 1e300)
    d = 1 / b
    value = d
    for k in range(1, _LONGEST):
        weight = -k * (k - a)
        b = b + 2
        d = weight * d + b
        d = 1 / xp.where(d == 0, 1e-300, d)
        c = b + weight / c
        c = xp.where(c == 0, 1e-300, c)
        change = c * d
        value = value * change
        if not bool((xp.abs(change - 1) > _ENOUGH * 4).any()):
            break
    return value


def _incomplete(upper: bool) -> Any:
    def kernel(xp: Any, self: Any, other: Any) -> Any:
        a, x = xp.broadcast_arrays(self.astype("float64"), other.astype("float64"))
        plain = (a > 0) & (x > 0) & xp.isfinite(a) & xp.isfinite(x)
        near = plain & (x < a + 1)
        far = plain & ~near
        left, right = xp.where(near, a, 1.0), xp.where(near, x, 0.5)
        lower = xp.exp(left * xp.log(right) - right - _log_gamma(xp, left))
        lower = lower * _series(xp, left, right)
        left, right = xp.where(far, a, 1.0), xp.where(far, x, 3.0)
        rest = xp.exp(left * xp.log(right) - right - _log_gamma(xp, left))
        rest = rest * _fraction(xp, left, right)
        value = xp.where(near, 1 - lower if upper else lower, rest if upper else 1 - rest)
        none, all_of_it = (1.0, 0.0) if upper else (0.0, 1.0)
        value = xp.where(xp.isinf(x), all_of_it, value)
        value = xp.where(xp.isinf(a), xp.where(xp.isinf(x), nan, none), value)
        value = xp.where(x == 0, none, value)
        value = xp.where(a == 0, xp.where(x > 0, all_of_it, nan), value)
        wrong = (a < 0) | (x < 0) | (a != a) | (x != x)
        return xp.where(wrong, nan, value).astype(self.dtype)

    return kernel


def _underivable(what: str) -> Any:
    raise NotImplementedError(f"the derivative for '{what}' is not implemented.")


igamma = operator(
    "igamma(Tensor self, Tensor other) -> Tensor",
    node="IgammaBackward0",
    inplace="igamma_",
    dtype="promote",
    refuse=floating_only("igamma_cpu"),
    forward=_incomplete(False),
    self=lambda grad: _underivable("igamma: input"),
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
    forward=_incomplete(True),
    self=lambda grad: _underivable("igammac: input"),
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

_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
_FROM = 12.0  # Euler's and Maclaurin's formula is exact to double precision from here on


def _zeta(xp: Any, self: Any, other: Any) -> Any:
    x = xp.asarray(self, dtype="float64")
    kind = getattr(self, "dtype", None) or other.dtype
    x, q = xp.broadcast_arrays(x, xp.asarray(other, dtype="float64"))
    pole = (q <= 0) & (q == xp.floor(q))
    outside = (x < 1) | (x != x) | (q != q) | ((q <= 0) & (x != xp.floor(x)))
    fine = ~(pole | outside | (x == 1))
    x_safe, y = xp.where(fine, x, 2.0), xp.where(fine, q, 1.0)
    total = xp.zeros_like(y)
    while bool((y < _FROM).any()):
        below = y < _FROM
        total = total + xp.where(below, y**-x_safe, 0.0)
        y = xp.where(below, y + 1, y)
    total = total + y ** (1 - x_safe) / (x_safe - 1) + 0.5 * y**-x_safe
    factor = x_safe * y ** (-x_safe - 1)
    for place, bernoulli in enumerate(_BERNOULLI, 1):
        total = total + bernoulli / factorial(2 * place) * factor
        factor = factor * (x_safe + 2 * place - 1) * (x_safe + 2 * place) / (y * y)
    value = xp.where(pole, inf, xp.where(outside, nan, total))
    return xp.where(x == 1, inf, xp.where(x < 1, nan, value)).astype(kind)


zeta = operator(
    "zeta(Tensor self, Tensor other) -> Tensor",
    node="SpecialZetaBackward0",
    dtype="promote_float",
    where="special",
    refuse=full_precision("zeta_cpu"),
    forward=_zeta,
    self=lambda grad: _underivable("zeta"),
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
    forward=_zeta,
    self=lambda grad: _underivable("zeta"),
    doc="Hurwitz's zeta function at a number.",
    samples=("torch.special.zeta((p + 1).detach(), 2)", "torch.special.zeta(i + 2, 1)"),
)

zeta_of_number = operator(
    "zeta.self_scalar(Scalar self, Tensor other) -> Tensor",
    node="SpecialZetaBackward1",
    dtype="promote_float",
    where="special",
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
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")


mvlgamma = operator(
    "mvlgamma(Tensor self, int p) -> Tensor",
    node="MvlgammaBackward0",
    inplace="mvlgamma_",
    cast_words="mvlgamma: result type {given} can't be cast to the desired output type {result}",
    dtype="promote_float",
    check=_check_dimension,
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
