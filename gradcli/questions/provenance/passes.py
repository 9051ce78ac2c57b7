"""Questions: the backward passes of a run: what each node received and passed on."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from itertools import takewhile
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy

from ...engine.graph.node import Node
from ...engine.graph.observer import Applied as Listener, OfNodes
from ...engine.schema.mode import state
from ...named import NamedTuple
from ...recording import passes as recorded
from ...recording.below import nodes_below
from ...recording.captured_pass import CapturedPass
from ...recording.measures import bytes_of
from ...recording.modules import is_module
from ...recording.optimizers import Optimizer
from ...recording.recording import Recording
from ...recording.sides import (
    AnyTensor,
    alone,
    apart,
    array_of,
    gradient_of,
    is_end,
    is_tensor,
    node_of,
    nonfinite,
    saved_by,
    sequence_of,
    sides,
    users_class,
)
from ...recording.spectator import Spectator
from .forgetting import ROOM, forget
from .leaf_values import Held, LeafValues

if TYPE_CHECKING:
    from .flow import Flow

FIRST, LAST = 8, 32  # passes that are kept, at each end
DETAILED = 32  # of the last ones, those whose gradients are kept at every node, as far as
LATEST, LARGE = 4, 2**20  # of passes with more bytes than this, fewer are kept so
HEAVY = 512 * 2**20  # so many bytes hold them
RECORD = 400  # bytes for a node
WITHIN = frozenset({type(None), numpy.float32, numpy.float64})  # results whose bytes it covers
ENTRIES = 256  # of one tensor's .grad
ADDED = 32  # of them the gradients that are kept until it is cleared
SMALL = 65_536  # elements of a gradient that is copied


class Applied(NamedTuple):
    """A node in a pass: gradients of its outputs, and of its inputs, and what it had saved.

    `returned` is the return statement of a user's function that was reached last.
    """

    node: Any
    grads: tuple[Any, ...]
    results: Sequence[Any]
    returned: ast.AST | None
    saved: Any
    leaves: dict[int, Held]  # what those of the pass were


class Hooked(NamedTuple):
    """A hook that ran: where it was registered, the gradient before and after."""

    node: Any
    origin: Any
    hook: Any
    before: Any
    after: Any


class _HookInput(NamedTuple):
    """What a hook was given, which it may change in place."""

    tensor: Any
    version: int
    copy: Any


class Entry(NamedTuple):
    """What happened to a tensor's .grad: "add", "clear" or "assign".

    A large gradient is not copied: `alive` tells whether it had any other number than 0.
    """

    kind: str
    tensor: Any
    origin: Any
    number: int
    grad: Any
    nonfinite: int
    alive: bool = True


class Reach(NamedTuple):
    """What a pass could come to. Of PyTorch's passes it stands for the graph, which would lie in
    small pieces among large ones that are free, so that nothing else has room there."""

    numbers: frozenset[int]  # of the nodes
    leaves: Sequence[ref[Any]]

    @classmethod
    def of(cls, one: Pass) -> Reach:
        if one.captured_pass is not None:
            graph = one.captured_pass.graph
            numbers, leaves = [number for number, _, _ in graph.nodes], [*graph.leaves.values()]
        else:
            nodes = list(nodes_below(node for node, _ in one.nodes))
            numbers = [sequence_of(node) for node in nodes if not is_end(node)]
            leaves = [leaf for _, leaf in one.nodes if leaf is not None]
            leaves += [node.variable for node in nodes if is_end(node)]
        return cls(frozenset(numbers), [ref(one) for leaf in leaves for one in _levels(leaf)])

    def has(self, tensor: AnyTensor) -> bool:
        node = node_of(tensor)
        if node is not None:
            return sequence_of(node) in self.numbers
        return any(leaf() is tensor for leaf in self.leaves)


def _levels(leaf: Any) -> Iterable[Any]:
    """A leaf, and the tensor that torch.func has it in the place of."""
    return (leaf,) if sides.live is None else sides.live.levels(leaf)


class Pass:
    """What the nodes of a pass received and passed on, in addition to what the recording keeps."""

    __slots__ = (
        "known", "roots", "since", "step", "nodes", "gradients", "_applied", "ran", "captured_pass",
        "hooks", "bytes", "steps", "shares", "leaves", "reach",
    )  # fmt: skip

    def __init__(self, one: recorded.Pass, roots: Sequence[int], since: int, step: int) -> None:
        self.known, self.roots = one, tuple(roots)
        # How many values there were before the one before, and before it.
        self.since, self.step = since, step
        # (node or None, leaf or None) of each root
        self.nodes = [(node, root if node is None else None) for root, node in
                      ((root, node_of(root)) for root in one.roots)]  # fmt: skip
        self.gradients = list(one.gradients)
        self._applied: dict[int, Applied] | None = {}
        self.ran: list[tuple[Any, ...]] = []  # the fields of `Applied`, read on demand
        self.captured_pass: CapturedPass | None = None
        self.reach: Reach | None = None  # in place of its nodes
        self.leaves: dict[int, Held] = {}  # what they were, by their identity
        self.hooks: list[Hooked] = []
        self.bytes = 0
        self.shares: Any = None  # of its gradients, by the nodes that they went to; see `gradients`
        self.steps: list[Optimizer] = []  # the optimizers that stepped behind it, before the next

    @property
    def applied(self) -> dict[int, Applied] | None:
        """Its nodes as they ran; None where they were dropped."""
        if self._applied is None:
            return None
        if self.captured_pass is not None:
            captured, self.captured_pass = self.captured_pass, None
            for node, grads, results in captured.steps():
                self.ran.append((node, grads, results, None, captured.saved(node)))
        for facts in self.ran:
            self._applied[id(facts[0])] = Applied._make((*facts, self.leaves))
        self.ran.clear()
        return self._applied

    def may_have(self, kind: Callable[[Any], Any]) -> bool:
        """Might one of its nodes be of a kind? Each row and class is asked once, before all nodes
        are laid out."""
        if self.captured_pass is not None:
            return True
        nodes = [facts[0] for facts in self.ran]
        nodes += [applied.node for applied in (self._applied or {}).values()]
        rows = {node.row: node for node in nodes if node.__class__ is Node}
        others = [node for node in nodes if node.__class__ is not Node]
        return any(map(kind, [*rows.values(), *others]))

    def forget(self) -> None:
        """The gradients are dropped."""
        if sides.live is not None:
            self.reach, self.nodes = Reach.of(self), []
        self._applied = self.captured_pass = self.shares = None
        self.ran.clear()
        self.leaves.clear()

    def reaches(self, tensor: AnyTensor) -> bool:
        """Whether it could have come to a tensor."""
        if self.reach is not None:
            return self.reach.has(tensor)
        own = node_of(tensor)
        return any(leaf is tensor for _, leaf in self.nodes) or any(
            node is own or any(one is tensor for one in _levels(getattr(node, "variable", None)))
            for node in nodes_below(node for node, _ in self.nodes)
        )

    @property
    def is_held(self) -> bool:
        """Whether they are there."""
        return self._applied is not None

    @property
    def number(self) -> int:
        return self.known.number

    @property
    def origin(self) -> Any:
        return self.known.origin


class Passes(Spectator):
    """Watches the engine while a program runs."""

    __slots__ = (
        "flow", "passes", "numbers", "running", "entries", "registered_at", "first_bad", "refusals",
        "shapeless", "bytes", "optimizers", "leaf_values", "given", "most", "before_step",
    )  # fmt: skip

    def __init__(self, flow: Flow, recording: Recording) -> None:
        self.flow = flow
        self.passes: list[Pass] = []
        self.numbers = recording.passes
        self.running = 0
        self.entries: dict[int, list[Entry]] = {}
        self.registered_at: dict[int, Any] = {}
        self.first_bad: Pass | None = None
        self.refusals: list[tuple[ast.AST, int]] = []
        self.shapeless: list[tuple[ast.AST, int]] = []
        self.optimizers = recording.optimizers
        self.leaf_values = LeafValues()
        self.bytes = 0
        self.most = ROOM  # values, until it is time to give some up
        self.before_step: list[Pass] = []  # those behind which optimizers stepped last
        self.given: list[_HookInput] = []  # to the hook that is running

    def refuse(self, node: ast.AST, root: AnyTensor, shaped: bool) -> None:
        """A call that would have begun a pass, had its root required grad, or been a scalar."""
        (self.shapeless if shaped else self.refusals).append((node, self.flow.value_of(root)))

    def since(self, number: int) -> Passes:
        """What it keeps of passes after this one."""
        later = copy(self)
        later.passes = [one for one in self.passes if one.number > number]
        return later

    def before_steps_of(self, tensor: AnyTensor) -> Passes:
        """Only the passes behind which an optimizer stepped that has the tensor; all, if none."""
        meant = [one for one in self.passes if any(step.has(tensor) for step in one.steps)]
        found = copy(self)
        found.passes = meant or self.passes
        return found

    # ------------------------------------------------------------ events of the engine

    def stepping(self, optimizer: Any) -> None:
        one = self.optimizers.known.get(id(optimizer))
        fresh = list(takewhile(lambda each: not each.steps, reversed(self.passes)))
        self.before_step = fresh or self.before_step
        for each in self.before_step:
            if one is not None and one not in each.steps:
                each.steps.append(one)

    def changed(self, tensor: Any) -> None:
        if not self.running:
            self.flow.changed(tensor)

    def registered(self, number: int, hook: Any) -> None:
        self.registered_at[number] = state.origin

    def assigned(self, tensor: Any, value: Any) -> None:
        held = gradient_of(tensor)
        if value is None and held is None:
            return
        if value is None:
            self._enter("clear", tensor, value)
        else:
            self._enter("assign", tensor, value, nonfinite(value))

    def accumulated(self, variable: Any, grad: Any) -> None:
        self._added(variable, grad, nonfinite(grad))

    def gathered(self, came: Sequence[tuple[Any, Any]]) -> None:
        live = sides.live
        fine = set() if live is None else live.all_finite([grad for _, grad in came])
        for variable, grad in came:
            self._added(variable, grad, 0 if id(grad) in fine else nonfinite(grad))

    def _added(self, variable: Any, grad: Any, wrong: int) -> None:
        held = self.leaf_values.at(variable)
        if held is not None:
            if self.optimizers.known:
                self.leaf_values.first.setdefault(id(variable), held)
            if self.passes and self.passes[-1].is_held:
                self.passes[-1].leaves[id(variable)] = held
        self._enter("add", variable, grad, wrong)

    def began(self, one: recorded.Pass) -> None:
        flow = self.flow
        since = self.passes[-1].step if self.passes else 0
        made = Pass(one, [flow.value_of(root) for root in one.roots], since, len(flow.values))
        flow.last_return = None
        flow.cut.clear()
        self.running += 1
        self.passes.append(made)
        if len(self.passes) > DETAILED:
            self._forget(self.passes[-DETAILED - 1])
        if len(self.passes) > LATEST and self.passes[-LATEST - 1].bytes > LARGE:
            self._forget(self.passes[-LATEST - 1])
        if len(self.passes) > FIRST + LAST and self.passes[FIRST] is not self.first_bad:
            del self.passes[FIRST]
            if len(flow.values) > self.most:
                self._forget_steps()

    def _forget_steps(self) -> None:
        """Of passes that were dropped, the steps before them are too."""
        passes, flow = self.passes, self.flow
        spans = [(0, passes[FIRST - 1].step), (passes[FIRST].since, len(flow.values))]
        if self.first_bad is not None:
            spans.append((self.first_bad.since, self.first_bad.step))
        forget(flow, spans)
        self.most = len(flow.values) + ROOM

    def applied(self, node: Any, grads: tuple[Any, ...], results: Sequence[Any]) -> None:
        current, returned = self.passes[-1], None
        if node.__class__ is not Node and users_class(node):
            returned, self.flow.last_return = self.flow.last_return, None
        if current.is_held:
            size = RECORD
            for value in results:
                if value.__class__ not in WITHIN:
                    size += bytes_of(value)
            if self._has_room(current, size):
                grads, results = tuple(map(apart, grads)), tuple(map(apart, results))
                current.ran.append((node, grads, results, returned, saved_by(node)))

    def _has_room(self, current: Pass, size: int) -> bool:
        """Whether so much more of a pass may be held; older ones make room for it."""
        current.bytes += size
        self.bytes += size
        if self.bytes > HEAVY:
            for old in self.passes:
                self._forget(old)
                if self.bytes <= HEAVY:
                    break
        return current.is_held

    def of_nodes(self, *, at_once: bool = False) -> OfNodes:
        """Of a pass that PyTorch went over by itself nothing is looked at before it is asked."""
        if at_once:
            return OfNodes([], [], [], [self._read_captured], hands=True)
        return OfNodes([], [], [self._hearing()], leaves_last=True)

    def _hearing(self) -> Listener:
        """What observes the nodes of the pass that begins: most are the engine's own, and pass on
        numbers."""
        current = self.passes[-1]
        passes, ran = self.passes, current.ran

        def applied(node: Any, grads: tuple[Any, ...], results: Sequence[Any]) -> None:
            plain = node.__class__ is Node and passes[-1] is current
            if plain and current._applied is not None and self.bytes < HEAVY:
                copies: list[Any] = []
                for value in results:  # as `apart` does it: +value is another object
                    kind: Any = value.__class__
                    if kind not in WITHIN:
                        break
                    copies.append(None if value is None else +value)
                else:
                    current.bytes += RECORD
                    self.bytes += RECORD
                    alone = len(grads) == 1 and grads[0] is not None
                    grads = (+grads[0],) if alone else tuple(map(apart, grads))
                    ran.append((node, grads, tuple(copies), None, node.saved))
                    return
            self.applied(node, grads, results)

        return applied

    def _read_captured(self, captured: CapturedPass) -> None:
        current = self.passes[-1]
        if self._has_room(current, captured.bytes + RECORD * len(captured.nodes)):
            current.captured_pass = captured

    def _forget(self, one: Pass) -> None:
        """The gradients of a pass are dropped."""
        if one.is_held and one is not self.first_bad:
            self.bytes -= one.bytes
            one.forget()

    def hooking(self, kind: str, node: Any, hook: Any, number: int, value: Any) -> None:
        given = value if isinstance(value, tuple) else (value,)
        given = () if kind == "post accumulate" else given  # that one is given the leaf
        self.given = [_HookInput(one, one._version, one.detach().clone()) for one in given
                      if is_tensor(one) and one.numel() <= SMALL]  # fmt: skip

    def hooked(self, kind: str, node: Any, hook: Any, number: int, before: Any, after: Any) -> None:
        current = self.passes[-1]
        changed = {id(one.tensor): one.copy for one in self.given
                   if one.tensor._version != one.version}  # fmt: skip
        if isinstance(before, tuple):
            before = tuple(changed.get(id(one), one) for one in before)
        else:
            before = changed.get(id(before), before)
        if len(current.hooks) < ENTRIES:
            origin = self.registered_at.get(number)
            last = current.hooks[-1] if current.hooks else None
            if last is not None and is_module(last.node) and hasattr(hook, "__self__"):
                origin, hook = last.origin, last.hook  # how a module's hook reaches the node
            current.hooks.append(Hooked(node, origin, hook, before, after))
        self.flow.last_return = None  # what comes now is no return of the hook's

    def over(self, one: recorded.Pass, freed: list[Any]) -> None:
        self.running -= 1

    def every_node(self) -> dict[int, Applied]:
        """What the passes that are kept saw of their nodes."""
        return {key: one for each in self.passes for key, one in (each.applied or {}).items()}

    # ------------------------------------------------------------ .grad

    def _enter(self, kind: str, tensor: AnyTensor, grad: Any, wrong: int = 0) -> None:
        held = self.entries.setdefault(id(tensor), [])
        if held and held[0].tensor() is not tensor:
            held.clear()
        origin = self.passes[-1].origin if kind == "add" and self.passes else state.origin
        copy = alone(grad) if grad is not None and grad.numel() <= SMALL else None
        number = self.passes[-1].number if self.passes else -1
        alive = grad is not None and (copy is not None or bool(array_of(grad).any()))
        if kind == "clear":
            _without_gradients(held)
        held.append(Entry(kind, ref(tensor), origin, number, copy, wrong, alive))
        if wrong and self.first_bad is None and self.passes:
            self.first_bad = self.passes[-1]
        if len(held) > ADDED:
            held[-ADDED - 1] = held[-ADDED - 1]._replace(grad=None)
        if len(held) > ENTRIES:
            del held[ENTRIES // 2]

    def entries_of(self, tensor: AnyTensor) -> list[Entry]:
        """What happened to this tensor's .grad, in order."""
        held = self.entries.get(id(tensor), [])
        return held if held and held[0].tensor() is tensor else []


def _without_gradients(held: list[Entry]) -> None:
    """What was in `.grad` before it is cleared: that it was there is enough."""
    for place in range(len(held) - 1, -1, -1):
        if held[place].kind == "clear":
            return
        held[place] = held[place]._replace(grad=None)
