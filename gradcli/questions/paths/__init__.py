"""Questions: `gradcli paths`: the chain rule between two names, after the program has run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy

from ...diagnostics import Diagnostic, command
from ...engine.schema.mode import state
from ...engine.schema.run_state import as_new
from ...engine.tensors.tensor import Tensor, from_array, plain
from ...named import NamedTuple
from ...opening import UsageError
from ...pipeline.prepared import prepared
from ...pipeline.request import Ran, Request
from ...pipeline.run import execute
from ...process.memory import collector_paused
from ...recording import collect as collecting
from ...recording.facts.paths import PathsReport
from ...recording.facts.seeds import SeedFact
from ...symbols.text import latex_name
from ..errors import error_fact
from ..grad import FAILURES, NOTHING_REQUIRES_GRAD, failure
from ..interventions import Interventions, complain, watching
from ..meaning import as_in_pass, with_expressions
from ..seeds import seed_facts
from ..shown_pass import Stop, chosen, keep, passes_there, shown
from ..unchanged import unchanged
from .chain import Chain, number_of
from .equal import equal
from .facts import Facts, Seeds
from .formula import formula_of
from .graph import Position, Ways
from .labels import Labels, Spot, label_text
from .later import give, later_names
from .names import Naming
from .nodes import run_node
from .roots import began, goes_for_several, refuse_several

MOST_LISTED = 8  # leaves to choose from


class Options(NamedTuple):
    """Between which two names, and what of the paths is wanted."""

    of: tuple[str, ...] = ()
    wrt: tuple[str, ...] = ()
    grad_output: str | None = None
    top: int = 20
    edges: bool = False
    formula: bool = False
    jacobian: bool = False
    element: tuple[int, ...] | None = None
    number: int | None = None  # of a pass of the program; left out, the last one

    @property
    def is_computed(self) -> bool:
        """Whether a requested gradient comes from no pass of the program."""
        return bool(self.of or self.grad_output is not None)


class Ends(NamedTuple):
    """The two tensors, and the graph between them. `end` is None where no way leads."""

    of: Spot
    wrt: Spot
    of_label: str
    wrt_label: str
    ways: Ways | None
    end: Position | None
    others: tuple[str, ...]


def recorded(request: Request, write: Callable[[str], None] | None, asked: Options) -> Ran:
    """The run whose graph is walked: all names are kept, those in functions too."""
    if request.engine == "torch":
        return _live(request, write, asked)
    ran = _watched(request, write, asked, None)
    recording = ran.recording
    passes = recording.passes
    if asked.number is not None and asked.number > passes.count and ran.error is None:
        raise UsageError(f"--pass {asked.number}: {passes_there(passes.count)}")
    last = chosen(passes, None)
    if ran.error is not None or last is None or last.changes == recording.lines.changes:
        return ran
    if asked.is_computed and (asked.number is not None or as_in_pass(ran, asked.of) is None):
        again = partial(_watched, request, None, asked)
        return unchanged(ran, asked.of, asked.number, again)
    names = later_names(ran, last)
    with as_new():
        stopped = _watched(request, None, asked, Stop(last.number, passes.count))
    if (same := chosen(stopped.recording.passes, None)) is not None:
        give(stopped, same, names)
    return stopped._replace(printed=ran.printed, warnings=ran.warnings)


def _live(request: Request, write: Callable[[str], None] | None, asked: Options) -> Ran:
    """The run of PyTorch, with an own graph in place of its graph."""
    from ...live.library import seed_torch
    from .live import LivePass, hearing, translated

    seen = LivePass(asked.number, stops=True)
    ran = execute(request, write, hearing(seen, asked.wrt))
    if asked.number is not None and asked.number > seen.count and ran.error is None:
        raise UsageError(f"--pass {asked.number}: {passes_there(seen.count)}")
    if asked.number is None:
        seen.total = seen.count
    again = seen.changed_since and not asked.is_computed and ran.error is None
    if again and not (request.path or "").endswith(".py"):  # a script may write files
        seed_torch()
        then = LivePass(seen.last, stops=True)
        then.total = seen.count
        stopped = execute(request, None, hearing(then, asked.wrt))
        ran = stopped._replace(printed=ran.printed, warnings=ran.warnings)
    return translated(ran, asked.of, asked.wrt)


def _watched(
    request: Request, write: Callable[[str], None] | None, asked: Options, stop: Stop | None
) -> Ran:
    recording = watching(Interventions(leaves=asked.wrt, results=asked.of))
    keep(recording.passes, None if asked.is_computed else asked.number)
    recording.attach(Naming(name.partition("#")[0] for name in (*asked.of, *asked.wrt)))
    if stop is not None:
        recording.attach(stop)
    return execute(request, write, recording)


def paths_report(ran: Ran, asked: Options) -> tuple[Ran, PathsReport]:
    """Every path between --of and --wrt; an error on the way ends up in what is returned."""
    request = ran.request
    report = PathsReport(
        request.name, request.device, by_edges=asked.edges, symbolic=asked.formula,
        output=ran.output, warnings=ran.warnings, missing=ran.missing,
    )  # fmt: skip
    if ran.outcome is None or ran.error is not None or ran.recording.find(Naming) is None:
        return ran, report._replace(error=error_fact(ran.error))
    with collector_paused(), prepared(ran.request):
        return _reported(ran, asked, report)


def _reported(ran: Ran, asked: Options, report: PathsReport) -> tuple[Ran, PathsReport]:
    request, ran = ran.request, with_expressions(ran, asked.of)
    labels = Labels(ran)
    of, seeds = _result(labels, ran, asked)
    one = None if asked.is_computed else chosen(ran.recording.passes, None)
    report = report._replace(shown=shown(ran, one))
    if one is not None and goes_for_several(one.roots, one.gradients):
        refuse_several(one.number)
    if of is None:
        message = "no result requires grad: nothing to differentiate"
        error = Diagnostic("RuntimeError", message, (), (NOTHING_REQUIRES_GRAD,), request.name)
        return ran._replace(error=error), report._replace(error=error_fact(error))
    before = state.grad_enabled, state.origin
    state.grad_enabled = False
    assert ran.outcome is not None
    try:
        with ran.outcome.again(silently=True):
            report = _answered(labels, ran, asked, of, report._replace(seeds=seeds))
    except FAILURES as raised:
        error = failure(raised, of.name, tuple(_tensor(of).shape), _line(of, ran), ran)
        return ran._replace(error=error), report._replace(of=of.name, error=error_fact(error))
    finally:
        state.grad_enabled, state.origin = before
    complain(ran.recording)
    return ran, report._replace(output=ran.output)


# ---------------------------------------------------------------- which tensors


def _result(labels: Labels, ran: Ran, asked: Options) -> tuple[Spot | None, tuple[SeedFact, ...]]:
    """What --of names; else the root of the pass, with what the pass began with; else, of what
    nothing else uses, what was assigned last."""
    outcome = ran.outcome
    assert outcome is not None
    if len(asked.of) > 1:
        raise UsageError("--of takes one result here", "gradcli paths FILE --of " + asked.of[-1])
    if asked.of:
        found = labels.named(asked.of[0], "--of")
        of = next((spot for spot in reversed(found) if spot.tensor is not None), found[-1])
        return of, ()
    last = chosen(ran.recording.passes, None)
    if last is not None and not asked.is_computed:
        return began(labels, last)
    facts = collecting.collect(outcome.bindings, Tensor, lines=outcome.lines, values=False)
    unused = collecting.results(facts.tensors, facts.nodes)
    if not unused:
        return None, ()
    best = max(unused, key=lambda i: (facts.tensors[i].line or 0, i))
    return labels.named(facts.tensors[best].name, "--of")[-1], ()


def _ends(labels: Labels, options: Options, of: Spot) -> Ends:
    """The tensor of --wrt, and what lies between; of several with one name the last one below."""
    if len(options.wrt) > 1:
        name = options.wrt[-1]
        raise UsageError("--wrt takes one name here", f"gradcli paths FILE --wrt {name}")
    ways = None if of.node is None else Ways(of.node, of.output_nr)
    asked = options.wrt[0] if options.wrt else _only_leaf(labels, ways, of, options)
    found = labels.named(asked, "--wrt")

    def reached(spots: list[Spot]) -> list[Spot]:
        return [
            spot
            for spot in spots
            if spot.key == of.key or (ways is not None and spot.position(ways) is not None)
        ]

    # The result of a function may have the name that another tensor had in it.
    below = reached(found) or reached(labels.inside(asked))
    inner = [spot for spot in below if spot.key != of.key]
    if inner and len(inner) < len(below):  # the result's own name: what the result was made of
        inner = [spot for spot in inner if spot.node is None] or inner
    wrt = (inner or below or found)[-1]
    of_label = options.of[0] if options.of else of.name
    wrt_label = asked
    others: tuple[str, ...] = ()
    if "#" not in asked:
        wrt_label = label_text(wrt, len(below) > 1)
        others = tuple(label_text(spot, True) for spot in inner if spot is not wrt)
    if of.name == wrt.name and of.key != wrt.key:
        of_label = label_text(of, True)
    end = None
    if ways is not None:
        end = ways.start if wrt.key == of.key else wrt.position(ways)
        if end is not None and not ways.lead_to(end):
            end = None
    return Ends(of, wrt, of_label, wrt_label, ways, end, others)


def _only_leaf(labels: Labels, ways: Ways | None, of: Spot, options: Options) -> str:
    """Without --wrt: the one leaf there is."""
    names = [] if ways is None else labels.leaves(ways)
    if len(names) == 1:
        return names[0]
    left = len(names) - MOST_LISTED
    listed = ", ".join(names[:MOST_LISTED]) + (f" and {left:,} more" if left > 0 else "")
    given = ("--of", options.of[0]) if options.of else ()
    advice = command("paths", "FILE", *given, "--wrt", names[0]) if names else ""
    known = f"; the leaves of {of.name} are {listed}" if names else ""
    raise UsageError(f"--wrt NAME is missing{known}", advice)


def _tensor(spot: Spot, model: Any = None) -> Tensor:
    """The tensor itself; for one that is gone, another at the same place of the graph."""
    if spot.tensor is not None:
        return spot.tensor
    if model is None:
        raise UsageError(f"{spot.name} is gone: a function made it, and no name holds it any more",
                       "return it from the function, or ask for what was made of it")  # fmt: skip
    made = plain(model, from_array(model)._kind)
    made._requires_grad, made._grad_fn, made._output_nr = True, spot.node, spot.output_nr
    return made


def _line(spot: Spot, ran: Ran) -> int | None:
    assert ran.outcome is not None
    return ran.outcome.lines.get(spot.name.partition("[")[0])


# ---------------------------------------------------------------- the answer


def _answered(
    labels: Labels, ran: Ran, asked: Options, of: Spot, report: PathsReport
) -> PathsReport:
    ends = _ends(labels, asked, of)
    tensor = _tensor(of)
    report = report._replace(
        of=ends.of_label, wrt=ends.wrt_label, of_shape=tuple(tensor.shape),
        dtype=str(tensor.dtype).removeprefix("torch."), others=ends.others,
    )  # fmt: skip
    if ends.wrt.key == of.key:
        return _itself(ran, asked, tensor, report)
    if ends.end is None or ends.ways is None:
        wrt = ends.wrt.tensor
        return report._replace(
            wrt_shape=() if wrt is None else tuple(wrt.shape), equal=True,
            reason=f"{ends.of_label} does not depend on {ends.wrt_label}",
        )  # fmt: skip
    return _walked(labels, ran, asked, ends, report)


def _itself(ran: Ran, asked: Options, of: Tensor, report: PathsReport) -> PathsReport:
    """The result with respect to itself: what its pass began with."""
    report = report._replace(wrt_shape=tuple(of.shape), path_count=1, edge_count=1, equal=True)
    seed = _seed(ran, asked)
    if of.numel() > 1 and (seed is None or asked.jacobian or asked.element is not None):
        return report._replace(reason=f"{report.of} itself")
    seeds = Seeds(of, of, seed, False, None)
    total, text = seeds.shown(seeds.arrays)
    reverse, reverse_text = seeds.reverse()
    given = seed_facts([report.of], seeds.arrays, ran)
    single = of.numel() == 1
    return report._replace(
        sum=total, sum_text=text, reverse=reverse, reverse_text=reverse_text, seeds=given,
        single=single, equal=equal(total, reverse, 1.0, 1, report.dtype),
        reason="it is the result itself" if single else f"{report.of} itself",
    )  # fmt: skip


def _walked(
    labels: Labels, ran: Ran, asked: Options, ends: Ends, report: PathsReport
) -> PathsReport:
    ways = ends.ways
    assert ways is not None and ends.end is not None
    of = _tensor(ends.of)
    kind = of._kind
    names = labels.of(ways, {ways.start: ends.of_label, ends.end: ends.wrt_label})
    model = kind.xp.ones(tuple(of.shape), dtype=kind.array_dtype)
    ones = Ones(kind.xp)
    chain = Chain(ways, None if asked.edges else names, run_node, model, ones)
    words = labels.texts(ways, names) if asked.edges else names
    listed = chain
    if asked.edges:
        chain = Chain(ways, names, run_node, model, ones)
    wrt = _tensor(ends.wrt, chain.models[-1])
    seeds = Seeds(of, wrt, _seed(ran, asked), asked.jacobian, asked.element)
    hooked = _hooked(ways, names)
    seeds.others = _leaves(ways) if hooked else []
    reverse, reverse_text = seeds.reverse()
    found = Facts(listed, words, seeds, ran, asked.top).all()
    given = report.seeds
    if asked.jacobian or asked.element is not None:
        given = ()
    elif len(given) < 2:
        given = seed_facts([names[ways.start]], seeds.arrays, ran)
    dtype = str(wrt.dtype).removeprefix("torch.")
    report = report._replace(
        single=found.single, wrt_shape=tuple(wrt.shape), jacobian=asked.jacobian, dtype=dtype,
        element=asked.element, path_count=chain.extent[0], edge_count=ways.count(),
        paths=found.paths, by_estimate=found.by_estimate, hooked=hooked, of=names[ways.start],
        seeds=given,
        wrt=names[ends.end],
    )  # fmt: skip
    if asked.formula:
        shown_names = {name: latex_name(name) for path in found.paths for name in path.names}
        shown_names |= {name: latex_name(name) for name in (report.of, report.wrt)}
        report = report._replace(page_names=tuple(shown_names.items()))
    if not found.unknown:
        report = report._replace(
            sum=found.total, sum_text=found.total_text, reverse=reverse, reverse_text=reverse_text,
            equal=equal(found.total, reverse, found.scale, listed.extent[1], dtype),
        )  # fmt: skip
    rows = seeds.arrays
    if asked.jacobian or asked.element is not None:
        why = "no formula: ask for it without --jacobian and --element" if asked.formula else ""
        return report._replace(no_formula=why)
    expected = chain.total[0] * number_of(rows[0]) if found.single else found.raw
    formula, why = formula_of(labels, chain, names, rows[0], expected, report, asked.formula)
    return report._replace(formula=formula, no_formula=why)


def _seed(ran: Ran, asked: Options) -> Any:
    """What --grad-output gives, else what the program's own pass began with."""
    last = chosen(ran.recording.passes, None)
    if asked.is_computed or last is None:
        return asked.grad_output
    if len(last.roots) > 1:
        return None
    seed = last.gradients[0]
    return seed._data if isinstance(seed, Tensor) else seed


