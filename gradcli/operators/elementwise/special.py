"""Operators: special functions: logarithms with limits, gamma and its family, erfinv."""

from __future__ import annotations

from math import factorial, inf
from typing import Any

from ...engine.schema.carriers import ARRAYS
from ...engine.schema.operator import Reduced, composite, operator
from ...numerics.reduced_kernels import odds, times_logarithm
from ...numerics.special import in_double, special
from ..conventions import COMPLEX, Late, floating_only, real_by_rule, real_only, unimplemented
from ..shape.constants import number_as, zeros_as
from .circular import cos, sin
from .comparison import logical_and
from .exponential import exp

masked_fill = Late("masked_fill.Scalar")
where = Late("where.self")

PI = 3.141592653589793
HALF_SQRT_PI = 0.886226925452758


# ---- logarithms with limits


def _xlogy(xp: Any, self: Any, other: Any) -> Any:
    """0 * log(0) is 0; NaN in other passes. SciPy's float32 is nearer (PyTorch's bits in all of
    3,600 against 90 of 100), but kl_div calls it, and ordinary losses do not wait for SciPy."""
    self, other = _of_one_type(xp, self, other)
    product = self * xp.log(other)
    return xp.where(xp.logical_and(self == 0, other == other), xp.zeros_like(product), product)


def _xlog1py(xp: Any, self: Any, other: Any) -> Any:
    return special(xp).xlog1py(*_of_one_type(xp, self, other))


def _of_one_type(xp: Any, self: Any, other: Any) -> tuple[Any, Any]:
    """Both as arrays; either may be a number."""
    dtype = getattr(self, "dtype", None) or other.dtype
    return xp.asarray(self, dtype=dtype), xp.asarray(other, dtype=dtype)


xlogy = operator(
    "xlogy.Tensor(Tensor self, Tensor other) -> Tensor",
    node="XlogyBackward0",
    inplace="xlogy_",
    dtype="promote_float",
    where="torch method special",
    refuse=unimplemented("xlogy_cpu", *COMPLEX),
    forward=_xlogy,
    reduced=Reduced(lambda kind, self, other: times_logarithm(kind, self, other, False)),
    self=lambda grad, self, other: masked_fill(
        xlogy(grad, other), logical_and(self == 0.0, other <= 0.0), 0.0
    ),
    other=lambda grad, self, other: grad * self / other,
    doc="self * log(other), 0 where self is 0.",
    computes="self*log(other)",
    corners=("tensor(0.).xlogy(tensor(0.))", "tensor(2.).xlogy(tensor(0.))"),
    samples=("torch.xlogy(x, p)", "torch.special.xlogy(x * 0, p)"),
)

xlogy_number = operator(
    "xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor",
    node="XlogyBackward2",
    inplace="xlogy_",
    dtype="promote_float",
    where="torch method special",
    forward=_xlogy,
    reduced=Reduced(lambda kind, self, other: times_logarithm(kind, self, other, False)),
    self=lambda grad, self, other: (
        xlogy_number(grad, other)
        if other > 0
        else masked_fill(xlogy_number(grad, other), self == 0.0, 0.0)
    ),
    doc="self * log(other) for a number, 0 where self is 0.",
    corners=("torch.xlogy(tensor(0.), 0)",),
    samples=("x.xlogy(2.0)",),
)

operator(
    "xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor",
    node="XlogyBackward1",
    dtype="promote_float",
    where="torch special",
    forward=_xlogy,
    reduced=Reduced(lambda kind, self, other: times_logarithm(kind, self, other, False)),
    other=lambda grad, self, other: grad * self / other,
    doc="A number times log(other).",
    corners=("torch.xlogy(0, tensor(0.))", "torch.xlogy(2, tensor(0.))"),
    samples=("torch.xlogy(1.5, p)",),
)


