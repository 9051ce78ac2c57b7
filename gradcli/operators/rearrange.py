"""Operators: elements in another order or number: repeat, flip, roll, tril, grids, raw strides."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from ..engine.operator import composite, operator
from .constants import zeros_of
from .geometry import contiguous_strides, shown, strided, wrap_dim, wrap_dims
from .join import stack
from .select import diag_embed
from .shape import clone, expand, flatten, reshape, unsqueeze, view
from .sums import sum_dims

# ---- repeated


def _check_repeat(self: Any, repeats: Sequence[int]) -> None:
    if len(repeats) < self.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
            "tensor"
        )
    size = _repeated_size(self.shape, repeats)
    for length in size:
        if length < 0:
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {length}: {shown(size)}"
            )


def _repeated_size(shape: Sequence[int], repeats: Sequence[int]) -> tuple[int, ...]:
    padded = (1,) * (len(repeats) - len(shape)) + tuple(shape)
    return tuple(a * b for a, b in zip(padded, repeats, strict=True))


def _repeat_gradient(grad: Any, repeats: Sequence[int], size: Sequence[int]) -> Any:
    """The sum over all copies: new dimensions first, then every repeated one cut in two."""
    if 0 in repeats:
        return zeros_of(grad, tuple(size))
    lead = len(repeats) - len(size)
    for _ in range(lead):
        grad = sum_dims(grad, (0,), False)
    cut: list[int] = []
    dims: list[int] = []
    for length, count in zip(size, repeats[lead:], strict=True):
        if count != 1:
            dims.append(len(cut))
            cut.append(count)
        cut.append(length)
    grad = reshape(grad, tuple(cut)) if dims else grad
    return sum_dims(grad, dims, False) if dims else grad


repeat = operator(
    "repeat(Tensor self, int[] repeats) -> Tensor",
    node="RepeatBackward0",
    where="method",
    check=_check_repeat,
    forward=lambda xp, self, repeats: xp.tile(self, tuple(repeats)),
    self=lambda grad, repeats, self_sym_sizes: _repeat_gradient(grad, repeats, self_sym_sizes),
    cost=lambda self, repeats: _product(_repeated_size(self.shape, repeats)),
    doc="So many copies along each dimension.",
    samples=(
        "x.repeat(2, 1)", "x.repeat(2, 2, 1)", "v.repeat(2)", "s.repeat(3)", "x.repeat(1, 1)",
        "x.repeat(2, 0)",
    ),
    errors=("x.repeat(2)", "x.repeat(-1, 1)"),
)  # fmt: skip


def _product(size: Sequence[int]) -> int:
    total = 1
    for length in size:
        total *= length
    return total


tile = composite(
    "tile(Tensor self, int[] dims) -> Tensor",
    lambda self, dims: repeat.run(self, (1,) * (self.ndim - len(dims)) + tuple(dims)),
    doc="repeat whose missing counts are 1, from the front.",
    samples=("x.tile(2)", "torch.tile(x, (2, 1))", "v.tile(2, 2)"),
    errors=("x.tile()",),
)


def _interleaved(self: Any, repeats: int, dim: int | None, output_size: int | None) -> Any:
    if repeats < 0:
        raise RuntimeError("Repeats must be non-negative")
    if dim is None:
        self, dim = flatten(self, 0, -1), 0
    dim = wrap_dim(dim, self.ndim)
    shape = tuple(self.shape)
    wide = expand.run(
        unsqueeze(self, dim + 1), (*shape[: dim + 1], repeats, *shape[dim + 1 :]), False
    )
    size = (*shape[:dim], shape[dim] * repeats, *shape[dim + 1 :])
    return view(clone(wide, "torch.contiguous_format"), size)


counted_indices = operator(
    "repeat_interleave.Tensor(Tensor repeats, *, int? output_size=None) -> Tensor",
    where="torch",
    dtype="int64",
    forward=lambda xp, repeats, output_size: xp.repeat(xp.arange(repeats.size), repeats),
    cost=lambda repeats, output_size: int(repeats._data.sum()),
    doc="Every index as often as its count says.",
    samples=("torch.repeat_interleave(torch.tensor([1, 2]))",),
)

composite(
    "repeat_interleave.self_int(Tensor self, int repeats, int? dim=None, *, int? output_size=None) "
    "-> Tensor",
    _interleaved,
    doc="Every element so often in a row.",
    samples=(
        "torch.repeat_interleave(v, 2)", "x.repeat_interleave(2, dim=0)",
        "torch.repeat_interleave(x, 2)",
    ),
    errors=("torch.repeat_interleave(x, -1)",),
)  # fmt: skip

composite(
    "repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, "
    "int? output_size=None) -> Tensor",
    lambda self, repeats, dim, output_size: _counted_by(self, repeats, dim, output_size),
    doc="Every element as often as its count says.",
    samples=("torch.repeat_interleave(x, torch.tensor([1, 2]), dim=0)", "v.repeat_interleave(j)"),
    errors=("torch.repeat_interleave(x, torch.tensor([1, 2]))",),
)


def _counted_by(self: Any, repeats: Any, dim: int | None, output_size: int | None) -> Any:
    if repeats.numel() == 1:
        return _interleaved(self, int(repeats.item()), dim, output_size)
    return _select_counted(self, repeats, dim)


def _select_counted(self: Any, repeats: Any, dim: int | None) -> Any:
    if dim is None:
        self, dim = flatten(self, 0, -1), 0
    dim = wrap_dim(dim, self.ndim)
    if repeats.ndim != 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if repeats.numel() != self.shape[dim]:
        raise RuntimeError(
            "repeats must have the same size as input along dim, but got repeats.size(0) = "
            f"{repeats.numel()} and input.size({dim}) = {self.shape[dim]}"
        )
    return self.index_select(dim, counted_indices.run(repeats, None))


# ---- turned around

flip = operator(
    "flip(Tensor self, int[] dims) -> Tensor",
    node="FlipBackward0",
    check=lambda self, dims: wrap_dims(dims, self.ndim),
    forward=lambda xp, self, dims: (
        xp.flip(self, wrap_dims(dims, self.ndim)).copy() if self.ndim else self.copy()
    ),
    self=lambda grad, dims: flip(grad, dims),
    doc="The elements along some dimensions in reverse order.",
    samples=("x.flip(0)", "torch.flip(x, (0, 1))", "x.flip(-1)", "x.flip(0, 1)"),
    errors=("x.flip(0, 0)", "x.flip(3)"),
)


def _flip_last(self: Any, least: int, dim: int) -> Any:
    if self.ndim < least:
        raise RuntimeError(f"Input must be >= {least}-d.")
    return flip(self, (dim,))


fliplr = composite(
    "fliplr(Tensor self) -> Tensor",
    lambda self: _flip_last(self, 2, 1),
    doc="The second dimension in reverse order.",
    samples=("torch.fliplr(x)", "x.fliplr()"),
    errors=("torch.fliplr(v)",),
)

flipud = composite(
    "flipud(Tensor self) -> Tensor",
    lambda self: _flip_last(self, 1, 0),
    doc="The first dimension in reverse order.",
    samples=("torch.flipud(x)", "v.flipud()"),
    errors=("torch.flipud(s)",),
)


def _check_roll(self: Any, shifts: Sequence[int], dims: Sequence[int]) -> None:
    if not shifts:
        raise RuntimeError("`shifts` required")
    if (dims and len(dims) != len(shifts)) or (not dims and len(shifts) != 1):
        raise RuntimeError(
            f"shifts and dimensions must align. shifts: {len(shifts)}, dims:{len(dims)}"
        )
    for dim in dims:
        wrap_dim(dim, self.ndim)


roll = operator(
    "roll(Tensor self, int[1] shifts, int[1] dims=[]) -> Tensor",
    node="RollBackward0",
    check=_check_roll,
    forward=lambda xp, self, shifts, dims: xp.roll(
        self, tuple(shifts) if dims else shifts[0], tuple(dims) if dims else None
    ),
    self=lambda grad, shifts, dims: roll(
        grad, tuple(-shift for shift in reversed(shifts)), tuple(reversed(dims))
    ),
    doc="Elements moved along dimensions, those that fall off the end put in front.",
    samples=(
        "x.roll(1)", "torch.roll(x, (1, 2), (0, 1))", "x.roll(-1, 1)", "x.roll(shifts=1, dims=0)",
    ),
    errors=("x.roll((1, 2), (0,))", "x.roll(1, (0, 1))", "x.roll(1, 3)"),
)  # fmt: skip


def _check_rot90(self: Any, k: int, dims: Sequence[int]) -> None:
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if self.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {self.ndim}")
    if dims[0] == dims[1] or abs(dims[0] - dims[1]) == self.ndim:
        raise RuntimeError(
            f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}"
        )
    for place, dim in enumerate(dims):
        if not -self.ndim <= dim < self.ndim:
            raise RuntimeError(f"Rotation dim{place} out of range, dim{place} = {dim}")


def _turned(xp: Any, self: Any, k: int, dims: Sequence[int]) -> Any:
    """PyTorch flips into new memory and then exchanges the two dimensions."""
    turns = k % 4
    if turns == 0:
        return self.copy()
    if turns == 2:
        return xp.flip(self, tuple(dims)).copy()
    return xp.flip(self, dims[1] if turns == 1 else dims[0]).copy().swapaxes(dims[0], dims[1])


rot90 = operator(
    "rot90(Tensor self, int k=1, int[] dims=[0,1]) -> Tensor",
    node="Rot90Backward0",
    check=_check_rot90,
    forward=_turned,
    self=lambda grad, k, dims: rot90(grad, -k, dims),
    doc="Turned by so many right angles in the plane of two dimensions.",
    samples=(
        "torch.rot90(x)", "x.rot90(-1, (1, 0))", "torch.rot90(x, 2)", "torch.rot90(c, 1, (1, 2))",
        "x.rot90(4)",
    ),
    errors=("torch.rot90(x, 1, (0, 0))", "torch.rot90(x, 1, (0,))", "torch.rot90(v)"),
)  # fmt: skip

# ---- triangles


def _check_triangle(name: str, self: Any) -> None:
    if self.ndim < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")


tril = operator(
    "tril(Tensor self, int diagonal=0) -> Tensor",
    node="TrilBackward0",
    inplace="tril_",
    check=lambda self, diagonal: _check_triangle("tril", self),
    forward=lambda xp, self, diagonal: xp.tril(self, diagonal),
    self=lambda grad, diagonal: tril(grad, diagonal),
    doc="The lower triangle, zeros above a diagonal.",
    samples=("x.tril()", "torch.tril(a, -1)", "c.tril(1)", "a.clone().tril_()"),
    errors=("v.tril()",),
)

triu = operator(
    "triu(Tensor self, int diagonal=0) -> Tensor",
    node="TriuBackward0",
    inplace="triu_",
    check=lambda self, diagonal: _check_triangle("triu", self),
    forward=lambda xp, self, diagonal: xp.triu(self, diagonal),
    self=lambda grad, diagonal: triu(grad, diagonal),
    doc="The upper triangle, zeros below a diagonal.",
    samples=("x.triu()", "torch.triu(a, 1)", "c.triu(-1)", "a.clone().triu_()"),
    errors=("v.triu()",),
)

diagflat = composite(
    "diagflat(Tensor self, int offset=0) -> Tensor",
    lambda self, offset: diag_embed(view(self.contiguous(), (-1,)), offset, -2, -1),
    doc="A matrix with all elements on a diagonal.",
    samples=("torch.diagflat(x)", "v.diagflat(1)"),
)

# ---- grids and combinations


def _grid(tensors: Sequence[Any], indexing: str | None) -> tuple[Any, ...]:
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    indexing = "ij" if indexing is None else indexing
    if indexing not in ("ij", "xy"):
        raise RuntimeError(
            f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}'
        )
    for tensor in tensors:
        if tensor.ndim > 1:
            raise RuntimeError(
                "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: "
                + str(tensor)
            )
    swap = indexing == "xy" and len(tensors) >= 2
    order = [1, 0, *range(2, len(tensors))] if swap else list(range(len(tensors)))
    ordered = [tensors[place] for place in order]
    size = tuple(tensor.numel() for tensor in ordered)
    wide = []
    for place, tensor in enumerate(ordered):
        shape = tuple(-1 if place == other else 1 for other in range(len(size)))
        wide.append(expand.run(view(tensor, shape), size, False))
    if swap:
        wide[0], wide[1] = wide[1], wide[0]
    return tuple(wide)


meshgrid = composite(
    "meshgrid(Tensor[] tensors, *, str? indexing=None) -> Tensor[]",
    _grid,
    where="torch",
    doc="Coordinates of all points of a grid.",
    samples=(
        "torch.meshgrid(v, w, indexing='ij')[0]", "torch.meshgrid([v, w], indexing='ij')[1]",
        "torch.meshgrid(v[:2], w, indexing='xy')[0]", "torch.meshgrid(v[:2], w, indexing='xy')[1]",
    ),
    errors=("torch.meshgrid([v, w], indexing='zz')",),
)  # fmt: skip


def _check_vector(self: Any) -> None:
    if self.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {shown(self.shape)}")


def _product_of(tensors: Sequence[Any]) -> Any:
    for tensor in tensors:
        _check_vector(tensor)
    if len(tensors) == 1:
        return tensors[0]
    return stack([tensor.flatten() for tensor in _grid(tensors, "ij")], 1)


cartesian_prod = composite(
    "cartesian_prod(Tensor[] tensors) -> Tensor",
    _product_of,
    where="torch",
    doc="All combinations of one element from each vector.",
    samples=("torch.cartesian_prod(v, w)", "torch.cartesian_prod(v, w[:2], v[:1])"),
    errors=("torch.cartesian_prod(x, y)",),
)

combination_mask = operator(
    "_combination_mask(Tensor self, int r, bool with_replacement) -> Tensor",
    where="hidden",
    dtype="bool",
    forward=lambda xp, self, r, with_replacement: _ordered_mask(
        xp, self.shape[0], r, with_replacement
    ),
    cost=lambda self, r, with_replacement: self.shape[0] ** r,
    doc="Which points of a grid have their coordinates in ascending order.",
    samples=("torch.combinations(v)",),
)


def _ordered_mask(xp: Any, length: int, r: int, with_replacement: bool) -> Any:
    mask = xp.ones((length,) * r, dtype="bool")
    steps = xp.arange(length)
    for first, second in itertools.pairwise(range(r)):
        left = steps.reshape([-1 if dim == first else 1 for dim in range(r)])
        right = steps.reshape([-1 if dim == second else 1 for dim in range(r)])
        mask = mask & (left <= right if with_replacement else left < right)
    return mask


def _combined(self: Any, r: int, with_replacement: bool) -> Any:
    _check_vector(self)
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return zeros_of(self, (0,))
    mask = combination_mask(self, r, with_replacement)
    return stack([grid.masked_select(mask) for grid in _grid([self] * r, "ij")], 1)


combinations = composite(
    "combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor",
    _combined,
    where="torch",
    doc="All combinations of so many elements of a vector.",
    samples=(
        "torch.combinations(v)", "torch.combinations(v, 2, True)", "torch.combinations(v, 3)",
        "torch.combinations(v, 0)",
    ),
    errors=("torch.combinations(x)", "torch.combinations(v, -1)"),
)  # fmt: skip

# ---- raw strides


def _check_strided(
    self: Any, size: Sequence[int], stride: Sequence[int], storage_offset: int | None
) -> None:
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    if any(step < 0 for step in stride):
        raise RuntimeError(
            "as_strided: Negative strides are not supported at the moment, got strides: "
            f"{shown(stride)}"
        )
    if any(length < 0 for length in size):
        raise RuntimeError(f"Storage size calculation overflowed with sizes={shown(size)}")
    if storage_offset is not None and storage_offset < 0:
        raise RuntimeError(f"Tensor: invalid storage offset {storage_offset}")
    offset = self.storage_offset() if storage_offset is None else storage_offset
    item, extent = self.itemsize, _extent(size, stride, offset)
    have = _memory(self._data).size
    if extent > have:
        raise RuntimeError(
            f"setStorage: sizes {shown(size)}, strides {shown(stride)}, storage offset {offset}, "
            f"and itemsize {item} requiring a storage size of {extent * item} are out of bounds "
            f"for storage of size {have * item}"
        )


def _extent(size: Sequence[int], stride: Sequence[int], offset: int) -> int:
    """How many elements of memory a geometry reaches over."""
    if 0 in size:
        return 0
    return offset + 1 + sum((n - 1) * step for n, step in zip(size, stride, strict=True))


def _memory(array: Any) -> Any:
    """The array that owns the memory below a view."""
    while getattr(array, "base", None) is not None and hasattr(array.base, "strides"):
        if array.base.dtype != array.dtype:
            break
        array = array.base
    return array


def _restrided(
    xp: Any, self: Any, size: Sequence[int], stride: Sequence[int], offset: int | None
) -> Any:
    if offset is None:
        return strided(xp, self, size, stride)
    memory = _memory(self)
    flat = strided(xp, memory, (memory.size,), (1,))
    return strided(xp, flat[min(offset, memory.size) :], size, stride)


restride = operator(
    "_restride(Tensor self, int[] size, int[] stride, int offset, int[] to_size, int[] to_stride, "
    "int to_offset) -> Tensor",
    node="AsStridedBackward0",
    where="hidden",
    forward=lambda xp, self, *geometry: _moved_memory(xp, self, *geometry),
    self=lambda grad, size, stride, offset, to_size, to_stride, to_offset: restride(
        grad, to_size, to_stride, to_offset, size, stride, offset
    ),
    doc="Values added to where one geometry lies in memory, read where another lies.",
    samples=("x.as_strided((2, 2), (1, 2))",),
)


def _memory_gradient(
    grad: Any,
    size: Sequence[int],
    stride: Sequence[int],
    offset: int,
    to_size: Sequence[int],
    to_stride: Sequence[int],
    to_offset: int,
) -> Any:
    """The same made of what PyTorch's formula is made of, where a graph is to be seen."""
    if not hasattr(grad, "requires_grad"):
        return restride(grad, size, stride, offset, to_size, to_stride, to_offset)
    least = min(offset, to_offset)
    offset, to_offset = offset - least, to_offset - least
    extent = max(_extent(size, stride, offset), _extent(to_size, to_stride, to_offset))
    memory = zeros_of(grad, (extent,))
    if _overlaps(size, stride):
        places = memory_places(memory, size, stride, offset)
        memory = memory.index_add(0, places, reshape(grad, (-1,)))
    else:
        as_strided(memory, size, stride, offset).copy_(grad)
    return as_strided(memory, to_size, to_stride, to_offset)


