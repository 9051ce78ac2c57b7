"""Questions: the operations of a run, recorded so that a part of the graph can be run again.

What is recorded is what entered a graph, with its arguments as they were.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ....autograd.function import FunctionNode
from ....engine.schema.carriers import RUNTIME
from ....engine.schema.mode import state
from ....engine.schema.row import SPARSE, Row
from ....engine.tensors.tensor import Tensor
from ....named import NamedTuple
from ....numerics.random import Generator
from ....numerics.twister import Mark
from .live_call import Call, Repeated

if TYPE_CHECKING:
    from ....language.interpreter import Outcome

MOST_STEPS = 100_000
MOST_BYTES = 256 * 2**20
# What is drawn at random stays what it was; PyTorch's gradients of these are zeros.
DRAWN = ("Normal", "Bernoulli", "Poisson", "Binomial", "Uniform", "Exponential", "Geometric")
Key = tuple[int, int]


class Unrepeatable(Exception):
    """A part of the graph that can't be run again; the message says why."""


class Operand(NamedTuple):
    """A tensor as an operation found it. `key` is the node and output that it came from."""

    tensor: Tensor
    key: Key | None
    is_leaf: bool
    data: Any
    window: tuple[Any, ...]  # shape, strides, offset of a view
    base: Any = None
    is_beside: bool = False  # an output without a gradient of an operation, such as a mean it saves

    @property
    def connected(self) -> bool:
        """Gradients flow through it."""
        return self.is_leaf or self.key is not None


class Step(NamedTuple):
    """One operation: what made the node, its arguments, the tensors that came out."""

    node: Any
    function: Any  # a Row, a Function of the user, or None where tensors pass as they are
    arguments: tuple[Any, ...]  # operands in the place of tensors
    outs: tuple[tuple[Tensor | None, Key | None], ...]
    inplace: bool
    base: tuple[Tensor, Key | None] | None  # what an operation in place on a view changed too
    drawn: tuple[Any, ...] | None = None  # what came out, where it was drawn at random
    is_bound: bool = False  # an operand came out of an operation too, beside its result

    @property
    def name(self) -> str:
        """The node's name, as PyTorch has it."""
        return str(self.node.name().rpartition("::")[2])

    @property
    def is_sparse(self) -> bool:
        """Whether operands, results or gradients of it are sparse: they are not moved."""
        return isinstance(self.function, Row) and self.function.layout == SPARSE

    @property
    def call(self) -> Call | None:
        """The call of PyTorch that it is."""
        is_call = isinstance(self.function, type) and issubclass(self.function, Repeated)
        return self.function.call if is_call else None

    @property
    def kind(self) -> Any:
        """What is the same of two operations that one expression makes."""
        return self.function if self.call is None else self.call.function

    @property
    def library(self) -> str | None:
        """What it is called, where its derivative is none of the program's."""
        if isinstance(self.function, Row):
            return self.function.name
        return None if self.call is None or self.call.is_of_program else self.call.name

    @property
    def names(self) -> tuple[str, ...]:
        """How the operation calls its arguments."""
        if isinstance(self.function, Row):
            return self.function.signature.names
        return () if self.call is None else self.call.names

    def argument_name(self, place: int) -> str:
        """How the operation calls an argument."""
        name = self.names[place] if place < len(self.names) else ""
        return name or f"argument {place + 1}"

    def argument(self, name: str) -> Any:
        """An argument, an operand in the place of a tensor; None where none has this name."""
        if name in self.names:
            return self.arguments[self.names.index(name)]
        return None if self.call is None else self.call.argument(name)


