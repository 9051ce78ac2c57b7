"""Distributions: over the real line and its parts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ..engine.limits import finfo
from ..engine.mode import no_grad
from .distribution import (
    NOT_NEGATIVE,
    POSITIVE,
    REAL,
    Constraint,
    Distribution,
    parameter_text,
    run,
    together,
)


class _Placed(Distribution):
    """By a place and a scale."""

    PUBLIC: tuple[str, ...] = ("loc", "scale", "cdf", "icdf")
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = together(loc, scale)
        self._settle(self.loc.size(), validate_args)

    def _constrained(self) -> Iterator[tuple[str, Any, Constraint]]:
        yield "loc", self.loc, REAL
        yield "scale", self.scale, POSITIVE

    @property
    def mode(self) -> Any:
        return self.loc


class Normal(_Placed):
    _torch_name = "torch.distributions.normal.Normal"

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
        shape = self._shape(sample_shape)
        with no_grad():
            return run("normal", self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape, like = (
            self._shape(sample_shape),
            {"dtype": self.loc.dtype, "device": self.loc.device},
        )
        drawn = run("normal", run("zeros", shape, **like), run("ones", shape, **like))
        return self.loc + drawn * self.scale

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        variance, log_scale = self.scale**2, self.scale.log()
        distance = -((value - self.loc) ** 2) / (2 * variance)
        return distance - log_scale - math.log(math.sqrt(2 * math.pi))

    def cdf(self, value: Any) -> Any:
        self._check(value)
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
        self._settle(self.low.size(), validate_args)

    def _constrained(self) -> Iterator[tuple[str, Any, Constraint]]:
        low, high = self.low, self.high
        yield (
            "low",
            low,
            Constraint(f"LessThan(upper_bound={parameter_text(high)})", lambda x: x < high),
        )
        yield (
            "high",
            high,
            Constraint(f"GreaterThan(lower_bound={parameter_text(low)})", lambda x: x > low),
        )

    def _support(self) -> Constraint:
        low, high = parameter_text(self.low), parameter_text(self.high)
        text = f"Interval(lower_bound={low}, upper_bound={high})"
        return Constraint(text, lambda x: (self.low <= x) & (x <= self.high))

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
        shape = self._shape(sample_shape)
        drawn = run("rand", shape, dtype=self.low.dtype, device=self.low.device)
        return self.low + drawn * (self.high - self.low)

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        inside = self.low.le(value).type_as(self.low).mul(self.high.gt(value).type_as(self.low))
        return inside.log() - (self.high - self.low).log()

    def cdf(self, value: Any) -> Any:
        self._check(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Any) -> Any:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Any:
        return (self.high - self.low).log()


def _like(value: Any, shape: Any) -> Any:
    return run("empty", shape, dtype=value.dtype, device=value.device)


class Exponential(Distribution):
    PUBLIC: tuple[str, ...] = ("rate", "cdf", "icdf")
    _torch_name = "torch.distributions.exponential.Exponential"
    has_rsample = True

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = together(rate)
        self._settle(self.rate.size(), validate_args)

    def _constrained(self) -> Iterator[tuple[str, Any, Constraint]]:
        yield "rate", self.rate, POSITIVE

    def _support(self) -> Constraint:
        return NOT_NEGATIVE

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
        return _like(self.rate, self._shape(sample_shape)).exponential_() / self.rate

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Any) -> Any:
        self._check(value)
        return 1 - run("exp", -self.rate * value)

    def icdf(self, value: Any) -> Any:
        return -run("log1p", -value) / self.rate

    def entropy(self) -> Any:
        return 1.0 - self.rate.log()


class Laplace(_Placed):
    _torch_name = "torch.distributions.laplace.Laplace"

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
        drawn = _like(self.loc, self._shape(sample_shape))
        drawn.uniform_(finfo(self.loc.dtype).eps - 1, 1)
        return self.loc - self.scale * drawn.sign() * run("log1p", -drawn.abs())

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        return -(2 * self.scale).log() - (value - self.loc).abs() / self.scale

    def cdf(self, value: Any) -> Any:
        self._check(value)
        away = value - self.loc
        return 0.5 - 0.5 * away.sign() * run("expm1", -away.abs() / self.scale)

    def icdf(self, value: Any) -> Any:
        term = value - 0.5
        return self.loc - self.scale * term.sign() * run("log1p", -2 * term.abs())

    def entropy(self) -> Any:
        return 1 + (2 * self.scale).log()


class Cauchy(_Placed):
    _torch_name = "torch.distributions.cauchy.Cauchy"

    def _filled(self, value: float) -> Any:
        like = {"dtype": self.loc.dtype, "device": self.loc.device}
        return run("full", self._shape(()), value, **like)

    @property
    def mean(self) -> Any:
        return self._filled(math.nan)

    @property
    def variance(self) -> Any:
        return self._filled(math.inf)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.loc + _like(self.loc, self._shape(sample_shape)).cauchy_() * self.scale

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        away = ((value - self.loc) / self.scale) ** 2
        return -math.log(math.pi) - self.scale.log() - away.log1p()

    def cdf(self, value: Any) -> Any:
        self._check(value)
        return run("atan", (value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value: Any) -> Any:
        return run("tan", math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self) -> Any:
        return math.log(4 * math.pi) + self.scale.log()


class LogNormal(Distribution):
    PUBLIC: tuple[str, ...] = ("loc", "scale", "base_dist", "cdf", "icdf")
    _torch_name = "torch.distributions.log_normal.LogNormal"
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.base_dist = Normal(loc, scale, validate_args)
        self.loc, self.scale = self.base_dist.loc, self.base_dist.scale
        self._settle(self.loc.size(), validate_args)

    def _constrained(self) -> Iterator[tuple[str, Any, Constraint]]:
        yield "loc", self.loc, REAL
        yield "scale", self.scale, POSITIVE

    def _listed(self) -> Iterator[tuple[str, Any]]:
        return iter(())

    def _support(self) -> Constraint:
        return POSITIVE

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

    def sample(self, sample_shape: Any = ()) -> Any:
        return self.base_dist.sample(sample_shape).exp()

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.base_dist.rsample(sample_shape).exp()

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        power = value.log()
        return 0.0 - power + self.base_dist.log_prob(power)

    def cdf(self, value: Any) -> Any:
        return self.base_dist.cdf(value.log())

    def icdf(self, value: Any) -> Any:
        return self.base_dist.icdf(value).exp()

    def entropy(self) -> Any:
        return self.base_dist.entropy() + self.loc


class HalfNormal(Distribution):
    PUBLIC: tuple[str, ...] = ("scale", "base_dist", "cdf", "icdf")
    _torch_name = "torch.distributions.half_normal.HalfNormal"
    has_rsample = True

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        self.base_dist = Normal(0, scale, validate_args=False)
        self.scale = self.base_dist.scale
        self._settle(self.scale.size(), validate_args)

    def _constrained(self) -> Iterator[tuple[str, Any, Constraint]]:
        yield "scale", self.scale, POSITIVE

    def _listed(self) -> Iterator[tuple[str, Any]]:
        return iter(())

    def _support(self) -> Constraint:
        return NOT_NEGATIVE

    @property
    def mean(self) -> Any:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def mode(self) -> Any:
        return run("zeros_like", self.scale)

    @property
    def variance(self) -> Any:
        return self.scale.pow(2) * (1 - 2 / math.pi)

    def sample(self, sample_shape: Any = ()) -> Any:
        return self.base_dist.sample(sample_shape).abs()

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.base_dist.rsample(sample_shape).abs()

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        log_prob = self.base_dist.log_prob(value) + math.log(2)
        return run("where", value >= 0, log_prob, -math.inf)

    def cdf(self, value: Any) -> Any:
        self._check(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob: Any) -> Any:
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self) -> Any:
        return self.base_dist.entropy() - math.log(2)
