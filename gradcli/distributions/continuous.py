"""Distributions: over the real line and its parts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..engine.schema.limits import finfo
from ..engine.schema.mode import no_grad
from . import constraints
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .operations import run, standard_normal, together, type_of


class _Placed(Distribution):
    """By a place and a scale."""

    PUBLIC: tuple[str, ...] = ("loc", "scale", "cdf", "icdf")
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = together(loc, scale)
        Distribution.__init__(self, self.loc.size(), validate_args=validate_args)

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    @property
    def mode(self) -> Any:
        return self.loc


class Normal(_Placed, ExponentialFamily):
    _torch_name = "torch.distributions.normal.Normal"

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(loc, scale, validate_args)

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def stddev(self) -> Any:
        return self.scale

    @property
    def variance(self) -> Any:
        return self.scale.pow(2)

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return run("normal", self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Any = ()) -> Any:
        drawn = standard_normal(self._extended_shape(sample_shape), self.loc)
        return self.loc + drawn * self.scale

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        variance, log_scale = self.scale**2, self.scale.log()
        distance = -((value - self.loc) ** 2) / (2 * variance)
        return distance - log_scale - math.log(math.sqrt(2 * math.pi))

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        away = (value - self.loc) * self.scale.reciprocal() / math.sqrt(2)
        return 0.5 * (1 + run("erf", away))

    def icdf(self, value: Any) -> Any:
        return self.loc + self.scale * run("erfinv", 2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Any:
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()


class Uniform(Distribution):
    PUBLIC: tuple[str, ...] = ("low", "high", "cdf", "icdf")
    _torch_name = "torch.distributions.uniform.Uniform"
    has_rsample = True

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = together(low, high)
        Distribution.__init__(self, self.low.size(), validate_args=validate_args)

    @property
    def arg_constraints(self) -> Any:
        return {
            "low": constraints.less_than(self.high),
            "high": constraints.greater_than(self.low),
        }

    @property
    def support(self) -> Any:
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Any:
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Any:
        return math.nan * self.high

    @property
    def stddev(self) -> Any:
        return (self.high - self.low) / 12**0.5

    @property
    def variance(self) -> Any:
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        drawn = run("rand", shape, **type_of(self.low))
        return self.low + drawn * (self.high - self.low)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        inside = self.low.le(value).type_as(self.low).mul(self.high.gt(value).type_as(self.low))
        return inside.log() - (self.high - self.low).log()

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Any) -> Any:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Any:
        return (self.high - self.low).log()


def _like(value: Any, shape: Any) -> Any:
    return run("empty", shape, **type_of(value))


class Exponential(ExponentialFamily):
    PUBLIC: tuple[str, ...] = ("rate", "cdf", "icdf")
    _torch_name = "torch.distributions.exponential.Exponential"
    has_rsample = True

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = together(rate)
        Distribution.__init__(self, self.rate.size(), validate_args=validate_args)

    arg_constraints = {"rate": constraints.positive}

    support = constraints.nonnegative

    @property
    def mean(self) -> Any:
        return self.rate.reciprocal()

    @property
    def mode(self) -> Any:
        return run("zeros_like", self.rate)

    @property
    def stddev(self) -> Any:
        return self.rate.reciprocal()

    @property
    def variance(self) -> Any:
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return _like(self.rate, self._extended_shape(sample_shape)).exponential_() / self.rate

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        return 1 - run("exp", -self.rate * value)

    def icdf(self, value: Any) -> Any:
        return -run("log1p", -value) / self.rate

    def entropy(self) -> Any:
        return 1.0 - self.rate.log()


class Laplace(_Placed):
    _torch_name = "torch.distributions.laplace.Laplace"

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(loc, scale, validate_args)

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        return 2 * self.scale.pow(2)

    @property
    def stddev(self) -> Any:
        return (2**0.5) * self.scale

    def rsample(self, sample_shape: Any = ()) -> Any:
        drawn = _like(self.loc, self._extended_shape(sample_shape))
        drawn.uniform_(finfo(self.loc.dtype).eps - 1, 1)
        return self.loc - self.scale * drawn.sign() * run("log1p", -drawn.abs())

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        return -(2 * self.scale).log() - (value - self.loc).abs() / self.scale

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        away = value - self.loc
        return 0.5 - 0.5 * away.sign() * run("expm1", -away.abs() / self.scale)

    def icdf(self, value: Any) -> Any:
        term = value - 0.5
        return self.loc - self.scale * term.sign() * run("log1p", -2 * term.abs())

    def entropy(self) -> Any:
        return 1 + (2 * self.scale).log()


class Cauchy(_Placed):
    _torch_name = "torch.distributions.cauchy.Cauchy"

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(loc, scale, validate_args)

    def _filled(self, value: float) -> Any:
        return run("full", self._extended_shape(()), value, **type_of(self.loc))

    @property
    def mean(self) -> Any:
        return self._filled(math.nan)

    @property
    def variance(self) -> Any:
        return self._filled(math.inf)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.loc + _like(self.loc, self._extended_shape(sample_shape)).cauchy_() * self.scale

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        away = ((value - self.loc) / self.scale) ** 2
        return -math.log(math.pi) - self.scale.log() - away.log1p()

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        return run("atan", (value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value: Any) -> Any:
        return run("tan", math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self) -> Any:
        return math.log(4 * math.pi) + self.scale.log()


class GeneralizedPareto(Distribution):
    PUBLIC: tuple[str, ...] = ("loc", "scale", "concentration", "log_survival_function", "log_cdf")
    _torch_name = "torch.distributions.generalized_pareto.GeneralizedPareto"
    arg_constraints = {
        "loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real,
    }  # fmt: skip
    has_rsample = True

    def __init__(
        self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None
    ) -> None:
        self.loc, self.scale, self.concentration = together(loc, scale, concentration)
        Distribution.__init__(self, self.loc.size(), validate_args=validate_args)

    @property
    def support(self) -> Any:
        end = self.loc - self.scale / self.concentration
        return constraints.interval(self.loc, run("where", self.concentration < 0, end, math.inf))

    def _exponential(self) -> tuple[Any, Any]:
        """Where it is an exponential distribution, and a concentration to divide by."""
        flat = run("isclose", self.concentration, run("zeros_like", self.concentration))
        return flat, run("where", flat, run("ones_like", self.concentration), self.concentration)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.icdf(run("rand", self._extended_shape(sample_shape), **type_of(self.loc)))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        away = (value - self.loc) / self.scale
        flat, shape = self._exponential()
        power = 1 / shape + run("ones_like", away)
        steep = run("where", power == 0, power, power * run("log1p", shape * away))
        return -self.scale.log() - run("where", flat, away, steep)

    def log_survival_function(self, value: Any) -> Any:
        self._validate_sample(value)
        away = (value - self.loc) / self.scale
        flat, shape = self._exponential()
        return run("where", flat, -away, -run("log1p", shape * away) / shape)

    def log_cdf(self, value: Any) -> Any:
        return run("log1p", -run("exp", self.log_survival_function(value)))

    def cdf(self, value: Any) -> Any:
        return run("exp", self.log_cdf(value))

    def icdf(self, value: Any) -> Any:
        flat, shape = self._exponential()
        rest = run("log1p", -value)
        steep = self.loc + self.scale / shape * run("expm1", -shape * rest)
        return run("where", flat, self.loc - self.scale * rest, steep)

    def _moment(self, bound: float, formula: Callable[[Any], Any]) -> Any:
        """What a formula gives where the concentration is below a bound."""
        small = self.concentration < bound
        found = formula(run("where", small, self.concentration, bound / 2))
        return run("where", small, found, math.nan)

    @property
    def mean(self) -> Any:
        return self._moment(1, lambda shape: self.loc + self.scale / (1 - shape))

    @property
    def variance(self) -> Any:
        square = self.scale**2
        return self._moment(0.5, lambda c: square / ((1 - c) ** 2 * (1 - 2 * c)))

    def entropy(self) -> Any:
        found = run("log", self.scale) + self.concentration + 1
        return run("broadcast_to", found, self.batch_shape)

    @property
    def mode(self) -> Any:
        return self.loc
