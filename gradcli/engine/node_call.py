"""Engine: a node that a program calls, `y.grad_fn(gradient)`: one step of a pass by hand."""

from __future__ import annotations

from typing import Any

from .full_backward import Walk
from .gradients import PassGradients
from .hook_calls import charged, outputs_of, with_history
from .mode import state
from .node import AccumulateGrad, Node
from .observer import NOBODY
from .saved import look_through
from .tensor import Tensor


def call_node(node: Node, *gradients: Any) -> Any:
    """The gradients of a node's inputs from those of its outputs; nothing is freed, no hook runs.

    One gradient or None for each output that has one. Returns a tensor or None for the only input,
    a tuple for several, in the shape and type that the node's formula gives, which a pass would
    fit to the input; () from the node of a leaf, which adds the gradient to .grad. What is returned
    is part of a graph while gradients are enabled, as they usually are. Raises TypeError for
    another number of arguments and for anything but tensors.
    """
    outputs = outputs_of(node)
    count = with_history(node, outputs)
    if len(gradients) != count:
        raise TypeError(f"expected {count} arguments, got {len(gradients)} instead")
    for place, gradient in enumerate(gradients):
        if gradient is not None:
            if not isinstance(gradient, Tensor):
                raise TypeError(f"argument {place} is not a Variable")
            charged(gradient)
    if isinstance(node, AccumulateGrad):
        if gradients[0] is not None:
            _accumulate(node, gradients[0])
        return ()
    results = _results(node, (*gradients, *(None,) * (outputs - count)))
    return results[0] if len(results) == 1 else results


def _results(node: Node, gradients: tuple[Tensor | None, ...]) -> tuple[Any, ...]:
    if all(gradient is None for gradient in gradients):
        look_through(node)
        return (None,) * len(node.edges)
    inputs = None if node.rest is None else node.rest.inputs
    if inputs is None:
        return tuple(node.apply(gradients, True))
    node.inputs = None
    try:
        return tuple(node.apply(gradients, True))
    finally:
        node.inputs = inputs


def _accumulate(node: AccumulateGrad, gradient: Tensor) -> None:
    graph = state.grad_enabled
    walk = Walk(True, graph, None, False, graph, NOBODY, [])
    walk.made = PassGradients(())
    walk.store(node, node.variable, gradient if graph else gradient._data, False)
