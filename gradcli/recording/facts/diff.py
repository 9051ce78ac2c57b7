"""Recording: the facts of `gradcli diff`: two runs, and where they part."""

from __future__ import annotations

from typing import NamedTuple

from .basic import ErrorFact, Nested


class SideFact(NamedTuple):
    """One of the two runs; `settings` are the options that only it was given."""

    file: str
    settings: str
    device: str
    dtype: str
    tensors: int
    nodes: int
    error: ErrorFact | None
    text: str = ""


class StepFact(NamedTuple):
    """An operation as it ran: its node, its place, what it gave, or what sums a large value up."""

    node: str
    line: int | None
    text: str
    value: Nested
    whole: bool = True


class DifferenceFact(NamedTuple):
    """One thing that is not the same, as it is on either side.

    `kind` is error, node, edge (where the graphs part), tensor (there on one side only), shape,
    dtype, flag, value, gradient, output or warning; `distance` is the largest difference of two
    numbers, `expression_*` what made the value there.
    """

    kind: str
    name: str
    words: str
    a: str | None
    b: str | None
    line_a: int | None
    line_b: int | None
    expression_a: str = ""
    expression_b: str = ""
    shown: tuple[str, ...] = ()
    distance: float | None = None


class SameFact(NamedTuple):
    """How much is equal; `largest` is the largest difference that was let through."""

    tensors: int
    nodes: int
    values: int
    gradients: int
    largest: float


class DigitsFact(NamedTuple):
    """Of a line the operation that is furthest off in the lower precision: the decimal digits that
    are left of its result, and those that are lost."""

    line: int
    text: str
    left: float
    lost: float


class DiffReport(NamedTuple):
    """What `gradcli diff` answers. `first` is where the two part first in the order of the work;
    `digits` is of runs in two precisions."""

    a: SideFact
    b: SideFact
    differences: tuple[DifferenceFact, ...]
    first: DifferenceFact | None
    same: SameFact
    digits: tuple[DigitsFact, ...] = ()

    @property
    def equal(self) -> bool:
        return not self.differences
