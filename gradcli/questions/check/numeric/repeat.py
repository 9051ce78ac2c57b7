"""Questions: recorded operations, run again: a result as a function of its leaves.

And of nothing else: what the program cut off (detach, .item(), no_grad, a comparison) stays the
number that it was, as it does for the gradient. Operations in place change memory in the repetition
too, and views share it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ....autograd.function import Function
from ....engine.schema import dtypes
from ....engine.schema.carriers import RUNTIME
from ....engine.schema.catalogue import catalogue
from ....engine.schema.dtypes import COMPLEX, FLOATING, DType
from ....engine.schema.mode import state
from ....engine.schema.row import Inplace, Row
from ....engine.tensors.tensor import Tensor, plain
from ....numerics.random import default_generator
from .live_tape import LiveTape
from .tape import Key, Operand, Step, Tape, Unrepeatable, leaves_of, operands_of

NONE: Mapping[Any, Tensor] = {}
STRAY = 1e-3  # a value that differs so much from the recorded one was changed behind the graph


def doubled(tensor: Tensor, data: Any) -> Tensor:
    """A tensor of these values in double precision, outside any graph."""
    category = tensor._kind.dtype.category
    if category < FLOATING:
        return around(data, tensor._kind)
    dtype = dtypes.BY_NAME["complex128" if category == COMPLEX else "float64"]
    kind = tensor._kind.of(dtype)
    return around(data.astype(kind.array_dtype), kind)


def around(data: Any, kind: Any) -> Tensor:
    """A tensor around what the tape keeps of one."""
    return RUNTIME.around(data, kind) if isinstance(data, RUNTIME.payload) else plain(data, kind)


def _alike(tensor: Tensor, data: Any) -> Tensor:
    return around(data, tensor._kind)


def widened(value: Any) -> Any:
    """The same for an argument that is a type."""
    if isinstance(value, DType) and value.category >= FLOATING:
        return dtypes.BY_NAME["complex128" if value.category == COMPLEX else "float64"]
    return value


class Repetition:
    """Runs steps again, as often as wanted. The first time it finds out which values the program
    changed behind the graph's back (`w -= ...` under no_grad) and keeps the differences."""

    def __init__(self, tape: Tape | LiveTape, steps: list[Step], *, double: bool = True) -> None:
        self.steps, self.double = steps, double
        self.leaves = leaves_of(steps)
        self.strays: dict[tuple[int, int, int | None], Tensor] | None = None
        self.generators = list(tape.generators.values())
        self.generators.append((default_generator, default_generator.mark()))
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

    def run(
        self, leaves: dict[int, Tensor], root: Operand, inner: Mapping[Any, Tensor] = NONE
    ) -> Tensor:
        """The result for these leaves; the random numbers are the same every time. `inner` are
        values that are in for what operations gave."""
        for generator, mark in self.generators:
            generator.return_to(mark)
        by_key: dict[Key, Tensor] = dict(inner)
        by_id: dict[int, Tensor] = {}
        first = self.strays is None
        if first:
            self.strays = {}
        for number, step in enumerate(self.steps):
            given = self._arguments(number, step, leaves, by_key, by_id, first)
            outs = self._called(step, given)
            for out, (tensor, key) in zip(outs, step.outs, strict=True):
                if tensor is not None:
                    by_id[id(tensor)] = out
                    if key is not None and key not in inner:
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
                twin = self._twins[id(step.function)] = self.twin_of(step.function)
            result = twin(*given)
        else:
            result = step.function.run(*given)
        return tuple(result) if isinstance(result, (tuple, list)) else (result,)

    def twin_of(self, row: Row) -> Callable[..., Any]:
        """What an operation in place runs."""
        return Inplace(row).run

    # ---- arguments

    def _arguments(
        self, number: int, step: Step, leaves: dict[int, Tensor], by_key: dict[Key, Tensor],
        by_id: dict[int, Tensor], first: bool,
    ) -> list[Any]:  # fmt: skip
        given: list[Any] = []
        for place, value in enumerate(step.arguments):
            if isinstance(value, Operand):
                if step.inplace and place == 0:
                    given.append(self._found_target(value, by_key, by_id))
                    continue
                given.append(
                    self._operand((number, place, None), value, leaves, by_key, by_id, first)
                )
            elif isinstance(value, (list, tuple)):
                given.append(type(value)(
                    self._operand((number, place, i), item, leaves, by_key, by_id, first)
                    if isinstance(item, Operand) else item
                    for i, item in enumerate(value)
                ))  # fmt: skip
            else:
                given.append(widened(value) if self.double else value)
        return given

    def _operand(
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
            return tensor + self.strays[at]  # type: ignore[operator]
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
        self, operand: Operand, by_key: dict[Key, Tensor], by_id: dict[int, Tensor]
    ) -> Tensor:
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
        return found

    def _cast(self, operand: Operand, copied: bool = False) -> Tensor:
        changes = copied and hasattr(operand.data, "__setitem__")  # a scalar can't
        data = operand.data.copy() if changes else operand.data
        return (doubled if self.double else _alike)(operand.tensor, data)

    def _stray(self, operand: Operand, tensor: Tensor) -> Tensor | None:
        """What the recorded value has that the repeated one has not."""
        xp = tensor._kind.xp
        ours, theirs = tensor._data, operand.data
        if ours.shape != theirs.shape or not tensor._kind.differentiable:
            return None
        if isinstance(ours, RUNTIME.payload):
            return None
        difference = theirs - ours
        size = xp.abs(difference)
        if not bool(xp.any(size > STRAY * (xp.abs(theirs) + xp.abs(ours)) + STRAY**2)):
            return None
        return plain(xp.asarray(difference).astype(ours.dtype), tensor._kind)


@contextmanager
def undisturbed(*, grad: bool) -> Iterator[None]:
    """Without observers, hooks and warnings; afterwards the random stream is as before."""
    kept = {name: getattr(state, name) for name in _MODES}
    mark = default_generator.mark()
    quiet: dict[str, Any] = dict.fromkeys(_MODES, False)
    quiet |= {"grad_enabled": grad, "saved_hooks": [], "warn": lambda *told: None}
    quiet |= dict.fromkeys(("origin", "observer", "recorder"))
    try:
        for name in _MODES:
            setattr(state, name, quiet[name])
        yield
    finally:
        default_generator.return_to(mark)
        for name in _MODES:
            setattr(state, name, kept[name])


_MODES = (
    "grad_enabled", "inference", "anomaly", "warn", "origin", "keep_graph", "create_graph",
    "formula", "saved_hooks", "observer", "recorder",
)  # fmt: skip
