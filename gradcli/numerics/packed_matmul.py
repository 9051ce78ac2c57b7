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
    inner, columns = b.shape[-2:]
    shape = (*a.shape[:-1], columns)
    total: Any = None if start is None else xp.broadcast_to(start, shape)
    step = inner
    if inner > BLOCK:
        step = BLOCK if inner >= 2 * BLOCK else inner // 2
    for first in range(0, inner, step):
        block = slice(first, first + step)
        product = _one_block(xp, a[..., block], b[..., block, :])
        total = product if total is None else total + product
    return xp.ascontiguousarray(total)


def _one_block(xp: Any, a: Any, b: Any) -> Any:
    rows, inner = a.shape[-2:]
    columns = b.shape[-1]
    left = xp.zeros((*a.shape[:-2], -(-rows // TILE_ROWS) * TILE_ROWS, inner), a.dtype)
    left[..., :rows, :] = a
    if columns <= ACROSS:
        return _beside_zeros(xp, left, b)[..., :rows, :]
    parts = [
        _beside_zeros(xp, left, b[..., first : first + ACROSS])[..., :rows, :]
        for first in range(0, columns, ACROSS)
    ]
    return xp.concatenate(parts, axis=-1)


def _beside_zeros(xp: Any, left: Any, b: Any) -> Any:
    """The product with a tile of zeros at both ends."""
    inner, columns = b.shape[-2:]
    width = (-(-columns // TILE_COLUMNS) + 2) * TILE_COLUMNS
    right = xp.zeros((*b.shape[:-2], inner, width), b.dtype)
    right[..., TILE_COLUMNS : TILE_COLUMNS + columns] = b
    return xp.matmul(left, right)[..., TILE_COLUMNS : TILE_COLUMNS + columns]
