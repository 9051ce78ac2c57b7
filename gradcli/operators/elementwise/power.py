"""Operators: powers, roots and the inverse."""

from __future__ import annotations

from typing import Any

from ...engine.schema import dtypes
from ...engine.schema.carriers import ARRAYS
from ...engine.schema.dtypes import INTEGER
from ...engine.schema.operator import Domain, Reduced, catalogue, composite, operator
from ...numerics.reduced_kernels import inverse_root, power
from ...numerics.rounding import precise
from ...numerics.thresholds import FUSED
from ..conventions import Late
from ..shape.constants import zeros_as
from .complex_parts import imaginary_part, is_complex, real_part

where = Late("where.self")
log = Late("log")
logical_and = Late("logical_and")
equal = Late("eq.Tensor")
at_least = Late("ge.Tensor")
to_copy = Late("_to_copy")


# ---- powers


def _check_number_power(self: Any, exponent: Any) -> None:
    if self.dtype.category <= INTEGER and exponent.__class__ is int and exponent < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")


def _square_root(xp: Any, self: Any) -> Any:
    if self.dtype.char != "f" or self.size > FUSED or xp.__name__ != "numpy":
        return xp.sqrt(self)
    from ...numerics.roots import vector_sqrt  # which the catalogue is read without

    return vector_sqrt(self)


def _power(xp: Any, self: Any, exponent: Any) -> Any:
    """Integer powers wrap around and reach 0 below exponent 0, as C's do; the rest is NumPy's."""
    base_kind = getattr(self, "dtype", None)
    kind = base_kind or exponent.dtype
    if kind.kind in "iub":
        return _integer_power(xp, self, exponent)
    if exponent.__class__ in (int, float):
        if exponent == 2:
            return self * self
        if exponent == 1:
            return +self  # a copy: what is written into the result must not reach the base
        if exponent == 0.5:
            return _square_root(xp, self)
        if exponent == -0.5:
            return 1 / xp.sqrt(self)
        if exponent == 3:
            return self * self * self
        if exponent == -1:
            return 1 / self
        if exponent == -2:
            return 1 / (self * self)
    if base_kind is not None:
        return precise(xp.power, self, exponent)
    return precise(xp.power, xp.asarray(self, dtype=kind), exponent)


def _integer_power(xp: Any, self: Any, exponent: Any) -> Any:
    if not hasattr(exponent, "dtype"):
        return xp.power(self, int(exponent))
    base = xp.asarray(self, dtype=exponent.dtype)
    negative = exponent < 0
    whole = xp.power(base, xp.where(negative, 0, exponent))
    under = xp.where(base == 1, 1, xp.where(base == -1, xp.where(exponent % 2 == 0, 1, -1), 0))
    return xp.where(negative, under, whole)


def _self_power_backward(grad: Any, self: Any, exponent: Any) -> Any:
    return where(
        equal(exponent, 0.0), zeros_as(grad), grad * (exponent * pow_tensor(self, exponent - 1))
    )


def _exponent_backward(grad: Any, self: Any, exponent: Any, result: Any) -> Any:
    base = _promoted(self, result)
    small = at_least(real_part(exponent), 0)
    if is_complex(exponent):
        small = logical_and(equal(imaginary_part(exponent), 0), small)
    cond = logical_and(equal(base, 0), small)
    return grad * where(cond, 0.0, result * log(base))


def _promoted(self: Any, result: Any) -> Any:
    """A base in the precision of the result, which its logarithm is taken in: arrays are given
    in that already, and symbols have none."""
    if not hasattr(self, "_kind") or self.dtype is result.dtype:
        return self
    return to_copy(self, result.dtype, None)


def _number_base_backward(grad: Any, self: Any, exponent: Any, result: Any) -> Any:
    from cmath import log as log_of
    from math import inf, log as real_log, nan

    if self.__class__ is complex and self:
        return grad * (result * log_of(self))
    logarithm = real_log(self) if self.real > 0 else -inf if self == 0 else nan
    if self == 0:
        return grad * where(at_least(exponent, 0), 0.0, result * logarithm)
    return grad * (result * logarithm)


