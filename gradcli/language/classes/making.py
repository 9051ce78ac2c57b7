"""language: how a class comes about: what it tells its parts and the classes above it, metaclasses.

A metaclass is a class of the program that builds on `type`; the classes that it makes are records
like any other, and hold it in `meta`.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from ...engine.schema.run_state import run_state
from ...named import NamedTuple
from ..adoption import VALUES
from ..attributes import MISSING, SPECIAL, SPECIAL_DELETE, SPECIAL_SET, STATICS
from ..builtins import types as types_room
from ..calls import call
from ..grammar import is_foreign
from ..members import TABLES
from ..operations import type_name
from ..session import session
from ..values import Instance, Type
from . import EMPTY_BASES, ClassValue
from .attributes import OF_OBJECTS
from .construction import construct, constructed
from .instances import BUILT_ON, make_meta_host

TYPE = types_room.OF_PYTHON[Type]
# Types that may stand as a metaclass, and what a class made by one has among its bases: ABCMeta.
METACLASSES: dict[Type, tuple[Type, ...]] = {TYPE: ()}


class Parts(NamedTuple):
    """A class statement that has run; `box` is where super() finds the class."""

    name: str
    qualified: str
    bases: tuple[Any, ...]
    table: dict[str, Any]
    doc: str | None
    fields: dict[str, str]
    box: list[ClassValue | None]


class _Making:
    """The class statements whose metaclass is at work."""

    __slots__ = ("parts",)

    def __init__(self) -> None:
        self.parts: list[Parts] = []


_making = run_state(_Making())


def above(bases: Iterable[Any]) -> tuple[Any, ...]:
    """The bases of a class; what builds on dict and its like needs a room of its own."""
    found = tuple(bases)
    if not any(type(base) is Type and base.host in BUILT_ON for base in found):
        return found
    from .builtin_bases import on_builtins

    return on_builtins(found)


def made_class(parts: Parts, named: dict[str, Any]) -> Any:
    """What a class statement binds to its name; `named` are the arguments beside its bases."""
    given = named.pop("metaclass", None)
    if given is not None and not isinstance(given, ClassValue | Type):
        return call(given, (parts.name, parts.bases, parts.table), named)
    if type(given) is Type and given not in METACLASSES:
        raise TypeError(f"{given.name} as a metaclass is not part of the language")
    owners = given.order if isinstance(given, ClassValue) else ()
    for base in (given, *(base for owner in owners for base in owner.bases)):
        parts = parts._replace(bases=(*parts.bases, *METACLASSES.get(base, ())))
    meta = _meta_of(parts.bases, given)
    if meta is None:
        return _finished(parts, None, named)
    facts = parts.name, parts.bases, parts.table
    _making.parts.append(parts)
    try:
        new = meta.find("__new__")
        if new is MISSING:
            value = _finished(parts, meta, named)
        else:
            value = call(getattr(new, "function", new), (meta, *facts), named)
    finally:
        _making.parts.pop()
    start = meta.find("__init__")
    if start is not MISSING and isinstance(value, ClassValue) and value.meta is meta:
        call(start, (value, *facts), named)
    return value


def _meta_of(bases: tuple[Any, ...], given: Any) -> ClassValue | None:
    """The metaclass of a class: the given one, or that of a base."""
    found: ClassValue | None = given if isinstance(given, ClassValue) else None
    for base in bases:
        meta = base.meta if isinstance(base, ClassValue) else None
        if meta is None or (found is not None and found.is_below(meta)):
            continue
        if found is not None and not meta.is_below(found):
            raise TypeError(
                "metaclass conflict: the metaclass of a derived class must be a (non-strict) "
                "subclass of the metaclasses of all its bases"
            )
        found = meta
    return found


def make_class(
    name: str, qualified: str, bases: tuple[Any, ...], table: dict[str, Any], doc: str | None,
    fields: dict[str, str] | None = None,
) -> Any:  # fmt: skip
    kind = ClassValue(name, qualified, bases, table, doc)
    if "__del__" in table:
        session.notes.setdefault("__del__ is not called when an object is no longer used")
    kind.fields = fields or {}
    for base in (part for owner in kind.order for part in owner.bases):
        finish = EMPTY_BASES.get(base) if type(base) is Type else None
        if finish is not None:
            return finish(kind)
    if isinstance(kind.native, type) and issubclass(kind.native, BaseException):
        kind.add_error_type(partial(construct, kind))
    return kind


def _finished(parts: Parts, meta: ClassValue | None, named: dict[str, Any]) -> Any:
    """Makes the class; its entries and the classes above it hear of that."""
    kind = make_class(
        parts.name, parts.qualified, above(parts.bases), parts.table, parts.doc, parts.fields
    )
    if not isinstance(kind, ClassValue):
        return kind
    kind.meta, parts.box[0] = meta, kind
    if meta is not None:
        kind.__class__ = meta.host  # type: ignore[assignment]
    for word, entry in list(parts.table.items()):
        hears = entry.kind.find("__set_name__") if isinstance(entry, Instance) else MISSING
        if hears is not MISSING:
            call(hears, (entry, kind, word), {})
    hears = kind.find("__init_subclass__", after=kind)
    if hears is not MISSING:
        call(getattr(hears, "function", hears), (kind,), named)
    elif named and kind.make is None:  # which a TypedDict has
        raise TypeError(f"{kind.name}.__init_subclass__() takes no keyword arguments")
    return kind


def _is_meta(kind: Any) -> bool:
    return isinstance(kind, ClassValue) and any(TYPE in owner.bases for owner in kind.order)


def new_class(meta: Any, *facts: Any, **named: Any) -> Any:
    """type.__new__(meta, name, bases, table)"""
    if meta is not TYPE and not _is_meta(meta):
        raise TypeError(f"type.__new__(X): X is not a type object ({type_name(meta)})")
    name, bases, table = _checked(facts)
    known = _making.parts[-1] if _making.parts else None
    if known is None or known.name != name:
        known = Parts(name, name, bases, table, None, {}, [None])
    above_it = None if meta is TYPE else meta
    return _finished(known._replace(bases=bases, table=dict(table)), above_it, named)


def _checked(facts: tuple[Any, ...]) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    if len(facts) != 3:
        raise TypeError("type.__new__() takes exactly 3 arguments")
    name, bases, table = facts
    if type(name) is not str or type(bases) is not tuple or type(table) is not dict:
        raise TypeError("type() takes a name, a tuple of bases and a dictionary")
    for word in table:
        if type(word) is not str:
            raise TypeError("__prepare__() must return a mapping of names")
        if is_foreign(word):
            raise AttributeError(f"the name {word!r} is not part of the language")
    session.budget.charge(len(table) + 1)
    return name, bases, table


def _call(kind: Any, *args: Any, **named: Any) -> Any:
    """type.__call__(kind, ...), past what a metaclass makes of the call."""
    known = isinstance(kind, ClassValue)
    return constructed(kind, *args, **named) if known else call(kind, args, named)


def _called(meta: ClassValue, *facts: Any, **named: Any) -> Any:
    """Meta(name, bases, table)"""
    name, bases, table = _checked(facts)
    parts = Parts(name, name, bases, dict(table), None, {}, [None])
    return made_class(parts, {**named, "metaclass": meta})


def _metaclass(kind: ClassValue) -> ClassValue:
    kind.make = _called
    kind.host = host = make_meta_host(kind.name, kind.order, ClassValue)
    tables: tuple[dict[Any, Any], ...] = (SPECIAL, SPECIAL_SET, SPECIAL_DELETE, TABLES)
    for table in tables:
        table[host] = table[ClassValue]
    VALUES.add(host)
    return kind


def _type_builtin(*args: Any, **named: Any) -> Any:
    """type(value), or type(name, bases, table), which is a class statement in one line."""
    if len(args) == 1:
        return types_room.type_call(*args)
    name, bases, table = _checked(args)
    return made_class(Parts(name, name, bases, dict(table), None, {}, [None]), named)


def _new(kind: Any, *args: Any, **kwargs: Any) -> Any:
    """super().__new__(cls), in a metaclass too"""
    return (new_class if _is_meta(kind) else _new_object)(kind, *args, **kwargs)


def _hears_nothing(kind: ClassValue, **named: Any) -> None:
    """super().__init_subclass__()"""
    if named:
        raise TypeError(f"{kind.name}.__init_subclass__() takes no keyword arguments")


_new_object = OF_OBJECTS["__new__"]
OF_OBJECTS.update({"__new__": _new, "__init_subclass__": _hears_nothing})
EMPTY_BASES[TYPE] = _metaclass
types_room.CONSTRUCT["type"] = _type_builtin
STATICS["type", "__new__"] = new_class
STATICS["type", "__call__"] = _call
STATICS["type", "__init__"] = lambda *facts, **named: None
