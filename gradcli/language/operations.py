"""language: comparison, iteration and subscripts of a program's values, each charged first."""

from __future__ import annotations

import operator
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from ..engine.schema.class_name import name_in_messages
from ..engine.schema.mode import state
from ..engine.tensors.tensor import Tensor
from .costs import (
    COPIED,
    SMALL,
    TEXTS,
    charge_compared,
    charge_keys,
    charge_number,
    charge_text,
    width_of,
)  # fmt: skip
from .session import session
from .sets import FrozenSet, Set
from .values import NOT_WALKED, Instance, Lazy, slice_parts, stands_for

# state_dict() and the state of an optimiser are dicts of these kinds.
DICTS: frozenset[Any] = frozenset({dict, OrderedDict, defaultdict, Counter})
CONTAINERS = DICTS | {list, tuple}
MUTABLE = DICTS | {list}
PLAIN = frozenset({int, float, bool, Tensor, type(None)})  # no way leads from these to other values
KEYS_DEPTH = 200
MOVED = 7  # so many bits of a number of items: a step moves 128 of them
# Bytes that an item takes as one of a list made of these: numbers and letters are made for it.
WEIGHTS: dict[Any, int] = {list: 8, tuple: 8, dict: 8, range: 40, str: 88, bytes: 8}


# ---------------------------------------------------------------- comparison


def equal(a: Any, b: Any) -> Any:
    """a == b. Lists, tuples and dicts are compared here, with a stack and a step for each pair."""
    if type(a) in PLAIN:
        return a == b
    if not (_is_container(a) and _is_container(b)):
        return _leaves_equal(a, b)
    charge = session.budget.charge
    stack = [iter(((a, b),))]
    while stack:
        for x, y in stack[-1]:
            charge(1)
            if x is y:
                continue
            if _is_container(x) and _is_container(y):
                pairs = _pairs(x, y)
                if pairs is None:
                    return False
                stack.append(pairs)
                break
            if not (x == y if type(x) in PLAIN else _leaves_equal(x, y)):
                return False
        else:
            stack.pop()
    return True


def _leaves_equal(a: Any, b: Any) -> Any:
    """a == b for what is no list, tuple or dict."""
    kind = type(a)
    if kind in TEXTS:
        charge_compared(a, b)
    elif kind in VIEWS or type(b) in VIEWS:
        return _compared(operator.eq, a, b)
    elif isinstance(a, Set) and isinstance(b, Set):
        charge_keys(a.items)
        charge_keys(b.items)
    elif kind is slice and type(b) is slice:
        return equal(slice_parts(a), slice_parts(b))
    return a == b


def _is_container(value: Any) -> bool:
    return type(value) in CONTAINERS or isinstance(value, tuple)


def _pairs(a: Any, b: Any) -> Iterator[tuple[Any, Any]] | None:
    """The pairs to compare, or None when the two can't be equal."""
    if len(a) != len(b):
        return None
    if type(a) in DICTS and type(b) in DICTS:
        charge_keys(a)
        charge_keys(b)
        if any(key not in b for key in a):
            return None
        return iter([(value, b[key]) for key, value in a.items()])
    if type(a) in MUTABLE or type(b) in MUTABLE:
        return zip(a, b, strict=True) if type(a) is type(b) else None
    return zip(a, b, strict=True)


