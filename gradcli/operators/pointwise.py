"""Operators: functions of one element: exponentials, circular and hyperbolic ones, rounding."""

from __future__ import annotations

from typing import Any

from ..engine.operator import composite, operator, precise, transcendental
from .constants import zeros_as
from .conventions import INTEGERS, Late
from .power import reciprocal, rsqrt

where = Late("where.self")
masked_fill = Late("masked_fill.Scalar")
isfinite = Late("isfinite")

LN_2, LN_10 = 0.6931471805599453, 2.302585092994046
TWO_OVER_SQRT_PI = 1.1283791670955126


# ---- exponentials and logarithms

exp = operator(
    "exp(Tensor self) -> Tensor",
    node="ExpBackward0",
    inplace="exp_",
    dtype="promote_float",
    forward=transcendental("exp"),
    self=lambda grad, result: grad * result,
    doc="e to the power x.",
    samples=("torch.exp(x)", "x.exp()", "i.exp()"),
    errors=("torch.exp(1.0)",),
)

exp2 = operator(
    "exp2(Tensor self) -> Tensor",
    node="Exp2Backward0",
    inplace="exp2_",
    dtype="promote_float",
    where="torch method special",
    forward=transcendental("exp2"),
    self=lambda grad, result: grad * result * LN_2,
    doc="2 to the power x.",
    samples=("torch.exp2(x)", "x.exp2()"),
)

expm1 = operator(
    "expm1(Tensor self) -> Tensor",
    node="Expm1Backward0",
    inplace="expm1_",
    dtype="promote_float",
    where="torch method special",
    forward=transcendental("expm1"),
    self=lambda grad, result: grad * (result + 1),
    doc="exp(x) - 1, exact near 0.",
    samples=("torch.expm1(x)", "x.expm1()"),
)

log = operator(
    "log(Tensor self) -> Tensor",
    node="LogBackward0",
    inplace="log_",
    dtype="promote_float",
    forward=transcendental("log"),
    self=lambda grad, self: grad / self,
    doc="Natural logarithm.",
    samples=("torch.log(p)", "p.log()"),
    errors=("torch.log(1.0)",),
)

log2 = operator(
    "log2(Tensor self) -> Tensor",
    node="Log2Backward0",
    inplace="log2_",
    dtype="promote_float",
    forward=transcendental("log2"),
    self=lambda grad, self: grad / (self * LN_2),
    doc="Logarithm to base 2.",
    samples=("torch.log2(p)", "p.log2()"),
)

log10 = operator(
    "log10(Tensor self) -> Tensor",
    node="Log10Backward0",
    inplace="log10_",
    dtype="promote_float",
    forward=transcendental("log10"),
    self=lambda grad, self: grad / (self * LN_10),
    doc="Logarithm to base 10.",
    samples=("torch.log10(p)", "p.log10()"),
)

log1p = operator(
    "log1p(Tensor self) -> Tensor",
    node="Log1PBackward0",
    inplace="log1p_",
    dtype="promote_float",
    where="torch method special",
    forward=transcendental("log1p"),
    self=lambda grad, self: grad / (self + 1),
    doc="log(1 + x), exact near 0.",
    samples=("torch.log1p(p)", "p.log1p()"),
)


# ---- circular functions

sin = operator(
    "sin(Tensor self) -> Tensor",
    node="SinBackward0",
    inplace="sin_",
    dtype="promote_float",
    forward=transcendental("sin"),
    self=lambda grad, self: grad * cos(self),
    doc="Sine of an angle in radians.",
    samples=("torch.sin(x)", "x.sin()", "i.sin()"),
    errors=("torch.sin(1.0)", "torch.sin()", "torch.sin(x, y)"),
)

cos = operator(
    "cos(Tensor self) -> Tensor",
    node="CosBackward0",
    inplace="cos_",
    dtype="promote_float",
    forward=transcendental("cos"),
    self=lambda grad, self: grad * -sin(self),
    doc="Cosine of an angle in radians.",
    samples=("torch.cos(x)", "x.cos()"),
    errors=("torch.cos(1.0)",),
)

tan = operator(
    "tan(Tensor self) -> Tensor",
    node="TanBackward0",
    inplace="tan_",
    dtype="promote_float",
    forward=transcendental("tan"),
    self=lambda grad, result: grad * (result**2 + 1),
    doc="Tangent of an angle in radians.",
    samples=("torch.tan(u)", "u.tan()"),
)

