"""language: errors within hooks: which tensor the hook is on, and its argument."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from ...engine.graph.node import AccumulateGrad
from ...engine.passes.hook_calls import call_one
from ...engine.tensors.tensor import Tensor
from ..explanation import Explanation, node_words

_CALL = call_one.__code__


def hook(out: Explanation, trace: TracebackType | None) -> None:
    """The innermost hook of a tensor that was running, if one was."""
    found: dict[str, Any] | None = None
    while trace is not None:
        if trace.tb_frame.f_code is _CALL:
            found = trace.tb_frame.f_locals
        trace = trace.tb_next
    if found is None or not isinstance(found.get("before"), Tensor):
        return
    shape = list(found["before"].shape)
    given = f"a gradient of shape {shape}" if shape else "one number"
    out.note(f"in a hook on {_owner(out, found['node'])}, given {given}")


def _owner(out: Explanation, node: Any) -> str:
    """The tensor that a hook is on, as the program calls it."""
    if isinstance(node, AccumulateGrad):
        return out.places.name_of(node.variable) or "a leaf"
    for table in (out.places.local, out.places.values):
        for name, value in table.items():
            if isinstance(value, Tensor) and value._grad_fn is node:
                return name
    return node_words(out.places, node)
