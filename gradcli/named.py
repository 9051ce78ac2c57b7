"""named: `NamedTuple`, created in a tenth of the time: a command needs thirty at its start.

The class of the module typing makes an object of each annotation, which no one asks for, and both
it and `collections.namedtuple` compile a function for each class: here only where many objects are
made.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from _collections import _tuplegetter

    MANY = 50  # such objects, and a function is written for their class

    class _Fields(tuple):
        """What the classes have in common, as those of the module collections have it."""

        __slots__ = ()
        _completed = 0  # objects that were not given all their values in order

        def __new__(cls, *values, **named):
            fields = cls._fields
            if named or len(values) != len(fields):
                cls._completed += 1
                if cls._completed > MANY:
                    cls.__new__ = staticmethod(_written(cls))
                rest, given = fields[len(values) :], cls._field_defaults | named
                if len(values) > len(fields) or not given.keys() >= {*rest} >= named.keys():
                    raise TypeError(f"{cls.__name__}() takes {', '.join(fields)}")
                values += tuple([given[field] for field in rest])
            return tuple.__new__(cls, values)

        @classmethod
        def _make(cls, values):
            made = tuple.__new__(cls, values)
            if len(made) != len(cls._fields):
                raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
            return made

        def _replace(self, /, **changes):
            made = self._make(map(changes.pop, self._fields, self))
            if changes:
                raise ValueError(f"Got unexpected field names: {list(changes)!r}")
            return made

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self):
            shown = ", ".join(f"{name}={value!r}" for name, value in self._asdict().items())
            return f"{type(self).__name__}({shown})"

        def __getnewargs__(self):
            return tuple(self)

    class _Made(type):
        """Turns the body of a class into a class of tuples."""

        def __new__(cls, name, bases, body):
            fields = tuple(body.get("__annotations__", {}))
            defaults = {field: body[field] for field in fields if field in body}
            getters = zip(fields, map(_getter, range(len(fields))))
            facts = {"_fields": fields, "_field_defaults": defaults, "__match_args__": fields}
            return type(name, (_Fields,), {"__slots__": (), **body, **facts, **dict(getters)})

    def _written(kind):
        """The function that `collections.namedtuple` makes objects with."""
        given = "".join(f"{field}, " for field in kind._fields)
        new = eval(f"lambda _cls, {given}: _new(_cls, ({given}))", {"_new": tuple.__new__})
        new.__defaults__ = tuple(kind._field_defaults.values())
        return new

    def _getter(place):
        return _tuplegetter(place, f"Alias for field number {place}")

    NamedTuple = type.__new__(_Made, "NamedTuple", (), {})
