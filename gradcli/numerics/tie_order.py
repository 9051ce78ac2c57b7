"""Numerics: which of equal elements comes first: in PyTorch the C++ library's sort decides.

What is not asked to be stable goes through std::sort, std::partial_sort and std::nth_element, whose
moves depend on comparisons alone and so are the same on every processor. Here they are made again,
on the places of a line's elements, for the lines that hold equal elements; everywhere else any way
of sorting gives one answer. `keys[place]` says where an element belongs: equals have equal keys.
"""

from __future__ import annotations

from collections.abc import Callable, MutableSequence, Sequence
from typing import Any, TypeAlias

from .thresholds import TIED

Places: TypeAlias = MutableSequence[int]
Keys: TypeAlias = Sequence[Any]

SHORT = 16  # up to here it is sorted by insertion, which leaves equals as they were


def settled(
    xp: Any,
    order: Any,
    lines: Any,
    length: int,
    arrange: Callable[[Keys], list[int]],
    always: bool = False,
) -> Any:
    """The stable order of each line; where a line has equals, what `arrange` makes of its keys.

    Both arrays have their lines last. Keys are the ranks of elements, dense from 0.
    """
    if lines.shape[-1] < 2 or lines.size > TIED:
        return order[..., :length]
    ranked = xp.take_along_axis(lines, order, axis=-1)
    before, after = ranked[..., :-1], ranked[..., 1:]
    changes = (before != after) & ~((before != before) & (after != after))
    tied = ~changes.all(axis=-1) | always
    chosen = order[..., :length].copy()
    for at in xp.argwhere(tied).tolist():
        keys = xp.empty(lines.shape[-1], dtype="int64")
        keys[order[tuple(at)][0]] = 0
        keys[order[tuple(at)][1:]] = xp.cumsum(changes[tuple(at)])
        chosen[tuple(at)] = xp.asarray(arrange(keys.tolist()))
    return chosen


def in_order(keys: Keys) -> list[int]:
    """All places, as std::sort leaves them."""
    places = list(range(len(keys)))
    sort(places, keys)
    return places


def first_few(keys: Keys, count: int, ordered: bool) -> list[int]:
    """The places of the smallest keys: the way that topk takes for few and for many of them."""
    places = list(range(len(keys)))
    if count * 64 <= len(keys):
        _partial_sort(places, keys, 0, count, len(keys))
    else:
        _nth_element(places, keys, count - 1)
        if ordered:
            head = places[: count - 1]
            sort(head, keys)
            places[: count - 1] = head
    return places[:count]


def sort(places: Places, keys: Keys) -> None:
    """std::sort: quicksort down to short pieces, then one insertion sort over all."""
    length = len(places)
    pieces = [(0, length, 2 * (length.bit_length() - 1))]
    while pieces:
        first, last, depth = pieces.pop()
        while last - first > SHORT:
            if depth == 0:
                _partial_sort(places, keys, first, last, last)
                break
            depth -= 1
            cut = _partition(places, keys, first, last)
            pieces.append((cut, last, depth))
            last = cut
    _insertion_sort(places, keys, 0, min(length, SHORT))
    for place in range(SHORT, length):
        _insert(places, keys, place)


def _partition(places: Places, keys: Keys, first: int, last: int) -> int:
    """Around the middle of three; where the upper part begins."""
    low, middle, high = first + 1, first + (last - first) // 2, last - 1
    a, b, c = keys[places[low]], keys[places[middle]], keys[places[high]]
    if a < b:
        pivot = middle if b < c else high if a < c else low
    else:
        pivot = low if a < c else high if b < c else middle
    places[first], places[pivot] = places[pivot], places[first]
    key = keys[places[first]]
    i, j = first + 1, last
    while True:
        while keys[places[i]] < key:
            i += 1
        j -= 1
        while key < keys[places[j]]:
            j -= 1
        if not i < j:
            return i
        places[i], places[j] = places[j], places[i]
        i += 1


def _insertion_sort(places: Places, keys: Keys, first: int, last: int) -> None:
    for at in range(first + 1, last):
        place = places[at]
        if keys[place] < keys[places[first]]:
            places[first + 1 : at + 1] = places[first:at]
            places[first] = place
        else:
            _insert(places, keys, at)


def _insert(places: Places, keys: Keys, at: int) -> None:
    """Moves one element down to where it belongs; something before it is not larger."""
    place = places[at]
    key = keys[place]
    while key < keys[places[at - 1]]:
        places[at] = places[at - 1]
        at -= 1
    places[at] = place


def _nth_element(places: Places, keys: Keys, nth: int) -> None:
    first, last = 0, len(places)
    depth = 2 * (last.bit_length() - 1)
    while last - first > 3:
        if depth == 0:
            _heap_select(places, keys, first, nth + 1, last)
            places[first], places[nth] = places[nth], places[first]
            return
        depth -= 1
        cut = _partition(places, keys, first, last)
        if cut <= nth:
            first = cut
        else:
            last = cut
    _insertion_sort(places, keys, first, last)


# ---- with a heap, the largest on top


def _partial_sort(places: Places, keys: Keys, first: int, middle: int, last: int) -> None:
    _heap_select(places, keys, first, middle, last)
    while middle - first > 1:
        middle -= 1
        place = places[middle]
        places[middle] = places[first]
        _sift(places, keys, first, 0, middle - first, place)


def _heap_select(places: Places, keys: Keys, first: int, middle: int, last: int) -> None:
    """The smallest into [first, middle), as a heap."""
    length = middle - first
    for parent in range((length - 2) // 2, -1, -1):
        _sift(places, keys, first, parent, length, places[first + parent])
    for at in range(middle, last):
        place = places[at]
        if length and keys[place] < keys[places[first]]:
            places[at] = places[first]
            _sift(places, keys, first, 0, length, place)


def _sift(places: Places, keys: Keys, first: int, hole: int, length: int, place: int) -> None:
    """The hole down to a leaf, then the element up from there."""
    top = child = hole
    while child < (length - 1) // 2:
        child = 2 * (child + 1)
        if keys[places[first + child]] < keys[places[first + child - 1]]:
            child -= 1
        places[first + hole] = places[first + child]
        hole = child
    if length % 2 == 0 and child == (length - 2) // 2:
        child = 2 * child + 1
        places[first + hole] = places[first + child]
        hole = child
    key = keys[place]
    while hole > top:
        parent = (hole - 1) // 2
        if not keys[places[first + parent]] < key:
            break
        places[first + hole] = places[first + parent]
        hole = parent
    places[first + hole] = place
