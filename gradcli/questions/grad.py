"""Questions: `gradcli grad`: one result, differentiated after the program has run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from ..autograd import grad as autograd_grad
from ..diagnostics import Diagnostic, Label, ProgramError, Span
from ..engine.schema.mode import state
from ..named import NamedTuple
from ..opening import UsageError
from ..pipeline.request import Ran, Request
from ..pipeline.run import execute
from ..pipeline.values import grad_output
from ..recording import holding
from ..recording.collect import Collected
from ..recording.facts import GradientFact, GradReport, TensorFact, nodes_below
from ..recording.names import loop_names
from ..recording.numbers import numbers, range_of
from ..recording.sides import (
    AnyTensor,
    array_of,
    has_numbers,
    is_live,
    sides,
    without_numbers,
)
from ..recording.snapshot import whole
from .asked_names import AskedNames
from .errors import error_fact
from .grad_pass import grad_of_pass
from .graph import collected, index_of, line_of, names_of
from .interventions import Interventions, complain, watching
from .meaning import as_in_pass, result_of, tensor_named, with_expressions
from .nearest import not_reached
from .seeds import seed_facts
from .shown_pass import Stop, chosen, keep, shown
from .unchanged import unchanged

NOTHING_REQUIRES_GRAD = (
    "help: make a leaf: x = tensor(3.0, requires_grad=True), or --set x=3.0, or --wrt NAME"
)


# Of the engine, or of a function of the program that it called.
FAILURES = (ProgramError, RuntimeError, ValueError, TypeError, NotImplementedError)


class Wanted(NamedTuple):
    """A name, and the tensor that it stands for in the graph."""

    name: str
    tensor: Any
    line: int | None
    reason: str | None = None


class Options(NamedTuple):
    """What is differentiated, with respect to what; with `all` intermediate values too."""

    of: tuple[str, ...] = ()
    wrt: tuple[str, ...] = ()
    grad_output: str | None = None
    create_graph: bool = False
    all: bool = False
    number: int | None = None  # of a pass of the program

    @property
    def is_anew(self) -> bool:
        """Whether a requested gradient can come from no pass of the program."""
        return bool(self.create_graph or self.grad_output is not None)


def recorded(
    request: Request,
    write: Callable[[str], None] | None,
    interventions: Interventions,
    options: Options,
) -> Ran:
    """The run whose pass is reported, or whose result is differentiated."""

    def run(stop: Stop | None = None) -> Ran:
        recording = watching(interventions, values=not options.is_anew)
        if not options.is_anew:
            keep(recording.passes, None if options.of else options.number)
        recording.values.of_leaf = whole
        if options.all:
            recording.values.of_flow = whole
        if stop is not None:
            recording.attach(stop)
        return execute(request, None if stop else write, recording)

    ran = run()
    if options.number is None and as_in_pass(ran, options.of) is not None:
        return ran
    if options.of or options.is_anew:
        return unchanged(ran, options.of, options.number, run)
    return ran


def grad_report(ran: Ran, options: Options) -> tuple[Ran, GradReport]:
    """The requested gradients; an error on the way ends up in what is returned."""
    report = GradReport(ran.request.name, ran.request.device, None, "", output=ran.output,
                        warnings=ran.warnings)  # fmt: skip
    recording = ran.recording
    if ran.outcome is None or ran.error is not None:
        return ran, report._replace(error=error_fact(ran.error))
    if not options.is_anew:
        passes = recording.passes
        if options.of:
            one = as_in_pass(ran, options.of) if options.number is None else None
        else:
            one = chosen(passes, options.number)
        if one is not None:
            complain(recording)
            report = report._replace(shown=shown(ran, one))
            return ran, grad_of_pass(ran, one, options.wrt, options.all, report)
    ran = with_expressions(ran, options.of)
    assert ran.outcome is not None
    found = collected(ran.outcome, texts=False, recording=recording)
    at = result_of(found, options.of)
    if at is None:
        message = "no result requires grad: nothing to differentiate"
        error = Diagnostic("RuntimeError", message, (), (NOTHING_REQUIRES_GRAD,), ran.request.name)
        return ran._replace(error=error), report._replace(error=error_fact(error))
    fact, result = found.tensors[at], found.held[at]
    must_have_numbers(fact.name, result)
    report = report._replace(of=fact, of_text=repr(result), shown=shown(ran, None))
    wanted = _wanted(ran, found, fact, options)
    try:
        seed = None if options.grad_output is None else grad_output(options.grad_output, result)
        gradients = _differentiated(ran, result, wanted, options, seed)
    except FAILURES as raised:
        error = failure(raised, fact.name, fact.shape, fact.line, ran)
        return ran._replace(error=error), report._replace(error=error_fact(error))
    complain(recording)
    facts = tuple(
        _fact(item, gradient, fact) for item, gradient in zip(wanted, gradients, strict=True)
    )
    events = recording.hooks.facts(names_of(found, ran.outcome.bindings))
    seeds = () if seed is None else seed_facts([fact.name], [seed], ran)
    return ran, report._replace(
        gradients=facts, events=events, left_out=recording.hooks.left_out, output=ran.output,
        seeds=seeds,
    )  # fmt: skip


def _wanted(ran: Ran, found: Collected, of: TensorFact, options: Options) -> list[Wanted]:
    """The names of --wrt, else every named leaf behind the result; with --all everything named."""
    if options.wrt:
        return [named_in(name, ran, found, of) for name in options.wrt]
    below = _below(found, of)
    # Of several names for one tensor the plain one speaks.
    plain = {(fact.node, fact.output_nr) for fact in found.tensors if "[" not in fact.name}
    assert ran.outcome is not None
    parameters = list(holding.parameters(ran.outcome.bindings, AnyTensor))
    # The name of a loop stands for a parameter only until the next turn.
    lasting = {id(tensor): name for name, tensor in reversed(parameters)}
    passing = loop_names(ran.outcome.program.body)
    wanted = [
        Wanted(_lasting(fact.name, tensor, passing, lasting), tensor, fact.line)
        for fact, tensor in zip(found.tensors, found.held, strict=True)
        if fact.requires_grad and fact.node in below and (fact.is_leaf or options.all)
        and ("[" not in fact.name or (fact.node, fact.output_nr) not in plain)
        and fact.name != of.name
    ]  # fmt: skip
    held = {id(tensor) for tensor in found.held}
    names = {fact.name for fact in found.tensors}
    for leaf in found.former:  # names that stand for other tensors by now
        if id(leaf.tensor) not in held and found.leaves.get(id(leaf.tensor)) in below:
            then = ran.recording.names.numbered(leaf.tensor) if leaf.name in names else ""
            wanted.append(Wanted(then or leaf.name, leaf.tensor, leaf.line))
    if not wanted and of.is_leaf:
        wanted.append(Wanted(of.name, found.held[found.tensors.index(of)], of.line))
    return wanted


def _lasting(name: str, tensor: Any, passing: Collection[str], lasting: Mapping[int, str]) -> str:
    return lasting.get(id(tensor), name) if name.partition("[")[0] in passing else name


def _below(found: Collected, of: TensorFact) -> set[int]:
    """The nodes that the result's gradient reaches."""
    return set() if of.node is None else set(nodes_below(found.nodes, [of.node]))


