"""Operators: softmax and its logarithm."""

from __future__ import annotations

import math
from typing import Any

from ...engine.schema.operator import Reduced, composite, operator, warn
from ...numerics import reduced_kernels as halves
from ...numerics.rounding import multiply_add, precise, vector_code
from ...numerics.summation import products_down, products_in_a_row, sum_in_a_row
from ...numerics.thresholds import SOFTMAX
from ..conventions import COMPLEX, INTEGERS, Late, wrap_dim
from .sums import sum_dims

exp = Late("exp")


def _check(kernel: str) -> Any:
    """PyTorch names another kernel when the dimension is the last."""

    def check(self: Any, dim: int, half_to_float: bool) -> None:
        place = wrap_dim(dim, self.ndim)
        word = self.dtype.word
        if word in (*INTEGERS, *COMPLEX, "Bool"):
            last = "_lastdim" if place >= self.ndim - 1 else ""
            raise NotImplementedError(
                f"\"{kernel}{last}_kernel_impl\" not implemented for '{word}'"
            )

    return check


# PyTorch has two kernels. Along the last dimension it runs vectors over a row, adds them up and
# multiplies with the inverse; along another one it goes down all columns at once, and divides.


def _is_last(x: Any, dim: int) -> bool:
    return dim in (-1, x.ndim - 1)


def _in_vectors(xp: Any, x: Any) -> bool:
    return x.dtype.char == "f" and 0 < x.size <= SOFTMAX and xp.__name__ == "numpy"


def _exp(xp: Any, x: Any, dim: int) -> Any:
    """exp of what is not positive."""
    if not _in_vectors(xp, x):
        return precise(xp.exp, x)
    if _is_last(x, dim):
        return vector_code().vector_exp(x)
    columns = math.prod(x.shape[dim % x.ndim + 1 :])
    return vector_code().exp_in_turns(xp.ascontiguousarray(x), columns, vector_code().WIDE)


def _log(xp: Any, total: Any, x: Any) -> Any:
    """log of sums along dim of exponentials, the largest of which is 1."""
    return vector_code().vector_log(total) if _in_vectors(xp, x) else precise(xp.log, total)


def _total(xp: Any, x: Any, dim: int) -> Any:
    """The sum along dim, which stays as a dimension of one element."""
    return sum_in_a_row(xp, x) if _is_last(x, dim) else x.sum(axis=dim, keepdims=True)


def _softmax(xp: Any, x: Any, dim: int, half_to_float: bool) -> Any:
    if x.size == 0:
        return x
    if x.ndim == 0:
        return x - x + 1  # of infinity NaN, as for a row
    e = _exp(xp, x - x.max(axis=dim, keepdims=True), dim)
    total = _total(xp, e, dim)
    return e * (1 / total) if _is_last(x, dim) else e / total


def _log_softmax(xp: Any, x: Any, dim: int, half_to_float: bool) -> Any:
    if x.size == 0:
        return x
    if x.ndim == 0:
        return x - x
    shifted = x - x.max(axis=dim, keepdims=True)
    return shifted - _log(xp, _total(xp, _exp(xp, shifted, dim), dim), x)


def _softmax_backward(xp: Any, grad: Any, output: Any, dim: int, input_dtype: Any) -> Any:
    if grad.ndim == 0:
        return grad * 0
    if _is_last(grad, dim):
        return (grad - products_in_a_row(xp, grad, output)) * output
    return (grad - products_down(xp, grad, output, dim)) * output


def _log_softmax_backward(xp: Any, grad: Any, output: Any, dim: int, input_dtype: Any) -> Any:
    if grad.ndim == 0:
        return grad - grad
    return multiply_add(-_exp(xp, output, dim), _total(xp, grad, dim), grad)


def _softmax_double(grad: Any, grad_output: Any, dim: int, output: Any) -> Any:
    return (
        grad_output * grad
        - sum_dims(output * grad_output, (dim,), True) * grad
        - grad_output * sum_dims(output * grad, (dim,), True)
    )


softmax_backward_data = operator(
    "_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) "
    "-> Tensor",
    node="SoftmaxBackwardDataBackward0",
    where="hidden",
    forward=_softmax_backward,
    grad_output=lambda grad, output, dim, output_dtype: softmax_backward_data(
        grad, output, dim, output_dtype
    ),
    output=lambda grad, grad_output, dim, output: _softmax_double(grad, grad_output, dim, output),
    acts="along",
    zero="saturates",
    jacobian="softmax",
    doc="The gradient of softmax from its result.",
    samples=("torch.autograd.grad(torch.softmax(x, 1), x, y, create_graph=True)[0]",),
)

softmax_data = operator(
    "_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
    node="SoftmaxBackward0",
    role="normalises",
    where="hidden",
    layout="row-major",
    forward=_softmax,
    self=lambda grad, result, dim, self_dtype: softmax_backward_data(grad, result, dim, self_dtype),
    check=_check("softmax"),
    acts="along",
    zero="saturates",
    jacobian="softmax",
    doc="exp(self), divided by its sum along dim.",
    samples=("torch.softmax(x, 0)",),
)

