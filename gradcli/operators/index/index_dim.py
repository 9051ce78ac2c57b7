"""Operators: whole slices of a dimension read, written, added and filled by a vector of indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.memory.layout import once
from ...engine.schema.dtypes import COMPLEX
from ...engine.schema.operator import Reduced, operator, warn
from ...numerics.reduced_kernels import add_at
from ..conventions import check_number, refuse_complex
from ..elementwise.arithmetic import wrapped
from ..elementwise.where import masked_fill, where
from ..geometry import sizes_text, wrap_dim
from ..reduce.sums import scaled, sum_all
from ..shape.cast import alike
from ..shape.constants import ones_as, zeros_as, zeros_of
from ..shape.shape import expand
from ..shape.squeeze import squeeze_dim
from ..shape.strides import check_strided
from .adding import add_rows
from .scatter_reduce import REDUCTIONS, equal_places, neutral, zero_places


def _at(dim: int, index: Any) -> tuple[Any, ...]:
    return (*(slice(None),) * dim, index)


def _bounds(index: Any, length: int, text: str) -> None:
    array = once(index._data)
    if array.size and (int(array.min()) < 0 or int(array.max()) >= length):
        raise IndexError(text)


def _check_select(self: Any, dim: int, index: Any) -> None:
    dim = wrap_dim(dim, self.ndim)
    if index.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if index.dtype.name not in ("int64", "int32"):
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    if not self.ndim and index.numel() != 1:
        raise RuntimeError(
            f"index_select(): Index to scalar can have only 1 value, got {index.numel()} value(s)"
        )
    if self.ndim > 1 and not self.numel():
        return _check_select_of_nothing(index, self.shape[dim])
    _bounds(index, self.shape[dim] if self.ndim else 1, "index out of range in self")


def _check_select_of_nothing(index: Any, length: int) -> None:
    """PyTorch's words and its types of errors where a matrix has no elements."""
    places = once(index._data).ravel()
    if places.size and not length:
        raise RuntimeError("index_select(): self indexing axis dim should be positive")
    wrong = places[(places < 0) | (places >= length)]
    if wrong.size:
        raise RuntimeError(
            f"INDICES element is out of DATA bounds, id={int(wrong[0])} axis_dim={length}"
        )


def _selected(xp: Any, self: Any, dim: int, index: Any) -> Any:
    if not self.ndim:
        return self.copy()
    return self[_at(wrap_dim(dim, self.ndim), index.reshape(-1))].copy(order="C")


index_select = operator(
    "index_select(Tensor self, int dim, Tensor index) -> Tensor",
    node="IndexSelectBackward0",
    check=_check_select,
    forward=_selected,
    self=lambda grad, self_sym_sizes, dim, index: index_add(
        zeros_of(grad, self_sym_sizes), dim, index, grad, 1
    ),
    cost=lambda self, dim, index: (
        self.numel()
        * index.numel()
        // max(self.shape[wrap_dim(dim, self.ndim)] if self.ndim else 1, 1)
    ),
    acts="moves",
    zero="mask",
    jacobian="selection",
    doc="Selects slices of a dimension by index.",
    corners=("tensor([1., 2.]).index_select(0, tensor([0, 0, 1]))",),
    samples=(
        "x.index_select(1, j)", "torch.index_select(x, 0, torch.tensor([1, 1, 0]))",
        "x.index_select(0, torch.tensor(1))", "s.index_select(0, torch.tensor([0]))",
    ),
    errors=(
        "x.index_select(0, j)", "x.index_select(0, i)", "x.index_select(0, torch.tensor([1.0]))",
        "x.index_select(2, j)",
    ),
)  # fmt: skip

# ---- written, added


