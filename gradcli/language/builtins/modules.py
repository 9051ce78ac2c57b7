"""language: Python's modules copy and collections, as far as programs use them."""

from __future__ import annotations

import copy
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

from ...engine.tensors.invented_names import keep_apart
from ..adoption import is_library
from ..calls import call
from ..formatting import quoted
from ..members import TABLES, members_of
from ..operations import DICTS, VIEWS, type_handlers, type_name
from ..session import session
from ..sets import Set
from ..values import NOT_WALKED, Builtin, Instance, Lazy, Namespace, Type
from .containers import make_dict
from .types import OF_LIBRARY

_DEEPEST = 400


def _refuse(value: Any) -> None:
    """What no copy is made of: views, modules, generators. Other iterators have copies in Python;
    the same one in their place would be used up behind the program's back."""
    if type(value) in VIEWS or isinstance(value, Namespace):
        raise TypeError(f"cannot pickle '{type_name(value)}' object")
    if type(value) is Lazy:
        if value.kind in ("generator", *NOT_WALKED):
            raise TypeError(f"cannot pickle '{value.kind}' object")
        raise TypeError(f"a '{value.kind}' can't be copied here")


def _copied(value: Any) -> Any:
    """copy.copy(value)"""
    _refuse(value)
    kind = type(value)
    if kind is list or kind in DICTS or isinstance(value, Set):
        session.budget.charge(len(value) + 1)
        return copy.copy(value)
    if isinstance(value, Instance) and value.kind.enumeration is not None:
        return value
    if isinstance(value, Instance):
        if (own := type_handlers.special(value, "__copy__")) is not None:
            return own()
        other = kind(value.kind)
        write = type_handlers.special(other, "__setstate__")
        (write or other.table.update)(_state_of(value))
        if value.kind.content is not None:
            other.content = _copied(value.content)
        return other
    if isinstance(value, tuple) and kind is not tuple:
        return tuple.__new__(kind, value)
    if not is_library(value):
        return value
    other = copy.copy(value)
    if members_of(value).keeps:
        keep_apart(other)
    return other


def _state_of(value: Instance) -> Any:
    """What a copy of an object of the program's gets: its names, or what __getstate__ says."""
    read = type_handlers.special(value, "__getstate__")
    return value.table if read is None else read()


def deeply_copied(value: Any, *, asking: bool = True) -> Any:
    """copy.deepcopy(value): what is reached on several ways is copied once.

    Where nobody is asked, objects of the program's are copied as they are, as a file keeps them.
    """
    return _Copy({}, asking).of(value, 0)


def _deepcopy(x: Any, memo: Any = None) -> Any:
    """copy.deepcopy(x, memo): each call keeps a memory of its own."""
    return deeply_copied(x)


class _Copy:
    """The copies made so far, by the identity of what they are of."""

    def __init__(self, made: dict[int, Any], asking: bool) -> None:
        self.made, self.asking = made, asking

    def of(self, value: Any, depth: int) -> Any:
        if id(value) in self.made:
            return self.made[id(value)]
        if depth > _DEEPEST:
            raise RecursionError("maximum recursion depth exceeded")
        kind = type(value)
        if isinstance(value, tuple):
            return tuple.__new__(kind, [self.of(item, depth + 1) for item in value])
        if kind is list or kind in DICTS or isinstance(value, Set | Instance):
            return self._container(value, kind, depth + 1)
        _refuse(value)
        return copy.deepcopy(value, self.made) if is_library(value) else value

    def _container(self, value: Any, kind: type, depth: int) -> Any:
        if isinstance(value, Instance):
            if value.kind.enumeration is not None:
                return value  # members are what they are
            own = type_handlers.special(value, "__deepcopy__")
            if own is not None and self.asking:
                made = self.made[id(value)] = own({})
                return made
            other = self.made[id(value)] = kind(value.kind)
            if value.kind.content is not None:
                other.content = self.of(value.content, depth)
            state = _state_of(value) if self.asking else value.table
            state = self.of(state, depth)
            write = type_handlers.special(other, "__setstate__") if self.asking else None
            if write is not None:
                write(state)
            else:
                other.table.update(state)
            return other
        session.budget.charge(len(value) + 1)
        other = self.made[id(value)] = copy.copy(value)
        if kind is list:
            other[:] = [self.of(item, depth) for item in value]
        elif kind in DICTS:
            other.clear()
            for key, item in value.items():
                other[self.of(key, depth)] = self.of(item, depth)
        return other


class _Factory:
    """What a defaultdict calls for a key that it lacks: a value of the language."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self) -> Any:
        return call(self.function, (), {})

    def __repr__(self) -> str:
        return quoted(self.function)


def _make_ordered(*args: Any, **kwargs: Any) -> Any:
    return OrderedDict(make_dict(*args, **kwargs))


TABLES[OrderedDict].methods.update(move_to_end=OrderedDict.move_to_end, popitem=OrderedDict.popitem)
TABLES[defaultdict].properties["default_factory"] = lambda value: getattr(
    value.default_factory, "function", None
)


def _make_default(factory: Any = None, /, *args: Any, **kwargs: Any) -> Any:
    if factory is not None and not isinstance(factory, Type) and not callable(factory):
        raise TypeError("first argument must be callable or None")
    made = None if factory is None else _Factory(factory)
    return defaultdict(made, make_dict(*args, **kwargs))


def _known(name: str, kind: type, make: Callable[..., Any]) -> Type:
    OF_LIBRARY[kind] = made = Type(name, kind, make, "collections")
    return made


_COPY = {"copy": Builtin("copy", _copied), "deepcopy": Builtin("deepcopy", _deepcopy)}
COLLECTIONS = {
    "OrderedDict": _known("OrderedDict", OrderedDict, _make_ordered),
    "defaultdict": _known("defaultdict", defaultdict, _make_default),
}
MODULES = {"copy": _COPY}
