"""Distributions: kinds that are others, transformed."""

from __future__ import annotations

import math
from typing import Any

from ..engine.schema.limits import finfo
from ..engine.tensors.construct import as_tensor
from . import constraints
from .bijections import (
    AbsTransform,
    AffineTransform,
    ExpTransform,
    PowerTransform,
    StickBreakingTransform,
)
from .continuous import Cauchy, Exponential, Normal, Uniform
from .gammas import Gamma
from .operations import run, together, type_of
from .transformed import TransformedDistribution

EULER = 0.57721566490153286060  # of a Gumbel number's mean


class LogNormal(TransformedDistribution):
    PUBLIC: tuple[str, ...] = ("loc", "scale")
    _torch_name = "torch.distributions.log_normal.LogNormal"
    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Normal(loc, scale), ExpTransform(), validate_args)

    @property
    def loc(self) -> Any:
        return self.base_dist.loc

    @property
    def scale(self) -> Any:
        return self.base_dist.scale

    @property
    def mean(self) -> Any:
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self) -> Any:
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self) -> Any:
        square = self.scale.pow(2)
        return square.expm1() * (2 * self.loc + square).exp()

    def entropy(self) -> Any:
        return self.base_dist.entropy() + self.loc


class _Half(TransformedDistribution):
    """What is above zero of a distribution around it."""

    PUBLIC: tuple[str, ...] = ("scale",)
    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative

    @property
    def scale(self) -> Any:
        return self.base_dist.scale

    @property
    def mode(self) -> Any:
        return run("zeros_like", self.scale)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        value = as_tensor(value, **type_of(self.scale))
        log_prob = self.base_dist.log_prob(value) + math.log(2)
        return run("where", value >= 0, log_prob, -math.inf)

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob: Any) -> Any:
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self) -> Any:
        return self.base_dist.entropy() - math.log(2)


class HalfNormal(_Half):
    _torch_name = "torch.distributions.half_normal.HalfNormal"

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Normal(0, scale, validate_args=False), AbsTransform(), validate_args)

    @property
    def mean(self) -> Any:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Any:
        return self.scale.pow(2) * (1 - 2 / math.pi)


class HalfCauchy(_Half):
    _torch_name = "torch.distributions.half_cauchy.HalfCauchy"

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), AbsTransform(), validate_args)

    @property
    def mean(self) -> Any:
        return run("full", self._extended_shape(), math.inf, **type_of(self.scale))

    @property
    def variance(self) -> Any:
        return self.base_dist.variance


class Gumbel(TransformedDistribution):
    PUBLIC: tuple[str, ...] = ("loc", "scale")
    _torch_name = "torch.distributions.gumbel.Gumbel"
    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = together(loc, scale)
        limits = finfo(self.loc.dtype)
        low = run("full_like", self.loc, limits.tiny)
        high = run("full_like", self.loc, 1 - limits.eps)
        down = AffineTransform(0, -run("ones_like", self.scale))
        place = AffineTransform(loc, -self.scale)
        steps = [ExpTransform().inv, down, ExpTransform().inv, place]
        super().__init__(Uniform(low, high, validate_args), steps, validate_args)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        away = (self.loc - value) / self.scale
        return (away - away.exp()) - self.scale.log()

    @property
    def mean(self) -> Any:
        return self.loc + self.scale * EULER

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def stddev(self) -> Any:
        return (math.pi / math.sqrt(6)) * self.scale

    @property
    def variance(self) -> Any:
        return self.stddev.pow(2)

    def entropy(self) -> Any:
        return self.scale.log() + (1 + EULER)


class Pareto(TransformedDistribution):
    PUBLIC: tuple[str, ...] = ("scale", "alpha")
    _torch_name = "torch.distributions.pareto.Pareto"
    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = together(scale, alpha)
        steps = [ExpTransform(), AffineTransform(0, self.scale)]
        super().__init__(Exponential(self.alpha, validate_args), steps, validate_args)

    @property
    def support(self) -> Any:
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self) -> Any:
        finite = self.alpha.clamp(min=1)
        return finite * self.scale / (finite - 1)

    @property
    def mode(self) -> Any:
        return self.scale

    @property
    def variance(self) -> Any:
        finite = self.alpha.clamp(min=2)
        return self.scale.pow(2) * finite / ((finite - 1).pow(2) * (finite - 2))

    def entropy(self) -> Any:
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())


