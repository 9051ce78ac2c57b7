"""Engine: gradients of an ordinary pass, added up in the buffers of the nodes they flow to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .node import Node, Several

Ready = dict[int, Node]  # nodes that a gradient waits at, by their number; leaves below zero


def receive(node: Node, number: int, value: Any, ready: Ready) -> None:
    """Adds a gradient to what already waits for one output of a node."""
    held = node.buffer
    if held.__class__ is Several:
        held.add(number, value)
    elif held is None:
        node.buffer = value
    else:
        if value is not None:
            node.buffer = held + value
        return
    ready[node.sequence] = node


def hand_on(node: Node, results: Sequence[Any], ready: Ready) -> None:
    """Hands a node's results to the nodes that its edges lead to."""
    if node.rest is None:
        for edge, value in zip(node.edges, results):
            if edge is not None:
                held = edge.buffer
                if held is None:
                    edge.buffer = value
                    ready[edge.sequence] = edge
                elif held.__class__ is Several:
                    receive(edge, 0, value, ready)
                elif value is not None:
                    edge.buffer = held + value
        return
    numbers = node.rest.numbers
    for place, edge in enumerate(node.edges):
        if edge is not None:
            receive(edge, 0 if numbers is None else numbers[place], results[place], ready)


def step_lines(parts: Sequence[tuple[str, str]]) -> list[str]:
    """Source that hands gradients to edges: (edge, expression of its gradient) each, inline.

    Where a product is added to what waits, it is in the sum itself, not in a name: so NumPy
    knows that no one else has it, and adds to it in place where it is large.
    """
    lines: list[str] = []
    for edge, gradient in parts:
        wait = f"{edge}.buffer = {{}}; ready[{edge}.sequence] = {edge}"
        lines.append(f"    if {edge} is not None:")
        if " * " in gradient and gradient.startswith("("):
            lines += [
                f"        held = {edge}.buffer",
                f"        if held is None: {wait.format(gradient)}",
                f"        elif held.__class__ is Several: receive({edge}, 0, {gradient}, ready)",
                f"        else: {edge}.buffer = held + {gradient}",
            ]
            continue
        lines += [
            f"        g_new = {gradient}; held = {edge}.buffer",
            f"        if held is None: {wait.format('g_new')}",
            f"        elif held.__class__ is Several: receive({edge}, 0, g_new, ready)",
            f"        elif g_new is not None: {edge}.buffer = held + g_new",
        ]
    return lines
