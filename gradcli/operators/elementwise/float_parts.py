"""Operators: the parts that a number is made of, and its neighbours."""

from __future__ import annotations

from ...engine.schema.operator import Reduced, operator
from ...numerics import reduced_kernels as halves
from ..conventions import COMPLEX, INTEGERS, Late, floating_only, unimplemented
from ..shape.cast import alike
from ..shape.constants import number_as, zeros_as

exp2 = Late("exp2")
where = Late("where.self")
power_of_number = Late("pow.Scalar")

LOG_2 = 0.6931471805599453

_FRACTIONS_ONLY = dict.fromkeys(
    (*INTEGERS, "Bool", *COMPLEX),
    (RuntimeError, "torch.frexp() only supports floating-point dtypes"),
)

frexp = operator(
    "frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)",
    node="FrexpBackward0",
    outputs_named="frexp",
    undifferentiable="exponent",
    refuse=_FRACTIONS_ONLY,
    forward=lambda xp, self: xp.frexp(self),
    self=lambda grads, exponent, self_dtype: (
        None if grads[0] is None else alike(grads[0] / exp2(exponent), self_dtype)
    ),
    doc="The fraction between 0.5 and 1 and the power of two that make up a number.",
    samples=("torch.frexp(x)", "x.frexp()", "torch.frexp(x)[0] * 2"),
    errors=("torch.frexp(i)",),
)

ldexp = operator(
    "ldexp.Tensor(Tensor self, Tensor other) -> Tensor",
    node="LdexpBackward0",
    inplace="ldexp_",
    cast_words="ldexp can't be cast to the desired output type {given}",
    dtype="promote_float",
    forward=lambda xp, self, other: self * xp.exp2(other),
    reduced=Reduced(halves.times_power_of_two),
    self=lambda grad, other: grad * power_of_number(2, other),
    other=lambda grad, result: grad * result * LOG_2,
    doc="self times 2 ** other.",
    computes="self*2**other",
    corners=("torch.ldexp(tensor(0.), tensor(3.))",),
    samples=("torch.ldexp(x, y)", "x.ldexp(j)"),
    errors=("i.ldexp_(j)",),
)

nextafter = operator(
    "nextafter(Tensor self, Tensor other) -> Tensor",
    node="NextafterBackward0",
    inplace="nextafter_",
    dtype="promote",
    refuse=floating_only("nextafter_cpu") | unimplemented("nextafter_cpu", *COMPLEX),
    forward=lambda xp, self, other: xp.nextafter(self, other),
    reduced=Reduced(halves.next_after),
    self=lambda grad, self, other: where(self != other, grad, number_as(grad, 0)),
    other=lambda grad: zeros_as(grad),
    zero="flat",
    doc="The next number of self's type in the direction of other.",
    corners=("tensor(1.).nextafter(tensor(1.))",),
    samples=("torch.nextafter(x, y)", "x.nextafter(z)"),
    errors=("torch.nextafter(i, i)",),
)
