"""Engine: the backward pass that can be watched: the order of its nodes, where gradients go."""

from __future__ import annotations

from collections.abc import Sequence
from sys import getrefcount
from typing import Any

from ..graph.leaf import check_leaf, edge_of
from ..graph.node import AccumulateGrad, CustomNode, Node
from ..graph.observer import OfNodes
from ..graph.ready import Ready
from ..memory.layout import element_strides, is_dense, relaid
from ..schema.carriers import RUNTIME
from ..schema.catalogue import catalogue
from ..schema.causes import Freed
from ..schema.mode import state
from ..tensors.saved import check_attached, look_through
from ..tensors.tensor import Tensor, plain, write_into
from ..tensors.tensor_type import contiguous_format
from .anomaly import apply_watched, check_nan, tell_of
from .fast_backward import add_in_place, array_for, by_sequence
from .gradients import ALONE, PassGradients
from .hook_calls import (
    as_tensor,
    call_leaf_hooks,
    call_one,
    call_post_accumulate_hooks,
    call_post_hooks,
    call_pre_hooks,
    call_tensor_hooks,
    retain,
)
from .reshaped import all_fitted, is_kept, started


class FullBackward:
    """One backward pass: runs the nodes below the roots, latest first.

    This is the way where anything can be seen: hooks, observers, anomaly mode, chosen inputs,
    graphs of gradients. `fast_backward` is the other one.
    """

    def __init__(
        self,
        *,
        retain_graph: bool,
        create_graph: bool,
        inputs: Sequence[Tensor] | None,
        capture: bool,
        tensors: bool,
        listeners: OfNodes,
        freed: list[Node],
    ) -> None:
        # Gradients are tensors where a graph is made of them, and where their numbers are of
        # reduced precision: each operation rounds then, and an array would not say how.
        self.retain_graph, self.create_graph = retain_graph, create_graph
        self.tensors, self.capture = tensors, capture
        self.inputs = inputs
        self.buffers: dict[Node, Any] = {}
        self.pending: dict[Node, int] = {}  # every node of the pass: the gradients it waits for
        self.targets: dict[Node, list[tuple[int, int]]] = {}
        self.results: list[Any] = []
        self.needed: set[Node] | None = None
        self.asked: dict[Node, tuple[Node | None, ...]] = {}  # their edges, where some do not run
        self.listeners, self.freed = listeners, freed
        self.ready = Ready()
        self.mark = Freed(state.origin)

    def run(self, roots: Sequence[Tensor], gradients: Sequence[Tensor]) -> list[Any]:
        self.made = PassGradients(gradients)
        starts = [self._start(root) for root in roots]
        if self.inputs is not None:
            self.results = [None] * len(self.inputs)
            for place, tensor in enumerate(self.inputs):
                target = edge_of(tensor)
                if target is not None:
                    self.targets.setdefault(target, []).append((tensor._output_nr, place))
        self._discover(starts)
        if self.inputs is not None:
            self._restrict()
        only = len(starts) == 1  # PyTorch leaves out several roots that no input is below
        for place, (root, node, gradient) in enumerate(zip(roots, starts, gradients, strict=True)):
            value: Any = gradient
            if not self.tensors:
                value = array_for(root, gradient)
            elif gradient._kind is not root._kind:
                value = catalogue.methods["to"](gradient, root._kind.dtype)
            if state.reshaped:
                value = started(node, value, place, self.capture)
            if only or self.executes(node):
                self._receive(node, root._output_nr, value)
                self._delivered(node)
        self._run_ready()
        if self.inputs is not None and not self.capture:
            return []
        return self.results

    def _run_ready(self) -> None:
        """Runs nodes until none is left. Those of which nothing else is asked run without a detour:
        `_execute`, `_applied` and `_pass_on` are written out here for them."""
        take, ready, buffers, mark = self.ready.take, self.ready.heap, self.buffers, self.mark
        plain, needed, targets, asked = not self.tensors, self.needed, self.targets, self.asked
        edges: Sequence[Node | None] | None
        retain_graph, watched = self.retain_graph, state.observer is not None
        arrived, ran, applied, *_ = self.listeners
        saved: Any
        while ready:
            node = take() if len(ready) > 1 else ready.pop()
            try:
                if node.__class__ is AccumulateGrad:
                    self._accumulate(node)
                    continue
                grad = buffers.get(node)
                if (
                    node.rest is not None or grad is None or grad.__class__ is list or not plain
                    or node.__class__ is not Node or state.anomaly or state.reshaped
                    or (needed is not None and (node not in needed or node in targets))
                ):  # fmt: skip
                    grad = None  # a leaf takes what nobody else holds
                    self._execute(node)
                    continue
                del buffers[node]
                grads = (grad,)
                for tell in arrived:
                    tell(node, grads)
                state.origin, row = node.origin, node.row
                edges = asked.get(node) if asked else None
                if edges is None:
                    edges = node.edges
                    results = row.backward(node, grad)
                else:
                    results = self._applied(node, grads)
                for tell_ran in ran:
                    tell_ran(node)
                for tell_applied in applied:
                    tell_applied(node, grads, results)
                if not retain_graph and node.saved.__class__ is not Freed:
                    if watched:
                        self.freed.append(node)
                    if places := row.freeing:
                        first, saved = places[0], node.saved
                        if first < 0 or saved[first] is not None or row.frees(saved):
                            node.saved = mark
                self._hand_on(edges, results)
                del grad, grads, results  # a leaf takes what nobody else holds
            except BaseException:
                if state.anomaly:
                    tell_of(node)
                raise

    def _hand_on(self, edges: Sequence[Node | None], results: Sequence[Any]) -> None:
        """The same as `_pass_on` for nodes of one output that lead to the first outputs of others:
        over those of its edges whose gradients are asked for."""
        pending, heap, buffers = self.pending, self.ready.heap, self.buffers
        for edge, value in zip(edges, results, strict=True):
            if edge is not None:
                left = pending[edge] = pending[edge] - 1
                if value is not None:
                    held = buffers.get(edge)
                    kind = edge.__class__
                    if held.__class__ is not list and (
                        kind is AccumulateGrad or (kind is Node and edge.row.output_count == 1)
                    ):
                        buffers[edge] = value if held is None else _sum(held, value)
                    else:
                        self._receive(edge, 0, value)
                if not left:
                    if heap:
                        self.ready.put(edge)
                    else:
                        heap.append(edge)

    def executes(self, node: Node) -> bool:
        """Does this pass have anything to do at a node?"""
        if self.needed is None:
            return node in self.pending
        return node in self.needed or node in self.targets

    def _start(self, root: Tensor) -> Node:
        node = edge_of(root)
        assert node is not None  # roots require gradients: `backward` has looked
        return node

    def _discover(self, starts: Sequence[Node]) -> None:
        """All nodes below the roots, and how many gradients each waits for."""
        pending = self.pending
        stack: list[Node] = []
        pop, push, known = stack.pop, stack.append, pending.get
        for node in starts:
            count = known(node)
            pending[node] = 1 if count is None else count + 1
            if count is None:
                push(node)
        while stack:
            for edge in pop().edges:
                if edge is not None:
                    count = known(edge)
                    if count is None:
                        pending[edge] = 1
                        push(edge)
                    else:
                        pending[edge] = count + 1

    def _restrict(self) -> None:
        """With `inputs`, only nodes on a way to one of them run.

        The inputs of `backward` run too: they are where gradients are stored. What a node is not
        asked for it does not work out, but for what users wrote.
        """
        targets = self.targets
        needed: set[Node] = set() if self.capture else set(targets)
        wanted = {*targets}  # and what is needed
        for node in sorted(self.pending, key=by_sequence):
            edges = node.edges
            if edges and wanted.issuperset(edges):  # as in most graphs, all of it
                needed.add(node)
                wanted.add(node)
                continue
            asked = tuple([edge if edge in wanted else None for edge in edges])
            if any(asked):
                needed.add(node)
                wanted.add(node)
            if node in needed and asked != edges and not node.is_users:
                self.asked[node] = asked
        self.needed = needed

    def _receive(self, node: Node, number: int, value: Any) -> None:
        """Adds a gradient to what already came for an output of a node."""
        held = self.buffers.get(node)
        single = node.outputs == 1 and number == 0
        if single and held.__class__ is not list:  # a list: unbind, split
            self.buffers[node] = value if held is None else _sum(held, value)
            return
        if held is None:
            held = self.buffers[node] = [None] * max(node.outputs, number + 1)
        elif held.__class__ is not list:
            held = self.buffers[node] = [held]
        while len(held) <= number:
            held.append(None)
        held[number] = value if held[number] is None else _sum(held[number], value)

    def _delivered(self, node: Node) -> None:
        """One of a node's gradients has come, defined or not."""
        left = self.pending[node] = self.pending[node] - 1
        if not left:
            self.ready.put(node)

    def _execute(self, node: Node) -> None:
        held = self.buffers.pop(node, None)
        rest = node.rest
        hooks = None if rest is None else rest.hooks
        grads = tuple(held) if held.__class__ is list else (held,)
        if hooks is not None or state.anomaly or (rest is not None and rest.extra is not None):
            grads = self._completed(node, grads)
        runs = self.needed is None or node in self.needed
        if runs and node in self.targets:  # one that runs is looked up before its hooks
            self._captures(node, grads)
        if hooks is not None:
            state.origin = self.mark.origin  # what they are given is of the pass
            grads = call_tensor_hooks(node, grads, self.tensors)
            retain(node, grads, self.tensors)
            if runs:
                grads = call_pre_hooks(node, grads, self.tensors)
        if runs or node in self.targets:  # a root that no input is below does nothing
            for tell in self.listeners.arrived:
                tell(node, grads)
        if not runs:
            self._captures(node, grads)
            return
        results: Sequence[Any]
        saved: Any = None
        if all(g is None for g in grads) and not node.is_users:
            look_through(node)
            results = (None,) * len(node.edges)
        else:
            state.origin = node.origin
            saved = node.saved if state.anomaly else None
            if self.asked or state.anomaly:
                results = self._applied(node, grads)
            else:
                results = node.apply(grads, self.tensors)
        if hooks is not None and hooks.post:
            state.origin = self.mark.origin
            results = call_post_hooks(node, results, grads, self.tensors)
        for tell_ran in self.listeners.ran:
            tell_ran(node)
        for tell_applied in self.listeners.applied:
            tell_applied(node, grads, results)
        if not self.retain_graph and not node.freed:
            if state.observer is not None:
                self.freed.append(node)
            node.release(self.mark)
        if state.anomaly and state.anomaly_check_nan:
            check_nan(node, results, grads, saved)
        self._pass_on(node, results)

    def _applied(self, node: Node, grads: tuple[Any, ...]) -> Sequence[Any]:
        """The node's own work, as far as this pass asks for it."""
        if node in self.asked:
            edges, asked = node.edges, self.asked[node]
            check_attached(node)  # while all its edges are there
            node.edges = asked
            try:
                results = self._worked(node, grads)
            finally:
                node.edges = edges
            if isinstance(node, CustomNode):  # it has not looked at its edges
                return [r if e is not None else None for r, e in zip(results, asked, strict=True)]
            return results
        return self._worked(node, grads)

    def _worked(self, node: Node, grads: tuple[Any, ...]) -> Sequence[Any]:
        if state.anomaly and self.tensors:
            return apply_watched(node, grads)
        return node.apply(grads, self.tensors)

    def _pass_on(self, node: Node, results: Sequence[Any]) -> None:
        """Hands a node's results to the nodes that its edges lead to."""
        numbers = None if node.rest is None else node.rest.numbers
        if state.reshaped:
            results = all_fitted(node, results)
        pending, needed, ready = self.pending, self.needed, self.ready
        for place, edge in enumerate(node.edges):
            if edge is None:
                continue
            left = pending[edge] = pending[edge] - 1
            if needed is not None and edge not in needed and edge not in self.targets:
                continue
            value = results[place]
            if value is not None:
                self._receive(edge, 0 if numbers is None else numbers[place], value)
            if not left:
                if ready.heap:
                    ready.put(edge)
                else:
                    ready.heap.append(edge)

    def _completed(self, node: Node, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        """A node of several outputs is given as many gradients as it has outputs."""
        count = len(node.extra) if node.extra.__class__ is list else node.outputs
        return grads + (None,) * (count - len(grads))

    # ---- the ends

    def store(self, leaf: AccumulateGrad, grad: Tensor) -> None:
        """Adds a gradient to a leaf's .grad, outside of any pass."""
        self.made = PassGradients(())
        self._store(leaf, leaf.variable, grad, False)

    def _captures(self, node: Node, grads: Sequence[Any]) -> None:
        """The inputs of `grad`; the inputs of `backward` store their gradients themselves."""
        if self.capture:
            assert self.inputs is not None
            for number, place in self.targets.get(node, ()):
                if grads[number] is not None:
                    found = self.made.captured(grads[number], self.inputs[place]._kind)
                    self.results[place] = found
                    if state.observer is not None:
                        state.observer.captured(node, place, found)

    def _accumulate(self, node: Node) -> None:
        assert isinstance(node, AccumulateGrad)
        value = self.buffers.pop(node, None)
        variable = node.variable
        meta = variable._need_meta()
        state.origin = self.mark.origin
        for number, hook in list((meta.hooks or {}).items()):
            value = call_one(node, hook, number, value, self.tensors)
        if self.needed is not None and node not in self.needed:
            self._captures(node, (value,))
            return
        if node.hooks is not None:
            (value,) = call_pre_hooks(node, (value,), self.tensors)
        if value is not None:
            alone = getrefcount(value) == ALONE
            self._store(node, variable, value, alone)
        elif meta.post_hooks:
            call_post_accumulate_hooks(node, variable)
        if node.hooks is not None:
            call_leaf_hooks(node, (value,))

    def _store(self, node: Node, variable: Tensor, value: Any, alone: bool) -> None:
        check_leaf(variable)
        if variable._requires_grad:  # else turned off since: nothing is stored, but hooks run
            self._add_to_grad(variable, value, alone)
            if state.observer is not None:
                state.observer.stored(variable)
        elif state.observer is not None:
            state.observer.withheld(variable, as_tensor(value))
        if variable._need_meta().post_hooks:
            call_post_accumulate_hooks(node, variable)

    def _add_to_grad(self, variable: Tensor, value: Any, alone: bool) -> None:
        """Without a new graph the first gradient is stored, and others are added in place."""
        meta, new = variable._need_meta(), as_tensor(value)
        held: Any = meta.grad
        if state.observer is not None:
            state.observer.accumulated(variable, new)
        sparse = RUNTIME.sparse
        if sparse is not None and sparse in map(type, (variable, held, new)):
            from ..compile.sparse_call import accumulated

            meta.grad = accumulated(held, new, self.create_graph, alone)
        elif held is None:
            spread = new._data.shape != variable._data.shape and not is_kept(new, variable)
            if self.create_graph or spread:
                meta.grad = self._graph_copy(new, variable)
            else:
                meta.grad = self.made.first(value, variable, alone, self.mark.origin)
        elif self.create_graph:
            meta.grad = held + new
        else:
            add_in_place(held, new._data, self.mark)
            if held._kind.is_reduced:
                write_into(held, held._data)

    def _graph_copy(self, new: Tensor, variable: Tensor) -> Tensor:
        """As the variable lies where that is dense, else row-major."""
        kind, own = new._kind, element_strides(variable._data)
        copy: Tensor
        if not is_dense(variable._data.shape, own):
            copy = catalogue.functions["clone"](new, memory_format=contiguous_format)
            return copy
        zeros = kind.xp.zeros(variable._data.shape, dtype=kind.array_dtype)
        fresh = plain(relaid(zeros, own) if zeros.ndim > 1 else zeros, kind)
        copy = catalogue.methods["copy_"](fresh, new)
        return copy


def _sum(held: Any, value: Any) -> Any:
    """What waits and what comes, added; PyTorch adds to the dense one of the two."""
    if held.__class__ is RUNTIME.sparse and not state.grad_enabled:
        return value + held
    return held + value
