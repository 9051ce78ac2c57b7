"""Questions: the steps of a pass as facts, each made when it is read."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import starmap
from typing import Any, overload

import numpy

from ...engine.tensors.tensor_type import kind_of_array
from ...pipeline.request import Ran
from ...recording.collect import short_name
from ...recording.facts import EventFact, NodeFact, Place, Spread
from ...recording.facts.steps import (
    EdgeFact,
    LocalFact,
    PartFact,
    RootFact,
    StepFact,
    ValueFact,
    WalkFact,
)
from ...recording.holding import named_tensors, parameters
from ...recording.numbers import numbers, range_of, text_of
from ...recording.operands import reader
from ...recording.sides import (
    AnyTensor,
    edges_of,
    elsewhere_of,
    mark_of,
    node_of,
    origin_of,
    row_of,
    with_one_shape,
)
from ...recording.snapshot import as_tensor
from ...recording.steps import Dropped, Local, Step, Walk
from ..graph import module_names, places
from ..ledger import NAMELESS, Names as TensorNames
from ..seeds import is_one, symbol_of

NUMBERS = {numpy.float32: "float32", numpy.float64: "float64"}
SHORT = 14  # characters of a factor that stands before its value
_INNER = re.compile(r"Backward\d*$")


class Namer:
    """What nodes and tensors are called."""

    def __init__(self, ran: Ran, tensor_names: TensorNames) -> None:
        recording = ran.recording
        assert ran.program is not None and ran.outcome is not None
        self.values, self.source = ran.outcome.bindings, ran.program.source
        self.modules = module_names(self.values)
        self.called, self.called_inside = recording.names.called, recording.names.called_inside
        self.results = recording.names.results
        self.tensor_names = tensor_names
        self.place_of = places(ran.program)
        self.operands = reader()
        self.hooks, self.orders = recording.hooks, recording.orders
        # The last node of a tensor that was changed in place had no name when it was made; a leaf
        # may have several.
        reached = recording.names.reached(self.values)
        every = (*named_tensors(self.values, AnyTensor), *parameters(reached, AnyTensor))
        self.held = [(name, id(node_of(tensor) or tensor)) for name, tensor in every]
        self.last = {identity: name for name, identity in reversed(self.held)}
        self.counts = dict(self.results.counts)
        for name, tensor in every:  # as `paths` numbers them
            node = node_of(tensor)
            if name in self.counts and node is not None and self.called(node) is None:
                self.counts[name] += 1
        self.factors: dict[tuple[int, int], str] = {}  # by the expression and the factor's place

    def name(self, node: Any, user: Any = None) -> str:
        """The name of the tensor that a node made, else the words that made it; of a node inside
        the expression of the one that uses its result, what it does."""
        variable = getattr(node, "variable", None)
        if variable is not None:
            name = self.tensor_names(variable)[0]
            return "a leaf" if name == NAMELESS else name
        bound = self.called(node)
        if bound is not None:
            name, number = bound
            return f"{name}#{number}" if self.counts[name] > 1 else name
        if id(node) in self.last:
            name = self.last[id(node)]
            return f"{name}#{count}" if (count := self.counts.get(name, 0)) > 1 else name
        place, called, there = self.place(node), self.called_inside(node), elsewhere_of(node)
        if place is not None and place.target and called:
            if there is None or called == place.target:
                return place.target  # in each turn of a loop
        inner = user is not None and origin_of(user) is origin_of(node)
        if inner and there is not None and not self.is_derived(node):
            if there != elsewhere_of(user) or called == there.target != "":
                return there.target or there.source or _INNER.sub("", short_name(node))
        if place is None or inner or self.is_derived(node):
            return _INNER.sub("", short_name(node))
        return place.target or place.text

    def outputs(self, step: Step, user: Any) -> tuple[str, ...]:
        """What the several results of a node are called: a and b of a, b = x.chunk(2); empty where
        the text has no words for them, as for what a loss or a normalisation keeps for itself."""
        node, row = step.node, row_of(step.node)
        made = 1 if row is None else len(row.signature.outputs)  # indices beside a maximum too
        count = len(step.grads)
        if count < 2 and made < 2:  # as most have
            return ()
        place = self.place(node)
        inner = user is not None and origin_of(user) is origin_of(node)
        if place is None or inner or self.is_derived(node):
            return ()
        if len(place.parts) in (count, made):
            numbers: dict[str, int] = {}
            mark, results = mark_of(node), self.results
            at = results.place(mark)
            while at is not None and at >= 0 and results.marks[at]() is mark:
                numbers.setdefault(results.names[at], results.numbers[at])
                at -= 1
            once = all(self.counts.get(name, 0) < 2 for name in place.parts)
            if once or place.parts[0] in numbers:
                return tuple(f"{name}#{numbers[name]}" if self.counts.get(name, 0) > 1 else name
                             for name in place.parts)  # fmt: skip
        if not any(step.parts[1:]):
            return ()
        return tuple(f"{place.target or place.text}[{i}]" for i in range(count))

    def is_derived(self, node: Any) -> bool:
        """Whether a backward pass made this node: it stands where the node stands that ran."""
        return self.orders.is_any and self.orders.maker(node) is not None

    def place(self, node: Any) -> Place | None:
        return None if hasattr(node, "variable") else self.place_of(node)

    def constant(self, node: Any, at: int) -> str:
        """The name of an input of a node that requires no gradient, where the text tells it."""
        place = self.place(node)
        if place is None or self.is_derived(node):
            return ""
        edges = tuple(None for _ in node.next_functions)
        words = self.operands(NodeFact(0, "", edges, place))
        name = words[at] if at < len(words) else ""
        value = self.values.get(name)
        return name if isinstance(value, AnyTensor) and not value.requires_grad else ""

    def factor(self, node: Any, place: int) -> str:
        """Of a product of two tensors the text of the other factor: it is the derivative."""
        origin = origin_of(node)
        if not isinstance(origin, ast.BinOp) or not isinstance(origin.op, ast.Mult):
            return ""
        if self.is_derived(node):
            return ""
        edges = edges_of(node)
        if getattr(row_of(node), "name", "") != "mul" or len(edges) != 2 or edges[1] is None:
            return ""  # x * k and k * x alike: a number that Python multiplied by
        key = (id(origin), place)
        text = self.factors.get(key)
        if text is None:
            span = self.source.span_of(origin.left if place else origin.right)
            text = self.factors[key] = self.source.words_of(span)
        return text if len(text) <= SHORT else ""

    def root(self, tensor: Any) -> str:
        if tensor.grad_fn is None:
            return self.tensor_names(tensor)[0]
        return self.name(tensor.grad_fn)


class PassSteps(Sequence[StepFact]):
    """The steps of a pass. `texts`: values as PyTorch prints them, else as numbers."""

    def __init__(self, walk: Walk, namer: Namer, ids: Mapping[int, int], *, texts: bool) -> None:
        self.walk, self.namer, self.ids, self.texts = walk, namer, ids, texts
        # What whoever passed on to a node called it, until its own step is read: by its identity.
        self.named: dict[int, tuple[Any, str]] = {}

    def __len__(self) -> int:
        return len(self.walk.steps)

    @overload
    def __getitem__(self, at: int) -> StepFact: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[StepFact]: ...
    def __getitem__(self, at: int | slice) -> StepFact | Sequence[StepFact]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        number = at if at >= 0 else at + len(self)
        return self._fact(number + 1, self.walk.steps[number])

    def _fact(self, number: int, step: Step) -> StepFact:
        node, namer = step.node, self.namer
        is_leaf = step.variable is not None
        place = namer.place(node)
        line = place.line if place is not None else None
        if is_leaf:
            line = namer.tensor_names(step.variable)[1]
        user = self._user(step)
        grads: Any = tuple(map(self._value, step.grads))
        hooks: Any = ()
        used = None
        if step.first_hook != step.last_hook:
            hooks, grads = self._hooks(step), self._incoming(step)
            used = self._used(step, grads)
        by, name = self.named.pop(id(node), (None, ""))
        if by is None or by is not user:
            name = namer.name(node, user)
        return tuple.__new__(StepFact, (
            number, name, short_name(node), is_leaf, place, line,
            grads, self._parts(step), used, self._edges(number, step),
            hooks, self._outcome(number, step), self._value(step.before), self._value(step.after),
            step.retained, self._freed(step),
            namer.is_derived(node), self.ids.get(id(node)), namer.outputs(step, user),
            None if is_leaf else elsewhere_of(node),
        ))  # fmt: skip

    def _user(self, step: Step) -> Any:
        """The node that passed on to this one first."""
        first = step.parts[0] if step.parts else ()
        return self.walk.steps[first[0][0] - 1].node if first and first[0][0] else None

    def name(self, at: int) -> str:
        """What the step at this place is called."""
        step = self.walk.steps[at]
        return self.namer.name(step.node, self._user(step))

    def node_name(self, at: int) -> str:
        """What its node is called."""
        return short_name(self.walk.steps[at].node)

    def _freed(self, step: Step) -> tuple[str, ...]:
        """What a node has released: a node that fails, or that nothing lies behind, keeps it."""
        is_freed = step.has_run and not self.walk.over.keep
        return tuple(dict.fromkeys(step.kept)) if is_freed else ()

    # ---- the incoming gradient

    def _incoming(self, step: Step) -> tuple[ValueFact | None, ...]:
        """What came, before any hook: the sum of its parts."""
        if not step.parts:
            return tuple(map(self._value, step.grads))
        return tuple(self._value(self._sum(parts)) for parts in step.parts)

    def _sum(self, parts: tuple[tuple[int, int], ...]) -> Any:
        total: Any = None
        for at, edge in parts:
            value = self._handed(at, edge)
            if value is None or isinstance(value, Dropped):
                return value
            total = value if total is None else total + value
        return total

    def _handed(self, at: int, edge: int) -> Any:
        return self.walk.seeds[edge] if at == 0 else self.walk.steps[at - 1].results[edge]

    def _parts(self, step: Step) -> tuple[Sequence[PartFact], ...]:
        return tuple(Parts(self.part, parts) for parts in step.parts)

    def part(self, at: int, edge: int) -> PartFact:
        """What a step passed on at one of its edges."""
        value = self._value(self._handed(at, edge))
        assert value is not None  # nothing is passed on for None
        return tuple.__new__(PartFact, (at, value))

    def _used(self, step: Step, incoming: tuple[Any, ...]) -> tuple[ValueFact | None, ...] | None:
        """What the node was given, if a hook changed it."""
        given = step.grads if step.variable is not None else step.used
        if given is None:
            return None
        used = tuple(map(self._value, given))
        return None if used == incoming else used

    # ---- what was passed on

    def _edges(self, number: int, step: Step) -> tuple[EdgeFact, ...]:
        node = step.node
        found = []
        for place, (child, output) in enumerate(node.next_functions):
            if child is not None:
                found.append(self._edge(number, step, place, child, output))
            elif word := self.namer.constant(node, place):
                found.append(EdgeFact(word, "", None, None, "constant", place=place))
        return tuple(found)

    def _edge(self, number: int, step: Step, place: int, child: Any, output: int) -> EdgeFact:
        walk = self.walk
        name = self.namer.name(child, step.node)
        is_leaf = hasattr(child, "variable")
        if not is_leaf:
            self.named[id(child)] = step.node, name
        result = step.results[place] if place < len(step.results) else None
        at = walk.numbers.get(id(child))
        if at is None and result is not None:  # a transformation has connected its node elsewhere
            at = walk.receivers().get((number, place))
        if at is not None and (several := self.namer.outputs(walk.steps[at - 1], step.node)):
            name = several[output]
        if not step.has_run:
            then, at = "nothing", None
        elif at is None and walk.over.inputs is not None:
            then = "kept back"
        elif result is None or at is None:
            then, at = "nothing", None
        elif not is_leaf or walk.steps[at - 1].is_captured or walk.steps[at - 1].is_withheld:
            then = "handed on"
        else:
            parts = walk.steps[at - 1].parts
            then = "stored" if not parts or parts[0][-1] == (number, place) else "waits"
        local = step.locals[place] if place < len(step.locals) else None
        if step.is_captured and not step.has_run:
            local = None  # its gradient was asked for, and nothing behind it
        return tuple.__new__(EdgeFact, (  # there are two for each step
            name, short_name(child), self._local(local, step.node, place), self._value(result),
            then, at, is_leaf, place,
        ))  # fmt: skip

    def _local(self, local: Local | None, node: Any, place: int) -> LocalFact | None:
        if local is None:
            return None
        text = "" if local.value is None else self.namer.factor(node, place)
        return tuple.__new__(LocalFact, (local.kind, self._value(local.value), local.words, text))

    def _outcome(self, number: int, step: Step) -> str:
        if step.is_captured:
            return "captured"
        if step.is_stored:
            return "stored"
        if step.is_withheld:
            return "frozen"
        if step.has_run:
            for grad in step.grads:
                if grad is not None:
                    return "ran"
            return "no gradient"
        if self.walk.over.failed and number == len(self.walk.steps):
            return "failed"
        return "skipped" if step.variable is not None else "reached"

    def _hooks(self, step: Step) -> tuple[EventFact, ...]:
        runs = self.namer.hooks.runs[step.first_hook : step.last_hook]
        return tuple(
            EventFact(run.name or self._hook_name(run.node), run.words, run.before, run.after,
                      run.kind, run.line, run.backward)
            for run in runs
        )  # fmt: skip

    def _hook_name(self, node: Any) -> str:
        named = getattr(node, "_get_name", None)
        if named is None:
            return self.namer.name(node)
        return self.namer.modules.get(id(node)) or str(named())

    # ---- values

    def _value(self, value: Any) -> ValueFact | None:
        if value is None:
            return None
        name = NUMBERS.get(value.__class__)
        if name is not None and not self.texts:  # as most are in a graph of numbers
            return tuple.__new__(ValueFact, ((), name, None, float(value), None))
        if not self.texts and hasattr(value, "strides"):  # an array needs no tensor for its numbers
            return ValueFact(value.shape, kind_of_array(value).dtype.name, value=numbers(value))
        if isinstance(value, Dropped):
            return ValueFact(value.shape, _dtype(value.dtype))
        tensor = with_one_shape(value) if isinstance(value, AnyTensor) else as_tensor(value)
        shape, dtype = tuple(tensor.shape), _dtype(tensor.dtype)
        if not self.texts:
            return ValueFact(shape, dtype, value=numbers(tensor))
        exact = None if shape or not tensor.is_floating_point() else float(tensor.item())
        span = range_of(tensor) if exact is None else Spread(exact, exact)
        return ValueFact(shape, dtype, text_of(tensor), range=span)


def _dtype(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


def walk_fact(
    number: int, walk: Walk, ran: Ran, namer: Namer, ids: Mapping[int, int], *, texts: bool,
    same_as: int | None,
) -> WalkFact:  # fmt: skip
    """A pass as it is reported; `ids` are the numbers of nodes, by their identity."""
    told = PassSteps(walk, namer, ids, texts=texts)
    line, text = None, ""
    over = walk.over
    origin = over.origin
    if ran.program is not None and hasattr(origin, "lineno"):
        span = ran.program.source.span_of(origin)
        line, text = span.line, ran.program.source.words_of(span)
    roots = []
    for root, seed in zip(over.roots, walk.seeds, strict=True):
        value = told._value(seed)
        if value is not None:
            one = value.shape in ((), (1,)) and is_one(numbers(as_tensor(seed)))
            symbol = "" if one else symbol_of(ran, walk.seeds)
            roots.append(RootFact(namer.root(root), value, one, symbol))
    places = walk.numbers | {id(step.variable): number for number, step in enumerate(walk.steps, 1)
                             if step.variable is not None}  # fmt: skip
    return WalkFact(
        number, line, text, over.captures, over.keep, over.creates, over.failed, tuple(roots),
        _kinds(walk) if texts else (), told, Names(told.name, len(told)),
        Names(told.node_name, len(told)), walk.bytes, walk.freed, same_as,
        tuple(ids.get(id(step.node)) for step in walk.steps),
        {name: places[identity] - 1 for name, identity in namer.held if identity in places},
    )  # fmt: skip


def _kinds(walk: Walk) -> tuple[int, ...]:
    """Equal numbers for nodes of one name that one expression made; hooks make a difference."""
    known: dict[object, int] = {}
    kinds = []
    for step in walk.steps:
        hooked = step.first_hook != step.last_hook
        key: tuple[object, ...] = (
            step.node.name(), id(origin_of(step.node)), len(step.parts), hooked,
        )  # fmt: skip
        if step.variable is not None:
            key = ("leaf", hooked)
        kinds.append(known.setdefault(key, len(known)))
    return tuple(kinds)


def same_passes(walks: Mapping[int, Walk]) -> dict[int, int | None]:
    """For each pass, the number of the first that went over nodes of the same places."""
    if len(walks) < 2:
        return dict.fromkeys(walks)
    first: dict[object, int] = {}
    found: dict[int, int | None] = {}
    for number, walk in walks.items():
        steps = tuple(
            (id(origin_of(step.node)), step.node.name())
            if step.variable is None
            else id(step.variable)
            for step in walk.steps
        )
        key = (id(walk.over.origin), walk.over.failed, steps)
        known = first.setdefault(key, number)
        found[number] = None if known == number else known
    return found


class Parts(Sequence[PartFact]):
    """What a gradient is the sum of, each made when it is read: of a shared leaf there are many."""

    def __init__(
        self, part: Callable[[int, int], PartFact], edges: Sequence[tuple[int, int]]
    ) -> None:
        self.part, self.edges = part, edges

    def __len__(self) -> int:
        return len(self.edges)

    def __iter__(self) -> Iterator[PartFact]:
        return starmap(self.part, self.edges)

    @overload
    def __getitem__(self, at: int) -> PartFact: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[PartFact]: ...
    def __getitem__(self, at: int | slice) -> PartFact | Sequence[PartFact]:
        if isinstance(at, slice):
            return Parts(self.part, self.edges[at])
        return self.part(*self.edges[at])


class Names(Sequence[str]):
    """The names of the steps, each looked up on demand."""

    def __init__(self, name: Callable[[int], str], count: int) -> None:
        self.name, self.total = name, count

    def __len__(self) -> int:
        return self.total

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[str]: ...
    def __getitem__(self, at: int | slice) -> str | Sequence[str]:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        return self.name(at)
