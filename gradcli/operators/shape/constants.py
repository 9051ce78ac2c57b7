"""Operators: tensors of constants that backward formulas write where PyTorch's C++ does.

A formula that needs the tensor 1 in `1 - weight` must not write the number: in PyTorch's C++ it
becomes a 0-dim tensor, and the graph under `create_graph=True` shows a plain subtraction of two
tensors. These rows make such tensors; none of them has a derivative, so none leaves a node.
"""

from __future__ import annotations

from ...engine.schema.operator import operator

zeros_as = operator(
    "zeros_as(Tensor self) -> Tensor",
    forward=lambda xp, self: xp.zeros_like(self),
    where="hidden",
    acts="pointwise",
    doc="Zeros of the shape and dtype of a tensor: the gradient of a function that is flat.",
    samples=("torch.autograd.grad(x.floor().sum(), x, create_graph=True)[0]",),
)

zeros_of = operator(
    "zeros_of(Tensor self, int[] size) -> Tensor",
    forward=lambda xp, self, size: xp.zeros(tuple(size), dtype=self.dtype),
    where="hidden",
    cost=lambda self, size: _product(size),
    doc="Zeros of a given shape in the dtype of a tensor: what a selecting backward writes into.",
    samples=("torch.autograd.grad(x.max(1).values.sum(), x, create_graph=True)[0]",),
)

ones_as = operator(
    "ones_as(Tensor self) -> Tensor",
    forward=lambda xp, self: xp.ones_like(self),
    where="hidden",
    acts="pointwise",
    doc="Ones of the shape and dtype of a tensor.",
    samples=("torch.autograd.grad(F.huber_loss(x, y), x, create_graph=True)[0]",),
)

number_as = operator(
    "number_as(Tensor self, Scalar value) -> Tensor",
    forward=lambda xp, self, value: xp.full((), value, dtype=self.dtype),
    where="hidden",
    acts="constant",
    doc="A number as a 0-dim tensor in the dtype of another tensor.",
    samples=("torch.autograd.grad(torch.lerp(x, y, u).sum(), u, create_graph=True)[0]",),
)


def _product(size: tuple[int, ...]) -> int:
    elements = 1
    for length in size:
        elements *= length
    return elements
