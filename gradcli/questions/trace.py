"""Questions: `gradcli trace`: the graphs of a pass and the tensors, as facts."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..language.classes import is_instance
from ..named import NamedTuple
from ..options import EVERY_PASS
from ..pipeline.request import Ran, Request
from ..pipeline.run import execute
from ..process.memory import collector_paused
from ..recording import operands, saved
from ..recording.collect import Collected
from ..recording.constants import constants
from ..recording.facts import (
    ConstantFact,
    FlowFact,
    PassFact,
    Report,
    RootFact,
    nodes_below,
)
from ..recording.facts.orders import DerivedFact
from ..recording.facts.profile import ProfileFact
from ..recording.facts.steps import ValueFact
from ..recording.passes import Pass, frees_of
from ..recording.profile import Profile
from ..recording.recording import Recording
from ..recording.saved_sizes import SavedSizes
from ..recording.sides import AnyTensor, sides
from ..recording.spectator import Spectator
from . import shown_pass
from .errors import error_fact
from .graph import (
    collected,
    elsewhere,
    index_of,
    module_names,
    names_of,
    no_tensor,
)
from .hook_effects import effects
from .interventions import (
    NO_INTERVENTIONS,
    NO_TABLES,
    Interventions,
    Tables,
    attach_tables,
    complain,
    watching,
)
from .ledger import kept_bytes, ledger
from .meaning import tensor_named, with_expressions
from .second_order import derived, holders

if TYPE_CHECKING:
    from ..recording.facts.picture import DetailFact


def run_report(ran: Ran) -> Report:
    """What the program said."""
    return Report(ran.request.name, ran.request.device, output=ran.output, warnings=ran.warnings,
                  error=error_fact(ran.error))  # fmt: skip


class Options(NamedTuple):
    """What of a run is drawn: `of` names results, left out all; with `texts` numbers are told as
    PyTorch prints them."""

    of: tuple[str, ...] = ()
    texts: bool = True
    flows: bool = True
    number: int | None = None  # of the pass; the last one where left out
    tables: Tables = NO_TABLES
    detail: bool = False  # calls, order and products too, of a run that `picture` recorded


ALL = Options()


def recorded(
    request: Request, write: Callable[[str], None] | None,
    interventions: Interventions = NO_INTERVENTIONS,
    *, number: int | None = None, profile: bool = False, tables: Tables = NO_TABLES,
    besides: tuple[Spectator, ...] = (),
) -> Ran:  # fmt: skip
    """The run that is drawn: its last pass or the one with this number; with a profile, timed.

    `besides` are others who observe it.
    """
    recording = watching(interventions, values=True)
    shown_pass.keep(recording.passes, number)
    recording.attach(*besides)
    if profile:
        from .profile import Timed

        recording.attach(Timed())
    attach_tables(recording, tables)
    return execute(request, write, recording)


def trace_report(ran: Ran, options: Options = ALL) -> Report:
    """Graphs and tensors."""
    ran = with_expressions(ran, options.of)
    outcome, request, texts = ran.outcome, ran.request, options.texts
    report = run_report(ran)
    if outcome is None:
        return report
    with collector_paused():
        recording = ran.recording
        passes = recording.passes
        chosen = shown_pass.chosen_passes(passes, options.number)
        one = chosen[-1] if chosen else None
        roots = tuple(root for each in chosen for root in shown_pass.root_nodes(each))
        found = collected(outcome, texts=texts, roots=roots, recording=recording)
        names, frees = names_of(found, outcome.bindings), frees_of(recording)
        orders = derived(recording.orders, found)
        with outcome.again():  # functions of the program may unpack what is saved
            gone, inner = saved.freed(found, AnyTensor) if texts else ([], None)
        report = report._replace(
            device=request.device,
            tensors=found.tensors,
            nodes=found.nodes,
            roots=_roots(found, recording, one, options),
            shown=shown_pass.shown(ran, one),
            flows=_flows(ran, one, found, options),
            passes=tuple(_passes(ran, chosen, found, options)),
            constants=_constants(recording, found, orders) if texts or options.detail else (),
            freed=len(gone),
            freeing=tuple(sorted(frees.lines_of(gone) - {0})),
            saving=inner,
            backwards=tuple(recording.ends.backwards),
            events=recording.hooks.facts(names),
            left_out=recording.hooks.left_out,
            missing=ran.missing,
            profile=_profile(ran),
            ledger=ledger(ran, found, full=not texts),
            detail=_detail(ran, found, one, texts=texts) if options.detail else None,
            derived=orders,
            holders=holders(ran, found),
            elsewhere=elsewhere(found),
        )
    if ran.error is None:
        complain(recording)
        _known(ran, found)
        report = report._replace(effects=effects(ran, one))
    report = _with_tables(ran, report, found, one, options.tables)
    return _without_values(report) if ran.missing else report


def _known(ran: Ran, found: Collected) -> None:
    """Raises UsageError for a name of --wrt that the program does not have."""
    assert ran.outcome is not None
    for name in ran.request.wrt:
        if name not in ran.outcome.bindings and tensor_named(name, ran) is None:
            raise no_tensor(name, [fact.name for fact in found.tensors], "--wrt")


def _constants(
    recording: Recording, found: Collected, orders: tuple[DerivedFact, ...]
) -> tuple[ConstantFact, ...]:
    """Inputs without a gradient, with the values that they had when they were used."""
    return constants(
        found, operands.reader(), recording.constants, recording.names,
        derived=frozenset(fact.node for fact in orders),
    )  # fmt: skip


def _detail(ran: Ran, found: Collected, one: Pass | None, *, texts: bool) -> DetailFact | None:
    """What a picture needs beyond the graph."""
    from .picture import detail

    return detail(ran, found, None if one is None else one.number, texts=texts)


def _with_tables(
    ran: Ran, report: Report, found: Collected, one: Pass | None, tables: Tables
) -> Report:
    """The report with the requested tables."""
    if tables.saved:
        assert ran.outcome is not None
        frees = frees_of(ran.recording)
        with ran.outcome.again():
            sizes = ran.recording.find(SavedSizes)
            was = None if sizes is None else sizes.nodes
            facts, left_out = saved.saved(found, AnyTensor, frees.of, was)
        report = report._replace(
            saved=facts, saved_bytes=kept_bytes(found), left_out=(*report.left_out, *left_out)
        )
    if tables.views:
        from .views import views

        report = report._replace(views=views(ran, found))
    if tables.stats:
        from .stats import stats

        report = report._replace(stats=stats(ran, found, report.roots, one))
    return report


def _profile(ran: Ran) -> ProfileFact | None:
    """What each line of the program cost, if that was requested."""
    profile = ran.recording.find(Profile)
    if profile is None or ran.program is None:
        return None
    from .profile import facts

    return facts(ran.program, profile)


# ---------------------------------------------------------------- the pass that is drawn


def _passes(
    ran: Ran, chosen: tuple[Pass, ...], found: Collected, options: Options
) -> Iterator[PassFact]:
    """Each of them on its own, where there are several or a program reads them."""
    if options.texts and len(chosen) < 2:
        return
    for one in chosen:
        which = shown_pass.shown(ran, one)
        roots = tuple(shown_pass.roots_of(one, found, ran.recording.names.of_node))
        below = set(nodes_below(found.nodes, (root.node for root in roots)))
        every = _flows(ran, one, found, options._replace(flows=True), below)
        flows = tuple(flow for flow in every if flow.node in below)
        assert which is not None
        yield PassFact(which, roots, flows, shown_pass.seeds_of(one))


def _roots(
    found: Collected, recording: Recording, one: Pass | None, options: Options
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
    names = recording.names
    roots = [] if one is None else shown_pass.roots_of(one, found, names.of_node)
    if options.number not in (None, EVERY_PASS):
        return tuple(roots)
    return (*roots, *shown_pass.without_a_pass(found, recording.ends, roots))


def _flows(
    ran: Ran, one: Pass | None, found: Collected, options: Options,
    below: Container[int] | None = None,
) -> tuple[FlowFact, ...]:  # fmt: skip
    if not options.flows:
        return ()
    assert ran.outcome is not None
    recording = ran.recording
    paths = module_names(recording.names.reached(ran.outcome.bindings))

    def path_of(module: Any) -> str:
        """Of a module of the library; one of the program has lines of its own."""
        live = sides.live
        own = is_instance(module) or (live is not None and live.objects.is_of_program(module))
        return "" if own else paths.get(id(module)) or recording.names.of_module(module)

    return shown_pass.flows(recording, one, found, path_of, full=not options.texts, below=below)


# ---------------------------------------------------------------- missing values


def _without_values(report: Report) -> Report:
    """? in place of everything that depends on an input without a value, gradients below it too."""
    users: dict[int, list[int]] = {}
    for node in report.nodes:
        for edge in node.next:
            if edge is not None:
                users.setdefault(edge[0], []).append(node.id)
    missing = (fact.node for fact in report.tensors if fact.name in report.missing)
    unknown = {number for number in missing if number is not None}
    pending = list(unknown)
    for number in pending:
        fresh = set(users.get(number, ())) - unknown
        unknown |= fresh
        pending.extend(fresh)
    below = set(nodes_below(report.nodes, unknown))
    tensors = []
    for fact in report.tensors:
        if fact.name in report.missing or fact.node in unknown:
            fact = fact._replace(value=None, text="?", range=None)
        if fact.has_grad and (fact.text == "?" or fact.node in below):
            fact = fact._replace(grad=None, grad_text="?", grad_range=None)
        tensors.append(fact)
    detail = report.detail
    if detail is not None and detail.walk is not None and unknown:
        steps = tuple(_masked(step) if step.id in below else step for step in detail.walk.steps)
        detail = detail._replace(walk=detail.walk._replace(steps=steps))
    passes = tuple(
        one._replace(flows=_unknown_flows(one.flows, unknown, below)) for one in report.passes
    )
    return report._replace(
        tensors=tuple(tensors), flows=_unknown_flows(report.flows, unknown, below),
        passes=passes, detail=detail, ledger=None, stats=None,
    )  # fmt: skip


def _unknown_flows(
    flows: Iterable[FlowFact], unknown: set[int], below: set[int]
) -> tuple[FlowFact, ...]:
    found = []
    for flow in flows:
        if flow.node in unknown:
            flow = flow._replace(text="?", range=None, value=None)
        if flow.grad_text is not None and flow.node in below:
            flow = flow._replace(grad=None, grad_text="?", grad_range=None)
        found.append(flow)
    return tuple(found)


def _masked(fact: Any) -> Any:
    """The same with ? in place of all gradients and derivatives."""
    if isinstance(fact, ValueFact):
        return fact._replace(text="?", value=None, range=None)
    if isinstance(fact, str) or not isinstance(fact, Sequence):
        return fact
    parts = map(_masked, fact)
    return type(fact)(*parts) if hasattr(fact, "_fields") else tuple(parts)