xlog1py = operator(
    "xlog1py(Tensor self, Tensor other) -> Tensor",
    node="SpecialXlog1PyBackward0",
    dtype="promote_float",
    where="special",
    refuse=unimplemented("xlog1py_cpu", *COMPLEX),
    forward=_xlog1py,
    reduced=Reduced(lambda kind, self, other: times_logarithm(kind, self, other, True)),
    self=lambda grad, self, other: masked_fill(
        xlog1py(grad, other), logical_and(self == 0.0, other <= -1.0), 0.0
    ),
    other=lambda grad, self, other: grad * self / (other + 1),
    doc="self * log(1 + other), 0 where self is 0.",
    computes="self*log(1 + other)",
    corners=("torch.special.xlog1py(tensor(0.), tensor(-1.))",),
    samples=("torch.special.xlog1py(x, p)",),
)

xlog1py_number = operator(
    "xlog1py.Scalar_Other(Tensor self, Scalar other) -> Tensor",
    node="SpecialXlog1PyBackward2",
    dtype="promote_float",
    where="special",
    refuse=unimplemented("xlog1py_cpu", *COMPLEX),
    forward=_xlog1py,
    reduced=Reduced(lambda kind, self, other: times_logarithm(kind, self, other, True)),
    self=lambda grad, self, other: (
        xlog1py_number(grad, other)
        if other > -1
        else masked_fill(xlog1py_number(grad, other), self == 0.0, 0.0)
    ),
    doc="self * log(1 + other) for a number, 0 where self is 0.",
    corners=("torch.special.xlog1py(tensor(0.), -1)",),
    samples=("torch.special.xlog1py(x, 2)", "torch.special.xlog1py(p, -1)"),
)

operator(
    "xlog1py.Scalar_Self(Scalar self, Tensor other) -> Tensor",
    node="SpecialXlog1PyBackward1",
    dtype="promote_float",
    where="special",
    refuse=unimplemented("xlog1py_cpu", *COMPLEX),
    forward=_xlog1py,
    reduced=Reduced(lambda kind, self, other: times_logarithm(kind, self, other, True)),
    other=lambda grad, self, other: grad * self / (other + 1),
    doc="A number times log(1 + other).",
    samples=("torch.special.xlog1py(1.5, p)",),
)


def _logit(xp: Any, self: Any, eps: float | None) -> Any:
    if eps is not None:
        self = xp.minimum(xp.maximum(self, eps), 1 - eps)
    return xp.log(self / (1 - self))


def _logit_backward(grad: Any, self: Any, eps: float | None) -> Any:
    low, high, outside = (0.0, 1.0, float("nan")) if eps is None else (eps, 1.0 - eps, 0.0)
    inside = logical_and(self >= low, self <= high)
    if self.__class__ in ARRAYS:
        self = self + number_as(self, 0)  # the slope at -0.0 is that at 0.0
    return where(inside, grad / (self * (number_as(self, 1) - self)), outside)


logit = operator(
    "logit(Tensor self, float? eps=None) -> Tensor",
    node="LogitBackward0",
    inplace="logit_",
    dtype="promote_float",
    where="torch method special",
    refuse=real_only("logit_cpu"),
    forward=_logit,
    self=lambda grad, self, eps: _logit_backward(grad, self, eps),
    reduced=Reduced(odds),
    doc="log(x / (1 - x)), x held within eps of 0 and 1 if eps is given.",
    computes="log(self/(1 - self))",
    corners=("tensor([0., 1., 2.]).logit()", "tensor([0., 1.]).logit(eps=0.25)"),
    samples=("torch.logit(u * u)", "(u * u).logit(0.2)"),
)


# ---- the gamma family


def _lgamma(xp: Any, self: Any) -> Any:
    value = special(xp).gammaln(self.astype("float64"))
    return xp.where(xp.isinf(self), xp.inf, value).astype(self.dtype)


