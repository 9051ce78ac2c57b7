"""Operators: sums of rows that several indices name, in the order in which they come."""

from __future__ import annotations

from typing import Any

from ...numerics.rounding import multiply_add
from ...numerics.thresholds import FUSED

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


def add_in_turn(xp: Any, array: Any, places: tuple[Any, ...], values: Any) -> None:
    """array[places] += values, but a place that is named again is added to again.

    `places` are what NumPy takes: index arrays, and slices of whole dimensions. Counted along one
    dimension, NumPy adds seven times as fast; so is counted what names the first dimensions of a
    row-major array.
    """
    named = [place for place in places if place.__class__ is not slice]
    leads = all(place.__class__ is not slice for place in places[: len(named)])
    if xp.__name__ != "numpy" or not (named and leads and array.flags.c_contiguous):
        xp.add.at(array, places, values)
        return
    rows: Any = 0
    for place, size in zip(named, array.shape, strict=False):
        counted = xp.asarray(place, "int64")
        if counted.size and counted.min() < 0:
            counted = xp.where(counted < 0, counted + size, counted)
        rows = rows * size + counted
    inner = array.shape[len(named) :]
    values = xp.broadcast_to(values, (*rows.shape, *inner))
    if not inner:
        xp.add.at(array.reshape(-1), rows.reshape(-1), values.reshape(-1))
    elif values.size:
        flat = values.reshape((rows.size, -1))
        add_rows(xp, array.reshape((-1, flat.shape[1])), rows.reshape(-1), flat)


FUSED_TURNS = 64  # of a place that is named more often, further sums are rounded twice


def add_scaled_rows(xp: Any, table: Any, places: Any, rows: Any, factors: Any) -> None:
    """table[places] += rows * factors, in the order of the places, each sum of singles rounded once
    where a reader sees the number: PyTorch calls a library's axpy, which is compiled so."""
    if xp.__name__ != "numpy" or table.dtype.char != "f" or rows.size > FUSED:
        add_rows(xp, table, places, rows * factors)
        return
    left = xp.arange(places.size)
    for _ in range(FUSED_TURNS):
        if not left.size:
            return
        _, first = xp.unique(places[left], return_index=True)
        chosen = left[first]
        named = places[chosen]
        table[named] = multiply_add(rows[chosen], factors[chosen], table[named])
        left = xp.delete(left, first)
    xp.add.at(table, places[left], rows[left] * factors[left])
