"""Engine: what a tensor's elements are, where they live, and how an array lies in memory."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy

from ..graph.node import Node, SharedExtras
from ..graph.reduced import ReducedNode, rounded_to
from ..memory.device import Device, array_module, cpu
from ..memory.layout import contiguous_strides
from ..schema.carriers import RUNTIME, SMALL, Body
from ..schema.catalogue import catalogue
from ..schema.class_name import NamedInC
from ..schema.dtypes import COMPLEX, FLOATING, OF_ARRAY, DType
from ..schema.mode import state

Array = Any  # numpy.ndarray or cupy.ndarray


CLASSES = frozenset("Byte Char Short Int Long Half Float Double".split())


class TensorType:
    """An element type on a device; there is one object for each pair, compared by `is`."""

    __slots__ = (
        "dtype", "device", "xp", "array_dtype", "differentiable", "is_plain", "_numbers",
        "is_reduced", "is_direct", "settled", "settle", "node", "unit",
    )  # fmt: skip

    _made: dict[tuple[str, str], TensorType] = {}

    def __init__(self, dtype: DType, device: Device) -> None:
        self.dtype, self.device = dtype, device
        self.xp = array_module(device)
        self.array_dtype = numpy.dtype(dtype.numpy)
        self.unit: Any = self.array_dtype.type(1)
        self.differentiable = dtype.category >= FLOATING
        self.is_plain = self.xp is numpy and dtype.name in ("float32", "float64")
        self._numbers: dict[float, Any] = {}
        self.is_reduced = dtype.is_reduced
        # Numbers with gradients that are what their arrays say: nothing is rounded.
        self.is_direct = self.differentiable and not dtype.is_reduced
        # What a kernel returned is of this kind if its array type is `settled`, else `settle` makes
        # it so. Reduced precision is always rounded.
        self.settled: Any = None if dtype.is_reduced else self.array_dtype
        self.settle: Body = rounded_to(dtype.name) if dtype.is_reduced else self._cast
        self.node: type[Node] = ReducedNode if dtype.is_reduced else Node

    def _cast(self, data: Any) -> Any:
        return data.astype(self.array_dtype, copy=False)

    def number(self, value: Any) -> Any:
        """A Python number as an operand for arrays of this kind.

        NumPy takes a 0-dim array in half the time that it needs for a number; programs use few.
        """
        made = self._numbers.get(value)
        if made is None:
            if value.__class__ is not float or not value or not self.is_plain:
                return value  # 0.0 and -0.0 are one key; integers are exact as they are
            if len(self._numbers) >= NUMBERS:
                self._numbers.clear()
            made = self._numbers[value] = numpy.array(value, self.array_dtype)
        return made if value.__class__ is float else value

    @property
    def old_name(self) -> str:
        """PyTorch's old tensor class in its complaints; of newer types the name in C++."""
        word, place = self.dtype.word, "torch.cuda" if self.device.type == "cuda" else "torch"
        return f"{place}.{word}Tensor" if word in CLASSES else f"CPU{word}Type"

    def of(self, dtype: DType) -> TensorType:
        return self if dtype is self.dtype else kind_of(dtype, self.device)


def kind_of(dtype: DType, device: Device = cpu) -> TensorType:
    key = (dtype.name, str(device))
    kind = TensorType._made.get(key)
    if kind is None:
        kind = TensorType._made[key] = TensorType(dtype, device)
        if dtype.category == COMPLEX and not RUNTIME.complex:
            RUNTIME.complex = True
            catalogue.forget_formulas()  # those written until now did not think of it
    if kind.is_reduced:
        state.on_tensors = True
    return kind


def kind_of_array(array: Array) -> TensorType:
    """The kind that an array's own element type and device amount to, where none is reduced."""
    host = isinstance(array, numpy.ndarray | numpy.generic)
    return _kind_on(array.dtype, None if host else array.device.id)


@cache
def _kind_on(array_dtype: Any, gpu: int | None) -> TensorType:
    """NumPy makes the name of an element type anew whenever it is asked."""
    device = cpu if gpu is None else Device("cuda", gpu)
    return kind_of(OF_ARRAY[array_dtype.name], device)


