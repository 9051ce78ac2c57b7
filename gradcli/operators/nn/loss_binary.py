"""Operators: losses of probabilities and logits against targets between 0 and 1."""

from __future__ import annotations

from typing import Any

from ...engine.schema.operator import Reduced, operator
from ...numerics.reduced_kernels import binary_entropy, binary_entropy_slope, logits_entropy
from ...numerics.rounding import precise
from ...numerics.thresholds import LOGS
from ..conventions import Late, constant, floating_only
from ..elementwise.activation_smooth import log_sigmoid_forward, log_sigmoid_in_kernel
from ..elementwise.arithmetic import TWO_BOOLS
from ..shape.constants import number_as
from .loss_regression import averaged, reduce_array, same_type, share

logit = Late("logit")
sigmoid = Late("sigmoid")

EPSILON = 1e-12

# ---- binary_cross_entropy


def _logs(xp: Any, x: Any) -> tuple[Any, Any]:
    """log(x) and log(1 - x), for x from 0 to 1.

    PyTorch keeps them above -100, so that 0 and 1 give finite losses.
    """
    if x.dtype.char != "f" or x.size > LOGS or xp.__name__ != "numpy":
        of_rest, of_x = precise(xp.log1p, -x), precise(xp.log, x)
    else:
        from ...numerics import c_library  # which the catalogue is read without

        of_rest, of_x = c_library.log_of_rest(x), c_library.log(x)
    return xp.maximum(of_x, -100), xp.maximum(of_rest, -100)


def _in_unit(x: Any, name: str) -> None:
    if not bool(((x >= 0) & (x <= 1)).all()):
        raise RuntimeError(f"all elements of {name} should be between 0 and 1")


def _bce(xp: Any, x: Any, target: Any, weight: Any, reduction: int) -> Any:
    _in_unit(x, "input")
    _in_unit(target, "target")
    of_x, of_rest = _logs(xp, x)
    loss = (target - 1) * of_rest - target * of_x
    return reduce_array(xp, loss if weight is None else loss * weight, reduction)


def _bce_backward(xp: Any, grad: Any, x: Any, target: Any, weight: Any, reduction: int) -> Any:
    result = grad * (x - target) / xp.maximum((1 - x) * x, EPSILON)
    result = result if weight is None else result * weight
    return result / x.size if share(x, reduction) != 1.0 else result


def _weighted(grad: Any, weight: Any, x: Any, reduction: int) -> Any:
    return averaged(grad if weight is None else grad * weight, x, reduction)


def _bce_target(grad: Any, self: Any, target: Any, weight: Any, reduction: int) -> Any:
    return _weighted(-logit(self, None) * grad, weight, target, reduction)


def _bce_double(
    grad_output: Any, grad: Any, self: Any, target: Any, weight: Any, reduction: int
) -> Any:
    above = self + EPSILON
    below = number_as(self, 1) - self + EPSILON
    slope = (self * self - 2 * self * target + target) / (above**2 * below**2)
    return _weighted(slope * (grad * grad_output), weight, self, reduction)


def _bce_double_target(grad: Any, grad_output: Any, self: Any, weight: Any, reduction: int) -> Any:
    slope = (-grad * grad_output) / ((number_as(self, 1) - self) * self)
    return _weighted(slope, weight, self, reduction)


def _bce_double_grad_output(grad: Any, self: Any, target: Any, weight: Any, reduction: int) -> Any:
    spread = (self + EPSILON) * (number_as(self, 1) - self + EPSILON)
    return _weighted((self - target) / spread * grad, weight, self, reduction)


binary_cross_entropy_backward = operator(
    "binary_cross_entropy_backward(Tensor grad_output, Tensor self, Tensor target, "
    "Tensor? weight=None, int reduction=1) -> Tensor",
    node="BinaryCrossEntropyBackwardBackward0",
    where="hidden",
    dtype="of:self",
    forward=_bce_backward,
    reduced=Reduced(binary_entropy_slope),
    grad_output=lambda grad, self, target, weight, reduction: _bce_double_grad_output(
        grad, self, target, weight, reduction
    ),
    self=lambda grad, grad_output, self, target, weight, reduction: _bce_double(
        grad_output, grad, self, target, weight, reduction
    ),
    target=lambda grad, grad_output, self, weight, reduction: _bce_double_target(
        grad, grad_output, self, weight, reduction
    ),
    jacobian="mean",
    doc="The gradient of binary_cross_entropy with respect to the probabilities.",
    samples=(
        "torch.autograd.grad(F.binary_cross_entropy(torch.sigmoid(x), torch.sigmoid(y)), x, "
        "create_graph=True)[0]",
    ),
)


def _check_bce(self: Any, target: Any, weight: Any, reduction: int) -> None:
    constant("binary_cross_entropy", weight=weight)
    same_type(self.dtype, target.dtype)


