"""Operators: sums, differences, products and their fused forms."""

from __future__ import annotations

from typing import Any

from ...engine.schema.dtypes import bool_, of_number
from ...engine.schema.limits import as_element
from ...engine.schema.operator import Reduced, catalogue, composite, operator
from ...numerics.rounding import multiply_add, precise
from ...numerics.thresholds import UPDATED
from ..conventions import COMPLEX, REDUCED, Late, floating_only, unimplemented
from ..geometry import broadcast_sizes
from ..shape.constants import number_as

sgn = Late("sgn")
TWO_BOOLS = (
    "Subtraction, the `-` operator, with two bool tensors is not supported. "
    "Use the `^` or `logical_xor()` operator instead."
)
ONE_BOOL = (
    "Subtraction, the `-` operator, with a bool tensor is not supported. "
    "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead."
)
NEGATED_BOOL = (
    "Negation, the `-` operator, on a bool tensor is not supported. "
    "If you are trying to invert a mask, use the `~` or `logical_not()` operator instead."
)


def maybe_multiply(grad: Any, factor: Any) -> Any:
    """A factor of one leaves no node."""
    return grad if factor == 1 else grad * factor


def _plus_reduced(kind: Any, self: Any, other: Any, alpha: Any) -> Any:
    from ...numerics.reduced_kernels import plus_scaled  # which few programs need

    return plus_scaled(kind, self, other, alpha)


def _minus_reduced(kind: Any, self: Any, other: Any, alpha: Any) -> Any:
    from ...numerics.reduced_kernels import minus_scaled

    return minus_scaled(kind, self, other, alpha)


def _is_one(alpha: Any) -> bool:
    """1.0 and True are not allowed for operands of every type."""
    return alpha.__class__ is int and bool(alpha == 1)


def _plus_scaled(self: Any, other: Any, alpha: Any) -> Any:
    """self + other * alpha, where PyTorch allows that alpha for operands of this type."""
    kind = getattr(self, "dtype", None) or other.dtype
    words = ""
    if isinstance(alpha, complex) and kind.kind == "f":
        words = "For non-complex input tensors, argument alpha must not be a complex number."
    elif isinstance(alpha, float | complex) and kind.kind not in "fc":
        words = "For integral input tensors, argument alpha must not be a floating point number."
    elif isinstance(alpha, bool) and kind.kind != "b":
        words = "Boolean alpha only supported for Boolean results."
    if words:
        broadcast_sizes(getattr(self, "shape", ()), getattr(other, "shape", ()))  # it comes first
        raise RuntimeError(words)
    if kind.kind == "b":
        return self | other if alpha else self | (other & False)
    return multiply_add(other, wrapped(alpha, kind), self, UPDATED)


def wrapped(number: Any, kind: Any) -> Any:
    """A whole number as an unsigned type holds it: -3 is 253."""
    if kind.kind == "u" and isinstance(number, int):
        return number % (1 << 8 * kind.itemsize)
    return number


def _check_difference(self: Any, other: Any, alpha: Any) -> None:
    bools = [getattr(v, "dtype", None) is bool_ or v.__class__ is bool for v in (self, other)]
    if all(bools):
        raise RuntimeError(TWO_BOOLS)
    if any(bools):
        raise RuntimeError(ONE_BOOL)


def tensor_of(number: Any, other: Any) -> Any:
    """torch.add(2, x): the number as a 0-dim tensor, of a type that counts like the number."""
    if not hasattr(other, "ndim"):
        return catalogue.functions["full"]((), number)
    kind = of_number(number)
    kind = other.dtype if other.dtype.category >= kind.category else kind
    return catalogue.methods["new_full"](other.detach(), (), number, dtype=kind)


def number_first(
    key: str, arguments: str, row: Any, samples: tuple[str, ...], **faces: Any
) -> None:
    """The functions of arithmetic, not the methods, take a number in the first place too."""
    composite(
        f"{key}(Scalar self, Tensor other{arguments}) -> Tensor",
        lambda self, other, *rest: row.run(tensor_of(self, other), other, *rest),
        numbers="other",
        where="torch",
        doc=f"{row.doc} A number stands first.",
        samples=samples,
        **faces,
    )


_NO_BOOL = {"Bool": (RuntimeError, TWO_BOOLS)}

add = operator(
    "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    symbol="+",
    node="AddBackward0",
    inplace="add_",
    numbers="other",
    dtype="promote",
    forward=lambda xp, self, other, alpha: (
        self + other if _is_one(alpha) else _plus_scaled(self, other, alpha)
    ),
    self=lambda grad: grad,
    other=lambda grad, alpha: maybe_multiply(grad, alpha),
    reduced=Reduced(_plus_reduced),
    doc="Sum of two tensors, the second one scaled by alpha.",
    computes="self + alpha*other",
    samples=("x + y", "x + 2", "2 + x", "torch.add(x, y, alpha=3)", "x.add(z)", "d + x", "i + x"),
    errors=("x + v[:2]", "i.add(i, alpha=1.5)"),
)

