"""Engine: anomaly mode: which node failed, and where its forward call was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..graph.node import AccumulateGrad, Node
from ..schema.causes import Cause, because
from ..schema.mode import next_sequence, state
from ..tensors.tensor import Tensor

_UNTOLD = (
    "No forward pass information available. Enable detect anomaly during forward pass for more "
    "information."
)

_PARENT = "parent_"  # PyTorch keeps it in the node's metadata, under this name


def apply_watched(node: Node, grads: tuple[Any, ...]) -> tuple[Any, ...]:
    """The node's own work where it makes a graph: the nodes of that are known to come from it."""
    first = next_sequence()
    results = node.apply(grads, True)
    stack = [result._grad_fn for result in results if result is not None]
    while stack:
        made = stack.pop()
        if made is not None and made.sequence > first and _PARENT not in made.metadata:
            made.metadata[_PARENT] = node
            stack.extend(made.edges)
    return results


def tell_of(node: Node) -> None:
    """Warns of the node that failed, then of those whose derivatives made it.

    The lines of the program are its origin's to tell.
    """
    message = f"Error detected in {node.name()}. "
    if not _was_watched(node):
        state.warn(message + _UNTOLD)
        return
    state.warn(message + "Traceback of forward call that caused the error:")
    parent = _parent_of(node)
    while parent is not None:
        message = f"\n\nPrevious calculation was induced by {parent.name()}. "
        if not _was_watched(parent):
            state.warn(message + _UNTOLD)
            return
        state.warn(message + "Traceback of forward call that induced the previous calculation:")
        parent = _parent_of(parent)


def _was_watched(node: Node) -> bool:
    """Was it made in anomaly mode?"""
    if node.__class__ is AccumulateGrad:  # numbered apart
        return True
    return any(
        first <= node.sequence and (last is None or node.sequence < last)
        for first, last in state.anomalies
    )


def _parent_of(node: Node) -> Node | None:
    return node.metadata.get(_PARENT)


def check_nan(node: Node, results: Sequence[Any], grads: Sequence[Any], saved: Any) -> None:
    """Raises where a node answers NaN."""
    for place, value in enumerate(results):
        if value is None:
            continue
        data = value._data if isinstance(value, Tensor) else value
        if data.dtype.kind in "fc" and bool((data != data).any()):
            message = f"Function '{node.name()}' returned nan values in its {place}th output."
            told = {"place": place, "result": value, "grads": grads, "saved": saved}
            raise because(RuntimeError(message), Cause("nan", node.origin, node, **told))
