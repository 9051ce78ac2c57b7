"""Distributions: samples of one distribution, put through invertible functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..engine.schema.mode import no_grad
from ..engine.schema.settable import Takes
from ..engine.schema.size import Size
from . import constraints
from .constraints import Constraint
from .distribution import Distribution
from .joint import Independent
from .operations import sum_rightmost
from .transforms import ComposeTransform, Transform


class TransformedDistribution(Distribution):
    """What `transforms` make, one after the other, of the samples of `base_dist`."""

    PUBLIC: tuple[str, ...] = ("base_dist", "transforms")
    TAKES: Mapping[str, Takes] = {"base_dist": Takes.VALUE, "transforms": Takes.VALUE}
    _torch_name = "torch.distributions.transformed_distribution.TransformedDistribution"
    arg_constraints: Any = {}

    def __init__(
        self, base_distribution: Any, transforms: Any, validate_args: bool | None = None
    ) -> None:
        if isinstance(transforms, Transform):
            self.transforms = [transforms]
        elif not isinstance(transforms, list):
            raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
        elif not all(isinstance(part, Transform) for part in transforms):
            raise ValueError("transforms must be a Transform or a list of Transforms")
        else:
            self.transforms = transforms
        whole = ComposeTransform(self.transforms)
        taken, made = whole.domain.event_dim, whole.codomain.event_dim
        shape = Size((*base_distribution.batch_shape, *base_distribution.event_shape))
        events = len(base_distribution.event_shape)
        if len(shape) < taken:
            raise ValueError(
                "base_distribution needs to have shape with size at least "
                f"{taken}, but got {shape}."
            )
        result = whole.forward_shape(shape)
        wanted = whole.inverse_shape(result)
        if tuple(wanted) != tuple(shape):
            base_distribution = base_distribution.expand(wanted[: len(wanted) - events])
        if taken > events:
            base_distribution = Independent(base_distribution, taken - events)
        self.base_dist = base_distribution
        cut = len(result) - max(made, events + made - taken)
        if cut < 0:
            raise AssertionError(
                f"forward_shape length {len(result)} must be >= event_dim {len(result) - cut}"
            )
        super().__init__(result[:cut], result[cut:], validate_args)

    def expand(self, batch_shape: Any) -> Any:
        self._refuse_own_start()
        shape = Size((*batch_shape, *self.event_shape))
        for transform in reversed(self.transforms):
            shape = transform.inverse_shape(shape)
        base = self.base_dist.expand(shape[: len(shape) - len(self.base_dist.event_shape)])
        return self._expanded(batch_shape, base_dist=base)

    @property
    def support(self) -> Any:
        if not self.transforms:
            return self.base_dist.support
        found: Constraint = self.transforms[-1].codomain
        more = len(self.event_shape) - found.event_dim
        return constraints.independent(found, more) if more > 0 else found

    @property
    def has_rsample(self) -> Any:
        return self.base_dist.has_rsample

    def _transformed(self, value: Any) -> Any:
        for transform in self.transforms:
            value = transform(value)
        return value

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_grad():
            return self._transformed(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self._transformed(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        events, log_prob = len(self.event_shape), 0.0
        for transform in reversed(self.transforms):
            taken = transform.domain.event_dim
            before = transform.inv(value)
            events += taken - transform.codomain.event_dim
            slope = transform.log_abs_det_jacobian(before, value)
            log_prob = log_prob - sum_rightmost(slope, events - taken)
            value = before
        more = events - len(self.base_dist.event_shape)
        return log_prob + sum_rightmost(self.base_dist.log_prob(value), more)

    def _monotonize_cdf(self, value: Any) -> Any:
        """The probability on the other side, where the transforms turn the order round."""
        sign: Any = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        if isinstance(sign, int) and sign == 1:
            return value
        return sign * (value - 0.5) + 0.5

    def cdf(self, value: Any) -> Any:
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._monotonize_cdf(self.base_dist.cdf(value))

    def icdf(self, value: Any) -> Any:
        return self._transformed(self.base_dist.icdf(self._monotonize_cdf(value)))
