"""Operators: dimensions of size 1, taken away and added."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.memory.layout import check_dimensions
from ...engine.schema.operator import composite, operator
from ..geometry import (
    contiguous_strides,
    element_strides,
    strided,
    wrap_dim,
    wrap_dims,
)
from .shape import reshaped


def _unsqueezed_to(grad: Any, size: Sequence[int], dims: Sequence[int] | None = None) -> Any:
    """Puts back the dimensions that a squeeze took away."""
    among = range(len(size)) if dims is None else {wrap_dim(dim, len(size)) for dim in dims}
    for dim, length in enumerate(size):
        if length == 1 and dim in among:
            grad = unsqueeze(grad, dim)
    return grad


def _squeezed(self: Any, dims: Sequence[int]) -> Any:
    """NumPy refuses to squeeze a longer dimension, PyTorch leaves it."""
    wrapped = wrap_dims(dims, self.ndim)
    if not self.ndim:
        return self.reshape(())
    return self.squeeze(tuple(dim for dim in wrapped if self.shape[dim] == 1))


squeeze = operator(
    "squeeze(Tensor self) -> Tensor",
    node="SqueezeBackward0",
    inplace="squeeze_",
    inplace_node="SqueezeBackward3",
    view=True,
    forward=lambda xp, self: self.squeeze(),
    self=lambda grad, self_sym_sizes: _unsqueezed_to(grad, self_sym_sizes),
    jacobian="reshape",
    doc="Removes all dimensions of size 1.",
    samples=("z.squeeze()", "torch.squeeze(x)", "s.squeeze()"),
)

squeeze_dim = operator(
    "squeeze.dim(Tensor self, int dim) -> Tensor",
    node="SqueezeBackward1",
    inplace="squeeze_",
    inplace_node="SqueezeBackward4",
    view=True,
    forward=lambda xp, self, dim: _squeezed(self, (dim,)),
    self=lambda grad, dim, self_sym_sizes: _unsqueezed_to(grad, self_sym_sizes, (dim,)),
    jacobian="reshape",
    doc="Removes one dimension if its size is 1.",
    samples=("z.squeeze(0)", "torch.squeeze(z, -2)", "x.squeeze(0)", "s.squeeze(0)"),
    errors=("x.squeeze(3)", "s.squeeze(1)"),
)

operator(
    "squeeze.dims(Tensor self, int[] dim) -> Tensor",
    node="SqueezeBackward2",
    inplace="squeeze_",
    inplace_node="SqueezeBackward5",
    view=True,
    forward=lambda xp, self, dim: _squeezed(self, dim),
    self=lambda grad, dim, self_sym_sizes: _unsqueezed_to(grad, self_sym_sizes, dim),
    jacobian="reshape",
    doc="Removes the given dimensions whose size is 1.",
    samples=("z.squeeze((0, 1))", "torch.squeeze(x, dim=(0, 1))"),
    errors=("x.squeeze((0, 0))",),
)

squeezed_away = operator(
    "_squeezed_away(Tensor self, int dim) -> Tensor",
    node="SqueezeBackward4",
    where="hidden",
    forward=lambda xp, self, dim: _squeezed(self, (dim,)),
    self=lambda grad, dim, self_sym_sizes: _unsqueezed_to(grad, self_sym_sizes, (dim,)),
    acts="moves",
    jacobian="reshape",
    doc="In-place squeeze of a temporary product, a step of matmul.",
    samples=("v @ a",),
)


def _unsqueezed(xp: Any, self: Any, dim: int) -> Any:
    """PyTorch gives the new dimension the stride of what lies behind it."""
    dim = wrap_dim(dim, self.ndim + 1)
    check_dimensions(self.ndim + 1)
    shape, strides = self.shape, element_strides(self)
    size = (*shape[:dim], 1, *shape[dim:])
    if self.size and strides == contiguous_strides(shape):
        return self.reshape(size)
    new = shape[dim] * strides[dim] if dim < self.ndim else 1
    return strided(xp, self, size, (*strides[:dim], new, *strides[dim:]))


unsqueeze = operator(
    "unsqueeze(Tensor self, int dim) -> Tensor",
    node="UnsqueezeBackward0",
    inplace="unsqueeze_",
    inplace_node="UnsqueezeBackward1",
    view=True,
    check=lambda self, dim: wrap_dim(dim, self.ndim + 1),
    forward=_unsqueezed,
    self=lambda grad, dim: squeeze_dim(grad, dim),
    jacobian="reshape",
    doc="Adds a dimension of size 1.",
    samples=("x.unsqueeze(0)", "torch.unsqueeze(v, -1)", "s.unsqueeze(0)", "x.t().unsqueeze(1)"),
    errors=("x.unsqueeze(3)", "x.unsqueeze()"),
)


def at_least(self: Any, ndim: int) -> Any:
    if self.ndim >= ndim:
        return self
    if self.ndim == 0:
        return reshaped(self, (1,) * ndim)
    self = unsqueeze(self, 0) if self.ndim == 1 else self
    return unsqueeze(self, -1) if ndim == 3 else self


for _count in (1, 2, 3):
    composite(
        f"atleast_{_count}d(Tensor self) -> Tensor",
        lambda self, count=_count: at_least(self, count),
        where="torch",
        doc=f"A view with at least {_count} dimension{'s' * (_count > 1)}.",
        samples=tuple(f"torch.atleast_{_count}d({name})" for name in "svxc"),
    )
    composite(
        f"atleast_{_count}d.Sequence(Tensor[] tensors) -> Tensor[]",
        lambda tensors, count=_count: tuple(at_least(tensor, count) for tensor in tensors),
        where="torch",
        doc=f"Views of tensors with at least {_count} dimension{'s' * (_count > 1)}.",
        samples=(f"torch.atleast_{_count}d([s, v])[0]", f"torch.atleast_{_count}d(s, v)[1]"),
    )
