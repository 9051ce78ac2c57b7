"""Render: the JSON document of `gradcli ops`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...recording.facts.operators import CatalogueFact, OperatorFact, OverloadFact
from ..escape import Terminal
from . import document

OPS = "gradcli.ops/1"


def ops(facts: CatalogueFact) -> Iterator[Terminal]:
    """The document, in pieces."""
    yield from document({
        "schema": OPS,
        "detailed": facts.detailed,
        "count": len(facts.operators),
        "operators": (_operator(fact, facts.detailed) for fact in facts.operators),
    })  # fmt: skip


def _operator(fact: OperatorFact, detailed: bool) -> dict[str, Any]:
    return {
        "name": fact.name,
        "face": fact.face,
        "calls": list(fact.calls),
        "doc": fact.doc,
        "grad_fn": list(fact.nodes),
        "overloads": [_overload(overload, detailed) for overload in fact.overloads],
    }


def _overload(overload: OverloadFact, detailed: bool) -> dict[str, Any]:
    row: dict[str, Any] = {
        "key": overload.key,
        "signature": overload.signature,
        "kind": overload.kind,
        "doc": overload.doc,
        "grad_fn": overload.grad_fn or None,
        "saved": list(overload.saved),
        "in_place": overload.inplace or None,
        "in_place_grad_fn": (overload.inplace_grad_fn or overload.grad_fn or None)
        if overload.inplace
        else None,
        "view": overload.view,
        "differentiable": list(overload.arguments),
    }
    if detailed:
        row["derivatives"] = [
            {"of": list(d.inputs), "formula": d.formula or None} for d in overload.derivatives
        ]
        row["made_of"] = list(overload.made_of)
        row |= _measured(overload)
        example = overload.example
        row["example"] = None if example is None else example._asdict()
    return row


def _measured(overload: OverloadFact) -> dict[str, Any]:
    conduct = overload.conduct
    return {
        "computes": overload.computes or None,
        "parts": [name for name, _ in conduct.parts],
        "orders": conduct.orders or None,
        "types": {name: kind or None for name, kind in conduct.types},
        "memory": list(conduct.memory),
        "edges": [
            {"call": e.call, "result": e.result, "gradients": list(e.gradients)}
            for e in overload.edges
        ],
    }
