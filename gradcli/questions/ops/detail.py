"""Questions: what only a run shows of operators: formulas, behaviour, corners, examples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ...engine.schema.operator import Row
from ...operators import catalogue
from ...pipeline.request import Request
from ...pipeline.run import execute
from ...recording.facts.operators import (
    CatalogueFact,
    DerivativeFact,
    ExampleFact,
    OperatorFact,
    OverloadFact,
)
from .behaviour import Call, called, conduct
from .corners import measured
from .formulas import derivatives
from .mathematics import mathematics
from .samples import program_of, taken_apart


def detail(facts: CatalogueFact, examples: bool) -> CatalogueFact:
    """The same facts with derivatives, conduct and edges, and examples where they are wanted."""
    operators = tuple(_operator(fact, examples) for fact in facts.operators)
    return facts._replace(operators=operators, detailed=True)


def _operator(fact: OperatorFact, examples: bool) -> OperatorFact:
    if fact.face == "numpy":
        return fact  # all that is known is in its row
    step = fact.face == "hidden"
    return fact._replace(overloads=tuple(_overload(o, step, examples) for o in fact.overloads))


def _overload(fact: OverloadFact, step: bool, examples: bool) -> OverloadFact:
    """`step`: a step of derivatives, which programs never call: it has a formula only."""
    row = catalogue.rows[fact.key]
    samples = [s for s in fact.samples if "grad(" not in s] or list(fact.samples)
    aparts = [taken_apart(sample, row) for sample in samples]
    runs = (call for apart in aparts if (call := called(row, apart)) is not None)
    if step:
        fact = fact._replace(derivatives=_derivatives(row, fact.samples, runs))
    else:
        calls = list(runs)
        fact = fact._replace(
            computes=mathematics(row), conduct=conduct(row, aparts, calls), edges=measured(row),
            derivatives=_derivatives(row, fact.samples, calls),
        )  # fmt: skip
    return fact._replace(example=_example(fact.samples)) if examples else fact


def _derivatives(
    row: Any, samples: Sequence[str], calls: Iterable[Call]
) -> tuple[DerivativeFact, ...]:
    """The formulas, from the first sample in which the row made a node."""
    if not isinstance(row, Row) or not row.formulas:
        return ()
    made = next((call.made for call in calls if call.made is not None), None)
    if made is None:  # a step that only the gradient of a gradient takes
        whole = (called(row, taken_apart(sample, row)) for sample in samples)
        made = next((call.made for call in whole if call is not None and call.made), None)
    return () if made is None else derivatives(row, made)


def _example(samples: Sequence[str]) -> ExampleFact | None:
    """The first sample that runs, as a program, and what it prints."""
    for sample in samples:
        program = program_of(sample)
        ran = execute(Request(program.encode(), "<example>", retain_graph=True), None)
        if ran.error is None:
            return ExampleFact(program, ran.output)
    return None
