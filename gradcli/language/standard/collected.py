"""language: collections, heapq and bisect: deque, Counter, heaps."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterator, MutableSequence
from operator import itemgetter
from typing import Any

from ..builtins.containers import position, sort_items
from ..builtins.modules import COLLECTIONS
from ..builtins.types import OF_LIBRARY
from ..calls import call
from ..costs import charge_keys
from ..formatting import quoted
from ..members import TABLES, Members
from ..operations import DICTS, MOVED, check_key, collect, equal, iterate, less, type_name
from ..session import session
from ..values import Builtin, Lazy, Type, stepwise
from .layered import ChainMap
from .publishing import classes, functions
from .records import namedtuple

# ---------------------------------------------------------------- deque


@MutableSequence.register  # for the engine: torch.tensor takes one
class deque:
    _torch_name = "collections.deque"
    PUBLIC = ("append", "appendleft", "pop", "popleft", "extend", "extendleft", "clear", "copy",
              "count", "index", "insert", "remove", "reverse", "rotate", "maxlen")  # fmt: skip

    __slots__ = ("_items", "__weakref__")

    def __init__(self, iterable: Any = (), maxlen: Any = None) -> None:
        self._items: collections.deque[Any] = collections.deque(maxlen=maxlen)
        self.extend(iterable)

    @property
    def maxlen(self) -> int | None:
        return self._items.maxlen

    def append(self, x: Any, /) -> None:
        self._items.append(x)

    def appendleft(self, x: Any, /) -> None:
        self._items.appendleft(x)

    def pop(self) -> Any:
        return self._items.pop()

    def popleft(self) -> Any:
        return self._items.popleft()

    def extend(self, iterable: Any) -> None:
        for item in list(iterate(iterable)) if iterable is self else iterate(iterable):
            session.budget.charge(1)
            self._items.append(item)

    def extendleft(self, iterable: Any) -> None:
        for item in iterate(iterable):
            session.budget.charge(1)
            self._items.appendleft(item)

    def clear(self) -> None:
        self._items.clear()

    def copy(self) -> deque:
        return deque(self, self.maxlen)

    def count(self, x: Any) -> int:
        return sum(1 for item in stepwise(iter(self._items)) if equal(item, x))

    def index(self, x: Any, *bounds: int) -> int:
        return position(collect(self), x, *bounds)

    def insert(self, i: int, x: Any) -> None:
        self._move()
        self._items.insert(i, x)

    def remove(self, value: Any) -> None:
        for place, item in enumerate(stepwise(iter(self._items))):
            if item is value or equal(item, value):
                del self._items[place]
                return
        raise ValueError("deque.remove(x): x not in deque")

    def reverse(self) -> None:
        self._move()
        self._items.reverse()

    def rotate(self, n: int = 1) -> None:
        self._move()
        self._items.rotate(n)

    def _move(self) -> None:
        session.budget.charge((len(self._items) >> MOVED) + 1)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, index: Any) -> Any:
        self._move()
        return self._items[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self._move()
        self._items[index] = value

    def __delitem__(self, index: Any) -> None:
        self._move()
        del self._items[index]

    def __contains__(self, value: Any) -> bool:
        return any(item is value or equal(item, value) for item in stepwise(iter(self._items)))

    def __eq__(self, other: object) -> Any:
        return equal(collect(self), collect(other)) if type(other) is deque else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __deepcopy__(self, memo: Any) -> deque:
        import copy

        return deque(copy.deepcopy(list(self._items), memo), self.maxlen)

    def __repr__(self) -> str:
        listed = quoted(list(self._items))
        return (
            f"deque({listed})" if self.maxlen is None else f"deque({listed}, maxlen={self.maxlen})"
        )


# ---------------------------------------------------------------- Counter


def _counter(*args: Any, **kwargs: Any) -> Any:
    made: Any = collections.Counter()
    count(made, *args, **kwargs)
    return made


def count(target: Any, *args: Any, sign: int = 1, **kwargs: Any) -> None:
    """Adds the items, or the counts of a dictionary."""
    given: Any = args[0] if args else ()
    if type(given) in DICTS:
        charge_keys(given)
        pairs = list(given.items())
    else:
        pairs = []
        for item in iterate(given if given is not None else ()):
            session.budget.charge(1)
            check_key(item)
            target[item] = target[item] + sign
    for key, number in (*pairs, *kwargs.items()):
        target[key] = target[key] + sign * number


def _most_common(counts: Any, n: Any = None) -> list[Any]:
    ordered = sort_items(list(counts.items()), Builtin("itemgetter", itemgetter(1)), True)
    return ordered if n is None else ordered[: max(n, 0)]


def _elements(counts: Any) -> Lazy:
    return Lazy("itertools.chain", stepwise(counts.elements()))


def _total(counts: Any) -> Any:
    session.budget.charge(len(counts))
    return sum(counts.values())


TABLES[collections.Counter] = Members({
    **TABLES[dict].methods,
    "keys": collections.Counter.keys, "values": collections.Counter.values,
    "items": collections.Counter.items, "most_common": _most_common, "elements": _elements,
    "update": count, "total": _total,
    "subtract": lambda counts, *args, **kwargs: count(counts, *args, sign=-1, **kwargs),
})  # fmt: skip

# ---------------------------------------------------------------- heapq, bisect


def _up(heap: list[Any], place: int, root: int = 0) -> None:
    """The item at a place goes towards the root, as far as it is smaller."""
    item = heap[place]
    while place > root:
        session.budget.charge(1)
        above = (place - 1) >> 1
        if not less(item, heap[above]):
            break
        heap[place] = heap[above]
        place = above
    heap[place] = item


def _down(heap: list[Any], place: int) -> None:
    """As heapq does it: the smaller child comes up to the end, then the item finds its place."""
    start, end, item = place, len(heap), heap[place]
    child = 2 * place + 1
    while child < end:
        session.budget.charge(1)
        if child + 1 < end and not less(heap[child], heap[child + 1]):
            child += 1
        heap[place] = heap[child]
        place, child = child, 2 * child + 1
    heap[place] = item
    _up(heap, place, start)


def _on_list(work: Callable[..., Any]) -> Callable[..., Any]:
    """heapq works on lists alone; a comparison of the program may empty one under way."""

    def run(heap: Any, /, *items: Any) -> Any:
        if type(heap) is not list:
            raise TypeError(f"heap argument must be a list, not {type_name(heap)}")
        return work(heap, *items)

    return run


def _push(heap: list[Any], item: Any) -> None:
    heap.append(item)
    _up(heap, len(heap) - 1)


def _pop(heap: list[Any]) -> Any:
    last = heap.pop()
    if not heap:
        return last
    first, heap[0] = heap[0], last
    _down(heap, 0)
    return first


def _heapify(heap: list[Any]) -> None:
    for place in reversed(range(len(heap) // 2)):
        _down(heap, place)


def _push_pop(heap: list[Any], item: Any) -> Any:
    if heap and less(heap[0], item):
        item, heap[0] = heap[0], item
        _down(heap, 0)
    return item


def _replaced(heap: list[Any], item: Any) -> Any:
    first, heap[0] = heap[0], item
    _down(heap, 0)
    return first


def _extremes(largest: bool) -> Callable[..., list[Any]]:
    return lambda n, iterable, key=None: sort_items(collect(iterable), key, largest)[: max(n, 0)]


def _place(right: bool) -> Callable[..., int]:
    def find(a: Any, x: Any, lo: int = 0, hi: int | None = None, *, key: Any = None) -> int:
        hi = len(a) if hi is None else hi
        while lo < hi:
            session.budget.charge(1)
            middle = (lo + hi) // 2
            item = a[middle] if key is None else call(key, (a[middle],), {})
            if (not less(x, item)) if right else less(item, x):
                lo = middle + 1
            else:
                hi = middle
        return lo

    return find


def _insort(right: bool) -> Callable[..., None]:
    find = _place(right)

    def insert(a: list[Any], x: Any, *bounds: int, key: Any = None) -> None:
        at = find(a, x if key is None else call(key, (x,), {}), *bounds, key=key)
        session.budget.charge(len(a) >> MOVED)
        a.insert(at, x)

    return insert


OF_LIBRARY[collections.Counter] = Type("Counter", collections.Counter, _counter, "collections")
MODULES = {
    "collections": {
        **COLLECTIONS, **classes([deque, ChainMap]), "Counter": OF_LIBRARY[collections.Counter],
        **functions({"namedtuple": namedtuple}),
    },
    "heapq": functions({
        "heappush": _on_list(_push), "heappop": _on_list(_pop), "heapify": _on_list(_heapify),
        "merge": lambda *iterables, key=None, reverse=False: Lazy("generator", iter(sort_items(
            [item for part in iterables for item in iterate(part)], key=key, reverse=reverse))),
        "heappushpop": _on_list(_push_pop), "heapreplace": _on_list(_replaced),
        "nlargest": _extremes(True), "nsmallest": _extremes(False),
    }),
    "bisect": functions({
        "bisect": _place(True), "bisect_right": _place(True), "bisect_left": _place(False),
        "insort": _insort(True), "insort_right": _insort(True), "insort_left": _insort(False),
    }),
}  # fmt: skip
