"""Render: the text of `gradcli trace`: what the program printed, its graphs, its tensors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from ..diagnostics import some
from ..named import NamedTuple
from ..recording.facts import FlowFact, Place, Report, RootFact
from . import ledger as ledgers
from .escape import Terminal
from .folds import Expand, Folds, unfolded
from .graph import Graph
from .hiding import without
from .second_order import holders, order_of
from .table import (
    MEASURES,
    dtype_of,
    effects,
    events,
    freed,
    mean_and_norm,
    pass_heading,
    saved_table,
    shape_text,
    shorter,
    summary,
    tensor_table,
    untyped,
    without_empty,
)
from .text import (
    BLANK,
    Cell,
    Line,
    Look,
    after,
    at,
    cell,
    counted,
    least,
    one_line,
    paint,
    rows_in_columns,
)
from .tree import ASCII, UNICODE, Drawing, Row

if TYPE_CHECKING:
    from .units import Units

MOST_TREES = 6
LEAST_WORDS = 18
NONE = Cell("")
FIRST_PASSES, LAST_PASSES = 2, 3  # of very many passes these are drawn
UNITS = ("module", "call", "line")


class PageOptions(NamedTuple):
    """What of a report the page shows: levels of nodes, open folds, what one row stands for, what
    is left out, and further tables."""

    depth: int | None = None
    expand: Expand = False
    fold: str | None = None
    hide: tuple[str, ...] = ()
    saved: bool = False
    ledger: bool = False
    legend: bool = False


def text(
    report: Report,
    look: Look,
    options: PageOptions | None = None,
    *,
    streamed: bool = False,
    **changes: Any,
) -> Terminal:
    """The page that a person reads; `streamed` where the program's own output is there already."""
    options = (options or PageOptions())._replace(**changes)
    every = options.expand if options.fold != "none" else True
    lines = unfolded(lambda folds: _page(report, look, options, folds), every)
    return after(report.output, paint(lines, look), streamed)


def _page(report: Report, look: Look, options: PageOptions, folds: Folds) -> list[Line]:
    """Its lines: trees, tables, remarks."""
    parts: list[list[Line]] = []
    hidden = ""
    for one in _each_pass(report, folds):
        if isinstance(one, int):
            parts.append([folds.more("passes", one, look, "pass", "passes; --pass N draws one")])
            continue
        kept, hidden = without(one, options.hide)
        parts.append(pass_heading(one.shown))
        parts.extend(draw(kept, look, folds, depth=options.depth, fold=options.fold))
    if options.saved:
        parts.append(saved_table(report, look, folds))
    parts.append(tensor_table(report, look, folds))
    if report.views is not None:
        from . import views

        parts.append(views.lines(report.views, look, folds))
    if report.stats is not None:
        from . import stats

        parts.append(stats.lines(report.stats, look))
    if report.events:
        parts.append(events(report.events, look, folds))
        parts.append(effects(report.effects, look))
    if report.ledger is not None and options.ledger:
        parts.append(ledgers.table(report.ledger, look, folds))
        parts.append(ledgers.passes(report.ledger, look))
    elif report.ledger is not None:
        parts.append(ledgers.short(report.ledger, look))
    last = list(_footer(report, hidden, look))
    if report.ledger is not None and report.ledger.alive and not options.ledger:
        last.extend(ledgers.alive(report.ledger, look))
    parts.append(last)
    if report.profile is not None:
        from . import profile

        parts.append(profile.table(report.profile, look, folds))
    last[:0] = folds.footer("--depth N goes N nodes deep")
    if options.legend:
        from . import legend as signs

        parts.append(signs.lines(look))
    lines: list[Line] = []
    for part in parts:
        if part:
            lines.extend((*((BLANK,) if lines else ()), *part))
    return lines


