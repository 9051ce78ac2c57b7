"""Engine: the lanes of a row: the functions that run it, and what each knows of its operands."""

from __future__ import annotations

from ..schema.row import Row
from ..schema.signature import Parameter

GENERAL, ORDINARY, NUMBER, ALIKE = "general", "ordinary", "number", "alike"
OPERATOR = "operator"  # the name of the function behind `x + y`


def has_lanes(row: Row) -> bool:
    """One tensor, two of one kind, or a tensor and a number, are what most calls have."""
    return (
        row.broadcasts
        and len(row.tensors) <= 2
        and all(p.kind == "Tensor" and not p.optional for p in row.tensors)
        and not row.tensors[0].number
        and row.output_count == 1
        and not row.view
    )


class Lane:
    """One of them. Lanes differ in the questions they ask."""

    def __init__(self, row: Row, mode: str) -> None:
        self.row, self.mode = row, mode
        self.given = ", ".join(row.signature.names)
        self.first = row.tensors[0].name
        self.several = row.output_count > 1 or row.listed

    def a_number(self, p: Parameter) -> bool:
        """Is this argument a Python number, as far as this lane knows?"""
        return self.mode == NUMBER and p.name != self.first

    def a_tensor(self, p: Parameter) -> bool:
        """Is this argument surely a tensor in this lane?"""
        sure = self.mode in (ORDINARY, ALIKE)
        return p.kind == "Tensor" and (sure or not (p.number or p.optional))