def _check_slices(name: str, self: Any, dim: int, index: Any, source: Any) -> None:
    dim = wrap_dim(dim, self.ndim)
    if index.ndim > 1:
        raise IndexError(
            f"{name}(): Index is supposed to be a vector, but got dim: {index.ndim} with type: "
            f"{index.dtype.word} and size: {sizes_text(index.shape)}"
        )
    if index.dtype.name not in ("int64", "int32"):
        raise RuntimeError(
            f"{name}(): Expected dtype int32/int64 for index but got: {index.dtype.word}"
        )
    if self.dtype is not source.dtype:
        raise RuntimeError(
            f"{name}(): self ({self.dtype.word}) and source ({source.dtype.word}) must have the "
            "same scalar type"
        )
    if dim and dim >= source.ndim:
        raise RuntimeError(
            f"{name}(): Indexing dim {dim} is out of bounds of the source tensor with dim "
            f"{source.ndim}"
        )
    count = source.shape[dim] if source.ndim else 1
    if index.numel() != count:
        if not source.ndim:
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        raise RuntimeError(
            f"{name}(): Number of indices ({index.numel()}) should be equal to source.size(dim): "
            f"({count}), for dim: {dim}"
        )
    without = dim if self.ndim and source.ndim else None
    if _slice_sizes(self, without) != _slice_sizes(source, without):
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. "
            f"Got self.shape = {sizes_text(self.shape)} source.shape = {sizes_text(source.shape)}"
        )
    _check_added(index, dim, self.shape)


def _slice_sizes(tensor: Any, dim: int | None) -> list[int]:
    return [length for place, length in enumerate(tensor.shape) if place != dim]


def _check_added(index: Any, dim: int, shape: Any) -> None:
    """PyTorch looks at indices only where something is added, in words of two kernels."""
    if len(shape) < 2:
        _bounds(index, shape[dim] if shape else 1, "index out of range in self")
        return
    array = index._data.ravel()
    wrong = array[(array < 0) | (array >= shape[dim])]
    if wrong.size and 0 not in shape:
        raise RuntimeError(
            f"index {int(wrong[0])} is out of bounds for dimension {dim} with size {shape[dim]}"
        )


def _added(xp: Any, self: Any, dim: int, index: Any, source: Any, alpha: Any) -> Any:
    if not self.ndim:
        return self + source.reshape(()) * wrapped(alpha, self.dtype)
    result = self.copy()
    if not result.size:
        return result
    alpha = wrapped(alpha, self.dtype)
    values = source if alpha == 1 else (source * alpha).astype(self.dtype)
    dim = wrap_dim(dim, self.ndim)
    values = xp.broadcast_to(values, _with_length(result.shape, dim, index.size))
    rows, table = xp.moveaxis(values, dim, 0), xp.moveaxis(result, dim, 0)
    add_rows(xp, table, index.reshape(-1), rows)
    return result


def _with_length(shape: Sequence[int], dim: int, length: int) -> tuple[int, ...]:
    return (*shape[:dim], length, *shape[dim + 1 :])


def _slices_of(grad: Any, dim: int, index: Any, source: Any) -> Any:
    """The gradient of a source whose slices were put or added into a dimension."""
    if source.ndim > 0:
        return expand(index_select(grad, dim, index), tuple(source.shape), False)
    return index_select(grad, dim, squeeze_dim(index, 0))


index_add = operator(
    "index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
    node="IndexAddBackward0",
    inplace="index_add_",
    overlap="apart",
    check=lambda self, dim, index, source, alpha: _check_slices(
        "index_add_", self, dim, index, source
    ),
    forward=_added,
    self=lambda grad: grad,
    source=lambda grad, dim, index, source, source_dim, alpha: scaled(
        _slices_of(grad, dim, index, source), alpha
    ),
    jacobian="placement",
    doc="Adds slices into a copy, along a dimension by index.",
    samples=(
        "x.index_add(1, j, y)", "torch.index_add(x, 1, j, y, alpha=2)",
        "x.index_add(0, torch.tensor([1, 1]), y)", "s.index_add(0, torch.tensor([0]), t)",
        "x.clone().index_add_(1, j, y)",
    ),
    errors=("x.index_add(1, j, v)", "x.index_add(1, j[:2], y)", "x.index_add(1, j, d)"),
)  # fmt: skip


