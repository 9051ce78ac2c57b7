"""Distributions: kl_divergence: one formula for each pair of kinds."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .continuous import Cauchy, Exponential, Laplace, Normal, Uniform
from .discrete import Bernoulli, Binomial, Categorical, Geometric, OneHotCategorical, Poisson
from .distribution import Distribution
from .gammas import Beta, Dirichlet, Gamma
from .joint import Independent, MultivariateNormal
from .operations import run
from .transformed_kinds import HalfNormal, LogNormal


def _normal(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


def _cauchy(p: Any, q: Any) -> Any:
    spread = ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log()
    return spread - (4 * p.scale * q.scale).log()


def _by_base(p: Any, q: Any) -> Any:
    return _normal(p.base_dist, q.base_dist)


def _categorical(p: Any, q: Any) -> Any:
    parts = p.probs * (p.logits - q.logits)
    parts[(q.probs == 0).expand_as(parts)] = math.inf
    parts[(p.probs == 0).expand_as(parts)] = 0
    return parts.sum(-1)


def _one_hot(p: Any, q: Any) -> Any:
    return _categorical(p._categorical, q._categorical)


def _bernoulli(p: Any, q: Any) -> Any:
    softplus = "nn.functional.softplus"
    first = p.probs * (run(softplus, -q.logits) - run(softplus, -p.logits))
    first[q.probs == 0] = math.inf
    first[p.probs == 0] = 0
    second = (1 - p.probs) * (run(softplus, q.logits) - run(softplus, p.logits))
    second[q.probs == 1] = math.inf
    second[p.probs == 1] = 0
    return first + second


def _binomial(p: Any, q: Any) -> Any:
    if bool((p.total_count < q.total_count).any()):
        raise NotImplementedError(
            "KL between Binomials where q.total_count > p.total_count is not implemented"
        )
    kl = p.total_count * (p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p())
    more = (p.total_count > q.total_count).expand_as(kl)
    kl[more] = math.inf
    return kl


def _geometric(p: Any, q: Any) -> Any:
    return -p.entropy() - run("log1p", -q.probs) / p.probs - q.logits


def _poisson(p: Any, q: Any) -> Any:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


def _exponential(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


def _laplace(p: Any, q: Any) -> Any:
    ratio = p.scale / q.scale
    away = (p.loc - q.loc).abs()
    return -ratio.log() + away / q.scale + ratio * run("exp", -away / p.scale) - 1


def _uniform(p: Any, q: Any) -> Any:
    result = ((q.high - q.low) / (p.high - p.low)).log()
    result[(q.low > p.low) | (q.high < p.high)] = math.inf
    return result


def _gamma(p: Any, q: Any) -> Any:
    t1 = q.concentration * (p.rate / q.rate).log()
    t2 = q.concentration.lgamma() - p.concentration.lgamma()
    t3 = (p.concentration - q.concentration) * p.concentration.digamma()
    return t1 + t2 + t3 + (q.rate - p.rate) * (p.concentration / p.rate)


def _beta(p: Any, q: Any) -> Any:
    p1, p0, q1, q0 = p.concentration1, p.concentration0, q.concentration1, q.concentration0
    whole, other = p1 + p0, q1 + q0
    t1 = q1.lgamma() + q0.lgamma() + whole.lgamma()
    t2 = p1.lgamma() + p0.lgamma() + other.lgamma()
    t3, t4 = (p1 - q1) * p1.digamma(), (p0 - q0) * p0.digamma()
    return t1 - t2 + t3 + t4 + (other - whole) * whole.digamma()


def _dirichlet(p: Any, q: Any) -> Any:
    whole, other = p.concentration.sum(-1), q.concentration.sum(-1)
    t1 = whole.lgamma() - other.lgamma()
    t2 = (p.concentration.lgamma() - q.concentration.lgamma()).sum(-1)
    t3 = p.concentration - q.concentration
    t4 = p.concentration.digamma() - whole.digamma().unsqueeze(-1)
    return t1 - t2 + (t3 * t4).sum(-1)


def _joint_normal(p: Any, q: Any) -> Any:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two Multivariate Normals with\\\n"
            "                          different event shapes cannot be computed"
        )
    solve = "linalg.solve_triangular"
    spread = run(solve, q._tril, p._tril, upper=False).pow(2).sum((-2, -1))
    away = run(solve, q._tril, (q.loc - p.loc).unsqueeze(-1), upper=False).pow(2).sum((-2, -1))
    half = q._half_log_det() - p._half_log_det()
    return half + 0.5 * (spread + away - p.event_shape[0])


def _independent(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return p._together(kl_divergence(p.base_dist, q.base_dist))


_SAME: dict[type, Callable[[Any, Any], Any]] = {
    Normal: _normal,
    Cauchy: _cauchy,
    LogNormal: _by_base,
    HalfNormal: _by_base,
    Categorical: _categorical,
    OneHotCategorical: _one_hot,
    Bernoulli: _bernoulli,
    Binomial: _binomial,
    Geometric: _geometric,
    Poisson: _poisson,
    Exponential: _exponential,
    Laplace: _laplace,
    Uniform: _uniform,
    Gamma: _gamma,
    Beta: _beta,
    Dirichlet: _dirichlet,
    MultivariateNormal: _joint_normal,
    Independent: _independent,
}


FORMULAS = {(kind, kind): formula for kind, formula in _SAME.items()}


def kl_divergence(p: Distribution, q: Distribution) -> Any:
    """How far one distribution is from another."""
    for first in type(p).__mro__:
        for second in type(q).__mro__:
            if (first, second) in FORMULAS:
                return FORMULAS[first, second](p, q)
    raise NotImplementedError(
        f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}"
    )
