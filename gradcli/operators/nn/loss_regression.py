"""Operators: losses between two tensors of numbers: squares, absolute values, what lies between."""

from __future__ import annotations

from typing import Any

from ...engine.schema.dtypes import can_cast
from ...engine.schema.operator import Reduced, operator
from ...engine.tensors.conversion import MEAN, NONE, SUM
from ...numerics import reduced_kernels as halves
from ...numerics.rounding import precise
from ...numerics.summation import mean_of, sum_of
from ..conventions import Late, chosen, floating_only
from ..elementwise.arithmetic import NEGATED_BOOL, abs_
from ..reduce.sums import sum_all
from ..shape.constants import ones_as

exp = Late("exp")


def reduce_array(xp: Any, loss: Any, reduction: int) -> Any:
    """The loss of every element, reduced to its mean or sum, inside a kernel."""
    if reduction == MEAN:
        return mean_of(xp, loss, None, False, None)
    return sum_of(xp, loss, None, False, None) if reduction == SUM else loss


def share(x: Any, reduction: int) -> float:
    """What one element weighs: a mean divides by their number."""
    return 1.0 / x.size if reduction == MEAN and x.size else 1.0


def averaged(grad: Any, x: Any, reduction: int) -> Any:
    """A gradient divided by the number of elements where the loss was their mean."""
    return grad / number_of(x) if reduction == MEAN else grad


def number_of(x: Any) -> int:
    count = 1
    for size in x.shape:
        count *= size
    return count


def same_type(expected: Any, found: Any) -> None:
    if found is not expected:
        raise RuntimeError(f"Found dtype {found.word} but expected {expected.word}")


# ---- mse_loss


def _mse_double(grad: Any, self: Any, reduction: int) -> Any:
    return averaged(2.0 * grad, self, reduction)


mse_loss_backward = operator(
    "mse_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor",
    node="MseLossBackwardBackward0",
    where="hidden",
    dtype="of:self",
    forward=lambda xp, grad_output, self, target, reduction: (
        2.0 * share(self, reduction) * (self - target) * grad_output
    ),
    reduced=Reduced(halves.squared_error_slope),
    grad_output=lambda grad, self, target, reduction: mse_loss_backward(
        grad, self, target, reduction
    ),
    self=lambda grad, grad_output, self, reduction: _mse_double(
        grad * grad_output, self, reduction
    ),
    target=lambda grad, grad_output, target, reduction: (
        -_mse_double(grad * grad_output, target, reduction)
    ),
    jacobian="mean",
    doc="The gradient of the squared error.",
    samples=("torch.autograd.grad(F.mse_loss(x, y), (x, y), create_graph=True)",),
)

mse_loss = operator(
    "mse_loss.kernel(Tensor self, Tensor target, int reduction=1) -> Tensor",
    node="MseLossBackward0",
    role="compares",
    where="hidden",
    dtype="promote",
    forward=lambda xp, self, target, reduction: reduce_array(
        xp, (self - target) * (self - target), reduction
    ),
    reduced=Reduced(halves.squared_error),
    self=lambda grad, self, target, reduction: mse_loss_backward(grad, self, target, reduction),
    target=lambda grad, self, target, reduction: mse_loss_backward(grad, target, self, reduction),
    refuse=floating_only("mse_cpu"),
    jacobian="mean",
    doc="Mean squared error; or the sum of the squared differences, or each of them.",
    computes="((self - target)**2).mean()",
    samples=(
        "F.mse_loss(x, y)",
        "F.mse_loss(x, d)",
        "F.mse_loss(d, x, reduction='sum')",
        "F.mse_loss(x, i)",
    ),
)

# ---- smooth_l1_loss


def _smooth_l1(xp: Any, x: Any, target: Any, reduction: int, beta: float) -> Any:
    z = abs(x - target)
    near, far = 0.5 * z * z / beta, z - 0.5 * beta
    return reduce_array(xp, chosen(xp, z < beta, near, far), reduction)


def _smooth_l1_backward(
    xp: Any, grad: Any, x: Any, target: Any, reduction: int, beta: float
) -> Any:
    norm, d = share(x, reduction), x - target
    return _between(xp, d, beta, norm * d * grad / beta, norm * grad)


def _between(xp: Any, d: Any, bound: float, inside: Any, outside: Any) -> Any:
    """The slope of a square between the bounds, the one of a line outside of them."""
    outside = xp.broadcast_to(outside, d.shape)
    return chosen(xp, d <= -bound, -outside, chosen(xp, d >= bound, outside, inside))


def _smooth_l1_double(grad: Any, self: Any, target: Any, reduction: int, beta: float) -> Any:
    inside = grad * (abs_(self - target) < beta) / beta
    return averaged(inside, self, reduction)


