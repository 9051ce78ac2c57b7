"""Engine: what a tensor is, without a look at its numbers: type, device, shape, memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ..memory.device import Device
from ..memory.layout import element_strides, lies_in_format
from ..schema.dtypes import FLOATING, DType
from ..schema.mode import state
from ..schema.size import Size
from .tensor_type import Array, Layout, TensorType, offset_in, strided, wrap_dim

# What is read off a tensor and does not depend on its elements: attributes, and methods.
ATTRIBUTES = frozenset(
    "dtype device shape ndim layout itemsize nbytes requires_grad grad_fn output_nr is_leaf "
    "retains_grad _version is_cuda is_cpu is_sparse is_sparse_csr is_quantized is_mps is_meta "
    "is_nested".split()
)
METHODS = frozenset(
    "size dim ndimension numel nelement stride storage_offset element_size is_contiguous "
    "is_floating_point is_complex is_signed is_inference data_ptr get_device".split()
)
NAMES = ATTRIBUTES | METHODS


class Metadata:
    """What PyTorch can tell of a tensor from its array and its type."""

    __slots__ = ()

    _data: Array
    _kind: TensorType

    if TYPE_CHECKING:

        @property
        def _base(self) -> Metadata | None: ...

        def _need_array(self) -> Array: ...

    @property
    def dtype(self) -> DType:
        return self._kind.dtype

    @property
    def device(self) -> Device:
        return self._kind.device

    @property
    def shape(self) -> Size:
        return Size(self._data.shape)

    def size(self, dim: int | None = None) -> Any:
        return (
            Size(self._data.shape)
            if dim is None
            else self._data.shape[wrap_dim(dim, self._data.ndim)]
        )

    @property
    def ndim(self) -> int:
        return int(self._data.ndim)

    def dim(self) -> int:
        return int(self._data.ndim)

    ndimension = dim

    def numel(self) -> int:
        return int(self._data.size)

    nelement = numel

    def stride(self, dim: int | None = None) -> Any:
        strides = element_strides(self._data)
        return strides if dim is None else strides[wrap_dim(dim, len(strides))]

    def storage_offset(self) -> int:
        base = self._base
        return 0 if base is None else offset_in(base._data, self._data)

    @property
    def itemsize(self) -> int:
        return self._kind.dtype.itemsize

    def element_size(self) -> int:
        return self._kind.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.numel() * self.itemsize

    def is_contiguous(self, *, memory_format: Any = None) -> bool:
        name = "contiguous_format" if memory_format is None else memory_format.name
        if name.startswith("channels_last"):
            return lies_in_format(self._data, name)
        return bool(self._data.flags.c_contiguous)

    def is_floating_point(self) -> bool:
        return self._kind.dtype.category == FLOATING

    def is_complex(self) -> bool:
        return self._kind.dtype.category > FLOATING

    def is_signed(self) -> bool:
        return self._kind.dtype.is_signed

    def data_ptr(self) -> int:
        if isinstance(self._need_array(), numpy.ndarray):
            return int(self._data.__array_interface__["data"][0])
        return int(self._data.data.ptr)

    def get_device(self) -> int:
        return -1 if self.device.type == "cpu" else int(self.device.index or 0)

    @property
    def is_cuda(self) -> bool:
        return self.device.type == "cuda"

    @property
    def is_cpu(self) -> bool:
        return self.device.type == "cpu"

    @property
    def volatile(self) -> bool:
        state.warn("volatile was removed (Variable.volatile is always False)")
        return False

    def indices(self) -> Any:
        """The coordinates of the elements of a sparse tensor, a column for each."""
        raise RuntimeError("indices expected sparse coordinate tensor layout but got Strided")

    def values(self) -> Any:
        """The elements of a sparse tensor, each once."""
        raise RuntimeError("values expected sparse tensor layout but got Strided")

    is_sparse = is_sparse_csr = is_quantized = is_mps = is_meta = is_nested = False

    @property
    def layout(self) -> Layout:
        return strided