number_first(
    "add.Number", ", *, Scalar alpha=1", add,
    ("torch.add(2, x)", "torch.add(0.5, i, alpha=2)", "torch.add(1, 2)"),
)  # fmt: skip

add_scalar = operator(
    "add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
    node="AddBackward1",
    dtype="scalar",
    where="hidden",
    forward=lambda xp, self, other, alpha: self + other * alpha,
    reduced=Reduced(_plus_reduced),
    self=lambda grad: grad,
    doc="Sum with a number inside a backward formula.",
    samples=("torch.autograd.grad(x.expm1().sum(), x, create_graph=True)[0]",),
)

sub = operator(
    "sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    symbol="-",
    node="SubBackward0",
    role="compares",
    inplace="sub_",
    numbers="other",
    aliases=("subtract",),
    dtype="scalar",
    check_mixed=_check_difference,
    refuse=_NO_BOOL,
    forward=lambda xp, self, other, alpha: (
        self - other if _is_one(alpha) else _plus_scaled(self, -other, alpha)
    ),
    self=lambda grad: grad,
    other=lambda grad, alpha: maybe_multiply(-grad, alpha),
    reduced=Reduced(_minus_reduced),
    doc="Difference of two tensors, the second one scaled by alpha.",
    computes="self - alpha*other",
    samples=("x - y", "x - 2", "torch.sub(x, y, alpha=3)", "x.subtract(z)", "i - n", "x - i"),
    errors=("k - k", "k - 1", "i - k", "i.sub(i, alpha=0.5)"),
)

number_first("sub.Number", ", *, Scalar alpha=1", sub, ("torch.sub(2, x)",), aliases=("subtract",))

operator(
    "sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
    node="SubBackward1",
    dtype="scalar",
    where="hidden",
    forward=lambda xp, self, other, alpha: self - other * alpha,
    reduced=Reduced(_minus_reduced),
    self=lambda grad: grad,
    doc="Difference to a number inside a backward formula.",
    samples=("torch.autograd.grad((p ** q).sum(), p, create_graph=True)[0]",),
)


def _check_reversed(self: Any, other: Any, alpha: Any) -> None:
    _check_difference(self, other, alpha)
    broadcast_sizes(tuple(other.shape), tuple(self.shape))


rsub = operator(
    "rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    node="RsubBackward0",
    where="torch",
    dtype="scalar",
    check=_check_reversed,
    refuse=_NO_BOOL,
    forward=lambda xp, self, other, alpha: (
        other - self if alpha == 1 else _plus_scaled(other, -self, alpha)
    ),
    reduced=Reduced(lambda kind, self, other, alpha: _minus_reduced(kind, other, self, alpha)),
    self=lambda grad, alpha: maybe_multiply(-grad, alpha),
    other=lambda grad: grad,
    doc="The other tensor minus this one.",
    computes="other - alpha*self",
    samples=("torch.rsub(x, y)", "torch.rsub(x, y, alpha=2)"),
    errors=("torch.rsub(k, k)",),
)

operator(
    "rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
    node="RsubBackward1",
    where="torch",
    check_mixed=_check_difference,
    dtype="scalar",
    refuse={"Bool": (RuntimeError, ONE_BOOL)},
    forward=lambda xp, self, other, alpha: other - (self if alpha == 1 else self * alpha),
    reduced=Reduced(lambda kind, self, other, alpha: _minus_reduced(kind, other, self, alpha)),
    self=lambda grad, alpha: maybe_multiply(-grad, alpha),
    doc="A number minus a tensor: what `2 - x` runs.",
    samples=("2 - x", "torch.rsub(x, 2, alpha=3)", "1 - i", "1.5 - i"),
    errors=("1 - k",),
)

mul = operator(
    "mul.Tensor(Tensor self, Tensor other) -> Tensor",
    symbol="*",
    node="MulBackward0",
    inplace="mul_",
    numbers="other",
    aliases=("multiply",),
    dtype="promote",
    forward=lambda xp, self, other: self * other,
    reduced=Reduced(wide_numbers=True),
    self=lambda grad, other: grad * other,
    other=lambda grad, self: grad * self,
    doc="Product of two tensors, elementwise.",
    computes="self*other",
    samples=("x * y", "x * 2", "2 * x", "torch.mul(x, y)", "x.multiply(z)", "k * k", "i * x"),
    errors=("x * v[:2]",),
)

