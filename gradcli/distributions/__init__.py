"""Library: torch.distributions: drawing numbers, and how probable they are.

Each kind is loaded when it is used.
"""

from __future__ import annotations

from typing import Any

from ..lazy import lazy

_PLACES = {
    "bijections": (
        "AbsTransform AffineTransform CorrCholeskyTransform CumulativeDistributionTransform "
        "ExpTransform LowerCholeskyTransform PositiveDefiniteTransform PowerTransform "
        "SigmoidTransform SoftmaxTransform SoftplusTransform StickBreakingTransform TanhTransform"
    ),
    "continuous": "Cauchy Exponential GeneralizedPareto Laplace Normal Uniform",
    "continuous_bernoulli": "ContinuousBernoulli",
    "discrete": (
        "Bernoulli Binomial Categorical Geometric Multinomial NegativeBinomial OneHotCategorical "
        "Poisson"
    ),
    "distribution": "Distribution",
    "exp_family": "ExponentialFamily",
    "gammas": "Beta Chi2 Dirichlet FisherSnedecor Gamma StudentT",
    "joint": "Independent MultivariateNormal",
    "kl": "kl_divergence register_kl",
    "lkj_cholesky": "LKJCholesky",
    "low_rank": "LowRankMultivariateNormal",
    "mixtures": "MixtureSameFamily",
    "registry": "biject_to transform_to",
    "relaxed": "OneHotCategoricalStraightThrough RelaxedBernoulli RelaxedOneHotCategorical",
    "transformed": "TransformedDistribution",
    "transformed_kinds": (
        "Gumbel HalfCauchy HalfNormal InverseGamma Kumaraswamy LogNormal LogisticNormal Pareto "
        "Weibull"
    ),
    "transforms": (
        "CatTransform ComposeTransform IndependentTransform ReshapeTransform StackTransform "
        "Transform identity_transform"
    ),
    "von_mises": "VonMises",
}


def _ready(kind: Any) -> None:
    from ..namespace import ready

    ready()  # `import gradcli.distributions` asks gradcli for nothing


__all__, __getattr__ = lazy(__name__, _PLACES, loaded=_ready)
