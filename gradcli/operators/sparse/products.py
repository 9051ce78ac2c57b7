"""Operators: products with sparse matrices."""

from __future__ import annotations

from typing import Any

from ...engine.schema.operator import composite, operator
from ...engine.schema.row import SPARSE
from ..elementwise.arithmetic import maybe_multiply
from ..index.adding import add_rows, add_scaled_rows
from ..linalg.added_product import addmm
from ..linalg.product import check_inner, matmul, mm, mv
from ..nn.linear import linear
from ..reduce.sums import sum_to
from ..shape.transposed import mt, t
from .convert import coalesced, looked_up, sparse_mask
from .forms import coordinates, is_sparse, placed_like, sparse_form

# ---- kernels


def _spread(xp: Any, self: Any, dense: Any) -> Any:
    """A sparse matrix times rows of a dense one, added up in the order of its elements."""
    held = self.coordinates()
    rows, columns = held.indices
    out = xp.zeros((held.shape[0], *dense.shape[1:]), dtype=held.dtype)
    factors = held.values.reshape((-1, *(1,) * (dense.ndim - 1)))
    if self.layout == "sparse_csr":  # a kernel of PyTorch's own, which rounds the products
        add_rows(xp, out, rows, factors * dense[columns])
    else:
        add_scaled_rows(xp, out, rows, dense[columns], factors)
    return out


def _of_two(xp: Any, first: Any, second: Any) -> Any:
    """The product of two sparse matrices: each pair of elements that meet, added up by places."""
    one, other = first.coordinates().coalesced(), second.coordinates().coalesced()
    starts = xp.searchsorted(other.indices[0], one.indices[1], side="left")
    counts = xp.searchsorted(other.indices[0], one.indices[1], side="right") - starts
    left = xp.repeat(xp.arange(one.nnz), counts)
    offsets = xp.arange(len(left)) - xp.repeat(xp.cumsum(counts) - counts, counts)
    right = xp.repeat(starts, counts) + offsets
    indices = xp.stack([one.indices[0][left], other.indices[1][right]])
    values = one.values[left] * other.values[right]
    return coordinates(indices, values, (first.shape[0], second.shape[1])).coalesced()


def _matrix_product(xp: Any, self: Any, mat2: Any) -> Any:
    if not is_sparse(self) and not is_sparse(mat2):
        return mm.forward(xp, self, mat2)
    if is_sparse(self) and is_sparse(mat2):
        return placed_like(self, _of_two(xp, self, mat2))
    if is_sparse(self):
        return _spread(xp, self, mat2)
    held = mat2.coordinates()
    turned = coordinates(held.indices[::-1], held.values, held.shape[::-1])
    return xp.ascontiguousarray(_spread(xp, turned, self.T).T)


def _same_types(self: Any, mat2: Any) -> None:
    if self.dtype is not mat2.dtype:
        raise RuntimeError(f"expected scalar type {self.dtype.word} but found {mat2.dtype.word}")


def _check_product(self: Any, mat2: Any) -> None:
    for matrix in (self, mat2):
        if is_sparse(matrix._data) and matrix._data.coordinates().dense_dim:
            raise RuntimeError(
                f"addmm: matrices expected, got {matrix._data.coordinates().sparse_dim}D tensor"
            )
        if matrix.ndim != 2:
            raise RuntimeError(f"addmm: matrices expected, got {matrix.ndim}D tensor")
    both = is_sparse(self._data) and is_sparse(mat2._data)
    if both or self.is_sparse_csr or mat2.is_sparse_csr:
        check_inner(self, mat2)
    elif self.shape[1] != mat2.shape[0]:
        inner = (self.shape[1], mat2.shape[0])
        expected, got = inner if is_sparse(self._data) else inner[::-1]
        raise RuntimeError(f"addmm: Argument #3 (dense): Expected dim 0 size {expected}, got {got}")
    _same_types(self, mat2)


def _meetings(one: Any, other: Any) -> int:
    """How many pairs of elements of two matrices meet in a product."""
    rows, columns = other.indices[0], one.indices[1]
    last = rows.searchsorted(columns, side="right")
    return int((last - rows.searchsorted(columns, side="left")).sum()) * (2 + FACTORS)


FACTORS = 4  # arrays that a pair has an element in on the way


def product_room(self: Any, mat2: Any) -> int:
    """The elements of a product, and what is added up on the way."""
    a, b = self._data, mat2._data
    if is_sparse(a) and is_sparse(b):
        return _meetings(a.coordinates(), b.coordinates().coalesced())
    if is_sparse(a):
        return int((a.shape[0] + a.nnz) * b.shape[1])
    return int((b.shape[1] + b.nnz if is_sparse(b) else b.shape[1]) * a.shape[0])


# ---- mm, mv, addmm

