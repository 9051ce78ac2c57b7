"""Numerics: how larger products of single-precision matrices are added up, to the last bit.

PyTorch's library packs the operands and adds by fused operations, one after another, in blocks of
the inner dimension: where there is something to add to, every block is added to that in its turn.
On processors with AVX-512 NumPy's library adds alike (in_turn.py). With AVX2 it works in tiles of
twelve rows by eight columns, and adds in another order in the first and the last tile of its way
through the columns, and where rows fill no tile (seen under numpy 2.4). There the operands are laid
between zeros, which take those tiles; what the zeros become is cut off.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from .in_turn import added_in_blocks, adds_in_turn, multiplied_in_turn
from .thresholds import PACKED

Sizes = tuple[int, ...]

ROWS, COLUMNS = 4, 12  # of the result, from which on operands are packed
TILE_ROWS, TILE_COLUMNS = 12, 8
ACROSS = 288  # columns that one call of NumPy's library takes in one way
BLOCK = 192  # of the inner dimension; what is below two of them is halved
KEPT = 1 << 16  # elements of a product and an operand whose memory waits for another: 16 MB in all
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
    if adds_in_turn():
        if a.shape[-1] > BLOCK:
            return added_in_blocks(xp, a, b, _sizes(a.shape[-1]), start)
        product = multiplied_in_turn(xp, a, b)
        if start is not None:
            product += start
        return product
    columns = b.shape[-1]
    if columns <= ACROSS:
        return _beside_zeros(xp, a, b, start)
    parts = []
    for first in range(0, columns, ACROSS):
        piece = slice(first, first + ACROSS)
        part = start
        if start is not None and start.ndim and start.shape[-1] != 1:
            part = start[..., piece]
        parts.append(_beside_zeros(xp, a, b[..., piece], part))
    return xp.concatenate(parts, axis=-1)


def _sizes(inner: int) -> Sequence[int]:
    if inner < 2 * BLOCK:
        return (inner,) if inner <= BLOCK else (inner // 2,) * 2 + (1,) * (inner % 2)
    whole, rest = divmod(inner, BLOCK)
    return (BLOCK,) * whole + (rest,) * (rest > 0)


class _Frame:
    """Memory for a product with a tile of zeros at both ends, and the parts that operands fill.

    Columns of `b` that follow one another in memory do so here too. Where the rows of `a` fill
    tiles, `a` is taken as it lies.
    """

    __slots__ = ("left", "rows", "right", "columns", "product", "inside")

    def __init__(self, xp: Any, a: Any, b: Any, by_columns: bool) -> None:
        (*batch, rows, inner), columns, kind = a.shape, b.shape[-1], a.dtype
        tall = rows + -rows % TILE_ROWS
        wide = (-(-columns // TILE_COLUMNS) + 2) * TILE_COLUMNS
        within = slice(TILE_COLUMNS, TILE_COLUMNS + columns)
        self.left: Any = None
        self.rows: Any = None
        if tall != rows:
            self.left = xp.empty((*batch, tall, inner), kind)
            self.rows = self.left[..., :rows, :]
            self.left[..., rows:, :] = 0
        if by_columns:
            self.right = xp.empty((*b.shape[:-2], wide, inner), kind).swapaxes(-1, -2)
        else:
            self.right = xp.empty((*b.shape[:-2], inner, wide), kind)
        self.columns = self.right[..., within]
        self.right[..., :TILE_COLUMNS] = 0
        self.right[..., within.stop :] = 0
        others = b.shape[:-2]
        both = others if a.shape[:-2] == others else xp.broadcast_shapes(batch, others)
        self.product = xp.empty((*both, tall, wide), kind)
        self.inside = self.product[..., :rows, within]


@lru_cache(maxsize=64)
def _unused(a: Sizes, b: Sizes, by_columns: bool) -> list[_Frame]:
    """Frames for operands of these shapes that nobody fills at the moment."""
    return []


def _beside_zeros(xp: Any, a: Any, b: Any, start: Any) -> Any:
    """The same of so few columns that NumPy's library takes them in one way."""
    by_columns = b.strides[-2] == b.itemsize
    unused = _unused(a.shape, b.shape, by_columns)
    try:
        frame = unused.pop()  # nobody else has it from here on, no other thread either
    except IndexError:
        frame = _Frame(xp, a, b, by_columns)
    left = frame.left
    if left is None:
        left = a
    else:
        frame.rows[...] = a
    frame.columns[...] = b
    right, product, inside = frame.right, frame.product, frame.inside
    first = 0
    for size in _sizes(a.shape[-1]):
        block = slice(first, first + size)
        xp.matmul(left[..., block], right[..., block, :], product)
        start = inside.copy() if start is None else start + inside
        first = block.stop
    if product.size + right.size <= KEPT:
        unused.append(frame)
    return start
