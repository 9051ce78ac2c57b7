"""Func: Batched: the tensor that a vmapped function sees: one sample, which stands for all."""

from __future__ import annotations

from typing import Any

from ..engine.schema.catalogue import catalogue
from ..engine.tensors.tensor import Tensor, plain
from ..engine.tensors.tensor_type import TensorType
from .carrier import Carrier, fill, run

ITEM = (
    "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling "
    ".item() on a Tensor, please try to rewrite what you're doing with other operations. If error "
    "is occurring somewhere inside PyTorch internals, please file a bug report."
)
CONTROL_FLOW = (
    "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We "
    "don't support that yet, please file an issue at https://github.com/pytorch/pytorch/issues ."
)
NO_STORAGE = "Cannot access data pointer of Tensor that doesn't have storage"


class Outline:
    """Stands where the array of a Batched would: the shape of one sample, and what has them all."""

    __slots__ = ("value", "place", "level", "shape", "ndim", "size", "dtype", "itemsize", "origin")

    def __init__(self, value: Any, place: int, level: int) -> None:
        self.value, self.place, self.level = value, place, level
        self.origin: Any = None  # the carrier that it is a view of
        whole = value._data.shape
        self.shape = (*whole[:place], *whole[place + 1 :])
        self.ndim = len(self.shape)
        self.dtype, self.itemsize = value._kind.array_dtype, value._kind.array_dtype.itemsize
        count = 1
        for size in self.shape:
            count *= size
        self.size = count

    def item(self) -> Any:
        raise RuntimeError(ITEM)

    @property
    def flags(self) -> Any:
        return _CONTIGUOUS

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one element of a sample to the next: what `flags` says."""
        steps, step = [], self.itemsize
        for size in reversed(self.shape):
            steps.append(step)
            step *= size
        return tuple(reversed(steps))

    # Checks of arguments look at values: there they look at those of all samples.

    def __eq__(self, other: object) -> Any:
        return self.value._data == other

    def __ne__(self, other: object) -> Any:
        return self.value._data != other

    def __lt__(self, other: Any) -> Any:
        return self.value._data < other

    def __gt__(self, other: Any) -> Any:
        return self.value._data > other

    def __le__(self, other: Any) -> Any:
        return self.value._data <= other

    def __ge__(self, other: Any) -> Any:
        return self.value._data >= other

    __hash__ = object.__hash__

    def __getitem__(self, index: Any) -> Any:
        """A mask over all samples picks among all; any other index is that of one sample."""
        data = self.value._data
        if getattr(index, "ndim", -1) == self.ndim + 1:
            return data[index]
        return data[(slice(None),) * self.place + (0,)][index]

    def min(self) -> Any:
        return self.value._data.min()

    def max(self) -> Any:
        return self.value._data.max()

    def sum(self) -> Any:
        return self.value._data.sum()

    def any(self) -> Any:
        return self.value._data.any()

    def all(self) -> Any:
        return self.value._data.all()


class _Contiguous:
    c_contiguous = True


_CONTIGUOUS = _Contiguous()


class Batched(Carrier):
    """A tensor of one dimension less than its value: that dimension is mapped over."""

    __slots__ = ()

    _data: Outline

    @property
    def level(self) -> int:
        return self._data.level

    @property
    def value(self) -> Any:
        return self._data.value

    @property
    def place(self) -> int:
        """Which dimension of the value is mapped over."""
        return self._data.place

    @property
    def samples(self) -> int:
        return int(self._data.value._data.shape[self._data.place])

    def in_front(self) -> Any:
        """The value with the mapped dimension first."""
        outline = self._data
        if outline.place == 0:
            return outline.value
        return catalogue.functions["movedim"](outline.value, outline.place, 0)

    @property
    def below(self) -> Any:
        return self._data.value

    def bare(self) -> Tensor:
        value = self.value
        below: Tensor = value.bare() if isinstance(value, Carrier) else value
        front = below._data.ndim - value._data.ndim  # samples of other levels
        moved = self._kind.xp.moveaxis(below._data, front + self.place, front)
        return plain(moved, self._kind)

    def stand_in(self) -> Tensor:
        return plain(self._data, self._kind)

    # ---- what a sample cannot say: it stands for many

    def item(self) -> Any:
        raise RuntimeError(ITEM)

    def _only(self) -> Any:
        raise RuntimeError(ITEM)

    def __bool__(self) -> bool:
        raise RuntimeError(CONTROL_FLOW)

    def __index__(self) -> int:
        raise RuntimeError(ITEM)

    def __format__(self, spec: str) -> str:
        if self._data.ndim == 0:
            raise RuntimeError(ITEM)
        return format(str(self), spec)

    def tolist(self) -> Any:
        raise RuntimeError(NO_STORAGE)

    def numpy(self, *, force: bool = False) -> Any:
        raise RuntimeError(NO_STORAGE)

    def data_ptr(self) -> int:
        raise RuntimeError(NO_STORAGE)

    @property
    def data(self) -> Tensor:
        raise RuntimeError("accessing `data` under vmap transform is not allowed")

    @data.setter
    def data(self, value: Tensor) -> None:
        raise RuntimeError("mutating directly with `.data` under vmap transform is not allowed.")

    def stride(self, dim: int | None = None) -> Any:
        steps = list(self.value.stride())
        del steps[self.place]
        return tuple(steps) if dim is None else steps[dim]

    def storage_offset(self) -> int:
        return int(self.value.storage_offset())

    def is_contiguous(self, *, memory_format: Any = None) -> bool:
        return bool(self.in_front().is_contiguous(memory_format=memory_format))

    def detach(self) -> Tensor:
        return batched(self.value.detach(), self.place, self.level)

    def __len__(self) -> int:
        if self._data.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return int(self._data.shape[0])


def batched(value: Any, place: int, level: int) -> Batched:
    """A sample of `value`, whose dimension `place` is mapped over."""
    out: Batched = object.__new__(Batched)
    out._data = Outline(value, place, level)
    kind: TensorType = value._kind
    out._kind = kind
    out._requires_grad, out._grad_fn, out._output_nr = False, None, 0
    out._storage = out._meta = None
    out._form = False  # of no form that a fast lane takes
    return out


def become_batched(tensor: Tensor, whole: Any, level: int) -> None:
    """The tensor itself stands for the samples of `whole` from now on."""
    sample = batched(whole, 0, level)
    tensor.__class__ = Batched
    fill(tensor, sample)


def is_batched(value: Any, level: int) -> bool:
    return value.__class__ is Batched and value._data.level == level


def alike(whole: Any) -> bool:
    """Do all samples, which are in front, hold the same numbers? An input of grad or jacrev below
    forward mode has a copy for each tangent (`transforms._for_each_sample`), where PyTorch has one
    tensor."""
    data = (whole.bare() if isinstance(whole, Carrier) else whole)._data
    first = data[(slice(None),) * (data.ndim - whole._data.ndim) + (slice(0, 1),)]
    return bool(((data == first) | ((data != data) & (first != first))).all())


def split(value: Any, level: int) -> list[Any] | None:
    """The samples of a value one by one; None where the value is the same for all of them."""
    if is_batched(value, level):
        whole = value.in_front()
        select = catalogue.rows["select.int"]
        return [run(select, (whole, 0, at)) for at in range(value.samples)]
    return None
