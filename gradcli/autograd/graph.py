"""Autograd: torch.autograd.graph: nodes, edges, and what happens to what is saved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, NamedTuple

from ..engine.hooks import RemovableHandle
from ..engine.mode import state
from ..engine.node import Node
from ..engine.tensor import Tensor, edge_of

__all__ = [
    "GradientEdge", "Node", "get_gradient_edge", "increment_version", "register_multi_grad_hook",
    "save_on_cpu", "saved_tensors_hooks",
]  # fmt: skip


class GradientEdge(NamedTuple):
    """A node and the number of its output that a tensor is."""

    node: Node
    output_nr: int


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Where a tensor's gradient goes: its grad_fn, or a leaf's AccumulateGrad."""
    if not tensor.requires_grad:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require "
            "gradients"
        )
    node = edge_of(tensor)
    assert node is not None
    return GradientEdge(node, tensor.output_nr)


class saved_tensors_hooks:
    """Inside, what operations save goes through pack_hook, and comes back through unpack_hook."""

    def __init__(
        self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]
    ) -> None:
        self._pair = (pack_hook, unpack_hook)

    def __enter__(self) -> None:
        state.push_saved_hooks(self._pair)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        state.pop_saved_hooks()


class save_on_cpu(saved_tensors_hooks):
    """Keeps what is saved on the CPU."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(
            lambda tensor: (tensor.device, tensor.to("cpu")),  # type: ignore[attr-defined]
            lambda packed: packed[1].to(packed[0]),
        )


def increment_version(tensor: Tensor | Sequence[Tensor]) -> None:
    """Tells the engine that a tensor's memory was changed behind its back."""
    for item in [tensor] if isinstance(tensor, Tensor) else tensor:
        item._bump()


class _MultiHandle(RemovableHandle):
    __slots__ = ("_handles",)

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
    grads: list[Tensor | None] = [None] * len(tensors)
    seen = [0]

    def hook_of(place: int) -> Callable[[Tensor], None]:
        def hook(grad: Tensor) -> None:
            if mode == "any":
                if not seen[0]:
                    seen[0] = 1
                    fn(grad)
                return
            grads[place] = grad
            seen[0] += 1
            if seen[0] == len(tensors):
                given, seen[0] = list(grads), 0
                grads[:] = [None] * len(tensors)
                fn(given)

        hook.stands_for = fn  # type: ignore[attr-defined]
        return hook

    return _MultiHandle([tensor.register_hook(hook_of(i)) for i, tensor in enumerate(tensors)])
