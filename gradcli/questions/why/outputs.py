"""Questions: which value came out of which node, and which values a node was made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import ref

from ...engine.node import Node
from ...recording.sides import following, is_end

WALKED = 100_000  # nodes between a value and those it came of


class Outputs:
    """The numbers of values by the nodes that made them; `leaf` gives the number of a leaf."""

    __slots__ = ("leaf", "of_node")

    def __init__(self, leaf: Callable[[Any], int]) -> None:
        self.leaf = leaf
        # By the identity of a node, which is held weakly: its first output's, and other outputs'.
        self.of_node: dict[int, tuple[Any, int | None, dict[int, int] | None]] = {}

    def put(self, mark: Any, output_nr: int, number: int) -> None:
        """A value came out of the node with this mark."""
        held = self.of_node.get(id(mark))
        if held is None or held[0]() is not mark:
            others = {output_nr: number} if output_nr else None
            self.of_node[id(mark)] = (ref(mark), None if output_nr else number, others)
        elif output_nr:
            others = {**(held[2] or {}), output_nr: number}
            self.of_node[id(mark)] = (held[0], held[1], others)
        else:
            self.of_node[id(mark)] = (held[0], number, held[2])

    def sweep(self) -> None:
        """Nodes that are gone have no entry."""
        self.of_node = {key: one for key, one in self.of_node.items() if one[0]() is not None}

    def above(self, made_by: Any) -> tuple[int, ...]:
        """The values known already from which a node's gradient path starts."""
        next_to = self._next_to(made_by)
        return self._walked(made_by) if next_to is None else next_to

    def _next_to(self, made_by: Any) -> tuple[int, ...] | None:
        """Those, where each edge leads to one, as most do in a graph of ours; else None."""
        if made_by.__class__ is not Node or made_by.rest is not None:
            return None
        found: tuple[int, ...] = ()
        edge: Any
        for edge in made_by.edges:
            if edge.__class__ is Node:
                held = self.of_node.get(id(edge))
                if held is None or held[1] is None or held[0]() is not edge:
                    return None
                value = held[1]
            elif edge is None:
                continue
            elif is_end(edge):
                value = self.leaf(edge.variable)
            else:
                return None
            if value not in found:
                found += (value,)
        return found

    def _walked(self, made_by: Any) -> tuple[int, ...]:
        """The same for any node, however far they are."""
        found: dict[int, None] = {}
        known, pending, seen = self.of_node, [made_by], {id(made_by)}
        for node in pending:
            for edge, output_nr, mark in following(node):
                held = known.get(id(mark))
                if held is not None and held[0]() is mark:
                    value = (held[2] or {}).get(output_nr) if output_nr else held[1]
                    if value is not None:
                        found[value] = None
                        continue
                if is_end(edge):
                    found[self.leaf(edge.variable)] = None
                elif id(edge) not in seen and len(pending) < WALKED:
                    seen.add(id(edge))
                    pending.append(edge)
        return tuple(found)
