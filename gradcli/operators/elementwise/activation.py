"""Operators: activations that are a kernel each, with their first and second derivatives."""

from __future__ import annotations

from typing import Any

from ...engine.schema.operator import composite, operator
from ...numerics.rounding import exp_in_kernel, precise
from ..conventions import (
    NO_COMPLEX_LIMITS,
    Late,
    chosen,
    cleared,
    floating_only,
    not_bool,
    real_only,
)
from ..shape.constants import zeros_as

where = Late("where.self")
logical_and = Late("logical_and")

# ---- rectifiers

threshold_backward = operator(
    "threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor",
    node="ThresholdBackwardBackward0",
    where="hidden",
    forward=lambda xp, grad_output, self, threshold: cleared(xp, grad_output, self <= threshold),
    grad_output=lambda grad, self, threshold: threshold_backward(grad, self, threshold),
    self=lambda grad: zeros_as(grad),
    acts="pointwise",
    zero="rectifies",
    doc="The gradient where self is above the threshold, zero elsewhere.",
    samples=("torch.autograd.grad(torch.relu(x), x, y, create_graph=True)[0]",),
)

relu = operator(
    "relu(Tensor self) -> Tensor",
    node="ReluBackward0",
    inplace="relu_",
    forward=lambda xp, self: cleared(xp, self, self < 0),
    self=lambda grad, result: threshold_backward(grad, result, 0),
    refuse=not_bool("Boolean inputs not supported for relu") | NO_COMPLEX_LIMITS,
    zero="rectifies",
    smooth="torch.nn.functional.leaky_relu(self)",
    doc="Rectified linear unit: max(self, 0), elementwise; the gradient at 0 is 0.",
    computes="maximum(self, 0)",
    corners=("tensor([0., math.nan]).relu()",),
    samples=("torch.relu(x)", "x.relu()", "F.relu(x)", "torch.relu(i)"),
    errors=("torch.relu(1.0)", "torch.relu(k)"),
)

threshold = operator(
    "threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor",
    node="ThresholdBackward0",
    inplace="threshold_",
    overlap="allowed",
    inplace_node="ThresholdBackward1",
    where="torch",
    forward=lambda xp, self, threshold, value: xp.where(
        self <= threshold, self.dtype.type(value), self
    ),
    self=lambda grad, self, threshold: threshold_backward(grad, self, threshold),
    refuse={"Bool": (NotImplementedError, "\"threshold_cpu\" not implemented for 'Bool'")}
    | real_only("threshold_cpu"),
    zero="rectifies",
    doc="self where it is above the threshold, the given value elsewhere.",
    computes="where(self > threshold, self, value)",
    corners=("F.threshold(tensor([1., 2.]), 1., 5.)",),
    samples=("torch.threshold(x, 0.1, 2.0)", "F.threshold(x, 0.1, 2.0)"),
    errors=("torch.threshold(x)",),
)


def _leaky_relu(xp: Any, x: Any, negative_slope: float) -> Any:
    return chosen(xp, x > 0, x, x * negative_slope)


leaky_relu_backward = operator(
    "leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope, "
    "bool self_is_result) -> Tensor",
    node="LeakyReluBackwardBackward0",
    where="hidden",
    forward=lambda xp, grad_output, self, negative_slope, self_is_result: chosen(
        xp, self > 0, grad_output, grad_output * negative_slope
    ),
    grad_output=lambda grad, self, negative_slope: leaky_relu_backward(
        grad, self, negative_slope, False
    ),
    self=lambda grad: zeros_as(grad),
    acts="pointwise",
    zero="leaks",
    doc="The gradient, times the negative slope where self is not above zero.",
    samples=("torch.autograd.grad(F.leaky_relu(x), x, y, create_graph=True)[0]",),
)

leaky_relu = operator(
    "leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor",
    node="LeakyReluBackward0",
    where="hidden",
    forward=_leaky_relu,
    self=lambda grad, self, negative_slope: leaky_relu_backward(grad, self, negative_slope, False),
    refuse=floating_only("leaky_relu_cpu"),
    acts="pointwise",
    zero="leaks",
    doc="Leaky ReLU: self above zero, negative_slope * self below; the gradient at 0 is the slope.",
    computes="where(self > 0, self, negative_slope*self)",
    corners=("F.leaky_relu(tensor(0.), 0.25)",),
    samples=("F.leaky_relu(x)", "F.leaky_relu(x, 0.2)"),
    errors=("F.leaky_relu(1.0)", "F.leaky_relu(i)"),
)

