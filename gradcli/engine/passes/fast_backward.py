"""Engine: the ordinary backward pass: arrays, no hooks; gradients end up in the leaves.

The same order and the same results as `full_backward`, with less to ask. Gradients wait at the
nodes themselves. A node's consumers are always younger, so going down from the youngest number is
PyTorch's order, and no node has to be looked up before it runs. Leaves are last: no hook can see
when a leaf without hooks is given its gradient. What the loop over the nodes does is written out
in it, and not in functions: of small tensors every call at every node shows in the whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter
from sys import getrefcount
from typing import Any

import numpy

from ..graph.gradient_buffers import Ready, hand_on, receive
from ..graph.leaf import check_leaf, edge_of
from ..graph.node import AccumulateGrad, Node, Several
from ..graph.observer import NOBODY, OfNodes
from ..schema.catalogue import catalogue
from ..schema.causes import Freed
from ..schema.mode import state
from ..tensors.saved import check_attached, look_through
from ..tensors.tensor import Tensor
from .gradients import ALONE, PassGradients
from .hook_calls import as_tensor

FEW = 8  # nodes among which the next one is found at once
by_sequence = attrgetter("sequence")


def is_ordinary(create_graph: bool) -> bool:
    """No hooks, no graph of the gradients, no recorder of operations."""
    return not (
        state.hooked or state.in_fast_backward or create_graph
        or state.anomaly or state.saved_hooks or state.recorder is not None
    )  # fmt: skip


def array_for(root: Tensor, gradient: Tensor) -> Any:
    """A gradient to start from, of the root's element type."""
    value, dtype = gradient._data, root._kind.array_dtype
    return value if value.dtype == dtype else value.astype(dtype)


def fast_backward(
    roots: Sequence[Tensor], gradients: Sequence[Tensor], retain_graph: bool, mark: Freed,
    listeners: OfNodes, freed: list[Node],
) -> list[Any]:  # fmt: skip
    """Runs every node below the roots, youngest first. It returns no gradients."""
    ready: Ready = {}
    is_watched = listeners is not NOBODY or state.observer is not None
    if is_watched:
        arrived, ran = listeners.arrived, listeners.ran
        applied, heard = listeners.applied, listeners.heard
    for root, gradient in zip(roots, gradients):
        start = edge_of(root)
        assert start is not None  # roots require gradients: `backward` has looked
        receive(start, root._output_nr, array_for(root, gradient), ready)
    take, place = ready.pop, max(ready)
    node: Node | None = None
    results: Any
    saved: Any  # a cast is a call, at every node
    frees = None if retain_graph else mark
    state.in_fast_backward = True
    try:
        while place >= 0:
            node = take(place, None)
            if node is None:
                few = len(ready) < FEW
                place = max(ready, default=-1) if few else _behind_gap(place, ready)
                continue
            place -= 1
            grad = node.buffer
            if grad is None or grad.__class__ is Several:
                _special(node, _taken(node, grad), ready, retain_graph, mark, listeners, freed)
                continue
            node.buffer = None
            if not is_watched:
                node.row.step(node, grad, ready, frees)
                continue
            if arrived and (heard is None or id(node) in heard):
                grads = (grad,)
                for tell in arrived:
                    tell(node, grads)
            if not ran and not applied:
                held = node.saved
                node.row.step(node, grad, ready, frees)
                if frees is not None and held.__class__ is not Freed:
                    freed.append(node)
                continue
            if applied:
                state.origin = node.origin
                results = node.row.backward(node, grad)
            else:
                node.row.step(node, grad, ready, None)
            for tell_ran in ran:
                tell_ran(node)
            if applied:
                for tell_applied in applied:
                    tell_applied(node, (grad,), results)
                hand_on(node, results, ready)
                results = None  # a leaf asks whether anybody else has what came
            if frees is not None and node.saved.__class__ is not Freed:
                freed.append(node)
                row = node.row
                if places := row.freeing:
                    first, saved = places[0], node.saved
                    if first < 0 or saved[first] is not None or row.frees(saved):
                        node.saved = frees
        made, grad = PassGradients(gradients), None
        for leaf in ready.values():
            _store(leaf, made, mark)
    except BaseException:
        if node is not None:
            state.origin = node.origin
        _abandon(node, ready, PassGradients(gradients), mark)
        raise
    finally:
        state.in_fast_backward = False
    return []


