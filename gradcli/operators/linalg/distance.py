"""Operators: distances and similarities between vectors, and scaling to unit length."""

from __future__ import annotations

from typing import Any

from ...engine.schema.dtypes import FLOATING, promote_types
from ...engine.schema.mode import no_grad
from ...engine.schema.operator import catalogue, composite, operator
from ..conventions import native
from ..geometry import broadcast_sizes
from ..reduce.sums import sum_dims

# ---- the older norm, which distances still run: NormBackward1


def _norm(xp: Any, x: Any, p: float, dim: tuple[int, ...], keepdim: bool) -> Any:
    size = abs(x)
    if p == float("inf"):
        return size.max(axis=dim, keepdims=keepdim)
    if p == -float("inf"):
        return size.min(axis=dim, keepdims=keepdim)
    if p == 0:
        return (x != 0).sum(axis=dim, keepdims=keepdim).astype(size.dtype)
    if p == 1:
        return size.sum(axis=dim, keepdims=keepdim)
    if p == 2:
        return xp.sqrt((size * size).sum(axis=dim, keepdims=keepdim))
    return (size**p).sum(axis=dim, keepdims=keepdim) ** (1.0 / p)


def _norm_backward(
    grad: Any, self: Any, p: float, result: Any, dim: tuple[int, ...], keepdim: bool
) -> Any:
    row = catalogue.row
    if not keepdim:
        for place in sorted(d % self.ndim for d in dim):
            grad, result = row("unsqueeze")(grad, place), row("unsqueeze")(result, place)
    zero_where = row("masked_fill.Scalar")
    if p == 0:
        return row("zeros_as")(self)
    if p == 1:
        return row("sgn")(self) * grad
    if p == 2:
        return grad * zero_where(self / result, result == 0, 0)
    if p == float("inf"):
        largest = row("abs")(self) == result
        share = grad / sum_dims(largest * row("ones_as")(self), dim, True)
        return row("sgn")(self) * (share * largest)
    if p < 1:
        steep = zero_where(row("abs")(self) ** (p - 1), self == 0, 0)
        return row("sgn")(self) * steep * grad * result ** (1 - p)
    if p < 2:
        scaled = row("sgn")(self) * row("abs")(self) ** (p - 1)
    else:
        scaled = self * row("abs")(self) ** (p - 2)
    return scaled * zero_where(grad / result ** (p - 1), result == 0, 0)


norm_dim = operator(
    "norm.ScalarOpt_dim(Tensor self, float p, int[1] dim, bool keepdim=False) -> Tensor",
    node="NormBackward1",
    where="hidden",
    dtype="real",
    holomorphic=False,
    forward=_norm,
    self=lambda grad, self, p, result, dim, keepdim: _norm_backward(
        grad, self, p, result, dim, keepdim
    ),
    acts="along",
    jacobian="norm",
    doc="The p-norm along dim, under the older node name.",
    samples=("F.pairwise_distance(x, y)",),
)


def pairwise(x1: Any, x2: Any, p: float, eps: float, keepdim: bool) -> Any:
    """The norm of x1 - x2 + eps along the last dimension, inside C++ compositions."""
    last = max(x1.ndim, x2.ndim) - 1
    return norm_dim(x1 - x2 + eps, p, (last,) if last >= 0 else (), keepdim)


pairwise_distance = composite(
    "pairwise_distance(Tensor x1, Tensor x2, float p=2.0, float eps=1e-06, bool keepdim=False) "
    "-> Tensor",
    native(pairwise),
    where="torch functional",
    doc="The p-norm of x1 - x2 + eps along the last dimension.",
    computes="vector_norm(x1 - x2 + eps, p, -1, keepdim)",
    corners=("F.pairwise_distance(tensor([[1., 2.]]), tensor([[1., 2.]]))",),
    samples=(
        "F.pairwise_distance(x, y)",
        "torch.pairwise_distance(x, y, p=1, keepdim=True)",
        "F.pairwise_distance(s, t)",
    ),
)


def _cosine_similarity(x1: Any, x2: Any, dim: int, eps: float) -> Any:
    from ..shape.shape import expand

    common = promote_types(x1.dtype, x2.dtype)
    if common.category != FLOATING:
        raise RuntimeError(
            f"expected common dtype to be floating point, yet common dtype is {common.word}"
        )
    x1 = x1 if x1.is_floating_point() else x1.to(common)
    x2 = x2 if x2.is_floating_point() else x2.to(common)
    if tuple(x1.shape) != tuple(x2.shape):
        size = broadcast_sizes(x1.shape, x2.shape)
        x1, x2 = expand(x1, size, False), expand(x2, size, False)
    vector_norm = catalogue.functions["linalg.vector_norm"]
    norm1 = vector_norm(x1, 2, dim=dim, keepdim=True).clone()
    norm2 = vector_norm(x2, 2, dim=dim, keepdim=True).clone()
    with no_grad():
        norm1.clamp_min_(eps)
        norm2.clamp_min_(eps)
    return ((x1 / norm1) * (x2 / norm2)).sum(dim)


composite(
    "cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor",
    _cosine_similarity,
    where="torch functional",
    doc="The cosine of the angle between vectors along dim.",
    computes="(x1*x2).sum(dim)/(vector_norm(x1, 2, dim)*vector_norm(x2, 2, dim))",
    corners=("torch.cosine_similarity(tensor([0., 0.]), tensor([1., 1.]), 0)",),
    samples=("F.cosine_similarity(x, y)", "torch.cosine_similarity(x, y, dim=0)"),
    errors=("F.cosine_similarity(x, torch.ones(4))", "F.cosine_similarity(i, i)"),
)

composite(
    "normalize(Tensor input, float p=2.0, any dim=1, float eps=1e-12) -> Tensor",
    lambda input, p, dim, eps: (
        input / input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    ),
    where="functional",
    doc="input divided by its norm along dim.",
    computes="input/clamp(vector_norm(input, p, dim, True), min=eps)",
    corners=("F.normalize(tensor([0., 0.]), dim=0)",),
    samples=("F.normalize(x)", "F.normalize(x, p=1, dim=0)"),
    errors=("F.normalize(x, dim=4)",),
)
