"""Render: one step of a backward pass: incoming gradient, local derivative, product, targets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from math import inf

from ...recording.facts import EventFact
from ...recording.facts.steps import EdgeFact, PartFact, StepFact, ValueFact, WalkFact
from ..seeds import gradient, vector_of
from ..text import Cell, Line, Look, bare, broken, cell, listed, one_line, pad, width_of, wrap
from .values import SMALL, WHATEVER, beside, is_masked, is_small, lines_of

_MEASURES = re.compile(r", mean \S+, norm \S+$")
_RANGE = re.compile(r"\] (all|from|with nan)\b")
PRODUCT = "product "
LABEL = 10  # columns of `incoming` and its like
TARGET = 16  # of what an edge leads to, on a terminal
WORDS = 37
NODE = 26
SUMMED, COUNTED = 6, 1000  # gradients of a sum: that are written, that name their steps
LONGEST = 22  # characters of an expression that d.../d... names
_BEFORE = frozenset({"tensor", "node pre", "module pre"})


class Blocks:
    """Draws the steps of one pass. Tensors of up to so many elements are written out."""

    def __init__(self, walk: WalkFact, look: Look, *, most: int = SMALL) -> None:
        self.walk, self.look, self.most = walk, look, most
        self.digits = max(2, len(f"{len(walk.steps):,}"))
        self.indent = " " * (self.digits + 3)
        self.times = look.times
        self.arrow = "→" if look.unicode else "->"
        self.room = look.width - len(self.indent) - LABEL
        self.vector = vector_of(walk.roots)

    def lines(self, step: StepFact) -> list[Line]:
        """The whole block."""
        early = [hook for hook in step.hooks if hook.kind in _BEFORE]
        late = [hook for hook in step.hooks if hook.kind not in _BEFORE]
        found = [*self.head(step), *self._incoming(step), *self._hooks(early)]
        if step.used is not None:
            for value in step.used:
                if value is not None:
                    found.extend(self._labelled("goes on", self._numbers("", value)))
        if step.retained:
            name = step.name
            found.extend(self._labelled("retained", [f"{name}.grad keeps it: retain_grad()"]))
        found.extend(self._edges(step))
        if step.is_leaf:
            found.extend(self._stored(step))
        found.extend(self._outcome(step))
        found.extend(self._hooks(late))
        return found

    def head(self, step: StepFact) -> Iterator[Line]:
        """Number, words, node, line; a leaf's name that leaves no room for them in one above."""
        lead = cell(f"{step.number:,}".rjust(self.digits + 1) + "  ", "dim")
        words, style = cell(self.words(step)).text, "leaf" if step.is_leaf else "name"
        room = max(12, WORDS - self.digits + self.look.width - 80)
        line = "" if step.line is None else f"line {step.line}"
        kind = self.look.fit(cell(step.node_name).text, NODE)
        if step.elsewhere is not None:
            line = cell(str(step.elsewhere)).text
            left = self.look.width - self.digits - 7 - len(kind) - width_of(line)
            room = max(12, min(room, left))
        if step.is_leaf and width_of(words) > room and not self.look.whole:
            words = cell(step.name).text
            if width_of(lead.text + words) + len(kind) + len(line) + 4 > self.look.width:
                yield from self._alone(lead, words)
                lead, words = Cell(self.indent), "leaf"
            room = max(room, width_of(words))
        left = self.digits + 3 + room + 2
        node = pad(kind, max(len(kind), min(NODE, self.look.width - left - len(line) - 2)))
        gap = " " * max(2, self.look.width - left - len(node) - len(line))
        yield (
            lead, Cell(pad(self.look.fit(words, room), room), style), Cell("  "),
            Cell(node, "node"), Cell(gap), Cell(line, "dim"),
        )  # fmt: skip

    def _alone(self, lead: Cell, name: str) -> Iterator[Line]:
        """All of a leaf's name, in as many lines as it takes."""
        for part in broken(name, self.look.width - width_of(lead.text)):
            yield (lead, Cell(part, "leaf"))
            lead = Cell(self.indent)

    def words(self, step: StepFact) -> str:
        """`d = w3 * b + w4 * c`, or what there is of it."""
        if step.is_leaf:
            return f"{step.name}  leaf"
        if step.place is None:
            return step.name
        source = step.place.text
        if step.is_derived:
            told = f"in the gradient of {source}"
            return told if _is_inner(step) else f"{step.name}, {told}"
        if step.outputs and step.place.parts:
            return step.place.named(", ".join(step.outputs))
        there = step.elsewhere
        if there is not None and step.name in (there.target, there.source):
            return there.named if step.name == there.target else there.source
        if step.place.statement or step.name == source or _is_inner(step):
            if there is not None and there.source:
                return there.source
            return f"inside {source}" if _is_inner(step) and not step.place.statement else source
        return step.place.named(step.name)

    def title(self, step: StepFact) -> str:
        """The same where no node is named beside it: `TBackward0, inside self.head(x)`."""
        words = self.words(step)
        return f"{step.node_name}, {words}" if _is_inner(step) else words

    # ---- the gradient that comes in

    def _incoming(self, step: StepFact) -> Iterator[Line]:
        known = [(i, value) for i, value in enumerate(step.grads) if value is not None]
        if not known:
            yield from self._labelled("incoming", ["nothing: no gradient came"])
            return
        for i, value in known:
            parts = step.parts[i] if i < len(step.parts) else ()
            name = "" if _is_inner(step) or _is_part(step) else self.derivative(step.name)
            if step.outputs:
                name = self.derivative(step.outputs[i]) or step.outputs[i]
            elif len(step.grads) > 1 and (len(known) > 1 or i):
                name = f"output {i}"
            yield from self._sum(f"{name} =" if name else "", value, parts)

    def derivative(self, name: str) -> str:
        """dL/dd for the names of the pass's root and of a tensor; nothing where these are long."""
        roots = self.walk.roots
        if len(roots) != 1 or len(name) > LONGEST or not is_plain(roots[0].name):
            return ""
        if name == roots[0].name and self.vector:
            return self.vector
        return gradient(roots, name, self.times)

    def _sum(self, name: str, value: ValueFact, parts: Sequence[PartFact]) -> Iterator[Line]:
        """What came, as the sum of what several steps passed on."""
        if len(parts) < 2:
            yield from self._labelled("incoming", self._numbers(name, value))
            return
        shown = min(len(parts), SUMMED)
        blocks = [lines_of(part.value, self.most) for part in parts[:shown]]
        steps = [f"{part.step:,}" for part in parts[:COUNTED]]
        signed = [("" if i == 0 else "+", block) for i, block in enumerate(blocks)]
        if shown < len(parts):
            signed.append(("+", [f"{len(parts) - shown:,} more"]))
        signed.append(("=", lines_of(value, self.most)))
        head = width_of(name) + 1 if name else 0
        sum_of = beside(signed, self.room - head)
        rows = self._numbers(name, value) if sum_of is None else self._after(name, sum_of)
        from_steps = _sources(steps, shown, len(parts) - len(steps))
        if len(rows) == 1 and width_of(rows[0]) + len(from_steps) + 3 <= self.room:
            yield (*self._label("incoming"), cell(rows[0]), cell(f"   {from_steps}", "dim"))
            return
        yield from self._labelled("incoming", rows)
        yield from self._labelled("", [from_steps], "dim")

    def _numbers(self, name: str, value: ValueFact) -> list[str]:
        """`dL/dd =` and the numbers behind it, or below it where the page is too narrow."""
        rows = lines_of(value, self.most, self._columns(self.room - 2))
        beside = self._after(name, rows)
        if not name or self.look.whole or _least_width(beside) <= self.room:
            return beside
        return [*broken(cell(name).text, self.room), *(f"  {row}" for row in rows)]

    def _columns(self, room: int) -> float:
        """How wide numbers may be: in a pipe, and where all are asked for, as wide as they are."""
        return inf if self.look.whole or self.most > SMALL else room

    @staticmethod
    def _after(name: str, rows: list[str]) -> list[str]:
        """The rows behind `dL/dd =`."""
        if not name:
            return rows
        space = " " * (width_of(name) + 1)
        return [f"{name} {rows[0]}", *(space + row for row in rows[1:])]

    # ---- local derivative, product, where it goes

    def _edges(self, step: StepFact) -> Iterator[Line]:
        edges = step.edges
        given = self._gradient_used(step)
        plain = [edge for edge in edges if self._is_short(edge, given)]
        names = [self._to(edge) for edge in edges]
        beside = {name for name in names if self.look.whole or width_of(name) <= TARGET}
        label = max([LABEL, *(width_of(name) + 2 for name in beside)])
        rows = {id(edge): self._short(edge, given) for edge in plain}
        widths = [max((width_of(row[i]) for row in rows.values()), default=0) for i in (0, 1)]
        for edge, name in zip(edges, names, strict=True):
            style = "leaf" if edge.is_leaf else ""
            if name not in beside:  # no name of a leaf is cut: it gets a line of its own
                yield from self._alone(Cell(self.indent), name)
                name = ""
            lead = self._label(name, label, style)
            if id(edge) in rows:
                local, product = rows[id(edge)]
                yield from self._row(lead, label, pad(local, widths[0]), pad(product, widths[1]),
                                     self._then(edge, label))  # fmt: skip
                if sizes := self._sizes(edge, given):
                    yield (Cell(" " * (len(self.indent) + label)), cell(sizes, "dim"))
            else:
                yield from self._tall(lead, label, edge, given)

    def _gradient_used(self, step: StepFact) -> ValueFact | None:
        """The gradient that the node worked with, where it is one."""
        grads = [g for g in (step.used or step.grads) if g is not None]
        return grads[0] if len(grads) == 1 == len(step.grads) else None

    def _sizes(self, edge: EdgeFact, given: ValueFact | None) -> str:
        """[3] · Jacobian [3, 2] = [2]: of a vector-Jacobian product, where the program gave v."""
        if not self.vector or given is None or edge.product is None:
            return ""
        before, after = list(given.shape), list(edge.product.shape)
        if not before and not after:
            return ""
        kind = "diagonal " if edge.local is not None and edge.local.kind == "elementwise" else ""
        summed = f", summed over {before}" if len(before) > 1 else ""
        matrix = f"{kind}Jacobian {before + after}"
        return f"{before} {self.times} {matrix} = {after}{summed}"

    def _to(self, edge: EdgeFact) -> str:
        name = cell(one_line(edge.name)).text
        return name if edge.is_leaf else self.look.fit(name, TARGET)

    def _is_short(self, edge: EdgeFact, given: ValueFact | None) -> bool:
        """One line says it."""
        if edge.product is None:
            return True
        values = [edge.product, given, edge.local.value if edge.local is not None else None]
        known = [value for value in values if value is not None]
        return all(
            len(lines_of(value, self.most)) == 1 and len(lines_of(value, self.most)[0]) <= 12
            for value in known
        )

    def _short(self, edge: EdgeFact, given: ValueFact | None) -> tuple[str, str]:
        """`local 20` and `product -1 · 20 = -20`."""
        if edge.product is None:
            return "", ""
        product = lines_of(edge.product, self.most)[0]
        local = edge.local
        if local is None or local.value is None:
            return (f"local: {local.words}" if local is not None else ""), f"product {product}"
        number = lines_of(local.value, self.most)[0]
        said = f"local {local.text} = {number}" if local.text else f"local {number}"
        if given is None:
            return said, f"product {product}"
        told = f"product {lines_of(given, self.most)[0]} {self.times} {number} = {product}"
        if local.words:
            told = f"product {product}, {local.words}"
        elif is_masked(given, edge.product):
            told = f"product {product}: {WHATEVER}"
        return said, told

    def _row(
        self, lead: tuple[Cell, ...], label: int, local: str, product: str, then: tuple[str, str]
    ) -> Iterator[Line]:
        text, style = then
        pieces = [part for part in (local, product) if part.strip()]
        body = "   ".join(pieces)
        space = "   " if body else ""
        room = self.look.width - len(self.indent) - label
        if width_of(body) + len(space) + width_of(text) <= room:
            yield (*lead, cell(body + space), cell(text, style))
            return
        below = Cell(" " * (len(self.indent) + label))
        for piece in pieces if width_of(body) > room else [body]:
            for shown in self._words(piece.rstrip(), room):
                yield (*lead, cell(shown))
                lead = (below,)
        yield (*lead, cell(text, style))

    def _tall(
        self, lead: tuple[Cell, ...], label: int, edge: EdgeFact, given: ValueFact | None
    ) -> Iterator[Line]:
        """Tensors: incoming · local = product beside each other, or one below the other."""
        assert edge.product is not None
        below = Cell(" " * (len(self.indent) + label))
        room = self.look.width - len(self.indent) - label
        rows = self._beside(edge, given, room)
        if rows is None:
            rows = self._stacked(edge, room - len(PRODUCT) - 1)
        if sizes := self._sizes(edge, given):
            rows.append((sizes, "dim"))
        rows.append(self._then(edge, label))
        for row, style in rows:
            for shown in self._words(row, room) if style == "dim" else self._fit(row, room):
                yield (*lead, cell(shown, style))
                lead = (below,)

    def _beside(
        self, edge: EdgeFact, given: ValueFact | None, room: int
    ) -> list[tuple[str, str]] | None:
        """incoming · local = product, where the page is wide enough."""
        local = edge.local
        if local is None or local.value is None or given is None or edge.product is None:
            return None
        if not is_small(given, self.most):
            return None
        masked = is_masked(given, edge.product)
        blocks = [
            ("", lines_of(given, self.most)),
            (self.times, lines_of(local.value, self.most)),
            (self.arrow if local.words or masked else "=", lines_of(edge.product, self.most)),
        ]
        rows = beside(blocks, room)
        if rows is None:
            return None
        tail = [", element by element"] if local.kind == "elementwise" else []
        tail += [f", {local.words}"] if local.words else []
        tail += [f", {WHATEVER}"] if masked else []
        factor = f"local ({local.text})" if local.text else "local"
        head = f"incoming {self.times} {factor} = product{''.join(tail)}"
        return [(head, "dim"), *((row, "") for row in rows)]

    def _stacked(self, edge: EdgeFact, room: int) -> list[tuple[str, str]]:
        """local, and below it product."""
        assert edge.product is not None
        local, rows, wide = edge.local, [], self._columns(room)
        if local is not None:
            values = [] if local.value is None else lines_of(local.value, self.most, wide)
            if local.text:
                values = self._after(f"{local.text} =", values)
            if local.kind == "elementwise":
                words = "element by element" + (f", {local.words}" if local.words else "")
                values += self._words(words, room)
            elif local.words:
                values += self._words(local.words, room)
            rows += self._after(pad("local", len(PRODUCT)), values) if values else []
        rows += self._after(PRODUCT, lines_of(edge.product, self.most, wide))
        return [(row, "") for row in rows]

    def _then(self, edge: EdgeFact, label: int) -> tuple[str, str]:
        """What became of a product, and its style."""
        at = f"step {edge.step:,}" if edge.step is not None else ""
        stored = f"stored in {cell(edge.name).text}.grad, {at}"
        if not self.look.whole and width_of(stored) > self.look.width - len(self.indent) - label:
            stored = f"stored in its .grad, {at}"
        return {
            "handed on": (f"passed to {at}", ""),
            "stored": (stored, "leaf"),
            "waits": (f"passed on; {at} waits", ""),
            "kept back": (
                "goes nowhere: not requested"
                if edge.is_leaf
                else "goes nowhere: it leads to no requested input",
                "dim",
            ),
            "nothing": (
                "no gradient" if edge.product is None else "not passed on: the pass stopped",
                "dim",
            ),
            "constant": ("does not require grad", "dim"),
        }[edge.then]

    # ---- leaves, hooks, ends

    def _stored(self, step: StepFact) -> Iterator[Line]:
        if step.after is None:
            return
        name = f"{step.name}.grad"
        value = step.used[0] if step.used is not None else step.grads[0]
        if step.before is None or value is None:
            yield from self._labelled("stored", self._printed(name, step.after))
            return
        blocks = [
            ("", lines_of(step.before, self.most)),
            ("+", lines_of(value, self.most)),
            ("=", lines_of(step.after, self.most)),
        ]
        sum_of = beside(blocks, self.room - width_of(name) - 3)
        head = f"{name} ="
        rows = self._numbers(head, step.after) if sum_of is None else self._after(head, sum_of)
        yield from self._labelled("added", rows)

    def _printed(self, name: str, value: ValueFact) -> list[str]:
        """As print(name) would have it."""
        rows = (value.text or "").split("\n")
        widest = max(map(width_of, rows))
        if not is_small(value, self.most) or widest > self._columns(self.room - 2):
            return self._numbers(f"{name} =", value)
        if widest + width_of(name) + 3 > self.room:
            return [*broken(cell(f"{name} =").text, self.room), *(f"  {row}" for row in rows)]
        return self._after(f"{name} =", rows)

    def _outcome(self, step: StepFact) -> Iterator[Line]:
        said = {
            "captured": "autograd.grad returns this",
            "reached": "not run: it leads to no requested input",
            "no gradient": "nothing to pass on",
            "failed": "the program's error comes from here",
            "frozen": "not stored: it no longer requires grad",
            "skipped": "not stored: it is not among the requested inputs",
        }.get(step.outcome)
        if said:
            label = {"captured": "answer", "failed": "stopped"}.get(step.outcome, "then")
            yield from self._labelled(label, [said], "error" if step.outcome == "failed" else "dim")

    def _hooks(self, hooks: Iterable[EventFact]) -> Iterator[Line]:
        for hook in hooks:
            at = "" if hook.line is None else f", line {hook.line}"
            words = one_line(hook.hook)
            of = f" of {hook.name}" if hook.kind.startswith("module") else ""
            told = f"{words}   ({hook.kind} hook{of}{at})"
            yield from self._labelled("hook", self._words(told, self.room), "note")
            before = _bare(hook.before)
            after = "unchanged" if hook.after is None else _bare(hook.after)
            yield from self._labelled("", [f"{before} {self.arrow} {after}"])

    # ---- layout

    def _label(self, text: str, width: int = LABEL, style: str = "dim") -> tuple[Cell, ...]:
        shown = cell(text).text
        return (Cell(self.indent), Cell(pad(shown, width), style))

    def _fit(self, row: str, room: int) -> list[str]:
        """A row within the page: mean and norm of a range go, then it is broken; only others are
        cut."""
        shown = cell(row).text
        if self.look.whole or width_of(shown) <= room:
            return [shown]
        shown = _MEASURES.sub("", shown)
        if _RANGE.search(shown):
            return wrap(shown, room, subsequent_indent="  ")
        return [self.look.fit(shown, room)]

    def _words(self, sentence: str, room: int) -> list[str]:
        """A sentence in the lines that it takes."""
        return [sentence] if self.look.whole else wrap(sentence, room, subsequent_indent="  ")

    def _labelled(self, label: str, rows: list[str], style: str = "") -> Iterator[Line]:
        for i, shown in enumerate(one for row in rows for one in self._fit(row, self.room)):
            yield (*self._label(label if i == 0 else ""), cell(shown, style))


