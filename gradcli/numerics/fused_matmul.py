"""Numerics: how PyTorch's library adds products of singles on Intel's processors, to the last bit.

There every product is added in one rounding. Where a result has rows and columns, the products of
each number follow one another, in blocks of the inner dimension; NumPy's library works alike where
columns fill its vectors, so they are filled with zeros here. Of vectors and of few short rows the
products are added side by side, in lanes whose second half is added to the first until one is left.
All of it was read off the answers on a processor with AVX-512: two large numbers that cancel tell
which others were added between them.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

from .in_turn import (
    DEPTH,
    SINGLE,
    VECTOR,
    Laid,
    added_in_blocks,
    adds_in_turn,
    blocks,
    by_columns,
    multiplied_in_turn,
)
from .packed_matmul import BY_HAND
from .summation import halved
from .thresholds import DOTS, FILLED, LAYER, VECTORS

HALF = 8
WIDE = 192  # rows and columns of a result
DEEP = 24  # times as many products as rows: another routine takes over


def fused(xp: Any, a: Any, b: Any, start: Any = None, alpha: Any = 1) -> Any:
    """start + alpha * (a @ b), row-major; None where it is not worked out here.

    `start` may be None, and is broadcast; it and `alpha` stand with a matrix on the left.
    """
    if a.dtype.char != "f" or xp.__name__ != "numpy" or not a.size or not b.size:
        return None
    dims = a.ndim, b.ndim
    if dims == (2, 2):
        way = _way(a, b)
        return None if way is None else _product(xp, way, a, b, start, alpha)
    if dims == (2, 1):
        if start is not None:
            start = xp.broadcast_to(start, a.shape[:1])[:, None]
        column = fused(xp, a, b[:, None], start, alpha)
        return None if column is None else column[:, 0]
    if dims == (3, 3):
        return _batches(xp, a, b)
    return _dot(xp, a, b) if dims == (1, 1) and 1 < a.size <= VECTORS else None


def _batches(xp: Any, a: Any, b: Any) -> Any:
    """As far as one block of the inner dimension goes; small ones go another way."""
    (rows, inner), columns = a.shape[1:], b.shape[2]
    if rows * inner * columns < BY_HAND or not 1 < inner <= DEPTH or len(a) != len(b):
        return None
    way = _way(a[0], b[0])
    if len(a) == 1:
        if way is None:
            return None
        return _product(xp, way, a[0], b[0]).reshape(1, rows, columns)
    if way is _in_blocks or (columns == 1 and inner < DEEP * rows):
        return multiplied_in_turn(xp, a, b)
    return None


def _product(xp: Any, way: Any, a: Any, b: Any, start: Any = None, alpha: Any = 1) -> Any:
    """The same of two matrices, by that routine."""
    scale = alpha if alpha == 1 else a.dtype.type(alpha)
    if way is _in_blocks or way is _onto_matrix:
        return way(xp, a, b, start, scale)
    if way is _onto_vector or way is _in_eights:  # they add to what stands there
        shape = len(a), b.shape[1]
        scaled = (a * scale, b) if shape[0] == 1 else (a, b * scale)
        return way(xp, *scaled, None if start is None else xp.broadcast_to(start, shape))
    product = way(xp, a, b)
    if alpha == 1 or way is _dots or way is _deep:
        return _onto(start, product, scale)
    return product * scale if start is None else _added(start, product.astype("d") * alpha)


def _onto(start: Any, product: Any, alpha: Any) -> Any:
    """The product is nobody else's."""
    scaled = product if alpha == 1 else product * alpha
    if start is not None:
        scaled += start
    return scaled


def _way(a: Any, b: Any) -> Any:
    """The routine; None for what is left to others."""
    return _way_of((a.shape, a.strides), (b.shape, b.strides))


