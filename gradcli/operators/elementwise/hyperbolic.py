"""Operators: hyperbolic functions, their inverses, and the logistic function."""

from __future__ import annotations

from typing import Any

from ...engine.schema.operator import Domain, Reduced, composite, one, operator
from ...numerics.reduced_kernels import sigmoid_slope
from ...numerics.rounding import exp_in_kernel, less_square, transcendental
from ..conventions import underivable
from ..shape.constants import number_as
from .complex_parts import is_complex
from .power import rsqrt

sinh = operator(
    "sinh(Tensor self) -> Tensor",
    node="SinhBackward0",
    inplace="sinh_",
    dtype="promote_float",
    forward=transcendental("sinh"),
    self=lambda grad, self: grad * cosh(self),
    domain=Domain(None, 80.0),
    doc="Hyperbolic sine.",
    computes="(exp(self) - exp(-self))/2",
    samples=("torch.sinh(x)", "x.sinh()"),
)

cosh = operator(
    "cosh(Tensor self) -> Tensor",
    node="CoshBackward0",
    inplace="cosh_",
    dtype="promote_float",
    forward=transcendental("cosh"),
    self=lambda grad, self: grad * sinh(self),
    domain=Domain(None, 80.0),
    doc="Hyperbolic cosine.",
    computes="(exp(self) + exp(-self))/2",
    samples=("torch.cosh(x)", "x.cosh()"),
)

tanh_backward = operator(
    "tanh_backward(Tensor grad_output, Tensor output) -> Tensor",
    node="TanhBackwardBackward0",
    dtype="promote",
    where="hidden",
    forward=lambda xp, grad_output, output: grad_output * less_square(output),
    grad_output=lambda grad, output: tanh_backward(grad, output),
    output=lambda grad, output, grad_output: grad * (output * -2 * grad_output),
    zero="saturates",
    doc="The gradient of tanh, with a node of its own for second order.",
    samples=("torch.autograd.grad(x.tanh().sum(), x, create_graph=True)[0]",),
)

tanh = operator(
    "tanh(Tensor self) -> Tensor",
    node="TanhBackward0",
    inplace="tanh_",
    dtype="promote_float",
    forward=transcendental("tanh"),
    self=lambda grad, result: tanh_backward(grad, result),
    zero="saturates",
    doc="Hyperbolic tangent.",
    samples=("torch.tanh(x)", "x.tanh()", "i.tanh()"),
    errors=("torch.tanh(1.0)",),
)

asinh = operator(
    "asinh(Tensor self) -> Tensor",
    node="AsinhBackward0",
    aliases=("arcsinh",),
    dtype="promote_float",
    forward=transcendental("arcsinh"),
    self=lambda grad, self: grad * rsqrt(self**2 + 1),
    doc="Inverse hyperbolic sine.",
    computes="log(self + sqrt(self**2 + 1))",
    samples=("torch.asinh(x)", "x.asinh()"),
)


def _acosh_slope(self: Any) -> Any:
    """Of complex numbers in two factors, whose roots lie on the right side each."""
    return rsqrt(self + 1) * rsqrt(self - 1) if is_complex(self) else rsqrt(self * self - 1)


acosh = operator(
    "acosh(Tensor self) -> Tensor",
    node="AcoshBackward0",
    aliases=("arccosh",),
    dtype="promote_float",
    forward=transcendental("arccosh"),
    self=lambda grad, self: grad * _acosh_slope(self),
    doc="Inverse hyperbolic cosine, for x of at least 1.",
    computes="log(self + sqrt(self**2 - 1))",
    corners=("tensor([1., 0.5]).acosh()",),
    samples=("torch.acosh(p + 1)", "(p + 1).acosh()"),
)

atanh = operator(
    "atanh(Tensor self) -> Tensor",
    node="AtanhBackward0",
    aliases=("arctanh",),
    dtype="promote_float",
    forward=transcendental("arctanh"),
    self=lambda grad, self: grad * 1 / (number_as(self, 1) - self**2),
    domain=Domain(-1, 1),
    doc="Inverse hyperbolic tangent.",
    computes="log((1 + self)/(1 - self))/2",
    corners=("tensor([-1., 1., 2.]).atanh()",),
    samples=("torch.atanh(u)", "u.atanh()"),
)


def _in_place_only(name: str, ufunc: str) -> None:
    """PyTorch has asinh_, acosh_ and atanh_ without derivatives: their nodes say so."""
    operator(
        f"{name}.inplace(Tensor self) -> Tensor",
        node=f"{name.capitalize()}Backward1",
        inplace=f"{name}_",
        dtype="promote_float",
        where="inplace",
        aliases=(ufunc,),
        forward=transcendental(ufunc),
        self=lambda grad: underivable(f"inplace version of {name}"),
        doc=f"In-place {name}; it has no derivative, and backward says so.",
        samples=(f"(p + 1).detach().{name}_()",),
        errors=(f"(p + 1).{name}_().sum().backward()",),
    )


_in_place_only("asinh", "arcsinh")
_in_place_only("acosh", "arccosh")
_in_place_only("atanh", "arctanh")


# ---- the logistic function

sigmoid_backward = operator(
    "sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor",
    node="SigmoidBackwardBackward0",
    dtype="promote",
    where="hidden",
    forward=lambda xp, grad_output, output: grad_output * (one(output) - output) * output,
    reduced=Reduced(sigmoid_slope),
    grad_output=lambda grad, output: sigmoid_backward(grad, output),
    output=lambda grad, output, grad_output: grad * grad_output * (output * -2 + 1),
    zero="saturates",
    doc="The gradient of sigmoid, with a node of its own for second order.",
    samples=("torch.autograd.grad(x.sigmoid().sum(), x, create_graph=True)[0]",),
)


def _sigmoid(xp: Any, self: Any) -> Any:
    """Each step rounded as PyTorch's kernel rounds it: 1 - sigmoid(x) shows it for a large x."""
    return 1 / (1 + exp_in_kernel(xp, -self, self))


sigmoid = operator(
    "sigmoid(Tensor self) -> Tensor",
    node="SigmoidBackward0",
    role="normalises",
    inplace="sigmoid_",
    dtype="promote_float",
    where="torch method functional",
    forward=_sigmoid,
    self=lambda grad, result: sigmoid_backward(grad, result),
    logarithm="torch.nn.functional.logsigmoid",
    zero="saturates",
    doc="1 / (1 + exp(-x)).",
    samples=("torch.sigmoid(x)", "x.sigmoid()", "torch.nn.functional.sigmoid(x)"),
    errors=("torch.sigmoid(1.0)",),
)

composite(
    "expit(Tensor self) -> Tensor",
    lambda self: sigmoid.run(self),
    where="special",
    doc="1 / (1 + exp(-x)).",
    computes="1/(1 + exp(-self))",
    samples=("torch.special.expit(x)",),
)
