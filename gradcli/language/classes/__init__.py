"""language: classes of the program and their instances: records, never classes of the host."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ...engine.tensors.invented_names import kept_on
from ...nn.derived import parametrizations
from ...nn.module import Module
from ..adoption import VALUES, adopting
from ..annotations import Annotation, Joined
from ..attributes import (
    MISSING,
    SPECIAL,
    SPECIAL_DELETE,
    SPECIAL_SET,
    contents_of,
    delete_attribute,
    delete_from_library,
    missing,
    part_of,
    set_attribute,
    set_on_library,
)
from ..builtins.errors import ERRORS, Raised, matches, own_errors
from ..builtins.prelude import PRELUDE
from ..builtins.types import OF_ERRORS
from ..calls import call, called_back
from ..libraries import published, twin
from ..members import TABLES, Members, members_of_type
from ..operations import type_handlers, type_name
from ..values import Bound, Builtin, ErrorValue, Function, Instance, Type, adopted, stands_for
from .instances import (
    OPERATORS,
    ClassMethod,
    Property,
    StaticMethod,
    add_special,
    around,
    is_base,
    linear,
    make_host,
    make_library_host,
    refusal_of,
    shown,
    slots_of,
    special_names,
)  # fmt: skip
from .library_bases import Beneath, is_mixed, of_library, whole_order

OBJECT = PRELUDE["object"]


class ClassValue(Joined):
    """A class of the program: its table of names, its bases, and the native class beneath."""

    __slots__ = (
        "abstract", "bases", "below", "content", "doc", "enumeration", "fields", "frozen", "host",
        "kind", "make", "meta", "mixed", "name", "native", "order", "qualified", "registered",
        "slots", "special", "table", "whole", "__weakref__",
    )  # fmt: skip
    is_class = True

    def __init__(
        self, name: str, qualified: str, bases: tuple[Any, ...], table: dict[str, Any],
        doc: str | None = None, beneath: Type | None = None,
    ) -> None:  # fmt: skip
        self.doc = doc
        self.fields: dict[str, str] = {}  # what its body annotates, and how
        self.frozen = False  # a dataclass whose objects are not written to
        self.make: Callable[..., Any] | None = None  # what a call gives where it makes no object
        self.abstract: tuple[str, ...] = ()  # methods that a class beneath must have
        self.registered: list[Any] | None = None  # of an abstract class: what ABC.register was told
        self.meta: ClassValue | None = None  # the metaclass that made it, where that is no type
        self.enumeration: Any = None  # of a class that builds on Enum: its members
        self.name = name
        self.qualified = qualified
        self.bases = bases
        self.below: list[ClassValue] = []  # the program's classes that name it as a base
        self.table = table
        self.native: Any = None if beneath is not None else _native(bases)
        known = [base for base in bases if isinstance(base, ClassValue)]
        for base in known:
            if not base.stands_in:
                base.below.append(self)
        self.order: list[Any] = linear(self, known, [base.order for base in known])
        self.whole = whole_order(self) if is_base(self.native) else self.order
        self.mixed = self.whole if is_mixed(self.whole) else None
        above = (base.content for base in self.order[1:] if base.content is not None)
        self.content = beneath or next(above, None)  # the type of Python that it builds on
        self.slots = slots_of(self.order)  # the names that its objects may have, None for any
        self.kind: Type | None = None  # of errors: what `except` compares
        self.special: frozenset[str] = frozenset()
        self.host: type[Any] | None = None  # what lies beneath an instance
        if self.native is None:
            self.special = special_names(self.order)
            self.host = make_host(name, self.order, () if beneath is None else ("content",))
        elif is_base(self.native):
            asked = {*published(self.native), *getattr(twin(self.native), "ASKED", ()), *OPERATORS}
            asked.update(("__repr__", "__call__"))
            own = [word for word in asked if _is_method(self.find(word))]
            self.host = make_library_host(name, ProgramModule, self.native, self.order, own)
            for word in getattr(twin(self.native), "FROM_CLASS", ()):
                found = self.find(word)
                if found is not MISSING and not _is_method(found):
                    setattr(self.host, word, shown(found))
        if self.host is not None:
            _know(self.host)

    @property
    def stands_in(self) -> bool:
        """Is it the class that stands for a type of Python behind those that build on it?"""
        return len(self.bases) == 1 and self.bases[0] is self.content

    @property
    def text(self) -> str:
        return f"<class '__main__.{self.qualified}'>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return called_back(self, *adopted(args, kwargs))

    def __deepcopy__(self, memo: Any) -> ClassValue:
        return self  # a copy of an object is of the same class

    def add_error_type(self, construct: Callable[..., Any]) -> None:
        """What `except` compares its errors with."""
        self.kind = Type(self.name, self.native, construct, "__main__")
        ERROR_CLASSES[self.kind] = self

    def is_below(self, other: Any) -> bool:
        """Is it this class, or does it build on it? Classes are asked by identity."""
        return any(base is other for base in self.order)

    def find(self, name: str, after: ClassValue | None = None) -> Any:
        """The first entry of this name along the bases, behind `after` where that is given."""
        if self.mixed is not None:
            return self._find_mixed(name, after)
        skipping = after is not None
        for base in self.order:
            if skipping:
                skipping = base is not after
                continue
            if name in base.table:
                return base.table[name]
        return MISSING

    def _find_mixed(self, name: str, after: ClassValue | None) -> Any:
        """The same where one of the program's classes lies behind one of the library's."""
        start = 0 if after is None else self.whole.index(after) + 1
        owner: Any = None
        for base in self.whole[start:]:
            if name in base.table:
                if owner is None:
                    return base.table[name]
                return of_library(self, owner, name, module_methods(owner.host))
            if owner is None and type(base) is Beneath and name in base.defines:
                owner = base if name == "__init__" or name in module_methods(base.host) else None
        return MISSING


def _native(bases: tuple[Any, ...]) -> Any:
    """The class of the library or the error type that the class builds on, or None."""
    found: Any = None
    for base in bases:
        if isinstance(base, ClassValue):
            found = found or base.native
        elif type(base) is Type and base not in EMPTY_BASES:
            if is_mixed_in(base, bases):
                continue
            if not _may_be_base(base):
                raise TypeError(refusal_of(base))
            found = found or base.host
        elif type(base) is not Type and type(base) is not Annotation:
            raise TypeError("the bases of a class are classes")
    return found


def is_mixed_in(base: Type, bases: tuple[Any, ...]) -> bool:
    """A type beside Enum, which its members stand for: (str, Enum)."""
    known = [kind for kind in bases if isinstance(kind, ClassValue)]
    above = [*bases, *(part for kind in known for owner in kind.order for part in owner.bases)]
    return any(base in MIXED_IN.get(part, ()) for part in above if type(part) is Type)


def _may_be_base(base: Type) -> bool:
    if is_base(base.host) or base.host in FUNCTIONS:
        return True
    return (
        isinstance(base.host, type)
        and issubclass(base.host, Exception)
        and base in OF_ERRORS.values()
    )


class FrozenInstanceError(AttributeError):
    _torch_name = "dataclasses.FrozenInstanceError"


class ProgramModule:
    """What an object of a program's class answers where it builds on one of nn or optim."""

    _torch_home = (
        "__main__."  # in front of the class's name, where an object is shown with its address
    )

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
        if not _is_method(method):
            return called_back(from_class(self, kind_of(self), method), args, kwargs)
        return called_back(method, (self, *args), kwargs)

    def extra_repr(self) -> str:
        method = kind_of(self).find("extra_repr")
        if method is MISSING:
            return super().extra_repr()  # type: ignore[misc]
        return str(call(method, (self,), {}))

    def _get_name(self) -> str:
        return "Parametrized" * bool(parametrizations(self)) + kind_of(self).name


