"""Distributions: how far a distribution of one kind is from one of another."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .continuous import Exponential, Laplace, Normal, Uniform
from .continuous_bernoulli import ContinuousBernoulli
from .discrete import Bernoulli, Binomial, Poisson
from .gammas import Beta, Gamma
from .operations import run, type_of
from .transformed_kinds import EULER, Gumbel, Pareto

# Each of the first has values that the others can't have.
_WIDER: dict[type, tuple[type, ...]] = {
    Beta: (Pareto,),
    ContinuousBernoulli: (Pareto,),
    Exponential: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gamma: (Beta, ContinuousBernoulli, Pareto, Uniform),
    Gumbel: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Laplace: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Normal: (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform),
    Pareto: (Beta, ContinuousBernoulli, Uniform),
    Poisson: (Bernoulli, Binomial),
}


def _infinite(p: Any, q: Any) -> Any:
    return run("full", p.batch_shape, math.inf, **type_of(p.mean))


def _times_log(x: Any) -> Any:
    return x * x.log()


def _normalizer(q: Any) -> Any:
    """Of a gamma density, its logarithm."""
    return q.concentration.lgamma() - q.concentration * q.rate.log()


def _outside(result: Any, where: Any) -> Any:
    result[where] = math.inf
    return result


def _bernoulli_poisson(p: Any, q: Any) -> Any:
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


def _to_continuous_bernoulli(p: Any, q: Any) -> Any:
    known = p.mean * q.logits
    return -p.entropy() - known - run("log1p", -q.probs) - q._log_norm()


def _uniform_continuous_bernoulli(p: Any, q: Any) -> Any:
    found = _to_continuous_bernoulli(p, q)
    beyond = run("max", run("ge", p.high, 1.0), run("le", p.low, 0.0))
    return run("where", beyond, run("ones_like", found) * math.inf, found)


def _beta_exponential(p: Any, q: Any) -> Any:
    mean = p.concentration1 / (p.concentration1 + p.concentration0)
    return -p.entropy() - q.rate.log() + q.rate * mean


def _beta_gamma(p: Any, q: Any) -> Any:
    total = p.concentration1 + p.concentration0
    slope = (q.concentration - 1) * (p.concentration1.digamma() - total.digamma())
    return -p.entropy() + _normalizer(q) - slope + q.rate * p.concentration1 / total


def _beta_normal(p: Any, q: Any) -> Any:
    total, square = p.concentration1 + p.concentration0, q.scale.pow(2)
    mean = p.concentration1 / total
    spread = (mean * (1 - mean) / (total + 1) + mean.pow(2)) * 0.5
    away = spread - q.loc * mean + q.loc.pow(2) * 0.5
    return -p.entropy() + 0.5 * (square * 2 * math.pi).log() + away / square


def _beta_uniform(p: Any, q: Any) -> Any:
    found = -p.entropy() + (q.high - q.low).log()
    return _outside(found, (q.low > 0.0) | (q.high < 1.0))


def _continuous_bernoulli_exponential(p: Any, q: Any) -> Any:
    return -p.entropy() - run("log", q.rate) + q.rate * p.mean


def _continuous_bernoulli_normal(p: Any, q: Any) -> Any:
    width = 0.5 * (math.log(2.0 * math.pi) + run("square", q.loc / q.scale)) + run("log", q.scale)
    away = p.variance + run("square", p.mean) - 2.0 * q.loc * p.mean
    return -p.entropy() + width + away / (2.0 * run("square", q.scale))


def _continuous_bernoulli_uniform(p: Any, q: Any) -> Any:
    found = -p.entropy() + (q.high - q.low).log()
    beyond = run("max", run("ge", q.low, 0.0), run("le", q.high, 1.0))
    return run("where", beyond, run("ones_like", found) * math.inf, found)


def _exponential_gamma(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    first = -q.concentration * run("log", ratio)
    return first + ratio + q.concentration.lgamma() + q.concentration * EULER - (1 + EULER)


def _exponential_gumbel(p: Any, q: Any) -> Any:
    product, place = p.rate * q.scale, q.loc / q.scale
    tail = run("exp", place) * product / (product + 1)
    return product.log() - 1 - place + tail + product.reciprocal()


def _exponential_normal(p: Any, q: Any) -> Any:
    square, rate = q.scale.pow(2), p.rate.pow(2)
    width = 0.5 * run("log", rate * square * 2 * math.pi)
    away = rate.reciprocal() - q.loc / p.rate + q.loc.pow(2) * 0.5
    return width - 1 + away / square


def _gamma_exponential(p: Any, q: Any) -> Any:
    return -p.entropy() - q.rate.log() + q.rate * p.concentration / p.rate


def _gamma_gumbel(p: Any, q: Any) -> Any:
    alpha, product, place = p.concentration, p.rate * q.scale, q.loc / q.scale
    known = (alpha - 1) * alpha.digamma() - alpha.lgamma() - alpha
    tail = run("exp", place) * (1 + product.reciprocal()).pow(-alpha) - place
    return known + (product.log() + alpha / product) + tail


def _gamma_normal(p: Any, q: Any) -> Any:
    alpha, square, rate = p.concentration, q.scale.pow(2), p.rate.pow(2)
    width = 0.5 * run("log", rate * square * 2 * math.pi) - alpha - alpha.lgamma()
    away = 0.5 * (alpha.pow(2) + alpha) / rate - q.loc * alpha / p.rate + 0.5 * q.loc.pow(2)
    return width + (alpha - 1) * alpha.digamma() + away / square


def _gumbel_normal(p: Any, q: Any) -> Any:
    ratio = p.scale / q.scale
    width = (ratio / math.sqrt(2 * math.pi)).log()
    spread = (math.pi * ratio * 0.5).pow(2) / 3
    away = ((p.loc + p.scale * EULER - q.loc) / q.scale).pow(2) * 0.5
    return -width + spread + away - (EULER + 1)


def _laplace_normal(p: Any, q: Any) -> Any:
    square = q.scale.pow(2)
    ratio = p.scale.pow(2) / square
    width = 0.5 * run("log", 2 * ratio / math.pi)
    away = 0.5 * p.loc.pow(2) - p.loc * q.loc + 0.5 * q.loc.pow(2)
    return -width + ratio + away / square - 1


def _normal_gumbel(p: Any, q: Any) -> Any:
    mean, ratio, place = p.loc / q.scale, (p.scale / q.scale).pow(2), q.loc / q.scale
    tail = run("exp", -mean + 0.5 * ratio + place)
    return -(ratio.log() * 0.5) + (mean - place) + tail - (0.5 * (1 + math.log(2 * math.pi)))


def _normal_laplace(p: Any, q: Any) -> Any:
    away, ratio = p.loc - q.loc, p.scale / q.scale
    steps = away / p.scale
    near = math.sqrt(2 / math.pi) * p.scale * run("exp", -0.5 * steps.pow(2))
    far = away * run("erf", math.sqrt(0.5) * steps)
    return -run("log", ratio) + (near + far) / q.scale - (0.5 * (1 + math.log(0.5 * math.pi)))


def _pareto_exponential(p: Any, q: Any) -> Any:
    product = p.scale * q.rate
    mean = p.alpha * product / (p.alpha - 1)
    found = (p.alpha / product).log() - p.alpha.reciprocal() + mean - 1
    return _outside(found, p.alpha <= 1)


def _pareto_gamma(p: Any, q: Any) -> Any:
    known = p.scale.log() + p.alpha.reciprocal()
    mean = q.rate * p.alpha * p.scale / (p.alpha - 1)
    found = p.alpha.log() - known + _normalizer(q) + (1 - q.concentration) * known + mean - 1
    return _outside(found, p.alpha <= 1)


def _pareto_normal(p: Any, q: Any) -> Any:
    width, common = 2 * q.scale.pow(2), p.scale / (p.alpha - 1)
    first = (math.sqrt(2 * math.pi) * q.scale * p.alpha / p.scale).log()
    spread = p.alpha * common.pow(2) / (p.alpha - 2)
    away = (p.alpha * common - q.loc).pow(2)
    return _outside(first - p.alpha.reciprocal() + (spread + away) / width - 1, p.alpha <= 2)


def _uniform_beta(p: Any, q: Any) -> Any:
    width, a, b = p.high - p.low, q.concentration1, q.concentration0
    up = (a - 1) * (_times_log(p.high) - _times_log(p.low) - width) / width
    down = (b - 1) * (_times_log(1 - p.high) - _times_log(1 - p.low) + width) / width
    ways = a.lgamma() + b.lgamma() - (a + b).lgamma()
    return _outside(down + ways - run("log", width) - up, (p.high > 1.0) | (p.low < 0.0))


def _uniform_exponential(p: Any, q: Any) -> Any:
    found = q.rate * (p.high + p.low) / 2 - ((p.high - p.low) * q.rate).log()
    return _outside(found, p.low < 0.0)


def _uniform_gamma(p: Any, q: Any) -> Any:
    width = p.high - p.low
    power = (1 - q.concentration) * (_times_log(p.high) - _times_log(p.low) - width) / width
    found = -width.log() + _normalizer(q) + power + q.rate * (p.high + p.low) / 2
    return _outside(found, p.low < 0.0)


def _uniform_gumbel(p: Any, q: Any) -> Any:
    ratio = q.scale / (p.high - p.low)
    high, low = (p.high - q.loc) / q.scale, (p.low - q.loc) / q.scale
    return ratio.log() + 0.5 * (high + low) - ratio * (run("exp", -high) - run("exp", -low))


def _uniform_normal(p: Any, q: Any) -> Any:
    width = p.high - p.low
    first = (math.sqrt(math.pi * 2) * q.scale / width).log()
    spread = width.pow(2) / 12 + ((p.high + p.low - 2 * q.loc) / 2).pow(2)
    return first + 0.5 * spread / q.scale.pow(2)


def _uniform_pareto(p: Any, q: Any) -> Any:
    width = p.high - p.low
    first = (q.alpha * q.scale.pow(q.alpha) * width).log()
    mean = (_times_log(p.high) - _times_log(p.low) - width) / width
    return _outside(mean * (q.alpha + 1) - first, p.low < q.scale)


PAIRS: dict[tuple[type, type], Callable[[Any, Any], Any]] = {
    **{(first, other): _infinite for first, others in _WIDER.items() for other in others},
    (Bernoulli, Poisson): _bernoulli_poisson,
    (Beta, ContinuousBernoulli): _to_continuous_bernoulli,
    (Beta, Exponential): _beta_exponential,
    (Beta, Gamma): _beta_gamma,
    (Beta, Normal): _beta_normal,
    (Beta, Uniform): _beta_uniform,
    (ContinuousBernoulli, Exponential): _continuous_bernoulli_exponential,
    (ContinuousBernoulli, Normal): _continuous_bernoulli_normal,
    (ContinuousBernoulli, Uniform): _continuous_bernoulli_uniform,
    (Exponential, Gamma): _exponential_gamma,
    (Exponential, Gumbel): _exponential_gumbel,
    (Exponential, Normal): _exponential_normal,
    (Gamma, Exponential): _gamma_exponential,
    (Gamma, Gumbel): _gamma_gumbel,
    (Gamma, Normal): _gamma_normal,
    (Gumbel, Normal): _gumbel_normal,
    (Laplace, Normal): _laplace_normal,
    (Normal, Gumbel): _normal_gumbel,
    (Normal, Laplace): _normal_laplace,
    (Pareto, Exponential): _pareto_exponential,
    (Pareto, Gamma): _pareto_gamma,
    (Pareto, Normal): _pareto_normal,
    (Uniform, Beta): _uniform_beta,
    (Uniform, ContinuousBernoulli): _uniform_continuous_bernoulli,
    (Uniform, Exponential): _uniform_exponential,
    (Uniform, Gamma): _uniform_gamma,
    (Uniform, Gumbel): _uniform_gumbel,
    (Uniform, Normal): _uniform_normal,
    (Uniform, Pareto): _uniform_pareto,
}
