"""Operators: comparisons, logic, tests of an element; extremes of two tensors; bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...engine.conversion import other_device
from ...engine.dtypes import FLOATING
from ...engine.limits import held
from ...engine.operator import composite, operator
from ...numerics.rounding import precise
from ..conventions import (
    COMPLEX,
    INTEGERS,
    NO_COMPLEX_LIMITS,
    REDUCED,
    Late,
    real_by_rule,
    real_only,
    unimplemented,
)
from ..shape.constants import zeros_as
from .arithmetic import wrapped
from .exponential import exp

where = Late("where.self")
masked_fill = Late("masked_fill.Scalar")
sum_all = Late("sum")


def _compare(name: str, ufunc: str, alias: str, symbol: str, doc: str) -> Any:
    """One of the six comparisons; a number counts as weakly as in arithmetic."""
    return operator(
        f"{name}.Tensor(Tensor self, Tensor other) -> Tensor",
        numbers="other",
        dtype="compare",
        inplace=f"{name}_",
        node=f"{name.capitalize()}Backward1",  # seen only in place: elsewhere the result is bool
        aliases=(alias,) if alias else (),
        refuse=unimplemented(f"{name}_cpu", *COMPLEX) if symbol[0] in "<>" else None,
        forward=lambda xp, self, other: getattr(xp, ufunc)(self, other),
        self=lambda grad: zeros_as(grad),
        other=lambda grad: zeros_as(grad),
        doc=doc,
        samples=(
            f"torch.{name}(x, y)",
            f"x {symbol} 0.5",
            f"i {symbol} 2",
            f"x {symbol} z",
            f"i {symbol} 0.5",
        ),
        errors=(f"torch.{name}(x, r)",),
    )


eq = _compare("eq", "equal", "", "==", "Is self equal to other?")
ne = _compare("ne", "not_equal", "not_equal", "!=", "Is self different from other?")
lt = _compare("lt", "less", "less", "<", "Is self less than other?")
le = _compare("le", "less_equal", "less_equal", "<=", "Is self at most other?")
gt = _compare("gt", "greater", "greater", ">", "Is self greater than other?")
ge = _compare("ge", "greater_equal", "greater_equal", ">=", "Is self at least other?")


def _logic(name: str, sample: str, doc: str) -> Any:
    return operator(
        f"{name}(Tensor self, Tensor other) -> Tensor",
        dtype="compare",
        inplace=f"{name}_",
        forward=lambda xp, self, other: getattr(xp, name)(self, other),
        doc=doc,
        samples=(f"torch.{name}(k, x > 0)", sample),
    )


logical_and = _logic("logical_and", "i.logical_and(k)", "Are both true, that is not zero?")
logical_or = _logic("logical_or", "i.logical_or(k)", "Is one of them true?")
logical_xor = _logic("logical_xor", "i.logical_xor(k)", "Is exactly one of them true?")

logical_not = operator(
    "logical_not(Tensor self) -> Tensor",
    dtype="bool",
    inplace="logical_not_",
    forward=lambda xp, self: xp.logical_not(self),
    doc="Is the element zero?",
    samples=("torch.logical_not(k)", "i.logical_not()"),
)


def _test(
    name: str,
    test: Callable[[Any, Any], Any],
    doc: str,
    faces: str = "torch method",
    refuse: Any = None,
) -> Any:
    return operator(
        f"{name}(Tensor self) -> Tensor",
        dtype="bool",
        refuse=refuse,
        where=faces,
        forward=test,
        acts="pointwise",
        doc=doc,
        samples=(f"torch.{name}(x / 0)", f"torch.{name}(i)"),
    )


def _floating(xp: Any, self: Any, test: Callable[[], Any], other: bool) -> Any:
    return test() if self.dtype.kind in "fc" else xp.full(self.shape, other)


isnan = _test("isnan", lambda xp, self: self != self, "Is the element NaN?")
isinf = _test(
    "isinf", lambda xp, self: _floating(xp, self, lambda: xp.isinf(self), False), "Is it infinite?"
)
isfinite = _test(
    "isfinite",
    lambda xp, self: _floating(xp, self, lambda: xp.isfinite(self), True),
    "Is it neither infinite nor NaN?",
)
isposinf = _test(
    "isposinf",
    lambda xp, self: self == float("inf"),
    "Is it infinity?",
    refuse=real_by_rule("isposinf does not support complex inputs."),
)
isneginf = _test(
    "isneginf",
    lambda xp, self: self == -float("inf"),
    "Is it minus infinity?",
    refuse=real_by_rule("isneginf does not support complex inputs."),
)
isreal = _test("isreal", lambda xp, self: xp.isreal(self), "Is it a real number?")
signbit = _test(
    "signbit",
    lambda xp, self: xp.signbit(self) if self.dtype.kind == "f" else self < 0,
    "Is its sign bit set?",
    refuse=real_by_rule("signbit is not implemented for complex tensors.", NotImplementedError),
)


def _isclose(xp: Any, self: Any, other: Any, rtol: float, atol: float, equal_nan: bool) -> Any:
    if self.dtype.kind != "f":  # errors of integers and bools are measured in the default type
        self, other = self.astype("float32"), other.astype("float32")
    near = xp.abs(self - other) <= atol + rtol * xp.abs(other)
    near = (near & xp.isfinite(other)) | (self == other)
    return near | ((self != self) & (other != other)) if equal_nan else near


def _check_close(self: Any, other: Any, rtol: float, atol: float, equal_nan: bool) -> None:
    if self.dtype is not other.dtype:
        raise RuntimeError(f"{self.dtype.word} did not match {other.dtype.word}")
    for name, value in (("rtol", rtol), ("atol", atol)):
        if value < 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {value:g}")


isclose = operator(
    "isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, "
    "bool equal_nan=False) -> Tensor",
    dtype="compare",
    check=_check_close,
    forward=_isclose,
    doc="Is |self - other| at most atol + rtol * |other|?",
    samples=("torch.isclose(x, x + 1e-7)", "x.isclose(y, rtol=1.0)", "torch.isclose(i, i)",
             "k.isclose(~k)", "i.isclose(i + 1, rtol=0.6)"),
    errors=("torch.isclose(x, d)",),
)  # fmt: skip


composite(
    "allclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, "
    "bool equal_nan=False) -> bool",
    lambda self, other, rtol, atol, equal_nan: bool(
        isclose.run(self, other, rtol, atol, equal_nan)._data.all()
    ),
    doc="Are all elements close, as a Python bool?",
    samples=("torch.allclose(x, x + 1e-7)", "x.allclose(y)"),
)


def _equal(self: Any, other: Any) -> bool:
    if self.device != other.device:
        raise other_device("_equal", "other", other, self.device)
    if self.shape != other.shape:
        return False
    return bool((self._data == other._data).all())


composite(
    "equal(Tensor self, Tensor other) -> bool",
    _equal,
    doc="The same shape and elements, as a Python bool?",
    samples=("torch.equal(x, x)", "x.equal(y)", "torch.equal(x, r)"),
)


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
        self = xp.maximum(self, wrapped(low, self.dtype))
    return self if high is None else xp.minimum(self, wrapped(high, self.dtype))


def _check_limits(self: Any, low: Any, high: Any) -> None:
    if low is None and high is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    dtype = self.dtype
    if dtype.category < FLOATING:
        dtype = _clamp_type(self, low, high)
    held(low, dtype)
    held(high, dtype)


def _clamp_type(self: Any, low: Any, high: Any) -> Any:
    from ...engine.promotion import result_dtype

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


clamp_tensor = operator(
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
    doc="Elements held between two tensors.",
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
    refuse=NO_COMPLEX_LIMITS,
    forward=lambda xp, self, low, high: _clamp(xp, self, low, high),
    self=lambda grad, self, min, max: _clamp_backward(grad, self, min, max),
    zero="clamps",
    smooth="torch.nn.functional.leaky_relu(self)",
    doc="Elements held between two numbers; the gradient passes at the bounds.",
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
    errors=("x.clamp()", "x.clamp(max=1e39)"),
)

clamp_min = operator(
    "clamp_min(Tensor self, Scalar min) -> Tensor",
    node="ClampMinBackward0",
    inplace="clamp_min_",
    dtype="scalar",
    check=lambda self, min: _check_limits(self, min, None),
    refuse=NO_COMPLEX_LIMITS,
    forward=lambda xp, self, low: _clamp(xp, self, low, None),
    self=lambda grad, self, min: where(self >= min, grad, 0),
    zero="clamps",
    smooth="torch.nn.functional.leaky_relu(self)",
    doc="Elements held above a number.",
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
    refuse=NO_COMPLEX_LIMITS,
    forward=lambda xp, self, high: _clamp(xp, self, None, high),
    self=lambda grad, self, max: where(self <= max, grad, 0),
    zero="clamps",
    doc="Elements held below a number.",
    computes="minimum(self, max)",
    corners=("tensor([1., 2.]).clamp_max(1)",),
    samples=("torch.clamp_max(x, 0.1)", "x.clamp_max(0)"),
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
    doc="Elements held above those of another tensor.",
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
    doc="Elements held below those of another tensor.",
    corners=("tensor(1.).clamp_max(tensor(1.))",),
    samples=("torch.clamp_max(x, u)", "x.clamp_max(z)"),
    errors=("x.clamp_max(r)",),
)

logaddexp = operator(
    "logaddexp(Tensor self, Tensor other) -> Tensor",
    node="LogaddexpBackward0",
    dtype="promote",
    refuse=unimplemented("logaddexp_cpu", *INTEGERS, "Bool"),
    forward=lambda xp, self, other: precise(xp.logaddexp, self, other),
    self=lambda grad, self, other: grad / (exp(other - self) + 1),
    other=lambda grad, self, other: grad / (exp(self - other) + 1),
    doc="log(exp(self) + exp(other)).",
    computes="log(exp(self) + exp(other))",
    corners=("tensor(-math.inf).logaddexp(tensor(-math.inf))",),
    samples=("torch.logaddexp(x, y)", "x.logaddexp(z)"),
    errors=("torch.logaddexp(i, i)",),
)

copysign = operator(
    "copysign.Tensor(Tensor self, Tensor other) -> Tensor",
    node="CopysignBackward0",
    inplace="copysign_",
    dtype="promote_float",
    forward=lambda xp, self, other: xp.copysign(self, other),
    self=lambda grad, self, result: grad * masked_fill(result / self, self == 0, 0),
    other=lambda grad: zeros_as(grad),
    doc="The magnitude of self with the sign of other.",
    computes="where(signbit(other), -abs(self), abs(self))",
    corners=("tensor(0.).copysign(tensor(-1.))", "tensor(2.).copysign(tensor(-0.))"),
    samples=("torch.copysign(x, y.detach())", "x.copysign(n)"),
)

operator(
    "copysign.Scalar(Tensor self, Scalar other) -> Tensor",
    node="CopysignBackward1",
    inplace="copysign_",
    dtype="promote_float",
    forward=lambda xp, self, other: xp.copysign(self, xp.asarray(other, dtype=self.dtype)),
    self=lambda grad, self, result: grad * masked_fill(result / self, self == 0, 0),
    doc="The magnitude of self with the sign of a number.",
    corners=("tensor([0., 2.]).copysign(-1)",),
    samples=("x.copysign(-1)",),
)


# ---- bits


_NOT_INTEGERS = (*REDUCED, "Float", "Double", *COMPLEX)


def _bitwise(name: str, ufunc: str, symbol: str, doc: str, kernel: str, *refused: str) -> Any:
    return operator(
        f"{name}.Tensor(Tensor self, Tensor other) -> Tensor",
        numbers="self, other",
        dtype="promote",
        inplace=f"{name}_",
        refuse={w: f"\"{kernel}\" not implemented for '{w}'" for w in (*_NOT_INTEGERS, *refused)},
        forward=lambda xp, self, other: getattr(xp, ufunc)(self, other),
        doc=doc,
        samples=(f"torch.{name}(i, i + 1)", f"i {symbol} 3", f"3 {symbol} i"),
        errors=(f"x {symbol} i", *(f"k {symbol} k" for _ in refused)),
    )


for _word, _symbol, _doc in (
    ("and", "&", "Bits set in both."),
    ("or", "|", "Bits set in one of them."),
    ("xor", "^", "Bits set in exactly one."),
):
    _bitwise(f"bitwise_{_word}", f"bitwise_{_word}", _symbol, _doc, f"bitwise_{_word}_cpu")
_bitwise("bitwise_left_shift", "left_shift", "<<", "Bits moved up.", "lshift_cpu", "Bool")
_bitwise("bitwise_right_shift", "right_shift", ">>", "Bits moved down.", "rshift_cpu", "Bool")

bitwise_not = operator(
    "bitwise_not(Tensor self) -> Tensor",
    inplace="bitwise_not_",
    refuse={w: f"\"bitwise_not_cpu\" not implemented for '{w}'" for w in _NOT_INTEGERS},
    forward=lambda xp, self: xp.logical_not(self) if self.dtype.kind == "b" else xp.invert(self),
    doc="All bits turned.",
    samples=("torch.bitwise_not(i)", "~k"),
)
