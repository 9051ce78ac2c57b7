"""Operators: the same elements under another shape: views, and the copies reshape falls back to."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ...engine.memory.layout import alike, check_dimensions
from ...engine.schema.carriers import ARRAYS
from ...engine.schema.errors import type_name
from ...engine.schema.operator import Reduced, composite, operator, warn
from ...engine.schema.signature import is_int
from ...numerics.reduced_kernels import bits_of, read_as
from ..geometry import (
    broadcast_sizes,
    element_strides,
    expanded_size,
    infer_size,
    is_contiguous,
    sizes_text,
    strided,
    view_strides,
    viewed,
    wrap_dim,
)
from ..reduce.sums import sum_all, sum_to, sum_to_size as checked_sum_to_size

# ---- copies

clone = operator(
    "clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor",
    node="CloneBackward0",
    forward=lambda xp, self, memory_format: _copied(xp, self, memory_format),
    self=lambda grad: grad,
    tangent="linear",
    acts="pointwise",
    jacobian="identity",
    doc="A copy in new memory.",
    samples=("x.clone()", "torch.clone(x)", "x.t().clone()", "i.clone()", "z.expand(2, 3).clone()"),
    errors=("torch.clone(1.0)",),
)


def _copied(xp: Any, array: Any, memory_format: Any) -> Any:
    """Dense memory keeps its order of dimensions unless row-major order is requested."""
    if "channels_last" in repr(memory_format):
        return with_channels_last(xp, array)
    if "contiguous_format" in repr(memory_format):
        return array.copy(order="C")
    copy = array.copy()
    return copy if array.ndim < 2 else alike(copy, array)


def with_channels_last(xp: Any, array: Any) -> Any:
    """A copy whose second dimension lies closest in memory."""
    return xp.moveaxis(xp.moveaxis(array, 1, -1).copy(order="C"), -1, 1)


def is_laid_out(self: Any, memory_format: Any) -> bool:
    """Do a tensor's elements lie in memory as a format says?"""
    name = "" if memory_format is None else memory_format.name
    if not name.startswith("channels_last"):
        return name != "contiguous_format" or is_contiguous(self)
    rank = 5 if name.endswith("3d") else 4
    if self.ndim != rank:
        raise RuntimeError(f"required rank {rank} tensor to use {name} format")
    return bool(self.is_contiguous(memory_format=memory_format))


def _contiguous(self: Any, memory_format: Any = None) -> Any:
    if memory_format is not None and memory_format.name.startswith("channels_last"):
        return self if is_laid_out(self, memory_format) else clone(self, memory_format)
    asked = getattr(self, "is_contiguous", None)  # a tensor that is mapped over knows all samples
    laid_out = is_contiguous(self) if asked is None else asked()
    return self if laid_out else clone(self, "torch.contiguous_format")


contiguous = composite(
    "contiguous(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor",
    lambda self, memory_format: _contiguous(self, memory_format),
    where="method",
    doc="The tensor itself if its memory is in row-major order, else a copy that is.",
    samples=(
        "x.contiguous()",
        "x.t().contiguous()",
        "z.expand(2, 3).contiguous()",
        "c[None].contiguous(memory_format=torch.channels_last).stride()",
    ),
)

# ---- views of the same elements

view = operator(
    "view(Tensor self, int[] size) -> Tensor",
    node="ViewBackward0",
    view=True,
    where="method",
    forward=lambda xp, self, size: viewed(xp, self, size),
    self=lambda grad, self_sym_sizes: reshaped(grad, self_sym_sizes),
    jacobian="reshape",
    doc="A view with another size.",
    samples=(
        "x.view(3, 2)", "x.view(6)", "x.view(-1, 2)", "s.view(1)", "x.view((6,))", "c.view(6, 3)",
    ),
    errors=("x.view(4)", "x.view(-1, -1)", "x.t().view(6)", "x.view(-2, 3)", "x.view(4, -1)"),
)  # fmt: skip

unsafe_view = operator(
    "_unsafe_view(Tensor self, int[] size) -> Tensor",
    node="UnsafeViewBackward0",
    where="hidden",
    forward=lambda xp, self, size: viewed(xp, self, size),
    self=lambda grad, self_sym_sizes: reshaped(grad, self_sym_sizes),
    acts="moves",
    jacobian="reshape",
    doc="A view of a fresh copy, as reshape returns it.",
    samples=("x.t().reshape(6)",),
)

