"""Operators: products of matrices and vectors added to something."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.schema.dtypes import FLOATING, promote_types
from ...engine.schema.operator import Reduced, operator
from ...numerics import reduced_kernels as halves
from ...numerics.packed_matmul import is_packed
from ...numerics.small_matmul import added_batches, added_product, multiplied
from ..conventions import size_at
from ..geometry import expanded_size
from ..reduce.sums import scaled, sum_to
from ..shape.shape import expand
from ..shape.squeeze import unsqueeze
from ..shape.transposed import t, transpose
from .product import (
    NO_BOOL,
    bmm,
    check_bmm,
    check_inner,
    left_gradient,
    mv,
    outer_of,
    product_cost,
    right_gradient,
)

# ---- a product added to something


def _check_added(self: Any, mat1: Any, mat2: Any, beta: Any, alpha: Any) -> None:
    kind = mat2._kind.dtype
    for name, matrix in (("self", self), ("mat1", mat1)):
        if matrix._kind.dtype is not kind:
            raise RuntimeError(
                f"{name} and mat2 must have the same dtype, but got "
                f"{matrix.dtype.word} and {kind.word}"
            )
    one, other, given = mat1._data.shape, mat2._data.shape, self._data.shape
    if len(one) != 2:
        raise RuntimeError(f"mat1 must be a matrix, got {mat1.ndim}-D tensor")
    if len(other) != 2:
        raise RuntimeError(f"mat2 must be a matrix, got {mat2.ndim}-D tensor")
    if one[1] != other[0]:
        check_inner(mat1, mat2)
    if given != other[1:] and given != (one[0], other[1]):
        _check_addend(self, (one[0], other[1]))


def _check_addend(self: Any, size: Sequence[int]) -> None:
    expanded_size(self.shape, size, self._kind.old_name)


def _added(xp: Any, self: Any, product: Any, beta: Any, alpha: Any) -> Any:
    """beta = 0 ignores what is in self, NaN included."""
    kind = product.dtype.type
    if alpha != 1:
        product = product * kind(alpha)
    start = _start(self, beta)
    return product if start is None else product + start


def _added_pairs(xp: Any, self: Any, batch1: Any, batch2: Any, beta: Any, alpha: Any) -> Any:
    """Packed products are added to what stands there, others to each other first."""
    if alpha != 0 and is_packed(xp, batch1, batch2):
        return added_product(xp, _start(self, beta), batch1, batch2, alpha)
    return _added(xp, self, multiplied(xp, batch1, batch2), beta, alpha)


def _start(self: Any, beta: Any) -> Any:
    """beta * self; None where beta is 0, NaN or not."""
    if beta == 0:
        return None
    return self if beta == 1 else self * self.dtype.type(beta)


addmm = operator(
    "addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    node="AddmmBackward0",
    inplace="addmm_",
    exact=True,
    check=_check_added,
    refuse=NO_BOOL,
    forward=lambda xp, self, mat1, mat2, beta, alpha: added_product(
        xp, _start(self, beta), mat1, mat2, alpha
    ),
    self=lambda grad, self_shape, beta: sum_to(scaled(grad, beta), self_shape),
    mat1=lambda grad, mat2, mat1_sym_sizes, mat1_sym_strides, alpha: left_gradient(
        grad, mat2, mat1_sym_sizes, mat1_sym_strides, alpha
    ),
    mat2=lambda grad, mat1, mat2_sym_sizes, mat2_sym_strides, alpha: right_gradient(
        grad, mat1, mat2_sym_sizes, mat2_sym_strides, alpha
    ),
    cost=lambda self, mat1, mat2, beta, alpha: product_cost(mat1, mat2),
    acts="product",
    doc="beta * self + alpha * (mat1 @ mat2).",
    computes="beta*self + alpha*(mat1 @ mat2)",
    samples=(
        "torch.addmm(b, a, a)", "b.addmm(a, a, beta=2, alpha=3)", "torch.addmm(v, x, a)",
        "torch.addmm(y, x, a.t(), alpha=0.5)", "b.clone().addmm_(a, a)",
    ),
    errors=(
        "torch.addmm(x, a, x)", "torch.addmm(x, a, a)", "torch.addmm(v, x, x)",
        "torch.addmm(d, x, a)",
    ),
)  # fmt: skip


def _check_addmv(self: Any, mat: Any, vec: Any, beta: Any, alpha: Any) -> None:
    if mat.ndim != 2 or vec.ndim != 1 or self.ndim > 1:
        raise RuntimeError(
            f"vector + matrix @ vector expected, got {self.ndim}, {mat.ndim}, {vec.ndim}"
        )
    if mat.shape[1] != vec.shape[0] or self.numel() not in (1, mat.shape[0]):
        raise RuntimeError(
            f"size mismatch, got input ({self.shape[0] if self.ndim else 1}), mat "
            f"({mat.shape[0]}x{mat.shape[1]}), vec ({vec.shape[0]})"
        )
    if not self.dtype is mat.dtype is vec.dtype:
        raise RuntimeError(
            "addmv input tensors must have the same dtype, but got "
            f"{self.dtype.word}, {mat.dtype.word}, and {vec.dtype.word}"
        )


addmv = operator(
    "addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    node="AddmvBackward0",
    inplace="addmv_",
    overlap="allowed",
    exact=True,
    check=_check_addmv,
    forward=lambda xp, self, mat, vec, beta, alpha: added_product(
        xp, _start(self, beta), mat, vec, alpha
    ),
    reduced=Reduced(halves.added_vector),
    self=lambda grad, self_shape, beta: sum_to(scaled(grad, beta), self_shape),
    mat=lambda grad, vec, alpha: scaled(outer_of(grad, vec), alpha),
    vec=lambda grad, mat, alpha: scaled(mv(t(mat), grad), alpha),
    acts="product",
    jacobian="matrix-vector product",
    doc="beta * self + alpha * (mat @ vec).",
    computes="beta*self + alpha*(mat @ vec)",
    samples=("torch.addmv(v, a, w)", "v.addmv(a, w, beta=2, alpha=0.5)", "torch.addmv(s, a, w)"),
    errors=("torch.addmv(v, a, x)", "torch.addmv(x, a, v)", "torch.addmv(v, a, w[:2])"),
)


def _check_batches(self: Any, batch1: Any, batch2: Any, rows: Sequence[int]) -> None:
    _check_addend(self, [*(size_at(batch1, dim) for dim in rows), size_at(batch2, 2)])
    for name, batch in (("batch1", batch1), ("batch2", batch2)):
        if batch.ndim != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    if self.dtype is not batch2.dtype:
        raise RuntimeError(
            "self and mat2 must have the same dtype, but got "
            f"{self.dtype.word} and {batch2.dtype.word}"
        )
    if batch1.shape[0] != batch2.shape[0]:
        raise RuntimeError(
            "batch1 and batch2 must have same number of batches, got "
            f"{batch1.shape[0]} and {batch2.shape[0]}"
        )
    if batch1.shape[2] != batch2.shape[1]:
        raise RuntimeError(
            "Incompatible matrix sizes for bmm "
            f"({batch1.shape[1]}x{batch1.shape[2]} and {batch2.shape[1]}x{batch2.shape[2]})"
        )


def _check_pairs(self: Any, batch1: Any, batch2: Any) -> None:
    _check_addend(self, [size_at(batch1, 0), size_at(batch1, 1), size_at(batch2, 2)])
    if not self.dtype is batch1.dtype is batch2.dtype:
        words = [side.dtype.c_word for side in (self, batch1, batch2)]
        raise RuntimeError(
            f"Input dtypes must be the same, got: input {words[0]}, batch1: {words[1]}, batch2: "
            f"{words[2]}"
        )
    check_bmm(batch1, batch2)


addbmm = operator(
    "addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    node="AddbmmBackward0",
    inplace="addbmm_",
    exact=True,
    check=lambda self, batch1, batch2, beta, alpha: _check_batches(self, batch1, batch2, (1,)),
    forward=lambda xp, self, batch1, batch2, beta, alpha: added_batches(
        xp, _start(self, beta), batch1, batch2, alpha
    ),
    reduced=Reduced(halves.added_batches),
    self=lambda grad, self_shape, beta: sum_to(scaled(grad, beta), self_shape),
    # The names are those that PyTorch's node shows for its saved values.
    batch1=lambda grad, batch1_sym_argsize_0, batch1_sym_argsize_1, batch2, batch2_sym_argsize_2, alpha: scaled(  # noqa: E501
        bmm(
            _widened(grad, batch1_sym_argsize_0, batch1_sym_argsize_1, batch2_sym_argsize_2),
            transpose(batch2, 1, 2),
        ),
        alpha,
    ),
    batch2=lambda grad, batch1, batch1_sym_argsize_0, batch1_sym_argsize_1, batch2_sym_argsize_2, alpha: scaled(  # noqa: E501
        bmm(
            transpose(batch1, 1, 2),
            _widened(grad, batch1_sym_argsize_0, batch1_sym_argsize_1, batch2_sym_argsize_2),
        ),
        alpha,
    ),
    acts="product",
    jacobian="batched matmul",
    doc="beta * self + alpha * the sum of the products of two batches.",
    computes="beta*self + alpha*(batch1 @ batch2).sum(0)",
    samples=("torch.addbmm(a, c, c)", "a.addbmm(c, c, beta=2, alpha=3)"),
    errors=("torch.addbmm(a, c, c[:1])",),
)  # fmt: skip


def _widened(grad: Any, count: int, rows: int, columns: int) -> Any:
    return expand(unsqueeze(grad, 0), (count, rows, columns), False)


baddbmm = operator(
    "baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> "
    "Tensor",
    node="BaddbmmBackward0",
    inplace="baddbmm_",
    overlap="allowed",
    exact=True,
    check=lambda self, batch1, batch2, beta, alpha: _check_pairs(self, batch1, batch2),
    forward=lambda xp, self, batch1, batch2, beta, alpha: _added_pairs(
        xp, self, batch1, batch2, beta, alpha
    ),
    self=lambda grad, self_shape, beta: sum_to(scaled(grad, beta), self_shape),
    batch1=lambda grad, batch2, alpha: scaled(bmm(grad, transpose(batch2, 1, 2)), alpha),
    batch2=lambda grad, batch1, alpha: scaled(bmm(transpose(batch1, 1, 2), grad), alpha),
    acts="product",
    jacobian="batched matmul",
    doc="beta * self + alpha * the products of two batches, pair by pair.",
    computes="beta*self + alpha*(batch1 @ batch2)",
    samples=("torch.baddbmm(c, c, c)", "torch.baddbmm(a, c, c, beta=2, alpha=3)"),
    errors=("torch.baddbmm(c, c, c[:1])",),
)


def _together(*tensors: Any) -> Any:
    first, second, third = (tensor.dtype for tensor in tensors)
    return promote_types(promote_types(first, second), third)


def _check_addr(self: Any, vec1: Any, vec2: Any, beta: Any, alpha: Any) -> None:
    for name, vector in (("vec1", vec1), ("vec2", vec2)):
        if vector.ndim != 1:
            raise RuntimeError(f"addr: Expected 1-D argument {name}, but got {vector.ndim}-D")
    _check_addend(self, (vec1.shape[0], vec2.shape[0]))
    if _together(self, vec1, vec2).category < FLOATING:
        for name, number in (("beta", beta), ("alpha", alpha)):
            if isinstance(number, float | complex):
                raise RuntimeError(
                    f"For integral input tensors, argument {name} must not be a floating point "
                    "number."
                )


addr = operator(
    "addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    node="AddrBackward0",
    dtype=lambda self, vec1, vec2, beta, alpha: _together(self, vec1, vec2),
    inplace="addr_",
    check=_check_addr,
    layout="like",
    forward=lambda xp, self, vec1, vec2, beta, alpha: _added(
        xp, self, xp.outer(vec1, vec2), beta, alpha
    ),
    reduced=Reduced(halves.added_outer),
    self=lambda grad, self_shape, beta: sum_to(scaled(grad, beta), self_shape),
    vec1=lambda grad, vec2, alpha: scaled(mv(grad, vec2), alpha),
    vec2=lambda grad, vec1, alpha: scaled(mv(t(grad), vec1), alpha),
    acts="product",
    jacobian="outer product",
    doc="beta * self + alpha * the outer product of two vectors.",
    computes="beta*self + alpha*outer(vec1, vec2)",
    samples=("torch.addr(a, v, w)", "a.addr(v, w, beta=2, alpha=3)"),
    errors=("torch.addr(a, v, x)", "torch.addr(x, v, w)"),
)
