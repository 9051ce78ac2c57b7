"""Questions: two runs side by side: tensors by name, nodes by number, the first that differs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from ...recording.facts import NodeFact, TensorFact

RTOL, ATOL = 1e-5, 1e-6  # the last bits of single precision
LONGEST = 70  # characters of a value in a line of words
LINES = 12  # of a text that is shown


class Difference(NamedTuple):
    """One difference: in words, with a line of the program where it has one, and lines to show."""

    words: str
    line: int | None
    shown: tuple[str, ...]


def compared(
    tensors: tuple[TensorFact, ...], nodes: tuple[NodeFact, ...],
    others: tuple[TensorFact, ...], other_nodes: tuple[NodeFact, ...],
    ours: str, theirs: str,
) -> Iterator[Difference]:  # fmt: skip
    """Every tensor and every node in which the two differ. `ours` and `theirs` are their names."""
    known = {fact.name: fact for fact in others}
    for fact in tensors:
        other = known.pop(fact.name, None)
        if other is None:
            yield Difference(f"{fact.name} is a tensor on {ours} only", fact.line, ())
        else:
            yield from _tensor(fact, other, ours, theirs)
    for fact in known.values():
        yield Difference(f"{fact.name} is a tensor on {theirs} only", fact.line, ())
    yield from _nodes(nodes, other_nodes, ours, theirs)


ASPECTS = ("shape", "dtype", "requires_grad", "is_leaf", "retains_grad", "grad_fn", "output_nr")


def _tensor(fact: TensorFact, other: TensorFact, ours: str, theirs: str) -> Iterator[Difference]:
    for aspect in ASPECTS:
        mine, yours = getattr(fact, aspect), getattr(other, aspect)
        if mine != yours:
            words = f"{fact.name}: {aspect} is {value_text(mine)} on {ours}"
            yield Difference(f"{words}, {value_text(yours)} on {theirs}", fact.line, ())
            return
    for aspect, mine, yours in (
        ("value", fact.value, other.value), ("gradient", fact.grad, other.grad),
    ):  # fmt: skip
        if (mine is None) != (yours is None):
            has = ours if yours is None else theirs
            yield Difference(f"{fact.name}: only {has} has a {aspect}", fact.line, ())
        elif mine is not None and not close(mine, yours):
            words = f"{fact.name}: the {aspect} is {value_text(mine)} on {ours}"
            yield Difference(f"{words}, {value_text(yours)} on {theirs}", fact.line, ())


def value_text(value: Any, longest: int = LONGEST) -> str:
    """A value in a sentence; of a long one its beginning."""
    if isinstance(value, tuple):
        text = "[" + ", ".join(value_text(item, longest) for item in value) + "]"
    else:
        text = f"{value:.7g}" if isinstance(value, float) else str(value)
    return text if len(text) <= longest else text[: longest - 3] + "..."


def _nodes(
    nodes: tuple[NodeFact, ...], others: tuple[NodeFact, ...], ours: str, theirs: str
) -> Iterator[Difference]:
    """The graphs, walked alike: the first node in which they part."""
    for mine, yours in zip(nodes, others, strict=False):
        line = mine.place.line if mine.place is not None else None
        if mine.name != yours.name:
            words = f"node {mine.id} is {mine.name} on {ours}, {yours.name} on {theirs}"
            yield Difference(words, line, ())
            return
        if mine.next != yours.next:
            shown = (f"- {theirs}: {_edges(yours, others)}", f"+ {ours}: {_edges(mine, nodes)}")
            yield Difference(f"the inputs of {mine.name} differ", line, shown)
            return
    if len(nodes) != len(others):
        words = f"nodes of the graph: {len(nodes)} on {ours}, {len(others)} on {theirs}"
        yield Difference(words, None, ())


def _edges(node: NodeFact, nodes: tuple[NodeFact, ...]) -> str:
    return ", ".join(
        "None" if edge is None else f"{nodes[edge[0]].name}#{edge[0]}" for edge in node.next
    )


def close(mine: Any, yours: Any, rtol: float = RTOL, atol: float = ATOL) -> bool:
    """Equal but for the last bits; NaN equals NaN."""
    pending = [(mine, yours)]
    while pending:
        a, b = pending.pop()
        if isinstance(a, tuple) and isinstance(b, tuple):
            if len(a) != len(b):
                return False
            pending.extend(zip(a, b, strict=True))
        elif isinstance(a, (float, complex)) and isinstance(b, (float, complex)):
            if a != b and not (a != a and b != b) and not _near(a, b, rtol, atol):
                return False
        elif a != b:
            return False
    return True


def _near(a: complex, b: complex, rtol: float, atol: float) -> bool:
    distance = abs(a - b)
    return math.isfinite(distance) and distance <= atol + rtol * max(abs(a), abs(b))


def texts(ours: str, theirs: str) -> Iterator[str]:
    """Two texts, the expected one first, as lines of a difference."""
    for sign, text in (("-", theirs), ("+", ours)):
        lines = text.split("\n")
        if lines[-1] == "" and len(lines) > 1:
            lines.pop()
        for line in lines[:LINES]:
            yield f"{sign}{line}"
        if len(lines) > LINES:
            left = len(lines) - LINES
            yield f"{sign}... {left} more line{'s' if left > 1 else ''}"
