"""Operators: losses against class numbers."""

from __future__ import annotations

from typing import Any

from ...engine.schema.operator import Reduced, operator
from ...engine.tensors.conversion import MEAN, NONE
from ...numerics.reduced_kernels import sum_of_losses
from ...numerics.summation import sum_of_cases
from ..conventions import (
    COMPLEX,
    INTEGERS,
    REDUCED,
    constant,
    floating_only,
    full_precision,
    unimplemented,
)
from ..geometry import sizes_text
from ..shape.constants import zeros_as

# ---- nll_loss: (N, C) or (C); nll_loss2d: (N, C, H, W)


def _check_target(target: Any) -> None:
    if target.dtype.word not in ("Long", "Byte"):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {target.dtype.word}")


def _check_weight(self: Any, weight: Any, classes: int) -> None:
    if weight is not None and (weight.ndim != 1 or weight.numel() != classes):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes "
            f"but got weight tensor of shape: {list(weight.shape)}"
        )
    if weight is not None and weight.dtype is not self.dtype:
        raise RuntimeError(f"expected scalar type {self.dtype.word} but found {weight.dtype.word}")


def _check_nll(self: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> None:
    constant("nll_loss_forward", weight=weight)
    if target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if self.ndim == target.ndim == 1 and len(target) != 1:
        raise ValueError(
            f"For 1D input, 1D target must have size 1, but got target size: {len(target)}"
        )
    _check_target(target)
    _check_weight(self, weight, self.shape[-1])


def _check_nll2d(self: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> None:
    constant("nll_loss2d_forward", weight=weight)
    if target.ndim != 3:
        raise RuntimeError(
            "only batches of spatial targets supported (3D tensors) but got targets of "
            f"dimension: {target.ndim}"
        )
    _check_target(target)
    if self.shape[0] != target.shape[0] or self.shape[2:] != target.shape[1:]:
        raise RuntimeError(
            f"size mismatch (got input: {list(self.shape)} , target: {list(target.shape)}"
        )
    _check_weight(self, weight, self.shape[1])


def _weights(xp: Any, x: Any, target: Any, weight: Any, ignore_index: int, classes: int) -> Any:
    """What each target weighs, and the targets with the ignored ones pointing at class 0."""
    usual = weight is None and target.size and not 0 <= ignore_index < classes
    if usual and int(target.min()) >= 0 and int(target.max()) < classes:
        return xp.ones(target.shape, dtype=x.dtype), target
    kept = target != ignore_index
    wrong = kept & ((target < 0) | (target >= classes))
    if bool(wrong.any()):
        raise IndexError(f"Target {int(target[wrong].reshape(-1)[0])} is out of bounds.")
    places = xp.where(kept, target, 0)
    each = xp.ones(target.shape, dtype=x.dtype) if weight is None else weight[places]
    return xp.where(kept, each, xp.zeros((), dtype=x.dtype)), places


def _class_dim(x: Any) -> int:
    return 0 if x.ndim == 1 else 1


def _picked(xp: Any, x: Any, places: Any) -> Any:
    if x.ndim == 2 and places.ndim == 1:
        return x[xp.arange(len(x)), places]
    dim = _class_dim(x)
    index = xp.expand_dims(places, dim) if places.ndim == x.ndim - 1 else places
    return xp.take_along_axis(x, index, dim).reshape(places.shape)


def _nll_forward(
    xp: Any, x: Any, target: Any, weight: Any, reduction: int, ignore_index: int, kind: Any = None
) -> tuple[Any, Any]:
    each, places = _weights(xp, x, target, weight, ignore_index, x.shape[_class_dim(x)])
    loss = -_picked(xp, x, places) * each
    if reduction == NONE:
        return loss, xp.zeros((), dtype=x.dtype)
    if kind is not None:  # reduced precision
        total = sum_of_losses(kind, each)
        summed = sum_of_losses(kind, kind.settle(loss))
        return (summed / total if reduction == MEAN else summed), total
    total = each.sum(dtype=x.dtype)
    summed = sum_of_cases(xp, loss)
    return (summed / total if reduction == MEAN else summed), total


def _nll_backward(
    xp: Any, grad: Any, x: Any, target: Any, weight: Any, reduction: int, ignore_index: int,
    total: Any,
) -> Any:  # fmt: skip
    dim = _class_dim(x)
    if x.ndim == target.ndim == 1 and x.shape != target.shape:  # which the way forward takes
        shapes = f"input: {list(x.shape)}, target: {list(target.shape)}"
        raise RuntimeError(f"size mismatch (got {shapes})")
    each, places = _weights(xp, x, target, weight, ignore_index, x.shape[dim])
    value = -each * grad
    if reduction == MEAN:
        value = value / total
    result = xp.zeros_like(x)
    # An ignored target gets nothing, also where all are ignored and the mean is 0 / 0.
    silent = (value == 0) | (target == ignore_index)
    value = xp.where(silent, xp.zeros_like(value), value)
    if x.ndim == 2 and places.ndim == 1:
        result[xp.arange(len(x)), places] = value
        return result
    index = xp.expand_dims(places, dim) if places.ndim == x.ndim - 1 else places
    xp.put_along_axis(result, index, value.reshape(index.shape), dim)
    return result


_BACKWARD = (
    "(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, "
    "int ignore_index, Tensor total_weight) -> Tensor"
)
_FORWARD = (
    "(Tensor self, Tensor target, Tensor? weight, int reduction, int ignore_index) "
    "-> (Tensor output, Tensor total_weight)"
)

_NLL_REDUCED = Reduced(lambda kind, *given: _nll_forward(kind.xp, *given, kind=kind))

nll_loss_backward = operator(
    "nll_loss_backward" + _BACKWARD,
    node="NllLossBackwardBackward0",
    where="hidden",
    dtype=lambda grad_output, self, *rest: self.dtype,
    forward=_nll_backward,
    grad_output=lambda grad, target, weight, reduction, ignore_index: nll_loss(
        grad, target, weight, reduction, ignore_index
    )[0],
    self=lambda grad: zeros_as(grad),
    jacobian="selection",
    doc="Puts the gradient at the target's class of each row.",
    samples=("torch.autograd.grad(F.nll_loss(a, j), a, create_graph=True)[0]",),
)

nll_loss = operator(
    "nll_loss_forward" + _FORWARD,
    node="NllLossBackward0",
    role="of logarithms",
    where="hidden",
    undifferentiable="total_weight",
    layout="row-major",
    forward=_nll_forward,
    reduced=_NLL_REDUCED,
    self=lambda grads, self, target, weight, reduction, ignore_index, total_weight: (
        nll_loss_backward(grads[0], self, target, weight, reduction, ignore_index, total_weight)
    ),
    check=_check_nll,
    refuse=floating_only("nll_loss_out_frame"),
    jacobian="selection",
    doc="Minus the input at each row's target class, weighted.",
    samples=("F.nll_loss(a, j)",),
    errors=("F.nll_loss(a, j, weight=v)", "F.nll_loss(a, j, weight=v.detach().double())"),
)

nll_loss2d_backward = operator(
    "nll_loss2d_backward" + _BACKWARD,
    node="NllLoss2DBackwardBackward0",
    where="hidden",
    dtype=lambda grad_output, self, *rest: self.dtype,
    forward=_nll_backward,
    grad_output=lambda grad, target, weight, reduction, ignore_index: nll_loss2d(
        grad, target, weight, reduction, ignore_index
    )[0],
    self=lambda grad: zeros_as(grad),
    jacobian="selection",
    doc="The same for images: a target class at each place.",
    samples=(
        "torch.autograd.grad(F.nll_loss(x.reshape(1, 3, 1, 2), "
        "torch.zeros(1, 1, 2, dtype=torch.int64)), x, create_graph=True)[0]",
    ),
)

nll_loss2d = operator(
    "nll_loss2d_forward" + _FORWARD,
    node="NllLoss2DBackward0",
    role="of logarithms",
    where="hidden",
    undifferentiable="total_weight",
    layout="row-major",
    forward=_nll_forward,
    reduced=_NLL_REDUCED,
    self=lambda grads, self, target, weight, reduction, ignore_index, total_weight: (
        nll_loss2d_backward(grads[0], self, target, weight, reduction, ignore_index, total_weight)
    ),
    check=_check_nll2d,
    refuse=floating_only("nll_loss2d_forward_out_frame"),
    jacobian="selection",
    doc="nll_loss with a target class at each place of an image.",
    samples=("F.nll_loss(x.reshape(1, 3, 1, 2), torch.zeros(1, 1, 2, dtype=torch.int64))",),
)


def nll_loss_nd(self: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> Any:
    """nll_loss over any number of dimensions, as PyTorch reshapes them."""
    if self.ndim < 1:
        raise ValueError(f"Expected 1 or more dimensions (got {self.ndim})")
    if self.ndim != 1 and (target.ndim == 0 or self.shape[0] != target.shape[0]):
        batch = target.shape[0] if target.ndim else 0
        raise ValueError(
            f"Expected input batch_size ({self.shape[0]}) to match target batch_size ({batch})."
        )
    if self.ndim in (1, 2):
        return nll_loss(self, target, weight, reduction, ignore_index)[0]
    if self.ndim == 4:
        return nll_loss2d(self, target, weight, reduction, ignore_index)[0]
    n, c, *rest = self.shape
    if list(target.shape[1:]) != rest:
        raise RuntimeError(f"Expected target size {[n, *rest]}, got {list(target.shape)}")
    flat = self.contiguous().view([n, c, 1, -1])
    places = target.contiguous().view([n, 1, -1])
    loss = nll_loss2d(flat, places, weight, reduction, ignore_index)[0]
    return loss.view([n, *rest]) if reduction == NONE else loss


# ---- margins between classes


def _margins(xp: Any, x: Any, target: Any, margin: float) -> tuple[Any, Any, Any, Any]:
    rows = x.reshape(-1, x.shape[-1] if x.ndim else 1)
    places = target.reshape(-1)
    if bool(((places < 0) | (places >= rows.shape[1])).any()):
        raise RuntimeError("target out of range")
    own = xp.take_along_axis(rows, places[:, None], 1)
    others = xp.arange(rows.shape[1])[None, :] != places[:, None]
    z = margin - own + rows
    return rows, places, others & (z > 0), z


def _multi_margin(
    xp: Any, x: Any, target: Any, p: int, margin: float, weight: Any, reduction: int
) -> Any:
    rows, places, active, z = _margins(xp, x, target, margin)
    h = xp.where(active, z if p == 1 else z * z, xp.zeros_like(z))
    h = h if weight is None else h * weight[places][:, None]
    loss = h.sum(axis=1) / rows.shape[1]
    if reduction == NONE:
        return loss.reshape(target.shape)
    return loss.mean() if reduction == MEAN else loss.sum()


def _multi_margin_backward(
    xp: Any, grad: Any, x: Any, target: Any, p: int, margin: float, weight: Any, reduction: int
) -> Any:
    rows, places, active, z = _margins(xp, x, target, margin)
    count = rows.shape[1] * (rows.shape[0] if reduction == MEAN else 1)
    h = (xp.ones_like(z) if p == 1 else 2 * z) / count
    h = xp.where(active, h if weight is None else h * weight[places][:, None], xp.zeros_like(z))
    own = 0 - h.sum(axis=1, keepdims=True)
    others = xp.arange(rows.shape[1])[None, :] != places[:, None]
    slope = xp.where(others, h, own)
    scale = grad.reshape(-1, 1) if reduction == NONE else grad
    return (slope * scale).reshape(x.shape)


multi_margin_loss_backward = operator(
    "multi_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, Scalar p, "
    "Scalar margin, Tensor? weight=None, int reduction=1) -> Tensor",
    node="torch::autograd::NotImplemented",
    where="hidden",
    dtype=lambda grad_output, self, *rest: self.dtype,
    forward=_multi_margin_backward,
    doc="The gradient of multi_margin_loss.",
    samples=("torch.autograd.grad(F.multi_margin_loss(a, j), a)[0]",),
)


def _check_multi_margin(
    self: Any, target: Any, p: Any, margin: Any, weight: Any, reduction: int
) -> None:
    constant("multi_margin_loss", weight=weight)
    count = self.shape[0] if self.ndim == 2 else 1
    if self.ndim > 2 or (self.ndim and not self.shape[-1]):
        raise RuntimeError(
            "Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{sizes_text(self.shape)}"
        )
    if target.ndim > 1 or target.numel() != count:
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input "
            f"samples (batch size). Expected target size [{count}], but got {list(target.shape)}. "
            f"Input has shape {list(self.shape)}."
        )
    if weight is not None and tuple(weight.shape) != (self.shape[-1] if self.ndim else 1,):
        size = self.shape[-1] if self.ndim else 1
        raise RuntimeError(
            f"inconsistent weight size, expected {size} but got {list(weight.shape)}"
        )
    if target.dtype.name != "int64":
        raise RuntimeError(f"expected scalar type Long but found {target.dtype.word}")


_MULTI_MARGIN = "multi_margin_loss_cpu_kernel"

multi_margin_loss = operator(
    "multi_margin_loss.kernel(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, "
    "Tensor? weight=None, int reduction=1) -> Tensor",
    node="MultiMarginLossBackward0",
    where="hidden",
    forward=_multi_margin,
    self=lambda grad, self, target, p, margin, weight, reduction: multi_margin_loss_backward(
        grad, self, target, p, margin, weight, reduction
    ),
    check=_check_multi_margin,
    refuse=floating_only(_MULTI_MARGIN) | full_precision(_MULTI_MARGIN),
    doc="How far each other class reaches into the margin below the target's class.",
    samples=("F.multi_margin_loss(a, j)",),
)


def _label_matrix(x: Any) -> Any:
    return x.reshape(-1, x.shape[-1] if x.ndim else 1)


def _label_rows(xp: Any, x: Any, target: Any) -> tuple[Any, Any]:
    """For each row the listed labels (up to the first -1), and which classes they are."""
    rows, labels = _label_matrix(x), _label_matrix(target)
    listed = xp.cumsum(labels < 0, axis=1) == 0
    marks = xp.zeros(rows.shape, dtype=bool)
    where_row, where_column = xp.nonzero(listed)
    marks[where_row, labels[where_row, where_column]] = True
    return listed, marks


def _multilabel_margin(xp: Any, x: Any, target: Any, reduction: int) -> tuple[Any, Any]:
    listed, marks = _label_rows(xp, x, target)
    rows, labels = _label_matrix(x), _label_matrix(target)
    own = xp.take_along_axis(rows, xp.where(listed, labels, 0), 1)
    z = 1 - own[:, :, None] + rows[:, None, :]
    h = xp.where(listed[:, :, None] & ~marks[:, None, :] & (z > 0), z, xp.zeros_like(z))
    loss = h.sum(axis=(1, 2)) / rows.shape[1]
    is_target = marks.astype(x.dtype).reshape(target.shape)
    if reduction == NONE:
        return loss.reshape(x.shape[:-1]), is_target
    return (loss.mean() if reduction == MEAN else loss.sum()), is_target


def _multilabel_margin_backward(
    xp: Any, grad: Any, x: Any, target: Any, reduction: int, is_target: Any
) -> Any:
    listed, marks = _label_rows(xp, x, target)
    rows, labels = _label_matrix(x), _label_matrix(target)
    places = xp.where(listed, labels, 0)
    own = xp.take_along_axis(rows, places, 1)
    z = 1 - own[:, :, None] + rows[:, None, :]
    active = (listed[:, :, None] & ~marks[:, None, :] & (z > 0)).astype(x.dtype)
    active = active / (rows.shape[1] * (rows.shape[0] if reduction == MEAN else 1))
    slope = active.sum(axis=1)
    number = xp.broadcast_to(xp.arange(rows.shape[0])[:, None], places.shape)
    xp.add.at(slope, (number, places), -active.sum(axis=2))
    scale = grad.reshape(-1, 1) if reduction == NONE else grad
    return (slope * scale).reshape(x.shape)


multilabel_margin_loss_backward = operator(
    "multilabel_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, "
    "int reduction, Tensor is_target) -> Tensor",
    node="torch::autograd::NotImplemented",
    where="hidden",
    dtype=lambda grad_output, self, *rest: self.dtype,
    forward=_multilabel_margin_backward,
    doc="The gradient of multilabel_margin_loss.",
    samples=("torch.autograd.grad(F.multilabel_margin_loss(a, i[:, :3].repeat(2, 1)[:3]), a)[0]",),
)


def _check_multilabel_margin(self: Any, target: Any, reduction: int) -> None:
    sizes = list(self.shape)
    if self.ndim > 2 or (self.ndim and not self.shape[-1]):
        raise RuntimeError(
            "Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{sizes_text(self.shape)}"
        )
    alone = self.ndim < 2 and target.ndim < 2 and self.numel() == target.numel()
    if not alone and sizes != list(target.shape):
        raise RuntimeError(
            f"inconsistent target size: {list(target.shape)} for input of size: {sizes}"
        )
    if target.dtype.word != "Long":
        raise RuntimeError(f"expected scalar type Long but found {target.dtype.word}")
    labels = target._data
    if labels.size and not (labels.min() >= -1 and labels.max() < (sizes or [1])[-1]):
        raise RuntimeError("argument #2 'target' is out of range")
    if target.dtype.name != "int64":
        raise RuntimeError(f"expected scalar type Long but found {target.dtype.word}")


multilabel_margin_loss = operator(
    "multilabel_margin_loss_forward(Tensor self, Tensor target, int reduction) "
    "-> (Tensor output, Tensor is_target)",
    node="MultilabelMarginLossBackward0",
    where="hidden",
    undifferentiable="is_target",
    check=_check_multilabel_margin,
    refuse=unimplemented(
        "multilabel_margin_loss_forward_out_frame", *INTEGERS, "Bool", *REDUCED, *COMPLEX
    ),
    forward=_multilabel_margin,
    self=lambda grads, self, target, reduction, is_target: multilabel_margin_loss_backward(
        grads[0], self, target, reduction, is_target
    ),
    doc="How far the other classes reach into the margin below each listed class.",
    samples=("F.multilabel_margin_loss(v, j)",),
)
