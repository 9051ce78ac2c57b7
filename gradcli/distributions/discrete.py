"""Distributions: over truth values, classes and counts."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

from ..engine.schema.limits import finfo
from ..engine.schema.mode import enable_grad, no_grad
from ..engine.schema.size import Size
from . import constraints, drawing
from .chances import Chances, Toss, binary_entropy
from .constraints import Constraint
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .gammas import Gamma
from .operations import clipped_probs, run, together, type_of


class Bernoulli(Toss, ExponentialFamily):
    _torch_name = "torch.distributions.bernoulli.Bernoulli"
    support = constraints.boolean

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
            return run("bernoulli", self.probs.expand(self._extended_shape(sample_shape)))

    has_enumerate_support = True

    def enumerate_support(self, expand: bool = True) -> Any:
        return self._listed(run("arange", 2, **type_of(self._parameter)), expand)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        logits, value = together(self.logits, value)
        return -binary_entropy(logits, value)

    def entropy(self) -> Any:
        return binary_entropy(self.logits, self.probs)


class Categorical(Chances):
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
        Distribution.__init__(self, given.shape[:-1], validate_args=validate_args)

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}

    @property
    def support(self) -> Constraint:
        return constraints.integer_interval(0, self._count - 1)

    @cached_property
    def probs(self) -> Any:
        with enable_grad():
            return self.logits.softmax(-1)

    @cached_property
    def logits(self) -> Any:
        with enable_grad():
            return clipped_probs(self.probs).log()

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
        return drawn.t().reshape(self._extended_shape(wanted))

    has_enumerate_support = True

    def enumerate_support(self, expand: bool = True) -> Any:
        device = self._parameter.device
        return self._listed(run("arange", self._count, device=device), expand)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        value, chances = run("broadcast_tensors", value.long().unsqueeze(-1), self.logits)
        return chances.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self) -> Any:
        logits = self.logits.clamp(min=finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)


class OneHotCategorical(Distribution):
    PUBLIC: tuple[str, ...] = ("probs", "logits", "param_shape")
    _torch_name = "torch.distributions.one_hot_categorical.OneHotCategorical"

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._categorical = Categorical(probs, logits)
        Distribution.__init__(
            self, self._categorical.batch_shape, (self._categorical._count,), validate_args
        )

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}

    support = constraints.one_hot

    @property
    def param_shape(self) -> Any:
        return self._categorical.param_shape

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

    has_enumerate_support = True

    def enumerate_support(self, expand: bool = True) -> Any:
        count = self._categorical._count
        values = run("eye", count, **type_of(self.probs))
        values = values.view((count, *(1,) * len(self.batch_shape), count))
        return values.expand((count, *self.batch_shape, count)) if expand else values

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self) -> Any:
        return self._categorical.entropy()


class Geometric(Toss):
    _torch_name = "torch.distributions.geometric.Geometric"

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        super().__init__(probs, logits, validate_args)
        if self._validate_args and probs is not None and not bool((self.probs > 0).all()):
            wrong = self.probs[~(self.probs > 0)]
            raise ValueError(
                f"Expected parameter probs (Tensor of shape {tuple(self.probs.shape)}) of "
                f"distribution {self!r} to be positive but found invalid values:\n{wrong}"
            )

    support = constraints.nonnegative_integer

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
        with no_grad():
            drawn = run("empty", self._extended_shape(sample_shape), **type_of(self.probs))
            drawn.uniform_(finfo(self.probs.dtype).tiny, 1)
            return (drawn.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        value, probs = run("broadcast_tensors", value, self.probs)
        probs = probs.clone()
        probs[(probs == 1) & (value == 0)] = 0
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self) -> Any:
        return binary_entropy(self.logits, self.probs) / self.probs


class Poisson(ExponentialFamily):
    PUBLIC: tuple[str, ...] = ("rate",)
    _torch_name = "torch.distributions.poisson.Poisson"

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = together(rate)
        Distribution.__init__(self, self.rate.size(), validate_args=validate_args)

    arg_constraints = {"rate": constraints.nonnegative}

    support = constraints.nonnegative_integer

    @property
    def mean(self) -> Any:
        return self.rate

    variance = mean

    @property
    def mode(self) -> Any:
        return self.rate.floor()

    def sample(self, sample_shape: Any = ()) -> Any:
        return drawing.poisson(self.rate.detach().expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        rate, value = run("broadcast_tensors", self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()


class Binomial(Toss):
    PUBLIC: tuple[str, ...] = ("total_count",)
    has_enumerate_support = True
    _torch_name = "torch.distributions.binomial.Binomial"

    def __init__(
        self, total_count: Any = 1, probs: Any = None, logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        self._take_counted(total_count, probs, logits, validate_args)

    arg_constraints = {
        "total_count": constraints.nonnegative_integer, "probs": constraints.unit_interval,
        "logits": constraints.real,
    }  # fmt: skip

    @property
    def support(self) -> Constraint:
        return constraints.integer_interval(0, self.total_count)

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
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return drawing.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
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
        most = self._one_count("enumerate_support")
        return self._listed(run("arange", 1 + most, **type_of(self._parameter)), expand)

    def entropy(self) -> Any:
        self._one_count("entropy")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(log_prob.exp() * log_prob).sum(0)


class NegativeBinomial(Toss):
    PUBLIC: tuple[str, ...] = ("total_count",)
    _torch_name = "torch.distributions.negative_binomial.NegativeBinomial"
    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0), "logits": constraints.real,
    }  # fmt: skip
    support = constraints.nonnegative_integer

    def __init__(
        self, total_count: Any, probs: Any = None, logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        self._take_counted(total_count, probs, logits, validate_args)

    @property
    def mean(self) -> Any:
        return self.total_count * run("exp", self.logits)

    @property
    def mode(self) -> Any:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Any:
        return self.mean / run("sigmoid", -self.logits)

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_grad():
            rates = Gamma(self.total_count, run("exp", -self.logits), validate_args=False)
            return drawing.poisson(rates.sample(sample_shape))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        count, sigmoid = self.total_count, "nn.functional.logsigmoid"
        chances = count * run(sigmoid, -self.logits) + value * run(sigmoid, self.logits)
        ways = -run("lgamma", count + value) + run("lgamma", 1.0 + value) + run("lgamma", count)
        return chances - ways.masked_fill(count + value == 0.0, 0.0)


class Multinomial(Distribution):
    PUBLIC: tuple[str, ...] = ("total_count", "probs", "logits", "param_shape")
    _torch_name = "torch.distributions.multinomial.Multinomial"

    def __init__(
        self, total_count: int = 1, probs: Any = None, logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs, logits)
        Distribution.__init__(
            self, self._categorical.batch_shape, (self._categorical._count,), validate_args
        )

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}

    @property
    def support(self) -> Constraint:
        return constraints.multinomial(self.total_count)

    @property
    def param_shape(self) -> Any:
        return self._categorical.param_shape

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
        counts = run(
            "zeros", self._extended_shape(sample_shape), dtype=drawn.dtype, device=drawn.device
        )
        counts.scatter_add_(-1, drawn, run("ones_like", drawn))
        return counts.type_as(self.probs)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
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
