"""Distributions: what is made of gamma numbers."""

from __future__ import annotations

import math
from typing import Any

from ..autograd.function import Function
from ..engine.schema.limits import finfo
from . import constraints
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .operations import run, standard_normal, together


class _Dirichlet(Function):
    """Shares with the slope by their concentrations; a function of Python's in PyTorch too."""

    @staticmethod
    def forward(ctx: Any, concentration: Any) -> Any:
        drawn = run("_sample_dirichlet", concentration)
        ctx.save_for_backward(drawn, concentration)
        return drawn

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        drawn, concentration = ctx.saved_tensors
        total = concentration.sum(-1, True).expand_as(concentration)
        slope = run("_dirichlet_grad", drawn, concentration, total)
        return slope * (grad - (drawn * grad).sum(-1, True))


class Gamma(ExponentialFamily):
    PUBLIC: tuple[str, ...] = ("concentration", "rate")
    _torch_name = "torch.distributions.gamma.Gamma"
    has_rsample = True

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = together(concentration, rate)
        Distribution.__init__(self, self.concentration.size(), validate_args=validate_args)

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}

    support = constraints.nonnegative

    @property
    def mean(self) -> Any:
        return self.concentration / self.rate

    @property
    def mode(self) -> Any:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Any:
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        drawn = run("_standard_gamma", self.concentration.expand(shape))
        value = drawn / self.rate.expand(shape)
        value.detach().clamp_(min=finfo(value.dtype).tiny)
        return value

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        alpha, rate = self.concentration, self.rate
        return alpha.xlogy(rate) + (alpha - 1).xlogy(value) - rate * value - alpha.lgamma()

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        return run("special.gammainc", self.concentration, self.rate * value)

    def entropy(self) -> Any:
        alpha = self.concentration
        return alpha - self.rate.log() + alpha.lgamma() + (1.0 - alpha) * alpha.digamma()


class Chi2(Gamma):
    PUBLIC: tuple[str, ...] = ("df",)
    _torch_name = "torch.distributions.chi2.Chi2"

    arg_constraints = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args)

    @property
    def df(self) -> Any:
        return self.concentration * 2


class Dirichlet(ExponentialFamily):
    PUBLIC: tuple[str, ...] = ("concentration",)
    _torch_name = "torch.distributions.dirichlet.Dirichlet"
    has_rsample = True

    def __init__(self, concentration: Any, validate_args: bool | None = None) -> None:
        if concentration.ndim < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        Distribution.__init__(
            self, concentration.shape[:-1], concentration.shape[-1:], validate_args
        )

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}

    support = constraints.simplex

    @property
    def mean(self) -> Any:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Any:
        above = (self.concentration - 1).clamp(min=0.0)
        mode = above / above.sum(-1, True)
        mask = (self.concentration < 1).all(dim=-1)
        if bool(mask.any()):
            hot = run("nn.functional.one_hot", mode[mask].argmax(dim=-1), above.shape[-1])
            mode[mask] = hot.to(mode)
        return mode

    @property
    def variance(self) -> Any:
        alpha, whole = self.concentration, self.concentration.sum(-1, True)
        return alpha * (whole - alpha) / (whole.pow(2) * (whole + 1))

    def rsample(self, sample_shape: Any = ()) -> Any:
        return _Dirichlet.apply(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        alpha = self.concentration
        return (alpha - 1.0).xlogy(value).sum(-1) + alpha.sum(-1).lgamma() - alpha.lgamma().sum(-1)

    def entropy(self) -> Any:
        alpha, whole = self.concentration, self.concentration.sum(-1)
        ways = alpha.lgamma().sum(-1) - whole.lgamma()
        most = ways - (alpha.size(-1) - whole) * whole.digamma()
        return most - ((alpha - 1.0) * alpha.digamma()).sum(-1)


class Beta(ExponentialFamily):
    PUBLIC: tuple[str, ...] = ("concentration1", "concentration0")
    _torch_name = "torch.distributions.beta.Beta"
    has_rsample = True

    def __init__(
        self, concentration1: Any, concentration0: Any, validate_args: bool | None = None
    ) -> None:
        both = together(concentration1, concentration0)
        self._dirichlet = Dirichlet(run("stack", both, -1), validate_args)
        Distribution.__init__(self, self._dirichlet.batch_shape, validate_args=validate_args)

    arg_constraints = {
        "concentration1": constraints.positive, "concentration0": constraints.positive,
    }  # fmt: skip

    support = constraints.unit_interval

    @property
    def concentration1(self) -> Any:
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self) -> Any:
        return self._dirichlet.concentration[..., 1]

    @property
    def mean(self) -> Any:
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Any:
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self) -> Any:
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        return self._dirichlet.log_prob(run("stack", [value, 1.0 - value], -1))

    def entropy(self) -> Any:
        return self._dirichlet.entropy()


