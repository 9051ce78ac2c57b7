"""Engine: gradients that a pass gives to the program, with a copy or without one.

PyTorch's rules (torch/csrc/autograd/functions/accumulate_grad.h): a leaf without a gradient takes
what came as it is, if nobody else holds it and it lies in memory as the leaf does; else it gets a
copy. `grad` always returns what came. So a gradient that came through a view shares its memory,
and its version counter, with the gradient that the program handed in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from ..graph.node import Storage
from ..memory.device import memory_of
from ..memory.layout import element_strides, is_dense
from ..schema.catalogue import catalogue
from ..tensors.overlap import is_expanded
from ..tensors.tensor import Tensor, plain
from ..tensors.tensor_type import TensorType
from .hook_calls import as_tensor, copied

ALONE = 2  # references to an array that only one variable holds, as getrefcount counts


class PassGradients:
    """The tensors and version counters of one pass that the program has, or will have."""

    __slots__ = ("_counters", "_gradients", "_tensors")

    def __init__(self, gradients: Sequence[Tensor]) -> None:
        self._gradients = gradients
        # By the identity of an array, which is held so that no other one gets it.
        self._tensors: dict[int, tuple[Any, Tensor]] | None = None
        self._counters: dict[int, Storage] | None = None

    def first(self, value: Any, variable: Tensor, alone: bool, origin: object) -> Tensor:
        """The .grad of a leaf that had none; `alone` says that only the pass holds the array."""
        kind = variable._kind
        if alone and value.dtype is kind.array_dtype and not kind.is_reduced:
            if isinstance(value, numpy.generic):
                return plain(value, kind)
            if _fits(value, variable._data):
                taken = plain(value, kind)
                if not _is_whole(value):
                    taken._storage = self._counter(value)
                return taken
        copy = copied(as_tensor(value), variable)
        if copy._storage is None and _is_filled(variable._data):  # PyTorch writes into new memory
            storage = copy._storage = Storage()
            storage.version, storage.changed_at = 1, origin
        return copy

    def captured(self, value: Any, kind: TensorType) -> Tensor:
        """A gradient that `grad` returns: one tensor, however many inputs it came to."""
        if isinstance(value, Tensor):
            return value
        tensors = self._tensors
        if tensors is None:
            tensors = {id(each._data): (each._data, each) for each in self._gradients}
            self._tensors = tensors
        held = tensors.get(id(value))
        if held is None or held[1]._kind is not kind:
            held = tensors[id(value)] = value, self._around(value, kind)
        return held[1]

    def _around(self, value: Any, kind: TensorType) -> Tensor:
        array = kind.xp.asarray(value, dtype=kind.array_dtype)
        if 0 in array.strides and is_expanded(array):  # what a sum spread out stays spread out
            first = tuple([slice(0, 1) if step == 0 else slice(None) for step in array.strides])
            inner = plain(array[first], kind)
            return catalogue.rows["expand"].run(inner, array.shape, False)
        taken = plain(array, kind)
        if array is value and not _is_whole(array) and _is_writeable(array):
            taken._storage = self._counter(array)
        return taken

    def _counter(self, array: Any) -> Storage | None:
        """The version counter of what lies in the memory of a gradient that the program has."""
        counters = self._counters
        if counters is None:
            counters = self._counters = {}
            for gradient in self._gradients:
                owner = memory_of(gradient._data)
                if owner is not None:
                    counters[id(owner)] = gradient._need_storage()
        return counters.get(id(memory_of(array))) if counters else None


def _fits(value: Any, own: Any) -> bool:
    """Does an array lie as the one of its leaf does? Sizes of 1 may have any stride."""
    if _is_whole(value):
        if value.flags.c_contiguous and own.flags.c_contiguous:
            return True
    elif 0 in value.strides:  # spread out, if only over sizes of 1
        return False
    if value.strides == own.strides and own.flags.c_contiguous:
        alike = True
    elif _is_filled(own):
        steps = zip(value.shape, element_strides(value), element_strides(own))
        alike = all(size == 1 or step == had for size, step, had in steps)
    else:
        alike = bool(value.flags.c_contiguous)
    return alike and _is_writeable(value)


def _is_whole(array: Any) -> bool:
    """Is it known to be nobody's view? CuPy's arrays do not always tell."""
    return isinstance(array, numpy.ndarray) and array.base is None


def _is_filled(own: Any) -> bool:
    return bool(own.flags.c_contiguous) or is_dense(own.shape, element_strides(own))


def _is_writeable(array: Any) -> bool:
    """May its memory be changed? What was spread out over sizes of 1 only looks as if not."""
    flags = array.flags
    if getattr(flags, "writeable", True):
        return True
    try:
        flags.writeable = True
    except ValueError:
        return False
    return True
