"""Distributions: torch.distributions: drawing numbers, and how probable they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

from .engine.construct import tensor
from .engine.dtypes import default_dtype
from .engine.limits import finfo
from .engine.mode import enable_grad, no_grad
from .engine.size import Size
from .engine.tensor import Tensor
from .operators import catalogue

__all__ = ["Bernoulli", "Categorical", "Distribution", "Normal", "Uniform", "kl_divergence"]


class _Constraint(NamedTuple):
    """What values must be, in PyTorch's words, and which of them are."""

    text: str
    holds: Callable[[Any], Any]


def _bound(value: Any) -> Any:
    return value.item() if value.numel() == 1 else value


def _interval(low: Any, high: Any, kind: str = "Interval") -> _Constraint:
    text = f"{kind}(lower_bound={low}, upper_bound={high})"
    if kind == "IntegerInterval":
        return _Constraint(text, lambda x: (x % 1 == 0) & (low <= x) & (x <= high))
    return _Constraint(text, lambda x: (low <= x) & (x <= high))


_REAL = _Constraint("Real()", lambda x: x == x)
_REALS = _Constraint("IndependentConstraint(Real(), 1)", lambda x: (x == x).all(-1))
_POSITIVE = _Constraint("GreaterThan(lower_bound=0.0)", lambda x: x > 0)
_UNIT = _interval(0.0, 1.0)
_BOOLEAN = _Constraint("Boolean()", lambda x: (x == 0) | (x == 1))
_SIMPLEX = _Constraint("Simplex()", lambda x: (x >= 0).all(-1) & ((x.sum(-1) - 1).abs() < 1e-6))


def _run(name: str, *arguments: Any, **options: Any) -> Any:
    return catalogue.functions[name](*arguments, **options)


def _together(*values: Any) -> Any:
    """Tensors of one size; numbers become tensors of the first tensor's type."""
    first = next((value for value in values if isinstance(value, Tensor)), None)
    dtype, device = (default_dtype(), None) if first is None else (first.dtype, first.device)
    made = [v if isinstance(v, Tensor) else tensor(v, dtype=dtype, device=device) for v in values]
    return _run("broadcast_tensors", *made)


class Distribution:
    """What all distributions share: a shape of their own, samples, and checks of values."""

    PUBLIC: tuple[str, ...] = (
        "batch_shape", "event_shape", "has_rsample", "mean", "mode", "variance", "stddev",
        "sample", "rsample", "log_prob", "entropy",
    )  # fmt: skip
    has_rsample = False
    event_shape = Size(())
    mean: Any
    variance: Any

    def _settle(self, shape: Any, validate_args: bool | None) -> None:
        self.batch_shape = Size(shape)
        self._checks = validate_args is None or bool(validate_args)
        for name, value, constraint in self._given() if self._checks else ():
            if not bool(constraint.holds(value).all()):
                raise ValueError(
                    f"Expected parameter {name} (Tensor of shape {tuple(value.shape)}) of "
                    f"distribution {self!r} to satisfy the constraint {constraint.text}, but found "
                    f"invalid values:\n{_shown(value)}"
                )

    def _given(self) -> Iterator[tuple[str, Any, _Constraint]]:
        """The parameters that the program gave, with what they must be."""
        raise NotImplementedError

    def _support(self) -> _Constraint:
        return _REAL

    def _check(self, value: Any) -> None:
        if not self._checks:
            return
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        sizes = zip(reversed(value.shape), reversed(self.batch_shape), strict=False)
        if any(have not in (1, own) and own != 1 for have, own in sizes):
            raise ValueError(
                "Value is not broadcastable with batch_shape+event_shape: "
                f"{value.shape} vs {self.batch_shape}."
            )
        support = self._support()
        if not bool(support.holds(value).all()):
            raise ValueError(
                f"Expected value argument (Tensor of shape {tuple(value.shape)}) to be within the "
                f"support ({support.text}) of the distribution {self!r}, but found invalid "
                f"values:\n{_shown(value)}"
            )

    def _shape(self, sample_shape: Any) -> Size:
        return Size((*sample_shape, *self.batch_shape))

    @property
    def stddev(self) -> Any:
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        raise NotImplementedError

    def log_prob(self, value: Any) -> Any:
        raise NotImplementedError

    def entropy(self) -> Any:
        raise NotImplementedError

    def __repr__(self) -> str:
        parts = [
            f"{name}: {value.item() if value.numel() == 1 else value.size()}"
            for name, value, _ in self._given()
        ]
        return f"{type(self).__name__}({', '.join(parts)})"


def _shown(value: Any) -> str:
    return format(value, "") if value.ndim == 0 else repr(value)


