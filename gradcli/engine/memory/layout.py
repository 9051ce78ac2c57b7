"""Engine: how results lie in memory, by PyTorch's rules.

NumPy's functions keep an order of dimensions too, but settle a disagreement of operands otherwise.
Ordinary tensors lie row-major and are never asked: see `kind.Form`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from ..schema.carriers import ARRAYS

Sizes = tuple[int, ...]
Operand = tuple[Sizes, Sizes]  # sizes and strides

MOST_NESTED = 128  # lists in each other that PyTorch makes a tensor of
MOST_DIMENSIONS = 64  # of NumPy's arrays
CHANNELS_LAST = (1, 3, 2, 0)  # of four dimensions, the one that lies closest first
CHANNELS_LAST_3D = (1, 4, 3, 2, 0)


def check_dimensions(count: int) -> None:
    """Raises where NumPy can't hold so many; PyTorch has tensors of more that it can hardly use."""
    if count > MOST_DIMENSIONS:
        raise RuntimeError(f"only tensors with up to {MOST_DIMENSIONS} dims are supported")


def once(data: Any) -> Any:
    """An array without its repetitions: of each expanded dimension the first element."""
    if 0 not in data.strides:
        return data
    return data[tuple(slice(0, 1) if step == 0 else slice(None) for step in data.strides)]


def contiguous_strides(sizes: Sequence[int], item: int = 1) -> Sizes:
    """Row-major strides, in elements or in bytes."""
    strides, step = [], item
    for length in reversed(sizes):
        strides.append(step)
        step *= max(length, 1)
    return tuple(reversed(strides))


def strides_in_order(sizes: Sequence[int], order: Sequence[int]) -> Sizes:
    """Dense strides for dimensions given in the order in which they lie, the closest first."""
    strides, step = [0] * len(sizes), 1
    for dim in order:
        strides[dim] = step
        step *= max(sizes[dim], 1)
    return tuple(strides)


def byte_strides(array: Any) -> Sizes:
    """Strides as PyTorch would have them: NumPy makes arrays of no elements with zeros for all."""
    strides: Sizes = array.strides
    if array.size or any(strides):
        return strides
    return contiguous_strides(array.shape, array.itemsize)


def element_strides(array: Any) -> Sizes:
    return _in_elements(byte_strides(array), array.itemsize)


