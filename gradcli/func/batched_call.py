"""Func: one call of a row by samples, as the rules of batching read it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..engine.schema.catalogue import catalogue
from ..engine.schema.operator import Row
from ..engine.tensors.tensor import Tensor
from .batched import Batched, is_batched
from .carrier import run


class Call:
    """One call of a row: its arguments by name, batched ones as whole values, samples in front."""

    __slots__ = ("row", "level", "values", "whole", "ranks", "samples")

    def __init__(self, row: Row, values: Sequence[Any], level: int) -> None:
        self.row, self.level = row, level
        self.values: dict[str, Any] = {}
        self.whole: dict[str, bool] = {}  # tensors: does it hold all samples?
        self.ranks: dict[str, int] = {}  # tensors: dimensions of a sample
        self.samples = 0
        for name, value in zip(row.signature.names, values, strict=True):
            if isinstance(value, Tensor):
                self.ranks[name] = value._data.ndim
                self.whole[name] = is_batched(value, level)
                if isinstance(value, Batched) and self.whole[name]:
                    self.samples = value.samples
                    value = value.in_front()
            self.values[name] = value

    def run(self, /, **changed: Any) -> Any:
        """Runs the row on the whole values, some arguments replaced."""
        return run(self.row, list((self.values | changed).values()))

    def spread_out(self, name: str) -> Any:
        """A tensor argument with all samples, also where it is the same for each."""
        value = self.values[name]
        if value is None or self.whole[name]:
            return value
        size = (self.samples, *value._data.shape)
        return run(catalogue.rows["expand"], (value, size, False))
