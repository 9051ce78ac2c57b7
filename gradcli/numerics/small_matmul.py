"""Numerics: how small products of vectors and matrices are added up, to the last bit.

A sum of products depends on the order of its additions, and a loss that is printed with all its
digits shows it. PyTorch leaves products to a library whose routines for small operands were found
out here by their answers: they round every product, and add in an order that depends on how the
operands lie in memory. Larger matrices are packed (packed_matmul).
"""

from __future__ import annotations

import math
from typing import Any

from ..engine.memory.layout import row_major
from .fused_matmul import fused, fuses
from .packed_matmul import BY_HAND, COLUMNS, ROWS, is_packed, packed_product
from .thresholds import LAYER, PRODUCTS, SIDE_BY_SIDE, VECTORS

VECTOR = 16  # bytes that are added side by side: four singles, or two doubles
FEW = 256  # integers that are multiplied as such
UNROLLED = 8  # numbers for each turn of the loops over one row


def multiplied(xp: Any, a: Any, b: Any) -> Any:
    """a @ b for vectors, matrices and batches of matrices.

    The routines add to a result of zeros: a sum of products that are all -0 is 0.
    """
    if fuses() and (product := fused(xp, a, b)) is not None:
        return product
    if is_packed(xp, a, b):
        return packed_product(xp, a, b)
    if not _is_small(xp, a, b):
        return _library_product(xp, a, b)
    if a.ndim == b.ndim == 2:
        way = _way(a, b)
        product = way(xp, a, b)
        return row_major(product if way is _outer else _from_zero(product))
    if b.ndim == 1:
        if a.ndim == 1:
            return _dot(xp, a * b)
        by_rows = _is_row_major(a)
        return row_major(_from_zero((_by_rows_of if by_rows else _times_vector)(xp, a, b)))
    return row_major(_batches(xp, a, b)) if a.ndim == b.ndim == 3 else xp.matmul(a, b)


def added_product(xp: Any, start: Any, a: Any, b: Any, alpha: Any) -> Any:
    """start + alpha * (a @ b) for matrices, or for a matrix and a vector; start may be None.

    Products are added to what stands there, where that is the way of the routine, and otherwise to
    each other first. The first routines take alpha times their first operand, packing takes it
    times the second, and all others scale the sum.
    """
    kind = a.dtype.type
    if alpha == 0 and a.dtype.char in "fdFD":  # the operands are not looked at
        shape = (a.shape[0], *b.shape[1:])
        return xp.zeros(shape, a.dtype) if start is None else xp.broadcast_to(start, shape).copy()
    if fuses() and (product := fused(xp, a, b, start, alpha)) is not None:
        return product
    if is_packed(xp, a, b):
        return packed_product(xp, a, b if alpha == 1 else b * kind(alpha), start)
    if not _is_small(xp, a, b):
        product = _library_product(xp, a, b)
        product = product if alpha == 1 else product * kind(alpha)
        return product if start is None else product + start
    if b.ndim == 1:
        return row_major(_added_to_vector(xp, start, a, b, kind(alpha)))
    way = _way(a, b)
    if alpha != 1 and (way is _down_columns or way is _outer):
        a, alpha = a * kind(alpha), 1
    elif alpha != 1 and way is _packed:
        b, alpha = b * kind(alpha), 1
    if start is None or way is not _down_columns:
        product = way(xp, a, b) if alpha == 1 else way(xp, a, b) * kind(alpha)
        if start is not None:
            product = product + start
        elif way is not _outer:
            product = _from_zero(product)
        return row_major(product)
    start = xp.broadcast_to(start, (a.shape[0], b.shape[1]))
    return row_major(_down_columns(xp, a, b, start))


def added_batches(xp: Any, start: Any, a: Any, b: Any, alpha: Any) -> Any:
    """start + alpha * (a @ b).sum(0): one product after the other is added to what stands there."""
    if not len(a) or not (is_packed(xp, a[0], b[0]) or _is_small(xp, a, b)):
        product = _library_product(xp, a, b).sum(0) * a.dtype.type(alpha)
        return product if start is None else product + start
    for pair in zip(a, b, strict=True):
        start = added_product(xp, start, *pair, alpha)
    return start


