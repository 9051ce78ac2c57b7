"""Distributions: transforms by a formula: of numbers, of vectors, of matrices."""

from __future__ import annotations

import math
from typing import Any

from ..engine.schema.limits import finfo
from ..engine.schema.size import Size
from ..engine.tensors.tensor import Tensor
from ..namespace.functions import broadcast_shapes
from . import constraints
from .operations import clipped_sigmoid, numbers_of, run, together
from .transforms import Transform

_ROOM = "torch.distributions.transforms."


def _softplus(x: Any) -> Any:
    return run("nn.functional.softplus", x)


def _wide(shape: Any, *parameters: Any) -> Any:
    """The size of a value that meets a transform's parameters."""
    sizes = [value.shape for value in parameters if isinstance(value, Tensor)]
    return broadcast_shapes(shape, *sizes)


class _Formula(Transform):
    """Without parameters: any two are equal."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self))


class ExpTransform(_Formula):
    _torch_name = _ROOM + "ExpTransform"
    domain, codomain = constraints.real, constraints.positive
    bijective, sign = True, 1

    def _call(self, x: Any) -> Any:
        return x.exp()

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return x


class SigmoidTransform(_Formula):
    _torch_name = _ROOM + "SigmoidTransform"
    domain, codomain = constraints.real, constraints.unit_interval
    bijective, sign = True, 1

    def _call(self, x: Any) -> Any:
        return clipped_sigmoid(x)

    def _inverse(self, y: Any) -> Any:
        limits = finfo(y.dtype)
        inside = y.clamp(min=limits.tiny, max=1.0 - limits.eps)
        return inside.log() - (-inside).log1p()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -_softplus(-x) - _softplus(x)


class SoftplusTransform(_Formula):
    _torch_name = _ROOM + "SoftplusTransform"
    domain, codomain = constraints.real, constraints.positive
    bijective, sign = True, 1

    def _call(self, x: Any) -> Any:
        return _softplus(x)

    def _inverse(self, y: Any) -> Any:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -_softplus(-x)


class TanhTransform(_Formula):
    """Its way back is exact only with a cache."""

    _torch_name = _ROOM + "TanhTransform"
    domain, codomain = constraints.real, constraints.interval(-1.0, 1.0)
    bijective, sign = True, 1

    def _call(self, x: Any) -> Any:
        return x.tanh()

    def _inverse(self, y: Any) -> Any:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return 2.0 * (math.log(2.0) - x - _softplus(-2.0 * x))  # log(1 - tanh(x)**2), far out too


class AbsTransform(_Formula):
    _torch_name = _ROOM + "AbsTransform"
    domain, codomain = constraints.real, constraints.positive

    def _call(self, x: Any) -> Any:
        return x.abs()

    def _inverse(self, y: Any) -> Any:
        return y


class PowerTransform(Transform):
    PUBLIC = ("exponent",)
    _torch_name = _ROOM + "PowerTransform"
    domain = codomain = constraints.positive
    bijective = True

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        (self.exponent,) = together(exponent)

    @property
    def sign(self) -> Any:
        return self.exponent.sign()

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, PowerTransform) and self.exponent.eq(other.exponent).all()
        return bool(same)

    def _call(self, x: Any) -> Any:
        return x.pow(self.exponent)

    def _inverse(self, y: Any) -> Any:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: Any) -> Any:
        return _wide(shape, self.exponent)

    inverse_shape = forward_shape


class AffineTransform(Transform):
    PUBLIC = ("loc", "scale")
    _torch_name = _ROOM + "AffineTransform"
    bijective = True

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    @property
    def event_dim(self) -> Any:
        return self._event_dim

    @property
    def domain(self) -> Any:
        if self.event_dim == 0:
            return constraints.real
        return constraints.independent(constraints.real, self.event_dim)

    codomain = domain

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AffineTransform) and all(
            bool(same if isinstance(same, bool) else same.all())
            for same in (self.loc == other.loc, self.scale == other.scale)
        )

    @property
    def sign(self) -> Any:
        if isinstance(self.scale, (int, float)):
            return (self.scale > 0) - (self.scale < 0)
        return self.scale.sign()

    def _call(self, x: Any) -> Any:
        return self.loc + self.scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        shape = x.shape
        if isinstance(self.scale, (int, float)):
            found = run("full_like", x, math.log(abs(self.scale)))
        else:
            found = self.scale.abs().log()
        if self.event_dim:
            found = found.view((*found.size()[: -self.event_dim], -1)).sum(-1)
            shape = shape[: -self.event_dim]
        return found.expand(shape)

    def forward_shape(self, shape: Any) -> Any:
        return _wide(shape, self.loc, self.scale)

    inverse_shape = forward_shape


def _vector(shape: Any) -> Any:
    if len(shape) < 1:
        raise ValueError("Too few dimensions on input")
    return shape


class SoftmaxTransform(_Formula):
    _torch_name = _ROOM + "SoftmaxTransform"
    domain, codomain = constraints.real_vector, constraints.simplex

    def _call(self, x: Any) -> Any:
        weights = (x - x.max(-1, True)[0]).exp()
        return weights / weights.sum(-1, True)

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def forward_shape(self, shape: Any) -> Any:
        return _vector(shape)

    inverse_shape = forward_shape


def _padded(value: Any, sides: list[int]) -> Any:
    return run("nn.functional.pad", value, sides, value=1)


class StickBreakingTransform(_Formula):
    """Each number says which part of what is left of a stick of length 1 is broken off."""

    _torch_name = _ROOM + "StickBreakingTransform"
    domain, codomain = constraints.real_vector, constraints.simplex
    bijective = True

    @staticmethod
    def _left(x: Any, count: int) -> Any:
        return count - x.new_ones(x.shape[-1]).cumsum(-1)

    def _call(self, x: Any) -> Any:
        parts = clipped_sigmoid(x - self._left(x, x.shape[-1] + 1).log())
        return _padded(parts, [0, 1]) * _padded((1 - parts).cumprod(-1), [1, 0])

    def _inverse(self, y: Any) -> Any:
        cut = y[..., :-1]
        left = self._left(cut, y.shape[-1])
        rest = run("clamp", 1 - cut.cumsum(-1), min=finfo(y.dtype).tiny)
        return cut.log() - rest.log() + left.log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        x = x - self._left(x, x.shape[-1] + 1).log()
        return (-x + run("nn.functional.logsigmoid", x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        return Size((*_vector(shape)[:-1], shape[-1] + 1))

    def inverse_shape(self, shape: Any) -> Any:
        return Size((*_vector(shape)[:-1], shape[-1] - 1))


def _with_diagonal(matrix: Any, diagonal: Any) -> Any:
    return matrix.tril(-1) + diagonal.diag_embed()


class LowerCholeskyTransform(_Formula):
    _torch_name = _ROOM + "LowerCholeskyTransform"
    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Any) -> Any:
        return _with_diagonal(x, x.diagonal(dim1=-2, dim2=-1).exp())

    def _inverse(self, y: Any) -> Any:
        return _with_diagonal(y, y.diagonal(dim1=-2, dim2=-1).log())


class PositiveDefiniteTransform(_Formula):
    _torch_name = _ROOM + "PositiveDefiniteTransform"
    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Any) -> Any:
        lower = LowerCholeskyTransform()(x)
        return lower @ lower.mT

    def _inverse(self, y: Any) -> Any:
        return LowerCholeskyTransform().inv(run("linalg.cholesky", y))


class CorrCholeskyTransform(Transform):
    """To the Cholesky factor of a correlation matrix: each row breaks a stick, with signs."""

    _torch_name = _ROOM + "CorrCholeskyTransform"
    domain, codomain = constraints.real_vector, constraints.corr_cholesky
    bijective = True

    def _call(self, x: Any) -> Any:
        x = run("tanh", x)
        eps = finfo(x.dtype).eps
        rows = _lower_matrix(x.clamp(min=-1 + eps, max=1 - eps))
        left = (1 - rows**2).sqrt().cumprod(-1)
        rows = rows + run("eye", rows.shape[-1], dtype=rows.dtype, device=rows.device)
        return rows * _padded(left[..., :-1], [1, 0])

    def _inverse(self, y: Any) -> Any:
        left = _padded((1 - run("cumsum", y * y, dim=-1))[..., :-1], [1, 0])
        below = numbers_of(y, -1)
        found = y[..., below] / left[..., below].sqrt()
        return (found.log1p() - found.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        left = 1 - (y * y).cumsum(dim=-1)
        sticks = 0.5 * left[..., numbers_of(left, -2)].log().sum(-1)
        return sticks + -2 * (x + _softplus(-2 * x) - math.log(2.0)).sum(dim=-1)

    def forward_shape(self, shape: Any) -> Any:
        count = _vector(shape)[-1]
        size = round((0.25 + 2 * count) ** 0.5 + 0.5)
        if size * (size - 1) // 2 != count:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return Size((*shape[:-1], size, size))

    def inverse_shape(self, shape: Any) -> Any:
        if len(shape) < 2:
            raise ValueError("Too few dimensions on input")
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return Size((*shape[:-2], shape[-1] * (shape[-1] - 1) // 2))


def _lower_matrix(vector: Any) -> Any:
    """A square matrix with these numbers below its diagonal, row by row."""
    count = vector.shape[-1]
    size = round((1 + (1 + 8 * count) ** 0.5) / 2)
    if size * (size - 1) // 2 != count:
        raise ValueError(
            f"The size of last dimension is {count} which cannot be expressed as "
            "the lower triangular part of a square D x D matrix."
        )
    matrix = vector.new_zeros((*vector.shape[:-1], size, size))
    matrix[..., numbers_of(matrix, -1)] = vector
    return matrix


class CumulativeDistributionTransform(Transform):
    """By the distribution function of a distribution."""

    PUBLIC = ("distribution",)
    _torch_name = _ROOM + "CumulativeDistributionTransform"
    codomain = constraints.unit_interval
    bijective, sign = True, 1

    def __init__(self, distribution: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Any:
        return self.distribution.support

    def _call(self, x: Any) -> Any:
        return self.distribution.cdf(x)

    def _inverse(self, y: Any) -> Any:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return self.distribution.log_prob(x)