reshape_alias = operator(
    "_reshape_alias(Tensor self, int[] size) -> Tensor",
    node="ReshapeAliasBackward0",
    view=True,
    where="hidden",
    forward=lambda xp, self, size: viewed(xp, self, size),
    self=lambda grad, self_sym_sizes: reshaped(grad, self_sym_sizes),
    jacobian="reshape",
    doc="The view that reshape makes of memory that is not in row-major order.",
    samples=("x.t()[0:2].reshape(2, 2)",),
)


def reshaped(self: Any, shape: Sequence[int]) -> Any:
    """A view where the memory allows it, else a copy."""
    if ARRAYS.get(self.__class__) is not None:
        return self.reshape(infer_size(shape, self.size))
    try:
        if is_contiguous(self):
            return view(self, tuple(shape))
        size = infer_size(shape, _numel(self))
        strides = self.stride() if hasattr(self, "stride") else element_strides(self)
        if view_strides(self.shape, strides, size) is not None:
            return reshape_alias(self, size)
    except RuntimeError:  # each sample of a batch lies in order, and the batch does not
        size = infer_size(shape, _numel(self))
    return unsafe_view(clone(self, "torch.contiguous_format"), size)


def _numel(self: Any) -> int:
    count = 1
    for length in self.shape:
        count *= length
    return count


reshape = composite(
    "reshape(Tensor self, int[] shape) -> Tensor",
    lambda self, shape: reshaped(self, shape),
    doc="The same elements with another size: a view where possible, else a copy.",
    samples=(
        "x.reshape(3, 2)", "torch.reshape(x, (6,))", "x.reshape(-1)", "x.t().reshape(6)",
        "x.t()[0:2].reshape(2, 2)", "z.t().reshape(3)", "z.expand(2, 3).reshape(6)",
        "s.reshape(1, 1)",
    ),
    errors=("x.reshape(4)", "torch.reshape(x, 1.0)"),
)  # fmt: skip

view_as = composite(
    "view_as(Tensor self, Tensor other) -> Tensor",
    lambda self, other: view(self, tuple(other.shape)),
    where="method",
    doc="view with the size of another tensor.",
    samples=("x.view_as(y)",),
    errors=("x.view_as(a)",),
)

reshape_as = composite(
    "reshape_as(Tensor self, Tensor other) -> Tensor",
    lambda self, other: reshaped(self, tuple(other.shape)),
    where="method",
    doc="reshape with the size of another tensor.",
    samples=("x.reshape_as(y)", "x.t().reshape_as(y)"),
    errors=("x.reshape_as(a)",),
)


# ---- resize, as it was before reshape

_RESIZED: dict[str, Any] = {
    "node": "ResizeBackward",
    "where": "hidden",
    "forward": lambda xp, self, size: viewed(xp, self, size),
    "self": lambda grad, self_shape: reshaped(grad, self_shape),
    "jacobian": "reshape",
    "samples": ("x.resize(3, 2)",),
}
_resized_view = operator(
    "_resized_view(Tensor self, int[] size) -> Tensor",
    view=True,
    doc="The view that resize makes of a tensor in row-major order.",
    **_RESIZED,
)
_resized_copy = operator(
    "_resized_copy(Tensor self, int[] size) -> Tensor",
    acts="moves",
    doc="The copy that resize makes of other tensors.",
    **(_RESIZED | {"forward": lambda xp, self, size: xp.ascontiguousarray(self).reshape(size)}),
)


def _resized(self: Any, size: Sequence[int], name: str) -> Any:
    warn(f"non-inplace {name} is deprecated")
    many = all(map(is_int, size))
    count = prod(size) if many else size[0]
    if not many or count != self.numel():
        wanted, given = ("x".join(map(str, sizes)) for sizes in (size, self.shape))
        raise RuntimeError(
            f"requested resize to {wanted} ({count} elements in total), but the given tensor "
            f"has a size of {given} ({self.numel()} elements). autograd's resize can only change "
            "the shape of a given tensor, while preserving the number of elements. "
        )
    return (_resized_view if is_contiguous(self) else _resized_copy).run(self, tuple(size))


composite(
    "resize(Tensor self, int[] size=[]) -> Tensor",
    lambda self, size: _resized(self, size, "resize"),
    where="method",
    doc="reshape under its older name.",
    samples=("x.resize(3, 2)", "x.t().resize(6)"),
    errors=("x.resize(4)", "x.resize(2, -3)"),
)
composite(
    "resize.other(Tensor self, any size) -> Tensor",
    lambda self, size: _resized(self, (size,), "resize"),
    where="method",
    doc="What is no size is refused.",
    samples=(),
    errors=("x.resize('a')",),
)