asin = operator(
    "asin(Tensor self) -> Tensor",
    node="AsinBackward0",
    inplace="asin_",
    aliases=("arcsin",),
    dtype="promote_float",
    forward=transcendental("arcsin"),
    self=lambda grad, self: grad * rsqrt(-self * self + 1),
    doc="The angle in -pi/2..pi/2 whose sine is x.",
    samples=("torch.asin(u)", "u.asin()"),
)

acos = operator(
    "acos(Tensor self) -> Tensor",
    node="AcosBackward0",
    inplace="acos_",
    aliases=("arccos",),
    dtype="promote_float",
    forward=transcendental("arccos"),
    self=lambda grad, self: grad * -rsqrt(-self * self + 1),
    doc="The angle in 0..pi whose cosine is x.",
    samples=("torch.acos(u)", "u.acos()"),
)

atan = operator(
    "atan(Tensor self) -> Tensor",
    node="AtanBackward0",
    inplace="atan_",
    aliases=("arctan",),
    dtype="promote_float",
    forward=transcendental("arctan"),
    self=lambda grad, self: grad / (self * self + 1),
    doc="The angle in -pi/2..pi/2 whose tangent is x.",
    samples=("torch.atan(x)", "x.atan()"),
)


def _atan2_backward(grad: Any, self: Any, other: Any, needs: Any) -> tuple[Any, Any]:
    """The inverse of the squared length is 0 at the origin, where the angle has no derivative."""
    length = self * self + other * other
    recip = masked_fill(reciprocal(length), length == 0, 0)
    return (
        grad * other * recip if needs["self"] else None,
        grad * -self * recip if needs["other"] else None,
    )


atan2 = operator(
    "atan2(Tensor self, Tensor other) -> Tensor",
    node="Atan2Backward0",
    inplace="atan2_",
    aliases=("arctan2",),
    dtype="promote_float",
    forward=lambda xp, self, other: precise(xp.arctan2, self, other),
    joint={("self", "other"): _atan2_backward},
    doc="The angle of the point (other, self), in all four quadrants.",
    samples=("torch.atan2(x, y)", "x.atan2(z)"),
)


# ---- hyperbolic functions

sinh = operator(
    "sinh(Tensor self) -> Tensor",
    node="SinhBackward0",
    inplace="sinh_",
    dtype="promote_float",
    forward=transcendental("sinh"),
    self=lambda grad, self: grad * cosh(self),
    doc="Hyperbolic sine.",
    samples=("torch.sinh(x)", "x.sinh()"),
)

cosh = operator(
    "cosh(Tensor self) -> Tensor",
    node="CoshBackward0",
    inplace="cosh_",
    dtype="promote_float",
    forward=transcendental("cosh"),
    self=lambda grad, self: grad * sinh(self),
    doc="Hyperbolic cosine.",
    samples=("torch.cosh(x)", "x.cosh()"),
)

tanh_backward = operator(
    "tanh_backward(Tensor grad_output, Tensor output) -> Tensor",
    node="TanhBackwardBackward0",
    dtype="promote",
    where="hidden",
    forward=lambda xp, grad_output, output: grad_output * (1 - output * output),
    grad_output=lambda grad, output: tanh_backward(grad, output),
    output=lambda grad, output, grad_output: grad * (output * -2 * grad_output),
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
    samples=("torch.asinh(x)", "x.asinh()"),
)

acosh = operator(
    "acosh(Tensor self) -> Tensor",
    node="AcoshBackward0",
    aliases=("arccosh",),
    dtype="promote_float",
    forward=transcendental("arccosh"),
    self=lambda grad, self: grad * rsqrt(self**2 - 1),
    doc="Inverse hyperbolic cosine, for x of at least 1.",
    samples=("torch.acosh(p + 1)", "(p + 1).acosh()"),
)

atanh = operator(
    "atanh(Tensor self) -> Tensor",
    node="AtanhBackward0",
    aliases=("arctanh",),
    dtype="promote_float",
    forward=transcendental("arctanh"),
    self=lambda grad, self: grad * 1 / (1 - self**2),
    doc="Inverse hyperbolic tangent.",
    samples=("torch.atanh(u)", "u.atanh()"),
)


