"""Numerics: pictures resized as PyTorch's kernels do it, singles to the last bit.

Dimension by dimension, the last one first, what a place takes is added up; of small pictures all
corners at once. The way back adds what each place of the output gives, one after another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, reduce
from itertools import product
from math import prod
from typing import Any

import numpy

from .moments import fused
from .thresholds import RESAMPLED

VECTOR = 8  # channels that are taken at once
SMALL = 128  # rows and columns of a picture, together
_single = numpy.float32

Kind = str
# Of one dimension: for each tap the places of the input, and their weights.
Taps = list[tuple[Any, Any]]


def is_known(xp: Any, x: Any, kind: Kind, outs: Sequence[int]) -> bool:
    """Are the sums of so many singles added here?"""
    if x.dtype.char != "f" or xp.__name__ != "numpy" or not x.size:
        return False
    if kind not in _TAPS and not kind.startswith("nearest"):
        return False
    return x.shape[0] * x.shape[1] * prod(outs) * 2 ** len(outs) <= RESAMPLED


def _positions(size: int, out: int, align: bool, given: float | None, fuse: Any = fused) -> Any:
    rows = numpy.arange(out, dtype=_single)
    if align:
        return rows * (_single(size - 1) / _single(out - 1) if out > 1 else _single(0))
    scale = _single(size) / _single(out)
    if given is not None and given > 0:
        scale = _single(1.0 / given)
    return fuse(numpy, rows + _single(0.5), scale, _single(-0.5))


def _linear(size: int, out: int, align: bool, given: float | None) -> Taps:
    at = numpy.maximum(_positions(size, out, align, given), _single(0))
    low = numpy.minimum(at.astype(int), size - 1)
    share = numpy.clip(at - low.astype(_single), _single(0), _single(1))
    return [(low, _single(1) - share), (numpy.minimum(low + 1, size - 1), share)]


def _cubic(size: int, out: int, align: bool, given: float | None, fuse: Any = fused) -> Taps:
    def near(x: Any) -> Any:
        return (_single(1.25) * x - _single(2.25)) * x * x + _single(1)

    def far(x: Any) -> Any:
        steep = fuse(numpy, fuse(numpy, x, _single(-0.75), _single(3.75)), x, _single(-6))
        return steep * x + _single(3)

    at = _positions(size, out, align, given, fuse)
    low = numpy.minimum(numpy.floor(at).astype(int), size - 1)
    share = numpy.clip(at - low.astype(_single), _single(0), _single(1))
    rest = _single(1) - share
    weights = (far(share + _single(1)), near(share), near(rest), far(rest + _single(1)))
    places = (numpy.clip(low + offset, 0, size - 1) for offset in (-1, 0, 1, 2))
    return list(zip(places, weights, strict=True))


def _rounded(xp: Any, x: Any, factor: Any, offset: Any) -> Any:
    """As `fused`, where PyTorch's code is compiled for all processors."""
    return x * factor + offset


_TAPS: dict[Kind, Callable[..., Taps]] = {
    "linear": _linear, "bilinear": _linear, "trilinear": _linear, "bicubic": _cubic,
}  # fmt: skip


def neighbours(
    size: int, out: int, scale: float, dtype: Any, exact: bool, small: bool
) -> list[int]:
    """Of each row of the output the nearest one of the input.

    Positions are of the type of what is resampled, or singles, and singles are cut off: the
    place of one row in a hundred hangs on it.
    """
    kind: Any = numpy.float64 if dtype == "float64" and not small else numpy.float32
    rows, step = numpy.arange(out, dtype=kind), kind(scale)
    if exact and not small:  # the middle of the row, less a half, more a half
        middle = (numpy.longdouble(step) * (rows + kind(0.5)) - 0.5).astype(kind)
        at = numpy.maximum(middle, kind(0)) + kind(0.5)
    else:
        at = (rows + kind(0.5) if exact else rows) * step
    return list(numpy.minimum(numpy.floor(at.astype(_single)).astype(int), size - 1).tolist())


def resampled(
    x: Any, kind: Kind, outs: Sequence[int], scales: Sequence[float | None], align: bool
) -> Any:
    """x (batch, channels, *sizes) gives (batch, channels, *outs)."""
    taps = _taps(kind, x.shape[2:], outs, scales, align)
    if kind == "bilinear" and sum(outs) <= SMALL:
        return _at_once(x, taps)
    for dim in reversed(range(len(outs))):
        behind = (1,) * (len(outs) - dim - 1)
        parts = [numpy.take(x, places, axis=2 + dim) for places, _ in taps[dim]]
        weights = [weight.reshape(-1, *behind) for _, weight in taps[dim]]
        x = parts[1] * weights[1]
        for part, weight in zip(parts[:1] + parts[2:], weights[:1] + weights[2:], strict=True):
            x = fused(numpy, part, weight, x)
    return x


