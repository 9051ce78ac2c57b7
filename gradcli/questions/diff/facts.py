"""Questions: two reports side by side: tensors by name, nodes by their place in the graph.

Nodes are paired from the tensors that have the same name on both sides, down along the edges. So a
graph that is the same but for one operation differs in that operation and not in all that follow.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

from ...recording.facts import FlowFact, NodeFact, Report, TensorFact
from ...recording.facts.diff import DifferenceFact, SameFact, StepFact
from .compare import close, value_text
from .pairs import Pairs, line_of, text_of

_brief = partial(value_text, longest=40)
FLAGS = ("requires_grad", "is_leaf", "retains_grad")


class Tolerance(NamedTuple):
    """How far numbers may be apart; `types` and `devices` are compared too, or not."""

    rtol: float = 1e-5
    atol: float = 1e-7
    types: bool = True
    devices: bool = True

    def close(self, a: Any, b: Any) -> bool:
        return close(a, b, self.rtol, self.atol)


class Comparison:
    """The differences of two reports, counted as they are found."""

    def __init__(self, a: Report, b: Report, tolerance: Tolerance) -> None:
        self.a, self.b, self.tolerance = a, b, tolerance
        self.values = self.gradients = 0
        self.largest = 0.0
        self.unlike: set[str] = set()  # tensors that differ in something
        self.nodes = Pairs(a, b)
        self.pairs, self.parted = self.nodes.pairs, self.nodes.parted
        self.order = _order(a.nodes)

    def same(self) -> SameFact:
        """What is equal, once all differences are listed."""
        other = {fact.name for fact in self.b.tensors}
        shared = sum(fact.name in other for fact in self.a.tensors)
        nodes = sum(self.a.nodes[i].name == self.b.nodes[j].name for i, j in self.pairs.items())
        return SameFact(shared - len(self.unlike), nodes, self.values, self.gradients, self.largest)

    # ---- the facts

    def differences(self) -> Iterator[DifferenceFact]:
        """The graph where it parts, then tensor by tensor."""
        for _, difference in sorted(self.parted, key=lambda pair: self.order[pair[0]]):
            if difference.name not in self.nodes.lone or (difference.a and difference.b):
                yield difference  # else the tensor says so
        known = {fact.name: fact for fact in self.b.tensors}
        for fact in self.a.tensors:
            other = known.pop(fact.name, None)
            if other is None:
                yield DifferenceFact("tensor", fact.name, "only in A", _shape(fact), None,
                                     fact.line, None)  # fmt: skip
            else:
                for difference in self._tensor(fact, other):
                    self.unlike.add(fact.name)
                    yield difference
        for fact in known.values():
            yield DifferenceFact("tensor", fact.name, "only in B", None, _shape(fact), None,
                                 fact.line)  # fmt: skip

    def first(self, differences: tuple[DifferenceFact, ...]) -> DifferenceFact | None:
        """What differs first in the order of the work: an error in the program's first lines, an
        operation, a value, then a gradient on the way back."""
        found = [*self._forward(differences)]
        if found:
            return min(found, key=lambda pair: pair[0])[1]
        back = self._backward()
        if back is not None:
            return back
        return differences[0] if differences else None

    def _forward(
        self, differences: tuple[DifferenceFact, ...]
    ) -> Iterator[tuple[tuple[int, int], DifferenceFact]]:
        """Candidates with their place in the order: leaves first."""
        for node, difference in self.parted:
            yield (self.order[node], 0), difference
        by_name = {fact.name: fact for fact in self.a.tensors}
        for difference in differences:
            fact = by_name.get(difference.name)
            if difference.kind in ("value", "shape", "dtype") and fact is not None:
                place = -1 if fact.node is None or fact.is_leaf else self.order[fact.node]
                yield (place, 1 if place >= 0 else fact.line or 0), difference
        yield from self._flowing()

    def _flowing(self) -> Iterator[tuple[tuple[int, int], DifferenceFact]]:
        """Values that no name holds."""
        ours, theirs = _flows(self.a), _flows(self.b)
        for node, other in self.pairs.items():
            mine, yours = ours.get((node, 0)), theirs.get((other, 0))
            if mine is None or yours is None or mine.value is None or yours.value is None:
                continue
            if self.tolerance.close(mine.value, yours.value):
                continue
            yield (self.order[node], 2), self._numbers(
                "value", self.nodes.name(node), mine.value, yours.value, self.a.nodes[node],
                self.b.nodes[other],
            )  # fmt: skip

    def _backward(self) -> DifferenceFact | None:
        """The first operation on the way back that was given the same and passes on another."""
        ours, theirs = _arrived(self.a), _arrived(self.b)
        apart = {
            node for node, other in self.pairs.items()
            if node in ours and other in theirs
            and not self.tolerance.close(ours[node], theirs[other])
        }  # fmt: skip
        for node, other in sorted(self.pairs.items(), key=lambda pair: -self.order[pair[0]]):
            if node in apart:  # the gradient to begin with
                return self._handed(node, other, ours[node], theirs[other], "gradient")
            for edge in self.a.nodes[node].next:
                if edge is not None and edge[0] in apart:
                    words = f"gradient that it passes to {self.nodes.name(edge[0])}"
                    mine, yours = ours[edge[0]], theirs[self.pairs[edge[0]]]
                    return self._handed(node, other, mine, yours, words)
        return None

    def _handed(self, node: int, other: int, a: Any, b: Any, words: str) -> DifferenceFact:
        told = self._numbers("gradient", self.a.nodes[node].name, a, b, self.a.nodes[node],
                             self.b.nodes[other])  # fmt: skip
        return told._replace(name=self.nodes.name(node), words=words)

    # ---- tensors

    def _tensor(self, fact: TensorFact, other: TensorFact) -> Iterator[DifferenceFact]:
        where = (fact.line, other.line)
        if fact.shape != other.shape:
            yield DifferenceFact("shape", fact.name, "shape", str(list(fact.shape)),
                                 str(list(other.shape)), *where)  # fmt: skip
        if self.tolerance.types and fact.dtype != other.dtype:
            yield DifferenceFact("dtype", fact.name, "dtype", fact.dtype, other.dtype, *where)
        if self.tolerance.types and fact.layout != other.layout:
            yield DifferenceFact("dtype", fact.name, "layout", fact.layout, other.layout, *where)
        if self.tolerance.devices and fact.device != other.device:
            yield DifferenceFact("dtype", fact.name, "device", fact.device, other.device, *where)
        for flag in FLAGS:
            mine, yours = getattr(fact, flag), getattr(other, flag)
            if mine != yours:
                yield DifferenceFact("flag", fact.name, flag, str(mine), str(yours), *where)
        if fact.shape == other.shape:
            yield from self._number(fact, other, "value", fact.value, other.value)
            yield from self._number(fact, other, "gradient", fact.grad, other.grad)

    def _number(
        self, fact: TensorFact, other: TensorFact, kind: str, mine: Any, yours: Any
    ) -> Iterator[DifferenceFact]:
        if mine is None and yours is None:
            return
        if mine is None or yours is None:
            yield DifferenceFact(kind, fact.name, kind, _brief(mine), _brief(yours), fact.line,
                                 other.line)  # fmt: skip
        elif self.tolerance.close(mine, yours):
            self.largest = max(self.largest, _worst(mine, yours).distance or 0.0)
            if kind == "value":
                self.values += 1
            else:
                self.gradients += 1
        else:
            nodes = [
                None if f.node is None or f.is_leaf else report.nodes[f.node]
                for f, report in ((fact, self.a), (other, self.b))
            ]
            told = self._numbers(kind, fact.name, mine, yours, *nodes)
            yield told._replace(line_a=fact.line, line_b=other.line)

    def _numbers(
        self, kind: str, name: str, mine: Any, yours: Any,
        node: NodeFact | None, other: NodeFact | None,
    ) -> DifferenceFact:  # fmt: skip
        """Two values that differ: their shapes, else the element with the largest difference."""
        if not _alike(mine, yours):
            shapes = str(_sizes(mine)), str(_sizes(yours))
            return DifferenceFact("shape", name, f"shape of the {kind}", *shapes, line_of(node),
                                  line_of(other), text_of(node), text_of(other))  # fmt: skip
        worst = _worst(mine, yours)
        words = kind if worst.total <= 1 else f"{kind}, {worst.differing} of {worst.total}"
        shown = name + (f"[{', '.join(map(str, worst.element))}]" if worst.element else "")
        return DifferenceFact(
            kind, shown if worst.total > 1 else name, words, _brief(worst.a), _brief(worst.b),
            line_of(node), line_of(other), text_of(node), text_of(other), distance=worst.distance,
        )  # fmt: skip


Steps = tuple[StepFact, ...]


def parting(
    a: Steps, b: Steps, tolerance: Tolerance, *, exact: bool = True
) -> DifferenceFact | None:
    """Where two runs part: at another operation, or at one that gave another value; None where
    they do not, or where a value has another shape."""
    pairs = paired(a, b, exact=exact) or (list(zip(a, b, strict=False)) if exact else [])
    for number, (mine, yours) in enumerate(pairs, 1):
        if mine.node != yours.node:
            return DifferenceFact(
                "node", mine.node, f"operation {number}", mine.node, yours.node, mine.line,
                yours.line, mine.text, yours.text,
            )  # fmt: skip
        if tolerance.close(mine.value, yours.value):
            continue
        if not _alike(mine.value, yours.value):
            return None  # of another shape: the tensors show it better
        worst = _worst(mine.value, yours.value)
        where = f"element {list(worst.element)}" if worst.element and mine.whole else "value"
        words = f"{where} of operation {number} of {len(pairs)}"
        return DifferenceFact(
            "value", mine.node, words, _brief(worst.a), _brief(worst.b), mine.line, yours.line,
            mine.text, yours.text, distance=worst.distance,
        )  # fmt: skip
    return None


def paired(a: Steps, b: Steps, *, exact: bool) -> list[tuple[StepFact, StepFact]]:
    """The steps of both in their order; none where they are of another kind.

    PyTorch does not show what it makes on the way, such as the transpose within linear: where one
    of the two engines is PyTorch's, not `exact`, those steps are in the other one only.
    """
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    waiting, found = iter(longer), []
    for step in shorter:
        other = next((one for one in waiting if one.node == step.node), None)
        if other is None:
            return []
        found.append((other, step) if longer is a else (step, other))
    return found if len(longer) == len(shorter) or not exact else []


def _order(nodes: tuple[NodeFact, ...]) -> list[int]:
    """For every node its place in an order in which inputs come before what is made of them."""
    place = [-1] * len(nodes)
    count = 0
    for start in range(len(nodes)):
        stack = [start]
        while stack:
            node = stack[-1]
            if place[node] >= 0:
                stack.pop()
                continue
            waiting = [e[0] for e in nodes[node].next if e is not None and place[e[0]] < 0]
            if waiting:
                stack.extend(reversed(waiting))
            else:
                place[node] = count
                count += 1
                stack.pop()
    return place


def _flows(report: Report) -> dict[tuple[int, int], FlowFact]:
    return {(flow.node, flow.output_nr): flow for flow in report.flows}


def _arrived(report: Report) -> dict[int, Any]:
    """The gradient that arrived at each node, at the ends of the graph the one in .grad."""
    found = {f.node: f.grad for f in report.flows if f.output_nr == 0 and f.grad is not None}
    found.update({
        fact.node: fact.grad for fact in report.tensors
        if fact.is_leaf and fact.node is not None and fact.grad is not None
    })  # fmt: skip
    return found


def _shape(fact: TensorFact) -> str:
    return f"{fact.dtype}{list(fact.shape)}" if fact.shape else fact.dtype


def _alike(mine: Any, yours: Any) -> bool:
    """Nested the same way."""
    while isinstance(mine, tuple) and isinstance(yours, tuple):
        if len(mine) != len(yours) or not mine:
            return len(mine) == len(yours)
        mine, yours = mine[0], yours[0]
    return isinstance(mine, tuple) is isinstance(yours, tuple)


def _sizes(value: Any) -> list[int]:
    """Of nested tuples."""
    sizes = []
    while isinstance(value, tuple):
        sizes.append(len(value))
        value = value[0] if value else None
    return sizes


class Worst(NamedTuple):
    """The element that differs most, with both numbers; how many differ, of how many."""

    element: tuple[int, ...]
    a: Any
    b: Any
    differing: int
    total: int

    @property
    def distance(self) -> float | None:
        """None where it is no number."""
        distance = None if self.a is None else abs(self.a - self.b)
        return distance if distance is not None and math.isfinite(distance) else None


def _worst(mine: Any, yours: Any) -> Worst:
    best, largest = Worst((), None, None, 0, 0), -1.0
    differing = total = 0
    pending: list[tuple[tuple[int, ...], Any, Any]] = [((), mine, yours)]
    while pending:
        place, a, b = pending.pop()
        if isinstance(a, tuple):
            if isinstance(b, tuple):
                both = zip(a, b, strict=False)
                pending.extend(((*place, i), x, y) for i, (x, y) in enumerate(both))
            continue
        total += 1
        if a == b or (a != a and b != b):
            continue
        differing += 1
        distance = abs(a - b)
        distance = math.inf if distance != distance else distance
        if (distance, [-i for i in place]) > (largest, [-i for i in best.element]):
            best, largest = Worst(place, a, b, 0, 0), distance
    return best._replace(differing=differing, total=total)
