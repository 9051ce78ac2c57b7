"""Operators: exponentials and logarithms, element by element."""

from __future__ import annotations

from ...engine.schema.operator import Domain, operator
from ...numerics.rounding import transcendental

LN_2, LN_10 = 0.6931471805599453, 2.302585092994046

exp = operator(
    "exp(Tensor self) -> Tensor",
    node="ExpBackward0",
    inplace="exp_",
    dtype="promote_float",
    forward=transcendental("exp"),
    self=lambda grad, result: grad * result,
    zero="saturates",
    domain=Domain(None, 80.0),
    doc="The exponential function.",
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
    zero="saturates",
    domain=Domain(None, 80.0),
    doc="2 to the power x.",
    computes="2**self",
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
    zero="saturates",
    domain=Domain(None, 80.0),
    doc="exp(x) - 1, accurate near 0.",
    computes="exp(self) - 1",
    samples=("torch.expm1(x)", "x.expm1()"),
)

log = operator(
    "log(Tensor self) -> Tensor",
    node="LogBackward0",
    inplace="log_",
    dtype="promote_float",
    forward=transcendental("log"),
    self=lambda grad, self: grad / self,
    domain=Domain(0, None),
    doc="Natural logarithm.",
    corners=("tensor([0., -1.]).log()",),
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
    domain=Domain(0, None),
    doc="Logarithm to base 2.",
    computes="log(self)/log(2)",
    corners=("tensor([0., -1.]).log2()",),
    samples=("torch.log2(p)", "p.log2()"),
)

log10 = operator(
    "log10(Tensor self) -> Tensor",
    node="Log10Backward0",
    inplace="log10_",
    dtype="promote_float",
    forward=transcendental("log10"),
    self=lambda grad, self: grad / (self * LN_10),
    domain=Domain(0, None),
    doc="Logarithm to base 10.",
    computes="log(self)/log(10)",
    corners=("tensor([0., -1.]).log10()",),
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
    domain=Domain(-1, None),
    doc="log(1 + x), accurate near 0.",
    computes="log(1 + self)",
    corners=("tensor([-1., -2.]).log1p()",),
    samples=("torch.log1p(p)", "p.log1p()"),
)
