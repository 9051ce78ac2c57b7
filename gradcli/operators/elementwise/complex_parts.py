"""Operators: complex numbers: made of parts, taken apart, conjugated."""

from __future__ import annotations

from typing import Any

from ...engine.schema.dtypes import FLOATING, complex_of, default_dtype, real_of
from ...engine.schema.operator import catalogue, composite, operator
from ..conventions import Late, unimplemented
from ..geometry import is_contiguous

clone = Late("clone")
select = Late("select.int")


def is_complex(value: Any) -> bool:
    """Does an array or a tensor hold complex numbers?"""
    kind = value.dtype
    return bool(kind.is_complex if hasattr(kind, "is_complex") else kind.kind == "c")


# ---- the memory of one as that of the other


def _check_pairs(self: Any) -> None:
    if self.dtype.name not in ("float32", "float64", "float16"):
        raise RuntimeError(
            "view_as_complex is only supported for half, float and double tensors, but got a "
            f"tensor of scalar type: {self.dtype.word}"
        )
    if not self.ndim:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if self.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    if self.stride(-1) != 1:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    if any(step % 2 for step in self.stride()[:-1]):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")


def _check_complex(self: Any) -> None:
    if not self.dtype.is_complex:
        raise RuntimeError("view_as_real is only supported for complex tensors")


def _as_pairs(xp: Any, self: Any) -> Any:
    return self[..., None].view("float32" if self.dtype.itemsize == 8 else "float64")


def _of_pairs(xp: Any, self: Any) -> Any:
    if self.strides[-1] != self.itemsize:  # a gradient, whose memory is not shared
        self = xp.ascontiguousarray(self)
    return self.view("complex64" if self.dtype.itemsize == 4 else "complex128")[..., 0]


def row_major(grad: Any) -> Any:
    """As an operation of its own, where elements lie otherwise."""
    return grad if is_contiguous(grad) else clone(grad, "torch.contiguous_format")


view_as_real = operator(
    "view_as_real(Tensor self) -> Tensor",
    node="ViewAsRealBackward0",
    view=True,
    where="torch",
    dtype=lambda self: real_of(self.dtype),
    check=_check_complex,
    forward=_as_pairs,
    self=lambda grad: view_as_complex(row_major(grad)),
    acts="leading",
    doc="Complex numbers as pairs of real ones, in a last dimension of size 2.",
    samples=("torch.view_as_real(torch.complex(x, y))",),
    errors=("torch.view_as_real(x)",),
)

view_as_complex = operator(
    "view_as_complex(Tensor self) -> Tensor",
    node="ViewAsComplexBackward0",
    view=True,
    where="torch",
    dtype=lambda self: complex_of(self.dtype),
    check=_check_pairs,
    forward=_of_pairs,
    self=lambda grad: view_as_real(row_major(grad)),
    acts="leading",
    doc="Pairs of real numbers in a last dimension of size 2 as complex ones.",
    samples=("torch.view_as_complex(torch.stack([x, y], -1))",),
    errors=("torch.view_as_complex(x)", "torch.view_as_complex(i)", "torch.view_as_complex(s)"),
)


def real_part(value: Any) -> Any:
    """The real part, of arrays and tensors; what is real stays itself."""
    return select(view_as_real(value), -1, 0) if is_complex(value) else value


def imaginary_part(value: Any) -> Any:
    return select(view_as_real(value), -1, 1)


def _imaginary(self: Any) -> Any:
    if not self.dtype.is_complex:
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return imaginary_part(self)


composite(
    "real(Tensor self) -> Tensor",
    lambda self: real_part(self),
    where="torch property",
    doc="The real part: a view of it, or the real tensor itself.",
    samples=("torch.real(x) * 2", "torch.complex(x, y).real", "x.real"),
)

composite(
    "imag(Tensor self) -> Tensor",
    lambda self: _imaginary(self),
    where="torch property",
    doc="The imaginary part, as a view.",
    samples=("torch.imag(torch.complex(x, y))", "torch.complex(x, y).imag"),
    errors=("torch.imag(x)", "x.imag"),
)

# ---- conjugation

conj_row = operator(
    "_conj(Tensor self) -> Tensor",
    node="ConjBackward0",
    where="hidden",
    forward=lambda xp, self: xp.conj(self),
    self=lambda grad: conj_row(grad),
    acts="pointwise",
    doc="The complex conjugate.",
    samples=("torch.complex(x, y).conj()",),
)

conj_physical_row = operator(
    "_conj_physical(Tensor self) -> Tensor",
    node="ConjPhysicalBackward0",
    inplace="conj_physical_",
    inplace_node="ConjPhysicalBackward1",
    where="inplace",
    forward=lambda xp, self: xp.conj(self),
    self=lambda grad: conj_physical_row(grad) if is_complex(grad) else grad,
    doc="The complex conjugate, carried out.",
    samples=("torch.conj_physical(torch.complex(x, y))",),
)


