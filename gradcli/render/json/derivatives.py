"""Render: matrices of derivatives in JSON."""

from __future__ import annotations

from typing import Any

from ...recording.facts.derivatives import BlockFact, DerivativesFact, MatrixFact


def derivatives(fact: DerivativesFact | None) -> dict[str, Any] | None:
    """Order, mode, matrices with the names of rows and columns, blocks with their shapes."""
    if fact is None:
        return None
    return {
        "order": fact.order,
        "mode": fact.mode,
        "jacobian": None if fact.jacobian is None else _matrix(fact.jacobian),
        "hessians": [_matrix(matrix) for matrix in fact.hessians],
        "blocks": [_block(block) for block in (*fact.blocks, *fact.second)],
        "agreement": None if fact.agreement is None else fact.agreement._asdict(),
        "notes": fact.notes,
    }


def _matrix(fact: MatrixFact) -> dict[str, Any]:
    return {"of": fact.of, "rows": fact.rows, "columns": fact.columns, "values": fact.values,
            "eigenvalues": fact.eigenvalues}  # fmt: skip


def _block(fact: BlockFact) -> dict[str, Any]:
    return {"wrt": fact.wrt, "shape": fact.shape, "value": fact.value}
