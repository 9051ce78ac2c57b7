"""Render: the words of a picture: the texts of its boxes and wires."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import inf, log10, prod

from ...recording.facts import FlowFact, Report, Spread
from ...recording.facts.picture import FrameFact
from ...recording.facts.steps import EdgeFact, StepFact, ValueFact
from ..escape import line as harmless
from ..graph import Graph
from ..steps.values import WHATEVER, is_masked, lines_of, size_of
from ..table import between, summary
from ..text import cut, one_line, width_of
from .scene import Row

WIDEST = 38  # columns of a box
NAME_ROWS = 4  # that the name of a leaf or a module may take
WIRE = 30  # columns of the words on a wire
PHRASE = 24  # columns of the words that say what a node does
SHORT = 12  # columns of the name of one of several outputs
FEW = 3  # elements that are written out
ELEMENTS = 27  # columns of elements that are written out: three with signs and four digits
PARTS = 3  # gradients that are added before one's eyes


def line_text(text: str, width: int = WIDEST) -> str:
    """Foreign text as a line of a picture."""
    return cut(harmless(one_line(text)), width)


def name_rows(name: str) -> Iterator[Row]:
    """The name of a leaf or a module, whole: in lines that begin with a part of it."""
    left: str = harmless(one_line(name))
    for _ in range(NAME_ROWS - 1):
        if width_of(left) <= WIDEST:
            break
        line = cut(left, WIDEST, "")
        at = max(line.rfind("."), line.rfind("["), 0) or line.rfind("_") + 1 or len(line)
        yield Row(left[:at], "title")
        left = left[at:]
    yield Row(cut(left, WIDEST), "title")


def kind_rows(words: str, place: str) -> Iterator[Row]:
    """What a box is, and its lines: in a row of their own where both do not fit into one."""
    if WIDEST - width_of(place) < width_of(words) <= WIDEST:
        yield Row(words, "kind")
        yield Row(place.removeprefix(" · "), "kind")
    else:
        yield Row(line_text(words, WIDEST - width_of(place)) + place, "kind")


def full(text: str) -> str:
    """The same, all of it but for the very long."""
    return cut(harmless(one_line(text)), 600)


class Words:
    """What is said about the nodes of a report."""

    def __init__(self, graph: Graph, report: Report) -> None:
        self.graph, self.report = graph, report
        detail = report.detail
        self.frames = () if detail is None else detail.frames
        self.makings = () if detail is None else detail.makings
        self.calls = _calls(self.frames)
        self.walk = None if detail is None else detail.walk
        self.places = {} if self.walk is None else self.walk.places()
        self.flows: dict[int, list[FlowFact]] = {}
        for flow in report.flows:
            self.flows.setdefault(flow.node, []).append(flow)
        self.roots = {root.node: root for root in report.roots}
        # What an expression used itself is not what the text binds its result to; a node of its own
        # kind may be the result of the turn before.
        self.within = {
            edge[0] for number, edges in enumerate(graph.next)
            for edge in edges if edge is not None
            and self._call(edge[0]) == self._call(number)
            and graph.facts[edge[0]].place is graph.facts[number].place
            and (self._call(number) is not None or graph.names[edge[0]] != graph.names[number])
        }  # fmt: skip
        self._steps: dict[int, StepFact | None] = {}

    def _frame(self, node: int) -> int | None:
        """The innermost call that made a node."""
        return self.makings[node].frame if self.makings else None

    def _call(self, node: int) -> int | None:
        """The call that made a node; of a module in a container that of the container."""
        frame = self._frame(node)
        return None if frame is None else self.calls[frame]

    def step(self, node: int) -> StepFact | None:
        """What the pass did at a node; each fact is made once."""
        if node not in self._steps:
            place = self.places.get(node)
            found = None if place is None or self.walk is None else self.walk.steps[place]
            self._steps[node] = found
        return self._steps[node]

    # ---- boxes

    def name(self, node: int) -> str:
        """What a reader calls it: its name and expression, its module, or what it does."""
        graph = self.graph
        fact = graph.tensors.get((node, 0)) or next(
            (graph.tensors[node, flow.output_nr] for flow in self.flows.get(node, ())
             if (node, flow.output_nr) in graph.tensors), None)  # fmt: skip
        place = graph.facts[node].place
        if not graph.next[node]:
            former = next((flow.name for flow in self.flows.get(node, ()) if flow.name), "")
            return fact.name if fact is not None else former or "a leaf without a name"
        root = self.roots.get(node)
        name = fact.name if fact is not None else (root.name if root is not None else "")
        if place is None:
            return name or graph.names[node]
        if self.is_derived(node):
            words = f"gradient of {place.text}"
            return f"{name}: {words}" if name else words
        several = [self._output(node, flow.output_nr) for flow in self.flows.get(node, ())]
        if len(several) > 1 and fact is not None and not place.statement:
            known = [one for one in several if one][: FEW + 1]
            name = ", ".join([*known[:FEW], "..."] if len(known) > FEW else known)
        inner = graph.elsewhere.get(node)
        if name or (place.target and node not in self.within and inner is None):
            return place.named(name or place.target)
        return ("" if inner is not None else self._module(node)) or graph.words(node)

    def _output(self, node: int, output_nr: int) -> str:
        """The name of one output, or none."""
        fact = self.graph.tensors.get((node, output_nr))
        return "" if fact is None else fact.name

    def is_derived(self, node: int) -> bool:
        """Whether a pass with create_graph made it, at the place of the node that ran."""
        step = self.step(node)
        return step is not None and step.is_derived

    def _module(self, node: int) -> str:
        """The path of the library's module that made it: one that has no text of its own here."""
        frame = self._frame(node)
        place = self.graph.facts[node].place
        if frame is None or place is None or not self.frames[frame].kind:
            return ""
        return self.frames[frame].name if self.frames[frame].line == place.line else ""

    def rows(self, node: int) -> Iterator[Row]:
        """The lines of a box."""
        graph, name = self.graph, self.name(node)
        leaf = not graph.next[node]
        module = self._module(node)
        yield from name_rows(name) if leaf or name == module else [Row(line_text(name), "title")]
        kind = ("leaf" if graph.names[node] == "AccumulateGrad" else graph.names[node]) or "node"
        line = self.line(node)
        at = "" if line is None else f" · line {line}"
        if node in graph.elsewhere:
            at += f", {graph.elsewhere[node]}"
        inside = f" in {module}" if module and module != name else ""
        if node in self.roots:
            kind = f"result · {kind}"
        yield from kind_rows(f"{kind}{inside}", at)
        for at_, edge in enumerate(graph.next[node]):
            constant = graph.constants.get((node, at_)) if edge is None else None
            if constant is not None and not self.is_derived(node):
                value = of(constant.value, constant.shape, "", constant.range, shaped=True)
                text = f"{one_line(constant.text)} constant"
                yield Row(line_text(f"{text} {value}" if value else text), "constant")
        yield from self._numbers(node, leaf)
        step = self.step(node)
        if step is not None and step.outcome == "failed":
            yield Row("the error comes from here", "bad", True)
            freed = self.makings[node].freed if self.makings else None
            if freed is not None:
                yield Row(f"freed by backward on line {freed}", "bad", True)

    def line(self, node: int) -> int | None:
        """The line of a node: of its expression, or where the leaf was made."""
        place = self.graph.facts[node].place
        if place is not None:
            return place.line
        fact = self.graph.tensors.get((node, 0)) or next(iter(self.flows.get(node, ())), None)
        return None if fact is None else fact.line

    def _numbers(self, node: int, leaf: bool) -> Iterator[Row]:
        flows = sorted(self.flows.get(node, ()), key=lambda flow: flow.output_nr)
        fact = self.graph.tensors.get((node, 0))
        if not flows and fact is not None:
            value = of(fact.text, fact.shape, fact.dtype, fact.range, shaped=True)
            if value:
                yield Row(line_text(f"value {value}"), bad_or("value", fact.text, fact.range))
            if self.report.shown is not None and leaf:
                yield Row("grad none from this pass", "note", True)
                if fact.grad_text is not None and fact.text != "?":
                    held = of(fact.grad_text, fact.shape, fact.dtype, fact.grad_range)
                    yield Row(line_text(f".grad {held} at the end"), "note", True)
            return
        for flow in flows[:FEW]:
            own = self._output(node, flow.output_nr)
            named = f"{own} " if own and width_of(own) <= SHORT else ""
            out = named or f"[{flow.output_nr}] " if len(flows) > 1 or flow.output_nr else ""
            value = of(flow.text, flow.shape, "", flow.range, shaped=True)
            later = ""
            if flow.later is not None:
                later = f" → {of(flow.later, flow.shape, '', flow.later_range)}"
                where = "" if flow.changed is None else f" line {flow.changed}"
                later += where if width_of(later + where) <= WIDEST else ""
            beside = later if width_of(f"value {value}{later}") <= WIDEST else ""
            if value:
                yield Row(
                    line_text(f"{out}value {value}{beside}"), bad_or("value", flow.text, flow.range)
                )
            if later != beside:
                yield Row(line_text(later.strip()), "note")
            yield from self._gradient(node, flow, out)
            yield from self._final_grad(node, flow)
        if len(flows) > FEW:
            yield Row(f"and {len(flows) - FEW:,} more outputs", "note")

    def _gradient(self, node: int, flow: FlowFact, out: str) -> Iterator[Row]:
        if flow.grad_text is None:
            if flow.text == "?":
                yield Row(f"{out}grad ?", "note", True)
            elif self.report.shown is not None:
                yield Row(f"{out}grad none from this pass", "note", True)
            return
        grad = of(flow.grad_text, flow.shape, "", flow.grad_range)
        words = f"{out}grad {grad}"
        if is_zero(flow.grad_text, flow.grad_range):
            words += ", zero" if flow.shape == () else ", all zero"
        parts = self._parts(node, flow.output_nr)
        sums = " = " + " + ".join(map(small, parts)) if 1 < len(parts) <= PARTS else ""
        if sums and "…" not in sums and width_of(words + sums) <= WIDEST:
            yield Row(words + sums, bad_or("grad", flow.grad_text, flow.grad_range), True)
            return
        yield Row(line_text(words), bad_or("grad", flow.grad_text, flow.grad_range), True)
        if len(parts) > 1:
            yield Row(f"the sum of {len(parts):,} gradients", "note", True)

    def _final_grad(self, node: int, flow: FlowFact) -> Iterator[Row]:
        """What .grad holds at the end, where it is something else."""
        fact = self.graph.tensors.get((node, flow.output_nr))
        if fact is None or not fact.is_leaf or self.graph.next[node] or flow.text == "?":
            return
        if fact.grad_text is None:
            yield Row(".grad None at the end", "note", True)
            return
        held = of(fact.grad_text, fact.shape, fact.dtype, fact.grad_range)
        if flow.grad_text == "":  # a large one is known by its range, to the digits that are shown
            same = held == of("", flow.shape, fact.dtype, flow.grad_range)
        else:
            same = fact.grad_text == flow.grad_text
        if not same:
            yield Row(line_text(f".grad {held} at the end"), "note", True)

    def _parts(self, node: int, output_nr: int) -> list[ValueFact]:
        step = self.step(node)
        if step is None or output_nr >= len(step.parts):
            return []
        return [part.value for part in step.parts[output_nr]]

    def marks(self, node: int) -> Iterator[str]:
        """What a box is marked with beside its words."""
        step = self.step(node)
        if step is not None and step.outcome == "failed":
            yield "bad"
        flows = self.flows.get(node, [])
        empty = [flow.grad_text is None and flow.text != "?" for flow in flows]
        if flows and all(empty) and self.report.shown is not None:
            yield "none"
        for flow in flows:
            if flow.later is not None:
                yield "changed"
            if is_bad(flow.grad_text, flow.grad_range) or is_bad(flow.text, flow.range):
                yield "bad"
            elif is_zero(flow.grad_text, flow.grad_range):
                yield "zero"

    # ---- wires

    def edge(self, node: int, place: int) -> EdgeFact | None:
        """What the pass did at this input of a node."""
        step = self.step(node)
        if step is None:
            return None
        return next((e for e in step.edges if e.place == place and e.then != "constant"), None)

    def incoming(self, node: int) -> ValueFact | None:
        """The gradient that a node worked with, where it is one."""
        step = self.step(node)
        grads = [] if step is None else [g for g in step.used or step.grads if g is not None]
        return grads[0] if step is not None and len(grads) == 1 == len(step.grads) else None

    def on_wire(self, node: int, place: int, *, inside: bool = False) -> tuple[str, ...]:
        """-7 · 5 = -35; of tensors what step says. Only the product where the node is `inside` of a
        fold, whose box has another gradient."""
        edge = self.edge(node, place)
        if edge is None or edge.product is None:
            return ("no gradient",) if self.walk is not None else ()
        product, local, given = edge.product, edge.local, self.incoming(node)
        handed = small(product)
        if local is None or inside:
            return (cut(handed, WIRE),)
        if local.value is None:
            return (*balanced(local.words), cut(f"= {handed}", WIRE))
        sign = "·" if local.kind == "number" or local.value.is_number else "∘"
        factor = small(local.value)
        start = small(given) if given is not None else "incoming"
        whole = f"{start} {sign} {factor} = {handed}"
        words = local.words or (is_masked(given, product) and WHATEVER)
        if words:
            return (*_broken(start, sign, factor, ""), *balanced(words),
                    cut(f"= {handed}", WIRE))  # fmt: skip
        if width_of(whole) <= WIRE:
            return (whole,)
        return _broken(start, sign, factor, handed)


