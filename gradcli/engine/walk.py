"""Engine: the walk back: which nodes run, in which order, and where gradients end up."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from .catalogue import catalogue
from .causes import Cause, Freed, because
from .hook_calls import (
    as_tensor,
    call_leaf_hooks,
    call_one,
    call_post_accumulate_hooks,
    call_post_hooks,
    call_pre_hooks,
    call_tensor_hooks,
    copied,
)
from .leaf import edge_of
from .mode import state
from .node import AccumulateGrad, Node
from .sweep import add_in_place, array_for
from .tensor import Tensor, plain, write_into

_sequence = attrgetter("sequence")


class Walk:
    """One backward pass: runs the nodes below the roots, latest first.

    This is the way where anything can be seen: hooks, observers, anomaly mode, chosen inputs,
    graphs of gradients. `sweep` is the other one.

    PyTorch keeps ready nodes in a heap by sequence number. A node's consumers are always younger,
    so taking the reachable nodes by falling number is the same order without a heap; only
    AccumulateGrad, whose number is the highest, runs as soon as its last gradient has come.
    """

    def __init__(
        self,
        keep: bool,
        graph: bool,
        inputs: Sequence[Tensor] | None,
        capture: bool,
        tensors: bool,
    ) -> None:
        # Gradients are tensors where a graph is made of them, and where their numbers are of
        # reduced precision: each operation rounds then, and an array would not say how.
        self.keep, self.graph, self.tensors, self.capture = keep, graph, tensors, capture
        self.inputs = inputs
        self.buffers: dict[Node, Any] = {}
        self.pending: dict[Node, int] = {}
        self.targets: dict[Node, list[tuple[int, int]]] = {}
        self.results: list[Any] = []
        self.needed: set[Node] | None = None
        self.freed: list[Node] = []
        self.order: Sequence[Node] = ()
        self.mark = Freed(state.origin)

    def run(self, roots: Sequence[Tensor], gradients: Sequence[Tensor]) -> list[Any]:
        starts = [self._start(root) for root in roots]
        if self.inputs is not None:
            self.results = [None] * len(self.inputs)
            for place, tensor in enumerate(self.inputs):
                target = edge_of(tensor)
                if target is not None:
                    self.targets.setdefault(target, []).append((tensor._output_nr, place))
        self.order = order = self._discover(starts)
        if self.inputs is not None:
            self._restrict(order)
        for root, node, gradient in zip(roots, starts, gradients, strict=True):
            value: Any = gradient
            if not self.tensors:
                value = array_for(root, gradient)
            elif gradient._kind is not root._kind:
                value = catalogue.methods["to"](gradient, root._kind.dtype)
            self._receive(node, root._output_nr, value)
        for node in starts:
            if node.__class__ is AccumulateGrad:
                self.pending[node] -= 1
                if not self.pending[node]:
                    self._accumulate(node)
        for node in order:
            self._execute(node)
        if self.inputs is not None and not self.capture:
            return []
        return self.results

    def _start(self, root: Tensor) -> Node:
        node = edge_of(root)
        assert node is not None  # roots require gradients: `backward` has looked
        return node

    def _discover(self, starts: Sequence[Node]) -> list[Node]:
        """All nodes below the roots, latest first; how many gradients each leaf waits for."""
        pending = self.pending
        seen: set[Node] = set()
        stack: list[Node] = []
        for node in starts:
            if node.__class__ is AccumulateGrad:
                pending[node] = pending.get(node, 0) + 1
            elif node not in seen:
                seen.add(node)
                stack.append(node)
        pop, push, add = stack.pop, stack.append, seen.add
        while stack:
            for edge in pop().edges:
                if edge is not None and edge not in seen:
                    if edge.__class__ is AccumulateGrad:
                        pending[edge] = pending.get(edge, 0) + 1
                    else:
                        add(edge)
                        push(edge)
        return sorted(seen, key=_sequence, reverse=True)

    def _restrict(self, order: Sequence[Node]) -> None:
        """With `inputs`, only nodes on a way to one of them run."""
        needed: set[Node] = set()
        for node in reversed(order):
            for edge in node.edges:
                if edge is not None and (edge in needed or edge in self.targets):
                    needed.add(node)
                    break
        self.needed = needed

    def _receive(self, node: Node, number: int, value: Any) -> None:
        """Adds a gradient to what already came for an output of a node."""
        held = self.buffers.get(node)
        single = node.outputs == 1 and number == 0
        if single and held.__class__ is not list:  # a list: unbind, split
            self.buffers[node] = value if held is None else held + value
            return
        if held is None:
            held = self.buffers[node] = [None] * max(node.outputs, number + 1)
        elif held.__class__ is not list:
            held = self.buffers[node] = [held]
        while len(held) <= number:
            held.append(None)
        held[number] = value if held[number] is None else held[number] + value

    def _execute(self, node: Node) -> None:
        held = self.buffers.pop(node, None)
        hooks = node.hooks
        grads = tuple(held) if held.__class__ is list else (held,)
        if hooks is not None and hooks.tensor:
            grads = call_tensor_hooks(node, grads, self.tensors)
        if state.observer is not None:
            state.observer.arrived(node, grads)
        if self.targets:
            for number, place in self.targets.get(node, ()):
                if number < len(grads):
                    self._capture(place, grads[number])
        if hooks is not None:
            grads = call_pre_hooks(node, grads, self.tensors)
        if self.needed is not None and node not in self.needed:
            return
        results: Sequence[Any]
        saved: Any = None
        if all(g is None for g in grads):
            results = (None,) * len(node.edges)
        else:
            if state.anomaly or node.extra is not None:
                grads = self._completed(node, grads)
            state.origin = node.origin
            saved = node.saved if state.anomaly else None
            try:
                results = node.apply(grads, self.tensors)
            except Exception:
                if state.anomaly:
                    _blame(node)
                raise
        if not self.keep and not node.freed:
            if state.observer is not None:
                self.freed.append(node)
            node.release(self.mark)
        if hooks is not None and hooks.post:
            results = call_post_hooks(node, results, grads, self.tensors)
        if state.observer is not None:
            state.observer.applied(node, grads, results)
        if state.anomaly and state.anomaly_check_nan:
            _check_nan(node, results, grads, saved)
        self._pass_on(node, results)

    def _pass_on(self, node: Node, results: Sequence[Any]) -> None:
        """Hands a node's results to the nodes that its edges lead to."""
        numbers = node.numbers
        for place, edge in enumerate(node.edges):
            if edge is None:
                continue
            value = results[place]
            if edge.__class__ is AccumulateGrad:
                pending = self.pending
                if value is not None:
                    held = self.buffers.get(edge)
                    self.buffers[edge] = value if held is None else held + value
                left = pending[edge] = pending[edge] - 1
                if not left:
                    self._accumulate(edge)
            elif value is not None:
                if self.needed is not None and edge not in self.needed and edge not in self.targets:
                    continue
                self._receive(edge, 0 if numbers is None else numbers[place], value)

    def _completed(self, node: Node, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        """A node of several outputs is given as many gradients as it has outputs."""
        count = len(node.extra) if node.extra.__class__ is list else node.outputs
        return grads + (None,) * (count - len(grads))

    # ---- the ends

    def _capture(self, place: int, value: Any) -> None:
        if value is None:
            return
        assert self.inputs is not None
        if not self.capture:
            return  # backward(inputs=...): leaves accumulate, the others retain their gradient
        target = self.inputs[place]
        tensor = value if isinstance(value, Tensor) else None
        if tensor is None:
            array = target._kind.xp.array(value, dtype=target._kind.array_dtype)
            tensor = plain(array, target._kind)
        self.results[place] = tensor
        if state.observer is not None:
            state.observer.captured(edge_of(target), place, tensor)

    def _accumulate(self, node: Node) -> None:
        assert isinstance(node, AccumulateGrad)
        value = self.buffers.pop(node, None)
        variable = node.variable
        if value is None:
            return
        meta = variable._need_meta()
        for number, hook in list((meta.hooks or {}).items()):
            value = call_one(node, hook, number, value, self.tensors)
        if self.inputs is not None:
            if node not in self.targets:
                return
            if self.capture:
                for _, place in self.targets[node]:
                    self._capture(place, value)
                return
        grads: tuple[Any, ...] = (value,)
        if node.hooks is not None:
            grads = call_pre_hooks(node, grads, self.tensors)
        if grads[0] is not None and variable._requires_grad:  # turned off since: nothing is stored
            self._add_to_grad(variable, as_tensor(grads[0]))
            if state.observer is not None:
                state.observer.stored(variable)
        if node.hooks is not None:
            call_leaf_hooks(node, grads)
        if meta.post_hooks:
            call_post_accumulate_hooks(node, variable)

    def _add_to_grad(self, variable: Tensor, new: Tensor) -> None:
        """Without a new graph the first gradient is stored, and others are added in place."""
        meta = variable._need_meta()
        held: Any = meta.grad
        if state.observer is not None:
            state.observer.accumulated(variable, new)
        if held is None:
            meta.grad = self._graph_copy(new) if self.graph else copied(new, variable)
        elif self.graph:
            meta.grad = held + new
        else:
            add_in_place(held, new._data, self.mark)
            if held._kind.is_reduced:
                write_into(held, held._data)
            if held._data.shape != new._data.shape:
                meta.grad = plain(held._data + new._data, held._kind)

    def _graph_copy(self, new: Tensor) -> Tensor:
        kind = new._kind
        fresh = plain(kind.xp.zeros(new._data.shape, dtype=kind.array_dtype), kind)
        return catalogue.methods["copy_"](fresh, new)  # type: ignore[no-any-return]


def _check_nan(node: Node, results: Sequence[Any], grads: Sequence[Any], saved: Any) -> None:
    for place, value in enumerate(results):
        if value is None:
            continue
        data = value._data if value.__class__ is Tensor else value
        if data.dtype.kind == "f" and bool((data != data).any()):
            _blame(node)
            message = f"Function '{node.name()}' returned nan values in its {place}th output."
            told = {"place": place, "result": value, "grads": grads, "saved": saved}
            raise because(RuntimeError(message), Cause("nan", node.origin, node, **told))


def _blame(node: Node) -> None:
    """Anomaly mode says which node failed; where it was made is its origin's to tell."""
    state.warn(f"Error detected in {node.name()}. Traceback of forward call that caused the error:")