def conj(value: Any) -> Any:
    """The conjugate, of arrays and tensors; what is real stays itself."""
    return conj_row(value) if is_complex(value) else value


composite(
    "conj(Tensor self) -> Tensor",
    lambda self: conj(self),
    doc="The complex conjugate: a real tensor itself.",
    samples=("torch.conj(x) * 2", "torch.complex(x, y).conj()", "x.conj()"),
)

composite(
    "conj_physical(Tensor self) -> Tensor",
    lambda self: conj_physical_row(self) if self.dtype.is_complex else self,
    doc="The complex conjugate, carried out: a real tensor itself.",
    samples=("torch.conj_physical(x) * 2", "torch.complex(x, y).conj_physical()"),
)

for _name, _what in (("resolve_conj", "conjugation"), ("resolve_neg", "negation")):
    composite(
        f"{_name}(Tensor self) -> Tensor",
        lambda self: self,
        doc=f"The tensor with its {_what} carried out.",
        samples=(f"torch.{_name}(x) * 2",),
    )

# ---- numbers made of two real ones


def _check_parts(real: Any, imag: Any) -> None:
    names = "float16", "float32", "float64"
    if real.dtype.name not in names or imag.dtype.name not in names:
        raise RuntimeError(
            f"Expected both inputs to be Half, Float or Double tensors but got {real.dtype.word} "
            f"and {imag.dtype.word}"
        )
    if real.dtype is not imag.dtype:
        raise RuntimeError(
            f"Expected object of scalar type {real.dtype.word} but got scalar type "
            f"{imag.dtype.word} for second argument"
        )


def _joined(xp: Any, real: Any, imag: Any) -> Any:
    real, imag = xp.broadcast_arrays(real, imag)
    pairs = xp.stack([real, imag], -1)
    return _of_pairs(xp, pairs)


complex_ = operator(
    "complex(Tensor real, Tensor imag) -> Tensor",
    node="ComplexBackward0",
    where="torch",
    dtype="complex",
    check=_check_parts,
    forward=_joined,
    real=lambda grad, real, imag: real_part(grad),
    imag=lambda grad, real, imag: imaginary_part(grad),
    doc="Complex numbers of their real and imaginary parts.",
    samples=("torch.complex(x, y)", "torch.complex(x, y) * 2j", "torch.complex(d, d)"),
    errors=("torch.complex(x, d)", "torch.complex(i, i)", "torch.complex(x, v[:2])"),
)


def _polar_gradient(grad: Any, result: Any) -> tuple[Any, Any]:
    turned = conj(grad)
    outwards = real_part(turned * catalogue.row("sgn")(result))
    return outwards, real_part(turned * (result * 1j))


polar = operator(
    "polar(Tensor abs, Tensor angle) -> Tensor",
    node="PolarBackward0",
    where="torch",
    dtype="complex",
    holomorphic=False,
    check=_check_parts,
    refuse=unimplemented("polar_cpu", "Half"),
    forward=lambda xp, abs, angle: _joined(xp, abs * xp.cos(angle), abs * xp.sin(angle)),
    joint={("abs", "angle"): lambda grad, result: _polar_gradient(grad, result)},
    doc="Complex numbers of their absolute values and angles.",
    samples=("torch.polar(x, y)", "torch.polar(p, x).real"),
    errors=("torch.polar(x, d)",),
)


def _angle(xp: Any, self: Any) -> Any:
    if self.dtype.kind == "c":
        return xp.angle(self)
    zero = xp.zeros((), dtype=self.dtype if self.dtype.kind == "f" else "float32")
    return xp.where(self != self, self, xp.where(self < 0, zero + xp.pi, zero))


def _angle_gradient(grad: Any, self: Any) -> Any:
    if not is_complex(self):
        return catalogue.row("zeros_as")(self)
    size = catalogue.row("abs")(self)
    turned = grad * self / size**2 * 1j
    return catalogue.row("masked_fill.Scalar")(turned, self == 0, 0)


angle = operator(
    "angle(Tensor self) -> Tensor",
    node="AngleBackward0",
    dtype=lambda self: default_dtype() if self.dtype.category < FLOATING else real_of(self.dtype),
    holomorphic=False,
    forward=_angle,
    self=lambda grad, self: _angle_gradient(grad, self),
    acts="pointwise",
    doc="The angle of a number in the complex plane: 0 or pi for real ones.",
    corners=("tensor([0., -0., -1.]).angle()",),
    samples=("torch.angle(x)", "x.angle()", "torch.angle(i)", "torch.complex(x, y).angle()"),
)
