"""Engine: memory that an operation in place would write twice, or read after it was written."""

from __future__ import annotations

from typing import Any

import numpy

from ..memory.device import module_of
from ..memory.layout import element_strides, is_dense
from ..schema.mode import state
from ..schema.row import Row
from .tensor import Tensor

_UNSUPPORTED = (
    "unsupported operation: {} refer{} to a single memory location. Please clone() the tensor "
    "before performing the operation."
)
_SHARED = _UNSUPPORTED.format("some elements of the input tensor and the written-to tensor", "")
WRITTEN_TWICE = _UNSUPPORTED.format("more than one element of the written-to tensor", "s")
_DEPRECATED = (
    "Use of {} on expanded tensors is deprecated. Please clone() the tensor before performing this "
    "operation. This also applies to advanced indexing e.g. {}"
)


def check_overlap(row: Row, tensor: Tensor, *others: Any) -> bool:
    """Raises where PyTorch's iterator refuses to write into a tensor; is it expanded?

    `row.overlap` says which operators write into expanded tensors all the same: "allowed", or the
    words of the warning that comes with it. "copied" is what reads a copy; "apart" is what may not
    even read the whole of what it writes.
    """
    data = tensor._data
    expanded = 0 in data.strides and is_expanded(data)
    if expanded and row.overlap != "allowed":
        if row.inplace == "copy_" and others[0] is tensor:
            return True  # into itself, where PyTorch writes nothing
        if row.overlap in ("", "copied", "apart"):
            raise RuntimeError(WRITTEN_TWICE)
        state.warn(_DEPRECATED.format(row.inplace, row.overlap))
    if row.overlap in ("allowed", "copied"):
        return expanded
    for other in others:
        if other.__class__ is Tensor:
            refuse_shared(tensor, other, row.overlap == "apart")
    return expanded


def refuse_doubled(tensor: Tensor) -> None:
    """Raises where one element would be written twice."""
    if 0 in tensor._data.strides and is_expanded(tensor._data):
        raise RuntimeError(WRITTEN_TWICE)


def refuse_shared(tensor: Tensor, other: Tensor, apart: bool) -> None:
    """Raises where an operand lies partly in what is written, or at all if `apart`."""
    if other is tensor:
        shared = apart
    else:
        data, operand = tensor._data, other._data
        if data is operand:
            shared = apart
        else:
            views = data.base is not None or operand.base is not None
            shared = views and _is_shared(data, operand, apart)
    if shared:
        raise RuntimeError(_SHARED)


def warn_expanded(row: Row, tensor: Tensor) -> None:
    """The warning of an operator that another one hands an expanded tensor to."""
    if is_expanded(tensor._data):
        state.warn(_DEPRECATED.format(row.inplace, row.overlap))


def write_changed(tensor: Tensor, data: Any) -> None:
    """Writes into an expanded tensor: an element that stays must not undo one that changes."""
    old = tensor._data
    changed = (data != old) & ((data == data) | (old == old))
    old[changed] = data[changed]


def is_expanded(data: Any) -> bool:
    pairs = zip(data.strides, data.shape, strict=True)
    return data.size > 0 and any(step == 0 and size > 1 for step, size in pairs)


def _is_shared(a: Any, b: Any, whole: bool) -> bool:
    """Do two dense arrays lie in the same memory? Element on element counts if `whole`."""
    if a.__class__ is not b.__class__ or isinstance(a, numpy.generic):
        return False
    if not module_of(a).may_share_memory(a, b):
        return False
    if not all(is_dense(x.shape, element_strides(x)) for x in (a, b)):
        return False
    same = _address(a) == _address(b) and a.nbytes == b.nbytes
    return whole or not (same and element_strides(a) == element_strides(b))


def _address(data: Any) -> int:
    if isinstance(data, numpy.ndarray):
        return int(data.__array_interface__["data"][0])
    return int(data.data.ptr)
