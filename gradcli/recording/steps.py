"""Recording: every step of the backward passes that are kept, in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..engine.passes.hook_calls import with_history
from .hook_log import HookLog
from .measures import bytes_of
from .passes import Pass, Passes
from .sides import FLOATS, apart, edge_of, kept_by, shape_of, with_one_shape
from .spectator import Spectator

ROOM = 256 * 2**20  # bytes of gradients that are held; of later ones only the shape is
PASSES = 1000  # that `step` keeps
LARGEST = 65_536  # bytes of one gradient that is copied

Key = tuple[int, int]  # a node's identity and the number of its output


class Dropped:
    """Stands for a gradient that is too large to be held."""

    __slots__ = ("shape", "dtype")

    def __init__(self, value: Any) -> None:
        self.shape, self.dtype = shape_of(value), value.dtype


class Local:
    """A local derivative, as it was found before the node ran: see `LocalFact`."""

    __slots__ = ("kind", "value", "words")

    def __init__(self, kind: str, value: Any = None, words: str = "") -> None:
        self.kind, self.value, self.words = kind, value, words


class Step:
    """One node of a pass. `parts` are, for each output, (step, place of its edge) of whoever
    handed something to it; step 0 is the beginning of the pass."""

    __slots__ = (
        "node", "variable", "parts", "grads", "used", "locals", "results", "first_hook",
        "last_hook", "before", "after", "has_run", "is_stored", "is_captured", "is_withheld",
        "retained", "kept",
    )  # fmt: skip

    def __init__(self, node: Any, first_hook: int) -> None:
        self.node = node
        self.variable: Any = None
        self.parts: tuple[tuple[tuple[int, int], ...], ...] = ()
        self.grads: tuple[Any, ...] = ()
        self.used: tuple[Any, ...] | None = None
        self.locals: tuple[Local | None, ...] = ()
        self.results: Sequence[Any] = ()
        self.first_hook = self.last_hook = first_hook
        self.before: Any = None
        self.after: Any = None
        self.has_run = self.is_stored = self.is_captured = False
        self.is_withheld = self.retained = False
        self.kept: tuple[str, ...] = ()


class Walk:
    """The steps of one pass, while it runs and afterwards."""

    def __init__(self, over: Pass) -> None:
        self.over = over
        self.seeds: tuple[Any, ...] = ()
        self.steps: list[Step] = []
        self.numbers: dict[int, int] = {}  # of the step of a node, by the node's identity
        self.pending: dict[Key, list[tuple[int, int]]] = {}
        self.leaves: dict[int, Any] = {}  # the nodes of leaves, by the leaf's identity
        self.bytes = self.freed = 0
        self.found: tuple[int, dict[tuple[int, int], int]] = 0, {}

    def receivers(self) -> dict[tuple[int, int], int]:
        """The step that was given what a step handed to one of its edges."""
        if self.found[0] != len(self.steps):
            self.found = (
                len(self.steps),
                {
                    part: number
                    for number, step in enumerate(self.steps, 1)
                    for parts in step.parts
                    for part in parts
                },
            )
        return self.found[1]

    def contribute(self, node: Any, number: int, step: int, place: int) -> None:
        """A step hands something to an output of a node."""
        self.pending.setdefault((id(node), number), []).append((step, place))
        variable = getattr(node, "variable", None)
        if variable is not None:
            self.leaves[id(variable)] = node

    def parts(self, node: Any, outputs: int) -> tuple[tuple[tuple[int, int], ...], ...]:
        """What came for each output of a node."""
        take, key = self.pending.pop, id(node)
        if outputs == 1:  # as most have
            return (tuple(take((key, 0), ())),)
        return tuple(tuple(take((key, i), ())) for i in range(outputs))


class Steps(Spectator):
    """Keeps every step of the passes that are kept; with `alone`, of the last of them.

    `local` finds the local derivatives of a node that is about to run, and `begun` hears that a
    step begins, when all before it are over, and that a pass has ended.
    """

    local: Callable[[Any, tuple[Any, ...]], tuple[Local | None, ...]] = staticmethod(
        lambda node, grads: ()
    )
    begun: Callable[[Walk], None] = staticmethod(lambda walk: None)
    alone = False
    is_prompt = True

    def __init__(self, passes: Passes, hooks: HookLog) -> None:
        self.passes, self.hooks = passes, hooks
        self.room = ROOM

    @property
    def walks(self) -> dict[int, Walk]:
        """By the number of the pass."""
        kept = sorted(self.passes.kept.items())
        return {number: one.walk for number, one in kept if one.walk is not None}

    # ---- events of the engine

    def began(self, one: Pass) -> None:
        if self.alone and len(self.passes.running) == 1:
            self.room = ROOM
            for before in self.passes.kept.values():
                before.walk = None
        if not one.is_kept:
            return
        walk = one.walk = Walk(one)
        walk.seeds = tuple(self._as_now(gradient) for gradient in one.gradients)
        for place, root in enumerate(one.roots):
            walk.contribute(edge_of(root), root.output_nr, 0, place)

    def hooking(self, kind: str, node: Any, hook: Any, number: int, value: Any) -> None:
        if self.walk is not None and not kind.startswith("module"):
            self._step(self.walk, node)

    def hooked(self, kind: str, node: Any, hook: Any, number: int, before: Any, after: Any) -> None:
        if self.walk is not None and self.walk.steps:
            self.walk.steps[-1].last_hook = len(self.hooks.runs)

    def arrived(self, node: Any, grads: tuple[Any, ...]) -> None:
        walk = self.walk
        if walk is None:
            return
        grads = grads[: with_history(node, grads)]
        parts = walk.parts(node, len(grads))
        if walk.over.inputs is not None and not any(parts):
            return  # nothing that was requested lies behind what would pass on to it
        step = self._step(walk, node)
        step.parts = parts
        step.grads = tuple(map(self._as_now, grads))
        step.locals = self.local(node, grads)
        if walk.over.buffers is not None:
            step.kept = tuple([name for name, _ in kept_by(node)])

    def applied(self, node: Any, grads: tuple[Any, ...], results: Sequence[Any]) -> None:
        walk = self.walk
        if walk is None:
            return
        step = self._step(walk, node)
        step.has_run = True
        if step.first_hook != step.last_hook:
            step.used = tuple(map(self._as_now, grads[: len(step.grads)]))
        step.results = tuple(map(self._as_now, results))
        number = len(walk.steps)
        for place, (child, output_nr) in enumerate(node.next_functions):
            if child is not None and results[place] is not None:
                walk.contribute(child, output_nr, number, place)

    def accumulated(self, variable: Any, grad: Any) -> None:
        walk = self.walk
        if walk is None:
            return
        node = walk.leaves.get(id(variable))
        if node is None:  # a retained gradient
            return
        step = self._step(walk, node)
        step.grads = (self._as_now(grad),)
        step.before = None if variable.grad is None else self._copied(variable.grad)

    def stored(self, variable: Any) -> None:
        if self.walk is not None and id(variable) in self.walk.leaves:
            step = self.walk.steps[-1]
            step.after, step.is_stored = self._copied(variable.grad), True

    def retaining(self, node: Any) -> None:
        if self.walk is not None:
            self._step(self.walk, node).retained = True

    def withheld(self, variable: Any, grad: Any) -> None:
        if self.walk is not None and id(variable) in self.walk.leaves:
            step = self._step(self.walk, self.walk.leaves[id(variable)])
            step.grads, step.is_withheld = (self._as_now(grad),), True

    def captured(self, node: Any, place: int, grad: Any) -> None:
        super().captured(node, place, grad)
        walk = self.walk
        if walk is None or node is None:
            return
        step = self._step(walk, node)
        step.is_captured = True
        if not step.grads:  # PyTorch returns it, and does not run the node
            step.grads, step.parts = (self._as_now(grad),), step.parts or walk.parts(node, 1)

    def over(self, one: Pass, freed: list[Any]) -> None:
        if one.walk is None:
            return
        self.begun(one.walk)
        one.walk.pending.clear()
        if one.buffers is not None:
            one.walk.bytes = one.buffers.heaps.bytes
            one.walk.freed = 0 if one.keep else one.buffers.saving

    # ---- how it is kept

    @property
    def walk(self) -> Walk | None:
        """The pass in progress, if it is kept."""
        running = self.passes.running
        return running[-1].walk if running else None

    def _step(self, walk: Walk, node: Any) -> Step:
        """The step of this node, begun if it is new."""
        if walk.steps and walk.steps[-1].node is node:
            return walk.steps[-1]
        step = Step(node, len(self.hooks.runs))
        step.variable = getattr(node, "variable", None)
        if step.variable is not None:
            step.parts = walk.parts(node, 1)
        self.begun(walk)
        walk.steps.append(step)
        walk.numbers[id(node)] = len(walk.steps)
        return step

    def _as_now(self, value: Any) -> Any:
        """A gradient as it is now: a hook may change in place what it is given, the program what a
        pass returned, and the next pass what a leaf has stored."""
        if value is None:
            return None
        is_number = value.__class__ in FLOATS
        size = value.nbytes if is_number else bytes_of(value)
        if size > self.room or size > LARGEST:
            return Dropped(value)
        self.room -= size
        if is_number:  # as `apart` does it
            return +value
        return self._copied(value) if hasattr(value, "detach") else apart(value)

    def _copied(self, value: Any) -> Any:
        if bytes_of(value) > LARGEST:
            return Dropped(value)
        return with_one_shape(value).detach().clone() if hasattr(value, "detach") else value.copy()
