"""language: classes of the program and their instances: records, never classes of the host."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..autograd.function import Function as HostFunction
from ..autograd.function import FunctionContext
from ..nn.module import Module
from .attributes import (
    SPECIAL,
    SPECIAL_DELETE,
    SPECIAL_SET,
    TABLES,
    Members,
    adopt,
    members_of_type,
    missing,
)
from .builtins.prelude import PRELUDE
from .builtins.types import OF_ERRORS
from .calls import call
from .session import session
from .values import Bound, Builtin, ErrorValue, Function, Type

MISSING = object()
OBJECT = PRELUDE["object"]


class ClassValue:
    """A class of the program: its table of names, its bases, and the native class beneath."""

    __slots__ = ("bases", "kind", "name", "native", "order", "qualified", "table", "__weakref__")

    def __init__(
        self, name: str, qualified: str, bases: tuple[Any, ...], table: dict[str, Any]
    ) -> None:
        self.name = name
        self.qualified = qualified
        self.bases = bases
        self.table = table
        self.native = _native(bases)
        self.order = _linear(self, bases)
        self.kind: Type | None = None  # of errors: what `except` compares

    def find(self, name: str, after: ClassValue | None = None) -> Any:
        """The first entry of this name along the bases, behind `after` where that is given."""
        skipping = after is not None
        for base in self.order:
            if skipping:
                skipping = base is not after
                continue
            if name in base.table:
                return base.table[name]
        return MISSING


def _native(bases: tuple[Any, ...]) -> Any:
    """The class of the library or the error type that the class builds on, or None."""
    found: Any = None
    for base in bases:
        if type(base) is ClassValue:
            found = found or base.native
        elif type(base) is Type and base is not OBJECT:
            if not _may_be_base(base):
                raise TypeError(f"type '{base.name}' is not an acceptable base type")
            found = found or base.host
        elif type(base) is not Type:
            raise TypeError("the bases of a class are classes")
    return found


def _may_be_base(base: Type) -> bool:
    if base.host in MODULES or base.host in FUNCTIONS:
        return True
    return (
        isinstance(base.host, type)
        and issubclass(base.host, Exception)
        and base in OF_ERRORS.values()
    )


def _linear(own: ClassValue, bases: tuple[Any, ...]) -> list[ClassValue]:
    """Python's order of bases: each class before its own bases, in the order written."""
    rows = [list(base.order) for base in bases if type(base) is ClassValue]
    rows.append([base for base in bases if type(base) is ClassValue])
    order = [own]
    while rows := [row for row in rows if row]:
        session.budget.charge(1)
        for row in rows:
            head = row[0]
            if not any(head in other[1:] for other in rows):
                break
        else:
            raise TypeError("Cannot create a consistent method resolution order (MRO)")
        order.append(head)
        for row in rows:
            if row[0] is head:
                del row[0]
    return order


class Instance:
    """An object of a program's class."""

    __slots__ = ("kind", "table", "__weakref__")

    def __init__(self, kind: ClassValue) -> None:
        self.kind = kind
        self.table: dict[str, Any] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return call_special(self, "__call__", *args, **kwargs)

    def __bool__(self) -> bool:
        for name in ("__bool__", "__len__"):
            if self.kind.find(name) is not MISSING:
                return bool(call_special(self, name))
        return True

    def __hash__(self) -> int:
        if self.kind.find("__hash__") is not MISSING:
            return int(call_special(self, "__hash__"))
        if self.kind.find("__eq__") is not MISSING:
            raise TypeError(f"unhashable type: '{self.kind.name}'")
        return id(self)


class ProgramModule:
    """What an object of a program's class that builds on nn.Module answers for it."""

    def __init__(self, kind: ClassValue) -> None:
        self.__dict__["_program_class"] = kind

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        method = kind_of(self).find("forward")
        if method is MISSING:
            raise NotImplementedError(
                f'Module [{kind_of(self).name}] is missing the required "forward" function'
            )
        return call(method, (self, *args), kwargs)

    def extra_repr(self) -> str:
        method = kind_of(self).find("extra_repr")
        return "" if method is MISSING else str(call(method, (self,), {}))

    def _get_name(self) -> str:
        return kind_of(self).name


class ModuleInstance(ProgramModule, Module):
    """The same, built on our own nn.Module."""


class StaticMethod:
    __slots__ = ("function",)

    def __init__(self, function: Any) -> None:
        self.function = function


class ClassMethod:
    __slots__ = ("function",)

    def __init__(self, function: Any) -> None:
        self.function = function


class Property:
    """property(getter), with .setter as a decorator."""

    __slots__ = ("getter", "writer")

    def __init__(self, getter: Any, writer: Any = None) -> None:
        self.getter = getter
        self.writer = writer


class Super:
    """super(): the attributes of an object that lie behind one class."""

    __slots__ = ("behind", "object")

    def __init__(self, behind: ClassValue, value: Any) -> None:
        self.behind = behind
        self.object = value


