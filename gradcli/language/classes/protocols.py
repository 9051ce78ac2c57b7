"""language: Python's protocols for instances: iteration, calls, numbers, text, isinstance."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from typing import Any

from ...autograd.function import Function as HostFunction, FunctionContext
from .. import library_protocols  # what instances do not answer, the library's objects do
from ..annotations import Annotation
from ..attributes import KEPT_BYTES, MISSING, STATICS, get_attribute
from ..builtins import types as types_room
from ..builtins.errors import name_of
from ..builtins.types import below
from ..calls import call
from ..formatting import texts
from ..operations import iterate, type_handlers, type_name
from ..session import session
from ..values import Builtin, ErrorValue, Instance, Lazy, Type
from . import (
    ERROR_CLASSES,
    OBJECT,
    ClassValue,
    is_instance,
    kind_of,
)
from .attributes import OF_CLASSES, OF_OBJECTS
from .construction import construct
from .instances import ClassMethod, Property, StaticMethod
from .superclasses import Super


def _kind_of(value: Any) -> ClassValue | None:
    """The class of an object of the program's; of a class, its metaclass."""
    if isinstance(value, ClassValue):
        return value.meta
    return kind_of(value) if is_instance(value) else None


def _hook(name: str, previous: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """How the operations find an instance's special method; other values as before."""

    def find(value: Any) -> Any:
        kind = _kind_of(value)
        if kind is None:
            return previous(value)
        found = kind.find(name)
        if found is MISSING:
            return None if isinstance(value, Instance) else previous(value)
        return lambda *args, **kwargs: call(found, args, kwargs)

    return find


def _iterate(previous: Callable[[Any], Any]) -> Callable[[Any], Iterator[Any] | None]:
    find = _hook("__iter__", lambda value: None)

    def run(value: Any) -> Iterator[Any] | None:
        method = find(value)
        if method is None:
            found = previous(value)
            item = None if found is not None else _item_of(value)
            return found if item is None else _until("IndexError", item)
        made = method(value)
        if type(made) is Lazy:
            return iterate(made)
        if next_of(made) is None:
            raise TypeError(f"iter() returned non-iterator of type '{type_name(made)}'")
        return _steps(made)

    return run


def _steps(value: Instance) -> Iterator[Any]:
    """An instance with __next__, until it raises StopIteration."""
    return _until("StopIteration", lambda place: _next_of(value))


def _next_of(value: Instance) -> Any:
    found = kind_of(value).find("__next__")
    if found is MISSING:
        raise TypeError(f"'{kind_of(value).name}' object is not callable")
    return call(found, (value,), {})


def _item_of(value: Any) -> Callable[[int], Any] | None:
    """What __getitem__ gives by its place: of an object without __iter__, from 0 to IndexError."""
    own = type_handlers.special(value, "__getitem__")
    return own or library_protocols.item_of(value)


def _until(end: str, item_of: Callable[[int], Any]) -> Iterator[Any]:
    for place in count():
        session.budget.charge(1)
        try:
            item = item_of(place)
        except Exception as error:
            if name_of(error) == end:
                return
            raise
        yield item


def special(value: Any, name: str) -> Callable[..., Any] | None:
    """The method of a program's class for one of Python's protocols, the object given."""
    if not is_instance(value):
        return None
    found = kind_of(value).find(name)
    return None if found is MISSING else lambda *args: call(found, (value, *args), {})


def next_of(value: Any) -> Callable[..., Any] | None:
    return special(value, "__next__")


def _length(previous: Callable[[Any], Any]) -> Callable[[Any], Any]:
    find = _hook("__len__", previous)

    def run(value: Any) -> Any:
        return (
            len if isinstance(value, Instance) and "__len__" in value.kind.special else find(value)
        )

    return run


def _caller(previous: Callable[[Any], Any]) -> Callable[[Any], Any]:
    find = _hook("__call__", previous)

    def run(value: Any) -> Any:
        if isinstance(value, ClassValue):
            return construct
        return find(value)

    return run


def _host_name(previous: Callable[[Any], str | None]) -> Callable[[Any], str | None]:
    def run(value: Any) -> str | None:
        if is_instance(value):
            return kind_of(value).name
        if type(value) is FunctionContext:
            return value.type_name
        if type(value) is Builtin and isinstance(value.function, HostFunction):
            return value.name  # the class of the program that was called
        if isinstance(value, ClassValue):
            return "type" if value.meta is None else value.meta.name
        return previous(value)

    return run


def _subscripted(previous: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Box[int], of a class that builds on Generic: the class itself."""

    def find(value: Any) -> Any:
        if isinstance(value, ClassValue):
            own, meta = value.find("__class_getitem__"), value.meta
            if own is not MISSING and (meta is None or meta.find("__getitem__") is MISSING):
                return lambda kind, parts: call(getattr(own, "function", own), (kind, parts), {})
        if isinstance(value, ClassValue) and any(
            type(base) is Annotation or (type(base) is Type and base.name == "Protocol")
            for kind in value.order for base in kind.bases
        ):  # fmt: skip
            return lambda kind, parts: kind
        return previous(value)

    return find


for _record, _name in (  # as Python's own messages name them
    (ClassValue, "type"), (Super, "super"), (Property, "property"),
    (StaticMethod, "staticmethod"), (ClassMethod, "classmethod"),
):  # fmt: skip
    _record.__name__ = _record.__qualname__ = _name
type_handlers.iterate = _iterate(type_handlers.iterate)
type_handlers.caller = _caller(type_handlers.caller)
type_handlers.get_item = _subscripted(_hook("__getitem__", type_handlers.get_item))
type_handlers.set_item = _hook("__setitem__", type_handlers.set_item)
type_handlers.contains = _hook("__contains__", type_handlers.contains)
type_handlers.length = _length(type_handlers.length)
type_handlers.special = special
type_handlers.name = _host_name(type_handlers.name)
type_handlers.enter = _hook("__enter__", lambda value: None)
type_handlers.leave = _hook("__exit__", lambda value: None)


# ---------------------------------------------------------------- text and types


def custom_text(value: Any, method: str) -> str | None:
    """__str__ and __repr__ of the program's classes."""
    kind = type(value)
    own = _kind_of(value)
    if own is None and issubclass(kind, ClassValue):
        return value.text if value.enumeration is None else value.enumeration.title(value)
    if own is None:
        return None
    for name in (method, "__repr__"):
        found = own.find(name)
        if found is not MISSING:
            shown = call(found, (value,), {})
            if type(shown) is not str:
                raise TypeError(f"{name} returned non-string (type {type_name(shown)})")
            return shown
    if issubclass(kind, ClassValue):
        return value.text
    return OF_OBJECTS["__repr__"](value) if isinstance(value, Instance) else None


def _type_of(value: Any) -> Any:
    return _kind_of(value) or (
        types_room.OF_PYTHON[Type] if isinstance(value, ClassValue) else None
    )


def _is_instance(value: Any, kind: Any) -> bool | None:
    if not isinstance(kind, ClassValue):
        if isinstance(value, Instance):
            return kind is OBJECT or _is_above(kind, value.kind)
        return None
    checks = MISSING if kind.meta is None else kind.meta.find("__instancecheck__")
    if checks is not MISSING:
        return _kind_of(value) is kind or bool(call(checks, (kind, value), {}))
    found = _is_of(kind, value)
    if found or kind.registered is None:
        return found
    return types_room.is_subclass(types_room.type_of(value), kind)


def _is_of(kind: Any, value: Any) -> bool:
    """type.__instancecheck__(kind, value)"""
    if not isinstance(kind, ClassValue):
        return types_room.is_instance(value, kind)
    if type(value) is ErrorValue:
        own = ERROR_CLASSES.get(value.kind)
    else:
        own = _kind_of(value)
    return own is not None and own.is_below(kind)


def _is_above(kind: Any, own: ClassValue) -> bool:
    """A class of the library that has no objects, or the type that an enumeration's members are.

    Or the type of Python that a class builds on, and what is above that.
    """
    found = own.enumeration is not None and kind in own.enumeration.above
    found = found or any(part is kind for base in own.order for part in base.bases)
    return found or (own.content is not None and below(own.content, kind))


def _claimed(kind: Any, below: Any) -> bool | None:
    """issubclass(below, kind), where the class or its metaclass has a word on that."""
    if not isinstance(kind, ClassValue):
        return None
    checks = MISSING if kind.meta is None else kind.meta.find("__subclasscheck__")
    if checks is not MISSING:
        return bool(call(checks, (kind, below), {}))
    if kind.registered is None:
        return None
    if kind.find("__subclasshook__") is not MISSING:
        answer = call(get_attribute(kind, "__subclasshook__"), (below,), {})
        if answer is not NotImplemented:
            return bool(answer)
    return True if any(types_room.is_subclass(below, one) for one in kind.registered) else None


def _register(kind: ClassValue, below: Any) -> Any:
    """ABC.register: from now on a class counts as one below an abstract one."""
    if not types_room.is_class(below):
        raise TypeError("Can only register classes")
    if types_room.is_subclass(kind, below):
        raise RuntimeError("Refusing to create an inheritance cycle")
    for base in kind.order:
        if base.registered is not None:
            session.budget.charge_bytes(KEPT_BYTES)
            base.registered.append(below)
    return below


types_room.claims.append(_claimed)
OF_CLASSES["register"] = lambda kind: Builtin("register", partial(_register, kind))
OF_OBJECTS.update({
    "__instancecheck__": _is_of, "__subclasscheck__": lambda kind, other: below(other, kind),
})  # fmt: skip
STATICS.update(
    (("type", word), OF_OBJECTS[word]) for word in ("__instancecheck__", "__subclasscheck__")
)
texts.custom = custom_text
texts.home = types_room.home_in_text
types_room.custom_type.append(_type_of)
types_room.custom_isinstance.append(_is_instance)
types_room.custom_bases.append(
    lambda kind: (
        (kind.order, kind.native, lambda other: _is_above(other, kind))
        if isinstance(kind, ClassValue)
        else None
    )
)
