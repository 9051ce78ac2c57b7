"""Operators: gamma numbers and shares of them, with the slope by the concentration."""

from __future__ import annotations

from typing import Any

from ...engine.schema.mode import state
from ...engine.schema.operator import operator
from ...engine.tensors.conversion import converted, device_named
from ..conventions import check_precision, underivable
from .random import chosen


def _on_the_host(value: Any) -> Any:
    return converted(value, None, device_named("cpu"))


def _drawn(kind: Any, self: Any, source: Any) -> Any:
    from ...numerics.gamma_binomial import DRAWN, gammas

    state.charge(self.size * DRAWN)
    return kind.xp.asarray(gammas(_on_the_host(self), chosen(source)))


def _shared(kind: Any, self: Any, source: Any) -> Any:
    from ...numerics.gamma_binomial import DRAWN, shares

    state.charge(self.size * DRAWN)
    return kind.xp.asarray(shares(_on_the_host(self), chosen(source)))


def _gamma_slopes(xp: Any, self: Any, output: Any) -> Any:
    from ...numerics.gamma_slopes import gamma_slope

    return xp.asarray(gamma_slope(_on_the_host(self), _on_the_host(output)))


def _dirichlet_slopes(xp: Any, x: Any, alpha: Any, total: Any) -> Any:
    from ...numerics.gamma_slopes import dirichlet_slope

    return xp.asarray(dirichlet_slope(*map(_on_the_host, (x, alpha, total))))


standard_gamma_grad = operator(
    "_standard_gamma_grad(Tensor self, Tensor output) -> Tensor",
    node="StandardGammaGradBackward0",
    where="torch",
    check=lambda self, output: check_precision(self, "_standard_gamma_grad_cpu"),
    forward=_gamma_slopes,
    self=lambda grad: underivable("_standard_gamma_grad"),
    acts="pointwise",
    doc="How a gamma number moves with the concentration that it was drawn with.",
    samples=("torch._standard_gamma_grad(p.detach(), torch.full((2, 3), 0.5))",),
    errors=("torch._standard_gamma_grad(p, torch.full((2, 3), 0.5)).sum().backward()",),
)

standard_gamma = operator(
    "_standard_gamma(Tensor self, Generator? generator=None) -> Tensor",
    node="StandardGammaBackward0",
    where="torch",
    check=lambda self, generator: check_precision(self, "gamma_cpu"),
    forward=_drawn,
    self=lambda grad, self, result: grad * standard_gamma_grad(self, result),
    kinded=True,
    acts="random",
    doc="Gamma numbers, each with its own concentration and the rate 1.",
    samples=("torch._standard_gamma(p.detach())",),
)

operator(
    "_sample_dirichlet(Tensor self, Generator? generator=None) -> Tensor",
    where="torch",
    check=lambda self, generator: check_precision(self, "dirichlet"),
    forward=_shared,
    kinded=True,
    acts="random",
    doc="Shares that add up to one: gamma numbers divided by their sum.",
    samples=("torch._sample_dirichlet(p.detach())",),
)

operator(
    "_dirichlet_grad(Tensor x, Tensor alpha, Tensor total) -> Tensor",
    where="torch",
    check=lambda x, alpha, total: check_precision(x, "_dirichlet_grad_cpu"),
    forward=_dirichlet_slopes,
    acts="pointwise",
    doc="How a share moves with its concentration, all others and their sum apart.",
    samples=("torch._dirichlet_grad(torch.full((3,), 0.2), torch.ones(3), torch.full((3,), 4.))",),
)
