"""Operators: tensors of a sparse layout, made from their parts, and their parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.schema.operator import composite, operator
from ...engine.schema.row import SPARSE
from .convert import sparse_mask
from .forms import check_indices, coordinates, expected_coordinates, is_sparse, layout_of
from .warnings import BETA, warn_once, warn_unchecked

# ---- coordinates


def _assembled(
    xp: Any, sparse_dim: int, dense_dim: int, size: Any, indices: Any, values: Any, coalesced: Any
) -> Any:
    return coordinates(indices, values, size, bool(coalesced))


assembled = operator(
    "_sparse_coo_tensor_with_dims_and_tensors(int sparse_dim, int dense_dim, int[] size, "
    "Tensor indices, Tensor values, *, bool? is_coalesced=None) -> Tensor",
    node="SparseCooTensorWithDimsAndTensorsBackward0",
    layout=SPARSE,
    where="hidden",
    dtype=lambda sparse_dim, dense_dim, size, indices, values, coalesced: values.dtype,
    forward=_assembled,
    values=lambda grad, result: raw_values(sparse_mask(grad, result)),
    doc="A sparse tensor of elements and their coordinates.",
    samples=(
        "torch.sparse_coo_tensor(j.reshape(1, -1) % 3, torch.arange(j.numel()) * x[0, 0], (3,))"
        ".to_dense()",
    ),
)


def tensors_of(indices: Any, values: Any, dtype: Any, device: Any) -> tuple[Any, Any]:
    """The parts of a sparse tensor, which may be lists: indices are whole numbers."""
    from ...engine.schema.dtypes import int64
    from ...engine.tensors.construct import as_tensor

    elements: Any = as_tensor(values, dtype, device)
    places: Any = as_tensor(indices, None, elements.device)
    return places.detach().to(int64), elements


def _sizes_of(indices: Any, values: Any) -> tuple[int, ...]:
    """The least size that has room for all indices."""
    held = indices._data
    if not held.shape[1]:
        raise RuntimeError(
            "can't infer the size of a sparse tensor without elements: give it a size"
        )
    check_indices(held, held.max(axis=1) + 1)
    return (*(int(n) + 1 for n in held.max(axis=1)), *values.shape[1:])


def check_size(size: Sequence[int]) -> None:
    """Refuses sizes that no tensor has."""
    from ...engine.memory.sparse_array import check_size as check

    check(size)


def _check_count(indices: Any, values: Any) -> None:
    if indices.shape[1] != values.shape[0]:
        raise RuntimeError(
            f"indices and values must have same nnz, but got nnz from indices: {indices.shape[1]}, "
            f"nnz from values: {values.shape[0]}"
        )


def from_parts(
    indices: Any, values: Any, size: Any, dtype: Any, device: Any, requires_grad: bool,
    check_invariants: Any, is_coalesced: Any,
) -> Any:  # fmt: skip
    warn_unchecked(check_invariants)
    indices, values = tensors_of(indices, values, dtype, device)
    if indices.ndim == 1 and not is_sparse(indices._data):
        indices = indices.reshape((-1, 1)) if size is not None else indices
    if indices.ndim != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(indices.shape)}")
    if not values.ndim:
        values = values.reshape((1,))
    if size is None:
        _check_count(indices, values)
    size = _sizes_of(indices, values) if size is None else tuple(size)
    dense_dim = values.ndim - 1
    sparse_dim = indices.shape[0]
    if len(size) != sparse_dim + dense_dim:
        raise RuntimeError(
            "'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = "
            f"{len(size)}, sparse_dim = {sparse_dim}, dense_dim = {dense_dim}"
        )
    _check_count(indices, values)
    if tuple(values.shape[1:]) != size[sparse_dim:]:
        raise RuntimeError(
            f"values has incorrect size, expected {[values.shape[0], *size[sparse_dim:]]}, got "
            f"{list(values.shape)}"
        )
    check_size(size)
    check_indices(indices._data, size)
    out = assembled.run(sparse_dim, dense_dim, size, indices, values, is_coalesced)
    if requires_grad and out.grad_fn is None:
        out.requires_grad_()
    return out


def _empty(size: Sequence[int], dtype: Any, device: Any, requires_grad: bool) -> Any:
    from ...engine.schema.dtypes import int64
    from ...engine.tensors.construct import tensor

    none: Any = tensor([], dtype=int64, device=device)
    check_size(size)
    indices = none.reshape((len(size), 0))
    values = tensor([], dtype=dtype, device=device)
    return from_parts(indices, values, size, dtype, device, requires_grad, False, None)


_MORE = (
    "*, ScalarType? dtype=None, Device? device=None, bool? pin_memory=False, "
    "bool requires_grad=False, bool? check_invariants=None"
)

composite(
    f"sparse_coo_tensor.indices(any indices, any values, {_MORE}, bool? is_coalesced=None) "
    "-> Tensor",
    lambda indices, values, dtype, device, pinned, requires_grad, checks, coalesced: from_parts(
        indices, values, None, dtype, device, requires_grad, checks, coalesced
    ),
    where="torch",
    doc="A sparse tensor of elements and their coordinates, as large as these ask for.",
    samples=("torch.sparse_coo_tensor(j.reshape(1, -1), v[0].repeat(j.numel())).to_dense()",),
)

composite(
    f"sparse_coo_tensor.indices_size(any indices, any values, int[] size, {_MORE}, "
    "bool? is_coalesced=None) -> Tensor",
    lambda indices, values, size, dtype, device, pinned, requires_grad, checks, coalesced: (
        from_parts(indices, values, size, dtype, device, requires_grad, checks, coalesced)
    ),
    where="torch",
    doc="A sparse tensor of elements and their coordinates (COO). Elements of one place add up.",
    samples=("torch.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], v[:3], (2, 3)).to_dense()",),
    errors=(
        "torch.sparse_coo_tensor([[0, 1]], v[:1], (3,))",
        "torch.sparse_coo_tensor([[0, 1]], v[:2], (3, 3))",
    ),
)

composite(
    f"sparse_coo_tensor.size(int[] size, {_MORE}) -> Tensor",
    lambda size, dtype, device, pinned, requires_grad, checks: _empty(
        size, dtype, device, requires_grad
    ),
    where="torch",
    doc="A sparse tensor of this size without elements: all are zero.",
    samples=("torch.sparse_coo_tensor((2, 3)).to_dense()",),
)


# ---- rows of a matrix


def _by_rows(xp: Any, crow_indices: Any, col_indices: Any, values: Any, size: Any) -> Any:
    from ...engine.memory.sparse_array import CompressedArray

    return CompressedArray(crow_indices, col_indices, values, tuple(size))


by_rows = operator(
    "sparse_compressed_tensor.comp_plain_value_size(Tensor compressed_indices, "
    "Tensor plain_indices, Tensor values, int[] size) -> Tensor",
    node="SparseCompressedTensorBackward0",
    layout=SPARSE,
    where="hidden",
    dtype=lambda rows, columns, values, size: values.dtype,
    forward=_by_rows,
    values=lambda grad, result: compressed_values(grad, result),
    doc="A sparse matrix by its rows.",
    samples=("torch.sparse_csr_tensor([0, 1, 3], [2, 0, 2], v[:3], (2, 3)).to_dense()",),
)


by_rows_alone = operator(
    "sparse_compressed_tensor.comp_plain_value(Tensor compressed_indices, Tensor plain_indices, "
    "Tensor values, int[] size) -> Tensor",
    node="torch::autograd::NotImplemented",
    layout=SPARSE,
    where="hidden",
    dtype=lambda rows, columns, values, size: values.dtype,
    forward=_by_rows,
    doc="A sparse matrix by its rows, as wide as its columns ask for: PyTorch has no derivative.",
    samples=("torch.sparse_csr_tensor([0, 1, 3], [2, 0, 2], v[:3]).to_dense()",),
)


def compressed_values(grad: Any, result: Any) -> Any:
    """The gradients of the elements of a matrix."""
    return raw_values(sparse_mask(grad, result))


def _check_rows(rows: Any, columns: Any, values: Any, size: Sequence[int]) -> None:
    """What makes a matrix; PyTorch does not look unless it is asked to."""
    count = len(columns)
    if rows.ndim != 1 or columns.ndim != 1:
        raise RuntimeError("crow_indices and col_indices must be one-dimensional here")
    if len(rows) != size[0] + 1:
        raise RuntimeError(
            f"`crow_indices.shape[-1] must be equal to nrows + 1 as expected.` but got "
            f"{len(rows)} instead of {size[0] + 1}"
        )
    if values.shape[0] != count or int(rows[0]) or int(rows[-1]) != count:
        raise RuntimeError(
            "`crow_indices[..., 0] == 0` and `crow_indices[..., -1] == nnz` is not satisfied."
        )
    if (rows[1:] < rows[:-1]).any():
        raise RuntimeError(
            "`0 <= crow_indices[..., 1:] - crow_indices[..., :-1] <= ncols` is not satisfied."
        )
    if count and not (int(columns.min()) >= 0 and int(columns.max()) < size[1]):
        raise RuntimeError("`0 <= col_indices < ncols` is not satisfied.")


def from_rows(
    crow_indices: Any, col_indices: Any, values: Any, size: Any, dtype: Any, device: Any,
    requires_grad: bool, check_invariants: Any,
) -> Any:  # fmt: skip
    warn_unchecked(check_invariants)
    warn_once(BETA)
    crow_indices, elements = tensors_of(crow_indices, values, dtype, device)
    col_indices, _ = tensors_of(col_indices, values, dtype, device)
    rows, columns = crow_indices._need_array(), col_indices._need_array()
    row = by_rows if size is not None else by_rows_alone
    if size is None:
        width = int(columns.max()) + 1 if len(columns) else 0
        size = (len(rows) - 1, width)
    if len(size) != 2 or elements.ndim != 1:
        raise RuntimeError("gradcli has matrices of the layout torch.sparse_csr, and nothing else")
    check_size(size)
    _check_rows(rows, columns, elements, size)
    out = row.run(crow_indices, col_indices, elements, tuple(size))
    if requires_grad and out.grad_fn is None:
        out.requires_grad_()
    return out


composite(
    "sparse_csr_tensor.crow_col_value_size(any crow_indices, any col_indices, any values, "
    f"int[] size, {_MORE}) -> Tensor",
    lambda rows, columns, values, size, dtype, device, pinned, requires_grad, checks: from_rows(
        rows, columns, values, size, dtype, device, requires_grad, checks
    ),
    where="torch",
    doc="A sparse matrix by its rows (CSR).",
    samples=("torch.sparse_csr_tensor([0, 1, 3], [2, 0, 2], v[:3], (2, 3)).to_dense()",),
)

composite(
    f"sparse_csr_tensor.crow_col_value(any crow_indices, any col_indices, any values, {_MORE}) "
    "-> Tensor",
    lambda rows, columns, values, dtype, device, pinned, requires_grad, checks: from_rows(
        rows, columns, values, None, dtype, device, requires_grad, checks
    ),
    where="torch",
    doc="A sparse matrix by its rows (CSR), as wide as its columns ask for.",
    samples=("torch.sparse_csr_tensor([0, 1, 3], [2, 0, 2], v[:3]).to_dense()",),
)


# ---- parts

raw_values = operator(
    "_values(Tensor self) -> Tensor",
    layout=SPARSE,
    where="hidden",
    forward=lambda xp, self: self.values,
    doc="The elements of a sparse tensor, outside the graph.",
    samples=("x.to_sparse()._values()",),
)

raw_indices = operator(
    "_indices(Tensor self) -> Tensor",
    layout=SPARSE,
    where="hidden",
    dtype="int64",
    forward=lambda xp, self: self.indices,
    doc="The coordinates of the elements of a sparse tensor.",
    samples=("x.to_sparse()._indices()",),
)


def _with_elements(xp: Any, values: Any, self: Any) -> Any:
    if self.layout != "sparse_coo":
        return self.with_values(values)
    return coordinates(self.indices, values, self.shape, True)


with_elements = operator(
    "_with_elements(Tensor values, Tensor self) -> Tensor",
    node="SparseCooTensorWithDimsAndTensorsBackward0",
    layout=SPARSE,
    where="hidden",
    forward=_with_elements,
    values=lambda grad, result: raw_values(sparse_mask(grad, result)),
    doc="A sparse tensor of the same places with other elements.",
    samples=("torch.autograd.grad((x.to_sparse().values() ** 2).sum(), x)[0]",),
)

elements = operator(
    "sparse_values(Tensor self) -> Tensor",
    node="ValuesBackward0",
    layout=SPARSE,
    where="hidden",
    forward=lambda xp, self: self.values,
    self=lambda grad, self: with_elements(grad, self),
    doc="The elements of a sparse tensor.",
    samples=("x.to_sparse().values()",),
)


def _unsupported(name: str, self: Any) -> NotImplementedError:
    backend = f"{layout_of(self)}CPU".removeprefix("Strided")
    return NotImplementedError(
        f"Could not run 'aten::{name}' with arguments from the '{backend}' backend."
    )


def _part(name: str, take: Any) -> Any:
    """A fact of tensors of the layout torch.sparse_coo, which PyTorch has no kernel for else."""

    def body(self: Any) -> Any:
        if not self.is_sparse and not (name == "_nnz" and is_sparse(self._data)):
            raise _unsupported(name, self)
        return take(self)

    return body


def _is_coalesced(self: Any) -> bool:
    expected_coordinates("is_coalesced", self)
    return bool(self._data.is_coalesced)


def _row_part(name: str) -> Any:
    def body(self: Any) -> Any:
        held = self._data
        if not is_sparse(held) or self.is_sparse:
            raise RuntimeError(
                f"{name} expected sparse row compressed tensor layout but got {layout_of(self)}"
            )
        return row_indices.run(self, name)

    return body


row_indices = operator(
    "_row_part(Tensor self, str name) -> Tensor",
    layout=SPARSE,
    where="hidden",
    dtype="int64",
    forward=lambda xp, self, name: dict(self.parts())[name],
    doc="Where the rows of a sparse matrix begin, or the columns of its elements.",
    samples=("x.to_sparse_csr().crow_indices()",),
)

_WHAT = {
    "_values": (
        "The elements of a sparse tensor, outside the graph.",
        lambda self: raw_values.run(self),
    ),
    "_indices": (
        "The coordinates of the elements of a sparse tensor.",
        lambda self: raw_indices.run(self),
    ),
    "_nnz": ("How many elements a sparse tensor keeps.", lambda self: self._data.nnz),
    "_dimI": ("How many dimensions are sparse.", lambda self: self._data.sparse_dim),
    "_dimV": ("How many dimensions of the elements are dense.", lambda self: self._data.dense_dim),
}
for _name, (_doc, _take) in _WHAT.items():
    composite(
        f"{_name}.of(Tensor self) -> any",
        _part(_name, _take),
        where="method",
        doc=_doc,
        samples=(f"x.to_sparse().{_name}()",),
    )

composite(
    "is_coalesced(Tensor self) -> bool",
    _is_coalesced,
    where="method",
    doc="Whether a sparse tensor names each place once.",
    samples=("x.to_sparse().is_coalesced()",),
    errors=("x.is_coalesced()",),
)
composite(
    "sparse_dim(Tensor self) -> int",
    lambda self: self._data.sparse_dim if self.is_sparse else 2 * is_sparse(self._data),
    where="method",
    doc="How many dimensions are sparse.",
    samples=("x.to_sparse().sparse_dim()", "x.sparse_dim()"),
)
composite(
    "dense_dim(Tensor self) -> int",
    lambda self: self._data.dense_dim if self.is_sparse else self.ndim - 2 * is_sparse(self._data),
    where="method",
    doc="How many dimensions are dense.",
    samples=("x.to_sparse(1).dense_dim()", "x.dense_dim()"),
)
for _name, _doc in (
    ("crow_indices", "Where the rows of a matrix of the layout torch.sparse_csr begin."),
    ("col_indices", "The columns of the elements of a matrix of the layout torch.sparse_csr."),
):
    composite(
        f"{_name}(Tensor self) -> Tensor",
        _row_part(_name),
        where="method",
        doc=_doc,
        samples=(f"x.to_sparse_csr().{_name}()",),
        errors=(f"x.{_name}()",),
    )
