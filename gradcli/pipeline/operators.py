"""pipeline: what only a run tells of operators: formulas of derivatives, examples with outputs.

An overload's first sample is run. The node that it makes says what was saved, and the derivative,
run on symbols for that, is the formula.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from ..engine.dtypes import FLOATING
from ..engine.formula import edge_places
from ..engine.mode import state
from ..engine.node import Node
from ..engine.operator import Row
from ..engine.row import Formula
from ..engine.saved import unpack
from ..operators import catalogue
from ..report.model.operators import (
    CatalogueFact,
    DerivativeFact,
    ExampleFact,
    OperatorFact,
    OverloadFact,
)
from ..report.symbols import Algebra
from ..report.symbols_text import python
from .operators_symbols import Term, term_of
from .request import Request
from .run import execute
from .specimens import statement

LONGEST = 200  # characters of a formula that is still read
MOST = 12  # nodes of a composed operator that are told


def detail(facts: CatalogueFact, examples: bool) -> CatalogueFact:
    """The same facts with derivatives, and with examples where they are wanted."""
    operators = tuple(_operator(fact, examples) for fact in facts.operators)
    return facts._replace(operators=operators, detailed=True)


def _operator(fact: OperatorFact, examples: bool) -> OperatorFact:
    return fact._replace(overloads=tuple(_overload(o, examples) for o in fact.overloads))


def _overload(fact: OverloadFact, examples: bool) -> OverloadFact:
    row = catalogue.rows[fact.key]
    derived = isinstance(row, Row) and bool(row.formulas)
    for sample in fact.samples:
        program = program_of(sample)
        nodes = Nodes(row)
        before, state.recorder = state.recorder, nodes
        try:
            ran = execute(Request(program.encode(), "<example>", retain_graph=True), None)
        finally:
            state.recorder = before
        if ran.error is not None:
            continue
        if derived and not fact.derivatives and nodes.found is not None:
            fact = fact._replace(derivatives=derivatives(row, *nodes.found))
        if examples and fact.example is None:
            fact = fact._replace(example=ExampleFact(program, ran.output))
        if fact.kind == "composed" and not fact.made_of and "grad(" not in sample:
            fact = fact._replace(made_of=tuple(nodes.names[:MOST]))
        if fact.derivatives or not derived:
            break
    return fact


class Nodes:
    """The engine tells of every node; kept is the first that a row made, with its results."""

    def __init__(self, row: Any) -> None:
        self.row = row
        self.found: tuple[Node, tuple[Any, ...]] | None = None
        self.names: list[str] = []

    def operation(self, node: Node, outs: Any, arguments: Any, before: Any) -> None:
        self.names.append(node.name().split("::")[-1])
        if self.found is None and getattr(node, "row", None) is self.row:
            self.found = node, tuple(outs)


def program_of(sample: str) -> str:
    """A sample as a program of its own: its operands, the call, what it gives."""
    used = sorted({n.id for n in ast.walk(ast.parse(sample)) if isinstance(n, ast.Name)})
    lines = [line for name in used if (line := statement(name)) is not None]
    if "generator" in sample or "rand" in sample or "dropout" in sample:
        lines.insert(0, "torch.manual_seed(0)")
    return "\n".join([*lines, f"print({sample})"]) + "\n"


def derivatives(row: Row, node: Node, outs: Sequence[Any]) -> tuple[DerivativeFact, ...]:
    """The formulas of a row, run on symbols for what a node of it saved.

    Numbers are symbols too where the formula allows it, and else those of the sample.
    """
    named, plain = (_symbols(row, node, outs, numbers) for numbers in (True, False))
    facts: list[DerivativeFact] = []
    for formula in row.formulas:
        parts = _parts(formula, named) or _parts(formula, plain)
        if parts is None:
            facts.append(DerivativeFact(formula.inputs, ""))
            continue
        facts += [
            DerivativeFact((name,), text)
            for name, text in zip(formula.inputs, parts, strict=True)
            if text is not None
        ]
    return tuple(facts)


def _parts(formula: Formula, values: dict[str, Any]) -> list[str | None] | None:
    """The text for each input that a formula serves; None where no text tells it."""
    try:
        answer = formula.function(*(values[name] for name in formula.needs))
    except Exception:  # a body may ask a symbol whatever it likes
        return None
    parts = answer if formula.joint else (answer,)
    texts = [None if part is None else _text(part) for part in parts]
    return None if any(text == "" for text in texts) else texts


def _text(part: Any) -> str:
    if isinstance(part, list):
        texts = [_text(item) for item in part]
        return f"[{', '.join(texts)}]" if all(texts) else ""
    if isinstance(part, Term):
        text = python(part.algebra.factored(part.expr))
        return text if len(text) <= LONGEST else python(part.expr)[:LONGEST] + " ..."
    return ""


def _symbols(row: Row, node: Node, outs: Sequence[Any], numbers: bool) -> dict[str, Any]:
    """Symbols for what a node saved and for the gradient that comes in."""
    algebra = Algebra()
    tensors = {p.name for p in row.tensors} | set(row.signature.outputs)
    if numbers:
        tensors |= {p.name for p in row.signature.parameters if p.kind in ("Scalar", "float")}
    values: dict[str, Any] = {}
    for place, key in enumerate(row.saved_keys):
        value = unpack(node, place)
        values[key] = _symbol(algebra, key, value) if key in tensors else value
    values["needs"] = dict.fromkeys(edge_places(row), True)
    several = row.output_count > 1 or row.view == "multi"
    grads = tuple(
        term_of(algebra, f"grads[{at}]" if several else "grad", out._data * 0 + 1)
        if out is not None and out.dtype.category >= FLOATING
        else None
        for at, out in enumerate(outs)
    )
    values["grads" if several else "grad"] = grads if several else grads[0]
    return values


def _symbol(algebra: Algebra, name: str, value: Any) -> Any:
    if isinstance(value, list):
        return [_symbol(algebra, f"{name}[{at}]", item) for at, item in enumerate(value)]
    if value.__class__ in (int, float) or hasattr(value, "shape"):
        return term_of(algebra, name, value)
    return value
