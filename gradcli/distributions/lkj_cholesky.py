"""Distributions: of Lewandowski, Kurowicka and Joe, over factors of correlation matrices."""

from __future__ import annotations

import math
from typing import Any

from ..engine.schema.limits import finfo
from ..engine.schema.mode import no_grad
from . import constraints
from .distribution import Distribution
from .gammas import Beta
from .operations import run, together, type_of


class LKJCholesky(Distribution):
    PUBLIC: tuple[str, ...] = ("dim", "concentration")
    _torch_name = "torch.distributions.lkj_cholesky.LKJCholesky"
    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(
        self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None
    ) -> None:
        if dim < 2:
            raise ValueError(
                f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}."
            )
        self.dim = dim
        (self.concentration,) = together(concentration)
        places = run("arange", dim - 1, **type_of(self.concentration))
        places = run("cat", [places.new_zeros((1,)), places])
        marginal = (self.concentration + 0.5 * (dim - 2)).unsqueeze(-1)
        self._beta = Beta(places + 0.5, marginal - 0.5 * places)
        super().__init__(self.concentration.size(), (dim, dim), validate_args)

    def _expanded(self, batch_shape: Any, **parts: Any) -> Any:
        beta = self._beta.expand((*batch_shape, self.dim))
        return super()._expanded(batch_shape, _beta=beta, **parts)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Row by row: how long the part before the diagonal is, and in which direction."""
        with no_grad():
            share = self._beta.sample(sample_shape).unsqueeze(-1)
            drawn = run("randn", self._extended_shape(sample_shape), **type_of(share)).tril(-1)
            direction = drawn / drawn.norm(dim=-1, keepdim=True)
            direction[..., 0, :].fill_(0.0)
            rows = run("sqrt", share) * direction
            rest = 1 - run("sum", rows**2, dim=-1)
            diagonal = run("clamp", rest, min=finfo(rows.dtype).tiny).sqrt()
            return rows + run("diag_embed", diagonal)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        places = run("arange", 2, self.dim + 1, device=self.concentration.device)
        powers = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - places
        density = run("sum", powers * diagonal.log(), dim=-1)
        rows = self.dim - 1
        alpha = self.concentration + 0.5 * rows
        above = run("mvlgamma", alpha - 0.5, rows) - run("lgamma", alpha) * rows
        return density - (0.5 * rows * math.log(math.pi) + above)