def _trigamma(xp: Any, self: Any) -> Any:
    """The derivative of digamma: six steps up, then three terms of the series, as in PyTorch."""
    reflected = self < 0.5
    total = xp.where(reflected, -((PI / xp.sin(PI * self)) ** 2), 0)
    x = xp.where(reflected, 1 - self, self)
    for _ in range(6):
        total = total + 1 / (x * x)
        x = x + 1
    square = 1 / (x * x)
    series = 1 / 6 - square * (1 / 30 - square * (1 / 42))
    total = total + (1 + 1 / (2 * x) + square * series) / x
    return xp.where(reflected, -total, total)


def zeta_of(xp: Any, order: Any, start: Any) -> Any:
    """Hurwitz' zeta of double precision. PyTorch's series ends in infinity times 0 where it starts
    at infinity."""
    value = special(xp).zeta(order, start)
    return xp.where((start == xp.inf) & (order > 1), xp.nan, value)


LARGEST_FACTORIAL = 170  # of a double


def _polygamma(xp: Any, n: int, self: Any) -> Any:
    if n == 0:
        return digamma.forward(xp, self)
    if n == 1:
        return _trigamma(xp, self)
    zeta = zeta_of(xp, xp.asarray(n + 1.0), self.astype("float64")).astype(self.dtype)
    steps = float(factorial(n)) if n <= LARGEST_FACTORIAL else inf
    return xp.asarray(steps if n % 2 else -steps).astype(self.dtype) * zeta


def _check_order(n: int, self: Any) -> None:
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    if self.dtype.is_complex:
        kernel = ("digamma", "trigamma", "polygamma")[min(n, 2)]
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{self.dtype.word}'")


polygamma = operator(
    "polygamma(int n, Tensor self) -> Tensor",
    node="PolygammaBackward0",
    dtype="promote_float",
    where="torch special",
    check=_check_order,
    forward=_polygamma,
    self=lambda grad, self, n: grad * polygamma(n + 1, self),
    doc="The n-th derivative of digamma.",
    corners=("torch.polygamma(1, tensor([0., -1.]))",),
    samples=(
        "torch.polygamma(1, p)", "torch.polygamma(2, p)", "torch.special.polygamma(0, p)",
        "torch.polygamma(2, torch.tensor([float('inf')]))",
    ),
    errors=("torch.polygamma(-1, p)",),
)  # fmt: skip

operator(
    "polygamma.method(Tensor self, int n) -> Tensor",
    node="PolygammaBackward0",
    inplace="polygamma_",
    inplace_node="PolygammaBackward1",
    dtype="promote_float",
    where="method",
    check=lambda self, n: _check_order(n, self),
    forward=lambda xp, self, n: _polygamma(xp, n, self),
    self=lambda grad, self, n: grad * polygamma(n + 1, self),
    doc="The n-th derivative of digamma.",
    samples=("p.polygamma(1)", "p.polygamma(2)", "x.polygamma(3)"),
    errors=("p.polygamma(-1)",),
)

digamma = operator(
    "digamma(Tensor self) -> Tensor",
    node="DigammaBackward0",
    inplace="digamma_",
    dtype="promote_float",
    where="torch method special",
    refuse=real_only("digamma"),
    forward=in_double("digamma"),
    self=lambda grad, self: grad * polygamma(1, self),
    doc="The derivative of the logarithm of the gamma function.",
    corners=("tensor([0., -1.]).digamma()",),
    samples=("torch.digamma(p)", "p.digamma()", "torch.special.digamma(p)"),
)

composite(
    "psi(Tensor self) -> Tensor",
    lambda self: digamma.run(self),
    where="special",
    doc="Another name of digamma.",
    samples=("torch.special.psi(p)",),
)

lgamma = operator(
    "lgamma(Tensor self) -> Tensor",
    node="LgammaBackward0",
    inplace="lgamma_",
    dtype="promote_float",
    refuse=real_only("lgamma_vml_cpu"),
    forward=_lgamma,
    self=lambda grad, self: grad * digamma(self),
    doc="Log-gamma: logarithm of the absolute value of the gamma function.",
    corners=("tensor([0., -1.]).lgamma()",),
    samples=("torch.lgamma(p)", "p.lgamma()", "torch.lgamma(x)"),
)

