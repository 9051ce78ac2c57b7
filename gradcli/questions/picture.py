"""Questions: what a picture needs beyond the graph: calls, order, products of edges."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any

from ..engine.schema.origin import current_origin
from ..language.compile.statements import StatementCompiler
from ..language.interpreter import Machine
from ..language.names import Scope
from ..language.values import Function
from ..pipeline.request import Ran, Request
from ..pipeline.run import execute
from ..recording.collect import Collected
from ..recording.facts.picture import DetailFact, FrameFact, MakingFact
from ..recording.passes import frees_of
from ..recording.recording import Recording
from ..recording.sides import mark_of, origin_of, sequence_of
from ..recording.spectator import Spectator
from ..recording.steps import Local, Steps
from .graph import module_names
from .interventions import (
    NO_INTERVENTIONS,
    NO_TABLES,
    Interventions,
    Tables,
    attach_tables,
    watching,
)
from .ledger import tensor_names
from .shown_pass import keep
from .step.facts import Namer, walk_fact
from .step.local import local_derivatives

TURNS = 200  # nodes of one expression, at each end, whose local derivatives a picture may show
FIRST, LAST = 3, 5  # passes of a run that are kept where several are drawn


class Frame:
    """A call in progress: of a module, or of a function by its name."""

    __slots__ = ("parent", "called", "origin")

    def __init__(self, parent: Frame | None, called: Any, origin: Any) -> None:
        self.parent, self.called, self.origin = parent, called, origin


class FramingCompiler(StatementCompiler):
    """Functions of the program say when they begin and when they end."""

    frames: Frames

    def function(self, node: Any, scope: Scope, name: str, doc: str | None) -> Any:
        """What creates a function; its code is reported once."""
        make = super().function(node, scope, name, doc)
        framed = False

        def made(frame: list[Any]) -> Function:
            nonlocal framed
            function: Function = make(frame)
            if not framed:
                framed = True
                code = function.code
                name = code.qualified.rpartition("<locals>.")[2]  # a method: with its class
                if code.value is not None:
                    code.value = self.frames.framed(name, code.value)
                elif code.block is not None:
                    code.block = self.frames.framed(name, code.block)
            return function

        return made


class Frames(Spectator):
    """In which calls each node was made."""

    def __init__(self) -> None:
        self.frame: Frame | None = None
        self.open: list[tuple[int, Frame | None]] = []  # calls of Python, what was around each
        self.within: dict[int, tuple[int, Frame]] = {}  # by a node's mark; its number

    def begin(self, machine: Machine) -> None:
        """Makes functions report that they run."""
        if not isinstance(machine, Machine):
            machine.calls = self  # Python runs it
            return
        before = machine.compiler
        compiler = FramingCompiler(machine.program, machine.globals, machine.overrides)
        compiler.dynamic.update(before.dynamic)
        compiler.frames = self
        machine.compiler = compiler

    def framed(self, name: str, body: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """The body of a function, within a frame."""

        def run(frame: Any) -> Any:
            before = self.frame
            self._enter(name, current_origin())
            try:
                return body(frame)
            finally:
                self.frame = before

        return run

    def _enter(self, name: str, origin: Any) -> None:
        """A function begins; for forward() its module's frame is there already."""
        before = self.frame
        is_within = before is not None and not isinstance(before.called, str)
        if not (is_within and name.rpartition(".")[2] == "forward"):
            self.frame = Frame(before, name, origin)

    # ---- functions that Python runs

    def called(self, frame: int, name: str, origin: Any) -> None:
        """One begins in this frame of Python."""
        self.open.append((frame, self.frame))
        self._enter(name, origin)

    def returned_from(self, frame: int) -> None:
        """It ends; lambdas in it may have ended by an error."""
        while self.open:
            one, before = self.open.pop()
            if one == frame:
                self.frame = before
                break

    # ---- events of the engine

    def entering(self, module: Any) -> None:
        self.frame = Frame(self.frame, module, current_origin())

    def leaving(self, module: Any) -> None:
        if self.frame is not None:
            self.frame = self.frame.parent

    def made(self, tensor: Any) -> None:
        node = None if tensor is None else tensor.grad_fn
        if node is not None and self.frame is not None:
            self.within[id(mark_of(node))] = sequence_of(node), self.frame

    def of_node(self, node: Any) -> Frame | None:
        """The innermost call that made a node."""
        sequence, frame = self.within.get(id(mark_of(node)), (None, None))
        return frame if sequence == sequence_of(node) else None


class Turns(Spectator):
    """Finds the local derivatives of nodes that may be drawn: no picture shows the middle turns."""

    def __init__(self) -> None:
        self.turns: dict[int, list[int]] = {}  # sequence numbers of nodes, by what made them

    def made(self, tensor: Any) -> None:
        node = None if tensor is None else tensor.grad_fn
        if node is not None:
            self.turns.setdefault(id(origin_of(node)), []).append(sequence_of(node))

    def local(self, node: Any, grads: tuple[Any, ...]) -> tuple[Local | None, ...]:
        """Those of a node at the beginning or the end of its turns."""
        turns = self.turns.get(id(origin_of(node)), ())
        if len(turns) > 2 * TURNS and turns[TURNS] <= sequence_of(node) < turns[-TURNS]:
            return ()
        return local_derivatives(node, grads)


