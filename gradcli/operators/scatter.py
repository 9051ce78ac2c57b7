"""Operators: elements read from and written to places that an index tensor of their size names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..engine.operator import composite, operator
from .constants import zeros_as, zeros_of
from .geometry import broadcast_sizes, shown, wrap_dim
from .shape import expand, reshape
from .where import masked_fill, where

# ---- checks that the family shares


def check_index_type(name: str, index: Any) -> None:
    if index.dtype.name not in ("int64", "int32"):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")


def check_inside(index: Any, dim: int, length: int) -> None:
    """Indices of this family are not counted from the end."""
    array = index._data
    if array.size and (int(array.min()) < 0 or int(array.max()) >= length):
        wrong = array[(array < 0) | (array >= length)].ravel()
        raise RuntimeError(
            f"index {int(wrong[0])} is out of bounds for dimension {dim} with size {length}"
        )


def _check_gather(self: Any, dim: int, index: Any, sparse_grad: bool) -> None:
    dim = wrap_dim(dim, self.ndim)
    check_index_type("gather", index)
    if max(index.ndim, 1) != max(self.ndim, 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    for place, (a, b) in enumerate(zip(index.shape, self.shape, strict=False)):
        if place != dim and a > b:
            raise RuntimeError(
                f"Size does not match at dimension {place} expected index {shown(index.shape)} to "
                f"be no larger than self {shown(self.shape)} apart from dimension {dim}"
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
    return self[_grid(xp, index, wrap_dim(dim, self.ndim))]


gather = operator(
    "gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
    node="GatherBackward0",
    check=_check_gather,
    forward=lambda xp, self, dim, index, sparse_grad: _gathered(
        xp, self.reshape(1) if index.ndim and not self.ndim else self, dim, index
    ),
    self=lambda grad, self, dim, index, sparse_grad: scatter_add(
        zeros_of(grad, tuple(self.shape)), dim, index, grad
    ),
    doc="The elements that an index tensor names along a dimension.",
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


def _check_scatter(self: Any, dim: int, index: Any, src: Any = None) -> None:
    dim = wrap_dim(dim, self.ndim)
    check_index_type("scatter", index)
    if hasattr(src, "dtype") and src.dtype is not self.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    if max(index.ndim, 1) != max(self.ndim, 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as self tensor")
    if hasattr(src, "ndim") and max(index.ndim, 1) != max(src.ndim, 1):
        raise RuntimeError("Index tensor must have the same number of dimensions as src tensor")
    for place, length in enumerate(index.shape):
        wide = place != dim and length > self.shape[place]
        if wide or (hasattr(src, "shape") and length > src.shape[place]):
            raise RuntimeError(
                f"Expected index {shown(index.shape)} to be no larger than self "
                f"{shown(self.shape)} apart from dimension {dim} and to be no larger size than src "
                f"{shown(src.shape)}"
                if hasattr(src, "shape")
                else f"Expected index {shown(index.shape)} to be no larger than self "
                f"{shown(self.shape)} apart from dimension {dim}"
            )
    check_inside(index, dim, self.shape[dim] if self.ndim else 1)


def _within(src: Any, index: Any) -> Any:
    """The corner of a source that the index covers."""
    return src[tuple(slice(0, length) for length in index.shape)] if hasattr(src, "shape") else src


def _scattered(xp: Any, self: Any, dim: int, index: Any, src: Any, how: str) -> Any:
    if not index.size:
        return self.copy()
    flat = self.reshape(1) if not self.ndim else self
    wide = index.reshape(1) if not index.ndim else index
    values = _within(src.reshape(1) if hasattr(src, "ndim") and not src.ndim else src, wide)
    places = _grid(xp, wide, wrap_dim(dim, flat.ndim))
    result = flat.copy()
    if how == "put":
        result[places] = values
    else:
        getattr(xp, how).at(result, places, values)
    return result.reshape(self.shape)


scatter = operator(
    "scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
    node="ScatterBackward0",
    inplace="scatter_",
    check=_check_scatter,
    forward=lambda xp, self, dim, index, src: _scattered(xp, self, dim, index, src, "put"),
    self=lambda grad, dim, index: scatter_value(grad, dim, index, 0),
    src=lambda grad, dim, index, src_shape: _whole(
        gather(grad, dim, index, False), "ScatterBackward0", src_shape
    ),
    doc="A copy with elements written where an index tensor says along a dimension.",
    samples=(
        "x.scatter(1, torch.tensor([[0, 1, 2], [2, 0, 1]]), y)",
        "torch.scatter(x, 0, torch.tensor([[1, 0, 1]]), y)", "x.clone().scatter_(1, i, y)",
    ),
    errors=(
        "x.scatter(1, i, s)", "x.scatter(1, i, i)", "x.scatter(1, i + 9, y)", "x.scatter(1, j, y)",
    ),
)  # fmt: skip


def _whole(grad: Any, node: str, shape: Sequence[int]) -> Any:
    """PyTorch refuses gradients of a source that is larger than the index."""
    if tuple(grad.shape) != tuple(shape):
        raise RuntimeError(
            f"Function {node} returned an invalid gradient at index 1 - got {shown(grad.shape)} but "
            f"expected shape compatible with {shown(shape)}"
        )
    return grad


scatter_value = operator(
    "scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
    node="ScatterBackward1",
    inplace="scatter_",
    check=_check_scatter,
    forward=lambda xp, self, dim, index, value: _scattered(xp, self, dim, index, value, "put"),
    self=lambda grad, dim, index: scatter_value(grad, dim, index, 0),
    doc="A copy with a number written where an index tensor says along a dimension.",
    samples=(
        "x.scatter(1, i, 0.5)", "torch.scatter(x, 0, torch.tensor([[1, 0, 1]]), 2)",
        "x.clone().scatter_(1, i, 1.0)",
    ),
    errors=("x.scatter(1, i + 9, 1.0)",),
)  # fmt: skip


def _reduced(xp: Any, self: Any, dim: int, index: Any, src: Any, reduce: str) -> Any:
    if reduce not in ("add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    return _scattered(xp, self, dim, index, src, reduce)


for _overload, _type in (("reduce", "Tensor src"), ("value_reduce", "Scalar value")):
    operator(
        f"scatter.{_overload}(Tensor self, int dim, Tensor index, {_type}, *, str reduce) -> Tensor",
        node="NotImplemented",
        inplace="scatter_",
        check=lambda self, dim, index, src, reduce: _check_scatter(self, dim, index, src),
        forward=_reduced,
        doc="A copy with elements added or multiplied in; it has no derivative.",
        samples=("i.scatter(1, i, i, reduce='add')",)
        if _overload == "reduce"
        else ("i.scatter(1, i, 2, reduce='multiply')",),
    )

scatter_add = operator(
    "scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
    node="ScatterAddBackward0",
    inplace="scatter_add_",
    check=_check_scatter,
    forward=lambda xp, self, dim, index, src: _scattered(xp, self, dim, index, src, "add"),
    self=lambda grad: grad,
    src=lambda grad, dim, index, src_shape: _whole(
        gather(grad, dim, index, False), "ScatterAddBackward0", src_shape
    ),
    doc="A copy with elements added where an index tensor says along a dimension.",
    samples=(
        "x.scatter_add(1, i, y)", "torch.scatter_add(x, 0, torch.tensor([[1, 0, 1]]), y)",
        "x.clone().scatter_add_(1, i, y)",
    ),
    errors=("x.scatter_add(1, i, d)", "x.scatter_add(1, i + 9, y)"),
)  # fmt: skip

# ---- scatter_reduce

REDUCTIONS = {"sum": "add", "prod": "multiply", "mean": "add", "amax": "maximum", "amin": "minimum"}


def _check_reduce(
    self: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool
) -> None:
    if reduce not in REDUCTIONS:
        raise RuntimeError(
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
        )
    _check_scatter(self, dim, index, src)


def neutral(xp: Any, reduce: str, dtype: Any) -> Any:
    """What a reduction starts from where self takes no part."""
    if reduce in ("sum", "mean"):
        return 0
    if reduce == "prod":
        return 1
    if dtype.kind == "f":
        return -xp.inf if reduce == "amax" else xp.inf
    limits = xp.iinfo(dtype)
    return limits.min if reduce == "amax" else limits.max


def _scatter_reduced(
    xp: Any, self: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool
) -> Any:
    start = self
    if not include_self:
        start = _scattered(xp, self, dim, index, neutral(xp, reduce, self.dtype), "put")
    result = _scattered(xp, start, dim, index, src, REDUCTIONS[reduce])
    if reduce == "mean":
        ones = xp.ones_like(self)
        if not include_self:
            ones = _scattered(xp, ones, dim, index, 0, "put")
        count = _scattered(xp, ones, dim, index, xp.ones(index.shape, self.dtype), "add")
        count = xp.where(count == 0, 1, count).astype(self.dtype)
        result = result / count if self.dtype.kind == "f" else result // count
    return result


def ones_as(self: Any) -> Any:
    return filled_as(self, 1)


filled_as = operator(
    "_filled_as(Tensor self, Scalar value) -> Tensor",
    where="hidden",
    forward=lambda xp, self, value: xp.full_like(self, value),
    doc="A number in every place of another tensor.",
    samples=("torch.autograd.grad(x.scatter_reduce(1, i, y, 'mean'), x, p, create_graph=True)[0]",),
)

equal_places = operator(
    "_equal_places(Tensor self, Tensor other) -> Tensor",
    where="hidden",
    forward=lambda xp, self, other: (self == other).astype(self.dtype),
    doc="One where two tensors agree, zero elsewhere.",
    samples=("torch.autograd.grad(x.scatter_reduce(1, i, y, 'amax'), x, p, create_graph=True)[0]",),
)

zero_places = operator(
    "_zero_places(Tensor self) -> Tensor",
    where="hidden",
    dtype="bool",
    forward=lambda xp, self: self == 0,
    doc="Where a tensor is zero.",
    samples=("torch.autograd.grad(x.scatter_reduce(1, i, y, 'prod'), x, p, create_graph=True)[0]",),
)


def _reduce_gradients(
    grad: Any,
    self: Any,
    dim: int,
    index: Any,
    src: Any,
    reduce: str,
    include_self: bool,
    result: Any,
) -> tuple[Any, Any]:
    """The gradients of both operands; where self takes no part its gradient is zero."""
    if reduce == "sum":
        grad_self, grad_src = grad, gather(grad, dim, index, False)
    elif reduce == "mean":
        count = ones_as(grad) if include_self else zeros_as(grad)
        count = scatter_add(count, dim, index, ones_as(src))
        count = masked_fill(count, zero_places(count), 1)
        grad_self = grad / count
        grad_src = gather(grad, dim, index, False) / gather(count, dim, index, False)
    elif reduce == "prod":
        grad_self, grad_src = _product_gradients(grad, self, dim, index, src, include_self, result)
    else:
        value = gather(result, dim, index, False)
        mine = equal_places(self, result)
        theirs = equal_places(src, value)
        shared = scatter_add(mine, dim, index, theirs)
        share = grad / shared
        grad_self, grad_src = mine * share, theirs * gather(share, dim, index, False)
    if not include_self:
        grad_self = scatter_value(grad_self, dim, index, 0)
    return grad_self, grad_src


def _product_gradients(
    grad: Any, self: Any, dim: int, index: Any, src: Any, include_self: bool, result: Any
) -> tuple[Any, Any]:
    """The product of the others; one zero is divided out by masking it, two leave zero."""
    without = masked_fill(self, zero_places(self), 1)
    others = scatter_reduce(without, dim, index, src, "prod", include_self)
    grad_self = (grad * others) / without
    zero = zero_places(src)
    count = scatter_add(zeros_as(grad), dim, index, where(zero, ones_as(src), 0))
    single = where(zero, gather(count, dim, index, False), 0)
    alone = zero_places(single - 1)
    masked = masked_fill(src, alone, 1)
    excluded = scatter_reduce(self, dim, index, masked, "prod", include_self)
    of_single = gather(grad * excluded, dim, index, False)
    of_others = gather(grad * result, dim, index, False) / masked_fill(src, zero, 1)
    return grad_self, where(alone, of_single, of_others)


scatter_reduce = operator(
    "scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, "
    "bool include_self=True) -> Tensor",
    node="ScatterReduceBackward0",
    inplace="scatter_reduce_",
    check=_check_reduce,
    forward=_scatter_reduced,
    joint={
        ("self", "src"): lambda grad, self, dim, index, src, reduce, include_self, result: (
            _reduce_gradients(grad, self, dim, index, src, reduce, include_self, result)
        )
    },
    doc="A copy with elements summed, multiplied, averaged or compared in along a dimension.",
    samples=tuple(
        f"x.scatter_reduce(1, i, y, '{how}'{more})"
        for how in REDUCTIONS
        for more in ("", ", include_self=False")
    ),
    errors=("x.scatter_reduce(1, i, y, 'foo')", "x.scatter_reduce(1, i, d, 'sum')"),
)

# ---- flat positions


def _check_flat(self: Any, index: Any) -> None:
    count, array = self.numel(), index._data
    if index.dtype.name not in ("int64",):
        raise RuntimeError(f"take(): Expected a long tensor for index, but got {index.dtype.word}")
    if array.size and (int(array.min()) < -count or int(array.max()) >= count):
        wrong = array[(array < -count) | (array >= count)].ravel()
        raise IndexError(
            f"out of range: tried to access index {int(wrong[0])} on a tensor of {count} elements."
        )


take = operator(
    "take(Tensor self, Tensor index) -> Tensor",
    node="TakeBackward0",
    check=_check_flat,
    forward=lambda xp, self, index: self.reshape(-1)[index],
    self=lambda grad, self, index: put(zeros_of(grad, tuple(self.shape)), index, grad, True),
    doc="Elements by their position in the flattened tensor.",
    samples=("x.take(j)", "torch.take(x, torch.tensor([[0, 5], [5, -1]]))"),
    errors=("x.take(torch.tensor([6]))", "x.take(v)"),
)


def _check_put(self: Any, index: Any, source: Any, accumulate: bool) -> None:
    if index.dtype.name != "int64":
        raise RuntimeError(f"put_(): Expected a long tensor for index, but got {index.dtype.word}")
    if source.dtype is not self.dtype:
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{self.dtype.word} and source.dtype = {source.dtype.word}"
        )
    if index.numel() != source.numel():
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got "
            f"source.numel() = {source.numel()}, index.numel() = {index.numel()}"
        )
    _check_flat(self, index)


def _put(xp: Any, self: Any, index: Any, source: Any, accumulate: bool) -> Any:
    result = self.copy(order="C").reshape(-1)
    if accumulate:
        xp.add.at(result, index.reshape(-1), source.reshape(-1))
    else:
        result[index.reshape(-1)] = source.reshape(-1)
    return result.reshape(self.shape)


put = operator(
    "put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor",
    node="PutBackward0",
    inplace="put_",
    check=_check_put,
    forward=_put,
    self=lambda grad, index, source, accumulate: (
        grad if accumulate else put(grad, index, zeros_as(source), False)
    ),
    source=lambda grad, index, source: reshape(take(grad, index), tuple(source.shape)),
    doc="A copy with elements written by their position in the flattened tensor.",
    samples=("x.put(j, v)", "torch.put(x, j, v, True)", "x.clone().put_(j, v)"),
    errors=("x.put(j, w[:2])", "x.put(j, d[0])"),
)


def _taken_along(self: Any, indices: Any, dim: int | None) -> Any:
    if indices.dtype.name != "int64":
        raise RuntimeError(
            "torch.take_along_dim(): dtype of indices should be Long but got " + indices.dtype.word
        )
    if dim is None:
        return gather.run(reshape(self, (-1,)), 0, reshape(indices, (-1,)), False)
    if self.ndim != indices.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, "
            f"but got {self.ndim} dimensions for input, and {indices.ndim} dimensions for indices"
        )
    dim = wrap_dim(dim, self.ndim)
    a, b = list(self.shape), list(indices.shape)
    a[dim] = b[dim] = 1
    common = broadcast_sizes(a, b)
    mine = (*common[:dim], self.shape[dim], *common[dim + 1 :])
    theirs = (*common[:dim], indices.shape[dim], *common[dim + 1 :])
    return gather.run(expand.run(self, mine, False), dim, expand.run(indices, theirs, False), False)


take_along_dim = composite(
    "take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor",
    _taken_along,
    doc="gather with operands broadcast against each other.",
    samples=(
        "torch.take_along_dim(x, i, 1)", "torch.take_along_dim(x, j)",
        "x.take_along_dim(torch.tensor([[0], [1]]), 1)",
    ),
    errors=("torch.take_along_dim(x, j, 1)", "torch.take_along_dim(x, y, 1)"),
)  # fmt: skip


def _check_classes(tensor: Any, num_classes: int) -> None:
    if tensor.dtype.name != "int64":
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    array = tensor._data
    if not array.size:
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return
    if int(array.min()) < 0:
        raise RuntimeError("Class values must be non-negative.")
    if num_classes != -1:
        if num_classes <= 0:
            raise RuntimeError("num_classes should be positive")
        if int(array.max()) >= num_classes:
            raise RuntimeError("Class values must be smaller than num_classes.")


def _class_count(tensor: Any, num_classes: int) -> int:
    return int(tensor.max()) + 1 if num_classes == -1 else num_classes


one_hot = operator(
    "one_hot(Tensor self, int num_classes=-1) -> Tensor",
    where="functional",
    dtype="int64",
    check=_check_classes,
    forward=lambda xp, self, num_classes: (
        self[..., None] == xp.arange(_class_count(self, num_classes))
    ).astype("int64"),
    cost=lambda self, num_classes: self.numel() * _class_count(self._data, num_classes),
    doc="Each class as a row with a single one.",
    samples=("F.one_hot(j)", "F.one_hot(i, 4)", "F.one_hot(j, num_classes=3)"),
    errors=("F.one_hot(j, 2)", "F.one_hot(x)", "F.one_hot(-j)"),
)


def _unraveled(indices: Any, shape: Sequence[int]) -> tuple[Any, ...]:
    return tuple(unraveled.run(indices, tuple(shape)).unbind(-1))


unraveled = operator(
    "_unraveled(Tensor self, int[] shape) -> Tensor",
    where="hidden",
    forward=lambda xp, self, shape: xp.stack(xp.unravel_index(self, tuple(shape)), -1),
    doc="The coordinates of flat positions.",
    samples=("torch.unravel_index(torch.tensor([1, 5]), (2, 3))[0]",),
)

unravel_index = composite(
    "unravel_index(Tensor indices, int[] shape) -> Tensor[]",
    _unraveled,
    where="torch",
    doc="The coordinates of flat positions, one tensor a dimension.",
    samples=("torch.unravel_index(torch.tensor([1, 5]), (2, 3))[1]",),
)
