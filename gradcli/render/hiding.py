"""Render: what of a graph is hidden on request: constants, and nodes of the forward pass only."""

from __future__ import annotations

from collections.abc import Collection

from ..recording.facts import Report, nodes_below
from .text import counted


def without(report: Report, hide: Collection[str]) -> tuple[Report, str]:
    """The report without these, and how many they were, as words."""
    said = []
    if "forward-only" in hide and report.shown is not None:
        before = _reached(report)
        report = _flowed_through(report)
        left = before - _reached(report)
        if left:
            nodes = counted(len(left), "node")
            said.append(f"{nodes} that only the forward computation needs")
    if "constants" in hide:
        reached = _reached(report)
        count = sum(1 for fact in report.constants if fact.node in reached)
        report = report._replace(constants=())
        if count:
            said.append(counted(count, "constant"))
    return report, f"hidden: {', '.join(said)}" if said else ""


def _flowed_through(report: Report) -> Report:
    """Without the nodes of which it is known that no gradient of the pass came to them."""
    given = {flow.node for flow in report.flows if flow.grad_text is not None}
    bare = {flow.node for flow in report.flows} - given
    nodes = tuple(
        node._replace(next=tuple(
            None if edge is None or edge[0] in bare else edge for edge in node.next
        )) if any(edge is not None and edge[0] in bare for edge in node.next) else node
        for node in report.nodes
    )  # fmt: skip
    roots = tuple(root for root in report.roots if root.node in given)
    return report._replace(nodes=nodes, roots=roots)


def _reached(report: Report) -> set[int]:
    return set(nodes_below(report.nodes, (root.node for root in report.roots)))