# In place the input is gone: the gradient is computed from the result, which has its signs.
operator(
    "_leaky_relu_result(Tensor self, Scalar negative_slope) -> Tensor",
    node="LeakyReluBackward1",
    where="hidden",
    inplace="leaky_relu_",
    forward=_leaky_relu,
    self=lambda grad, result, negative_slope: leaky_relu_backward(
        grad, result, negative_slope, True
    ),
    refuse=floating_only("leaky_relu_cpu"),
    zero="leaks",
    doc="leaky_relu with a gradient from its result.",
    samples=("F.leaky_relu(x * 1, 0.2, True)",),
)

# ---- exponential linear units

_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_SCALE = 1.0507009873554804934193349852946


def _elu(xp: Any, x: Any, alpha: float, scale: float, input_scale: float) -> Any:
    below = precise(xp.expm1, x * input_scale) * (alpha * scale)
    return chosen(xp, x < 0, below, x * scale)


def _elu_backward(
    xp: Any, grad: Any, alpha: float, scale: float, input_scale: float, is_result: bool, x: Any
) -> Any:
    if is_result:
        below = grad * input_scale * (x + alpha * scale)
    else:
        below = grad * input_scale * (alpha * scale) * exp_in_kernel(xp, x * input_scale, x)
    return chosen(xp, x <= 0, below, grad * scale)


elu_backward = operator(
    "elu_backward(Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, "
    "bool is_result, Tensor self_or_result) -> Tensor",
    node="EluBackwardBackward0",
    where="hidden",
    forward=_elu_backward,
    grad_output=lambda grad, alpha, scale, input_scale, is_result, self_or_result: elu_backward(
        grad, alpha, scale, input_scale, is_result, self_or_result
    ),
    self_or_result=lambda grad, grad_output, alpha, scale, input_scale, is_result, self_or_result: (
        grad * grad_output * input_scale * (self_or_result < 0)
        if is_result
        else elu_backward(
            grad * grad_output * input_scale, alpha, scale, input_scale, is_result, self_or_result
        )
        * (self_or_result < 0)
    ),
    acts="pointwise",
    zero="saturates",
    doc="The gradient of the exponential linear unit.",
    samples=("torch.autograd.grad(F.elu(x), x, y, create_graph=True)[0]",),
)

elu = operator(
    "elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor",
    node="EluBackward0",
    where="hidden",
    forward=_elu,
    self=lambda grad, self, alpha, scale, input_scale: elu_backward(
        grad, alpha, scale, input_scale, False, self
    ),
    refuse=floating_only("elu_cpu"),
    acts="pointwise",
    zero="saturates",
    doc="self above zero, alpha * (exp(self) - 1) below.",
    computes="where(self > 0, self, alpha*(exp(self) - 1))",
    corners=("F.elu(tensor(0.), 2.)",),
    samples=("F.elu(x)", "F.elu(x, 0.5)"),
    errors=("F.elu(1.0)", "F.elu(i)"),
)


def _check_celu(self: Any, alpha: float) -> None:
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")


celu = operator(
    "celu(Tensor self, Scalar alpha=1.0) -> Tensor",
    node="CeluBackward0",
    where="torch",
    forward=lambda xp, self, alpha: _elu(xp, self, alpha, 1.0, 1.0 / alpha),
    self=lambda grad, self, alpha: elu_backward(grad, alpha, 1, 1.0 / alpha, False, self),
    refuse=floating_only("elu_cpu"),
    acts="pointwise",
    zero="saturates",
    doc="self above zero, alpha * (exp(self / alpha) - 1) below.",
    computes="where(self > 0, self, alpha*(exp(self/alpha) - 1))",
    corners=("F.celu(tensor(0.), 2.)",),
    samples=("torch.celu(x)", "F.celu(x, 0.5)"),
    check=_check_celu,
    errors=("torch.celu(1.0)", "F.celu(x, 0)"),
)

operator(
    "_elu_result(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor",
    node="EluBackward1",
    where="hidden",
    inplace="elu_",
    forward=_elu,
    self=lambda grad, result, alpha, scale, input_scale: elu_backward(
        grad, alpha, scale, input_scale, True, result
    ),
    refuse=floating_only("elu_cpu"),
    zero="saturates",
    doc="elu with a gradient from its result.",
    samples=("F.elu(x * 1, 0.5, True)", "F.selu(x * 1, inplace=True)"),
)

