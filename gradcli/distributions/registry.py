"""Distributions: biject_to and transform_to: the transform from all numbers to a constraint."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .bijections import (
    AffineTransform,
    CorrCholeskyTransform,
    ExpTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    SigmoidTransform,
    SoftmaxTransform,
    StickBreakingTransform,
)
from .constraints import Constraint
from .transforms import ComposeTransform, IndependentTransform, identity_transform

Factory = Callable[[Any], Any]


class ConstraintRegistry:
    """Called with a constraint, it gives a transform whose codomain that is."""

    PUBLIC: tuple[str, ...] = ()
    _torch_name = "torch.distributions.constraint_registry.ConstraintRegistry"

    def __init__(self, factories: Mapping[str, Factory]) -> None:
        self._factories = factories

    def __call__(self, constraint: Any) -> Any:
        if not isinstance(constraint, Constraint):
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")
        kind = constraint.kind
        if kind == "IndependentConstraint":
            inner = self(constraint.base_constraint)
            return IndependentTransform(inner, constraint.reinterpreted_batch_ndims)
        if kind not in self._factories:
            raise NotImplementedError(f"Cannot transform _{kind} constraints")
        return self._factories[kind](constraint)


def _interval(constraint: Any) -> Any:
    low, high = constraint.lower_bound, constraint.upper_bound
    if isinstance(low, (int, float)) and isinstance(high, (int, float)) and (low, high) == (0, 1):
        return SigmoidTransform()
    return ComposeTransform([SigmoidTransform(), AffineTransform(low, high - low)])


def _above(constraint: Any) -> Any:
    return ComposeTransform([ExpTransform(), AffineTransform(constraint.lower_bound, 1)])


def _below(constraint: Any) -> Any:
    return ComposeTransform([ExpTransform(), AffineTransform(constraint.upper_bound, -1)])


_BOTH: dict[str, Factory] = {
    "Real": lambda constraint: identity_transform,
    "GreaterThan": _above, "GreaterThanEq": _above, "LessThan": _below,
    "Interval": _interval, "HalfOpenInterval": _interval,
    "CorrCholesky": lambda constraint: CorrCholeskyTransform(),
}  # fmt: skip
biject_to = ConstraintRegistry(
    {**_BOTH, "Simplex": lambda constraint: StickBreakingTransform()},
)
transform_to = ConstraintRegistry({
    **_BOTH, "Simplex": lambda constraint: SoftmaxTransform(),
    "LowerCholesky": lambda constraint: LowerCholeskyTransform(),
    "PositiveDefinite": lambda constraint: PositiveDefiniteTransform(),
    "PositiveSemidefinite": lambda constraint: PositiveDefiniteTransform(),
})  # fmt: skip
