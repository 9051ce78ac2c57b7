"""Operators: sums of sparse tensors, and softmax over the elements that they keep."""

from __future__ import annotations

from typing import Any

from ...engine.schema.operator import catalogue, composite, operator
from ...engine.schema.row import SPARSE
from ...numerics.rounding import precise
from ...numerics.summation import sum_of
from ..geometry import wrap_dim
from ..reduce.reduce import sum_dim
from ..shape.cast import to_copy
from .convert import coalesced, looked_up
from .create import elements
from .forms import coordinates, expected_coordinates, is_sparse, sparse_form

# ---- sums


def _sum(xp: Any, self: Any, dtype: Any) -> Any:
    return sum_of(xp, self.values, None, False, dtype)


def _wrapped(dims: Any, ndim: int) -> tuple[int, ...]:
    found = tuple(wrap_dim(dim, ndim) for dim in dims)
    if len(set(found)) != len(found):
        raise RuntimeError("dim appears multiple times in the list of dims")
    return found


def _summed(xp: Any, self: Any, dims: tuple[int, ...]) -> Any:
    """Without these dimensions; an array where no sparse one is left."""
    held = self.coalesced()
    dense = tuple(d - held.sparse_dim + 1 for d in dims if d >= held.sparse_dim)
    values = held.values.sum(axis=dense, dtype=held.dtype) if dense else held.values
    kept = [d for d in range(held.sparse_dim) if d not in dims]
    if not kept:
        return sum_of(xp, values, (0,), False, None) if held.sparse_dim else values
    shape = [size for d, size in enumerate(held.shape) if d not in dims]
    return coordinates(held.indices[kept], values, shape).coalesced()


def _sum_dims(xp: Any, self: Any, dim: Any, keepdim: bool, dtype: Any) -> Any:
    if self.layout != "sparse_coo":
        raise RuntimeError("reduction operations on CSR tensors with keepdim=False is unsupported")
    dims = _wrapped(range(len(self.shape)) if not dim and dim != 0 else dim, len(self.shape))
    found = _summed(xp, self, dims)
    if keepdim and is_sparse(found):
        at = [d for d in range(self.sparse_dim) if d not in dims]
        indices = xp.zeros((self.sparse_dim, found.nnz), dtype="int64")
        indices[at] = found.indices
        shape = [1 if d in dims else size for d, size in enumerate(self.shape)]
        values = found.values.reshape((found.nnz, *shape[self.sparse_dim :]))
        return coordinates(indices, values, shape)
    return found


_whole = catalogue.row("sum")  # `reduce` has declared it
sparse_form(_whole, _sum, samples=("x.to_sparse().sum()",))
sparse_form(sum_dim, _sum_dims, samples=("x.detach().to_sparse().sum(1).to_dense()",))


def _sum_back(xp: Any, grad: Any, self: Any, dim: Any) -> Any:
    """The gradient of each element is that of the sum that it is in."""
    self = self.coalesced()
    dims = _wrapped(dim, len(self.shape))
    kept = [d for d in range(self.sparse_dim) if d not in dims]
    if is_sparse(grad):
        asked = coordinates(self.indices[kept], self.values, [self.shape[d] for d in kept])
        values, _ = looked_up(xp, grad.coalesced(), asked)
    else:
        values = xp.broadcast_to(grad, (self.nnz, *grad.shape))
    dense = [d - self.sparse_dim + 1 for d in dims if d >= self.sparse_dim]
    for place in sorted(dense):
        values = xp.expand_dims(values, place)
    return self.with_values(xp.array(xp.broadcast_to(values, self.values.shape)))


sum_backward = operator(
    "_sparse_sum_backward(Tensor grad, Tensor self, int[] dim) -> Tensor",
    node="torch::autograd::NotImplemented",
    layout=SPARSE,
    where="hidden",
    forward=_sum_back,
    doc="The gradient of a sum of a sparse tensor, at its places.",
    samples=("torch.autograd.grad(torch.sparse.sum(x.to_sparse(), 1).to_dense().sum(), x)[0]",),
)

sparse_sum = operator(
    "_sparse_sum.dim(Tensor self, int[1] dim) -> Tensor",
    node="SparseSumBackward0",
    layout=SPARSE,
    where="hidden",
    forward=lambda xp, self, dim: _summed(xp, self, _wrapped(dim, len(self.shape))),
    self=lambda grad, self, dim: sum_backward(grad, self, dim),
    doc="The sum of a sparse tensor over some dimensions.",
    samples=("torch.sparse.sum(x.to_sparse(), 1).to_dense()",),
)


def _sparse_sum_of(input: Any, dim: Any, dtype: Any) -> Any:
    expected_coordinates("coalesce", input)
    if dim is None:
        return _whole.run(elements(coalesced(input)), dtype)
    if dtype is not None:
        input = to_copy(input, dtype, None)
    return sparse_sum.run(input, dim)


