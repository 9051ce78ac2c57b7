"""Questions: units of a layer that began with the same weights, and stay the same."""

from __future__ import annotations

from typing import Any

from ...recording.sides import array_of, is_parameter
from .case import Case, Finding, Remark


def symmetric_finding(case: Case) -> Finding | None:
    """A weight whose rows are all equal, as those of its gradient are: each step keeps them so."""
    own = any(one.steps and one.has(case.tensor) for one in case.passes.optimizers.all)
    if case.element is not None or not own or not is_parameter(case.tensor):
        return None
    value, gradient = array_of(case.tensor), array_of(case.gradient)
    if value.ndim < 2 or len(value) < 2 or not (_alike(value) and _alike(gradient)):
        return None
    name, count = case.name, len(value)
    finding = Finding(
        "symmetric",
        f"{name}.grad is the same for all {count} units: {name} has {count} equal rows, and every "
        "step keeps them equal.",
    )
    if case.made is not None and case.is_here(case.made.node):
        finding.causes.append(Remark(case.made.node, f"{name} is made here"))
    finding.advice = f"begin with different numbers: nn.init.xavier_uniform_({case.code})"
    return finding


def _alike(array: Any) -> bool:
    return bool((array == array[:1]).all())
