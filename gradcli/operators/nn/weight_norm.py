"""Operators: weights as a length times a direction."""

from __future__ import annotations

from typing import Any

from ...engine.schema.operator import catalogue, composite, operator
from ..conventions import REDUCED, Late
from ..linalg.distance import norm_dim
from ..reduce.sums import sum_dims
from ..reduce.vector_norm import norm_backward

view = Late("view")

norm_of_all = operator(
    "norm.Scalar(Tensor self, Scalar p=2) -> Tensor",
    node="NormBackward0",
    where="hidden",
    dtype="real",
    holomorphic=False,
    forward=lambda xp, self, p: (xp.abs(self) ** p).sum() ** (1 / p),
    self=lambda grad, self, p, result: norm_backward(grad, self, p, result, (), False),
    jacobian="norm",
    doc="The p-norm of all elements, under the older node name.",
    samples=("torch.norm_except_dim(x, 2, -1)",),
)


def _wide(v: Any, dim: int) -> list[int]:
    """The sizes of the norms: one, but along the dimension that is kept."""
    return [length if place == dim else 1 for place, length in enumerate(v.shape)]


def _norms(v: Any, pow: int, dim: int) -> Any:
    if not (v.is_floating_point() or v.is_complex()):
        raise RuntimeError(
            "norm(): input dtype should be either floating point or complex. "
            f"Got {v.dtype.word} instead."
        )
    if dim == -1:
        return norm_of_all(v, pow)
    if dim in (0, v.ndim - 1):
        rows = v.contiguous().view((v.shape[0], -1) if dim == 0 else (-1, v.shape[-1]))
        return norm_dim(rows, pow, (1 if dim == 0 else 0,), False).view(_wide(v, dim))
    return _norms(v.transpose(0, dim), pow, 0).transpose(0, dim)


norm_except_dim = composite(
    "norm_except_dim(Tensor v, int pow=2, int dim=0) -> Tensor",
    _norms,
    where="torch",
    doc="The norms of the slices along one dimension; of the whole tensor where dim is -1.",
    samples=(
        "torch.norm_except_dim(x)", "torch.norm_except_dim(x, 2, 1)",
        "torch.norm_except_dim(c, 2, 1)", "torch.norm_except_dim(c, 2, -1)",
    ),
)  # fmt: skip


def _scaled(xp: Any, v: Any, g: Any, dim: int) -> tuple[Any, Any]:
    others = tuple(place for place in range(v.ndim) if place != dim)
    norms = xp.sqrt((v * v).sum(axis=others, keepdims=True))
    return v * (g / norms), norms


def _check_scaled(v: Any, g: Any, dim: int) -> None:
    if v.dtype.word not in ("Float", "Double", *REDUCED):
        raise NotImplementedError(f"\"weight_norm_kernel\" not implemented for '{v.dtype.word}'")
    if v.dtype is not g.dtype:
        raise RuntimeError(f"expected scalar type {v.dtype.word} but found {g.dtype.word}")


def _slopes(grads: Any, v: Any, g: Any, result1: Any, dim: int) -> tuple[Any, Any]:
    """The norms count as constants, in PyTorch too: it saves them without their graph."""
    rows = (v.shape[0], -1) if dim == 0 else (-1, v.shape[dim])
    sums = sum_dims(view(grads[0] * v, rows), (1 if dim == 0 else 0,), False)
    sums = view(sums, _wide(v, dim))
    to_v = (g / result1) * (grads[0] - v * (sums / (result1 * result1)))
    return to_v, sums / result1


operator(
    "_weight_norm_interface(Tensor v, Tensor g, int dim=0) -> (Tensor result0, Tensor result1)",
    node="WeightNormInterfaceBackward0",
    where="torch",
    check=_check_scaled,
    forward=_scaled,
    joint={("v", "g"): _slopes},
    undifferentiable="result1",
    doc="Slices of a tensor, each scaled to the length that g gives it; and their norms before.",
    samples=(
        "torch._weight_norm_interface(x, x.reshape(6)[:2].reshape(2, 1))[0]",
        "torch._weight_norm_interface(c, c[:1, :1], 2)[0]",
    ),
)


def _normed(v: Any, g: Any, dim: int) -> Any:
    v, g = v.contiguous(), g.contiguous()
    if dim in (0, v.ndim - 1):
        return catalogue.functions["_weight_norm_interface"](v, g, dim)[0]
    return v * (g / norm_except_dim(v, 2, dim))


composite(
    "_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor",
    _normed,
    where="torch",
    doc="Slices of a tensor, each scaled to the length that g gives it.",
    samples=("torch._weight_norm(x, a[:2, :1])", "torch._weight_norm(c, c[:1, :, :1], 1)",
             "torch._weight_norm(x, s, -1)"),
)  # fmt: skip
