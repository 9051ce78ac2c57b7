"""Recording: turns tensors and nodes into facts, through PyTorch's public attributes only.

So the same inspector reads the tensors of any library that has PyTorch's face. Nothing recurses:
a chain of a million nodes is as welcome as one of ten.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from operator import itemgetter
from typing import Any

from ..engine.graph.node import Node
from ..named import NamedTuple
from .facts import NodeFact, Place, TensorFact
from .holding import Named, first_name, named_tensors
from .numbers import numbers, range_of, text_of
from .sides import has_numbers, is_leaf, with_one_shape

TEXTS = 1000  # so many tensors get the text that PyTorch prints for them

Places = Callable[[Any], "Place | None"]


class Collected(NamedTuple):
    """The facts, and the objects they came from, in the same order."""

    tensors: tuple[TensorFact, ...]
    nodes: tuple[NodeFact, ...]
    held: list[Any]
    alive: list[Any]
    numbers: Mapping[int, int]  # of the nodes, by their identity
    leaves: Mapping[int, int]  # of the nodes where the graph ends, by the identity of the leaf
    former: Sequence[Named] = ()  # leaves by the names that they had


class Graph:
    """Numbers the nodes that tensors lead to. Holds them, so that an identity stays one."""

    __slots__ = ("ids", "alive", "next", "firsts", "leaves")

    def __init__(self) -> None:
        self.ids: dict[int, int] = {}
        self.alive: list[Any] = []
        self.next: list[tuple[tuple[int, int] | None, ...]] = []
        self.firsts: list[tuple[int, int]] = []  # of each node its first output, as edges name it
        self.leaves: dict[int, int] = {}

    def add(self, root: Any) -> int | None:
        """The number of this node; everything behind it is numbered too."""
        if root is None:
            return None
        ids, alive = self.ids, self.alive
        known = ids.get(id(root))
        if known is not None:
            return known
        following, firsts, take = self.next, self.firsts, self._take
        first = take(root)[0]
        stack = [first]
        while stack:
            number = stack.pop()
            node = alive[number]
            edges: list[tuple[int, int] | None] = []
            known_before = len(alive)
            if node.__class__ is Node and (node.rest is None or node.rest.numbers is None):
                # Of most nodes of ours the edges lead to first outputs: no pairs have to be made.
                for child in node.edges:
                    if child is None:
                        edges.append(None)
                        continue
                    key = id(child)
                    at = ids.get(key)
                    if at is None:  # as `_take` does it
                        at = ids[key] = len(alive)
                        alive.append(child)
                        following.append(())
                        firsts.append((at, 0))
                    edges.append(firsts[at])
            else:
                for child, output_nr in node.next_functions:
                    if child is None:
                        edges.append(None)
                        continue
                    at = ids.get(id(child))
                    edge = take(child) if at is None else firsts[at]
                    edges.append((edge[0], output_nr) if output_nr else edge)
            if edges:
                following[number] = tuple(edges)
                fresh = len(alive) - known_before
                if fresh == 1:
                    stack.append(known_before)
                elif fresh:
                    stack.extend(range(len(alive) - 1, known_before - 1, -1))
            elif hasattr(node, "variable"):
                self.leaves[id(node.variable)] = number
        return first

    def _take(self, node: Any) -> tuple[int, int]:
        """Numbers a node that was met first; its first output, as edges name it."""
        number = self.ids[id(node)] = len(self.alive)
        edge = (number, 0)
        self.alive.append(node)
        self.next.append(())
        self.firsts.append(edge)
        return edge


def short_name(node: Any) -> str:
    """Node.name() without the C++ namespace that a few carry."""
    name: str = node.name()
    return name.rpartition("::")[2] if ":" in name else name


def collect(
    bindings: Mapping[str, Any],
    kind: type,
    *,
    lines: Mapping[str, int] | None = None,
    place: Places | None = None,
    values: bool = True,
    texts: bool = False,
    roots: tuple[Any, ...] = (),
    others: Sequence[Named] = (),
    leaves: Sequence[Named] = (),
    made: Callable[[Any], int | None] | None = None,
    passing: frozenset[str] = frozenset(),
) -> Collected:
    """Facts about every tensor that a global name holds and every node that it leads to.

    `place` says where a node was made, `lines` where a name was bound, `made` where a leaf was
    made. `roots` are more nodes, `others` more tensors, `leaves` those that count where the
    graph ends in them. The names in `passing` hide no name of `others`.
    """
    told = _Told(values, texts)
    graph, facts = told.graph, told.facts
    owned = {id(one.tensor) for one in others if one.kind == "parameter"}

    def bound(name: str, tensor: Any, kind: str = "tensor") -> None:
        base = name.partition("[")[0]
        line = (lines or {}).get(base)
        if made is not None and is_leaf(tensor) and tensor.requires_grad:
            line = made(tensor) or line
        told.put(name, tensor, line, kind, base in passing)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the .grad of an inner tensor warns
        again = _other_names(others)  # and those in lists: what a module gives stands first
        for name, tensor in named_tensors(bindings, kind):
            if id(tensor) in owned and "[" in name:
                again.append((name, tensor, "tensor"))
            else:
                bound(name, tensor)
        for node in roots:
            graph.add(node)
        known = {id(one) for fact, one in zip(facts, told.held, strict=True) if not fact.passing}
        # What these held in the pass is another tensor.
        taken = {fact.name for fact in facts} | {one.name for one in others}
        reached = (one for one in leaves
                   if id(one.tensor) in graph.leaves and one.name not in taken)  # fmt: skip
        for name, line, tensor, what in (*others, *reached):
            if id(tensor) not in known and what != "alias":
                known.add(id(tensor))
                told.put(name, tensor, line, "leaf" if what == "tensor" else what, False)
        for other in again:
            bound(*other)
    leaves_by_number = dict(sorted(graph.leaves.items(), key=itemgetter(1)))
    return Collected(told.complete(), _node_facts(graph, place), told.held, graph.alive,
                     graph.ids, leaves_by_number, leaves)  # fmt: skip


def _other_names(others: Sequence[Named]) -> list[tuple[str, Any, str]]:
    """Further names of parameters, below the global name that led to the first one."""
    first = {id(one.tensor): first_name(one.name) for one in reversed(others)}
    return [(name, tensor, "parameter") for name, _, tensor, what in others
            if what == "alias" and first_name(name) == first[id(tensor)]]  # fmt: skip


class _Told:
    """Facts about tensors, in order, with the tensors and with the graph that they lead to."""

    def __init__(self, values: bool, texts: bool) -> None:
        self.values, self.texts = values, texts
        self.graph = Graph()
        self.facts: list[TensorFact] = []
        self.held: list[Any] = []
        self._first: dict[int, int] = {}  # by the identity of a tensor

    def put(self, name: str, tensor: Any, line: int | None, kind: str, passing: bool) -> None:
        """One more; everything behind it is numbered."""
        values, texts = self.values, self.texts and len(self.facts) < TEXTS
        if not (has_numbers(tensor) and has_numbers(tensor.grad)):
            values = texts = False
        try:
            function, is_end = tensor.grad_fn, tensor.is_leaf
        except RuntimeError:  # a view that PyTorch no longer lets anyone use
            function, is_end = None, False
        shown = with_one_shape(tensor)
        grad = with_one_shape(tensor.grad)
        self.held.append(tensor)
        self.facts.append(TensorFact(
            name,
            tuple(shown.shape),
            str(tensor.dtype).removeprefix("torch."),
            str(tensor.device),
            tensor.requires_grad,
            is_end,
            bool(tensor.retains_grad),
            None if function is None else short_name(function),
            self.graph.leaves.get(id(tensor)) if function is None else self.graph.add(function),
            0 if function is None else tensor.output_nr,
            line,
            numbers(shown) if values else None,
            numbers(grad) if values and grad is not None else None,
            grad is not None,
            text_of(shown) if texts else None,
            text_of(grad) if texts and grad is not None else None,
            range_of(shown) if texts else None,
            range_of(grad) if texts and grad is not None else None,
            kind, "", passing,
            self._first.setdefault(id(tensor), len(self.facts)),
            str(tensor.layout).removeprefix("torch."),
        ))  # fmt: skip

    def complete(self) -> tuple[TensorFact, ...]:
        """All of them; leaves have the numbers of their nodes, which may have come later."""
        leaves = self.graph.leaves
        for at, fact in enumerate(self.facts):
            if fact.is_leaf and fact.node != (node := leaves.get(id(self.held[at]), fact.node)):
                self.facts[at] = fact._replace(node=node)
        return tuple(self.facts)


def _node_facts(graph: Graph, place: Places | None) -> tuple[NodeFact, ...]:
    short: dict[Any, str] = {}
    known: dict[int, Place | None] = {}  # by the identity of an origin, of nodes of ours
    names: list[str] = []
    where: list[Place | None] = []
    for node, edges in zip(graph.alive, graph.next, strict=True):
        is_ours = node.__class__ is Node
        kind = node.row if is_ours else node.name()
        name = short.get(kind)
        if name is None:
            name = short[kind] = short_name(node)
        names.append(name)
        if place is None or not edges:
            where.append(None)
        elif is_ours:
            key = id(node.origin)
            if key not in known:
                known[key] = place(node)
            where.append(known[key])
        else:
            where.append(place(node))
    columns = zip(graph.ids.values(), names, graph.next, where, strict=True)
    return tuple(map(partial(tuple.__new__, NodeFact), columns))


def results(tensors: tuple[TensorFact, ...], nodes: tuple[NodeFact, ...]) -> tuple[int, ...]:
    """The tensors that require grad and that nothing else uses: by number, as they were bound."""
    used = {edge[0] for node in nodes for edge in node.next if edge is not None}
    seen: set[tuple[int, int]] = set()
    chosen = []
    for i, fact in enumerate(tensors):
        if fact.grad_fn is None or fact.node is None or fact.node in used:
            continue
        if (fact.node, fact.output_nr) not in seen:
            seen.add((fact.node, fact.output_nr))
            chosen.append(i)
    return tuple(chosen)


def leaves_behind(roots: Iterable[Any], most: int) -> list[Any]:
    """The leaves that these tensors were computed from; of very many the first `most`."""
    graph = Graph()
    for root in roots:
        graph.add(root.grad_fn)
    return [graph.alive[number].variable for number in islice(graph.leaves.values(), most)]
