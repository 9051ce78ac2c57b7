"""Operators: smooth and gated activations, with their first and second derivatives."""

from __future__ import annotations

from typing import Any

from ...engine.schema.operator import Reduced, composite, operator
from ...numerics.rounding import exp_in_kernel, multiply_add, precise, vector_code
from ...numerics.thresholds import ROUNDED
from ..conventions import (
    INTEGERS,
    Late,
    chosen,
    cleared,
    floating_only,
    full_precision,
    refuse_complex,
    unimplemented,
    wrap_dim,
)
from ..shape.constants import number_as, ones_as, zeros_as

exp = Late("exp")
log1p = Late("log1p")
tanh = Late("tanh")
cosh = Late("cosh")
erf = Late("erf")
sigmoid = Late("sigmoid")
sigmoid_backward = Late("sigmoid_backward")
where = Late("where.self")
slice_ = Late("slice.Tensor")
cat = Late("cat")

# ---- silu, mish, softplus


def _silu_backward(grad: Any, self: Any) -> Any:
    gate = sigmoid(self)
    return grad * gate * multiply_add(self, number_as(self, 1) - gate, 1.0)


def _check_real_slope(self: Any) -> None:
    refuse_complex("silu", self)


silu = operator(
    "silu(Tensor self) -> Tensor",
    node="SiluBackward0",
    where="hidden",
    inplace="silu_",
    forward=lambda xp, self: self / (1 + exp_in_kernel(xp, -self, self)),
    self=lambda grad, self: _silu_backward(grad, self),
    reduced=Reduced(fused=True),
    refuse=unimplemented("silu_cpu", *INTEGERS, "Bool"),
    check=lambda self: _check_real_slope(self),
    zero="saturates",
    doc="SiLU (swish): self * sigmoid(self).",
    computes="self/(1 + exp(-self))",
    samples=("F.silu(x)", "torch.autograd.grad(F.silu(x), x, y, create_graph=True)[0]"),
)


def _mish_backward(grad: Any, self: Any) -> Any:
    gate = sigmoid(self)
    tanh_softplus = tanh(log1p(exp(self)))
    flat = number_as(self, 1) - tanh_softplus * tanh_softplus
    return grad * (tanh_softplus + self * gate * flat)


mish = operator(
    "mish(Tensor self) -> Tensor",
    node="MishBackward0",
    where="hidden",
    inplace="mish_",
    forward=lambda xp, self: (
        self * precise(xp.tanh, precise(xp.log1p, exp_in_kernel(xp, self, self)))
    ),
    self=lambda grad, self: _mish_backward(grad, self),
    reduced=Reduced(fused=True),
    refuse=floating_only("mish_cpu"),
    zero="saturates",
    doc="self * tanh(softplus(self)).",
    computes="self*tanh(log(1 + exp(self)))",
    samples=("F.mish(x)", "torch.autograd.grad(F.mish(x), x, y, create_graph=True)[0]"),
)


def _softplus_backward(xp: Any, grad: Any, x: Any, beta: float, threshold: float) -> Any:
    z = exp_in_kernel(xp, x * beta, x)
    return chosen(xp, x * beta > threshold, grad, grad * z / (z + 1))


def _softplus_double_backward(grad: Any, self: Any, beta: float, threshold: float) -> Any:
    x = self * beta
    return sigmoid_backward(grad, sigmoid(x)) * (x < threshold) * beta


softplus_backward = operator(
    "softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> Tensor",
    node="SoftplusBackwardBackward0",
    where="hidden",
    forward=_softplus_backward,
    grad_output=lambda grad, self, beta, threshold: softplus_backward(grad, self, beta, threshold),
    self=lambda grad, grad_output, self, beta, threshold: _softplus_double_backward(
        grad * grad_output, self, beta, threshold
    ),
    acts="pointwise",
    zero="saturates",
    doc="The gradient of softplus.",
    samples=("torch.autograd.grad(F.softplus(x), x, y, create_graph=True)[0]",),
)

softplus = operator(
    "softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor",
    node="SoftplusBackward0",
    where="functional",
    forward=lambda xp, self, beta, threshold: chosen(
        xp,
        self * beta > threshold,
        self,
        precise(xp.log1p, exp_in_kernel(xp, self * beta, self)) / beta,
    ),
    self=lambda grad, self, beta, threshold: softplus_backward(grad, self, beta, threshold),
    refuse=floating_only("softplus_cpu"),
    acts="pointwise",
    zero="saturates",
    doc="log(1 + exp(beta * self)) / beta; self itself where beta * self is above threshold.",
    computes="where(beta*self > threshold, self, log(1 + exp(beta*self))/beta)",
    corners=("F.softplus(tensor([20., 21.]))",),
    samples=("F.softplus(x)", "F.softplus(x, beta=2, threshold=1)"),
    errors=("F.softplus('a')",),
)

