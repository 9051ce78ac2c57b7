"""Questions: derivatives in forward and in reverse mode, of a result as a function of tensors.

The function is the recorded operations, run again: so it does not matter whether the program's own
passes freed the graph, or what was changed since, and no hook of the program takes part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import prod
from typing import Any, NamedTuple

import numpy

from ...autograd import grad
from ...autograd.functional import jacobian
from ...engine.schema.catalogue import catalogue
from ...engine.schema.row import Inplace, Row
from ...engine.tensors.tensor import Tensor, plain
from ...func.carrier import run
from ...func.jacobians import basis_of, jacfwd
from ...func.transforms import pushed_forward
from ...recording.sides import array_of, is_live, sides
from ..check.numeric.repeat import Repetition, undisturbed
from ..check.numeric.tape import Operand, Tape, Unrepeatable

Function = Callable[..., Tensor]


class Derivatives(NamedTuple):
    """Arrays: by each tensor, and by each two: the shape of the result, then those of the
    tensors."""

    first: list[Any]
    second: Sequence[list[Any]] = ()


class _Carried(Repetition):
    """One whose operations run on whatever carries derivatives."""

    def twin_of(self, row: Row) -> Callable[..., Any]:
        twin = Inplace(row)
        return lambda *given: run(twin, given)


def on_tape(
    tape: Tape, result: Tensor, tensors: Sequence[Tensor], seed: Tensor | None
) -> tuple[Function, tuple[Tensor, ...]]:
    """The result (weighted and summed where there is a seed) as a function of these tensors, and
    the values that they had."""
    if tape.full:
        raise Unrepeatable(f"the program has {tape.full}")
    repetition = _Carried(tape, tape.behind(result), double=False)
    root, asked = tape.operand(result), [tape.operand(tensor) for tensor in tensors]
    with undisturbed(grad=False):
        leaves = repetition.fresh_leaves()
        for operand in (root, *asked):
            if operand.is_leaf and id(operand.tensor) not in leaves:
                leaves[id(operand.tensor)] = operand.tensor.detach()
        repetition.run(leaves, root)  # finds what the program changed behind the graph
        inputs = tuple(_value(operand, leaves) for operand in asked)

    def function(*given: Tensor) -> Tensor:
        pairs = list(zip(asked, given, strict=True))
        mine = {id(operand.tensor): value for operand, value in pairs if operand.is_leaf}
        inner = {operand.key: value for operand, value in pairs if operand.key is not None}
        found = repetition.run({**_fresh(leaves), **mine}, root, inner)
        return found if seed is None else (found * seed).sum()  # type: ignore[operator]

    return function, inputs


def _value(operand: Operand, leaves: dict[int, Tensor]) -> Tensor:
    """What an input was; of an intermediate value what it is."""
    return leaves[id(operand.tensor)] if operand.is_leaf else operand.tensor.detach()


def _fresh(leaves: dict[int, Tensor]) -> dict[int, Tensor]:
    """Copies: operations in place change memory in a repetition too."""
    return {key: leaf.clone() for key, leaf in leaves.items()}  # type: ignore[attr-defined]


def filled(
    mode: Callable[[Function, tuple[Tensor, ...], int], Derivatives], function: Function,
    inputs: tuple[Tensor, ...], order: int, shape: tuple[int, ...],
) -> Derivatives:  # fmt: skip
    """The derivatives in a mode; without elements on either side there is nothing to compute."""
    solid = [place for place, tensor in enumerate(inputs) if tensor.numel() and prod(shape)]

    def smaller(*given: Tensor) -> Tensor:
        every = list(inputs)
        for place, tensor in zip(solid, given, strict=True):
            every[place] = tensor
        return function(*every)

    empty = Derivatives([], [])
    found = mode(smaller, tuple(inputs[place] for place in solid), order) if solid else empty
    sizes = [tuple(tensor.shape) for tensor in inputs]
    first = [numpy.zeros((*shape, *size)) for size in sizes]
    for place, block in zip(solid, found.first, strict=True):
        first[place] = block
    if order == 1:
        return Derivatives(first)
    second = [[numpy.zeros((*shape, *one, *other)) for other in sizes] for one in sizes]
    for place, row in zip(solid, found.second, strict=True):
        for across, block in zip(solid, row, strict=True):
            second[place][across] = block
    return Derivatives(first, second)


def by_reverse(function: Function, inputs: tuple[Tensor, ...], order: int) -> Derivatives:
    """Walks back from every element of the result."""

    def slopes(*given: Tensor) -> Any:
        return jacobian(function, given, create_graph=True)

    with undisturbed(grad=True):
        first = jacobian(function, inputs)
        second = jacobian(slopes, inputs) if order > 1 else ()
    return _arrays(first, second)


def by_forward(function: Function, inputs: tuple[Tensor, ...], order: int) -> Derivatives:
    """Runs the operations on pairs of a value and its derivative."""
    with undisturbed(grad=False):
        try:
            first, second = _slopes(partial(jacfwd, argnums=tuple(range(len(inputs)))),
                                    function, inputs, order)  # fmt: skip
        except RuntimeError:  # what changes in place can't be run for all columns at once
            first, second = _slopes(_one_by_one, function, inputs, order)
    return _arrays(first, second)


def _slopes(
    derived: Callable[[Any], Any], function: Function, inputs: tuple[Tensor, ...], order: int
) -> tuple[Any, Any]:
    once = derived(function)
    return once(*inputs), derived(once)(*inputs) if order > 1 else ()


def _one_by_one(function: Callable[..., Any]) -> Callable[..., Any]:
    """The derivatives of a function by each element of its inputs, one run for each."""

    def slopes(*given: Tensor) -> Any:
        columns = []
        for units in zip(*basis_of(given, sum(tensor.numel() for tensor in given)), strict=True):
            columns.append(pushed_forward(function, given, units)[1])
        if not isinstance(columns[0], tuple):
            return tuple(_across(columns, given))
        parts = zip(*columns, strict=True)
        return tuple(tuple(_across(list(part), given)) for part in parts)

    return slopes


def _across(columns: Sequence[Tensor], given: Sequence[Tensor]) -> Iterator[Any]:
    """Columns beside each other, for each input in its own shape."""
    start = 0
    for tensor in given:
        end = start + tensor.numel()
        whole = catalogue.functions["stack"](list(columns[start:end]), -1)
        yield whole.reshape((*columns[0].shape, *tensor.shape))
        start = end


def _arrays(first: Any, second: Any) -> Derivatives:
    return Derivatives(
        [array_of(block) for block in first], [[array_of(part) for part in row] for row in second]
    )


def by_the_graph(result: Any, tensors: Sequence[Any], seed: Any, order: int) -> Derivatives:
    """The program's own graph is walked back, element by element: PyTorch's, or one too long to be
    recorded."""
    given = None if seed is None else array_of(seed)
    shape = () if seed is not None else tuple(result.shape)
    rows = []
    for unit in [given] if seed is not None else _units(result):
        rows.append(_differentiated(result, tensors, unit, create_graph=order > 1))
    first = [_stacked([row[i] for row in rows], shape, tensor) for i, tensor in enumerate(tensors)]
    if order == 1:
        return Derivatives(first)
    second = []
    for i, tensor in enumerate(tensors):
        found = [_again(row[i], tensor, tensors) for row in rows]
        second.append([
            _stacked([each[j] for each in found], (*shape, *tensor.shape), other)
            for j, other in enumerate(tensors)
        ])  # fmt: skip
    return Derivatives(first, second)


def _differentiated(
    result: Any, tensors: Sequence[Any], unit: Any, *, create_graph: bool
) -> Sequence[Any]:
    """torch.autograd.grad of the side that made the result."""
    if is_live(result):
        assert sides.live is not None
        return sides.live.differentiated(result, tensors, unit, create_graph=create_graph)
    seed = plain(unit.astype(result._kind.array_dtype), result._kind)
    found: Sequence[Any] = grad(
        result, tensors, seed, retain_graph=True, create_graph=create_graph, allow_unused=True
    )
    return found


def _units(result: Any) -> list[Any]:
    """One seed for each element."""
    count = prod(result.shape)
    return [unit.reshape(tuple(result.shape)) for unit in numpy.eye(count, dtype="float32")]


def _again(slope: Any, tensor: Any, tensors: Sequence[Any]) -> list[Any]:
    """All derivatives of one row of a Jacobian."""
    if slope is None or not slope.requires_grad:
        return [numpy.zeros((prod(tensor.shape), *other.shape)) for other in tensors]
    rows = [_differentiated(slope, tensors, unit, create_graph=False) for unit in _units(slope)]
    shape = (len(rows),)
    return [_stacked([row[j] for row in rows], shape, other) for j, other in enumerate(tensors)]


def _stacked(rows: list[Any], shape: tuple[int, ...], tensor: Any) -> Any:
    """Gradients of one tensor as an array; None as zeros."""
    inner = tuple(tensor.shape)
    arrays = [numpy.zeros(inner) if row is None else _plain(row) for row in rows]
    whole = numpy.stack(arrays) if arrays else numpy.zeros((0, *inner))
    return whole.reshape((*shape, *inner))


def _plain(value: Any) -> Any:
    return value if isinstance(value, numpy.ndarray) else array_of(value)
