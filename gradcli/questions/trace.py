"""Questions: from what a run left to the facts that are reported."""

from __future__ import annotations

import ast
import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from ..diagnostics import Diagnostic
from ..engine.tensor import Tensor
from ..language.interpreter import Outcome
from ..language.program import Program
from ..language.values import Instance
from ..opening import Unusable
from ..pipeline.request import Ran, Request
from ..pipeline.run import execute
from ..recording import collect as collecting
from ..recording import operands, saved
from ..recording.collect import Collected, Named
from ..recording.facts import (
    ErrorFact,
    FlowFact,
    LabelFact,
    Place,
    Report,
    RootFact,
    SavedFact,
    ShownPass,
    TensorFact,
)
from ..recording.facts.ledger import LedgerFact
from ..recording.facts.profile import ProfileFact
from ..recording.modules import named_modules
from ..recording.profile import Profile
from ..recording.watch import Pass, Watch
from . import shown
from .watching import NO_WISHES, Binder, Wishes, watching


def run_report(ran: Ran) -> Report:
    """What the program said."""
    return Report(ran.request.name, ran.request.device, output=ran.output, warnings=ran.warnings,
                  error=error_fact(ran.error))  # fmt: skip


class Options(NamedTuple):
    """What of a run is drawn: `of` names results, left out all; with `texts` numbers are told as
    PyTorch prints them."""

    of: tuple[str, ...] = ()
    saved: bool = False
    texts: bool = True
    flows: bool = True
    number: int | None = None  # of the pass; the last one where left out


ALL = Options()


def recorded(
    request: Request, write: Callable[[str], None] | None, wishes: Wishes = NO_WISHES,
    *, number: int | None = None, profile: bool = False,
) -> Ran:  # fmt: skip
    """The run that is drawn: its last pass or the one with this number; with a profile, timed."""
    binder, watch = watching(wishes, values=True)
    watch.wanted = None if number is None else (number,)
    if not profile:
        return execute(request, write, binder, watch)
    from .profile import Timed

    return execute(request, write, binder, Timed(watch))


def trace_report(ran: Ran, options: Options = ALL) -> Report:
    """Graphs and tensors."""
    outcome, request, texts = ran.outcome, ran.request, options.texts
    report = run_report(ran)
    if outcome is None:
        return report
    with collector_held():
        binder = ran.seen(Binder)
        watch = None if binder is None else binder.watch
        one = _pass(watch, options)
        found = collected(outcome, texts=texts, roots=shown.root_nodes(one), binder=binder)
        names = names_of(found, outcome.bindings)
        gone, inner = saved.freed(found, Tensor) if texts and watch is not None else (None, None)
        report = report._replace(
            device=request.device,
            tensors=found.tensors,
            nodes=found.nodes,
            roots=_roots(found, watch, one, options, binder),
            shown=_shown(ran, watch, one),
            flows=_flows(ran, watch, one, found, options),
            saved=_saved(watch, found) if options.saved else (),
            constants=collecting.constants(found, operands.reader()) if texts else (),
            freed=gone,
            saving=inner,
            backwards=tuple(watch.backwards) if watch is not None else (),
            events=() if watch is None else watch.told(names),
            missing=ran.missing,
            profile=_profile(ran),
            ledger=_ledger(ran, found, full=not texts),
        )
    if binder is not None and ran.error is None:
        binder.complain()
    return _without_values(report) if ran.missing else report


def _saved(watch: Watch | None, found: Collected) -> tuple[SavedFact, ...]:
    """What nodes keep."""
    return saved.saved(found, Tensor, None if watch is None else watch.freed_by)


def _ledger(ran: Ran, found: Collected, *, full: bool) -> LedgerFact | None:
    """What happened to gradients and buffers."""
    if ran.seen(Binder) is None:
        return None
    from .ledger import ledger

    return ledger(ran, found, full=full)


