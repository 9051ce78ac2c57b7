"""pipeline: from what a run left to the facts that are reported."""

from __future__ import annotations

import ast
import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ..diagnostics import Diagnostic
from ..engine.tensor import Tensor
from ..language.interpreter import Outcome
from ..language.program import Program
from ..nn.parts import named_modules
from ..opening import Unusable
from ..report import collect as collecting
from ..report import operands, saved
from ..report.collect import Collected
from ..report.model import (
    AliasFact,
    ErrorFact,
    LabelFact,
    Place,
    Report,
    SavedFact,
    TensorFact,
)
from ..report.model.ledger import LedgerFact
from ..report.model.profile import ProfileFact
from .request import Ran


def run_report(ran: Ran) -> Report:
    """What the program said."""
    return Report(ran.request.name, ran.request.device, output=ran.output, warnings=ran.warnings,
                  error=error_fact(ran.error))  # fmt: skip


def trace_report(ran: Ran, *, texts: bool) -> Report:
    """Graphs and tensors; with `texts` as PyTorch prints them, else as numbers."""
    outcome, request = ran.outcome, ran.request
    report = run_report(ran)
    if outcome is None:
        return report
    with collector_held():
        found = collected(outcome, texts=texts)
        results = _results(found, ran)
        watch = ran.binder.watch if ran.binder is not None else None
        gone, inner = saved.freed(found, Tensor) if texts and watch is not None else (None, None)
        report = report._replace(
            device=request.device,
            tensors=found.tensors,
            nodes=found.nodes,
            results=results,
            aliases=_aliases(ran, found) if texts else (),
            flows=watch.flows(found, full=not texts) if watch is not None else (),
            saved=_saved(ran, found),
            constants=collecting.constants(found, operands.reader()) if texts else (),
            freed=gone,
            saving=inner,
            backwards=tuple(watch.backwards) if watch is not None else (),
            events=() if watch is None else watch.told(names_of(found, outcome.bindings)),
            missing=ran.missing,
            profile=_profile(ran),
            ledger=_ledger(ran, found, full=not texts),
        )
    if ran.binder is not None and ran.error is None:
        ran.binder.complain()
    return _without_values(report) if ran.missing else report


def _saved(ran: Ran, found: Collected) -> tuple[SavedFact, ...]:
    """What nodes keep, where that was asked for."""
    if not ran.request.saved:
        return ()
    return saved.saved(found, Tensor, ran.binder.watch.freed_by if ran.binder else None)


def _ledger(ran: Ran, found: Collected, *, full: bool) -> LedgerFact | None:
    """What happened to gradients and buffers."""
    if ran.binder is None:
        return None
    from .ledger import ledger

    return ledger(ran, found, full=full)


def _profile(ran: Ran) -> ProfileFact | None:
    """What each line of the program cost, if that was asked for."""
    if ran.profile is None or ran.program is None:
        return None
    from .profile import facts

    return facts(ran.program, ran.profile)


def _aliases(ran: Ran, found: Collected) -> tuple[AliasFact, ...]:
    """Names for leaves that no name holds at the end."""
    assert ran.outcome is not None
    inner = [(n, None, t) for n, t in collecting.parameters(ran.outcome.bindings, Tensor)]
    return collecting.aliases(found, [*inner, *(ran.binder.leaves if ran.binder else ())])


def collected(outcome: Outcome, *, texts: bool) -> Collected:
    """The tensors and nodes that the program's names hold."""
    return collecting.collect(
        outcome.bindings, Tensor, lines=outcome.lines, place=places(outcome.program),
        values=not texts, texts=texts,
    )  # fmt: skip


def _results(found: Collected, ran: Ran) -> tuple[int, ...]:
    """What --of names, else what requires grad and nothing else uses."""
    if not ran.request.of:
        return collecting.results(found.tensors, found.nodes)
    return tuple(index_of(name, found.tensors, "--of") for name in ran.request.of)


def index_of(name: str, tensors: tuple[TensorFact, ...], option: str) -> int:
    """The tensor of that name; Unusable says which there are."""
    for i, fact in enumerate(tensors):
        if fact.name == name:
            return i
    from difflib import get_close_matches

    names = [fact.name for fact in tensors]
    near = get_close_matches(name, names, 1, 0.5)
    listed = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    advice = f"did you mean {near[0]}?" if near else f"the tensors are {listed}" if names else ""
    raise Unusable(f"{option} {name}: no tensor has this name when the program ends", advice)


