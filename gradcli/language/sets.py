"""language: sets, which come in the same order on every run."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from typing import Any

NUMERIC = frozenset({int, float, bool, type(None)})


class Set:
    """A set that remembers the order of insertion: the order of a hash table is not the same twice.

    Sets of numbers come in Python's own order, which for them is: `native` holds them.
    """

    __slots__ = ("items", "native")

    def __init__(self, items: Iterable[Any] = ()) -> None:
        self.items: dict[Any, None] = {}
        self.native: set[Any] | None = set()
        for item in items:
            self.add(item)

    def add(self, item: Any) -> None:
        self.items[item] = None
        if self.native is not None:
            if type(item) in NUMERIC and item == item:  # a NaN lies where its address says
                self.native.add(item)
            else:
                self.native = None

    def drop(self, item: Any) -> None:
        del self.items[item]
        if self.native is not None:
            self.native.discard(item)

    def clear(self) -> None:
        self.items.clear()
        self.native = set()

    def become(self, other: Set) -> None:
        """Hold what the other holds."""
        self.items, self.native = dict(other.items), None
        if other.native is not None:
            self.native = set(other.native)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items if self.native is None else self.native)

    def __len__(self) -> int:
        return len(self.items)

    def __contains__(self, item: Any) -> bool:
        return item in self.items

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Set) and self.items.keys() == other.items.keys()

    __hash__ = None  # type: ignore[assignment]

    def __le__(self, other: Any) -> Any:
        return self.items.keys() <= other.items.keys() if is_set(other) else NotImplemented

    def __lt__(self, other: Any) -> Any:
        return self.items.keys() < other.items.keys() if is_set(other) else NotImplemented

    def __ge__(self, other: Any) -> Any:
        return self.items.keys() >= other.items.keys() if is_set(other) else NotImplemented

    def __gt__(self, other: Any) -> Any:
        return self.items.keys() > other.items.keys() if is_set(other) else NotImplemented

    def __or__(self, other: Any) -> Any:
        return _combined(self, other, operator.or_, lambda: [*self, *other])

    def __and__(self, other: Any) -> Any:
        return _combined(self, other, operator.and_, lambda: [x for x in self if x in other.items])

    def __sub__(self, other: Any) -> Any:
        return _combined(
            self, other, operator.sub, lambda: [x for x in self if x not in other.items]
        )

    def __xor__(self, other: Any) -> Any:
        return _combined(
            self, other, operator.xor,
            lambda: [*[x for x in self if x not in other.items],
                     *[x for x in other if x not in self.items]],
        )  # fmt: skip


class FrozenSet(Set):
    """The set that is hashable, and never changed."""

    __slots__ = ("hashed",)

    def __hash__(self) -> int:  # type: ignore[override]
        try:
            return self.hashed  # type: ignore[has-type]
        except AttributeError:
            # Kept: sets within sets would be hashed once more on each level.
            self.hashed = hash(frozenset(self.items))
            return self.hashed


def is_set(value: Any) -> bool:
    return isinstance(value, Set)


def _combined(
    a: Set, b: Any, native: Callable[[Any, Any], Any], ordered: Callable[[], list[Any]]
) -> Any:
    """A set from two: Python's own operation for numbers, the order of insertion for others."""
    if not isinstance(b, Set):
        return NotImplemented
    if a.native is None or b.native is None:
        return type(a)(ordered())
    out = type(a)()
    out.native = native(a.native, b.native)
    out.items = dict.fromkeys(out.native)
    return out


# As Python's own messages name them.
Set.__name__ = Set.__qualname__ = "set"
FrozenSet.__name__ = FrozenSet.__qualname__ = "frozenset"