operator(
    "_celu_result(Tensor self, Scalar alpha=1.0) -> Tensor",
    node="CeluBackward1",
    where="hidden",
    inplace="celu_",
    forward=lambda xp, self, alpha: _elu(xp, self, alpha, 1.0, 1.0 / alpha),
    self=lambda grad, result, alpha: elu_backward(grad, alpha, 1, 1.0 / alpha, True, result),
    refuse=floating_only("elu_cpu"),
    zero="saturates",
    doc="celu with a gradient from its result.",
    samples=("F.celu(x * 1, 0.5, True)",),
)

selu = composite(
    "selu(Tensor self) -> Tensor",
    lambda self: elu(self, _SELU_ALPHA, _SELU_SCALE, 1),
    where="torch",
    doc="elu with the alpha and scale that keep mean and variance.",
    computes="1.05070098*where(self > 0, self, 1.67326324*(exp(self) - 1))",
    corners=("F.selu(tensor(0.))",),
    samples=("torch.selu(x)", "F.selu(x)"),
)

# ---- hard activations

hardtanh_backward = operator(
    "hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> Tensor",
    node="HardtanhBackwardBackward0",
    where="hidden",
    forward=lambda xp, grad_output, self, min_val, max_val: cleared(
        xp, grad_output, (self <= min_val) | (self >= max_val)
    ),
    grad_output=lambda grad, self, min_val, max_val: hardtanh_backward(
        grad, self, min_val, max_val
    ),
    self=lambda grad: zeros_as(grad),
    acts="pointwise",
    zero="rectifies",
    doc="The gradient strictly between the bounds, zero elsewhere.",
    samples=("torch.autograd.grad(F.hardtanh(x), x, y, create_graph=True)[0]",),
)


def _check_hardtanh(self: Any, min_val: float, max_val: float) -> None:
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    if self.dtype.word == "Byte" and (min_val < 0 or max_val < 0):
        raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")


hardtanh = operator(
    "hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor",
    node="HardtanhBackward0",
    where="hidden",
    inplace="hardtanh_",
    forward=lambda xp, self, min_val, max_val: xp.minimum(xp.maximum(self, min_val), max_val),
    self=lambda grad, self, min_val, max_val: hardtanh_backward(grad, self, min_val, max_val),
    check=_check_hardtanh,
    refuse=not_bool("Bool inputs not supported for hardtanh") | NO_COMPLEX_LIMITS,
    zero="rectifies",
    doc="self clamped to [min_val, max_val]; the gradient at the bounds is 0.",
    computes="clamp(self, min_val, max_val)",
    corners=("F.hardtanh(tensor([-1., 1.]))",),
    samples=("F.hardtanh(x)", "F.hardtanh(x, -0.5, 0.5)", "F.relu6(p)"),
    errors=("F.hardtanh(x, 1.0, -1.0)",),
)

SIXTH = 0.1666666716337204  # a single-precision constant of PyTorch's kernels, in double too

hardsigmoid_backward = operator(
    "hardsigmoid_backward(Tensor grad_output, Tensor self) -> Tensor",
    node="torch::autograd::NotImplemented",
    where="hidden",
    forward=lambda xp, grad_output, self: xp.where(
        (self > -3) & (self < 3), grad_output * SIXTH, xp.zeros_like(grad_output)
    ),
    acts="pointwise",
    doc="A sixth of the gradient between -3 and 3.",
    samples=("torch.autograd.grad(F.hardsigmoid(x), x, y)[0]",),
)

hardsigmoid = operator(
    "hardsigmoid(Tensor self) -> Tensor",
    node="HardsigmoidBackward0",
    where="hidden",
    inplace="hardsigmoid_",
    forward=lambda xp, self: xp.minimum(xp.maximum(self + 3, 0), 6) / 6,
    self=lambda grad, self: hardsigmoid_backward(grad, self),
    refuse=floating_only("hardsigmoid_cpu"),
    zero="clamps",
    doc="min(max(self + 3, 0), 6) / 6.",
    computes="clamp(self + 3, 0, 6)/6",
    corners=("F.hardsigmoid(tensor([-3., 3.]))",),
    samples=("F.hardsigmoid(x)",),
    errors=("F.hardsigmoid(i)",),
)

