"""Render: the JSON document of `gradcli step`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...recording.facts import Elsewhere
from ...recording.facts.steps import PartFact, StepFact, StepsReport, WalkFact
from ..escape import Terminal
from . import elsewhere_row, event_row, of_run, rows_of
from .edges import FLAGS, number, step_edge, value_fields, value_row
from .encoding import encoded, quoted, source

STEP = "gradcli.step/1"


def steps(
    report: StepsReport, stops: Mapping[int, frozenset[int]] | None = None
) -> Iterator[Terminal]:
    """The document, in pieces: a step is a line, and a million of them are never held at once.

    With `stops` only the steps of these numbers are in it.
    """
    head = of_run(STEP, report, {
        "of": None if report.of is None else report.of.name,
        "count": report.passes,
    })  # fmt: skip
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
        "source": source(walk.text) or None,
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
    (at, name, node, is_leaf, place, line, grads, parts, used, edges, hooks, outcome, before, after,
     retained, freed, is_derived, identity, _, inner) = step  # fmt: skip
    ends = [f'{{"to": {quoted(edge.name)}, {step_edge(edge)}}}' for edge in edges]
    events = encoded(list(map(event_row, hooks))) if hooks else "[]"
    return (
        f'{{"step": {at}, "id": {number(identity)}, "name": {quoted(name)}, '
        f'"node": {quoted(node)}, "is_leaf": {FLAGS[is_leaf]}, '
        f'"is_derived": {FLAGS[is_derived]}, "line": {number(line)}, '
        f'"source": {"null" if place is None else quoted(source(place.text))}, {_elsewhere(inner)}'
        f'"outcome": "{outcome}", "incoming": {_listed(map(value_row, grads))}, '
        f'"parts": {_listed([_listed(map(_part, each)) for each in parts])}, '
        f'"after_hooks": {"null" if used is None else _listed(map(value_row, used))}, '
        f'"edges": {_listed(ends)}, "hooks": {events}, "retains_grad": {FLAGS[retained]}, '
        f'"grad_before": {value_row(before)}, "grad_after": {value_row(after)}, '
        f'"freed": {_listed(map(quoted, freed))}}}'
    )


def _elsewhere(place: Elsewhere | None) -> str:
    return "" if place is None else f'"elsewhere": {encoded(elsewhere_row(place))}, '


def _part(part: PartFact) -> str:
    at, value = part
    return f'{{"step": {at}, "grad": {value_row(value)}}}'


def _listed(texts: Iterable[str]) -> str:
    return f"[{', '.join(texts)}]"
