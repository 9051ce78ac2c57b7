"""Live: large tensors as they were: not copied until they change."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..recording.facts import Spread
from ..recording.snapshot import Summary

WHOLE = 4096  # elements of a tensor that is recorded with all its numbers


class Large:
    """A large tensor as it was: the tensor itself, until it is changed in place."""

    __slots__ = ("tensor", "version", "summary", "copy", "__weakref__")

    def __init__(self, tensor: Any) -> None:
        self.tensor, self.version = tensor, version_of(tensor)
        self.summary: Any = None
        self.copy: Any = None

    def settle(self, largest: int = WHOLE) -> None:
        """Copies it or sums it up: its memory is about to change, or is asked back."""
        tensor, self.tensor = self.tensor, None
        if tensor is None:
            return
        if version_of(tensor) != self.version:
            self.summary = Summary((), None)
        elif tensor.numel() <= largest:
            self.copy = tensor.clone()
        else:
            self.summary = summary(tensor)

    def shrink(self) -> None:
        """Gives up the copy of what is told without its numbers."""
        self.restored()
        self.copy = None

    def restored(self) -> Any:
        """What a page shows of it: the tensor as it was, or a summary."""
        self.settle()
        copy = self.copy
        if copy is not None and copy.numel() <= WHOLE:
            return copy
        if self.summary is None:
            self.summary = summary(copy)
        return self.summary


class Before:
    """Answers a tensor as it was in a pass, where it is a leaf that has changed since, or lies in
    the memory of one."""

    def __init__(self, leaves: Iterable[tuple[Any, Any, Any]]) -> None:
        self.held: dict[int, tuple[Any, Any]] = {}
        for leaf, known, _ in leaves:
            copy = known.copy if isinstance(known, Large) else known
            if isinstance(copy, type(leaf.data)) and copy.stride() == leaf.stride():
                self.held[leaf.untyped_storage().data_ptr()] = leaf, copy

    def __call__(self, tensor: Any) -> Any:
        if tensor.is_sparse:
            return tensor
        leaf, copy = self.held.get(tensor.untyped_storage().data_ptr(), (None, None))
        if leaf is None or tensor.dtype != copy.dtype:
            return tensor
        start = tensor.storage_offset() - leaf.storage_offset()
        try:
            return copy.as_strided(tensor.size(), tensor.stride(), start)
        except RuntimeError:  # it reaches beyond the leaf
            return tensor


def version_of(tensor: Any) -> int:
    try:
        return tensor._version  # type: ignore[no-any-return]
    except RuntimeError:  # made in inference mode
        return -1


def summary(tensor: Any) -> Summary:
    """Its shape, its least and its greatest number."""
    shape = tuple(tensor.shape)
    if tensor.dtype.is_complex or not tensor.numel() or not tensor.dtype.is_floating_point:
        return Summary(shape, None)
    low, high = (float(end) for end in tensor.aminmax())
    if low != low or high != high:
        return Summary(shape, None)
    mean, norm = float(tensor.mean()), float(tensor.norm())
    return Summary(shape, Spread(low, high, mean, norm))
