"""Operators: slices scaled down to a norm, and distances between all rows of one tensor."""

from __future__ import annotations

from typing import Any

from ...engine.schema.dtypes import FLOATING, float32, float64
from ...engine.schema.operator import Reduced, catalogue, operator
from ..conventions import Late, check_precision, full_precision, underivable, wrap_dim
from ..elementwise.complex_parts import conj, real_part
from ..linalg.distance import _norm, _norm_backward
from ..shape.cast import to_copy
from .sums import sum_dims

reciprocal = Late("reciprocal")
where = Late("where.self")


def _others(x: Any, dim: int) -> tuple[int, ...]:
    kept = wrap_dim(dim, x.ndim)
    return tuple(place for place in range(x.ndim) if place != kept)


def _renorm(xp: Any, x: Any, p: float, dim: int, maxnorm: float, settle: Any = None) -> Any:
    norm = _norm(xp, x, float(p), _others(x, dim), True)
    factor = xp.where(norm > maxnorm, maxnorm / (norm + 1e-7), 1.0).astype(x.dtype)
    return x * (factor if settle is None else settle(factor))


def _renorm_backward(grad: Any, self: Any, p: float, dim: int, maxnorm: float) -> Any:
    dims = _others(self, dim)
    wide = float64 if self.dtype == "float32" or self.dtype is float32 else None
    narrow = float32
    if getattr(self.dtype, "is_reduced", False):
        wide, narrow = float32, self.dtype
    norm = vector_norm(self, float(p), dims, True, wide)  # in PyTorch's accumulating type
    along = sum_dims(real_part(conj(self) * grad), dims, True)
    through = _norm_backward(along, self, float(p), norm, dims, True)
    inverse = reciprocal(norm + 1e-7)
    scaled = inverse * maxnorm * (grad - inverse * through)
    if wide is not None:
        scaled = to_copy(scaled, narrow, None)
    return where(norm > maxnorm, scaled, grad)


def vector_norm(self: Any, p: float, dims: Any, keepdim: bool, dtype: Any) -> Any:
    return catalogue.row("vector_norm")(self, p, dims, keepdim, dtype)


def _check_renorm(self: Any, p: float, dim: int, maxnorm: float) -> None:
    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm:g}")
    if self.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {self.ndim} dimensions")
    wrap_dim(dim, self.ndim)
    if self.dtype.category < FLOATING:
        raise RuntimeError(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. "
            f"Got {self.dtype.word}"
        )


renorm = operator(
    "renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor",
    node="RenormBackward0",
    inplace="renorm_",
    layout="row-major",
    holomorphic=False,
    check=_check_renorm,
    forward=_renorm,
    reduced=Reduced(lambda kind, *given: _renorm(kind.xp, *given, settle=kind.settle)),
    self=lambda grad, self, p, dim, maxnorm: _renorm_backward(grad, self, p, dim, maxnorm),
    doc="Slices along dim whose p-norm exceeds maxnorm, scaled down to it.",
    corners=("tensor([[0., 0.], [3., 4.]]).renorm(2, 0, 1)",),
    samples=("torch.renorm(x, 2, 0, 1.0)", "x.renorm(1, 1, 0.5)"),
    errors=(
        "v.renorm(2, 0, 1.0)",
        "x.renorm(0, 0, 1.0)",
        "x.renorm(2, 0, -1.0)",
        "x.renorm(2, 5, 1.0)",
    ),
)


def _pairs(xp: Any, n: int) -> tuple[Any, Any]:
    rows, columns = xp.triu_indices(n, 1)
    return rows, columns


def _pdist(xp: Any, x: Any, p: float) -> Any:
    rows, columns = _pairs(xp, x.shape[0])
    return _norm(xp, x[rows] - x[columns], p, (1,), False)


def _pdist_backward(xp: Any, grad: Any, x: Any, p: float, result: Any) -> Any:
    rows, columns = _pairs(xp, x.shape[0])
    apart = x[rows] - x[columns]
    safe = xp.where(result == 0, 1, result)[:, None]
    if p == 0:
        slope = xp.zeros_like(apart)
    elif p == 1:
        slope = xp.sign(apart)
    elif p == 2:
        slope = apart / safe
    elif p == float("inf"):
        slope = xp.sign(apart) * (abs(apart) == result[:, None])
    else:
        slope = xp.sign(apart) * (abs(apart) / safe) ** (p - 1)
    slope = xp.where(result[:, None] == 0, 0, slope) * grad[:, None]
    out = xp.zeros_like(x)
    xp.add.at(out, rows, slope)
    xp.add.at(out, columns, -slope)
    return out


pdist_backward = operator(
    "_pdist_backward(Tensor grad, Tensor self, float p, Tensor pdist) -> Tensor",
    node="PdistBackwardBackward0",
    where="hidden",
    dtype=lambda grad, self, p, pdist: self.dtype,
    refuse=full_precision("pdist_backward"),
    forward=_pdist_backward,
    joint={("grad", "self", "pdist"): lambda: underivable("_pdist_backward")},
    doc="The gradient of pdist.",
    samples=("torch.autograd.grad(F.pdist(a).sum(), a)[0]",),
)


def _check_pdist(self: Any, p: float) -> None:
    if self.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {self.ndim}D")
    if not self.dtype.is_floating_point:
        raise RuntimeError("pdist only supports floating-point dtypes")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    if self.shape[0] > 1:  # one row has no pairs
        check_precision(self, "pdist")


pdist = operator(
    "pdist(Tensor self, float p=2.0) -> Tensor",
    node="PdistBackward0",
    where="torch functional",
    forward=_pdist,
    self=lambda grad, self, p, result: pdist_backward(grad, self, p, result),
    check=_check_pdist,
    cost=lambda self, p: self.shape[0] * self.numel(),
    doc="The distance between each pair of rows.",
    corners=("F.pdist(tensor([[1., 2.], [1., 2.]]))",),
    samples=("F.pdist(a)", "F.pdist(r, 1)"),
    errors=("F.pdist(v)",),
)
