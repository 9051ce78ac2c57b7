"""Render: what a node did for one input, in JSON: local derivative, product, where it goes."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ...recording.facts import Nested, ShownPass
from ...recording.facts.seeds import SeedFact
from ...recording.facts.steps import EdgeFact, LocalFact, ValueFact
from .encoding import encoded, quoted, source

FLAGS = ("false", "true")


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
        "source": source(shown.source),
    }


def seed_row(seed: SeedFact) -> dict[str, Any]:
    """What a pass began with at a root."""
    return {
        "of": seed.name,
        "shape": seed.shape,
        "dtype": seed.dtype,
        "value": numbers(seed.value, seed.dtype),
    }


def step_edge(edge: EdgeFact) -> str:
    """What a node did for one input, without the braces."""
    _, node, local, product, then, step, is_leaf, _ = edge
    return (
        f'"node": {quoted(node) if node else "null"}, "is_leaf": {FLAGS[is_leaf]}, '
        f'"local": {_local(local)}, "product": {value_row(product)}, '
        f'"then": "{then}", "step": {number(step)}'
    )


def _local(local: LocalFact | None) -> str:
    if local is None:
        return "null"
    kind, value, words, text = local
    return (
        f'{{"kind": "{kind}", "value": {value_row(value)}, '
        f'"text": {quoted(text) if text else "null"}, '
        f'"words": {quoted(words) if words else "null"}}}'
    )


def value_row(value: ValueFact | None) -> str:
    """Shape, type and numbers; the numbers of a very large one are null."""
    if value is None:
        return "null"
    shape, dtype, _, found, _ = value
    if found.__class__ is float and not shape and found - found == 0:  # as most are
        row = _number_row if found else _number_row.__wrapped__  # 0.0 and -0.0 are one key
        return row(dtype, found)
    return encoded(value_fields(value))


@lru_cache(maxsize=64)  # what one step passes on is what the next one is given
def _number_row(dtype: str, found: float) -> str:
    return f'{{"shape": [], "dtype": "{dtype}", "value": {found!r}}}'


def value_fields(value: ValueFact) -> dict[str, Any]:
    return {
        "shape": value.shape,
        "dtype": value.dtype,
        "value": numbers(value.value, value.dtype),
    }


def number(value: int | None) -> str:
    return "null" if value is None else int.__repr__(value)  # a line of a notebook says its cell
