"""Operators: grids, and combinations of the elements of vectors."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from ...engine.memory.layout import check_dimensions
from ...engine.schema.operator import composite, operator, warn
from ..geometry import sizes_text
from .constants import zeros_of
from .join import stack
from .shape import expand, view

# ---- grids and combinations


def _grid(tensors: Sequence[Any], indexing: str | None) -> tuple[Any, ...]:
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if indexing is None:
        warn(
            "torch.meshgrid: in an upcoming release, it will be required to pass the indexing "
            "argument."
        )
        indexing = "ij"
    if indexing not in ("ij", "xy"):
        raise RuntimeError(
            f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}'
        )
    for tensor in tensors:
        if tensor.ndim > 1:
            raise RuntimeError(
                "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: "
                + str(tensor)
            )
    if any(tensor.dtype is not tensors[0].dtype for tensor in tensors):
        raise RuntimeError("meshgrid expects all tensors to have the same dtype")
    swap = indexing == "xy" and len(tensors) >= 2
    order = [1, 0, *range(2, len(tensors))] if swap else list(range(len(tensors)))
    ordered = [tensors[place] for place in order]
    size = tuple(tensor.numel() for tensor in ordered)
    wide = []
    for place, tensor in enumerate(ordered):
        shape = tuple(-1 if place == other else 1 for other in range(len(size)))
        wide.append(expand.run(view(tensor, shape), size, False))
    if swap:
        wide[0], wide[1] = wide[1], wide[0]
    return tuple(wide)


meshgrid = composite(
    "meshgrid(Tensor[] tensors, *, str? indexing=None) -> Tensor[]",
    _grid,
    where="torch",
    doc="Coordinates of all points of a grid.",
    samples=(
        "torch.meshgrid(v, w, indexing='ij')[0]", "torch.meshgrid([v, w], indexing='ij')[1]",
        "torch.meshgrid(v[:2], w, indexing='xy')[0]", "torch.meshgrid(v[:2], w, indexing='xy')[1]",
    ),
    errors=("torch.meshgrid([v, w], indexing='zz')", "torch.meshgrid(v, torch.tensor(2))"),
)  # fmt: skip


def _check_vector(self: Any) -> None:
    if self.ndim != 1:
        raise RuntimeError(f"Expect a 1D vector, but got shape {sizes_text(self.shape)}")


def _product_of(tensors: Sequence[Any]) -> Any:
    for tensor in tensors:
        _check_vector(tensor)
    if len(tensors) == 1:
        return tensors[0]
    return stack([tensor.flatten() for tensor in _grid(tensors, "ij")], 1)


cartesian_prod = composite(
    "cartesian_prod(Tensor[] tensors) -> Tensor",
    _product_of,
    where="torch",
    doc="All combinations of one element from each vector.",
    samples=("torch.cartesian_prod(v, w)", "torch.cartesian_prod(v, w[:2], v[:1])"),
    errors=("torch.cartesian_prod(x, y)",),
)

combination_mask = operator(
    "_combination_mask(Tensor self, int r, bool with_replacement) -> Tensor",
    where="hidden",
    dtype="bool",
    forward=lambda xp, self, r, with_replacement: _ordered_mask(
        xp, self.shape[0], r, with_replacement
    ),
    cost=lambda self, r, with_replacement: self.shape[0] ** r,
    doc="Which points of a grid have their coordinates in ascending order.",
    samples=("torch.combinations(v)",),
)


def _ordered_mask(xp: Any, length: int, r: int, with_replacement: bool) -> Any:
    mask = xp.ones((length,) * r, dtype="bool")
    steps = xp.arange(length)
    for first, second in itertools.pairwise(range(r)):
        left = steps.reshape([-1 if dim == first else 1 for dim in range(r)])
        right = steps.reshape([-1 if dim == second else 1 for dim in range(r)])
        mask = mask & (left <= right if with_replacement else left < right)
    return mask


def _combined(self: Any, r: int, with_replacement: bool) -> Any:
    _check_vector(self)
    if r < 0:
        raise RuntimeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return zeros_of(self, (0,))
    check_dimensions(r)
    mask = combination_mask(self, r, with_replacement)
    return stack([grid.masked_select(mask) for grid in _grid([self] * r, "ij")], 1)


combinations = composite(
    "combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor",
    _combined,
    where="torch",
    doc="All combinations of r elements of a vector.",
    samples=(
        "torch.combinations(v)", "torch.combinations(v, 2, True)", "torch.combinations(v, 3)",
        "torch.combinations(v, 0)",
    ),
    errors=("torch.combinations(x)", "torch.combinations(v, -1)"),
)  # fmt: skip


composite(
    "cartesian_prod.one(Tensor tensor) -> Tensor",
    lambda tensor: _product_of([tensor]),
    where="torch",
    doc="cartesian_prod of one tensor.",
    samples=("torch.cartesian_prod(v)",),
)

composite(
    "meshgrid.one(Tensor tensor, *, str? indexing=None) -> Tensor[]",
    lambda tensor, indexing: _grid([tensor], indexing),
    where="torch",
    doc="The grid of one tensor.",
    samples=("torch.meshgrid(v, indexing='ij')[0]",),
)
