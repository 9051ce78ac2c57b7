"""Render: second order in JSON: what made a node, and which `.grad` holds a graph."""

from __future__ import annotations

from typing import Any

from ...recording.facts import Report
from ...recording.facts.orders import HolderFact

FORWARD = {"derivative_order": 0, "made_by": None}


def making(report: Report) -> dict[int, dict[str, Any]]:
    """The keys of a node that say of which order it is, and which pass made it; `FORWARD` of all
    others."""
    return {
        fact.node: {
            "derivative_order": fact.order,
            "made_by": {"call": fact.call, "pass": fact.number, "line": fact.line},
        }
        for fact in report.derived
    }


def holder(fact: HolderFact) -> dict[str, Any]:
    """A `.grad` that holds the graph of a gradient."""
    return {
        "name": fact.name, "call": fact.call, "line": fact.line, "nodes": fact.nodes,
        "cycle": fact.circle,
    }  # fmt: skip
