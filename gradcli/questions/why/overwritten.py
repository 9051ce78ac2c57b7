"""Questions: numbers that were written into a leaf: no graph leads from them to its results."""

from __future__ import annotations

import ast

from ..provenance.values import name_of
from .case import Case, Finding, Remark

WRITING = frozenset({"load_state_dict", "vector_to_parameters"})


def overwritten_finding(case: Case, roots: list[int], goal: str) -> Finding | None:
    """`layer.weight.data.copy_(w)`: the result was computed from the layer's weight, and that has
    only the numbers of what came from the tensor."""
    alive, behind = case.along([case.value], live_only=False), case.behind(roots)
    found = [
        (case.statement(node) or node, leaf, enabled)
        for node, leaf, sources, enabled in case.flow.overwritten
        if leaf != case.value and leaf in behind and not alive.isdisjoint(sources)
        and case.is_here(node) and _writes(node)
    ]  # fmt: skip
    if not found:
        return None
    node, _, enabled = found[-1]
    names = dict.fromkeys(case.called(leaf) for place, leaf, _ in found if place is node)
    name, *others = names
    attributes = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
    verdict = "data" if "data" in attributes else "copied" if enabled else "no-grad"
    sentence = case.none(
        f"on the way into {goal}, {case.text(node)} writes numbers into {name}"
        f"{' and others' * bool(others)}, and no graph leads through those."
    )
    finding = Finding(verdict, sentence, [Remark(node, f"{name} takes only the numbers")])
    finding.advice = f"compute with the tensor itself instead of {name}"
    if "." in name:
        finding.advice += ": torch.func.functional_call does so with a module"
    return finding


def _writes(node: ast.AST) -> bool:
    """Whether it takes its operands' numbers, as the step of an optimizer does not."""
    if isinstance(node, ast.Call):
        return name_of(node).endswith("_") or name_of(node) in WRITING
    return isinstance(node, ast.AugAssign) or isinstance(getattr(node, "ctx", None), ast.Store)
