"""Render: a report whose nodes are modules, calls or lines."""

from __future__ import annotations

from collections.abc import Hashable

from ..recording.facts import Edge, NodeFact, Place, Report, RootFact
from .graph import Graph
from .picture.folding import Atom, Folder
from .picture.stretches import Opens, atoms_by, key_of
from .text import counted


class Units:
    """The report with units for nodes, and what each unit of several nodes hides."""

    def __init__(self, report: Report, unit: str, opens: Opens) -> None:
        self.before = report
        graph = Graph(report)
        roots = dict.fromkeys((root.node, root.output_nr) for root in report.roots)
        folder = Folder(graph, report.detail, (node for node, _ in roots))
        self.frames = folder.detail.frames
        self.atoms = {atom.nodes[-1]: atom for atom in atoms_by(folder, unit, opens)
                      if atom.kind != "node"}  # fmt: skip
        self.unit = {node: last for last, atom in self.atoms.items() for node in atom.nodes}
        self.outputs = self._outputs(list(roots))
        self.report = self._contracted()

    def key(self, node: int) -> Hashable:
        """What the fold of a unit is known by."""
        return key_of(self.atoms[node])

    def _outputs(self, roots: list[tuple[int, int]]) -> dict[tuple[int, int], Edge]:
        """Where the outputs of nodes in units are seen from outside: the unit and its output."""
        count = dict.fromkeys(self.atoms, 0)
        found: dict[tuple[int, int], Edge] = {}
        edges = (
            edge
            for node in self.before.nodes
            for edge in node.next
            if edge is not None and self.unit.get(edge[0]) != self.unit.get(node.id)
        )
        for edge in (*roots, *edges):
            unit = self.unit.get(edge[0])
            if unit is not None and edge not in found:
                found[edge] = unit, count[unit]
                count[unit] += 1
        return found

    def _contracted(self) -> Report:
        report = self.before
        seen = self._seen
        return report._replace(
            nodes=tuple(map(self._node, report.nodes)),
            roots=tuple(self._root(root) for root in report.roots),
            flows=tuple(
                flow._replace(node=at[0], output_nr=at[1], module="")
                if at != (flow.node, flow.output_nr) or flow.node in self.unit
                else flow
                for flow in report.flows
                if (at := seen(flow.node, flow.output_nr)) is not None
            ),
            tensors=tuple(
                fact._replace(node=at[0], output_nr=at[1])
                for fact in report.tensors
                if fact.node is not None and (at := seen(fact.node, fact.output_nr)) is not None
            ),
            constants=tuple(fact for fact in report.constants if fact.node not in self.unit),
        )

    def _seen(self, node: int, output_nr: int) -> Edge:
        return (node, output_nr) if node not in self.unit else self.outputs.get((node, output_nr))

    def _root(self, root: RootFact) -> RootFact:
        at = self._seen(root.node, root.output_nr)
        assert at is not None
        return root._replace(node=at[0], output_nr=at[1])

    def _node(self, fact: NodeFact) -> NodeFact:
        atom = self.atoms.get(fact.id)
        if atom is None:
            inside = fact.id in self.unit
            return fact._replace(next=() if inside else tuple(map(self._edge, fact.next)))
        inputs = dict.fromkeys(
            self._edge(edge)
            for node in reversed(atom.nodes)
            for edge in self.before.nodes[node].next
            if edge is not None and self.unit.get(edge[0]) != fact.id
        )
        return fact._replace(name=self._kind(atom), next=tuple(inputs), place=self._place(atom))

    def _edge(self, edge: Edge) -> Edge:
        return None if edge is None else self._seen(*edge)

    def _kind(self, atom: Atom) -> str:
        kind = "" if atom.frame is None else self.frames[atom.frame].kind
        return f"{kind}, {counted(len(atom.nodes), 'node')}".removeprefix(", ")

    def _place(self, atom: Atom) -> Place | None:
        """What computed it: the module, the call, or the expression of the last of its nodes."""
        own = self.before.nodes[atom.nodes[-1]].place
        if atom.frame is None:
            return own
        frame = self.frames[atom.frame]
        words = frame.name if frame.kind else f"{frame.name}()"
        line = (0 if own is None else own.line) if frame.line is None else frame.line
        return Place(line, 0, line, 0, words)
