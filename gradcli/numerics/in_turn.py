"""Numerics: matrix products of singles that NumPy's library adds one after another.

Its kernels for processors with AVX-512 fuse each product into the sum of the ones before it, where
columns fill its vectors. PyTorch's library adds alike, in blocks of the inner dimension whose sizes
depend on the processor.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

SINGLE = 4  # bytes
VECTOR = 16  # singles that lie side by side in a register
MANY = 10**6  # products from which NumPy's library leaves its kernels for small ones
DEPTH = 384  # of the inner dimension, within which it adds to one sum; small kernels know no bound

Laid = tuple[tuple[int, int], tuple[int, int]]  # the shape of a matrix, and its strides


@cache
def adds_in_turn() -> bool:
    """Does NumPy's library fuse and add in turn? A large number swallows each 1 that comes after
    it, and few that come at once or before; a product that is rounded by itself loses its last
    bit."""
    import numpy

    a, b = numpy.ones((9, DEPTH), "f"), numpy.ones((DEPTH, 3 * VECTOR), "f")
    a[:, 0] = 1 << 24
    in_turn = (a @ b == 1 << 24).all()
    a, b = numpy.zeros_like(a), numpy.zeros_like(b)
    a[:, 0], b[0] = 1, -1
    a[:, 1] = b[1] = 1 + 2.0**-13
    return bool(in_turn and (a @ b == 2.0**-12 + 2.0**-26).all())


def multiplied_in_turn(xp: Any, a: Any, b: Any) -> Any:
    """a @ b of at most DEPTH products each, with whole vectors of columns, and more rows than one;
    row-major, and nobody else's."""
    rows, (inner, columns) = a.shape[-2], b.shape[-2:]
    left = a if rows > 1 else xp.concatenate([a, xp.zeros_like(a)], axis=-2)
    if columns % VECTOR == 0:
        lies = b.flags.c_contiguous or (rows * b.size > MANY and _as_it_lies(xp, a, b))
        product = xp.matmul(left, b if lies else xp.ascontiguousarray(b))
        if rows > 1:
            return product
    else:
        width = -(-columns // VECTOR) * VECTOR
        filled = xp.zeros((*b.shape[:-2], inner, width), b.dtype)
        filled[..., :columns] = b
        product = xp.matmul(left, filled)
    return product[..., :rows, :columns].copy()


def _as_it_lies(xp: Any, a: Any, b: Any) -> bool:
    """May b, of a large product, lie by its columns? The kernel for a matrix times itself adds in
    another order then, and so do those for small products."""
    if b.ndim > 2 or not by_columns((b.shape, b.strides)):
        return False
    return b.strides[1] > 0 and not xp.may_share_memory(a, b)


def by_columns(matrix: Laid) -> bool:
    """Whether a matrix of singles lies in memory by its columns, as a vector that is looked at as
    one."""
    (rows, columns), (down, across) = matrix
    by_rows = across == SINGLE and down >= SINGLE * columns
    return not by_rows and down == SINGLE and (across == 0 or across >= SINGLE * rows)


def blocks(left: int, wide: bool = False) -> Iterator[int]:
    """Of the inner dimension: whole blocks, in which Intel's libraries add to one sum; what is more
    than one and less than two is halved, but where a wide result leaves it behind whole ones."""
    first = True
    while left:
        halved = DEPTH < left < 2 * DEPTH and (first or not wide)
        size = (left + 1) // 2 if halved else min(left, DEPTH)
        yield size
        left, first = left - size, False


def added_in_blocks(
    xp: Any, a: Any, b: Any, sizes: Iterable[int], start: Any = None, alpha: Any = 1
) -> Any:
    """start + alpha * (a @ b), one block of the inner dimension after another; `start` may be None,
    and is broadcast."""
    total, first = start, 0
    for size in sizes:
        block = slice(first, first + size)
        part = multiplied_in_turn(xp, a[..., block], b[..., block, :])
        if alpha != 1:
            part *= alpha
        if total is not None:
            part += total
        total, first = part, block.stop
    return total


def depth(rows: int, columns: int) -> int:
    """How many products each element of such a matrix can have in one sum; whole vectors of
    columns."""
    return max(DEPTH, MANY // (rows * columns))


def multiplied_as_one_sum(xp: Any, a: Any, b: Any) -> Any:
    """a @ b of any inner dimension, each element one sum, where NumPy's library adds in turn; of
    one pair of matrices or of many. The sum so far goes into the next product, where an identity
    multiplies it first."""
    rows, (inner, columns) = a.shape[-2], b.shape[-2:]
    few, most = min(rows, columns), depth(max(rows, 2), -(-columns // VECTOR) * VECTOR)
    if not adds_in_turn() or (inner > most and few > most // 2):
        return xp.matmul(a, b)
    total = multiplied_in_turn(xp, a[..., :most], b[..., :most, :])
    if inner <= most:
        return total
    identity = xp.broadcast_to(xp.eye(few, dtype=a.dtype), (*a.shape[:-2], few, few))
    for first in range(most, inner, most - few):
        block = slice(first, first + most - few)
        left, right = (identity, total) if rows == few else (total, identity)
        total = multiplied_in_turn(
            xp,
            xp.concatenate([left, a[..., block]], axis=-1),
            xp.concatenate([right, b[..., block, :]], axis=-2),
        )
    if not xp.isfinite(total).all():  # the identity multiplies others by 0
        return xp.matmul(a, b)
    return total
