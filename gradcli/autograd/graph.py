"""Autograd: torch.autograd.graph: nodes, edges, and what happens to what is saved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from ..engine.graph.hooks import RemovableHandle
from ..engine.graph.leaf import edge_of
from ..engine.graph.node import AccumulateGrad, Node
from ..engine.schema.carriers import RUNTIME
from ..engine.schema.catalogue import catalogue
from ..engine.schema.class_name import name_in_messages
from ..engine.schema.mode import disable_saved_tensors_hooks, enable_grad, state
from ..engine.tensors.tensor import Tensor, plain

__all__ = [
    "GradientEdge", "Node", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks",
    "get_gradient_edge", "increment_version", "register_multi_grad_hook", "save_on_cpu",
    "saved_tensors_hooks",
]  # fmt: skip


# What a gradient for an edge looks like: shape and kind by the number of the node's output.
_shapes: WeakKeyDictionary[Node, dict[int, tuple[Any, Any]]] = WeakKeyDictionary()


class GradientEdge(NamedTuple):
    """A node and the number of its output that a tensor is."""

    node: Node
    output_nr: int
    ownership_token: Any = None

    def standing(self) -> Tensor:
        """A tensor at this place of the graph, for backward() and grad() to start or end in."""
        if isinstance(self.node, AccumulateGrad):
            return self.node.variable
        shape, kind = _shapes[self.node][self.output_nr]
        out = plain(kind.xp.broadcast_to(kind.xp.zeros((), dtype=kind.array_dtype), shape), kind)
        out._requires_grad, out._grad_fn, out._output_nr = True, self.node, self.output_nr
        return out


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Where a tensor's gradient goes: its grad_fn, or a leaf's AccumulateGrad."""
    if not tensor.requires_grad:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require "
            "gradients"
        )
    node = edge_of(tensor)
    if node is None:  # a view that was made within no_grad
        raise AssertionError("Expected gradient function to be set")
    _shapes.setdefault(node, {})[tensor.output_nr] = (tensor._data.shape, tensor._kind)
    token = None
    if node.is_users:  # PyTorch holds such a node by another one
        with enable_grad():
            token = catalogue.methods["view_as"](tensor, tensor).grad_fn
    return GradientEdge(node, tensor.output_nr, token)


class saved_tensors_hooks:
    """Inside, what operations save goes through pack_hook, and comes back through unpack_hook."""

    def __init__(
        self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]
    ) -> None:
        self._pair = (pack_hook, unpack_hook)

    def __enter__(self) -> None:
        if not all(callable(hook) for hook in self._pair):
            raise TypeError(
                "_push_saved_tensors_default_hooks(): incompatible function arguments. The "
                "following argument types are supported:\n    1. (arg0: "
                "collections.abc.Callable, arg1: collections.abc.Callable) -> None\n\nInvoked "
                f"with: {self._pair[0]!r}, {self._pair[1]!r}"
            )
        if state.refused_hooks:
            raise RuntimeError(state.refused_hooks[-1])
        state.push_saved_hooks(self._pair)

    def __exit__(self, *error: object) -> None:
        state.pop_saved_hooks()


class _AllowMutationOnSavedContext:
    """What one allow_mutation_on_saved_tensors has kept."""

    PUBLIC = ("clear",)

    def __init__(self) -> None:
        self.open = True

    def clear(self) -> None:
        """Nothing outlives the nodes here: each keeps its own copy."""

    def pack(self, tensor: Tensor) -> Tensor:
        make = plain if tensor.__class__ is not RUNTIME.sparse else RUNTIME.around
        copy: Tensor = make(tensor._data.copy(), tensor._kind)
        copy._requires_grad, copy._grad_fn = tensor._requires_grad, tensor._grad_fn
        copy._output_nr = tensor._output_nr
        return copy

    def unpack(self, copy: Tensor) -> Tensor:
        if not self.open:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context"
                "in which the graph was originally recorded."
            )
        return copy


class allow_mutation_on_saved_tensors:
    """Inside, tensors that were saved may change in place: backward sees what they were."""

    _active = False

    def __enter__(self) -> _AllowMutationOnSavedContext:
        if allow_mutation_on_saved_tensors._active:
            raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
        allow_mutation_on_saved_tensors._active = True
        self._copies = _AllowMutationOnSavedContext()
        self._hooks = saved_tensors_hooks(self._copies.pack, self._copies.unpack)
        self._hooks.__enter__()
        return self._copies

    def __exit__(self, *error: object) -> None:
        self._hooks.__exit__(*error)
        self._copies.open = False
        allow_mutation_on_saved_tensors._active = False


class save_on_cpu(saved_tensors_hooks):
    """Keeps what is saved on the CPU."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(
            lambda tensor: (tensor.device, tensor.to("cpu")),  # type: ignore[attr-defined]
            lambda packed: packed[1].to(packed[0]),
        )


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Tells the engine that a tensor's memory was changed behind its back."""
    if not isinstance(tensor, Tensor) and not hasattr(tensor, "__iter__"):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    for item in [tensor] if isinstance(tensor, Tensor) else tensor:
        if not item.is_inference():
            item._bump()


class _MultiHandle(RemovableHandle):
    _torch_name = "torch.autograd.graph._MultiHandle"
    __slots__ = ("_handles",)
    PUBLIC = ("remove",)

    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        super().__init__({}, 0)
        self._handles = handles

    def remove(self) -> None:
        for handle in self._handles:
            handle.remove()


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[..., Any], *, mode: str = "all"
) -> RemovableHandle:
    """fn runs once the gradients of all tensors (or, mode "any", of one) are there."""
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    for tensor in tensors:
        if not isinstance(tensor, Tensor):
            kind = name_in_messages(type(tensor))
            raise AttributeError(f"'{kind}' object has no attribute 'requires_grad'")
    hooks = _MultiHooks(tensors, fn)
    if mode == "any":
        return _MultiHandle([t.register_hook(hooks.of_any) for t in tensors if t.requires_grad])
    if None in hooks.nodes:
        raise AssertionError("Expected gradient function to be set")
    return _MultiHandle([t.register_hook(hooks.of_all(at)) for at, t in enumerate(tensors)])


class _MultiHooks:
    """Gathers the gradients of several tensors during each pass back."""

    def __init__(self, tensors: Sequence[Tensor], function: Callable[..., Any]) -> None:
        self.nodes = [edge_of(tensor) for tensor in tensors]
        self.function = function
        self.running: Any = None
        self.grads: list[Tensor | None] = []
        self.waiting = 0

    def _begin(self) -> None:
        """A new pass: how many of the tensors will it come to?"""
        if self.running is not state.full_backward:
            self.running = state.full_backward
            self.grads = [None] * len(self.nodes)
            self.waiting = sum(self._comes_to(node) for node in self.nodes)

    def _comes_to(self, node: Node | None) -> bool:
        return self.running is None or (node is not None and self.running.executes(node))

    def of_all(self, place: int) -> Callable[[Tensor], None]:
        def hook(grad: Tensor) -> None:
            self._begin()
            self.grads[place] = grad
            self.waiting -= 1
            if not self.waiting:
                given, self.running = list(self.grads), None
                self.function(given)

        hook.stands_for = self.function  # type: ignore[attr-defined]
        return hook

    @property
    def of_any(self) -> Callable[[Tensor], None]:
        def hook(grad: Tensor) -> None:
            if self.running is not state.full_backward:
                self.running = state.full_backward
                self.function(grad)

        hook.stands_for = self.function  # type: ignore[attr-defined]
        return hook
