"""Operators: sums of rows that several indices name, in the order in which they come."""

from __future__ import annotations

from typing import Any

TURNS = 64  # times that rows may be named: beyond that one element after the other is quicker


def add_rows(xp: Any, table: Any, places: Any, rows: Any) -> None:
    """table[places] += rows, but a row that is named again is added to again. No place is negative.

    NumPy's add.at takes 20 ns for every number. Here all rows that are named for the first time
    are added at once, then all that are named a second time: the same sums in the same order.
    """
    if xp.__name__ != "numpy":
        xp.add.at(table, places, rows)
        return
    left = xp.arange(places.size)  # places that are still to be added
    turns = xp.empty(len(table), left.dtype)
    while left.size:
        named = places[left]
        turns[named[::-1]] = left[::-1]  # of several the last stays: which comes first
        first = turns[named] == left
        if first.all():
            table[named] += rows if left.size == len(rows) else rows[left]
            return
        chosen = left[first]
        if chosen.size * TURNS < left.size:
            break
        table[places[chosen]] += rows[chosen]
        left = left[~first]
    xp.add.at(table, places[left], rows[left])
