"""Questions: how far a tensor came that a result does not depend on."""

from __future__ import annotations

from ..recording.collect import Collected
from ..recording.facts import TensorFact


def not_reached(of: str, name: str, found: Collected) -> str:
    """L does not depend on a; a came as far as c (line 4)."""
    words = f"{of} does not depend on {name}"
    fact = next((one for one in found.tensors if one.name == name), None)
    last = None if fact is None else _last(fact, found)
    if last is None:
        return f"{words}, and nothing with a name does"
    where = "" if last.line is None else f", line {last.line}"
    return f"{words}; {name} came as far as {last.name}{where}"


def _last(fact: TensorFact, found: Collected) -> TensorFact | None:
    """Of the named tensors computed from it the one that was bound last."""
    users: dict[int, list[int]] = {}
    for node in found.nodes:
        for edge in node.next:
            if edge is not None:
                users.setdefault(edge[0], []).append(node.id)
    start = fact.node
    pending = [] if start is None else [start]
    seen = set(pending)
    for number in pending:
        for user in users.get(number, ()):
            if user not in seen:
                seen.add(user)
                pending.append(user)
    reached = [
        (one.line or 0, place)
        for place, one in enumerate(found.tensors)
        if one.grad_fn is not None and one.node in seen and one.node != start
    ]
    return found.tensors[max(reached)[1]] if reached else None
