"""Questions: what leaves were when a pass came to them: a step changes them before anybody asks."""

from __future__ import annotations

from typing import Any
from weakref import ref

import numpy

from ...named import NamedTuple
from ...recording.sides import AnyTensor, array_of, is_tensor, standing

FOLLOWED = 10_000  # leaves whose values are kept
SMALL = 65_536  # elements of one whose values are; of others, whether any is not 0


class Held(NamedTuple):
    """A leaf as it was; `values` is None where only that is known which the version says."""

    tensor: ref[Any]
    version: int | None  # None: elements may change, and it does not
    values: Any

    def is_of(self, tensor: AnyTensor) -> bool:
        return self.tensor() is tensor


class LeafValues:
    """What the leaves of the passes were, each copied once for each of its versions."""

    __slots__ = ("first", "latest")

    def __init__(self) -> None:
        self.first: dict[int, Held] = {}
        self.latest: dict[int, Held] = {}

    def at(self, variable: AnyTensor) -> Held | None:
        """As it is now; None where too many are followed."""
        key, version = id(variable), standing(variable)
        known = self.latest.get(key)
        is_as_it_was = known is not None and known.version == version is not None
        if known is None or not is_as_it_was or not known.is_of(variable):
            if known is None and len(self.latest) >= FOLLOWED:
                return None
            known = self.latest[key] = Held(ref(variable), version, _values(variable))
        return known

    def is_followed(self, tensor: AnyTensor) -> bool:
        """Whether its values at its first gradient are known."""
        first = self.first.get(id(tensor))
        return first is not None and first.is_of(tensor) and first.values is not None

    def is_updated(self, tensor: AnyTensor) -> bool:
        """Whether it has other values than at its first gradient."""
        return self.is_followed(tensor) and not numpy.array_equal(
            self.first[id(tensor)].values, array_of(tensor), equal_nan=True
        )


def _values(variable: AnyTensor) -> Any:
    array = array_of(variable)
    if array is None:
        return None
    if array.size <= SMALL:
        return array.copy(order="K") if array.__class__ is numpy.ndarray else array.copy()
    return None if array.any() else numpy.broadcast_to(array.dtype.type(0), array.shape)


def as_then(saved: Any, leaves: dict[int, Held]) -> Any:
    """What a node had saved, with the values of the time of the pass where a leaf has new ones."""
    if not leaves:
        return saved
    if isinstance(saved, dict):
        return {name: _as_then(value, leaves) for name, value in saved.items()}
    return tuple([_as_then(one, leaves) for one in saved]) if isinstance(saved, tuple) else saved


def _as_then(value: Any, leaves: dict[int, Held]) -> Any:
    if not is_tensor(value):
        return value
    base = _base_of(value)
    held = leaves.get(id(base))
    if held is None or not held.is_of(base):
        return value
    if held.version is not None and held.version == standing(base):
        return value
    values, shape = held.values, tuple(value.shape)
    if values is None:
        return value
    if value is base:
        return values
    if not values.any():
        return numpy.broadcast_to(values.reshape(-1)[0], shape)
    size = values.itemsize
    lies = [step * size for count, step in zip(base.shape, base.stride()) if count > 1]
    if lies != [step for count, step in zip(values.shape, values.strides) if count > 1]:
        return value
    start = value.storage_offset() - base.storage_offset()
    steps = [step * size for step in value.stride()]
    return numpy.lib.stride_tricks.as_strided(values.ravel(order="K")[start:], shape, steps)


def _base_of(tensor: Any) -> Any:
    """The tensor that a view was taken of; others are their own."""
    return tensor if tensor._base is None else tensor._base
