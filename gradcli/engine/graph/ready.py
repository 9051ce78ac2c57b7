"""Engine: the nodes of a pass that have all their gradients, in the order in which they run."""

from __future__ import annotations

from .node import AccumulateGrad, Node, UnimplementedNode

FIRST = (AccumulateGrad, UnimplementedNode)


class Ready:
    """The youngest node first; before every other one a leaf, and one that fails.

    These count alike, so which of several comes first follows from how PyTorch's queue, a binary
    heap, moves its elements: the hole at the top sinks to the bottom, always to the greater child
    and to the right one of two equals, and the last element rises from there.
    """

    __slots__ = ("heap",)

    def __init__(self) -> None:
        self.heap: list[Node] = []

    def put(self, node: Node) -> None:
        heap = self.heap
        heap.append(node)
        if len(heap) > 1:
            self._rise(len(heap) - 1, node)

    def take(self) -> Node:
        heap = self.heap
        last = heap.pop()
        if not heap:
            return last
        first, hole, count = heap[0], 0, len(heap)
        while 2 * hole + 2 < count:
            child = 2 * hole + 2
            if _before(heap[child], heap[child - 1]):
                child -= 1
            heap[hole] = heap[child]
            hole = child
        if 2 * hole + 2 == count:
            heap[hole] = heap[count - 1]
            hole = count - 1
        self._rise(hole, last)
        return first

    def _rise(self, place: int, node: Node) -> None:
        heap = self.heap
        while place:
            parent = (place - 1) // 2
            if not _before(heap[parent], node):
                break
            heap[place] = heap[parent]
            place = parent
        heap[place] = node


def _before(a: Node, b: Node) -> bool:
    """Is the first one to wait for the second?"""
    if a.__class__ in FIRST:
        return False
    return b.__class__ in FIRST or a.sequence < b.sequence