# ---- logsigmoid


def log_sigmoid_in_kernel(xp: Any, x: Any) -> tuple[Any, Any]:
    """The logarithm of sigmoid(x), and exp(-abs(x))."""
    x = xp.ascontiguousarray(x) if x.ndim > 1 else x  # PyTorch's kernel walks row-major memory
    if x.dtype.char == "f" and x.size <= ROUNDED and xp.__name__ == "numpy":
        buffer = vector_code().vector_exp(-abs(x))
        return xp.minimum(x, 0) - vector_code().vector_log1p(buffer), buffer
    buffer = precise(xp.exp, -abs(x))
    return xp.minimum(x, 0) - precise(xp.log1p, buffer), buffer


def _log_sigmoid_backward(xp: Any, grad: Any, x: Any, buffer: Any) -> Any:
    below = (x < 0).astype(x.dtype)
    return grad * (below - (2 * below - 1) * (buffer / (1 + buffer)))


def _log_sigmoid_double_backward(grad: Any, self: Any) -> Any:
    z = sigmoid(self)
    return grad * (z - 1) * z


log_sigmoid_backward = operator(
    "log_sigmoid_backward(Tensor grad_output, Tensor self, Tensor buffer) -> Tensor",
    node="LogSigmoidBackwardBackward0",
    where="hidden",
    forward=_log_sigmoid_backward,
    grad_output=lambda grad, self, buffer: log_sigmoid_backward(grad, self, buffer),
    self=lambda grad, grad_output, self: _log_sigmoid_double_backward(grad * grad_output, self),
    acts="pointwise",
    zero="saturates",
    doc="The gradient of logsigmoid.",
    samples=("torch.autograd.grad(F.logsigmoid(x), x, y, create_graph=True)[0]",),
)

log_sigmoid_forward = operator(
    "log_sigmoid_forward(Tensor self) -> (Tensor output, Tensor buffer)",
    node="LogSigmoidBackward0",
    where="hidden",
    undifferentiable="buffer",
    forward=log_sigmoid_in_kernel,
    self=lambda grads, self, buffer: log_sigmoid_backward(grads[0], self, buffer),
    refuse=floating_only("log_sigmoid_cpu"),
    acts="pointwise",
    zero="saturates",
    doc="log(sigmoid(self)), and exp(-abs(self)) for the way back.",
    samples=("F.logsigmoid(x)",),
)

log_sigmoid = composite(
    "logsigmoid(Tensor self) -> Tensor",
    lambda self: log_sigmoid_forward(self)[0],
    where="functional",
    doc="log(sigmoid(self)), stable for large negative values.",
    computes="-log(1 + exp(-self))",
    samples=("F.logsigmoid(x)",),
    errors=("F.logsigmoid(i)",),
)

# ---- glu


def _check_glu(self: Any, dim: int) -> None:
    if self.ndim == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    size = self.shape[wrap_dim(dim, self.ndim)]
    if size % 2:
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {wrap_dim(dim, self.ndim)} "
            f"is size {size}"
        )


def _halves(xp: Any, x: Any, dim: int) -> tuple[Any, Any]:
    first, second = xp.split(x, 2, axis=dim)
    return first, second


def _gate(xp: Any, x: Any) -> Any:
    return 1 / (1 + exp_in_kernel(xp, -x, x))


def _glu(xp: Any, x: Any, dim: int) -> Any:
    first, second = _halves(xp, x, dim)
    return first * _gate(xp, second)


def _glu_backward(xp: Any, grad: Any, x: Any, dim: int, settle: Any = None) -> Any:
    first, second = _halves(xp, x, dim)
    gate = _gate(xp, second)
    gate = gate if settle is None else settle(gate)
    return xp.concatenate((gate * grad, (1 - gate) * gate * first * grad), axis=dim)


def narrow(self: Any, dim: int, start: int, length: int) -> Any:
    return slice_(self, dim, start, start + length, 1)


def _glu_double_grad_output(grad: Any, self: Any, dim: int) -> Any:
    dim = wrap_dim(dim, self.ndim)
    half = self.shape[dim] // 2
    ones = ones_as(narrow(self, dim, 0, half))
    both = grad * glu_backward(ones, self, dim)
    return narrow(both, dim, 0, half) + narrow(both, dim, half, half)