def _profile(ran: Ran) -> ProfileFact | None:
    """What each line of the program cost, if that was asked for."""
    profile = ran.seen(Profile)
    if profile is None or ran.program is None:
        return None
    from .profile import facts

    return facts(ran.program, profile)


def _without_loops(outcome: Outcome, inside: set[int]) -> dict[str, Any]:
    """The names at the end; `p` of `for p in net.parameters()` never hides a parameter's name."""
    loops = {
        word.id
        for statement in outcome.program.body
        for node in ast.walk(statement)
        if isinstance(node, ast.For)
        for word in ast.walk(node.target)
        if isinstance(word, ast.Name)
    } if inside else set()  # fmt: skip
    return {
        name: value
        for name, value in outcome.bindings.items()
        if name not in loops or id(value) not in inside
    }


def module_tensors(
    bindings: Mapping[str, Any], born: Mapping[int, tuple[Any, int | None]]
) -> list[Named]:
    """Tensors inside of modules and objects: names, the lines that made them, themselves."""
    return [
        (name, born.get(id(tensor), (None, None))[1], tensor)
        for name, tensor in collecting.parameters(bindings, Tensor)
    ]


def collected(
    outcome: Outcome, *, texts: bool, roots: tuple[tuple[Any, int], ...] = (),
    binder: Binder | None = None,
) -> Collected:  # fmt: skip
    """The tensors and nodes that the program's names hold, and what lies below the roots; with a
    binder also parameters of modules, and leaves that only functions knew."""
    inner: list[Named] = []
    if binder is not None:
        inner = module_tensors(binder.reached(outcome.bindings), binder.watch.born)
    bindings = _without_loops(outcome, {id(tensor) for _, _, tensor in inner})
    return collecting.collect(
        bindings, Tensor, lines=outcome.lines, place=places(outcome.program),
        values=not texts, texts=texts, roots=tuple(node for node, _ in roots),
        others=inner, leaves=binder.leaves if binder is not None else (),
    )  # fmt: skip


# ---------------------------------------------------------------- the pass that is drawn


def _pass(watch: Watch | None, options: Options) -> Pass | None:
    return None if watch is None else shown.chosen(watch, options.number)


def _roots(
    found: Collected, watch: Watch | None, one: Pass | None, options: Options, binder: Binder | None
) -> tuple[RootFact, ...]:
    """What --of names, else the roots of the pass, and results that no pass came through."""
    if options.of:
        places = [index_of(name, found.tensors, "--of") for name in options.of]
        facts = [(at, found.tensors[at]) for at in places]
        return tuple(
            RootFact(fact.node, fact.output_nr, fact.name, at)
            for at, fact in facts
            if fact.node is not None
        )
    names = binder.name_of if binder is not None else lambda node: None
    roots = [] if one is None else shown.roots_of(one, found, names)
    others = () if options.number else shown.without_a_pass(found, watch, roots)
    return (*roots, *others)


def _shown(ran: Ran, watch: Watch | None, one: Pass | None) -> ShownPass | None:
    if one is None or watch is None or ran.program is None:
        return None
    return shown.shown_pass(one, watch.count, place_reader(ran.program))


def _flows(
    ran: Ran, watch: Watch | None, one: Pass | None, found: Collected, options: Options
) -> tuple[FlowFact, ...]:
    if watch is None or not options.flows:
        return ()
    assert ran.outcome is not None
    binder = ran.seen(Binder)
    bindings = ran.outcome.bindings
    paths = module_names(bindings if binder is None else binder.reached(bindings))

    def path_of(module: Any) -> str:
        """Of a module of the library; one of the program has lines of its own."""
        return "" if isinstance(module, Instance) else paths.get(id(module), "")

    return shown.flows(watch, one, found, path_of, full=not options.texts)


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
    read = place_reader(program)
    return lambda node: read(node.origin)


def place_reader(program: Program) -> Callable[[Any], Place | None]:
    """The same for an origin."""
    known: dict[int, Place | None] = {}
    targets = _targets(program)
    source = program.source

    def place_of(origin: Any) -> Place | None:
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