class FastShape:
    """A kind and a shape; there is one object for each pair that is common, compared by `is`.

    Two tensors of one form need no more questions: nothing is cast, broadcast or asked memory for.
    Only ordinary tensors have one: float32 or float64, row-major, not empty, and not large.
    `beside` has for the form of another operand that of the result, if it is one of the two, and
    what a node keeps of their shapes; False where there is more to ask.
    """

    __slots__ = ("kind", "shape", "few", "strides", "beside")

    _made: dict[tuple[TensorType, tuple[int, ...]], FastShape] = {}

    def __init__(self, kind: TensorType, shape: tuple[int, ...], few: bool, size: int) -> None:
        self.kind, self.shape, self.few = kind, shape, few
        self.strides = contiguous_strides(shape, size)
        self.beside: dict[Any, Any] = {False: False}

    def meet(self, other: FastShape) -> None:
        """Finds out what is in `beside` of another form."""
        known, shapes = self.beside, (self.shape, other.shape)
        if len(known) >= PAIRS:
            known.clear()
            known[False] = False
        whole = self if spreads(other.shape, self.shape) else other
        if self.kind is other.kind and spreads(self.shape, whole.shape):
            known[other] = whole, SharedExtras(tuple([(shape, self.kind) for shape in shapes]))
        else:
            known[other] = False


def spreads(shape: tuple[int, ...], size: tuple[int, ...]) -> bool:
    """Does an operand of this shape leave a result of that size as it is?"""
    lead = len(size) - len(shape)
    return lead >= 0 and all(n in (1, m) for n, m in zip(shape, size[lead:]))


LARGE = 1 << 16  # elements from which memory is requested before a kernel runs
FORMS = NUMBERS = 4096  # so many are kept
PAIRS = 64  # and so many other forms with each


def form_of(data: Array, kind: TensorType) -> FastShape | bool:
    """The form of a tensor, or False where it has none."""
    if kind.dtype.name not in ("float32", "float64") or not 0 < data.size <= LARGE:
        return False
    made = FastShape._made
    key = kind, data.shape
    form = made.get(key)
    if form is None:
        if len(made) >= FORMS:
            made.clear()
        form = made[key] = FastShape(*key, data.size <= SMALL, data.itemsize)
    return form if data.strides == form.strides else False


class Layout(metaclass=NamedInC):
    """How a tensor keeps its elements: torch.strided and its like."""

    __slots__ = ("name",)
    _torch_name = "torch.layout"

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name  # there is one of each: copies are it


strided, sparse_coo, sparse_csr = map(Layout, ("strided", "sparse_coo", "sparse_csr"))


class MemoryFormat(metaclass=NamedInC):
    """An order of a tensor's elements in memory: torch.channels_last and its like."""

    __slots__ = ("name",)
    _torch_name = "torch.memory_format"

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name  # there is one of each: copies are it


contiguous_format = MemoryFormat("contiguous_format")
preserve_format = MemoryFormat("preserve_format")
channels_last = MemoryFormat("channels_last")
channels_last_3d = MemoryFormat("channels_last_3d")


def wrap_dim(dim: int, ndim: int) -> int:
    """A dimension counted from the front; IndexError in PyTorch's words."""
    if not ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    if not -ndim <= dim < ndim:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got "
            f"{dim})"
        )
    return dim + ndim if dim < 0 else dim


def offset_in(base: Array, view: Array) -> int:
    """Where a view begins in its base, in elements; in its own memory, where `.data` gave it other
    memory than its base has."""
    if not isinstance(base, numpy.ndarray):
        return int((view.data.ptr - base.data.ptr) // base.itemsize)
    start, low = _address(view), _address(base)
    if not low <= start < low + base.nbytes and not _lies_in(base, start, bool(view.size)):
        own = view
        while isinstance(own.base, numpy.ndarray):
            own = own.base
        low = _address(own)
    return int((start - low) // base.itemsize)


def _address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def _lies_in(base: Any, address: int, whole: bool) -> bool:
    """Is it an address of this memory? A view without elements may begin at its end."""
    own = base
    while isinstance(own.base, numpy.ndarray):
        own = own.base
    low, high = numpy.lib.array_utils.byte_bounds(own)
    return bool(low <= address < high or (address == high and not whole))
