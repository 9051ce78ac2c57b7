"""Engine: torch.return_types: the named tuples of operators with several outputs."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from .class_name import Named as NamedType


class Named(tuple[Any, ...], metaclass=NamedType):
    """A tuple whose items have names; prints as PyTorch prints its return types."""

    __slots__ = ()
    type_name: str
    fields: tuple[str, ...]

    def __repr__(self) -> str:
        items = ",\n".join(
            f"{name}={value!r}" for name, value in zip(self.fields, self, strict=True)
        )
        return f"torch.return_types.{self.type_name}(\n{items})"


@functools.cache
def _type(name: str, fields: tuple[str, ...]) -> type[Named]:
    places = {field: property(itemgetter(place)) for place, field in enumerate(fields)}
    own = {"type_name": name, "_torch_name": f"torch.return_types.{name}", "fields": fields}
    return type(name, (Named,), {"__slots__": (), **own, **places})


def named(name: str, fields: tuple[str, ...], values: Sequence[Any]) -> Named:
    return _type(name, tuple(fields))(values)
