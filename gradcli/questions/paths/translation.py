"""Questions: PyTorch's graph as one of the own engine, so that paths are walked in one way.

A node whose declaration and saved values are known becomes one of that declaration, where both give
the same numbers; any other one asks PyTorch's for numbers.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy

from ...engine.compile.formula import fit
from ...engine.graph.leaf import edge_of
from ...engine.graph.node import CustomNode, Node, NodeExtras, SavedOutput, Several
from ...engine.schema import dtypes
from ...engine.schema.mode import next_sequence
from ...engine.tensors.tensor import Tensor, from_array
from ...engine.tensors.tensor_type import kind_of
from ...live.values import Held, as_held, put_back
from ...opening import UsageError
from ...recording.below import nodes_below
from ...recording.saved import CHANGED
from ...recording.sides import (
    array_of,
    has_numbers,
    is_end,
    is_number,
    origin_of,
    probed,
    row_of,
    sequence_of,
    sides,
    without_numbers,
)  # fmt: skip

if TYPE_CHECKING:
    from ..provenance.passes import Applied

CLOSE = 1e-4  # relative to the largest number
LARGEST = 2**63 - 1
GONE = (
    "what it had saved was given up or has changed since; ask before backward(), or for a pass by "
    "its number: --pass N"
)
NESTED = "the pass goes through nested tensors, which have no one shape: paths can't follow it"


class ForeignNode(CustomNode):
    """A node of PyTorch's, which computes by itself."""

    __slots__ = ("foreign", "widths", "held")

    foreign: Any
    held: list[Held]  # leaves that it has saved, as they were
    widths: list[tuple[tuple[int, ...], str]]  # shape and type of each output

    def apply(self, grads: tuple[Any, ...], tensors: bool) -> tuple[Any, ...]:
        given = [
            numpy.zeros(shape, _kind(dtype).array_dtype)
            if grad is None else numpy.asarray(array_of(grad))
            for grad, (shape, dtype) in zip(grads, self.widths, strict=False)
        ]  # fmt: skip
        try:
            try:
                found = probed(self.foreign, *given)
            except RuntimeError:  # changed since
                with put_back(self.held):
                    found = probed(self.foreign, *given)
        except RuntimeError as error:
            if CHANGED in str(error):
                raise
            raise RuntimeError(f"{self.name()}: {GONE}") from error
        asked = [None if edge is None else value
                 for edge, value in zip(self.edges, found, strict=False)]  # fmt: skip
        fitted = asked if self.inputs is None else fit(self, asked)
        return tuple(None if value is None else _carried(value, tensors) for value in fitted)

    @property
    def outputs(self) -> int:
        return len(self.widths)


def _carried(value: Any, tensors: bool) -> Any:
    return from_array(value) if tensors else value


