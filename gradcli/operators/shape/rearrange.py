"""Operators: elements in another order or number: repeat, flip, roll, tril, grids, raw strides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.memory.layout import alike, check_dimensions
from ...engine.schema.operator import composite, operator
from ..geometry import sizes_text, wrap_dim, wrap_dims
from ..reduce.sums import sum_dims
from .constants import zeros_of
from .diagonals import diag_embed
from .shape import clone, expand, flatten, reshape, view
from .squeeze import unsqueeze

# ---- repeated


def _check_repeat(self: Any, repeats: Sequence[int]) -> None:
    if len(repeats) < self.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
            "tensor"
        )
    check_dimensions(len(repeats))
    size = _repeated_size(self.shape, repeats)
    for length in size:
        if length < 0:
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {length}: {sizes_text(size)}"
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
    layout="row-major",
    forward=lambda xp, self, repeats: xp.tile(self, tuple(repeats)),
    self=lambda grad, repeats, self_sym_sizes: _repeat_gradient(grad, repeats, self_sym_sizes),
    cost=lambda self, repeats: _product(_repeated_size(self.shape, repeats)),
    acts="spreads",
    doc="Repeats the tensor along each dimension.",
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
    doc="Repeats the tensor along each dimension; missing counts are 1, from the front.",
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


def _check_counted(repeats: Any) -> None:
    if repeats.dtype.word not in ("Int", "Long"):
        word = repeats.dtype.word
        raise NotImplementedError(f"\"repeat_interleave_cpu\" not implemented for '{word}'")


def _check_counts(repeats: Any, output_size: int | None) -> None:
    _check_counted(repeats)
    if repeats.ndim != 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
    if (repeats._data < 0).any():
        raise RuntimeError("repeats can not be negative")
    if output_size is not None and int(repeats._data.sum()) != output_size:
        raise RuntimeError("allocated size does not match required size")


counted_indices = operator(
    "repeat_interleave.Tensor(Tensor repeats, *, int? output_size=None) -> Tensor",
    where="torch",
    dtype="int64",
    forward=lambda xp, repeats, output_size: xp.repeat(xp.arange(repeats.size), repeats),
    check=_check_counts,
    cost=lambda repeats, output_size: int(repeats._data.sum()),
    doc="Repeats each index as often as its count says.",
    samples=("torch.repeat_interleave(torch.tensor([1, 2]))",),
)

composite(
    "repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, "
    "int? output_size=None) -> Tensor",
    lambda self, repeats, dim, output_size: _counted_by(self, repeats, dim, output_size),
    doc="Repeats each element as often as its count says.",
    samples=("torch.repeat_interleave(x, torch.tensor([1, 2]), dim=0)", "v.repeat_interleave(j)"),
    errors=("torch.repeat_interleave(x, torch.tensor([1, 2]))", "v.repeat_interleave(s)"),
)

composite(
    "repeat_interleave.self_int(Tensor self, int repeats, int? dim=None, *, int? output_size=None) "
    "-> Tensor",
    _interleaved,
    doc="Repeats each element.",
    samples=(
        "torch.repeat_interleave(v, 2)", "x.repeat_interleave(2, dim=0)",
        "torch.repeat_interleave(x, 2)",
    ),
    errors=("torch.repeat_interleave(x, -1)",),
)  # fmt: skip


def _counted_by(self: Any, repeats: Any, dim: int | None, output_size: int | None) -> Any:
    if dim is None:
        self, dim = flatten(self, 0, -1), 0
    dim = wrap_dim(dim, self.ndim)
    if repeats.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if repeats.numel() == 1:
        repeats = repeats.reshape(1).expand(self.shape[dim])
    if repeats.numel() != self.shape[dim]:
        raise RuntimeError(
            "repeats must have the same size as input along dim, but got repeats.size(0) = "
            f"{repeats.numel()} and input.size({dim}) = {self.shape[dim]}"
        )
    return self.index_select(dim, counted_indices.run(repeats, output_size))


# ---- turned around

flip = operator(
    "flip(Tensor self, int[] dims) -> Tensor",
    node="FlipBackward0",
    check=lambda self, dims: wrap_dims(dims, self.ndim),
    layout="like",
    forward=lambda xp, self, dims: (
        xp.flip(self, wrap_dims(dims, self.ndim)).copy() if self.ndim else self.copy()
    ),
    self=lambda grad, dims: flip(grad, dims),
    acts="moves",
    jacobian="permutation",
    doc="Reverses the order of elements along the given dimensions.",
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
        if not self.ndim:
            raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
        wrap_dim(dim, self.ndim)


roll = operator(
    "roll(Tensor self, int[1] shifts, int[1] dims=[]) -> Tensor",
    node="RollBackward0",
    check=_check_roll,
    layout="row-major",
    forward=lambda xp, self, shifts, dims: xp.roll(
        self, tuple(shifts) if dims else shifts[0], tuple(dims) if dims else None
    ),
    self=lambda grad, shifts, dims: roll(
        grad, tuple(-shift for shift in reversed(shifts)), tuple(reversed(dims))
    ),
    acts="moves",
    jacobian="permutation",
    doc="Shifts elements along dimensions; elements shifted past the end return at the start.",
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
        return alike(xp.flip(self, tuple(dims)).copy(), self)
    flipped = xp.flip(self, dims[1] if turns == 1 else dims[0]).copy()
    return alike(flipped, self).swapaxes(dims[0], dims[1])


rot90 = operator(
    "rot90(Tensor self, int k=1, int[] dims=[0,1]) -> Tensor",
    node="Rot90Backward0",
    check=_check_rot90,
    forward=_turned,
    self=lambda grad, k, dims: rot90(grad, -k, dims),
    acts="moves",
    jacobian="permutation",
    doc="Rotates by multiples of 90 degrees in the plane of two dimensions.",
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
    overlap="allowed",
    check=lambda self, diagonal: _check_triangle("tril", self),
    layout="row-major",
    forward=lambda xp, self, diagonal: xp.tril(self, diagonal),
    self=lambda grad, diagonal: tril(grad, diagonal),
    acts="leading",
    zero="mask",
    jacobian="diagonal",
    doc="The lower triangle, zeros above a diagonal.",
    samples=("x.tril()", "torch.tril(a, -1)", "c.tril(1)", "a.clone().tril_()"),
    errors=("v.tril()",),
)

triu = operator(
    "triu(Tensor self, int diagonal=0) -> Tensor",
    node="TriuBackward0",
    inplace="triu_",
    overlap="allowed",
    check=lambda self, diagonal: _check_triangle("triu", self),
    layout="row-major",
    forward=lambda xp, self, diagonal: xp.triu(self, diagonal),
    self=lambda grad, diagonal: triu(grad, diagonal),
    acts="leading",
    zero="mask",
    jacobian="diagonal",
    doc="Upper triangle, zeros below a diagonal.",
    samples=("x.triu()", "torch.triu(a, 1)", "c.triu(-1)", "a.clone().triu_()"),
    errors=("v.triu()",),
)

diagflat = composite(
    "diagflat(Tensor self, int offset=0) -> Tensor",
    lambda self, offset: diag_embed(view(self.contiguous(), (-1,)), offset, -2, -1),
    doc="A matrix with all elements on a diagonal.",
    samples=("torch.diagflat(x)", "v.diagflat(1)"),
)
