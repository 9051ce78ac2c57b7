"""Distributions: over truth values, classes and counts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from ..engine.limits import finfo
from ..engine.mode import enable_grad, no_grad
from ..engine.size import Size
from . import drawing
from .distribution import (
    BOOLEAN,
    COUNT,
    NOT_NEGATIVE,
    REAL,
    REALS,
    SIMPLEX,
    UNIT,
    Constraint,
    Distribution,
    interval,
    run,
    together,
)


class _Chances(Distribution):
    """By probabilities or by logits: the other is computed on demand."""

    PUBLIC: tuple[str, ...] = ("probs", "logits")

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

    def _listed(self) -> Iterator[tuple[str, Any]]:
        """What was given, and what has been computed of it."""
        for name, value, _ in self._constrained():
            if name not in _Chances.PUBLIC:
                yield name, value
        for name in _Chances.PUBLIC:
            if name in self.__dict__:
                yield name, self.__dict__[name]

    def _clamped(self) -> Any:
        tiny = finfo(self.probs.dtype).eps
        return self.probs.clamp(min=tiny, max=1 - tiny)


class Bernoulli(_Chances):
    _torch_name = "torch.distributions.bernoulli.Bernoulli"

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._take(probs, logits)
        if probs is not None:
            (self.probs,) = (given,) = together(probs)
        else:
            (self.logits,) = (given,) = together(logits)
        self._settle(given.size(), validate_args)

    def _constrained(self) -> Iterator[tuple[str, Any, Constraint]]:
        yield ("probs", self.probs, UNIT) if self._by_probs else ("logits", self.logits, REAL)

    def _support(self) -> Constraint:
        return BOOLEAN

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
            return run("bernoulli", self.probs.expand(self._shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        logits, value = together(self.logits, value)
        return -_entropy_of(logits, value)

    def entropy(self) -> Any:
        return _entropy_of(self.logits, self.probs)


def _entropy_of(logits: Any, value: Any) -> Any:
    name = "nn.functional.binary_cross_entropy_with_logits"
    return run(name, logits, value, reduction="none")


class Categorical(_Chances):
    _torch_name = "torch.distributions.categorical.Categorical"

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

    def _constrained(self) -> Iterator[tuple[str, Any, Constraint]]:
        by_probs = ("probs", self.probs, SIMPLEX) if self._by_probs else None
        yield by_probs or ("logits", self.logits, REALS)

    def _support(self) -> Constraint:
        return interval(0, self._count - 1, "IntegerInterval")

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
        return run("full", self.batch_shape, math.nan, **like)

    variance = mean

    @property
    def mode(self) -> Any:
        return self.probs.argmax(-1)

    def sample(self, sample_shape: Any = ()) -> Any:
        wanted = Size(sample_shape)
        drawn = run("multinomial", self.probs.reshape(-1, self._count), math.prod(wanted), True)
        return drawn.t().reshape(self._shape(wanted))

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        value, chances = run("broadcast_tensors", value.long().unsqueeze(-1), self.logits)
        return chances.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self) -> Any:
        logits = self.logits.clamp(min=finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)


class OneHotCategorical(Distribution):
    PUBLIC: tuple[str, ...] = ("probs", "logits")
    _torch_name = "torch.distributions.one_hot_categorical.OneHotCategorical"

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._categorical = Categorical(probs, logits)
        self._settle(self._categorical.batch_shape, validate_args, (self._categorical._count,))

    def _constrained(self) -> Iterator[tuple[str, Any, Constraint]]:
        return self._categorical._constrained()

    def _listed(self) -> Iterator[tuple[str, Any]]:
        return iter(())

    def _support(self) -> Constraint:
        return Constraint("OneHot()", lambda x: ((x == 0) | (x == 1)).all(-1) & x.sum(-1).eq(1))

    @property
    def probs(self) -> Any:
        return self._categorical.probs

    @property
    def logits(self) -> Any:
        return self._categorical.logits

    @property
    def mean(self) -> Any:
        return self.probs

    @property
    def mode(self) -> Any:
        return self._hot(self.probs.argmax(-1))

    @property
    def variance(self) -> Any:
        return self.probs * (1 - self.probs)

    def _hot(self, index: Any) -> Any:
        return run("nn.functional.one_hot", index, self._categorical._count).to(self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        return self._hot(self._categorical.sample(sample_shape))

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self) -> Any:
        return self._categorical.entropy()


class Geometric(Bernoulli):
    _torch_name = "torch.distributions.geometric.Geometric"

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        super().__init__(probs, logits, validate_args)
        if self._checks and probs is not None and not bool((self.probs > 0).all()):
            wrong = self.probs[~(self.probs > 0)]
            raise ValueError(
                f"Expected parameter probs (Tensor of shape {tuple(self.probs.shape)}) of "
                f"distribution {self!r} to be positive but found invalid values:\n{wrong}"
            )

    def _support(self) -> Constraint:
        return COUNT

    @property
    def mean(self) -> Any:
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Any:
        return run("zeros_like", self.probs)

    @property
    def variance(self) -> Any:
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Any = ()) -> Any:
        like = {"dtype": self.probs.dtype, "device": self.probs.device}
        with no_grad():
            drawn = run("empty", self._shape(sample_shape), **like)
            drawn.uniform_(finfo(self.probs.dtype).tiny, 1)
            return (drawn.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        value, probs = run("broadcast_tensors", value, self.probs)
        probs = probs.clone()
        probs[(probs == 1) & (value == 0)] = 0
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self) -> Any:
        return super().entropy() / self.probs


class Poisson(Distribution):
    PUBLIC: tuple[str, ...] = ("rate",)
    _torch_name = "torch.distributions.poisson.Poisson"

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = together(rate)
        self._settle(self.rate.size(), validate_args)

    def _constrained(self) -> Iterator[tuple[str, Any, Constraint]]:
        yield "rate", self.rate, NOT_NEGATIVE

    def _support(self) -> Constraint:
        return COUNT

    @property
    def mean(self) -> Any:
        return self.rate

    variance = mean

    @property
    def mode(self) -> Any:
        return self.rate.floor()

    def sample(self, sample_shape: Any = ()) -> Any:
        return drawing.poisson(self.rate.detach().expand(self._shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        rate, value = run("broadcast_tensors", self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()


class Binomial(Bernoulli):
    PUBLIC: tuple[str, ...] = ("total_count", "enumerate_support")
    _torch_name = "torch.distributions.binomial.Binomial"

    def __init__(
        self, total_count: Any = 1, probs: Any = None, logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        self._take(probs, logits)
        if probs is not None:
            total_count, self.probs = together(total_count, probs)
        else:
            total_count, self.logits = together(total_count, logits)
        param = self.probs if probs is not None else self.logits
        self.total_count = total_count.type_as(param)
        self._settle(param.size(), validate_args)

    def _constrained(self) -> Iterator[tuple[str, Any, Constraint]]:
        yield "total_count", self.total_count, COUNT
        yield from super()._constrained()

    def _support(self) -> Constraint:
        most = self.total_count
        return Constraint(
            f"IntegerInterval(lower_bound=0, upper_bound={most})",
            lambda x: (x % 1 == 0) & (x >= 0) & (x <= most),
        )

    @property
    def mean(self) -> Any:
        return self.total_count * self.probs

    @property
    def mode(self) -> Any:
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._shape(sample_shape)
        with no_grad():
            return drawing.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        count, logits = self.total_count, self.logits
        ways = (count + 1).lgamma(), (value + 1).lgamma(), (count - value + 1).lgamma()
        above = (logits.clamp(min=0) + logits - logits.clamp(max=0)) / 2
        rest = count * above + count * run("log1p", run("exp", -logits.abs())) - ways[0]
        return value * logits - ways[1] - ways[2] - rest

    def _one_count(self, word: str) -> int:
        most = int(self.total_count.max())
        if not bool(self.total_count.min() == most):
            raise NotImplementedError(f"Inhomogeneous total count not supported by `{word}`.")
        return most

    def enumerate_support(self, expand: bool = True) -> Any:
        param = self.probs if self._by_probs else self.logits
        most = self._one_count("enumerate_support")
        values = run("arange", 1 + most, dtype=param.dtype, device=param.device)
        values = values.view((-1, *(1,) * len(self.batch_shape)))
        return values.expand((-1, *self.batch_shape)) if expand else values

    def entropy(self) -> Any:
        self._one_count("entropy")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(log_prob.exp() * log_prob).sum(0)


class Multinomial(Distribution):
    PUBLIC: tuple[str, ...] = ("total_count", "probs", "logits")
    _torch_name = "torch.distributions.multinomial.Multinomial"

    def __init__(
        self, total_count: int = 1, probs: Any = None, logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs, logits)
        self._settle(self._categorical.batch_shape, validate_args, (self._categorical._count,))

    def _constrained(self) -> Iterator[tuple[str, Any, Constraint]]:
        return self._categorical._constrained()

    def _listed(self) -> Iterator[tuple[str, Any]]:
        return iter(())

    def _support(self) -> Constraint:
        most = self.total_count
        return Constraint("Multinomial()", lambda x: (x >= 0).all(-1) & (x.sum(-1) <= most))

    @property
    def probs(self) -> Any:
        return self._categorical.probs

    @property
    def logits(self) -> Any:
        return self._categorical.logits

    @property
    def mean(self) -> Any:
        return self.probs * self.total_count

    @property
    def variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        drawn = self._categorical.sample((self.total_count, *sample_shape))
        drawn = drawn.permute((*range(1, drawn.ndim), 0))
        counts = run("zeros", self._shape(sample_shape), dtype=drawn.dtype, device=drawn.device)
        counts.scatter_add_(-1, drawn, run("ones_like", drawn))
        return counts.type_as(self.probs)

    def log_prob(self, value: Any) -> Any:
        self._check(value)
        logits, value = run("broadcast_tensors", self.logits, value)
        logits = logits.clone()
        ways = (value.sum(-1) + 1).lgamma(), (value + 1).lgamma().sum(-1)
        logits[(value == 0) & (logits == -math.inf)] = 0
        return ways[0] - ways[1] + (logits * value).sum(-1)

    def entropy(self) -> Any:
        count, each = together(self.total_count, 1.0)[0], Binomial(self.total_count, self.probs)
        first = count * self._categorical.entropy() - (count + 1).lgamma()
        support = each.enumerate_support(expand=False)[1:]
        weights = (support + 1).lgamma()
        return first + (each.log_prob(support).exp() * weights).sum([0, -1])
