"""Numerics: how small linear systems are eliminated and solved, to the last bit.

PyTorch leaves them to a library whose routines were found out here by their answers; they round
every product and every sum. A @ A.inverse() is printed in many lessons, and what is off its
diagonal is these roundings alone.
"""

from __future__ import annotations

from typing import Any

from .thresholds import SYSTEM

DIVIDED = 4  # rows of the largest square matrix whose last column is divided by its pivot
COLUMNS = 8  # right-hand sides; the library packs more


def below_pivot(column: Any, pivot: Any, last: bool) -> Any:
    """The factors of the rows below a pivot; `last` is the last one of a small square matrix.

    The library multiplies with 1 / pivot everywhere else.
    """
    if last or column.dtype.kind == "c":
        return column / pivot
    return column * (column.dtype.type(1) / pivot)


def is_small_system(lu: Any, right: Any) -> bool:
    size, columns = right.shape[-2:]
    return lu.dtype.kind == "f" and (
        columns <= COLUMNS if size <= SYSTEM else columns == 1 and size <= 2 * SYSTEM
    )


def substituted(xp: Any, lu: Any, right: Any) -> Any:
    """The solution of L U x = right, forwards through L and then backwards through U.

    Below eight rows a sum of products is taken from each number, from eight rows on one product
    after another.
    """
    step = _by_sums if lu.shape[-1] < SYSTEM else _by_products
    x = right.copy()
    step(xp, lu, x, None)
    x = x[..., ::-1, :].copy()  # from its end, U is a lower triangle as well
    step(xp, lu[..., ::-1, ::-1], x, xp.diagonal(lu, 0, -2, -1)[..., ::-1])
    return x[..., ::-1, :].copy()


def _by_sums(xp: Any, lower: Any, x: Any, pivots: Any) -> None:
    """Divides by multiplying with 1 / pivot."""
    factors = None if pivots is None else (pivots.dtype.type(1) / pivots)[..., None]
    for row in range(x.shape[-2]):
        if row:
            products = lower[..., row, :row, None] * x[..., :row, :]
            x[..., row, :] -= xp.add.reduce(products, axis=-2)
        if factors is not None:
            x[..., row, :] *= factors[..., row, :]


def _by_products(xp: Any, lower: Any, x: Any, pivots: Any) -> None:
    for row in range(x.shape[-2]):
        if pivots is not None:
            x[..., row, :] /= pivots[..., row, None]
        x[..., row + 1 :, :] -= lower[..., row + 1 :, row, None] * x[..., row, None, :]
