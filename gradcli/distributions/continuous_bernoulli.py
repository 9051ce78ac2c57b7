"""Distributions: the continuous Bernoulli, between 0 and 1."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

from ..engine.schema.mode import enable_grad, no_grad
from . import constraints
from .chances import Toss, binary_entropy
from .exp_family import ExponentialFamily
from .operations import clipped_probs, run, together, type_of


class ContinuousBernoulli(Toss, ExponentialFamily):
    """Close to 1/2, within `lims`, its formulas are Taylor's series."""

    PUBLIC: tuple[str, ...] = ()
    _torch_name = "torch.distributions.continuous_bernoulli.ContinuousBernoulli"
    support = constraints.unit_interval
    has_rsample = True

    def __init__(
        self, probs: Any = None, logits: Any = None, lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        if probs is not None and logits is None:
            (probs,) = together(probs)
            wrong = validate_args is not None and not bool(
                constraints.unit_interval.check(probs).all()
            )
            if wrong:
                raise ValueError("The parameter probs has invalid values")
            probs = clipped_probs(probs)
        self._lims = lims
        super().__init__(probs, logits, validate_args)

    @cached_property
    def probs(self) -> Any:
        with enable_grad():
            return clipped_probs(self.logits.sigmoid())

    def _outside(self) -> Any:
        low, high = self._lims
        return run("max", run("le", self.probs, low), run("gt", self.probs, high))

    def _cut(self) -> Any:
        """The probabilities, with those close to 1/2 moved out of the way."""
        edge = self._lims[0] * run("ones_like", self.probs)
        return run("where", self._outside(), self.probs, edge)

    def _unless_close(self, formula: Any, series: Any) -> Any:
        return run("where", self._outside(), formula, series)

    def _log_norm(self) -> Any:
        cut = self._cut()
        low = run("where", run("le", cut, 0.5), cut, run("zeros_like", cut))
        high = run("where", run("ge", cut, 0.5), cut, run("ones_like", cut))
        width = run("log", run("abs", run("log1p", -cut) - run("log", cut)))
        sides = run("log1p", -2.0 * low), run("log", 2.0 * high - 1.0)
        x = run("pow", self.probs - 0.5, 2)
        series = math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x
        return self._unless_close(width - run("where", run("le", cut, 0.5), *sides), series)

    @property
    def mean(self) -> Any:
        cut = self._cut()
        slope = 1.0 / (run("log1p", -cut) - run("log", cut))
        x = self.probs - 0.5
        series = 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * run("pow", x, 2)) * x
        return self._unless_close(cut / (2.0 * cut - 1.0) + slope, series)

    @property
    def variance(self) -> Any:
        cut = self._cut()
        slope = 1.0 / run("pow", run("log1p", -cut) - run("log", cut), 2)
        x = run("pow", self.probs - 0.5, 2)
        series = 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x
        formula = cut * (cut - 1.0) / run("pow", 1.0 - 2.0 * cut, 2) + slope
        return self._unless_close(formula, series)

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.icdf(run("rand", self._extended_shape(sample_shape), **type_of(self.probs)))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        logits, value = together(self.logits, value)
        return -binary_entropy(logits, value) + self._log_norm()

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        cut = self._cut()
        powers = run("pow", cut, value) * run("pow", 1.0 - cut, 1.0 - value)
        inside = self._unless_close((powers + cut - 1.0) / (2.0 * cut - 1.0), value)
        below, above = run("le", value, 0.0), run("ge", value, 1.0)
        ending = run("where", above, run("ones_like", value), inside)
        return run("where", below, run("zeros_like", value), ending)

    def icdf(self, value: Any) -> Any:
        cut = self._cut()
        rest = run("log1p", -cut)
        drawn = run("log1p", -cut + value * (2.0 * cut - 1.0)) - rest
        return self._unless_close(drawn / (run("log", cut) - rest), value)

    def entropy(self) -> Any:
        zero, one = run("log1p", -self.probs), run("log", self.probs)
        return self.mean * (zero - one) - self._log_norm() - zero