def _glu_double_self(grad: Any, grad_output: Any, self: Any, dim: int) -> Any:
    dim = wrap_dim(dim, self.ndim)
    half = self.shape[dim] // 2
    gate = sigmoid(narrow(self, dim, half, half))
    one = number_as(self, 1)
    slope = gate * (one - gate)
    grad_first, grad_second = narrow(grad, dim, 0, half), narrow(grad, dim, half, half)
    to_first = grad_second * grad_output * slope
    to_second = (
        grad_second * narrow(self, dim, 0, half) * grad_output
        * (slope * (one - gate) - gate * slope)
        + grad_first * grad_output * slope
    )  # fmt: skip
    return cat([to_first, to_second], dim)


glu_backward = operator(
    "glu_backward(Tensor grad_output, Tensor self, int dim) -> Tensor",
    node="GluBackwardBackward0",
    where="hidden",
    dtype=lambda grad_output, self, dim: self.dtype,
    forward=_glu_backward,
    reduced=Reduced(
        lambda kind, grad, self, dim: _glu_backward(kind.xp, grad, self, dim, kind.settle)
    ),
    grad_output=lambda grad, self, dim: _glu_double_grad_output(grad, self, dim),
    self=lambda grad, grad_output, self, dim: _glu_double_self(grad, grad_output, self, dim),
    cost=lambda grad_output, self, dim: self.numel(),
    acts="along",
    doc="The gradient of glu.",
    samples=("torch.autograd.grad(F.glu(x, 0), x, z.squeeze(0)[None], create_graph=True)[0]",),
)

glu = operator(
    "glu(Tensor self, int dim=-1) -> Tensor",
    node="GluBackward0",
    where="functional",
    forward=_glu,
    self=lambda grad, self, dim: glu_backward(grad, self, dim),
    check=_check_glu,
    refuse=floating_only("glu_cpu"),
    acts="along",
    doc="The first half of self along dim, times the sigmoid of the second half.",
    computes="self.chunk(2, dim)[0]*sigmoid(self.chunk(2, dim)[1])",
    samples=("F.glu(x, 0)", "F.glu(r)"),
    errors=("F.glu(x)", "F.glu(x, 5)"),
)

# ---- prelu


def _prelu_backward(xp: Any, grad: Any, x: Any, weight: Any) -> tuple[Any, Any]:
    above = x > 0
    return (
        chosen(xp, above, grad, weight * grad),
        cleared(xp, x * grad, above),
    )


def _prelu_double_grad_output(grads: Any, self: Any, weight: Any) -> Any:
    to_self, to_weight = grads
    if to_self is None:
        return where(self >= 0, 0.0, to_weight * self)
    if to_weight is None:
        return where(self >= 0, to_self, to_self * weight)
    return where(self >= 0, to_self, to_self * weight + to_weight * self)


def _prelu_double(grad: Any, grad_output: Any, self: Any) -> Any:
    if grad is None:
        return zeros_as(self)
    return where(self >= 0, 0.0, grad_output * grad)


prelu_kernel_backward = operator(
    "_prelu_kernel_backward(Tensor grad_output, Tensor self, Tensor weight) "
    "-> (Tensor result0, Tensor result1)",
    node="PreluKernelBackwardBackward0",
    where="hidden",
    dtype="promote",
    forward=_prelu_backward,
    grad_output=lambda grads, self, weight: _prelu_double_grad_output(grads, self, weight),
    self=lambda grads, grad_output, self: _prelu_double(grads[1], grad_output, self),
    weight=lambda grads, grad_output, self: _prelu_double(grads[0], grad_output, self),
    doc="The gradients of prelu's input and weight.",
    samples=("torch.autograd.grad(F.prelu(x, v), (x, v), y, create_graph=True)",),
)

prelu_kernel = operator(
    "_prelu_kernel(Tensor self, Tensor weight) -> Tensor",
    node="PreluKernelBackward0",
    where="hidden",
    dtype="promote",
    refuse=floating_only("prelu_cpu"),
    forward=lambda xp, self, weight: chosen(xp, self > 0, self, weight * self),
    joint={
        ("self", "weight"): lambda grad, self, weight: prelu_kernel_backward(grad, self, weight)
    },
    doc="self above zero, weight * self below.",
    samples=("F.prelu(x, v)",),
)