smooth_l1_loss_backward = operator(
    "smooth_l1_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, "
    "float beta) -> Tensor",
    node="SmoothL1LossBackwardBackward0",
    where="hidden",
    dtype="of:self",
    forward=_smooth_l1_backward,
    grad_output=lambda grad, self, target, reduction, beta: smooth_l1_loss_backward(
        grad, self, target, reduction, beta
    ),
    self=lambda grad, grad_output, self, target, reduction, beta: _smooth_l1_double(
        grad * grad_output, self, target, reduction, beta
    ),
    target=lambda grad, grad_output, self, target, reduction, beta: (
        -_smooth_l1_double(grad * grad_output, self, target, reduction, beta)
    ),
    jacobian="mean",
    doc="The gradient of smooth_l1_loss.",
    samples=("torch.autograd.grad(F.smooth_l1_loss(x, y), (x, y), create_graph=True)",),
)

smooth_l1_loss = operator(
    "smooth_l1_loss.kernel(Tensor self, Tensor target, int reduction=1, float beta=1.0) -> Tensor",
    node="SmoothL1LossBackward0",
    role="compares",
    where="hidden",
    dtype="promote",
    forward=_smooth_l1,
    reduced=Reduced(halves.smooth_error),
    self=lambda grad, self, target, reduction, beta: smooth_l1_loss_backward(
        grad, self, target, reduction, beta
    ),
    target=lambda grad, self, target, reduction, beta: smooth_l1_loss_backward(
        grad, target, self, reduction, beta
    ),
    refuse=floating_only("smooth_l1_cpu"),
    jacobian="mean",
    doc="Half a square below beta, the absolute difference above.",
    computes="where(abs(self - target) < beta, (self - target)**2/(2*beta), abs(self - target) - "
    "beta/2).mean()",
    samples=("F.smooth_l1_loss(x, y)", "F.smooth_l1_loss(d, y)"),
)

# ---- huber_loss


def _huber(xp: Any, x: Any, target: Any, reduction: int, delta: float) -> Any:
    z = abs(x - target)
    near, far = 0.5 * z * z, delta * (z - 0.5 * delta)
    return reduce_array(xp, chosen(xp, z <= delta, near, far), reduction)


def _huber_backward(xp: Any, grad: Any, x: Any, target: Any, reduction: int, delta: float) -> Any:
    norm, d = share(x, reduction), x - target
    return _between(xp, d, delta, norm * d * grad, norm * grad * delta)


def _huber_double(grad: Any, self: Any, target: Any, reduction: int, delta: float) -> Any:
    return averaged(grad * (abs_(self - target) < delta), self, reduction)


def _huber_double_grad_output(
    grad: Any, grad_output: Any, self: Any, target: Any, reduction: int, delta: float
) -> Any:
    if reduction == NONE:
        return huber_loss_backward(grad, self, target, reduction, delta)
    ones = ones_as(grad_output)
    return sum_all(huber_loss_backward(ones, self, target, reduction, delta) * grad)


huber_loss_backward = operator(
    "huber_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, "
    "float delta) -> Tensor",
    node="HuberLossBackwardBackward0",
    where="hidden",
    dtype="of:self",
    forward=_huber_backward,
    reduced=Reduced(halves.huber_slope),
    grad_output=lambda grad, grad_output, self, target, reduction, delta: _huber_double_grad_output(
        grad, grad_output, self, target, reduction, delta
    ),
    self=lambda grad, grad_output, self, target, reduction, delta: _huber_double(
        grad * grad_output, self, target, reduction, delta
    ),
    target=lambda grad, grad_output, self, target, reduction, delta: (
        -_huber_double(grad * grad_output, self, target, reduction, delta)
    ),
    jacobian="mean",
    doc="The gradient of huber_loss.",
    samples=("torch.autograd.grad(F.huber_loss(x, y), (x, y), create_graph=True)",),
)


def _huber_slope(
    grad: Any, x: Any, other: Any, reduction: int, delta: float, kind: Any, other_kind: Any
) -> Any:
    same_type(kind.dtype, other_kind.dtype)
    return huber_loss_backward(grad, x, other, reduction, delta)


def _check_delta(self: Any, target: Any, reduction: int, delta: float) -> None:
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    if self.dtype is not target.dtype:
        from ...engine.tensors.promotion import result_dtype

        common = result_dtype(self, target)
        if not can_cast(common, self.dtype):
            raise RuntimeError(
                f"result type {common.word} can't be cast to the desired output type "
                f"{self.dtype.word}"
            )