@lru_cache(maxsize=1024)
def _in_elements(strides: Sizes, item: int) -> Sizes:
    return tuple([step // item for step in strides])


def is_in_order(sizes: Sizes, strides: Sizes, order: Sequence[int]) -> bool:
    """Do the elements lie dense in this order of dimensions? Those of size 1 lie anywhere."""
    expected = 1
    for dim in order:
        if sizes[dim] != 1:
            if strides[dim] != expected:
                return False
            expected *= sizes[dim]
    return True


def is_dense(sizes: Sizes, strides: Sizes) -> bool:
    """Do the elements fill one block of memory, without holes or overlaps?"""
    order = [dim for dim, length in enumerate(sizes) if length > 1]
    order.sort(key=strides.__getitem__)
    return is_in_order(sizes, strides, order)


def _comes_later(first: int, second: int, sizes: Sizes, operands: Sequence[Operand]) -> int:
    """1 where the first dimension lies farther out than the second, -1 where it lies closer.

    The first operand that knows decides; 0 where none does. A dimension that an operand is
    broadcast along says nothing.
    """
    for _, strides in operands:
        one, other = strides[first], strides[second]
        if one and other:
            if one != other:
                return -1 if one < other else 1
            if sizes[first] > sizes[second]:
                return 1
    return 0


def order_of(sizes: Sizes, operands: Sequence[Operand]) -> list[int]:
    """Dimensions in the order in which operands of one size lie, the closest first.

    PyTorch's insertion sort: an undecided comparison leaves row-major order, and goes on.
    """
    order = list(range(len(sizes) - 1, -1, -1))
    for start in range(1, len(sizes)):
        place = start
        for before in range(start - 1, -1, -1):
            later = _comes_later(order[before], order[place], sizes, operands)
            if later > 0:
                order[before], order[place] = order[place], order[before]
                place = before
            elif later < 0:
                break
    return order


def preserved_strides(sizes: Sizes, strides: Sizes) -> Sizes:
    """Strides of a copy: dense memory keeps its own, other memory its order of dimensions."""
    if is_dense(sizes, strides):
        return strides
    return strides_in_order(sizes, order_of(sizes, [(sizes, strides)]))


def _as_one(sizes: Sizes, operands: Sequence[Any]) -> Sizes | None:
    """Strides of a result of operands that need no broadcasting and lie alike; else None."""
    if any(getattr(operand, "shape", None) != sizes for operand in operands):
        return None
    if all(operand.flags.c_contiguous for operand in operands):
        return contiguous_strides(sizes)
    strides = [element_strides(operand) for operand in operands]
    if len(sizes) == 4 and all(is_in_order(sizes, own, CHANNELS_LAST) for own in strides):
        return strides_in_order(sizes, CHANNELS_LAST)
    if all(own == strides[0] for own in strides) and is_dense(sizes, strides[0]):
        return strides[0]
    return None


def iterated_strides(sizes: Sizes, operands: Sequence[Any]) -> Sizes:
    """Strides (in elements) of what an operation element by element makes of these operands."""
    alike = _as_one(sizes, operands)
    if alike is not None:
        return alike
    given: list[Operand] = []
    for operand in operands:
        shape = getattr(operand, "shape", ())
        if shape:
            lead = len(sizes) - len(shape)
            own = zip(shape, sizes[lead:], byte_strides(operand), strict=True)
            steps = [0 if have != length else step for have, length, step in own]
            given.append((sizes, (*(0,) * lead, *steps)))
    return strides_in_order(sizes, order_of(sizes, given))


def iterated(data: Any, operands: Sequence[Any]) -> Any:
    """A result of an operation element by element, as it lies in PyTorch."""
    sizes, given = data.shape, [operand for operand in operands if operand is not None]
    if any(len(getattr(array, "shape", ())) > len(sizes) for array in given):
        return data
    return relaid(data, iterated_strides(sizes, given))


def relaid(data: Any, strides: Sizes) -> Any:
    """The same elements under these strides (in elements), copied where they lie otherwise."""
    item = data.itemsize
    steps = tuple([step * item for step in strides])
    if data.strides == steps:
        return data
    xp = ARRAYS[data.__class__]
    if data.flags.c_contiguous and is_regular(data.shape, strides):  # the same order in memory
        return xp.lib.stride_tricks.as_strided(data.reshape(-1), data.shape, steps)
    result = empty(xp, data.shape, strides, data.dtype)
    result[...] = data
    return result


def is_regular(sizes: Sizes, strides: Sizes) -> bool:
    """Row-major, whatever the strides of dimensions of size 1 are?"""
    return is_in_order(sizes, strides, range(len(sizes) - 1, -1, -1))


def empty(xp: Any, sizes: Sizes, strides: Sizes, dtype: Any) -> Any:
    """Memory for these sizes, dense, under these strides (in elements)."""
    count, last = 1, 0
    for length, step in zip(sizes, strides, strict=True):
        count *= length
        last += (length - 1) * step
    if count and last >= count:
        raise ValueError(f"strides {strides} reach beyond {count} elements")
    flat = xp.empty(count, dtype=dtype)
    return xp.lib.stride_tricks.as_strided(
        flat, sizes, tuple([step * flat.itemsize for step in strides])
    )


def row_major(data: Any, _: Any = None) -> Any:
    """A result that lies row-major whatever its operands do."""
    if data.flags.c_contiguous and 1 not in data.shape:
        return data
    return relaid(data, contiguous_strides(data.shape))


def alike(data: Any, first: Any) -> Any:
    """A result that lies like its first operand."""
    if data.shape != first.shape:
        return data
    return relaid(data, preserved_strides(first.shape, element_strides(first)))


def channels(data: Any, first: Any) -> Any:
    """A result that lies row-major, or channels last where its first operands do."""
    operands = first if first.__class__ is list else [first]
    if data.ndim == operands[0].ndim and all(suggests_channels_last(each) for each in operands):
        return relaid(data, strides_in_order(data.shape, _channels_order(data.ndim)))
    return row_major(data)


def _channels_order(rank: int) -> Sizes:
    return CHANNELS_LAST if rank == 4 else CHANNELS_LAST_3D


def formatted(data: Any, source: Any, memory_format: Any) -> Any:
    """A copy of `source`, or what replaces it, in the order that a memory format names."""
    name = "preserve_format" if memory_format is None else memory_format.name
    if name == "preserve_format":
        return alike(data, source)
    if name == "contiguous_format":
        return row_major(data)
    return relaid(data, strides_in_order(data.shape, _channels_order(5 if "3d" in name else 4)))


def lies_in_format(array: Any, name: str) -> bool:
    """Is memory dense in the order that torch.channels_last or channels_last_3d names?"""
    order = _channels_order(5 if name.endswith("3d") else 4)
    return array.ndim == len(order) and is_in_order(array.shape, element_strides(array), order)


def suggests_channels_last(array: Any) -> bool:
    """Does an image or volume lie with its channels closest?

    Where dimensions of size 1 leave it open, PyTorch's answer is to be as careful as this.
    """
    return array.ndim in (4, 5) and suggests(array.shape, element_strides(array))


def suggests(sizes: Sizes, strides: Sizes) -> bool:
    """The same, of sizes and strides."""
    least = 0
    if strides[1] == 0:
        return False
    for dim in _channels_order(len(sizes)):
        if sizes[dim] == 0 or strides[dim] < least:
            return False
        if dim == 0 and least == strides[1]:
            return False
        least = strides[dim] * max(sizes[dim], 1)
    return True


# What a declaration may say of its results (`layout=`): see the functions.
LAYOUTS: dict[str, Any] = {
    "row-major": row_major,
    "like": alike,
    "channels": channels,
    "sparse": lambda data, like: data,
}


def preserved(array: Any, dtype: Any) -> Any:
    """A copy as another element type that lies as PyTorch's `to` and `clone` make it lie."""
    if array.ndim < 2 or array.flags.c_contiguous:
        return array.astype(dtype)
    result = empty_like(ARRAYS[array.__class__], array, dtype)
    result[...] = array
    return result


def empty_like(xp: Any, array: Any, dtype: Any) -> Any:
    """Memory that lies like an array; torch.empty_like with preserve_format."""
    regular = contiguous_strides(array.shape, array.itemsize)
    if array.ndim < 2 or array.strides == regular:
        return xp.empty(array.shape, dtype=dtype)
    return empty(xp, array.shape, preserved_strides(array.shape, element_strides(array)), dtype)
