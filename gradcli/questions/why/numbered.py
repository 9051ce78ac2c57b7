"""Questions: the values of a run by their numbers, and the steps that made them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from weakref import ref

import numpy

from ...engine.mode import state
from ...engine.node import Node
from ...engine.numpy_wrappers import Wrapped
from ...engine.tensor import Tensor
from ...language.tracing import Inner, Listener
from ...recording.modules import is_distribution, is_module, named_parameters, tensors_of
from ...recording.sides import OWN, AnyTensor, bad, is_tensor, mark_of, node_of, word_of
from .outputs import Outputs
from .values import Chosen, Sources, Step, Value, is_owner, items
from .whole_numbers import WholeNumbers

MOST_STEPS = 2_000_000
HELD = (float, Wrapped, numpy.ndarray, numpy.floating)  # known again by their identity


class Numbered(Listener):
    """Gives each value a number when it is met first, and another one when it is replaced."""

    __slots__ = (
        "values", "steps", "known", "nodes", "floats", "withs", "switch", "grad_enabled", "unset",
        "whole", "within", "cut",
    )  # fmt: skip

    def __init__(self) -> None:
        self.values: list[tuple[Any, Any, int | None]] = []  # a plain tuple is quicker made
        self.steps: list[Step] = []
        # By identity: (the tensor, weakly, its value, node, output_nr), while its place is this.
        self.known: dict[int, tuple[Any, int, Any, int]] = {}
        self.nodes = Outputs(self._leaf)
        self.floats: dict[int, tuple[Any, int]] = {}  # held, so that an identity stays one
        self.withs: list[tuple[ast.AST, bool, bool]] = []
        self.switch: ast.AST | None = None
        self.grad_enabled: Callable[[], bool] = OWN.grad_enabled
        self.unset: dict[int, int] = {}  # leaves without numbers yet, and the steps that made them
        self.whole = WholeNumbers()
        self.within: Inner | None = None  # the operation in progress, where it is known
        self.cut: set[int] = set()  # what such operations made since the last pass

    def value(self, number: int) -> Value:
        """The value with this number."""
        return Value._make(self.values[number])

    def alive(self, number: int) -> Any:
        """The tensor of a value, if it is there still."""
        return None if (held := self.values[number][0]) is None else held()

    def child_of(self, value: Any) -> Any:
        """What stands for a value among the parts of an expression."""
        kind = type(value)
        if is_tensor(value):
            return self.value_of(value)
        if isinstance(value, HELD):
            held = self.floats.get(id(value))
            if held is not None and held[0] is value:
                return held[1]
            base = getattr(value, "base", None)  # a row of an array that is gone through
            return self.child_of(base) if isinstance(base, numpy.ndarray) else None
        if is_distribution(value):
            return Sources(map(self.value_of, filter(is_tensor, tensors_of(value))))
        kept = kind in (list, tuple, dict) or isinstance(value, tuple) or is_owner(value)
        return value if kept else None

    def value_of(self, tensor: AnyTensor) -> int:
        """The number of what a tensor is at this moment; one that was not reported gets one."""
        known = self.known.get(id(tensor))
        if known is not None and known[0]() is tensor and tensor.__class__ is Tensor:
            if known[2] is tensor._grad_fn and known[3] == tensor._output_nr:
                return known[1]  # as most are, without a detour
        made_by = node_of(tensor)
        node = None if made_by is None else mark_of(made_by)
        if known is not None and known[0]() is tensor:
            if known[2] is node and known[3] == tensor.output_nr:
                return known[1]
            origin = getattr(node, "origin", None)
            if node is not None and isinstance(origin, ast.AST):
                return self._record(origin, tensor, [known[1]])
            if node is None and known[2] is not None and isinstance(state.origin, ast.AST):
                return self._record(state.origin, tensor, [known[1]])  # detach_()
        return self._record(None, tensor, [])

    def _record(
        self, node: ast.AST | None, tensor: AnyTensor, sources: Iterable[int], module: Any = None
    ) -> int:
        """A new number for a tensor; of the `module` that made it parameters may be unused."""
        if tensor.__class__ is Tensor and tensor._meta is None:  # what most results are
            function = made_by = tensor._grad_fn
            requires_grad, output_nr = tensor._requires_grad, tensor._output_nr
            enabled = state.grad_enabled
        else:
            made_by = node_of(tensor)
            function = None if made_by is None else mark_of(made_by)
            requires_grad, output_nr = tensor.requires_grad, tensor.output_nr
            enabled = self.grad_enabled()
        live = self.nodes.above(made_by) if made_by is not None else ()
        sources = tuple(sources)
        dead = [] if sources == live else [source for source in sources if source not in live]
        if dead and module is not None and made_by is not None:
            dead = [*self._used(module, dead), *self._left_in(node)]
        if node is None:
            base = tensor._base if function is None else None
            if base is not None and base is not tensor:
                dead.append(self.value_of(base))
            # A view that a library made while gradients were off has no node to tell its origin.
            origin = getattr(function, "origin", state.origin if dead else None)
            node = origin if isinstance(origin, ast.AST) else None
        number, held, step = len(self.values), ref(tensor), None
        if len(self.steps) < MOST_STEPS and node is not None:
            step = len(self.steps)
            facts = (
                node, number, live, tuple(dict.fromkeys(dead)) if dead else (),
                "tensor" if function.__class__ is Node else word_of(tensor), requires_grad,
                None if enabled else self._culprit(), enabled, bad(tensor), self.within,
            )  # fmt: skip
            self.steps.append(tuple.__new__(Step, facts))
        self.values.append((held, requires_grad, step))
        self.known[id(tensor)] = (held, number, function, output_nr)
        if function is not None:
            self.nodes.put(function, output_nr, number)
        return number

    def _used(self, module: Any, dead: list[int]) -> list[int]:
        """Without the parameters of a module that its result was not computed from: had they been
        cut off within it, that would be known."""
        own = {id(one) for _, one in named_parameters(module) if one.requires_grad}
        return [number for number in dead if id(self.alive(number)) not in own]

    def _left_in(self, node: ast.AST | None) -> list[int]:
        """The numbers that came up within an expression: they may have come back."""
        found = []
        for number in self.cut:
            place = self.values[number][2]
            step = None if place is None else self.steps[place]
            if step is not None and step.kind == "number" and step.node is node:
                found.append(number)
        return found

    def _leaf(self, tensor: AnyTensor) -> int:
        """The number of a leaf that a graph ends in."""
        number = self.value_of(tensor)
        if number in self.unset:
            step = self.unset.pop(number)
            self.steps[step] = self.steps[step]._replace(bad=bad(tensor))
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
        if known is None or known[0]() is not tensor:
            return None
        made_by = node_of(tensor)
        node = None if made_by is None else mark_of(made_by)
        return known[1] if known[2] is node and known[3] == tensor.output_nr else None

    def _number(self, node: ast.AST, value: Any, children: list[Any]) -> int | None:
        """A number that came out of tensors; a module's attribute is none of its parameters'."""
        if type(node) is ast.Attribute and children and is_module(children[0]):
            return None
        sources = tuple(dict.fromkeys(self.flat(children)))
        if not sources or len(self.steps) >= MOST_STEPS:
            return None
        number = len(self.values)
        self.steps.append(
            Step(node, number, (), sources, "number", False, None, True, 0, self.within)
        )
        self.values.append((None, False, len(self.steps) - 1))
        if isinstance(value, HELD):
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
                    elif isinstance(item, HELD):
                        found = self.child_of(item)
                        if found is not None:
                            yield found
