"""Recording: the graph below some nodes, on its way to the leaves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf
from typing import Any

from .sides import edges_of, is_end


def nodes_below(roots: Iterable[Any], most: float = inf) -> Iterator[Any]:
    """The roots and all that they lead to, each node once, the nearest first; of very many the
    first `most`. None is no node."""
    pending = list({id(root): root for root in roots if root is not None}.values())
    seen = set(map(id, pending))
    for node in pending:
        yield node
        for edge in edges_of(node):
            if edge is not None and id(edge) not in seen and len(seen) < most:
                seen.add(id(edge))
                pending.append(edge)


def leaves_below(roots: Iterable[Any]) -> list[Any]:
    """The leaves that they lead to."""
    ends = (node.variable for node in nodes_below(roots) if is_end(node))
    return list({id(leaf): leaf for leaf in ends}.values())
