"""Engine: what only some tensors have, and how views hear that their base has joined a graph."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..graph.node import AccumulateGrad
    from .tensor import Tensor


class AutogradMeta:
    """What only some tensors have: a gradient, hooks, a base that they are a view of."""

    __slots__ = (
        "grad", "accumulator", "hooks", "post_hooks", "retains_grad", "is_parameter",
        "persistent", "base", "view_version", "creation", "inference", "mark",
        "number",
    )  # fmt: skip

    grad: Tensor | None
    accumulator: weakref.ref[AccumulateGrad] | None
    hooks: dict[int, Callable[..., Any]] | None
    post_hooks: dict[int, Callable[..., Any]] | None
    persistent: bool | None  # of a buffer that nn.Buffer made
    base: Tensor | None
    mark: list[bool] | None  # see `mark_of`
    number: complex | None  # of Python, which this tensor stands for in a graph of gradients

    def __init__(self, base: Tensor | None = None, version: int = 0) -> None:
        self.grad = self.accumulator = self.hooks = self.post_hooks = None
        self.persistent = self.mark = self.number = None
        self.retains_grad = self.is_parameter = self.inference = False
        self.base, self.view_version = base, version
        self.creation = ""  # how a view was made, where that forbids changing it in place


def mark_of(base: Tensor) -> list[bool]:
    """What a tensor shares with its views that are in no graph: is it in one by now?

    A view has no flag of its own to read: the mark replaces it.
    """
    meta = base._meta or base._need_meta()
    if meta.mark is None:
        meta.mark = [True] if base._requires_grad else []
    return meta.mark


def mark_of_base(tensor: Tensor) -> list[bool] | bool:
    """What replaces the flag of a tensor that is in no graph itself."""
    meta = tensor._meta
    return False if meta is None or meta.base is None else mark_of(meta.base)


def set_mark(base: Tensor, value: bool) -> None:
    """Marks the views of a base that joins a graph, or leaves it."""
    if base._meta is not None and base._meta.mark is not None:
        base._meta.mark[:] = [True] if value else []
