"""Library: torch.distributions: drawing numbers, and how probable they are."""

from __future__ import annotations

from .continuous import Cauchy, Exponential, HalfNormal, Laplace, LogNormal, Normal, Uniform
from .discrete import (
    Bernoulli,
    Binomial,
    Categorical,
    Geometric,
    Multinomial,
    OneHotCategorical,
    Poisson,
)
from .distribution import Distribution
from .gammas import Beta, Chi2, Dirichlet, Gamma, StudentT
from .joint import Independent, MultivariateNormal
from .kl import kl_divergence

KINDS = (
    Bernoulli, Beta, Binomial, Categorical, Cauchy, Chi2, Dirichlet, Distribution, Exponential,
    Gamma, Geometric, HalfNormal, Independent, Laplace, LogNormal, Multinomial, MultivariateNormal,
    Normal, OneHotCategorical, Poisson, StudentT, Uniform,
)  # fmt: skip
__all__ = [kl_divergence.__name__, *(kind.__name__ for kind in KINDS)]