huber_loss = operator(
    "huber_loss.kernel(Tensor self, Tensor target, int reduction=1, float delta=1.0) -> Tensor",
    node="HuberLossBackward0",
    role="compares",
    where="hidden",
    dtype="of:self",
    forward=_huber,
    reduced=Reduced(halves.huber),
    self=lambda grad, self, target, reduction, delta, self_kind, target_kind: _huber_slope(
        grad, self, target, reduction, delta, self_kind, target_kind
    ),
    target=lambda grad, self, target, reduction, delta, self_kind, target_kind: _huber_slope(
        grad, target, self, reduction, delta, target_kind, self_kind
    ),
    check=_check_delta,
    refuse=floating_only("huber_cpu"),
    jacobian="mean",
    doc="Half a square below delta, delta times the rest above.",
    computes="where(abs(self - target) < delta, (self - target)**2/2, delta*(abs(self - target) - "
    "delta/2)).mean()",
    samples=("F.huber_loss(x, y)", "F.huber_loss(x, d).detach()", "F.huber_loss(d, x).detach()"),
    errors=("F.huber_loss(x, d).backward()", "F.huber_loss(x, i).backward()", "F.huber_loss(i, x)"),
)

# ---- soft_margin_loss


def _soft_margin(xp: Any, x: Any, target: Any, reduction: int) -> Any:
    return reduce_array(xp, precise(xp.log1p, precise(xp.exp, -x * target)), reduction)


def _soft_margin_backward(xp: Any, grad: Any, x: Any, target: Any, reduction: int) -> Any:
    z = precise(xp.exp, -target * x)
    return target * z * -share(x, reduction) / (z + 1) * grad


def _soft_margin_double(grad: Any, self: Any, target: Any, reduction: int) -> Any:
    z = exp(self * -target)
    above = z + 1
    return averaged(grad * (target * target) * z / (above * above), self, reduction)


def _soft_margin_double_grad_output(
    grad: Any, grad_output: Any, self: Any, target: Any, reduction: int
) -> Any:
    if reduction == NONE:
        return soft_margin_loss_backward(grad, self, target, reduction)
    ones = ones_as(grad_output)
    return sum_all(soft_margin_loss_backward(ones, self, target, reduction) * grad)


soft_margin_loss_backward = operator(
    "soft_margin_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) "
    "-> Tensor",
    node="SoftMarginLossBackwardBackward0",
    where="hidden",
    dtype="of:self",
    forward=_soft_margin_backward,
    reduced=Reduced(halves.soft_margin_slope),
    grad_output=lambda grad, grad_output, self, target, reduction: _soft_margin_double_grad_output(
        grad, grad_output, self, target, reduction
    ),
    self=lambda grad, grad_output, self, target, reduction: _soft_margin_double(
        grad * grad_output, self, target, reduction
    ),
    doc="The gradient of soft_margin_loss.",
    samples=(
        "torch.autograd.grad(F.soft_margin_loss(x, y.detach().sign()), x, create_graph=True)",
    ),
)


def _soft_margin_slope(grad: Any, self: Any, target: Any, reduction: int, kind: Any) -> Any:
    if kind.dtype.word == "Bool":
        raise RuntimeError(NEGATED_BOOL)
    return soft_margin_loss_backward(grad, self, target, reduction)


def _check_soft(self: Any, target: Any) -> None:
    if self.dtype.word == "Bool":
        raise RuntimeError(NEGATED_BOOL)
    if self.dtype.category < 2:
        raise RuntimeError(
            f"result type Float can't be cast to the desired output type {self.dtype.word}"
        )
    if target.dtype.is_complex and not self.dtype.is_complex:
        raise RuntimeError(
            f"result type {target.dtype.word} can't be cast to the desired output type "
            f"{self.dtype.word}"
        )


soft_margin_loss = operator(
    "soft_margin_loss.kernel(Tensor self, Tensor target, int reduction=1) -> Tensor",
    node="SoftMarginLossBackward0",
    where="hidden",
    dtype="of:self",
    check=lambda self, target, reduction: _check_soft(self, target),
    forward=_soft_margin,
    reduced=Reduced(halves.soft_margin),
    self=lambda grad, self, target, reduction, target_kind: _soft_margin_slope(
        grad, self, target, reduction, target_kind
    ),
    jacobian="mean",
    doc="log(1 + exp(-target * self)).",
    computes="log(1 + exp(-target*self)).mean()",
    samples=("F.soft_margin_loss(x, y.detach().sign())", "F.soft_margin_loss(x, y.data.double())"),
    errors=("F.soft_margin_loss(x, y)", "F.soft_margin_loss(x, k).backward()"),
)
