"""language: attributes of a program's classes, and those that every class has from object."""

from __future__ import annotations

import functools
from collections.abc import Callable
from inspect import getattr_static
from typing import Any

from ..adoption import ADOPTERS, adopting
from ..attributes import MISSING, OF_FUNCTIONS, SPECIAL, SPECIAL_DELETE, SPECIAL_SET, missing
from ..builtins import types as types_room
from ..builtins.prelude import PRELUDE
from ..calls import call
from ..grammar import OF_OWN_CLASSES
from ..operations import type_handlers
from ..values import Builtin, Function
from . import (
    FUNCTIONS,
    ClassValue,
    delete_plainly,
    described,
    from_class,
    module_methods,
    set_plainly,
)
from .construction import construct, made
from .instances import ClassMethod, Property, StaticMethod, add_special, is_base


def _class_attribute(value: ClassValue, name: str) -> Any:
    if name in ("__name__", "__qualname__"):
        return value.name if name == "__name__" else value.qualified
    found = value.find(name)
    if found is not MISSING:
        if type(found) is StaticMethod or type(found) is ClassMethod:
            return from_class(value, value, found)
        reads = described(found, "__get__")
        return found if reads is MISSING else call(reads, (found, None, value), {})
    if value.meta is not None and (found := value.meta.find(name)) is not MISSING:
        return from_class(value, value.meta, found)
    if value.native in FUNCTIONS and name == "apply":
        return Builtin("apply", FUNCTIONS[value.native](value))
    if is_base(value.native) and (name in module_methods(value.native) or name == "__init__"):
        return class_method(value, name) or module_method(value.native, name)
    if name in OF_CLASSES and (name != "register" or value.registered is not None):
        return OF_CLASSES[name](value)
    method = type_handlers.inherited_from(value.native if is_base(value.native) else None, name)
    if method is not None:
        return Builtin(name, method)
    asked = MISSING if value.meta is None else value.meta.find("__getattr__")
    if asked is not MISSING:
        return call(asked, (value, name), {})
    raise missing(value, name, f"type object '{value.name}' has no attribute '{name}'")


OF_CLASSES: dict[str, Callable[[ClassValue], Any]] = {
    "__class__": lambda kind: types_room.type_call(kind),
    "__doc__": lambda kind: kind.doc,
    "__module__": lambda kind: "__main__",
    "__annotations__": lambda kind: _noted(kind),
    "__dict__": lambda kind: {"__module__": "__main__", **kind.table, "__doc__": kind.doc},
}


def _noted(value: ClassValue | Function) -> dict[str, Any]:
    from ..noted import all_noted, of_function

    return all_noted(value.fields if isinstance(value, ClassValue) else of_function(value))


def _ancestry(name: str) -> Callable[[Any], Any]:
    def ask(kind: Any) -> Any:
        from .ancestry import ASKED

        return ASKED[name](kind)

    return ask


OF_FUNCTIONS["__annotations__"] = _noted
OF_CLASSES.update({name: _ancestry(name) for name in (*OF_OWN_CLASSES, "mro")})


def _set_class(value: ClassValue, name: str, new: Any) -> None:
    hears = MISSING if value.meta is None else value.meta.find("__setattr__")
    if hears is MISSING:
        _set_plainly(value, name, new)
    else:
        call(hears, (value, name, new), {})


def _set_plainly(value: Any, name: Any, new: Any) -> None:
    """object.__setattr__, and type.__setattr__, which a metaclass calls by super()"""
    if not isinstance(value, ClassValue) or type(name) is not str:
        set_plainly(value, name, new)
    elif name in ("__class__", "__dict__", *OF_OWN_CLASSES):
        raise AttributeError(f"attribute '{name}' of 'type' objects is not writable")
    else:
        value.table[name] = new
        add_special(value, name)


def _delete_class(value: ClassValue, name: str) -> None:
    hears = MISSING if value.meta is None else value.meta.find("__delattr__")
    if hears is MISSING:
        _delete_plainly(value, name)
    else:
        call(hears, (value, name), {})


def _delete_plainly(value: Any, name: Any) -> None:
    if not isinstance(value, ClassValue) or type(name) is not str:
        return delete_plainly(value, name)
    if name not in value.table:
        raise missing(value, name, f"type object '{value.name}' has no attribute '{name}'")
    del value.table[name]


def module_method(native: type, name: str) -> Builtin:
    """The library's own method, for super().train() and Module.__init__(self)."""
    if name == "__init__":
        return Builtin("__init__", native.__init__)  # type: ignore[misc]
    if name == "__setattr__" or name not in module_methods(native):
        raise AttributeError(f"'super' object has no attribute '{name}'")
    return Builtin(name, module_methods(native)[name])


def class_method(kind: ClassValue, name: str) -> Builtin | None:
    """A class method of the library, which makes an object of the program's class."""
    found = getattr_static(kind.native, name, None)
    if not isinstance(found, classmethod):
        return None
    function: Callable[..., Any] = found.__func__
    return Builtin(name, adopting(functools.partial(function, functools.partial(construct, kind))))


def _property_attribute(value: Property, name: str) -> Any:
    parts = {"fget": value.getter, "fset": value.writer, "fdel": value.deleter}
    word = {"getter": "fget", "setter": "fset", "deleter": "fdel"}.get(name)
    if word is not None:
        return Builtin(name, lambda part: Property(**{**parts, word: part}))
    if name in parts:
        return parts[name]
    raise missing(value, name)


def _new(kind: Any, *args: Any, **kwargs: Any) -> Any:
    """object.__new__(cls), int.__new__(cls, 3)"""
    if not isinstance(kind, ClassValue) or kind.native in FUNCTIONS:
        raise TypeError("__new__() makes objects of a program's class here")
    return made(kind, *args, **kwargs)


# What every object has of object: super().__setattr__(name, value), object.__new__(cls).
OF_OBJECTS: dict[str, Callable[..., Any]] = {
    "__new__": _new, "__setattr__": _set_plainly, "__delattr__": _delete_plainly,
}  # fmt: skip
ADOPTERS[property] = lambda made: Property(made.fget)  # by a decorator of the library
for _kind in (Property, StaticMethod, ClassMethod):
    PRELUDE[_kind.__name__.lower()] = Builtin(_kind.__name__.lower(), _kind)
SPECIAL[ClassValue] = _class_attribute
SPECIAL[Property] = _property_attribute
SPECIAL_SET[ClassValue] = _set_class
SPECIAL_DELETE[ClassValue] = _delete_class
