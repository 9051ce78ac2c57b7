"""Questions: why .grad is None where autograd.grad returned the gradient instead."""

from __future__ import annotations

import ast
from typing import Any

from ..provenance.values import name_of
from .case import Case, Finding, Remark, Trial
from .edits import advised, first, with_keyword


def captured_finding(case: Case, *calls: Any) -> Finding:
    """torch.autograd.grad answers gradients and leaves .grad alone."""
    *_, call = calls
    stored = _stored(case, calls)
    graph = _without_graph(case, call)
    if graph is None:
        return stored
    graph.instead.append(stored)
    return graph


def _without_graph(case: Case, call: Any) -> Finding | None:
    """backward was refused, since what the call returned has no graph to go back through."""
    if not case.passes.refusals or not isinstance(call, ast.Call):
        return None
    refused, root = case.passes.refusals[-1]
    if case.line(refused) <= case.line(call):
        return None
    sentence = case.none(
        f"on the way into {case.called(root)}, {name_of(call) or 'grad'}() returns gradients that "
        "have no graph."
    )
    finding = Finding("grad-call", sentence, [Remark(call, "needs create_graph=True")])
    if case.is_here(refused):
        finding.others.append(Remark(refused, "finds no graph to go back through"))
    edits = with_keyword(case, call, "create_graph", "True")
    finding.trials.append(Trial(advised(case, call, edits), tuple(edits)))
    return finding


def _stored(case: Case, calls: tuple[Any, ...]) -> Finding:
    *_, call = calls
    sentence = case.none(f"{name_of(call) or 'grad'}() returns gradients and stores none in .grad.")
    finding = Finding("grad-call", sentence)
    for one in {id(call): call for call in calls}.values():
        finding.causes.append(Remark(one, "returns the gradient here"))
    roots = _root_text(call)
    statement = case.statement(call)
    if roots is not None:
        root = case.whole(roots) if isinstance(roots, ast.Name) else f"({case.whole(roots)})"
        kept = "" if case.tensor.grad_fn is None else f"{case.code}.retain_grad(); "
        seed = _seed(case, call)
        edits = first(case, statement, f"{kept}{root}.backward({seed}, retain_graph=True)")
        said = f"{root}.backward({'' if seed == 'None' else seed}), which stores it"
        finding.trials.append(Trial(said, tuple(edits)))
    else:
        finding.advice = "use the gradients that the call returns, or call backward()"
    return finding


def is_of_graph(call: Any) -> bool:
    """torch.autograd.grad(L, x) goes back from L; torch.func.grad(f)(x) is given none."""
    is_call = isinstance(call, ast.Call) and type(call.func) is not ast.Call
    return is_call and name_of(call) == "grad"


def _seed(case: Case, call: ast.Call) -> str:
    """v in torch.autograd.grad(y, x, v)."""
    given = [word.value for word in call.keywords if word.arg == "grad_outputs"] or call.args[2:3]
    return case.whole(given[0]) if given else "None"


def _root_text(call: Any) -> ast.expr | None:
    """L in torch.autograd.grad(L, x)."""
    if not is_of_graph(call) or any(word.arg == "is_grads_batched" for word in call.keywords):
        return None
    for keyword in call.keywords:
        if keyword.arg == "outputs":
            return keyword.value
    root = call.args[0] if call.args else None
    return root if root is not None and not isinstance(root, (ast.List, ast.Tuple)) else None