_mm = sparse_form(
    mm,
    _matrix_product,
    formulas={
        "self": lambda grad, mat2, self_sym_sizes, self_sym_strides: mm(grad, t(mat2)),
        "mat2": lambda grad, self, mat2_sym_sizes, mat2_sym_strides: mm(t(self), grad),
    },
    check=_check_product,
    cost=product_room,
    samples=(
        "x.to_sparse() @ a",
        "x @ a.to_sparse()",
        "(x.to_sparse() @ a.to_sparse()).to_dense()",
    ),
)


def _check_vector(self: Any, vec: Any) -> None:
    if self.ndim != 2 or vec.ndim != 1:
        raise RuntimeError(
            "mv: two tensor dim should be 2 and 1, but got SparseTensor Dim: "
            f"{self.ndim}Tensor Dim: {vec.ndim}"
        )
    if self.shape[1] != vec.shape[0]:
        raise RuntimeError("mv: expected self.size(-1) == vec.size(-1)")
    _same_types(self, vec)


sparse_form(
    mv,
    lambda xp, self, vec: _spread(xp, self, vec),
    check=_check_vector,
    cost=lambda self, vec: self.shape[0] + self._data.nnz,
    samples=("x.to_sparse() @ v",),
    errors=("x.to_sparse().mv(v[:2])",),
)


def _plus_product(xp: Any, self: Any, mat1: Any, mat2: Any, beta: Any, alpha: Any) -> Any:
    product = _matrix_product(xp, mat1, mat2)
    if is_sparse(product):
        return product.with_values(product.values * alpha)
    product = product if alpha == 1 else product * alpha
    base = self if beta == 1 else self * beta
    return base + product if beta else product


def _check_added(self: Any, mat1: Any, mat2: Any, beta: Any, alpha: Any) -> None:
    _check_product(mat1, mat2)
    sizes = [mat1.shape[0], mat2.shape[1]]
    if is_sparse(self._data):
        raise NotImplementedError("gradcli adds products to dense matrices, not to sparse ones")
    for dim in range(1, self.ndim + 1):
        if self.shape[-dim] not in (1, sizes[-dim]):
            raise RuntimeError(
                f"The expanded size of the tensor ({sizes[-dim]}) must match the existing size "
                f"({self.shape[-dim]}) at non-singleton dimension {2 - dim}.  Target sizes: "
                f"{sizes}.  Tensor sizes: {list(self.shape)}"
            )


_MATRICES: dict[str, Any] = {
    "self": lambda grad, self_shape, beta: maybe_multiply(sum_to(grad, self_shape), beta),
    "mat1": lambda grad, mat2, mat1_sym_sizes, mat1_sym_strides, alpha: maybe_multiply(
        mm(grad, t(mat2)), alpha
    ),
    "mat2": lambda grad, mat1, mat2_sym_sizes, mat2_sym_strides, alpha: maybe_multiply(
        mm(t(mat1), grad), alpha
    ),
}

sparse_form(
    addmm,
    _plus_product,
    formulas=_MATRICES,
    check=_check_added,
    cost=lambda self, mat1, mat2, beta, alpha: product_room(mat1, mat2),
    samples=("torch.addmm(x, x[:, :2].to_sparse(), x)",),
)


def _sparse_left(grad: Any, mat1: Any, mat2: Any, alpha: Any) -> Any:
    """A gradient at the places of the sparse matrix alone."""
    whole = maybe_multiply(mm(grad, t(mat2)), alpha)
    if not is_sparse(mat1._data) or is_sparse(whole._data):
        return whole
    return sparse_mask(whole, coalesced(mat1) if mat1.is_sparse else mat1)


sparse_addmm = operator(
    "_sparse_addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) "
    "-> Tensor",
    node="SparseAddmmBackward0",
    layout=SPARSE,
    where="hidden",
    check=_check_added,
    cost=lambda self, mat1, mat2, beta, alpha: product_room(mat1, mat2),
    forward=_plus_product,
    self=_MATRICES["self"],
    mat1=lambda grad, mat1, mat2, alpha: _sparse_left(grad, mat1, mat2, alpha),
    mat2=_MATRICES["mat2"],
    doc="beta * self + alpha * (mat1 @ mat2), where mat1 is sparse.",
    samples=("torch.sparse.mm(x.to_sparse(), a)",),
)


# ---- torch.sparse


def _projected(xp: Any, self: Any, mask: Any) -> Any:
    _, hit = looked_up(xp, mask.coordinates().coalesced(), self)
    return self.with_values(xp.where(hit, self.values, 0))


projection = operator(
    "_sparse_mask_projection(Tensor self, Tensor mask) -> Tensor",
    node="torch::autograd::NotImplemented",
    layout=SPARSE,
    where="hidden",
    forward=_projected,
    doc="A sparse tensor with zeros where another one has no element.",
    samples=(
        "torch.autograd.grad("
        "torch.sparse.sum(torch.sparse.mm(x.to_sparse(), a.to_sparse())), x)[0]",
    ),
)