def _resized_as(self: Any, tensor: Any) -> Any:
    if not hasattr(tensor, "size"):
        raise AttributeError(f"'{type_name(tensor)}' object has no attribute 'size'")
    return _resized(self, tensor.shape, "resize_as")


composite(
    "resize_as(Tensor self, any tensor) -> Tensor",
    _resized_as,
    where="method",
    doc="reshape_as under its older name.",
    samples=("x.resize_as(x.t())",),
    errors=("x.resize_as(v)",),
)


def _check_bytes(self: Any, dtype: Any) -> None:
    mine, wanted = self.dtype.itemsize, dtype.itemsize
    if mine == wanted:
        return
    what = f"view {self.dtype.word} as {dtype.word} (different element sizes)"
    if not self.ndim:
        raise RuntimeError(f"self.dim() cannot be 0 to {what}")
    if mine < wanted and self.shape[-1] % (wanted // mine):
        raise RuntimeError(
            f"self.size(-1) must be divisible by {wanted // mine} to {what}, but got "
            f"{self.shape[-1]}"
        )
    if self.stride(-1) != 1:
        raise RuntimeError(f"self.stride(-1) must be 1 to {what}, but got {self.stride(-1)}")


view_dtype = operator(
    "view.dtype(Tensor self, ScalarType dtype) -> Tensor",
    where="method",
    shares=True,
    dtype=lambda self, dtype: dtype,
    check=_check_bytes,
    forward=lambda xp, self, dtype: read_as(self, dtype),
    reduced=Reduced(lambda kind, self, dtype: read_as(bits_of(kind, self), dtype)),
    doc="The same bytes read as another element type.",
    samples=(
        "x.view(torch.int32)",
        "x.half().view(torch.int16)",
        "x.bfloat16().view(torch.uint8)",
        "i.view(torch.bfloat16)",
    ),
    errors=("x.half().view(torch.float64)", "s.view(torch.int16)"),
)


def _flattened(self: Any, start_dim: int, end_dim: int) -> Any:
    start, end = wrap_dim(start_dim, self.ndim), wrap_dim(end_dim, self.ndim)
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if self.ndim == 0:
        return reshaped(self, (1,))
    if start == end:
        return self
    shape = tuple(self.shape)
    merged = 1
    for length in shape[start : end + 1]:
        merged *= length
    return reshaped(self, (*shape[:start], merged, *shape[end + 1 :]))


flatten = composite(
    "flatten(Tensor self, int start_dim=0, int end_dim=-1) -> Tensor",
    _flattened,
    doc="Merges a range of dimensions into one.",
    samples=(
        "c.flatten()", "torch.flatten(c, 1)", "c.flatten(0, 1)", "s.flatten()", "v.flatten()",
        "x.t().flatten()", "c.flatten(start_dim=-2)",
    ),
    errors=("x.flatten(1, 0)", "x.flatten(3)"),
)  # fmt: skip

ravel = composite(
    "ravel(Tensor self) -> Tensor",
    lambda self: view(_contiguous(self), (-1,)),
    doc="The elements as a 1-dimensional tensor.",
    samples=("c.ravel()", "torch.ravel(x.t())", "s.ravel()"),
)


def _unflattened(self: Any, dim: int, sizes: Sequence[int]) -> Any:
    dim = wrap_dim(dim, self.ndim)
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    if not self.ndim:
        raise RuntimeError(
            "unflatten got an unexpected error:\n"
            f"Dimension specified as {dim} but tensor has no dimensions"
        )
    length = self.shape[dim]
    try:
        inferred = infer_size(sizes, length)
    except RuntimeError as error:
        if str(error).startswith("shape '"):
            raise RuntimeError(
                f"unflatten: Provided sizes {sizes_text(sizes)} don't multiply up to the size of "
                f"dim {dim} ({length}) in the input tensor"
            ) from None
        raise RuntimeError(f"unflatten got an unexpected error:\n{error}") from None
    shape = tuple(self.shape)
    return view(self, (*shape[:dim], *inferred, *shape[dim + 1 :]))


unflatten = composite(
    "unflatten(Tensor self, int dim, int[] sizes) -> Tensor",
    _unflattened,
    doc="Splits one dimension into several.",
    samples=("c.unflatten(1, (3, 1))", "torch.unflatten(x, 1, (-1, 1))", "v.unflatten(0, (1, 3))"),
    errors=(
        "x.unflatten(1, (2, 2))",
        "s.unflatten(0, (1, 1))",
        "x.unflatten(1, (-1, -1))",
        "x.unflatten(3, (1, 3))",
    ),
)

alias = operator(
    "alias(Tensor self) -> Tensor",
    node="AliasBackward0",
    view=True,
    where="hidden",
    forward=lambda xp, self: self.view() if self.ndim else self.reshape(()),
    self=lambda grad: grad,
    acts="pointwise",
    jacobian="identity",
    doc="A view of the whole tensor, as x[...] returns it.",
    samples=("x[...]", "s[...]"),
)

# ---- one element seen in many places


def _expanded(xp: Any, self: Any, size: Sequence[int]) -> Any:
    check_dimensions(len(size))
    if not self.ndim and min(size, default=0) > 0 and xp.__name__ == "numpy":  # one number
        array = xp.asarray(self)
        return xp.ndarray(size, array.dtype, array, 0, (0,) * len(size))
    size = expanded_size(self.shape, size, "")
    lead = len(size) - self.ndim
    shape, own = self.shape, element_strides(self)
    strides = [0] * len(size)
    for place in range(len(size) - 1, -1, -1):
        if place >= lead:
            have, stride = shape[place - lead], own[place - lead]
        else:  # a new dimension of size 1 steps over what lies behind it
            have, stride = 1, size[place + 1] * strides[place + 1] if place + 1 < len(size) else 0
        strides[place] = stride if have == size[place] else 0
    return strided(xp, self, size, strides)


expand = operator(
    "expand(Tensor self, int[] size, *, bool implicit=False) -> Tensor",
    node="ExpandBackward0",
    view=True,
    where="method",
    check=lambda self, size, implicit: expanded_size(self.shape, size, self._kind.old_name),
    forward=lambda xp, self, size, implicit: _expanded(xp, self, size),
    # A tensor without dimensions gets the sum of all, even where there is but one element.
    self=lambda grad, self_sym_sizes: (
        sum_to(grad, self_sym_sizes) if self_sym_sizes else sum_all(grad)
    ),
    acts="spreads",
    doc="A view that repeats dimensions of size 1 without a copy.",
    samples=(
        "z.expand(2, 3)", "z.expand(2, -1)", "v.expand(2, 3)", "x.expand(2, 3)", "s.expand(2, 2)",
        "z.expand(4, 2, 3)",
    ),
    errors=("x.expand(2)", "x.expand(2, 4)", "x.expand(-1, 2, 3)", "x.expand(-1, -2)"),
)  # fmt: skip

expand_as = composite(
    "expand_as(Tensor self, Tensor other) -> Tensor",
    lambda self, other: expand(self, tuple(other.shape), False),
    where="method",
    doc="expand to the size of another tensor.",
    samples=("z.expand_as(x)", "s.expand_as(x)"),
    errors=("x.expand_as(v)",),
)

broadcast_to = composite(
    "broadcast_to(Tensor self, int[] size) -> Tensor",
    lambda self, size: expand(self, tuple(size), False),
    doc="Alias of expand, with NumPy's name.",
    samples=("torch.broadcast_to(z, (2, 3))", "v.broadcast_to((2, 3))"),
    errors=("torch.broadcast_to(x, (3, 3))",),
)


def _broadcast_all(tensors: Sequence[Any]) -> tuple[Any, ...]:
    size = broadcast_sizes(*(tuple(tensor.shape) for tensor in tensors))
    return tuple(
        tensor if tuple(tensor.shape) == size else expand(tensor, size, False) for tensor in tensors
    )


broadcast_tensors = composite(
    "broadcast_tensors(Tensor[] tensors) -> Tensor[]",
    _broadcast_all,
    where="torch",
    doc="Broadcasts tensors to their common size.",
    samples=("torch.broadcast_tensors(z, x)[0]", "torch.broadcast_tensors(z, x)[1]"),
    errors=("torch.broadcast_tensors(x, r)",),
)

sum_to_size = composite(
    "sum_to_size(Tensor self, int[] size) -> Tensor",
    lambda self, size: checked_sum_to_size(self, size),
    where="method",
    doc="The sum over the dimensions that expand added: the inverse of expand.",
    samples=("x.sum_to_size(1, 3)", "x.sum_to_size(3)", "x.sum_to_size(2, 1)"),
    errors=("x.sum_to_size(3, 3)",),
)

composite(
    "broadcast_tensors.one(Tensor tensor) -> Tensor",
    lambda tensor: _broadcast_all([tensor]),
    where="torch",
    doc="broadcast_tensors of one tensor.",
    samples=("torch.broadcast_tensors(x)[0]",),
)
