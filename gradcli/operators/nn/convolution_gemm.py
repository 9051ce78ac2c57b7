"""Operators: convolution as oneDNN multiplies matrices of windows where no kernel of its own fits.

A weight's gradient is added up example by example, each of which has its product's sums: by vectors
of eight or of sixteen, or one after another. (A large number that swallows what is added between
it and its opposite shows the order.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ...numerics.in_turn import added_in_blocks, blocks, multiplied_as_one_sum, multiplied_in_turn
from ...numerics.summation import halved
from ...numerics.thresholds import TURNS
from . import convolution_matrices as matrices

LANES = 16  # of a sum of products where a group has fewer kernels than that


def is_taken(
    channels: int, kernels: int, stride: Any, padding: Any, dilation: Any, grouped: bool
) -> bool:
    """Is the gradient of the weights of such a group computed so?"""
    is_dilated = max(dilation) > 1
    if is_dilated and max(stride) > 1:
        return True
    is_plain = not is_dilated and (len(padding) < 3 or not any(padding))
    if grouped:
        width = 8 if is_plain else 16
        return bool(channels % width or kernels % width)
    return 4 <= channels < 16 and not is_plain


def multiplied(xp: Any, a: Any, b: Any) -> Any:
    """a @ b for batches of matrices, in blocks; a vector knows none."""
    if a.shape[-2] == 1:
        return multiplied_as_one_sum(xp, a, b)
    return added_in_blocks(xp, a, b, blocks(a.shape[-1]))


def weight_gradient(
    xp: Any, grad: Any, x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> tuple[Any, Any] | None:
    """(out, channels of a group, *kernel), and what a bias gets; None where it would take too
    long."""
    if len(grad) * (grad.shape[2] if len(kernel) > 2 else 1) > TURNS:
        return None
    view = matrices.windows_of(xp, x, kernel, stride, padding, dilation, grad.shape[2:], groups)
    total, add = None, _way_to_add(grad.shape[1] // groups)
    for given, seen in _planes(grad, view, len(kernel)):
        rows = matrices.channel_rows(given[None], groups)
        for part in add(xp, rows, matrices.columns(seen[None], len(kernel))):
            total = part if total is None else total + part
    assert total is not None
    rows = xp.add.accumulate(grad, axis=-1)[..., -1]  # each row of an image has its sum
    bias = xp.add.accumulate(xp.moveaxis(rows, 1, -1).reshape(-1, grad.shape[1]), axis=0)[-1]
    return total.reshape(grad.shape[1], view.shape[2], *kernel), bias


def _planes(grad: Any, view: Any, ndim: int) -> Iterator[tuple[Any, Any]]:
    """What is multiplied at once: an example, or each of its planes where that has three
    dimensions."""
    for given, seen in zip(grad, view, strict=True):
        if ndim < 3:
            yield given, seen
            continue
        for place in range(given.shape[1]):
            plane = slice(place, place + 1)
            yield given[:, plane], seen[:, :, plane]


def bias_gradient(xp: Any, grad: Any) -> Any:
    """Of a transposed convolution: every example has a sum of its own."""
    grad = grad.reshape(*grad.shape[:2], -1)
    return xp.add.accumulate(xp.add.accumulate(grad, axis=2)[..., -1], axis=0)[-1]


def _way_to_add(kernels: int) -> Callable[[Any, Any, Any], Iterator[Any]]:
    """How oneDNN multiplies a matrix of so many rows with a transposed one, in parts that are added
    one after another."""
    if kernels >= LANES:
        return _added_in_turn
    return _added_in_lanes if kernels > 1 else _added_as_vectors


def _added_in_turn(xp: Any, rows: Any, columns: Any) -> Iterator[Any]:
    first = 0
    for size in blocks(rows.shape[2]):
        block = slice(first, first + size)
        across = xp.ascontiguousarray(columns[..., block].swapaxes(1, 2))
        yield multiplied_in_turn(xp, rows[..., block], across)
        first += size


def _lanes(xp: Any, x: Any, lanes: int) -> Any:
    """(groups, rows, places) as (groups, lanes, rows, rounds), zeros after the last place."""
    groups, rows, places = x.shape
    wide = xp.zeros((groups, rows, -(-places // lanes) * lanes), x.dtype)
    wide[..., :places] = x
    return wide.reshape(groups, rows, -1, lanes).transpose(0, 3, 1, 2)


def _added_in_lanes(xp: Any, rows: Any, columns: Any) -> Iterator[Any]:
    """Sixteen sums side by side; the second half is added to the first, again and again."""
    left, right = _lanes(xp, rows, LANES), _lanes(xp, columns, LANES).swapaxes(2, 3)
    total = multiplied_as_one_sum(xp, left, xp.ascontiguousarray(right))
    yield halved(xp.moveaxis(total, 1, -1))[..., 0]


def _added_as_vectors(xp: Any, rows: Any, columns: Any) -> Iterator[Any]:
    """Rounds of two vectors of eight on one sum; then eight, four, two and one, if so many are
    left. Of a vector neighbours are added first."""
    first = rows.shape[2] // 16 * 16
    if first:
        left, right = _lanes(xp, rows[..., :first], 8), _lanes(xp, columns[..., :first], 8)
        lanes = multiplied_as_one_sum(xp, left, xp.ascontiguousarray(right.swapaxes(2, 3)))
        yield _paired(xp.moveaxis(lanes, 1, -1))
    products = rows[:, :, None, first:] * columns[:, None, :, first:]
    left_over, first = products.shape[-1], 0
    for size in (8, 4, 2, 1):
        if left_over & size:
            yield _paired(products[..., first : first + size])
            first += size


def _paired(lanes: Any) -> Any:
    """Neighbours are added, then the halves of what they make, again and again."""
    if lanes.shape[-1] > 1:
        lanes = lanes[..., ::2] + lanes[..., 1::2]
    while (half := lanes.shape[-1] // 2) > 0:
        lanes = lanes[..., :half] + lanes[..., half:]
    return lanes[..., 0]
