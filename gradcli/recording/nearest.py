"""Recording: how close a tensor comes to a result that does not use it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .below import nodes_below
from .sides import edges_of, node_of, sequence_of

MOST = 100_000  # nodes that are looked at


def furthest(tensor: Any, others: Sequence[Any]) -> int | None:
    """The place of the tensor that was made last among those that were computed from this one."""
    own = node_of(tensor)
    nodes = [node_of(other) for other in others]
    alive, users = _users(node for node in nodes if node is not None)
    pending = [
        node for node in alive
        if node is own or (own is None and getattr(node, "variable", None) is tensor)
    ]  # fmt: skip
    seen = set(map(id, pending))
    for node in pending:
        for user in users.get(id(node), ()):
            if id(user) not in seen:
                seen.add(id(user))
                pending.append(user)
    reached = [
        (sequence_of(node), -place)  # of several names of one tensor the first
        for place, node in enumerate(nodes)
        if node is not None and id(node) in seen and node is not own
    ]
    return -max(reached)[1] if reached else None


def _users(roots: Iterable[Any]) -> tuple[list[Any], dict[int, list[Any]]]:
    """The nodes behind some roots, and for each, by its identity, those that use it."""
    alive = list(nodes_below(roots, MOST))
    users: dict[int, list[Any]] = {}
    for node in alive:
        for edge in edges_of(node):
            if edge is not None:
                users.setdefault(id(edge), []).append(node)
    return alive, users
