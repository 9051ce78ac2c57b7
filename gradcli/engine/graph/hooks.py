"""Engine: hooks: how they are registered and removed."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..schema.class_name import Named
from ..schema.mode import state
from ..schema.run_state import run_state

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor


class RemovableHandle(metaclass=Named):
    """What a registration returns; remove() takes effect for the next backward call."""

    __slots__ = ("id", "_hooks")
    _torch_name = "torch.utils.hooks.RemovableHandle"
    _torch_home = "torch.utils.hooks."

    def __init__(self, hooks: dict[int, Any], number: int) -> None:
        self.id, self._hooks = number, hooks

    def remove(self) -> None:
        self._hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


class Muted:
    """Whether registrations have no effect: a run that shows what the hooks changed."""

    __slots__ = ("on",)

    def __init__(self) -> None:
        self.on = False


muted = run_state(Muted())


def add(hooks: dict[int, Any], entry: Any, prepend: bool = False) -> RemovableHandle:
    """Registers a hook behind those that are there, or in front of them."""
    number = state.next_handle()
    if muted.on:
        return RemovableHandle(hooks, number)
    behind = dict(hooks) if prepend else {}
    if prepend:
        hooks.clear()
    hooks[number] = entry
    hooks.update(behind)
    state.hooked = True
    if state.observer is not None:
        state.observer.registered(number, entry[1] if type(entry) is tuple else entry)
    return RemovableHandle(hooks, number)


def register_tensor_hook(tensor: Tensor, hook: Callable[..., Any]) -> RemovableHandle:
    """hook(grad) runs once a backward call, before the tensor's node, and may replace grad."""
    if not tensor.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    node = tensor.grad_fn
    if node is not None:
        return add(node._need_hooks().tensor, (tensor.output_nr, hook))
    meta = tensor._need_meta()
    if meta.hooks is None:
        meta.hooks = {}
    return add(meta.hooks, hook)


def register_post_accumulate_hook(tensor: Tensor, hook: Callable[..., Any]) -> RemovableHandle:
    """hook(leaf) runs after its .grad has been added to."""
    if not tensor.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if tensor.grad_fn is not None:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    meta = tensor._need_meta()
    if meta.post_hooks is None:
        meta.post_hooks = {}
    return add(meta.post_hooks, hook)


def retain_grad(tensor: Tensor) -> None:
    """The tensor keeps its gradient although it is no leaf."""
    if not tensor.requires_grad:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    if tensor._grad_fn is None:  # of a view, as it was when it was last looked at
        return
    node = tensor.grad_fn
    assert node is not None
    tensor._need_meta().retains_grad = state.hooked = True
    node._need_hooks().retain[tensor.output_nr] = weakref.ref(tensor)
