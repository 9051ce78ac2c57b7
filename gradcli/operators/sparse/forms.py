"""Operators: how a row says what it does with sparse operands: the same node, another kernel.

Kernels get payloads (`engine.memory.sparse_array`) for sparse tensors, arrays for others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...engine.schema.carriers import Body
from ...engine.schema.operator import Row, operator
from ...engine.schema.row import SPARSE


def sparse_form(
    row: Row, forward: Body, formulas: Mapping[str, Any] | None = None, **options: Any
) -> Row:
    """Declares what a row does with sparse operands. Its formulas are the row's own, which run on
    tensors, unless PyTorch's have a way of their own for a sparse layout."""
    declared = row.signature.text.partition("(")[2]
    options.setdefault("joint", {f.inputs: f.function for f in row.formulas if f.joint})
    for trait in ("acts", "jacobian", "zero"):
        options.setdefault(trait, getattr(row, trait))
    overload = f"{row.signature.overload}_" if row.signature.overload else ""
    alone: Mapping[str, Any] = {f.inputs[0]: f.function for f in row.formulas if not f.joint}
    return operator(
        f"{row.name}.{overload}sparse({declared}",
        node=row.node,
        forward=forward,
        dtype=row.dtype,
        numbers=",".join(p.name for p in row.tensors if p.number),
        tangent=row.tangent,
        layout=SPARSE,
        kinded=row.kinded,
        view=row.view if row.listed else False,
        where="hidden",
        doc=row.doc,
        **(alone if formulas is None else formulas),
        **options,
    )


def is_sparse(value: Any) -> bool:
    """Is an operand of a kernel a payload?"""
    return hasattr(value, "layout")


def coordinates(indices: Any, values: Any, shape: Sequence[int], coalesced: bool = False) -> Any:
    """A payload of the layout torch.sparse_coo."""
    from ...engine.memory.sparse_array import CoordinateArray  # it loads the array library

    return CoordinateArray(indices, values, tuple(shape), coalesced)


def rows_of(held: Any) -> Any:
    """A matrix in the layout torch.sparse_csr."""
    from ...engine.memory.sparse_array import compressed

    return compressed(held)


def placed_like(like: Any, held: Any) -> Any:
    """Coordinates in the layout of an operand."""
    return held if like.layout == held.layout else rows_of(held)


def at(array: Any, held: Any) -> Any:
    """The elements of an array at the places of coordinates."""
    return array[tuple(held.indices)]


def layout_of(tensor: Any) -> str:
    """As PyTorch's complaints name it."""
    payload = tensor._data
    return payload.word if is_sparse(payload) else "Strided"


def expected_coordinates(name: str, tensor: Any) -> None:
    """Refuses tensors of another layout than torch.sparse_coo."""
    if not tensor.is_sparse:
        raise RuntimeError(
            f"{name} expected sparse coordinate tensor layout but got {layout_of(tensor)}"
        )


def check_indices(indices: Any, sizes: Sequence[int]) -> None:
    """PyTorch reads and writes beyond its memory where an index does not fit, unless it is asked
    to check."""
    for dim, (row, size) in enumerate(zip(indices, sizes)):
        if not row.size:
            continue
        if (low := int(row.min())) < 0:
            raise RuntimeError(f"found negative index {low} for dim {dim}")
        if (high := int(row.max())) >= size:
            raise RuntimeError(
                f"size is inconsistent with indices: for dim {dim}, size is {size} but found index "
                f"{high}"
            )
