"""language: what a class says of its ancestors: __bases__, __mro__, __subclasses__()."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import namespace
from ..builtins.types import OF_ERRORS, OF_PYTHON, host_type
from ..libraries import publishes
from ..sets import FrozenSet
from ..values import Builtin, Type
from . import OBJECT, ClassValue
from .instances import linear


def bases_of(kind: Any) -> tuple[Any, ...]:
    """kind.__bases__"""
    if isinstance(kind, ClassValue):
        return tuple(map(_in_program, kind.bases)) or (OBJECT,)
    above = tuple(order[0] for order in _orders(kind))
    return above or (() if kind is OBJECT else (OBJECT,))


def _in_program(base: Any) -> Any:
    """`int` for the class that stands for it behind those that build on it."""
    return base.content if isinstance(base, ClassValue) and base.stands_in else base


def mro_of(kind: Any) -> list[Any]:
    """kind.mro()"""
    bases = bases_of(kind)
    return linear(kind, list(bases), [mro_of(base) for base in bases])


def _orders(kind: Any) -> list[list[Any]]:
    """The ancestors of a type of Python or of the library that a program can name, nearest first.

    A row for each base; what lies between two of them is of gradcli's making and is left out.
    """
    host = getattr(kind, "host", None)
    bases = host.__bases__ if isinstance(host, type) else ()
    rows = ([found for part in base.__mro__ if (found := _named(part))] for base in bases)
    return [row for row in rows if row and row[0] is not kind]


def _named(host: type) -> Type | None:
    if host.__name__.startswith("_") or host is object:
        return None
    known = OF_PYTHON.get(host) or OF_ERRORS.get(host)
    if known is not None or not publishes(host):
        return known
    made = host_type(host)
    layer = made.module.startswith("torch.nn.modules")
    return made if not layer or namespace.has(f"nn.{made.name}") else None


ASKED: dict[str, Callable[[Any], Any]] = {
    "__bases__": bases_of,
    "__base__": lambda kind: (*bases_of(kind), None)[0],
    "__mro__": lambda kind: tuple(mro_of(kind)),
    "mro": lambda kind: Builtin("mro", lambda: mro_of(kind)),
    "__subclasses__": lambda kind: Builtin("__subclasses__", lambda: list(kind.below)),
    "__abstractmethods__": lambda kind: FrozenSet(kind.abstract),
}