def kind_of(value: Any) -> ClassValue:
    if isinstance(value, Instance):
        return value.kind
    if type(value) is ErrorValue:
        return ERROR_CLASSES[value.kind]
    return value.__dict__["_program_class"]


def is_instance(value: Any) -> bool:
    return isinstance(value, (Instance, ProgramModule)) or (
        type(value) is ErrorValue and value.kind in ERROR_CLASSES
    )


# Types that a class may build on and that are not beneath its objects: object, ABC, Protocol. What
# some of them make of a class, such as an enumeration.
EMPTY_BASES: dict[Type, Callable[[ClassValue], Any] | None] = {OBJECT: None}
# Types that may stand beside such a one.
MIXED_IN: dict[Type, frozenset[Type]] = {}


ERROR_CLASSES: dict[Type, ClassValue] = {}


# ---------------------------------------------------------------- attributes


def _is_method(found: Any) -> bool:
    """Does an entry of a class take the object first: a function of the program, decorated too?"""
    if type(found) is Builtin:
        return found.wraps is not None or found.is_method or found.function in BUILTIN_METHODS
    return type(found) is Function


BUILTIN_METHODS: set[Callable[..., Any]] = set()  # what dict and its like give to classes beneath


def add_method(kind: ClassValue, name: str, method: Callable[..., Any]) -> None:
    """Gives a class a method that is in no text, as a decorator does."""
    kind.table[name] = Builtin(name, method)
    add_special(kind, name)


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
        if found.getter is None:
            word = next((n for n in kind.table if kind.table[n] is found), "")
            raise AttributeError(f"property '{word}' of '{kind.name}' object has no getter")
        return call(found.getter, (value,), {})
    reads = described(found, "__get__")
    return found if reads is MISSING else call(reads, (found, value, kind), {})


