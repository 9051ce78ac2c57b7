"""Operators: x[...] and x[...] = value, taken apart into views and index operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.schema.errors import type_name
from ...engine.schema.limits import as_element
from ...engine.schema.mode import state
from ...engine.schema.numpy_wrappers import Wrapped, WrappedNumber
from ...engine.schema.operator import catalogue, composite, factory, operator
from ..shape.select import LAST, select, slice_
from ..shape.shape import alias, expand, view
from ..shape.squeeze import unsqueeze
from .index import index, is_filled

# ---- what stands between the brackets


def _construct() -> Any:
    """How lists become tensors: that needs NumPy, and rows are read without it."""
    from ...engine.tensors import construct

    return construct


index_values = factory(
    "_index_values(any values, *, Device? device=None) -> Tensor",
    lambda xp, values: xp.asarray(_construct().index_array(values)),
    dtype=lambda values, *rest: _construct().index_type(values),
    where="hidden",
    doc="The tensor that a list between the brackets stands for.",
    samples=("x[[0, 1]]", "x[[True, False]]", "x[[]]"),
)


def _is_tensor(value: Any) -> bool:
    return hasattr(type(value), "_kind")


def _is_integer(value: Any) -> bool:
    """Python's and NumPy's integers; bool is not one here."""
    kind = value.__class__
    if kind is int:
        return True
    return kind is not bool and hasattr(value, "__index__") and not _is_tensor(value)


def _whole(value: Any) -> int:
    number = int(value.__index__())
    if not -(2**63) <= number < 2**63:
        raise ValueError("Overflow when unpacking long long")
    return number


def _bounds(item: slice) -> tuple[int, int, int]:
    """A slice's start, end and step as PyTorch fills them in."""
    parts = []
    for part, absent in ((item.start, 0), (item.stop, LAST), (item.step, 1)):
        if part is None:
            parts.append(absent)
        elif hasattr(part, "__index__"):
            parts.append(int(part.__index__()))
        else:
            raise TypeError("slice indices must be integers or None or have an __index__ method")
    start, end, step = parts
    if step == 0:
        raise ValueError("slice step cannot be zero")
    if step < 0:
        raise ValueError("step must be greater than zero")
    return max(start, -LAST), min(end, LAST), step


