"""Operators: elements chosen by a condition: where, masked_fill, masked_select, nonzero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.schema.operator import composite, operator, warn
from ..conventions import check_number, chosen, cleared
from ..geometry import broadcast_sizes
from ..reduce.sums import sum_all, sum_to
from ..shape.cast import alike
from ..shape.constants import zeros_of
from ..shape.shape import expand

# ---- where


def _check_where(condition: Any, self: Any, other: Any) -> None:
    if condition.dtype.name not in ("bool", "uint8"):
        raise RuntimeError(
            "where expected condition to be a boolean tensor, but got a tensor with dtype "
            + condition.dtype.word
        )
    if condition.dtype.name == "uint8":
        warn(
            "where received a uint8 condition tensor. This behavior is deprecated and will be "
            "removed in a future version of PyTorch. Use a boolean condition instead."
        )


def _where(xp: Any, condition: Any, self: Any, other: Any) -> Any:
    if other.__class__ is int and not other and hasattr(self, "dtype"):  # as its formulas say
        return cleared(xp, self, xp.logical_not(condition))
    if self.__class__ is int and not self and hasattr(other, "dtype"):
        return cleared(xp, other, condition)
    return chosen(xp, condition, self, other)


where = operator(
    "where.self(Tensor condition, Tensor self, Tensor other) -> Tensor",
    node="WhereBackward0",
    where="torch",
    numbers="self, other",
    dtype="promote",
    check=_check_where,
    forward=_where,
    self=lambda grad, condition: where(condition, grad, 0),
    other=lambda grad, condition: where(condition, 0, grad),
    zero="mask",
    doc="Selects elements of self where the condition holds, of other elsewhere.",
    corners=(
        "torch.where(tensor([True, False]), tensor([1., 2.]), tensor([3., 4.]))",
        "torch.where(tensor([False]), tensor([0.]).sqrt(), tensor([1.]))",
    ),
    samples=(
        "torch.where(k, x, y)", "torch.where(k, x, 0.5)", "torch.where(k, 0.5, x)",
        "torch.where(x > 0, x, z)", "torch.where(k, 1, 2)", "torch.where(k, s, x)",
        "torch.where(k, x, d)", "torch.where(k, i, 0.5)",
    ),
    errors=("torch.where(x, x, y)", "torch.where(k, x, r)", "torch.where(k, x)"),
)  # fmt: skip

composite(
    "where.method(Tensor self, Tensor condition, Tensor other) -> Tensor",
    lambda self, condition, other: where.run(condition, self, other),
    where="method",
    numbers="other",
    doc="Selects elements of self where the condition holds, of other elsewhere.",
    samples=("x.where(k, y)", "x.where(x > 0, 0.0)"),
)

nonzero = operator(
    "nonzero(Tensor self) -> Tensor",
    dtype="int64",
    where="method",
    forward=lambda xp, self: _positions(xp, self),
    acts="dynamic",
    doc="Indices of the elements that are not zero, one row for each.",
    samples=("k.nonzero()", "x.nonzero()", "s.nonzero()"),
)


def _positions(xp: Any, self: Any) -> Any:
    if self.ndim == 0:
        return xp.zeros((int(self != 0), 0), dtype="int64")
    return xp.stack(xp.nonzero(self), 0).T


composite(
    "nonzero.torch(Tensor self, *, bool as_tuple=False) -> Tensor",
    lambda self, as_tuple: _nonzero_tuple(self) if as_tuple else nonzero.run(self),
    where="torch",
    doc="Indices of the elements that are not zero, as rows or as one tensor for each dimension.",
    samples=("torch.nonzero(k)", "torch.nonzero(k, as_tuple=True)[0]", "torch.nonzero(v)"),
)

composite(
    "nonzero.as_tuple(Tensor self, *, bool as_tuple) -> Tensor",
    lambda self, as_tuple: _nonzero_tuple(self) if as_tuple else nonzero.run(self),
    where="method",
    doc="The positions of the elements that are not zero, as one tensor a dimension.",
    samples=("k.nonzero(as_tuple=True)[1]",),
)

composite(
    "where(Tensor condition) -> Tensor[]",
    lambda condition: _nonzero_tuple(condition),
    where="torch",
    doc="The positions where the condition holds, as one tensor a dimension.",
    samples=("torch.where(k)[0]", "torch.where(k)[1]"),
)


def _nonzero_tuple(self: Any) -> tuple[Any, ...]:
    rows = nonzero.run(self if self.ndim else self.unsqueeze(0))
    return tuple(rows.unbind(1))


argwhere = composite(
    "argwhere(Tensor self) -> Tensor",
    lambda self: nonzero.run(self),
    doc="Indices of the elements that are not zero, one row for each.",
    samples=("torch.argwhere(k)", "k.argwhere()"),
)

nonzero_static = operator(
    "nonzero_static(Tensor self, *, int size, int fill_value=-1) -> Tensor",
    dtype="int64",
    forward=lambda xp, self, size, fill_value: _padded(xp, _positions(xp, self), size, fill_value),
    check=lambda self, size, fill_value: _check_size(size),
    doc="So many positions of elements that are not zero, the missing ones filled.",
    samples=("torch.nonzero_static(k, size=2)", "torch.nonzero_static(k, size=5, fill_value=9)"),
)


def _check_size(size: int) -> None:
    if size < 0:
        raise RuntimeError("nonzero_static: 'size' must be an non-negative integer")


def _padded(xp: Any, rows: Any, size: int, fill_value: int) -> Any:
    result = xp.full((size, rows.shape[1]), fill_value, dtype="int64")
    count = min(size, rows.shape[0])
    result[:count] = rows[:count]
    return result


# ---- masks


def _check_mask(self: Any, mask: Any, value: Any) -> None:
    broadcast_sizes(tuple(mask.shape), tuple(self.shape))
    if hasattr(value, "ndim") and value.ndim:
        raise RuntimeError(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )
    if mask.dtype.name != "bool":
        raise RuntimeError(
            "masked_fill_ only supports boolean masks, but got mask with dtype " + mask.dtype.c_word
        )
    check_number(value, self.dtype)


def _filled(xp: Any, self: Any, mask: Any, value: Any) -> Any:
    return xp.where(mask, xp.asarray(value).astype(self.dtype), self)


masked_fill_tensor = operator(
    "masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor",
    node="MaskedFillBackward1",
    inplace="masked_fill_",
    overlap="tensor[mask] = scalar",
    check=_check_mask,
    layout="row-major",
    forward=_filled,
    self=lambda grad, mask, self_shape: sum_to(masked_fill(grad, mask, 0), self_shape),
    value=lambda grad, mask, value_dtype: alike(sum_all(masked_select(grad, mask)), value_dtype),
    acts="pointwise",
    zero="mask",
    doc="Fills elements with the value of a 0-dim tensor where the mask is True.",
    samples=("x.masked_fill(k, s)", "torch.masked_fill(x, k, s)", "x.clone().masked_fill_(k, s)"),
    errors=("x.masked_fill(k, v)",),
)

masked_fill = operator(
    "masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor",
    node="MaskedFillBackward0",
    inplace="masked_fill_",
    overlap="tensor[mask] = scalar",
    check=_check_mask,
    layout="row-major",
    forward=_filled,
    self=lambda grad, mask, self_shape: sum_to(masked_fill(grad, mask, 0), self_shape),
    acts="pointwise",
    zero="mask",
    doc="Fills elements with a number where the mask is True.",
    samples=(
        "x.masked_fill(k, 0.5)", "torch.masked_fill(x, k, -1)", "v.masked_fill(k, 0)",
        "x.clone().masked_fill_(k, 1.0)",
    ),
    errors=(
        "x.masked_fill(i, 0.0)", "x.masked_fill(r > 0, 0.0)", "x.masked_fill(k, 'a')",
        "x.masked_fill(k, 1e39)",
    ),
)  # fmt: skip


def _check_select(self: Any, mask: Any) -> None:
    if mask.dtype.name != "bool":
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    broadcast_sizes(tuple(mask.shape), tuple(self.shape))


def _masked(xp: Any, self: Any, mask: Any) -> Any:
    size = broadcast_sizes(self.shape, mask.shape)
    chosen = xp.broadcast_to(mask, size).astype(bool)
    return xp.broadcast_to(self, size)[chosen]


def _masked_gradient(grad: Any, self_shape: Sequence[int], mask: Any) -> Any:
    size = broadcast_sizes(self_shape, mask.shape)
    wide = expand(mask, size, False) if tuple(mask.shape) != size else mask
    return sum_to(masked_scatter(zeros_of(grad, size), wide, grad), self_shape)


masked_select = operator(
    "masked_select(Tensor self, Tensor mask) -> Tensor",
    node="MaskedSelectBackward0",
    check=_check_select,
    forward=_masked,
    self=lambda grad, self, mask: _masked_gradient(grad, self.shape, mask),
    zero="mask",
    jacobian="selection",
    acts="moves",
    doc="The elements where the mask is True, as a 1-dimensional tensor.",
    samples=(
        "x.masked_select(k)", "torch.masked_select(x, x > 0)", "v.masked_select(k)",
        "x.masked_select(v > 0)",
    ),
    errors=("x.masked_select(i)", "x.masked_select(r > 0)"),
)  # fmt: skip


def _check_scatter(self: Any, mask: Any, source: Any) -> None:
    wide = broadcast_sizes(tuple(mask.shape), tuple(self.shape))
    if mask.dtype.name != "bool":
        raise RuntimeError(
            "masked_scatter_ only supports boolean masks, but got mask with dtype "
            + mask.dtype.word
        )
    if self.dtype is not source.dtype:
        raise RuntimeError(
            "masked_scatter: expected self and source to have same dtypes but got"
            f"{self.dtype.word} and {source.dtype.word}"
        )
    count = int(mask._data.sum()) * (_product(wide) // max(mask.numel(), 1))
    if count > source.numel():
        raise RuntimeError("Number of elements of source < number of ones in mask")


def _product(size: Sequence[int]) -> int:
    total = 1
    for length in size:
        total *= length
    return total


def _spread(xp: Any, self: Any, mask: Any, source: Any) -> Any:
    size = broadcast_sizes(self.shape, mask.shape)
    result = xp.broadcast_to(self, size).copy()
    chosen = xp.broadcast_to(mask, size)
    result[chosen] = source.reshape(-1)[: int(chosen.sum())]
    return result


masked_scatter = operator(
    "masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor",
    node="MaskedScatterBackward0",
    inplace="masked_scatter_",
    overlap="copied",
    check=_check_scatter,
    forward=_spread,
    self=lambda grad, mask, self_shape: sum_to(masked_fill(grad, mask, 0), self_shape),
    source=lambda grad, mask, source_sym_sizes: masked_scatter_backward(
        grad, mask, source_sym_sizes
    ),
    zero="mask",
    doc="The first elements of a source, in order, where the mask is set.",
    samples=(
        "x.masked_scatter(k, y)", "torch.masked_scatter(x, k, v)",
        "x.clone().masked_scatter_(k, y)",
    ),
    errors=("x.masked_scatter(k, v[:1])", "x.masked_scatter(k, d)", "x.masked_scatter(i, y)"),
)  # fmt: skip


def _gathered_back(xp: Any, grad: Any, mask: Any, sizes: Sequence[int]) -> Any:
    chosen = grad[xp.broadcast_to(mask, grad.shape)]
    result = xp.zeros(_product(sizes), dtype=grad.dtype)
    result[: chosen.size] = chosen
    return result.reshape(tuple(sizes))


masked_scatter_backward = operator(
    "masked_scatter_backward(Tensor grad_output, Tensor mask, int[] sizes) -> Tensor",
    node="MaskedScatterBackwardBackward0",
    where="hidden",
    forward=_gathered_back,
    grad_output=lambda grad, grad_output_shape, mask: masked_scatter(
        zeros_of(grad, grad_output_shape), mask, grad
    ),
    zero="mask",
    doc="The gradients of the source's elements that the mask placed.",
    samples=("torch.autograd.grad(x.masked_scatter(k, y), y, p, create_graph=True)[0]",),
)