def _library_product(xp: Any, a: Any, b: Any) -> Any:
    """a @ b by NumPy's library, which has no quick way for integers: where no sum of products is
    beyond what a float holds, floats are exact."""
    if a.dtype.kind not in "iu" or min(a.size, b.size) < FEW or xp.__name__ != "numpy":
        return xp.matmul(a, b)
    most = a.shape[-1] * math.prod(max(int(m.max()), -int(m.min())) for m in (a, b))
    if most > 1 << 53:
        return xp.matmul(a, b)
    kind = "float32" if most <= 1 << 24 else "float64"
    product = xp.matmul(a.astype(kind), b.astype(kind))
    return product.astype("int64").astype(a.dtype)  # by way of the widest, from which types wrap


def _is_small(xp: Any, a: Any, b: Any) -> bool:
    """Is it one of the products that are added up here?"""
    if a.dtype.char not in "fd" or xp.__name__ != "numpy":
        return False
    count = _count(a, b)
    if count <= PRODUCTS:
        return count > 0
    if a.ndim == 1:
        return bool(count <= VECTORS)
    if a.ndim == b.ndim == 3:
        return count <= SIDE_BY_SIDE and _are_alike(a, b)
    if count > LAYER or a.ndim != 2:
        return False
    if b.ndim == 1:
        return 2 * count <= LAYER
    if b.ndim != 2:
        return False
    return _way(a, b) not in (_column, _row) or 2 * count <= LAYER


def _count(a: Any, b: Any) -> int:
    return int(a.size * b.shape[-1] if b.ndim > 1 else a.size)


def _way(a: Any, b: Any) -> Any:
    """The routine for two matrices.

    Where a row starts in memory matters to two of them: operands and results are taken to start at
    a boundary, as memory of their own does.
    """
    (rows, inner), columns = a.shape, b.shape[1]
    if inner == 1 and rows > 1 and columns > 1:
        return _outer  # -1 * 0 stays -0, which a sum would turn into 0
    if rows >= ROWS and columns >= COLUMNS:
        return _packed
    if columns == 1 and rows > 1:
        return _column if _is_row_major(a) else _down_columns
    if _is_row_major(b):
        return _down_columns
    if rows == 1:
        return _row
    return _across_rows if _is_row_major(a) else _both_transposed


def _is_row_major(matrix: Any) -> bool:
    step, size = matrix.strides, matrix.itemsize
    if step[1] == size and step[0] >= size * matrix.shape[1]:
        return True
    return not (step[0] == size and step[1] >= size * matrix.shape[0])


def _outer(xp: Any, a: Any, b: Any) -> Any:
    return a * b


def _packed(xp: Any, a: Any, b: Any) -> Any:
    return xp.matmul(a, b)


def _column(xp: Any, a: Any, b: Any) -> Any:
    return _by_rows_of(xp, a, b[:, 0])[:, None]


def _row(xp: Any, a: Any, b: Any) -> Any:
    return _by_rows_of(xp, b.T, a[0])[None]


def _both_transposed(xp: Any, a: Any, b: Any) -> Any:
    return xp.add.reduce(a[:, :, None] * b, axis=1)


def _times_vector(xp: Any, matrix: Any, vector: Any) -> Any:
    return _in_turn(xp, matrix * vector)


def _added_to_vector(xp: Any, start: Any, matrix: Any, vector: Any, alpha: Any) -> Any:
    """The routine for columns adds to what stands there, the one for rows adds its own sums."""
    (rows, count), (down, across) = matrix.shape, matrix.strides
    size = matrix.itemsize
    start = xp.zeros(rows, matrix.dtype) if start is None else xp.broadcast_to(start, rows)
    if down == size and (count == 1 or across >= size * max(1, rows)):
        products = matrix * (vector * alpha)
        return _in_turn(xp, xp.concatenate([start[:, None], products], axis=1))
    product = _by_rows_of(xp, matrix, vector)
    return start + (product if alpha == 1 else product * alpha)


# ---- the ways to add


def _from_zero(total: Any) -> Any:
    total += 0.0
    return total


def _in_turn(xp: Any, products: Any) -> Any:
    """Along the last dimension, one after another."""
    return xp.add.accumulate(products, axis=-1)[..., -1]


def _lanes(products: Any) -> int:
    return VECTOR // int(products.itemsize)