def _each_pass(report: Report, folds: Folds) -> Iterator[Report | int]:
    """The report on each pass that is drawn, and how many are left out between them; results
    that no pass came through stand with the last one."""
    passes = report.passes
    if len(passes) < 2:
        yield report
        return
    between = range(FIRST_PASSES, len(passes) - LAST_PASSES)
    for place, fact in enumerate(passes):
        if place in between and not folds.opens("passes"):
            if place == between.start:
                yield len(between)
            continue
        last = place == len(passes) - 1
        roots = report.roots if last else fact.roots
        yield report._replace(shown=fact.shown, roots=roots, flows=fact.flows)


def draw(
    report: Report, look: Look, folds: Folds, *, depth: int | None = None, fold: str | None = None
) -> list[list[Line]]:
    """One tree for each result, the columns of all of them alike."""
    units = None
    if fold in UNITS and report.detail is not None:
        from .units import Units

        units = Units(report, fold, folds.opens)
        report = units.report
    graph = Graph(report)
    drawing = Drawing(graph, UNICODE if look.unicode else ASCII, folds, depth=depth)
    chosen = list(report.roots)
    shown = chosen if folds.opens("results") else _thinned(chosen)
    rows: list[Row] = []
    ends: list[int] = []
    for fact in shown:
        rows.extend(drawing.tree(fact.node, fact.output_nr))
        ends.append(len(rows))
    each = Words(graph, drawing, report, units).lines(rows, look)
    if not each:
        return []
    head, *body = each
    trees = [list(chain.from_iterable(body[start:end]))
             for start, end in zip([0, *ends], ends, strict=False)]  # fmt: skip
    trees[0] = head + trees[0]
    left = len(chosen) - len(shown)
    if left:
        others = [fact.name for fact in chosen if fact not in shown]
        words = f"{counted(left, 'more result')}: {some(others, 3)}"
        trees.append([folds.row("results", words, look)])
    return trees


def _thinned(chosen: list[RootFact]) -> list[RootFact]:
    """The results worth a tree: of a list's elements the last one, and not too many in all."""
    if len(chosen) <= 3:
        return chosen
    last = {fact.name.partition("[")[0]: fact for fact in chosen}
    return [fact for fact in chosen if last[fact.name.partition("[")[0]] is fact][-MOST_TREES:]


