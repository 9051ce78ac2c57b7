"""Questions: the gradients that a backward pass of the program gave, as they were in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from ..named import NamedTuple
from ..opening import UsageError
from ..pipeline.request import Ran
from ..recording import collect as collecting
from ..recording.collect import Collected
from ..recording.facts import GradientFact, GradReport, TensorFact
from ..recording.holding import Named, named_tensors, parameters
from ..recording.names import loop_names
from ..recording.numbers import text_of
from ..recording.passes import Pass
from ..recording.sides import AnyTensor, edge_of, node_of, origin_of, with_one_shape
from ..recording.snapshot import PlainSnapshot, restored, snapshot_text
from . import shown_pass
from .asked_names import AskedNames
from .graph import (
    collected,
    leaves_of,
    line_of,
    module_tensors,
    names_of,
    no_tensor,
    place_reader,
)
from .meaning import tensor_named
from .nearest import not_reached
from .seeds import seed_facts


class Arrived(NamedTuple):
    """A named tensor and the gradient that came to it in the pass."""

    name: str
    line: int | None
    tensor: Any
    gradient: PlainSnapshot


def grad_of_pass(
    ran: Ran, one: Pass, wrt: tuple[str, ...], inner: bool, report: GradReport
) -> GradReport:
    """The report on a pass; `inner` asks for named intermediate values too."""
    assert ran.outcome is not None
    graph = collected(ran.outcome, texts=False, roots=shown_pass.root_nodes(one))
    roots = [root_of(ran, one, graph, place) for place in range(len(one.roots))]
    of, text = roots[0]
    found = list(_told_apart(_arrived(ran, one), ran))
    if wrt:
        facts = [_gradient_of(name, found, ran, one, of) for name in wrt]
    else:
        facts = [_fact(item) for item in found if inner or item.tensor.is_leaf]
        facts = [fact for fact in facts if fact.name != of.name or len(roots) > 1] or facts
        facts.extend(_returned(ran, one, {fact.name for fact in facts}))
    names = names_of(graph, ran.outcome.bindings)
    return report._replace(
        of=of, of_text=text, gradients=tuple(facts), events=ran.recording.hooks.facts(names),
        left_out=ran.recording.hooks.left_out,
        seeds=seed_facts([fact.name for fact, _ in roots], one.seeds, ran),
        more_roots=tuple(roots[1:]),
    )  # fmt: skip


def _returned(ran: Ran, one: Pass, known: set[str]) -> Iterator[GradientFact]:
    """What autograd.grad gave for results with a name."""
    assert ran.program is not None
    place_of = place_reader(ran.program)
    for node, gradient, dtype in one.returned:
        name = ran.recording.names.of_node(node)
        if name and name not in known:
            known.add(name)
            place = place_of(origin_of(node))
            told = snapshot_text(restored(gradient), full=True)
            yield GradientFact(name, place and place.line, told.shape,
                               dtype.removeprefix("torch."), told.value, told.text,
                               range=told.range)  # fmt: skip


def root_of(ran: Ran, one: Pass, graph: Collected, at: int = 0) -> tuple[TensorFact, str]:
    """What was differentiated, by its name or its expression, with the value that it had."""
    assert ran.outcome is not None and ran.program is not None
    tensor = one.roots[at]
    root = edge_of(tensor)
    place = None if root is None else place_reader(ran.program)(origin_of(root))
    held = next((name for name, value in named_tensors(ran.outcome.bindings, AnyTensor)
                 if value is tensor), None)  # fmt: skip
    words = place.target or place.text if place is not None else "(a tensor without a name)"
    name = held or (root is not None and ran.recording.names.of_node(root)) or words
    (fact,) = collecting.collect({name.lstrip("_"): tensor}, AnyTensor).tensors
    number = None if root is None else graph.numbers.get(id(root))
    value = one.began.get(id(tensor))
    shown_value = snapshot_text(restored(value), full=True)
    line = line_of(name, tensor, ran) if held else None
    fact = fact._replace(name=name, node=number, line=line or (place.line if place else None),
                         value=shown_value.value)  # fmt: skip
    same = not shown_value.text or shown_value.text == text_of(tensor)
    return fact, _printed(tensor) if same else shown_value.text or ""


def _printed(tensor: Any) -> str:
    """What the library prints; of a tensor that stands for another one in a transformation what it
    prints of that."""
    whole = with_one_shape(tensor)
    if whole is tensor or tensor.is_nested or tensor.grad_fn is None:
        return repr(tensor)
    return f"{repr(whole.detach())[:-1]}, grad_fn=<{type(tensor.grad_fn).__name__}>)"


def _arrived(ran: Ran, one: Pass) -> Iterator[Arrived]:
    """Everything with a name that the pass came to, each tensor once."""
    assert ran.outcome is not None
    recording = ran.recording
    seen: set[int] = set()
    named = named_tensors(ran.outcome.bindings, AnyTensor)
    bound = [Named(name, line_of(name, tensor, ran), tensor) for name, tensor in named]
    passing = loop_names(ran.outcome.program.body)  # they stand for a parameter until the next turn
    plain = [entry for entry in bound if "[" not in entry.name and entry.name not in passing]
    inner = module_tensors(recording.names.reached(ran.outcome.bindings), recording)
    leaves = leaves_of(ran.outcome.program, recording)
    owned = [entry for entry in inner if entry.kind == "parameter"]
    lasting = [entry for entry in bound if entry.name.partition("[")[0] not in passing]
    for name, line, tensor, *_ in (*plain, *owned, *lasting, *inner, *bound, *leaves):
        if id(tensor) in seen:
            continue
        seen.add(id(tensor))
        gradient = _gradient(one, tensor)
        if gradient is not None:
            yield Arrived(name, line, tensor, snapshot_text(restored(gradient), full=True))


def _told_apart(found: Iterable[Arrived], ran: Ran) -> Iterator[Arrived]:
    """Of several tensors with one name those that had another one in the pass go by that, and of
    the rest the first keeps it; the others have numbers: x#1."""
    every = list(found)
    count = Counter(item.name for item in every)
    taken: set[str] = set()
    for item in every:
        then = ran.recording.names.of_leaf(item.tensor)
        if count[item.name] > 1 and then and not count[then]:
            item = item._replace(name=then)
        if item.name in taken:
            item = item._replace(name=ran.recording.names.numbered(item.tensor) or item.name)
        taken.add(item.name)
        yield item