def _behind_gap(place: int, ready: Ready) -> int:
    """The next number below this one that a node waits under; below zero where leaves alone do."""
    near = max(place - 1 - len(ready) // 3, -1)  # as far as looking through all would take as long
    for number in range(place - 1, near, -1):
        if number in ready:
            return number
    return max(ready, default=-1)


def fast_grad(
    inputs: Sequence[Tensor], roots: Sequence[Tensor], gradients: Sequence[Tensor],
    retain_graph: bool, mark: Freed,
) -> list[Any] | None:  # fmt: skip
    """What arrives at these tensors: the same over the nodes above them, and nothing is stored.
    None where a node needs the other way."""
    targets: dict[Node, list[tuple[int, int]]] = {}
    for place, tensor in enumerate(inputs):
        if (target := edge_of(tensor)) is not None:
            targets.setdefault(target, []).append((tensor._output_nr, place))
    starts = [edge_of(root) for root in roots]
    above = _above(targets, starts)
    if above is None:
        return None
    ready: Ready = {}
    made = PassGradients(gradients)
    results: list[Any] = [None] * len(inputs)
    node: Any = None
    state.in_fast_backward = True
    try:
        for root, start, gradient in zip(roots, starts, gradients):
            if start in above:
                receive(start, root._output_nr, array_for(root, gradient), ready)
        for node, asked in reversed(above.items()):
            held, edges = node.buffer, node.edges
            if asked is not edges:
                check_attached(node)
                node.edges = asked
            if held is not None and held.__class__ is not Several and node not in targets:
                node.buffer = None
                node.row.step(node, held, ready, None if retain_graph else mark)
            else:
                grads = _taken(node, held)
                node.buffer = held if held.__class__ is Several else None
                for number, place in targets.get(node, ()):
                    if grads[number] is not None:
                        results[place] = made.captured(grads[number], inputs[place]._kind)
                if any(asked):
                    _special(node, grads, ready, retain_graph, mark, NOBODY, [])
            node.edges = edges
    except BaseException:
        if node is not None:
            state.origin, node.edges = node.origin, edges
        for node in ready.values():
            node.buffer = node.buffer.emptied() if node.buffer.__class__ is Several else None
        raise
    finally:
        state.in_fast_backward = False
    return results


def _above(
    targets: Iterable[Node], starts: Iterable[Any]
) -> dict[Node, tuple[Node | None, ...]] | None:
    """The nodes from the targets up to the starts, oldest first, each with its edges that lead
    down to them, None for others. None where a node of a user's is among them."""
    seen = set(starts)
    below = list(seen)
    for node in below:
        for edge in node.edges:
            if edge is not None and edge not in seen:
                seen.add(edge)
                below.append(edge)
    above: dict[Node, tuple[Node | None, ...]] = {}
    ends = set(targets)
    found: set[Node | None] = set()
    for node in sorted(below, key=by_sequence):  # quick, as they are nearly in order
        asked = edges = node.edges
        if not edges or not found.issuperset(edges):  # in most graphs all of them lead down
            asked = tuple([edge if edge in found else None for edge in edges])
            if not any(asked) and node not in ends:
                continue
            if asked == edges:
                asked = edges
        if node.__class__ is not Node and node.is_users:  # it may ask which pass this is
            return None
        found.add(node)
        above[node] = asked
    return above


def _taken(node: Node, held: Any) -> tuple[Any, ...]:
    """The gradients of a node's outputs, taken from what waited at it."""
    if held.__class__ is not Several:
        return (held,)
    extra = node.extra
    taken: tuple[Any, ...] = held.taken(len(extra) if extra.__class__ is list else node.outputs)
    return taken


def _special(
    node: Node, grads: tuple[Any, ...], ready: Ready, retain_graph: bool, mark: Freed,
    listeners: OfNodes, freed: list[Node],
) -> None:  # fmt: skip
    """A node with several outputs, one that computes by itself, or one that nothing came to."""
    for tell in listeners.arrived:
        tell(node, grads)
    results: Sequence[Any] = (None,) * len(node.edges)
    if any(grad is not None for grad in grads) or node.is_users:
        if node.is_users:
            state.origin = node.origin  # it may begin a pass of its own
        results = node.apply(grads, False)
    else:
        look_through(node)
    for tell_ran in listeners.ran:
        tell_ran(node)
    for tell_applied in listeners.applied:
        tell_applied(node, grads, results)
    if not retain_graph and not node.freed:
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
    meta = variable._meta or variable._need_meta()
    held = meta.grad
    if observer is not None:
        observer.accumulated(variable, as_tensor(value))
    if held is None:
        alone = getrefcount(value) == ALONE
        meta.grad = made.first(value, variable, alone, mark.origin)
    elif held.__class__ is Tensor:
        add_in_place(held, value, mark)
    else:  # a sparse one, of an earlier pass
        meta.grad = as_tensor(value) + held  # type: ignore[operator]
    if observer is not None:
        observer.stored(variable)


def add_in_place(held: Tensor, value: Any, mark: Freed) -> None:
    """Adds to a stored gradient, as PyTorch does where no new graph is made."""
    data = held._data
    shape = data.shape
    if shape != value.shape:
        catalogue.methods["add_"](held, as_tensor(value))
        return
    if shape and data.dtype is value.dtype:
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
