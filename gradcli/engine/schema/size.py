"""Engine: torch.Size, a tuple of dimensions."""

from __future__ import annotations

from math import prod
from typing import Any

from .class_name import NamedInC


class Size(tuple[int, ...], metaclass=NamedInC):
    __slots__ = ()
    _torch_name = "torch.Size"

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    __str__ = __repr__

    def numel(self) -> int:
        return prod(self)

    def __getitem__(self, index: Any) -> Any:
        item = tuple.__getitem__(self, index)
        return Size(item) if type(index) is slice else item

    def __mul__(self, count: Any) -> Any:
        return Size(tuple.__mul__(self, count))

    __rmul__ = __mul__

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, tuple):
            name = type(other).__name__
            raise TypeError(f"can only concatenate tuple (not {name}) to torch.Size")
        return Size(tuple.__add__(self, other))

    def __radd__(self, other: Any) -> Any:
        return Size(tuple.__add__(other, self)) if isinstance(other, tuple) else NotImplemented
