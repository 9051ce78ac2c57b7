"""language: Python's protocols for instances: operators, iteration, calls, text, isinstance."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .builtins import types as types_room
from .builtins.errors import name_of
from .calls import call
from .classes import (
    ERROR_CLASSES,
    MISSING,
    OBJECT,
    ClassValue,
    Instance,
    ProgramModule,
    call_special,
    construct,
    is_instance,
    kind_of,
)  # fmt: skip
from .formatting import quoted, texts
from .operations import iterate, type_handlers
from .session import session
from .values import ErrorValue


def _operator(name: str) -> Callable[[Instance, Any], Any]:
    def run(self: Instance, other: Any) -> Any:
        found = self.kind.find(name)
        return NotImplemented if found is MISSING else call(found, (self, other), {})

    return run


def _one(name: str, sign: str) -> Callable[[Instance], Any]:
    def run(self: Instance) -> Any:
        found = self.kind.find(name)
        if found is MISSING:
            raise TypeError(f"bad operand type for {sign}: '{self.kind.name}'")
        return call(found, (self,), {})

    return run


for _name in "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split():
    for _prefix in ("", "r", "i"):
        setattr(Instance, f"__{_prefix}{_name}__", _operator(f"__{_prefix}{_name}__"))
for _name in "lt le gt ge eq ne".split():
    setattr(Instance, f"__{_name}__", _operator(f"__{_name}__"))
for _name, _sign in (
    ("neg", "unary -"),
    ("pos", "unary +"),
    ("invert", "unary ~"),
    ("abs", "abs()"),
):
    setattr(Instance, f"__{_name}__", _one(f"__{_name}__", _sign))


def _hook(name: str, previous: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """How the operations find an instance's special method; other values as before."""

    def find(value: Any) -> Any:
        if not is_instance(value):
            return previous(value)
        found = kind_of(value).find(name)
        if found is MISSING:
            return previous(value) if isinstance(value, ProgramModule) else None
        return lambda *args, **kwargs: call(found, args, kwargs)

    return find


def _iterate(previous: Callable[[Any], Any]) -> Callable[[Any], Iterator[Any] | None]:
    find = _hook("__iter__", lambda value: None)

    def run(value: Any) -> Iterator[Any] | None:
        method = find(value)
        if method is None:
            return previous(value)  # type: ignore[no-any-return]
        made = method(value)
        return _steps(made) if type(made) is Instance else iterate(made)

    return run


def _steps(value: Instance) -> Iterator[Any]:
    """An instance with __next__, until it raises StopIteration."""
    while True:
        session.budget.charge(1)
        try:
            item = call_special(value, "__next__")
        except Exception as error:
            if name_of(error) == "StopIteration":
                return
            raise
        yield item


def _caller(previous: Callable[[Any], Any]) -> Callable[[Any], Any]:
    find = _hook("__call__", previous)

    def run(value: Any) -> Any:
        if type(value) is ClassValue:
            return construct
        return find(value)

    return run


def _host_name(previous: Callable[[Any], str | None]) -> Callable[[Any], str | None]:
    def run(value: Any) -> str | None:
        if is_instance(value):
            return kind_of(value).name
        return "type" if type(value) is ClassValue else previous(value)

    return run


type_handlers.iterate = _iterate(type_handlers.iterate)
type_handlers.caller = _caller(type_handlers.caller)
type_handlers.get_item = _hook("__getitem__", type_handlers.get_item)
type_handlers.set_item = _hook("__setitem__", type_handlers.set_item)
type_handlers.contains = _hook("__contains__", type_handlers.contains)
type_handlers.length = _hook("__len__", type_handlers.length)
type_handlers.name = _host_name(type_handlers.name)
type_handlers.enter = _hook("__enter__", lambda value: None)
type_handlers.leave = _hook("__exit__", lambda value: None)


# ---------------------------------------------------------------- text and types


def custom_text(value: Any, method: str) -> str | None:
    """__str__ and __repr__ of the program's classes."""
    kind = type(value)
    if kind is ClassValue:
        return f"<class '__main__.{value.qualified}'>"
    if not is_instance(value):
        return None
    for name in (method, "__repr__"):
        found = kind_of(value).find(name)
        if found is not MISSING:
            shown = call(found, (value,), {})
            if type(shown) is not str:
                raise TypeError(f"{name} returned non-string (type {quoted(type(shown).__name__)})")
            return shown
    if isinstance(value, ProgramModule):
        return None
    return f"<__main__.{value.kind.qualified} object at {session.address_of(value)}>"


def _type_of(value: Any) -> Any:
    if is_instance(value):
        return kind_of(value)
    return types_room.OF_PYTHON[type] if type(value) is ClassValue else None


def _is_instance(value: Any, kind: Any) -> bool | None:
    if type(kind) is not ClassValue:
        if type(value) is Instance:
            return kind is OBJECT
        return None
    if type(value) is ErrorValue:
        own = ERROR_CLASSES.get(value.kind)
        return own is not None and kind in own.order
    return is_instance(value) and kind in kind_of(value).order


texts.custom = custom_text
types_room.custom_type.append(_type_of)
types_room.custom_isinstance.append(_is_instance)
