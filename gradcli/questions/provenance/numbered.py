"""Questions: the values of a run by their numbers, and the steps that made them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from weakref import ref

import numpy

from ...engine.graph.node import Node
from ...engine.schema.mode import state
from ...engine.schema.numpy_wrappers import Wrapped
from ...engine.tensors.tensor import Tensor
from ...language.tracing import Inner, Listener
from ...recording.looking import is_a
from ...recording.modules import is_distribution, is_module, named_parameters, tensors_of
from ...recording.sides import OWN, AnyTensor, is_tensor, mark_of, node_of, nonfinite, word_of
from .outputs import Outputs
from .values import Chosen, Sources, Step, is_owner, items, name_of
from .whole_numbers import WholeNumbers

MOST_STEPS = 2_000_000
HELD = (float, Wrapped, numpy.ndarray, numpy.floating)  # known again by their identity


class Numbered(Listener):
    """Gives each value a number when it is met first, and another one when it is replaced."""

    __slots__ = (
        "values", "held", "looked", "limit", "known", "nodes", "floats", "withs", "switch",
        "grad_enabled", "unset", "whole", "cut",
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self.values: list[tuple[Any, ...]] = []  # the fields of `Step`: a plain tuple is quicker
        self.held: list[int] = []  # of the first `looked` values those that were not given up
        self.looked, self.limit = 0, MOST_STEPS
        self.known: dict[int, int] = {}  # by a tensor's identity
        self.nodes = Outputs(self._leaf)
        self.floats: dict[int, tuple[Any, int]] = {}  # held, so that an identity stays one
        self.withs: list[tuple[ast.AST, bool, bool]] = []
        self.switch: ast.AST | None = None
        self.grad_enabled: Callable[[], bool] = OWN.grad_enabled
        self.unset: set[int] = set()  # leaves without numbers yet
        self.whole = WholeNumbers()
        self.cut: set[int] = set()  # what such operations made since the last pass

    def value(self, number: int) -> Step:
        """The value with this number."""
        return Step._make(self.values[number])

    def step(self, number: int) -> Step | None:
        """The same; None where it is not known what made it."""
        facts = self.values[number]
        return None if facts[1] is None else Step._make(facts)

    def numbers(self) -> list[int]:
        """The numbers of the values of which it is known."""
        every, values = (*self.held, *range(self.looked, len(self.values))), self.values
        return [number for number in every if values[number][1] is not None]

    @property
    def wrong(self) -> list[Step]:
        """What made values that are not finite."""
        return [Step._make(facts) for facts in self.values if facts[-3] and facts[1] is not None]

    def look(self) -> None:
        """Some have been given up."""
        self.held, self.looked = self.numbers(), len(self.values)
        self.limit = MOST_STEPS + self.looked - len(self.held)

    @property
    def is_full(self) -> bool:
        """Whether nothing more is noted."""
        return len(self.values) >= self.limit

    def alive(self, number: int) -> Any:
        """The tensor of a value, if it is there still."""
        return None if (held := self.values[number][0]) is None else held()

    def child_of(self, value: Any) -> Any:
        """What stands for a value among the parts of an expression."""
        kind = type(value)
        if is_tensor(value):
            return self.value_of(value)
        if is_a(value, HELD):
            held = self.floats.get(id(value))
            if held is not None and held[0] is value:
                return held[1]
            base = getattr(value, "base", None)  # a row of an array that is gone through
            return self.child_of(base) if isinstance(base, numpy.ndarray) else None
        if is_distribution(value):
            return Sources(map(self.value_of, filter(is_tensor, tensors_of(value))))
        kept = kind in (list, tuple, dict) or is_a(value, tuple) or is_owner(value)
        return value if kept else None

    def value_of(self, tensor: AnyTensor) -> int:
        """The number of what a tensor is at this moment; one that was not reported gets one."""
        known = self.known.get(id(tensor))
        if known is not None:
            facts = self.values[known]
            if facts[0]() is not tensor:
                known = None
            elif tensor.__class__ is Tensor:  # as most are, without a detour
                function = tensor._grad_fn
                if facts[-1] == (None if function is None else function.sequence):
                    return known
        made_by = node_of(tensor)
        node = None if made_by is None else mark_of(made_by)
        if known is not None:
            if facts[-1] == _output(node, tensor.output_nr):
                return known
            origin = getattr(node, "origin", None)
            if node is not None and isinstance(origin, ast.AST):
                return self._record(origin, tensor, [known])
            if node is None and facts[-1] is not None and isinstance(state.origin, ast.AST):
                return self._record(state.origin, tensor, [known])  # detach_()
        return self._record(None, tensor, [])

    def _record(
        self, node: ast.AST | None, tensor: AnyTensor, sources: Iterable[int], owner: Any = None
    ) -> int:
        """A new number for a tensor; of the `owner` that made it, a module or the tensors of a
        distribution, some may be unused."""
        if tensor.__class__ is Tensor and tensor._meta is None:  # what most results are
            function = made_by = tensor._grad_fn
            tracked, output_nr = tensor._requires_grad, tensor._output_nr
            enabled = state.grad_enabled
        else:
            made_by = node_of(tensor)
            function = None if made_by is None else mark_of(made_by)
            tracked, output_nr = tensor.requires_grad, tensor.output_nr
            enabled = self.grad_enabled()
        live = self.nodes.above(made_by) if made_by is not None else ()
        sources = tuple(sources)
        dead = [] if sources == live else [source for source in sources if source not in live]
        if dead and owner is not None and made_by is not None:
            dead = [*self._used(owner, dead), *self._left_in(node)]
        if node is None:
            base = tensor._base if function is None else None
            if base is not None and base is not tensor:
                dead.append(self.value_of(base))
            # A view that a library made while gradients were off has no node to tell its origin.
            origin = getattr(function, "origin", state.origin if dead else None)
            node = origin if isinstance(origin, ast.AST) else None
        within = self.within
        if within is not None and within.call is not None:
            node, within = _placed(node, within)
        number, key = len(self.values), None
        if function.__class__ is Node and not output_nr:
            key = function.sequence
            self.nodes.firsts[key] = number
        elif function is not None:
            key = _output(function, output_nr)
            self.nodes.put(function, output_nr, number)
        elif id(tensor) in self.known:
            self.nodes.leaves.clear()
        self.values.append((
            ref(tensor), node if number < self.limit else None, number, live,
            tuple(dict.fromkeys(dead)) if dead else (),
            "tensor" if function.__class__ is Node else word_of(tensor), tracked,
            None if enabled else self._culprit(), enabled, nonfinite(tensor),
            within, key,
        ))  # fmt: skip
        self.known[id(tensor)] = number
        return number

    def _used(self, owner: Any, dead: list[int]) -> list[int]:
        """Without the tensors of an owner that its result was not computed from: had they been
        cut off within it, that would be known."""
        if type(owner) is Sources:
            return [one for one in dead if one not in owner or not self.value(one).tracked]
        own = {id(one) for _, one in named_parameters(owner) if one.requires_grad}
        return [number for number in dead if id(self.alive(number)) not in own]

    def _left_in(self, node: ast.AST | None) -> list[int]:
        """The numbers that came up within an expression: they may have come back."""
        found = []
        for number in self.cut:
            step = self.step(number)
            if step is not None and step.kind == "number" and step.node is node:
                found.append(number)
        return found

    def _leaf(self, tensor: AnyTensor) -> int:
        """The number of a leaf that a graph ends in."""
        number = self.value_of(tensor)
        if number in self.unset:
            self.unset.discard(number)
            self.values[number] = self.value(number)._replace(nonfinite=nonfinite(tensor))
        return number

    def _culprit(self) -> ast.AST | None:
        """What has switched gradients off."""
        for node, before, inside in reversed(self.withs):
            if before and not inside:
                return node
        return self.switch

    def _known_as(self, tensor: AnyTensor) -> int | None:
        """The number of what a tensor is at this moment, if that was reported."""
        known = self.known.get(id(tensor))
        if known is None or self.alive(known) is not tensor:
            return None
        made_by = node_of(tensor)
        output = _output(None if made_by is None else mark_of(made_by), tensor.output_nr)
        return known if self.values[known][-1] == output else None

    def _number(self, node: ast.AST, value: Any, children: list[Any]) -> int | None:
        """A number that came out of tensors; a module's attribute is none of its parameters'."""
        if type(node) is ast.Attribute and children and is_module(children[0]):
            return None
        sources = tuple(dict.fromkeys(self.flat(children)))
        if not sources or self.is_full:
            return None
        within = self.within
        if within is not None and within.call is not None:
            node, within = _placed(node, within)  # type: ignore[assignment]
        number = len(self.values)
        facts = "number", False, None, True, 0, within, None
        self.values.append((None, node, number, (), sources, *facts))
        if is_a(value, HELD):
            self.floats[id(value)] = (value, number)
        return number

    def flat(self, children: list[Any]) -> Iterable[int]:
        """The numbers of the values in the parts of an expression."""
        for child in children:
            if type(child) is not int:
                return self._numbers(children)
        return children

    def _numbers(self, children: Iterable[Any]) -> Iterator[int]:
        for child in children:
            if type(child) is int:
                yield child
            elif type(child) is Sources:
                yield from child
            elif is_module(child) or type(child) is Chosen:
                if type(child) is Chosen:
                    child, sources = child
                    yield from sources
                for _, parameter in named_parameters(child):
                    yield self.value_of(parameter)
            elif (number := self.whole.of(child)) is not None:
                yield number
            elif child is not None and not is_owner(child):
                for item in items(child):
                    if is_tensor(item):
                        yield self.value_of(item)
                    elif is_a(item, HELD):
                        found = self.child_of(item)
                        if found is not None:
                            yield found


def _placed(node: ast.AST | None, within: Inner) -> tuple[ast.AST | None, Inner | None]:
    """An expression of another file as the one that called it; values that come up meanwhile are
    the program's own."""
    if node is None or node is not within.node:
        return node, None
    return within.call, within._replace(word=name_of(node))


def _output(mark: Any, output_nr: int) -> Any:
    """What tells an output of a node from others, and does not hold the node; None of a leaf."""
    if not isinstance(mark, Node):
        return None if mark is None else (ref(mark), output_nr)
    return (mark.sequence, output_nr) if output_nr else mark.sequence
