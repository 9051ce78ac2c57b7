"""Render: what pictures need, in the JSON of `trace`: calls, order, products, constants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...recording.facts import Report
from .edges import step_edge
from .encoding import source

Rows = Callable[[int], tuple[dict[str, Any], list[str] | None]]


def node_detail(report: Report) -> Rows:
    """For the number of a node its order, its call and its step, and what that did for each input,
    as texts; nothing without a request."""
    detail = report.detail
    if detail is None:
        return lambda number: ({}, None)
    makings, next_of = detail.makings, [node.next for node in report.nodes]
    walk = detail.walk
    numbers = {} if walk is None else walk.places()

    def row(number: int) -> tuple[dict[str, Any], list[str] | None]:
        order, frame, _ = makings[number]
        place = numbers.get(number)
        found = {"order": order, "frame": frame, "step": None}
        if walk is None or place is None:
            return found, None
        step = walk.steps[place]
        found["step"] = step.number
        edges = ["null"] * len(next_of[number])
        for edge in step.edges:
            if edge.then != "constant":
                edges[edge.place] = f"{{{step_edge(edge)}}}"
        return found, edges

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
            "source": source(fact.text),
            "shape": fact.shape,
            "value": fact.numbers,
        }
        for fact in report.constants
    ]
