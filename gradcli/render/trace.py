"""Render: the text of `gradcli trace`: what the program printed, its graphs, its tensors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..recording.facts import Place, Report, RootFact, ShownPass
from . import ledger as ledgers
from .escape import Terminal
from .graph import Graph
from .table import events, saved_table, shape_text, summary, tensor_table
from .text import BLANK, Cell, Line, Look, after, cell, columns, counted, one_line, paint, width_of
from .tree import ASCII, UNICODE, Drawing, Row

MOST_TREES = 6
MOST_EVENTS = 20
LEAST_WORDS = 18
FIRST_PASSES, LAST_PASSES = 2, 3  # of very many passes these are drawn


def text(
    report: Report, look: Look, *, depth: int | None = None, expand: bool = False,
    saved: bool = False, ledger: bool = False, legend: bool = False, streamed: bool = False,
) -> Terminal:  # fmt: skip
    """The page that a person reads; `streamed` where the program's own output is there already."""
    parts: list[list[Line]] = []
    drawing = None
    for one in _each_pass(report, expand):
        if isinstance(one, str):
            parts.append([(cell(one, "dim"),)])
            continue
        drawing, trees = draw(one, look, depth=depth, expand=expand)
        if one.shown is not None and one.shown.of > 1:
            parts.append([_heading(one.shown)])
        parts.extend(trees)
    assert drawing is not None
    if saved:
        parts.append(saved_table(report, look, expand=expand))
    parts.append(tensor_table(report, look, expand=expand))
    if report.events:
        parts.append(events(report.events, look, None if expand else MOST_EVENTS))
    if report.ledger is not None and ledger:
        parts.append(ledgers.table(report.ledger, look, expand=expand))
        parts.append(ledgers.passes(report.ledger, look))
    elif report.ledger is not None:
        parts.append(ledgers.short(report.ledger, look))
    parts.append(list(_footer(report, drawing)))
    if report.ledger is not None and report.ledger.alive and not ledger:
        parts[-1].extend(ledgers.alive(report.ledger, look))
    if report.profile is not None:
        from . import profile

        parts.append(profile.table(report.profile, look, expand=expand))
    if legend:
        from . import legend as signs

        parts.append(signs.lines(look))
    lines: list[Line] = []
    for part in parts:
        if part:
            lines.extend((*((BLANK,) if lines else ()), *part))
    page = paint(lines, look)
    return after(report.output, page, streamed)


def _each_pass(report: Report, expand: bool) -> Iterator[Report | str]:
    """The report on each pass that is drawn, and how many are left out between them; results
    that no pass came through stand with the last one."""
    passes = report.passes
    if len(passes) < 2:
        yield report
        return
    between = range(FIRST_PASSES, len(passes) - LAST_PASSES)
    for place, fact in enumerate(passes):
        if place in between and not expand:
            if place == between.start:
                yield f"{len(between):,} more passes; --expand draws them, --pass N one of them"
            continue
        last = place == len(passes) - 1
        roots = report.roots if last else fact.roots
        yield report._replace(shown=fact.shown, roots=roots, flows=fact.flows)


def _heading(shown: ShownPass) -> Line:
    """pass 3 of 200   loss.backward()   line 12"""
    where = "" if shown.line is None else f"   {one_line(shown.source)}   line {shown.line}"
    return (cell(f"pass {shown.number:,} of {shown.of:,}{where}", "dim"),)


