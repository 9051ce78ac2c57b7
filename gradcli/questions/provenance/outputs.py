"""Questions: which value is the output of which node, and which are its inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import ref

from ...engine.graph.node import AccumulateGrad, Node
from ...recording.sides import following, is_end

WALKED = 100_000  # nodes between a value and those it came from


class Outputs:
    """The numbers of values by the nodes that made them; `leaf` gives the number of a leaf."""

    __slots__ = ("leaf", "firsts", "leaves", "others")

    def __init__(self, leaf: Callable[[Any], int]) -> None:
        self.leaf = leaf
        # What most values are: the first output of a node of ours, by its number in the graph.
        self.firsts: dict[int, int] = {}
        self.leaves: dict[int, int] = {}  # the same of leaves, until one of them is given a number
        # Other nodes by their identity, and held weakly: what came out of each output.
        self.others: dict[int, tuple[Any, dict[int, int]]] = {}

    def put(self, mark: Any, output_nr: int, number: int) -> None:
        """A value came out of the node with this mark."""
        if mark.__class__ is Node and not output_nr:
            self.firsts[mark.sequence] = number
            return
        held = self.others.get(id(mark))
        before = {} if held is None or held[0]() is not mark else held[1]
        self.others[id(mark)] = (ref(mark), {**before, output_nr: number})

    def number(self, mark: Any, output_nr: int) -> int | None:
        """The value that came out of it last; None where none is known."""
        if mark.__class__ is Node and not output_nr:
            return self.firsts.get(mark.sequence)
        held = self.others.get(id(mark))
        return held[1].get(output_nr) if held is not None and held[0]() is mark else None

    def drop(self, is_gone: Callable[[int], bool]) -> None:
        """Values and nodes that are gone have no entry."""
        self.firsts = {key: one for key, one in self.firsts.items() if not is_gone(one)}
        self.others = {key: one for key, one in self.others.items() if one[0]() is not None}
        self.leaves.clear()

    def above(self, made_by: Any) -> tuple[int, ...]:
        """The values known already from which a node's gradient path starts."""
        if made_by.__class__ is not Node or made_by.rest is not None:
            return self._walked(made_by)
        found: list[int] = []
        edge: Any
        for edge in made_by.edges:  # each leads to one, as most do in a graph of ours
            if edge.__class__ is Node:
                value = self.firsts.get(edge.sequence)
                if value is None:
                    return self._walked(made_by)
            elif edge.__class__ is AccumulateGrad:
                value = self.leaves.get(edge.sequence)
                if value is None:
                    value = self.leaves[edge.sequence] = self.leaf(edge.variable)
            elif edge is None:
                continue
            else:
                return self._walked(made_by)
            if value not in found:
                found.append(value)
        return tuple(found)

    def _walked(self, made_by: Any) -> tuple[int, ...]:
        """The same for any node, however far they are."""
        found: dict[int, None] = {}
        pending, seen, others = [made_by], {id(made_by)}, self.others
        for node in pending:
            for edge, output_nr, mark in following(node):
                if id(mark) in others or mark.__class__ is Node:
                    value = self.number(mark, output_nr)
                    if value is not None:
                        found[value] = None
                        continue
                if mark is edge and is_end(edge):
                    found[self.leaf(edge.variable)] = None
                elif id(edge) not in seen and len(pending) < WALKED:
                    seen.add(id(edge))
                    pending.append(edge)
        return tuple(found)
