"""Engine: what passes of a program free, held for a question that comes when it has ended.

The passes free all the same: a second one fails as it would without the question.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..schema.mode import state
from .node import Node


def hold(starts: Iterable[Node | None]) -> None:
    """What a pass that begins at these nodes may free. A node that is known stands for all below
    it."""
    aside = state.aside
    assert aside is not None
    reached: list[Node] = []
    edges = starts
    while True:
        for node in edges:
            if node is not None and node not in aside:
                aside[node] = node.held
                reached.append(node)
        if not reached:
            return
        edges = reached.pop().edges


def put_back() -> None:
    """The nodes have it again."""
    for node, held in (state.aside or {}).items():
        if node.freed:
            node.held = held
