"""Operators: distances between all rows of two matrices."""

from __future__ import annotations

from typing import Any

from ...engine.schema.operator import catalogue, composite, operator
from ..conventions import check_precision, underivable
from ..reduce.sums import sum_dims, sum_to
from ..shape.shape import _contiguous as contiguous
from ..shape.transposed import mt
from .distance import _norm
from .product import matmul_of

LARGE = 25  # rows from which PyTorch multiplies matrices instead of taking differences
NEVER, ALWAYS = 2, 1


def _cdist(xp: Any, x1: Any, x2: Any, p: float, compute_mode: int) -> Any:
    return _norm(xp, x1[..., :, None, :] - x2[..., None, :, :], p, (-1,), False)


def _slopes(xp: Any, apart: Any, p: float, length: Any) -> Any:
    """How a distance grows with each difference; 0 where the distance is 0."""
    if p == 0:
        return xp.zeros_like(apart)
    if p == 1:
        return xp.sign(apart)
    if p == float("inf"):
        return xp.sign(apart) * (abs(apart) == length)
    safe = xp.where(length == 0, 1, length)
    if p == 2:
        return xp.where(length == 0, 0, apart / safe)
    steep = xp.sign(apart) * (abs(apart) ** (p - 1) / safe ** (p - 1))
    return xp.where((length == 0) | ((apart == 0) & (p < 1)), 0, steep)


def _cdist_backward(xp: Any, grad: Any, x1: Any, x2: Any, p: float, cdist: Any) -> Any:
    if not cdist.size or not x1.shape[-1]:
        return xp.zeros_like(x1)
    apart = x1[..., :, None, :] - x2[..., None, :, :]
    slopes = _slopes(xp, apart, p, cdist[..., None])
    return (slopes * grad[..., None]).sum(axis=-2, dtype=grad.dtype)


cdist_backward = operator(
    "_cdist_backward(Tensor grad, Tensor x1, Tensor x2, float p, Tensor cdist) -> Tensor",
    node="CdistBackwardBackward0",
    where="hidden",
    forward=_cdist_backward,
    joint={("grad", "x1", "x2", "cdist"): lambda: underivable("_cdist_backward")},
    cost=lambda grad, x1, x2, p, cdist: grad.numel() * x1.shape[-1],
    doc="The gradient of cdist with respect to its first matrix.",
    samples=("torch.autograd.grad(torch.cdist(x, a).sum(), x)[0]",),
)


def _check_types(x1: Any, x2: Any) -> None:
    known = x1.dtype.word in ("Float", "Double")
    if known and x1.dtype is not x2.dtype:
        raise RuntimeError(f"expected scalar type {x1.dtype.word} but found {x2.dtype.word}")
    check_precision(x1 if x2.numel() else x2, "cdist")


cdist_forward = operator(
    "_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor",
    node="CdistBackward0",
    where="hidden",
    layout="row-major",
    check=lambda x1, x2, p, compute_mode: _check_types(x1, x2),
    forward=_cdist,
    x1=lambda grad, x1, x2, p, result: sum_to(
        cdist_backward(contiguous(grad), x1, x2, p, result), x1.shape
    ),
    x2=lambda grad, x1, x2, p, result: sum_to(
        cdist_backward(contiguous(mt(grad)), x2, x1, p, contiguous(mt(result))), x2.shape
    ),
    cost=lambda x1, x2, p, compute_mode: x1.numel() * x2.shape[-2],
    doc="The p-norm of the difference of each pair of rows.",
    samples=("torch.cdist(x, a)",),
)


def _euclidean(xp: Any, x1: Any, x2: Any) -> Any:
    """|a - b|^2 = |a|^2 - 2 a b + |b|^2, as one product of widened matrices."""
    one, two = (xp.ones((*x.shape[:-1], 1), dtype=x.dtype) for x in (x1, x2))
    left = xp.concatenate([x1 * -2, (x1 * x1).sum(axis=-1, keepdims=True), one], axis=-1)
    right = xp.concatenate([x2, two, (x2 * x2).sum(axis=-1, keepdims=True)], axis=-1)
    return xp.sqrt(xp.maximum(left @ xp.swapaxes(right, -1, -2), 0))


