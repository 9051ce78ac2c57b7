"""Numerics: mean and variance of rows, to the last bit as PyTorch's normalisations find them.

PyTorch takes one number after another and corrects mean and spread by it (Welford, 1962), eight
rows of numbers side by side as long as there are eight, and joins the eight at the end (Chan, Golub
and LeVeque, 1979). The way shows: a normalised row whose gradient is zero in exact arithmetic has
the rounding errors of this very order for a gradient.
"""

from __future__ import annotations

from typing import Any

from .summation import products_down, products_in_a_row, sum_down, sum_in_a_row
from .thresholds import BATCH, FUSED, NORMALISED, ROW

LANES = 8


def moments(x: Any, axis: Any) -> tuple[Any, Any]:
    """Mean and variance, worked out in double; the mean in x's own type."""
    wide = x.astype("float64")
    mean = wide.mean(axis=axis, keepdims=True)
    wide -= mean
    wide *= wide
    return mean.astype(x.dtype), wide.mean(axis=axis, keepdims=True)


def moments_of_channels(xp: Any, x: Any) -> tuple[Any, Any]:
    """Mean and variance of each channel, dimension 1, as PyTorch's batch norm finds them.

    In a matrix one row after another is added; images are added up in double.
    """
    others = tuple(place for place in range(x.ndim) if place != 1)
    bound = NORMALISED if x.ndim == 2 and len(x) > BATCH else FUSED
    if x.dtype.char != "f" or not 0 < x.size <= bound:
        mean, spread = moments(x, others)
        return mean.reshape(-1), spread.reshape(-1)
    count = x.size // x.shape[1]
    if x.ndim == 2:
        mean = sum_down(xp, x) / x.dtype.type(count)
        distance = x - mean
        return mean, products_down(xp, distance, distance, 0)[0] / x.dtype.type(count)
    mean = moments(x, others)[0]
    distance = x - mean  # squares are rounded, their sum too, in which they are added in double
    spread = (distance * distance).sum(axis=others, dtype="float64").astype(x.dtype)
    return mean.reshape(-1), spread / x.dtype.type(count)


def shares_of_channels(xp: Any, grad: Any, centred: Any) -> tuple[Any, Any]:
    """The sums of the gradient, and of its products with the centred input, of each channel.

    In a matrix one row after another is added; of images each plane in eight lanes, and the planes
    in double, which the sums keep.
    """
    if grad.ndim == 2 and grad.flags.c_contiguous:
        return sum_down(xp, grad), products_down(xp, centred, grad, 0)[0]
    sums = grad, grad * centred
    if grad.ndim > 2 and grad.flags.c_contiguous and 0 < grad.size <= FUSED:
        planes, inputs = (x.reshape(*x.shape[:2], -1) for x in (grad, centred))
        sums = sum_in_a_row(xp, planes, LANES), products_in_a_row(xp, inputs, planes, LANES)
    axes = tuple(place for place in range(sums[0].ndim) if place != 1)
    total, tilt = (part.sum(axis=axes, dtype="float64") for part in sums)
    return total, tilt


def moments_of_rows(xp: Any, rows: Any) -> tuple[Any, Any]:
    """Mean and variance of each row of a matrix, as columns; the variance may be of type double."""
    length = rows.shape[1]
    if rows.dtype.char != "f" or not rows.size:
        return moments(rows, 1)
    if length > ROW or rows.size > NORMALISED:
        wide = rows.astype("float64")
        mean = wide @ xp.ones((length, 1)) / length
        wide -= mean
        return mean.astype(rows.dtype), xp.einsum("ij,ij->i", wide, wide)[:, None] / length
    columns = xp.ascontiguousarray(rows.T)
    whole = length // LANES * LANES
    mean, spread = _one_by_one(xp, columns[whole:])
    if whole:
        lanes = columns[:whole].reshape(-1, LANES, rows.shape[0])
        mean, spread = _joined(xp, mean, spread, length - whole, *_side_by_side(xp, lanes))
    return mean[:, None], (spread / length)[:, None]


def _one_by_one(xp: Any, columns: Any) -> tuple[Any, Any]:
    """The mean, and the sum of squared distances from it, of what the columns hold."""
    mean = spread = xp.zeros(columns.shape[1:], dtype=columns.dtype)
    for count, value in enumerate(columns, 1):
        distance = value - mean
        mean = mean + distance / count
        spread = spread + distance * (value - mean)
    return mean, spread


def _side_by_side(xp: Any, lanes: Any) -> tuple[Any, Any, int]:
    """The same of eight rows of numbers at once, where PyTorch's compiled code fuses operations."""
    mean = spread = xp.zeros(lanes.shape[1:], dtype=lanes.dtype)
    for count, value in enumerate(lanes, 1):
        distance = value - mean
        mean = fused(xp, distance, lanes.dtype.type(1) / lanes.dtype.type(count), mean)
        spread = fused(xp, distance, value - mean, spread)
    return mean, spread, len(lanes)


def _joined(
    xp: Any, mean: Any, spread: Any, count: int, means: Any, spreads: Any, each: int
) -> tuple[Any, Any]:
    """What was found so far, and what each lane found, become one."""
    kind = mean.dtype.type
    for its_mean, its_spread in zip(means, spreads, strict=True):
        share = kind(each) / kind(count + each)
        distance = its_mean - mean
        mean = fused(xp, distance, share, mean)
        spread = spread + fused(xp, distance * distance * share, kind(count), its_spread)
        count += each
    return mean, spread


def fused(xp: Any, x: Any, factor: Any, offset: Any, size: int = 0) -> Any:
    """x * factor + offset, of the shape of x; singles with one rounding, as a product of two is
    exact in double. `size` is the number of elements that decides, if not that of x."""
    if x.dtype.char != "f" or (size or x.size) > FUSED:
        return x * factor + offset
    wide = x.astype("float64")
    wide *= xp.asarray(factor, "float64")
    wide += xp.asarray(offset, "float64")
    return wide.astype(x.dtype)
