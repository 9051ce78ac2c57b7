"""Distributions: mixtures: one of several distributions of a kind, chosen at random."""

from __future__ import annotations

from typing import Any

from ..engine.schema.mode import no_grad
from .constraints import Constraint
from .discrete import Categorical
from .distribution import Distribution
from .operations import run


class MixtureSameFamily(Distribution):
    """The components lie along the last dimension of a batch."""

    PUBLIC = ("mixture_distribution", "component_distribution")
    _torch_name = "torch.distributions.mixture_same_family.MixtureSameFamily"
    arg_constraints: Any = {}

    def __init__(
        self, mixture_distribution: Any, component_distribution: Any,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(
                " The Mixture distribution needs to be an "
                " instance of torch.distributions.Categorical"
            )
        if not isinstance(component_distribution, Distribution):
            raise ValueError(
                "The Component distribution needs to be an "
                "instance of torch.distributions.Distribution"
            )
        chosen, batch = mixture_distribution.batch_shape, component_distribution.batch_shape[:-1]
        for one, other in zip(reversed(chosen), reversed(batch), strict=False):
            if one not in (1, other) and other != 1:
                raise ValueError(
                    f"`mixture_distribution.batch_shape` ({chosen}) is not compatible with "
                    f"`component_distribution.batch_shape`({batch})"
                )
        count = mixture_distribution.logits.shape[-1]
        parts = component_distribution.batch_shape[-1]
        if count != parts:
            raise ValueError(
                f"`mixture_distribution component` ({count}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({parts})"
            )
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        super().__init__(batch, component_distribution.event_shape, validate_args)

    def expand(self, batch_shape: Any) -> Any:
        self._refuse_own_start()
        mixture, parts = self.mixture_distribution, self.component_distribution
        return self._expanded(
            batch_shape,
            _mixture_distribution=mixture.expand(batch_shape),
            _component_distribution=parts.expand((*batch_shape, parts.batch_shape[-1])),
        )

    @property
    def mixture_distribution(self) -> Any:
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Any:
        return self._component_distribution

    @property
    def support(self) -> Constraint:
        return _support(self.component_distribution.support)

    @property
    def _place(self) -> int:
        """The dimension of the components, from the end."""
        return -1 - len(self.event_shape)

    def _weights(self) -> Any:
        probs = self.mixture_distribution.probs
        own = len(self.mixture_distribution.batch_shape)
        more = 0 if own == 1 else len(self.batch_shape) - own
        ending = (*(1,) * more, probs.shape[-1], *(1,) * len(self.event_shape))
        return probs.reshape((*probs.shape[:-1], *ending))

    @property
    def mean(self) -> Any:
        return run("sum", self._weights() * self.component_distribution.mean, dim=self._place)

    @property
    def variance(self) -> Any:
        weights, parts = self._weights(), self.component_distribution
        within = run("sum", weights * parts.variance, dim=self._place)
        away = (parts.mean - self.mean.unsqueeze(self._place)).pow(2.0)
        return within + run("sum", weights * away, dim=self._place)

    def cdf(self, value: Any) -> Any:
        found = self.component_distribution.cdf(value.unsqueeze(self._place))
        return run("sum", found * self.mixture_distribution.probs, dim=-1)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        each = self.component_distribution.log_prob(value.unsqueeze(self._place))
        chances = run("log_softmax", self.mixture_distribution.logits, dim=-1)
        return run("logsumexp", each + chances, dim=-1)

    def sample(self, sample_shape: Any = ()) -> Any:
        with no_grad():
            place = len(sample_shape) + len(self.batch_shape)
            chosen = self.mixture_distribution.sample(sample_shape)
            drawn = self.component_distribution.sample(sample_shape)
            events = self.event_shape
            index = chosen.reshape((*chosen.shape, *(1,) * (len(events) + 1)))
            index = index.repeat((*(1,) * chosen.ndim, 1, *events))
            return run("gather", drawn, place, index).squeeze(place)

    def __repr__(self) -> str:
        return (
            f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"
        )


def _support(base_constraint: Constraint) -> Constraint:
    """The support of a mixture: of each component's values."""
    events = base_constraint.event_dim

    def check(value: Any) -> Any:
        each = base_constraint.check(value.unsqueeze(-1 - events))
        if value.dim() < events:
            raise ValueError(f"Expected value.dim() >= {events} but got {value.dim()}")
        return each.reshape((*each.shape[: value.dim() - events], -1)).all(-1)

    text = f"MixtureSameFamilyConstraint({base_constraint!r})"
    made = Constraint(text, check, events, base_constraint.is_discrete)
    made.__dict__.update(base_constraint=base_constraint)
    return made