class Tape:
    """Give it to the engine as its recorder while a program runs."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.full = ""
        self.generators: dict[int, tuple[Generator, Mark]] = {}
        self._bytes = 0
        self._kept: list[Any] = []
        self._beside: set[int] = set()  # outputs without a gradient of recorded operations

    # ---- events of the engine

    def operation(self, node: Any, outs: Any, arguments: Any, before: Any) -> None:
        """An operation entered the graph; `before` is what one in place found in its tensor."""
        if len(self.steps) >= MOST_STEPS:
            self.full = f"more than {MOST_STEPS:,} operations"
        elif self._bytes > MOST_BYTES:
            self.full = f"more than {MOST_BYTES >> 20} MiB of operands"
        if self.full:
            state.recorder = None  # the rest of the program runs as ever
            return
        inplace = before is not None
        given = []
        for place, value in enumerate(arguments):
            if inplace and place == 0:
                given.append(self._target(node, value, before))
            else:
                given.append(self._argument(value))
        function = node.owner if isinstance(node, FunctionNode) else getattr(node, "row", None)
        made = tuple((out, _key_of(out)) if out is not None else (None, None) for out in outs)
        base = arguments[0]._base if inplace else None
        changed = None if base is None else (base, _key_of(base))
        drawn = None
        if not inplace and node.name().startswith(DRAWN):
            drawn = tuple(None if out is None else self._snapshot(out._data) for out in outs)
        bound = any(operand.is_beside for operand in _each(given))
        self._beside.update(
            id(out) for out, (_, key) in zip(outs, made, strict=True)
            if out is not None and key is None
        )  # fmt: skip
        self.steps.append(Step(node, function, tuple(given), made, inplace, changed, drawn, bound))
        self._kept.extend(out._grad_fn for out in outs if out is not None)

    def _argument(self, value: Any) -> Any:
        if value.__class__ is Tensor or value.__class__ is RUNTIME.sparse:
            return self.operand(value)
        if value.__class__ in (list, tuple):
            return value.__class__([self._argument(item) for item in value])
        if isinstance(value, Generator):
            self.generators.setdefault(id(value), (value, value.mark()))
        return value

    def operand(self, tensor: Tensor) -> Operand:
        """The tensor with its history and values as they are now."""
        base = tensor._base
        key = _key_of(tensor)
        self._kept.append(tensor._grad_fn)  # a view may get another: its id must stay its own
        leaf = key is None and tensor.requires_grad
        window: tuple[Any, ...] = ()
        if base is not None:
            window = (tuple(tensor.shape), tensor.stride(), tensor.storage_offset())
        return Operand(
            tensor, key, leaf, self._snapshot(tensor._data), window,
            None if base is None else self._base(base), id(tensor) in self._beside,
        )  # fmt: skip

    def _base(self, base: Tensor) -> Operand:
        key = _key_of(base)
        self._kept.append(base._grad_fn)
        leaf = key is None and base.requires_grad
        return Operand(base, key, leaf, self._snapshot(base._data), ())

    def _target(self, node: Any, tensor: Tensor, before: Any) -> Operand:
        """The tensor that an operation changed: its history is the one before."""
        base = tensor._base
        if base is None:
            return Operand(tensor, _edge(node, 0), False, before, ())
        window = (tuple(tensor.shape), tensor.stride(), tensor.storage_offset())
        slices = base._grad_fn
        inner = Operand(base, _edge(slices, 0), False, self._snapshot(base._data), ())
        self._kept.append(slices)
        return Operand(tensor, None, False, before, window, inner)

    def _snapshot(self, data: Any) -> Any:
        self._bytes += data.nbytes
        return data.copy() if hasattr(data, "__setitem__") else data  # a scalar can't change

    # ---- what is asked of it afterwards

    def differentiated(self, outcome: Outcome) -> Iterator[tuple[int, str, Tensor]]:
        """What the program called backward on, the last call of each line: line, text, tensor."""
        recorded = {id(out) for step in self.steps for out, _ in step.outs if out is not None}
        for line, call in {call.span.line: call for call in outcome.backward_calls}.items():
            tensor = None if call.tensor is None else call.tensor()
            if tensor is not None and tensor._grad_fn is not None and id(tensor) in recorded:
                yield line, call.text, tensor

    def theirs(self, tensor: Tensor) -> Tensor:
        """The tensor of the program that an operand stands for."""
        return tensor

    # ---- which part of it a result needs

    def behind(self, root: Tensor) -> list[Step]:
        """The steps that a result was made by, in the order in which they ran."""
        reached: set[int] = set()
        _reach(root._grad_fn, reached)
        makers = {
            id(out): step.node
            for step in self.steps
            for out, key in step.outs
            if out is not None and key is None
        }
        found = []
        for step in reversed(self.steps):
            if id(step.node) not in reached:
                continue
            found.append(step)
            for _, _, operand in operands_of(step):
                if operand.is_beside:  # no edge leads there
                    _reach(makers.get(id(operand.tensor)), reached)
        found.reverse()
        return found


def _reach(root: Any, reached: set[int]) -> None:
    """Adds the nodes that a node leads to."""
    pending = [root]
    for node in pending:
        if node is None or id(node) in reached:
            continue
        reached.add(id(node))
        pending.extend(node.edges)
        inner = getattr(node, "node", None)  # of CopySlices
        if inner is not None:
            pending.append(inner)


def _key_of(tensor: Tensor) -> Key | None:
    node = tensor._grad_fn
    return None if node is None else (id(node), tensor._output_nr)


def _edge(node: Any, place: int) -> Key | None:
    edge = node.edges[place] if node.edges else None
    if edge is None or (not edge.edges and hasattr(edge, "variable")):
        return None
    return id(edge), 0 if node.numbers is None else node.numbers[place]


def _each(given: list[Any]) -> Iterator[Operand]:
    for value in given:
        if isinstance(value, Operand):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from (item for item in value if isinstance(item, Operand))


def operands_of(step: Step) -> Iterator[tuple[int, int | None, Operand]]:
    """The tensors among the arguments: place, place within a list, operand."""
    for place, value in enumerate(step.arguments):
        if isinstance(value, Operand):
            yield place, None, value
        elif isinstance(value, (list, tuple)):
            for inner, item in enumerate(value):
                if isinstance(item, Operand):
                    yield place, inner, item


def leaves_of(steps: list[Step]) -> list[Tensor]:
    """The leaves that require grad, in the order of their first use."""
    found: dict[int, Tensor] = {}
    for step in steps:
        for _, _, operand in operands_of(step):
            for one in (operand, operand.base):
                if one is not None and one.is_leaf:
                    found.setdefault(id(one.tensor), one.tensor)
    return list(found.values())


@contextmanager
def recording(tape: Any) -> Iterator[None]:
    """Within it the engine reports its operations to the tape (or to a trail)."""
    before, state.recorder = state.recorder, tape
    try:
        yield
    finally:
        state.recorder = before
