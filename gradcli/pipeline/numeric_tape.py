"""pipeline: the operations of a run, recorded so that a part of the graph can be run again.

What is recorded is what entered a graph, with its arguments as they were. Run again, in double
precision if wanted, it gives the result as a function of its leaves, and of nothing else: what the
program cut off (detach, .item(), no_grad, a comparison) stays the number that it was, as it does
for the gradient. Operations in place change memory in the repetition too, and views share it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from ..autograd.function import Function, FunctionNode
from ..engine import dtypes
from ..engine.catalogue import catalogue
from ..engine.dtypes import COMPLEX, FLOATING, DType
from ..engine.mode import state
from ..engine.random import Generator, default_generator
from ..engine.row import Inplace, Row
from ..engine.tensor import Tensor, plain

MOST_STEPS = 100_000
MOST_BYTES = 256 * 2**20
# What is drawn at random stays what it was; PyTorch's gradients of these are zeros.
DRAWN = ("Normal", "Bernoulli", "Poisson", "Binomial", "Uniform", "Exponential", "Geometric")
STRAY = 1e-3  # a value that differs so much from the recorded one was changed behind the graph
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

    def argument_name(self, place: int) -> str:
        """How the operation calls an argument."""
        names = self.function.signature.names if isinstance(self.function, Row) else ()
        return names[place] if place < len(names) else f"argument {place + 1}"


class Tape:
    """Give it to the engine as its recorder while a program runs."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.full = ""
        self.generators: dict[int, tuple[Any, Any]] = {}
        self._bytes = 0
        self._kept: list[Any] = []
        self._beside: set[int] = set()  # outputs without a gradient of recorded operations

    # ---- what the engine tells

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
        if value.__class__ is Tensor:
            return self.operand(value)
        if value.__class__ in (list, tuple):
            return value.__class__([self._argument(item) for item in value])
        if isinstance(value, Generator):
            self.generators.setdefault(id(value), (value, value.get_state()))
        return value

    def operand(self, tensor: Tensor) -> Operand:
        """The tensor with its history and values as they are now."""
        base = tensor._base
        key = _key_of(tensor)
        leaf = key is None and tensor._requires_grad
        window: tuple[Any, ...] = ()
        if base is not None:
            window = (tuple(tensor.shape), tensor.stride(), tensor.storage_offset())
        return Operand(
            tensor, key, leaf, self._snapshot(tensor._data), window,
            None if base is None else self._base(base), id(tensor) in self._beside,
        )  # fmt: skip

    def _base(self, base: Tensor) -> Operand:
        key = _key_of(base)
        leaf = key is None and base._requires_grad
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
        return data.copy() if data.ndim else data

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


def doubled(tensor: Tensor, data: Any) -> Tensor:
    """A tensor of these values in double precision, outside any graph."""
    category = tensor._kind.dtype.category
    if category < FLOATING:
        return plain(data, tensor._kind)
    dtype = dtypes.BY_NAME["complex128" if category == COMPLEX else "float64"]
    kind = tensor._kind.of(dtype)
    return plain(data.astype(kind.array_dtype), kind)


def widened(value: Any) -> Any:
    """The same for an argument that is a type."""
    if isinstance(value, DType) and value.category >= FLOATING:
        return dtypes.BY_NAME["complex128" if value.category == COMPLEX else "float64"]
    return value


