"""language: the methods of list, tuple, dict, set, range and numbers."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from ...engine.schema.size import Size
from ..attributes import STATICS
from ..calls import call
from ..costs import WALKED, charge_keys, charge_number, charge_sorting
from ..formatting import quoted
from ..libraries import published, publishes
from ..members import TABLES, Members
from ..operations import (
    DICTS,
    MOVED,
    VIEWS,
    check_key,
    collect,
    equal,
    extend,
    get_item,
    iterate,
    less,
    set_of,
)  # fmt: skip
from ..session import session
from ..sets import FrozenSet, Set
from ..values import UNBOUND, Lazy, stands_for
from .arguments import all_named
from .byte_strings import to_bytes

PLAIN_KEYS = frozenset({int, float, bool})


class Ordered:
    """A sort key whose comparisons are ours, so that each is counted."""

    __slots__ = ("key",)

    def __init__(self, key: Any) -> None:
        self.key = key

    def __lt__(self, other: Ordered) -> bool:
        session.budget.charge(1)
        return bool(less(self.key, other.key))


def sort_items(items: list[Any], key: Any = None, reverse: Any = False) -> list[Any]:
    """A sorted copy, stable as Python's."""
    keys = items if key is None else [call(key, (item,), {}) for item in items]
    session.budget.charge(len(items))
    session.budget.charge_bytes(72 * len(items))
    kinds = {type(value) for value in keys}
    if kinds <= PLAIN_KEYS or kinds == {str}:
        charge_sorting(keys, kinds)
        if key is None:
            return sorted(items, reverse=bool(reverse))
        order = sorted(range(len(items)), key=keys.__getitem__, reverse=bool(reverse))
    else:
        wrapped = [Ordered(value) for value in keys]
        order = sorted(range(len(items)), key=wrapped.__getitem__, reverse=bool(reverse))
    return [items[place] for place in order]


def _sort(items: list[Any], *, key: Any = None, reverse: Any = False) -> None:
    items[:] = sort_items(list(items), key, reverse)


def position(items: Any, value: Any, start: int = 0, stop: int | None = None) -> int:
    size = len(items)
    first = max(size + start, 0) if start < 0 else start
    last = size if stop is None else (max(size + stop, 0) if stop < 0 else min(stop, size))
    for place in range(first, last):
        session.budget.charge(1)
        if items[place] is value or equal(items[place], value):
            return place
    raise ValueError(f"{quoted(value)} is not in list")


def _remove(items: list[Any], value: Any) -> None:
    for place, item in enumerate(items):
        session.budget.charge(1)
        if item is value or equal(item, value):
            del items[place]
            return
    raise ValueError("list.remove(x): x not in list")


def _count(items: Any, value: Any) -> int:
    total = 0
    for item in items:
        session.budget.charge(1)
        if item is value or equal(item, value):
            total += 1
    return total


def _copied(method: Callable[..., Any], width: int = 8) -> Callable[..., Any]:
    def run(items: Any) -> Any:
        session.budget.charge_bytes(width * len(items))
        session.budget.charge((len(items) >> WALKED) + 1)
        return method(items)

    return run


def _moving(method: Callable[..., Any]) -> Callable[..., Any]:
    """insert, pop from the front: Python moves the rest."""

    def run(items: list[Any], *args: Any) -> Any:
        session.budget.charge((len(items) >> MOVED) + 1)
        return method(items, *args)

    return run


def _tuple_index(items: Any, value: Any, *bounds: int) -> int:
    for place in range(*slice(*(bounds + (None,) * (2 - len(bounds)))).indices(len(items))[:2]):
        session.budget.charge(1)
        if items[place] is value or equal(items[place], value):
            return place
    raise ValueError("tuple.index(x): x not in tuple")


LIST: dict[str, Callable[..., Any]] = all_named("list", {
    "append": list.append, "extend": extend, "insert": _moving(list.insert),
    "pop": _moving(list.pop), "remove": _remove, "clear": list.clear, "index": position,
    "count": _count, "sort": _sort, "reverse": _copied(list.reverse), "copy": _copied(list.copy),
})  # fmt: skip
TUPLE: dict[str, Callable[..., Any]] = all_named("tuple", {
    "count": _count, "index": _tuple_index,
})  # fmt: skip


# ---------------------------------------------------------------- dict


def make_dict(*args: Any, **kwargs: Any) -> dict[Any, Any]:
    if len(args) > 1:
        raise TypeError(f"dict expected at most 1 argument, got {len(args)}")
    out: dict[Any, Any] = {}
    if args:
        update(out, args[0])
    out.update(kwargs)
    return out


def as_mapping(value: Any) -> Any:
    """What two stars unpack: a dictionary, or a ModuleDict and its like as one; None else."""
    value = stands_for(value)
    if type(value) in DICTS:
        return value
    own = publishes(type(value)) and "keys" in published(type(value))
    return make_dict(value) if own else None


def update(target: dict[Any, Any], *sources: Any, **kwargs: Any) -> None:
    for source in map(stands_for, sources):
        if type(source) in DICTS:
            charge_keys(source)
            target.update(source)
            continue
        if publishes(type(source)) and "keys" in published(type(source)):
            for key in collect(source.keys()):
                target[key] = get_item(source, key)
            continue
        for place, pair in enumerate(iterate(source)):
            session.budget.charge(1)
            try:
                items = collect(pair)
            except TypeError:
                raise TypeError(
                    f"cannot convert dictionary update sequence element #{place} to a sequence"
                ) from None
            if len(items) != 2:
                raise ValueError(
                    f"dictionary update sequence element #{place} has length {len(items)}; "
                    "2 is required"
                )
            check_key(items[0])
            target[items[0]] = items[1]
    target.update(kwargs)


