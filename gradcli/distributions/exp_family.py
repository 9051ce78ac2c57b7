"""Distributions: exponential families: the entropy that follows from their natural parameters."""

from __future__ import annotations

from typing import Any

from .distribution import Distribution


class ExponentialFamily(Distribution):
    """A density exp(<t(x), theta> - F(theta) + k(x)); a class says what theta, F and k are."""

    PUBLIC: tuple[str, ...] = ("_natural_params", "_log_normalizer", "_mean_carrier_measure")
    FROM_CLASS = (*Distribution.FROM_CLASS, "_natural_params", "_mean_carrier_measure")
    _torch_name = "torch.distributions.exp_family.ExponentialFamily"

    @property
    def _natural_params(self) -> Any:
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> Any:
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Any) -> Any:
        raise NotImplementedError

    def entropy(self) -> Any:
        """By Bregman's divergence: from F and its gradient."""
        from ..autograd import grad

        result = -self._mean_carrier_measure
        params = [one.detach().requires_grad_() for one in self._natural_params]
        normalizer = self._log_normalizer(*params)
        gradients = grad(normalizer.sum(), params, create_graph=True)
        result += normalizer
        for one, slope in zip(params, gradients, strict=True):
            result -= (one * slope).reshape((*self.batch_shape, -1)).sum(-1)
        return result
