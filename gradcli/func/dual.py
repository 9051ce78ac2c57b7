"""Func: Dual: a tensor that comes with a tangent."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from ..engine.schema.run_state import run_state
from ..engine.tensors.autograd_meta import AutogradMeta
from ..engine.tensors.overlap import WRITTEN_TWICE, is_expanded
from ..engine.tensors.tensor import Tensor, plain
from .batched import Batched
from .carrier import Carrier


class DualMeta(AutogradMeta):
    """A dual's meta: what it was made of, beside what a tensor has."""

    __slots__ = ("primal", "tangent", "level", "origin")

    def __init__(self, primal: Any, tangent: Any, level: int) -> None:
        super().__init__()
        self.primal, self.tangent, self.level = primal, tangent, level
        self.origin: Any = None  # the carrier that it is a view of
        meta = primal._meta
        if meta is not None:
            for name in AutogradMeta.__slots__:
                setattr(self, name, getattr(meta, name))


class Dual(Carrier):
    """The primal in all that can be seen of it, and a tangent beside it."""

    __slots__ = ()

    _meta: DualMeta

    @property
    def level(self) -> int:
        return self._meta.level

    @property
    def primal(self) -> Any:
        return self._meta.primal

    @property
    def tangent(self) -> Any:
        return self._meta.tangent

    @property
    def below(self) -> Any:
        return self._meta.primal

    def bare(self) -> Tensor:
        primal = self._meta.primal
        return primal.bare() if isinstance(primal, Carrier) else primal

    def stand_in(self) -> Tensor:
        primal = self._meta.primal
        return primal.stand_in() if isinstance(primal, Carrier) else plain(primal._data, self._kind)

    def detach(self) -> Tensor:
        return self._meta.primal.detach()

    @property
    def data(self) -> Tensor:
        return self._meta.primal.data

    @data.setter
    def data(self, value: Tensor) -> None:
        self._meta.primal.data = value
        mirror(self)

    @property
    def _base(self) -> Tensor | None:
        return self._meta.primal._base

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        self._meta.primal.requires_grad_(requires_grad)
        mirror(self)
        return self

    def item(self) -> Any:
        return self._meta.primal.item()

    def _only(self) -> Any:
        return self._meta.primal._only()

    def tolist(self) -> Any:
        return self._meta.primal.tolist()

    def __bool__(self) -> bool:
        return bool(self._meta.primal)

    def __index__(self) -> int:
        return self._meta.primal.__index__()

    def __format__(self, spec: str) -> str:
        if self._data.ndim == 0:
            return format(self.item(), spec)
        return format(str(self), spec)


def with_tangent(text: str, tangent: Any) -> str:
    """`tensor(3., tangent=1.0)`, broken into lines as PyTorch breaks suffixes."""
    suffix = f"tangent={tangent}"
    body = text.removesuffix(")")
    last = len(body) - body.rfind("\n") + 1  # PyTorch's own count
    gap = " " if last + len(suffix) + 2 <= 80 else "\n       "
    return f"{body},{gap}{suffix})"


class _Forward:
    """torch.autograd.forward_ad's level: is it open, and the duals that end with it."""

    __slots__ = ("level", "alive")

    def __init__(self) -> None:
        self.level = -1
        self.alive: weakref.WeakSet[Any] = weakref.WeakSet()


forward = run_state(_Forward())


def dual(primal: Any, tangent: Any, level: int) -> Any:
    out: Dual = object.__new__(Dual)
    out._meta = DualMeta(primal, tangent, level)
    mirror(out)
    if level == 0:
        forward.alive.add(out)
    return out


def check_tangent(primal: Any, tangent: Any) -> None:
    """Raises where PyTorch can't lay a tangent out as its primal lies in memory: as an expanded
    tensor, unless it is expanded in the same way. None is a tangent with memory of its own."""
    while primal.__class__ is Dual:
        primal = primal.primal
    if primal.__class__ is not Tensor or not is_expanded(primal._data):
        return
    own = primal._data
    if tangent is not None:
        steps = zip(own.shape, own.strides, _strides(tangent), strict=True)
        if all(size == 1 or mine == other for size, mine, other in steps):
            return
    raise RuntimeError(WRITTEN_TWICE)


def _strides(tangent: Any) -> Sequence[int]:
    """How a tangent lies in memory, or one sample of it."""
    while tangent.__class__ is Dual:
        tangent = tangent.primal
    if tangent.__class__ is Batched:
        steps = _strides(tangent.value)
        return (*steps[: tangent.place], *steps[tangent.place + 1 :])
    return tangent._data.strides


def mirror(tensor: Dual) -> None:
    """Gives a dual all that its primal shows."""
    primal = tensor._meta.primal
    tensor._data, tensor._kind = primal._data, primal._kind
    tensor._requires_grad, tensor._grad_fn = primal._requires_grad, primal._grad_fn
    tensor._output_nr, tensor._storage = primal._output_nr, primal._storage
    tensor._form = False  # of no form that a fast lane takes
    if primal._meta is not None and primal._meta.base is not None:
        tensor._meta.view_version = primal._meta.view_version


def become_plain(tensor: Dual) -> None:
    """At the end of its level a dual is its primal."""
    primal = tensor._meta.primal
    mirror(tensor)
    tensor.__class__ = Tensor  # type: ignore[assignment]
    tensor._form = None
    tensor._meta = primal._meta


def is_dual(value: Any, level: int) -> bool:
    return value.__class__ is Dual and value._meta.level == level


def origin_of(tensor: Any) -> Any:
    """What a tensor, or a carrier, is a view of: the object that the program holds."""
    if tensor.__class__ is Dual:
        return tensor._meta.origin
    return tensor._data.origin if tensor.__class__ is Batched else tensor._base


def is_view_of(views: Any, tensor: Any) -> None:
    """Notes for results of a view what they are views of."""
    origin = tensor if (root := origin_of(tensor)) is None else root
    for view in views if isinstance(views, tuple | list) else (views,):
        if view.__class__ is Dual:
            view._meta.origin = origin
        elif view.__class__ is Batched:
            view._data.origin = origin


def unwrapped(tensor: Any, level: int) -> tuple[Any, list[Dual]]:
    """What a tensor's base is at a level, and the duals of higher levels around it, innermost
    first: they are to be mirrored when it has changed."""
    base = origin_of(tensor)
    around: list[Dual] = []
    while base.__class__ is Dual and base._meta.level > level:
        around.insert(0, base)
        base = base._meta.primal
    return base, around


def primal_of(value: Any, level: int) -> Any:
    if is_dual(value, level):
        return value._meta.primal
    if value.__class__ is list:
        return [primal_of(item, level) for item in value]
    return value


def tangent_of(value: Any, level: int) -> Any:
    if is_dual(value, level):
        return value._meta.tangent
    if value.__class__ is list and any(is_dual(item, level) for item in value):
        return [tangent_of(item, level) for item in value]
    return None
