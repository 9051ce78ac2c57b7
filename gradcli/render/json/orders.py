"""Render: second order in JSON: what made a node, and which `.grad` holds a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...recording.facts import Report
from ...recording.facts.orders import HolderFact

FORWARD = {"derivative_order": 0, "made_by": None}


def making(report: Report) -> Callable[[int], dict[str, Any]]:
    """The keys of a node that say of which order it is, and which pass made it."""
    known = {
        fact.node: {
            "derivative_order": fact.order,
            "made_by": {"call": fact.call, "pass": fact.number, "line": fact.line},
        }
        for fact in report.derived
    }
    return lambda node: known.get(node, FORWARD)


def holder(fact: HolderFact) -> dict[str, Any]:
    """A `.grad` that holds the graph of a gradient."""
    return {
        "name": fact.name, "call": fact.call, "line": fact.line, "nodes": fact.nodes,
        "cycle": fact.circle,
    }  # fmt: skip
