"""language: builtins that iterate: range, zip, map, sum, min, sorted, any ..."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import repeat, starmap, takewhile
from typing import Any

from ...engine.schema.mode import state
from ...engine.tensors.tensor import Tensor
from ..arithmetic import add
from ..attributes import PROTOCOLS
from ..calls import call, is_callable
from ..members import TABLES, Members
from ..operations import (
    COMPARE,
    DICTS,
    VIEWS,
    collect,
    equal,
    iterate,
    length,
    less,
    set_of,
    type_handlers,
    type_name,
)  # fmt: skip
from ..session import session
from ..sets import FrozenSet, Set
from ..values import NOT_WALKED, UNBOUND, Lazy, Type, stepwise
from .containers import make_dict, make_frozenset, reduce_lazy, sort_items
from .errors import name_of, to_raise
from .types import CONSTRUCT


def make_range(*args: Any) -> range:
    return range(*[_index(value) for value in args])


def _index(value: Any) -> Any:
    if type(value) in (int, bool):
        return value
    if hasattr(type(value), "__index__"):
        return value.__index__()
    raise TypeError(f"'{type_name(value)}' object cannot be interpreted as an integer")


def make_list(items: Any = (), /) -> list[Any]:
    return collect(items)


def make_tuple(items: Any = (), /) -> tuple[Any, ...]:
    return tuple(collect(items))


def make_enumerate(iterable: Any, start: Any = 0) -> Lazy:
    return Lazy("enumerate", enumerate(stepwise(iterate(iterable)), _index(start)))


def make_zip(*iterables: Any, strict: Any = False) -> Lazy:
    walked = [stepwise(iterate(iterable)) for iterable in iterables]
    return Lazy("zip", zip(*walked, strict=bool(strict)))


def make_map(function: Any, /, *iterables: Any) -> Lazy:
    if not iterables:
        raise TypeError("map() must have at least two arguments.")
    walked = [stepwise(iterate(iterable)) for iterable in iterables]

    def items() -> Iterator[Any]:
        for args in zip(*walked, strict=False):
            yield call(function, args, {})

    return Lazy("map", items())


def make_filter(function: Any, iterable: Any, /) -> Lazy:
    walked = stepwise(iterate(iterable))

    def items() -> Iterator[Any]:
        for item in walked:
            if item if function is None else call(function, (item,), {}):
                yield item

    return Lazy("filter", items())


REVERSED: dict[type, str] = {
    list: "list_reverseiterator", range: "range_iterator", dict: "dict_reversekeyiterator",
}  # fmt: skip


def make_reversed(items: Any, /) -> Any:
    kind = type(items)
    if kind is Tensor:
        return items.flip(0) if items.dim() else items
    special = type_handlers.special(items, "__reversed__")
    if special is not None:
        return Lazy("iterator", iterate(special()))
    if kind in (list, str, bytes, range, *DICTS, *VIEWS) or isinstance(items, tuple):
        return Lazy(REVERSED.get(kind, "reversed"), stepwise(reversed(items)))
    if type_handlers.length(items) is None:
        raise TypeError(f"'{type_name(items)}' object is not reversible")
    return Lazy("reversed", stepwise(reversed(collect(items))))


def sum_items(iterable: Any, /, start: Any = 0) -> Any:
    if type(start) is str:
        raise TypeError("sum() can't sum strings [use ''.join(seq) instead]")
    total = start
    budget = session.budget
    origin = state.origin
    for item in iterate(iterable):
        budget.fuel -= 1
        if budget.fuel < 0:
            budget.refill()
        state.origin = origin  # a generator's item was made in an expression of its own
        total = add(total, item)
    return total


def _best(name: str, better: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def run(*args: Any, key: Any = None, default: Any = UNBOUND) -> Any:
        if not args:
            raise TypeError(f"{name} expected at least 1 argument, got 0")
        if len(args) > 1 and default is not UNBOUND:
            raise TypeError(
                f"Cannot specify a default for {name}() with multiple positional arguments"
            )
        best = best_key = UNBOUND
        for item in iterate(args[0]) if len(args) == 1 else args:
            session.budget.charge(1)
            value = item if key is None else call(key, (item,), {})
            if best_key is UNBOUND or better(value, best_key):
                best, best_key = item, value
        if best is UNBOUND:
            if default is UNBOUND:
                raise ValueError(f"{name}() arg is an empty sequence")
            return default
        return best

    return run


def all_items(iterable: Any, /) -> bool:
    for item in iterate(iterable):
        session.budget.charge(1)
        if not item:
            return False
    return True


def any_items(iterable: Any, /) -> bool:
    for item in iterate(iterable):
        session.budget.charge(1)
        if item:
            return True
    return False


def sorted_items(iterable: Any, /, *, key: Any = None, reverse: Any = False) -> list[Any]:
    return sort_items(collect(iterable), key, reverse)


ITERATORS: dict[type, str] = {
    list: "list_iterator", tuple: "tuple_iterator", range: "range_iterator", Set: "set_iterator",
    dict: "dict_keyiterator", FrozenSet: "set_iterator",
}  # fmt: skip


def make_iterator(value: Any, sentinel: Any = UNBOUND, /) -> Lazy:
    if sentinel is not UNBOUND:
        if not is_callable(value):
            raise TypeError("iter(v, w): v must be callable")
        answers = starmap(call, repeat((value, (), {})))
        return Lazy("callable_iterator", takewhile(lambda one: not equal(one, sentinel), answers))
    kind = type(value)
    if kind is Lazy and value.kind not in NOT_WALKED:
        return value
    name = ITERATORS.get(kind, "iterator")
    if kind is str:
        name = type(iter(value)).__name__
    elif kind in VIEWS:
        name = kind.__name__.removesuffix("s") + "iterator"
    return Lazy(name, iterate(value))


def next_item(item: Any, default: Any = UNBOUND, /) -> Any:
    if type(item) is Lazy and item.kind not in NOT_WALKED:
        return reduce_lazy(item, default)
    special = type_handlers.special(item, "__next__")
    if special is None:
        raise TypeError(f"'{type_name(item)}' object is not an iterator")
    try:
        return special()
    except Exception as error:
        if default is UNBOUND or name_of(error) != "StopIteration":
            raise
        return default


def callable_(value: Any, /) -> bool:
    return is_callable(value)


def length_of(value: Any, /) -> int:
    return length(value)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "len": length_of, "sum": sum_items, "min": _best("min", less),
    "max": _best("max", COMPARE["Gt"]), "all": all_items, "any": any_items,
    "sorted": sorted_items, "iter": make_iterator, "next": next_item, "callable": callable_,
}  # fmt: skip
CONSTRUCT.update({
    "range": make_range, "list": make_list, "tuple": make_tuple, "dict": make_dict,
    "set": set_of, "frozenset": make_frozenset, "enumerate": make_enumerate,
    "zip": make_zip, "map": make_map, "filter": make_filter, "reversed": make_reversed,
})  # fmt: skip
LAZY_TYPES = {
    name: Type(name, Lazy, CONSTRUCT[name])
    for name in ("enumerate", "zip", "map", "filter", "reversed")
}


# ---------------------------------------------------------------- generators


def _send(generator: Lazy, value: Any, /) -> Any:
    """generator.send(value): what its yield gives, and the next item."""
    session.budget.charge(1)
    if not hasattr(generator.items, "send") or generator.kind == "async_generator":
        raise AttributeError(f"'{generator.kind}' object has no attribute 'send'")
    return generator.steps().send(value)  # type: ignore[attr-defined]


def _throw(generator: Lazy, error: Any, /) -> Any:
    """generator.throw(error): the error is raised at its yield; gives the next item."""
    session.budget.charge(1)
    if not hasattr(generator.items, "throw") or generator.kind == "async_generator":
        raise AttributeError(f"'{generator.kind}' object has no attribute 'throw'")
    return generator.items.throw(to_raise(error))


def _close(generator: Lazy) -> None:
    """generator.close(): a GeneratorExit at its yield, which it lets pass or ends on."""
    if hasattr(generator.items, "close"):
        generator.items.close()


TABLES[Lazy] = Members({
    "send": _send, "throw": _throw, "close": _close, "__next__": lambda item: next_item(item),
    "__iter__": lambda item: item,
})  # fmt: skip
PROTOCOLS["__iter__"] = lambda value: make_iterator(value)
