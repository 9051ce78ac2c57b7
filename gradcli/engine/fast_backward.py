"""Engine: the ordinary way back: arrays, no hooks; gradients end up in the leaves.

The same order and the same results as `walk`, with less to ask. Gradients wait at the nodes
themselves. A node's consumers are always younger, so going down from the youngest number is
PyTorch's order, and no node has to be looked up before it runs. Leaves are last: no hook can see
when a leaf without hooks is given its gradient.
"""

from __future__ import annotations

from collections.abc import Sequence
from sys import getrefcount
from typing import Any

import numpy

from .catalogue import catalogue
from .causes import Freed
from .gradients import ALONE, PassGradients
from .handing import Ready, hand_on, receive
from .hook_calls import as_tensor
from .leaf import check_leaf, edge_of
from .mode import state
from .node import AccumulateGrad, Node, Several
from .observer import OfNodes
from .saved import look_through
from .tensor import Tensor


def is_ordinary(create_graph: bool, inputs: Sequence[Tensor] | None) -> bool:
    """No hooks, no graph of the gradients, no recorder of operations."""
    return not (
        state.hooked or state.sweeping or create_graph or inputs is not None
        or state.anomaly or state.saved_hooks or state.recorder is not None
    )  # fmt: skip


def array_for(root: Tensor, gradient: Tensor) -> Any:
    """A gradient to start from, of the root's element type."""
    value, dtype = gradient._data, root._kind.array_dtype
    return value if value.dtype == dtype else value.astype(dtype)


def sweep(
    roots: Sequence[Tensor], gradients: Sequence[Tensor], keep: bool, mark: Freed,
    told: OfNodes, freed: list[Node],
) -> list[Any]:  # fmt: skip
    """Runs every node below the roots, youngest first. It returns no gradients."""
    ready: Ready = {}
    arrived, ran, applied, heard = told.arrived, told.ran, told.applied, told.heard
    watched = state.observer is not None
    for root, gradient in zip(roots, gradients):
        start = edge_of(root)
        assert start is not None  # roots require gradients: `backward` has looked
        receive(start, root._output_nr, array_for(root, gradient), ready)
    take = ready.pop
    place, missed = max(ready), 0
    node: Node | None = None
    saved: Any  # a cast is a call, at every node
    state.sweeping = True
    try:
        while place >= 0:
            node = take(place, None)
            if node is None:
                missed += 1
                place -= 1
                if missed > len(ready):  # a gap in the numbers; looking for its end is paid for
                    place, missed = max(ready, default=-1), 0
                continue
            place -= 1
            grad = node.buffer
            if grad is None or grad.__class__ is Several:
                _special(node, grad, ready, keep, mark, told, freed)
                continue
            node.buffer, row = None, node.row
            if arrived and (heard is None or id(node) in heard):
                grads = (grad,)
                for tell in arrived:
                    tell(node, grads)
            if applied:
                _run_watched(node, grad, ready, told)
            else:
                row.step(node, grad, ready)
                for tell_ran in ran:
                    tell_ran(node)
            if keep:
                continue
            if watched and node.saved.__class__ is not Freed:
                freed.append(node)
            if places := row.freeing:
                first, saved = places[0], node.saved
                if first < 0 or saved[first] is not None or row.frees(saved):
                    node.saved = mark
        made, grad = PassGradients(gradients), None
        for leaf in ready.values():
            _store(leaf, made, mark)
    except BaseException:
        if node is not None:
            state.origin = node.origin
        _abandon(node, ready, PassGradients(gradients), mark)
        raise
    finally:
        state.sweeping = False
    return []


def _run_watched(node: Node, grad: Any, ready: Ready, told: OfNodes) -> None:
    """The work of a node for those who look at its results."""
    state.origin = node.origin
    results = node.row.backward(node, grad)
    for tell_ran in told.ran:
        tell_ran(node)
    for tell_applied in told.applied:
        tell_applied(node, (grad,), results)
    hand_on(node, results, ready)


def _special(
    node: Node, held: Any, ready: Ready, keep: bool, mark: Freed, told: OfNodes, freed: list[Node]
) -> None:
    """A node with several outputs, one that computes by itself, or one that nothing came to."""
    extra = node.extra
    count = len(extra) if extra.__class__ is list else node.outputs
    grads = (None,) if held is None else held.taken(count)
    for tell in told.arrived:
        tell(node, grads)
    results: Sequence[Any] = (None,) * len(node.edges)
    if any(grad is not None for grad in grads) or node.is_users:
        results = node.apply(grads, False)
    else:
        look_through(node)
    for tell_ran in told.ran:
        tell_ran(node)
    for tell_applied in told.applied:
        tell_applied(node, grads, results)
    if not keep and not node.freed:
        freed.append(node)
        node.release(mark)
    hand_on(node, results, ready)


def _store(leaf: Any, made: PassGradients, mark: Freed) -> None:
    """Adds to the .grad of a leaf."""
    value, leaf.buffer = leaf.buffer, None
    if value is None:
        return
    variable: Tensor = leaf.variable
    observer = state.observer
    if not variable._requires_grad or variable._grad_fn is not None:
        check_leaf(variable)
        if observer is not None:
            observer.withheld(variable, as_tensor(value))
        return
    meta = variable._need_meta()
    held = meta.grad
    if observer is not None:
        observer.accumulated(variable, as_tensor(value))
    if held is None:
        alone = getrefcount(value) == ALONE
        meta.grad = made.first(value, variable, alone, mark.origin)
    else:
        add_in_place(held, value, mark)
        if held._data.shape != value.shape:
            catalogue.methods["add_"](held, as_tensor(value))
    if observer is not None:
        observer.stored(variable)


def add_in_place(held: Tensor, value: Any, mark: Freed) -> None:
    """Adds to a stored gradient, as PyTorch does where no new graph is made."""
    data = held._data
    if data.shape == value.shape:
        if data.dtype is value.dtype and data.ndim:
            data += value
        elif isinstance(data, numpy.generic):
            held._data = (data + value).astype(data.dtype)
        else:
            held._kind.xp.add(data, value, out=data, casting="unsafe")
        storage = held._storage or held._need_storage()
        storage.version += 1
        storage.changed_at = mark.origin
        if state.watched and state.observer is not None:
            state.observer.changed(held)


def _abandon(failed: Node | None, ready: Ready, made: PassGradients, mark: Freed) -> None:
    """After an error: what is not below a node that did not run has its gradient, as in PyTorch."""
    pending = [node for node in ready.values() if not isinstance(node, AccumulateGrad)]
    blocked = {failed, *pending}
    stack = list(blocked)
    while stack:
        node = stack.pop()
        for edge in node.edges if node is not None else ():
            if edge is not None and edge not in blocked:
                blocked.add(edge)
                stack.append(edge)
    for node in ready.values():
        if node in blocked:
            node.buffer = node.buffer.emptied() if node.buffer.__class__ is Several else None
        else:
            _store(node, made, mark)
