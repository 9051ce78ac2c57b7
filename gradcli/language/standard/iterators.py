"""language: itertools: iterators whose every item is a step."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from ..arithmetic import add
from ..attributes import STATICS
from ..calls import call
from ..operations import collect, equal, iterate
from ..session import session
from ..values import UNBOUND, Lazy, Type, stepwise


def _walk(items: Any) -> Iterator[Any]:
    return stepwise(iterate(items))


def _truth(value: Any) -> bool:
    return bool(value)


def _count(start: Any = 0, step: Any = 1) -> Iterator[Any]:
    value = start
    while True:
        yield value
        value = add(value, step)


def _cycle(iterable: Any) -> Iterator[Any]:
    kept = []
    for item in _walk(iterable):
        kept.append(item)
        yield item
    while kept:
        yield from kept


def _repeat(object: Any, times: Any = None) -> Iterator[Any]:
    return itertools.repeat(object) if times is None else itertools.repeat(object, times)


def _chain(*iterables: Any) -> Iterator[Any]:
    return _chained(iter(iterables))


def _chained(iterables: Iterator[Any]) -> Iterator[Any]:
    for items in iterables:
        yield from _walk(items)


def _accumulate(iterable: Any, func: Any = None, *, initial: Any = None) -> Iterator[Any]:
    walked = _walk(iterable)
    total = next(walked, UNBOUND) if initial is None else initial
    if total is UNBOUND:
        return
    yield total
    for item in walked:
        total = add(total, item) if func is None else call(func, (total, item), {})
        yield total


def _product(*iterables: Any, repeat: int = 1) -> Iterator[Any]:
    pools = [collect(items) for items in iterables]
    session.budget.charge_bytes(8 * len(pools) * max(repeat, 0))
    return itertools.product(*pools, repeat=repeat)


def _chosen(choose: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
    def run(iterable: Any, *r: Any, **named: Any) -> Iterator[Any]:
        pool = collect(iterable)
        size = (*r, *named.values(), len(pool))[0]
        if type(size) is int and size > 0:
            session.budget.charge_bytes(24 * size)
        for items in choose(pool, *r, **named):
            session.budget.charge(len(items) >> 3)
            yield items

    return run


def _islice(iterable: Any, *bounds: Any) -> Iterator[Any]:
    return itertools.islice(_walk(iterable), *bounds)


def _take_while(predicate: Any, iterable: Any) -> Iterator[Any]:
    for item in _walk(iterable):
        if not _truth(call(predicate, (item,), {})):
            return
        yield item


def _drop_while(predicate: Any, iterable: Any) -> Iterator[Any]:
    walked = _walk(iterable)
    for item in walked:
        if not _truth(call(predicate, (item,), {})):
            yield item
            break
    yield from walked


def _filter_false(predicate: Any, iterable: Any) -> Iterator[Any]:
    for item in _walk(iterable):
        if not _truth(item if predicate is None else call(predicate, (item,), {})):
            yield item


def _star_map(function: Any, iterable: Any) -> Iterator[Any]:
    for item in _walk(iterable):
        yield call(function, tuple(collect(item)), {})


def _group_by(iterable: Any, key: Any = None) -> Iterator[Any]:
    """As Python's: the group is over when the next key is requested."""
    walked = _walk(iterable)
    ahead: list[Any] = []

    def following() -> bool:
        item = next(walked, UNBOUND)
        if item is not UNBOUND:
            ahead.append((item if key is None else call(key, (item,), {}), item))
        return bool(ahead)

    def group(of: Any) -> Iterator[Any]:
        while ahead and equal(ahead[0][0], of):
            yield ahead.pop()[1]
            following()

    following()
    while ahead:
        current = ahead[0][0]
        yield current, Lazy("itertools._grouper", group(current))
        while ahead and equal(ahead[0][0], current):
            ahead.pop()
            following()


def _tee(iterable: Any, n: int = 2) -> tuple[Any, ...]:
    session.budget.charge_bytes(64 * max(n, 0))
    return tuple(Lazy("itertools._tee", part) for part in itertools.tee(_walk(iterable), n))


def _zip_longest(*iterables: Any, fillvalue: Any = None) -> Iterator[Any]:
    walked = [_walk(items) for items in iterables]
    return itertools.zip_longest(*walked, fillvalue=fillvalue)


def _pairwise(iterable: Any) -> Iterator[Any]:
    return itertools.pairwise(_walk(iterable))


def _compress(data: Any, selectors: Any) -> Iterator[Any]:
    for item, chosen in zip(_walk(data), _walk(selectors), strict=False):
        if _truth(chosen):
            yield item


def _batched(iterable: Any, n: int) -> Iterator[Any]:
    if n < 1:
        raise ValueError("n must be at least one")
    walked = _walk(iterable)
    while batch := tuple(itertools.islice(walked, n)):
        yield batch


MAKERS: dict[str, Callable[..., Iterator[Any]]] = {
    "count": _count, "cycle": _cycle, "repeat": _repeat, "chain": _chain,
    "accumulate": _accumulate, "product": _product,
    "permutations": _chosen(itertools.permutations),
    "combinations": _chosen(itertools.combinations),
    "combinations_with_replacement": _chosen(itertools.combinations_with_replacement),
    "islice": _islice, "takewhile": _take_while, "dropwhile": _drop_while,
    "filterfalse": _filter_false, "starmap": _star_map, "groupby": _group_by,
    "zip_longest": _zip_longest, "pairwise": _pairwise, "compress": _compress,
    "batched": _batched,
}  # fmt: skip


def _type(name: str, make: Callable[..., Iterator[Any]]) -> Type:
    make.__qualname__ = name
    return Type(
        name, Lazy, lambda *args, **kwargs: Lazy(f"itertools.{name}", make(*args, **kwargs)),
        "itertools",
    )  # fmt: skip


STATICS["chain", "from_iterable"] = lambda iterable: Lazy(
    "itertools.chain", _chained(_walk(iterable))
)
MODULES = {
    "itertools": {
        **{name: _type(name, make) for name, make in MAKERS.items()},
        "tee": Type("tee", Lazy, _tee, "itertools"),
    }
}
