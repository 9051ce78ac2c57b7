"""Operators: the greater and the smaller of two tensors, clamping, the smooth maximum."""

from __future__ import annotations

from typing import Any

from ...engine.schema.dtypes import FLOATING
from ...engine.schema.limits import as_element
from ...engine.schema.operator import operator
from ...numerics.rounding import precise
from ..conventions import (
    COMPLEX,
    INTEGERS,
    NO_COMPLEX_LIMITS,
    Late,
    real_only,
    unimplemented,
)
from .arithmetic import wrapped
from .comparison import isnan, logical_and, logical_not, logical_or
from .exponential import exp

where = Late("where.self")
masked_fill = Late("masked_fill.Scalar")


# ---- the greater and the smaller of two


def _half_where_equal(grad: Any, self: Any, other: Any) -> Any:
    return where(self == other, grad / 2, grad)


maximum = operator(
    "maximum(Tensor self, Tensor other) -> Tensor",
    node="MaximumBackward0",
    dtype="promote",
    refuse=dict.fromkeys(COMPLEX, (RuntimeError, "maximum not implemented for complex tensors.")),
    forward=lambda xp, self, other: xp.maximum(self, other),
    self=lambda grad, self, other: masked_fill(
        _half_where_equal(grad, self, other), self < other, 0
    ),
    other=lambda grad, self, other: masked_fill(
        _half_where_equal(grad, self, other), self > other, 0
    ),
    zero="mask",
    smooth="torch.logaddexp(self, other)",
    doc="The greater element; at a tie both get half of the gradient.",
    computes="where(self > other, self, other)",
    corners=(
        "torch.maximum(tensor(3.), tensor(3.))",
        "torch.maximum(tensor(math.nan), tensor(1.))",
    ),
    samples=(
        "torch.maximum(x, y)",
        "x.maximum(z)",
        "torch.maximum(i, j)",
        "torch.maximum(x, x.detach())",
    ),
    errors=("torch.maximum(x, 1.0)",),
)

minimum = operator(
    "minimum(Tensor self, Tensor other) -> Tensor",
    node="MinimumBackward0",
    dtype="promote",
    refuse=dict.fromkeys(COMPLEX, (RuntimeError, "minimum not implemented for complex tensors.")),
    forward=lambda xp, self, other: xp.minimum(self, other),
    self=lambda grad, self, other: masked_fill(
        _half_where_equal(grad, self, other), self > other, 0
    ),
    other=lambda grad, self, other: masked_fill(
        _half_where_equal(grad, self, other), self < other, 0
    ),
    zero="mask",
    smooth="-torch.logaddexp(-(self), -(other))",
    doc="The smaller element; at a tie both get half of the gradient.",
    computes="where(self < other, self, other)",
    corners=(
        "torch.minimum(tensor(3.), tensor(3.))",
        "torch.minimum(tensor(math.nan), tensor(1.))",
    ),
    samples=("torch.minimum(x, y)", "x.minimum(z)", "torch.minimum(x, x.detach())"),
    errors=("torch.minimum(x, 1.0)",),
)

fmax = operator(
    "fmax(Tensor self, Tensor other) -> Tensor",
    node="FmaxBackward0",
    dtype="promote",
    refuse=dict.fromkeys(COMPLEX, (RuntimeError, "fmax not implemented for complex tensors.")),
    forward=lambda xp, self, other: xp.where(self == other, self, xp.fmax(self, other)),  # 0., -0.
    self=lambda grad, self, other: masked_fill(
        grad, logical_not(logical_or(self >= other, isnan(other))), 0
    ),
    other=lambda grad, self, other: masked_fill(grad, logical_or(self >= other, isnan(other)), 0),
    zero="mask",
    smooth="torch.logaddexp(self, other)",
    doc="The greater element, NaN ignored; at a tie the first gets the gradient.",
    corners=("tensor(3.).fmax(tensor(3.))", "tensor(math.nan).fmax(tensor(1.))"),
    samples=("torch.fmax(x, y)", "x.fmax(z)"),
)

fmin = operator(
    "fmin(Tensor self, Tensor other) -> Tensor",
    node="FminBackward0",
    dtype="promote",
    refuse=dict.fromkeys(COMPLEX, (RuntimeError, "fmin not implemented for complex tensors.")),
    forward=lambda xp, self, other: xp.where(self == other, self, xp.fmin(self, other)),  # 0., -0.
    self=lambda grad, self, other: masked_fill(
        grad, logical_not(logical_or(self <= other, isnan(other))), 0
    ),
    other=lambda grad, self, other: masked_fill(grad, logical_or(self <= other, isnan(other)), 0),
    zero="mask",
    smooth="-torch.logaddexp(-(self), -(other))",
    doc="The smaller element, NaN ignored; at a tie the first gets the gradient.",
    corners=("tensor(3.).fmin(tensor(3.))", "tensor(math.nan).fmin(tensor(1.))"),
    samples=("torch.fmin(x, y)", "x.fmin(z)"),
)


