"""Distributions: probabilities and logits, of which each is computed from the other."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from ..engine.schema.mode import enable_grad
from . import constraints
from .distribution import Distribution
from .operations import clipped_probs, run, together


class Chances(Distribution):
    """By probabilities or by logits: the other is computed on demand."""

    PUBLIC: tuple[str, ...] = ("probs", "logits", "param_shape")

    def _take(self, probs: Any, logits: Any) -> None:
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        self._by_probs = probs is not None

    @property
    def _parameter(self) -> Any:
        return self.probs if self._by_probs else self.logits

    @property
    def param_shape(self) -> Any:
        return self._parameter.size()

    def _listed(self, values: Any, expand: bool) -> Any:
        """Every value that a sample can have, for each element of the batch."""
        values = values.view((-1, *(1,) * len(self.batch_shape)))
        return values.expand((-1, *self.batch_shape)) if expand else values

    probs: Any
    logits: Any


class Toss(Chances):
    """By the chance of one of two outcomes."""

    total_count: Any

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._take(probs, logits)
        if probs is not None:
            (self.probs,) = (given,) = together(probs)
        else:
            (self.logits,) = (given,) = together(logits)
        Distribution.__init__(self, given.size(), validate_args=validate_args)

    def _take_counted(self, count: Any, probs: Any, logits: Any, validate_args: Any) -> None:
        """The same with a number of tosses."""
        self._take(probs, logits)
        if probs is not None:
            count, self.probs = together(count, probs)
        else:
            count, self.logits = together(count, logits)
        param = self.probs if probs is not None else self.logits
        self.total_count = count.type_as(param)
        Distribution.__init__(self, param.size(), validate_args=validate_args)

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}

    @cached_property
    def probs(self) -> Any:
        with enable_grad():  # a sample may be the first to ask
            return self.logits.sigmoid()

    @cached_property
    def logits(self) -> Any:
        with enable_grad():
            chances = clipped_probs(self.probs)
            return chances.log() - (-chances).log1p()


def binary_entropy(logits: Any, value: Any) -> Any:
    name = "nn.functional.binary_cross_entropy_with_logits"
    return run(name, logits, value, reduction="none")
