"""language: the closed list of types that a value may have, and how results become values.

What the library returns, yields, stores under a published name or gives to a program's function
passes `adopt`: it is a value of the list already, or is made into one, containers inside out. A
type that is not listed is a defect of gradcli, never a value.
"""

from __future__ import annotations

import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from typing import Any

from numpy import generic

from ..defects import Defect
from ..engine.graph.hooks import RemovableHandle
from ..engine.graph.node import Node
from ..engine.memory.device import Device
from ..engine.schema.catalogue import Function as Operator
from ..engine.schema.dtypes import DType
from ..engine.schema.mode import stepped
from ..engine.schema.size import Size
from ..engine.tensors.tensor import Tensor
from ..engine.tensors.tensor_type import Layout, MemoryFormat
from .annotations import Annotation
from .libraries import HOMES, TENSORS, publishes
from .operations import VIEWS
from .sets import FrozenSet, Set
from .values import (
    CALLER,
    Bound,
    Builtin,
    ErrorValue,
    Function,
    Instance,
    Lazy,
    Namespace,
    Plain,
    Type,
    stands_for,
)

# ---------------------------------------------------------------- the closed list

PLAIN = frozenset({
    type(None), bool, int, float, complex, str, bytes, type(...), range, slice, Size, DType, Device,
    type(NotImplemented), Layout, MemoryFormat,
})  # fmt: skip
# Exact types of values; rooms that make further ones add them.
VALUES: set[type] = {
    *PLAIN, Tensor, RemovableHandle, Annotation, Bound, Builtin, ErrorValue, FrozenSet,
    Function, Lazy, Namespace, Plain, Set, Type,
    *VIEWS,
}  # fmt: skip
# Beneath these a class makes values too.
BENEATH: tuple[type, ...] = (Tensor, Node, Instance)


def is_value_type(kind: type) -> bool:
    """Is an object of exactly this type a value, whatever is in it?"""
    if kind in VALUES:
        return True
    if issubclass(kind, BENEATH) or publishes(kind) or any(known(kind) for known in KNOWN):
        VALUES.add(kind)
        return True
    return False


KNOWN: list[Callable[[type], bool]] = []  # other libraries say which of their types are values


def is_plain(value: Any) -> bool:
    """Numbers, words, tensors, and lists or tuples of them: nothing that could be called."""
    pending, seen = [value], 0
    while pending:
        item = pending.pop()
        kind = type(item)
        if kind is list or kind is tuple:
            seen += len(item)
            if seen > _MOST_PLAIN:
                return False
            pending.extend(item)
        elif kind not in PLAIN and kind not in TENSORS:
            return False
    return True


_MOST_PLAIN = 10_000


# ---------------------------------------------------------------- results


def adopt(value: Any) -> Any:
    """A result of the library as a value of the language."""
    kind = type(value)
    if kind in VALUES:
        return value
    make = ADOPTERS.get(kind)
    if make is not None:
        return make(value)
    if is_value_type(kind):
        return value
    for base, make in FAMILIES:
        if issubclass(kind, base):
            ADOPTERS[kind] = make
            return make(value)
    raise Defect(f"a program was about to get an object of the type {kind.__qualname__}")


def _items(value: Any) -> Any:
    """A list as it is, when all in it are values; else a new one."""
    if VALUES.issuperset(map(type, value)):
        return value
    items = [adopt(item) for item in value]
    return value if all(a is b for a, b in zip(items, value, strict=True)) else items


def _tuple(value: Any) -> Any:
    return value if VALUES.issuperset(map(type, value)) else tuple([adopt(item) for item in value])


def _named_tuple(value: Any) -> Any:
    items = _tuple(tuple(value))
    return value if items == tuple(value) else type(value)(*items)


def _dict(value: Any) -> Any:
    """Of the keys and the values the same as of a list; an optimiser's own dictionary stays its."""
    if VALUES.issuperset(map(type, value.values())) and VALUES.issuperset(map(type, value)):
        return value
    for key, item in list(value.items()):
        adopted = adopt(item)
        if adopt(key) is not key:
            raise Defect(f"a dictionary has a key of the type {type(key).__qualname__}")
        if adopted is not item:
            value[key] = adopted
    return value


def _function(value: Any) -> Any:
    wrapped = getattr(value, "__wrapped__", None)
    if type(wrapped) is Function:
        return Builtin(wrapped.name, adopting(value), _function_text(wrapped.code), wrapped)
    return Builtin(value.__name__, adopting(value), _function_text(value))


def _operator(value: Operator) -> Any:
    return Builtin(value.name, adopting(value), f"<function {value.name}>")


def _function_text(function: Any) -> str:
    name = getattr(function, "qualified", None) or getattr(function, "__qualname__", "function")
    return f"<function {name}>"


def _iterator(kind: str) -> Callable[[Any], Lazy]:
    return lambda value: Lazy(kind, map(adopt, value))


def _generator(value: Any) -> Lazy:
    """A decorated generator of the program gives values already, and takes what is sent."""
    items = value if value.gi_code is stepped.__code__ else map(adopt, value)
    return Lazy("generator", items, value.__qualname__)


def adopting(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the library whose result is a value."""

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return adopt(function(*args, **kwargs))
        except (TypeError, RuntimeError):
            plain = [*map(stands_for, args)]  # for the library, a member is its number or text
            if all(mine is given for mine, given in zip(plain, args, strict=True)):
                raise
        return adopt(function(*plain, **kwargs))

    return call


ADOPTERS: dict[type, Callable[[Any], Any]] = {
    list: _items, tuple: _tuple, deque: lambda value: _items(list(value)),
    dict: _dict, OrderedDict: _dict, defaultdict: _dict, Counter: _dict,
    set: lambda value: Set(map(adopt, value)),
    frozenset: lambda value: FrozenSet(map(adopt, value)),
    types.FunctionType: _function, types.MethodType: _function,
    types.BuiltinFunctionType: _function,
    zip: _iterator("zip"), map: _iterator("map"), filter: _iterator("filter"),
    enumerate: _iterator("enumerate"), types.GeneratorType: _generator,
}  # fmt: skip
# The same for all types beneath these.
FAMILIES: list[tuple[type, Callable[[Any], Any]]] = [
    (tuple, _named_tuple), (Iterator, _iterator("generator")),
    (Operator, _operator), (generic, lambda value: adopt(value.item())),
]  # fmt: skip


def is_library(value: Any) -> bool:
    """An object that a class of the engine, nn, optim or autograd made, or a program's module."""
    kind = type(value)
    known = _LIBRARY.get(kind)
    if known is None:
        homes = [base.__module__ for base in kind.__mro__]
        known = _LIBRARY[kind] = any(
            f"{home}.".startswith(tuple(HOMES))
            and (home.startswith(STANDARD) or not home.startswith("gradcli.language."))
            for home in homes
        )
    return known


_LIBRARY: dict[type, bool] = {}
STANDARD = "gradcli.language.standard."  # Python's modules, whose classes are the library's as well
CALLER.adopt = adopt