def _check_product(x1: Any, x2: Any) -> None:
    """The words of the product that the distances come from."""
    one, two = x1.dtype, x2.dtype
    if one is two:
        return
    if x1.ndim == x2.ndim == 2:
        said = f"m1 and m2 to have the same dtype, but got: {one.c_word} != {two.c_word}"
        raise RuntimeError(f"expected {said}")
    raise RuntimeError(f"expected scalar type {two.word} but found {one.word}")


def _euclidean_backward(grad: Any, x1: Any, x2: Any, result: Any) -> tuple[Any, Any]:
    ratio = catalogue.row("masked_fill.Scalar")(grad / result, result == 0, 0)
    first = x1 * sum_dims(ratio, (-1,), True) - matmul_of(ratio, x2)
    sums = catalogue.row("unsqueeze")(sum_dims(ratio, (-2,), False), -1)
    second = x2 * sums - matmul_of(mt(ratio), x1)
    return sum_to(first, x1.shape), sum_to(second, x2.shape)


euclidean = operator(
    "_euclidean_dist(Tensor x1, Tensor x2) -> Tensor",
    node="EuclideanDistBackward0",
    where="hidden",
    check=_check_product,
    forward=_euclidean,
    joint={("x1", "x2"): lambda grad, x1, x2, result: _euclidean_backward(grad, x1, x2, result)},
    cost=lambda x1, x2: x1.numel() // max(x1.shape[-1], 1) * x2.shape[-2],
    doc="Euclidean distances by a product of matrices.",
    samples=("torch.cdist(x, a, compute_mode='use_mm_for_euclid_dist')",),
)

_MODES = {
    "use_mm_for_euclid_dist_if_necessary": 0, "use_mm_for_euclid_dist": ALWAYS,
    "donot_use_mm_for_euclid_dist": NEVER,
}  # fmt: skip


def _distances(x1: Any, x2: Any, p: float, compute_mode: str) -> Any:
    if compute_mode not in _MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    for name, x in (("X1", x1), ("X2", x2)):
        if x.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x.ndim}D")
    for name, x in (("X1", x1), ("X2", x2)):
        if not x.is_floating_point():
            raise RuntimeError(
                f"cdist only supports floating-point dtypes, {name} got: {x.dtype.word}"
            )
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}"
        )
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    mode, rows = _MODES[compute_mode], (x1.shape[-2], x2.shape[-2])
    differences = p != 2 or mode == NEVER or (mode != ALWAYS and max(rows) <= LARGE)
    if differences or not x1.numel() or not x2.numel():
        return cdist_forward.run(x1, x2, p, None if mode == 0 else mode)
    batch = tuple(catalogue.functions["broadcast_tensors"](x1[..., 0, 0], x2[..., 0, 0])[0].shape)
    count = 1
    for size in batch:
        count *= size
    if count != 1:
        x1, x2 = (
            contiguous(x.expand([*batch, *x.shape[-2:]])).view([count, *x.shape[-2:]])
            for x in (x1, x2)
        )
    return euclidean.run(x1, x2).view([*batch, *rows])


composite(
    "cdist(Tensor x1, Tensor x2, float p=2.0, "
    "str compute_mode='use_mm_for_euclid_dist_if_necessary') -> Tensor",
    _distances,
    where="torch",
    doc="Distance (p-norm) between each row of one matrix and each row of another.",
    computes="vector_norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p, -1)",
    corners=("torch.cdist(tensor([[1., 2.]]), tensor([[1., 2.]]))",),
    samples=(
        "torch.cdist(x, a)", "torch.cdist(c, a, 1.0)", "torch.cdist(x, y, 3.0)",
        "torch.cdist(x, y, float('inf')) ** 2", "torch.cdist(x, x, 0.0)", "torch.cdist(x, x)",
        "torch.cdist(x, a, compute_mode='use_mm_for_euclid_dist') ** 2",
    ),
    errors=(
        "torch.cdist(x, r)", "torch.cdist(v, x)", "torch.cdist(x, y, -1.0)",
        "torch.cdist(x, y, 2.0, 'foo')",
    ),
)  # fmt: skip
