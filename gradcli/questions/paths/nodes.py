"""Questions: the backward of single nodes, run on arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.mode import state


def run_node(node: Any, grads: dict[int, Any]) -> Sequence[Any]:
    """What a node makes of the gradients of its outputs."""
    extra = node.extra
    count = len(extra) if extra.__class__ is list else max(node.outputs, max(grads) + 1)
    state.origin = node.origin
    return node.apply(tuple(grads.get(nr) for nr in range(count)), False)  # type: ignore[no-any-return]
