"""named: `NamedTuple`, created in an eighth of the time: a command needs thirty at its start.

The class of the module typing makes an object of each annotation, which no one asks for.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from collections import namedtuple

    class _Made(type):
        """Turns the body of a class into a class of the module collections."""

        def __new__(cls, name, bases, body):
            fields = body.get("__annotations__", {})
            defaults = [body[field] for field in fields if field in body]
            made = namedtuple(name, fields, defaults=defaults, module=body["__module__"])
            for word, value in body.items():
                if word not in fields and word not in ("__module__", "__qualname__"):
                    setattr(made, word, value)
            return made

    NamedTuple = type.__new__(_Made, "NamedTuple", (), {})
