"""Distributions: von Mises: angles around a direction."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

from ..engine.schema.dtypes import bool_, float64
from ..engine.schema.mode import enable_grad, no_grad
from . import constraints
from .distribution import Distribution
from .operations import run, together, type_of

# Abramowitz and Stegun 9.8.1 to 9.8.4: the modified Bessel functions I0 and I1, for small numbers
# as a polynomial in (x / 3.75)**2, for large ones in 3.75 / x.
_SMALL = (
    (1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.360768e-1, 0.45813e-2),
    (0.5, 0.87890594, 0.51498869, 0.15084934, 0.2658733e-1, 0.301532e-2, 0.32411e-3),
)
_LARGE = (
    (0.39894228, 0.1328592e-1, 0.225319e-2, -0.157565e-2, 0.916281e-2, -0.2057706e-1,
     0.2635537e-1, -0.1647633e-1, 0.392377e-2),
    (0.39894228, -0.3988024e-1, -0.362018e-2, 0.163801e-2, -0.1031555e-1, 0.2282967e-1,
     -0.2895312e-1, 0.1787654e-1, -0.420059e-2),
)  # fmt: skip


def _polynomial(x: Any, coefficients: tuple[float, ...]) -> Any:
    found: Any = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        found = coefficient + x * found
    return found


def _log_bessel(x: Any, order: int) -> Any:
    ratio = x / 3.75
    small = _polynomial(ratio * ratio, _SMALL[order])
    if order == 1:
        small = x.abs() * small
    large = x - 0.5 * x.log() + _polynomial(3.75 / x, _LARGE[order]).log()
    return run("where", x < 3.75, small.log(), large)


class VonMises(Distribution):
    PUBLIC: tuple[str, ...] = ("loc", "concentration")
    _torch_name = "torch.distributions.von_mises.VonMises"
    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = together(loc, concentration)
        super().__init__(self.loc.shape, (), validate_args)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        towards = self.concentration * run("cos", value - self.loc)
        return towards - math.log(2 * math.pi) - _log_bessel(self.concentration, 0)

    def _proposal(self, kappa: Any) -> Any:
        """The parameter of the wrapped Cauchy numbers of which some are taken: Best and Fisher."""
        tau = 1 + (1 + 4 * kappa**2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * kappa)
        return run("where", kappa < 1e-5, 1 / kappa + kappa, (1 + rho**2) / (2 * rho))

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            loc, kappa = self.loc.to(float64), self.concentration.to(float64)
            proposal = self._proposal(kappa)
            angle = run("zeros", shape, dtype=float64, device=loc.device)
            done = run("zeros", shape, dtype=bool_, device=loc.device)
            while not bool(done.all()):
                first, second, side = run("rand", (3, *shape), **type_of(loc)).unbind()
                z = run("cos", math.pi * first)
                towards = (1 + proposal * z) / (proposal + z)
                c = kappa * (proposal - towards)
                taken = ((c * (2 - c) - second) > 0) | ((c / second).log() + 1 - c >= 0)
                angle = run("where", taken, (side - 0.5).sign() * towards.acos(), angle)
                done = done | taken
            return ((angle + math.pi + loc) % (2 * math.pi) - math.pi).to(self.loc.dtype)

    @property
    def mean(self) -> Any:
        return self.loc

    mode = mean

    @cached_property
    def variance(self) -> Any:
        with enable_grad():
            kappa = self.concentration
            return 1 - (_log_bessel(kappa, 1) - _log_bessel(kappa, 0)).exp()
