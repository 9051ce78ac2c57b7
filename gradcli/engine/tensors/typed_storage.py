"""Engine: tensor.storage(): the memory behind a tensor and all its views, as a row of elements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy

from ..memory.device import module_of
from ..schema.class_name import NamedInC
from ..schema.errors import type_name
from ..schema.mode import state
from .tensor import Tensor

SHOWN = 32  # bytes of an element's line


class UntypedStorage(metaclass=NamedInC):
    """The bytes of it."""

    PUBLIC: tuple[str, ...] = ("size", "nbytes", "tolist", "data_ptr", "device", "element_size")
    _torch_name = "torch.storage.UntypedStorage"

    def __init__(self, elements: Any, tensor: Tensor) -> None:
        self._elements, self._tensor = elements, tensor
        self.device = tensor.device

    def size(self) -> int:
        return int(self._elements.size)

    __len__ = size

    def nbytes(self) -> int:
        return int(self._elements.nbytes)

    def element_size(self) -> int:
        return int(self._elements.itemsize)

    def data_ptr(self) -> int:
        return self._tensor.data_ptr()

    def tolist(self) -> list[Any]:
        state.reserve(SHOWN * self.size())
        return self._elements.tolist()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def _place(self, index: Any) -> Any:
        if type(index) is slice:
            return index
        if type(index) is not int:
            raise TypeError(f"can't index a {self._torch_name} with {type_name(index)}")
        if not -self.size() <= index < self.size():
            raise IndexError(f"index {index} out of range for storage of size {self.size()}")
        return index

    def __getitem__(self, index: Any) -> Any:
        found = self._elements[self._place(index)]
        return found.item() if found.ndim == 0 else type(self)(found, self._tensor)

    def __setitem__(self, index: Any, value: Any) -> None:
        if type(value) not in (int, float, bool, complex):
            raise TypeError(f"a storage takes numbers, not {type_name(value)}")
        self._elements[self._place(index)] = value
        self._tensor._bump()

    def _head(self) -> str:
        return f"device={self.device}"

    def __repr__(self) -> str:
        rows = "".join(f" {value}\n" for value in self.tolist())
        return f"{rows}[{self._torch_name}({self._head()}) of size {self.size()}]"


class TypedStorage(UntypedStorage):
    PUBLIC = ("dtype", "untyped")
    _torch_name = "torch.storage.TypedStorage"

    def __init__(self, elements: Any, tensor: Tensor) -> None:
        super().__init__(elements, tensor)
        self.dtype = tensor.dtype

    def __getitem__(self, index: Any) -> Any:
        if type(index) is slice:
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        return super().__getitem__(index)

    def untyped(self) -> UntypedStorage:
        return UntypedStorage(self._elements.view(numpy.uint8), self._tensor)

    def _head(self) -> str:
        return f"dtype={self.dtype}, device={self.device}"


def storage_of(tensor: Tensor) -> TypedStorage:
    """tensor.storage()"""
    whole = tensor if tensor._base is None else tensor._base
    array = whole._need_array()
    array = module_of(array).asarray(array)
    while isinstance(array.base, type(array)) and array.base.dtype == array.dtype:
        array = array.base
    order = sorted(range(array.ndim), key=lambda place: -array.strides[place])
    flat = array.transpose(order).reshape(-1)
    return TypedStorage(flat, whole)