def _prelu(self: Any, weight: Any) -> Any:
    if self.dtype is not weight.dtype:
        raise RuntimeError(
            f"prelu: Type promoting not supported. Got {self.dtype.word} and {weight.dtype.word}"
        )
    if weight.numel() != 1:
        if self.ndim == 0:
            raise RuntimeError("Not allow zero-dim input tensor.")
        channels = self.shape[1] if self.ndim > 1 else 1
        if channels != weight.numel():
            raise RuntimeError(
                "Mismatch of parameter numbers and input channel size. Found parameter numbers "
                f"= {weight.numel()} and channel size = {channels}."
            )
    if weight.ndim > 1:
        raise RuntimeError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}"
        )
    if self.ndim != weight.ndim:
        shape = [1] * self.ndim
        if self.ndim > 1:
            shape[1] = weight.numel()
        weight = weight.reshape(shape)
    return prelu_kernel(self, weight)


prelu = composite(
    "prelu(Tensor self, Tensor weight) -> Tensor",
    _prelu,
    where="torch method functional",
    doc="self above zero, weight * self below, a weight for each channel or one for all.",
    computes="where(self > 0, self, weight*self)",
    corners=("F.prelu(tensor([0., -1.]), tensor(0.25))",),
    samples=("F.prelu(x, v)", "torch.prelu(x, v[:1])", "x.prelu(v)"),
    errors=("F.prelu(x, torch.ones(2))", "F.prelu(x, d)", "F.prelu(x, torch.ones(2, 2))"),
)

# ---- rrelu


def _rrelu_noise_backward(
    xp: Any, grad: Any, x: Any, noise: Any, lower: float, upper: float,
    training: bool, self_is_result: bool,
) -> Any:  # fmt: skip
    if training and upper - lower > 1e-6:
        return noise * grad
    return xp.where(x > 0, grad, grad * ((lower + upper) / 2))


rrelu_with_noise_backward = operator(
    "rrelu_with_noise_backward(Tensor grad_output, Tensor self, Tensor noise, Scalar lower, "
    "Scalar upper, bool training, bool self_is_result) -> Tensor",
    node="RreluWithNoiseBackwardBackward0",
    where="hidden",
    forward=_rrelu_noise_backward,
    grad_output=lambda grad, self, noise, lower, upper, training: rrelu_with_noise_backward(
        grad, self, noise, lower, upper, training, False
    ),
    self=lambda grad: zeros_as(grad),
    doc="The gradient of rrelu under the slopes that were drawn.",
    samples=("torch.autograd.grad(F.rrelu(x), x, y, create_graph=True)[0]",),
)


def _check_drawn(self: Any, training: bool) -> None:
    if training and self.dtype.word == "Half":
        error, text = full_precision("rrelu_with_noise_out_cpu")["Half"]
        raise error(text)


def _rrelu(xp: Any, x: Any, noise: Any, lower: float, upper: float, training: bool) -> Any:
    if training:
        return xp.where(x <= 0, x * noise, x)
    return xp.where(x > 0, x, x * ((lower + upper) / 2))


rrelu_with_noise = operator(
    "rrelu_with_noise(Tensor self, Tensor noise, Scalar lower=0.125, "
    "Scalar upper=0.3333333333333333, bool training=False) -> Tensor",
    node="RreluWithNoiseBackward0",
    where="hidden",
    check=lambda self, noise, lower, upper, training: _check_drawn(self, training),
    forward=_rrelu,
    self=lambda grad, self, noise, lower, upper, training: rrelu_with_noise_backward(
        grad, self, noise, lower, upper, training, False
    ),
    refuse=floating_only("leaky_relu_cpu"),
    acts="random",
    doc="leaky_relu with a slope for each element, drawn between lower and upper.",
    samples=("F.rrelu(x)",),
)

operator(
    "_rrelu_with_noise_result(Tensor self, Tensor noise, Scalar lower, Scalar upper, "
    "bool training) -> Tensor",
    node="RreluWithNoiseBackward1",
    where="hidden",
    check=lambda self, noise, lower, upper, training: _check_drawn(self, training),
    inplace="rrelu_with_noise_",
    forward=_rrelu,
    self=lambda grad, result, noise, lower, upper, training: rrelu_with_noise_backward(
        grad, result, noise, lower, upper, training, True
    ),
    refuse=floating_only("leaky_relu_cpu"),
    doc="rrelu with a gradient from its result.",
    samples=("F.rrelu(x * 1, inplace=True)",),
)
