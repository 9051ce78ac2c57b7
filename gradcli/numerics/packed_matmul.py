"""Numerics: how larger products of single-precision matrices are added up, to the last bit.

PyTorch's library packs the operands and adds by fused operations, one after another, in blocks of
the inner dimension: where there is something to add to, every block is added to that in its turn.
NumPy's library works in tiles of twelve rows by eight columns. It adds one after another as well,
but for the first and the last tile of its way through the columns, and for rows that fill no tile
(seen with its routines for processors with AVX2, under numpy 2.4). So the operands are laid between
zeros here, which take those tiles; what the zeros become is cut off.
"""

from __future__ import annotations

from typing import Any

from .thresholds import PACKED

ROWS, COLUMNS = 4, 12  # of the result, from which on operands are packed
TILE_ROWS, TILE_COLUMNS = 12, 8
ACROSS = 288  # columns that one call of NumPy's library takes in one way
BLOCK = 192  # of the inner dimension; what is below two of them is halved
BY_HAND = 400  # products for each matrix, below which PyTorch multiplies batches itself


def is_packed(xp: Any, a: Any, b: Any) -> bool:
    """Whether two matrices, or two batches of matrices, are multiplied here."""
    if a.dtype.char != "f" or xp.__name__ != "numpy" or a.ndim != b.ndim or a.ndim not in (2, 3):
        return False
    rows, inner = a.shape[-2:]
    columns = b.shape[-1]
    if rows < ROWS or columns < COLUMNS or inner < 2:
        return False
    each = rows * inner * columns
    return a.size * columns <= PACKED and (a.ndim == 2 or each >= BY_HAND)


def packed_product(xp: Any, a: Any, b: Any, start: Any = None) -> Any:
    """start + a @ b, row-major; `start` may be None, and is broadcast."""
    columns = b.shape[-1]
    rows = _filled_rows(xp, a)
    if columns <= ACROSS:
        return _beside_zeros(xp, rows, a.shape[-2], b, start)
    parts = []
    for first in range(0, columns, ACROSS):
        piece = slice(first, first + ACROSS)
        part = start
        if start is not None and start.ndim and start.shape[-1] != 1:
            part = start[..., piece]
        parts.append(_beside_zeros(xp, rows, a.shape[-2], b[..., piece], part))
    return xp.concatenate(parts, axis=-1)


def _filled_rows(xp: Any, a: Any) -> Any:
    rows, inner = a.shape[-2:]
    missing = -rows % TILE_ROWS
    if not missing:
        return a
    filled = xp.zeros((*a.shape[:-2], rows + missing, inner), a.dtype)
    filled[..., :rows, :] = a
    return filled


def _beside_zeros(xp: Any, left: Any, rows: int, b: Any, start: Any) -> Any:
    """The product with a tile of zeros at both ends. Copies keep the order that b has in memory."""
    inner, columns = b.shape[-2:]
    width = (-(-columns // TILE_COLUMNS) + 2) * TILE_COLUMNS
    inside = slice(TILE_COLUMNS, TILE_COLUMNS + columns)
    if b.strides[-2] == b.itemsize:
        turned = xp.zeros((*b.shape[:-2], width, inner), b.dtype)
        turned[..., inside, :] = b.swapaxes(-1, -2)
        right = turned.swapaxes(-1, -2)
    else:
        right = xp.zeros((*b.shape[:-2], inner, width), b.dtype)
        right[..., inside] = b
    if inner <= BLOCK:
        product = xp.matmul(left, right)[..., :rows, inside]
        return product.copy() if start is None else start + product
    step = BLOCK if inner >= 2 * BLOCK else inner // 2
    total = xp.matmul(left[..., :step], right[..., :step, :])
    if start is not None:
        total[..., :rows, inside] += start
    for first in range(step, inner, step):
        block = slice(first, first + step)
        total += xp.matmul(left[..., block], right[..., block, :])
    return total[..., :rows, inside].copy()
