"""Questions: `gradcli trace --stats`: a graph in numbers: kinds, depth, memory, large values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..pipeline.request import Ran
from ..recording.collect import Collected
from ..recording.facts import NodeFact, RootFact, nodes_below
from ..recording.facts.stats import HeldFact, KindFact, LargeFact, StatsFact
from ..recording.measures import Measure, measured
from ..recording.passes import Pass
from ..recording.saved_sizes import SavedSize, SavedSizes, saved_sizes_of
from ..recording.snapshot import Summary, restored

MOST = 5  # rows of what is largest
LINES = 1000  # of one kind


def stats(
    ran: Ran, found: Collected, roots: Iterable[RootFact], one: Pass | None
) -> StatsFact | None:
    """Of everything below the roots."""
    sizes = ran.recording.find(SavedSizes)
    if sizes is None:
        return None
    inside = sorted(nodes_below(found.nodes, (root.node for root in roots)))
    nodes = [found.nodes[number] for number in inside]
    inner = [node for node in nodes if node.next]
    kept = {
        number: _saved_by(number, found, sizes) for number in inside if found.nodes[number].next
    }
    kinds, total = _kinds(inner, kept)
    leaves = [getattr(found.alive[node.id], "variable", None) for node in nodes if not node.next]
    return StatsFact(
        len(inner), len(leaves), sum(edge is not None for node in inner for edge in node.next),
        _depth(found.nodes, inside), total,
        sum(leaf.numel() for leaf in leaves if leaf is not None), kinds,
        tuple(_largest(inner, kept)), tuple(_values(ran, found, inside)),
        tuple(_gradients(ran, found, inside, one)),
    )  # fmt: skip


def _saved_by(number: int, found: Collected, sizes: SavedSizes) -> tuple[SavedSize, ...]:
    """What a node keeps, or kept until a pass ran it."""
    node = found.alive[number]
    return sizes.nodes.get(id(node)) or saved_sizes_of(node)


def _kinds(
    nodes: list[NodeFact], kept: Mapping[int, tuple[SavedSize, ...]]
) -> tuple[tuple[KindFact, ...], int]:
    """The most frequent kind first, and the bytes of all."""
    counts: dict[str, int] = {}
    sizes: dict[str, int] = {}
    lines: dict[str, dict[int, None]] = {}
    seen: set[tuple[int, int]] = set()
    for node in nodes:
        counts[node.name] = counts.get(node.name, 0) + 1
        for weight in kept[node.id]:
            if weight.memory not in seen:
                seen.add(weight.memory)
                sizes[node.name] = sizes.get(node.name, 0) + weight.bytes
        known = lines.setdefault(node.name, {})
        if node.place is not None and len(known) < LINES:
            known.setdefault(node.place.line)
    kinds = sorted(counts, key=lambda name: (-counts[name], -sizes.get(name, 0), name))
    told = (
        KindFact(name, counts[name], sizes.get(name, 0), tuple(sorted(lines[name])))
        for name in kinds
    )
    return tuple(told), sum(sizes.values())


def _largest(
    nodes: list[NodeFact], kept: Mapping[int, tuple[SavedSize, ...]]
) -> Iterator[HeldFact]:
    """The saved tensors that need most memory, each once."""
    found: dict[tuple[int, int], HeldFact] = {}
    for node in nodes:
        source = "" if node.place is None else node.place.text
        line = None if node.place is None else node.place.line
        for weight in kept[node.id]:
            fact = HeldFact(source, node.name, weight.name, weight.bytes, line)
            found.setdefault(weight.memory, fact)
    yield from sorted(found.values(), key=lambda fact: -fact.bytes)[:MOST]


def _depth(nodes: tuple[NodeFact, ...], inside: list[int]) -> int:
    """The longest way down: users before what they use, without recursion."""
    waiting = dict.fromkeys(inside, 0)
    for number in inside:
        for edge in nodes[number].next:
            if edge is not None:
                waiting[edge[0]] += 1
    level = {number: 1 for number in inside if not waiting[number]}
    pending = list(level)
    for number in pending:
        for edge in nodes[number].next:
            if edge is None:
                continue
            level[edge[0]] = max(level.get(edge[0], 0), level[number] + 1)
            waiting[edge[0]] -= 1
            if not waiting[edge[0]]:
                pending.append(edge[0])
    return max(level.values(), default=0)


# ---------------------------------------------------------------- large and bad numbers


def _values(ran: Ran, found: Collected, inside: list[int]) -> list[LargeFact]:
    """The results with the largest numbers; those with NaN or infinity first."""
    values = ran.recording.values
    rows = []
    for number in inside:
        entry = values.find(found.alive[number], 0)
        if entry is not None and found.nodes[number].next:
            rows.append(_row(found.nodes[number], entry.value))
    return _top(rows)


def _gradients(ran: Ran, found: Collected, inside: list[int], one: Pass | None) -> list[LargeFact]:
    """The same of what flowed, into leaves too."""
    if one is None:
        return []
    names = {fact.node: fact.name for fact in found.tensors if fact.is_leaf}
    rows = []
    for number in inside:
        node, fact = found.alive[number], found.nodes[number]
        if fact.next:
            rows.append(_row(fact, one.flows.get((id(node), 0))))
        else:
            leaf = one.leaves.get(id(getattr(node, "variable", None)))
            rows.append(_row(fact, None if leaf is None else leaf[2], names.get(number, "")))
    return _top(rows)


def _row(fact: NodeFact, snapshot: Any, name: str = "") -> LargeFact | None:
    if snapshot is None:
        return None
    place = fact.place
    source = name or ("" if place is None else place.target or place.text)
    value = restored(snapshot)
    size = _summed(value) if isinstance(value, Summary) else measured(value)
    line = None if place is None else place.line
    kind = fact.name if fact.next else "leaf"
    return LargeFact(source, kind, line, size.largest, size.norm, size.zeros, size.bad, size.size)


def _summed(value: Summary) -> Measure:
    """What is left of a large value; where it has no range, there is a NaN in it."""
    count = 1
    for length in value.shape:
        count *= length
    if value.range is None or value.range.has_nan:
        return Measure(float("nan"), float("nan"), 0, 1, count)
    norm = value.range.norm
    largest = max(abs(value.range.low), abs(value.range.high))
    return Measure(float("nan") if norm is None else norm, largest, 0, 0, count)


def _top(rows: list[LargeFact | None]) -> list[LargeFact]:
    known = [row for row in rows if row is not None and row.size]
    known.sort(key=lambda row: (-row.bad, -row.largest if row.largest == row.largest else 0.0))
    return known[:MOST]
