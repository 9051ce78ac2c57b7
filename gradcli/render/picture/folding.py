"""Render: what of a graph a picture draws node by node, and what it folds so that it fits.

A fold is a stretch of the order in which nodes were made: a call, a module, the turns of a loop, or
what lies in the middle. No way leaves such a stretch and comes back, so folds make no circles.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from ...recording.facts import nodes_below
from ...recording.facts.picture import DetailFact
from ..fold import repeats
from ..graph import Graph

EASY = 24  # boxes that are drawn as they are
COMFORTABLE = 44  # boxes that a reader can follow
BEARABLE = 80  # boxes that a picture has at most where nothing but its middle could be folded
MOST = 150  # boxes that a picture ever has
WIDEST_ROW = 8  # boxes beside each other that a screen can show
ENDS = 12  # nodes at each end where nothing else helps
MORE_TURNS = (12, 8, 5, 3, 2, 1)  # at each end, where folds are to be open
DEEPEST = 24  # nested calls that get folds of their own
LARGE = 12  # operations of a call that opens level by level


class Atom(NamedTuple):
    """A node, or a fold of several. `kind` is node, call, module, turns, middle or deeper; the
    first in a fold that is open `closes` it: its key and what it is called."""

    kind: str
    nodes: tuple[int, ...]  # as they were made
    times: int = 1
    frame: int | None = None
    closes: tuple[str, str] | None = None


class Extent(NamedTuple):
    """How large a picture becomes: its boxes, and those of its widest row."""

    boxes: int
    row: int


class Group:
    """What one call made: nodes, and the calls within it."""

    __slots__ = ("frame", "items")

    def __init__(self, frame: int | None) -> None:
        self.frame = frame
        self.items: list[int | Group] = []

    def nodes(self) -> list[int]:
        """All of them, as they were made."""
        found: list[int] = []
        pending: list[int | Group] = [self]
        while pending:
            item = pending.pop()
            if isinstance(item, Group):
                pending.extend(reversed(item.items))
            else:
                found.append(item)
        return found


class Plan(NamedTuple):
    """How far a graph is folded: calls from `level` on (1: the outermost), loops but for so many
    turns at each end, the middle."""

    level: int | None = None
    loops: int = 0
    middle: bool = False


class Folder:
    """The nodes below some roots, and the ways to fold them."""

    def __init__(self, graph: Graph, detail: DetailFact | None, roots: Iterable[int]) -> None:
        self.graph = graph
        self.detail = detail or DetailFact()
        reached = nodes_below(graph.facts, roots)
        self.inner = self._ordered([node for node in reached if graph.next[node]])
        self.leaves = [node for node in reached if not graph.next[node]]
        self.paths: dict[int, tuple[int, ...]] = {}
        self.root = self._grouped()
        self.deepest = max(map(len, self.paths.values()), default=0)
        self._tokens: dict[object, int] = {}

    # ---- the order, and the calls

    def _ordered(self, nodes: list[int]) -> list[int]:
        """As they were made; whatever happens, an input stands before what used it."""
        makings = self.detail.makings
        rank = {
            node: (makings[node].order or 0) if makings else -node for node in nodes
        }  # fmt: skip
        made = sorted(nodes, key=lambda node: (rank[node], node))
        place = {node: at for at, node in enumerate(made)}
        if all(place.get(edge[0], -1) < at for at, node in enumerate(made)
               for edge in self.graph.next[node] if edge is not None):  # fmt: skip
            return made
        waiting = dict.fromkeys(nodes, 0)
        users: dict[int, list[int]] = {node: [] for node in nodes}
        for node in nodes:
            for child in {edge[0] for edge in self.graph.next[node] if edge is not None}:
                if child in waiting:
                    waiting[node] += 1
                    users[child].append(node)
        ready = [(rank[node], node) for node, count in waiting.items() if not count]
        heapq.heapify(ready)
        found = []
        while ready:
            _, node = heapq.heappop(ready)
            found.append(node)
            for user in users[node]:
                waiting[user] -= 1
                if not waiting[user]:
                    heapq.heappush(ready, (rank[user], user))
        return found

    def frame(self, node: int) -> int | None:
        """The innermost call that made a node."""
        makings = self.detail.makings
        return makings[node].frame if makings else None

    def _path(self, frame: int | None) -> tuple[int, ...]:
        """The calls around, the outermost first; those around a frame have lower numbers."""
        if frame is None:
            return ()
        known = self.paths.get(frame)
        if known is None:
            chain: list[int] = []
            at: int | None = frame
            while at is not None:
                chain.append(at)
                at = self.detail.frames[at].parent
            known = self.paths[frame] = tuple(reversed(chain))[:DEEPEST]
        return known

    def _grouped(self) -> Group:
        root = Group(None)
        stack = [root]
        for frame, nodes in groupby(self.inner, self.frame):
            path = self._path(frame)
            same = 0
            while same < min(len(path), len(stack) - 1) and stack[same + 1].frame == path[same]:
                same += 1
            del stack[same + 1 :]
            for each in path[same:]:
                group = Group(each)
                stack[-1].items.append(group)
                stack.append(group)
            stack[-1].items.extend(nodes)
        return root

    # ---- plans

    def plans(self, *, fold: bool, expand: bool) -> Iterator[Plan]:
        """From everything to the least; with `fold` from calls and loops on."""
        if not fold and len(self.inner) <= MOST:
            yield Plan()
        if not fold or not self.deepest:
            yield from (Plan(loops=turns) for turns in (MORE_TURNS if expand else (1,)))
        for level in range(self.deepest, 0, -1):
            if not fold or level == 1:
                yield Plan(level, loops=1)
        yield Plan(1 if self.deepest else None, loops=1, middle=True)

    def chosen(
        self, measured: Callable[[list[Atom]], Extent], *, fold: bool, expand: bool
    ) -> list[Atom]:
        """The atoms of the first plan that fits and is not too wide; without one, that fits."""
        kept: list[Atom] = []
        wide: list[Atom] = []
        boxes = 0
        for plan in self.plans(fold=fold, expand=expand):
            if plan.middle and kept and (wide or expand or boxes <= BEARABLE):
                break
            atoms = self.atoms(plan)
            if plan.middle:
                return atoms
            boxes, row = measured(atoms) if len(atoms) <= MOST else (len(atoms), 0)
            if boxes <= self._limit(plan, expand=expand):
                if expand or row <= WIDEST_ROW:
                    return atoms
                wide = wide or atoms
            if boxes <= MOST:
                kept = atoms  # folded further than before, and still readable
        return wide or kept

    def _limit(self, plan: Plan, *, expand: bool) -> int:
        """How many boxes are few enough for a plan: of turns, some are shown."""
        if expand:
            return MOST if not plan.loops or plan.loops == 1 else COMFORTABLE
        return EASY if plan == Plan() else COMFORTABLE

    def atoms(self, plan: Plan) -> list[Atom]:
        """The graph as this plan folds it, in the order of making."""
        found = list(self._atoms(self.root.items, plan, 1))
        if plan.middle and len(found) > 2 * ENDS + 1:
            between = found[ENDS:-ENDS]
            nodes = tuple(node for atom in between for node in atom.nodes)
            found[ENDS:-ENDS] = [Atom("middle", nodes)]
        return found

    def _atoms(self, items: Sequence[int | Group], plan: Plan, depth: int) -> Iterator[Atom]:
        at = 0
        for start, period, times in self._turns(items) if plan.loops else ():
            yield from self._plain(items[at:start], plan, depth)
            turns = [items[start + period * k : start + period * (k + 1)] for k in range(times)]
            at = start + period * times
            shown = plan.loops if times >= 2 * plan.loops + 2 else times
            for turn in turns[:shown]:
                yield from self._atoms(turn, plan, depth)
            if shown < times:
                nodes = tuple(
                    node for turn in turns[shown:-shown] for item in turn for node in _nodes(item)
                )
                yield Atom("turns", nodes, times - 2 * shown)
                for turn in turns[-shown:]:
                    yield from self._atoms(turn, plan, depth)
        yield from self._plain(items[at:], plan, depth)

    def _plain(self, items: Sequence[int | Group], plan: Plan, depth: int) -> Iterator[Atom]:
        for item in items:
            if isinstance(item, int):
                yield Atom("node", (item,))
            elif plan.level is not None and depth >= plan.level and self._is_foldable(item):
                assert item.frame is not None
                kind = "module" if self.detail.frames[item.frame].kind else "call"
                yield Atom(kind, tuple(item.nodes()), 1, item.frame)
            else:
                yield from self._atoms(item.items, plan, depth + 1)

    def _is_foldable(self, group: Group) -> bool:
        """Whether a fold of it says less than what it hides."""
        nodes = group.nodes()
        hidden = {e[0] for node in nodes for e in self.graph.next[node] if e is not None}
        return len(nodes) + sum(1 for child in hidden if not self.graph.next[child]) > 1

    # ---- loops

    def inside(self, atom: Atom) -> list[Atom]:
        """What a fold shows when it opens: its nodes, or of a large call the calls within it."""
        if atom.kind in ("call", "module") and len(atom.nodes) > LARGE:
            group = next(one for one in self._groups() if one.frame == atom.frame
                         and tuple(one.nodes()) == atom.nodes)  # fmt: skip
            parts = list(self._plain(group.items, Plan(level=1), 1))
            if len(parts) > 1:
                return parts
        return [Atom("node", (node,)) for node in atom.nodes]

    def _groups(self) -> Iterator[Group]:
        """All calls, those around others first."""
        pending = [self.root]
        for group in pending:
            yield group
            pending.extend(item for item in group.items if isinstance(item, Group))

    def _turns(self, items: Sequence[int | Group]) -> list[tuple[int, int, int]]:
        """Stretches of turns that are alike, each from the first line of its loop; of loops within
        loops the outermost."""
        found = []
        tokens = [self._token(item) for item in items]
        for start, period, times in repeats(tokens, outermost=True):
            lead = min(range(period), key=lambda k: (self._place(items[start + k])[0], k))
            found.append((start + lead, period, times if not lead else times - 1))
        return found

    def _token(self, item: int | Group) -> int:
        """Equal for nodes and calls that look alike."""
        key: object
        if isinstance(item, int):
            _, name, edges, place = self.graph.facts[item]
            key = name, len(edges), place
        else:
            frame = self.detail.frames[item.frame or 0]
            inside = tuple(self._token(part) for part in item.items)
            key = (frame.kind or frame.name, inside)
        return self._tokens.setdefault(key, len(self._tokens))

    def _place(self, item: int | Group) -> tuple[int, int]:
        if isinstance(item, Group):
            line = self.detail.frames[item.frame or 0].line
            return line or 0, 0
        place = self.graph.facts[item].place
        return (0, 0) if place is None else (place.line, place.column)


def _nodes(item: int | Group) -> list[int]:
    return [item] if isinstance(item, int) else item.nodes()


def shallow(atoms: list[Atom], graph: Graph, roots: Iterable[int], depth: int) -> list[Atom]:
    """The atoms of nodes up to `depth` levels below the results; all others as one fold."""
    longest = dict.fromkeys(roots, 0)
    place = {node: at for at, atom in enumerate(atoms) for node in atom.nodes}
    level = {place[node]: 0 for node in longest if node in place}
    for at in range(len(atoms) - 1, -1, -1):
        for node in atoms[at].nodes:
            for edge in graph.next[node]:
                child = None if edge is None else place.get(edge[0])
                if child is not None and child != at:
                    level[child] = max(level.get(child, 0), level.get(at, 0) + 1)
    below = [atom for at, atom in enumerate(atoms) if level.get(at, 0) > depth]
    if not below:
        return atoms
    nodes = tuple(node for atom in below for node in atom.nodes)
    kept = [atom for at, atom in enumerate(atoms) if level.get(at, 0) <= depth]
    return [Atom("deeper", nodes), *kept]
