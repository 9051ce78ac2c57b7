"""Render: the JSON document of `gradcli step`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...recording.facts.steps import PartFact, StepFact, StepsReport, WalkFact
from ..escape import Terminal
from . import error_row, event_row, rows_of
from .edges import FLAGS, number, step_edge, value_fields, value_row
from .encoding import encoded, quoted

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
        "roots": [{"name": root.name, "grad": value_fields(root.value)} for root in walk.roots],
        "freed_nodes": walk.freed,
        "saved_bytes": walk.bytes,
        "count": len(walk.steps),
    }


def _step(step: StepFact) -> str:
    """Written out, because there may be a million of them."""
    place, used = step.place, step.used
    edges = [f'{{"to": {quoted(edge.name)}, {step_edge(edge)}}}' for edge in step.edges]
    parts = [_listed(map(_part, parts)) for parts in step.parts]
    hooks = encoded(list(map(event_row, step.hooks))) if step.hooks else "[]"
    return (
        f'{{"step": {step.number}, "id": {number(step.id)}, "name": {quoted(step.name)}, '
        f'"node": {quoted(step.node_name)}, "is_leaf": {FLAGS[step.is_leaf]}, '
        f'"is_derived": {FLAGS[step.is_derived]}, "line": {number(step.line)}, '
        f'"source": {"null" if place is None else quoted(place.text)}, '
        f'"outcome": {quoted(step.outcome)}, "incoming": {_listed(map(value_row, step.grads))}, '
        f'"parts": {_listed(parts)}, '
        f'"after_hooks": {"null" if used is None else _listed(map(value_row, used))}, '
        f'"edges": {_listed(edges)}, "hooks": {hooks}, "retains_grad": {FLAGS[step.retained]}, '
        f'"grad_before": {value_row(step.before)}, "grad_after": {value_row(step.after)}, '
        f'"freed": {_listed(map(quoted, step.freed))}}}'
    )


def _part(part: PartFact) -> str:
    return f'{{"step": {part.step}, "grad": {value_row(part.value)}}}'


def _listed(texts: Iterable[str]) -> str:
    return f"[{', '.join(texts)}]"
