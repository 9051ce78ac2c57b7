"""Operators: dimensions in another order: permute, transpose and their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.schema.operator import composite, operator, warn
from ..elementwise.complex_parts import conj
from ..geometry import sizes_text, stepping, wrap_dim
from .shape import alias

# ---- dimensions in another order


def _check_permute(self: Any, dims: Sequence[int]) -> None:
    if len(dims) != self.ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the "
            "length of the desired ordering of dimensions i.e. input.dim() = "
            f"{self.ndim} is not equal to len(dims) = {len(dims)}"
        )
    if len({wrap_dim(dim, self.ndim) for dim in dims}) != len(dims):
        raise RuntimeError("permute(): duplicate dims are not allowed.")


def _inverse(dims: Sequence[int]) -> tuple[int, ...]:
    wrapped = [dim % len(dims) for dim in dims]
    return tuple(wrapped.index(place) for place in range(len(dims)))


permute = operator(
    "permute(Tensor self, int[] dims) -> Tensor",
    node="PermuteBackward0",
    view=True,
    check=_check_permute,
    forward=lambda xp, self, dims: stepping(xp, self).transpose(tuple(dims)),
    self=lambda grad, dims: permute(grad, _inverse(dims)),
    jacobian="permutation",
    doc="Permutes the dimensions.",
    samples=("x.permute(1, 0)", "torch.permute(c, (2, 0, 1))", "c.permute(-1, 0, 1)"),
    errors=("x.permute(1)", "x.permute(0, 0)", "x.permute(0, 2)"),
)


def _swapped(xp: Any, self: Any, dim0: int, dim1: int) -> Any:
    return stepping(xp, self).swapaxes(dim0, dim1) if self.ndim else self.reshape(())


def _check_transpose(self: Any, dim0: int, dim1: int) -> None:
    wrap_dim(dim0, self.ndim)
    wrap_dim(dim1, self.ndim)


transpose = operator(
    "transpose.int(Tensor self, int dim0, int dim1) -> Tensor",
    node="TransposeBackward0",
    inplace="transpose_",
    inplace_node="TransposeBackward1",
    aliases=("swapaxes", "swapdims"),
    view=True,
    check=_check_transpose,
    forward=_swapped,
    self=lambda grad, dim0, dim1: transpose(grad, dim0, dim1),
    jacobian="transposition",
    doc="Swaps two dimensions.",
    samples=(
        "x.transpose(0, 1)", "torch.transpose(c, 0, -1)", "x.swapaxes(0, 1)", "s.transpose(0, -1)",
    ),
    errors=("x.transpose(0, 2)", "x.transpose(0)"),
)  # fmt: skip


def mt(self: Any) -> Any:
    """Matrices turned around, as formulas need them."""
    return transpose(self, -2, -1)


def mh(self: Any) -> Any:
    """Their conjugate transposes; of real matrices the transposes."""
    return conj(mt(self))


def _check_t(self: Any) -> None:
    if self.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {self.ndim}D")


t = operator(
    "t(Tensor self) -> Tensor",
    node="TBackward0",
    inplace="t_",
    inplace_node="TBackward1",
    view=True,
    check=_check_t,
    forward=lambda xp, self: stepping(xp, self).transpose(),
    self=lambda grad: t(grad),
    jacobian="transposition",
    doc="The transpose of a matrix; tensors of fewer dimensions stay as they are.",
    samples=("x.t()", "torch.t(x)", "v.t()", "s.t()"),
    errors=("c.t()", "torch.t(1.0)"),
)


def _reversed_dims(self: Any) -> Any:
    if self.ndim == 0:
        warn("Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases.")
    elif self.ndim != 2:
        warn(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is "
            "deprecated and it will throw an error in a future release. Consider `x.mT` to "
            "transpose batches of matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to "
            "reverse the dimensions of a tensor."
        )
    return permute(self, tuple(range(self.ndim - 1, -1, -1)))


composite(
    "T(Tensor self) -> Tensor",
    _reversed_dims,
    where="property",
    doc="Transpose: the dimensions in reverse order.",
    samples=("x.T", "s.T", "v.T"),
)


_ON_NUMBERS = {
    "mT": "This function is the identity in these cases.",
    "mH": "Consider using x.conj().",
    "H": "Consider using x.conj().",
}


def _matrix_transpose(self: Any, name: str, exactly_two: bool) -> Any:
    if self.ndim == 0:
        if name in _ON_NUMBERS:
            warn(f"Tensor.{name} is deprecated on 0-D tensors. {_ON_NUMBERS[name]}")
        return self
    if exactly_two and self.ndim != 2:
        batches = "" if self.ndim < 2 else " For batches of matrices, consider using tensor.mH"
        raise RuntimeError(
            f"tensor.{name} is only supported on matrices (2-D tensors). Got {self.ndim}-D tensor."
            f"{batches}"
        )
    if self.ndim == 1:
        raise RuntimeError(
            f"tensor.{name} is only supported on matrices or batches of matrices. Got 1-D tensor."
        )
    return transpose(self, -2, -1)


composite(
    "mT(Tensor self) -> Tensor",
    lambda self: _matrix_transpose(self, "mT", False),
    where="property",
    doc="Swaps the last two dimensions.",
    samples=("x.mT", "c.mT"),
    errors=("v.mT",),
)

composite(
    "H(Tensor self) -> Tensor",
    lambda self: conj(_matrix_transpose(self, "H", True)),
    where="property",
    doc="The conjugate transpose of a matrix.",
    samples=("x.H",),
    errors=("v.H", "c.H"),
)

composite(
    "mH(Tensor self) -> Tensor",
    lambda self: conj(_matrix_transpose(self, "mH", False)),
    where="property",
    doc="Swaps the last two dimensions and conjugates.",
    samples=("x.mH", "c.mH"),
    errors=("v.mH",),
)


def _adjoint(self: Any) -> Any:
    if self.ndim == 0:
        warn("adjoint() is deprecated on 0-D tensors. Consider using x.conj().")
    return conj(_matrix_transpose(self, "adjoint()", False))


adjoint = composite(
    "adjoint(Tensor self) -> Tensor",
    _adjoint,
    doc="Swaps the last two dimensions and conjugates.",
    samples=("c.adjoint()", "torch.adjoint(x)"),
    errors=("v.adjoint()",),
)


def moved(self: Any, source: Sequence[int], destination: Sequence[int]) -> Any:
    if len(source) != len(destination):
        raise RuntimeError(
            "movedim: Invalid source or destination dims: source "
            f"({sizes_text(source)} dims) should contain the same number of dims as destination "
            f"({sizes_text(destination)} dims)"
        )
    origin = [wrap_dim(dim, self.ndim) for dim in source]
    target = [wrap_dim(dim, self.ndim) for dim in destination]
    for name, given, dims in (("source", source, origin), ("destination", destination, target)):
        if len(set(dims)) != len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({sizes_text(given)})")
    if self.ndim == 0:
        return alias(self)
    order = [-1] * self.ndim
    for at, to in zip(origin, target, strict=True):
        order[to] = at
    rest = iter(dim for dim in range(self.ndim) if dim not in origin)
    return permute(self, tuple(next(rest) if dim < 0 else dim for dim in order))


movedim = composite(
    "movedim.int(Tensor self, int source, int destination) -> Tensor",
    lambda self, source, destination: moved(self, (source,), (destination,)),
    aliases=("moveaxis",),
    doc="One dimension moved to another place.",
    samples=("x.movedim(0, 1)", "torch.moveaxis(c, -1, 0)"),
    errors=("x.movedim(0, 3)",),
)

composite(
    "movedim.intlist(Tensor self, int[] source, int[] destination) -> Tensor",
    moved,
    aliases=("moveaxis",),
    doc="Several dimensions moved to other places.",
    samples=("c.movedim((0, 1), (1, 2))", "torch.movedim(c, (0,), (-1,))"),
    errors=("x.movedim((0, 1), (1, 1))", "x.movedim((0, 0), (0, 1))"),
)
