"""language: classes of the program and their instances: records, never classes of the host."""

from __future__ import annotations

import functools
from collections import Counter, deque
from collections.abc import Callable
from inspect import getattr_static
from typing import Any

from ..autograd.function import Function as HostFunction
from ..engine.kept import kept_on
from ..nn.derived import parametrizations
from .adoption import VALUES, adopting
from .annotations import Annotation, Joined
from .attributes import (
    MISSING,
    SPECIAL,
    SPECIAL_DELETE,
    SPECIAL_SET,
    delete_from_library,
    missing,
    part_of,
    set_on_library,
)
from .builtins.errors import own_errors
from .builtins.prelude import PRELUDE
from .builtins.types import OF_ERRORS
from .calls import call, called_back
from .instances import add_special, is_base, make_host, make_library_host, special_names
from .libraries import published
from .members import TABLES, Members, members_of_type
from .operations import type_name
from .session import session
from .values import Bound, Builtin, ErrorValue, Function, Instance, Type

OBJECT = PRELUDE["object"]


class ClassValue(Joined):
    """A class of the program: its table of names, its bases, and the native class beneath."""

    __slots__ = (
        "abstract", "bases", "doc", "enumeration", "fields", "frozen", "host", "kind", "make",
        "name", "native", "order", "qualified", "special", "table", "__weakref__",
    )  # fmt: skip

    def __init__(
        self, name: str, qualified: str, bases: tuple[Any, ...], table: dict[str, Any],
        doc: str | None = None,
    ) -> None:  # fmt: skip
        self.doc = doc
        self.fields: tuple[str, ...] = ()  # what its body annotates
        self.frozen = False  # a dataclass whose objects are not written to
        self.make: Callable[..., Any] | None = None  # what a call gives where it makes no object
        self.abstract: tuple[str, ...] = ()  # methods that a class beneath must have
        self.enumeration: Any = None  # of a class that builds on Enum: its members
        self.name = name
        self.qualified = qualified
        self.bases = bases
        self.table = table
        self.native = _native(bases)
        self.order = _linear(self, bases)
        self.kind: Type | None = None  # of errors: what `except` compares
        self.special: frozenset[str] = frozenset()
        self.host: type[Any] | None = None  # what lies beneath an instance
        if self.native is None:
            self.special = special_names(self.order)
            self.host = make_host(name, self.order)
        elif is_base(self.native):
            asked = {*published(self.native), *getattr(self.native, "ASKED", ())}
            own = [word for word in asked if _is_method(self.find(word))]
            self.host = make_library_host(name, ProgramModule, self.native, own)
        if self.host is not None:
            _know(self.host)

    @property
    def text(self) -> str:
        return f"<class '__main__.{self.qualified}'>"

    def __deepcopy__(self, memo: Any) -> ClassValue:
        return self  # a copy of an object is of the same class

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
        elif type(base) is Type and base not in EMPTY_BASES:
            if _is_mixed_in(base, bases):
                continue
            if not _may_be_base(base):
                raise TypeError(f"type '{base.name}' is not an acceptable base type")
            found = found or base.host
        elif type(base) is not Type and type(base) is not Annotation:
            raise TypeError("the bases of a class are classes")
    return found


def _is_mixed_in(base: Type, bases: tuple[Any, ...]) -> bool:
    """A type beside Enum, which its members stand for: (str, Enum)."""
    above = [*bases, *(part for kind in bases if type(kind) is ClassValue for owner in kind.order
                       for part in owner.bases)]  # fmt: skip
    return any(base in MIXED_IN.get(part, ()) for part in above if type(part) is Type)


def _may_be_base(base: Type) -> bool:
    if is_base(base.host) or base.host in FUNCTIONS:
        return True
    return (
        isinstance(base.host, type)
        and issubclass(base.host, Exception)
        and base in OF_ERRORS.values()
    )


def _linear(own: ClassValue, bases: tuple[Any, ...]) -> list[ClassValue]:
    """Python's order of bases: each class before its own bases, in the order written."""
    known = [base for base in bases if type(base) is ClassValue]
    session.budget.charge(sum(len(base.order) for base in known))
    if len(known) < 2:
        return [own, *(kind for base in known for kind in base.order)]
    rows = [deque(row) for row in (*(base.order for base in known), known)]
    behind = Counter(kind for row in rows for kind in list(row)[1:])
    order = [own]
    while rows:
        session.budget.charge(len(rows))
        head = next((row[0] for row in rows if not behind[row[0]]), None)
        if head is None:
            raise TypeError("Cannot create a consistent method resolution order (MRO)")
        order.append(head)
        for row in rows:
            if row[0] is head:
                row.popleft()
                if row:
                    behind[row[0]] -= 1
        rows = [row for row in rows if row]
    return order


