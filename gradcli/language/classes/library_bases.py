"""language: classes of the library among the bases of a program's class, in Python's order.

In `class Net(nn.Linear, Mixin)` what Linear and Module define comes before what Mixin does. In most
classes the library's stand behind all of the program's, and nothing here is asked.
"""

from __future__ import annotations

import functools
from typing import Any

from ..calls import call
from ..values import Builtin, Type
from .instances import is_base, linear


class Beneath:
    """A class of the library, in the order of a program's class's bases."""

    table: dict[str, Any] = {}

    def __init__(self, host: type) -> None:
        self.host = host
        self.order: list[Any] = [self, *map(beneath, filter(is_base, host.__mro__[1:]))]
        self.defines = frozenset(host.__dict__)


beneath = functools.cache(Beneath)


def whole_order(own: Any) -> list[Any]:
    """The bases of a class in Python's order, the library's among them."""
    known: list[Any] = []
    for base in own.bases:
        if type(base) is Type and is_base(base.host):
            known.append(beneath(base.host))
        elif hasattr(base, "whole"):
            known.append(base)
    return linear(own, known, [getattr(base, "whole", base.order) for base in known])


def is_mixed(whole: list[Any]) -> bool:
    """Does a class of the program's lie behind one of the library's?"""
    kinds = [type(base) is Beneath for base in whole]
    return kinds != sorted(kinds)


def library_behind(whole: list[Any], start: Any) -> Any:
    """The class of the library that comes next behind a class, or None."""
    behind = whole[whole.index(start) + 1 :] if start in whole else whole
    return next((base.host for base in behind if type(base) is Beneath), None)


def of_library(kind: Any, owner: Beneath, name: str, methods: dict[str, Any]) -> Builtin:
    """What a class of the library defines, as a method of the objects of a program's class."""
    return _method(owner, name, methods.get(name)) if name != "__init__" else _start(kind, owner)


@functools.cache
def _method(owner: Beneath, name: str, function: Any) -> Builtin:
    return Builtin(name, function, is_method=True)


def _start(kind: Any, owner: Beneath) -> Builtin:
    """__init__ of a layer: `super().__init__()` in it starts the next class, whosever that is."""

    def start(value: Any, *args: Any, **kwargs: Any) -> None:
        behind = kind.whole[kind.whole.index(owner) + 1 :]
        between = [base for base in behind[: _place_of_root(behind)] if "__init__" in base.table]
        if between:
            call(between[0].table["__init__"], (value,), {})
        owner.host.__init__(value, *args, **kwargs)  # type: ignore[misc]

    return Builtin("__init__", start, is_method=True)


def _place_of_root(behind: list[Any]) -> int:
    """Where the last class of the library stands, which starts no other."""
    places = [place for place, base in enumerate(behind) if type(base) is Beneath]
    return places[-1] if places else 0