# ---------------------------------------------------------------- places


def places(program: Program) -> Callable[[Any], Place | None]:
    """Says where in the text a node was made; each expression is looked up once."""
    known: dict[int, Place | None] = {}
    targets = _targets(program)
    source = program.source

    def place_of(node: Any) -> Place | None:
        origin = node.origin
        key = id(origin)
        if key in known:
            return known[key]
        place = None
        if isinstance(origin, ast.AST) and hasattr(origin, "lineno"):
            span = source.span_of(origin)
            text = source.text_of(span)
            statement = isinstance(origin, ast.stmt)
            place = Place(span.line, span.column, span.end_line, span.end_column, text,
                          targets.get(key, ""), statement)  # fmt: skip
        known[key] = place
        return place

    return place_of


def _targets(program: Program) -> dict[int, str]:
    """For the value of each assignment to one name, that name."""
    found: dict[int, str] = {}
    pending: list[Any] = list(program.body)
    for node in pending:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[id(node.value)] = node.targets[0].id
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[id(node.value)] = node.target.id
        for part in ("body", "orelse", "finalbody", "handlers"):
            inner = getattr(node, part, None)
            if isinstance(inner, list):
                pending.extend(inner)
    return found


def names_of(found: Collected, bindings: Mapping[str, Any]) -> Callable[[Any], str]:
    """What a node is called at the end: by a tensor that it made, or by the leaf it ends in.

    A module is called by the way that leads to it: `net.0`.
    """
    by_node = {fact.node: fact.name for fact in reversed(found.tensors) if fact.node is not None}
    names = {id(node): by_node[i] for i, node in enumerate(found.alive) if i in by_node}
    leaves = {id(t): name for name, t in collecting.parameters(bindings, Tensor)}
    leaves |= {id(t): fact.name for fact, t in zip(found.tensors, found.held, strict=True)}
    modules = module_names(bindings)

    def name_of(node: Any) -> str:
        if hasattr(node, "_get_name"):  # a module's hook
            return modules.get(id(node)) or str(node._get_name())
        variable = getattr(node, "variable", None)
        return names.get(id(node)) or leaves.get(id(variable), "") or collecting.short_name(node)

    return name_of


def module_names(bindings: Mapping[str, Any]) -> dict[int, str]:
    """The names of modules, and of the modules in them, by their identity."""
    found: dict[int, str] = {}
    for name, value in bindings.items():
        if not name.startswith("_"):
            for path, module in named_modules(value):
                found.setdefault(id(module), f"{name}.{path}" if path else name)
    return found


# ---------------------------------------------------------------- errors, missing values


def error_fact(error: Diagnostic | None) -> ErrorFact | None:
    """A diagnostic as plain facts."""
    if error is None:
        return None
    error = error.bounded()
    labels = tuple(
        LabelFact(label.span.line, label.span.column, label.span.end_line, label.span.end_column,
                  label.text, label.primary)
        for label in error.labels
    )  # fmt: skip
    span = error.span
    fact = ErrorFact(error.type, error.message, labels=labels, notes=error.notes)
    if span is None:
        return fact
    return fact._replace(
        line=span.line, column=span.column, end_line=span.end_line, end_column=span.end_column
    )


def _without_values(report: Report) -> Report:
    """? in place of everything that depends on an input without a value."""
    unknown = {fact.node for fact in report.tensors if fact.name in report.missing}
    waiting: dict[int, list[int]] = {}
    for node in report.nodes:
        for edge in node.next:
            if edge is not None:
                waiting.setdefault(edge[0], []).append(node.id)
    pending = [node for node in unknown if node is not None]
    for number in pending:
        for user in waiting.get(number, ()):
            if user not in unknown:
                unknown.add(user)
                pending.append(user)
    tensors = tuple(
        fact._replace(value=None, grad=None, text="?", range=None, grad_range=None,
                      grad_text="?" if fact.has_grad else None)
        if fact.name in report.missing or (fact.node is not None and fact.node in unknown)
        else fact
        for fact in report.tensors
    )  # fmt: skip
    flows = tuple(
        flow._replace(text="?", range=None, grad_text=None, value=None, grad=None)
        if flow.node in unknown
        else flow
        for flow in report.flows
    )
    return report._replace(tensors=tensors, flows=flows)


@contextmanager
def collector_held() -> Iterator[None]:
    """Millions of facts are made and none of them is garbage."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