number_first("mul.Number", "", mul, ("torch.mul(2, x)", "torch.mul(2.5, i)"), aliases=("multiply",))

operator(
    "mul.Scalar(Tensor self, Scalar other) -> Tensor",
    node="MulBackward1",
    dtype="scalar",
    where="hidden",
    forward=lambda xp, self, other: self * other,
    self=lambda grad, other: grad * other,
    doc="Product with a number inside a backward formula.",
    samples=("torch.autograd.grad(p.sqrt().sum(), p, create_graph=True)[0]",),
)

neg = operator(
    "neg(Tensor self) -> Tensor",
    node="NegBackward0",
    inplace="neg_",
    aliases=("negative",),
    refuse={"Bool": (RuntimeError, NEGATED_BOOL)},
    forward=lambda xp, self: xp.negative(self),
    self=lambda grad: -grad,
    doc="The negative, elementwise.",
    computes="-self",
    samples=("-x", "x.neg()", "torch.negative(x)", "-i"),
    errors=("-k", "torch.neg(1.0)"),
)

positive = composite(
    "positive(Tensor self) -> Tensor",
    lambda self: _positive(self),
    doc="The tensor itself: what `+x` runs.",
    samples=("+x * 2", "torch.positive(x) * 2"),
    errors=("+k", "torch.positive(k)"),
)


def _positive(self: Any) -> Any:
    if self.dtype.category == 0:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return self


abs_ = operator(
    "abs(Tensor self) -> Tensor",
    node="AbsBackward0",
    inplace="abs_",
    aliases=("absolute",),
    dtype="real",
    holomorphic=False,
    refuse={"Bool": "\"abs_cpu\" not implemented for 'Bool'"},
    forward=lambda xp, self: xp.abs(self),
    self=lambda grad, self: grad * sgn(self),
    doc="Absolute value, elementwise.",
    computes="where(self < 0, -self, self)",
    corners=("tensor([0., -0.]).abs()",),
    samples=("x.abs()", "torch.absolute(x)", "abs(x)", "i.abs()"),
    errors=("k.abs()",),
)


def _check_weight(self: Any, tensor1: Any, tensor2: Any, value: Any) -> None:
    if value != 1:
        from ...engine.tensors.promotion import result_dtype

        as_element(value, result_dtype(self, tensor1, tensor2))


def _weighted(tensor: Any, value: Any) -> Any:
    """Among whole numbers PyTorch's factor is a whole number too."""
    return tensor if value == 1 else (int(value) if tensor.dtype.kind in "iu" else value) * tensor


addcmul = operator(
    "addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
    node="AddcmulBackward0",
    inplace="addcmul_",
    dtype="promote",
    check=_check_weight,
    refuse={"Bool": "\"addcmul_cpu_out\" not implemented for 'Bool'"},
    forward=lambda xp, self, tensor1, tensor2, value: multiply_add(
        _weighted(tensor1, value), tensor2, self
    ),
    self=lambda grad: grad,
    tensor1=lambda grad, tensor2, value: grad * (tensor2 * value),
    tensor2=lambda grad, tensor1, value: grad * (tensor1 * value),
    doc="A tensor plus the scaled product of two others.",
    computes="self + value*tensor1*tensor2",
    samples=("torch.addcmul(x, p, q)", "x.addcmul(p, z, value=0.5)", "i.addcmul(i, i)"),
    errors=("k.addcmul(k, k)",),
)


def _check_addcdiv(self: Any, tensor1: Any, tensor2: Any, value: Any) -> None:
    if tensor1.dtype.category < 2 and tensor2.dtype.category < 2:
        raise RuntimeError(
            "Integer division with addcdiv is no longer supported, and in a future  release "
            "addcdiv will perform a true division of tensor1 and tensor2. The historic addcdiv "
            "behavior can be implemented as (input + value * torch.trunc(tensor1 / tensor2))"
            ".to(input.dtype) for integer inputs and as (input + value * tensor1 / tensor2) for "
            "float inputs. The future addcdiv behavior is just the latter implementation: "
            "(input + value * tensor1 / tensor2), for all dtypes."
        )


addcdiv = operator(
    "addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
    node="AddcdivBackward0",
    inplace="addcdiv_",
    dtype="promote",
    check=_check_addcdiv,
    forward=lambda xp, self, tensor1, tensor2, value: self + value * tensor1 / tensor2,
    self=lambda grad: grad,
    tensor1=lambda grad, tensor2, value: grad * (number_as(tensor2, value) / tensor2),
    tensor2=lambda grad, tensor1, tensor2, value: -grad * (tensor1 * value / (tensor2 * tensor2)),
    doc="A tensor plus the scaled quotient of two others.",
    computes="self + value*tensor1/tensor2",
    samples=("torch.addcdiv(x, p, q)", "x.addcdiv(y, q, value=0.5)"),
    errors=("i.addcdiv(i, i)",),
)


