"""language: inspect, as far as programs ask what a function or a class can be given; numbers."""

from __future__ import annotations

import inspect
from typing import Any

from ..adoption import adopt
from ..builtins.types import is_class
from ..classes import ClassValue
from ..formatting import quoted
from ..values import Bound, Builtin, Function, Type
from .publishing import classes, functions


def _abstract(module: str, name: str, *host: type) -> Type:
    def construct(*args: Any, **named: Any) -> Any:
        raise TypeError(f"Can't instantiate abstract class {name}")

    return Type(name, host, construct, module)


EMPTY = _abstract("inspect", "_empty")


class Parameter:
    """inspect.Parameter: a name, and the value that it has where none is given."""

    _torch_name = "inspect.Parameter"
    PUBLIC = ("name", "default")
    __slots__ = PUBLIC

    def __init__(self, name: str, default: Any) -> None:
        self.name, self.default = name, default

    def __str__(self) -> str:
        return self.name if self.default is EMPTY else f"{self.name}={quoted(self.default)}"

    def __repr__(self) -> str:
        return f'<Parameter "{self}">'


class Signature:
    """inspect.Signature: the parameters by their names."""

    _torch_name = "inspect.Signature"
    PUBLIC = ("parameters",)
    __slots__ = PUBLIC

    def __init__(self, parameters: dict[str, Any]) -> None:
        self.parameters = {name: Parameter(name, value) for name, value in parameters.items()}


def _of_function(function: Function, *, bound: bool) -> dict[str, Any]:
    each = function.code.parameters
    first = len(each.names) - len(function.defaults)
    found = {
        name: EMPTY if place < first else function.defaults[place - first]
        for place, name in enumerate(each.names)
    }
    if each.any_positional is not None:
        found[each.any_positional] = EMPTY
    for name in each.keyword_only:
        found[name] = function.keyword_defaults.get(name, EMPTY)
    if each.any_keywords is not None:
        found[each.any_keywords] = EMPTY
    if bound and each.names:
        del found[each.names[0]]
    return found


def _of_library(kind: type) -> dict[str, Any]:
    each = inspect.signature(kind).parameters.values()
    return {one.name: EMPTY if one.default is one.empty else adopt(one.default) for one in each}


def signature(obj: Any) -> Signature:
    start = obj.find("__init__") if isinstance(obj, ClassValue) else obj
    if type(start) is Function:
        return Signature(_of_function(start, bound=start is not obj))
    if type(obj) is Bound and type(obj.function) is Function:
        return Signature(_of_function(obj.function, bound=True))
    if type(obj) is Type and isinstance(obj.host, type) and hasattr(obj.host, "PUBLIC"):
        return Signature(_of_library(obj.host))
    if isinstance(obj, ClassValue) and obj.native is None and obj.content is None:
        return Signature({})
    if isinstance(obj, Builtin | Bound | Type | ClassValue):
        raise ValueError(f"no signature found for {quoted(obj)}")
    raise TypeError(f"{quoted(obj)} is not a callable object")


_INSPECT = {
    "signature": signature,
    "isclass": lambda object: is_class(object),
    "isfunction": lambda object: type(object) is Function,
    "ismethod": lambda object: type(object) is Bound and type(object.function) is Function,
}
_NUMBERS = {
    "Number": (int, float, complex), "Complex": (int, float, complex), "Real": (int, float),
    "Rational": (int,), "Integral": (int,),
}  # fmt: skip
MODULES: dict[str, dict[str, Any]] = {
    "inspect": {**functions(_INSPECT), **classes([Signature, Parameter])},
    "numbers": {name: _abstract("numbers", name, *host) for name, host in _NUMBERS.items()},
}
