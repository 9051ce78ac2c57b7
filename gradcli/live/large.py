"""Live: large tensors as they were: not copied while nobody changes them."""

from __future__ import annotations

from typing import Any

from ..recording.facts import Spread
from ..recording.snapshot import Summary

WHOLE = 4096  # elements of a tensor that is recorded with all its numbers


class Large:
    """A large tensor as it was: the tensor itself, as long as nobody changes it in place."""

    __slots__ = ("tensor", "version", "summary", "__weakref__")

    def __init__(self, tensor: Any) -> None:
        self.tensor, self.version = tensor, version_of(tensor)
        self.summary: Any = None  # or a copy, where it is not so large

    def settle(self) -> None:
        """Copies it or sums it up: its memory is about to change, or is asked back."""
        tensor, self.tensor = self.tensor, None
        if tensor is None:
            return
        if version_of(tensor) != self.version:
            self.summary = Summary((), None)
        else:
            self.summary = tensor.clone() if tensor.numel() <= WHOLE else summary(tensor)

    def restored(self) -> Any:
        """What a page tells of it: the tensor as it was, or a summary."""
        self.settle()
        return self.summary


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
