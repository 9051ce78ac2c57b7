"""Render: the JSON document of `gradcli step`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...recording.facts.steps import StepFact, StepsReport, WalkFact
from ..escape import Terminal
from . import encoded, error_row, event_row, rows_of
from .edges import step_edge, value_row

STEP = "gradcli.step/1"


def steps(
    report: StepsReport, stops: Mapping[int, frozenset[int]] | None = None
) -> Iterator[Terminal]:
    """The document, in pieces: a step is a line, and a million of them are never held at once.

    With `stops` only the steps of these numbers are in it.
    """
    head = {
        "schema": STEP,
        "file": report.file,
        "device": report.device,
        "of": None if report.of is None else report.of.name,
        "count": report.passes,
        "output": report.output,
        "warnings": list(report.warnings),
        "error": error_row(report.error),
    }
    lines = [f'"{key}": {encoded(value)}' for key, value in head.items()]
    yield Terminal("{" + ",\n ".join(lines) + ',\n "passes": [')
    between = "\n  "
    for walk in report.walks:
        yield Terminal(between)
        between = ",\n  "
        yield from _walk(walk, None if stops is None else stops[walk.number])
    yield Terminal("]}\n")


def _walk(walk: WalkFact, stops: frozenset[int] | None) -> Iterator[Terminal]:
    """One pass, its steps last."""
    yield Terminal(encoded(_head(walk)).removesuffix("}") + ', "steps": ')
    chosen = range(len(walk.steps)) if stops is None else sorted(number - 1 for number in stops)
    yield from rows_of((_step(walk.steps[place]) for place in chosen), "\n    ")
    yield Terminal("}")


def _head(walk: WalkFact) -> dict[str, Any]:
    return {
        "number": walk.number,
        "line": walk.line,
        "source": walk.text or None,
        "call": "grad" if walk.is_grad else "backward",
        "retain_graph": walk.retained,
        "create_graph": walk.created,
        "failed": walk.failed,
        "same_as": walk.same_as,
        "roots": [{"name": root.name, "grad": value_row(root.value)} for root in walk.roots],
        "freed_nodes": walk.freed,
        "saved_bytes": walk.bytes,
        "count": len(walk.steps),
    }


def _step(step: StepFact) -> dict[str, Any]:
    place = step.place
    return {
        "step": step.number,
        "id": step.id,
        "name": step.name,
        "node": step.node_name,
        "is_leaf": step.is_leaf,
        "is_derived": step.is_derived,
        "line": step.line,
        "source": None if place is None else place.text,
        "outcome": step.outcome,
        "incoming": [value_row(value) for value in step.grads],
        "parts": [
            [{"step": part.step, "grad": value_row(part.value)} for part in parts]
            for parts in step.parts
        ],
        "after_hooks": None if step.used is None else [value_row(value) for value in step.used],
        "edges": [{"to": edge.name, **step_edge(edge)} for edge in step.edges],
        "hooks": [event_row(hook) for hook in step.hooks],
        "retains_grad": step.retained,
        "grad_before": value_row(step.before),
        "grad_after": value_row(step.after),
        "freed": step.freed,
    }
