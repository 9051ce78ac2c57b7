"""Distributions: over vectors: the multivariate normal, and independent parts taken together."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from ..engine.schema.class_name import name_in_messages
from . import constraints
from .constraints import Constraint
from .distribution import Distribution
from .operations import run, standard_normal, sum_rightmost


class MultivariateNormal(Distribution):
    PUBLIC: tuple[str, ...] = ("loc", "covariance_matrix", "precision_matrix", "scale_tril")
    _torch_name = "torch.distributions.multivariate_normal.MultivariateNormal"
    has_rsample = True

    def __init__(
        self, loc: Any, covariance_matrix: Any = None, precision_matrix: Any = None,
        scale_tril: Any = None, validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        if loc.ndim < 1:
            raise ValueError("loc must be at least one-dimensional.")
        given = {
            "covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }  # fmt: skip
        given = {name: matrix for name, matrix in given.items() if matrix is not None}
        if len(given) != 1:
            raise ValueError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be "
                "specified."
            )
        ((self._name, matrix),) = given.items()
        if matrix.ndim < 2:
            word = "scale_tril matrix" if scale_tril is not None else self._name
            raise ValueError(
                f"{word} must be at least two-dimensional, with optional leading batch dimensions"
            )
        row = run("broadcast_tensors", matrix[..., 0], loc)[0]
        batch = row.shape[:-1]
        self.__dict__[self._name] = matrix.expand((*batch, -1, -1))
        self.loc = loc.expand((*batch, -1))
        Distribution.__init__(self, batch, self.loc.shape[-1:], validate_args)
        self._tril = _lower(self._name, matrix)

    arg_constraints = {
        "loc": constraints.real_vector, "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }  # fmt: skip
    support = constraints.real_vector

    def _whole(self, matrix: Any) -> Any:
        return matrix.expand((*self.batch_shape, *self.event_shape, *self.event_shape))

    @cached_property
    def scale_tril(self) -> Any:
        return self._whole(self._tril)

    @cached_property
    def covariance_matrix(self) -> Any:
        return self._whole(self._tril @ self._tril.mT)

    @cached_property
    def precision_matrix(self) -> Any:
        return self._whole(run("cholesky_inverse", self._tril))

    @property
    def mean(self) -> Any:
        return self.loc

    mode = mean

    @property
    def variance(self) -> Any:
        shape = (*self.batch_shape, *self.event_shape)
        return self._tril.pow(2).sum(-1).expand(shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        drawn = standard_normal(shape, self.loc)
        return self.loc + (self._tril @ drawn.unsqueeze(-1)).squeeze(-1)

    def expand(self, batch_shape: Any) -> Any:
        self._refuse_own_start()
        return self._expanded(batch_shape, _tril=self._tril)

    def _half_log_det(self) -> Any:
        return self._tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        distance = _squared_distance(self._tril, value - self.loc)
        half_log_det = self._half_log_det()
        known = self.event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (known + distance) - half_log_det

    def entropy(self) -> Any:
        known = 0.5 * self.event_shape[0] * (1.0 + math.log(2 * math.pi))
        found = known + self._half_log_det()
        return found.expand(self.batch_shape) if len(self.batch_shape) else found


def _squared_distance(factor: Any, away: Any) -> Any:
    """Mahalanobis' distance, squared: z @ z where L @ z is `away`, of shape [..., n].

    Dimensions of `away` that one factor, of shape [..., n, n], stands for become columns, so that
    each factor is solved once.
    """
    size, batch = away.shape[-1], away.shape[:-1]
    own = factor.ndim - 2
    outer = len(batch) - own
    split = [*batch[:outer]]
    for count, whole in zip(factor.shape[:-2], batch[outer:], strict=True):
        split += [whole // count, count]
    pairs = range(outer, outer + 2 * own)
    order = (*range(outer), *pairs[::2], *pairs[1::2])
    away = away.reshape((*split, size)).permute((*order, len(order)))
    flat = factor.reshape((-1, size, size))
    columns = away.reshape((-1, flat.shape[0], size)).permute((1, 2, 0))
    solved = run("linalg.solve_triangular", flat, columns, upper=False)
    found = solved.pow(2).sum(-2).t().reshape(away.shape[:-1])
    back = [*range(outer), *(part for i in range(own) for part in (outer + i, outer + own + i))]
    return found.permute(back).reshape(batch)


def _lower(name: str, matrix: Any) -> Any:
    """The lower triangular L with L @ L.mT the covariance."""
    if name == "scale_tril":
        return matrix
    if name == "covariance_matrix":
        return run("linalg.cholesky", matrix)
    flipped = run("linalg.cholesky", run("flip", matrix, (-2, -1)))
    inverse = run("flip", flipped, (-2, -1)).mT
    unit = run("eye", matrix.shape[-1], dtype=matrix.dtype, device=matrix.device)
    return run("linalg.solve_triangular", inverse, unit, upper=False)


class Independent(Distribution):
    PUBLIC: tuple[str, ...] = ("base_dist", "reinterpreted_batch_ndims")
    _torch_name = "torch.distributions.independent.Independent"

    def __init__(
        self, base_distribution: Any, reinterpreted_batch_ndims: int,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        if not isinstance(base_distribution, Distribution):
            kind = name_in_messages(type(base_distribution))
            raise AttributeError(f"'{kind}' object has no attribute 'batch_shape'")
        whole = base_distribution.batch_shape
        if reinterpreted_batch_ndims > len(whole):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), "
                f"actual {reinterpreted_batch_ndims} vs {len(whole)}"
            )
        self.base_dist, self.reinterpreted_batch_ndims = (
            base_distribution, reinterpreted_batch_ndims,
        )  # fmt: skip
        cut = len(whole) - reinterpreted_batch_ndims
        self.has_rsample = base_distribution.has_rsample
        Distribution.__init__(
            self, whole[:cut], (*whole[cut:], *base_distribution.event_shape), validate_args
        )

    arg_constraints: Mapping[str, Constraint] = {}

    @property
    def support(self) -> Constraint:
        found: Constraint = self.base_dist.support
        count = self.reinterpreted_batch_ndims
        return constraints.independent(found, count) if count else found

    def _together(self, value: Any) -> Any:
        return sum_rightmost(value, self.reinterpreted_batch_ndims)

    @property
    def mean(self) -> Any:
        return self.base_dist.mean

    @property
    def mode(self) -> Any:
        return self.base_dist.mode

    @property
    def variance(self) -> Any:
        return self.base_dist.variance

    def sample(self, sample_shape: Any = ()) -> Any:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Any) -> Any:
        return self._together(self.base_dist.log_prob(value))

    def entropy(self) -> Any:
        return self._together(self.base_dist.entropy())

    def expand(self, batch_shape: Any) -> Any:
        self._refuse_own_start()
        inner = self.event_shape[: self.reinterpreted_batch_ndims]
        return self._expanded(batch_shape, base_dist=self.base_dist.expand((*batch_shape, *inner)))

    def enumerate_support(self, expand: bool = True) -> Any:
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand)

    def __repr__(self) -> str:
        return f"Independent({self.base_dist!r}, {self.reinterpreted_batch_ndims})"
