"""Operators: between the layouts: to_sparse, to_dense, coalesce, and masks of coordinates."""

from __future__ import annotations

from typing import Any

from ...engine.schema.operator import composite, operator
from ...engine.schema.row import SPARSE
from ...engine.tensors.conversion import converted
from ..shape.cast import copy, to_copy, zero
from ..shape.shape import clone
from .forms import at, coordinates, expected_coordinates, is_sparse, rows_of, sparse_form
from .warnings import BETA, warn_once

# ---- at the places of another one


def _masked(xp: Any, self: Any, mask: Any) -> Any:
    if self.shape != mask.shape:
        raise RuntimeError(
            "sparse_mask(): operands have incompatible sizes; self has size "
            f"{list(self.shape)} but mask has size {list(mask.shape)}"
        )
    held = mask.coordinates()
    if is_sparse(self):
        values, _ = looked_up(xp, self.coordinates().coalesced(), held)
    else:
        values = at(self, held)
    return mask.with_values(values)


def looked_up(xp: Any, held: Any, mask: Any) -> tuple[Any, Any]:
    """The elements of coalesced coordinates at other ones, and where there is one; else zero."""
    values = xp.zeros((mask.nnz, *held.values.shape[1:]), dtype=held.dtype)
    hit = xp.zeros(mask.nnz, dtype=bool)
    if held.nnz and mask.nnz:
        known, asked = held.places(), mask.places()
        found = xp.minimum(xp.searchsorted(known, asked), held.nnz - 1)
        hit = known[found] == asked
        values[hit] = held.values[found[hit]]
    return values, hit


sparse_mask = operator(
    "sparse_mask(Tensor self, Tensor mask) -> Tensor",
    node="SparseMaskBackward0",
    layout=SPARSE,
    where="hidden",
    forward=_masked,
    self=lambda grad, mask, self_layout: in_layout(sparse_mask(grad, mask), self_layout),
    doc="The elements at the places of a sparse tensor.",
    samples=("x.sparse_mask(x.detach().to_sparse()).to_dense()",),
)


def in_layout(grad: Any, layout: Any) -> Any:
    """A gradient as its tensor keeps its elements: strided, or as it came."""
    if layout.name == "strided" and is_sparse(grad._data):
        return dense(grad)
    return grad


def _face_of_mask(self: Any, mask: Any) -> Any:
    if not is_sparse(mask._data):
        raise RuntimeError("sparse_mask(): expected mask to be a sparse tensor")
    return sparse_mask.run(self, mask)


composite(
    "sparse_mask.of(Tensor self, Tensor mask) -> Tensor",
    _face_of_mask,
    where="method",
    doc="The elements at the places of a sparse tensor, which the result has too.",
    samples=("x.sparse_mask(x.detach().to_sparse()).to_dense()",),
)

# ---- dense


def _room(self: Any, *rest: Any) -> int:
    """The elements of a dense tensor of that size."""
    return int(self.numel())


dense = operator(
    "_to_dense(Tensor self) -> Tensor",
    node="ToDenseBackward0",
    layout=SPARSE,
    where="hidden",
    forward=lambda xp, self: self.dense(),
    self=lambda grad, self: sparse_mask(grad, coalesced(self) if self.is_sparse else self),
    cost=_room,
    doc="A sparse tensor with all its elements; the gradient keeps its places.",
    samples=("x.to_sparse().to_dense()",),
)

dense_whole = operator(
    "_to_dense.unmasked(Tensor self) -> Tensor",
    node="ToDenseBackward0",
    layout=SPARSE,
    where="hidden",
    forward=lambda xp, self: self.dense(),
    self=lambda grad, self: to_coordinates_whole(grad),
    cost=_room,
    doc="A sparse tensor with all its elements; the gradient has all places.",
    samples=("x.to_sparse().to_dense(masked_grad=False)",),
)


def _to_dense(self: Any, dtype: Any, masked_grad: Any) -> Any:
    if not is_sparse(self._data):
        return self if dtype is None else self.to(dtype)
    if dtype is not None:
        raise RuntimeError("dtype argument is not supported by sparse_to_dense")
    return (dense_whole if masked_grad is False else dense).run(self)


