"""language: functools and operator."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ...engine.invented_names import kept
from .. import arithmetic
from ..attributes import get_attribute
from ..calls import call, is_callable
from ..classes import Property
from ..formatting import quoted
from ..operations import (
    COMPARE,
    check_key,
    contains,
    delete_item,
    get_item,
    iterate,
    length,
    set_item,
    type_name,
)  # fmt: skip
from ..session import session
from ..values import UNBOUND, Builtin, Function, Instance
from .published import called, classes, functions

# ---------------------------------------------------------------- functools


def _reduce(function: Any, iterable: Any, initial: Any = UNBOUND, /) -> Any:
    total = initial
    for item in iterate(iterable):
        session.budget.charge(1)
        total = item if total is UNBOUND else call(function, (total, item), {})
    if total is UNBOUND:
        raise TypeError("reduce() of empty iterable with no initial value")
    return total


class partial:
    """functools.partial: a function with some of its arguments."""

    _torch_name = "functools.partial"
    PUBLIC = ("func", "args", "keywords")
    __slots__ = ("args", "func", "keywords", "__weakref__")

    def __init__(self, func: Any, /, *args: Any, **keywords: Any) -> None:
        if not is_callable(func):
            raise TypeError("the first argument must be callable")
        self.func, self.args, self.keywords = func, args, keywords

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        session.budget.enter()  # one may hold another, and that one the next
        try:
            return call(self.func, (*self.args, *args), {**self.keywords, **keywords})
        finally:
            session.budget.depth -= 1

    def __repr__(self) -> str:
        parts = [quoted(value) for value in (self.func, *self.args)]
        parts += [f"{name}={quoted(value)}" for name, value in self.keywords.items()]
        return f"functools.partial({', '.join(parts)})"


def _wraps(wrapped: Any, **others: Any) -> Builtin:
    def name_it(function: Any) -> Any:
        if type(function) is Function and type(wrapped) in (Function, Builtin):
            function.name = wrapped.name
            function.doc = wrapped.doc if type(wrapped) is Function else None
            function.keep("__wrapped__", wrapped)
        return function

    return Builtin("wraps", name_it)


class _Cache:
    """What lru_cache remembers of a function."""

    def __init__(self, function: Any, most: int | None) -> None:
        self.function, self.most = function, most
        self.known: OrderedDict[Any, Any] = OrderedDict()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        key = (args, tuple(kwargs.items()))
        check_key(key)
        session.budget.charge(1)
        if key in self.known:
            self.known.move_to_end(key)
            return self.known[key]
        answer = call(self.function, args, kwargs)
        session.budget.charge_bytes(200)
        self.known[key] = answer
        if self.most is not None and len(self.known) > self.most:
            self.known.popitem(last=False)
        return answer


def _remembering(function: Any, most: int | None) -> Builtin:
    name = function.name if type(function) is Function else "function"
    wraps = function if type(function) is Function else None
    return Builtin(name, _Cache(function, most), f"<function {name}>", wraps)


def _lru_cache(maxsize: Any = 128, typed: Any = False) -> Any:
    if is_callable(maxsize):
        return _remembering(maxsize, 128)
    most = None if maxsize is None else max(int(maxsize), 0)
    return Builtin("lru_cache", lambda function: _remembering(function, most))


def _cached_property(func: Any) -> Property:
    def read(owner: Any) -> Any:
        table = owner.table if isinstance(owner, Instance) else kept(owner)
        if name not in table:
            table[name] = call(func, (owner,), {})
        return table[name]

    name = f"cached {func.name if type(func) is Function else type_name(func)}"
    return Property(Builtin(name, read))


@called("functools.KeyWrapper")
class Compared:
    """functools.cmp_to_key: a key whose order a function decides."""

    _torch_name = "functools.KeyWrapper"
    PUBLIC = ("obj",)
    __slots__ = ("compare", "obj")

    def __init__(self, compare: Any, obj: Any) -> None:
        self.compare, self.obj = compare, obj

    def __lt__(self, other: Any) -> bool:
        if type(other) is not Compared:
            return NotImplemented
        return bool(COMPARE["Lt"](call(self.compare, (self.obj, other.obj), {}), 0))


def _cmp_to_key(mycmp: Any) -> Builtin:
    return Builtin("K", lambda obj: Compared(mycmp, obj))


FUNCTOOLS = {
    **functions({
        "reduce": _reduce, "wraps": _wraps, "lru_cache": _lru_cache,
        "cache": lambda function: _remembering(function, None), "cmp_to_key": _cmp_to_key,
    }),
    "cached_property": Builtin("cached_property", _cached_property),
    **classes([partial]),
}  # fmt: skip

# ---------------------------------------------------------------- operator


class itemgetter:
    _torch_name = "operator.itemgetter"
    PUBLIC = ()
    __slots__ = ("items",)

    def __init__(self, item: Any, *items: Any) -> None:
        self.items = (item, *items)

    def __call__(self, obj: Any) -> Any:
        found = tuple([get_item(obj, item) for item in self.items])
        return found[0] if len(found) == 1 else found


class attrgetter:
    _torch_name = "operator.attrgetter"
    PUBLIC = ()
    __slots__ = ("paths",)

    def __init__(self, attr: str, *attrs: str) -> None:
        for path in (attr, *attrs):
            if type(path) is not str:
                raise TypeError("attribute name must be a string")
        self.paths = (attr, *attrs)

    def __call__(self, obj: Any) -> Any:
        found = []
        for path in self.paths:
            value = obj
            for name in path.split("."):
                value = get_attribute(value, name)
            found.append(value)
        return found[0] if len(found) == 1 else tuple(found)


class methodcaller:
    _torch_name = "operator.methodcaller"
    PUBLIC = ()
    __slots__ = ("args", "kwargs", "name")

    def __init__(self, name: str, /, *args: Any, **kwargs: Any) -> None:
        if type(name) is not str:
            raise TypeError("method name must be a string")
        self.name, self.args, self.kwargs = name, args, kwargs

    def __call__(self, obj: Any) -> Any:
        return call(get_attribute(obj, self.name), self.args, self.kwargs)


def _index(value: Any) -> int:
    if type(value) not in (int, bool):
        raise TypeError(f"'{type_name(value)}' object cannot be interpreted as an integer")
    return int(value)


BINARY = {
    "add": "Add", "sub": "Sub", "mul": "Mult", "truediv": "Div", "floordiv": "FloorDiv",
    "mod": "Mod", "pow": "Pow", "matmul": "MatMult", "and_": "BitAnd", "or_": "BitOr",
    "xor": "BitXor", "lshift": "LShift", "rshift": "RShift",
}  # fmt: skip
UNARY = {"neg": "USub", "pos": "UAdd", "invert": "Invert", "not_": "Not"}
COMPARED = {"eq": "Eq", "ne": "NotEq", "lt": "Lt", "le": "LtE", "gt": "Gt", "ge": "GtE",
            "is_": "Is", "is_not": "IsNot"}  # fmt: skip
_OPERATORS: dict[str, Callable[..., Any]] = {
    **{name: arithmetic.BINARY[word] for name, word in BINARY.items()},
    **{f"i{name.rstrip('_')}": arithmetic.IN_PLACE[word] for name, word in BINARY.items()},
    **{name: arithmetic.UNARY[word] for name, word in UNARY.items()},
    **{name: COMPARE[word] for name, word in COMPARED.items()},
    "abs": abs, "truth": bool, "index": _index, "contains": contains, "getitem": get_item,
    "setitem": set_item, "delitem": delete_item, "length_hint": length,
    "concat": arithmetic.BINARY["Add"],
}  # fmt: skip
MODULES = {
    "functools": FUNCTOOLS,
    "operator": {**functions(_OPERATORS), **classes([itemgetter, attrgetter, methodcaller])},
}
