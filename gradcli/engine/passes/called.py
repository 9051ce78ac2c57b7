"""Engine: a node that a program calls by itself: y.grad_fn(gradient), outside of any pass."""

from __future__ import annotations

from typing import Any

from ..graph.node import AccumulateGrad, Node
from ..graph.observer import NOBODY
from ..schema.mode import state
from ..tensors.saved import look_through
from ..tensors.tensor import Tensor
from .full_backward import FullBackward


def call_node(node: Node, *grads: Any, **named: Any) -> Any:
    """Its gradients for these of its outputs: one, or a tuple. No hook runs, nothing is freed, and
    a graph is made of them where gradients are on."""
    if node.is_users:
        raise TypeError(f"'{node.type_name}' object is not callable")
    if named:
        raise TypeError("keyword arguments are not supported")
    asked, outputs = _asked(node)
    if len(grads) != asked:
        raise TypeError(f"expected {asked} arguments, got {len(grads)} instead")
    for place, grad in enumerate(grads):
        if grad is not None and not isinstance(grad, Tensor):
            raise TypeError(f"argument {place} is not a Variable")
    if isinstance(node, AccumulateGrad):
        return _accumulated(node, grads[0])
    if all(grad is None for grad in grads):
        look_through(node)
        results: tuple[Any, ...] = (None,) * len(node.edges)
    else:
        results = tuple(node.apply((*grads, *(None,) * (outputs - asked)), True))
    return results[0] if len(results) == 1 else results


def _asked(node: Node) -> tuple[int, int]:
    """How many of its outputs have a gradient, and how many there are: indices come last."""
    made = node.extra
    if made.__class__ is not list:
        return node.outputs, node.outputs
    constant = () if node.row.listed else node.row.undifferentiable or ()
    names = node.row.signature.outputs
    smooth = [
        part is not None and part[1].differentiable and not (constant and names[place] in constant)
        for place, part in enumerate(made)
    ]
    return sum(smooth), len(made)


def _accumulated(node: AccumulateGrad, grad: Tensor | None) -> tuple[()]:
    if grad is not None:
        one = FullBackward(
            retain_graph=True, create_graph=state.grad_enabled, inputs=None, capture=False,
            tensors=True, listeners=NOBODY, freed=[],
        )  # fmt: skip
        one.store(node, grad)
    return ()