composite(
    "to_dense(Tensor self, ScalarType? dtype=None, *, bool? masked_grad=None) -> Tensor",
    _to_dense,
    where="method",
    doc="The tensor with all its elements; a dense one is returned as it is.",
    samples=("x.to_sparse().to_dense()", "x.to_dense()"),
)

# ---- coalesced

coalesced_row = operator(
    "_coalesce(Tensor self) -> Tensor",
    node="CoalesceBackward0",
    layout=SPARSE,
    where="hidden",
    forward=lambda xp, self: self.coalesced(),
    self=lambda grad: grad,
    doc="A sparse tensor that names each place once.",
    samples=("torch.sparse_coo_tensor([[0, 0]], v[:2], (3,)).coalesce().to_dense()",),
)


def coalesced(self: Any) -> Any:
    """x.coalesce()"""
    expected_coordinates("coalesce", self)
    return self if self._data.is_coalesced else coalesced_row.run(self)


composite(
    "coalesce(Tensor self) -> Tensor",
    coalesced,
    where="method",
    doc="A sparse tensor that names each place once, in row-major order.",
    samples=("torch.sparse_coo_tensor([[0, 0]], v[:2], (3,)).coalesce().to_dense()",),
    errors=("x.coalesce()",),
)

# ---- sparse


def _gathered(xp: Any, self: Any, sparse_dim: int) -> Any:
    if is_sparse(self):
        return self.coordinates()
    flat = self.reshape((*self.shape[:sparse_dim], -1))
    kept = (flat != 0).any(axis=-1)
    indices = xp.stack(xp.nonzero(kept)) if sparse_dim else xp.zeros((0, 1), dtype="int64")
    return coordinates(indices.astype("int64"), self[kept], self.shape, True)


def _check_sparse_dim(self: Any, sparse_dim: int) -> None:
    if not 0 <= sparse_dim <= self.ndim:
        raise RuntimeError(
            f"dense_to_sparse: sparse_dim argument must be in [0,{self.ndim}] range, but "
            f"{sparse_dim} is given"
        )
    if self.ndim and not sparse_dim:
        raise RuntimeError("dense_to_sparse: sparse_dim argument must be in >0 when self.dim()>0")


to_coordinates = operator(
    "_to_sparse.sparse_dim(Tensor self, int sparse_dim) -> Tensor",
    node="ToSparseBackward0",
    layout=SPARSE,
    where="hidden",
    check=_check_sparse_dim,
    forward=_gathered,
    self=lambda grad, self_layout: in_layout(grad, self_layout),
    doc="A tensor that keeps the slices with an element other than zero.",
    samples=("x.to_sparse(1).to_dense()",),
)

to_coordinates_whole = operator(
    "_to_sparse(Tensor self) -> Tensor",
    node="ToSparseBackward1",
    layout=SPARSE,
    where="hidden",
    forward=lambda xp, self: _gathered(xp, self, self.ndim),
    self=lambda grad, self_layout: in_layout(grad, self_layout),
    doc="A tensor that keeps the elements other than zero.",
    samples=("x.to_sparse().to_dense()",),
)


def _matrix_rows(xp: Any, self: Any) -> Any:
    return rows_of(_gathered(xp, self, 2))


def _check_matrix(self: Any) -> None:
    if self.ndim < 2:
        raise RuntimeError(
            "dense_to_sparse_csr: The dimensions of the input tensor must be at least 2, but got "
            f"{self.ndim}"
        )
    if self.ndim > 2:
        raise RuntimeError("gradcli has matrices of the layout torch.sparse_csr, and nothing else")


def _rows_under(name: str, node: str, sample: str) -> Any:
    return operator(
        f"{name}(Tensor self) -> Tensor",
        node=node,
        layout=SPARSE,
        where="hidden",
        check=_check_matrix,
        cost=lambda self: 2 * self.shape[0],
        forward=_matrix_rows,
        self=lambda grad, self_layout: from_rows(grad, self_layout),
        doc="A matrix that keeps the elements other than zero, by its rows.",
        samples=(sample,),
    )


to_rows = _rows_under("_to_sparse_csr", "ToSparseCsrBackward0", "x.to_sparse_csr().to_dense()")
to_rows_by_layout = _rows_under(
    "_to_sparse.csr", "ToSparseBackward1", "x.to_sparse(layout=torch.sparse_csr).to_dense()"
)