def described(entry: Any, name: str) -> Any:
    """The method of a descriptor: an object of the program's that stands in a class."""
    return entry.kind.find(name) if isinstance(entry, Instance) else MISSING


def _instance_attribute(value: Any, name: str) -> Any:
    kind = kind_of(value)
    found = kind.find(name)
    if type(found) is Property:
        return _computed(value, kind, name, found)
    if described(found, "__set__") is not MISSING:
        return from_class(value, kind, found)
    if isinstance(value, ProgramModule):
        own = _module_attribute(value, name)
        if own is not MISSING:
            return own
        if name in published(kind.native) and (outer := around(value, name)) is not None:
            return Builtin(name, adopting(outer))
    elif name in value.table:
        return value.table[name]
    if found is not MISSING:
        return from_class(value, kind, found)
    if isinstance(value, ProgramModule):
        if name in module_methods(kind.native):
            return Bound(name, value, module_methods(kind.native)[name])
        computed = members_of_type(kind.native).properties.get(name)
        if computed is not None and hasattr(kind.native, name):
            return computed(value)
    if name == "__class__":
        return kind
    if name == "__doc__":
        return kind.doc
    if name == "__dict__" and isinstance(value, Instance) and kind.slots is None:
        slots = {word for base in kind.order for word in base.table.get("__slots__", ())}
        return {n: v for n, v in value.table.items() if n not in slots} if slots else value.table
    if name == "__dict__" and isinstance(value, Module):
        return contents_of(value, members_of_type(kind.native))
    method = type_handlers.inherited(value, name)
    if method is not None:
        return Bound(name, value, method)
    absent = kind.find("__getattr__")
    if absent is not MISSING:
        return call(absent, (value, name), {})
    raise missing(value, name)


def _computed(value: Any, kind: ClassValue, name: str, found: Property) -> Any:
    """What a property gives; where it lacks an attribute, __getattr__ is asked, a module's too."""
    try:
        return from_class(value, kind, found)
    except (AttributeError, Raised) as error:
        if not matches(error, ERRORS["AttributeError"]):
            raise
        absent = kind.find("__getattr__")
        if absent is not MISSING:
            return call(absent, (value, name), {})
        if not isinstance(value, Module):
            raise
        part = part_of(value, name)
        if part is MISSING:
            raise missing(value, name) from None
        return part


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
    own = kind_of(value).find("__setattr__")
    if own is MISSING:
        set_plainly(value, name, new)
    else:
        call(own, (value, name, new), {})


