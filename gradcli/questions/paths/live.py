"""Questions: a run of PyTorch, as `paths` asks of it: its names and its graph, translated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...diagnostics import Enough
from ...engine.origin import current_origin
from ...language.interpreter import Machine, Outcome
from ...language.program import parse
from ...language.source import Source
from ...pipeline.request import Ran
from ...recording.collect import named_tensors, parameters
from ...recording.modules import is_module
from ...recording.passes import Pass
from ...recording.recording import Recording
from ...recording.sides import AnyTensor, is_live
from ...recording.spectator import Spectator
from ..graph import with_expressions
from .names import Naming
from .translation import Translation

HELD = 4096  # bindings of names


class LivePass(Spectator):
    """Hears of names, and translates the graph of a pass when it has ended: before an update."""

    def __init__(self, number: int | None, *, stops: bool) -> None:
        self.number, self.count, self.stops = number, 0, stops
        self.changed_since = False  # whether a tensor was changed in place behind the last pass
        self.inner: dict[str, Any] = {}  # modules that only functions know
        self.translation = Translation()
        self.names: list[tuple[Any, str, Any]] = []
        self.roots: tuple[Any, ...] = ()
        self.seeds: tuple[Any, ...] = ()
        self.origin: Any = None
        self.running: list[tuple[tuple[Any, ...], tuple[Any, ...], Any]] = []

    def bound(self, name: str, value: Any) -> None:
        self.bound_inside(None, name, value)

    def bound_inside(self, scope: Any, name: str, value: Any) -> None:
        if isinstance(value, AnyTensor) and not name.startswith("_"):
            self.names.append((scope, name, value))
            if len(self.names) > HELD:
                del self.names[: HELD // 2]
        elif scope is not None and is_module(value):
            self.inner[name] = value

    def started(
        self, roots: Sequence[Any], gradients: Sequence[Any], keep: bool, create_graph: bool,
        inputs: Sequence[Any] | None, capture: bool,
    ) -> None:  # fmt: skip
        self.running.append((tuple(roots), tuple(gradients), current_origin()))

    def failed(self, freed: list[Any]) -> None:
        self.running.pop()

    def walked(self, freed: list[Any], keep: bool, create_graph: bool) -> None:
        roots, seeds, self.origin = self.running.pop()
        self.count += 1
        if self.number in (None, self.count) and any(root.grad_fn is not None for root in roots):
            self.translation = Translation()
            self.roots, self.seeds = tuple(map(self.translation.tensor, roots)), seeds
            self.changed_since = False
            if self.stops and self.number == self.count:
                raise Enough

    def changed(self, tensor: Any) -> None:
        self.changed_since = True


def heard_by(*parts: Spectator) -> Recording:
    """A recording of which only these parts hear."""
    recording = Recording()
    recording.hears(*parts)
    return recording


def translated(ran: Ran, of: tuple[str, ...], wrt: tuple[str, ...]) -> Ran:
    """The run with own tensors and nodes in place of PyTorch's."""
    live = ran.recording.find(LivePass)
    ran = with_expressions(ran, of)
    if live is None or ran.outcome is None:
        return ran
    own, bindings = live.translation.tensor, ran.outcome.bindings
    naming = Naming((*of, *wrt))
    every = list(live.names)
    for values in (live.inner, bindings):
        for name, tensor in (*named_tensors(values, AnyTensor), *parameters(values, AnyTensor)):
            every.append((None, name, tensor))
    for scope, name, tensor in every:
        if not live.roots or name in of or live.translation.knows(tensor):
            naming.tensor(scope, name, own(tensor))
    recording = heard_by(naming, live)
    if live.roots:
        one = Pass(live.count, True, False, False)
        one.origin = live.origin
        one.roots, one.gradients = live.roots, tuple(map(own, live.seeds))
        recording.passes.kept[one.number] = one
    known = {id(tensor) for tensor, _ in live.translation.tensors.values()}
    values = {name: own(value) if id(value) in known else value for name, value in bindings.items()
              if id(value) in known or not is_live(value)}  # fmt: skip
    machine = Machine(parse(Source("", ran.request.name)), values, {})  # a formula is tried in it
    outcome = Outcome(ran.outcome.program, values, {}, [], None, 0, ran.outcome.nodes, machine)
    return ran._replace(outcome=outcome, heard=recording)
