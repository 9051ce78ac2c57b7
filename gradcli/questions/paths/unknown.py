"""Questions: which local derivatives depend on inputs without a value."""

from __future__ import annotations

from typing import Any

from ...engine.compile.formula import edge_places
from ...engine.tensors.saved import unpack
from ...engine.tensors.tensor import Tensor
from ...pipeline.request import Ran
from .graph import Ways


class Unknown:
    """Follows the inputs without a value through a graph, and asks what each formula needs."""

    def __init__(self, ran: Ran, ways: Ways) -> None:
        assert ran.outcome is not None
        self.ways = ways
        missing = [ran.outcome.machine.globals.values.get(name) for name in ran.missing]  # type: ignore[union-attr]
        self.leaves = {id(tensor) for tensor in missing}
        graph = ways.graph
        users: list[list[int]] = [[] for _ in graph.alive]
        for number, inputs in enumerate(graph.next):
            for edge in inputs:
                if edge is not None:
                    users[edge[0]].append(number)
        self.nodes = {graph.leaves[leaf] for leaf in self.leaves if leaf in graph.leaves}
        pending = list(self.nodes)
        while pending:
            for user in users[pending.pop()]:
                if user not in self.nodes:
                    self.nodes.add(user)
                    pending.append(user)
        self.known: dict[tuple[int, int], bool] = {}

    def of(self, number: int, place: int) -> bool:
        """Whether the derivative for one input of a node needs a value that is not there."""
        key = number, place
        if key not in self.known:
            self.known[key] = self._needed(number, place)
        return self.known[key]

    def _needed(self, number: int, place: int) -> bool:
        node = self.ways.graph.alive[number]
        row = getattr(node, "row", None)
        if row is None:
            return number in self.nodes
        names = [
            name
            for name, where in edge_places(row).items()
            if place in _range(where, len(node.edges))
        ]
        outputs = set(row.signature.outputs)
        for formula in row.formulas:
            if not set(names) & set(formula.inputs):
                continue
            for key in formula.needs:
                if key in outputs:
                    if number in self.nodes:
                        return True
                elif key in row.saved_keys:
                    value = unpack(node, row.saved_keys.index(key), as_tensor=True)
                    values = value if isinstance(value, list) else [value]
                    if any(self._depends(item) for item in values):
                        return True
        return False

    def _depends(self, value: Any) -> bool:
        if not isinstance(value, Tensor):
            return False
        if id(value) in self.leaves:
            return True
        node = value.grad_fn
        return node is not None and self.ways.graph.ids.get(id(node)) in self.nodes


def _range(where: str, count: int) -> range:
    if ":" not in where:
        at = int(where) % count
        return range(at, at + 1)
    return range(count)[slice(*(int(part) if part else None for part in where.split(":")))]
