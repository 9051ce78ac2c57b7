"""Library: torch.distributions: drawing numbers, and how probable they are."""

from __future__ import annotations

from .bijections import (
    AbsTransform,
    AffineTransform,
    CorrCholeskyTransform,
    CumulativeDistributionTransform,
    ExpTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    PowerTransform,
    SigmoidTransform,
    SoftmaxTransform,
    SoftplusTransform,
    StickBreakingTransform,
    TanhTransform,
)
from .continuous import Cauchy, Exponential, Laplace, Normal, Uniform
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
from .mixtures import MixtureSameFamily
from .transformed import TransformedDistribution
from .transformed_kinds import HalfNormal, LogNormal
from .transforms import (
    CatTransform,
    ComposeTransform,
    IndependentTransform,
    ReshapeTransform,
    StackTransform,
    Transform,
    identity_transform,
)

KINDS = (
    Bernoulli, Beta, Binomial, Categorical, Cauchy, Chi2, Dirichlet, Distribution, Exponential,
    Gamma, Geometric, HalfNormal, Independent, Laplace, LogNormal, MixtureSameFamily, Multinomial,
    MultivariateNormal, Normal, OneHotCategorical, Poisson, StudentT, TransformedDistribution,
    Uniform,
)  # fmt: skip
TRANSFORMS = (
    AbsTransform, AffineTransform, CatTransform, ComposeTransform, CorrCholeskyTransform,
    CumulativeDistributionTransform, ExpTransform, IndependentTransform, LowerCholeskyTransform,
    PositiveDefiniteTransform, PowerTransform, ReshapeTransform, SigmoidTransform,
    SoftmaxTransform, SoftplusTransform, StackTransform, StickBreakingTransform, TanhTransform,
    Transform,
)  # fmt: skip
FUNCTIONS = (kl_divergence,)
__all__ = [
    *(named.__name__ for named in (*KINDS, *TRANSFORMS, *FUNCTIONS)), "identity_transform",
]  # fmt: skip
