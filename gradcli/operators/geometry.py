"""Operators: the arithmetic of sizes and strides that declarations share, with PyTorch's errors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import prod
from typing import Any

from ..engine.memory.layout import check_dimensions, contiguous_strides, element_strides

__all__ = ["contiguous_strides", "element_strides"]

Sizes = tuple[int, ...]
LARGEST = 2**63  # more elements than any tensor has: a product of many sizes stays one word


def sizes_text(sizes: Iterable[int]) -> str:
    """Sizes as error texts print them: [2, 3]."""
    return f"[{', '.join(map(str, sizes))}]"


def wrap_dim(dim: int, ndim: int) -> int:
    """A dimension counted from the front; a 0-dim tensor has one that is a matter of form."""
    span = ndim or 1
    if not -span <= dim < span:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-span}, {span - 1}], "
            f"but got {dim})"
        )
    return dim + span if dim < 0 else dim


def wrap_dims(dims: Sequence[int], ndim: int) -> Sizes:
    """Distinct dimensions counted from the front."""
    wrapped = tuple(wrap_dim(dim, ndim) for dim in dims)
    for place, dim in enumerate(wrapped):
        if dim in wrapped[:place]:
            raise RuntimeError(f"dim {dim} appears multiple times in the list of dims")
    return wrapped


def infer_size(size: Sequence[int], numel: int) -> Sizes:
    """The sizes of a view with -1 worked out."""
    return _inferred(tuple(size), numel)


@lru_cache(maxsize=1024)
def _inferred(size: Sizes, numel: int) -> Sizes:
    unknown, known = None, 1
    for place, length in enumerate(size):
        if length == -1:
            if unknown is not None:
                raise RuntimeError("only one dimension can be inferred")
            unknown = place
        elif length >= 0:
            known = min(known * length, LARGEST)
        else:
            raise RuntimeError(
                f"invalid shape dimension {length} at index {place} of shape {sizes_text(size)}"
            )
    if unknown is None:
        if known == numel:
            return size
    elif known > 0 and numel % known == 0:
        return (*size[:unknown], numel // known, *size[unknown + 1 :])
    elif known == 0 and numel == 0:
        raise RuntimeError(
            f"cannot reshape tensor of 0 elements into shape {sizes_text(size)} because the "
            "unspecified dimension size -1 can be any value and is ambiguous"
        )
    raise RuntimeError(f"shape '{sizes_text(size)}' is invalid for input of size {numel}")


def array_of(carrier: Any) -> Any:
    """The array below a tensor; an array is its own."""
    return getattr(carrier, "_data", carrier)


def is_contiguous(carrier: Any) -> bool:
    """Are the elements in row-major order? A symbol has no memory and counts as contiguous."""
    flags = getattr(array_of(carrier), "flags", None)
    return flags is None or bool(flags.c_contiguous)


def view_strides(shape: Sequence[int], strides: Sequence[int], size: Sequence[int]) -> Sizes | None:
    """Strides under which the same memory has another size, or None where it must be copied.

    Dimensions that lie contiguously form a run; a run may be cut anew, two runs can't be merged.
    """
    return _cut_anew(tuple(shape), tuple(strides), tuple(size))


@lru_cache(maxsize=1024)
def _cut_anew(shape: Sizes, strides: Sizes, size: Sizes) -> Sizes | None:
    if 0 in shape:
        return strides if shape == size else contiguous_strides(size)
    if not shape:
        return (1,) * len(size)
    result = [0] * len(size)
    place = len(size) - 1
    base, count, filled = strides[-1], 1, 1
    for dim in range(len(shape) - 1, -1, -1):
        count *= shape[dim]
        ends = dim == 0 or (shape[dim - 1] != 1 and strides[dim - 1] != count * base)
        if not ends:
            continue
        while place >= 0 and (filled < count or size[place] == 1):
            result[place] = filled * base
            filled *= size[place]
            place -= 1
        if filled != count:
            return None
        if dim > 0:
            base, count, filled = strides[dim - 1], 1, 1
    return tuple(result) if place == -1 else None


def strided(xp: Any, array: Any, size: Sequence[int], strides: Sequence[int]) -> Any:
    """A writable view with the given size and strides (in elements) from the array's beginning."""
    step = array.itemsize
    check_dimensions(len(size))
    return xp.lib.stride_tricks.as_strided(array, tuple(size), tuple(s * step for s in strides))