# ---- clamping


def _clamp(xp: Any, self: Any, low: Any, high: Any) -> Any:
    """min above max gives max, and NaN passes, as in PyTorch."""
    if low is not None:
        self = _limited(xp.maximum, self, wrapped(low, self.dtype))
    return self if high is None else _limited(xp.minimum, self, wrapped(high, self.dtype))


def _limited(kernel: Any, self: Any, limit: Any) -> Any:
    """Of equal operands NumPy returns the second: an element 0 stays beside the number -0."""
    return kernel(self, limit) if getattr(limit, "ndim", 0) else kernel(limit, self)


def _check_limits(self: Any, low: Any, high: Any) -> None:
    if low is None and high is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    dtype = self.dtype
    if dtype.category < FLOATING:
        dtype = _clamp_type(self, low, high)
    as_element(low, dtype)
    as_element(high, dtype)


def _clamp_type(self: Any, low: Any, high: Any) -> Any:
    from ...engine.tensors.promotion import result_dtype

    return result_dtype(self, *(limit for limit in (low, high) if limit is not None))


def _clamp_backward(grad: Any, self: Any, low: Any, high: Any) -> Any:
    if low is not None and high is not None:
        return where(logical_and(self >= low, self <= high), grad, 0)
    return where(self >= low, grad, 0) if low is not None else where(self <= high, grad, 0)


def _limits_backward(grad: Any, self: Any, low: Any, high: Any, needs: Any) -> tuple[Any, Any, Any]:
    if low is not None and high is not None:
        inside = logical_and(self >= low, self <= high)
        return (
            where(inside, grad, 0) if needs["self"] else None,
            where(logical_and(low < high, self < low), grad, 0) if needs["min"] else None,
            where(logical_or(self > high, high < low), grad, 0) if needs["max"] else None,
        )
    if low is not None:
        return (
            where(self >= low, grad, 0),
            where(self < low, grad, 0) if needs["min"] else None,
            None,
        )
    return where(self <= high, grad, 0), None, where(self > high, grad, 0) if needs["max"] else None


# Kernels of numbers name the element type as C++ does.
CAST_WORDS = "result type {result} can't be cast to the desired output type {c_given}"

operator(
    "clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
    node="ClampBackward0",
    inplace="clamp_",
    aliases=("clip",),
    dtype="promote",
    check=_check_limits,
    refuse=NO_COMPLEX_LIMITS,
    forward=lambda xp, self, low, high: _clamp(xp, self, low, high),
    joint={
        ("self", "min", "max"): lambda grad, self, min, max, needs: _limits_backward(
            grad, self, min, max, needs
        )
    },
    zero="clamps",
    doc="Clamps (clips) elements between two tensors.",
    computes="minimum(maximum(self, min), max)",
    corners=(
        "tensor(1.).clamp(tensor(1.), tensor(2.))",
        "tensor(2.).clamp(tensor(1.), tensor(2.))",
        "tensor(0.).clamp(tensor(2.), tensor(1.))",
    ),
    samples=("torch.clamp(x, u - 1, u + 1)", "x.clamp(min=u)", "x.clamp(max=z)"),
)

clamp = operator(
    "clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
    node="ClampBackward1",
    inplace="clamp_",
    aliases=("clip",),
    dtype=_clamp_type,
    check=_check_limits,
    cast_words=CAST_WORDS,
    refuse=NO_COMPLEX_LIMITS,
    forward=lambda xp, self, low, high: _clamp(xp, self, low, high),
    self=lambda grad, self, min, max: _clamp_backward(grad, self, min, max),
    zero="clamps",
    smooth="torch.nn.functional.leaky_relu(self)",
    doc="Clamps elements between two numbers; the gradient passes at the bounds.",
    corners=(
        "tensor([-1., 1.]).clamp(-1, 1)",
        "tensor(0.).clamp(2, 1)",
        "tensor([1., math.nan]).clamp(0, 1)",
    ),
    samples=(
        "torch.clamp(x, -0.5, 0.5)",
        "x.clamp(min=0)",
        "x.clamp(max=0.3)",
        "i.clamp(0, 1)",
        "x.clip(-1, 1)",
    ),
    errors=("x.clamp()", "x.clamp(max=1e39)", "i.clone().clamp_(min=0.5)"),
)