binary_cross_entropy = operator(
    "binary_cross_entropy.kernel(Tensor self, Tensor target, Tensor? weight=None, "
    "int reduction=1) -> Tensor",
    node="BinaryCrossEntropyBackward0",
    where="hidden",
    dtype="of:self",
    forward=_bce,
    reduced=Reduced(binary_entropy),
    self=lambda grad, self, target, weight, reduction: binary_cross_entropy_backward(
        grad, self, target, weight, reduction
    ),
    target=lambda grad, self, target, weight, reduction: _bce_target(
        grad, self, target, weight, reduction
    ),
    check=_check_bce,
    refuse=floating_only("binary_cross_entropy"),
    jacobian="mean",
    doc="-(target * log(self) + (1 - target) * log(1 - self)), the logarithms kept above -100.",
    computes="-(target*log(self) + (1 - target)*log(1 - self)).mean()",
    samples=(
        "F.binary_cross_entropy(torch.sigmoid(x), torch.sigmoid(y))",
        "F.binary_cross_entropy(p / 2, u.data.abs(), weight=d.data)",
    ),
    errors=(
        "F.binary_cross_entropy(p / 2, u.data.abs().double())",
        "F.binary_cross_entropy(p / 2, u.data.abs(), weight=q)",
    ),
)

# ---- binary_cross_entropy_with_logits


def _bce_logits(xp: Any, x: Any, target: Any, weight: Any, pos_weight: Any, reduction: int) -> Any:
    log_sigmoid = log_sigmoid_in_kernel(xp, x)[0]
    if pos_weight is not None:
        log_sigmoid = log_sigmoid * ((pos_weight - 1) * target + 1)
    loss = (1 - target) * x - log_sigmoid
    return reduce_array(xp, loss if weight is None else loss * weight, reduction)


def _bce_logits_backward(
    grad: Any, self: Any, target: Any, weight: Any, pos_weight: Any, reduction: int
) -> Any:
    if pos_weight is None:
        slope = (sigmoid(self) - target) * grad
    else:
        t = pos_weight * target
        slope = ((t + 1 - target) * sigmoid(self) - t) * grad
    return _weighted(slope, weight, self, reduction)


def _bce_logits_target(
    grad: Any, self: Any, target: Any, weight: Any, pos_weight: Any, reduction: int
) -> Any:
    if pos_weight is None:
        slope = -self * grad
    else:
        slope = (log_sigmoid_forward(-self)[0] - log_sigmoid_forward(self)[0] * pos_weight) * grad
    return _weighted(slope, weight, target, reduction)


_NO_LOGITS = floating_only("log_sigmoid_cpu")


def _check_logits(self: Any, target: Any, weight: Any, pos_weight: Any, reduction: int) -> None:
    """PyTorch multiplies 1 - target by the input in place: the result has the target's type."""
    constant("binary_cross_entropy_with_logits", weight=weight, pos_weight=pos_weight)
    if (word := self.dtype.word) in _NO_LOGITS:
        error, text = _NO_LOGITS[word]
        raise error(text)
    if target.dtype.word == "Bool":
        raise RuntimeError(TWO_BOOLS)
    if self.is_floating_point() and not target.is_floating_point():
        raise RuntimeError(
            f"result type {self.dtype.word} can't be cast to the desired output type "
            f"{target.dtype.word}"
        )


binary_cross_entropy_with_logits = operator(
    "binary_cross_entropy_with_logits.kernel(Tensor self, Tensor target, Tensor? weight=None, "
    "Tensor? pos_weight=None, int reduction=1) -> Tensor",
    node="BinaryCrossEntropyWithLogitsBackward0",
    role="of scores",
    where="hidden",
    dtype="of:target",
    forward=_bce_logits,
    reduced=Reduced(logits_entropy),
    self=lambda grad, self, target, weight, pos_weight, reduction: _bce_logits_backward(
        grad, self, target, weight, pos_weight, reduction
    ),
    target=lambda grad, self, target, weight, pos_weight, reduction: _bce_logits_target(
        grad, self, target, weight, pos_weight, reduction
    ),
    check=_check_logits,
    refuse=_NO_LOGITS,
    jacobian="mean",
    doc="binary_cross_entropy of sigmoid(self), computed from the logits themselves.",
    computes="-(target*log(sigmoid(self)) + (1 - target)*log(1 - sigmoid(self))).mean()",
    samples=(
        "F.binary_cross_entropy_with_logits(x, torch.sigmoid(y))",
        "F.binary_cross_entropy_with_logits(x, torch.sigmoid(y), pos_weight=torch.ones(3))",
        "F.binary_cross_entropy_with_logits(x, d.data).type()",
        "F.binary_cross_entropy_with_logits(d, p.data)",
    ),
    errors=(
        "F.binary_cross_entropy_with_logits(x, i)",
        "F.binary_cross_entropy_with_logits(x, k)",
        "F.binary_cross_entropy_with_logits(x, p.data, pos_weight=v)",
    ),
)
