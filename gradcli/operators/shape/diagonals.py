"""Operators: diagonals of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.schema.operator import composite, operator
from ..geometry import element_strides, strided, wrap_dim
from .constants import zeros_as
from .select import check_part, lead


def _check_diagonal(self: Any, offset: int, dim1: int, dim2: int) -> None:
    if wrap_dim(dim1, self.ndim) == wrap_dim(dim2, self.ndim):
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")


def _diagonal(xp: Any, self: Any, offset: int, dim1: int, dim2: int) -> Any:
    """NumPy's diagonal is read-only; this one may be written to."""
    dim1, dim2 = wrap_dim(dim1, self.ndim), wrap_dim(dim2, self.ndim)
    rows, columns = self.shape[dim1], self.shape[dim2]
    length = max(min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns), 0)
    strides = element_strides(self)
    rest = [dim for dim in range(self.ndim) if dim not in (dim1, dim2)]
    size = (*(self.shape[dim] for dim in rest), length)
    steps = (*(strides[dim] for dim in rest), strides[dim1] + strides[dim2])
    if length:
        dim = dim2 if offset >= 0 else dim1
        self = self[(*lead(dim), slice(abs(offset), None))]
    return strided(xp, self, size, steps)


def _diagonal_placed(
    xp: Any, grad: Any, sizes: Sequence[int], offset: int, dim1: int, dim2: int
) -> Any:
    result = xp.zeros(tuple(sizes), dtype=grad.dtype)
    _diagonal(xp, result, offset, dim1, dim2)[...] = grad
    return result


diagonal_backward = operator(
    "diagonal_backward(Tensor grad_output, int[] input_sizes, int offset, int dim1, "
    "int dim2) -> Tensor",
    node="DiagonalBackwardBackward0",
    where="hidden",
    forward=_diagonal_placed,
    grad_output=lambda grad, offset, dim1, dim2: diagonal(grad, offset, dim1, dim2),
    acts="moves",
    zero="mask",
    jacobian="selection",
    doc="Zeros but for a diagonal.",
    samples=("torch.autograd.grad(a.diagonal(), a, v, create_graph=True)[0]",),
)

diagonal = operator(
    "diagonal(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor",
    node="DiagonalBackward0",
    view=True,
    check=_check_diagonal,
    forward=_diagonal,
    self=lambda grad, self_sym_sizes, offset, dim1, dim2: diagonal_backward(
        grad, self_sym_sizes, offset, dim1, dim2
    ),
    zero="mask",
    jacobian="selection",
    doc="A diagonal of two dimensions, as the last dimension of a view.",
    samples=(
        "a.diagonal()", "torch.diagonal(r, 1)", "c.diagonal(-1, 1, 2)", "x.diagonal(5)",
        "c.diagonal(0, -2, -1)",
    ),
    errors=("x.diagonal(0, 0, 0)", "v.diagonal()"),
)  # fmt: skip

composite(
    "diagonal.linalg(Tensor A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
    lambda self, offset, dim1, dim2: diagonal(self, offset, dim1, dim2),
    where="linalg",
    doc="A diagonal of the last two dimensions.",
    samples=("torch.linalg.diagonal(c)", "torch.linalg.diagonal(r, offset=1)"),
)

diagonal_copy = operator(
    "diagonal_copy(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor",
    node="DiagonalBackward0_copy",
    where="torch",
    check=_check_diagonal,
    forward=lambda xp, self, offset, dim1, dim2: _diagonal(xp, self, offset, dim1, dim2).copy(),
    self=lambda grad, self_sym_sizes, offset, dim1, dim2: diagonal_backward(
        grad, self_sym_sizes, offset, dim1, dim2
    ),
    acts="moves",
    zero="mask",
    jacobian="selection",
    doc="A diagonal as a copy.",
    samples=("torch.diag(a)", "torch.diagonal_copy(r, 1)"),
)


def _check_embed(self: Any, offset: int, dim1: int, dim2: int) -> None:
    if wrap_dim(dim1, self.ndim + 1) == wrap_dim(dim2, self.ndim + 1):
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")


def _embedded(xp: Any, self: Any, offset: int, dim1: int, dim2: int) -> Any:
    first, second = wrap_dim(dim1, self.ndim + 1), wrap_dim(dim2, self.ndim + 1)
    side = self.shape[-1] + abs(offset)
    sizes = list(self.shape[:-1])
    for dim in sorted((first, second)):
        sizes.insert(dim, side)
    return _diagonal_placed(xp, self, sizes, offset, first, second)


diag_embed = operator(
    "diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
    node="DiagEmbedBackward0",
    check=_check_embed,
    forward=_embedded,
    self=lambda grad, offset, dim1, dim2: diagonal(grad, offset, dim1, dim2),
    cost=lambda self, offset, dim1, dim2: (
        self.numel() // max(self.shape[-1], 1) * (self.shape[-1] + abs(offset)) ** 2
    ),
    jacobian="placement",
    doc="The last dimension as a diagonal of two.",
    samples=("torch.diag_embed(v)", "x.diag_embed(1)", "torch.diag_embed(x, -1, 0, 2)"),
    errors=("torch.diag_embed(v, 0, 0, 0)",),
)


def _diag(self: Any, diagonal: int) -> Any:
    if self.ndim == 1:
        return diag_embed(self, diagonal, -2, -1)
    if self.ndim == 2:
        return diagonal_copy(self, diagonal, 0, 1)
    raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {self.ndim}D")


diag = composite(
    "diag(Tensor self, int diagonal=0) -> Tensor",
    _diag,
    doc="A matrix with this vector as its diagonal, or this matrix's diagonal.",
    samples=("torch.diag(v)", "v.diag(1)", "torch.diag(x)", "a.diag(-1)"),
    errors=("torch.diag(c)", "torch.diag(s)"),
)


def _with_diagonal(xp: Any, self: Any, src: Any, offset: int, dim1: int, dim2: int) -> Any:
    result = self.copy()
    _diagonal(xp, result, offset, dim1, dim2)[...] = src
    return result


diagonal_scatter = operator(
    "diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor",
    node="DiagonalScatterBackward0",
    check=lambda self, src, offset, dim1, dim2: check_part(
        diagonal(self.detach(), offset, dim1, dim2), src
    ),
    layout="like",
    forward=_with_diagonal,
    self=lambda grad, offset, dim1, dim2: diagonal_scatter(
        grad, zeros_as(diagonal(grad, offset, dim1, dim2)), offset, dim1, dim2
    ),
    src=lambda grad, offset, dim1, dim2: diagonal(grad, offset, dim1, dim2),
    jacobian="placement",
    doc="A copy with a diagonal replaced.",
    samples=("torch.diagonal_scatter(a, v)", "a.diagonal_scatter(v[:2], 1)"),
    errors=("torch.diagonal_scatter(x, v)",),
)
