"""Operators: parts of a tensor as views (select, slice, narrow, unfold), and those put back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.schema.operator import composite, operator
from ..conventions import refuse_complex
from ..geometry import element_strides, sizes_text, stepping, strided, wrap_dim
from .constants import zeros_as

LAST = 2**63 - 1  # the end of a slice that has none


def lead(dim: int) -> tuple[slice, ...]:
    return (slice(None),) * dim


# ---- one index of a dimension


def _check_select(self: Any, dim: int, index: int) -> None:
    if self.ndim == 0:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    wrapped = wrap_dim(dim, self.ndim)
    length = self.shape[wrapped]
    if not -length <= index < length:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {sizes_text(self.shape)} at "
            f"dimension {wrapped}"
        )


def _selected(xp: Any, self: Any, dim: int, index: int) -> Any:
    return stepping(xp, self)[(*lead(wrap_dim(dim, self.ndim)), index, ...)]


def _placed(xp: Any, grad: Any, sizes: Sequence[int], index: Any) -> Any:
    """Zeros of a size with a part filled in."""
    result = xp.zeros(tuple(sizes), dtype=grad.dtype)
    result[index] = grad
    return result


select_backward = operator(
    "select_backward(Tensor grad_output, int[] input_sizes, int dim, int index) -> Tensor",
    node="SelectBackwardBackward0",
    where="hidden",
    forward=lambda xp, grad_output, input_sizes, dim, index: _placed(
        xp, grad_output, input_sizes, (*lead(wrap_dim(dim, len(input_sizes))), index, ...)
    ),
    grad_output=lambda grad, dim, index: select(grad, dim, index),
    acts="moves",
    zero="mask",
    jacobian="selection",
    doc="Zeros but for one index of a dimension.",
    samples=("torch.autograd.grad(x[0], x, v, create_graph=True)[0]",),
)

select = operator(
    "select.int(Tensor self, int dim, int index) -> Tensor",
    node="SelectBackward0",
    view=True,
    check=_check_select,
    forward=lambda xp, self, dim, index: _selected(xp, self, dim, index),
    self=lambda grad, self_sym_sizes, dim, index: select_backward(grad, self_sym_sizes, dim, index),
    zero="mask",
    jacobian="selection",
    doc="Selects one index of a dimension and removes that dimension.",
    samples=("x.select(1, -1)", "torch.select(x, 0, 1)", "x[0]", "v[2]", "x[0, 1]"),
    errors=("x.select(0, 5)", "s.select(0, 0)", "x.select(3, 0)"),
)

# ---- a range of a dimension


def _range(start: int | None, end: int | None, step: int, length: int) -> slice:
    """Bounds counted from the front and kept inside, as PyTorch clamps them."""
    start = 0 if start is None else start
    end = LAST if end is None else end
    start = min(max(start + length if start < 0 else start, 0), length)
    end = min(max(end + length if end < 0 else end, start), length)
    return slice(start, end, step)


def _check_slice(self: Any, dim: int, start: Any, end: Any, step: int) -> None:
    if self.ndim == 0:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    wrap_dim(dim, self.ndim)
    if step <= 0:
        raise ValueError("step must be greater than zero")


def _sliced(xp: Any, self: Any, dim: int, start: int | None, end: int | None, step: int) -> Any:
    dim = wrap_dim(dim, self.ndim)
    part = stepping(xp, self)[(*lead(dim), _range(start, end, step, self.shape[dim]))]
    if step != 1 and not part.shape[dim]:  # NumPy steps through no elements by one
        strides = element_strides(self)
        strides = (*strides[:dim], strides[dim] * step, *strides[dim + 1 :])
        return strided(xp, part, part.shape, strides)
    return part


def _slice_place(
    sizes: Sequence[int], dim: int, start: Any, end: Any, step: int
) -> tuple[slice, ...]:
    dim = wrap_dim(dim, len(sizes))
    return (*lead(dim), _range(start, end, step, sizes[dim]))


slice_backward = operator(
    "slice_backward(Tensor grad_output, int[] input_sizes, int dim, int start, int end, "
    "int step) -> Tensor",
    node="SliceBackwardBackward0",
    where="hidden",
    forward=lambda xp, grad_output, input_sizes, dim, start, end, step: _placed(
        xp, grad_output, input_sizes, _slice_place(input_sizes, dim, start, end, step)
    ),
    grad_output=lambda grad, dim, start, end, step: slice_(grad, dim, start, end, step),
    acts="moves",
    zero="mask",
    jacobian="selection",
    doc="Zeros but for a range of a dimension.",
    samples=("torch.autograd.grad(v[1:], v, w[1:], create_graph=True)[0]",),
)

slice_ = operator(
    "slice.Tensor(Tensor self, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor",
    node="SliceBackward0",
    view=True,
    where="hidden",
    check=_check_slice,
    forward=lambda xp, self, dim, start, end, step: _sliced(xp, self, dim, start, end, step),
    self=lambda grad, self_sym_sizes, dim, start, end, step: slice_backward(
        grad, self_sym_sizes, dim, 0 if start is None else start, LAST if end is None else end, step
    ),
    zero="mask",
    jacobian="selection",
    doc="A range of a dimension, with a step: x[1:3], x[::2].",
    samples=("x[:, 1:]", "v[::2]", "v[-2:]", "x[:]", "v[5:]", "x[0:1, 0:2]"),
    errors=("x[::-1]", "s[:]"),
)


def _narrowed(self: Any, dim: int, start: Any, length: int) -> Any:
    if self.ndim and length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    start = _start_within(self, dim, start, length)
    return slice_(self, dim, start, start + length, 1)


def _start_within(self: Any, dim: int, start: int, length: int) -> int:
    """The first index that narrow takes, counted from the beginning."""
    if self.ndim == 0:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    have = self.shape[wrap_dim(dim, self.ndim)]
    if not -have <= start <= have:
        raise IndexError(
            f"start out of range (expected to be in range of [{-have}, {have}], but got {start})"
        )
    start = start + have if start < 0 else start
    if length < 0 or start + length > have:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({have}).")
    return start


narrow = composite(
    "narrow(Tensor self, int dim, int start, int length) -> Tensor",
    _narrowed,
    doc="A range of a dimension, given by start and length.",
    samples=("x.narrow(1, 0, 2)", "torch.narrow(x, -1, 1, 2)", "v.narrow(0, -2, 1)"),
    errors=("x.narrow(1, 2, 2)", "x.narrow(1, 0, -1)", "x.narrow(1, 5, 1)", "s.narrow(0, 0, 1)"),
)


def _narrowed_at(self: Any, dim: int, start: Any, length: int) -> Any:
    if start.ndim or start.dtype.category != 1:
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    return _narrowed(self, dim, int(start.item()), length)


composite(
    "narrow.Tensor(Tensor self, int dim, Tensor start, int length) -> Tensor",
    _narrowed_at,
    doc="A range of a dimension, given by start and length.",
    samples=("x.narrow(1, j[0], 2)",),
    errors=("x.narrow(1, j, 2)", "x.narrow(1, s, 2)"),
)


def _check_narrow_copy(self: Any, dim: int, start: int, length: int) -> None:
    if self.ndim and dim >= self.ndim:
        raise RuntimeError(
            "Expected dim < static_cast<int64_t>(self_sizes.size()) to be true, but got false.  "
            "(Could this error message be improved?  If so, please report an enhancement request "
            "to PyTorch.)"
        )
    _start_within(self, dim, start, length)


def _span(size: int, start: int, length: int) -> tuple[int, int]:
    """Both ends, counted from the beginning."""
    first = start + size if start < 0 else start
    return first, first + length


narrow_copy = operator(
    "narrow_copy(Tensor self, int dim, int start, int length) -> Tensor",
    node="NarrowCopyBackward0",
    check=_check_narrow_copy,
    forward=lambda xp, self, dim, start, length: _sliced(
        xp, self, dim, *_span(self.shape[dim], start, length), 1
    ).copy(),
    self=lambda grad, self_sym_sizes, dim, start, length: slice_backward(
        grad, self_sym_sizes, dim, *_span(self_sym_sizes[dim], start, length), 1
    ),
    acts="moves",
    jacobian="selection",
    doc="narrow as a copy.",
    samples=("torch.narrow_copy(x, 1, 0, 2)",),
)

# ---- windows


def _check_unfold(self: Any, dimension: int, size: int, step: int) -> None:
    dim = wrap_dim(dimension, self.ndim)
    length = self.shape[dim] if self.ndim else 1
    if size > length:
        raise RuntimeError(
            f"maximum size for tensor at dimension {dim} is {length} but size is {size}"
        )
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")


def _windows(xp: Any, self: Any, dim: int, size: int, step: int) -> Any:
    if not self.ndim:
        return self.reshape(1)[:size]
    dim = wrap_dim(dim, self.ndim)
    shape, steps = list(self.shape), list(element_strides(self))
    shape[dim] = (shape[dim] - size) // step + 1
    last = steps[dim]
    steps[dim] *= step
    return strided(xp, self, (*shape, size), (*steps, last))


def _windows_summed(
    xp: Any, grad: Any, sizes: Sequence[int], dim: int, size: int, step: int
) -> Any:
    """Elements that are in several windows get the sum of their gradients."""
    result = xp.zeros(tuple(sizes), dtype=grad.dtype)
    if not sizes:
        return grad.sum().reshape(())
    dim = wrap_dim(dim, len(sizes))
    count = grad.shape[dim]
    for offset in range(size):
        stop = offset + (count - 1) * step + 1
        result[(*lead(dim), slice(offset, stop, step))] += grad[..., offset]
    return result


unfold_backward = operator(
    "unfold_backward(Tensor grad_in, int[] input_sizes, int dim, int size, int step) -> Tensor",
    node="UnfoldBackwardBackward0",
    where="hidden",
    forward=_windows_summed,
    grad_in=lambda grad, dim, size, step: unfold(grad, dim, size, step),
    zero="mask",
    doc="Windows added up where they overlap.",
    samples=("torch.autograd.grad(v.unfold(0, 2, 1).sum(0), v, w[:2], create_graph=True)[0]",),
)

unfold = operator(
    "unfold(Tensor self, int dimension, int size, int step) -> Tensor",
    node="UnfoldBackward0",
    view=True,
    where="method",
    check=_check_unfold,
    forward=_windows,
    self=lambda grad, self_sym_sizes, dimension, size, step: unfold_backward(
        grad, self_sym_sizes, dimension, size, step
    ),
    acts="spreads",
    zero="mask",
    doc="Windows of a dimension, as a new last dimension; overlapping windows share memory.",
    samples=("v.unfold(0, 2, 1)", "r.unfold(1, 2, 2)", "x.unfold(-1, 2, 1)"),
    errors=("v.unfold(0, 4, 1)", "v.unfold(0, 2, 0)", "v.unfold(0, -1, 1)"),
)

# ---- a part replaced


def check_part(part: Any, src: Any, real: str = "", *whole: Any) -> None:
    """`real` has no derivative for complex numbers."""
    if tuple(part.shape) != tuple(src.shape):
        raise RuntimeError(
            f"expected src to have a size equal to the slice of self. src size = "
            f"{sizes_text(src.shape)}, slice size = {sizes_text(part.shape)}"
        )
    if real:
        refuse_complex(real, src, *whole)


def _with_part(self: Any, src: Any, place: Any) -> Any:
    result = self.copy()
    result[place] = src
    return result


select_scatter = operator(
    "select_scatter(Tensor self, Tensor src, int dim, int index) -> Tensor",
    node="SelectScatterBackward0",
    check=lambda self, src, dim, index: check_part(
        select(self.detach(), dim, index), src, "select_scatter", self
    ),
    layout="like",
    forward=lambda xp, self, src, dim, index: _with_part(
        self, src, (*lead(wrap_dim(dim, self.ndim)), index, ...)
    ),
    self=lambda grad, src_shape, dim, index: select_scatter(
        grad, zeros_as(select(grad, dim, index)), dim, index
    ),
    src=lambda grad, dim, index: select(grad, dim, index),
    jacobian="placement",
    doc="A copy with one index of a dimension replaced.",
    samples=("torch.select_scatter(x, v, 0, 1)", "x.select_scatter(v[:2], 1, 0)"),
    errors=("torch.select_scatter(x, w, 1, 0)",),
)

slice_scatter = operator(
    "slice_scatter(Tensor self, Tensor src, int dim=0, int? start=None, int? end=None, "
    "int step=1) -> Tensor",
    node="SliceScatterBackward0",
    check=lambda self, src, dim, start, end, step: check_part(
        slice_(self.detach(), dim, start, end, step), src, "slice_scatter", self
    ),
    layout="like",
    forward=lambda xp, self, src, dim, start, end, step: _with_part(
        self, src, _slice_place(self.shape, dim, start, end, step)
    ),
    self=lambda grad, dim, start, end, step: slice_scatter(
        grad, zeros_as(slice_(grad, dim, start, end, step)), dim, start, end, step
    ),
    src=lambda grad, dim, start, end, step: slice_(grad, dim, start, end, step),
    jacobian="placement",
    doc="A copy with a range of a dimension replaced.",
    samples=("torch.slice_scatter(x, y[:, :2], 1, 1)", "v.slice_scatter(w[:2], 0, 0, 3, 2)"),
    errors=("torch.slice_scatter(x, y, 1, 1)",),
)
