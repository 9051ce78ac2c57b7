"""Autograd: Jacobians as arrays, by finite differences, backward passes and forward mode."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..engine.passes.backward import grad
from ..engine.schema.dtypes import OF_ARRAY
from ..engine.tensors.tensor import Tensor, plain
from ..engine.tensors.tensor_type import kind_of
from ..numerics.random import Generator

Columns = list[Any]  # a Jacobian for each input that asks: (elements of input, elements of output)


def asking(inputs: Sequence[Any]) -> list[Tensor]:
    return [value for value in inputs if isinstance(value, Tensor) and value.requires_grad]


def as_tensor(array: Any) -> Tensor:
    return plain(array, kind_of(OF_ARRAY[array.dtype.name]))


def close(ours: Any, theirs: Any, rtol: float, atol: float) -> bool:
    """torch.allclose after both were converted to one type."""
    if not ours.size:
        return True
    with_nan = (ours != ours) & (theirs != theirs)
    same = (ours == theirs) | with_nan
    near = abs(ours - theirs) <= atol + rtol * abs(theirs)
    return bool((same | near).all())


def _tuple(value: Any) -> tuple[Any, ...]:
    return (
        value if isinstance(value, tuple) else tuple(value) if isinstance(value, list) else (value,)
    )


def _moved(tensor: Tensor) -> Any:
    """The tensor's own memory: the function may have the tensor from elsewhere as well."""
    return tensor._need_array()


def jacobians(
    func: Callable[..., Any], inputs: Sequence[Any], answer: Sequence[Any], eps: float
) -> list[Columns]:
    """Central differences: for each output a Jacobian for each input that asks."""
    tracked = asking(inputs)
    xp = tracked[0]._kind.xp
    found: list[Columns] = [
        [
            xp.zeros((tensor.numel(), output.numel()), dtype=_type(tensor, output))
            for tensor in tracked
        ]
        for output in answer
    ]
    for number, tensor in enumerate(tracked):
        array = _moved(tensor)
        for place, index in enumerate(xp.ndindex(array.shape)):
            for step, factor in _steps(tensor, eps):
                for at, slope in enumerate(_slopes(func, inputs, array, index, step, eps)):
                    found[at][number][place] += factor * slope.reshape(-1)
    return found


def _type(tensor: Tensor, output: Any) -> Any:
    """Of a Jacobian's elements: the output's, or complex where the input is."""
    kind = tensor._kind
    if kind.dtype.is_complex:
        return kind.array_dtype
    return output._kind.array_dtype if output._kind.differentiable else kind.array_dtype


def _steps(tensor: Tensor, eps: float) -> list[tuple[Any, Any]]:
    """Where to go, and what the slope found there counts: along both axes of a complex number."""
    return [(eps, 1), (eps * 1j, 1j)] if tensor._kind.dtype.is_complex else [(eps, 1)]


def _slopes(
    func: Callable[..., Any], inputs: Sequence[Any], array: Any, index: Any, step: Any, eps: float
) -> list[Any]:
    before = array[index].item()  # as PyTorch: the sum is rounded once, when it is stored
    try:
        array[index] = before - step
        low = [output._data.copy() for output in _tuple(func(*inputs))]
        array[index] = before + step
        high = [output._data.copy() for output in _tuple(func(*inputs))]
    finally:
        array[index] = before
    return [
        (b - a) / (2 * eps) if a.dtype.kind in "fc" else (b.astype(float) - a) / (2 * eps)
        for a, b in zip(low, high, strict=True)
    ]


def backward_jacobian(inputs: Sequence[Any], output: Tensor) -> Columns:
    """One backward pass for each element of an output."""
    tracked = asking(inputs)
    kind = output._kind
    found = [
        kind.xp.zeros((tensor.numel(), output.numel()), dtype=tensor._kind.array_dtype)
        for tensor in tracked
    ]
    shape = output._data.shape
    for place in range(output.numel()):
        seed = kind.xp.zeros(output.numel(), dtype=kind.array_dtype)
        seed[place] = 1
        rows = grad(output, tracked, plain(seed.reshape(shape), kind), True, False, True)
        for number, row in enumerate(rows):
            if row is not None:
                found[number][:, place] = row._data.reshape(-1)
    return found


def forward_jacobians(
    func: Callable[..., Any], inputs: Sequence[Any], answer: Sequence[Any]
) -> list[Columns]:
    """One pass forward for each element of an input."""
    from .forward_ad import dual_level, make_dual, unpack_dual

    tracked = asking(inputs)
    found: list[Columns] = [
        [
            tensor._kind.xp.zeros((tensor.numel(), output.numel()), dtype=tensor._kind.array_dtype)
            for tensor in tracked
        ]
        for output in answer
    ]
    for number, tensor in enumerate(tracked):
        kind, shape = tensor._kind, tensor._data.shape
        for place in range(tensor.numel()):
            direction = kind.xp.zeros(tensor.numel(), dtype=kind.array_dtype)
            direction[place] = 1
            with dual_level():
                dual = make_dual(tensor.detach(), plain(direction.reshape(shape), kind))
                given = [dual if value is tensor else value for value in inputs]
                for at, output in enumerate(_tuple(func(*given))):
                    tangent = unpack_dual(output).tangent
                    if tangent is not None:
                        found[at][number][place] = tangent._data.reshape(-1)
    return found


class Vectors:
    """Random directions of inputs and outputs, drawn as PyTorch's fast mode draws them."""

    def __init__(self, inputs: Sequence[Any], answer: Sequence[Any]) -> None:
        source = Generator()
        self.tracked = asking(inputs)
        self.directions = [_direction(tensor, source) for tensor in self.tracked]
        self.weights = [_direction(output, source) for output in answer]

    def projections(
        self, func: Callable[..., Any], inputs: Sequence[Any], output: Tensor, at: int, eps: float
    ) -> Iterator[tuple[float, float, float]]:
        """(analytical, numerical, weight of the tolerance) for each input that asks."""
        weight = self.weights[at]
        seed = plain(weight.reshape(output._data.shape), output._kind)
        rows = grad(output, self.tracked, seed, True, False, True)
        for tensor, direction, row in zip(self.tracked, self.directions, rows, strict=True):
            ours = 0.0 if row is None else float((row._data.reshape(-1) * direction).sum())
            slope = self._slope(func, inputs, tensor, direction, at, eps)
            theirs = float((slope.reshape(-1) * weight).sum())
            yield ours, theirs, float(direction.sum()) * float(weight.sum())

    def _slope(
        self, func: Callable[..., Any], inputs: Sequence[Any], tensor: Tensor, direction: Any,
        at: int, eps: float,
    ) -> Any:  # fmt: skip
        array = _moved(tensor)
        before, step = array.copy(), (direction * eps).reshape(array.shape)
        try:
            array[...] = before - step
            low = _tuple(func(*inputs))[at]._data.copy()
            array[...] = before + step
            high = _tuple(func(*inputs))[at]._data.copy()
        finally:
            array[...] = before
        return (high - low) / (2 * eps)


def _direction(tensor: Tensor, source: Generator) -> Any:
    values = source.rand((tensor.numel(),)).astype(tensor._kind.array_dtype)
    length = float((values * values).sum()) ** 0.5
    return values / length if length else values