def _compared(compare: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """What keys() and items() give compares with sets as a set does."""
    pair = [as_set(x) if type(x) in VIEWS else x for x in (a, b)]
    plain = all(isinstance(x, Set) for x in pair) and "dict_values" not in (
        type(a).__name__, type(b).__name__,
    )  # fmt: skip
    return compare(*pair) if plain else compare(a, b)


def not_equal(a: Any, b: Any) -> Any:
    if _is_container(a) and _is_container(b):
        return not equal(a, b)
    kind = type(a)
    if kind in TEXTS or kind is slice or isinstance(a, Set) or kind in VIEWS or type(b) in VIEWS:
        return not _leaves_equal(a, b)
    return a != b


def _ordered(compare: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def run(a: Any, b: Any) -> Any:
        while (type(a) is list and type(b) is list) or (
            isinstance(a, tuple) and isinstance(b, tuple)
        ):
            session.budget.charge(1)
            for x, y in zip(a, b, strict=False):
                session.budget.charge(1)
                if not (x is y or equal(x, y)):
                    a, b = x, y  # the first difference decides, however deep it lies
                    break
            else:
                return compare(len(a), len(b))
        if type(a) in TEXTS:
            charge_compared(a, b)
        elif type(a) in VIEWS or type(b) in VIEWS:
            return _compared(compare, a, b)
        elif isinstance(a, Set) and isinstance(b, Set):
            charge_keys(a.items)
            charge_keys(b.items)
        return compare(a, b)

    return run


less = _ordered(operator.lt)


def contains(container: Any, item: Any) -> Any:
    """item in container, with a step for each comparison."""
    kind = type(container)
    if kind in TEXTS:
        charge_text(container)
        return stands_for(item) in container
    if kind in DICTS or isinstance(container, Set):
        check_key(item)
        return item in container
    if kind is range and type(item) in (int, bool):
        return item in container
    if kind is range and type(item) is float:
        return item.is_integer() and int(item) in container
    if kind is list or isinstance(container, tuple) or kind is range or kind is Lazy:
        charge = session.budget.charge
        for value in iterate(container):
            charge(1)
            if value is item or equal(value, item):
                return True
        return False
    if kind is Tensor:
        return item in container
    if kind in VIEWS:
        charge = session.budget.charge
        return any(charge(1) or value is item or equal(value, item) for value in container)
    member = type_handlers.contains(container)
    if member is not None:
        return member(container, item)
    walked = type_handlers.iterate(container)
    if walked is None:
        raise TypeError(f"argument of type '{type_name(container)}' is not iterable")
    charge = session.budget.charge
    return any(charge(1) or value is item or equal(value, item) for value in walked)


COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "Eq": equal, "NotEq": not_equal, "Lt": less, "LtE": _ordered(operator.le),
    "Gt": _ordered(operator.gt), "GtE": _ordered(operator.ge), "Is": operator.is_,
    "IsNot": operator.is_not, "In": lambda a, b: contains(b, a),
    "NotIn": lambda a, b: not contains(b, a),
}  # fmt: skip


# ---------------------------------------------------------------- keys, iteration, subscripts

_MADE: tuple[Any, ...] = ({}, OrderedDict())
VIEWS: frozenset[type] = frozenset(
    {type(view) for made in _MADE for view in (made.keys(), made.values(), made.items())}
)


def check_key(value: Any) -> None:
    """Refuse to hash what Python would hash by recursion without a limit."""
    if not isinstance(value, _HASHED_DEEP):
        return
    if type(value) is tuple and len(value) < SMALL:
        for item in value:
            if isinstance(item, _HASHED_DEEP):
                break
        else:
            return
    level = [value]
    for _ in range(KEYS_DEPTH):
        inner: list[Any] = []
        for part in level:
            if type(part) is slice:  # hashable since Python 3.12
                part = slice_parts(part)
            elif len(part) > SMALL:
                session.budget.charge(len(part))
                for item in part:
                    charge_number(item)
            inner.extend([item for item in part if isinstance(item, _HASHED_DEEP)])
            session.budget.charge(len(inner) >> 3)
        if not inner:
            return
        session.budget.charge(len(inner))
        level = inner
    raise RecursionError("maximum recursion depth exceeded while calculating the hash")


_HASHED_DEEP = (tuple, slice)


class TypeHandlers:
    """What the attribute tables know about the types of the library; they fill this in."""

    def __init__(self) -> None:
        self.contains: Callable[[Any], Callable[[Any, Any], Any] | None] = lambda value: None
        self.iterate: Callable[[Any], Iterator[Any] | None] = lambda value: None
        self.get_item: Callable[[Any], Callable[[Any, Any], Any] | None] = lambda value: None
        self.set_item: Callable[[Any], Callable[[Any, Any, Any], Any] | None] = lambda value: None
        self.delete_item: Callable[[Any], Callable[[Any, Any], Any] | None] = lambda value: None
        self.length: Callable[[Any], Callable[[Any], int] | None] = lambda value: None
        self.name: Callable[[Any], str | None] = lambda value: None
        self.enter: Callable[[Any], Callable[..., Any] | None] = lambda value: None
        self.leave: Callable[[Any], Callable[..., Any] | None] = lambda value: None
        # value, "__float__": how an object of a program's class answers, or None
        self.special: Callable[[Any, str], Callable[..., Any] | None] = lambda value, name: None
        # what it has by a special method of the library's classes, or of object
        self.inherited: Callable[[Any, str], Callable[..., Any] | None] = lambda value, name: None
        self.inherited_from: Callable[[Any, str], Any] = lambda kind, name: None
        self.caller: Callable[[Any], Callable[..., Any] | None] = lambda value: None
        # what is unpacked into as many targets as there are: the part that each of them gets
        self.endless: Callable[[Any], Any] = lambda value: None


type_handlers = TypeHandlers()
_OWN: tuple[Any, ...] = (list, tuple, str, bytes, range, Set, FrozenSet, Tensor)
PLAIN_ITERABLES = frozenset(_OWN) | VIEWS | DICTS
SUBSCRIPTABLE = TEXTS | {list, tuple, range, Tensor}


def type_name(value: Any) -> str:
    """The name of a value's type in Python's messages."""
    return type_handlers.name(value) or name_in_messages(type(value))


def iterate(value: Any) -> Iterator[Any]:
    """iter(value) for the values of a program; the caller counts the steps."""
    kind = type(value)
    if kind in PLAIN_ITERABLES:
        return iter(value)
    if kind is Lazy and value.kind not in NOT_WALKED:
        return value.items
    if isinstance(value, tuple):
        return iter(value)
    found = type_handlers.iterate(value)
    if found is None:
        raise TypeError(f"'{type_name(value)}' object is not iterable")
    return found


def collect(value: Any) -> list[Any]:
    """The items of a value as a list, a step each; a known length is charged in front."""
    kind = type(value)
    budget = session.budget
    weight = WEIGHTS.get(kind)
    if weight is not None:
        size = len(value)
        budget.charge_bytes(weight * size)
        budget.charge(size)
        return list(value)
    out = []
    for item in iterate(value):
        budget.charge(1)
        out.append(item)
    return out


def taken(value: Any) -> list[Any]:
    """The same for the host, which has iterators of its own, and goes on in the expression that
    called it."""
    origin = state.origin
    if type(value) is Lazy or not hasattr(type(value), "__next__"):
        found = collect(value)
    else:
        found = collect(Lazy("iterator", value))
    state.origin = origin
    return found


def as_set(items: Any) -> Set:
    return items if isinstance(items, Set) else set_of(items)


def set_of(items: Any = (), /) -> Set:
    out = Set()
    for item in iterate(items):
        session.budget.charge(1)
        check_key(item)
        out.add(item)
    return out


def extend(target: list[Any], value: Any) -> None:
    if type(value) is list or type(value) is tuple:
        session.budget.charge_bytes(8 * len(value))
        session.budget.charge(len(value) >> COPIED)
        target.extend(value)
        return
    for item in iterate(value):
        session.budget.charge(1)
        target.append(item)


def get_item(value: Any, index: Any) -> Any:
    kind = type(value)
    if kind is Tensor:
        return value[index]
    if kind in DICTS:
        if isinstance(index, tuple):
            check_key(index)
        return value[index]
    if kind in SUBSCRIPTABLE or isinstance(value, tuple):
        if type(index) is slice and kind is not range and len(value) > SMALL:
            index = _charged_slice(value, index)
        return value[index]
    found = type_handlers.get_item(value)
    if found is None:
        raise TypeError(f"'{type_name(value)}' object is not subscriptable")
    return found(value, index)


def _charged_slice(value: Any, index: slice) -> slice:
    """The same slice in plain numbers; what it takes is charged."""
    start, stop, step = index.indices(len(value))
    size = len(range(start, stop, step)) * (width_of(value) if type(value) in TEXTS else 8)
    session.budget.charge_bytes(size)
    session.budget.charge(size >> COPIED)
    return slice(start, None if stop < 0 else stop, step)


def set_item(value: Any, index: Any, new: Any) -> None:
    kind = type(value)
    if kind in DICTS:
        if isinstance(index, tuple):
            check_key(index)
        value[index] = new
    elif kind is list and type(index) is slice:
        session.budget.charge(len(value) >> MOVED)
        value[index] = collect(new)
    elif kind is list or kind is Tensor:
        value[index] = new
    else:
        found = type_handlers.set_item(value)
        if found is None:
            raise TypeError(f"'{type_name(value)}' object does not support item assignment")
        found(value, index, new)


def delete_item(value: Any, index: Any) -> None:
    kind = type(value)
    if kind in DICTS and isinstance(index, tuple):
        check_key(index)
    if kind is Tensor:
        raise TypeError("Tensor does not support deleting items")
    if kind is list or kind in DICTS:
        session.budget.charge(len(value) >> MOVED)
        del value[index]
        return
    found = type_handlers.special(value, "__delitem__")
    if found is not None:
        found(index)
        return
    own = type_handlers.delete_item(value)
    if own is None:
        is_sequence = kind in PLAIN_ITERABLES or isinstance(value, (tuple, Instance))
        word = "doesn't" if is_sequence else "does not"
        raise TypeError(f"'{type_name(value)}' object {word} support item deletion")
    own(value, index)


def length(value: Any) -> int:
    kind = type(value)
    if kind in PLAIN_ITERABLES or isinstance(value, tuple):
        return len(value)
    found = type_handlers.length(value)
    if found is None:
        raise TypeError(f"object of type '{type_name(value)}' has no len()")
    return found(value)


def unbound(name: str) -> UnboundLocalError:
    return UnboundLocalError(
        f"cannot access local variable '{name}' where it is not associated with a value"
    )
