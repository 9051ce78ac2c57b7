"""Questions: why a plain number has no gradient."""

from __future__ import annotations

import ast
from typing import Any

from ...diagnostics import Edit
from ...language.interpreter import Outcome
from ...pipeline.request import Ran
from ..provenance import Provenance
from ..provenance.values import name_of
from ..question import Question
from .case import Finding, Remark, Trial


def number_finding(ran: Ran, provenance: Provenance, asked: Question) -> Finding:
    """A Python number: written as one, or read off a tensor."""
    assert ran.outcome is not None
    kind = {int: "an int", float: "a float", bool: "a bool"}[type(asked.value)]
    sentence = f"{asked.name} is {kind}, not a tensor, so it has no gradient."
    node: Any = ran.outcome.nodes.get(asked.name)
    value = _value(ran.outcome, node)
    flow = provenance.flow
    held = flow.floats.get(id(asked.value))
    number = held[1] if held is not None and held[0] is asked.value else flow.shadow.get(asked.name)
    if number is not None:
        step = flow.step(number)
        while step is not None and step.dead:
            source = flow.step(step.dead[0])
            if source is None or source.tensor is not None:
                break
            step = source
        if step is not None:
            sentence = f"{asked.name} is {kind}: {name_of(step.node) or 'it'} left the graph."
            finding = Finding("item", sentence, [Remark(step.node, "a Python number has no graph")])
            finding.advice = f"keep the tensor: leave out {name_of(step.node) or 'the conversion'}"
            return finding
    finding = Finding("not-requires-grad", sentence)
    if value is not None:
        finding.causes.append(Remark(value, f"{kind[2:].strip()} and not a tensor"))
        if isinstance(value, ast.Constant):
            leaf = f"torch.tensor({float(asked.value)}, requires_grad=True)"
            edit = Edit(ran.program.source.span_of(value), leaf)  # type: ignore[union-attr]
            finding.trials.append(Trial(f"{asked.name} = {leaf}", (edit,)))
    elif node is not None:
        finding.causes.append(Remark(node, "no tensor"))
    return finding


def _value(outcome: Outcome, node: Any) -> Any:
    """The expression that gave a name its number."""
    for statement in ast.walk(outcome.program.tree):
        if isinstance(statement, ast.Assign) and node in statement.targets:
            return statement.value
    return None