def _select_at(self: Any, dim: int, place: int, real_dim: int) -> Any:
    shape = self._data.shape
    length = shape[dim] if shape else 0
    if -length <= place < length:
        return select.run(self, dim, place)
    if not shape and place == 0 and dim == 0:
        raise IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` "
            "in C++ to convert a 0-dim tensor to a number"
        )
    raise IndexError(f"index {place} is out of bounds for dimension {real_dim} with size {length}")


NON_TUPLE = (
    "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in "
    "pytorch 2.9; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as "
    "tensor index, x[torch.tensor(seq)], which will result either in an error or a different result"
)


def _as_tuple(item: Any) -> tuple[Any, ...]:
    """A list that holds sequences, tensors or slices is meant as a tuple of indices."""
    if isinstance(item, tuple):
        return item
    if isinstance(item, list) and len(item) < 32:
        for part in item:
            if (
                _is_tensor(part)
                or isinstance(part, list | tuple | range | slice)
                or part is ...
                or part is None
            ):
                state.warn(NON_TUPLE)
                return tuple(item)
    return (item,)


def _as_indices(item: Any) -> tuple[Any, ...]:
    """The same, with tensors for NumPy's arrays."""
    parts = _as_tuple(item)
    if all(part.__class__ in ORDINARY or _is_tensor(part) for part in parts):
        return parts
    return tuple([_construct().index_of_array(part) for part in parts])


ORDINARY = frozenset({int, slice, list, tuple, bool, type(None), type(...)})


def _dimensions_named(items: Sequence[Any]) -> int:
    """How many dimensions an index speaks of."""
    count = 0
    for item in items:
        if _is_tensor(item):
            count += item.ndim if item.dtype.name in ("bool", "uint8") else 1
        elif item is not None and item is not ... and item is not True and item is not False:
            count += 1
    return count


def _taken_apart(self: Any, items: Sequence[Any]) -> tuple[Any, list[Any]]:
    """Views for what views can say; the index tensors that remain, by dimension."""
    named = _dimensions_named(items)
    if named > self.ndim:
        raise IndexError(f"too many indices for tensor of dimension {self.ndim}")
    result, dim, rest = self, 0, []
    for real_dim, item in enumerate(items):
        if isinstance(item, slice):
            start, end, step = _bounds(item)
            if not (start == 0 and step == 1 and result.ndim and end >= result.shape[dim]):
                result = slice_(result, dim, start, end, step)
            dim += 1
        elif item is ...:
            dim += self.ndim - named
        elif item is None:
            result, dim = unsqueeze(result, dim), dim + 1
        elif item is True or item is False:
            result, dim = _with_flag(result, dim, item, rest), dim + 1
        elif _is_tensor(item):
            if item.ndim == 0 and item.dtype.category < 2 and not hasattr(item._data, "level"):
                if item.dtype.name in ("bool", "uint8"):
                    result, dim = _with_flag(result, dim, bool(item.item()), rest), dim + 1
                else:
                    result = _select_at(result, dim, int(item.item()), real_dim)
            else:
                dim = _recorded(rest, dim, item)
        elif _is_integer(item):
            result = _select_at(result, dim, _whole(item), real_dim)
        elif isinstance(item, list | tuple | range | str):
            dim = _recorded(rest, dim, index_values(item, device=self.device))
        else:
            raise IndexError(
                "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables "
                f"are valid indices (got {type_name(item)})"
            )
    return result, rest


def _beside(self: Any, indices: list[Any]) -> list[Any]:
    """Index tensors where the indexed one is: those of the CPU come along."""
    for place, item in enumerate(indices):
        if item is None or item.device is self.device:
            continue
        if item.device != self.device:
            if item.device.type != "cpu":
                raise RuntimeError(
                    "indices should be either on cpu or on the same device as the indexed tensor "
                    f"({self.device})"
                )
            indices[place] = item.to(self.device)
    return indices


def _with_flag(self: Any, dim: int, flag: bool, rest: list[Any]) -> Any:
    """x[True] adds a dimension and takes all of it, x[False] none."""
    values = index_values([0] if flag else [], device=self.device)
    _recorded(rest, dim, values)
    return unsqueeze(self, dim)


def _recorded(rest: list[Any], dim: int, values: Any) -> int:
    rest.extend([None] * (dim - len(rest)))
    rest.append(values)
    return dim + (values.ndim if values.dtype.name in ("bool", "uint8") else 1)


def getitem(self: Any, item: Any) -> Any:
    """x[item]: views where views can say it, an index operation for the rest."""
    kind = item.__class__
    if kind is int:
        return _select_at(self, 0, _whole(item), 0)
    if item is None:
        return unsqueeze(self, 0)
    if item is ...:
        return alias(self)
    if kind is slice:
        start, end, step = _bounds(item)
        return slice_(self, 0, start, end, step)
    result, rest = _taken_apart(self, _as_indices(item))
    if rest:
        return index(result, _beside(result, rest))
    return alias(result) if result is self else result


def _as_value(self: Any, value: Any) -> Any:
    if _is_tensor(value):
        return value
    wrapped = isinstance(value, Wrapped)
    if isinstance(value, WrappedNumber) and (value.is_python or _is_integer(value)):
        value = value.item()
    if value.__class__ in (int, float, bool, complex) or (
        not wrapped and hasattr(value, "dtype") and not getattr(value, "shape", 1)
    ):
        return scalar_like(self, as_element(value, self.dtype))
    raise TypeError(f"can't assign a {type_name(value)} to a torch.{self.dtype.word}Tensor")


scalar_like = operator(
    "_scalar_like(Tensor self, Scalar value) -> Tensor",
    where="hidden",
    forward=lambda xp, self, value: xp.asarray(value).astype(self.dtype),
    acts="constant",
    doc="A number as a 0-dim tensor of another tensor's element type: what x[0] = 1 assigns.",
    samples=("x.clone().index_put_((j[:1], j[:1]), s)",),
)


def _without_leading_ones(shape: Sequence[int]) -> tuple[int, ...]:
    start = 0
    while start < len(shape) and shape[start] == 1:
        start += 1
    return tuple(shape[start:])


def _copy_to(target: Any, value: Any) -> None:
    """target[...] = value, broadcast as PyTorch's assignment does it."""
    if tuple(target.shape) == tuple(value.shape):
        target.copy_(value)
        return
    if value.ndim == 0:
        target.fill_(value)
        return
    value = view(value, _without_leading_ones(value.shape))
    if tuple(value.shape) != tuple(target.shape):
        value = expand.run(value, tuple(target.shape), False)
    target.copy_(value)


def setitem(self: Any, item: Any, value: Any) -> None:
    """x[item] = value: copy_ into a view, or index_put_."""
    if item is False:
        return
    value = _as_value(self, value)
    if item.__class__ is int:
        _copy_to(_select_at(self, 0, _whole(item), 0), value)
        return
    if item.__class__ is slice and not self.ndim:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    if item is None or item is True:
        _copy_to(unsqueeze(self, 0), value)
    elif item is ...:
        _copy_to(self, value)
    else:
        target, rest = _taken_apart(self, _as_indices(item))
        if not rest:
            _copy_to(target, value)
            return
        size = _without_leading_ones(value.shape)
        if size != tuple(value.shape):
            value = view(value, size)
        indices = _beside(target, rest)
        catalogue.row("index_put_").run(target, indices, value, False)
        if is_filled(indices, value):  # masked_fill_ has the same warning
            from ...engine.tensors.overlap import warn_expanded  # rows are read without NumPy

            warn_expanded(catalogue.row("masked_fill.Scalar"), target)


composite(
    "__getitem__(Tensor self, any index) -> Tensor",
    getitem,
    where="method",
    doc="Indexing with integers, slices, None, ..., masks, lists and integer tensors.",
    samples=(
        "x[0]", "x[-1]", "x[0, 1]", "x[:, 1]", "x[1:, 1]", "x[:]", "x[:, :]", "x[...]", "x[..., 0]",
        "x[None]", "x[:, None]", "x[True]", "x[False]", "x[[0, 1]]", "x[[True, False]]", "x[k]",
        "x[k,]", "x[:, j]", "x[0:2, j]", "x[0, j]", "x[[0, 1], [1, 2]]", "x[((0, 1), (1, 0))]",
        "s[...]", "s[None]", "s[True]", "x[()]", "c[[0, 1], :, [1, 2]]", "c[:, [0, 1], [1, 2]]",
        "c[0, :, [1, 2]]", "c[:, torch.tensor(1)]", "c[:, torch.tensor([[0, 1], [1, 0]])]",
        "c[..., [0, 1]]", "x[torch.tensor(True)]", "x[torch.tensor([1, 0], dtype=torch.uint8)]",
        "v[n]", "x[range(2)]", "x[torch.tensor([1, 0], dtype=torch.int32)]", "x[[]]", "x[5:]",
        "x[-5:1]", "x[::2]", "v[[-1, 0]]", "x[None, ..., None]", "x[0:1, None, [1, 2]]",
        "c[1, ..., 0]", "c[:, j, j]", "x[[0, 0, 1]]", "x[[[0, 1], [1, 0]]]", "x[1:torch.tensor(2)]",
    ),
    errors=(
        "x[5]", "x[-3]", "x[0, 3]", "x[0, 0, 0]", "s[0]", "s[1]", "s[:]", "x[1.0]", "x['a']",
        "x[torch.tensor(1.0)]", "x[torch.tensor([1.0])]", "x[::0]", "x[::-1]", "v[[5]]", "v[[-4]]",
        "x[[0, 1], [0, 1, 2]]", "x[torch.tensor([True, False, True])]",
        "x[:, torch.tensor([True, False])]", "x[:, 1:2.0]", "x[2 ** 70]", "x[{}]", "x[j]",
    ),
)  # fmt: skip

composite(
    "__setitem__(Tensor self, any index, any value) -> Tensor",
    setitem,
    where="method",
    doc="Assignment to a part: copied into a view, or put where index tensors point.",
    samples=("x.clone().__setitem__(0, 1)",),
)