def from_rows(grad: Any, layout: Any) -> Any:
    """A gradient of a matrix by its rows, as its tensor keeps its elements."""
    if layout.name == "sparse_coo" and is_sparse(grad._data) and not grad.is_sparse:
        return to_coordinates_whole(grad)
    return in_layout(grad, layout)


def _to_sparse(self: Any, layout: Any, blocksize: Any, dense_dim: Any) -> Any:
    wanted = "sparse_coo" if layout is None else layout.name
    if wanted == self.layout.name:
        return self
    if wanted == "sparse_csr":
        warn_once(BETA)
        return to_rows_by_layout.run(self)
    if wanted != "sparse_coo":
        raise RuntimeError(f"to_sparse: gradcli has no layout {layout!r}")
    if dense_dim:
        return to_coordinates.run(self, self.ndim - dense_dim)
    return to_coordinates_whole.run(self)


def _to_sparse_dim(self: Any, sparse_dim: int) -> Any:
    if self.is_sparse:
        if self._data.sparse_dim != sparse_dim:
            raise RuntimeError(
                "to_sparse: conversion from Sparse to Sparse with sparse_dim argument "
                "!=self.sparse_dim() is not supported"
            )
        return self
    return to_coordinates.run(self, sparse_dim)


def _to_sparse_csr(self: Any, dense_dim: Any) -> Any:
    if self.layout.name == "sparse_csr":
        return self
    warn_once(BETA)
    return to_rows.run(self)


composite(
    "to_sparse.sparse_dim(Tensor self, int sparse_dim) -> Tensor",
    _to_sparse_dim,
    where="method",
    doc="A tensor that keeps the slices with an element other than zero, by coordinates (COO).",
    samples=("x.to_sparse(1).to_dense()",),
    errors=("x.to_sparse(0)", "x.to_sparse(3)"),
)
composite(
    "to_sparse(Tensor self, *, Layout? layout=None, any blocksize=None, int? dense_dim=None) "
    "-> Tensor",
    _to_sparse,
    where="method",
    doc="A tensor that keeps the elements other than zero, by coordinates (COO).",
    samples=("x.to_sparse().to_dense()", "x.to_sparse(layout=torch.sparse_csr).to_dense()"),
)
composite(
    "to_sparse_coo(Tensor self) -> Tensor",
    lambda self: _to_sparse(self, None, None, None),
    where="method",
    doc="A tensor that keeps the elements other than zero, by coordinates (COO).",
    samples=("x.to_sparse_coo().to_dense()",),
)
composite(
    "to_sparse_csr(Tensor self, int? dense_dim=None) -> Tensor",
    _to_sparse_csr,
    where="method",
    doc="A matrix that keeps the elements other than zero, by its rows (CSR).",
    samples=("x.to_sparse_csr().to_dense()",),
)

# ---- copies

sparse_form(
    clone,
    lambda xp, self, memory_format: self.copy(),
    samples=("x.to_sparse().clone().to_dense()",),
)
sparse_form(
    to_copy,
    lambda xp, self, dtype, device: self.with_values(converted(self.values, dtype, device)),
    samples=("x.to_sparse().double().to_dense()",),
)


# ---- in place


def _written(xp: Any, self: Any, src: Any, non_blocking: bool) -> Any:
    if not (is_sparse(self) and is_sparse(src)):
        raise RuntimeError(
            "copy_() between dense and sparse Tensors is not implemented! Found self type = "
            f"{_type_of(self)} and src type = {_type_of(src)}"
        )
    return src.copy()


def _type_of(operand: Any) -> str:
    from ...engine.schema.dtypes import OF_ARRAY

    place = "torch.sparse" if is_sparse(operand) else "torch"
    return f"{place}.{OF_ARRAY[operand.dtype.name].word}Tensor"


sparse_form(
    copy, _written, samples=("y.detach().to_sparse().copy_(x.detach().to_sparse()).to_dense()",)
)


def _emptied(xp: Any, self: Any) -> Any:
    if self.layout != "sparse_coo":
        return self.with_values(xp.zeros_like(self.values))
    return coordinates(self.indices[:, :0], self.values[:0], self.shape)


sparse_form(zero, _emptied, samples=("x.detach().to_sparse().zero_().to_dense()",))
