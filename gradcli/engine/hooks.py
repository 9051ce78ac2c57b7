"""Engine: hooks: how they are registered, removed, and what they may return."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .tensor import Tensor

_next = itertools.count(1).__next__


class RemovableHandle:
    """What a registration returns; remove() takes effect for the next backward call."""

    __slots__ = ("id", "_hooks")

    def __init__(self, hooks: dict[int, Any], number: int) -> None:
        self.id, self._hooks = number, hooks

    def remove(self) -> None:
        self._hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


def add(hooks: dict[int, Any], entry: Any) -> RemovableHandle:
    number = _next()
    hooks[number] = entry
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
    node = tensor.grad_fn
    if node is None:
        return
    tensor._need_meta().retains_grad = True
    node._need_hooks().retain[tensor.output_nr] = weakref.ref(tensor)


def name_of(hook: Any) -> str:
    """A hook's name for PyTorch's complaints about what it returned."""
    return getattr(hook, "__name__", None) or getattr(hook, "name", None) or type(hook).__name__


def checked(hook: Any, before: Tensor, result: Any) -> Tensor:
    """A hook's replacement for a gradient must be a tensor of the same type and size."""
    from .tensor import Tensor

    if not isinstance(result, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type_name(result)}'")
    if result.dtype is not before.dtype or result.device != before.device:
        raise RuntimeError(
            f"hook '{name_of(hook)}' has changed the type of value (was {before.type()} "  # type: ignore[attr-defined]
            f"got {result.type()})"  # type: ignore[attr-defined]
        )
    if result.shape != before.shape:
        raise RuntimeError(f"hook '{name_of(hook)}' has changed the size of value")
    return result


def type_name(value: Any) -> str:
    return getattr(value, "type_name", None) or type(value).__name__
