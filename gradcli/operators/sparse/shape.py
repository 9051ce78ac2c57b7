"""Operators: dimensions of sparse tensors turned, picked, added, put together."""

from __future__ import annotations

from typing import Any

from ...engine.schema.mode import state
from ...engine.schema.operator import composite, operator
from ...engine.schema.row import SPARSE
from ..geometry import wrap_dim
from ..shape.join import cat, stack
from ..shape.select import select
from ..shape.shape import expand
from ..shape.split import unbind
from ..shape.squeeze import unsqueeze
from ..shape.transposed import permute, t, transpose
from .forms import coordinates, is_sparse, sparse_form


def _turned(xp: Any, self: Any) -> Any:
    sparse, dense = (self.sparse_dim, self.dense_dim) if self.layout == "sparse_coo" else (2, 0)
    if sparse > 2 or dense:
        raise RuntimeError(
            f"t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got {sparse} "
            f"sparse and {dense} dense dimensions"
        )
    return _swapped(xp, self, 0, 0 if sparse < 2 else 1)


def _swapped(xp: Any, self: Any, dim0: int, dim1: int) -> Any:
    first, second = wrap_dim(dim0, self.ndim), wrap_dim(dim1, self.ndim)
    held = self.coordinates()
    if first == second:
        return self
    if max(first, second) >= held.sparse_dim:
        raise RuntimeError(
            "sparse transpose: transposed dimensions must be sparse Got sparse_dim: "
            f"{held.sparse_dim}, d0: {first}, d1: {second}"
        )
    order = list(range(self.ndim))
    order[first], order[second] = second, first
    return _reordered(held, order)


def _reordered(held: Any, order: list[int]) -> Any:
    same = order == sorted(order)
    indices = held.indices[order[: held.sparse_dim]]
    shape = [held.shape[d] for d in order]
    return coordinates(indices, held.values, shape, same and held.is_coalesced)


def _permuted(xp: Any, self: Any, dims: Any) -> Any:
    order = [wrap_dim(dim, self.ndim) for dim in dims]
    held = self.coordinates()
    if sorted(order[: held.sparse_dim]) != list(range(held.sparse_dim)):
        raise RuntimeError("transpositions between sparse and dense dimensions are not allowed.")
    out = _reordered(held, order)
    dense = [0, *(d - held.sparse_dim + 1 for d in order[held.sparse_dim :])]
    return out.with_values(held.values.transpose(dense))


sparse_form(t, _turned, samples=("x.to_sparse().t().to_dense()",))
sparse_form(transpose, _swapped, samples=("x.to_sparse().transpose(0, 1).to_dense()",))
sparse_form(permute, _permuted, samples=("x.to_sparse().permute(1, 0).to_dense()",))


def _picked(xp: Any, self: Any, dim: int, index: int) -> Any:
    held, dim = self.coordinates(), wrap_dim(dim, self.ndim)
    size = held.shape[dim]
    if not -size <= index < size:
        raise IndexError(f"index {index} is out of bounds for dimension {dim} with size {size}")
    index %= size
    shape = [n for d, n in enumerate(held.shape) if d != dim]
    if dim >= held.sparse_dim:
        values = held.values.take(index, axis=dim - held.sparse_dim + 1)
        return coordinates(held.indices, values, shape, held.is_coalesced)
    hit = held.indices[dim] == index
    values = held.values[hit]
    if held.sparse_dim == 1:
        return values.sum(axis=0, dtype=held.dtype)
    rest = [d for d in range(held.sparse_dim) if d != dim]
    return coordinates(held.indices[rest][:, hit], values, shape, held.is_coalesced)


sparse_form(select, _picked, samples=("x.detach().to_sparse()[0].to_dense()",))


def _check_apart(self: Any, dim: int) -> None:
    """Each slice looks through all elements."""
    slices = self.shape[wrap_dim(dim, self.ndim)]
    state.charge(slices * (16 + (self._data.nbytes >> 7)))


def _apart(xp: Any, self: Any, dim: int) -> Any:
    dim = wrap_dim(dim, self.ndim)
    found = [_picked(xp, self, dim, place) for place in range(self.shape[dim])]
    return tuple(x.with_values(x.values, False) if is_sparse(x) else x for x in found)


sparse_form(
    unbind, _apart, check=_check_apart, samples=("x.detach().to_sparse().unbind()[1].to_dense()",)
)


