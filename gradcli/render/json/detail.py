"""Render: what pictures need, in the JSON of `trace`: calls, order, products, constants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...recording.facts import Report
from .edges import step_edge

Rows = Callable[[int], dict[str, Any]]


def node_detail(report: Report) -> Rows:
    """For the number of a node its order, its call and its step; nothing without a request."""
    detail = report.detail
    if detail is None:
        return lambda number: {}
    makings, next_of = detail.makings, [node.next for node in report.nodes]
    walk = detail.walk
    numbers = {} if walk is None else walk.places()

    def row(number: int) -> dict[str, Any]:
        order, frame, _ = makings[number]
        place = numbers.get(number)
        found: dict[str, Any] = {"order": order, "frame": frame, "step": None}
        if walk is not None and place is not None:
            step = walk.steps[place]
            edges: list[dict[str, Any] | None] = [None] * len(next_of[number])
            for edge in step.edges:
                if edge.then != "constant":
                    edges[edge.place] = step_edge(edge)
            found["step"], found["edges"] = step.number, edges
        return found

    return row


def frames(report: Report) -> list[dict[str, Any]]:
    """The calls that made nodes, each behind the one around it."""
    return [] if report.detail is None else [frame._asdict() for frame in report.detail.frames]


def constants(report: Report) -> list[dict[str, Any]]:
    """The inputs without a gradient that the program names."""
    return [
        {
            "node": fact.node,
            "edge": fact.edge,
            "source": fact.text,
            "shape": fact.shape,
            "value": fact.numbers,
        }
        for fact in report.constants
    ]
