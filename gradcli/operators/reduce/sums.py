"""Operators: the sums that other declarations' formulas need, whichever file declares them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.schema.carriers import ARRAYS
from ...engine.schema.operator import catalogue
from ...numerics.summation import sum_of
from ..geometry import is_expandable, sizes_text


def sum_dims(self: Any, dims: Sequence[int], keepdim: bool, dtype: Any = None) -> Any:
    """The sum over some dimensions, as the row sum.dim_IntList."""
    return catalogue.row("sum.dim_IntList")(self, tuple(dims), keepdim, dtype)


def sum_all(self: Any) -> Any:
    """The sum of all elements, as the row sum."""
    return catalogue.row("sum")(self, None)


def sum_to(self: Any, size: Sequence[int]) -> Any:
    """Sums a broadcast tensor back to the size it came from: one sum, then a view."""
    lead = self.ndim - len(size)
    if lead and not size:
        return sum_all(self)
    xp = ARRAYS.get(type(self)) if lead else None
    if xp is not None and self.shape[lead:] == tuple(size):
        # The gradient of a bias: no row has to be looked up, and no view of the sum is needed.
        return sum_of(xp, self, tuple(range(lead)), False, None)
    dims = list(range(lead))
    dims += [i for i in range(lead, self.ndim) if size[i - lead] == 1 and self.shape[i] != 1]
    if dims:
        self = sum_dims(self, dims, True)
    return catalogue.row("view")(self, tuple(size)) if lead else self


def sum_to_size(self: Any, size: Sequence[int]) -> Any:
    """The same with PyTorch's check of the size."""
    if not is_expandable(size, self.shape):
        raise RuntimeError(
            f"size {{{sizes_text(size)}}} is not expandable to size {{{sizes_text(self.shape)}}}."
        )
    return sum_to(self, size) if size else sum_all(self)


def scaled(self: Any, factor: Any) -> Any:
    """A tensor times a Python number, left alone where the number is 1."""
    return self if factor == 1 else self * factor