class Normal(Distribution):
    PUBLIC = ("loc", "scale", "cdf", "icdf")
    torch_name = "torch.distributions.normal.Normal"
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = _together(loc, scale)
        self._settle(self.loc.size(), validate_args)

    def _given(self) -> Iterator[tuple[str, Any, _Constraint]]:
        yield "loc", self.loc, _REAL
        yield "scale", self.scale, _POSITIVE

    @property
    def mean(self) -> Any:
        return self.loc

    mode = mean

    @property
    def stddev(self) -> Any:
        return self.scale

    @property
    def variance(self) -> Any:
        return self.scale.pow(2)

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._shape(sample_shape)
        with no_grad():
            return _run("normal", self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape, like = (
            self._shape(sample_shape),
            {"dtype": self.loc.dtype, "device": self.loc.device},
        )
        drawn = _run("normal", _run("zeros", shape, **like), _run("ones", shape, **like))
        return self.loc + drawn * self.scale

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        distance = -((value - self.loc) ** 2) / (2 * self.scale**2)
        return distance - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    def cdf(self, value: Any) -> Any:
        self._check(value)
        away = (value - self.loc) * self.scale.reciprocal() / math.sqrt(2)
        return 0.5 * (1 + _run("erf", away))

    def icdf(self, value: Any) -> Any:
        return self.loc + self.scale * _run("erfinv", 2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Any:
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()


class Uniform(Distribution):
    PUBLIC = ("low", "high", "cdf", "icdf")
    torch_name = "torch.distributions.uniform.Uniform"
    has_rsample = True

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = _together(low, high)
        self._settle(self.low.size(), validate_args)

    def _given(self) -> Iterator[tuple[str, Any, _Constraint]]:
        low, high = self.low, self.high
        yield "low", low, _Constraint(f"LessThan(upper_bound={_shown(high)})", lambda x: x < high)
        yield (
            "high",
            high,
            _Constraint(f"GreaterThan(lower_bound={_shown(low)})", lambda x: x > low),
        )

    def _support(self) -> _Constraint:
        text = f"Interval(lower_bound={_shown(self.low)}, upper_bound={_shown(self.high)})"
        return _Constraint(text, lambda x: (self.low <= x) & (x <= self.high))

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
        drawn = _run("rand", shape, dtype=self.low.dtype, device=self.low.device)
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


class _Chances(Distribution):
    """By probabilities or by logits: the other is computed when it is asked for."""

    PUBLIC = ("probs", "logits")

    def _take(self, probs: Any, logits: Any) -> None:
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        self._by_probs = probs is not None

    @cached_property
    def probs(self) -> Any:
        raise NotImplementedError

    @cached_property
    def logits(self) -> Any:
        raise NotImplementedError

    def _clamped(self) -> Any:
        tiny = finfo(self.probs.dtype).eps
        return self.probs.clamp(min=tiny, max=1 - tiny)


class Bernoulli(_Chances):
    torch_name = "torch.distributions.bernoulli.Bernoulli"

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._take(probs, logits)
        if probs is not None:
            (self.probs,) = (given,) = _together(probs)
        else:
            (self.logits,) = (given,) = _together(logits)
        self._settle(given.size(), validate_args)

    def _given(self) -> Iterator[tuple[str, Any, _Constraint]]:
        yield ("probs", self.probs, _UNIT) if self._by_probs else ("logits", self.logits, _REAL)

    def _support(self) -> _Constraint:
        return _BOOLEAN

    @cached_property
    def probs(self) -> Any:
        with enable_grad():  # a sample may be the first to ask
            return self.logits.sigmoid()

    @cached_property
    def logits(self) -> Any:
        with enable_grad():
            chances = self._clamped()
            return chances.log() - (-chances).log1p()

    @property
    def mean(self) -> Any:
        return self.probs

    @property
    def mode(self) -> Any:
        likely = (self.probs >= 0.5).to(self.probs)
        likely[self.probs == 0.5] = math.nan
        return likely

    @property
    def variance(self) -> Any:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_grad():
            return _run("bernoulli", self.probs.expand(self._shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        logits, value = _together(self.logits, value)
        return -_entropy_of(logits, value)

    def entropy(self) -> Any:
        return _entropy_of(self.logits, self.probs)


def _entropy_of(logits: Any, value: Any) -> Any:
    name = "nn.functional.binary_cross_entropy_with_logits"
    return _run(name, logits, value, reduction="none")


class Categorical(_Chances):
    torch_name = "torch.distributions.categorical.Categorical"

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._take(probs, logits)
        given, word = (probs, "probs") if probs is not None else (logits, "logits")
        if given.ndim < 1:
            raise ValueError(f"`{word}` parameter must be at least one-dimensional.")
        if probs is not None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self.logits = logits - logits.logsumexp(-1, keepdim=True)
        self._count = given.shape[-1]
        self._settle(given.shape[:-1], validate_args)

    def _given(self) -> Iterator[tuple[str, Any, _Constraint]]:
        by_probs = ("probs", self.probs, _SIMPLEX) if self._by_probs else None
        yield by_probs or ("logits", self.logits, _REALS)

    def _support(self) -> _Constraint:
        return _interval(0, self._count - 1, "IntegerInterval")

    @cached_property
    def probs(self) -> Any:
        with enable_grad():
            return self.logits.softmax(-1)

    @cached_property
    def logits(self) -> Any:
        with enable_grad():
            return self._clamped().log()

    @property
    def mean(self) -> Any:
        like = {"dtype": self.probs.dtype, "device": self.probs.device}
        return _run("full", self.batch_shape, math.nan, **like)

    variance = mean

    @property
    def mode(self) -> Any:
        return self.probs.argmax(-1)

    def sample(self, sample_shape: Any = ()) -> Any:
        wanted = Size(sample_shape)
        drawn = _run("multinomial", self.probs.reshape(-1, self._count), math.prod(wanted), True)
        return drawn.t().reshape(self._shape(wanted))

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        value, chances = _run("broadcast_tensors", value.long().unsqueeze(-1), self.logits)
        return chances.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self) -> Any:
        logits = self.logits.clamp(min=finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)


def kl_divergence(p: Distribution, q: Distribution) -> Any:
    """How far one distribution is from another of its kind."""
    if isinstance(p, Normal) and isinstance(q, Normal):
        ratio = (p.scale / q.scale).pow(2)
        return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())
    if isinstance(p, Categorical) and isinstance(q, Categorical):
        parts = p.probs * (p.logits - q.logits)
        parts[(q.probs == 0).expand_as(parts)] = math.inf
        parts[(p.probs == 0).expand_as(parts)] = 0
        return parts.sum(-1)
    raise NotImplementedError(
        f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}"
    )
