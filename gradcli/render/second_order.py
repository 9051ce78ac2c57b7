"""Render: second order: what made a node, and which `.grad` keeps the graph of a gradient alive."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..recording.facts.orders import DerivedFact, HolderFact
from .text import Line, Look, cell, counted, fitted

MOST = 6  # gradients that are listed one by one


def order_of(facts: Sequence[DerivedFact]) -> Callable[[int], str]:
    """What is in the column `order` for a node; nothing at all where no pass made one."""
    if not facts:
        return lambda node: ""
    known = {fact.node: _order(fact) for fact in facts}
    return lambda node: known.get(node, "forward")


def _order(fact: DerivedFact) -> str:
    return f"{fact.order}" if fact.line is None else f"{fact.order}, line {fact.line}"


def holders(facts: Sequence[HolderFact], look: Look) -> list[Line]:
    """x.grad holds the graph of backward(...) on line 6, and the cycle that it closes."""
    lines: list[Line] = []
    arrow = " → " if look.unicode else " -> "
    for fact in facts[:MOST]:
        where = "" if fact.line is None else f" on line {fact.line}"
        nodes = counted(fact.nodes, "node")
        held = f"{fact.name}.grad holds the graph of {fact.call}(create_graph=True){where}, {nodes}"
        lines.append(fitted((cell(held, "dim"),), look))
        if fact.circle:
            way = arrow.join((*fact.circle, fact.circle[0]))
            said = f"  {way} is a reference cycle: {fact.name}.grad = None breaks it"
            lines.append(fitted((cell(said, "dim"),), look))
    if len(facts) > MOST:
        lines.append((cell(f"{len(facts) - MOST:,} more .grad hold such a graph", "dim"),))
    return lines
