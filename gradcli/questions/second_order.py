"""Questions: graphs of gradients: the order of each node, and which `.grad` holds one alive."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..pipeline.request import Ran
from ..recording.below import nodes_below
from ..recording.collect import Collected
from ..recording.facts.orders import DerivedFact, HolderFact
from ..recording.orders import Maker, Orders
from ..recording.sides import gradient_of, is_end, node_of
from .ledger import tensor_names

MOST = 1000  # gradients whose circles are reported
NODES = 1_000_000  # that are looked at for them
CALLS = {True: "grad", False: "backward"}


def derived(orders: Orders, found: Collected) -> tuple[DerivedFact, ...]:
    """The nodes that passes made."""
    return tuple(_derived(orders, found)) if orders.is_any else ()


def _derived(orders: Orders, found: Collected) -> Iterator[DerivedFact]:
    for number, node in enumerate(found.alive):
        maker = orders.maker(node) if found.nodes[number].next else None
        if maker is not None:
            one = maker.one
            yield DerivedFact(number, maker.order, CALLS[one.captures], one.number, one.line)


def holders(ran: Ran, found: Collected) -> tuple[HolderFact, ...]:
    """The `.grad`s that have a graph, and the circles that they close."""
    orders = ran.recording.orders
    if not orders.is_any:
        return ()
    grads: dict[int, tuple[Any, Any]] = {}
    for tensor in found.held:
        grad = gradient_of(tensor)
        if grad is not None and node_of(grad) is not None:
            grads.setdefault(id(tensor), (tensor, grad))
    if not grads:
        return ()
    names = tensor_names(ran, found)
    pairs = list(grads.values())[:MOST]
    return tuple(_holders(pairs, orders, lambda tensor: names(tensor)[0]))


def _holders(
    pairs: list[tuple[Any, Any]], orders: Orders, names: Callable[[Any], str]
) -> Iterator[HolderFact]:
    reached: dict[int, _Reached] = {}
    looked = 0
    for tensor, grad in pairs:
        if looked < NODES:
            found = reached[id(tensor)] = _Reached(grad)
            looked += len(found.nodes)
    held = {id(tensor): tensor for tensor, _ in pairs if id(tensor) in reached}
    leads = {key: [leaf for leaf in found.leaves if leaf in held] for key, found in reached.items()}
    for tensor, grad in pairs[: len(held)]:
        maker = orders.maker(node_of(grad)) or reached[id(tensor)].maker(orders)
        if maker is None:
            continue
        circle: list[str] = []
        for key in _way_back(id(tensor), leads):
            name = names(held[key])
            circle += [name, f"{name}.grad"]
        one, nodes = maker.one, len(reached[id(tensor)].nodes)
        yield HolderFact(names(tensor), CALLS[one.captures], one.line, nodes, tuple(circle))


class _Reached:
    """The nodes behind a gradient, and the leaves that they end in."""

    def __init__(self, grad: Any) -> None:
        self.nodes = {id(node): node for node in nodes_below([node_of(grad)])}
        ends = filter(is_end, self.nodes.values())
        self.leaves = dict.fromkeys(id(node.variable) for node in ends)

    def maker(self, orders: Orders) -> Maker | None:
        """The pass that made the first of them that came from one."""
        return next(filter(None, map(orders.maker, self.nodes.values())), None)


def _way_back(start: int, leads: dict[int, list[int]]) -> list[int]:
    """The shortest way over gradients and their leaves back to a tensor: without itself at the
    end; empty where there is none."""
    before: dict[int, int] = {}
    pending = [start]
    for key in pending:
        for leaf in leads.get(key, ()):
            if leaf == start:
                way = [key]
                while way[-1] != start:
                    way.append(before[way[-1]])
                return way[::-1]
            if leaf not in before:
                before[leaf] = key
                pending.append(leaf)
    return []