@lru_cache(maxsize=1024)
def _way_of(a: Laid, b: Laid) -> Any:
    """The same of matrices that lie in this way."""
    (rows, inner), columns = a[0], b[0][1]
    if inner * columns > FILLED:
        return None
    if inner < 2:
        return _onto_matrix if rows > 1 and columns > 1 else None
    if rows == 1:
        if by_columns(b) and not (b[1][1] == 0 and a[1][0] == SINGLE):
            return _rows_of_b if inner * columns <= LAYER else None
        return _onto_vector if columns < VECTOR or inner < HALF else _in_eights
    if columns == 1:
        if not by_columns(a):
            return _rows_of_a if rows * inner <= LAYER else None
        return _onto_vector if rows < VECTOR or inner < HALF else _in_eights
    if rows >= VECTOR or not by_columns(b):
        return _in_blocks
    if by_columns(a):
        return _in_blocks if rows >= HALF or inner > columns or rows >= columns else None
    few = rows * inner * columns <= DOTS
    if inner >= DEEP * rows:
        return _deep if few else None
    if columns < (4 if rows < 12 else 3) or (columns < 12 and max(inner, rows + 1) <= columns):
        return _dots if few else None
    return _in_blocks


# ---------------------------------------------------------------- one after another


def _in_blocks(xp: Any, a: Any, b: Any, start: Any, alpha: Any) -> Any:
    wide = b.shape[1] >= WIDE and (len(a) >= WIDE or by_columns((b.shape, b.strides)))
    return added_in_blocks(xp, a, b, blocks(a.shape[1], wide), start, alpha)


def _onto_matrix(xp: Any, a: Any, b: Any, start: Any, alpha: Any) -> Any:
    """One product each; -1 * 0 stays -0 where there is nothing to add to."""
    scaled = a if alpha == 1 else a * alpha
    return scaled * b if start is None else _added(start, scaled.astype("d") * b)


