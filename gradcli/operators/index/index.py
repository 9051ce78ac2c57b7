"""Operators: elements at the places that index tensors name: what x[...] leaves to an operation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.memory.layout import byte_strides, order_of, relaid, strides_in_order
from ...engine.schema.dtypes import COMPLEX
from ...engine.schema.operator import Reduced, operator, warn
from ...numerics.reduced_kernels import add_at
from ..geometry import broadcast_sizes, sizes_text
from ..reduce.sums import sum_to
from ..shape.cast import alike
from ..shape.constants import zeros_of
from .adding import add_in_turn

# ---- index operations: a list of index tensors, None where a dimension is taken whole


def _check_indices(self: Any, indices: Sequence[Any]) -> None:
    """Masks must fit, indices must be whole numbers inside the dimension, and broadcast."""
    if len(indices) > self.ndim:
        raise IndexError(
            f"too many indices for tensor of dimension {self.ndim} (got {len(indices)})"
        )
    dim, shapes = 0, []
    for index in indices:
        if index is None:
            dim += 1
            continue
        word = index.dtype.name
        if word == "uint8":
            warn(
                "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool "
                "instead."
            )
        if word in ("bool", "uint8"):
            _check_mask(self, index, dim)
            dim += index.ndim
            continue
        if word not in ("int64", "int32"):
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
        shapes.append(tuple(index.shape))
        dim += 1
    _check_broadcast(shapes)


def _check_mask(self: Any, mask: Any, dim: int) -> None:
    for place, length in enumerate(mask.shape):
        if dim + place >= self.ndim or self.shape[dim + place] != length:
            raise IndexError(
                f"The shape of the mask {sizes_text(mask.shape)} at index {place} does not match "
                f"the shape of the indexed tensor {sizes_text(self.shape)} at index {dim + place}"
            )


def _check_broadcast(shapes: Sequence[Sequence[int]]) -> None:
    try:
        broadcast_sizes(*shapes)
    except RuntimeError:
        listed = ", ".join(map(sizes_text, shapes))
        raise IndexError(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes {listed}"
        ) from None


def _places(xp: Any, shape: Sequence[int], indices: Sequence[Any]) -> tuple[Any, ...]:
    """The index as NumPy takes it: masks as positions, whole dimensions as slices."""
    places: list[Any] = []
    for index in indices:
        if index is None:
            places.append(slice(None))
        elif index.dtype.kind == "b" or index.dtype.name == "uint8":
            places.extend(xp.nonzero(index))
        else:
            number = sum(place.__class__ is not slice for place in places)
            _check_bounds(index, number, shape[len(places)])
            places.append(index)
    return tuple(places)


def _check_bounds(index: Any, number: int, length: int) -> None:
    """PyTorch counts the dimensions that have an index, not those of the tensor."""
    if not index.size:
        return
    low, high = int(index.min()), int(index.max())
    if low < -length or high >= length:
        if not length:
            raise IndexError("index is out of bounds for dimension with size 0")
        wrong = index[(index < -length) | (index >= length)].ravel()
        raise IndexError(
            f"index {int(wrong[0])} is out of bounds for dimension {number} with size {length}"
        )


def _indexed(xp: Any, self: Any, indices: Sequence[Any]) -> Any:
    places = _places(xp, self.shape, indices)
    try:
        result = self[places].copy(order="C")
        return result if self.flags.c_contiguous else _laid_out(xp, result, self, places)
    except IndexError:
        shapes = [place.shape for place in places if not isinstance(place, slice)]
        _check_broadcast(shapes)
        raise


def _laid_out(xp: Any, result: Any, self: Any, places: Sequence[Any]) -> Any:
    """As PyTorch's iterator lays out what it picks: by the strides of what is taken whole, then by
    those of the indices."""
    strides = byte_strides(self)
    chosen = [dim for dim, place in enumerate(places) if not isinstance(place, slice)]
    indices = xp.broadcast_arrays(*(places[dim] for dim in chosen))
    one_run = chosen[-1] - chosen[0] == len(chosen) - 1
    before = chosen[0] if one_run else 0  # indices that stand apart come first
    kept = tuple(step for dim, step in enumerate(strides) if dim not in chosen)
    after = len(kept) - before
    operands = [(*kept[:before], *(0,) * indices[0].ndim, *kept[before:])]
    operands += [(*(0,) * before, *byte_strides(index), *(0,) * after) for index in indices]
    sizes = result.shape
    order = order_of(sizes, [(sizes, operand) for operand in operands])
    return relaid(result, strides_in_order(sizes, order))


def _put(
    xp: Any, self: Any, indices: Sequence[Any], values: Any, accumulate: bool, kind: Any = None
) -> Any:
    """Repeated indices add where asked for; otherwise the last one stays."""
    result = self.copy()
    places = _places(xp, self.shape, indices)
    chosen = [place.ndim for place in places if not isinstance(place, slice)]
    try:
        if values.ndim > result.ndim - len(chosen) + max(chosen, default=0):
            raise ValueError  # NumPy takes leading dimensions of size 1
        if not accumulate:
            result[places] = values
        elif kind is not None:  # reduced precision
            return add_at(kind, self, places, values)
        else:
            add_in_turn(xp, result, places, values)
    except IndexError:
        _check_broadcast([place.shape for place in places if not isinstance(place, slice)])
        raise
    except ValueError:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {sizes_text(values.shape)} cannot be broadcast "
            f"to indexing result of shape {sizes_text(result[places].shape)}"
        ) from None
    return result


_PUT_REDUCED = Reduced(lambda kind, *given: _put(kind.xp, *given, kind=kind))

index_put_impl = operator(
    "_index_put_impl(Tensor self, Tensor[] indices, Tensor values, bool accumulate) -> Tensor",
    node="IndexPutImplBackward0",
    where="hidden",
    layout="like",
    forward=_put,
    reduced=_PUT_REDUCED,
    tangent="linear",
    self=lambda grad: grad,
    values=lambda grad, indices, values_shape: sum_to(index(grad, indices), values_shape),
    jacobian="placement",
    doc="Values added to where their indices point: the gradient of an indexing.",
    samples=("torch.autograd.grad(x[[0, 0, 1]].sum(), x, create_graph=True)[0]",),
)

index = operator(
    "index.Tensor(Tensor self, Tensor[] indices) -> Tensor",
    node="IndexBackward0",
    where="hidden",
    check=_check_indices,
    forward=_indexed,
    self=lambda grad, self_sym_sizes, indices: index_put_impl(
        zeros_of(grad, self_sym_sizes), indices, grad, True
    ),
    cost=lambda self, indices: _index_cost(self, indices),
    acts="moves",
    zero="mask",
    jacobian="selection",
    doc="The elements that index tensors point at; repeated ones add their gradients.",
    samples=("x[[0, 1]]", "x[k]", "x[:, j]", "x[[0, 0, 1]]", "c[[0, 1], :, [1, 2]]"),
)


def _index_cost(self: Any, indices: Sequence[Any]) -> int:
    rest, picked, dim = 1, 1, 0
    for index in indices:
        if index is None:
            rest *= self.shape[dim]
        elif index.dtype.name != "bool":
            picked = max(picked, index.numel())
        else:
            picked = max(picked, index.numel())
            dim += index.ndim - 1
        dim += 1
    for length in self.shape[dim:]:
        rest *= length
    return rest * picked


def is_filled(indices: Sequence[Any], values: Any) -> bool:
    """One mask and one number go to masked_fill_, which takes a number of any type."""
    given = [index for index in indices if index is not None]
    return values.numel() == len(given) == 1 and given[0].dtype.word in ("Bool", "Byte")


def _check_put(self: Any, indices: Sequence[Any], values: Any, accumulate: bool) -> None:
    _check_indices(self, indices)
    if not accumulate and is_filled(indices, values):
        if any(index is not None and index.dtype.word == "Byte" for index in indices):
            raise RuntimeError(
                "masked_fill_ only supports boolean masks, but got mask with dtype unsigned char"
            )
        if values.dtype.category == COMPLEX > self.dtype.category:
            word = self.dtype.c_word
            raise RuntimeError(f"value cannot be converted to type {word} without overflow")
    elif values.dtype is not self.dtype:
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{self.dtype.word} for the destination and {values.dtype.word} for the source."
        )


index_put = operator(
    "index_put(Tensor self, Tensor[] indices, Tensor values, bool accumulate=False) -> Tensor",
    node="IndexPutBackward0",
    inplace="index_put_",
    overlap="tensor[indices] = tensor",
    check=_check_put,
    layout="like",
    forward=_put,
    reduced=_PUT_REDUCED,
    tangent="linear",
    self=lambda grad, indices, values_shape, accumulate: (
        grad if accumulate else index_put(grad, indices, zeros_of(grad, values_shape), False)
    ),
    values=lambda grad, indices, values_shape, values_dtype: alike(
        sum_to(index(grad, indices), values_shape), values_dtype
    ),
    zero="mask",
    jacobian="placement",
    doc="The elements that index tensors point at, written over or added to.",
    samples=(
        "torch.index_put(x, (torch.tensor([0]),), v)", "x.index_put((j[:1], j[1:2]), s)",
        "x.clone().index_put_((torch.tensor([0, 0]),), y, accumulate=True)", "x.index_put((k,), s)",
        "v.index_put((torch.tensor([0, 0, 1]),), w, True)",
    ),
    errors=(
        "x.index_put((k,), v[:2])", "x.index_put((k,), d[0])",
        "x.index_put((torch.tensor([5]),), s)",
    ),
)  # fmt: skip
