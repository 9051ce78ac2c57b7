"""Questions: what a picture needs of a run beyond its graph: calls, order, products of edges."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from ..engine.mode import state
from ..language.compile.statements import StatementCompiler
from ..language.interpreter import Machine
from ..language.names import Scope
from ..language.values import Function
from ..pipeline.request import Ran, Request, current_line
from ..pipeline.run import execute
from ..recording.collect import Collected
from ..recording.facts.picture import DetailFact, FrameFact, MakingFact
from ..recording.sides import edge_of, memory, origin_of, sequence_of
from ..recording.steps import ROOM, Local, StepWatch
from . import shown
from .graph import module_names
from .ledger import tensor_names
from .step.facts import Namer, walk_fact
from .step.local import local_derivatives
from .watching import NO_WISHES, Binder, Wishes, snapshot

TURNS = 200  # nodes of one expression, at each end, whose local derivatives a picture may show
FIRST, LAST = 3, 5  # passes of a run that are kept where several are drawn


class Frame:
    """A call in progress: of a module, or of a function by its name."""

    __slots__ = ("parent", "called", "origin")

    def __init__(self, parent: Frame | None, called: Any, origin: Any) -> None:
        self.parent, self.called, self.origin = parent, called, origin


class FramingCompiler(StatementCompiler):
    """Functions of the program say when they begin and when they end."""

    watch: DrawnWatch

    def function(self, node: Any, scope: Scope, name: str, doc: str | None) -> Any:
        """What makes a function; its code is told of once."""
        make = super().function(node, scope, name, doc)
        framed = False

        def made(frame: list[Any]) -> Function:
            nonlocal framed
            function: Function = make(frame)
            if not framed:
                framed = True
                code = function.code
                if code.value is not None:
                    code.value = self.watch.framed(code.name, code.value)
                elif code.block is not None:
                    code.block = self.watch.framed(code.name, code.block)
            return function

        return made


class DrawnWatch(StepWatch):
    """A StepWatch that keeps values too, and in which calls each node was made.

    Of the passes it keeps the last one, those with the numbers in `wanted`, or, with `several`,
    the first and the last few.
    """

    several = False
    thorough = True  # local derivatives of all nodes, not only of the first and the last turns

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.frame: Frame | None = None
        self.within: dict[int, tuple[int, Frame]] = {}  # by a node's identity; its sequence number
        self.turns: dict[int, list[int]] = {}  # sequence numbers of nodes, by what made them

    def begin(self, machine: Machine) -> None:
        """Functions will tell that they run."""
        if not isinstance(machine, Machine):
            return  # Python runs it: modules tell of themselves
        before = machine.compiler
        compiler = FramingCompiler(machine.program, machine.globals, machine.overrides)
        compiler.dynamic.update(before.dynamic)
        compiler.watch = self
        machine.compiler = compiler

    def framed(self, name: str, body: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """The body of a function, within a frame."""

        def run(frame: Any) -> Any:
            before = self.frame
            if name == "forward" and before is not None and not isinstance(before.called, str):
                return body(frame)  # its module's frame is there already
            self.frame = Frame(before, name, state.origin)
            try:
                return body(frame)
            finally:
                self.frame = before

        return run

    # ---- what the engine tells

    def entering(self, module: Any) -> None:
        super().entering(module)
        self.frame = Frame(self.frame, module, state.origin)

    def leaving(self, module: Any) -> None:
        super().leaving(module)
        if self.frame is not None:
            self.frame = self.frame.parent

    def made(self, tensor: Any) -> None:
        super().made(tensor)
        node = None if tensor is None else tensor.grad_fn
        if node is None:
            return
        sequence = sequence_of(node)
        if self.frame is not None:
            self.within[id(node)] = sequence, self.frame
        if not self.thorough:
            self.turns.setdefault(id(origin_of(node)), []).append(sequence)

    def derivatives(self, node: Any, grads: tuple[Any, ...]) -> tuple[Local | None, ...]:
        """The local derivatives of a node that may be drawn: no picture shows the middle turns."""
        turns = self.turns.get(id(origin_of(node)), ())
        if len(turns) > 2 * TURNS and turns[TURNS] <= sequence_of(node) < turns[-TURNS]:
            return ()
        return local_derivatives(node, grads)

    def started(self, *facts: Any) -> None:
        if self.only is None and not self.several and not self.active:
            self.walks.clear()
            self.room = ROOM
        super().started(*facts)

    def _over(self) -> None:
        before = dict(self.passes) if self.several else {}
        super()._over()
        if self.several:
            self.passes.update(before)
            for number in [n for n in self.passes if FIRST < n <= self.count - LAST]:
                del self.passes[number]
                self.walks.pop(number, None)

    # ---- what it amounts to

    def kept(self) -> list[int]:
        """The numbers of the passes that are kept."""
        return sorted(self.passes)

    def frame_of(self, node: Any) -> Frame | None:
        """The innermost call that made a node."""
        sequence, frame = self.within.get(id(node), (None, None))
        return frame if sequence == sequence_of(node) else None


def recorded(
    request: Request, write: Callable[[str], None] | None, wishes: Wishes = NO_WISHES,
    *, number: int | None = None, several: bool = False, thorough: bool = True,
) -> Ran:  # fmt: skip
    """The run that is drawn: everything that `trace` and `step` keep of it, and the calls."""
    binder, watch = spectators(wishes)
    watch.thorough = thorough
    watch.several = several
    watch.only = number or None  # of every pass the last one is drawn
    watch.wanted = shown.wanted(number)
    return execute(request, write, binder, watch)


def spectators(wishes: Wishes = NO_WISHES) -> tuple[Binder, DrawnWatch]:
    """Who keeps all of it."""
    watch = DrawnWatch(current_line, snapshot, memory=memory, values=True)
    watch.origin, watch.node_of = lambda: state.origin, edge_of
    watch.local = watch.derivatives
    return Binder(wishes, watch), watch


def detail(ran: Ran, found: Collected, number: int | None, *, texts: bool) -> DetailFact | None:
    """The calls that made the nodes, their order, the steps of the pass of that number."""
    binder, watch = ran.seen(Binder), ran.seen(DrawnWatch)
    if binder is None or watch is None or ran.outcome is None:
        return None
    makings, frames = _makings(watch, found, _paths(ran, binder))
    walk = None if number is None else watch.walks.get(number)
    if walk is None:
        return DetailFact(makings, frames)
    ids = {id(node): at for at, node in enumerate(found.alive)}
    namer = Namer(ran, tensor_names(ran, found))
    assert number is not None
    fact = walk_fact(number, walk, ran, namer, ids, texts=texts, same_as=None)
    return DetailFact(makings, frames, fact)


def _paths(ran: Ran, binder: Binder) -> Mapping[int, str]:
    """The names of modules, those that only functions knew too."""
    assert ran.outcome is not None
    return module_names(binder.reached(ran.outcome.bindings))


def _makings(
    watch: DrawnWatch, found: Collected, paths: Mapping[int, str]
) -> tuple[tuple[MakingFact, ...], tuple[FrameFact, ...]]:
    frames: list[FrameFact] = []
    numbers: dict[Frame, int] = {}
    inner = [node for node in found.alive if node.next_functions]
    inner.sort(key=sequence_of)
    order = {id(node): place for place, node in enumerate(inner, 1)}
    makings = []
    for node in found.alive:
        frame = watch.frame_of(node)
        at = None if frame is None else _numbered(frame, frames, numbers, paths)
        makings.append(MakingFact(order.get(id(node)), at, watch.freed_by.get(id(node))))
    return tuple(makings), tuple(frames)


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