def _at_once(x: Any, taps: Sequence[Taps]) -> Any:
    """All four corners; channels that fill vectors take the last one first."""
    parts, weights = [], []
    for (row, its_weight), (column, weight) in product(*taps):
        parts.append(x[:, :, row[:, None], column])
        weights.append(its_weight[:, None] * weight)
    out = numpy.empty_like(parts[0])
    whole = x.shape[1] // VECTOR * VECTOR
    for channels, step in ((slice(whole), -1), (slice(whole, None), 1)):
        first, second, *others = zip(parts[::step], weights[::step], strict=True)
        total = fused(numpy, first[0][:, channels], first[1], second[0][:, channels] * second[1])
        for part, weight in others:
            total = fused(numpy, part[:, channels], weight, total)
        out[:, channels] = total
    return out


def returned(
    grad: Any, kind: Kind, sizes: Sequence[int], scales: Sequence[float | None], align: bool
) -> Any:
    """The gradient (batch, channels, *outs) at places of the input (batch, channels, *sizes)."""
    outs = grad.shape[2:]
    given = grad.reshape(*grad.shape[:2], -1)
    total = numpy.zeros((*grad.shape[:2], prod(sizes)), grad.dtype)
    fuse = _rounded if kind == "bicubic" else fused
    for targets, sources, weights in _rounds(kind, tuple(sizes), outs, tuple(scales), align):
        part = given[..., sources]
        for weight in weights[:-1]:
            part = part * weight
        total[..., targets] = fuse(numpy, part, weights[-1], total[..., targets])
    return total.reshape(*grad.shape[:2], *sizes)


def _taps(kind: Kind, sizes: Any, outs: Any, scales: Any, align: bool, *fuse: Any) -> list[Taps]:
    return [
        _TAPS[kind](size, out, align, scale, *fuse)
        for size, out, scale in zip(sizes, outs, scales, strict=True)
    ]


@lru_cache(maxsize=4)
def _rounds(kind: Kind, sizes: Any, outs: Any, scales: Any, align: bool) -> list[Any]:
    """For the first, second, … that comes to places of the input: which places, from where, and by
    what weights. Of a cubic one the columns are taken first, and each weight by itself."""
    ndim, is_cubic = len(sizes), kind == "bicubic"
    taps = _taps(kind, sizes, outs, scales, align, *([_rounded] if is_cubic else []))
    grid = (*outs, *(len(part) for part in taps))
    target, weights = numpy.zeros(grid, int), []
    for dim, part in enumerate(taps):
        shape = [1] * (2 * ndim)
        places, its_weights = (numpy.stack(every, axis=1) for every in zip(*part, strict=True))
        shape[dim], shape[-1 - dim if is_cubic else ndim + dim] = places.shape
        target = target * sizes[dim] + places.reshape(shape)
        weights.append(its_weights.reshape(shape))
    if not is_cubic:
        weights = [reduce(numpy.multiply, weights)]
    lines = [numpy.broadcast_to(weight, grid).reshape(-1) for weight in weights]
    target = target.reshape(-1)
    order = numpy.argsort(target, kind="stable")
    ordered = target[order]
    rank = numpy.arange(len(ordered)) - numpy.searchsorted(ordered, ordered)
    every = order[numpy.argsort(rank, kind="stable")]
    parts = numpy.split(every, numpy.cumsum(numpy.bincount(rank))[:-1])
    count = prod(grid[ndim:])
    return [(target[some], some // count, [line[some] for line in lines]) for some in parts]


def scattered(grad: Any, places: Sequence[Any], sizes: Sequence[int]) -> Any:
    """Of nearest neighbours: each place of the output adds to one of the input."""
    target = numpy.zeros((), int)
    for size, dim in zip(sizes, places, strict=True):
        target = target[..., None] * size + numpy.asarray(dim)
    rows = grad.shape[0] * grad.shape[1]
    total = numpy.zeros(rows * prod(sizes), grad.dtype)
    every = numpy.arange(rows)[:, None] * prod(sizes) + target.reshape(-1)
    numpy.add.at(total, every.reshape(-1), grad.reshape(-1))
    return total.reshape(*grad.shape[:2], *sizes)