class ProgramModule:
    """What an object of a program's class answers where it builds on one of nn or optim."""

    home = "__main__."  # in front of the class's name, where an object is shown with its address

    def __init__(self, kind: ClassValue) -> None:
        self.__dict__["_program_class"] = kind

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        method = kind_of(self).find("forward")
        if method is MISSING and kind_of(self).native.__name__ != "Module":
            return super().forward(*args, **kwargs)  # type: ignore[misc]
        if method is MISSING:
            raise NotImplementedError(
                f'Module [{kind_of(self).name}] is missing the required "forward" function'
            )
        if type(method) in (StaticMethod, ClassMethod):
            return called_back(from_class(self, kind_of(self), method), args, kwargs)
        return called_back(method, (self, *args), kwargs)

    def extra_repr(self) -> str:
        method = kind_of(self).find("extra_repr")
        if method is MISSING:
            return super().extra_repr()  # type: ignore[misc, no-any-return]
        return str(call(method, (self,), {}))

    def _get_name(self) -> str:
        return "Parametrized" * bool(parametrizations(self)) + kind_of(self).name


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


def kind_of(value: Any) -> ClassValue:
    if isinstance(value, Instance):
        return value.kind  # type: ignore[no-any-return]
    if type(value) is ErrorValue:
        return ERROR_CLASSES[value.kind]
    return value.__dict__["_program_class"]  # type: ignore[no-any-return]


def is_instance(value: Any) -> bool:
    return isinstance(value, (Instance, ProgramModule)) or (
        type(value) is ErrorValue and value.kind in ERROR_CLASSES
    )


# ---------------------------------------------------------------- making


def construct(kind: ClassValue, *args: Any, **kwargs: Any) -> Any:
    """Net(...)"""
    if kind.make is not None:
        return kind.make(kind, *args, **kwargs)
    if kind.abstract:
        raise TypeError(_abstract(kind))
    if kind.native in FUNCTIONS:
        return Builtin(kind.name, HostFunction())
    value: Any
    if kind.kind is not None:
        value = ErrorValue(kind.kind, args)
    else:
        assert kind.host is not None
        value = kind.host(kind)
    start = kind.find("__init__")
    if start is not MISSING:
        answer = call(start, (value, *args), kwargs)
        if answer is not None:
            raise TypeError(f"__init__() should return None, not '{type_name(answer)}'")
    elif is_base(kind.native):
        kind.native.__init__(value, *args, **kwargs)
    elif kwargs and kind.kind is not None:
        raise TypeError(f"{kind.name}() takes no keyword arguments")
    elif (args or kwargs) and kind.kind is None:
        raise TypeError(f"{kind.name}() takes no arguments")
    return value


def _abstract(kind: ClassValue) -> str:
    plural = "s" if len(kind.abstract) > 1 else ""
    return (
        f"Can't instantiate abstract class {kind.name} with abstract method{plural} "
        f"{', '.join(kind.abstract)}"
    )


# Types that a class may build on and that are not beneath its objects: object, ABC, Protocol. What
# some of them make of a class, such as an enumeration.
EMPTY_BASES: dict[Type, Callable[[ClassValue], Any] | None] = {OBJECT: None}
# Types that may stand beside such a one.
MIXED_IN: dict[Type, frozenset[Type]] = {}


def make_class(
    name: str, qualified: str, bases: tuple[Any, ...], table: dict[str, Any], doc: str | None,
    fields: tuple[str, ...] = (),
) -> Any:  # fmt: skip
    kind = ClassValue(name, qualified, bases, table, doc)
    kind.fields = fields
    for base in (part for owner in kind.order for part in owner.bases):
        finish = EMPTY_BASES.get(base) if type(base) is Type else None
        if finish is not None:
            return finish(kind)
    if isinstance(kind.native, type) and issubclass(kind.native, BaseException):
        kind.kind = made = Type(name, kind.native, functools.partial(construct, kind), "__main__")
        ERROR_CLASSES[made] = kind
    return kind


ERROR_CLASSES: dict[Type, ClassValue] = {}


# ---------------------------------------------------------------- attributes


def _is_method(found: Any) -> bool:
    """Does an entry of a class take the object first: a function of the program, decorated too?"""
    return type(found) is Function or (type(found) is Builtin and found.wraps is not None)


def from_class(value: Any, kind: ClassValue, found: Any) -> Any:
    """A class's entry read through an object."""
    holder = type(found)
    if _is_method(found):
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
        return from_class(value, kind, found)
    if isinstance(value, ProgramModule):
        own = _module_attribute(value, name)
        if own is not MISSING:
            return own
    elif name in value.table:
        return value.table[name]
    if found is not MISSING:
        return from_class(value, kind, found)
    if isinstance(value, ProgramModule):
        if name in module_methods(kind.native):
            return Bound(name, value, module_methods(kind.native)[name])
        computed = members_of_type(kind.native).properties.get(name)
        if computed is not None and isinstance(getattr(kind.native, name, None), property):
            return computed(value)
    if name == "__class__":
        return kind
    if name == "__doc__":
        return kind.doc
    if name == "__dict__" and isinstance(value, Instance):
        return value.table
    absent = kind.find("__getattr__")
    if absent is not MISSING:
        return call(absent, (value, name), {})
    raise missing(value, name)


