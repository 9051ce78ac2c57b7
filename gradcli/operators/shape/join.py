"""Operators: one tensor from several: cat, stack and their like, and block matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.memory.layout import check_dimensions
from ...engine.schema.operator import catalogue, composite, operator
from ...engine.tensors.conversion import other_device
from ..geometry import sizes_text, wrap_dim
from ..reduce.sums import sum_to
from .constants import zeros_of
from .select import select, slice_
from .shape import reshape
from .squeeze import at_least, squeeze_dim


def _skipped(tensor: Any) -> bool:
    """cat leaves out empty 1-dim tensors, whatever the others look like."""
    return tuple(tensor.shape) == (0,)


def _check_cat(tensors: Sequence[Any], dim: int) -> None:
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    for place, tensor in enumerate(tensors):
        if tensor.ndim == 0:
            raise RuntimeError(
                f"zero-dimensional tensor (at position {place}) cannot be concatenated"
            )
        if tensor.device is not tensors[0].device and tensor.device != tensors[0].device:
            raise other_device("cat", "tensors", tensor, tensors[0].device)
    first = next((tensor for tensor in tensors if not _skipped(tensor)), tensors[0])
    dim = wrap_dim(dim, first.ndim)
    for place, tensor in enumerate(tensors):
        if _skipped(tensor):
            continue
        if tensor.ndim != first.ndim:
            raise RuntimeError(
                f"Tensors must have same number of dimensions: got {first.ndim} and {tensor.ndim}"
            )
        for axis, (a, b) in enumerate(zip(first.shape, tensor.shape, strict=True)):
            if axis != dim and a != b:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {dim}. Expected size {a} but "
                    f"got size {b} for tensor number {place} in the list."
                )


def _cat_kernel(xp: Any, arrays: Sequence[Any], dim: int) -> Any:
    kept = [array for array in arrays if array.shape != (0,)]
    return xp.concatenate(kept, dim) if kept else arrays[0].copy()


def _cat_gradients(grad: Any, shapes: Sequence[Sequence[int]], dim: int) -> list[Any]:
    gradients, start = [], 0
    dim = wrap_dim(dim, grad.ndim)
    for shape in shapes:
        if tuple(shape) == (0,):
            gradients.append(zeros_of(grad, (0,)))
            continue
        gradients.append(slice_(grad, dim, start, start + shape[dim], 1))
        start += shape[dim]
    return gradients


cat = operator(
    "cat(Tensor[] tensors, int dim=0) -> Tensor",
    node="CatBackward0",
    where="torch",
    aliases=("concat", "concatenate"),
    dtype="promote",
    check=_check_cat,
    layout="channels",
    forward=_cat_kernel,
    tensors=lambda grad, tensors_shape, dim: _cat_gradients(grad, tensors_shape, dim),
    acts="moves",
    jacobian="placement",
    doc="Concatenates tensors along an existing dimension.",
    samples=(
        "torch.cat([x, y])", "torch.cat((x, y), 1)", "torch.cat([x, y], dim=-1)",
        "torch.cat([x, d])", "torch.cat([x, i])", "torch.concat([v, w])",
        "torch.cat([torch.tensor([]), x])",
    ),
    errors=(
        "torch.cat([])", "torch.cat([x, v])", "torch.cat([x, y[:1]], 1)", "torch.cat([s, t])",
        "torch.cat(x)", "torch.cat([x, y], 2)", "torch.cat([x, 1.0])",
    ),
)  # fmt: skip


def _check_stack(tensors: Sequence[Any], dim: int) -> None:
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    shape = tuple(tensors[0].shape)
    wrap_dim(dim, len(shape) + 1)
    check_dimensions(len(shape) + 1)
    for place, tensor in enumerate(tensors):
        if tuple(tensor.shape) != shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {sizes_text(shape)} at entry "
                f"0 and {sizes_text(tensor.shape)} at entry {place}"
            )


stack = operator(
    "stack(Tensor[] tensors, int dim=0) -> Tensor",
    node="StackBackward0",
    where="torch",
    dtype="promote",
    check=_check_stack,
    layout="row-major",
    forward=lambda xp, tensors, dim: xp.stack(tensors, dim),
    tensors=lambda grad, tensors_shape, dim: [
        select(grad, dim, place) for place in range(len(tensors_shape))
    ],
    acts="moves",
    jacobian="placement",
    doc="Stacks tensors of one size along a new dimension.",
    samples=(
        "torch.stack([x, y])", "torch.stack((s, t))", "torch.stack([x, y], -1)",
        "torch.stack([x, d], 1)",
    ),
    errors=("torch.stack([])", "torch.stack([x, v])", "torch.stack([x, y], 3)", "torch.stack(1.0)"),
)  # fmt: skip


def non_empty(name: str, tensors: Sequence[Any]) -> None:
    if not tensors:
        raise RuntimeError(f"{name} expects a non-empty TensorList")


def _piled(name: str, tensors: Sequence[Any], ndim: int, dim: int | None) -> Any:
    non_empty(name, tensors)
    tall = [at_least(tensor, ndim) for tensor in tensors]
    return cat(tall, (0 if tall[0].ndim == 1 else 1) if dim is None else dim)


hstack = composite(
    "hstack(Tensor[] tensors) -> Tensor",
    lambda tensors: _piled("hstack", tensors, 1, None),
    where="torch",
    doc="Concatenates along the second dimension (vectors along the first).",
    samples=("torch.hstack([x, y])", "torch.hstack((v, w))", "torch.hstack([s, t])"),
    errors=("torch.hstack([])",),
)

vstack = composite(
    "vstack(Tensor[] tensors) -> Tensor",
    lambda tensors: _piled("vstack", tensors, 2, 0),
    where="torch",
    aliases=("row_stack",),
    doc="Stacks tensors as rows.",
    samples=("torch.vstack([x, y])", "torch.vstack((v, w))", "torch.vstack([s, t])"),
    errors=("torch.vstack([])", "torch.vstack([x, r])"),
)

dstack = composite(
    "dstack(Tensor[] tensors) -> Tensor",
    lambda tensors: _piled("dstack", tensors, 3, 2),
    where="torch",
    doc="Stacks tensors along the third dimension.",
    samples=("torch.dstack([x, y])", "torch.dstack((v, w))"),
    errors=("torch.dstack([])",),
)


def _columns(tensors: Sequence[Any]) -> Any:
    non_empty("column_stack", tensors)
    tall = []
    for tensor in tensors:
        if tensor.ndim < 2:
            size = 1 if tensor.ndim == 0 else tensor.shape[0]
            tensor = reshape(tensor, (size, 1))
        tall.append(tensor)
    return _piled("hstack", tall, 1, None)


column_stack = composite(
    "column_stack(Tensor[] tensors) -> Tensor",
    _columns,
    where="torch",
    doc="Stacks tensors as columns.",
    samples=(
        "torch.column_stack([v, w])", "torch.column_stack([x, v[:2]])",
        "torch.column_stack([s, t])",
    ),
    errors=("torch.column_stack([])",),
)  # fmt: skip


def _check_blocks(tensors: Sequence[Any]) -> None:
    for place, tensor in enumerate(tensors):
        if tensor.ndim > 2:
            raise RuntimeError(
                "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input "
                f"{place} has {tensor.ndim} dimensions"
            )


def _as_block(shape: Sequence[int]) -> tuple[int, int]:
    rows, columns = (1,) * (2 - len(shape)) + tuple(shape)
    return rows, columns


def _block_kernel(xp: Any, arrays: Sequence[Any]) -> Any:
    sizes = [_as_block(array.shape) for array in arrays]
    total = (sum(rows for rows, _ in sizes), sum(columns for _, columns in sizes))
    result, row, column = xp.zeros(total, arrays[0].dtype), 0, 0
    for array, (rows, columns) in zip(arrays, sizes, strict=True):
        result[row : row + rows, column : column + columns] = array
        row, column = row + rows, column + columns
    return result


def _block_gradients(grad: Any, shapes: Sequence[Sequence[int]]) -> list[Any]:
    gradients, row, column = [], 0, 0
    for shape in shapes:
        rows, columns = _as_block(shape)
        block = slice_(slice_(grad, 0, row, row + rows, 1), 1, column, column + columns, 1)
        for _ in range(2 - len(shape)):
            block = squeeze_dim(block, -1)
        gradients.append(block if tuple(block.shape) == tuple(shape) else sum_to(block, shape))
        row, column = row + rows, column + columns
    return gradients


block_diag_row = operator(
    "_block_diag(Tensor[] tensors) -> Tensor",
    node="BlockDiagBackward0",
    where="hidden",
    dtype="promote",
    check=_check_blocks,
    layout="row-major",
    forward=_block_kernel,
    tensors=lambda grad, tensors_shape: _block_gradients(grad, tensors_shape),
    cost=lambda tensors: (
        sum(_as_block(t.shape)[0] for t in tensors) * sum(_as_block(t.shape)[1] for t in tensors)
    ),
    doc="Matrices along the diagonal, zeros around them.",
    samples=("torch.block_diag(x, y)",),
)

block_diag = composite(
    "block_diag(Tensor[] tensors) -> Tensor",
    lambda tensors: (
        block_diag_row(list(tensors)) if tensors else catalogue.functions["empty"]((1, 0))
    ),
    where="torch",
    doc="Matrices along the diagonal of a larger one, zeros around them.",
    samples=("torch.block_diag(x, y)", "torch.block_diag(x, v, s)"),
    errors=("torch.block_diag(c, c)",),
)

composite(
    "block_diag.one(Tensor tensor) -> Tensor",
    lambda tensor: block_diag_row([tensor]),
    where="torch",
    doc="block_diag of one tensor.",
    samples=("torch.block_diag(x)",),
)