class Ones:
    """A gradient of ones in the shape of another; one for each type and shape."""

    def __init__(self, library: Any) -> None:
        self.library = library
        self.made: dict[Any, Any] = {}

    def __call__(self, like: Any) -> Any:
        key = like.__class__  # says all of a number
        number = issubclass(key, numpy.generic)
        if not number:
            key = like.dtype, like.shape
        found = self.made.get(key)
        if found is None:
            found = self.made[key] = key(1) if number else self.library.ones_like(like)
        return found


def _leaves(ways: Ways) -> list[Tensor]:
    """The leaves that the graph ends in, as far as they require grad."""
    found = [ways.graph.alive[number].variable for number in ways.graph.leaves.values()]
    return [leaf for leaf in found if leaf.requires_grad]


def _hooked(ways: Ways, names: dict[Position, str]) -> tuple[str, ...]:
    """The places on a way where hooks may have changed the gradient."""
    found = []
    for number in ways.order:
        node = ways.graph.alive[number]
        hooks = node.hooks
        leaf = getattr(node, "variable", None)
        meta = None if leaf is None else leaf._meta
        if (hooks is not None and (hooks.tensor or hooks.pre or hooks.post)) or (
            meta is not None and meta.hooks
        ):
            found.append(names.get((number, 0)) or collecting.short_name(node))
    return tuple(dict.fromkeys(found))