def _module_attribute(value: ProgramModule, name: str) -> Any:
    """What an object of a program's class has of its own: kept, of the library, or a part."""
    kept = kept_on(value)
    if name in kept:
        return kept[name]
    if name in value.__dict__:
        read = members_of_type(kind_of(value).native).properties.get(name)
        if read is not None:
            return read(value)
    return part_of(value, name)


def _set_instance(value: Any, name: str, new: Any) -> None:
    found = kind_of(value).find(name)
    if type(found) is Property:
        if found.writer is None:
            raise AttributeError(
                f"property '{name}' of '{kind_of(value).name}' object has no setter"
            )
        call(found.writer, (value, new), {})
    elif isinstance(value, ProgramModule):
        set_on_library(value, members_of_type(kind_of(value).native), name, new)
    elif kind_of(value).frozen:
        raise AttributeError(f"cannot assign to field '{name}'")
    else:
        value.table[name] = new


def _delete_instance(value: Any, name: str) -> None:
    table = kept_on(value) if isinstance(value, ProgramModule) else value.table
    if name in table:
        del table[name]
    elif isinstance(value, ProgramModule):
        delete_from_library(value, members_of_type(kind_of(value).native), name)
    else:
        raise missing(value, name)


def _class_attribute(value: ClassValue, name: str) -> Any:
    if name in ("__name__", "__qualname__"):
        return value.name if name == "__name__" else value.qualified
    found = value.find(name)
    if found is not MISSING:
        if type(found) is StaticMethod or type(found) is ClassMethod:
            return from_class(value, value, found)
        return found
    if value.native in FUNCTIONS and name == "apply":
        return Builtin("apply", FUNCTIONS[value.native](value))
    if is_base(value.native) and (name in module_methods(value.native) or name == "__init__"):
        return class_method(value, name) or module_method(value.native, name)
    if name == "__doc__":
        return value.doc
    raise missing(value, name, f"type object '{value.name}' has no attribute '{name}'")


def _set_class(value: ClassValue, name: str, new: Any) -> None:
    value.table[name] = new
    add_special(value, name)


def _delete_class(value: ClassValue, name: str) -> None:
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


def _error_attribute(value: ErrorValue, name: str) -> Any:
    if value.kind in ERROR_CLASSES:
        return _instance_attribute(value, name)
    if name in value.table:
        return value.table[name]
    if name == "__class__":
        return value.kind
    if name == "value" and value.kind.name == "StopIteration":
        return value.args[0] if value.args else None
    raise missing(value, name)


def _set_error(value: ErrorValue, name: str, new: Any) -> None:
    if value.kind in ERROR_CLASSES:
        _set_instance(value, name, new)
    else:
        value.table[name] = new


# The classes of functions that a program's own may build on, and how one is applied.
FUNCTIONS: dict[Any, Callable[[ClassValue], Callable[..., Any]]] = {}


def _property_attribute(value: Property, name: str) -> Any:
    if name == "setter":
        return Builtin("setter", lambda writer: Property(value.getter, writer))
    raise missing(value, name)


SPECIAL[ClassValue] = _class_attribute
SPECIAL[Property] = _property_attribute
SPECIAL_SET[ClassValue] = _set_class
SPECIAL[ErrorValue] = _error_attribute
SPECIAL_SET[ErrorValue] = _set_error
SPECIAL_DELETE[ClassValue] = _delete_class
own_errors.append(lambda value: value.kind if type(value) is ClassValue else None)
for _record in (ClassValue, Property, StaticMethod, ClassMethod):
    TABLES[_record] = Members()
    VALUES.add(_record)


def _know(kind: type) -> None:
    """Objects of this type are those of a program's own class."""
    SPECIAL[kind], SPECIAL_SET[kind] = _instance_attribute, _set_instance
    SPECIAL_DELETE[kind], TABLES[kind] = _delete_instance, Members()


@functools.cache
def module_methods(native: type) -> dict[str, Callable[..., Any]]:
    """The methods of the library that a program's class has; nn.Module has no forward."""
    methods = members_of_type(native).methods
    own = native.__name__ != "Module"
    return {name: method for name, method in methods.items() if own or name != "forward"}


def call_special(value: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    found = kind_of(value).find(name)
    if found is MISSING:
        raise TypeError(f"'{kind_of(value).name}' object is not callable")
    return call(found, (value, *args), kwargs)


PRELUDE["property"] = Builtin("property", Property)
PRELUDE["staticmethod"] = Builtin("staticmethod", StaticMethod)
PRELUDE["classmethod"] = Builtin("classmethod", ClassMethod)
