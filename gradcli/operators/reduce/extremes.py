"""Operators: largest and smallest elements, and where they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.schema.operator import composite, operator
from ..conventions import Late, real_by_rule, real_only, wrap_dim
from ..elementwise.where import masked_fill_tensor
from ..shape.constants import zeros_of
from ..shape.squeeze import unsqueeze
from .reduce import axes, restored
from .sums import sum_all, sum_dims

scatter = Late("scatter.src")
maximum, minimum = Late("maximum"), Late("minimum")


def value_selecting_backward(
    grad: Any, dim: int, indices: Any, sizes: Sequence[int], keepdim: bool
) -> Any:
    """Zeros but where an element was chosen."""
    if not keepdim and sizes:
        grad, indices = unsqueeze(grad, dim), unsqueeze(indices, dim)
    return scatter(zeros_of(grad, tuple(sizes)), dim, indices, grad)


weights_as = operator(
    "_weights_as(Tensor self, Tensor other) -> Tensor",
    where="hidden",
    dtype=lambda self, other: other.dtype,
    forward=lambda xp, self, other: self.astype(other.dtype),
    doc="A mask as numbers 0 and 1 in the type of another tensor.",
    samples=("torch.autograd.grad(x.amax(1).sum(), x, create_graph=True)[0]",),
)

chosen = operator(
    "_chosen(Tensor self, Tensor value) -> Tensor",
    dtype="bool",
    where="hidden",
    forward=lambda xp, self, value: self != self if bool(value != value) else self == value,
    doc="The elements that a reduction over all took for its value; NaN takes NaN.",
    samples=("torch.autograd.grad(x.max(), x, create_graph=True)[0]",),
)


def evenly_distribute_backward(grad: Any, self: Any, result: Any) -> Any:
    """The gradient split evenly among all elements that have the value."""
    mask = chosen(self, result)
    share = grad / sum_all(weights_as(mask, grad))
    return masked_fill_tensor(zeros_of(grad, tuple(self.shape)), mask, share)


def _scaled_by_count(grad: Any, self: Any, result: Any, dim: Any, keepdim: bool) -> Any:
    grad = restored(grad, dim, keepdim, self.shape)
    mask = weights_as(self == restored(result, dim, keepdim, self.shape), grad)
    return grad / sum_dims(mask, axes(dim, self.ndim), True) * mask


def _nonempty(name: str, self: Any, dim: int, told: int | None = None) -> None:
    place = wrap_dim(dim, self.ndim)
    if self.ndim and self.shape[place] == 0:
        told = place if told is None else told
        raise IndexError(f"{name}(): Expected reduction dim {told} to have non-zero size.")


def _needs_dim(name: str, kind: type[Exception] = RuntimeError, more: bool = True) -> Any:
    """Nothing can be chosen among no elements."""
    tail = " Specify the reduction dim with the 'dim' argument." if more else ""

    def check(self: Any, *rest: Any) -> None:
        if not self.numel():
            raise kind(
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0.{tail}"
            )

    return check


def _with_index(xp: Any, self: Any, dim: int, keepdim: bool, how: str) -> Any:
    dim = wrap_dim(dim, self.ndim)
    if not self.ndim:
        return self.copy(), xp.zeros((), dtype="int64")
    indices = getattr(self, "arg" + how)(axis=dim, keepdims=True)
    values = xp.take_along_axis(self, indices, axis=dim)  # of 0. and -0. the one that is there
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


# ---- one dimension, or all

_NAN = "tensor([1., math.nan])"  # in corners

for _name, _node, _word, _two, _smooth, _smooth_of_two, _tie, _lines in (
    (
        "max", "Max", "largest", maximum, "torch.logsumexp((self).flatten(), 0)",
        "torch.logaddexp(self, other)",
        "tensor([3., 3., 1.])", ("tensor([3., 3., 1.])", _NAN),
    ),
    (
        "min", "Min", "smallest", minimum, "-torch.logsumexp(-(self).flatten(), 0)",
        "-torch.logaddexp(-(self), -(other))",
        "tensor([1., 1., 3.])", ("tensor([1., 1., 3.])",),
    ),
):  # fmt: skip
    operator(
        f"{_name}(Tensor self) -> Tensor",
        node=f"{_node}Backward1",
        check=_needs_dim(_name),
        refuse=real_only(f"{_name}_all"),
        forward=lambda xp, self, _name=_name: getattr(self, _name)(),
        self=lambda grad, self, result: evenly_distribute_backward(grad, self, result),
        acts="selects",
        smooth=_smooth,
        doc=f"The {_word} element; ties share the gradient equally.",
        corners=(f"{_tie}.{_name}()", f"{_NAN}.{_name}()"),
        samples=(
            f"x.{_name}()",
            f"torch.{_name}(x)",
            f"s.{_name}()",
            f"i.{_name}()",
            f"k.{_name}()",
        ),
        errors=(f"torch.{_name}(1.0)", f"torch.zeros(0).{_name}()"),
    )
    composite(
        f"{_name}.other(Tensor self, Tensor other) -> Tensor",
        lambda self, other, _two=_two: _two(self, other),
        smooth=_smooth_of_two,
        doc=f"The {_word} of two elements.",
        corners=(f"torch.{_name}(tensor(3.), tensor(3.))",),
        samples=(f"torch.{_name}(x, y)", f"x.{_name}(z)"),
        errors=(f"torch.{_name}(x, r)",),
    )
    operator(
        f"{_name}.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
        node=f"{_node}Backward0",
        outputs_named=_name,
        check=lambda self, dim, keepdim, _name=_name: _nonempty(_name, self, dim),
        refuse=real_by_rule(f"{_name}(): does not support complex input"),
        layout="row-major",
        forward=lambda xp, self, dim, keepdim, _name=_name: _with_index(
            xp, self, dim, keepdim, _name
        ),
        self=lambda grads, dim, indices, self_sym_sizes, keepdim: value_selecting_backward(
            grads[0], dim, indices, self_sym_sizes, keepdim
        ),
        acts="selects",
        doc=f"The {_word} elements along a dimension, and their indices; at a tie the first one.",
        corners=tuple(f"{_line}.{_name}(0)" for _line in _lines),
        samples=(f"x.{_name}(1)", f"torch.{_name}(x, 0, True)", f"s.{_name}(0)",
                 f"i.{_name}(dim=1)", f"c.{_name}(-1).values", f"k.{_name}(1)"),
        errors=(f"x.{_name}(2)", f"torch.zeros(2, 0).{_name}(1)"),
    )  # fmt: skip


def _check_several(name: str) -> Any:
    def check(self: Any, dim: Sequence[int], keepdim: bool) -> None:
        if not dim:
            _needs_dim(name)(self)
        axes(dim, self.ndim)
        for place in dim or ():
            _nonempty(name, self, place, place)

    return check


for _name, _node, _word, _smooth, _tie in (
    ("amax", "Amax", "largest", "torch.logsumexp(self, dim)", "tensor([3., 3., 1.])"),
    ("amin", "Amin", "smallest", "-torch.logsumexp(-(self), dim)", "tensor([1., 1., 3.])"),
):
    operator(
        f"{_name}(Tensor self, int[1]? dim=[], bool keepdim=False) -> Tensor",
        node=f"{_node}Backward0",
        check=_check_several(_name),
        refuse=real_only(f"{_name[1:]}_values_cpu"),
        layout="row-major",
        forward=lambda xp, self, dim, keepdim, _name=_name: getattr(self, _name[1:])(
            axis=axes(dim, self.ndim), keepdims=keepdim
        ),
        self=lambda grad, self, result, dim, keepdim: _scaled_by_count(
            grad, self, result, dim, keepdim
        ),
        acts="selects",
        smooth=_smooth,
        doc=f"The {_word} elements over some dimensions; ties share the gradient equally.",
        corners=(f"{_tie}.{_name}(0)", f"{_NAN}.{_name}(0)"),
        samples=(f"x.{_name}()", f"torch.{_name}(x, 1)", f"c.{_name}((0, 2), keepdim=True)",
                 f"s.{_name}()", f"i.{_name}(1)", f"k.{_name}()", f"(x * k).{_name}(1)"),
        errors=(f"x.{_name}(2)", f"x.{_name}((0, 0))", f"torch.zeros(0).{_name}()",
                f"torch.zeros(0, 3).{_name}(0)"),
    )  # fmt: skip


def _check_aminmax(self: Any, dim: int | None, keepdim: bool) -> None:
    if dim is not None:
        wrap_dim(dim, self.ndim)
    if dim is not None and self.ndim and self.shape[dim] == 0:
        place = wrap_dim(dim, self.ndim)
        raise IndexError(f"aminmax: Expected reduction dim {place} to have non-zero size.")
    if dim is None and self.numel() == 0:
        raise RuntimeError(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no "
            "identity."
        )


def _aminmax(xp: Any, self: Any, dim: int | None, keepdim: bool) -> Any:
    axis = axes(None if dim is None else (dim,), self.ndim)
    return (
        xp.asarray(self.min(axis=axis, keepdims=keepdim)),
        xp.asarray(self.max(axis=axis, keepdims=keepdim)),
    )


def _aminmax_backward(grads: Any, self: Any, dim: Any, keepdim: bool, low: Any, high: Any) -> Any:
    dims = () if dim is None else (dim,)
    parts = [
        _scaled_by_count(grad, self, value, dims, keepdim)
        for grad, value in zip(grads, (low, high), strict=True)
        if grad is not None
    ]
    return parts[0] if len(parts) == 1 else parts[0] + parts[1]


aminmax = operator(
    "aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)",
    node="AminmaxBackward0",
    outputs_named="aminmax",
    check=_check_aminmax,
    layout="row-major",
    refuse=real_only("aminmax_cpu"),
    forward=_aminmax,
    self=lambda grads, self, dim, keepdim, min, max: _aminmax_backward(
        grads, self, dim, keepdim, min, max
    ),
    acts="selects",
    jacobian="selection",
    doc="The smallest and the largest elements.",
    corners=("torch.aminmax(tensor([3., 3.]))",),
    samples=("x.aminmax()", "torch.aminmax(x, dim=1)", "x.aminmax(dim=0, keepdim=True)",
             "x.aminmax(dim=1).max", "x.aminmax().min", "i.aminmax()", "s.aminmax()"),
    errors=("x.aminmax(dim=2)", "torch.zeros(0).aminmax()"),
)  # fmt: skip

# ---- where


def _check_index(name: str) -> Any:
    def check(self: Any, dim: int | None, keepdim: bool) -> None:
        if dim is None:
            _needs_dim(name, IndexError, False)(self)
        else:
            _nonempty(name, self, dim)

    return check


def _index_of(xp: Any, self: Any, dim: int | None, keepdim: bool, how: str) -> Any:
    if not self.ndim:
        return xp.zeros((), dtype="int64")
    return xp.asarray(getattr(self, how)(axis=dim, keepdims=keepdim))


for _name, _word, _smooth, _corners in (
    (
        "argmax",
        "largest",
        "torch.softmax(self, dim)",
        ("tensor([3., 3., 1.]).argmax()", f"{_NAN}.argmax()"),
    ),
    ("argmin", "smallest", "torch.softmax(-(self), dim)", ("tensor([1., 1., 3.]).argmin()",)),
):
    operator(
        f"{_name}(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
        dtype="int64",
        check=_check_index(_name),
        refuse={"Bool": (RuntimeError, f"{_name}(): does not support bool input")}
        | real_by_rule(f"{_name}(): does not support complex input"),
        layout="row-major",
        forward=lambda xp, self, dim, keepdim, _name=_name: _index_of(
            xp, self, dim, keepdim, _name
        ),
        acts="selects",
        smooth=_smooth,
        doc=f"Index of the {_word} element; at a tie the first one.",
        corners=_corners,
        samples=(f"x.{_name}()", f"torch.{_name}(x, 1)", f"x.{_name}(0, keepdim=True)",
                 f"x.{_name}(keepdim=True)", f"s.{_name}()", f"i.{_name}(-1)"),
        errors=(f"x.{_name}(2)", f"k.{_name}()", f"torch.zeros(0).{_name}()"),
    )  # fmt: skip