def set_plainly(value: Any, name: Any, new: Any) -> None:
    """object.__setattr__(value, name, new)"""
    if type(name) is not str:
        raise TypeError(f"attribute name must be string, not '{type_name(name)}'")
    if not is_instance(value):
        set_attribute(value, name, new)
        return
    kind = kind_of(value)
    found = kind.find(name)
    if type(found) is Property:
        if found.writer is None:
            raise AttributeError(f"property '{name}' of '{kind.name}' object has no setter")
        call(found.writer, (value, new), {})
    elif (writes := described(found, "__set__")) is not MISSING:
        call(writes, (found, value, new), {})
    elif isinstance(value, ProgramModule):
        set_on_library(value, members_of_type(kind.native), name, new)
    elif kind.frozen:
        raise FrozenInstanceError(f"cannot assign to field '{name}'")
    elif name == "__dict__":
        if type(stands_for(new)) is not dict:
            raise TypeError(f"__dict__ must be set to a dictionary, not a '{type_name(new)}'")
        value.table = stands_for(new)
    elif name == "__class__":
        raise TypeError("__class__ assignment is not part of the language")
    elif kind.slots is not None and name not in kind.slots:
        raise missing(value, name)
    else:
        value.table[name] = new


def _delete_instance(value: Any, name: str) -> None:
    own = kind_of(value).find("__delattr__")
    if own is MISSING:
        delete_plainly(value, name)
    else:
        call(own, (value, name), {})


def delete_plainly(value: Any, name: Any) -> None:
    """object.__delattr__(value, name)"""
    if type(name) is not str:
        raise TypeError(f"attribute name must be string, not '{type_name(name)}'")
    if not is_instance(value):
        delete_attribute(value, name)
        return
    kind = kind_of(value)
    found = kind.find(name)
    if type(found) is Property:
        if found.deleter is None:
            raise AttributeError(f"property '{name}' of '{kind.name}' object has no deleter")
        call(found.deleter, (value,), {})
        return
    if (deletes := described(found, "__delete__")) is not MISSING:
        call(deletes, (found, value), {})
        return
    table = kept_on(value) if isinstance(value, ProgramModule) else value.table
    if name in table:
        del table[name]
    elif isinstance(value, ProgramModule):
        delete_from_library(value, members_of_type(kind.native), name)
    else:
        raise missing(value, name)


def _error_attribute(value: ErrorValue, name: str) -> Any:
    if value.kind in ERROR_CLASSES:
        return _instance_attribute(value, name)
    if name in value.table:
        return value.table[name]
    if name == "__class__":
        return value.kind
    if (value.kind.name, name) in (("StopIteration", "value"), ("SystemExit", "code")):
        return value.args[0] if value.args else None
    raise missing(value, name)


def _set_error(value: ErrorValue, name: str, new: Any) -> None:
    if value.kind in ERROR_CLASSES:
        _set_instance(value, name, new)
    else:
        value.table[name] = new


def get_part(value: Any, name: Any) -> Any:
    """Module.__getattr__(value, name), which only asks for its parts."""
    if type(name) is not str:
        raise TypeError(f"attribute name must be string, not '{type_name(name)}'")
    found = part_of(value, name)
    if found is MISSING:
        raise missing(value, name)
    return found


# The classes of functions that a program's own may build on, and how one is applied.
FUNCTIONS: dict[Any, Callable[[ClassValue], Callable[..., Any]]] = {}

SPECIAL[ErrorValue] = _error_attribute
SPECIAL_SET[ErrorValue] = _set_error
own_errors.append(lambda value: value.kind if isinstance(value, ClassValue) else None)
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
