"""Render: backward graphs as trees of text, shared nodes drawn once, deep chains straight down.

A node with one inner input would push its input one step to the right; a chain of a thousand
would leave the page. So where the graph is deep, the deepest input continues at the left margin
(marked with a dot) and the other inputs hang from the line between. A stretch of the chain that
repeats itself is drawn once, with its count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable

from ..named import NamedTuple
from ..recording.facts import Edge
from .fold import Repeat, repeats
from .folds import Folds
from .graph import Graph
from .text import counted

SHALLOW = 6  # as high as this a tree is drawn as one; a deeper one goes straight down
HEAD, TAIL = 24, 8  # steps of a long chain that are drawn at its two ends
WIDE_HEAD, WIDE_TAIL = 12, 3  # inputs of a node with very many
MOST_ROWS = 300


class Row(NamedTuple):
    """One line: what stands before the words, and what it is about."""

    lead: str
    kind: str  # node, leaf, constant, again, output (of a node that is drawn elsewhere), fold
    node: int = -1
    output_nr: int = 0
    text: str = ""
    parent: int = -1
    key: Hashable = None  # of a fold


class Strokes(NamedTuple):
    """The characters of the drawing."""

    tee: str
    last: str
    bar: str
    none: str
    dot: str
    more: str
    times: str


UNICODE = Strokes("├─ ", "└─ ", "│  ", "   ", "●  ", "⋮ ", "×")
ASCII = Strokes("|- ", "`- ", "|  ", "   ", "o  ", ": ", "x")


class _Task(NamedTuple):
    """Something still to draw: an edge of a node (or a ready row)."""

    lead: str
    rest: str
    node: int
    output_nr: int
    depth: int
    row: Row | None = None
    parent: int = -1


class _Closed(NamedTuple):
    """A closed fold: where what it hides begins, and what is said of it, which counts so many."""

    start: tuple[int, ...]
    what: str
    alike: int


class _Line(NamedTuple):
    """The nodes of a straight line; the output of each that it comes to, and which of its inputs it
    goes on with (-1: none)."""

    nodes: list[int]
    outputs: list[int]
    onward: list[int]


class Drawing:
    """The rows of several trees over one graph: what one has drawn the next refers to."""

    def __init__(
        self, graph: Graph, strokes: Strokes, folds: Folds, *, depth: int | None = None
    ) -> None:
        self.graph, self.strokes, self.folds = graph, strokes, folds
        self.depth = depth
        self.drawn: set[int] = set()
        self.reserved: set[int] = set()
        self.hidden: dict[int, Hashable] = {}  # nodes, and the fold that each is in
        self.closed: dict[Hashable, _Closed] = {}
        self.marks: dict[int, int] = {}
        self.told: set[tuple[int, int]] = set()  # outputs that have a row, of nodes with several

    def tree(self, root: int, output_nr: int = 0) -> list[Row]:
        """The rows of the tree under one node."""
        rows: list[Row] = []
        stack = [_Task("", "", root, output_nr, 0)]
        every = self.folds.opens(("rows", root))
        while stack:
            if not every and len(rows) >= MOST_ROWS:
                rows.append(self._fold("", self._close(("rows", root), self._waiting(stack))))
                break
            task = stack.pop()
            if task.row is not None:
                row = task.row
                rows.append(self._fold(row.lead, row.key) if row.kind == "fold" else row)
                if task.row.kind == "node":
                    self.drawn.add(task.row.node)
            else:
                stack.extend(reversed(self._draw(task)))
        return rows

    def _fold(self, lead: str, key: Hashable) -> Row:
        """The row of a closed fold, with its number: rows are made in the order of the page."""
        return Row(lead + self.strokes.more, "fold", text=str(self.folds.number(key)), key=key)

    def _close(
        self, key: Hashable, start: Iterable[int], what: str = "", alike: int = 0
    ) -> Hashable:
        """A fold that hides these nodes and what stands below them alone; `what` says what it is,
        and so how many nodes of one kind are `alike`."""
        self.closed[key] = _Closed(tuple(start), what, alike)
        return key

    def words(self, fold: Row) -> str:
        """What is said of a closed fold, once all trees are drawn: until then it is not known which
        nodes have a row elsewhere."""
        start, what, alike = self.closed[fold.key]
        found = self._hidden_below(start)
        said = counted(len(found), "more node")
        if alike:
            said = what if len(found) == alike else f"{what}: {said} in all"
        elif what == "between":
            said += f" ({self._kinds(found)})"
        elif what:
            said = f"{what}: {said}"
        return f"{fold.text}  {said}"

    def _kinds(self, nodes: Iterable[int]) -> str:
        """The most frequent names among nodes."""
        names = (self.graph.names[at] if self.graph.next[at] else "leaf" for at in nodes)
        count = Counter(names).most_common()
        told = ", ".join(f"{name} {self.strokes.times} {times:,}" for name, times in count[:3])
        return f"{told}{', ...' if len(count) > 3 else ''}"

    def _hidden_below(self, start: Iterable[int]) -> dict[int, None]:
        """The nodes without a row that stand here and below."""
        drawn = self.drawn
        found = dict.fromkeys(node for node in start if node not in drawn)
        for node in (pending := list(found)):
            for edge in self.graph.next[node]:
                if edge is not None and edge[0] not in found and edge[0] not in drawn:
                    found[edge[0]] = None
                    pending.append(edge[0])
        return found

    def _waiting(self, tasks: Iterable[_Task]) -> list[int]:
        """The nodes that are still to be drawn, those of folds too."""
        found: list[int] = []
        for task in tasks:
            row = task.row
            if row is not None and row.kind == "fold":
                found.extend(self.closed[row.key].start)
            elif row is None or row.kind in ("node", "leaf"):
                node = task.node if row is None else row.node
                found.append(node)
                if row is not None:
                    self.drawn.discard(node)
        return found

    # ---- one node

    def _draw(self, task: _Task) -> list[_Task]:
        node = task.node
        if not self.graph.next[node]:
            kind = "again" if node in self.drawn else "leaf"
            self.drawn.add(node)
            return [_ready(Row(task.lead, kind, node, task.output_nr))]
        if node in self.drawn or node in self.reserved:
            where = self._where(node)
            kind = "output" if self._is_new(node, task.output_nr) else "again"
            return [_ready(Row(task.lead, kind, node, task.output_nr, where,
                               parent=task.parent))]  # fmt: skip
        if self.graph.height[node] > SHALLOW and (self.depth is None or self.depth > SHALLOW):
            return self._chain(task)
        self.drawn.add(node)
        self._is_new(node, task.output_nr)
        head = _ready(Row(task.lead, "node", node, task.output_nr, parent=task.parent))
        return [head, *self._branches(node, task.rest, task.depth, self._edges(node))]

    def _is_new(self, node: int, output_nr: int) -> bool:
        """Whether this output of a node with several has no row yet; now it has one."""
        if node not in self.graph.several or (node, output_nr) in self.told:
            return False
        self.told.add((node, output_nr))
        return True

    def _where(self, node: int) -> str:
        """How a reader finds a node that stands elsewhere."""
        if node in self.hidden:
            return f"in {self.strokes.more}{self.folds.number(self.hidden[node])}"
        mark = self.marks.setdefault(node, len(self.marks) + 1)
        return f"see #{mark} {'above' if node in self.drawn else 'below'}"

    def _edges(self, node: int) -> list[tuple[int, int, int]]:
        """(edge, node or -1 for a constant with words, output number)"""
        edges = []
        for i, edge in enumerate(self.graph.next[node]):
            if edge is not None:
                edges.append((i, edge[0], edge[1]))
            elif (node, i) in self.graph.constants:
                edges.append((i, -1, 0))
        return edges

    def _branches(
        self, node: int, rest: str, depth: int, edges: list[tuple[int, int, int]],
        *, open_end: bool = False,
    ) -> list[_Task]:  # fmt: skip
        """The inputs as branches under a node; `open_end` when the line goes on below them."""
        strokes = self.strokes
        if self.depth is not None and depth >= self.depth:
            if all(at < 0 for _, at, _ in edges):
                return []
            key: Hashable = ("deeper", node)
            if key not in self.folds.opened:  # --expand alone leaves --depth as it is
                return [_folded(rest, self._close(key, _children(edges), "deeper"))]
            depth = -len(self.graph.next)  # all of what stands below
        left_out = range(0)
        if len(edges) > WIDE_HEAD + WIDE_TAIL + 1 and not self.folds.opens(("wide", node)):
            left_out = range(WIDE_HEAD, len(edges) - WIDE_TAIL)
        tasks: list[_Task] = []
        for position, (i, child, output_nr) in enumerate(edges):
            last = position == len(edges) - 1 and not open_end
            lead = rest + (strokes.last if last else strokes.tee)
            if position in left_out:
                if position == left_out.start:
                    count = len(left_out)
                    start = _children(edges[left_out.start : left_out.stop])
                    key = self._close(("wide", node), start, f"{count:,} more inputs", count)
                    tasks.append(_folded(rest, key))
            elif child < 0:
                tasks.append(_ready(Row(lead, "constant", node, i)))
            else:
                below = rest + (strokes.none if last else strokes.bar)
                tasks.append(_Task(lead, below, child, output_nr, depth + 1, parent=node))
        return tasks

    # ---- a chain

    def _chain(self, task: _Task) -> list[_Task]:
        """A deep node, its deepest input, and so on down: one straight line."""
        line = self._line(task)
        if len(line.nodes) == 1:
            head = _ready(Row(task.lead, "node", task.node, task.output_nr, parent=task.parent))
            return [head, *self._branches(task.node, task.rest, task.depth, self._edges(task.node))]
        units = self._units(line)
        between = range(0)
        if len(units) > HEAD + TAIL + 4 and not self.folds.opens(("between", task.node)):
            between = range(HEAD, len(units) - TAIL)
        tasks: list[_Task] = []
        for number, unit in enumerate(units):
            if number in between:
                if number == between.start:
                    tasks.append(self._left_out(line, units, between, task))
                continue
            for k in range(unit.start, unit.start + unit.period):
                tasks.extend(self._step(line, k, task))
            if unit.times > 1:
                tasks.append(self._repeated(line, unit, task.rest))
        return tasks

    def _line(self, task: _Task) -> _Line:
        """The nodes of the line: reserved, so that branches refer to them."""
        nodes, outputs, onward = line = _Line([], [], [])
        graph, node, output_nr = self.graph, task.node, task.output_nr
        following, height, drawn, reserved = graph.next, graph.height, self.drawn, self.reserved
        most = None if self.depth is None else max(1, self.depth - task.depth + 1)
        while most is None or len(nodes) < most:
            reserved.add(node)
            self._is_new(node, output_nr)
            best, deepest = -1, 0
            for i, edge in enumerate(following[node]):
                if edge is not None and height[edge[0]] > deepest:
                    if edge[0] not in drawn and edge[0] not in reserved:
                        best, deepest = i, height[edge[0]]
            nodes.append(node)
            outputs.append(output_nr)
            onward.append(best)
            if best < 0:
                return line
            edge = following[node][best]
            assert edge is not None
            node, output_nr = edge
        onward[-1] = -1
        return line

    def _step(self, line: _Line, k: int, task: _Task) -> list[_Task]:
        node, onward = line.nodes[k], line.onward[k]
        lead = task.lead if k == 0 and task.lead else task.rest + self.strokes.dot
        parent = line.nodes[k - 1] if k else task.parent
        head = _ready(Row(lead, "node", node, line.outputs[k], parent=parent))
        sides = [side for side in self._edges(node) if side[0] != onward]
        last = k == len(line.nodes) - 1
        depth = task.depth + k
        return [head, *self._branches(node, task.rest, depth, sides, open_end=not last)]

    def _units(self, line: _Line) -> list[Repeat]:
        """The line as single steps and repeated stretches."""
        if self.folds.every:
            return [Repeat(i, 1, 1) for i in range(len(line.nodes))]
        units: list[Repeat] = []
        at = 0
        for repeat in repeats(self._tokens(line)):
            units.extend(Repeat(i, 1, 1) for i in range(at, repeat.start))
            at = repeat.start
            if not self.folds.opens(("turns", line.nodes[at + repeat.period])):
                units.append(repeat)
                at += repeat.period * repeat.times
        units.extend(Repeat(i, 1, 1) for i in range(at, len(line.nodes)))
        return units

    def _tokens(self, line: _Line) -> list[int]:
        """Equal numbers for nodes of the line that would be drawn alike, with their branches."""
        interned: dict[object, int] = {}
        ends: dict[Edge, object] = {}  # many nodes share the leaves beside the line
        tokens = []
        facts, looks, known = self.graph.facts, self._looks, ends.get
        for node, onward in zip(line.nodes, line.onward, strict=True):
            _, name, edges, place = facts[node]
            if len(edges) == 2 and onward >= 0:  # what most nodes of a long line are
                edge = edges[1 - onward]
                sides = known(edge) or looks(edge, ends)
            else:
                sides = tuple([looks(edge, ends) for i, edge in enumerate(edges) if i != onward])
            key = name, "" if place is None else place.text, onward, sides
            tokens.append(interned.setdefault(key, len(interned)))
        return tokens

    def _looks(self, edge: Edge, ends: dict[Edge, object]) -> object:
        """Equal for inputs that would be drawn alike; a reference looks like its node's words.
        What an end of the graph looks like stays in `ends`."""
        if edge is None:
            return None
        node, graph = edge[0], self.graph
        if not graph.next[node]:
            return ends.setdefault(edge, (graph.signature(node),))
        if node in self.drawn or node in self.reserved:
            return graph.kind_of(node)
        return (graph.signature(node),)

    def _repeated(self, line: _Line, unit: Repeat, rest: str) -> _Task:
        start, end = unit.start + unit.period, unit.start + unit.period * unit.times
        key: Hashable = ("turns", line.nodes[start])
        self.hidden.update(dict.fromkeys(line.nodes[start:end], key))
        what = "this node" if unit.period == 1 else f"these {unit.period} nodes"
        text = f"{what} {self.strokes.times} {unit.times:,}"
        return _folded(rest, self._close(key, line.nodes[start:end], text, end - start))

    def _left_out(self, line: _Line, units: list[Repeat], between: range, task: _Task) -> _Task:
        last = units[between.stop - 1]
        hidden = line.nodes[units[between.start].start : last.start + last.period * last.times]
        key: Hashable = ("between", task.node)
        self.hidden.update(dict.fromkeys(hidden, key))
        return _folded(task.rest, self._close(key, hidden, "between"))


def _children(edges: Iterable[tuple[int, int, int]]) -> list[int]:
    return [child for _, child, _ in edges if child >= 0]


def _folded(rest: str, key: Hashable) -> _Task:
    """A fold whose row gets its number when it is drawn."""
    return _ready(Row(rest, "fold", key=key))


def _ready(row: Row) -> _Task:
    return _Task("", "", -1, 0, 0, row)