def _keyed(method: Callable[..., Any]) -> Callable[..., Any]:
    def run(target: Any, key: Any, *rest: Any) -> Any:
        check_key(key)
        return method(target, key, *rest)

    return run


def _from_keys(keys: Any, value: Any = None) -> dict[Any, Any]:
    out: dict[Any, Any] = {}
    for key in collect(keys):
        check_key(key)
        out[key] = value
    return out


DICT: dict[str, Callable[..., Any]] = all_named("dict", {
    "get": _keyed(dict.get), "pop": _keyed(dict.pop), "setdefault": _keyed(dict.setdefault),
    "keys": dict.keys, "values": dict.values, "items": dict.items, "update": update,
    "clear": dict.clear, "copy": _copied(dict.copy, 104), "popitem": dict.popitem,
})  # fmt: skip
STATICS["dict", "fromkeys"] = _from_keys


# ---------------------------------------------------------------- set


def make_frozenset(items: Any = (), /) -> FrozenSet:
    return items if type(items) is FrozenSet else FrozenSet(set_of(items))


def _set_add(target: Set, item: Any) -> None:
    check_key(item)
    target.add(item)


def _set_update(target: Set, *others: Any) -> None:
    for other in others:
        for item in set_of(other):
            target.add(item)


def _discard(target: Set, item: Any) -> None:
    check_key(item)
    if item in target.items:
        target.drop(item)


def _set_remove(target: Set, item: Any) -> None:
    check_key(item)
    if item not in target.items:
        raise KeyError(item)
    target.drop(item)


def _set_pop(target: Set) -> Any:
    for item in target:
        target.drop(item)
        return item
    raise KeyError("pop from an empty set")


def _with_others(combine: Callable[[Set, Set], Any]) -> Callable[..., Any]:
    def run(target: Set, *others: Any) -> Any:
        charge_keys(target.items)
        for other in others:
            other = other if isinstance(other, Set) else set_of(other)
            charge_keys(other.items)
            target = combine(target, other)
        return target

    return run


SET: dict[str, Callable[..., Any]] = all_named("set", {
    "add": _set_add, "update": _set_update, "discard": _discard, "remove": _set_remove,
    "pop": _set_pop, "clear": Set.clear,
    "copy": lambda target: target | type(target)(), "union": _with_others(lambda a, b: a | b),
    "intersection": _with_others(lambda a, b: a & b),
    "difference": _with_others(lambda a, b: a - b),
    "symmetric_difference": _with_others(lambda a, b: a ^ b),
    "issubset": _with_others(lambda a, b: a <= b), "issuperset": _with_others(lambda a, b: a >= b),
    "isdisjoint": _with_others(lambda a, b: not a & b),
})  # fmt: skip


# ---------------------------------------------------------------- numbers


def _of_number(method: Callable[[int], Any]) -> Callable[[int], Any]:
    def run(value: int, /) -> Any:
        charge_number(value)
        return method(value)

    return run


def _parts(names: str) -> dict[str, Callable[[Any], Any]]:
    return {name: attrgetter(name) for name in names.split()}


def reduce_lazy(item: Lazy, default: Any = UNBOUND) -> Any:
    """next(item) or next(item, default)"""
    if item.kind == "coroutine":
        raise TypeError("'coroutine' object is not an iterator")
    session.budget.charge(1)
    return next(item.items) if default is UNBOUND else next(item.items, default)


def _elements(size: Size) -> int:
    session.budget.charge(len(size) * len(size) >> WALKED)  # a product of as many words as factors
    return size.numel()


TABLES[list] = Members(LIST)
TABLES[tuple] = Members(TUPLE)
TABLES[Size] = Members({**TUPLE, "numel": _elements})
for _kind in DICTS:
    TABLES[_kind] = Members(
        {
            **DICT,
            "fromkeys": lambda target, *args: _from_keys(*args),
            "keys": _kind.keys,
            "values": _kind.values,
            "items": _kind.items,
        }
    )
TABLES[Set] = Members(SET)
TABLES[FrozenSet] = Members(all_named("frozenset", {name: SET[name] for name in (
    "copy union intersection difference symmetric_difference issubset issuperset isdisjoint".split()
)}))  # fmt: skip
TABLES[range] = Members(
    {"index": position, "count": lambda items, value: _count(items, value)},
    _parts("start stop step"),
)
TABLES[int] = TABLES[bool] = Members(
    {"bit_length": int.bit_length, "conjugate": int.conjugate,
     "to_bytes": to_bytes,
     "bit_count": _of_number(int.bit_count), "as_integer_ratio": _of_number(int.as_integer_ratio)},
    _parts("real imag numerator denominator"),
)  # fmt: skip
TABLES[float] = Members(
    {"is_integer": float.is_integer, "hex": float.hex, "conjugate": float.conjugate,
     "as_integer_ratio": float.as_integer_ratio},
    _parts("real imag"),
)  # fmt: skip
TABLES[complex] = Members({"conjugate": complex.conjugate}, _parts("real imag"))
for _view in VIEWS:
    TABLES[_view] = Members({"isdisjoint": lambda view, other: not set_of(view) & set_of(other)})