def _pair_left(grad: Any, self: Any, other: Any) -> Any:
    return projection(coalesced(sparse_pair(grad, t(other))), coalesced(self))


def _pair_right(grad: Any, self: Any, other: Any) -> Any:
    return projection(coalesced(sparse_pair(t(self), grad)), coalesced(other))


def _check_pair(self: Any, other: Any) -> None:
    if not (self.is_sparse and other.is_sparse):
        raise RuntimeError(
            "the product of two sparse matrices takes a sparse gradient: sum it with "
            "torch.sparse.sum"
        )
    _check_product(self, other)


sparse_pair = operator(
    "_sparse_sparse_matmul(Tensor self, Tensor other) -> Tensor",
    node="SparseSparseMatmulBackward0",
    layout=SPARSE,
    where="hidden",
    check=_check_pair,
    cost=product_room,
    forward=lambda xp, self, other: _of_two(xp, self, other),
    self=lambda grad, self, other: _pair_left(grad, self, other),
    other=lambda grad, self, other: _pair_right(grad, self, other),
    doc="The product of two sparse matrices.",
    samples=("torch.sparse.mm(x.to_sparse(), a.to_sparse()).to_dense()",),
)


def _sparse_mm(mat1: Any, mat2: Any) -> Any:
    if mat1.is_sparse and mat2.is_sparse:
        return sparse_pair.run(mat1, mat2)
    if is_sparse(mat1._data) and is_sparse(mat2._data):
        return _mm.run(mat1, mat2)
    if mat2.ndim < 2:
        raise IndexError("Dimension out of range (expected to be in range of [-1, 0], but got 1)")
    if not is_sparse(mat1._data):
        return mt(_onto_zeros(mt(mat2), mt(mat1), mat1))
    return _onto_zeros(mat1, mat2, mat2)


def _onto_zeros(mat1: Any, mat2: Any, like: Any) -> Any:
    zeros = like.new_zeros((mat1.shape[0], mat2.shape[1]))
    return sparse_addmm.run(zeros, mat1, mat2, 0, 1)


composite(
    "_sparse_mm(Tensor mat1, Tensor mat2) -> Tensor",
    _sparse_mm,
    where="hidden",
    doc="The product of two matrices, sparse or dense.",
    samples=("torch.sparse.mm(x.to_sparse(), a)",),
)
composite(
    "mm.of(Tensor mat1, Tensor mat2) -> Tensor",
    _sparse_mm,
    where="sparse",
    doc="The product of two matrices; the gradient of a sparse one keeps its places.",
    samples=("torch.sparse.mm(x.to_sparse(), a)", "torch.sparse.mm(x, a.to_sparse())"),
)
composite(
    "addmm.of(Tensor mat, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    lambda mat, mat1, mat2, beta, alpha: sparse_addmm.run(mat, mat1, mat2, beta, alpha),
    where="sparse",
    doc="beta * mat + alpha * (mat1 @ mat2), where mat1 is sparse.",
    samples=("torch.sparse.addmm(x, x[:, :2].to_sparse(), x, beta=2, alpha=3)",),
)
composite(
    "spmm(Tensor input, Tensor mat2) -> Tensor",
    lambda input, mat2: mm(input, mat2),
    where="torch",
    doc="The product of two matrices: torch.mm.",
    samples=("torch.spmm(x.to_sparse(), a)", "torch.spmm(x, a)"),
)


# ---- what PyTorch composes of them


def _matmul(self: Any, other: Any) -> Any:
    if self.ndim == 2 and other.ndim == 2:
        return mm(self, other)
    if self.ndim == 2 and other.ndim == 1 and is_sparse(self._data):
        return mv(self, other)
    if self.ndim == 1 and other.ndim == 2 and not is_sparse(self._data):
        return mv(t(other), self)
    if other.ndim == 2 and self.ndim > 2 and not is_sparse(self._data):
        flat = self.reshape((-1, self.shape[-1]))
        return mm(flat, other).reshape((*self.shape[:-1], other.shape[-1]))
    if is_sparse(self._data) and other.ndim == 2:
        raise RuntimeError("reshape is not implemented for sparse tensors")
    raise RuntimeError("expand is unsupported for Sparse tensors")


composite(
    "matmul.sparse(Tensor self, Tensor other) -> Tensor",
    _matmul,
    where="hidden",
    doc=matmul.doc,
    samples=("x.to_sparse() @ a", "x.to_sparse() @ v"),
)


def _linear(input: Any, weight: Any, bias: Any) -> Any:
    if bias is None:
        return _matmul(input, t(weight))
    if input.ndim == 2 and not is_sparse(bias._data):
        return addmm(bias, input, t(weight), 1, 1)
    return _matmul(input, t(weight)) + bias


composite(
    "linear.sparse(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
    _linear,
    where="hidden",
    doc=linear.doc,
    samples=("F.linear(x.to_sparse(), x)",),
)