def _replaced(xp: Any, self: Any, dim: int, index: Any, source: Any) -> Any:
    if not self.ndim:
        return source.reshape(()).copy()
    result = self.copy()
    if result.size:
        result[_at(wrap_dim(dim, self.ndim), index.reshape(-1))] = source
    return result


def _check_copy(self: Any, dim: int, index: Any, source: Any) -> None:
    dim = wrap_dim(dim, self.ndim)
    if index.ndim >= 2:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {index.ndim})")
    if not source.ndim and index.numel() != 1:
        raise IndexError(
            "index_copy_(): When source is scalar, index should have one element (got "
            f"{index.numel()})"
        )
    if source.ndim != self.ndim and source.ndim and self.ndim:
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality must "
            f"match. Source dimensionality ({source.ndim}), destination dimensionality "
            f"({self.ndim})"
        )
    if index.dtype.name != "int64":
        raise RuntimeError(
            f"index_copy_(): Expected a long tensor for index, but got {index.dtype.word}"
        )
    if self.dtype is not source.dtype:
        raise RuntimeError(
            "index_copy_(): self and source expected to have the same dtype, but got (self) "
            f"{self.dtype.word} and (source) {source.dtype.word}"
        )
    mine, theirs = _slice_sizes(self, dim), _slice_sizes(source, dim)
    if mine != theirs:
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination "
            f"slice shape: {' '.join(map(str, mine))} at dimension {dim} and source slice shape: "
            f"{' '.join(map(str, theirs))} at dimension 0."
        )
    if source.ndim and index.numel() != source.shape[dim]:
        raise IndexError(
            f"index_copy_(): Number of indices ({index.numel()}) should be equal to "
            f"source.size(dim) ({source.shape[dim]})"
        )
    if not self.numel():
        return _check_written_nothing(self, dim, index)
    length = self.shape[dim] if self.ndim else 1
    array = index._data
    wrong = array[(array < 0) | (array >= length)].ravel()
    if wrong.size:
        raise IndexError(
            f"index_copy_(): index {int(wrong[0])} is out of bounds for dimension {dim} with size "
            f"{length}"
        )


index_copy = operator(
    "index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor",
    node="IndexCopyBackward0",
    inplace="index_copy_",
    tangent="linear",
    overlap="apart",
    check=_check_copy,
    forward=_replaced,
    self=lambda grad, dim, index: index_fill(grad, dim, index, 0),
    source=lambda grad, dim, index, source, source_dim: _slices_of(grad, dim, index, source),
    zero="mask",
    jacobian="placement",
    doc="Replaces slices in a copy, along a dimension by index.",
    samples=(
        "x.index_copy(1, j, y)", "torch.index_copy(x, 0, torch.tensor([1]), z)",
        "x.clone().index_copy_(1, j, y)",
    ),
    errors=("x.index_copy(1, j[:2], y)", "x.index_copy(1, j, d)", "x.index_copy(1, j + 1, y)"),
)  # fmt: skip


def _check_written_nothing(self: Any, dim: int, index: Any) -> None:
    """PyTorch lays a view over the memory that there is, and looks at no index."""
    sizes, steps = list(self.shape), list(self.stride())
    sizes[dim], steps[dim] = index.numel(), 0
    check_strided(self, sizes, steps, None)


def _filled(xp: Any, self: Any, dim: int, index: Any, value: Any) -> Any:
    if not self.ndim:
        return xp.asarray(value).astype(self.dtype)
    result = self.copy()
    if result.size:
        place = _at(wrap_dim(dim, self.ndim), index.reshape(-1))
        result[place] = xp.asarray(value).astype(self.dtype)
    return result


