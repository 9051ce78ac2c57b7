"""Questions: the derivatives of operators as formulas: declarations run on symbols.

A sample of the operator was run. The node that it made says what was saved, and the derivative,
run on symbols for that, is the formula.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from ...engine.compile.formula import edge_places
from ...engine.graph.node import Node
from ...engine.schema.dtypes import FLOATING
from ...engine.schema.row import Formula, Row
from ...engine.tensors.saved import unpack
from ...recording.facts.operators import DerivativeFact
from ...recording.sides import array_of
from ...symbols.algebra import Algebra
from ...symbols.text import python
from .symbols import Named, Term, term_of

LONGEST = 120  # characters of a formula that needs no abbreviations
HOPELESS = 4000  # of one that they would not make readable
WORTH = 16  # characters of a piece that gets a name of its own

CONSTANTS = {
    2 / math.sqrt(math.pi): "2/sqrt(pi)", math.sqrt(math.pi) / 2: "sqrt(pi)/2",
    math.log(2): "log(2)", math.log(10): "log(10)", math.pi: "pi", math.pi / 180: "pi/180",
    180 / math.pi: "180/pi", math.sqrt(0.5): "sqrt(1/2)", math.sqrt(0.5 / math.pi): "1/sqrt(2*pi)",
    math.sqrt(2 * math.pi): "sqrt(2*pi)", 2.0**-23: "eps",
}  # fmt: skip
_NUMBER = re.compile(r"(?<![\w.])\d+\.\d+(?:e-?\d+)?(?![\w.])")
_SIZES = re.compile(r"(zeros|view|full)\(\(?(\d+(?:, \d+)*),?\)?(?=[,)])\)")


class Application(NamedTuple):
    """A node that an operator made, its results, and what the operator was called with."""

    node: Node
    results: tuple[Any, ...]
    arguments: tuple[Any, ...]


def derivatives(row: Row, made: Application) -> tuple[DerivativeFact, ...]:
    """The formulas of a row, run on symbols for what a node of it saved.

    Numbers are symbols too where the formula allows it, and else those of the sample.
    """
    kinds = [_symbols(row, made, numbers) for numbers in (True, False)]
    facts: list[DerivativeFact] = []
    for formula in row.formulas:
        parts = next((p for values in kinds if (p := _parts(formula, values)) is not None), None)
        if parts is None:
            facts.append(DerivativeFact(formula.inputs, ""))
            continue
        facts += [
            DerivativeFact((name,), _readable(text, name, row, made))
            for name, text in zip(formula.inputs, parts, strict=True)
            if text is not None
        ]
    return tuple(facts)


def _parts(formula: Formula, values: dict[str, Any]) -> list[str | None] | None:
    """The text for each input that a formula serves; None where the text does not show it."""
    try:
        parts = formula.gradients(values).values()
    except Exception:  # a body may ask a symbol whatever it likes
        return None
    texts = [None if part is None else _text(part) for part in parts]
    return None if any(text == "" for text in texts) else texts


def _text(part: Any) -> str:
    if isinstance(part, list):
        texts = [_text(item) for item in part]
        return f"[{', '.join(texts)}]" if all(texts) else ""
    return python(part.algebra.factored(part.expr)) if isinstance(part, Term) else ""


def _readable(text: str, of: str, row: Row, made: Application) -> str:
    """Numbers and sizes that have a name get it, and what a long formula repeats gets one."""
    given = dict(zip(row.signature.names, made.arguments, strict=False))
    constants = dict(CONSTANTS)
    for name, value in given.items():
        if value.__class__ in (int, float) and value > 0 and value != 1:
            constants[math.log(value)] = f"log({name})"
    shapes: dict[str, str] = {}
    for name in (of, *given):
        shape = getattr(given.get(name), "shape", None)
        if shape:
            shapes.setdefault(", ".join(map(str, shape)), name)

    def number(found: re.Match[str]) -> str:
        value = float(found[0])
        said = next((t for c, t in constants.items() if abs(c - value) <= 1e-12 * c), found[0])
        return f"({said})" if "/" in re.sub(r"\(.*?\)", "", said) else said

    def sizes(found: re.Match[str]) -> str:
        name = shapes.get(found[2])
        return found[0] if name is None else f"{found[1]}({name}.shape)"

    text = _SIZES.sub(sizes, _NUMBER.sub(number, text))
    return _abbreviated(text) if LONGEST < len(text) < HOPELESS else text


def _abbreviated(text: str) -> str:
    """FORMULA, where t1 = ..., t2 = ...: calls that are in it more than once, longest first."""
    parts = [text]
    while True:
        whole = "\n".join(parts)
        calls = {call for part in parts for call in _calls(part) if len(call) >= WORTH}
        saving = {call: (whole.count(call) - 1) * len(call) for call in calls}
        best = max(sorted(saving), key=lambda call: saving[call], default="")
        if not best or not saving[best]:
            break
        name = f"t{len(parts)}"
        parts = [part.replace(best, name) for part in parts] + [best]
    first, *others = parts
    told = ", ".join(f"t{at} = {part}" for at, part in enumerate(others, 1))
    return f"{first}, where {told}" if told else first


def _calls(text: str) -> Iterator[str]:
    """The calls in a formula, each as it is written."""
    tree = ast.parse(text, mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            call = ast.get_source_segment(text, node)
            if call is not None:
                yield call


def _symbols(row: Row, made: Application, numbers: bool) -> dict[str, Any]:
    """Symbols for what a node saved and for the gradient that comes in."""
    algebra = Algebra()
    tensors = {p.name for p in row.tensors} | set(row.signature.outputs)
    places = {p.name for p in row.signature.parameters if p.kind == "int"} if numbers else set()
    if numbers:
        tensors |= {p.name for p in row.signature.parameters if p.kind in ("Scalar", "float")}
    values: dict[str, Any] = {}
    for place, key in enumerate(row.saved_keys):
        value = unpack(made.node, place)
        if key.endswith("_sym_numel") and numbers:
            value = term_of(algebra, f"{key.removesuffix('_sym_numel')}.numel()", value)
        elif key in places and value.__class__ is int:
            value = Named.of(key, value)
        values[key] = _symbol(algebra, key, value) if key in tensors else value
    values["needs"] = dict.fromkeys(edge_places(row), True)
    several = row.output_count > 1 or row.listed
    grads = tuple(
        term_of(algebra, f"grads[{at}]" if several else "grad", array_of(out) * 0 + 1)
        if out is not None and out.dtype.category >= FLOATING
        else None
        for at, out in enumerate(made.results)
    )
    values["grads" if several else "grad"] = grads if several else grads[0]
    return values


def _symbol(algebra: Algebra, name: str, value: Any) -> Any:
    if isinstance(value, list):
        return [_symbol(algebra, f"{name}[{at}]", item) for at, item in enumerate(value)]
    if value.__class__ in (int, float) or hasattr(value, "shape"):
        return term_of(algebra, name, array_of(value) if hasattr(value, "layout") else value)
    return value
