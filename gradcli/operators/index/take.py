"""Operators: elements by their flat position, and classes as rows of ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.memory.layout import once
from ...engine.schema.operator import composite, operator
from ...engine.schema.signature import is_int
from ..geometry import broadcast_sizes, wrap_dim
from ..shape.constants import zeros_as, zeros_of
from ..shape.shape import expand, reshape
from .scatter import gather

# ---- flat positions


def _check_flat(self: Any, index: Any, empty: str = "take(): tried to take from") -> None:
    count, array = self.numel(), once(index._data)
    if index.dtype.name not in ("int64",):
        raise RuntimeError(f"take(): Expected a long tensor for index, but got {index.dtype.word}")
    if not count and array.size:
        raise IndexError(f"{empty} an empty tensor")
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
    acts="moves",
    zero="mask",
    jacobian="selection",
    doc="Elements by their position in the flattened tensor.",
    corners=("tensor([1., 2.]).take(tensor([0, 0, 1]))",),
    samples=("x.take(j)", "torch.take(x, torch.tensor([[0, 5], [5, -1]]))"),
    errors=("x.take(torch.tensor([6]))", "x.take(v)", "torch.zeros(0).take(torch.tensor([0]))"),
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
    _check_flat(self, index, "put_(): Tried to put elements into")


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
    tangent="linear",
    check=_check_put,
    layout="like",
    forward=_put,
    self=lambda grad, index, source, accumulate: (
        grad if accumulate else put(grad, index, zeros_as(source), False)
    ),
    source=lambda grad, index, source: reshape(take(grad, index), tuple(source.shape)),
    doc="A copy with elements written by their position in the flattened tensor.",
    samples=("x.put(j, v)", "torch.put(x, j, v, True)", "x.clone().put_(j, v)"),
    errors=("x.put(j, w[:2])", "x.put(j, d[0])"),
)


counted_from_front = operator(
    "_counted_from_front(Tensor self, int length) -> Tensor",
    where="hidden",
    forward=lambda xp, self, length: xp.where(self < 0, self + length, self),
    doc="Indices counted from the end, counted from the front instead.",
    samples=("torch.take_along_dim(x, -torch.ones_like(i), 1)",),
)


def _taken_along(self: Any, indices: Any, dim: int | None) -> Any:
    if dim is not None and self.ndim != indices.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, "
            f"but got {self.ndim} dimensions for input, and {indices.ndim} dimensions for indices"
        )
    if indices.dtype.name != "int64":
        raise RuntimeError(
            "torch.take_along_dim(): dtype of indices should be Long but got " + indices.dtype.word
        )
    if dim is None:
        return gather.run(reshape(self, (-1,)), 0, reshape(indices, (-1,)), False)
    dim = wrap_dim(dim, self.ndim)
    indices = counted_from_front(indices, self.shape[dim] if self.ndim else 1)
    if not self.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
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
    array = once(tensor._data)
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
    return int(once(tensor).max()) + 1 if num_classes == -1 else num_classes


one_hot = operator(
    "one_hot(Tensor self, int num_classes=-1) -> Tensor",
    where="functional",
    dtype="int64",
    check=_check_classes,
    layout="row-major",
    forward=lambda xp, self, num_classes: (
        self[..., None] == xp.arange(_class_count(self, num_classes))
    ).astype("int64"),
    cost=lambda self, num_classes: self.numel() * _class_count(self._data, num_classes),
    doc="Each class as a row with a single one.",
    samples=("F.one_hot(j)", "F.one_hot(i, 4)", "F.one_hot(j, num_classes=3)"),
    errors=("F.one_hot(j, 2)", "F.one_hot(x)", "F.one_hot(-j)"),
)


def _unraveled(indices: Any, shape: Any) -> tuple[Any, ...]:
    if not is_int(shape) and not isinstance(shape, Sequence):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    shape = (shape,) if is_int(shape) else tuple(shape)
    other = next((size for size in shape if not is_int(size)), None)
    if other is not None:
        raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(other)}")
    if indices.dtype.category != 1:
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    if not shape:
        return ()
    return tuple(unraveled.run(indices, tuple(shape)).unbind(-1))


unraveled = operator(
    "_unraveled(Tensor self, int[] shape) -> Tensor",
    where="hidden",
    dtype="int64",
    forward=lambda xp, self, shape: xp.stack(xp.unravel_index(self, tuple(shape)), -1),
    doc="The coordinates of flat positions.",
    samples=("torch.unravel_index(torch.tensor([1, 5]), (2, 3))[0]",),
)

unravel_index = composite(
    "unravel_index(Tensor indices, any shape) -> Tensor[]",
    _unraveled,
    where="torch",
    doc="The coordinates of flat positions, one tensor a dimension.",
    samples=("torch.unravel_index(torch.tensor([1, 5]), (2, 3))[1]",),
)
