"""language: the part of einops that models use: axes that have names in a pattern.

Tensors are reshaped, permuted, reduced, expanded and reshaped again in einops' order, so that
their graphs are the same; arrays go the same way through NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from string import ascii_letters
from typing import Any

import numpy

from ....arrays.payment import pay
from ....arrays.values import Array, wrap
from ....engine.tensors.tensor import Tensor
from ....nn.module import Module
from ...builtins.types import host_type
from ...calls import call, called_back
from ...formatting import text
from ...libraries import TENSORS, libraries
from ...operations import collect, type_name
from .. import arrays as _operations
from ..publishing import classes, functions
from .patterns import (
    ELLIPSIS,
    MOST_DIMENSIONS,
    Axis,
    EinopsError,
    Plan,
    check_name,
    groups_of,
    is_open,
    length_of,
    named,
    opened,
    plan_of,
    product,
    sides_of,
    text_of,
)

# ---------------------------------------------------------------- tensors and arrays


def _reduced_tensor(x: Any, operation: str, axes: tuple[int, ...]) -> Any:
    if operation in ("min", "max"):
        return getattr(x, f"a{operation}")(dim=axes)
    if operation in ("sum", "mean"):
        return getattr(x, operation)(dim=axes)
    for axis in reversed(axes):
        x = getattr(x, operation)(dim=axis)
    return x


def _spread_tensor(x: Any, plan: Plan) -> Any:
    sizes = [-1] * plan.dimensions
    for place, size in plan.added.items():
        x = x.unsqueeze(place)
        sizes[place] = size
    return x.expand(sizes)


def _spread_array(x: Any, plan: Plan) -> Any:
    for place in plan.added:
        x = numpy.expand_dims(x, place)
    shape = tuple(plan.added.get(place, size) for place, size in enumerate(x.shape))
    size = product(shape)
    pay(size, size * x.itemsize)
    return numpy.broadcast_to(x, shape)


def _done(x: Any, operation: Any, plan: Plan) -> Any:
    """What a plan makes of a tensor, or of an array of the host."""
    is_array = isinstance(x, numpy.ndarray)
    if plan.split is not None:
        x = x.reshape(plan.split)
    if plan.order is not None:
        x = x.transpose(plan.order) if is_array else x.permute(plan.order)
    if plan.reduced:
        if not isinstance(operation, str):
            x = called_back(operation, (wrap(x) if is_array else x, plan.reduced), {})
            x = x.array if isinstance(x, Array) else x
        elif operation == "mean" and not (x.dtype.kind == "f" if is_array else _is_floating(x)):
            raise NotImplementedError("reduce_mean is not available for non-floating tensors")
        elif is_array:
            x = numpy.asarray(getattr(x, operation)(axis=plan.reduced))
        else:
            x = _reduced_tensor(x, operation, plan.reduced)
    if plan.added:
        x = _spread_array(x, plan) if is_array else _spread_tensor(x, plan)
    return x if plan.joined is None else x.reshape(plan.joined)


def _is_floating(x: Any) -> bool:
    return bool(x.is_floating_point())


def _as_tensor(value: Any) -> Any:
    """A tensor, or what an array holds, of a list its items stacked."""
    if isinstance(value, list):
        if not value:
            raise TypeError("Rearrange/Reduce/Repeat can't be applied to an empty list")
        items = [_as_tensor(item) for item in value]
        if isinstance(items[0], numpy.ndarray):
            pay(sum(item.size for item in items), sum(item.nbytes for item in items))
            return numpy.stack(items)
        return libraries.current.resolve("stack")(items)
    if isinstance(value, Array):
        pay(value.array.size, value.array.nbytes)
        return value.array
    if type(value) not in TENSORS and not isinstance(value, Tensor):
        raise RuntimeError(f"Tensor type unknown to einops <class '{type_name(value)}'>")
    return value


def _value(x: Any) -> Any:
    return wrap(x) if isinstance(x, numpy.ndarray) else x


def _applied(tensor: Any, pattern: Any, operation: Any, given: dict[str, Any]) -> Any:
    x = _as_tensor(tensor)
    try:
        plan = plan_of(pattern, operation, given, x.shape)
    except EinopsError as error:
        word = operation if isinstance(operation, str) else type_name(operation)
        kind = "Input is list. " if isinstance(tensor, list) else ""
        shape = tuple(x.shape) if isinstance(x, numpy.ndarray) else x.shape
        raise EinopsError(
            f' Error while processing {word}-reduction pattern "{pattern}".\n'
            f" {kind or f'Input tensor shape: {shape}. '}Additional info: {text(given)}.\n {error}"
        ) from None
    return _value(_done(x, operation, plan))


def rearrange(tensor: Any, pattern: Any, **axes_lengths: Any) -> Any:
    return _applied(tensor, pattern, "rearrange", axes_lengths)


def reduce(tensor: Any, pattern: Any, reduction: Any, **axes_lengths: Any) -> Any:
    return _applied(tensor, pattern, reduction, axes_lengths)


def repeat(tensor: Any, pattern: Any, **axes_lengths: Any) -> Any:
    return _applied(tensor, pattern, "repeat", axes_lengths)


# ---------------------------------------------------------------- the other functions


def einsum(*tensors_and_pattern: Any) -> Any:
    if len(tensors_and_pattern) <= 1:
        raise ValueError(
            "`einops.einsum` takes at minimum two arguments: the tensors (at least one), followed "
            "by the pattern."
        )
    *tensors, pattern = tensors_and_pattern
    if not isinstance(pattern, str):
        raise ValueError(
            "The last argument passed to `einops.einsum` must be a string, representing the einsum "
            "pattern."
        )
    if "->" not in pattern:
        raise ValueError("Einsum pattern must contain '->'.")
    left, right = pattern.split("->")
    sides = [groups_of(side, anonymous=True, repeated=True) for side in (*left.split(","), right)]
    letters: dict[Axis, str] = {ELLIPSIS: "..."}
    words = []
    for groups in sides:
        for group in groups:
            if not group:
                raise NotImplementedError("Singleton () axes are not yet supported in einsum.")
            if len(group) > 1:
                raise NotImplementedError("Shape rearrangement is not yet supported in einsum.")
            if group[0] not in letters:
                if len(letters) > len(ascii_letters):
                    raise RuntimeError("Too many axes in einsum.")
                letters[group[0]] = ascii_letters[len(letters) - 1]
        words.append("".join(letters[group[0]] for group in groups))
    compact = f"{','.join(words[:-1])}->{words[-1]}"
    if any(isinstance(tensor, Array) for tensor in tensors):
        return call(_operations.MODULES["numpy"]["einsum"], (compact, *tensors), {})
    return libraries.current.resolve("einsum")(compact, *map(_as_tensor, tensors))


def _around(pattern: str, function: str) -> tuple[int, int]:
    """How many axes stand before * and behind it."""
    axes = text_of(pattern).split()
    if len(axes) != len(set(axes)):
        raise EinopsError(f'Duplicates in axes names in {function}(..., "{pattern}")')
    if "*" not in axes:
        raise EinopsError(f'No *-axis in {function}(..., "{pattern}")')
    for axis in axes:
        if axis != "*":
            check_name(axis)
    return axes.index("*"), len(axes) - axes.index("*") - 1


def pack(tensors: Any, pattern: Any) -> Any:
    before, behind = _around(pattern, "pack")
    flat, shapes = [], []
    for number, tensor in enumerate(collect(tensors)):
        x = _as_tensor(tensor)
        if len(x.shape) < before + behind:
            raise EinopsError(
                f"packed tensor #{number} (enumeration starts with 0) has shape {x.shape}, while "
                f"pattern {pattern} assumes at least {before + behind} axes"
            )
        end = len(x.shape) - behind
        shapes.append(x.shape[before:end])
        flat.append(x.reshape((*x.shape[:before], -1, *x.shape[end:])))
    if isinstance(flat[0], numpy.ndarray):
        pay(sum(x.size for x in flat), sum(x.nbytes for x in flat))
        return wrap(numpy.concatenate(flat, axis=before)), shapes
    return libraries.current.resolve("cat")(flat, dim=before), shapes


def unpack(tensor: Any, packed_shapes: Any, pattern: Any) -> Any:
    x = _as_tensor(tensor)
    before, behind = _around(pattern, "unpack")
    if len(x.shape) != before + 1 + behind:
        raise EinopsError(
            f"unpack(..., {pattern}) received input of wrong dim with shape {x.shape}"
        )
    shapes = [tuple(map(length_of, collect(shape))) for shape in collect(packed_shapes)]
    sizes = [-1 if -1 in shape else product(shape) for shape in shapes]
    total = x.shape[before]
    if sizes.count(-1) > 1:
        raise EinopsError(
            f"unpack(..., {pattern}) received more than one -1 in {text(packed_shapes)} and can't "
            "infer dimensions"
        )
    if -1 in sizes:
        sizes[sizes.index(-1)] = total - sum(sizes) - 1
    found, start = [], 0
    for shape, size in zip(shapes, sizes, strict=True):
        part = x[(*[slice(None)] * before, slice(start, start + size))]
        start += size
        try:
            found.append(_value(part.reshape((*x.shape[:before], *shape, *x.shape[before + 1 :]))))
        except (ValueError, RuntimeError):
            start = -1
            break
    if start != total:
        raise EinopsError(
            f'Error during unpack(..., "{pattern}"): could not split axis of size {total} into '
            f"requested {text(packed_shapes)}"
        )
    return found


def parse_shape(x: Any, pattern: Any) -> Any:
    shape = _as_tensor(x).shape
    groups = groups_of(text_of(pattern), anonymous=True)
    which = "this" if is_open(groups) else "different"
    groups = opened(groups, ["_"] * (len(shape) - len(groups) + 1))
    if len(shape) != len(groups):
        raise RuntimeError(
            f"Can't parse shape with {which} number of dimensions: {pattern} {shape}"
        )
    if any(len(group) > 1 for group in groups):
        raise RuntimeError(f"Can't parse shape with composite axes: {pattern} {shape}")
    return {
        group[0]: size for group, size in zip(groups, shape, strict=True)
        if group and group != ["_"]
    }  # fmt: skip


def asnumpy(tensor: Any) -> Any:
    x = _as_tensor(tensor)
    return tensor if isinstance(x, numpy.ndarray) else x.detach().cpu().numpy()


# ---------------------------------------------------------------- layers


class _Layer(Module):
    PUBLIC: tuple[str, ...] = ("pattern", "axes_lengths")
    operation: Any = "rearrange"

    def _take(self, pattern: Any, axes_lengths: dict[str, Any]) -> None:
        self.pattern, self.axes_lengths = pattern, axes_lengths
        try:
            left, _ = sides_of(pattern, self.operation, axes_lengths)
            count = len(left)
            self._dimensions = (
                range(count - 1, count - 1 + MOST_DIMENSIONS) if is_open(left)
                else range(count, count + 1)
            )  # fmt: skip
            for dimensions in self._dimensions:
                named(pattern, self.operation, axes_lengths, dimensions)
        except EinopsError as error:
            raise EinopsError(f" Error while preparing {self!r}\n {error}") from None

    def forward(self, input: Any) -> Any:
        x = _as_tensor(input)
        if len(x.shape) not in self._dimensions:
            raise KeyError(len(x.shape))
        return _done(x, self.operation, plan_of(self.pattern, self.operation, self.axes_lengths,
                                              x.shape))  # fmt: skip

    def extra_repr(self) -> str:
        kind = [] if self.operation == "rearrange" else [repr(self.operation)]
        lengths = [f"{axis}={length}" for axis, length in self.axes_lengths.items()]
        return ", ".join([repr(self.pattern), *kind, *lengths])


class Rearrange(_Layer):
    def __init__(self, pattern: Any, **axes_lengths: Any) -> None:
        super().__init__()
        self._take(pattern, axes_lengths)


class Reduce(_Layer):
    PUBLIC = (*_Layer.PUBLIC, "reduction")

    def __init__(self, pattern: Any, reduction: Any, **axes_lengths: Any) -> None:
        super().__init__()
        self.reduction = self.operation = reduction
        self._take(pattern, axes_lengths)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "rearrange": rearrange, "reduce": reduce, "repeat": repeat, "einsum": einsum, "pack": pack,
    "unpack": unpack, "parse_shape": parse_shape, "asnumpy": asnumpy,
}  # fmt: skip
MODULES: dict[str, dict[str, Any]] = {
    "einops": {**functions(_FUNCTIONS), "EinopsError": host_type(EinopsError)},
    "einops.layers.torch": classes([Rearrange, Reduce]),
}
