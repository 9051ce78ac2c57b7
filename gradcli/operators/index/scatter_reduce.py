"""Operators: elements reduced into the places that an index tensor names."""

from __future__ import annotations

from typing import Any

from ...engine.schema.operator import Reduced, operator
from ..conventions import refuse_complex
from ..elementwise.where import masked_fill, where
from ..shape.constants import ones_as, zeros_as
from .scatter import check_scatter, gather, scatter_add, scatter_value, scattered_into

REDUCTIONS = {"sum": "add", "prod": "multiply", "mean": "add", "amax": "maximum", "amin": "minimum"}


def _check_reduce(
    self: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool
) -> None:
    if reduce not in REDUCTIONS:
        raise RuntimeError(
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
        )
    check_scatter(self, dim, index, src)
    refuse_complex("scatter_reduce", self)
    if reduce in ("amax", "amin") and self.dtype.is_complex:
        raise NotImplementedError(
            f"\"scatter_gather_tensor_cpu_reduce_{reduce}\" not implemented for '{self.dtype.word}'"
        )


def neutral(xp: Any, reduce: str, dtype: Any) -> Any:
    """What a reduction starts from where self takes no part."""
    if reduce in ("sum", "mean"):
        return 0
    if reduce == "prod":
        return 1
    if dtype.kind == "f":
        return -xp.inf if reduce == "amax" else xp.inf
    if dtype.kind == "b":
        return reduce == "amin"
    limits = xp.iinfo(dtype)
    return limits.min if reduce == "amax" else limits.max


def _scatter_reduced(
    xp: Any, self: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool,
    settle: Any = None,
) -> Any:  # fmt: skip
    start = self
    if not include_self:
        start = scattered_into(xp, self, dim, index, neutral(xp, reduce, self.dtype), "put")
    result = scattered_into(xp, start, dim, index, src, REDUCTIONS[reduce])
    if reduce == "mean":
        ones = xp.ones_like(self)
        if not include_self:
            ones = scattered_into(xp, ones, dim, index, 0, "put")
        count = scattered_into(xp, ones, dim, index, xp.ones(index.shape, self.dtype), "add")
        count = xp.where(count == 0, 1, count).astype(self.dtype)
        result = result if settle is None else settle(result)
        result = result / count if self.dtype.kind in "fc" else result // count
    return result


equal_places = operator(
    "_equal_places(Tensor self, Tensor other) -> Tensor",
    where="hidden",
    forward=lambda xp, self, other: (self == other).astype(self.dtype),
    acts="pointwise",
    doc="One where two tensors are equal, zero elsewhere.",
    samples=("torch.autograd.grad(x.scatter_reduce(1, i, y, 'amax'), x, p, create_graph=True)[0]",),
)

zero_places = operator(
    "_zero_places(Tensor self) -> Tensor",
    where="hidden",
    dtype="bool",
    forward=lambda xp, self: self == 0,
    acts="pointwise",
    doc="Where a tensor is zero.",
    samples=("torch.autograd.grad(x.scatter_reduce(1, i, y, 'prod'), x, p, create_graph=True)[0]",),
)


def _reduce_gradients(
    grad: Any,
    self: Any,
    dim: int,
    index: Any,
    src: Any,
    reduce: str,
    include_self: bool,
    result: Any,
) -> tuple[Any, Any]:
    """The gradients of both operands; where self takes no part its gradient is zero."""
    if reduce == "sum":
        grad_self, grad_src = grad, gather(grad, dim, index, False)
    elif reduce == "mean":
        count = ones_as(grad) if include_self else zeros_as(grad)
        count = scatter_add(count, dim, index, ones_as(src))
        count = masked_fill(count, zero_places(count), 1)
        grad_self = grad / count
        grad_src = gather(grad, dim, index, False) / gather(count, dim, index, False)
    elif reduce == "prod":
        grad_self, grad_src = _product_gradients(grad, self, dim, index, src, include_self, result)
    else:
        value = gather(result, dim, index, False)
        mine = equal_places(self, result)
        theirs = equal_places(src, value)
        shared = scatter_add(mine, dim, index, theirs)
        share = grad / shared
        grad_self, grad_src = mine * share, theirs * gather(share, dim, index, False)
    if not include_self:
        grad_self = scatter_value(grad_self, dim, index, 0)
    return grad_self, grad_src


def _product_gradients(
    grad: Any, self: Any, dim: int, index: Any, src: Any, include_self: bool, result: Any
) -> tuple[Any, Any]:
    """The product of the others; one zero is divided out by masking it, two leave zero."""
    without = masked_fill(self, zero_places(self), 1)
    others = scatter_reduce(without, dim, index, src, "prod", include_self)
    grad_self = (grad * others) / without
    zero = zero_places(src)
    count = scatter_add(zeros_as(grad), dim, index, where(zero, ones_as(src), 0))
    single = where(zero, gather(count, dim, index, False), 0)
    alone = zero_places(single - 1)
    masked = masked_fill(src, alone, 1)
    excluded = scatter_reduce(self, dim, index, masked, "prod", include_self)
    of_single = gather(grad * excluded, dim, index, False)
    of_others = gather(grad * result, dim, index, False) / masked_fill(src, zero, 1)
    return grad_self, where(alone, of_single, of_others)


scatter_reduce = operator(
    "scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, "
    "bool include_self=True) -> Tensor",
    node="ScatterReduceBackward0",
    inplace="scatter_reduce_",
    check=_check_reduce,
    layout="row-major",
    forward=_scatter_reduced,
    reduced=Reduced(lambda kind, *given: _scatter_reduced(kind.xp, *given, settle=kind.settle)),
    joint={
        ("self", "src"): lambda grad, self, dim, index, src, reduce, include_self, result: (
            _reduce_gradients(grad, self, dim, index, src, reduce, include_self, result)
        )
    },
    doc="A copy with elements summed, multiplied, averaged or compared in along a dimension.",
    corners=(
        "torch.scatter_reduce(tensor([3.]), 0, tensor([0]), tensor([3.]), 'amax')",
        "torch.scatter_reduce(tensor([2.]), 0, tensor([0, 0]), tensor([0., 3.]), 'prod')",
    ),
    samples=tuple(
        f"x.scatter_reduce(1, i, y, '{how}'{more})"
        for how in REDUCTIONS
        for more in ("", ", include_self=False")
    ),
    errors=("x.scatter_reduce(1, i, y, 'foo')", "x.scatter_reduce(1, i, d, 'sum')"),
)