def _in_vectors(xp: Any, products: Any, head: int, vectors: int, step: int) -> Any:
    """Along the last dimension, in vectors side by side, `step` numbers for each turn.

    The first numbers go to the first lane, one after another; what fills turns goes to all lanes;
    neighbouring vectors are added until there is one, then the second half of the lanes to the
    first; what is left over follows.
    """
    count, lanes = products.shape[-1], _lanes(products)
    if count - head < step:
        return _in_turn(xp, products)
    end = head + (count - head) // step * step
    blocks = products[..., head:end].reshape(*products.shape[:-1], -1, vectors, lanes)
    if head:
        blocks = blocks.copy()
        blocks[..., 0, 0, 0] += _in_turn(xp, products[..., :head])
    total = xp.add.reduce(blocks, axis=-3)
    while total.shape[-2] > 1:
        total = total[..., 0::2, :] + total[..., 1::2, :]
    total = total[..., 0, :]
    while (half := total.shape[-1] // 2) > 0:
        total = total[..., :half] + total[..., half:]
    total = total[..., 0]
    for place in range(end, count):
        total = total + products[..., place]
    return total


def _down_vectors(xp: Any, products: Any, head: int, vectors: int, step: int) -> Any:
    """The same along the first dimension, where the numbers of many sums lie side by side."""
    count, lanes = len(products), _lanes(products)
    if count - head < step:
        return xp.add.reduce(products, axis=0, initial=-0.0)
    end = head + (count - head) // step * step
    blocks = products[head:end].reshape(-1, vectors, lanes, *products.shape[1:])
    if head:
        blocks = blocks.copy()
        blocks[0, 0, 0] += xp.add.reduce(products[:head], axis=0)
    total = xp.add.reduce(blocks, axis=0)
    while len(total) > 1:
        total = total[0::2] + total[1::2]
    total = total[0]
    while (half := len(total) // 2) > 0:
        total = total[:half] + total[half:]
    total = total[0]
    for place in range(end, count):
        total = total + products[place]
    return total


def _dot(xp: Any, products: Any) -> Any:
    """Four vectors side by side; what is left goes to the first one or two, and the last numbers
    to the first lane."""
    count, lanes = len(products), _lanes(products)
    whole = count - count % (4 * lanes)
    total = xp.add.reduce(products[:whole].reshape(-1, 4 * lanes), axis=0)
    if lanes == 4 and count - whole >= 2 * lanes:
        total[: 2 * lanes] += products[whole : whole + 2 * lanes]
        whole += 2 * lanes
    while count - whole >= lanes:
        total[:lanes] += products[whole : whole + lanes]
        whole += lanes
    for value in products[whole:]:
        total[0] += value
    first, second, third, fourth = total.reshape(4, lanes)
    total = first + second + third + fourth
    return (total[0] + total[2]) + (total[1] + total[3]) if lanes == 4 else total[0] + total[1]


def _by_rows_of(xp: Any, matrix: Any, vector: Any) -> Any:
    """A row-major matrix times a vector: four rows at a time, then two, then one."""
    (rows, count), lanes = matrix.shape, _lanes(matrix)
    fours = rows - rows % 4
    parts = []
    if fours:
        head = (count - 1) % lanes + 1
        turned = xp.multiply(matrix[:fours].T, vector[:, None], order="C")
        parts.append(_down_vectors(xp, turned, head, 1, lanes))
    products = matrix[fours:] * vector
    if count - lanes < UNROLLED:
        if rows > fours:
            parts.append(_in_turn(xp, products))
    else:
        for place in range(rows - fours):
            of_two = rows - fours >= 2 and place < 2
            vectors = (2, 1)[place] if of_two else UNROLLED // lanes
            parts.append(_in_vectors(xp, products[place : place + 1], lanes, vectors, UNROLLED))
    return parts[0] if len(parts) == 1 else xp.concatenate(parts)


def _down_columns(xp: Any, a: Any, b: Any, start: Any = None) -> Any:
    """All columns of the result side by side, one product of each after another."""
    if b.shape[1] == 1:
        products = a * b[:, 0]
        if start is not None:
            products = xp.concatenate([start, products], axis=1)
        return _in_turn(xp, products)[:, None]
    if len(a) > b.shape[1]:  # the longest loops run over what is longest, and without gaps
        turned = xp.ascontiguousarray(a.T)[:, None]
        products = xp.multiply(turned, b[:, :, None], order="C").swapaxes(1, 2)
    else:
        products = xp.multiply(a.T[:, :, None], b[:, None, :], order="C")
    if start is not None:
        products[0] += start
    return _added_down(xp, products, None if start is None else -0.0)


def _added_down(xp: Any, products: Any, initial: float | None = None) -> Any:
    """The sums (rows, columns) of products (count, rows, columns)."""
    (count, _, columns), lanes = products.shape, _lanes(products)
    total = xp.add.reduce(products, axis=0, initial=initial)
    if count >= UNROLLED and columns > lanes and columns % lanes:
        total = xp.ascontiguousarray(total)
        _correct_unaligned(xp, total, products)
    return total


def _correct_unaligned(xp: Any, total: Any, products: Any) -> None:
    """What stands before the first aligned number of a row is worked out apart from the vectors:
    every other four products become one sum before they are added."""
    (count, rows, columns), lanes = products.shape, _lanes(products)
    heads = -(xp.arange(rows) * columns) % lanes
    heads[columns - heads < lanes] = 0
    apart = products[:, :, :lanes]  # one more than is wrong: NumPy adds a single column in halves
    whole = count - count % 8
    turns = apart[:whole].reshape(-1, 8, rows, lanes)
    joined = turns[:, 4] + turns[:, 5] + turns[:, 6] + turns[:, 7]
    terms = xp.concatenate([turns[:, :4], joined[:, None]], axis=1).reshape(-1, rows, lanes)
    terms = xp.concatenate([terms, apart[whole:]])
    corrected = xp.add.reduce(terms, axis=0, initial=-0.0)[:, : lanes - 1]
    unaligned = xp.arange(lanes - 1) < heads[:, None]
    xp.copyto(total[:, : lanes - 1], corrected, where=unaligned)


def _across_rows(xp: Any, a: Any, b: Any) -> Any:
    """Rows of a times rows of the transposed b, as in a linear layer: in vectors along both. Its
    own sums start at 0, whatever they are added to."""
    turned = xp.ascontiguousarray(a.T)[:, None, :]  # the longest loops run over the rows of a
    products = xp.multiply(turned, b[:, :, None], order="C")
    return _added_across(xp, products)


def _added_across(xp: Any, products: Any) -> Any:
    """The sums (rows, columns) of products (count, columns, rows)."""
    (count, columns, rows), lanes = products.shape, _lanes(products)
    if count < lanes:
        return _from_zero(xp.add.reduce(products, axis=0).T)
    total = xp.empty((rows, columns), dtype=products.dtype)
    fours = columns - columns % 4
    period = lanes // math.gcd(count, lanes)  # of how rows lie to the boundaries of vectors
    for first in range(min(period, rows)):
        head, some = -first * count % lanes, products[:, :, first::period]
        if fours:
            found = _down_vectors(xp, some[:, :fours], head, 1, lanes)
            total[first::period, :fours] = found.T
        if fours < columns:
            vectors = UNROLLED // lanes
            found = _down_vectors(xp, some[:, fours:], head, vectors, UNROLLED)
            total[first::period, fours:] = found.T
    return _from_zero(total)


def _are_alike(a: Any, b: Any) -> bool:
    """Are the rows of all matrices added alike, as if they were those of one?"""
    return b.shape[2] > 1 and _way(a[0], b[0]) in (_across_rows, _down_columns)


def _batches(xp: Any, a: Any, b: Any) -> Any:
    if a.shape[1] * a.shape[2] * b.shape[2] < BY_HAND:
        return _from_zero(_in_turn(xp, a[:, :, None, :] * b.swapaxes(1, 2)[:, None]))
    if _are_alike(a, b):
        return _side_by_side(xp, a, b)
    found = []
    for pair in zip(a, b, strict=True):
        way = _way(*pair)
        product = way(xp, *pair)
        found.append(product if way is _outer else _from_zero(product))
    return xp.stack(found)


def _side_by_side(xp: Any, a: Any, b: Any) -> Any:
    batch, rows, count = a.shape
    left = a.transpose(2, 0, 1)
    if _way(a[0], b[0]) is _down_columns:
        products = xp.multiply(left[..., None], b.swapaxes(0, 1)[:, :, None], order="C")
        total = _added_down(xp, products.reshape(count, batch * rows, -1))
    else:
        products = xp.multiply(left[:, None], b.transpose(1, 2, 0)[..., None], order="C")
        total = _added_across(xp, products.reshape(count, -1, batch * rows))
    return _from_zero(total).reshape(batch, rows, -1)