class Weibull(TransformedDistribution):
    PUBLIC: tuple[str, ...] = ("scale", "concentration", "concentration_reciprocal")
    _torch_name = "torch.distributions.weibull.Weibull"
    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = together(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(run("ones_like", self.scale), validate_args)
        super().__init__(base, self._steps(), validate_args)

    def _steps(self) -> list[Any]:
        return [PowerTransform(self.concentration_reciprocal), AffineTransform(0, self.scale)]

    def _expanded(self, batch_shape: Any, **parts: Any) -> Any:
        new = super()._expanded(batch_shape, **parts)
        new.concentration_reciprocal = new.concentration.reciprocal()
        new.transforms = new._steps()
        return new

    @property
    def mean(self) -> Any:
        return self.scale * run("exp", run("lgamma", 1 + self.concentration_reciprocal))

    @property
    def mode(self) -> Any:
        inner = (self.concentration - 1) / self.concentration
        return self.scale * inner ** self.concentration.reciprocal()

    @property
    def variance(self) -> Any:
        first = run("lgamma", 1 + self.concentration_reciprocal)
        second = run("lgamma", 1 + 2 * self.concentration_reciprocal)
        return self.scale.pow(2) * (run("exp", second) - run("exp", 2 * first))

    def entropy(self) -> Any:
        inverse = self.concentration_reciprocal
        return EULER * (1 - inverse) + run("log", self.scale * inverse) + 1


class Kumaraswamy(TransformedDistribution):
    PUBLIC: tuple[str, ...] = ("concentration1", "concentration0")
    _torch_name = "torch.distributions.kumaraswamy.Kumaraswamy"
    arg_constraints = {
        "concentration1": constraints.positive, "concentration0": constraints.positive,
    }  # fmt: skip
    support = constraints.unit_interval
    has_rsample = True

    def __init__(
        self, concentration1: Any, concentration0: Any, validate_args: bool | None = None
    ) -> None:
        self.concentration1, self.concentration0 = together(concentration1, concentration0)
        low, high = (run("full_like", self.concentration0, end) for end in (0, 1))
        steps = [
            PowerTransform(self.concentration0.reciprocal()), AffineTransform(1.0, -1.0),
            PowerTransform(self.concentration1.reciprocal()),
        ]  # fmt: skip
        super().__init__(Uniform(low, high, validate_args), steps, validate_args)

    def _moment(self, power: int) -> Any:
        a, b = self.concentration1, self.concentration0
        more = 1 + power / a
        ways = run("lgamma", more) + run("lgamma", b) - run("lgamma", more + b)
        return b * run("exp", ways)

    @property
    def mean(self) -> Any:
        return self._moment(1)

    @property
    def mode(self) -> Any:
        a, b = self.concentration1, self.concentration0
        found = b.reciprocal() * (-b).log1p() - (-b * a).log1p()
        found[(b < 1) | (a < 1)] = math.nan
        return found.exp()

    @property
    def variance(self) -> Any:
        return self._moment(2) - run("pow", self.mean, 2)

    def entropy(self) -> Any:
        a, b = self.concentration1, self.concentration0
        above = 1 - a.reciprocal()
        mean = run("digamma", b + 1) + EULER
        return (1 - b.reciprocal()) + above * mean - run("log", a) - run("log", b)


class InverseGamma(TransformedDistribution):
    PUBLIC: tuple[str, ...] = ("concentration", "rate")
    _torch_name = "torch.distributions.inverse_gamma.InverseGamma"
    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args)
        super().__init__(base, PowerTransform(-base.rate.new_ones(())), validate_args)

    @property
    def concentration(self) -> Any:
        return self.base_dist.concentration

    @property
    def rate(self) -> Any:
        return self.base_dist.rate

    @property
    def mean(self) -> Any:
        found = self.rate / (self.concentration - 1)
        return run("where", self.concentration > 1, found, math.inf)

    @property
    def mode(self) -> Any:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Any:
        alpha = self.concentration
        found = self.rate.square() / ((alpha - 1).square() * (alpha - 2))
        return run("where", alpha > 2, found, math.inf)

    def entropy(self) -> Any:
        alpha = self.concentration
        return alpha + self.rate.log() + alpha.lgamma() - (1 + alpha) * alpha.digamma()


class LogisticNormal(TransformedDistribution):
    PUBLIC: tuple[str, ...] = ("loc", "scale")
    _torch_name = "torch.distributions.logistic_normal.LogisticNormal"
    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args)

    @property
    def loc(self) -> Any:
        return self.base_dist.base_dist.loc

    @property
    def scale(self) -> Any:
        return self.base_dist.base_dist.scale