class Translation:
    """What stands for PyTorch's tensors and nodes; both are held, so that identities stay."""

    def __init__(
        self, applied: Mapping[int, Applied] | None = None,
        before: Callable[[Any], Any] | None = None,
    ) -> None:  # fmt: skip
        self.applied = applied or {}  # what a pass saw of nodes that have dropped what they saved
        self.before = before or _unchanged  # gives a tensor as it was in that pass
        self.nodes: dict[int, tuple[Any, Node]] = {}
        self.tensors: dict[int, tuple[Any, Tensor]] = {}
        self.order: list[tuple[int, int]] = []  # PyTorch's sequence numbers, and those in place
        self.sorted: list[tuple[int, int]] = []

    def knows(self, foreign: Any) -> bool:
        """Whether it is a leaf, or in the graph that was translated."""
        return (
            isinstance(foreign, Tensor)
            or foreign.grad_fn is None
            or id(foreign.grad_fn) in self.nodes
        )

    def clock_at(self, clock: int) -> int:
        """A time between nodes, by PyTorch's clock, as it lies between those in their place."""
        if len(self.sorted) != len(self.order):
            self.sorted = sorted(self.order)
        place = bisect_left(self.sorted, (clock, -1))
        return self.sorted[place - 1][1] + 1 if place else 0

    def tensor(self, foreign: Any) -> Tensor:
        """The own tensor at the same place of the graph."""
        if isinstance(foreign, Tensor):
            return foreign
        known = self.tensors.get(id(foreign))
        if known is not None and known[0] is foreign:
            if known[1].requires_grad or not foreign.requires_grad:  # it may be frozen by now
                return known[1]
        if not has_numbers(foreign):
            kind = without_numbers(foreign)
            raise UsageError(f"a tensor of {kind} has no numbers to multiply slopes by")
        made = from_array(numpy.array(array_of(self.before(foreign))))
        if foreign.requires_grad:
            made._requires_grad = True
            if foreign.grad_fn is not None:  # of what a node saved, it is there already
                made._grad_fn, made._output_nr = self.node(foreign.grad_fn), foreign.output_nr
        self.tensors[id(foreign)] = (foreign, made)
        return made

    def node(self, root: Any) -> Node:
        """The own node, and those behind it, the farthest first."""
        order = list(nodes_below([root]))
        ends = [node for node in order if is_end(node)]
        inner = sorted((node for node in order if not is_end(node)), key=sequence_of)
        waiting = [*reversed(inner), *ends]
        while waiting:
            node = waiting[-1]
            # A view that is given a new node when it is used comes behind its user.
            later = [edge for edge, _ in node.next_functions
                     if edge is not None and id(edge) not in self.nodes]  # fmt: skip
            if later:
                waiting += later
                continue
            waiting.pop()
            if id(node) not in self.nodes:
                made = self._translated(node)
                self.nodes[id(node)] = (node, made)
                if not is_end(node):
                    next_sequence()  # the time behind it, at which names are bound
                    self.order.append((sequence_of(node), made.sequence))
        return self.nodes[id(root)][1]

    def _translated(self, node: Any) -> Node:
        if is_end(node):
            return self._end(self.tensor(node.variable))
        pairs = node.next_functions
        edges = tuple(None if edge is None else self.nodes[id(edge)][1] for edge, _ in pairs)
        numbers = tuple(number for _, number in pairs)
        made = ForeignNode(node.name(), edges, numbers if any(numbers) else None)
        made.foreign, made.held = node, []
        made.widths = [_width_of(one) for one in node._input_metadata]
        made.origin = origin_of(node)
        given = [self._width(edge, number) for edge, number in pairs]
        if any(one is not None and one != made.widths[0] for one in given):
            made.inputs = _inputs(given)
        declared = self._declared(node, made, given)
        if declared is None and sides.live is not None:
            made.held = as_held(tensor for _, tensor in sides.live.kept(node))
        return declared or made

    def _end(self, leaf: Tensor) -> Node:
        """Where gradients for a leaf go; it may have stopped requiring grad since."""
        flag, leaf._requires_grad = leaf._requires_grad, True
        end = edge_of(leaf)
        leaf._requires_grad = flag
        assert end is not None
        return end

    def _declared(self, node: Any, foreign: ForeignNode, given: list[Any]) -> Node | None:
        """A node of the declaration, where it gives the same numbers."""
        row = row_of(node)
        if row is None or foreign.numbers is not None:
            return None
        # PyTorch counts no outputs that no gradient comes to.
        others = row.signature.outputs[1:]
        counted = 1 if row.undifferentiable.issuperset(others) else row.output_count
        if foreign.outputs != counted:
            return None
        try:
            saved = [self._saved(node, row, key, given) for key in row.saved_keys]
        except (AttributeError, RuntimeError, TypeError, KeyError, ValueError):
            return None  # kept in another way, or not at all
        made = Node()
        made.row, made.edges, made.saved = row, foreign.edges, tuple(saved)
        made.sequence, made.origin = foreign.sequence, foreign.origin
        shape, dtype = foreign.widths[0]
        other = any(isinstance(one, Tensor) and str(one.dtype) != f"torch.{dtype}" for one in saved)
        inputs = _inputs(given) if other else foreign.inputs  # integers make no wider gradients
        made.rest = None if inputs is None else NodeExtras(inputs)
        made.buffer = None
        if others:
            made.buffer = Several()
            kinds: list[Any] = [(shape, _kind(dtype)) for shape, dtype in foreign.widths]
            made.extra = kinds + [None] * (row.output_count - counted)
        probe = numpy.linspace(0.5, 1.5, max(int(numpy.prod(shape)), 1),
                               dtype=_kind(dtype).array_dtype)  # fmt: skip
        probe = probe[: int(numpy.prod(shape))].reshape(shape)
        seen = self.applied.get(id(node))
        rest = (None,) * len(others)
        if seen is None:
            told = partial(foreign.apply, (probe, *rest)[:counted], False)
            return made if _alike(made, (probe, *rest), told) else None
        if seen.grads[0] is None or any(grad is not None for grad in seen.grads[1:]):
            return None
        grads = (array_of(seen.grads[0]), *rest)
        results = [array_of(value) for value in seen.results]
        fitted = results if foreign.inputs is None else fit(foreign, results)
        return made if _alike(made, grads, lambda: fitted) else None

    def _width(self, edge: Any, number: int) -> tuple[tuple[int, ...], str] | None:
        """Shape and type of what an edge leads to."""
        if edge is None:
            return None
        about = edge.variable if is_end(edge) else edge._input_metadata[number]
        return _width_of(about)

    def _saved(self, node: Any, row: Any, key: str, given: list[Any]) -> Any:
        """What is under a key: a saved value, or a property of an input's type."""
        name, _, about = key.rpartition("_")
        if about not in ABOUT or hasattr(node, f"_saved_{key}"):
            seen = self.applied.get(id(node))
            value = getattr(node, f"_saved_{key}") if seen is None else seen.saved[key]
            if is_number(value):
                return value.item()
            return self._saved_value(value, key in row.signature.outputs)
        ordered = [p for p in row.tensors if p.name in row.differentiable]
        if ordered and ordered[0].kind == "Tensor[]":
            return tuple(ABOUT[about](one) for one in given)
        return ABOUT[about](given[[p.name for p in ordered].index(name)])

    def _saved_value(self, value: Any, is_output: bool) -> Any:
        """A saved value: an array stands for its tensor, a number for itself."""
        if type(value) is int and value > LARGEST:
            return value - 2 * (LARGEST + 1)  # a negative number, which PyTorch shows as none
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, (tuple, list)):
            return tuple(self._saved_value(one, is_output) for one in value)
        if not is_output:
            return self.tensor(value)
        array = from_array(numpy.array(array_of(self.before(value))))
        output = SavedOutput()
        output.data, output.kind = array._data, array._kind
        return output


