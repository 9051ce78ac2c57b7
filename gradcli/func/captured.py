"""Func: tensors that a transformed function captured: it must not change them in place.

What PyTorch asks is whether a wrapper of the innermost grad, vjp or jvp is around the tensor. Here
memory is asked: every tensor that such a function makes outside of graphs is marked with the number
of the run, and what it records is younger than the run.
"""

from __future__ import annotations

from typing import Any

from ..engine.graph.node import Storage
from ..engine.schema.carriers import TRANSFORMS
from ..engine.schema.mode import state
from ..engine.tensors.tensor import Tensor
from .batched import Batched
from .dual import Dual
from .reverse import Identity


def innermost() -> Any:
    """The run of grad, vjp or jvp that is open, of several the last one."""
    return next((level for level in reversed(TRANSFORMS.stack) if level.kind != "vmap"), None)


def mark(out: Tensor, source: Tensor | None = None) -> None:
    """Marks what is made now, or what is made of the memory of a tensor that was."""
    level = innermost()
    if source is not None and not _is_own(source, level):
        return
    if out._storage is None:
        out._storage = Storage()
    out._storage.born = level.run


def _is_own(tensor: Tensor, level: Any) -> bool:
    """Was the memory of an ordinary tensor made in this run, or given to it?"""
    root = tensor if tensor._base is None else tensor._base
    node = root._grad_fn
    if node is not None and node.sequence >= level.start:
        return True
    if getattr(root._storage, "born", -1) >= level.run:
        return True
    if any(root is outside for _, outside in level.pairs):
        return False
    given = [inside._storage for inside, _ in level.pairs]
    return root._storage is not None and any(root._storage is storage for storage in given)


def check_change(name: str, tensor: Any) -> None:
    """Refuses an operation in place on a captured tensor."""
    level = innermost()
    if level is None:
        return
    while tensor.__class__ is Batched or tensor.__class__ is Dual:
        if tensor.level == level.number:
            return
        tensor = tensor.below
    root = tensor if tensor._base is None else tensor._base
    if state.grad_enabled and root._grad_fn.__class__ is Identity:
        if any(root is inside for inside, _ in level.pairs):  # to PyTorch, what is given is a leaf
            kind = "a leaf" if root is tensor else "a view of a leaf"
            raise RuntimeError(
                f"{kind} Variable that requires grad is being used in an in-place operation."
            )
    if not _is_own(tensor, level):
        raise RuntimeError(
            "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to "
            f"call in-place operation (aten::{name}) that would mutate a captured Tensor. This is "
            "not supported; please rewrite the function being transformed to explicitly accept "
            "the mutated Tensor(s) as inputs."
        )