def recorded(
    request: Request, write: Callable[[str], None] | None,
    interventions: Interventions = NO_INTERVENTIONS,
    *, number: int | None = None, several: bool = False, thorough: bool = True,
    tables: Tables = NO_TABLES,
) -> Ran:  # fmt: skip
    """The run that is drawn: everything that `trace` and `step` keep of it, and the calls."""
    recording = drawing(interventions, thorough=thorough)
    if several:
        recording.passes.keep(FIRST, LAST)
    else:
        keep(recording.passes, number)
    steps = recording.find(Steps)
    assert steps is not None
    steps.alone = not several and not number
    attach_tables(recording, tables)
    return execute(request, write, recording)


def drawing(interventions: Interventions = NO_INTERVENTIONS, *, thorough: bool = True) -> Recording:
    """A recording of all of it; what is not thorough leaves local derivatives out that no picture
    shows."""
    recording = watching(interventions, values=True)
    steps = Steps(recording.passes, recording.hooks)
    steps.local = local_derivatives
    if not thorough:
        turns = Turns()
        steps.local = turns.local
        recording.attach(turns)
    recording.attach(recording.buffers, steps, Frames())
    return recording


def detail(ran: Ran, found: Collected, number: int | None, *, texts: bool) -> DetailFact | None:
    """The calls that made the nodes, their order, the steps of the pass of that number."""
    recording = ran.recording
    frames, steps = recording.find(Frames), recording.find(Steps)
    if frames is None or steps is None or ran.outcome is None:
        return None
    paths = module_names(recording.names.reached(ran.outcome.bindings))
    makings, facts = _makings(recording, frames, found, paths)
    walk = None if number is None else steps.walks.get(number)
    if walk is None:
        return DetailFact(makings, facts)
    ids = {id(node): at for at, node in enumerate(found.alive)}
    namer = Namer(ran, tensor_names(ran, found))
    assert number is not None
    fact = walk_fact(number, walk, ran, namer, ids, texts=texts, same_as=None)
    return DetailFact(makings, facts, fact)


def _makings(
    recording: Recording, calls: Frames, found: Collected, paths: Mapping[int, str]
) -> tuple[tuple[MakingFact, ...], tuple[FrameFact, ...]]:
    frames: list[FrameFact] = []
    numbers: dict[Frame, int] = {}
    inner = [node for node, fact in zip(found.alive, found.nodes) if fact.next]
    inner.sort(key=sequence_of)
    order = dict(zip(map(id, inner), count(1)))
    makings, freed_by = [], frees_of(recording).of
    made_in = _frames_of(calls, found, inner) if calls.within else {}
    for node in found.alive:
        frame = made_in.get(id(node))
        at = None if frame is None else _numbered(frame, frames, numbers, paths)
        key = id(node)
        makings.append(tuple.__new__(MakingFact, (order.get(key), at, freed_by(node))))
    return tuple(makings), tuple(frames)


def _frames_of(calls: Frames, found: Collected, inner: list[Any]) -> dict[int, Frame]:
    """The call that made each node, by its identity. Those that an operation of PyTorch made on its
    way are not reported: they are of the call of the node that uses them."""
    made_in = {id(node): frame for node in inner if (frame := calls.of_node(node)) is not None}
    edges = dict(zip(map(id, found.alive), (fact.next for fact in found.nodes), strict=True))
    for node in reversed(inner):
        if (frame := made_in.get(id(node))) is None:
            continue
        for child in (found.alive[edge[0]] for edge in edges[id(node)] if edge is not None):
            if edges[id(child)] and origin_of(child) is origin_of(node):
                made_in.setdefault(id(child), frame)
    return made_in


def _numbered(
    frame: Frame, frames: list[FrameFact], numbers: dict[Frame, int], paths: Mapping[int, str]
) -> int:
    """The number of a frame; those around it come first. Nothing recurses."""
    missing: list[Frame] = []
    at: Frame | None = frame
    while at is not None and at not in numbers:
        missing.append(at)
        at = at.parent
    for one in reversed(missing):
        numbers[one] = len(frames)
        parent = None if one.parent is None else numbers[one.parent]
        line = one.origin.lineno if isinstance(one.origin, ast.AST) and hasattr(
            one.origin, "lineno") else None  # fmt: skip
        if isinstance(one.called, str):
            frames.append(FrameFact(one.called, "", line, parent))
        else:
            kind = str(one.called._get_name())
            frames.append(FrameFact(paths.get(id(one.called)) or kind, kind, line, parent))
    return numbers[frame]
