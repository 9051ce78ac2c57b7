"""Questions: a run of PyTorch for `paths`: its names and its graph, translated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import redirect_stdout, suppress
from io import StringIO
from typing import Any

from ...diagnostics import Enough
from ...engine.schema.origin import current_origin
from ...language.interpreter import Machine, Outcome
from ...language.program import parse
from ...language.source import Source
from ...nn.module import Module
from ...pipeline.request import Ran
from ...recording.holding import named_tensors, parameters, tensors_in
from ...recording.modules import is_module
from ...recording.names import levels
from ...recording.passes import Pass
from ...recording.recording import Recording
from ...recording.sides import AnyTensor, array_of, has_numbers, is_live, sides
from ...recording.spectator import Spectator
from ..graph import leaves_of
from ..interventions import Binder, Interventions
from ..meaning import with_expressions
from .names import Naming
from .roots import goes_for_several, refuse_several
from .translation import Translation

HELD = 4096  # bindings of names
NUMBERS = frozenset({int, float})
NOWHERE = None, 0
NAMED = NUMBERS | {list, tuple, dict}  # what names are heard of, beside tensors


class Replayed:
    """A hook that gives what a hook of the program gave."""

    def __init__(self, translation: Translation, before: Any, after: Any) -> None:
        self.translation, self.before, self.after = translation, before, after

    def __call__(self, *given: Any) -> Any:
        """Of a tensor, or of a node before or behind it: one gradient or several."""
        grads = given[0]
        if isinstance(self.after, tuple):  # what this pass does not ask for stays away
            return tuple(
                None if one is None or grad is None else self._own(one)
                for one, grad in zip(self.after, grads, strict=False)
            )
        new = self._own(self.after)
        if not isinstance(grads, tuple):
            return new
        old = array_of(self.before)
        return tuple(new if _same(grad, old) else grad for grad in grads)

    def _own(self, value: Any) -> Any:
        """None of what is no gradient: with that the pass has failed."""
        return self.translation.tensor(value.detach()) if isinstance(value, AnyTensor) else None


def _same(grad: Any, other: Any) -> bool:
    if grad is None:
        return False
    found = array_of(grad)
    return bool(found.shape == other.shape and (found == other).all())


def _of_tensor(node: Any, hook: Any) -> None:
    leaf = getattr(node, "variable", None)
    (node.register_prehook if leaf is None else leaf.register_hook)(hook)


REPLAYED: dict[str, Callable[[Any, Any], Any]] = {
    "tensor": _of_tensor,
    "node pre": lambda node, hook: node.register_prehook(hook),
    "node": lambda node, hook: node.register_hook(hook),
}


class LivePass(Spectator):
    """Observes names, and translates the graph of a pass when it has ended: before an update."""

    def __init__(self, number: int | None, *, stops: bool) -> None:
        self.number, self.stops = number, stops
        self.count = self.last = 0  # passes so far, and which of them was the last without an error
        self.total = 0  # passes of the program; 0 while that is not known
        self.changed_since = False  # whether a tensor was changed in place behind the last pass
        self.inner: dict[str, Any] = {}  # modules that only functions know
        self.translation = Translation()
        self.hooks: list[tuple[str, Any, Any, Any]] = []  # of the pass: what changed a gradient
        # With PyTorch's clock, and what made each: it may be changed in place later.
        self.names: list[tuple[Any, str, Any, int | None, tuple[Any, int]]] = []
        self.roots: tuple[Any, ...] = ()
        self.seeds: tuple[Any, ...] = ()
        self.origin: Any = None
        self.is_several = False  # whether the pass stands for several
        self.running: list[tuple[int, tuple[Any, ...], tuple[Any, ...], Any]] = []

    def bound(self, name: str, value: Any) -> None:
        self.bound_inside(None, name, value)

    def bound_inside(self, scope: Any, name: str, value: Any) -> None:
        if name.startswith("_"):
            return
        if type(value) in NAMED or isinstance(value, AnyTensor):
            assert sides.live is not None
            now = sides.live.clock()
            for inner, found in tensors_in(name, value, AnyTensor):
                self.names += [(scope, inner, one, now, _edge(one)) for one in levels(found)]
            if type(value) in NUMBERS:
                self.names.append((scope, name, value, now, NOWHERE))
            if len(self.names) > HELD:
                del self.names[: HELD // 2]
        elif scope is not None and is_module(value):
            self.inner[name] = value

    def started(
        self, roots: Sequence[Any], gradients: Sequence[Any], retain_graph: bool,
        create_graph: bool, inputs: Sequence[Any] | None, capture: bool,
    ) -> None:  # fmt: skip
        self.hooks = []
        self.count += 1
        self.running.append((self.count, tuple(roots), tuple(gradients), current_origin()))

    def failed(self, freed: list[Any]) -> None:
        with suppress(RuntimeError):  # what made it fail may be told by whoever goes over it
            self._over()

    def hooked(self, kind: str, node: Any, hook: Any, number: int, before: Any, after: Any) -> None:
        if kind in REPLAYED and after is not None and after is not before:
            self.hooks.append((kind, node, before, after))

    def _replay_hooks(self) -> None:
        """What hooks of the program made of gradients they make of them again, in our graph."""
        own = self.translation
        for kind, node, before, after in self.hooks:
            _, made = own.nodes.get(id(node), (None, None))
            if made is not None:
                REPLAYED[kind](made, Replayed(own, before, after))

    def walked(self, freed: list[Any], retain_graph: bool, create_graph: bool) -> None:
        self._over()
        if self.stops and self.number == self.last:
            raise Enough

    def _over(self) -> None:
        self.last, roots, seeds, self.origin = self.running.pop()
        if self.number in (None, self.last):
            self.translation, self.changed_since = Translation(), False
            self.roots, self.seeds, self.is_several = (), seeds, goes_for_several(roots, seeds)
            if self.is_several:
                return
            with redirect_stdout(StringIO()):  # of a checkpoint its function runs once more
                self.roots = tuple(map(self.translation.tensor, roots))
            self._replay_hooks()

    def changed(self, tensor: Any) -> None:
        self.changed_since = True


def _edge(tensor: Any) -> tuple[Any, int]:
    assert sides.live is not None
    node = sides.live.node(tensor)
    return NOWHERE if node is None else (node, tensor.output_nr)


def _module(foreign: Any, own: Callable[[Any], Any]) -> Any:
    """A module with the same parameters under the same names, in which a formula is tried."""
    made = Module()
    for name, tensor in foreign._parameters.items():
        made._parameters[name] = None if tensor is None else own(tensor)
    for name, module in foreign._modules.items():
        made._modules[name] = None if module is None else _module(module, own)
    return made


def recording_of(*parts: Spectator) -> Recording:
    """A recording of which only these parts hear."""
    recording = Recording()
    recording.attach(*parts)
    return recording


def hearing(live: LivePass, leaves: tuple[str, ...]) -> Recording:
    """A recording for the run of PyTorch: a pass that has ended knows the names of its leaves.
    What is asked for with respect to requires grad."""
    recording = Recording()
    recording.attach(Binder(Interventions(leaves=leaves), recording.hooks))
    recording.attach(recording.names, recording.leaf_names, recording.passes, live)
    return recording


def translated(ran: Ran, of: tuple[str, ...], wrt: tuple[str, ...]) -> Ran:
    """The run with own tensors and nodes in place of PyTorch's."""
    live = ran.recording.find(LivePass)
    ran = with_expressions(ran, of)
    if live is None or ran.outcome is None:
        return ran
    if live.is_several:
        refuse_several(live.last)
    own, bindings = live.translation.tensor, ran.outcome.bindings
    naming = Naming((*of, *wrt))
    every = list(live.names)
    for values in (bindings, live.inner):
        for name, tensor in (*named_tensors(values, AnyTensor), *parameters(values, AnyTensor)):
            every.append((None, name, tensor, None, NOWHERE))
    last = {(scope, name): value for scope, name, value, _, _ in every}
    before: dict[tuple[Any, str], Any] = {}
    for place, (scope, name, value, clock, edge) in enumerate(every):
        is_new = before.get((scope, name)) is not value
        before[scope, name] = value
        then = None  # names that were bound between the same nodes keep their order
        if clock is not None:
            then = live.translation.clock_at(clock) + place / len(every)
        if type(value) in NUMBERS:
            naming.number(scope, name, value, then or 0)
        elif not has_numbers(value) and name not in (*of, *wrt):
            continue  # no path goes through it
        elif live.translation.knows(value) or (
            (name in of or not live.roots) and last[scope, name] is value
        ):  # what earlier turns computed has no values any more
            _, made = live.translation.nodes.get(id(edge[0]), (None, None))
            naming.tensor(scope, name, own(value), then, None if made is None else (made, edge[1]))
        elif is_new and value.requires_grad:
            naming.passed_over(scope, name)
    recording = recording_of(naming, live)
    reached = set(map(id, ran.recording.leaf_names.last))
    for name, _, leaf, _ in leaves_of(ran.outcome.program, ran.recording):
        if id(leaf) in reached:
            recording.names.rename(own(leaf), name, inside=True)
    if live.roots:
        one = Pass(live.last, True, False, False)
        one.origin = live.origin
        one.roots, one.gradients = live.roots, tuple(map(own, live.seeds))
        recording.passes.kept[one.number], recording.passes.count = one, live.total
    known = {id(tensor) for tensor, _ in live.translation.tensors.values()}
    values = {name: own(value) if id(value) in known else value for name, value in bindings.items()
              if id(value) in known or not is_live(value)}  # fmt: skip
    values |= {name: _module(value, own) for name, value in bindings.items()
               if is_module(value)}  # fmt: skip
    machine = Machine(parse(Source("", ran.request.name)), values, {})  # a formula is tried in it
    outcome = Outcome(ran.outcome.program, values, [], None, 0, ran.outcome.nodes, machine)
    return ran._replace(outcome=outcome, heard=recording)
