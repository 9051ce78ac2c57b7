"""Operators: gelu, with its first and second derivative."""

from __future__ import annotations

import math
from typing import Any

from ...engine.schema.operator import operator
from ...numerics.moments import fused
from ...numerics.rounding import precise
from ..conventions import Late, floating_only
from ..shape.constants import number_as

exp = Late("exp")
tanh = Late("tanh")
cosh = Late("cosh")
erf = Late("erf")

_CDF = math.sqrt(0.5)  # erf's argument is scaled by this
_PDF = 2.0 / math.sqrt(math.pi) * math.sqrt(0.5) * 0.5  # the normal density at 0
_BETA = math.sqrt(2.0) * (2.0 / math.sqrt(math.pi)) * 0.5
_KAPPA = 0.044715


def _check_approximate(self: Any, approximate: str) -> None:
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")


def _inner(xp: Any, x: Any) -> Any:
    return precise(xp.tanh, _BETA * fused(xp, x * x * x, x.dtype.type(_KAPPA), x))


def _kernel(x: Any, approximate: str) -> Any:
    """The kernel for singles where PyTorch takes it; loaded late, for it needs the array library,
    and the catalogue is read without one."""
    if approximate != "none" or x.dtype.char != "f":
        return None
    from ...numerics import gelu as kernel

    return kernel if kernel.kernel_takes(x) else None


def _gelu(xp: Any, x: Any, approximate: str) -> Any:
    if (kernel := _kernel(x, approximate)) is not None:
        return kernel.gelu(x)
    if approximate == "tanh":
        return 0.5 * x * (1 + _inner(xp, x))
    return x * 0.5 * (1 + erf(x * _CDF))


def _gelu_backward(xp: Any, grad: Any, x: Any, approximate: str) -> Any:
    if (kernel := _kernel(x, approximate)) is not None:
        return grad * kernel.gelu_slope(x)
    if x.dtype.char == "e":
        grad, x = grad.astype("float32"), x.astype("float32")
    if approximate == "none":
        cdf = 0.5 * (1 + erf(x * _CDF))
        return grad * (cdf + x * (precise(xp.exp, x * x * -0.5) * _PDF))
    tanh_inner = _inner(xp, x)
    left, right, one = 0.5 * x, 1 + tanh_inner, x.dtype.type(1)
    inner_slope = _BETA * fused(xp, x * x, x.dtype.type(3) * x.dtype.type(_KAPPA), one)
    right_slope = left * fused(xp, -tanh_inner, tanh_inner, one) * inner_slope
    return grad * (0.5 * right + right_slope)


def _gelu_double_backward(grad: Any, grad_output: Any, self: Any, approximate: str) -> Any:
    if approximate == "none":
        square = self * self
        density = _PDF * exp(-0.5 * square)
        return grad * grad_output * (2 * density - square * density)
    inner = _BETA * (self + _KAPPA * self**3)
    tanh_inner = tanh(inner)
    sech_inner = number_as(self, 1) / cosh(inner)
    f = 0.5 * self
    g = number_as(self, 1) - tanh_inner * tanh_inner
    h = _BETA * (3 * _KAPPA * self * self + 1)
    from_f = 0.5 * g * h
    from_g = (f * h) * ((2 * sech_inner) * (-sech_inner * tanh_inner) * h)
    from_h = f * g * (_BETA * (6 * _KAPPA * self))
    return grad * grad_output * (2 * from_f + from_g + from_h)


gelu_backward = operator(
    "gelu_backward(Tensor grad_output, Tensor self, *, str approximate='none') -> Tensor",
    node="GeluBackwardBackward0",
    where="hidden",
    forward=_gelu_backward,
    grad_output=lambda grad, self, approximate: gelu_backward(grad, self, approximate),
    self=lambda grad, grad_output, self, approximate: _gelu_double_backward(
        grad, grad_output, self, approximate
    ),
    acts="pointwise",
    zero="saturates",
    doc="The gradient of gelu.",
    samples=(
        "torch.autograd.grad(F.gelu(x), x, y, create_graph=True)[0]",
        "torch.autograd.grad(F.gelu(x, approximate='tanh'), x, y, create_graph=True)[0]",
    ),
)

gelu = operator(
    "gelu(Tensor self, *, str approximate='none') -> Tensor",
    node="GeluBackward0",
    where="functional",
    layout="like",
    forward=_gelu,
    self=lambda grad, self, approximate: gelu_backward(grad, self, approximate),
    check=_check_approximate,
    refuse=floating_only("GeluKernelImpl"),
    acts="pointwise",
    zero="saturates",
    doc="self times the normal distribution function at self.",
    computes="self*(1 + erf(self/sqrt(2)))/2",
    corners=("F.gelu(tensor(0.))",),
    samples=("F.gelu(x)", "F.gelu(x, approximate='tanh')"),
    errors=("F.gelu(x, approximate='cube')", "F.gelu(i)"),
)
