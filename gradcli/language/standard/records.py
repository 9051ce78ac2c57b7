"""language: named tuples: their classes, made while a program runs."""

from __future__ import annotations

import keyword
from operator import itemgetter
from typing import Any

from ..adoption import VALUES
from ..builtins.types import OF_LIBRARY
from ..classes.instances import BUILT_ON, HOST_BYTES
from ..formatting import quoted
from ..members import BUILDERS, TABLES, Members, members_of_type
from ..operations import collect
from ..session import session
from ..values import Type


class Record(tuple):  # type: ignore[type-arg]
    """An object of a named tuple's class; each has a class of its own beneath this one.

    Its fields stand in the table of members alone: no code of the library, which asks objects for a
    `type_name` or a `path`, meets a name that the program invented.
    """

    __slots__ = ()
    _fields: tuple[str, ...] = ()
    _defaults: dict[str, Any] = {}
    _shown = ""

    def __new__(cls, *args: Any) -> Record:
        return super().__new__(cls, args)

    def __repr__(self) -> str:
        session.budget.enter()
        try:
            parts = [
                f"{name}={quoted(value)}" for name, value in zip(self._fields, self, strict=True)
            ]
        finally:
            session.budget.depth -= 1
        return f"{self._shown}({', '.join(parts)})"


def make_record(
    name: str, fields: list[str], defaults: dict[str, Any], renamed: bool = False
) -> Type:
    """The class of a named tuple; names that Python made (renamed) may begin with an underscore."""
    for field in (name, *fields):
        if type(field) is not str or not field.isidentifier():
            raise ValueError(
                f"Type names and field names must be valid identifiers: {quoted(field)}"
            )
        if keyword.iskeyword(field):
            raise ValueError(f"Type names and field names cannot be a keyword: {quoted(field)}")
    seen: set[str] = set()
    for field in fields:
        if field.startswith("_") and not renamed:
            raise ValueError(f"Field names cannot start with an underscore: {quoted(field)}")
        if field in seen:
            raise ValueError(f"Encountered duplicate field name: {quoted(field)}")
        seen.add(field)
    session.budget.charge_bytes(HOST_BYTES)
    own: dict[str, Any] = {"__slots__": (), "_fields": tuple(fields), "_shown": name}
    own["__module__"], own["_defaults"] = __name__, defaults
    kind: Any = type(name, (Record,), own)

    least = f"from {len(fields) + 1 - len(defaults)} to " if defaults else ""

    def make(*args: Any, **kwargs: Any) -> Any:
        values = list(args)
        if len(values) > len(fields):
            raise TypeError(
                f"{name}.__new__() takes {least}{len(fields) + 1} positional arguments but "
                f"{len(values) + 1} were given"
            )
        for field in fields[len(values) :]:
            if field not in kwargs and field not in defaults:
                raise TypeError(
                    f"{name}.__new__() missing 1 required positional argument: '{field}'"
                )
            values.append(kwargs.pop(field) if field in kwargs else defaults[field])
        for field in kwargs:
            raise TypeError(f"{name}.__new__() got an unexpected keyword argument '{field}'")
        return kind(*values)

    VALUES.add(kind)
    OF_LIBRARY[kind] = made = Type(name, kind, make, "__main__")
    BUILT_ON.add(kind)
    members_of_type(kind)
    return made


def _replace(record: Any, **changes: Any) -> Any:
    values = {**dict(zip(record._fields, record, strict=True)), **changes}
    if len(values) > len(record):
        raise ValueError(
            f"Got unexpected field names: {[n for n in changes if n not in record._fields]!r}"
        )
    return type(record)(*values.values())


def _members(kind: type) -> Members | None:
    if not issubclass(kind, Record):
        return None
    methods = {
        **TABLES[tuple].methods,
        "_replace": _replace,
        "_asdict": lambda record: dict(zip(record._fields, record, strict=True)),
    }
    fields = {name: itemgetter(place) for place, name in enumerate(kind._fields)}
    members = Members(methods, {**fields, "_fields": lambda record: record._fields})
    members.constants.update({"_fields": kind._fields, "_field_defaults": kind._defaults})
    members.statics["_make"] = lambda iterable: _filled(kind, collect(iterable))
    return members


def _filled(kind: Any, values: list[Any]) -> Any:
    if len(values) != len(kind._fields):
        raise TypeError(f"Expected {len(kind._fields)} arguments, got {len(values)}")
    return kind(*values)


BUILDERS.append(_members)


def namedtuple(
    typename: str,
    field_names: Any,
    *,
    rename: Any = False,
    defaults: Any = None,
    module: Any = None,
) -> Type:
    fields = field_names
    if type(fields) is str:
        fields = fields.replace(",", " ").split()
    fields = collect(fields)
    if rename:
        first = {name: place for place, name in reversed([*enumerate(fields)]) if _is_field(name)}
        fields = [
            name if _is_field(name) and first[name] == place else f"_{place}"
            for place, name in enumerate(fields)
        ]
    last = [] if defaults is None else collect(defaults)
    if len(last) > len(fields):
        raise TypeError("Got more default values than field names")
    with_default = dict(zip(fields[len(fields) - len(last) :], last, strict=True))
    return make_record(typename, fields, with_default, bool(rename))


def _is_field(name: Any) -> bool:
    usable = type(name) is str and name.isidentifier() and not keyword.iskeyword(name)
    return usable and not name.startswith("_")