safe_softmax = operator(
    "_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
    node="SafeSoftmaxBackward0",
    where="hidden",
    forward=lambda xp, self, dim, dtype: xp.where(
        xp.isneginf(self).all(axis=dim, keepdims=True), 0, _softmax(xp, self, dim, False)
    ),
    self=lambda grad, result, dim, self_dtype: softmax_backward_data(grad, result, dim, self_dtype),
    acts="along",
    doc="softmax with zeros where everything along dim is -inf.",
    samples=("F.scaled_dot_product_attention(x, x, x)",),
)

log_softmax_backward_data = operator(
    "_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, "
    "ScalarType input_dtype) -> Tensor",
    node="LogSoftmaxBackwardDataBackward0",
    where="hidden",
    forward=_log_softmax_backward,
    grad_output=lambda grad, output, dim: grad - sum_dims(grad * exp(output), (dim,), True),
    output=lambda grad, grad_output, dim, output: (
        -sum_dims(grad_output, (dim,), True) * exp(output) * grad
    ),
    acts="along",
    zero="saturates",
    jacobian="log-softmax",
    doc="The gradient of log_softmax from its result.",
    samples=("torch.autograd.grad(torch.log_softmax(x, 1), x, y, create_graph=True)[0]",),
)

log_softmax_data = operator(
    "_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
    node="LogSoftmaxBackward0",
    role="of scores",
    where="hidden",
    layout="row-major",
    forward=_log_softmax,
    reduced=Reduced(halves.log_softmax),
    self=lambda grad, result, dim, self_dtype: log_softmax_backward_data(
        grad, result, dim, self_dtype
    ),
    check=_check("log_softmax"),
    acts="along",
    zero="saturates",
    jacobian="log-softmax",
    doc="self minus the logarithm of the sum of exp(self) along dim.",
    samples=("torch.log_softmax(x, 0)",),
)


def _cast(self: Any, dtype: Any) -> Any:
    return self if dtype is None else self.to(dtype)


softmax = composite(
    "softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
    lambda self, dim, dtype: softmax_data(_cast(self, dtype), dim, False),
    aliases=(),
    doc="exp(self) divided by its sum along dim.",
    computes="exp(self)/exp(self).sum(dim, True)",
    logarithm="torch.log_softmax",
    alone="torch.sigmoid",
    corners=("tensor([-math.inf, -math.inf]).softmax(0)",),
    samples=("torch.softmax(x, 1)", "x.softmax(-1)", "x.softmax(0, dtype=torch.float64)"),
    errors=("torch.softmax(x, 5)", "torch.softmax(x)", "torch.softmax(i, 0)"),
)

log_softmax = composite(
    "log_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
    lambda self, dim, dtype: log_softmax_data(_cast(self, dtype), dim, False),
    doc="The logarithm of softmax.",
    alone="torch.nn.functional.logsigmoid",
    computes="self - logsumexp(self, dim, True)",
    corners=("tensor([-math.inf, -math.inf]).log_softmax(0)",),
    samples=("torch.log_softmax(x, 1)", "x.log_softmax(-1)"),
    errors=("torch.log_softmax(x, 5)", "torch.log_softmax(i, 1)"),
)

for _name, _body in (("softmax", softmax), ("log_softmax", log_softmax)):
    composite(
        f"{_name}.special(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
        lambda self, dim, dtype, _body=_body: _body.body(self, dim, dtype),
        where="special",
        doc=_body.doc,
        samples=(f"torch.special.{_name}(x, 1)",),
    )


def _implicit_dim(name: str, ndim: int) -> int:
    warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include "
        "dim=X as an argument."
    )
    return 0 if ndim in (0, 1, 3) else 1


def _functional(name: str, row: Any, negate: bool = False) -> Any:
    def body(input: Any, dim: int | None, _stacklevel: int, dtype: Any) -> Any:
        if dim is None:
            dim = _implicit_dim(name, input.ndim)
        return row(_cast(-input if negate else input, dtype), dim, False)

    return body


composite(
    "softmax.functional(Tensor input, int? dim=None, any _stacklevel=3, ScalarType? dtype=None) "
    "-> Tensor",
    _functional("softmax", softmax_data),
    where="functional",
    doc="exp(input) divided by its sum along dim.",
    samples=("F.softmax(x, dim=1)", "F.softmax(x, 0, dtype=torch.float64)", "F.softmax(v)"),
    errors=("F.softmax(x, 5)",),
)

composite(
    "log_softmax.functional(Tensor input, int? dim=None, any _stacklevel=3, "
    "ScalarType? dtype=None) -> Tensor",
    _functional("log_softmax", log_softmax_data),
    where="functional",
    doc="The logarithm of softmax.",
    samples=("F.log_softmax(x, dim=1)", "F.log_softmax(c, 2)"),
    errors=("F.log_softmax(i, 0)",),
)

composite(
    "softmin(Tensor input, int? dim=None, any _stacklevel=3, ScalarType? dtype=None) -> Tensor",
    _functional("softmin", softmax_data, negate=True),
    where="functional",
    doc="softmax of -input.",
    computes="exp(-input)/exp(-input).sum(dim, True)",
    samples=("F.softmin(x, dim=1)",),
)