pow_tensor = operator(
    "pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
    node="PowBackward1",
    inplace="pow_",
    dtype="promote",
    refuse={"Bool": "\"pow\" not implemented for 'Bool'"},
    forward=_power,
    self=lambda grad, self, exponent: _self_power_backward(grad, self, exponent),
    exponent=lambda grad, self, exponent, result: _exponent_backward(grad, self, exponent, result),
    domain=Domain(0, None),
    doc="Power, elementwise.",
    computes="self**exponent",
    corners=(
        "tensor(0.) ** tensor(0.)",
        "tensor(0.) ** tensor(2.)",
        "tensor(0.) ** tensor(-1.)",
        "tensor(-2.) ** tensor(2.)",
    ),
    samples=(
        "p ** y",
        "torch.pow(p, s)",
        "p.pow(z)",
        "x ** torch.tensor(2.0)",
        "i ** j",
        "p ** i",
        "torch.pow(x, n)",
        "i.pow(torch.tensor(-1))",
    ),
    errors=("k ** k", "torch.pow(x, r)"),
)


def _number_power_backward(grad: Any, self: Any, exponent: Any) -> Any:
    if exponent == 0:
        return zeros_as(self)
    plain = exponent == 2 and self.__class__ in ARRAYS  # to the power of 1 without a copy
    return grad * ((self if plain else pow_scalar(self, exponent - 1)) * exponent)


pow_scalar = operator(
    "pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
    node="PowBackward0",
    inplace="pow_",
    dtype="scalar",
    check=_check_number_power,
    forward=_power,
    reduced=Reduced(power),
    self=lambda grad, self, exponent: _number_power_backward(grad, self, exponent),
    domain=Domain(0, None),
    doc="Power with a number as exponent.",
    corners=(
        "tensor(0.) ** 0",
        "tensor(0.) ** 1",
        "tensor(0.) ** 0.5",
        "tensor(0.) ** -1",
        "tensor(-8.) ** 0.5",
    ),
    samples=(
        "x ** 2", "p ** 0.5", "torch.pow(x, 3)", "x.pow(0)", "x ** 1", "p ** -1.5", "i ** 2",
        "k ** 2", "x.square()", "i ** 2.0",
    ),
    errors=("i ** -1",),
)  # fmt: skip

pow_number = operator(
    "pow.Scalar(Scalar self, Tensor exponent) -> Tensor",
    node="PowBackward2",
    dtype="scalar",
    layout="row-major",
    where="torch",
    forward=_power,
    exponent=lambda grad, self, exponent, result: _number_base_backward(
        grad, self, exponent, result
    ),
    doc="A number to the power of a tensor.",
    corners=("torch.pow(0., tensor([0., 1., -1.]))", "torch.pow(-2., tensor(2.))"),
    samples=("2 ** x", "torch.pow(0.5, y)", "2 ** i", "2.0 ** i"),
)

square = composite(
    "square(Tensor self) -> Tensor",
    lambda self: pow_scalar.run(self, 2),
    domain=Domain(None, 80.0),
    doc="x * x, as the power it is in PyTorch.",
    computes="self**2",
    samples=("torch.square(x)", "x.square()"),
)
composite(
    "square_(Tensor self) -> Tensor",
    lambda self: self.pow_(2),
    doc="In-place square.",
    samples=("(x * 1).square_()",),
)


def _wide(*values: Any) -> list[Any]:
    """Tensors and numbers in double precision, complex where one of them is."""
    dimensioned = [value for value in values if hasattr(value, "dtype")]
    complex_ = any(value.dtype.is_complex for value in dimensioned) or any(
        value.__class__ is complex for value in values
    )
    kind = dtypes.complex128 if complex_ else dtypes.float64
    number = complex if complex_ else float
    return [value.to(kind) if hasattr(value, "dtype") else number(value) for value in values]