hardswish_backward = operator(
    "hardswish_backward(Tensor grad_output, Tensor self) -> Tensor",
    node="HardswishBackwardBackward0",
    where="hidden",
    forward=lambda xp, grad_output, self: xp.where(
        self <= -3,
        xp.zeros_like(grad_output),
        xp.where(self < 3, grad_output * (self / 3 + 0.5), grad_output),
    ),
    grad_output=lambda grad, self: hardswish_backward(grad, self),
    self=lambda grad, grad_output, self: where(
        logical_and(self > -3.0, self < 3.0), grad * grad_output / 3.0, 0.0
    ),
    acts="pointwise",
    zero="clamps",
    doc="The gradient of hardswish.",
    samples=("torch.autograd.grad(F.hardswish(x), x, y, create_graph=True)[0]",),
)

hardswish = operator(
    "hardswish(Tensor self) -> Tensor",
    node="HardswishBackward0",
    where="hidden",
    inplace="hardswish_",
    forward=lambda xp, self: self * xp.minimum(xp.maximum(self + 3, 0), 6) / 6,
    self=lambda grad, self: hardswish_backward(grad, self),
    refuse=floating_only("hardswish_cpu"),
    zero="clamps",
    doc="self * min(max(self + 3, 0), 6) / 6.",
    computes="self*clamp(self + 3, 0, 6)/6",
    corners=("F.hardswish(tensor([-3., 3.]))",),
    samples=("F.hardswish(x)",),
)

hardshrink_backward = operator(
    "hardshrink_backward(Tensor grad_out, Tensor self, Scalar lambd) -> Tensor",
    node="HardshrinkBackwardBackward0",
    where="hidden",
    forward=lambda xp, grad_out, self, lambd: xp.where(
        (self >= -lambd) & (self <= lambd), xp.zeros_like(grad_out), grad_out
    ),
    grad_out=lambda grad, self, lambd: hardshrink_backward(grad, self, lambd),
    self=lambda grad: zeros_as(grad),
    acts="pointwise",
    zero="clamps",
    doc="The gradient outside [-lambd, lambd].",
    samples=("torch.autograd.grad(F.hardshrink(x), x, y, create_graph=True)[0]",),
)

hardshrink = operator(
    "hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
    node="HardshrinkBackward0",
    where="torch method functional",
    forward=lambda xp, self, lambd: xp.where(
        (self >= -lambd) & (self <= lambd), xp.zeros_like(self), self
    ),
    self=lambda grad, self, lambd: hardshrink_backward(grad, self, lambd),
    refuse=floating_only("hardshrink_cpu"),
    acts="pointwise",
    zero="clamps",
    doc="self outside [-lambd, lambd], zero inside.",
    computes="where(abs(self) > lambd, self, 0)",
    corners=("F.hardshrink(tensor([-0.5, 0.5, 0.75]))",),
    samples=("F.hardshrink(x)", "x.hardshrink(0.3)", "torch.hardshrink(x)"),
)

softshrink_backward = operator(
    "softshrink_backward(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor",
    node="SoftshrinkBackwardBackward0",
    where="hidden",
    forward=lambda xp, grad_output, self, lambd: xp.where(
        (self >= -lambd) & (self <= lambd), xp.zeros_like(grad_output), grad_output
    ),
    grad_output=lambda grad, self, lambd: softshrink_backward(grad, self, lambd),
    self=lambda grad: zeros_as(grad),
    acts="pointwise",
    zero="clamps",
    doc="The gradient outside [-lambd, lambd].",
    samples=("torch.autograd.grad(F.softshrink(x), x, y, create_graph=True)[0]",),
)


def _check_softshrink(self: Any, lambd: float) -> None:
    if lambd < 0:
        most = "1.79769e+308" if self.dtype.name == "float64" else "3.40282e+38"
        raise RuntimeError(
            f"lambda must be in range [0, {most}] for input dtype {self.dtype.word}, but found "
            f"{lambd:g}"
        )


softshrink = operator(
    "softshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
    node="SoftshrinkBackward0",
    where="functional",
    forward=lambda xp, self, lambd: xp.where(
        self > lambd, self - lambd, xp.where(self < -lambd, self + lambd, self * 0)
    ),
    self=lambda grad, self, lambd: softshrink_backward(grad, self, lambd),
    check=_check_softshrink,
    refuse=floating_only("softshrink_check"),
    acts="pointwise",
    zero="clamps",
    doc="self moved towards zero by lambd, zero inside [-lambd, lambd].",
    computes="where(abs(self) > lambd, self - lambd*sign(self), 0)",
    corners=("F.softshrink(tensor([-0.5, 0.5, 0.75]))",),
    samples=("F.softshrink(x)", "F.softshrink(x, 0.2)"),
    errors=("F.softshrink(x, -1.0)",),
)
