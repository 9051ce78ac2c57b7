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
from .continuous import Cauchy, Exponential, GeneralizedPareto, Laplace, Normal, Uniform
from .continuous_bernoulli import ContinuousBernoulli
from .discrete import (
    Bernoulli,
    Binomial,
    Categorical,
    Geometric,
    Multinomial,
    NegativeBinomial,
    OneHotCategorical,
    Poisson,
)
from .distribution import Distribution
from .gammas import Beta, Chi2, Dirichlet, FisherSnedecor, Gamma, StudentT
from .joint import Independent, MultivariateNormal
from .kl import kl_divergence, register_kl
from .lkj_cholesky import LKJCholesky
from .low_rank import LowRankMultivariateNormal
from .mixtures import MixtureSameFamily
from .registry import biject_to, transform_to
from .relaxed import (
    OneHotCategoricalStraightThrough,
    RelaxedBernoulli,
    RelaxedOneHotCategorical,
)
from .transformed import TransformedDistribution
from .transformed_kinds import (
    Gumbel,
    HalfCauchy,
    HalfNormal,
    InverseGamma,
    Kumaraswamy,
    LogisticNormal,
    LogNormal,
    Pareto,
    Weibull,
)
from .transforms import (
    CatTransform,
    ComposeTransform,
    IndependentTransform,
    ReshapeTransform,
    StackTransform,
    Transform,
    identity_transform,
)
from .von_mises import VonMises

KINDS = (
    Bernoulli, Beta, Binomial, Categorical, Cauchy, Chi2, ContinuousBernoulli, Dirichlet,
    Distribution, Exponential, FisherSnedecor, Gamma, GeneralizedPareto, Geometric, Gumbel,
    HalfCauchy, HalfNormal, Independent, InverseGamma, Kumaraswamy, Laplace, LogNormal,
    LogisticNormal, LKJCholesky, LowRankMultivariateNormal, MixtureSameFamily, Multinomial,
    MultivariateNormal,
    NegativeBinomial, Normal, OneHotCategorical, OneHotCategoricalStraightThrough, Pareto, Poisson,
    RelaxedBernoulli, RelaxedOneHotCategorical, StudentT, TransformedDistribution, Uniform,
    VonMises, Weibull,
)  # fmt: skip
TRANSFORMS = (
    AbsTransform, AffineTransform, CatTransform, ComposeTransform, CorrCholeskyTransform,
    CumulativeDistributionTransform, ExpTransform, IndependentTransform, LowerCholeskyTransform,
    PositiveDefiniteTransform, PowerTransform, ReshapeTransform, SigmoidTransform,
    SoftmaxTransform, SoftplusTransform, StackTransform, StickBreakingTransform, TanhTransform,
    Transform,
)  # fmt: skip
FUNCTIONS = (kl_divergence, register_kl)
__all__ = [
    *(named.__name__ for named in (*KINDS, *TRANSFORMS, *FUNCTIONS)), "biject_to",
    "identity_transform", "transform_to",
]  # fmt: skip
