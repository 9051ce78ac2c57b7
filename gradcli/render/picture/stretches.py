"""Render: a graph as stretches: what a module, a call or a line computed.

A stretch of the order in which nodes were made is never left and entered again, so the graph of the
stretches has no circles either.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator

from ...recording.facts import Place
from .folding import Atom, Folder, Group

Opens = Callable[[Hashable], bool]


def atoms_by(folder: Folder, unit: str, opens: Opens) -> list[Atom]:
    """The graph as modules, calls or lines, but for those that are open."""
    if unit == "line":
        return list(_lines(folder, opens))
    return list(_calls(folder, folder.root, unit, opens))


def key_of(atom: Atom) -> Hashable:
    """What a fold is known by."""
    return atom.kind, atom.frame if atom.kind != "line" else atom.nodes[0]


def _calls(folder: Folder, group: Group, unit: str, opens: Opens) -> Iterator[Atom]:
    """Nodes and folds in the order of making; what is open is gone through."""
    pending: list[int | Group] = list(reversed(group.items))
    while pending:
        item = pending.pop()
        if isinstance(item, int):
            yield Atom("node", (item,))
            continue
        assert item.frame is not None
        kind = "module" if folder.detail.frames[item.frame].kind else "call"
        atom = Atom(kind, tuple(item.nodes()), 1, item.frame)
        if unit in ("call", kind) and len(atom.nodes) > 1 and not opens(key_of(atom)):
            yield atom
        else:
            pending.extend(reversed(item.items))


def _lines(folder: Folder, opens: Opens) -> Iterator[Atom]:
    """Stretches of nodes of one line; where an expression comes again behind others, another turn
    of a loop or another call begins."""
    stretch: list[int] = []
    places: list[Place] = []
    for node in folder.inner:
        place = folder.graph.facts[node].place
        again = place in places and place != places[-1]
        if stretch and (place is None or not places or place.line != places[-1].line or again):
            yield from _stretch(tuple(stretch), opens)
            stretch, places = [], []
        stretch.append(node)
        if place is not None and place not in places:
            places.append(place)
    if stretch:
        yield from _stretch(tuple(stretch), opens)


def _stretch(nodes: tuple[int, ...], opens: Opens) -> Iterator[Atom]:
    atom = Atom("line", nodes)
    if len(nodes) > 1 and not opens(key_of(atom)):
        yield atom
    else:
        yield from (Atom("node", (node,)) for node in nodes)
