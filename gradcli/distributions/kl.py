"""Distributions: kl_divergence: one formula for each pair of kinds."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..engine.schema.run_state import run_state
from .continuous import Cauchy, Exponential, Laplace, Normal, Uniform
from .continuous_bernoulli import ContinuousBernoulli
from .discrete import Bernoulli, Binomial, Categorical, Geometric, OneHotCategorical, Poisson
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .gammas import Beta, Dirichlet, Gamma
from .joint import Independent, MultivariateNormal
from .kl_pairs import PAIRS
from .low_rank import LowRankMultivariateNormal
from .operations import run
from .transformed import TransformedDistribution
from .transformed_kinds import EULER, Gumbel, HalfNormal, Pareto


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


def _continuous_bernoulli(p: Any, q: Any) -> Any:
    first = p.mean * (p.logits - q.logits) + (p._log_norm() + run("log1p", -p.probs))
    return first + (-q._log_norm() - run("log1p", -q.probs))


def _gumbel(p: Any, q: Any) -> Any:
    ratio, there, here = p.scale / q.scale, q.loc / q.scale, p.loc / q.scale
    tail = run("exp", there + (1 + ratio).lgamma() - here)
    return -ratio.log() - there + here + ratio * EULER + tail - (1 + EULER)


def _pareto(p: Any, q: Any) -> Any:
    ratio = q.alpha / p.alpha
    result = q.alpha * (p.scale / q.scale).log() + -ratio.log() + ratio - 1
    result[p.scale < q.scale] = math.inf
    return result


def _low_rank(p: Any, q: Any) -> Any:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two Low Rank Multivariate Normals with"
            "                          different event shapes cannot be computed"
        )
    solved = q._solved()
    spread = (p._diagonal / q._diagonal).sum(-1)
    spread = spread + _square(p._factor * q._diagonal.rsqrt().unsqueeze(-1))
    spread = spread - _square(solved * p._diagonal.sqrt().unsqueeze(-2))
    spread = spread - _square(solved.matmul(p._factor))
    known = q._log_det() - p._log_det()
    return 0.5 * (known + spread + q._distance(q.loc - p.loc) - p.event_shape[0])


def _square(matrix: Any) -> Any:
    return matrix.pow(2).sum((-2, -1))


def _transformed(p: Any, q: Any) -> Any:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


_SAME: dict[type, Callable[[Any, Any], Any]] = {
    Normal: _normal,
    Cauchy: _cauchy,
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
    ContinuousBernoulli: _continuous_bernoulli,
    Gumbel: _gumbel,
    LowRankMultivariateNormal: _low_rank,
    Pareto: _pareto,
    TransformedDistribution: _transformed,
}


FORMULAS = {**{(kind, kind): formula for kind, formula in _SAME.items()}, **PAIRS}


class _Registered:
    """The formulas of the program itself."""

    __slots__ = ("formulas",)

    def __init__(self) -> None:
        self.formulas: dict[tuple[Any, Any], Callable[[Any, Any], Any]] = {}


registered = run_state(_Registered())


def register_kl(type_p: Any, type_q: Any) -> Callable[[Any], Any]:
    """A decorator of the formula for two kinds of distributions."""
    # The classes of a program stand for those beneath their objects.
    pair = tuple(getattr(kind, "host", kind) for kind in (type_p, type_q))
    for kind, given, name in zip(pair, (type_p, type_q), ("type_p", "type_q"), strict=True):
        if not isinstance(kind, type) or not issubclass(kind, Distribution):
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {given}")

    def decorator(fun: Any) -> Any:
        registered.formulas[pair[0], pair[1]] = fun
        return fun

    return decorator


_CROSS = (
    "The cross KL-divergence between different exponential families cannot" + 29 * " "
    + "be computed using Bregman divergences"
)  # fmt: skip


def kl_divergence(p: Distribution, q: Distribution) -> Any:
    """How far one distribution is from another."""
    formulas = {**FORMULAS, **registered.formulas} if registered.formulas else FORMULAS
    for first in type(p).__mro__:
        for second in type(q).__mro__:
            if (first, second) in formulas:
                return formulas[first, second](p, q)
    if isinstance(p, ExponentialFamily) and isinstance(q, ExponentialFamily):
        raise NotImplementedError(_CROSS)
    raise NotImplementedError(
        f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}"
    )