class StudentT(Distribution):
    PUBLIC: tuple[str, ...] = ("df", "loc", "scale")
    _torch_name = "torch.distributions.studentT.StudentT"
    has_rsample = True

    def __init__(
        self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None
    ) -> None:
        self.df, self.loc, self.scale = together(df, loc, scale)
        self._chi2 = Chi2(self.df)
        Distribution.__init__(self, self.df.size(), validate_args=validate_args)

    arg_constraints = {
        "df": constraints.positive, "loc": constraints.real, "scale": constraints.positive,
    }  # fmt: skip
    support = constraints.real

    @property
    def mean(self) -> Any:
        return run("where", self.df > 1, self.loc, math.nan)

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        wide = self.scale.pow(2) * self.df / (self.df - 2)
        found = run("where", self.df > 2, wide, math.inf)
        return run("where", self.df > 1, found, math.nan)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        drawn = standard_normal(shape, self.df)
        return self.loc + self.scale * (
            drawn * run("rsqrt", self._chi2.rsample(sample_shape) / self.df)
        )

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        y = (value - self.loc) / self.scale
        z = self.scale.log() + 0.5 * self.df.log() + 0.5 * math.log(math.pi)
        z = z + (0.5 * self.df).lgamma() - (0.5 * (self.df + 1.0)).lgamma()
        return -0.5 * (self.df + 1.0) * run("log1p", y**2.0 / self.df) - z

    def entropy(self) -> Any:
        half, more = 0.5 * self.df, 0.5 * (self.df + 1)
        ways = half.lgamma() + math.lgamma(0.5) - more.lgamma()
        slope = 0.5 * (self.df + 1) * (more.digamma() - half.digamma())
        return self.scale.log() + slope + 0.5 * self.df.log() + ways


class FisherSnedecor(Distribution):
    PUBLIC: tuple[str, ...] = ("df1", "df2")
    _torch_name = "torch.distributions.fishersnedecor.FisherSnedecor"
    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = together(df1, df2)
        self._gammas = Gamma(self.df1 * 0.5, self.df1), Gamma(self.df2 * 0.5, self.df2)
        Distribution.__init__(self, self.df1.size(), validate_args=validate_args)

    def _expanded(self, batch_shape: Any, **parts: Any) -> Any:
        gammas = tuple(gamma.expand(batch_shape) for gamma in self._gammas)
        return super()._expanded(batch_shape, _gammas=gammas, **parts)

    def _above(self, least: float) -> Any:
        """The second parameter where it is large enough for a moment, NaN elsewhere."""
        found = self.df2.clone()
        found[found <= least] = math.nan
        return found

    @property
    def mean(self) -> Any:
        df2 = self._above(2)
        return df2 / (df2 - 2)

    @property
    def mode(self) -> Any:
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        mode[self.df1 <= 2] = math.nan
        return mode

    @property
    def variance(self) -> Any:
        df2 = self._above(4)
        above = 2 * df2.pow(2) * (self.df1 + df2 - 2)
        return above / (self.df1 * (df2 - 2).pow(2) * (df2 - 4))

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        above, below = (gamma.rsample(sample_shape).view(shape) for gamma in self._gammas)
        tiny = finfo(below.dtype).tiny
        below.clamp_(min=tiny)
        ratio = above / below
        ratio.clamp_(min=tiny)
        return ratio

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        half1, half2, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        ways = (half1 + half2).lgamma() - half1.lgamma() - half2.lgamma()
        rise = half1 * ratio.log() + (half1 - 1) * run("log", value)
        return ways + rise - (half1 + half2) * run("log1p", ratio * value)