def _check_fill(self: Any, dim: int, index: Any, value: Any) -> None:
    dim = wrap_dim(dim, self.ndim)
    if hasattr(value, "ndim") and value.ndim:
        raise RuntimeError(
            "index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndim} dimension(s)."
        )
    given = getattr(getattr(value, "dtype", None), "category", 0)
    if (value.__class__ is complex or given == COMPLEX) and self.dtype.category < COMPLEX:
        raise RuntimeError(
            "index_fill_(): Converting complex Scalar to non-complex type is not supported"
        )
    check_number(value, self.dtype)
    if index.dtype.name != "int64":
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    if index.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    if not self.numel():
        return _check_written_nothing(self, dim, index)
    length = self.shape[dim] if self.ndim else 1
    array = index._data
    wrong = array[(array < -length) | (array >= length)].ravel()
    if wrong.size:
        raise IndexError(
            f"index {int(wrong[0])} is out of bounds for dimension {dim} with size {length}"
        )


unique_indices = operator(
    "_unique_indices(Tensor self) -> Tensor",
    where="hidden",
    forward=lambda xp, self: xp.unique(self),
    doc="Indices without repetition: a value filled twice into one place counts once.",
    samples=("torch.autograd.grad(x.index_fill(1, j[:2], s).sum(), s, create_graph=True)[0]",),
)

index_fill_tensor = operator(
    "index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",
    node="IndexFillBackward1",
    inplace="index_fill_",
    overlap="tensor[mask] = scalar",
    layout="like",
    check=_check_fill,
    forward=_filled,
    self=lambda grad, dim, index: index_fill(grad, dim, index, 0),
    value=lambda grad, dim, index, value_dtype: alike(
        sum_all(index_select(grad, dim, unique_indices(index))), value_dtype
    ),
    zero="mask",
    jacobian="placement",
    doc="A copy with slices of a dimension filled with the value of a 0-dim tensor.",
    samples=("x.index_fill(1, j[:2], s)", "x.clone().index_fill_(1, j[:1], s)"),
    errors=("x.index_fill(1, j[:2], v)",),
)

index_fill = operator(
    "index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
    node="IndexFillBackward0",
    inplace="index_fill_",
    overlap="tensor[mask] = scalar",
    layout="like",
    check=_check_fill,
    forward=_filled,
    self=lambda grad, dim, index: index_fill(grad, dim, index, 0),
    zero="mask",
    jacobian="placement",
    doc="A copy with slices of a dimension filled with a number.",
    samples=(
        "x.index_fill(1, j[:2], 0.5)", "torch.index_fill(x, 0, torch.tensor([1]), 2)",
        "x.clone().index_fill_(1, j[:1], 1.0)",
    ),
    errors=("x.index_fill(1, j + 1, 0.5)", "x.index_fill(1, v, 0.5)"),
)  # fmt: skip

# ---- reduced in


def _reduced(
    xp: Any, self: Any, dim: int, index: Any, source: Any, reduce: str, include_self: bool,
    kind: Any = None,
) -> Any:  # fmt: skip
    if not self.ndim:
        line = self.reshape(1), 0, index, source.reshape(1)
        return _reduced(xp, *line, reduce, include_self, kind).reshape(())
    place = _at(wrap_dim(dim, self.ndim), index.reshape(-1))
    how = REDUCTIONS[reduce]
    result = self.copy()
    if not include_self:
        result[place] = neutral(xp, reduce, self.dtype)
    if kind is None:
        getattr(xp, how).at(result, place, source)
    else:
        result = add_at(kind, result, place, source, how)
    if reduce == "mean":
        count = xp.ones_like(self)
        if not include_self:
            count[place] = 0
        xp.add.at(count, place, xp.ones_like(source))
        count = xp.where(count == 0, 1, count).astype(self.dtype)
        result = result / count if self.dtype.kind in "fc" else result // count
    return result


