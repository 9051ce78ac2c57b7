"""Engine: gradients of many numbers, worked out in blocks that stay in the processor's cache.

A formula that works element by element makes an array for each of its steps. Of ten million
numbers each of these goes to memory and back; in blocks only operands and gradients do. What a
gradient is added to is changed in place, and the memory of the gradient that came is used again,
where nobody else holds them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from ..schema.carriers import FUSED
from .gradient_buffers import Ready
from .node import Node

MANY = 1 << 19  # elements from which it pays
BLOCK = FUSED + 1  # no rule for small arrays holds in a block either
# References to an array in `in_blocks`, of those that two callers hold as well and nobody else,
# or a buffer alone. From Python 3.14 on a name need not count as one, so nobody can be sure there.
PASSED, BUFFERED = (4, 3) if sys.version_info < (3, 14) else (0, 0)
WHOLE = (float, int, bool, type(None))  # values that every block takes as they are

Formulas = Callable[..., Sequence[Any]]


def in_blocks(
    formulas: Formulas, direct: Sequence[bool], grad: Any, values: Sequence[Any],
    edges: Sequence[Node | None], ready: Ready,
) -> bool:  # fmt: skip
    """Hands `formulas(grad, *values, outs)` to the edges, as a step does. False, and nothing is
    done, where arrays are not of one shape and type, row-major and in the host's memory.

    `direct` tells which formula is one step, which takes the place of its result from `outs`.
    """
    free = sys.getrefcount(grad) == PASSED and _owns(grad)
    alike = all(value.__class__ in WHOLE or _alike(value, grad) for value in values)
    if not alike or not _alike(grad, grad):
        return False
    wanted = [place for place, edge in enumerate(edges) if edge is not None]
    totals: dict[Node, Any] = {}
    sums: list[Any] = [None] * len(edges)  # what each gradient is added to, and where the sum goes
    for place in wanted:
        edge: Any = edges[place]
        total = totals.get(edge)
        held = edge.buffer if total is None else total
        if held is None:  # who comes last can take the place of `grad`
            reused = free and place == wanted[-1] and (all(direct) or not direct[place])
            total = grad if reused else numpy.empty_like(grad)
        elif not _alike(held, grad):
            return False
        elif total is None:
            alone = sys.getrefcount(held) == BUFFERED and _owns(held)
            total = held if alone else numpy.empty_like(held)
        totals[edge], sums[place] = total, (held, total)
    if not _run(formulas, direct, (grad, *values), sums):
        return False
    for edge, total in totals.items():
        edge.buffer = total
        ready[edge.sequence] = edge
    return True


def _run(
    formulas: Formulas, direct: Sequence[bool], values: Sequence[Any], sums: Sequence[Any]
) -> bool:
    """Block after block; False where the first one shows that a formula gives something else."""
    size = values[0].size
    flat: list[Any] = [value if value.__class__ in WHOLE else value.reshape(-1) for value in values]
    sums = [pair and [a if a is None else a.reshape(-1) for a in pair] for pair in sums]
    outs: list[Any] = [None] * len(sums)
    count = size // BLOCK
    for number in range(count):
        part = slice(size * number // count, size * (number + 1) // count)
        for place, pair in enumerate(sums):
            if pair and pair[0] is None and direct[place]:
                outs[place] = pair[1][part]
        given = [value if value.__class__ in WHOLE else value[part] for value in flat]
        results = formulas(*given, outs)
        if not number and not all(
            pair is None or (found is not None and found is out) or _is_fresh(found, given[0])
            for pair, found, out in zip(sums, results, outs)
        ):
            return False
        for pair, found, out in zip(sums, results, outs):
            if pair and found is not out:
                held, total = pair
                if held is None:
                    total[part] = found
                else:
                    numpy.add(held[part], found, out=total[part])
    return True


def _alike(array: Any, grad: Any) -> bool:
    """Is it an array like that, row-major, in the host's memory?"""
    is_array = array.__class__ is numpy.ndarray and array.dtype is grad.dtype
    return is_array and array.shape == grad.shape and bool(array.flags.c_contiguous)


def _owns(array: Any) -> bool:
    """Is the memory its own, and can it be changed?"""
    return array.base is None and bool(array.flags.writeable)


def _is_fresh(result: Any, given: Any) -> bool:
    """Is it an array like this one, in memory that nothing else has?"""
    return _alike(result, given) and result.base is None
