"""Render: what a node did for one input, in JSON: local derivative, product, where it goes."""

from __future__ import annotations

from typing import Any

from ...recording.facts import Nested, ShownPass
from ...recording.facts.seeds import SeedFact
from ...recording.facts.steps import EdgeFact, LocalFact, ValueFact


def numbers(value: Nested | None, dtype: str) -> Any:
    return _pairs(value) if value is not None and dtype.startswith("complex") else value


def _pairs(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_pairs(item) for item in value]
    return [value.real, value.imag]


def which_pass(shown: ShownPass | None) -> dict[str, Any] | None:
    """Which pass it is, if any; how it ended, `error` says."""
    if shown is None:
        return None
    return {
        "number": shown.number,
        "of": shown.of or None,
        "line": shown.line,
        "source": shown.source,
    }


def seed_row(seed: SeedFact) -> dict[str, Any]:
    """What a pass began with at a root."""
    return {
        "of": seed.name,
        "shape": seed.shape,
        "dtype": seed.dtype,
        "value": numbers(seed.value, seed.dtype),
    }


def step_edge(edge: EdgeFact) -> dict[str, Any]:
    """What a node did for one input."""
    return {
        "node": edge.node_name or None,
        "is_leaf": edge.is_leaf,
        "local": _local(edge.local),
        "product": value_row(edge.product),
        "then": edge.then,
        "step": edge.step,
    }


def _local(local: LocalFact | None) -> dict[str, Any] | None:
    if local is None:
        return None
    return {
        "kind": local.kind,
        "value": value_row(local.value),
        "text": local.text or None,
        "words": local.words or None,
    }


def value_row(value: ValueFact | None) -> dict[str, Any] | None:
    """Shape, type and numbers; the numbers of a very large one are null."""
    if value is None:
        return None
    return {
        "shape": value.shape,
        "dtype": value.dtype,
        "value": numbers(value.value, value.dtype),
    }