operator(
    "clamp_min.Tensor(Tensor self, Tensor min) -> Tensor",
    node="ClampMinBackward1",
    inplace="clamp_min_",
    dtype="promote",
    refuse=real_only("maximum_cpu"),
    forward=lambda xp, self, low: _clamp(xp, self, low, None),
    self=lambda grad, self, min: where(self >= min, grad, 0),
    min=lambda grad, self, min: where(self < min, grad, 0),
    zero="clamps",
    doc="Clamps elements from below to those of another tensor.",
    corners=("tensor(1.).clamp_min(tensor(1.))",),
    samples=("torch.clamp_min(x, u)", "x.clamp_min(z)"),
    errors=("x.clamp_min(r)",),
)

operator(
    "clamp_max.Tensor(Tensor self, Tensor max) -> Tensor",
    node="ClampMaxBackward1",
    inplace="clamp_max_",
    dtype="promote",
    refuse=real_only("minimum_cpu"),
    forward=lambda xp, self, high: _clamp(xp, self, None, high),
    self=lambda grad, self, max: where(self <= max, grad, 0),
    max=lambda grad, self, max: where(self > max, grad, 0),
    zero="clamps",
    doc="Clamps elements from above to those of another tensor.",
    corners=("tensor(1.).clamp_max(tensor(1.))",),
    samples=("torch.clamp_max(x, u)", "x.clamp_max(z)"),
    errors=("x.clamp_max(r)",),
)


def added_exponentials(xp: Any, self: Any, other: Any) -> Any:
    """log(exp(self) + exp(other)); of complex numbers the larger real part is taken out."""
    if self.dtype.kind != "c":
        return precise(xp.logaddexp, self, other)
    larger = xp.where(self.real >= other.real, self, other)
    smaller = xp.where(self.real >= other.real, other, self)
    infinite = ~xp.isfinite(smaller.real) & (smaller.real == larger.real)
    some = xp.where(infinite, 0, smaller - larger)
    result = xp.log1p(xp.exp(some)) + larger
    both = xp.log(xp.exp(smaller) + xp.exp(larger))
    return xp.where(infinite, xp.where(smaller.real < 0, smaller, both), result)


logaddexp = operator(
    "logaddexp(Tensor self, Tensor other) -> Tensor",
    node="LogaddexpBackward0",
    dtype="promote",
    refuse=unimplemented("logaddexp_cpu", *INTEGERS, "Bool"),
    forward=added_exponentials,
    self=lambda grad, self, other: grad / (exp(other - self) + 1),
    other=lambda grad, self, other: grad / (exp(self - other) + 1),
    doc="log(exp(self) + exp(other)).",
    computes="log(exp(self) + exp(other))",
    corners=("tensor(-math.inf).logaddexp(tensor(-math.inf))",),
    samples=("torch.logaddexp(x, y)", "x.logaddexp(z)"),
    errors=("torch.logaddexp(i, i)",),
)

clamp_min = operator(
    "clamp_min(Tensor self, Scalar min) -> Tensor",
    node="ClampMinBackward0",
    inplace="clamp_min_",
    dtype="scalar",
    check=lambda self, min: _check_limits(self, min, None),
    cast_words=CAST_WORDS,
    refuse=NO_COMPLEX_LIMITS,
    forward=lambda xp, self, low: _clamp(xp, self, low, None),
    self=lambda grad, self, min: where(self >= min, grad, 0),
    zero="clamps",
    smooth="torch.nn.functional.leaky_relu(self)",
    doc="Clamps elements from below to a number.",
    computes="maximum(self, min)",
    corners=("tensor([1., 0.]).clamp_min(1)",),
    samples=("torch.clamp_min(x, 0.1)", "x.clamp_min(0)"),
)

clamp_max = operator(
    "clamp_max(Tensor self, Scalar max) -> Tensor",
    node="ClampMaxBackward0",
    inplace="clamp_max_",
    dtype="scalar",
    check=lambda self, max: _check_limits(self, max, None),
    cast_words=CAST_WORDS,
    refuse=NO_COMPLEX_LIMITS,
    forward=lambda xp, self, high: _clamp(xp, self, None, high),
    self=lambda grad, self, max: where(self <= max, grad, 0),
    zero="clamps",
    doc="Clamps elements from above to a number.",
    computes="minimum(self, max)",
    corners=("tensor([1., 2.]).clamp_max(1)",),
    samples=("torch.clamp_max(x, 0.1)", "x.clamp_max(0)"),
)