def _width_of(about: Any) -> tuple[tuple[int, ...], str]:
    """The shape and the type of a tensor; UsageError for a nested one, which has no one shape."""
    try:
        shape = tuple(map(int, about.shape))
    except (RuntimeError, AttributeError) as error:  # whichever kind of nested tensor it is
        raise UsageError(NESTED, "gradcli trace FILE --engine torch") from error
    return shape, str(about.dtype).removeprefix("torch.")


def _unchanged(tensor: Any) -> Any:
    return tensor


def _inputs(given: list[Any]) -> tuple[Any, ...]:
    """Shapes and types of what edges lead to, as nodes keep them."""
    return tuple(None if one is None else (one[0], _kind(one[1])) for one in given)


def _kind(dtype: str) -> Any:
    return kind_of(dtypes.BY_NAME[dtype])


ABOUT: dict[str, Any] = {
    "shape": lambda width: width[0],
    "kind": lambda width: _kind(width[1]),
    "dtype": lambda width: _kind(width[1]).dtype,
}


def _alike(one: Node, grads: tuple[Any, ...], told: Callable[[], Sequence[Any]]) -> bool:
    """Whether a node makes of a gradient what PyTorch's does."""
    try:
        found, expected = one.apply(grads, False), told()
    except Exception:  # what it needs is kept in another way
        return False
    return len(found) == len(expected) and all(
        edge is None or _equal(mine, theirs)
        for edge, mine, theirs in zip(one.edges, found, expected, strict=True)
    )


def _equal(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    one, other = numpy.asarray(one), numpy.asarray(other)
    if one.shape != other.shape:
        return False
    scale = float(numpy.abs(other).max(initial=0.0))
    return bool(numpy.allclose(one, other, rtol=CLOSE, atol=CLOSE * scale, equal_nan=True))