def _gradient(one: Pass, tensor: AnyTensor) -> Any:
    leaf = one.leaves.get(id(tensor))
    if leaf is not None and leaf[0] is tensor:
        return leaf[2]
    node = node_of(tensor)
    return None if node is None else one.flows.get((id(node), tensor.output_nr))


def _gradient_of(
    name: str, found: list[Arrived], ran: Ran, one: Pass, of: TensorFact
) -> GradientFact:
    """The gradient of a name, or why the pass gave it none."""
    then = one.asked.get(name)
    if then is None or not then.is_leaf or _gradient(one, then) is None:
        then = None  # what the name stood for in the pass goes first
    for item in found:
        if item.tensor is then or (then is None and item.name == name):
            return _fact(item._replace(name=name))
    assert ran.outcome is not None
    tensors = dict(named_tensors(ran.outcome.bindings, AnyTensor))
    tensors |= dict(parameters(ran.outcome.bindings, AnyTensor))
    asked = ran.recording.find(AskedNames)
    history = [] if asked is None else asked.tensors(name)
    for former in reversed(history):  # the name may have been bound again since
        gradient = _gradient(one, former)
        if gradient is not None:
            told = snapshot_text(restored(gradient), full=True)
            return _fact(Arrived(name, line_of(name, former, ran), former, told))
    tensor = tensor_named(name, ran)
    same = next((item for item in found if item.tensor is tensor), None)
    if same is not None:
        return _fact(same._replace(name=name))
    if tensor is None:
        value = ran.outcome.bindings.get(name)
        if value is not None:
            kind = "an integer" if isinstance(value, int) else f"a {type(value).__name__}"
            raise UsageError(f"--wrt {name}: it is {kind}, and gradients go to tensors of floats")
        known = [word for word in tensors if tensors[word].requires_grad]
        known += [item.name for item in found if item.name not in tensors]
        raise no_tensor(name, known, "--wrt")
    why = f"{name} does not require grad"
    if tensor.requires_grad:
        recording = ran.recording
        why = not_reached(of.name, name, collected(ran.outcome, texts=False, recording=recording))
    dtype = str(tensor.dtype).removeprefix("torch.")
    line = line_of(name, tensor, ran)
    return GradientFact(name, line, tuple(tensor.shape), dtype, None, None, why)


def _fact(item: Arrived) -> GradientFact:
    dtype = str(item.tensor.dtype).removeprefix("torch.")
    told_ = item.gradient
    return GradientFact(item.name, item.line, told_.shape, dtype, told_.value, told_.text,
                        range=told_.range)  # fmt: skip
