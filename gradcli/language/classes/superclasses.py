"""language: super(): attributes from the bases of one of an object's classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..adoption import VALUES
from ..attributes import MISSING, SPECIAL, missing
from ..builtins.prelude import PRELUDE
from ..formatting import error_text, plain_error
from ..members import TABLES, Members
from ..values import Bound, Builtin, ErrorValue
from . import ClassValue, from_class, is_instance, kind_of
from .attributes import OF_OBJECTS, class_method, module_method
from .construction import constructed
from .inherited import inherited_from
from .instances import is_base
from .library_bases import library_behind


class Super:
    """super(): the attributes of an object that lie behind one class."""

    __slots__ = ("behind", "object")

    def __init__(self, behind: ClassValue, value: Any) -> None:
        self.behind = behind
        self.object = value


def make_super(*args: Any) -> Super:
    if len(args) != 2 or not isinstance(args[0], ClassValue):
        raise TypeError("super() needs a class and an object here")
    kind = args[1] if isinstance(args[1], ClassValue) else is_instance(args[1]) and kind_of(args[1])
    if not kind or not _behind(kind, args[0]):
        raise TypeError("super(type, obj): obj must be an instance or subtype of type")
    return Super(args[0], args[1])


def _behind(kind: ClassValue, start: ClassValue) -> bool:
    """Is a class among those of an object, or of the metaclass of a class?"""
    return kind.is_below(start) or (kind.meta is not None and kind.meta.is_below(start))


def _super_attribute(value: Super, name: str) -> Any:
    kind = value.object if isinstance(value.object, ClassValue) else kind_of(value.object)
    if not kind.is_below(value.behind) and kind.meta is not None:
        kind = kind.meta
        if name == "__call__":
            found = kind.find(name, after=value.behind)
            return Bound(name, value.object, constructed if found is MISSING else found)
    found = kind.find(name, after=value.behind)
    if name == "__new__":
        return found if found is not MISSING else Builtin(name, OF_OBJECTS[name])
    if found is not MISSING:
        return from_class(value.object, kind, found)
    if kind.kind is not None and name in ERROR_METHODS:
        return Bound(name, value.object, ERROR_METHODS[name])
    native = kind.native if kind.mixed is None else library_behind(kind.whole, value.behind)
    method = inherited_from(native if is_base(native) else None, name)
    if method is not None:
        return Bound(name, value.object, method)
    if is_base(native):
        of_class = class_method(kind, name) if isinstance(value.object, ClassValue) else None
        if of_class is not None:
            return of_class
        return Bound(name, value.object, module_method(native, name).function)
    if name == "__init__":
        return Builtin("__init__", lambda *args, **kwargs: None)
    raise missing(value, name)


def _start_error(error: ErrorValue, *args: Any) -> None:
    error.args = args


ERROR_METHODS: dict[str, Callable[..., Any]] = {
    "__init__": _start_error, "__str__": error_text, "__repr__": plain_error,
}  # fmt: skip

SPECIAL[Super] = _super_attribute
TABLES[Super] = Members()
VALUES.add(Super)
PRELUDE["super"] = Builtin("super", make_super)
