"""Operators: several tensors from one: split, chunk, unbind and their like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.schema.mode import state
from ...engine.schema.operator import composite, operator
from ..conventions import Late
from ..geometry import sizes_text, wrap_dim
from .constants import zeros_of

cat, stack, slice_ = Late("cat"), Late("stack"), Late("slice.Tensor")

PIECE = 500  # bytes that a view takes


def _defined(grads: Sequence[Any]) -> Any:
    return next(grad for grad in grads if grad is not None)


def _joined(grads: Sequence[Any], sizes: Sequence[int], dim: int, shape: Sequence[int]) -> Any:
    """The gradients of the pieces put together, zeros for pieces that got none."""
    dim, some = wrap_dim(dim, len(shape)), _defined(grads)
    pieces = []
    for grad, size in zip(grads, sizes, strict=True):
        if grad is None:
            grad = zeros_of(some, (*shape[:dim], size, *shape[dim + 1 :]))
        pieces.append(grad)
    return cat(pieces, dim)


def _even_sizes(total: int, size: int) -> list[int]:
    if size == 0:
        return [total]
    count = max((total + size - 1) // size, 1)
    return [size] * (count - 1) + [total - size * (count - 1)]


def _pieces(self: Any, sizes: Sequence[int], dim: int) -> list[Any]:
    dim, start, pieces = wrap_dim(dim, self.ndim), 0, []
    for size in sizes:
        pieces.append(self[(*(slice(None),) * dim, slice(start, start + size))])
        start += size
    return pieces


def _check_split(self: Any, split_size: int, dim: int) -> None:
    if self.ndim == 0:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    if split_size < 0:
        raise RuntimeError(
            f"split expects split_size be non-negative, but got split_size={split_size}"
        )
    length = self.shape[wrap_dim(dim, self.ndim)]
    if split_size == 0 and length:
        raise RuntimeError(
            f"split_size can only be 0 if dimension size is 0, but got dimension size of {length}"
        )


split = operator(
    "split.Tensor(Tensor self, int split_size, int dim=0) -> Tensor[]",
    node="SplitBackward0",
    view="multi",
    check=_check_split,
    forward=lambda xp, self, split_size, dim: _pieces(
        self, _even_sizes(self.shape[dim], split_size), dim
    ),
    self=lambda grads, split_size, dim, self_sym_sizes: _joined(
        grads, _even_sizes(self_sym_sizes[dim], split_size), dim, self_sym_sizes
    ),
    jacobian="selection",
    doc="Pieces of one size along a dimension; the last may be shorter.",
    samples=(
        "x.split(2, 1)[0]", "torch.split(x, 1)[1]", "torch.stack(x.split(1, -1))",
        "x.split(2, dim=1)[1]",
    ),
    errors=("x.split(0)", "x.split(-1)", "s.split(1)", "x.split(1, 2)"),
)  # fmt: skip


def _check_split_sizes(self: Any, split_sizes: Sequence[int], dim: int) -> None:
    if self.ndim == 0:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    length = self.shape[wrap_dim(dim, self.ndim)]
    if any(size < 0 for size in split_sizes):
        raise RuntimeError(
            "split_with_sizes expects split_sizes have only non-negative entries, but got "
            f"split_sizes={sizes_text(split_sizes)}"
        )
    if sum(split_sizes) != length:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {length} (input tensor's size "
            f"at dimension {dim}), but got split_sizes={sizes_text(split_sizes)}"
        )


split_with_sizes = operator(
    "split_with_sizes(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]",
    node="SplitWithSizesBackward0",
    view="multi",
    check=_check_split_sizes,
    forward=lambda xp, self, split_sizes, dim: _pieces(self, split_sizes, dim),
    self=lambda grads, split_sizes, dim, self_sym_sizes: _joined(
        grads, split_sizes, dim, self_sym_sizes
    ),
    doc="Pieces of given sizes along a dimension.",
    samples=("x.split_with_sizes([1, 2], 1)[1]", "torch.split_with_sizes(r, (1, 2))[0]"),
    errors=("x.split_with_sizes([1, 1], 1)", "x.split_with_sizes([4, -1], 1)"),
)

composite(
    "split.sizes(Tensor self, int[] split_size, int dim=0) -> Tensor[]",
    lambda self, split_size, dim: split_with_sizes(self, tuple(split_size), dim),
    doc="Pieces of given sizes along a dimension.",
    samples=("x.split([1, 2], 1)[1]", "torch.split(x, (1, 1))[0]"),
    errors=("x.split([1, 1], 1)",),
)

composite(
    "split.face(Tensor tensor, any split_size_or_sections, int dim=0) -> Tensor[]",
    lambda tensor, split_size_or_sections, dim: tensor.split(split_size_or_sections, dim),
    where="torch",
    doc="The same by the names that the function has in Python.",
    samples=("torch.split(x, split_size_or_sections=[1, 2], dim=1)[1]",
             "torch.split(tensor=x, split_size_or_sections=1)[0]"),
)  # fmt: skip


def _chunked(self: Any, chunks: int, dim: int, split: Any, with_sizes: Any) -> Any:
    if self.ndim == 0:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    length = self.shape[wrap_dim(dim, self.ndim)]
    size = (length + chunks - 1) // chunks
    return split(self, size, dim) if size else with_sizes(self, (0,) * chunks, dim)


chunk = composite(
    "chunk(Tensor self, int chunks, int dim=0) -> Tensor[]",
    lambda self, chunks, dim: _chunked(self, chunks, dim, split, split_with_sizes),
    doc="Splits into at most the given number of pieces of one size, along a dimension.",
    samples=("x.chunk(2)[0]", "torch.chunk(x, 2, 1)[1]", "torch.cat(x.chunk(3, -1))"),
    errors=("x.chunk(0)", "s.chunk(1)"),
)


# PyTorch's recurrent networks take their gates apart with these: the pieces are no views, so that
# writing into one leaves the others alone.

unsafe_split = operator(
    "unsafe_split.Tensor(Tensor self, int split_size, int dim=0) -> Tensor[]",
    node="UnsafeSplitBackward0",
    view="apart",
    check=_check_split,
    forward=lambda xp, self, split_size, dim: [
        piece.copy() for piece in _pieces(self, _even_sizes(self.shape[dim], split_size), dim)
    ],
    self=lambda grads, split_size, dim, self_sym_sizes: _joined(
        grads, _even_sizes(self_sym_sizes[dim], split_size), dim, self_sym_sizes
    ),
    doc="Copies of pieces of one size along a dimension.",
    samples=("x.unsafe_split(2, 1)[0]", "torch.unsafe_split(x, 1)[1].mul_(2)"),
    errors=("x.unsafe_split(0)",),
)

unsafe_split_with_sizes = operator(
    "unsafe_split_with_sizes(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]",
    node="UnsafeSplitWithSizesBackward0",
    view="apart",
    check=_check_split_sizes,
    forward=lambda xp, self, split_sizes, dim: [
        piece.copy() for piece in _pieces(self, split_sizes, dim)
    ],
    self=lambda grads, split_sizes, dim, self_sym_sizes: _joined(
        grads, split_sizes, dim, self_sym_sizes
    ),
    doc="Copies of pieces of given sizes along a dimension.",
    samples=("x.unsafe_split_with_sizes([1, 2], 1)[1]",),
    errors=("x.unsafe_split_with_sizes([1, 1], 1)",),
)


composite(
    "unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]",
    lambda self, chunks, dim: _chunked(self, chunks, dim, unsafe_split, unsafe_split_with_sizes),
    doc="Copies of at most the given number of pieces of one size.",
    samples=("x.unsafe_chunk(2)[0]", "torch.unsafe_chunk(x, 2, 1)[1]"),
    errors=("x.unsafe_chunk(0)",),
)


def _check_unbind(self: Any, dim: int) -> None:
    if wrap_dim(dim, self.ndim) == self.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    wrap_dim(dim, self.ndim)


def _unbound(xp: Any, self: Any, dim: int) -> list[Any]:
    lead = (slice(None),) * wrap_dim(dim, self.ndim)
    return [self[(*lead, place, ...)] for place in range(self.shape[dim])]


def _stacked(grads: Sequence[Any], dim: int) -> Any:
    some = _defined(grads)
    return stack([zeros_of(some, tuple(some.shape)) if g is None else g for g in grads], dim)


unbind = operator(
    "unbind.int(Tensor self, int dim=0) -> Tensor[]",
    node="UnbindBackward0",
    view="multi",
    check=_check_unbind,
    forward=_unbound,
    self=lambda grads, dim: _stacked(grads, dim),
    jacobian="selection",
    doc="All slices along a dimension, with that dimension removed.",
    samples=(
        "x.unbind()[0]", "torch.unbind(x, -1)[2]", "sum(v.unbind())", "torch.stack(x.unbind(1))",
    ),
    errors=("s.unbind()", "x.unbind(2)"),
)  # fmt: skip


def _sectioned(self: Any, sections: int, dim: int) -> tuple[Any, ...]:
    if sections <= 0:
        raise RuntimeError(f"number of sections must be larger than 0, got {sections}")
    length = self.shape[dim]
    least, longer = divmod(length, sections)
    pieces, start = [], 0
    for place in range(sections):
        end = start + least + (place < longer)
        pieces.append(slice_(self, dim, start, end, 1))
        start = end
    return tuple(pieces)


def _cut(self: Any, indices: Sequence[int], dim: int) -> tuple[Any, ...]:
    start, pieces = 0, []
    for end in (*indices, self.shape[dim]):
        pieces.append(slice_(self, dim, start, end, 1))
        start = end
    return tuple(pieces)


def _tensor_split(self: Any, where: int | Sequence[int], dim: int) -> tuple[Any, ...]:
    if self.ndim == 0:
        raise RuntimeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )
    dim = wrap_dim(dim, self.ndim)
    state.reserve(PIECE * (max(where, 0) if isinstance(where, int) else len(where)))
    return _sectioned(self, where, dim) if isinstance(where, int) else _cut(self, where, dim)


tensor_split = composite(
    "tensor_split.sections(Tensor self, int sections, int dim=0) -> Tensor[]",
    _tensor_split,
    doc="So many pieces along a dimension, the first ones longer by one where it does not divide.",
    samples=("torch.tensor_split(x, 2, 1)[0]", "v.tensor_split(2)[1]"),
    errors=("torch.tensor_split(x, 0)", "torch.tensor_split(s, 1)"),
)

composite(
    "tensor_split.indices(Tensor self, int[] indices, int dim=0) -> Tensor[]",
    _tensor_split,
    doc="Cut at given places along a dimension.",
    samples=("torch.tensor_split(x, [1], 1)[1]", "v.tensor_split((1, 2))[2]"),
)


def _split_by(self: Any, tensor_indices_or_sections: Any, dim: int) -> tuple[Any, ...]:
    where = tensor_indices_or_sections
    if where.dtype.word != "Long":
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to have dtype of long, but got "
            f"{where.dtype.word}"
        )
    if where.ndim > 1:
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or "
            f"one-dimensional tensor, but got a tensor with {where.ndim} dims"
        )
    return _tensor_split(self, int(where.item()) if where.ndim == 0 else tuple(where.tolist()), dim)


composite(
    "tensor_split.tensor(Tensor self, Tensor tensor_indices_or_sections, int dim=0) -> Tensor[]",
    _split_by,
    doc="Cut as a tensor of whole numbers says.",
    samples=(
        "torch.tensor_split(v, torch.tensor([1]))[1]",
        "torch.tensor_split(v, torch.tensor(2))[0]",
    ),
)


def _split_along(self: Any, where: int | Sequence[int], name: str) -> Any:
    least = {"hsplit": 1, "vsplit": 2, "dsplit": 3}[name]
    if self.ndim < least:
        raise RuntimeError(
            f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor "
            f"with {self.ndim} dimensions!"
        )
    dim = {"hsplit": min(self.ndim - 1, 1), "vsplit": 0, "dsplit": 2}[name]
    length = self.shape[dim]
    if isinstance(where, int) and (where == 0 or length % where):
        raise RuntimeError(
            f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension "
            f"{length} is not divisible by the split_size {where}!"
        )
    return _tensor_split(self, where, dim)


def _declare_split(name: str, words: str, even: str, cut: str) -> None:
    """Two overloads: so many pieces, or cut at given places."""
    for overload, sample in (
        ("int(Tensor self, int sections", even),
        ("array(Tensor self, int[] indices", cut),
    ):
        composite(
            f"{name}.{overload}) -> Tensor[]",
            lambda self, where: _split_along(self, where, name),
            doc=f"Split {words}.",
            samples=(sample,),
            errors=(f"torch.{name}(s, 2)", f"torch.{name}(c, 7)"),
        )


_declare_split("hsplit", "side by side", "torch.hsplit(x, 3)[0]", "v.hsplit((1,))[1]")
_declare_split("vsplit", "one below the other", "torch.vsplit(x, 2)[0]", "x.vsplit((1,))[1]")
_declare_split("dsplit", "in depth", "torch.dsplit(c, 3)[0]", "c.dsplit((1,))[1]")
