"""Func: how a tensor prints inside a function that torch.func differentiates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..engine.leaf import edge_of
from ..engine.text import text_of
from .levels import Level
from .reverse import nodes_below


def tracked_text(tensor: Any, levels: Sequence[Level]) -> str | None:
    """`GradTrackingTensor(lvl=1, value=...)` around the tensor; None where no level tracks it."""
    if not tensor.requires_grad:
        return None
    ends = {
        edge_of(inside): (level.number, outside)
        for level in levels
        for inside, outside in level.pairs
    }
    reached: set[int] = set()
    pending = [tensor]
    while pending:
        asking = [item for item in pending if item.requires_grad]
        pending = []
        for node in nodes_below(asking):
            if node in ends:
                number, outside = ends[node]
                if number not in reached:
                    reached.add(number)
                    pending.append(outside)
    if not reached:
        return None
    text = text_of(tensor.detach())
    for number in sorted(reached):
        inner = "\n".join("    " + line for line in text.splitlines())
        text = f"GradTrackingTensor(lvl={number}, value=\n{inner}\n)"
    return text
