"""Engine: a tensor's values outside of it: Python numbers, lists, NumPy arrays, DLPack."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy

from ..memory.device import to_numpy
from ..schema.mode import state

if TYPE_CHECKING:
    from ..memory.device import Device
    from .tensor import Tensor
    from .tensor_type import Array, TensorType

NumpyArray: TypeAlias = numpy.ndarray[Any, Any]  # Values.numpy hides the module in its class


def _of_reduced(array: NumpyArray, kind: TensorType) -> NumpyArray:
    """A copy: NumPy has one of the two types."""
    if kind.dtype.name != "float16":
        raise TypeError(f"Got unsupported ScalarType {kind.dtype.word}")
    return array.astype("float16")


def _real(number: Any, kind: str) -> Any:
    """A complex number without an imaginary part as a real one."""
    if number.__class__ is not complex:
        return number
    if number.imag:
        raise RuntimeError(f"value cannot be converted to type {kind} without overflow")
    return number.real


class Values:
    """What a tensor gives away of itself."""

    __slots__ = ()

    _data: Array
    _kind: TensorType

    if TYPE_CHECKING:

        @property
        def requires_grad(self) -> bool: ...

        @property
        def device(self) -> Device: ...

        def _need_array(self) -> Array: ...

    def item(self) -> Any:
        if self._data.size != 1:
            raise RuntimeError(
                f"a Tensor with {self._data.size} elements cannot be converted to Scalar"
            )
        return self._data.item()

    def tolist(self) -> Any:
        return to_numpy(self._data).tolist()

    def numpy(self, *, force: bool = False) -> NumpyArray:
        """The values as a NumPy array that shares memory where the tensor is on the CPU."""
        if self.requires_grad and not force and state.grad_enabled:
            raise RuntimeError(
                "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() "
                "instead."
            )
        if self.device.type != "cpu" and not force:
            raise TypeError(
                f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to "
                "copy the tensor to host memory first."
            )
        array = to_numpy(self._need_array())
        if self._kind.is_reduced:
            return _of_reduced(array, self._kind)
        return array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NumpyArray:
        array = self.numpy()
        if copy:
            return array.astype(dtype or array.dtype, copy=True)
        return array if dtype is None else array.astype(dtype, copy=False)

    def __dlpack__(self, **options: Any) -> Any:
        if self.requires_grad:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        return self._need_array().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        kind, number = self._need_array().__dlpack_device__()
        return int(kind), int(number)

    def __bool__(self) -> bool:
        if self._data.size != 1:
            many = "no values" if self._data.size == 0 else "more than one value"
            raise RuntimeError(f"Boolean value of Tensor with {many} is ambiguous")
        return bool(self._data.item())

    def __float__(self) -> float:
        return float(_real(self._differentiable(), "double"))

    def __int__(self) -> int:
        return int(_real(self._only(), "int64_t"))

    def __complex__(self) -> complex:
        return complex(self._differentiable())

    def _only(self) -> Any:
        if self._data.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return self._data.item()

    def _differentiable(self) -> Any:
        """The only element, which leaves its graph: an integer had none, so int() does not warn."""
        if self.requires_grad and state.grad_enabled:
            state.warn(
                "Converting a tensor with requires_grad=True to a scalar may lead to unexpected "
                "behavior.\nConsider using tensor.detach() first."
            )
        return self._only()

    def __index__(self) -> int:
        if self._data.size != 1 or self._kind.dtype.category > 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._data.item())

    def __len__(self) -> int:
        if self._data.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return len(self._data)

    def __iter__(self) -> Iterator[Tensor]:
        if self._data.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))  # type: ignore[attr-defined]

    def __contains__(self, value: Any) -> bool:
        if isinstance(value, Values) or type(value) in (int, float, bool, complex):
            return bool((self == value).any())
        raise RuntimeError(
            "Tensor.__contains__ only supports Tensor or scalar, but you passed in a "
            f"{type(value)}."
        )