def kind_of(value: Any) -> ClassValue:
    found = value.kind if type(value) is Instance else value.__dict__["_program_class"]
    return found  # type: ignore[no-any-return]


def is_instance(value: Any) -> bool:
    return type(value) is Instance or isinstance(value, ProgramModule)


# ---------------------------------------------------------------- making


def construct(kind: ClassValue, *args: Any, **kwargs: Any) -> Any:
    """Net(...)"""
    if kind.kind is not None:
        return _error_instance(kind, args)
    if kind.native in FUNCTIONS:
        raise TypeError(f"use {kind.name}.apply: a Function of autograd has no instances")
    value: Any = Instance(kind) if kind.native is None else MODULES[kind.native](kind)
    start = kind.find("__init__")
    if start is not MISSING:
        if call(start, (value, *args), kwargs) is not None:
            raise TypeError("__init__() should return None")
    elif kind.native in MODULES:
        kind.native.__init__(value, *args, **kwargs)
    elif args or kwargs:
        raise TypeError(f"{kind.name}() takes no arguments")
    return value


def _error_instance(kind: ClassValue, args: tuple[Any, ...]) -> ErrorValue:
    assert kind.kind is not None
    return ErrorValue(kind.kind, args)


def make_class(
    name: str, qualified: str, bases: tuple[Any, ...], table: dict[str, Any]
) -> ClassValue:
    kind = ClassValue(name, qualified, bases, table)
    if isinstance(kind.native, type) and issubclass(kind.native, BaseException):
        made = Type(name, kind.native, lambda *args: ErrorValue(made, args), "__main__")
        kind.kind = made
        ERROR_CLASSES[made] = kind
    return kind


ERROR_CLASSES: dict[Type, ClassValue] = {}


# ---------------------------------------------------------------- attributes


def _from_class(value: Any, kind: ClassValue, found: Any) -> Any:
    """A class's entry read through an object."""
    holder = type(found)
    if holder is Function:
        return Bound(found.name, value, found)
    if holder is StaticMethod:
        return found.function
    if holder is ClassMethod:
        return Bound(found.function.name, kind, found.function)
    if holder is Property:
        return call(found.getter, (value,), {})
    return found


def _instance_attribute(value: Any, name: str) -> Any:
    kind = kind_of(value)
    found = kind.find(name)
    if type(found) is Property:
        return _from_class(value, kind, found)
    if type(value) is Instance:
        if name in value.table:
            return value.table[name]
    else:
        own = _module_attribute(value, name)
        if own is not MISSING:
            return own
    if found is not MISSING:
        return _from_class(value, kind, found)
    if isinstance(value, ProgramModule) and name in module_methods(kind.native):
        return Bound(name, value, module_methods(kind.native)[name])
    if name == "__class__":
        return kind
    if name == "__doc__":
        return None
    error = missing(value, name)
    raise error


def _module_attribute(value: ProgramModule, name: str) -> Any:
    own = value.__dict__
    for held in ("_parameters", "_buffers", "_modules"):
        if name in (own.get(held) or ()):
            return own[held][name]
    if name in own and not _is_internal(name):
        return adopt(own[name])
    return MISSING


_INTERNALS = frozenset(Module().__dict__) | {"_program_class"}


def _is_internal(name: str) -> bool:
    return name.startswith("_") and (name in _INTERNALS or hasattr(Module, name))


def _set_instance(value: Any, name: str, new: Any) -> None:
    found = kind_of(value).find(name)
    if type(found) is Property:
        if found.writer is None:
            raise AttributeError(
                f"property '{name}' of '{kind_of(value).name}' object has no setter"
            )
        call(found.writer, (value, new), {})
    elif type(value) is Instance:
        value.table[name] = new
    elif _is_internal(name) or name.startswith("__"):
        raise AttributeError(f"'{name}' belongs to nn.Module")
    else:
        setattr(value, name, new)  # nn.Module's own: it registers parameters and modules


def _delete_instance(value: Any, name: str) -> None:
    table = value.table if type(value) is Instance else value.__dict__
    if isinstance(value, ProgramModule) and _module_attribute(value, name) is not MISSING:
        delattr(value, name)
    elif name in table and not _is_internal(name):
        del table[name]
    else:
        raise missing(value, name)


def _class_attribute(value: ClassValue, name: str) -> Any:
    if name in ("__name__", "__qualname__"):
        return value.name if name == "__name__" else value.qualified
    found = value.find(name)
    if found is not MISSING:
        if type(found) is StaticMethod or type(found) is ClassMethod:
            return _from_class(value, value, found)
        return found
    if value.native in FUNCTIONS and name == "apply":
        return Builtin("apply", FUNCTIONS[value.native](value))
    if value.native in MODULES and (name in module_methods(value.native) or name == "__init__"):
        return _module_method(value.native, name)
    if name == "__doc__":
        return None
    error = missing(value, name)
    raise error


def _set_class(value: ClassValue, name: str, new: Any) -> None:
    value.table[name] = new


