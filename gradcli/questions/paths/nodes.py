"""Questions: the backward of single nodes, run on arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.graph.node import Node
from ...engine.schema.mode import state


def run_node(node: Any, grads: dict[int, Any]) -> Sequence[Any]:
    """What a node makes of the gradients of its outputs."""
    if node.__class__ is Node and node.rest is None and not node.row.listed:
        if node.row.output_count == 1:
            state.origin = node.origin
            return node.row.backward(node, grads[0])
    extra = node.extra
    count = len(extra) if extra.__class__ is list else max(node.outputs, max(grads) + 1)
    state.origin = node.origin
    return node.apply(tuple(grads.get(nr) for nr in range(count)), False)