def _in_place_only(name: str, ufunc: str) -> None:
    """PyTorch has asinh_, acosh_ and atanh_ without derivatives: their nodes say so."""

    def refuse() -> Any:
        raise NotImplementedError(
            f"the derivative for 'inplace version of {name}' is not implemented."
        )

    operator(
        f"{name}.inplace(Tensor self) -> Tensor",
        node=f"{name.capitalize()}Backward1",
        inplace=f"{name}_",
        dtype="promote_float",
        where="inplace",
        forward=transcendental(ufunc),
        self=lambda grad: refuse(),
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
    forward=lambda xp, grad_output, output: grad_output * (1 - output) * output,
    grad_output=lambda grad, output: sigmoid_backward(grad, output),
    output=lambda grad, output, grad_output: grad * grad_output * (output * -2 + 1),
    doc="The gradient of sigmoid, with a node of its own for second order.",
    samples=("torch.autograd.grad(x.sigmoid().sum(), x, create_graph=True)[0]",),
)


def _sigmoid(xp: Any, self: Any) -> Any:
    if self.dtype.char == "f" and self.size <= 1024:
        return (1 / (1 + xp.exp(-self.astype("float64")))).astype("float32")
    return 1 / (1 + xp.exp(-self))


sigmoid = operator(
    "sigmoid(Tensor self) -> Tensor",
    node="SigmoidBackward0",
    inplace="sigmoid_",
    dtype="promote_float",
    where="torch method functional",
    forward=_sigmoid,
    self=lambda grad, result: sigmoid_backward(grad, result),
    doc="1 / (1 + exp(-x)).",
    samples=("torch.sigmoid(x)", "x.sigmoid()", "torch.nn.functional.sigmoid(x)"),
    errors=("torch.sigmoid(1.0)",),
)

composite(
    "expit(Tensor self) -> Tensor",
    lambda self: sigmoid.run(self),
    where="special",
    doc="1 / (1 + exp(-x)).",
    samples=("torch.special.expit(x)",),
)


# ---- rounding and signs: flat, so their gradients are zeros


def _same(xp: Any, self: Any, function: str) -> Any:
    return self if self.dtype.kind in "iu" else getattr(xp, function)(self)


def _refuse_bool(kernel: str) -> dict[str, str]:
    return {"Bool": f"\"{kernel}\" not implemented for 'Bool'"}


floor = operator(
    "floor(Tensor self) -> Tensor",
    node="FloorBackward0",
    inplace="floor_",
    refuse=_refuse_bool("floor_vml_cpu"),
    forward=lambda xp, self: _same(xp, self, "floor"),
    self=lambda grad: zeros_as(grad),
    doc="The largest whole number not above x.",
    samples=("torch.floor(x)", "x.floor()", "i.floor()"),
)

ceil = operator(
    "ceil(Tensor self) -> Tensor",
    node="CeilBackward0",
    inplace="ceil_",
    refuse=_refuse_bool("ceil_vml_cpu"),
    forward=lambda xp, self: _same(xp, self, "ceil"),
    self=lambda grad: zeros_as(grad),
    doc="The smallest whole number not below x.",
    samples=("torch.ceil(x)", "x.ceil()"),
)

trunc = operator(
    "trunc(Tensor self) -> Tensor",
    node="TruncBackward0",
    inplace="trunc_",
    aliases=("fix",),
    refuse=_refuse_bool("trunc_vml_cpu"),
    forward=lambda xp, self: _same(xp, self, "trunc"),
    self=lambda grad: zeros_as(grad),
    doc="x without its fraction.",
    samples=("torch.trunc(x)", "x.trunc()", "torch.fix(x)"),
)

round_ = operator(
    "round(Tensor self) -> Tensor",
    node="RoundBackward0",
    inplace="round_",
    refuse=_refuse_bool("round_vml_cpu"),
    forward=lambda xp, self: _same(xp, self, "rint"),
    self=lambda grad: zeros_as(grad),
    doc="The nearest whole number, halves to even.",
    samples=("torch.round(x)", "x.round()"),
)

operator(
    "round.decimals(Tensor self, *, int decimals) -> Tensor",
    node="RoundBackward1",
    inplace="round_",
    forward=lambda xp, self, decimals: (
        xp.rint(self * 10.0**decimals) / 10.0**decimals
        if decimals >= 0
        else xp.rint(self / 10.0**-decimals) * 10.0**-decimals
    ),
    self=lambda grad: zeros_as(grad),
    doc="Rounded to a number of decimals.",
    samples=("torch.round(x, decimals=1)", "x.round(decimals=-1)"),
)