def named_in(name: str, ran: Ran, found: Collected, of: TensorFact) -> Wanted:
    """The tensor of a name; of those that it was bound to, the last one in the result's graph."""
    assert ran.outcome is not None
    asked = ran.recording.find(AskedNames)
    below = _below(found, of)
    ids = {id(found.alive[node]) for node in below}
    leaves = {id(found.alive[node].variable) for node in below
              if not found.nodes[node].next and hasattr(found.alive[node], "variable")}  # fmt: skip
    history = asked.tensors(name) if asked is not None else []
    for former in reversed(history):
        if id(former) in leaves or (former.grad_fn is not None and id(former.grad_fn) in ids):
            return Wanted(name, former, line_of(name, former, ran))
    value = ran.outcome.bindings.get(name)
    if value is not None and not isinstance(value, AnyTensor):
        kind = "an integer" if isinstance(value, int) else f"a {type(value).__name__}"
        raise UsageError(f"--wrt {name}: it is {kind}, and gradients go to tensors of floats")
    is_bound = any(fact.name == name for fact in found.tensors)
    if history and not is_bound:
        line = line_of(name, history[-1], ran)
        return Wanted(name, history[-1], line, f"{of.name} does not depend on {name}")
    meant = None if is_bound else tensor_named(name, ran)
    i = index_of(name, found.tensors, "--wrt") if meant is None else None
    tensor: Any = meant if i is None else found.held[i]
    reason = None
    if not tensor.requires_grad:
        reason = f"{name} does not require grad"
    elif i is not None and found.tensors[i].node not in below:
        reason = not_reached(of.name, name, found)
    return Wanted(name, tensor, line_of(name, tensor, ran), reason)