class Words:
    """What is said about a node in its line."""

    def __init__(
        self, graph: Graph, drawing: Drawing, report: Report, units: Units | None = None
    ) -> None:
        self.graph, self.drawing, self.units = graph, drawing, units
        self.roots = {(root.node, root.output_nr) for root in report.roots}
        self.order = order_of(report.derived)
        self.derived = {fact.node for fact in report.derived}
        self.bound = {(fact.name, fact.line): key[0] for key, fact in graph.tensors.items()}
        # Names that other leaves had in the pass than have them at the end.
        self.outputs = Counter(node for node, _ in graph.flows)
        self.taken = {flow.name for key, flow in graph.flows.items()
                      if key not in graph.tensors and not graph.next[key[0]]}  # fmt: skip

    def lines(self, rows: Sequence[Row], look: Look) -> list[list[Line]]:
        """Header and rows in columns: words, node, value, gradient, line; the lines of each."""
        if not rows:
            return []
        self.arrow = "→" if look.unicode else "->"
        cells = [self._row(row, look) for row in rows]
        heads = ("", "grad_fn", "shape", "value", MEASURES, "grad", MEASURES, "line", "order")
        head = tuple(cell(word, "head") for word in heads)
        leaves = (row[0] for row in cells if len(row) > 2 and row[0].style == "leaf")
        words = (0, least(leaves, look, LEAST_WORDS))
        return rows_in_columns(
            without_empty([head, *cells], 2, 3, 4, 5, 6, 8), look, right=frozenset({7}),
            giving=((words,), 6, 4, ((3, 24), (5, 20)), 2, ((3, 16), (5, 16)), ((1, 18),), 1, 7, 8,
                    ((3, 14), (5, 14)), ((3, 10), (5, 10)), ((0, 14),), ((3, 8), (5, 8))),
        )  # fmt: skip

    def _row(self, row: Row, look: Look) -> tuple[Cell, ...]:
        if row.kind == "fold":
            return (Cell(row.lead), cell(self.drawing.words(row), "dim"))
        if row.kind == "constant":
            constant = self.graph.constants[row.node, row.output_nr]
            said = Cell(row.lead + cell(one_line(constant.text)).text)
            value = untyped(summary(constant.value, constant.shape, constant.range))
            size = cell(constant.dtype + shape_text(constant.shape), "dim")
            more = cell(mean_and_norm(constant.range), "dim")
            shown = cell(value)._replace(short=shorter(constant.shape, constant.range))
            return (said, cell("constant", "dim"), size, shown, more, *(NONE,) * 4)
        words, style = self._words(row)
        name = self.graph.names[row.node]
        mark = self.drawing.marks.get(row.node) if row.kind == "node" else None
        sign = "" if mark is None else f"#{mark} "
        told = cell(sign + words).text
        flow = self.graph.flows.get((row.node, row.output_nr))
        module = "" if flow is None else f", in {flow.module}"
        tail = len(module) if flow is not None and told.endswith(module) else 0
        if row.kind == "output":
            told += f", {row.text}"
            tail += len(row.text) + 2
        first = Cell(row.lead + told, style, len(row.lead), tail=tail)
        if style == "dim" and self._repeats(row):
            rest = told[len(told) - tail :]
            first = first._replace(instead=f"{row.lead}{sign}{name}{rest}")
        leaf = name == "AccumulateGrad"
        kind = cell("leaf" if leaf else name, "leaf" if leaf else "node")
        if row.kind == "node" and self.units is not None and row.node in self.units.atoms:
            key = self.units.key(row.node)
            kind = cell(f"{self.drawing.folds.sign(key, look)}  {name}", "dim")
        if row.kind == "again":
            where = cell(row.text or "see above", "dim")
            short = row.text.rpartition(" ")[0] if row.text.startswith("see #") else "above"
            where = where if row.text.startswith("in ") else where._replace(short=short)
            return (first, kind, NONE, where, *(NONE,) * 5)
        shape, value, of_value, grad, of_grad, line = self._facts(row)
        order = NONE if leaf else cell(self.order(row.node), "dim")
        shorts = ("", "") if flow is None else (
            self._changed(flow) if flow.later is not None else shorter(flow.shape, flow.range),
            shorter(flow.shape, flow.grad_range),
        )  # fmt: skip
        return (
            first, kind, cell(shape, "dim"), cell(value)._replace(short=shorts[0]),
            cell(of_value, "dim"), cell(grad)._replace(short=shorts[1]), cell(of_grad, "dim"),
            at(line, self.graph.elsewhere.get(row.node)), order,
        )  # fmt: skip

    def _repeats(self, row: Row) -> bool:
        """Whether the node that it is an input of has the same words."""
        facts = self.graph.facts
        return row.parent >= 0 and facts[row.parent].place is facts[row.node].place

    def _changed(self, flow: FlowFact) -> str:
        """A value that has changed since, where there is no room for the later one."""
        before = shorter(flow.shape, flow.range)
        return before and f"{before} {self.arrow}"

    def _words(self, row: Row) -> tuple[str, str]:
        """The words for a node, and their style."""
        graph = self.graph
        key = (row.node, row.output_nr)
        fact = graph.tensors.get(key)
        place = graph.facts[row.node].place
        source = self.graph.source(row.node)
        if not graph.next[row.node]:
            return self._leaf_name(key), "leaf"
        if fact is not None:
            style = "result" if key in self.roots else "name"
            return self._assigned(fact.name, place) + self._module(key, source), style
        if place is None:
            return "·", "dim"
        module = self._module(key)
        above = graph.facts[row.parent].place if row.parent >= 0 else None
        # One expression made several nodes: the first has the name; no node of its gradient has.
        # Below a fold of that expression, and in each turn of a loop, it was evaluated once more.
        flow = graph.flows.get(key)
        again = (
            above is place
            and (self.units is None or row.parent not in self.units.atoms)
            and (flow is None or not flow.name or row.node in graph.elsewhere)
        )
        if again or row.node in self.derived or self._is_bound_elsewhere(place):
            return graph.words(row.node) + module, "dim"
        if place.parts and above is not place and self.outputs[row.node] == len(place.parts):
            return self._assigned(place.parts[row.output_nr], place) + module, ""
        words = self._assigned(place.target, place) if place.target else graph.words(row.node)
        return words + module, ""

    def _is_bound_elsewhere(self, place: Place) -> bool:
        """Whether the name that the text gives to an expression is of a node made inside of a
        function that it called; what it made itself went into that."""
        node = self.bound.get((place.target, place.line))
        return node is not None and self.graph.facts[node].place is not place

    def _leaf_name(self, key: tuple[int, int]) -> str:
        """The name that a leaf has, else the one that it had in the pass."""
        fact, flow = self.graph.tensors.get(key), self.graph.flows.get(key)
        then = flow.name if flow is not None else ""
        if fact is not None and not (then and fact.name in self.taken):
            return fact.name
        return then or "(a leaf without a name)"

    def _assigned(self, name: str, place: Place | None) -> str:
        """The words of an assignment where the text has it; else the expression, and the name."""
        return name if place is None else place.named(name)

    def _module(self, key: tuple[int, int], said: str = "") -> str:
        """The module of the library that made a node, if these words don't name it already."""
        flow = self.graph.flows.get(key)
        if flow is None or not flow.module or flow.module in said:
            return ""
        return f", in {flow.module}"

    def _facts(self, row: Row) -> tuple[str, str, str, str, str, int | None]:
        """Shape, value, gradient and line: of the pass that is drawn, else at the end. Behind value
        and gradient stand mean and norm."""
        key = (row.node, row.output_nr)
        flow = self.graph.flows.get(key)
        place = self.graph.facts[row.node].place
        named = self.graph.tensors.get(key)
        shape = value = grad = of_value = of_grad = ""
        line: int | None = None
        if flow is not None:
            shape = flow.dtype + shape_text(flow.shape)
            value = untyped(summary(flow.text, flow.shape, flow.range))
            grad = untyped(summary(flow.grad_text, flow.shape, flow.grad_range))
            of_value, of_grad = mean_and_norm(flow.range), mean_and_norm(flow.grad_range)
            if flow.later is not None:
                later = untyped(summary(flow.later, flow.shape, flow.later_range))
                value += f" {self.arrow} {later}"
        elif named is not None:
            shape = dtype_of(named.text) + shape_text(named.shape)
            value = untyped(summary(named.text, named.shape, named.range))
            of_value = mean_and_norm(named.range)
        if place is not None:
            line = place.line
        elif named is not None and named.line is not None:
            line = named.line
        elif flow is not None and flow.line is not None:
            line = flow.line
        return shape, value, of_value, grad, of_grad, line


def _footer(report: Report, hidden: str, look: Look) -> list[Line]:
    """What is worth knowing about the whole: what is left out, freed buffers."""
    lines: list[Line] = []
    if not report.roots and report.error is None:
        why = "no tensor requires grad: there is no graph to draw"
        if any(fact.requires_grad for fact in report.tensors):
            why = "no result requires grad: nothing to draw"
        lines.append((cell(why, "dim"),))
    if hidden:
        lines.append((cell(hidden, "dim"),))
    if gone := freed(report):
        lines.append((cell(f"{gone}; --retain-graph keeps them", "dim"),))
    lines.extend((cell(words, "dim"),) for words in report.left_out)
    lines.extend(holders(report.holders, look))
    return lines
