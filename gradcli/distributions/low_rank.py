"""Distributions: the multivariate normal whose covariance is a low-rank matrix and a diagonal.

With the factor W and the diagonal D, everything is computed by way of C = I + W.T @ inv(D) @ W,
which is small: by Woodbury's identity for the inverse and the matrix determinant lemma.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

from ..engine.schema.mode import enable_grad
from . import constraints
from .distribution import Distribution
from .operations import run, standard_normal


def _identity_added(matrix: Any) -> Any:
    size = matrix.size(-1)
    matrix = matrix.contiguous()
    matrix.view(-1, size * size)[:, :: size + 1] += 1
    return matrix


def _times(matrix: Any, vector: Any) -> Any:
    return run("matmul", matrix, vector.unsqueeze(-1)).squeeze(-1)


class LowRankMultivariateNormal(Distribution):
    PUBLIC: tuple[str, ...] = (
        "loc", "cov_factor", "cov_diag", "scale_tril", "covariance_matrix", "precision_matrix",
    )  # fmt: skip
    _torch_name = "torch.distributions.lowrank_multivariate_normal.LowRankMultivariateNormal"
    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self, loc: Any, cov_factor: Any, cov_diag: Any, validate_args: bool | None = None
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError(
                "cov_factor must be at least two-dimensional, "
                "with optional leading batch dimensions"
            )
        if cov_factor.shape[-2:-1] != event:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {event[0]} x m")
        if cov_diag.shape[-1:] != event:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event}")
        columns = loc.unsqueeze(-1), cov_factor, cov_diag.unsqueeze(-1)
        try:
            wide, self.cov_factor, diagonal = run("broadcast_tensors", *columns)
        except RuntimeError as error:
            raise ValueError(
                f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, "
                f"cov_diag {cov_diag.shape}"
            ) from error
        self.loc, self.cov_diag = wide[..., 0], diagonal[..., 0]
        self._factor, self._diagonal = cov_factor, cov_diag
        small = run("matmul", cov_factor.mT / cov_diag.unsqueeze(-2), cov_factor)
        self._capacitance = run("linalg.cholesky", _identity_added(small))
        super().__init__(self.loc.shape[:-1], event, validate_args)

    def _expanded(self, batch_shape: Any, **parts: Any) -> Any:
        kept = {"_factor": self._factor, "_diagonal": self._diagonal}
        return super()._expanded(batch_shape, _capacitance=self._capacitance, **kept, **parts)

    @property
    def mean(self) -> Any:
        return self.loc

    mode = mean

    @cached_property
    def variance(self) -> Any:
        with enable_grad():
            found = self._factor.pow(2).sum(-1) + self._diagonal
            return found.expand(self._extended_shape())

    def _whole(self, matrix: Any) -> Any:
        return matrix.expand((*self._extended_shape(), *self.event_shape))

    @cached_property
    def scale_tril(self) -> Any:
        with enable_grad():
            root = self._diagonal.sqrt().unsqueeze(-1)
            scaled = self._factor / root
            matrix = _identity_added(run("matmul", scaled, scaled.mT))
            return self._whole(root * run("linalg.cholesky", matrix))

    @cached_property
    def covariance_matrix(self) -> Any:
        with enable_grad():
            square = run("matmul", self._factor, self._factor.mT)
            return self._whole(square + run("diag_embed", self._diagonal))

    def _solved(self) -> Any:
        """A with inv(D) - A.T @ A the inverse of the covariance."""
        scaled = self._factor.mT / self._diagonal.unsqueeze(-2)
        return run("linalg.solve_triangular", self._capacitance, scaled, upper=False)

    @cached_property
    def precision_matrix(self) -> Any:
        with enable_grad():
            solved = self._solved()
            inverse = run("diag_embed", self._diagonal.reciprocal())
            return self._whole(inverse - solved.mT @ solved)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        drawn = standard_normal((*shape[:-1], *self.cov_factor.shape[-1:]), self.loc)
        apart = standard_normal(shape, self.loc)
        return self.loc + _times(self._factor, drawn) + self._diagonal.sqrt() * apart

    def _log_det(self) -> Any:
        small = self._capacitance.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        return 2 * small + self._diagonal.log().sum(-1)

    def _distance(self, away: Any) -> Any:
        """away.T @ inv(covariance) @ away"""
        scaled = _times(self._factor.mT / self._diagonal.unsqueeze(-2), away)
        column = scaled.unsqueeze(-1)
        solved = run("linalg.solve_triangular", self._capacitance, column, upper=False)
        return (away.pow(2) / self._diagonal).sum(-1) - solved.pow(2).sum((-2, -1))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        distance = self._distance(value - self.loc)
        known = self.event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (known + self._log_det() + distance)

    def entropy(self) -> Any:
        known = self.event_shape[0] * (1.0 + math.log(2 * math.pi))
        found = 0.5 * (known + self._log_det())
        return found.expand(self.batch_shape) if len(self.batch_shape) else found