class Repetition:
    """Runs steps again, as often as wanted. The first time it finds out which values the program
    changed behind the graph's back (`w -= ...` under no_grad) and keeps the differences."""

    def __init__(self, tape: Tape, steps: list[Step], *, double: bool = True) -> None:
        self.steps, self.double = steps, double
        self.leaves = leaves_of(steps)
        self.strays: dict[tuple[int, int, int | None], Tensor] | None = None
        self.generators = list(tape.generators.values())
        self.generators.append((default_generator, default_generator.get_state()))
        self._constants: dict[int, Tensor] = {}
        self._twins: dict[int, Callable[..., Any]] = {}

    def fresh_leaves(self) -> dict[int, Tensor]:
        """Copies of the leaves with the values that their first use saw."""
        found: dict[int, Tensor] = {}
        for step in self.steps:
            for _, _, operand in operands_of(step):
                for one in (operand, operand.base):
                    if one is not None and one.is_leaf and id(one.tensor) not in found:
                        found[id(one.tensor)] = self._cast(one, copied=True)
        return found

    def run(self, leaves: dict[int, Tensor], root: Operand) -> Tensor:
        """The result for these leaves; the random numbers are the same every time."""
        for generator, words in self.generators:
            generator.set_state(words)
        by_key: dict[Key, Tensor] = {}
        by_id: dict[int, Tensor] = {}
        first = self.strays is None
        if first:
            self.strays = {}
        for number, step in enumerate(self.steps):
            given = self._given(number, step, leaves, by_key, by_id, first)
            outs = self._called(step, given)
            for out, (tensor, key) in zip(outs, step.outs, strict=True):
                if tensor is not None:
                    by_id[id(tensor)] = out
                    if key is not None:
                        by_key[key] = out
            if step.base is not None and step.base[1] is not None:
                by_key[step.base[1]] = by_id[id(step.base[0])]
        found = self._looked_up(root, leaves, by_key, by_id)
        if found is None:
            raise Unrepeatable("the result did not come out of a recorded operation")
        return found

    def _called(self, step: Step, given: list[Any]) -> tuple[Any, ...]:
        if step.function is None:
            return tuple(given)
        if step.drawn is not None:
            return tuple(
                data if tensor is None else doubled(tensor, data) if self.double
                else plain(data, tensor._kind)
                for data, (tensor, _) in zip(step.drawn, step.outs, strict=True)
            )  # fmt: skip
        if not isinstance(step.function, Row):
            apply: Any = Function.apply
            result = apply.__func__(step.function, *given)
        elif step.inplace:
            twin = self._twins.get(id(step.function))
            if twin is None:
                twin = self._twins[id(step.function)] = Inplace(step.function).run
            result = twin(*given)
        else:
            result = step.function.run(*given)
        return tuple(result) if isinstance(result, (tuple, list)) else (result,)

    # ---- arguments

    def _given(
        self, number: int, step: Step, leaves: dict[int, Tensor], by_key: dict[Key, Tensor],
        by_id: dict[int, Tensor], first: bool,
    ) -> list[Any]:  # fmt: skip
        given: list[Any] = []
        for place, value in enumerate(step.arguments):
            if isinstance(value, Operand):
                if step.inplace and place == 0:
                    given.append(self._found_target(value, leaves, by_key, by_id))
                    continue
                given.append(
                    self._found((number, place, None), value, leaves, by_key, by_id, first)
                )
            elif isinstance(value, (list, tuple)):
                given.append(type(value)(
                    self._found((number, place, i), item, leaves, by_key, by_id, first)
                    if isinstance(item, Operand) else item
                    for i, item in enumerate(value)
                ))  # fmt: skip
            else:
                given.append(widened(value) if self.double else value)
        return given

    def _found(
        self, at: tuple[int, int, int | None], operand: Operand, leaves: dict[int, Tensor],
        by_key: dict[Key, Tensor], by_id: dict[int, Tensor], first: bool,
    ) -> Tensor:  # fmt: skip
        tensor = self._looked_up(operand, leaves, by_key, by_id)
        if tensor is None:
            if operand.connected:
                raise Unrepeatable("a tensor came into the graph in a way that is not recorded")
            constant = self._constants.get(id(operand))
            if constant is None:
                constant = self._constants[id(operand)] = self._cast(operand)
            return constant
        assert self.strays is not None
        if first:
            stray = self._stray(operand, tensor)
            if stray is not None:
                self.strays[at] = stray
        if at in self.strays:
            return tensor + self.strays[at]  # type: ignore[operator,no-any-return]
        return tensor

    def _looked_up(
        self, operand: Operand, leaves: dict[int, Tensor], by_key: dict[Key, Tensor],
        by_id: dict[int, Tensor],
    ) -> Tensor | None:  # fmt: skip
        if operand.is_leaf:
            return leaves[id(operand.tensor)]
        if operand.key is None:
            return by_id.get(id(operand.tensor)) if operand.is_beside else None
        found = by_key.get(operand.key)
        if found is None:
            found = by_id.get(id(operand.tensor))
        if found is None and operand.base is not None:
            base = self._looked_up(operand.base, leaves, by_key, by_id)
            if base is not None:
                found = catalogue.methods["as_strided"](base, *operand.window)
        return found

    def _found_target(
        self, operand: Operand, leaves: dict[int, Tensor], by_key: dict[Key, Tensor],
        by_id: dict[int, Tensor],
    ) -> Tensor:  # fmt: skip
        """The tensor that is about to be changed in place."""
        found = by_id.get(id(operand.tensor))
        if found is not None:
            return found
        if operand.base is None:
            if operand.key is not None:
                found = by_key.get(operand.key)
            if found is None:
                found = self._cast(operand, copied=True)
            by_id[id(operand.tensor)] = found
            return found
        inner = operand.base
        base = by_id.get(id(inner.tensor))
        if base is None and inner.key is not None:
            base = by_key.get(inner.key)
        if base is None:
            base = self._cast(inner, copied=True)
            part = catalogue.methods["as_strided"](base, *operand.window)
            part._data[...] = operand.data
        by_id[id(inner.tensor)] = base
        found = catalogue.methods["as_strided"](base, *operand.window)
        by_id[id(operand.tensor)] = found
        return found  # type: ignore[no-any-return]

    def _cast(self, operand: Operand, copied: bool = False) -> Tensor:
        data = operand.data.copy() if copied and operand.data.ndim else operand.data
        return doubled(operand.tensor, data) if self.double else plain(data, operand.tensor._kind)

    def _stray(self, operand: Operand, tensor: Tensor) -> Tensor | None:
        """What the recorded value has that the repeated one has not."""
        xp = tensor._kind.xp
        ours, theirs = tensor._data, operand.data
        if ours.shape != theirs.shape or not tensor._kind.differentiable:
            return None
        difference = theirs - ours
        size = xp.abs(difference)
        if not bool(xp.any(size > STRAY * (xp.abs(theirs) + xp.abs(ours)) + STRAY**2)):
            return None
        return plain(xp.asarray(difference).astype(ours.dtype), tensor._kind)


@contextmanager
def recording(tape: Any) -> Iterator[None]:
    """Within it the engine tells the tape (or a trail) of its operations."""
    before, state.recorder = state.recorder, tape
    try:
        yield
    finally:
        state.recorder = before


@contextmanager
def undisturbed(*, grad: bool) -> Iterator[None]:
    """Within it nobody watches, hooks or warns; the random stream is as before afterwards."""
    kept = {name: getattr(state, name) for name in _MODES}
    words = default_generator.get_state()
    quiet: dict[str, Any] = dict.fromkeys(_MODES, False)
    quiet |= {"grad_enabled": grad, "saved_hooks": [], "warn": lambda *told: None}
    quiet |= dict.fromkeys(("origin", "observer", "recorder"))
    try:
        for name in _MODES:
            setattr(state, name, quiet[name])
        yield
    finally:
        default_generator.set_state(words)
        for name in _MODES:
            setattr(state, name, kept[name])


_MODES = (
    "grad_enabled", "inference", "anomaly", "warn", "origin", "keep_graph", "create_graph",
    "formula", "saved_hooks", "observer", "recorder",
)  # fmt: skip