composite(
    "float_power.Tensor(Tensor self, Tensor exponent) -> Tensor",
    lambda self, exponent: pow_tensor.run(*_wide(self, exponent)),
    doc="Power of tensors in double precision.",
    samples=("torch.float_power(p, y)", "torch.float_power(p, torch.complex(x, y).detach())"),
)
composite(
    "float_power(Tensor self, Scalar exponent) -> Tensor",
    lambda self, exponent: pow_scalar.run(*_wide(self, exponent)),
    doc="Power in double precision.",
    corners=("tensor(0.).float_power(0.5)",),
    samples=(
        "torch.float_power(p, 1.5)",
        "i.float_power(2)",
        "p.float_power(2)",
        "p.float_power(2j)",
    ),
)
composite(
    "float_power.Scalar(Scalar self, Tensor exponent) -> Tensor",
    lambda self, exponent: pow_number.run(*_wide(self, exponent)),
    where="torch",
    doc="Power of a number in double precision.",
    samples=("torch.float_power(2, x)", "torch.float_power(1.5, i)"),
)


def _float_power_into(self: Any, exponent: Any) -> Any:
    given = getattr(exponent, "dtype", None)
    is_complex = exponent.__class__ is complex if given is None else given.is_complex
    needed = "ComplexDouble" if is_complex or self.dtype.is_complex else "Double"
    if self.dtype.word != needed:
        raise RuntimeError(
            f"the base given to float_power_ has dtype {self.dtype.word} but the operation's "
            f"result requires dtype {needed}"
        )
    if is_complex or needed == "ComplexDouble":
        return catalogue.methods["pow_"](self, exponent)
    exponent = exponent.double() if hasattr(exponent, "double") else float(exponent)
    return catalogue.methods["pow_"](self, exponent)


composite(
    "float_power_(Tensor self, Tensor exponent) -> Tensor",
    _float_power_into,
    numbers="exponent",
    where="method",
    doc="The power of a tensor of double precision, in its place.",
    samples=("d.clone().float_power_(2)", "(d * d).float_power_(x)"),
    errors=("x.clone().float_power_(2)",),
)


# ---- roots and the inverse

reciprocal = operator(
    "reciprocal(Tensor self) -> Tensor",
    node="ReciprocalBackward0",
    inplace="reciprocal_",
    dtype="promote_float",
    forward=lambda xp, self: 1 / self,
    self=lambda grad, result: -grad * (result * result),
    domain=Domain(0, None),
    doc="1 / x, elementwise.",
    computes="1/self",
    corners=("tensor([0., -0.]).reciprocal()",),
    samples=("p.reciprocal()", "torch.reciprocal(x)", "2 / p", "i.reciprocal()"),
    errors=("torch.reciprocal(1.0)",),
)

sqrt = operator(
    "sqrt(Tensor self) -> Tensor",
    node="SqrtBackward0",
    inplace="sqrt_",
    dtype="promote_float",
    forward=_square_root,
    self=lambda grad, result: grad / (result * 2),
    domain=Domain(0, None),
    doc="Square root, elementwise.",
    computes="self**0.5",
    corners=("tensor([0., -0., -1.]).sqrt()",),
    samples=("p.sqrt()", "torch.sqrt(p)", "i.sqrt()"),
    errors=("torch.sqrt(1.0)",),
)

rsqrt = operator(
    "rsqrt(Tensor self) -> Tensor",
    node="RsqrtBackward0",
    inplace="rsqrt_",
    dtype="promote_float",
    forward=lambda xp, self: 1 / xp.sqrt(self),
    reduced=Reduced(inverse_root),
    self=lambda grad, result: grad * -0.5 * pow_scalar(result, 3),
    domain=Domain(0, None),
    doc="1 / sqrt(x), elementwise.",
    computes="1/sqrt(self)",
    corners=("tensor([0., -1.]).rsqrt()",),
    samples=("p.rsqrt()", "torch.rsqrt(p)"),
)
