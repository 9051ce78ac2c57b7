"""Recording: whose memory a tensor has, and how much it is."""

from __future__ import annotations

from typing import Any

from ..engine.graph.reduced import HalfArray
from .measures import bytes_of
from .sides import side_of


def memory(value: Any) -> Any:
    """Whose memory a tensor or an array shares; None for a number on its own."""
    return side_of(value).memory(value)


def memory_or_own(value: Any) -> Any:
    """The same; of a number on its own the number."""
    array = value.data if value.__class__ is HalfArray else value
    held = memory(array)
    return array if held is None else held


def common_of(tensor: Any) -> Any:
    """What tensors that share memory have in common, numbers on their own too."""
    return side_of(tensor).common(tensor)


def counter_of(tensor: Any) -> Any:
    """What counts the versions of a tensor."""
    return side_of(tensor).counter(tensor)


def key_of(memory: Any) -> int:
    """What distinguishes memory from other live memory; PyTorch wraps the same one anew."""
    return int(getattr(memory, "_cdata", 0)) or id(memory)


def size_of(memory: Any, holder: Any) -> int:
    """How many bytes it has."""
    if holder.__class__ is HalfArray:
        return size_of(memory, holder.data) // 2
    if memory is holder:
        return bytes_of(holder)
    size = getattr(memory, "nbytes", None)
    return int(size() if callable(size) else holder.nbytes if size is None else size)
