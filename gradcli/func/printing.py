"""Func: how a tensor prints inside a transformed function: one wrapper for each level."""

from __future__ import annotations

from typing import Any

from ..engine.graph.leaf import edge_of
from ..engine.schema.carriers import TRANSFORMS
from ..engine.schema.mode import state
from ..engine.tensors.text import text_of
from .batched import Batched
from .carrier import Carrier
from .dual import Dual, with_tangent
from .reverse import nodes_below


def tracked_text(tensor: Any) -> str | None:
    """The text of an ordinary tensor; None where no open transformation has to do with it."""
    heads = _heads_of_gradients(tensor, tensor)
    return _within(heads, tensor.detach()) if heads else None


def carrier_text(carrier: Any) -> str:
    """`BatchedTensor(lvl=1, bdim=0, value=...)` and the like, one around the other."""
    heads: dict[int, str] = {}
    inner = carrier
    while isinstance(inner, Carrier) and inner.level:
        if isinstance(inner, Batched):
            heads[inner.level] = f"BatchedTensor(lvl={inner.level}, bdim={inner.place}, value="
            inner = inner.value
        else:
            assert isinstance(inner, Dual)
            heads[inner.level] = f"GradTrackingTensor(lvl={inner.level}, value="
            inner = inner.primal
    found = _heads_of_gradients(inner, carrier)
    return _within(heads | found, inner.detach() if found else inner)


def dual_text(tensor: Dual) -> str:
    """The text of a dual; those of torch.autograd.forward_ad show their tangents."""
    if tensor.level:
        return carrier_text(tensor)
    if state.inference:
        return text_of(tensor.primal)
    return with_tangent(text_of(tensor.primal), tensor.tangent)


def _within(heads: dict[int, str], tensor: Any) -> str:
    before, TRANSFORMS.text = TRANSFORMS.text, None
    try:
        text = repr(tensor) if isinstance(tensor, Carrier) else text_of(tensor)
    finally:
        TRANSFORMS.text = before
    for number in sorted(heads):
        lines = "\n".join("    " + line for line in text.splitlines())
        text = f"{heads[number]}\n{lines}\n)"
    return text


def _heads_of_gradients(tensor: Any, shown: Any) -> dict[int, str]:
    """The levels of reverse mode that the tensor comes from, or is an argument of."""
    reached = {level.number for level in TRANSFORMS.stack if id(shown) in level.arguments}
    ends = {
        edge_of(inside): (level.number, outside)
        for level in TRANSFORMS.stack
        for inside, outside in level.pairs
    }
    pending = [tensor]
    while ends and pending:
        asking = [item for item in pending if item.requires_grad]
        pending = []
        for node in nodes_below(asking):
            if node in ends:
                number, outside = ends[node]
                if number not in reached or not pending:
                    reached.add(number)
                    if outside.requires_grad:
                        pending.append(outside)
                    ends = {key: value for key, value in ends.items() if key is not node}
    return {number: f"GradTrackingTensor(lvl={number}, value=" for number in reached}