frac = operator(
    "frac(Tensor self) -> Tensor",
    node="FracBackward0",
    inplace="frac_",
    refuse={word: f"\"frac_cpu\" not implemented for '{word}'" for word in (*INTEGERS, "Bool")},
    forward=lambda xp, self: self - xp.trunc(self),
    self=lambda grad: grad,
    doc="The fraction of x, with its sign.",
    samples=("torch.frac(x)", "x.frac()"),
)


def _sign(xp: Any, self: Any) -> Any:
    """NaN has sign 0 in PyTorch."""
    if self.dtype.kind == "b":
        return self
    return xp.where(self != self, xp.zeros_like(self), xp.sign(self))


sign = operator(
    "sign(Tensor self) -> Tensor",
    node="SignBackward0",
    inplace="sign_",
    forward=_sign,
    self=lambda grad: zeros_as(grad),
    doc="-1, 0 or 1.",
    samples=("torch.sign(x)", "x.sign()", "i.sign()"),
)

sgn = operator(
    "sgn(Tensor self) -> Tensor",
    node="SgnBackward0",
    inplace="sgn_",
    forward=_sign,
    self=lambda grad, result, self: zeros_as(grad),
    doc="The sign, as sign has it for real numbers.",
    samples=("torch.sgn(x)", "x.sgn()"),
)


# ---- the rest

erf = operator(
    "erf(Tensor self) -> Tensor",
    node="ErfBackward0",
    inplace="erf_",
    dtype="promote_float",
    where="torch method special",
    forward=lambda xp, self: error_function(xp, self),
    self=lambda grad, self: exp(-(self**2)) * TWO_OVER_SQRT_PI * grad,
    doc="The error function.",
    samples=("torch.erf(x)", "x.erf()"),
)

erfc = operator(
    "erfc(Tensor self) -> Tensor",
    node="ErfcBackward0",
    inplace="erfc_",
    dtype="promote_float",
    where="torch method special",
    forward=lambda xp, self: error_function(xp, self, complement=True),
    self=lambda grad, self: exp(-(self**2)) * -TWO_OVER_SQRT_PI * grad,
    doc="1 - erf(x), exact for large x.",
    samples=("torch.erfc(x)", "x.erfc()"),
)


def error_function(xp: Any, self: Any, complement: bool = False) -> Any:
    """NumPy has no error function: the C library's, element by element, in double."""
    from math import erf as erf_of
    from math import erfc as erfc_of

    function = erfc_of if complement else erf_of
    if xp.__name__ == "cupy":
        from cupyx.scipy import special

        return (special.erfc if complement else special.erf)(self)
    flat = [function(value) for value in self.astype("float64").reshape(-1).tolist()]
    return xp.asarray(flat, dtype="float64").astype(self.dtype).reshape(self.shape)


deg2rad = operator(
    "deg2rad(Tensor self) -> Tensor",
    node="Deg2RadBackward0",
    inplace="deg2rad_",
    dtype="promote_float",
    forward=lambda xp, self: self * 0.017453292519943295,
    self=lambda grad: grad * 0.017453292519943295,
    doc="Degrees to radians.",
    samples=("torch.deg2rad(x)",),
)

rad2deg = operator(
    "rad2deg(Tensor self) -> Tensor",
    node="Rad2DegBackward0",
    inplace="rad2deg_",
    dtype="promote_float",
    forward=lambda xp, self: self * 57.29577951308232,
    self=lambda grad: grad * 57.29577951308232,
    doc="Radians to degrees.",
    samples=("torch.rad2deg(x)",),
)


def _nan_to_num(
    xp: Any, self: Any, nan: float | None, posinf: float | None, neginf: float | None
) -> Any:
    if self.dtype.kind != "f":
        return self
    most = float(xp.finfo(self.dtype).max)
    up, down = (most if posinf is None else posinf), (-most if neginf is None else neginf)
    fixed = xp.where(self != self, 0.0 if nan is None else nan, self)
    fixed = xp.where(fixed == float("inf"), up, fixed)
    return xp.where(fixed == -float("inf"), down, fixed)


nan_to_num = operator(
    "nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",
    node="NanToNumBackward0",
    inplace="nan_to_num_",
    forward=_nan_to_num,
    self=lambda grad, self: grad * isfinite(self),
    doc="NaN and infinities replaced by numbers.",
    samples=("torch.nan_to_num(x)", "(x / 0).nan_to_num(1.0, 2.0, 3.0)"),
)
