"""Live: the declarations that PyTorch's nodes come from."""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def rows() -> dict[str, Any]:
    """The declarations by the names of their nodes; of several one that says where it ends."""
    from ..operators import catalogue

    found: dict[str, Any] = {}
    for row in catalogue.rows.values():
        if not hasattr(row, "zero"):
            continue  # an in-place twin, or what makes tensors of numbers
        for name in (row.node, row.inplace_node):
            short = str(name or "").rpartition("::")[2]
            if short not in found or (row.zero and not found[short].zero):
                found[short] = row
    return found