def _super_attribute(value: Super, name: str) -> Any:
    kind = value.object if type(value.object) is ClassValue else kind_of(value.object)
    found = kind.find(name, after=value.behind)
    if found is not MISSING:
        return _from_class(value.object, kind, found)
    if kind.native in MODULES:
        return Bound(name, value.object, _module_method(kind.native, name).function)
    if name == "__init__":
        return Builtin("__init__", lambda *args, **kwargs: None)
    raise missing(value, name)


def _module_method(native: type, name: str) -> Builtin:
    """nn.Module's own method, for super().train() and Module.__init__(self)."""
    if name == "__init__":
        return Builtin("__init__", lambda value, *args: native.__init__(value))  # type: ignore[misc]
    if name == "__setattr__" or name not in module_methods(native):
        raise AttributeError(f"'super' object has no attribute '{name}'")
    return Builtin(name, module_methods(native)[name])


class _Adapter:
    """What autograd.Function.apply needs of a class: its name and its three functions."""

    def __init__(self, kind: ClassValue) -> None:
        self.__name__ = kind.name
        for name in ("forward", "backward", "setup_context", "jvp", "vmap"):
            found = kind.find(name)
            plain = found.function if type(found) in (StaticMethod, ClassMethod) else found
            setattr(self, name, getattr(HostFunction, name) if found is MISSING else _called(plain))
        rule = kind.find("generate_vmap_rule")
        self.generate_vmap_rule = rule is not MISSING and bool(rule)
        self._output = HostFunction._output
        self.run = functools.partial(HostFunction.run.__func__, self)  # type: ignore[attr-defined]


def _called(function: Any) -> Callable[..., Any]:
    return lambda *args: call(function, args, {})


def _applied(kind: ClassValue) -> Callable[..., Any]:
    apply: Any = HostFunction.apply
    return lambda *args: apply.__func__(_Adapter(kind), *args)


# The classes that a program's own may build on: what an object of one is, how one is applied.
MODULES: dict[Any, Callable[[ClassValue], ProgramModule]] = {Module: ModuleInstance}
FUNCTIONS: dict[Any, Callable[[ClassValue], Callable[..., Any]]] = {HostFunction: _applied}


def _context_attribute(value: FunctionContext, name: str) -> Any:
    own = value.__dict__
    if name in own and not name.startswith("_"):
        return own[name]
    raise missing(value, name)


def _set_context(value: FunctionContext, name: str, new: Any) -> None:
    if name.startswith("_") or name in TABLES[FunctionContext].methods:
        raise AttributeError(f"'{name}' belongs to the context")
    value.__dict__[name] = new


def _property_attribute(value: Property, name: str) -> Any:
    if name == "setter":
        return Builtin("setter", lambda writer: Property(value.getter, writer))
    raise missing(value, name)


SPECIAL[Instance] = _instance_attribute
SPECIAL[ClassValue] = _class_attribute
SPECIAL[Super] = _super_attribute
SPECIAL[Property] = _property_attribute
SPECIAL[FunctionContext] = _context_attribute
SPECIAL_SET[Instance] = _set_instance
SPECIAL_SET[ClassValue] = _set_class
SPECIAL_SET[FunctionContext] = _set_context
SPECIAL_DELETE[Instance] = _delete_instance
for _record in (Instance, ClassValue, Super, Property, StaticMethod, ClassMethod):
    TABLES[_record] = Members()


def know_module(kind: type) -> None:
    """Objects of this type are those of a program's own module class."""
    SPECIAL[kind], SPECIAL_SET[kind] = _instance_attribute, _set_instance
    SPECIAL_DELETE[kind], TABLES[kind] = _delete_instance, Members()


know_module(ModuleInstance)
TABLES[FunctionContext] = Members(
    {name: getattr(FunctionContext, name) for name in (
        "save_for_backward", "save_for_forward", "mark_non_differentiable", "mark_dirty",
        "set_materialize_grads")},
    {"saved_tensors": lambda context: context.saved_tensors},
)  # fmt: skip


@functools.cache
def module_methods(native: type) -> dict[str, Callable[..., Any]]:
    """The methods of nn.Module that a program's module has."""
    methods = members_of_type(native).methods
    return {name: method for name, method in methods.items() if name != "forward"}


def call_special(value: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    found = kind_of(value).find(name)
    if found is MISSING:
        raise TypeError(f"'{kind_of(value).name}' object is not callable")
    return call(found, (value, *args), kwargs)


def make_super(*args: Any) -> Super:
    if len(args) != 2 or type(args[0]) is not ClassValue:
        raise TypeError("super() needs a class and an object here")
    return Super(args[0], args[1])


PRELUDE["super"] = Builtin("super", make_super)
PRELUDE["property"] = Builtin("property", Property)
PRELUDE["staticmethod"] = Builtin("staticmethod", StaticMethod)
PRELUDE["classmethod"] = Builtin("classmethod", ClassMethod)
