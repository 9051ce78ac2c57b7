"""language: the special methods that an object has of the library's classes, and of object.

`super().__repr__()`, `nn.Module.__call__(self, x)`, `self.__setattr__(name, value)`: a closed list
of names, and for each what the interpreter or the library does where no class of the program
says it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..adoption import adopt, adopting, is_library
from ..attributes import STATICS
from ..formatting import own_text, quoted
from ..operations import type_handlers, type_name
from ..session import session
from ..values import Instance, Lazy
from . import get_part, is_instance, kind_of
from .attributes import OF_OBJECTS
from .instances import is_base

Method = Callable[..., Any]


def _walking(method: Method) -> Method:
    return lambda value: Lazy("iterator", map(adopt, method(value)))


# Names that the library's own classes define, and how a program calls such a method.
OF_LIBRARY: dict[str, Callable[[Method], Method]] = {
    **dict.fromkeys(
        ("__len__", "__getitem__", "__setitem__", "__delitem__", "__contains__", "__call__",
         "__add__", "__iadd__"),
        adopting,
    ),
    "__iter__": _walking,
    "__getattr__": lambda method: get_part,
}  # fmt: skip


def inherited_from(native: Any, name: str) -> Method | None:
    """What a class of the library, or object where `native` is none, does for a special method."""
    if name == "__init__" and is_base(native):
        return native.__init__
    if name in OF_LIBRARY and isinstance(native, type):
        for part in native.__mro__:
            if name in part.__dict__:
                return OF_LIBRARY[name](part.__dict__[name])
    return OF_OBJECTS.get(name)


def _inherited(value: Any, name: str) -> Method | None:
    if is_instance(value):
        native = kind_of(value).native
        return inherited_from(native if is_base(native) else None, name)
    if is_library(value):
        return inherited_from(type(value), name)
    if name[:2] != "__" or name in MAKING:
        return None
    from . import builtin_bases  # noqa: F401  # which lists those of Python's types

    return STATICS.get((type_name(value), name))  # (2.5).__round__()


MAKING = frozenset({"__new__", "__init__"})


def _text(value: Any) -> str:
    if isinstance(value, Instance):
        return f"<__main__.{value.kind.qualified} object at {session.address_of(value)}>"
    return own_text(value, kind_of(value).native.__repr__ if is_instance(value) else repr)


def _equal(value: Any, other: Any) -> Any:
    return True if value is other else NotImplemented


def _unequal(value: Any, other: Any) -> Any:
    own = type_handlers.special(value, "__eq__")
    same = _equal(value, other) if own is None else own(other)
    return same if same is NotImplemented else not same


OF_OBJECTS.update({
    "__repr__": _text, "__str__": quoted, "__eq__": _equal, "__ne__": _unequal,
    "__hash__": session.number_of,
})  # fmt: skip
STATICS.update((("object", name), work) for name, work in OF_OBJECTS.items())
for _name, _work in OF_OBJECTS.items():
    STATICS.setdefault(("type", _name), _work)
STATICS["type", "__repr__"] = quoted
STATICS["object", "__init__"] = lambda value, *args, **kwargs: None
type_handlers.inherited = _inherited
type_handlers.inherited_from = inherited_from