def _lerp(xp: Any, self: Any, end: Any, weight: Any) -> Any:
    """From whichever end is nearer, so that both ends are met exactly."""
    step = end - self
    near = multiply_add(step, weight, self)
    return xp.where(xp.abs(weight) < 0.5, near, multiply_add(-step, 1 - weight, end))


def _check_lerp(self: Any, end: Any, weight: Any) -> None:
    for name, value in (("end", end), ("weight", weight)):
        if value is weight and (not hasattr(value, "ndim") or not value.ndim):
            continue  # a number
        if value.dtype is not self.dtype:
            mine, its = (t.dtype.c_word for t in (self, value))
            raise RuntimeError(f"expected dtype {mine} for `{name}` but got dtype {its}")


def _not_interpolated(kernel: str) -> dict[str, str]:
    words = ("Bool", "Byte", "Char", "Short", "Int", "Long")
    return {word: f"\"{kernel}\" not implemented for '{word}'" for word in words}


operator(
    "lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor",
    node="LerpBackward1",
    inplace="lerp_",
    refuse=_not_interpolated("lerp_kernel_tensor"),
    dtype="promote",
    check=_check_lerp,
    forward=_lerp,
    self=lambda grad, weight: grad * (number_as(weight, 1) - weight),
    end=lambda grad, weight: grad * weight,
    weight=lambda grad, self, end: grad * (end - self),
    doc="Linear interpolation by a tensor between two tensors.",
    computes="self + weight*(end - self)",
    samples=("torch.lerp(x, y, u)", "x.lerp(y, s)", "x.lerp(z, p)"),
    errors=("x.lerp(y, d)", "x.lerp(y, k)"),
)

lerp = operator(
    "lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor",
    node="LerpBackward0",
    inplace="lerp_",
    refuse=_not_interpolated("lerp_kernel_scalar"),
    dtype="promote",
    check=_check_lerp,
    forward=lambda xp, self, end, weight: (
        multiply_add(end - self, float(weight), self)
        if abs(weight) < 0.5
        else multiply_add(self - end, end.dtype.type(1) - end.dtype.type(weight), end)
    ),
    self=lambda grad, weight: grad * (1 - weight),
    end=lambda grad, weight: grad * weight,
    doc="Linear interpolation by a number between two tensors.",
    samples=("torch.lerp(x, y, 0.3)", "x.lerp(z, 0.75)"),
    errors=("i.lerp(i, 0.5)", "x.lerp(d, 0.5)", "x.lerp(i, 0.5)"),
)


hypot = operator(
    "hypot(Tensor self, Tensor other) -> Tensor",
    node="HypotBackward0",
    inplace="hypot_",
    dtype="promote",
    refuse=floating_only("hypot_cpu") | unimplemented("hypot_cpu", *COMPLEX),
    forward=lambda xp, self, other: precise(xp.hypot, self, other),
    self=lambda grad, self, result: grad * self / result,
    other=lambda grad, other, result: grad * other / result,
    doc="Length of the hypotenuse, elementwise.",
    computes="sqrt(self**2 + other**2)",
    corners=("tensor(0.).hypot(tensor(0.))",),
    samples=("torch.hypot(x, y)", "x.hypot(z)"),
    errors=("i.hypot(i)",),
)


_NOT_INTEGER = ("Bool", *REDUCED, "Float", "Double", *COMPLEX)

gcd = operator(
    "gcd(Tensor self, Tensor other) -> Tensor",
    inplace="gcd_",
    dtype="promote",
    refuse={word: f"\"gcd_cpu\" not implemented for '{word}'" for word in _NOT_INTEGER},
    forward=lambda xp, self, other: xp.gcd(self, other),
    doc="Greatest common divisor, elementwise.",
    samples=("torch.gcd(i, j)", "i.gcd(i + 3)"),
    errors=("torch.gcd(x, y)",),
)

lcm = operator(
    "lcm(Tensor self, Tensor other) -> Tensor",
    inplace="lcm_",
    dtype="promote",
    refuse={word: f"\"lcm_cpu\" not implemented for '{word}'" for word in _NOT_INTEGER},
    forward=lambda xp, self, other: xp.lcm(self, other),
    doc="Least common multiple, elementwise.",
    samples=("torch.lcm(i, j)", "i.lcm(i + 3)"),
    errors=("torch.lcm(x, y)",),
)
