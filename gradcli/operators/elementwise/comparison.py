"""Operators: comparisons, logic, tests of an element and its sign."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...engine.schema.operator import composite, operator
from ...engine.tensors.conversion import other_device
from ..conventions import (
    COMPLEX,
    Late,
    real_by_rule,
    real_only,
    unimplemented,
)
from ..shape.constants import zeros_as

masked_fill = Late("masked_fill.Scalar")


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
logical_xor = _logic("logical_xor", "i.logical_xor(k)", "Logical XOR (exclusive or), elementwise.")

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
    refuse: Any = None,
) -> Any:
    return operator(
        f"{name}(Tensor self) -> Tensor",
        dtype="bool",
        refuse=refuse,
        forward=test,
        acts="pointwise",
        doc=doc,
        samples=(f"torch.{name}(x / 0)", f"torch.{name}(i)"),
    )


def _floating(xp: Any, self: Any, test: Callable[[], Any], other: bool) -> Any:
    return test() if self.dtype.kind in "fc" else xp.full(self.shape, other)


isnan = _test("isnan", lambda xp, self: self != self, "Is the element NaN (not a number)?")
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
    if self.dtype.kind not in "fc":  # errors of integers and bools are measured in the default type
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


copysign = operator(
    "copysign.Tensor(Tensor self, Tensor other) -> Tensor",
    node="CopysignBackward0",
    inplace="copysign_",
    dtype="promote_float",
    refuse=real_only("copysign_cpu"),
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
    refuse=real_only("copysign_cpu"),
    forward=lambda xp, self, other: xp.copysign(self, xp.asarray(other, dtype=self.dtype)),
    self=lambda grad, self, result: grad * masked_fill(result / self, self == 0, 0),
    doc="The magnitude of self with the sign of a number.",
    corners=("tensor([0., 2.]).copysign(-1)",),
    samples=("x.copysign(-1)",),
)
