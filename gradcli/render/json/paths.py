"""Render: the JSON document of `gradcli paths`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from ...recording.facts.paths import FormulaFact, PathFact, PathsReport, StepFact
from ..escape import Terminal
from . import document, of_run
from .edges import seed_row, which_pass

PATHS = "gradcli.paths/1"
EXACT = 2**53  # integral floats up to here are written as whole numbers


def paths(report: PathsReport) -> Iterator[Terminal]:
    """The document, in pieces. Counts have as many digits as they need."""
    limit = getattr(sys, "get_int_max_str_digits", int)()
    if limit:
        sys.set_int_max_str_digits(0)
    rank = 0 if report.jacobian or report.element is not None else len(report.wrt_shape)
    try:
        yield from document(of_run(PATHS, report, {
            "of": report.of,
            "wrt": report.wrt,
            "of_shape": list(report.of_shape),
            "wrt_shape": list(report.wrt_shape),
            "dtype": report.dtype,
            "over": "edges" if report.by_edges else "names",
            "pass": which_pass(report.shown),
            "seeds": list(map(seed_row, report.seeds)),
            "element": None if report.element is None else list(report.element),
            "jacobian": report.jacobian,
            "count": report.path_count,
            "edge_count": report.edge_count,
            "paths": (_path(path, rank) for path in report.paths),
            "estimated": report.by_estimate,
            "sum": _nested(report.sum, rank),
            "reverse": _nested(report.reverse, rank),
            "equal": report.equal,
            "hooks": list(report.hooked),
            "reason": report.reason or None,
            "formula": None if report.formula is None else _formula(report.formula),
            "no_formula": report.no_formula or None,
            "missing": list(report.missing),
        }))  # fmt: skip
    finally:
        if limit:
            sys.set_int_max_str_digits(limit)


def number(value: Any) -> Any:
    """Numbers as JSON has them: integral floats without a point, complex ones as pairs."""
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < EXACT else value
    if isinstance(value, complex):
        return [number(value.real), number(value.imag)]
    if isinstance(value, tuple):
        return [number(item) for item in value]
    return value


def _nested(value: Any, rank: int) -> Any:
    """The same, a single number of a tensor with dimensions as nested lists too: [[3]]."""
    if value is None or isinstance(value, (str, tuple)):
        return number(value)
    found = number(value)
    for _ in range(rank):
        found = [found]
    return found


def _path(path: PathFact, rank: int) -> dict[str, Any]:
    return {
        "names": path.names,
        "derivatives": [_step(step) for step in path.steps],
        "product": _nested(path.product, rank),
        "share": number(path.share),
        "against": path.against,
    }


def _step(step: StepFact) -> Any:
    """A number where both ends are single numbers; else what is known of the matrix."""
    if not step.structure:
        return number(step.derivative)
    row: dict[str, Any] = {"structure": step.structure, "shape": step.shape}
    if step.derivative is not None:
        row["derivative"] = number(step.derivative)
    if step.passed is not None:
        row["gradient"] = number(step.passed)
    if step.jacobian is not None:
        row["jacobian"] = number(step.jacobian)
    return row


def _formula(formula: FormulaFact) -> dict[str, Any]:
    return {
        "text": formula.text,
        "lines": [f"{name} = {value}" for name, value in formula.lines],
        "program": formula.program,
        "numbers": formula.numbers or None,
        "steps": [{"of": of, "wrt": wrt, "text": text} for of, wrt, text, _ in formula.steps],
    }