def stepping(xp: Any, array: Any) -> Any:
    """An array whose views have PyTorch's strides: also one of no elements."""
    return array if array.size else strided(xp, array, array.shape, element_strides(array))


def viewed(xp: Any, array: Any, size: Sequence[int]) -> Any:
    """The same memory under another size; PyTorch's error where that is impossible."""
    size = infer_size(size, array.size)
    check_dimensions(len(size))
    if array.flags.c_contiguous and size != array.shape:
        return array.reshape(size)
    strides = view_strides(array.shape, element_strides(array), size)
    if strides is None:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one "
            "dimension spans across two contiguous subspaces). Use .reshape(...) instead."
        )
    if 1 not in size:  # NumPy gives a dimension of one element another stride
        return array.reshape(size)
    return strided(xp, array, size, strides)


def broadcast_sizes(*shapes: Sequence[int]) -> Sizes:
    """The common size of several tensors."""
    if shapes and shapes.count(shapes[0]) == len(shapes):
        return tuple(shapes[0])
    result: list[int] = []
    for shape in shapes:
        width = max(len(result), len(shape))
        left = [1] * (width - len(result)) + result
        right = [1] * (width - len(shape)) + list(shape)
        for place in range(width - 1, -1, -1):
            a, b = left[place], right[place]
            if a != b and a != 1 and b != 1:
                raise RuntimeError(
                    f"The size of tensor a ({a}) must match the size of tensor b ({b}) at "
                    f"non-singleton dimension {place}"
                )
        result = [b if a == 1 else a for a, b in zip(left, right, strict=True)]
    return tuple(result)


def is_expandable(shape: Sequence[int], size: Sequence[int]) -> bool:
    """May a tensor of this shape be expanded to that size?"""
    if len(shape) > len(size):
        return False
    tail = size[len(size) - len(shape) :]
    return all(a in (1, b) for a, b in zip(shape, tail, strict=True))


def expanded_size(array_shape: Sequence[int], size: Sequence[int], kind: str) -> Sizes:
    """The sizes of an expand with -1 worked out."""
    lead = len(size) - len(array_shape)
    if lead < 0:
        raise RuntimeError(
            f"expand({kind}{{{sizes_text(array_shape)}}}, size={sizes_text(size)}): the number of "
            f"sizes provided ({len(size)}) must be greater or equal to the number of dimensions in "
            f"the tensor ({len(array_shape)})"
        )
    result = list(size)
    for place in range(len(size) - 1, -1, -1):
        wanted = size[place]
        if place < lead:
            if wanted == -1 and array_shape:
                raise RuntimeError(
                    f"The expanded size of the tensor ({wanted}) isn't allowed in a leading, "
                    f"non-existing dimension {place}"
                )
            continue
        have = array_shape[place - lead]
        if wanted == -1:
            result[place] = have
        elif have not in (1, wanted):
            raise RuntimeError(
                f"The expanded size of the tensor ({wanted}) must match the existing size ({have}) "
                f"at non-singleton dimension {place}.  Target sizes: {sizes_text(size)}.  "
                f"Tensor sizes: {sizes_text(array_shape)}"
            )
    if min(result, default=0) < 0:
        raise RuntimeError("numel: integer multiplication overflow")
    return tuple(result)


def numel(shape: Sequence[int]) -> int:
    return prod(shape)


def repeated(*tensors: Any) -> int:
    """The elements of those that repeat what they hold: a kernel looks at each of them."""
    return sum([tensor._data.size for tensor in tensors if 0 in tensor._data.strides])


def elements_along(sizes: Sequence[int], dims: Sequence[int]) -> int:
    """The number of elements along these dimensions."""
    count = 1
    for dim in dims:
        count *= sizes[dim]
    return count