def _calls(frames: Sequence[FrameFact]) -> list[int]:
    """For each call of a module the outermost one of the same line, itself for others."""
    found: list[int] = []
    for number, frame in enumerate(frames):
        around = None if frame.parent is None else frames[frame.parent]
        is_part = around is not None and frame.kind and around.kind and frame.line == around.line
        found.append(found[frame.parent] if is_part and frame.parent is not None else number)
    return found


def _broken(start: str, sign: str, factor: str, handed: str) -> tuple[str, ...]:
    """Words on a wire that one line does not hold."""
    first = f"{start} {sign} {factor}"
    rows = [first] if width_of(first) <= WIRE else [cut(start, WIRE), cut(f"{sign} {factor}", WIRE)]
    return (*rows, cut(f"= {handed}", WIRE)) if handed else tuple(rows)


def wrapped(text: str, width: int = WIRE) -> tuple[str, ...]:
    """Words in lines that are no wider."""
    lines: list[str] = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if width_of(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return tuple(cut(line, width) for line in lines if line)


def balanced(text: str) -> tuple[str, ...]:
    """Words on a wire: in as few lines as they need, and these as narrow as can be."""
    lines = wrapped(text, PHRASE)
    for width in range(max(map(width_of, lines), default=0) - 1, 0, -1):
        closer = wrapped(text, width)
        if len(closer) > len(lines) or any(line.endswith("…") for line in closer):
            break
        lines = closer
    return lines


def small(value: ValueFact) -> str:
    """A gradient in a few characters."""
    if value.is_number and value.text is not None:
        printed = lines_of(value)[0]
        if value.range is not None and printed.lstrip("-").startswith("0.0"):
            # PyTorch prints four places: of 0.00147 two digits are left, and products look wrong.
            return f"{value.range.low:.4g}"
        return printed
    span = value.range
    if span is not None and span.low == span.high and not span.has_nan and not span.of:
        return f"{span.low + 0.0:.4g}"  # -0.0 is 0
    if value.text is not None and prod(value.shape) <= FEW:
        told = _elements(" ".join(lines_of(value)))
        if value.range is None or width_of(told) <= ELEMENTS:
            return told
    if value.range is None:
        bad = value.text is not None and "nan" in value.text
        size = str(list(value.shape)) if value.text is None else size_of(value)
        return f"{size} with nan" if bad else size
    return between(value.range)


def _elements(text: str) -> str:
    """Printed elements without the spaces that put them into columns."""
    return re.sub(r"\[ +", "[", re.sub(r" +", " ", one_line(text)))


def of(
    text: str | None, shape: tuple[int, ...], dtype: str, span: Spread | None, *,
    shaped: bool = False,
) -> str:  # fmt: skip
    """A value in a box: a number as wires have it, else its few elements or its range."""
    if text is not None and shape == () and text.startswith("tensor("):
        return lines_of(ValueFact(shape, dtype, text))[0]
    told = _elements(summary(text, shape, span))
    if width_of(told) > ELEMENTS and span is not None:
        told = summary("", shape, span)
    if not shaped or shape == () or told in ("", "?") or told.startswith("["):
        return told
    return f"{list(shape)} {told}" if "…" in told or ", " in told else f"{list(shape)} all {told}"


def is_bad(text: str | None, span: Spread | None = None) -> bool:
    """Whether there is a NaN or an infinity among the numbers."""
    if span is not None and (span.has_nan or not span.high - span.low < inf):
        return True
    return text is not None and ("nan" in text or "inf" in text)


def bad_or(style: str, text: str | None, span: Spread | None) -> str:
    """The style of a row of numbers."""
    return "bad" if is_bad(text, span) else style


def is_zero(text: str | None, span: Spread | None) -> bool:
    """Whether all of it is zero."""
    if span is not None:
        return span.low == span.high == 0 and not span.has_nan
    return text is not None and text.startswith(("tensor(0.)", "tensor(-0.)", "tensor(0., "))


def weight_of(value: ValueFact) -> float:
    """From 0 to 1, by the order of magnitude of a gradient: 1e-6 and less to 1e3 and more."""
    largest = magnitude(value)
    if largest is None or largest != largest:
        return 0.5
    if largest <= 1e-6:
        return 0.0
    return min(1.0, (min(3.0, log10(largest)) + 6) / 9)


def magnitude(value: ValueFact) -> float | None:
    """The largest of its numbers, by size; None where it is not known."""
    if value.range is not None:
        return max(abs(value.range.low), abs(value.range.high))
    number = _only(value)
    return None if number is None else abs(number)


def _only(value: ValueFact) -> float | None:
    """The number of a value of one element, with or without dimensions."""
    if value.text is None or prod(value.shape) != 1:
        return None
    try:
        return float(lines_of(value)[0].strip("[] "))
    except ValueError:
        return None


def sign_of(value: ValueFact) -> int:
    """-1 where all of it is negative, 0 where all of it is zero, else 1."""
    if value.range is not None:
        low, high = value.range.low, value.range.high
        return 0 if low == high == 0 else -1 if high <= 0 else 1
    number = _only(value)
    if number is None:
        return 1
    return -1 if number < 0 else int(number != 0)
