"""Operators: elements read from and written to places that an index tensor of their size names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.memory.layout import once
from ...engine.schema.errors import check_gradient
from ...engine.schema.limits import as_element
from ...engine.schema.operator import operator, warn
from ..geometry import sizes_text, wrap_dim
from ..shape.constants import zeros_of
from .adding import add_in_turn

# ---- checks that the family shares


def check_index_type(name: str, index: Any) -> None:
    if index.dtype.name not in ("int64", "int32") and index.numel():
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")


def check_inside(index: Any, dim: int, length: int) -> None:
    """Indices of this family are not counted from the end."""
    array = once(index._data)
    if array.size and (int(array.min()) < 0 or int(array.max()) >= length):
        wrong = array[(array < 0) | (array >= length)].ravel()
        raise RuntimeError(
            f"index {int(wrong[0])} is out of bounds for dimension {dim} with size {length}"
        )


def _check_gather(self: Any, dim: int, index: Any, sparse_grad: bool) -> None:
    dim = wrap_dim(dim, self.ndim)
    check_index_type("gather", index)
    if not index.numel():
        return
    if max(index.ndim, 1) != max(self.ndim, 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    for place, (a, b) in enumerate(zip(index.shape, self.shape, strict=False)):
        if place != dim and a > b:
            raise RuntimeError(
                f"Size does not match at dimension {place} expected index "
                f"{sizes_text(index.shape)} to be no larger than self "
                f"{sizes_text(self.shape)} apart from dimension {dim}"
            )
    check_inside(index, dim, self.shape[dim] if self.ndim else 1)


def _grid(xp: Any, index: Any, dim: int) -> tuple[Any, ...]:
    """The full index of every element: its own coordinates, but for the dimension indexed."""
    axes = []
    for place, length in enumerate(index.shape):
        along = xp.arange(length).reshape((-1,) + (1,) * (index.ndim - place - 1))
        axes.append(index if place == dim else along)
    return tuple(axes)


def _gathered(xp: Any, self: Any, dim: int, index: Any) -> Any:
    if not self.ndim:
        return self[xp.zeros_like(index)] if index.ndim else self.copy()
    if not index.ndim:
        return self[index]
    if not index.size:
        return xp.zeros(index.shape, dtype=self.dtype)
    return self[_grid(xp, index, wrap_dim(dim, self.ndim))]


gather = operator(
    "gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
    node="GatherBackward0",
    check=_check_gather,
    layout="row-major",
    forward=lambda xp, self, dim, index, sparse_grad: _gathered(
        xp, self.reshape(1) if index.ndim and not self.ndim else self, dim, index
    ),
    self=lambda grad, self, dim, index, sparse_grad: scatter_add(
        zeros_of(grad, tuple(self.shape)), dim, index, grad
    ),
    acts="moves",
    zero="mask",
    jacobian="selection",
    doc="Gathers elements along a dimension by index.",
    corners=("tensor([1., 2.]).gather(0, tensor([0, 0, 1]))",),
    samples=(
        "torch.gather(x, 1, i)", "x.gather(0, torch.tensor([[0, 1, 0]]))",
        "s.gather(0, torch.tensor(0))", "x.gather(-1, i.int())",
        "torch.gather(input=x, dim=1, index=i)", "x.gather(1, torch.tensor([[0, 0], [1, 1]]))",
    ),
    errors=(
        "x.gather(1, i.float())", "x.gather(1, j)", "x.gather(1, i + 5)", "x.gather(3, i)",
        "x.gather(0, torch.zeros(3, 4, dtype=torch.long))",
    ),
)  # fmt: skip

# ---- scatter


def check_scatter(self: Any, dim: int, index: Any, src: Any = None) -> None:
    dim = wrap_dim(dim, self.ndim)
    check_index_type("scatter", index)
    as_element(src, self.dtype)
    if hasattr(src, "dtype") and src.dtype is not self.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    if not index.numel():
        return
    if max(index.ndim, 1) != max(self.ndim, 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as self tensor")
    if hasattr(src, "ndim") and max(index.ndim, 1) != max(src.ndim, 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    mine, theirs = self.shape or (1,), (getattr(src, "shape", None) or (1,))
    for place, length in enumerate(index.shape):
        wide = place != dim and length > mine[place]
        if wide or (hasattr(src, "shape") and length > theirs[place]):
            raise RuntimeError(
                f"Expected index {sizes_text(index.shape)} to be no larger than self "
                f"{sizes_text(self.shape)} apart from dimension {dim} and to be no larger size "
                f"than src {sizes_text(src.shape)}"
                if hasattr(src, "shape")
                else f"Expected index {sizes_text(index.shape)} to be no larger than self "
                f"{sizes_text(self.shape)} apart from dimension {dim}"
            )
    check_inside(index, dim, self.shape[dim] if self.ndim else 1)


def _within(src: Any, index: Any) -> Any:
    """The corner of a source that the index covers."""
    return src[tuple(slice(0, length) for length in index.shape)] if hasattr(src, "shape") else src


def scattered_into(xp: Any, self: Any, dim: int, index: Any, src: Any, how: str) -> Any:
    if not index.size:
        return self.copy()
    flat = self.reshape(1) if not self.ndim else self
    wide = index.reshape(1) if not index.ndim else index
    if not hasattr(src, "dtype") and self.dtype.kind != "c":
        src = xp.asarray(src).astype(self.dtype).item()
    values = _within(src.reshape(1) if hasattr(src, "ndim") and not src.ndim else src, wide)
    places = _grid(xp, wide, wrap_dim(dim, flat.ndim))
    result = flat.copy()
    if how == "put":
        result[places] = values
    elif how == "add":
        add_in_turn(xp, result, places, values)
    else:
        getattr(xp, how).at(result, places, values)
    return result.reshape(self.shape)


scatter = operator(
    "scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
    node="ScatterBackward0",
    inplace="scatter_",
    tangent="linear",
    overlap="apart",
    check=check_scatter,
    layout="row-major",
    forward=lambda xp, self, dim, index, src: scattered_into(xp, self, dim, index, src, "put"),
    self=lambda grad, dim, index: scatter_value(grad, dim, index, 0),
    src=lambda grad, dim, index, src_shape: _whole(
        gather(grad, dim, index, False), "ScatterBackward0", src_shape
    ),
    acts="moves",
    zero="mask",
    jacobian="placement",
    doc="Writes elements into a copy, along a dimension by index.",
    samples=(
        "x.scatter(1, torch.tensor([[0, 1, 2], [2, 0, 1]]), y)",
        "torch.scatter(x, 0, torch.tensor([[1, 0, 1]]), y)", "x.clone().scatter_(1, i, y)",
    ),
    errors=(
        "x.scatter(1, i, s)", "x.scatter(1, i, i)", "x.scatter(1, i + 9, y)", "x.scatter(1, j, y)",
        "(lambda t: t.scatter_(1, i, t))(x.clone())",
    ),
)  # fmt: skip


def _whole(grad: Any, node: str, shape: Sequence[int]) -> Any:
    """PyTorch refuses gradients of a source that is larger than the index."""
    check_gradient(f"Function {node} returned an ", 1, grad.shape, shape)
    return grad


scatter_value = operator(
    "scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
    node="ScatterBackward1",
    inplace="scatter_",
    check=check_scatter,
    layout="row-major",
    forward=lambda xp, self, dim, index, value: scattered_into(xp, self, dim, index, value, "put"),
    self=lambda grad, dim, index: scatter_value(grad, dim, index, 0),
    acts="moves",
    zero="mask",
    jacobian="placement",
    doc="Writes a number into a copy, along a dimension by index.",
    samples=(
        "x.scatter(1, i, 0.5)", "torch.scatter(x, 0, torch.tensor([[1, 0, 1]]), 2)",
        "x.clone().scatter_(1, i, 1.0)",
    ),
    errors=("x.scatter(1, i + 9, 1.0)", "x.scatter(1, i, 1e39)"),
)  # fmt: skip


def _reduced(xp: Any, self: Any, dim: int, index: Any, src: Any, reduce: str) -> Any:
    if reduce not in ("add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    return scattered_into(xp, self, dim, index, src, reduce)


def _check_reduced(self: Any, dim: int, index: Any, src: Any, reduce: str) -> None:
    if hasattr(src, "dtype"):
        warn(
            "The reduce argument of torch.scatter with Tensor src is deprecated and will be "
            "removed in a future PyTorch release. Use torch.scatter_reduce instead for more "
            "reduction options."
        )
    check_scatter(self, dim, index, src)


for _overload, _type in (("reduce", "Tensor src"), ("value_reduce", "Scalar value")):
    operator(
        f"scatter.{_overload}(Tensor self, int dim, Tensor index, {_type}, *, str reduce) -> "
        "Tensor",
        node="torch::autograd::NotImplemented",
        inplace="scatter_",
        check=_check_reduced,
        forward=_reduced,
        acts="moves",
        doc="A copy with elements added or multiplied in; it has no derivative.",
        samples=("i.scatter(1, i, i, reduce='add')",)
        if _overload == "reduce"
        else ("i.scatter(1, i, 2, reduce='multiply')",),
    )

scatter_add = operator(
    "scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
    node="ScatterAddBackward0",
    inplace="scatter_add_",
    overlap="apart",
    check=check_scatter,
    layout="row-major",
    forward=lambda xp, self, dim, index, src: scattered_into(xp, self, dim, index, src, "add"),
    self=lambda grad: grad,
    src=lambda grad, dim, index, src_shape: _whole(
        gather(grad, dim, index, False), "ScatterAddBackward0", src_shape
    ),
    acts="moves",
    jacobian="placement",
    doc="Adds elements into a copy, along a dimension by index.",
    samples=(
        "x.scatter_add(1, i, y)", "torch.scatter_add(x, 0, torch.tensor([[1, 0, 1]]), y)",
        "x.clone().scatter_add_(1, i, y)",
    ),
    errors=("x.scatter_add(1, i, d)", "x.scatter_add(1, i + 9, y)"),
)  # fmt: skip