def _check_reduced_type(dtype: Any, reduce: str, include_self: bool) -> None:
    kernel = ""
    if dtype.is_complex or dtype.word == "Bool":
        if not include_self:
            kernel = "index_reduce_func_exclude_input_init"
        elif dtype.is_complex and reduce in ("amax", "amin"):
            kernel = "maximum_cpu" if reduce == "amax" else "minimum_cpu"
        elif reduce == "mean" and not dtype.is_complex:
            kernel = "div_floor_cpu"
    if kernel:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{dtype.word}'")


def _check_reduce(
    self: Any, dim: int, index: Any, source: Any, reduce: str, include_self: bool
) -> None:
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(
            "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got "
            f"{reduce}."
        )
    _check_slices("index_reduce_", self, dim, index, source)
    refuse_complex("index_reduce", self)
    _check_reduced_type(self.dtype, reduce, include_self)
    warn("index_reduce() is in beta and the API may change at any time.")


def _reduce_gradients(
    grad: Any,
    self: Any,
    dim: int,
    index: Any,
    source: Any,
    reduce: str,
    include_self: bool,
    result: Any,
) -> tuple[Any, Any]:
    if reduce == "mean":
        count = ones_as(grad) if include_self else zeros_as(grad)
        count = index_add(count, dim, index, ones_as(source), 1)
        count = masked_fill(count, zero_places(count), 1)
        grad_self = grad / count
        grad_source = index_select(grad, dim, index) / index_select(count, dim, index)
    elif reduce == "prod":
        grad_self, grad_source = _product_gradients(
            grad, self, dim, index, source, include_self, result
        )
    else:
        mine = equal_places(self, result)
        theirs = equal_places(source, index_select(result, dim, index))
        share = grad / index_add(mine, dim, index, theirs, 1)
        grad_self, grad_source = mine * share, theirs * index_select(share, dim, index)
    if not include_self:
        grad_self = index_fill(grad_self, dim, index, 0)
    return grad_self, grad_source


def _product_gradients(
    grad: Any, self: Any, dim: int, index: Any, source: Any, include_self: bool, result: Any
) -> tuple[Any, Any]:
    without = masked_fill(self, zero_places(self), 1)
    others = index_reduce(without, dim, index, source, "prod", include_self)
    grad_self = (grad * others) / without
    zero = zero_places(source)
    count = index_add(zeros_as(grad), dim, index, where(zero, ones_as(source), 0), 1)
    alone = zero_places(where(zero, index_select(count, dim, index), 0) - 1)
    masked = masked_fill(source, alone, 1)
    excluded = index_reduce(self, dim, index, masked, "prod", include_self)
    of_single = index_select(grad * excluded, dim, index)
    of_others = index_select(grad * result, dim, index) / masked_fill(source, zero, 1)
    return grad_self, where(alone, of_single, of_others)


index_reduce = operator(
    "index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, "
    "bool include_self=True) -> Tensor",
    node="IndexReduceBackward0",
    inplace="index_reduce_",
    tangent="none",
    overlap="apart",
    check=_check_reduce,
    forward=_reduced,
    reduced=Reduced(lambda kind, *given: _reduced(kind.xp, *given, kind=kind)),
    joint={
        ("self", "source"): lambda grad, self, dim, index, source, reduce, include_self, result: (
            _reduce_gradients(grad, self, dim, index, source, reduce, include_self, result)
        )
    },
    doc="A copy with slices multiplied, averaged or compared into a dimension.",
    corners=("torch.index_reduce(tensor([3.]), 0, tensor([0]), tensor([3.]), 'amax')",),
    samples=tuple(
        f"x.index_reduce(1, torch.tensor([0, 2, 0]), y, '{how}'{more})"
        for how in ("prod", "mean", "amax", "amin")
        for more in ("", ", include_self=False")
    ),
    errors=("x.index_reduce(1, j, y, 'sum')",),
)