def draw(
    report: Report, look: Look, *, depth: int | None = None, expand: bool = False
) -> tuple[Drawing, list[list[Line]]]:
    """One tree for each result, the columns of all of them alike."""
    graph = Graph(report)
    strokes = UNICODE if look.unicode else ASCII
    drawing = Drawing(graph, strokes, depth=depth, expand=expand)
    chosen = list(report.roots)
    shown = chosen if expand else _thinned(chosen)
    rows: list[Row] = []
    ends: list[int] = []
    for fact in shown:
        rows.extend(drawing.tree(fact.node, fact.output_nr))
        ends.append(len(rows))
    lines = Words(graph, drawing, report).lines(rows, look)
    if not lines:
        return drawing, []
    head, body = lines[:1], lines[1:]
    trees = [body[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    trees[0] = head + trees[0]
    left = len(chosen) - len(shown)
    if left:
        drawing.cut = True
        others = [fact.name for fact in chosen if fact not in shown]
        names = ", ".join(others[:3])
        more = ", ..." if left > 3 else ""
        trees.append([(cell(f"and {counted(left, 'more result')}: {names}{more}", "dim"),)])
    return drawing, trees


def _thinned(chosen: list[RootFact]) -> list[RootFact]:
    """The results worth a tree: of a list's elements the last one, and not too many in all."""
    if len(chosen) <= 3:
        return chosen
    last = {fact.name.partition("[")[0]: fact for fact in chosen}
    return [fact for fact in chosen if last[fact.name.partition("[")[0]] is fact][-MOST_TREES:]


class Words:
    """What is said about a node in its line."""

    def __init__(self, graph: Graph, drawing: Drawing, report: Report) -> None:
        self.graph, self.drawing = graph, drawing
        self.roots = {(root.node, root.output_nr) for root in report.roots}

    def lines(self, rows: Sequence[Row], look: Look) -> list[Line]:
        """Header and rows in columns: words, node, value, gradient, line."""
        if not rows:
            return []
        self.arrow = "→" if look.unicode else "->"
        cells = [self._row(row) for row in rows]
        heads = ["", "grad_fn", "shape", "value", "grad", "line"]
        for i in (2, 3, 4):
            if not any(len(row) > 2 and row[i].text for row in cells):
                heads[i] = ""
        head = tuple(cell(word, "head") for word in heads)
        leaves = (row for row in cells if len(row) > 2 and row[1].style == "leaf")
        named = max((width_of(row[0].text) for row in leaves), default=0)
        return columns(
            (head, *cells), look, first=(((0, max(named, LEAST_WORDS)),), ((3, 24), (4, 20))),
            dropped=(2, 1, 5), flexible=(((3, 14), (4, 14)), ((3, 8), (4, 8))),
            right=frozenset({5}),
        )  # fmt: skip

    def _row(self, row: Row) -> tuple[Cell, ...]:
        if row.kind == "fold":
            return (Cell(row.lead), cell(row.text, "dim"))
        if row.kind == "constant":
            constant = self.graph.constants[row.node, row.output_nr]
            said = Cell(row.lead + cell(one_line(constant.text)).text)
            value = summary(constant.value, constant.shape, constant.range)
            size = cell(shape_text(constant.shape), "dim")
            return (said, cell("constant", "dim"), size, cell(value), Cell(""), Cell(""))
        words, style = self._words(row)
        mark = self.drawing.marks.get(row.node) if row.kind == "node" else None
        told = cell(words if mark is None else f"#{mark} {words}").text
        first = Cell(row.lead + told, style, len(row.lead))
        name = self.graph.names[row.node]
        leaf = name == "AccumulateGrad"
        kind = cell("leaf" if leaf else name, "leaf" if leaf else "node")
        if row.kind == "again":
            where = cell(row.text or "see above", "dim")
            return (first, kind, Cell(""), where, Cell(""), Cell(""))
        shape, value, grad, line = self._facts(row)
        return (first, kind, cell(shape, "dim"), cell(value), cell(grad), cell(line, "dim"))

    def _words(self, row: Row) -> tuple[str, str]:
        """The words for a node, and their style."""
        graph = self.graph
        key = (row.node, row.output_nr)
        fact = graph.tensors.get(key)
        place = graph.facts[row.node].place
        source = one_line(place.text) if place is not None else ""
        if not graph.next[row.node]:
            return self._leaf_name(key), "leaf"
        if fact is not None:
            style = "result" if key in self.roots else "name"
            return self._assigned(fact.name, place), style
        if place is None:
            return "·", "dim"
        module = self._module(key)
        above = graph.facts[row.parent].place if row.parent >= 0 else None
        if above is place:  # one expression made several nodes: the first has the name
            return source + module, "dim"
        return self._assigned(place.target, place) + module, ""

    def _leaf_name(self, key: tuple[int, int]) -> str:
        """The name that a leaf has, else the one that it had in the pass."""
        fact, flow = self.graph.tensors.get(key), self.graph.flows.get(key)
        if fact is not None:
            return fact.name
        return (flow.name if flow is not None else "") or "(a leaf without a name)"

    def _assigned(self, name: str, place: Place | None) -> str:
        """The words of an assignment where the text has it; else the expression, and the name."""
        if place is None:
            return name
        source = one_line(place.text)
        if place.statement or not name:
            return source
        return f"{name} = {source}" if place.target == name else f"{name}: {source}"

    def _module(self, key: tuple[int, int]) -> str:
        """The module of the library that made a node."""
        flow = self.graph.flows.get(key)
        return f", in {flow.module}" if flow is not None and flow.module else ""

    def _facts(self, row: Row) -> tuple[str, str, str, str]:
        """Shape, value, gradient and line: of the pass that is drawn, else at the end."""
        key = (row.node, row.output_nr)
        flow = self.graph.flows.get(key)
        place = self.graph.facts[row.node].place
        named = self.graph.tensors.get(key)
        shape = value = grad = line = ""
        if flow is not None:
            shape = shape_text(flow.shape)
            value = summary(flow.text, flow.shape, flow.range)
            grad = summary(flow.grad_text, flow.shape, flow.grad_range)
            if flow.later is not None:
                value += f" {self.arrow} {summary(flow.later, flow.shape, flow.later_range)}"
        elif named is not None:
            shape = shape_text(named.shape)
            value = summary(named.text, named.shape, named.range)
        if place is not None:
            line = str(place.line)
        elif named is not None and named.line is not None:
            line = str(named.line)
        elif flow is not None and flow.line is not None:
            line = str(flow.line)
        return shape, value, grad, line


def _footer(report: Report, drawing: Drawing) -> list[Line]:
    """What is worth knowing about the whole: folds, freed buffers."""
    lines: list[Line] = []
    if not report.roots:
        why = "no tensor requires grad: there is no graph to draw"
        if any(fact.requires_grad for fact in report.tensors):
            why = "no result: nothing that requires grad was computed and bound to a name"
        lines.append((cell(why, "dim"),))
    if drawing.cut:
        lines.append((cell("--expand draws what is folded, --depth N goes N nodes deep", "dim"),))
    if report.freed and report.saving is not None and report.backwards:
        line = report.backwards[-1].line
        gone = f"{report.freed:,} of {report.saving:,} nodes' saved tensors"
        if report.saving == 1:
            gone = "the saved tensors of the one node that had some"
        lines.append(
            (cell(f"backward on line {line} freed {gone}; --retain-graph keeps them", "dim"),)
        )
    return lines
