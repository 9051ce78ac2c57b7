"""Recording: which saved tensors a pass released, and what is alive at the end, line by line."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

from numpy import generic

from ..engine.graph.node import Node
from ..engine.graph.observer import NOBODY, OfNodes
from ..engine.schema.origin import line_of
from ..named import NamedTuple
from .captured_pass import CapturedPass
from .facts.ledger import BufferFact, PassFact
from .memory import key_of, memory_or_own, size_of
from .passes import Pass, Passes
from .sides import OWN, side_of
from .spectator import Spectator

PASSES = 1000
LINES = 1000  # places whose buffers are counted separately
NAMES = 8


class _Heap:
    """What the nodes made at one place had saved."""

    __slots__ = ("origin", "nodes", "names", "bytes")

    def __init__(self, origin: object) -> None:
        self.origin = origin
        self.nodes = self.bytes = 0
        self.names: dict[str, None] = {}


class Heaps:
    """Saved tensors by the place that made their nodes; memory that several share counts once."""

    def __init__(self) -> None:
        self.heaps: dict[int, _Heap] = {}
        self.seen: set[int] = set()  # of arrays that the graph held when the pass began
        self.bytes = 0

    def put(self, origin: object, kept: Iterable[tuple[str, Any]]) -> None:
        """Adds what one node keeps."""
        heap = self.heaps.get(id(origin))
        if heap is None:
            if len(self.heaps) >= LINES:
                origin = None
            heap = self.heaps.setdefault(id(origin), _Heap(origin))
        heap.nodes += 1
        names, seen, size = heap.names, self.seen, 0
        for name, array in kept:
            if name not in names and len(names) < NAMES:
                names[name] = None
            if isinstance(array, generic):  # a number on its own
                if id(array) not in seen:
                    seen.add(id(array))
                    size += array.nbytes
                continue
            held = memory_or_own(array)
            key = key_of(held)
            if key not in seen:
                seen.add(key)
                size += size_of(held, array)
        heap.bytes += size
        self.bytes += size

    def facts(self) -> tuple[BufferFact, ...]:
        """By line, the first line first."""
        by_line: dict[int | None, BufferFact] = {}
        for heap in self.heaps.values():
            at = line_of(heap.origin)
            known = by_line.get(at, BufferFact(at, 0, (), 0))
            names = dict.fromkeys((*known.names, *heap.names))
            by_line[at] = BufferFact(
                at, known.nodes + heap.nodes, tuple(names), known.bytes + heap.bytes
            )
        return tuple(sorted(by_line.values(), key=lambda fact: fact.line or 0))


class Buffers:
    """What the nodes of one pass had saved, while it runs and afterwards."""

    def __init__(self, over: Pass) -> None:
        self.over = over
        self.heaps = Heaps()
        self.nodes = 0
        self.is_freed = False
        side = side_of(over.roots[0]) if over.roots else OWN
        self._kept_by, self._origin_of = side.kept, side.origin

    @property
    def saving(self) -> int:
        """How many of the nodes that ran had saved tensors."""
        return sum(heap.nodes for heap in self.heaps.heaps.values())

    def ran(self, node: Any) -> None:
        """A node has run: what it saved is still there."""
        self.nodes += 1
        if node.__class__ is not Node:
            self.keeps(node, self._kept_by(node))
        elif kept := node.kept():
            self.heaps.put(node.origin, kept)

    def keeps(self, node: Any, kept: tuple[tuple[str, Any], ...]) -> None:
        """What a node saved."""
        if kept:
            self.heaps.put(self._origin_of(node), kept)

    def fact(self) -> PassFact:
        """The pass, described by what it freed."""
        over = self.over
        return PassFact(
            over.line, over.keep, over.creates, over.captures, over.failed, self.nodes,
            self.saving if self.is_freed else 0, self.heaps.bytes, self.heaps.facts(),
        )  # fmt: skip


class Like(NamedTuple):
    """The shape of a captured pass, and what its nodes freed."""

    shape: tuple[Any, ...]
    heaps: Heaps


class BufferLog(Spectator):
    """The buffers of all passes, for those who ask how many bytes each freed or kept."""

    def __init__(self, passes: Passes) -> None:
        self.passes = passes
        self.buffers: deque[Buffers] = deque(maxlen=PASSES)  # of passes that are over
        self._like: Like | None = None

    def began(self, one: Pass) -> None:
        """A pass begins."""
        one.buffers = Buffers(one)

    def of_nodes(self, *, at_once: bool = False) -> OfNodes:
        now = self._now
        if now is None:
            return NOBODY
        return OfNodes([], [], [], [self._read_captured]) if at_once else OfNodes([], [now.ran], [])

    def _read_captured(self, captured: CapturedPass) -> None:
        """A pass over the same nodes as the one before frees as much."""
        now = self._now
        assert now is not None
        if self._like is None or self._like.shape != captured.shape:
            for _, node, _ in captured.nodes:
                now.keeps(node, captured.kept.get(id(node), ()))
            self._like = Like(captured.shape, now.heaps)
        now.nodes, now.heaps = len(captured.nodes), self._like.heaps

    def ran(self, node: Any) -> None:
        """A node has run, and has not dropped yet what it saved."""
        now = self._now
        if now is not None:
            now.ran(node)

    @property
    def _now(self) -> Buffers | None:
        running = self.passes.running
        return running[-1].buffers if running else None

    def over(self, one: Pass, freed: list[Any]) -> None:
        """It has ended."""
        if one.buffers is not None:
            one.buffers.is_freed = bool(freed)
            self.buffers.append(one.buffers)

    def facts(self) -> tuple[PassFact, ...]:
        """The last passes, in their order."""
        return tuple(one.fact() for one in self.buffers)
