"""Render: from a report to the scene of its picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

from ...diagnostics import some
from ...recording.facts import Report
from ..escape import line as harmless
from ..graph import Graph
from ..table import freed
from ..text import counted, one_line
from .folding import EASY, MOST, Atom, Extent, Folder, shallow
from .scene import Box, Row, Scene, Wire
from .stretches import atoms_by
from .words import (
    WIDEST,
    Words,
    full,
    is_bad,
    kind_rows,
    line_text,
    name_rows,
    sign_of,
    weight_of,
    wrapped,
)

MOST_LEAVES, LEAF_ENDS = 10, 5  # of the same nodes that are drawn one by one
MOST_SHARED = 6  # of many nodes
SHARED = 3  # uses from which a leaf of a large picture is drawn again
NOTE = 64
MOST_LINES = 5  # of an error
LOOKED_AT = 64  # uses at each end of very many that one wire stands for


class DrawOptions(NamedTuple):
    """How far a picture is folded: by itself, all calls and loops, nothing that need not be; how
    many levels of nodes it shows; what one box stands for, and the folds that are to be open."""

    fold: bool = False
    expand: bool = False
    depth: int | None = None
    unit: str | None = None
    opened: frozenset[int] = frozenset()


class _Use(NamedTuple):
    """An input of a node: of which atom the node is, and where the gradient goes."""

    atom: int
    node: int
    place: int
    child: int
    output: int


class _Used(NamedTuple):
    """What atoms use: of each node its atom, all uses, the leaves that are folded with the one atom
    that uses them, the atoms that use each other leaf, and those that are drawn as one box."""

    atoms: list[Atom]
    place: dict[int, int]
    uses: list[_Use]
    hidden: dict[int, int]
    users: dict[int, dict[int, None]]
    crowded: dict[int, tuple[int, ...]]


class Drawing:
    """Draws the scenes of a report; what its nodes say is found once for all of them. `live`: folds
    open where they are clicked."""

    def __init__(self, report: Report, *, live: bool = False) -> None:
        self.report, self.live = report, live
        self.graph = Graph(report)
        self.words = Words(self.graph, report)
        self.roots = [root.node for root in report.roots]
        self.folder = Folder(self.graph, report.detail, self.roots)
        self.is_large = len(self.folder.inner) + len(self.folder.leaves) > EASY
        self.boxes: list[Box] = []
        self.wires: list[Wire] = []
        self.keys: set[str] = set()
        self._known: _Used | None = None

    def scene(self, options: DrawOptions) -> Scene:
        """What is drawn when it is to be folded so far."""
        self.boxes, self.wires, self.keys = [], [], set()
        atoms = self._atoms(options)
        if options.depth is not None:
            atoms = shallow(atoms, self.graph, self.roots, options.depth)
        if options.opened:
            atoms = list(self._opened(atoms, options.opened))
        self._draw(atoms)
        folded = any(box.kind == "fold" for box in self.boxes)
        return Scene(
            self._title(), self._description(folded), tuple(self.boxes), tuple(self.wires),
            tuple(self._notes(options, folded=folded)),
        )  # fmt: skip

    def _atoms(self, options: DrawOptions) -> list[Atom]:
        """What is drawn and what is folded."""
        if options.fold and options.unit in ("module", "line"):
            atoms = atoms_by(self.folder, options.unit, lambda key: False)
            if self._measured(atoms).boxes <= MOST:
                return atoms
        return self.folder.chosen(self._measured, fold=options.fold, expand=options.expand)

    def _opened(self, atoms: list[Atom], opened: frozenset[int]) -> Iterator[Atom]:
        """The atoms, with what is in these folds; folds are counted from the inputs on. What would
        make too many boxes stays closed."""
        room = MOST - len(atoms)
        number = 0
        for atom in atoms:
            number += atom.kind != "node"
            inside = [atom]
            if atom.kind != "node" and number in opened:
                inside = self.folder.inside(atom)
                name = self._box(atom, ()).rows[0].text.removeprefix("⋯ ")
                inside[0] = inside[0]._replace(closes=(_key(atom), name))
            if len(inside) > room:
                inside = [atom]
            room -= len(inside) - 1
            yield from inside

    # ---- uses

    def _uses(self, atoms: list[Atom], place: dict[int, int]) -> list[_Use]:
        """Every input that an atom has from outside of itself."""
        following, found = self.graph.next, []
        for at, atom in enumerate(atoms):
            for node in atom.nodes:
                for number, edge in enumerate(following[node]):
                    if edge is not None and place.get(edge[0]) != at:
                        found.append(tuple.__new__(_Use, (at, node, number, *edge)))
        return found

    def _hidden(self, atoms: list[Atom], uses: list[_Use]) -> dict[int, int]:
        """The leaves that only one fold uses: they are folded with it."""
        owners: dict[int, int | None] = {}
        for at, _, _, child, _ in uses:
            if not self.graph.next[child]:
                owners[child] = at if owners.get(child, at) == at else None
        roots = set(self.roots)
        return {
            leaf: at
            for leaf, at in owners.items()
            if at is not None and leaf not in roots and atoms[at].kind != "node"
        }

    def _used(self, atoms: list[Atom]) -> _Used:
        """What the atoms use; atoms that are measured are drawn afterwards."""
        if self._known is None or self._known.atoms is not atoms:
            place = {node: at for at, atom in enumerate(atoms) for node in atom.nodes}
            uses = self._uses(atoms, place)
            hidden = self._hidden(atoms, uses)
            users: dict[int, dict[int, None]] = {}
            for use in uses:
                if not self.graph.next[use.child] and use.child not in hidden:
                    users.setdefault(use.child, {})[use.atom] = None
            self._known = _Used(atoms, place, uses, hidden, users, _crowded(users))
        return self._known

    def _measured(self, atoms: list[Atom]) -> Extent:
        """About how many boxes the atoms make, and how many are in one row."""
        _, place, uses, hidden, users, crowded = self._used(atoms)
        row: dict[Hashable, int] = dict.fromkeys(range(len(atoms)), 0)  # from the results on
        for use in reversed(uses):
            child: Hashable = place.get(use.child)
            if child is None and use.child in hidden:
                continue
            if child is None:
                more = use.child in crowded
                again = self.is_large and len(users[use.child]) >= SHARED and not more
                child = crowded[use.child] if more else (use.child, use.atom if again else None)
            row[child] = max(row.get(child, 0), row[use.atom] + 1)
        return Extent(len(row), max(Counter(row.values()).values(), default=0))

    # ---- boxes and wires

    def _draw(self, atoms: list[Atom]) -> None:
        _, place, uses, hidden, users, crowded = self._used(atoms)
        by_atom: list[list[_Use]] = [[] for _ in atoms]
        for use in uses:
            if use.child not in hidden:
                by_atom[use.atom].append(use)
        inside: list[list[int]] = [[] for _ in atoms]
        for leaf, owner in hidden.items():
            inside[owner].append(leaf)
        repeats = self.is_large
        keys = [_key(atom) for atom in atoms]
        drawn: dict[int, int] = {}
        for node in self.roots:  # a leaf that is a root itself
            if not self.graph.next[node] and node not in users:
                self._leaf(node, drawn)
        for at, atom in enumerate(atoms):
            groups: dict[str, list[_Use]] = {}
            for use in by_atom[at]:
                if self.graph.next[use.child]:
                    source = keys[place[use.child]]
                elif use.child in crowded:
                    source = self._more(crowded[use.child], at)
                else:
                    again = repeats and len(users[use.child]) >= SHARED
                    source = self._leaf(use.child, drawn, at if again else None)
                groups.setdefault(source, []).append(use)
            self.boxes.append(_closing(self._box(atom, inside[at]), atom.closes))
            for source, several in groups.items():
                self.wires.extend(self._wired(source, keys[at], several))

    def _more(self, leaves: tuple[int, ...], at: int) -> str:
        key = f"m{leaves[0]}"
        if key not in self.keys:
            self.keys.add(key)
            text = counted(len(leaves), "more leaf", "more leaves")
            rows = (Row(f"⋯ {text}", "title"), Row("folded", "kind"))
            names = ", ".join(self.words.name(leaf) for leaf in leaves)
            self.boxes.append(Box(key, "fold", rows, full(f"{text}: {names}"), members=leaves))
        return key

    def _leaf(self, node: int, drawn: dict[int, int], at: int | None = None) -> str:
        """The box of a leaf; where it is drawn again, a small one for this atom."""
        known = drawn.get(node)
        if known is None:
            drawn[node] = -1 if at is None else at
            self.boxes.append(self._node_box(node, "leaf", f"n{node}"))
            return f"n{node}"
        if at is None or known == at:
            return f"n{node}"
        key = f"r{node}-{at}"
        if key not in self.keys:
            self.keys.add(key)
            name = self.words.name(node)
            rows = (*name_rows(name), Row("leaf, drawn above", "kind"))
            title = full(f"{name}, a leaf that is used more than once: see its box above")
            self.boxes.append(Box(key, "again", rows, title, node))
        return key

    def _node_box(self, node: int, kind: str, key: str) -> Box:
        words = self.words
        marks = tuple(dict.fromkeys(words.marks(node)))
        line = words.line(node)
        rows = tuple(words.rows(node))
        title = full(words.name(node))
        return Box(key, kind, rows, title, node, marks=marks, lines=() if line is None else (line,))

    def _box(self, atom: Atom, inside: Sequence[int]) -> Box:
        key = _key(atom)
        if atom.kind == "node":
            kind = "result" if atom.nodes[0] in self.roots else "inner"
            return self._node_box(atom.nodes[0], kind, key)
        words, frames = self.words, self.words.frames
        lines = sorted({line for node in atom.nodes if (line := words.line(node)) is not None})
        count = len(atom.nodes)
        if atom.kind == "line":
            head = self.words.name(atom.nodes[-1])
            what = counted(count, "operation")
            rows = [Row(line_text(head), "title"), *kind_rows(*_contents(what, inside, lines))]
            rows.extend(self._outcome(atom))
        elif atom.kind in ("module", "call"):
            frame = frames[atom.frame or 0]
            called = frame.name if atom.kind == "module" else f"{frame.name}()"
            if frame.line is not None:
                lines = [frame.line]
            kind_row = f"{frame.kind} · {counted(count, 'operation')}".removeprefix(" · ")
            rows = [*name_rows(called), *kind_rows(*_contents(kind_row, inside, lines))]
            rows.extend(self._outcome(atom))
        elif atom.kind == "turns":
            each = count // max(atom.times, 1)
            head, kind_row = counted(atom.times, "more turn"), f"{counted(each, 'operation')} each"
            rows = [Row(f"⋯ {head}", "title"), *kind_rows(*_contents(kind_row, inside, lines))]
        else:
            where = "in between" if atom.kind == "middle" else "behind these"
            head = counted(count, "more operation")
            rows = [Row(f"⋯ {head}", "title"), *kind_rows(*_contents(where, inside, lines))]
        title = full("folded: " + "; ".join(r.text for r in rows if r.style in ("title", "kind")))
        return Box(key, "fold", tuple(rows), title, members=(*atom.nodes, *inside),
                   times=atom.times, lines=tuple(lines[:50]))  # fmt: skip

    def _outcome(self, atom: Atom) -> Iterator[Row]:
        """Value and gradient of what a call returned: of the node that others use."""
        inner = set(atom.nodes)
        used = {edge[0] for node in inner for edge in self.graph.next[node] if edge is not None}
        ends = [node for node in atom.nodes if node not in used]
        if len(ends) == 1:
            yield from (row for row in self.words.rows(ends[0])
                        if row.style in ("value", "grad", "bad"))  # fmt: skip

    def _wired(self, source: str, target: str, uses: list[_Use]) -> Iterator[Wire]:
        if len(uses) == 1 or not (source[0] in "fm" or target[0] == "f"):
            for use in uses:
                yield self._wire(source, target, use)
            return
        yield self._bundle(source, target, uses)

    def _bundle(self, source: str, target: str, uses: list[_Use]) -> Wire:
        """One wire for several: as thick as the largest, bad where one of them is. Of very many
        only those at both ends are looked at."""
        seen = uses if len(uses) <= 2 * LOOKED_AT else uses[:LOOKED_AT] + uses[-LOOKED_AT:]
        wires = [self._wire(source, target, use) for use in seen]
        kinds = {wire.kind for wire in wires}
        if kinds == {"none"}:
            return Wire(source, target, (), "none")
        if len(seen) < len(uses):
            kinds.add("")
        text = counted(len(uses), "gradient")
        if len({(use.child, use.output) for use in uses}) == 1:
            text += ", added"
        going = [wire for wire in wires if wire.kind != "none"]
        kind = "bad" if "bad" in kinds else "zero" if kinds <= {"zero", "none"} else ""
        return Wire(source, target, (text,), kind, max(wire.weight for wire in going),
                    all(wire.negative for wire in going),
                    next((wire.title for wire in going if wire.kind == kind), ""))  # fmt: skip

    def _wire(self, source: str, target: str, use: _Use) -> Wire:
        edge = self.words.edge(use.node, use.place)
        inside = self._known is not None and len(self._known.atoms[use.atom].nodes) > 1
        said = self.words.on_wire(use.node, use.place, inside=inside)
        rows = tuple(line_text(row) for row in said)
        if edge is None or edge.product is None:
            kind = "none" if self.words.walk is not None else ""
            return Wire(source, target, rows, kind, 0.1, place=use.place,
                        title="")  # fmt: skip
        product = edge.product
        sign = sign_of(product)
        bad = is_bad(product.text, product.range)
        kind = "bad" if bad else "zero" if sign == 0 else ""
        title = "not a number, or infinite" if bad else ""
        return Wire(source, target, rows, kind, weight_of(product), sign < 0, title, use.place)

    # ---- words about the whole

    def _title(self) -> str:
        report = self.report
        one = report.shown
        name = report.file.replace("\\", "/").rpartition("/")[2] or "the program"
        if one is None:
            return full(f"{name}: the graph, without a backward pass")
        many = f" {one.number:,} of {one.of:,}" if one.of > 1 else ""
        at = "" if one.line is None else f", line {one.line}"
        return full(f"{name}: backward pass{many}, {one.source}{at}".replace(", ,", ","))

    def _description(self, folded: bool) -> str:
        report = self.report
        results = some([one_line(self.words.name(root.node)) for root in report.roots], 3)
        leaves = [box for box in self.boxes if box.kind == "leaf"]
        parts = [f"{counted(len(self.boxes), 'box', 'boxes')}, inputs first; "
                 f"the result is {results or 'missing'}."]  # fmt: skip
        for box in leaves[:6]:
            grad = next((row.text for row in box.rows if row.text.startswith("grad")), "")
            parts.append(f"{box.rows[0].text}: {grad or 'no gradient'}.")
        if len(leaves) > 6:
            parts.append(f"{counted(len(leaves) - 6, 'more leaf', 'more leaves')}.")
        if folded:
            parts.append("Some of it is folded.")
        return full(" ".join(parts))

    def _notes(self, options: DrawOptions, *, folded: bool) -> Iterator[Row]:
        report = self.report
        error = report.error
        if error is not None:
            at = "" if error.line is None else f"line {error.line}: "
            message = harmless(one_line(f"{at}{error.type}: {error.message}"))
            lines = wrapped(message, NOTE)
            if len(lines) > MOST_LINES:
                lines = (*lines[: MOST_LINES - 1], f"{lines[MOST_LINES - 1]} …")
            for text in lines:
                yield Row(text, "bad")
        elif not report.roots:
            yield Row("no result requires grad: nothing to draw", "note")
        yield from self._apart()
        if report.missing:
            names = some(report.missing, 4)
            yield Row(line_text(f"? depends on an input without a value: {names}", NOTE), "note")
        if gone := freed(report):
            yield Row(gone, "note")
        if folded and options.depth is not None:
            yield Row("a larger --depth draws more", "note")
        elif folded and options.expand:
            yield Row("what is folded would not fit: --of NAME and --depth N draw a part", "note")
        elif folded and self.live:
            yield Row("a fold opens where it is clicked, or with Enter", "hint")
        elif folded:
            yield Row("--expand opens what fits; gradcli show FILE opens folds in place", "note")

    def _apart(self) -> Iterator[Row]:
        """Leaves that no path leads to, where a pass was to give them a gradient."""
        if self.report.shown is None:
            return
        apart = [
            fact.name
            for fact in self.report.tensors
            if fact.requires_grad and fact.is_leaf and not fact.has_grad and fact.node is None
        ]
        if apart:
            text = f"no path leads to {some(apart, 3)}: .grad is None (gradcli why says more)"
            for line in wrapped(harmless(text), NOTE):
                yield Row(line, "note")


def _closing(box: Box, fold: tuple[str, str] | None) -> Box:
    """A box with a row that closes the fold in which it is the first."""
    if fold is None:
        return box
    key, name = fold
    return box._replace(rows=(*box.rows, Row(line_text(f"▾ {name}"), "open")), closes=key)


def _crowded(users: dict[int, dict[int, None]]) -> dict[int, tuple[int, ...]]:
    """Of very many leaves that the same atoms use the ones that are drawn as one box."""
    alike: dict[tuple[int, ...], list[int]] = {}
    for leaf, them in users.items():
        alike.setdefault(tuple(them), []).append(leaf)
    found: dict[int, tuple[int, ...]] = {}
    for atoms, leaves in alike.items():
        most, ends = (MOST_SHARED, 1) if len(atoms) >= SHARED else (MOST_LEAVES, LEAF_ENDS)
        if len(leaves) > most:
            middle = tuple(leaves[ends:-ends])
            found.update(dict.fromkeys(middle, middle))
    return found


def _key(atom: Atom) -> str:
    first = atom.nodes[0]  # a call may begin with another one
    return f"n{first}" if atom.kind == "node" else f"f{first}x{len(atom.nodes)}"


def _contents(words: str, leaves: Sequence[int], lines: list[int]) -> tuple[str, str]:
    """What a fold is, with the leaves in it; its lines, and the leaves where the first is full."""
    if not leaves:
        return words, _at(lines)
    more = counted(len(leaves), "leaf", "leaves")
    if len(words) + len(more) + 2 <= WIDEST:
        return f"{words}, {more}", _at(lines)
    return words, f" · {more}{_at(lines)}"


def _at(lines: list[int]) -> str:
    if not lines:
        return ""
    return f" · line {lines[0]}" if len(lines) == 1 else f" · lines {lines[0]}–{lines[-1]}"
