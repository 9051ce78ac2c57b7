"""Numerics: mean and variance of rows, to the last bit as PyTorch's normalisations find them.

PyTorch takes one number after another and corrects mean and spread by it (Welford, 1962), eight
rows of numbers side by side as long as there are eight, and joins what sixteen rounds of that give
in pairs, and the eight at the end (Chan, Golub and LeVeque, 1979). The way shows: a normalised row
whose gradient is zero in exact arithmetic has the rounding errors of this order for a gradient.
"""

from __future__ import annotations

from typing import Any

from .summation import products_down, products_in_a_row, sum_down, sum_in_a_row
from .thresholds import FUSED, NORMALISED

LANES = 8
ROUNDS = 16  # vectors that are taken one after another

Part = tuple[int, Any, Any]  # how many vectors, mean, and sum of squared distances from it


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
    if x.dtype.char != "f" or not 0 < x.size <= FUSED:
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
    if rows.size > NORMALISED:
        wide = rows.astype("float64")
        mean = wide @ xp.ones((length, 1)) / length
        wide -= mean
        return mean.astype(rows.dtype), xp.einsum("ij,ij->i", wide, wide)[:, None] / length
    columns = xp.ascontiguousarray(rows.T)
    whole = length // LANES
    found = _one_by_one(xp, columns[whole * LANES :])
    if whole:
        lanes = columns[: whole * LANES].reshape(whole, LANES, len(rows))
        found = _joined(xp, found, length - whole * LANES, *_side_by_side(xp, lanes))
    mean, spread = found
    return mean[:, None], (spread / length)[:, None]


def _one_by_one(xp: Any, columns: Any) -> tuple[Any, Any]:
    """The mean, and the sum of squared distances from it, of what the columns hold."""
    mean = spread = xp.zeros(columns.shape[1:], dtype=columns.dtype)
    for count, value in enumerate(columns, 1):
        distance = value - mean
        mean = mean + distance / count
        spread = spread + distance * (value - mean)
    return mean, spread


def _side_by_side(xp: Any, lanes: Any) -> Part:
    """How many, and the same of them, of vectors of eight (count, lanes, rows): sixteen vectors one
    after another, and pairs of what they give, and pairs of these."""
    parts, whole = [], len(lanes) // ROUNDS
    if whole:
        rounds = lanes[: whole * ROUNDS].reshape(whole, ROUNDS, *lanes.shape[1:])
        every = _fused_one_by_one(xp, rounds.swapaxes(0, 1))
        parts = [(ROUNDS, *part) for part in zip(*every, strict=True)]
    if rest := len(lanes) % ROUNDS:
        parts.append((rest, *_fused_one_by_one(xp, lanes[whole * ROUNDS :])))
    levels: list[Part | None] = [None] * max(1, (len(parts) - 1).bit_length())
    part: Part | None
    for place, part in enumerate(parts, 1):
        levels[0] = _paired(xp, part, levels[0])
        for level in range(1, len(levels)):
            if place % (1 << level):
                break
            levels[level], levels[level - 1] = _paired(xp, levels[level - 1], levels[level]), None
    for part in levels[1:]:
        levels[0] = _paired(xp, part, levels[0])
    assert levels[0] is not None
    return levels[0]


def _fused_one_by_one(xp: Any, vectors: Any) -> tuple[Any, Any]:
    """As _one_by_one, where PyTorch's compiled code fuses operations."""
    one = vectors.dtype.type(1)
    mean = spread = xp.zeros(vectors.shape[1:], dtype=vectors.dtype)
    for count, value in enumerate(vectors, 1):
        distance = value - mean
        mean = fused(xp, distance, one / vectors.dtype.type(count), mean)
        spread = fused(xp, distance, value - mean, spread)
    return mean, spread


def _paired(xp: Any, part: Part | None, onto: Part | None) -> Part | None:
    """Of two parts, each (how many vectors, mean, spread), one."""
    if part is None or onto is None:
        return part or onto
    (added, its_mean, its_spread), (count, mean, spread) = part, onto
    kind = mean.dtype.type
    share, distance = kind(added) / kind(count + added), its_mean - mean
    spread = fused(xp, distance * (share * kind(count)), distance, spread + its_spread)
    return count + added, mean + share * distance, spread


def _joined(
    xp: Any, found: tuple[Any, Any], count: int, each: int, means: Any, spreads: Any
) -> tuple[Any, Any]:
    """What was found so far, and what each lane found, become one."""
    mean, spread = found
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
