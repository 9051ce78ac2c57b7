"""Operators: sine, cosine and their like, their inverses, degrees and radians."""

from __future__ import annotations

from typing import Any

from ...engine.schema.operator import Domain, operator
from ...numerics.rounding import precise, transcendental, vector_code
from ...numerics.thresholds import ANGLES, CIRCULAR
from ..conventions import COMPLEX, Late, real_by_rule, unimplemented
from .power import reciprocal, rsqrt

masked_fill = Late("masked_fill.Scalar")


sin = operator(
    "sin(Tensor self) -> Tensor",
    node="SinBackward0",
    inplace="sin_",
    dtype="promote_float",
    forward=transcendental("sin", CIRCULAR, lambda x: vector_code().sine(x), ANGLES),
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
    forward=transcendental("cos", CIRCULAR, lambda x: vector_code().sine(x, 0.5), ANGLES),
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
    forward=transcendental("tan", CIRCULAR),
    self=lambda grad, result: grad * (result**2 + 1),
    doc="Tangent of an angle in radians.",
    computes="sin(self)/cos(self)",
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
    domain=Domain(-1, 1),
    doc="Arc sine (inverse sine), in radians from -pi/2 to pi/2.",
    corners=("tensor([-1., 1., 2.]).asin()",),
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
    domain=Domain(-1, 1),
    doc="Arc cosine (inverse cosine), in radians from 0 to pi.",
    corners=("tensor([-1., 1., 2.]).acos()",),
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
    zero="saturates",
    doc="Arc tangent (inverse tangent), in radians from -pi/2 to pi/2.",
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
    refuse=unimplemented("atan2_cpu", *COMPLEX),
    forward=lambda xp, self, other: precise(xp.arctan2, self, other),
    joint={("self", "other"): _atan2_backward},
    domain=Domain(nonzero=True, of="other"),
    doc="Arc tangent of self / other by quadrant, in radians from -pi to pi.",
    corners=("tensor(0.).atan2(tensor(0.))", "tensor(0.).atan2(tensor(-1.))"),
    samples=("torch.atan2(x, y)", "x.atan2(z)"),
)

deg2rad = operator(
    "deg2rad(Tensor self) -> Tensor",
    node="Deg2RadBackward0",
    inplace="deg2rad_",
    dtype="promote_float",
    refuse=real_by_rule("deg2rad is not supported for complex tensors."),
    forward=lambda xp, self: self * 0.017453292519943295,
    self=lambda grad: grad * 0.017453292519943295,
    doc="Degrees to radians.",
    computes="self*pi/180",
    samples=("torch.deg2rad(x)",),
)

rad2deg = operator(
    "rad2deg(Tensor self) -> Tensor",
    node="Rad2DegBackward0",
    inplace="rad2deg_",
    dtype="promote_float",
    refuse=real_by_rule("rad2deg is not supported for complex tensors."),
    forward=lambda xp, self: self * 57.29577951308232,
    self=lambda grad: grad * 57.29577951308232,
    doc="Radians to degrees.",
    computes="self*180/pi",
    samples=("torch.rad2deg(x)",),
)