def _overlaps(size: Sequence[int], stride: Sequence[int]) -> bool:
    """May two elements share memory? Steps must clear all that lies below them."""
    reach = 0
    for step, length in sorted(zip(stride, size, strict=True)):
        if length != 1 and step <= reach:
            return True
        reach += step * (length - 1)
    return False


memory_places = operator(
    "_memory_places(Tensor self, int[] size, int[] stride, int offset) -> Tensor",
    where="hidden",
    dtype="int64",
    forward=lambda xp, self, size, stride, offset: _positions(xp, size, stride, offset).reshape(-1),
    doc="Where in memory the elements of a geometry stand.",
    samples=("torch.autograd.grad(x.as_strided((2, 2), (1, 1)).sum(), x, create_graph=True)[0]",),
)


def _positions(xp: Any, size: Sequence[int], stride: Sequence[int], offset: int) -> Any:
    places = xp.full(tuple(size), offset, dtype="int64")
    for dim, (length, step) in enumerate(zip(size, stride, strict=True)):
        along = xp.arange(length) * step
        places = places + along.reshape((-1,) + (1,) * (len(size) - dim - 1))
    return places


def _moved_memory(
    xp: Any,
    self: Any,
    size: Sequence[int],
    stride: Sequence[int],
    offset: int,
    to_size: Sequence[int],
    to_stride: Sequence[int],
    to_offset: int,
) -> Any:
    least = min(offset, to_offset)
    offset, to_offset = offset - least, to_offset - least
    extent = max(_extent(size, stride, offset), _extent(to_size, to_stride, to_offset))
    memory = xp.zeros(extent, dtype=self.dtype)
    xp.add.at(memory, _positions(xp, size, stride, offset), self)
    return memory[_positions(xp, to_size, to_stride, to_offset)]