composite(
    "gammaln(Tensor self) -> Tensor",
    lambda self: lgamma.run(self),
    where="special",
    doc="Log-gamma: logarithm of the absolute value of the gamma function.",
    samples=("torch.special.gammaln(p)",),
)


# ---- the inverse error function


def _erfinv(xp: Any, self: Any) -> Any:
    x = self.astype("float64")
    return xp.copysign(special(xp).erfinv(x), x).astype(self.dtype)  # SciPy's loses -0.0


erfinv = operator(
    "erfinv(Tensor self) -> Tensor",
    node="ErfinvBackward0",
    inplace="erfinv_",
    dtype="promote_float",
    where="torch method special",
    refuse=floating_only("erfinv") | real_only("erfinv_vml_cpu"),
    forward=_erfinv,
    self=lambda grad, self: exp(erfinv(self) ** 2) * HALF_SQRT_PI * grad,
    doc="The inverse error function.",
    corners=("tensor([-1., 1., 2.]).erfinv()",),
    samples=("torch.erfinv(u)", "u.erfinv()"),
)


# ---- others


def _sinc(xp: Any, self: Any) -> Any:
    y = self * PI
    return xp.where(y == 0, xp.ones_like(y), xp.sin(y) / xp.where(y == 0, xp.ones_like(y), y))


def _sinc_backward(grad: Any, self: Any) -> Any:
    angle = self * PI
    length = self * self * PI
    slope = grad * ((angle * cos(angle) - sin(angle)) / length)
    return where(length == 0.0, zeros_as(grad), slope)


sinc = operator(
    "sinc(Tensor self) -> Tensor",
    node="SincBackward0",
    inplace="sinc_",
    dtype="promote_float",
    where="torch method special",
    forward=_sinc,
    self=lambda grad, self: _sinc_backward(grad, self),
    doc="sin(pi x) / (pi x), 1 at 0.",
    computes="sin(pi*self)/(pi*self)",
    corners=("tensor(0.).sinc()",),
    samples=("torch.sinc(x)", "x.sinc()"),
)


def _one_type(self: Any, values: Any) -> None:
    if self.dtype.is_complex or values.dtype.is_complex:
        raise RuntimeError("heaviside is not yet implemented for complex tensors.")
    if self.dtype is not values.dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")


heaviside = operator(
    "heaviside(Tensor self, Tensor values) -> Tensor",
    node="torch::autograd::NotImplemented",
    inplace="heaviside_",
    dtype="promote",
    check=_one_type,
    refuse=real_by_rule("heaviside is not yet implemented for complex tensors."),
    forward=lambda xp, self, values: xp.where(
        xp.equal(self, 0), values, xp.greater(self, 0).astype(self.dtype)
    ),
    doc="0 below 0, 1 above, and the given value at 0.",
    computes="where(self < 0, 0, where(self > 0, 1, values))",
    corners=("torch.heaviside(tensor([-1., 0., 1.]).detach(), tensor(0.5).detach())",),
    samples=("torch.heaviside(x.detach(), p.detach())", "torch.heaviside(s.detach(), p.detach())"),
    errors=("torch.heaviside(x, i)",),
)

logaddexp2 = operator(
    "logaddexp2(Tensor self, Tensor other) -> Tensor",
    node="Logaddexp2Backward0",
    dtype="promote",
    refuse=floating_only("logaddexp2_cpu"),
    forward=lambda xp, self, other: xp.logaddexp2(self, other),
    self=lambda grad, self, other: grad / (2 ** (other - self) + 1),
    other=lambda grad, self, other: grad / (2 ** (self - other) + 1),
    doc="log2(2 ** self + 2 ** other).",
    computes="log2(2**self + 2**other)",
    corners=("tensor(-math.inf).logaddexp2(tensor(-math.inf))",),
    samples=("torch.logaddexp2(x, y)",),
    errors=("torch.logaddexp2(i, i)",),
)