def _least_width(rows: Iterable[str]) -> int:
    """Columns of the widest row without the mean and norm of a range."""
    return max(width_of(_MEASURES.sub("", row)) for row in rows)


def is_plain(name: str) -> bool:
    """A name that d.../d... reads well with: `y`, or `y#2`, the second tensor of that name."""
    return name.partition("#")[0].isidentifier()


def _is_inner(step: StepFact) -> bool:
    """Whether it is one of several nodes that an expression made, and not the last of them."""
    return not step.is_leaf and step.node_name.startswith(step.name)


def _is_part(step: StepFact) -> bool:
    """Whether its words name a part that was written to; its gradient is that of the whole."""
    named = "" if step.place is None else step.place.text
    return step.node_name == "CopySlices" and step.name == named


def _sources(steps: list[str], most: int, left: int) -> str:
    """from steps 7 and 9; from step 3, twice; `left` more are not listed."""
    several = list(dict.fromkeys(steps))
    if len(several) == 1 and not left:
        times = "twice" if len(steps) == 2 else f"{len(steps)} times"
        return f"from step {several[0]}, {times}"
    more = len(several) + left - most
    if more > 0:
        return "from steps " + ", ".join(several[:most]) + f" and {more:,} more"
    return f"from steps {listed(several)}"


def _bare(text: str) -> str:
    """A gradient in a hook's line."""
    if text.count("tensor(") != 1:
        return one_line(text)
    shown = bare(text)
    if shown is not text and shown.endswith(".") and "[" not in shown:
        shown = shown[:-1]
    return shown