composite(
    "sum.of(Tensor input, int[1]? dim=None, ScalarType? dtype=None) -> Tensor",
    _sparse_sum_of,
    where="sparse",
    doc="The sum of a sparse tensor; of some dimensions it is sparse while one is left.",
    samples=(
        "torch.sparse.sum(x.to_sparse())",
        "torch.sparse.sum(x.to_sparse(), 0).to_dense()",
        "torch.sparse.sum(x.to_sparse(), [0, 1])",
    ),
    errors=("torch.sparse.sum(x)",),
)

# ---- softmax


def _pools(xp: Any, held: Any, dim: int) -> tuple[Any, int]:
    """Which elements are normalised together: all that differ in this dimension alone."""
    others = [row for d, row in enumerate(held.indices) if d != dim]
    if not others:
        return xp.zeros(held.nnz, dtype="int64"), 1
    found, pools = xp.unique(xp.stack(others), axis=1, return_inverse=True)
    return pools.reshape(-1), found.shape[1]


def _softmax(xp: Any, self: Any, dim: int, logarithm: bool) -> Any:
    held = self.coalesced()
    dim = wrap_dim(dim, len(held.shape))
    if not held.nnz:
        return held
    if dim >= held.sparse_dim:
        values, axis = held.values, dim - held.sparse_dim + 1
        shifted = values - values.max(axis=axis, keepdims=True)
        powers = precise(xp.exp, shifted)
        sums = powers.sum(axis=axis, keepdims=True)
        return held.with_values(shifted - xp.log(sums) if logarithm else powers / sums)
    pools, count = _pools(xp, held, dim)
    size = (count, *held.values.shape[1:])
    largest = xp.full(size, -xp.inf, dtype=held.dtype)
    xp.maximum.at(largest, pools, held.values)
    shifted = held.values - largest[pools]
    powers = precise(xp.exp, shifted)
    sums = xp.zeros(size, dtype=held.dtype)
    xp.add.at(sums, pools, powers)
    if logarithm:
        return held.with_values(held.values - (largest + precise(xp.log, sums))[pools])
    return held.with_values(powers / sums[pools])


def _softmax_back(xp: Any, grad: Any, output: Any, dim: int, logarithm: bool) -> Any:
    dim = wrap_dim(dim, len(output.shape))
    held = output.coalesced()
    grads, _ = looked_up(xp, grad.coordinates().coalesced(), held) if is_sparse(grad) else (
        grad[tuple(held.indices)], None
    )  # fmt: skip
    values = held.values
    parts = grads if logarithm else grads * values
    if dim >= held.sparse_dim:
        sums = parts.sum(axis=dim - held.sparse_dim + 1, keepdims=True)
    else:
        pools, count = _pools(xp, held, dim)
        sums = xp.zeros((count, *values.shape[1:]), dtype=values.dtype)
        xp.add.at(sums, pools, parts)
        sums = sums[pools]
    if logarithm:
        return held.with_values(grads - precise(xp.exp, values) * sums, False)
    return held.with_values((grads - sums) * values, False)


def _normalised(name: str, node: str, face: str, logarithm: bool, doc: str) -> None:
    backward = operator(
        f"{name}_backward_data(Tensor grad_output, Tensor output, int dim) -> Tensor",
        node="torch::autograd::NotImplemented",
        layout=SPARSE,
        where="hidden",
        forward=lambda xp, grad, output, dim: _softmax_back(xp, grad, output, dim, logarithm),
        doc=f"The gradient of {face} over the elements of a sparse tensor.",
        samples=(
            f"torch.autograd.grad(torch.sparse.{face}(x.to_sparse(), 1).to_dense()[0, 1], x)[0]",
        ),
    )
    row = operator(
        f"{name}(Tensor self, int dim) -> Tensor",
        node=node,
        layout=SPARSE,
        where="hidden",
        forward=lambda xp, self, dim: _softmax(xp, self, dim, logarithm),
        self=lambda grad, self, dim, result: backward(grad, result, dim),
        doc=doc,
        samples=(f"torch.sparse.{face}(x.to_sparse(), 1).to_dense()",),
    )

    def body(input: Any, dim: int, dtype: Any) -> Any:
        if not input.is_sparse:
            backend = f"{getattr(input._data, 'word', '')}CPU"
            raise NotImplementedError(
                f"Could not run 'aten::{name}' with arguments from the '{backend}' backend."
            )
        return row.run(input if dtype is None else to_copy(input, dtype, None), dim)

    composite(
        f"{face}.of(Tensor input, int dim, *, ScalarType? dtype=None) -> Tensor",
        body,
        where="sparse",
        doc=doc,
        samples=(f"torch.sparse.{face}(x.to_sparse(), 1).to_dense()",),
    )


_normalised(
    "_sparse_softmax", "SparseSoftmaxBackward0", "softmax", False,
    "Softmax over the elements that a sparse tensor keeps; all others count as minus infinity.",
)  # fmt: skip
_normalised(
    "_sparse_log_softmax", "SparseLogSoftmaxBackward0", "log_softmax", True,
    "The logarithm of softmax over the elements that a sparse tensor keeps.",
)  # fmt: skip
