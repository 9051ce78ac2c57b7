"""Distributions: truth values and classes made smooth by a temperature, with gradients."""

from __future__ import annotations

from typing import Any

from . import constraints
from .bijections import ExpTransform, SigmoidTransform
from .chances import Toss
from .discrete import Categorical, OneHotCategorical
from .distribution import Distribution
from .operations import clipped_probs, run, together, type_of
from .transformed import TransformedDistribution


class LogitRelaxedBernoulli(Toss):
    """The logit of a relaxed truth value."""

    PUBLIC: tuple[str, ...] = ("temperature",)
    _torch_name = "torch.distributions.relaxed_bernoulli.LogitRelaxedBernoulli"
    support = constraints.real

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        self.temperature = temperature
        super().__init__(probs, logits, validate_args)

    def _expanded(self, batch_shape: Any, **parts: Any) -> Any:
        return super()._expanded(batch_shape, temperature=self.temperature, **parts)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        probs = clipped_probs(self.probs.expand(shape))
        drawn = clipped_probs(run("rand", shape, **type_of(probs)))
        odds = drawn.log() - (-drawn).log1p() + probs.log() - (-probs).log1p()
        return odds / self.temperature

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        logits, value = together(self.logits, value)
        away = logits - value.mul(self.temperature)
        return self.temperature.log() + away - 2 * away.exp().log1p()


class ExpRelaxedCategorical(Distribution):
    """The logarithm of a point of the simplex."""

    PUBLIC: tuple[str, ...] = ("temperature", "probs", "logits")
    _torch_name = "torch.distributions.relaxed_categorical.ExpRelaxedCategorical"
    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        self._categorical = Categorical(probs, logits)
        self.temperature = temperature
        shape = self._categorical.batch_shape
        super().__init__(shape, (self._categorical._count,), validate_args)

    def _expanded(self, batch_shape: Any, **parts: Any) -> Any:
        return super()._expanded(batch_shape, temperature=self.temperature, **parts)

    @property
    def probs(self) -> Any:
        return self._categorical.probs

    @property
    def logits(self) -> Any:
        return self._categorical.logits

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        drawn = clipped_probs(run("rand", shape, **type_of(self.logits)))
        scores = (self.logits + -((-(drawn.log())).log())) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        count = self._categorical._count
        logits, value = together(self.logits, value)
        ways = run("full_like", self.temperature, float(count)).lgamma()
        known = ways - self.temperature.log().mul(-(count - 1))
        score = logits - value.mul(self.temperature)
        return (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1) + known


class _Relaxed(TransformedDistribution):
    PUBLIC: tuple[str, ...] = ("temperature", "probs", "logits")
    has_rsample = True

    @property
    def temperature(self) -> Any:
        return self.base_dist.temperature

    @property
    def probs(self) -> Any:
        return self.base_dist.probs

    @property
    def logits(self) -> Any:
        return self.base_dist.logits


class RelaxedBernoulli(_Relaxed):
    _torch_name = "torch.distributions.relaxed_bernoulli.RelaxedBernoulli"
    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args)


class RelaxedOneHotCategorical(_Relaxed):
    _torch_name = "torch.distributions.relaxed_categorical.RelaxedOneHotCategorical"
    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args)
        super().__init__(base, ExpTransform(), validate_args)


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """One of the classes, with the gradient of the probabilities."""

    _torch_name = "torch.distributions.one_hot_categorical.OneHotCategoricalStraightThrough"
    has_rsample = True

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.sample(sample_shape) + (self.probs - self.probs.detach())