as_strided = operator(
    "as_strided(Tensor self, int[] size, int[] stride, int? storage_offset=None) -> Tensor",
    node="AsStridedBackward0",
    view=True,
    check=_check_strided,
    forward=lambda xp, self, size, stride, storage_offset: _restrided(
        xp, self, size, stride, storage_offset
    ),
    self=lambda grad, self_shape, self_strides, self_start, size, stride, storage_offset: (
        _memory_gradient(
            grad,
            size,
            stride,
            self_start if storage_offset is None else storage_offset,
            self_shape,
            self_strides,
            self_start,
        )
    ),
    doc="The same memory under a size and strides of one's own.",
    samples=(
        "x.as_strided((2, 2), (1, 2))", "torch.as_strided(x, (2, 2), (1, 1), 1)",
        "x.as_strided((6,), (1,))",
    ),
    errors=(
        "x.as_strided((10, 10), (1, 1))", "x.as_strided((2,), (1, 1))", "x.as_strided((2,), (-1,))",
    ),
)  # fmt: skip

as_strided_scatter = operator(
    "as_strided_scatter(Tensor self, Tensor src, int[] size, int[] stride, "
    "int? storage_offset=None) -> Tensor",
    node="AsStridedScatterBackward0",
    forward=lambda xp, self, src, size, stride, storage_offset: _scattered(
        xp, self, src, size, stride, storage_offset or 0
    ),
    # PyTorch gives self the gradient of the part that was written over; so do we.
    self=lambda grad, self_shape, size, stride, storage_offset: _memory_gradient(
        as_strided(grad, size, stride, storage_offset),
        size,
        stride,
        storage_offset or 0,
        self_shape,
        contiguous_strides(self_shape),
        0,
    ),
    src=lambda grad, size, stride, storage_offset: as_strided(grad, size, stride, storage_offset),
    doc="A copy whose memory is written over where a geometry lies.",
    samples=("torch.as_strided_scatter(x, a[:2, :2], (2, 2), (1, 2))",),
)


def _scattered(
    xp: Any, self: Any, src: Any, size: Sequence[int], stride: Sequence[int], offset: int
) -> Any:
    result = self.copy(order="C")
    _restrided(xp, result, size, stride, offset)[...] = src
    return result


composite(
    "cartesian_prod.one(Tensor tensor) -> Tensor",
    lambda tensor: _product_of([tensor]),
    where="torch",
    doc="cartesian_prod of one tensor.",
    samples=("torch.cartesian_prod(v)",),
)