def _with_dimension(xp: Any, self: Any, dim: int) -> Any:
    held, dim = self.coordinates(), wrap_dim(dim, self.ndim + 1)
    shape = [*held.shape[:dim], 1, *held.shape[dim:]]
    if dim > held.sparse_dim:
        values = xp.expand_dims(held.values, dim - held.sparse_dim + 1)
        return coordinates(held.indices, values, shape, held.is_coalesced)
    row = xp.zeros((1, held.nnz), dtype="int64")
    indices = xp.concatenate([held.indices[:dim], row, held.indices[dim:]])
    return coordinates(indices, held.values, shape)


sparse_form(unsqueeze, _with_dimension, samples=("x.detach().to_sparse()[None].to_dense()",))


def _check_alike(tensors: Any) -> None:
    if not all(map(is_sparse, tensors)):
        raise RuntimeError(
            f"Concatenating sparse tensors, but a dense tensor was found at position "
            f"{next(n for n, each in enumerate(tensors) if not is_sparse(each))}."
        )


def _joined(xp: Any, tensors: Any, dim: int) -> Any:
    _check_alike(tensors)
    parts = [each.coordinates() for each in tensors]
    first, dim = parts[0], wrap_dim(dim, parts[0].ndim)
    if dim >= first.sparse_dim:
        raise RuntimeError("gradcli puts sparse tensors together along their sparse dimensions")
    indices, start = [], 0
    for part in parts:
        moved = part.indices.copy()
        moved[dim] += start
        indices.append(moved)
        start += part.shape[dim]
        rest = [n for d, n in enumerate(part.shape) if d != dim]
        if rest != [n for d, n in enumerate(first.shape) if d != dim]:
            raise RuntimeError(
                "Sizes of tensors must match except in dimension "
                f"{dim}. Expected {list(first.shape)} but got {list(part.shape)}"
            )
    shape = [*first.shape]
    shape[dim] = start
    values = xp.concatenate([part.values for part in parts])
    return coordinates(xp.concatenate(indices, axis=1), values, shape)


def _stacked(xp: Any, tensors: Any, dim: int) -> Any:
    _check_alike(tensors)
    dim = wrap_dim(dim, len(tensors[0].shape) + 1)
    return _joined(xp, [_with_dimension(xp, each, dim) for each in tensors], dim)


sparse_form(cat, _joined, samples=("torch.cat([x.detach().to_sparse()] * 2).to_dense()",))
sparse_form(stack, _stacked, samples=("torch.stack([x.to_sparse()] * 2).to_dense()",))


def _no_expansion(xp: Any, self: Any, size: Any, implicit: bool) -> Any:
    raise RuntimeError("expand is unsupported for Sparse tensors")


sparse_form(
    expand, _no_expansion, samples=("x.expand(2, 3)",), errors=("x.to_sparse().expand(2, 3)",)
)


def _filled(xp: Any, self: Any, value: float) -> Any:
    if self.layout != "sparse_coo":
        return self.with_values(xp.full_like(self.values, value))
    if value:
        raise NotImplementedError(
            "Could not run 'aten::fill_.Scalar' with arguments from the 'SparseCPU' backend."
        )
    return coordinates(self.indices[:, :0], self.values[:0], self.shape)


filled_like = operator(
    "_filled_like(Tensor self, float value) -> Tensor",
    layout=SPARSE,
    where="hidden",
    forward=_filled,
    doc="A sparse tensor of the same size: without elements, or one by its rows with this one.",
    samples=("torch.zeros_like(x.detach().to_sparse()).to_dense()",),
)


def _like(value: float) -> Any:
    def body(self: Any, dtype: Any, device: Any, requires_grad: bool, *more: Any) -> Any:
        out = filled_like.run(self, value)
        out = out if dtype is None else out.to(dtype)
        return out.requires_grad_() if requires_grad else out

    return body


for _name, _value in (("zeros_like", 0.0), ("empty_like", 0.0), ("ones_like", 1.0)):
    composite(
        f"{_name}.sparse(Tensor self, ScalarType? dtype, Device? device, bool requires_grad) "
        "-> Tensor",
        _like(_value),
        where="hidden",
        doc="A sparse tensor of the same size and layout.",
        samples=(f"torch.{_name}(x.detach().to_sparse_csr()).to_dense().shape",),
    )

composite(
    "is_same_size(Tensor self, Tensor other) -> bool",
    lambda self, other: self.shape == other.shape,
    doc="Whether two tensors have one size.",
    samples=("x.is_same_size(y)", "torch.is_same_size(x, v)"),
)


def _no_reshape(self: Any, *rest: Any) -> Any:
    raise RuntimeError("reshape is not implemented for sparse tensors")


composite(
    "reshape.sparse(Tensor self, int[] shape) -> Tensor",
    _no_reshape,
    where="hidden",
    doc="PyTorch has no other shapes of sparse tensors.",
    samples=("x.to_sparse().to_dense().reshape((-1,))",),
)