def must_have_numbers(name: str, result: Any) -> None:
    """UsageError of what has a shape and no numbers."""
    if not has_numbers(result):
        kind = without_numbers(result)
        raise UsageError(f"{name} is a tensor of {kind}, which have no numbers: no gradient of it "
                         "can be shown")  # fmt: skip


def _differentiated(
    ran: Ran, result: AnyTensor, wanted: list[Wanted], options: Options, seed: Any
) -> list[Any]:
    """torch.autograd.grad for what can have a gradient; None for the rest."""
    asked = [item for item in wanted if item.tensor.requires_grad]
    if not asked:
        return [None] * len(wanted)
    assert ran.outcome is not None
    before, recording = state.observer, ran.recording
    recording.hooks.clear()  # told are the hooks of these gradients
    state.observer = recording.observer
    try:
        with ran.outcome.again():
            found = _grad(result, [item.tensor for item in asked], seed, options)
    finally:
        state.observer = before
    answers = iter(found)
    return [next(answers) if item.tensor.requires_grad else None for item in wanted]


def _grad(result: Any, inputs: list[Any], seed: Any, options: Options) -> Any:
    """torch.autograd.grad of the side that made the result."""
    if sides.live is not None and is_live(result):
        given = None if seed is None else array_of(seed)
        return sides.live.differentiated(result, inputs, given, create_graph=options.create_graph)
    return autograd_grad(
        result, inputs, seed, retain_graph=True, create_graph=options.create_graph,
        allow_unused=True,
    )  # fmt: skip


def _fact(item: Wanted, gradient: Any, of: TensorFact) -> GradientFact:
    tensor = item.tensor
    dtype = str(tensor.dtype).removeprefix("torch.")
    if gradient is None:
        reason = item.reason or f"{of.name} does not depend on {item.name}"
        return GradientFact(item.name, item.line, tuple(tensor.shape), dtype, None, None, reason)
    return GradientFact(item.name, item.line, tuple(gradient.shape), dtype, numbers(gradient),
                        repr(gradient), range=range_of(gradient))  # fmt: skip


def failure(
    raised: Exception, name: str, shape: tuple[int, ...], line: int | None, ran: Ran
) -> Diagnostic:
    """PyTorch's error about a result that can't be differentiated, with the result's line."""
    if isinstance(raised, ProgramError):
        return raised.diagnostic
    message = str(raised)
    labels: tuple[Label, ...] = ()
    if line is not None and ran.program is not None:
        text = ran.program.source.line(line)
        start = len(text) - len(text.lstrip()) + 1
        span = Span(line, start, line, max(start + 1, len(text.rstrip()) + 1))
        labels = (Label(span, f"{name}, of shape {list(shape)}", True),)
    notes: tuple[str, ...] = ()
    if "scalar outputs" in message:
        ones = (
            "1.0" if len(shape) != 1 or shape[0] > 4 else "[" + ",".join(["1.0"] * shape[0]) + "]"
        )
        notes = (f"help: --grad-output {ones}, or --of a single number such as {name}.sum()",)
    if "inplace operation" in message:
        notes = (
            f"note: the program went on and changed in place what {name} was computed from",
            "help: gradcli trace shows the gradients of the program's own backward calls",
        )
    return Diagnostic(type(raised).__name__, message, labels, notes, ran.request.name)