def _onto_vector(xp: Any, a: Any, b: Any, start: Any) -> Any:
    """Without blocks; what stands there, once itself, is the first product."""
    one, total = xp.ones((1, 1), a.dtype), start
    for first in range(0, a.shape[1], DEPTH // 2):
        left, right = a[:, first : first + DEPTH // 2], b[first : first + DEPTH // 2]
        if total is not None:
            left = xp.concatenate([one if len(a) == 1 else total, left], axis=1)
            right = xp.concatenate([total if len(a) == 1 else one, right])
        total = multiplied_in_turn(xp, left, right)
    return total


def _in_eights(xp: Any, a: Any, b: Any, start: Any) -> Any:
    """Eight rows of a matrix that are scaled by a vector: in pairs, two of them onto the sum. The
    columns that fill no vector go one after another."""
    if len(a) > 1:
        turned = None if start is None else start.T
        return xp.ascontiguousarray(_in_eights(xp, b.T, a.T, turned).T)
    filled = b.shape[1] - b.shape[1] % VECTOR
    if filled < b.shape[1]:
        head, tail = (None, None) if start is None else (start[:, :filled], start[:, filled:])
        parts = [_in_eights(xp, a, b[:, :filled], head), _onto_vector(xp, a, b[:, filled:], tail)]
        return xp.concatenate(parts, axis=1)
    products = a[0].astype("d")[:, None] * b
    total = xp.zeros((1, b.shape[1]), b.dtype) if start is None else start
    whole = len(products) - len(products) % HALF
    p = products[:whole].reshape(-1, HALF, 1, b.shape[1]).swapaxes(0, 1)
    odd, rest = _pair(p[7], p[5]), _pair(p[2], p[0]) + _pair(p[3], p[1])
    for place in range(len(odd)):
        total = _added(_added(total, p[6, place]), p[4, place]) + odd[place] + rest[place]
    for product in products[whole:, None]:
        total = _added(total, product)
    return total


def _added(total: Any, product: Any) -> Any:
    """Products of singles are exact in doubles: the sum is rounded once."""
    return (total + product).astype("f")


def _pair(one: Any, other: Any) -> Any:
    return _added(one.astype("f"), other)


# ---------------------------------------------------------------- side by side


def _rows_of_a(xp: Any, a: Any, b: Any) -> Any:
    return _rows(xp, a, b[:, 0]).reshape(-1, 1)  # PyTorch's strides, also of one element


def _rows_of_b(xp: Any, a: Any, b: Any) -> Any:
    return _rows(xp, b.T, a[0]).reshape(1, -1)


def _rows(xp: Any, matrix: Any, vector: Any) -> Any:
    """Rows times a vector. The first product goes into the first lane of four rows, and is added
    to the sum of the others in the rows that are left."""
    products = matrix.astype("d") * vector
    fours = len(matrix) - len(matrix) % 4
    total, first, count = products[:fours, 0].astype("f"), 1, products.shape[1]
    for stop in (count - (count - 1) % VECTOR, count):
        if first < stop:
            total = halved(_lanes(xp, products[:fours, first:stop], total[:, None]))[..., 0]
            first = stop
    rest = products[fours:]
    if not len(rest):
        return total
    others = _by_twos(xp, rest[:, 1:])
    return xp.concatenate([total, rest[:, 0].astype("f") + others])


def _dots(xp: Any, a: Any, b: Any) -> Any:
    """Rows of a times rows of the transposed b."""
    return _by_twos(xp, a[:, None].astype("d") * b.T)


def _by_twos(xp: Any, products: Any) -> Any:
    """Along the last dimension; every other row in two vectors at a time."""
    total = xp.empty(products.shape[:-1], "f")
    total[1::2] = halved(_lanes(xp, products[1::2]))[..., 0]
    firsts = products[0::2]
    twice = firsts.shape[-1] - firsts.shape[-1] % (2 * VECTOR)
    both = None
    if twice:
        pairs = firsts[..., :twice].reshape(*firsts.shape[:-1], -1, 2, VECTOR)
        one, other = (pairs[..., place, :].reshape(*firsts.shape[:-1], -1) for place in (0, 1))
        both = _lanes(xp, one) + _lanes(xp, other)
    total[0::2] = halved(_lanes(xp, firsts[..., twice:], both))[..., 0]
    return total


def _dot(xp: Any, a: Any, b: Any) -> Any:
    """Two vectors: four times sixteen products side by side; twice and once sixteen of the rest."""
    products, total = a.astype("d") * b, xp.zeros((4, VECTOR), a.dtype)
    first, all_four = len(products) // total.size * total.size, total.reshape(-1)
    for part in products[:first].reshape(-1, total.size):
        all_four[:] = all_four + part
    for vectors in (2, 1):
        step = vectors * VECTOR
        while len(products) - first >= step or (vectors == 1 and first < len(products)):
            part = products[first : first + step]
            flat = total[:vectors].reshape(-1)
            flat[: len(part)] = flat[: len(part)] + part
            first += step
    lanes = (total[0] + total[1]) + (total[2] + total[3])
    lanes = lanes[:8] + lanes[8:]
    lanes = lanes[:4] + lanes[4:]
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])


def _deep(xp: Any, a: Any, b: Any) -> Any:
    """The same of long rows: every fourth lane first, then the two halves."""
    lanes = _lanes(xp, a[:, None].astype("d") * b.T)
    quarters = lanes[..., 0:4] + lanes[..., 4:8] + lanes[..., 8:12] + lanes[..., 12:16]
    return quarters[..., 0] + quarters[..., 1] + (quarters[..., 2] + quarters[..., 3])


def _lanes(xp: Any, products: Any, start: Any = None) -> Any:
    """Along the last dimension, in vectors. What there is before is one vector for each sum, or one
    number, which is in the first lane."""
    total = xp.zeros((*products.shape[:-1], VECTOR), "f")
    if start is not None:
        total[..., : start.shape[-1]] = start
    for first in range(0, products.shape[-1], VECTOR):
        part = products[..., first : first + VECTOR]
        inside = slice(0, part.shape[-1])
        total[..., inside] = total[..., inside] + part
    return total


# ---------------------------------------------------------------- where it holds


@cache
def fuses() -> bool:
    """Whether the processor is of the kind that this was seen with, and NumPy's library too."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="ignore") as file:
            words = file.read(1 << 13)
    except OSError:
        return False
    return "GenuineIntel" in words and "avx512f" in words and adds_in_turn()
