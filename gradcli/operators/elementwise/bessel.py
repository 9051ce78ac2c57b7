"""Operators: Bessel functions, their modified and spherical kinds, and Airy's function."""

from __future__ import annotations

from typing import Any

from ...engine.schema.operator import operator
from ...numerics.special import in_double, special
from ..conventions import Late, full_precision, real_only
from ..shape.constants import number_as

where = Late("where.self")
sgn = Late("sgn")
absolute = Late("abs")
reciprocal = Late("reciprocal")

_AIRY_ENDS = 103.892  # PyTorch's function is 0 from here on; SciPy's knows nothing far beyond


def _spherical(xp: Any, self: Any) -> Any:
    x = self.astype("float64")
    safe = xp.where((x == 0) | xp.isinf(x), 1.0, x)
    value = xp.where(x == 0, 1.0, xp.sin(safe) / safe)
    return xp.where(xp.isinf(x), 0.0, value).astype(self.dtype)


def _airy(xp: Any, self: Any) -> Any:
    x = self.astype("float64")
    value = special(xp).airy(xp.minimum(x, _AIRY_ENDS))[0]
    value = xp.where(x > _AIRY_ENDS, 0.0, value)
    return xp.where(xp.isinf(x), xp.nan, value).astype(self.dtype)


EPSILON = {"float32": 2.0**-23, "float64": 2.0**-52}


def _limited(self: Any, kernel: str) -> tuple[Any, Any]:
    """Where self is not almost 0, and self with the epsilon of its type elsewhere."""
    if getattr(self.dtype, "is_reduced", False):
        error, text = full_precision(kernel)[self.dtype.word]
        raise error(text)
    name = str(getattr(self.dtype, "name", self.dtype)).removeprefix("torch.")
    least = EPSILON.get(name, 2.0**-23)
    clear = absolute(self) > least
    return clear, where(clear, self, number_as(self, least))


def _i1_backward(grad: Any, self: Any, result: Any) -> Any:
    clear, safe = _limited(self, "i1_backward")
    inverse = reciprocal(safe)
    return grad * where(clear, i0(safe) - result * inverse, number_as(self, 0.5))


def _i1e_backward(grad: Any, self: Any, result: Any) -> Any:
    clear, safe = _limited(self, "i1e_backward")
    slope = sgn(safe) + reciprocal(safe)
    return grad * where(clear, i0e(safe) - result * slope, number_as(self, 0.5))


i0 = operator(
    "i0(Tensor self) -> Tensor",
    node="I0Backward0",
    inplace="i0_",
    dtype="promote_float",
    where="torch method special",
    refuse=real_only("i0_vml_cpu"),
    forward=in_double("i0"),
    self=lambda grad, self: grad * i1(self),
    doc="The modified Bessel function of the first kind, of order 0.",
    samples=("torch.i0(x)", "x.i0()", "torch.special.i0(i)", "torch.i0(x * 40)"),
)

i0e = operator(
    "i0e(Tensor self) -> Tensor",
    node="SpecialI0EBackward0",
    dtype="promote_float",
    where="special",
    refuse=real_only("i0e_cpu"),
    forward=in_double("i0e"),
    self=lambda grad, self, result: grad * (i1e(self) - sgn(self) * result),
    doc="i0 times exp(-|x|).",
    computes="exp(-abs(self))*i0(self)",
    corners=("torch.special.i0e(tensor(0.))",),
    samples=("torch.special.i0e(x)", "torch.special.i0e(x.detach() * 40)"),
)

i1 = operator(
    "i1(Tensor self) -> Tensor",
    node="SpecialI1Backward0",
    dtype="promote_float",
    where="special",
    refuse=real_only("i1_cpu"),
    forward=in_double("i1"),
    self=lambda grad, self, result: _i1_backward(grad, self, result),
    doc="The modified Bessel function of the first kind, of order 1.",
    corners=("torch.special.i1(tensor(0.))",),
    samples=("torch.special.i1(x)", "torch.special.i1(x * 0)"),
)

i1e = operator(
    "i1e(Tensor self) -> Tensor",
    node="SpecialI1EBackward0",
    dtype="promote_float",
    where="special",
    refuse=real_only("i1e_cpu"),
    forward=in_double("i1e"),
    self=lambda grad, self, result: _i1e_backward(grad, self, result),
    doc="i1 times exp(-|x|).",
    computes="exp(-abs(self))*i1(self)",
    corners=("torch.special.i1e(tensor(0.))",),
    samples=("torch.special.i1e(x)", "torch.special.i1e(x.detach() * 40)"),
)

for _name, _kernel, _doc in (
    ("bessel_j0", in_double("j0"), "The Bessel function of the first kind, of order 0"),
    ("bessel_j1", in_double("j1"), "The Bessel function of the first kind, of order 1"),
    ("bessel_y0", in_double("y0"), "The Bessel function of the second kind, of order 0"),
    ("bessel_y1", in_double("y1"), "The Bessel function of the second kind, of order 1"),
    ("modified_bessel_i0", in_double("i0"), "The same as special.i0, not differentiable"),
    ("modified_bessel_i1", in_double("i1"), "The same as special.i1, not differentiable"),
    ("modified_bessel_k0", in_double("k0"), "The modified second kind, of order 0"),
    ("modified_bessel_k1", in_double("k1"), "The modified second kind, of order 1"),
    ("scaled_modified_bessel_k0", in_double("k0e"), "modified_bessel_k0 times exp(x)"),
    ("scaled_modified_bessel_k1", in_double("k1e"), "modified_bessel_k1 times exp(x)"),
    ("spherical_bessel_j0", _spherical, "sin(x) / x, the spherical kind of order 0"),
    ("airy_ai", _airy, "Airy's function Ai"),
):
    operator(
        f"{_name}(Tensor self) -> Tensor",
        dtype="promote_float",
        where="special",
        refuse=full_precision(f"{_name}_cpu"),
        forward=_kernel,
        doc=f"{_doc}.",
        samples=(f"torch.special.{_name}(p)", f"torch.special.{_name}(q * 20)",
                 f"torch.special.{_name}(x * 6)", f"torch.special.{_name}(i)"),
    )  # fmt: skip
