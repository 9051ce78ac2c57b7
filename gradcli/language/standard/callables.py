"""language: functools and operator."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ...engine.tensors.invented_names import kept
from .. import arithmetic
from ..attributes import MISSING, get_attribute, missing
from ..calls import call, is_callable
from ..classes import ClassValue, add_method
from ..classes.instances import Property
from ..formatting import quoted
from ..operations import (
    COMPARE,
    check_key,
    contains,
    delete_item,
    equal,
    get_item,
    iterate,
    length,
    set_item,
    type_name,
)  # fmt: skip
from ..session import session
from ..values import UNBOUND, Builtin, Function, Instance
from .publishing import called, classes, functions
from .records import make_record

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


def _update_wrapper(wrapper: Any, wrapped: Any, *others: Any, **more: Any) -> Any:
    """The name and the text of the wrapped function, and the function itself."""
    if type(wrapped) not in (Function, Builtin):
        return wrapper
    name, doc = get_attribute(wrapped, "__name__"), get_attribute(wrapped, "__doc__")
    if type(wrapper) is Function:
        wrapper.name, wrapper.doc = name, doc
        wrapper.keep("__qualname__", get_attribute(wrapped, "__qualname__"))
        wrapper.keep("__wrapped__", wrapped)
    elif isinstance(wrapper, Instance):
        qualified = get_attribute(wrapped, "__qualname__")
        wrapper.table.update({"__name__": name, "__qualname__": qualified, "__doc__": doc,
                              "__wrapped__": wrapped})  # fmt: skip
    return wrapper


def _wraps(wrapped: Any, **others: Any) -> Builtin:
    return Builtin("wraps", lambda function: _update_wrapper(function, wrapped))


class _Cache:
    """What lru_cache remembers of a function."""

    OFFERS = ("cache_info", "cache_clear")

    def __init__(self, function: Any, most: int | None) -> None:
        self.function, self.most = function, most
        self.known: OrderedDict[Any, Any] = OrderedDict()
        self.hits = self.misses = 0

    def cache_info(self) -> Any:
        return CACHE_INFO.construct(self.hits, self.misses, self.most, len(self.known))

    def cache_clear(self) -> None:
        self.known.clear()
        self.hits = self.misses = 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        key = (args, tuple(kwargs.items()))
        check_key(key)
        session.budget.charge(1)
        if key in self.known:
            self.hits += 1
            self.known.move_to_end(key)
            return self.known[key]
        self.misses += 1
        answer = call(self.function, args, kwargs)
        session.budget.charge_bytes(200)
        self.known[key] = answer
        if self.most is not None and len(self.known) > self.most:
            self.known.popitem(last=False)
        return answer


CACHE_INFO = make_record("CacheInfo", ["hits", "misses", "maxsize", "currsize"], {})


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
    def table_of(owner: Any) -> dict[str, Any]:
        return owner.table if isinstance(owner, Instance) else kept(owner)

    def read(owner: Any) -> Any:
        table = table_of(owner)
        if name not in table:
            table[name] = call(func, (owner,), {})
        return table[name]

    def delete(owner: Any) -> None:
        if table_of(owner).pop(name, MISSING) is MISSING:
            raise missing(owner, name)

    name = func.name if type(func) is Function else type_name(func)
    write = Builtin(name, lambda owner, value: table_of(owner).update({name: value}))
    return Property(Builtin(name, read), write, Builtin(name, delete))


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


# Of a class that has the first comparison: how it answers the others, from it and equality.
_DERIVED: dict[str, dict[str, Callable[[bool, bool], bool]]] = {
    "__lt__": {"__gt__": lambda it, eq: not it and not eq, "__le__": lambda it, eq: it or eq,
               "__ge__": lambda it, eq: not it},
    "__le__": {"__ge__": lambda it, eq: not it or eq, "__lt__": lambda it, eq: it and not eq,
               "__gt__": lambda it, eq: not it},
    "__gt__": {"__lt__": lambda it, eq: not it and not eq, "__ge__": lambda it, eq: it or eq,
               "__le__": lambda it, eq: not it},
    "__ge__": {"__le__": lambda it, eq: not it or eq, "__gt__": lambda it, eq: it and not eq,
               "__lt__": lambda it, eq: not it},
}  # fmt: skip


def _total_ordering(cls: Any) -> Any:
    if not isinstance(cls, ClassValue):
        raise TypeError("total_ordering() needs a class of the program")
    root = next((name for name in _DERIVED if cls.find(name) is not MISSING), None)
    if root is None:
        raise ValueError("must define at least one ordering operation: < > <= >=")
    for name, answer in _DERIVED[root].items():
        if cls.find(name) is MISSING:
            add_method(cls, name, _compared(cls.find(root), answer))
    return cls


def _compared(root: Any, answer: Callable[[bool, bool], bool]) -> Callable[[Any, Any], Any]:
    def run(self: Any, other: Any) -> Any:
        found = call(root, (self, other), {})
        return found if found is NotImplemented else answer(bool(found), equal(self, other))

    return run


FUNCTOOLS = {
    **functions({
        "reduce": _reduce, "wraps": _wraps, "update_wrapper": _update_wrapper,
        "total_ordering": _total_ordering, "lru_cache": _lru_cache,
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
    "concat": arithmetic.BINARY["Add"], "iconcat": arithmetic.IN_PLACE["Add"],

    "call": lambda obj, /, *args, **kwargs: call(obj, args, kwargs),
}  # fmt: skip
MODULES = {
    "operator": {**functions(_OPERATORS), **classes([itemgetter, attrgetter, methodcaller])},
}
