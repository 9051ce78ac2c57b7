"""Questions: a backward pass as numbers: what each node received, from where, and passed on."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import numpy

from ...named import NamedTuple
from ...recording.sides import (
    FLOATS,
    array_of,
    edges_of,
    is_end,
    node_of,
    numbers_of,
    outputs_of,
    run_again,
    saved_under,
    users_class,
)
from ..provenance.leaf_values import as_then
from ..provenance.passes import Applied, Hooked, Pass
from ..question import Row
from .case import Case


class Share(NamedTuple):
    """What a node handed to one of its inputs."""

    applied: Applied
    place: int
    value: Any


class Shares:
    """What the nodes of a pass handed on."""

    def __init__(self, one: Pass) -> None:
        self.of: dict[tuple[Any, int], list[Share]] = {}  # by the node that they went to
        self.ends: dict[int, Any] = {}  # the nodes of leaves, by the leaf
        for applied in (one.applied or {}).values():
            numbers = numbers_of(applied.node)
            for place, edge in enumerate(edges_of(applied.node)):
                if edge is None:
                    continue
                if is_end(edge):
                    self.ends[id(edge.variable)] = edge
                value = array_of(applied.results[place]) if place < len(applied.results) else None
                if value is not None:
                    key = (edge, 0 if numbers is None else numbers[place])
                    self.of.setdefault(key, []).append(Share(applied, place, value))


class Gradients:
    """The shares of a pass, as a question about one tensor asks for them."""

    def __init__(self, case: Case, one: Pass) -> None:
        self.case, self.one = case, one
        if one.shares is None:
            one.shares = Shares(one)
        self.shares: dict[tuple[Any, int], list[Share]] = one.shares.of

    def target(self) -> tuple[Any, int]:
        """Where the gradient of the tensor in question arrives."""
        tensor = self.case.tensor
        if node_of(tensor) is not None:
            return node_of(tensor), tensor.output_nr
        return self.one.shares.ends.get(id(tensor)), 0

    def to_target(self) -> list[Share]:
        return self.shares.get(self.target(), [])

    def to_node(self, node: Any) -> list[Share]:
        """Everything that came to any output of a node."""
        outputs = outputs_of(node)
        return [share for number in range(outputs)
                for share in self.shares.get((node, number), ())]  # fmt: skip

    def hooks_of(self, node: Any) -> Iterator[Hooked]:
        for hooked in self.one.hooks:
            if hooked.node is node:
                yield hooked

    def leaf_hooks(self) -> Iterator[Hooked]:
        """Hooks of the tensor itself, where it is a leaf."""
        for hooked in self.one.hooks:
            node = hooked.node
            if is_end(node) and node.variable is self.case.tensor:
                yield hooked

    def is_root(self, node: Any) -> bool:
        return any(root is node for root, _ in self.one.nodes)

    def upwards(self, node: Any) -> Iterator[Applied]:
        """The nodes between this one and the roots, the nearest first."""
        pending, seen = [node], {node}
        for current in pending:
            for share in self.to_node(current):
                above = share.applied.node
                if above not in seen:
                    seen.add(above)
                    pending.append(above)
                    yield share.applied


def is_zero(value: Any, chosen: Any = None) -> bool:
    """All zeros, or those that are chosen: by an index, or by an array of truth of this shape."""
    if chosen is None and value.__class__ in FLOATS:  # most in a graph of numbers
        return not value
    array = array_of(value)
    if array is None:
        return True
    if isinstance(chosen, tuple):
        is_row = isinstance(chosen, Row) and len(chosen) < array.ndim
        fits = is_row or len(chosen) == array.ndim
        if fits and all(a < size for a, size in zip(chosen, array.shape, strict=False)):
            array = array[chosen]
    elif chosen is not None and chosen.shape == array.shape:
        array = array[chosen]
    return not bool((array != 0).any())


def node_name(node: Any) -> str:
    """MulBackward0"""
    return str(node.name().rpartition("::")[2])


def kind_of(node: Any) -> str:
    """Mul for MulBackward0, without its overload."""
    return node_name(node).partition("Backward")[0]


def saved_value(applied: Applied, key: str) -> Any:
    """What a node had saved under a name: an array, a number, None."""
    return saved_under(applied.node, as_then(applied.saved, applied.leaves), key)


def chosen_before(share: Share, grad: Any, chosen: Any) -> Any:
    """Which elements of what came to a node that only moves elements became the chosen ones.

    None where the node can't be run once more.
    """
    codes = numpy.arange(1, grad.size + 1, dtype="float64").reshape(grad.shape)
    moved = run_again(share.applied.node, share.applied.saved, share.applied.grads, codes)
    if moved is None or moved[share.place] is None:
        return None  # what it needs may be gone: then nothing is known
    moved = moved[share.place]
    if chosen is not None and chosen.shape == moved.shape:
        moved = moved[chosen]
    found = numpy.zeros(grad.size, dtype=bool)
    places = moved[moved != 0].astype(int) - 1
    found[places[places < grad.size]] = True
    return found.reshape(grad.shape)


def returned_of(case: Case, applied: Applied, place: int) -> tuple[ast.AST | None, Any]:
    """Where a user's backward returned the gradient of an input: the statement, and in it the
    expression."""
    returned = applied.returned or _last_statement(case, applied.node)
    value: Any = returned.value if isinstance(returned, ast.Return) else None
    if isinstance(value, ast.Tuple) and place < len(value.elts):
        value = value.elts[place]
    return returned, value


def _last_statement(case: Case, node: Any) -> ast.stmt | None:
    """The end of a user's backward: its only return, or where one is missing."""
    owner = users_class(node)
    for part in ast.walk(case.program.tree):
        if isinstance(part, ast.ClassDef) and part.name == owner:
            for inner in part.body:
                if isinstance(inner, ast.FunctionDef) and inner.name == "backward":
                    return inner.body[-1]
    return None
