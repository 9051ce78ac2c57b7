"""Engine: the walk back: which nodes run, in which order, and where gradients end up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

import numpy

from .causes import Cause, Freed, because
from .hooks import checked
from .mode import state
from .node import AccumulateGrad, Node
from .catalogue import catalogue
from .leaf import edge_of
from .tensor import Tensor, plain

_sequence = attrgetter("sequence")

CREATE_GRAPH_WARNING = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter "
    "and its gradient which can cause a memory leak. We recommend using autograd.grad when creating "
    "the graph to avoid this. If you have to use this function, make sure to reset the .grad fields "
    "of your parameters to None after use to break the cycle and avoid the leak."
)


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """torch.autograd.backward: accumulates into the .grad of leaves (or of `inputs`)."""
    roots = _listed(tensors)
    if inputs is not None:
        inputs = _listed(inputs)
        if not inputs:
            raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
        for tensor in inputs:
            if not tensor.requires_grad:
                raise _constant("One of the differentiated Tensors does not require grad", tensor)
            if not tensor.is_leaf:
                tensor.retain_grad()
    gradients = _root_gradients(roots, _grads_of(roots, grad_tensors if grad_tensors is not None else grad_variables))
    if create_graph:
        state.warn(CREATE_GRAPH_WARNING)
    create_graph = create_graph or state.create_graph
    keep = state.keep_graph or (create_graph if retain_graph is None else retain_graph)
    _walk(roots, gradients, keep, create_graph, inputs, capture=False)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """torch.autograd.grad: gradients of outputs with respect to inputs; .grad stays as it is."""
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
            "allow_unused=False."
        )
    allow_unused = materialize_grads if allow_unused is None else allow_unused
    roots, wanted = _listed(outputs), _listed(inputs)
    if is_grads_batched:
        return _batched(roots, wanted, grad_outputs, retain_graph, create_graph, allow_unused, materialize_grads)
    gradients = _root_gradients(roots, _grads_of(roots, grad_outputs))
    if not wanted:
        raise ValueError("grad requires non-empty inputs.")
    for tensor in wanted:
        if not tensor.requires_grad:
            raise _constant("One of the differentiated Tensors does not require grad", tensor)
    create_graph = create_graph or state.create_graph
    keep = state.keep_graph or (create_graph if retain_graph is None else retain_graph)
    results = _walk(roots, gradients, keep, create_graph, wanted, capture=True)
    for place, result in enumerate(results):
        if result is None and not allow_unused:
            message = (
                f"The differentiated Tensor at index {place} appears to not have been used in the "
                "graph. Set allow_unused=True if this is the desired behavior."
            )
            cause = Cause("unused", tensor=wanted[place], index=place)
            raise because(RuntimeError(message), cause)
    if materialize_grads:
        zeros = catalogue.functions["zeros_like"]
        results = [zeros(t) if r is None else r for r, t in zip(results, wanted, strict=True)]
    return tuple(results)


def _batched(
    roots: list[Tensor], wanted: list[Tensor], grad_outputs: Any, retain_graph: bool | None,
    create_graph: bool, allow_unused: bool, materialize_grads: bool,
) -> tuple[Tensor | None, ...]:  # fmt: skip
    """is_grads_batched: one ordinary pass per entry of the leading dimension, stacked."""
    gradients = _listed(grad_outputs)
    count = gradients[0].shape[0]
    keep = create_graph if retain_graph is None else retain_graph
    passes = [
        grad(roots, wanted, [g[i] for g in gradients], keep or i < count - 1, create_graph,
             allow_unused, False, materialize_grads)
        for i in range(count)
    ]  # fmt: skip
    stack = catalogue.functions["stack"]
    return tuple(None if column[0] is None else stack(list(column)) for column in zip(*passes, strict=True))


def _listed(value: Any) -> list[Any]:
    if isinstance(value, Tensor):
        return [value]
    items = list(value)
    return [getattr(item, "node", item) if not isinstance(item, Tensor) else item for item in items]


def _grads_of(roots: Sequence[Tensor], given: Any) -> list[Any]:
    if given is None:
        return [None] * len(roots)
    if isinstance(given, Tensor):
        given = [given]
    elif isinstance(given, int | float | complex):
        raise TypeError(f"'{type(given).__name__}' object is not iterable")
    given = list(given)
    if len(given) != len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(given)} gradients")
    return given


def _root_gradients(roots: Sequence[Tensor], given: Sequence[Any]) -> list[Tensor]:
    """The gradients that the walk starts from, made or checked as PyTorch does."""
    out: list[Tensor] = []
    for place, (root, gradient) in enumerate(zip(roots, given, strict=True)):
        if gradient is None:
            if root.requires_grad:
                if root._data.size != 1:
                    message = "grad can be implicitly created only for scalar outputs"
                    raise because(RuntimeError(message), Cause("root", tensor=root))
                if not root._kind.dtype.is_floating_point:
                    raise RuntimeError(
                        "grad can be implicitly created only for real scalar outputs but got "
                        f"{root.dtype}"
                    )
            kind = root._kind
            gradient = plain(kind.xp.ones(root._data.shape, dtype=kind.array_dtype), kind)
        elif not isinstance(gradient, Tensor):
            raise TypeError(
                f"gradients can be either Tensors or None, but got {type(gradient).__name__}"
            )
        elif gradient.shape != root.shape:
            raise RuntimeError(
                f"Mismatch in shape: grad_output[{place}] has a shape of {gradient.shape} and "
                f"output[{place}] has a shape of {root.shape}."
            )
        out.append(gradient)
    for place, root in enumerate(roots):
        if not root.requires_grad:
            message = f"element {place} of tensors does not require grad and does not have a grad_fn"
            raise _constant(message, root)
    return out


def _constant(message: str, tensor: Tensor) -> RuntimeError:
    return because(RuntimeError(message), Cause("constant", tensor=tensor))


def _walk(
    roots: Sequence[Tensor],
    gradients: Sequence[Tensor],
    keep: bool,
    create_graph: bool,
    inputs: Sequence[Tensor] | None,
    capture: bool,
) -> list[Any]:
    """Runs the nodes below the roots, latest first.

    PyTorch keeps ready nodes in a heap by sequence number. A node's consumers are always younger,
    so taking the reachable nodes by falling number is the same order without a heap; only
    AccumulateGrad, whose number is the highest, runs as soon as its last gradient has come.
    """
    before = state.grad_enabled, state.inference
    origin = state.origin
    state.grad_enabled = create_graph
    walk = Walk(keep, create_graph, inputs, capture)
    try:
        results = walk.run(roots, gradients)
    finally:
        state.grad_enabled, state.inference = before
        state.origin = origin
    if state.observer is not None:
        state.observer.walked(walk.freed, keep, create_graph)
    return results


class Walk:
    """One backward pass."""

    def __init__(
        self, keep: bool, tensors: bool, inputs: Sequence[Tensor] | None, capture: bool
    ) -> None:
        self.keep, self.tensors, self.capture = keep, tensors, capture
        self.inputs = inputs
        self.buffers: dict[Node, Any] = {}
        self.pending: dict[Node, int] = {}
        self.targets: dict[Node, list[tuple[int, int]]] = {}
        self.results: list[Any] = []
        self.needed: set[Node] | None = None
        self.freed: list[Node] = []
        self.mark = Freed(state.origin)

    def run(self, roots: Sequence[Tensor], gradients: Sequence[Tensor]) -> list[Any]:
        starts: list[Node] = []
        for root in roots:
            node = edge_of(root)
            assert node is not None
            starts.append(node)
        if self.inputs is not None:
            self.results = [None] * len(self.inputs)
            for place, tensor in enumerate(self.inputs):
                node = edge_of(tensor)
                if node is not None:
                    self.targets.setdefault(node, []).append((tensor._output_nr, place))
        order = self._discover(starts)
        if self.inputs is not None:
            self._restrict(order)
        for root, node, gradient in zip(roots, starts, gradients, strict=True):
            value: Any = gradient
            if not self.tensors:
                value = gradient._data
                if value.dtype != root._kind.array_dtype:
                    value = value.astype(root._kind.array_dtype)
            self._receive(node, root._output_nr, value)
        for node in starts:
            if node.__class__ is AccumulateGrad:
                self.pending[node] -= 1
                if not self.pending[node]:
                    self._accumulate(node)
        if self.tensors or self.targets or state.anomaly or state.observer is not None:
            for node in order:
                self._execute(node)
        else:
            self._straight(order)
        if self.inputs is not None and not self.capture:
            return []
        return self.results

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
            for node in pop().edges:
                if node is not None and node not in seen:
                    if node.__class__ is AccumulateGrad:
                        pending[node] = pending.get(node, 0) + 1
                    else:
                        add(node)
                        push(node)
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
        if node.outputs == 1 and number == 0 and held.__class__ is not list:  # a list: unbind, split
            self.buffers[node] = value if held is None else held + value
            return
        if held is None:
            held = self.buffers[node] = [None] * max(node.outputs, number + 1)
        elif held.__class__ is not list:
            held = self.buffers[node] = [held]
        while len(held) <= number:
            held.append(None)
        held[number] = value if held[number] is None else held[number] + value

    def _straight(self, order: Sequence[Node]) -> None:
        """The ordinary pass over arrays: nobody watches, nothing is captured, no graph is made.

        Per node this does what `_execute` does; nodes with hooks or several outputs go there.
        """
        buffers, pending, keep, mark = self.buffers, self.pending, self.keep, self.mark
        take, held_by = buffers.pop, buffers.get
        for node in order:
            grad = take(node, None)
            rest = node.rest
            numbers = None
            if rest is not None:
                numbers = rest.numbers
            if grad is None or node.__class__ is not Node or rest is not None and (
                rest.hooks is not None or rest.extra is not None
            ):
                if grad is not None:
                    buffers[node] = grad
                self._execute(node)
                continue
            row = node.row
            state.origin = node.origin
            results = row.backward(node, grad)
            if not keep and row.saves_tensors:
                node.saved = mark
            place = 0
            for edge in node.edges:
                if edge is not None:
                    value = results[place]
                    if edge.__class__ is AccumulateGrad:
                        if value is not None:
                            held = held_by(edge)
                            buffers[edge] = value if held is None else held + value
                        left = pending[edge] = pending[edge] - 1
                        if not left:
                            self._accumulate(edge)
                    elif value is not None:
                        if numbers is None and (edge.rest is None or edge.rest.extra is None):
                            held = held_by(edge)
                            buffers[edge] = value if held is None else held + value
                        else:
                            self._receive(edge, 0 if numbers is None else numbers[place], value)
                place += 1

    def _execute(self, node: Node) -> None:
        held = self.buffers.pop(node, None)
        hooks = node.hooks
        grads: tuple[Any, ...]
        if held.__class__ is list:
            grads = tuple(held)
        else:
            grads = (held,)
        if hooks is not None and hooks.tensor:
            grads = self._tensor_hooks(node, grads)
        if state.observer is not None:
            state.observer.arrived(node, grads)
        if self.targets:
            for number, place in self.targets.get(node, ()):
                if number < len(grads):
                    self._capture(place, grads[number])
        if hooks is not None:
            grads = self._pre_hooks(node, grads)
        if self.needed is not None and node not in self.needed:
            return
        results: Sequence[Any]
        edges = node.edges
        if all(g is None for g in grads):
            results = (None,) * len(edges)
        else:
            if state.anomaly or node.extra is not None:
                grads = self._completed(node, grads)
            state.origin = node.origin
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
            results = self._post_hooks(node, results, grads)
        if state.anomaly and state.anomaly_check_nan:
            _check_nan(node, results)
        numbers = node.numbers
        for place, edge in enumerate(edges):
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
        count = node.outputs if node.extra is None or node.extra.__class__ is not list else len(node.extra)
        return grads + (None,) * (count - len(grads))

    # ---- tensors and arrays

    def _tensor(self, value: Any, kind: Any) -> Tensor:
        if value.__class__ is Tensor:
            return value  # type: ignore[no-any-return]
        return plain(kind.xp.asarray(value), kind)

    def _value(self, tensor: Tensor) -> Any:
        return tensor if self.tensors else tensor._data

    def _kind(self, node: Node, value: Any, number: int) -> Any:
        """The kind of a gradient array: its own element type, on its own device."""
        from .device import Device, cpu
        from .dtypes import OF_ARRAY
        from .kind import kind_of

        if value.__class__ is Tensor:
            return value._kind
        device = cpu if isinstance(value, numpy.ndarray | numpy.generic) else Device("cuda", value.device.id)
        return kind_of(OF_ARRAY[value.dtype.name], device)

    def _as_tensor(self, node: Node, value: Any, number: int = 0) -> Tensor | None:
        return None if value is None else self._tensor(value, self._kind(node, value, number))

    # ---- hooks

    def _tensor_hooks(self, node: Node, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        hooks = node.hooks
        assert hooks is not None
        values = list(grads)
        for number, hook in list(hooks.tensor.values()):
            if number < len(values) and values[number] is not None:
                values[number] = self._value(self._hooked(node, hook, values[number], number))
        return tuple(values)

    def _hooked(self, node: Node, hook: Callable[..., Any], value: Any, number: int = 0) -> Tensor:
        before = self._as_tensor(node, value, number)
        assert before is not None
        result = hook(before)
        if state.observer is not None:
            state.observer.hooked("tensor", node, hook, before, before if result is None else result)
        return before if result is None else checked(hook, before, result)

    def _pre_hooks(self, node: Node, grads: tuple[Any, ...]) -> tuple[Any, ...]:
        hooks = node.hooks
        assert hooks is not None
        for hook in list(hooks.pre.values()):
            given = tuple(self._as_tensor(node, g, i) for i, g in enumerate(grads))
            result = hook(given)
            if result is not None:
                grads = tuple(None if g is None else self._value(g) for g in _tupled(result))
            if state.observer is not None:
                state.observer.hooked("node pre", node, hook, given, result)
        for number, reference in list(hooks.retain.items()):
            tensor = reference()
            if tensor is not None and number < len(grads) and grads[number] is not None:
                self._retain(tensor, node, grads[number], number)
        return grads

    def _retain(self, tensor: Tensor, node: Node, value: Any, number: int) -> None:
        new = self._as_tensor(node, value, number)
        assert new is not None
        meta = tensor._need_meta()
        if meta.grad is None:
            if self.tensors:
                meta.grad = catalogue.functions["clone"](new) if new._grad_fn is not None else _copied(new, tensor)
            else:
                meta.grad = _copied(new, tensor)
        else:
            meta.grad = meta.grad + new

    def _post_hooks(self, node: Node, results: Sequence[Any], grads: tuple[Any, ...]) -> Sequence[Any]:
        hooks = node.hooks
        assert hooks is not None
        for hook in list(hooks.post.values()):
            inputs = tuple(self._as_tensor(node, g) for g in results)
            outputs = tuple(self._as_tensor(node, g) for g in grads)
            result = hook(inputs, outputs)
            if state.observer is not None:
                state.observer.hooked("node", node, hook, inputs, result)
            if result is not None:
                results = tuple(None if g is None else self._value(g) for g in _tupled(result))
        return results

    # ---- the ends

    def _capture(self, place: int, value: Any) -> None:
        if value is None:
            return
        assert self.inputs is not None
        if not self.capture:
            return  # backward(inputs=...): leaves accumulate, the others retain their gradient
        target = self.inputs[place]
        tensor = value if value.__class__ is Tensor else None
        if tensor is None:
            array = target._kind.xp.array(value, dtype=target._kind.array_dtype)
            tensor = plain(array, target._kind)
        self.results[place] = tensor

    def _accumulate(self, node: Node) -> None:
        assert isinstance(node, AccumulateGrad)
        value = self.buffers.pop(node, None)
        variable = node.variable
        if value is None:
            return
        meta = variable._need_meta()
        if meta.hooks:
            for hook in list(meta.hooks.values()):
                value = self._value(self._hooked(node, hook, value))
        if self.inputs is not None:
            if node not in self.targets:
                return
            if self.capture:
                for _, place in self.targets[node]:
                    self._capture(place, value)
                return
        grads: tuple[Any, ...] = (value,)
        if node.hooks is not None:
            grads = self._pre_hooks(node, grads)
        new = self._as_tensor(node, grads[0])
        if new is not None:
            self._add_to_grad(variable, new)
        if node.hooks is not None and node.hooks.post:
            for hook in list(node.hooks.post.values()):
                hook((), tuple(self._as_tensor(node, g) for g in grads))
        if meta.post_hooks:
            for hook in list(meta.post_hooks.values()):
                result = hook(variable)
                if state.observer is not None:
                    state.observer.hooked("post accumulate", node, hook, variable, variable)
                if result is not None:
                    raise RuntimeError("Tensor post accumulate grad hooks should return None.")

    def _add_to_grad(self, variable: Tensor, new: Tensor) -> None:
        """PyTorch's rule: without a new graph the first gradient is stored and others added in place."""
        meta = variable._need_meta()
        held = meta.grad
        if state.observer is not None:
            state.observer.accumulated(variable, new)
        if held is None:
            meta.grad = self._graph_copy(new) if self.tensors else _copied(new, variable)
        elif self.tensors:
            meta.grad = held + new
        else:
            data = held._data
            if data.shape != new._data.shape:
                meta.grad = plain(data + new._data, held._kind)
                return
            numpy_like = held._kind.xp
            numpy_like.add(data, new._data, out=data, casting="unsafe")
            held._bump()
            held._need_storage().changed_at = self.mark.origin

    def _graph_copy(self, new: Tensor) -> Tensor:
        kind = new._kind
        fresh = plain(kind.xp.zeros(new._data.shape, dtype=kind.array_dtype), kind)
        return catalogue.methods["copy_"](fresh, new)  # type: ignore[no-any-return]


def _copied(new: Tensor, like: Tensor) -> Tensor:
    """A gradient of its own memory, contiguous, of the tensor's type."""
    kind = like._kind
    return plain(kind.xp.array(new._data, dtype=kind.array_dtype, order="C"), kind)


def _tupled(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, tuple | list) else (value,)


def _check_nan(node: Node, results: Sequence[Any]) -> None:
    for place, value in enumerate(results):
        if value is None:
            continue
        data = value._data if value.__class__ is Tensor else value
        if data.dtype.kind == "f" and bool((data != data).any()):
            _blame(node)
            raise RuntimeError(f"Function '{node.name()}' returned nan values in its {place}th output.")


def _blame(node: Node) -> None:
    """Anomaly mode says which node failed; where it was made is its origin's to tell."""
    state.warn(f"Error detected in {node.name()}. Traceback of forward call that caused the error:")
