"""Engine: reduced precision: float16 and bfloat16, carried in float32 arrays, rounded when made.

An operation computes in single precision and its result is rounded once, as in PyTorch. So it is on
the way back: a pass through such numbers runs on tensors, where each operation of a formula rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..memory.device import module_of
from .node import AccumulateGrad, Node


class ReducedNode(Node):
    """A node whose result is of reduced precision."""

    __slots__ = ()


class HalfArray:
    """An array that a node keeps, of numbers that count as two bytes each and take four here."""

    __slots__ = ("data",)

    def __init__(self, data: Any) -> None:
        self.data = data

    @property
    def nbytes(self) -> int:
        return int(self.data.nbytes) // 2


def rounded_to(name: str) -> Callable[[Any], Any]:
    """What rounds an array of numbers to the nearest of a reduced type, ties to even."""
    return _bfloat16 if name == "bfloat16" else _float16


def _float16(data: Any) -> Any:
    return data.astype("float32", copy=False).astype("float16").astype("float32")


def _bfloat16(data: Any) -> Any:
    """A bfloat16 is the upper half of a float32."""
    data = data.astype("float32", copy=False)
    bits = data.view("uint32")
    rounded = ((bits + ((bits >> 16) & 1) + 0x7FFF) & 0xFFFF0000).astype("uint32").view("float32")
    if bool((data != data).any()):
        rounded = module_of(data).where(data == data, rounded, data)[()]
    return rounded


def is_met(starts: Sequence[Node | None]) -> bool:
    """Does a way back from these nodes come through numbers of reduced precision?

    What computes by itself (a user's function) may, so it counts.
    """
    seen: set[Node] = set()
    stack = [node for node in starts if node is not None]
    while stack:
        node = stack.pop()
        if node.__class__ is AccumulateGrad:
            if node.variable._kind.is_reduced:
                return True
        elif node.__class__ is not Node:
            return True
        else:
            for edge in node.edges:
                if edge is not None and edge not in seen:
                    seen.add(edge)
                    stack.append(edge)
    return False
