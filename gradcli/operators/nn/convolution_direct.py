"""Operators: convolution in the order of oneDNN's direct kernels, to which PyTorch hands batches.

With AVX-512 they fuse one product after another into a sum, of sixteen channels at a time: over the
places of the kernel, and at each over the channels. The sums of the sixteens are added. A weight's
gradient is one such sum, over all examples and places. (oneDNN's jit_avx512_common_conv_kernel.cpp;
sums in which a large number swallows the small ones before and after it show the same.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import prod
from typing import Any

from ...engine.memory.layout import row_major
from ...numerics.in_turn import VECTOR, depth, multiplied_as_one_sum
from ...numerics.thresholds import WINDOWS
from . import convolution_gemm as gemm
from .windows import windows

Part = tuple[slice, slice]

CHANNELS = 16
FEW = 8  # channels: of fewer, windows are copied in longer runs along the image
COLOURS = 4  # channels; fewer do not make a vector
CARRIED = 64  # sums that go on from one product to the next, at little cost beside it
SETS = 16  # of places that are a stride apart; each is a convolution of its own
SMALL = 20_480  # elements of a single example, which PyTorch does not hand to oneDNN


def is_taken(
    x: Any, weight: Any, stride: Sequence[int], dilation: Sequence[int], groups: int = 1
) -> bool:
    """Does PyTorch take oneDNN for these singles? A line is an image of one row."""
    kernel = (1, *weight.shape[2:])[-2:]
    is_plain = all(step == 1 for step in (*stride, *dilation))
    if is_plain and len(x) < 16 and kernel == (1, 1):
        return False
    return groups > 1 or len(x) > 1 or min(kernel) > 3 or x.size > SMALL


def correlated(
    xp: Any, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, count: Any,
    width: int = 0,
) -> Any:  # fmt: skip
    """x (batch, channels, *sizes) and weight (out, channels, *kernel) give
    (batch, out, *count). Of one group among others so many channels make a vector."""
    along = _lies_along(weight.shape[1], len(weight))
    wide = _padded(xp, x, padding, along)
    view = windows(xp, wide, weight.shape[2:], stride, dilation, count)
    parts = _by_channels(weight.shape[1], weight.shape[2:], width)
    return row_major(_products(xp, view, weight, bias, along, parts, not width))


def _is_spread_quickly(x: Any, weight: Any, stride: Any, dilation: Any, shape: Any) -> bool:
    """Is the adjoint, as convolutions of x, known and little slower than scattered products?"""
    if prod(stride) > SETS or (prod(stride) > 1 and prod(dilation) > 1):
        return False
    held = len(x) * prod(shape) * prod(weight.shape[2:]) * x.shape[1]
    if held <= WINDOWS * prod(stride):
        return True
    return 2 * weight.shape[1] >= weight.shape[0] >= FEW and weight.shape[1] >= FEW


def spread(
    xp: Any, x: Any, weight: Any, stride: Any, padding: Any, dilation: Any, shape: Any,
    width: int = 0,
) -> Any:  # fmt: skip
    """The adjoint: x (batch, out, *count) gives (batch, channels, *shape); None where scattered
    products are known to be quicker, or the order is not known.

    With strides all channels go into one sum, unless `width` of them make a vector, and where the
    stride divides the width, the columns of the kernel have sums of their own.
    """
    if not _is_spread_quickly(x, weight, stride, dilation, shape):
        return None
    along, filters = _lies_along(*weight.shape[:2]), weight.swapaxes(0, 1)

    def products(view: Any, taps: Any) -> Any:
        taken = filters[taps]
        if prod(stride) == 1 or width:
            parts = _by_channels(len(weight), taken.shape[2:], width)
        else:
            parts = _by_columns(taken.shape[-1] if shape[-1] % stride[-1] == 0 else 1)
        return _products(xp, view, taken, None, along, parts)

    others = (stride, padding, dilation, shape, along)
    return by_sets(xp, x, weight.shape[1], weight.shape[2:], *others, products)


def by_sets(
    xp: Any, x: Any, channels: int, kernel: Any, stride: Any, padding: Any, dilation: Any,
    shape: Any, along: bool, products: Callable[[Any, Any], Any],
) -> Any:  # fmt: skip
    """The adjoint (batch, channels, *shape) from `products` of windows and places of the kernel.

    Places that are a stride apart have windows of x under the same elements of the kernel, so each
    of their sets is a convolution.
    """
    out = xp.zeros((len(x), channels, *shape), x.dtype)
    every = (slice(None),) * 2
    for first in product(*map(_first_places, stride, padding, kernel, shape)):
        near = [(f + p) % s for f, p, s in zip(first, padding, stride, strict=True)]
        taps = (*every, *(slice(n, None, s) for n, s in zip(near, stride, strict=True)))
        taken = [-(-(k - n) // s) for k, n, s in zip(kernel, near, stride, strict=True)]
        places = (*every, *(slice(f, None, s) for f, s in zip(first, stride, strict=True)))
        count = out[places].shape[2:]
        starts, sizes = [], []
        for dim, k in enumerate(taken):
            span = dilation[dim] * (k - 1)
            starts.append((first[dim] + padding[dim] - near[dim]) // stride[dim] - span)
            sizes.append(count[dim] + span)
        wide = _framed(xp, x, starts, sizes, along)
        view = windows(xp, wide, taken, (1,) * len(kernel), dilation, count)
        view = xp.flip(view, tuple(range(-len(kernel), 0)))  # the kernel in its own order
        out[places] = products(view, taps)
    return out


def _first_places(stride: int, padding: int, kernel: int, size: int) -> list[int]:
    """Of places that are a stride apart the first, where an element of the kernel comes to them."""
    found = {(near - padding) % stride for near in range(min(stride, kernel))}
    return sorted(place for place in found if place < size)


def weight_gradient(
    xp: Any, grad: Any, x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any,
    by_example: bool = True,
) -> Any:  # fmt: skip
    """(out, channels, *kernel), and what a bias would get where it comes with it; None where one
    sum would take too long or not be right. Of a kernel of one place each example has its own."""
    out, channels, count = grad.shape[1], x.shape[1], grad.shape[2:]
    held = channels * prod(kernel)
    if by_example and gemm.is_taken(channels, out, stride, padding, dilation, False):
        return gemm.weight_gradient(xp, grad, x, kernel, stride, padding, dilation, 1)
    if out > CARRIED:
        return None
    along = channels >= FEW
    view = windows(xp, _padded(xp, x, padding, along), kernel, stride, dilation, count)
    ndim = len(kernel)
    places, taps = range(2, 2 + ndim), range(2 + ndim, 2 + 2 * ndim)
    view = view.transpose(0, *places, *taps, 1)
    grad = xp.ascontiguousarray(xp.moveaxis(grad, 1, -1))
    if prod(kernel) == 1 and by_example:
        total, sums = _added_examples(xp, grad.reshape(len(x), -1, out), view, channels), None
    else:
        total, sums = _added_places(xp, grad, view, held, along)
    finite = xp.isfinite(total).all() and (sums is None or xp.isfinite(sums).all())
    if not finite:  # what carries a sum on multiplies the others by 0
        return None
    return row_major(xp.moveaxis(total.reshape(out, *kernel, channels), -1, 1)), sums


def bias_gradient(
    xp: Any, grad: Any, weight: Any, stride: Any, padding: Any, dilation: Any, transposed: bool
) -> Any:
    """Where few channels come out of a transposed convolution, they lie as given, and each example
    has a sum of its own."""
    out, channels = weight.shape[:2]
    is_taken = gemm.is_taken(channels, out, stride, padding, dilation, False)
    if transposed and (channels < COLOURS or is_taken):
        return gemm.bias_gradient(xp, grad)
    return added_up(xp, grad)


def added_up(xp: Any, grad: Any) -> Any:
    """The sum over examples and places, one after another."""
    out = grad.shape[1]
    if out == 1:
        return xp.add.accumulate(grad.reshape(-1))[-1:]
    return xp.add.reduce(xp.ascontiguousarray(xp.moveaxis(grad, 1, -1)).reshape(-1, out), 0)


def _added_examples(xp: Any, grad: Any, view: Any, channels: int) -> Any:
    total = None
    for given, seen in zip(grad, view, strict=True):
        part = multiplied_as_one_sum(xp, given.T, seen.reshape(-1, channels))
        total = part if total is None else part + total
    return total


def _added_places(xp: Any, grad: Any, view: Any, held: int, along: bool) -> tuple[Any, Any]:
    """One sum over all places, of which a product takes as many as NumPy's library adds in turn.
    The sum so far goes into the next product, where an identity multiplies it first. A window that
    holds a 1 besides gives the sums of grad."""
    out, ndim = grad.shape[-1], grad.ndim - 2
    rows, columns = (max(out, 2), held + 1) if along else (held + 1, out)  # one row: a vector
    wide = -(-columns // VECTOR) * VECTOR
    most = min(depth(rows, wide), out + prod(grad.shape[:-1]))
    left, right = xp.zeros((rows, most), grad.dtype), xp.zeros((most, wide), grad.dtype)
    (left if along else right)[:out, :out] = xp.eye(out, dtype=grad.dtype)
    (right[out:, held] if along else left[held, out:])[...] = 1
    total = (right[:out] if along else left[:, :out])[...]
    for piece in _pieces(grad.shape[:-1], most - out):
        given, seen = grad[piece].reshape(-1, out), view[piece]
        end = out + len(given)
        if along:
            left[:out, out:end] = given.T
            right[out:end, :held].reshape(seen.shape)[...] = seen
        else:
            seen = seen.transpose(*range(1 + ndim, seen.ndim), *range(1 + ndim))
            left[:held, out:end].reshape(seen.shape)[...] = seen
            right[out:end, :out] = given
        product = xp.matmul(left[:, :end], right[:end])
        total[...] = product[: len(total), : total.shape[1]]
    total = total if along else total.T
    return total[:, :held], total[:, held].copy()


def _pieces(shape: tuple[int, ...], room: int) -> Iterator[tuple[slice, ...]]:
    """Consecutive parts, of at most so many places each, in order."""
    inner = prod(shape[1:])
    if inner <= room:
        step = room // inner
        yield from ((slice(at, at + step),) for at in range(0, shape[0], step))
        return
    for place in range(shape[0]):
        yield from ((slice(place, place + 1), *rest) for rest in _pieces(shape[1:], room))


def _lies_along(channels: int, out: int) -> bool:
    """Is a matrix quickest that has a row for each window, and the channels side by side?"""
    return channels >= FEW and out > FEW


def _padded(xp: Any, x: Any, padding: Sequence[int], along: bool) -> Any:
    sizes = [size + 2 * p for size, p in zip(x.shape[2:], padding, strict=True)]
    return _framed(xp, x, [-p for p in padding], sizes, along)


def _framed(xp: Any, x: Any, starts: Sequence[int], sizes: Sequence[int], along: bool) -> Any:
    """So much of x from there on, and zeros around it, in memory along its channels or as it is."""
    batch, channels = x.shape[:2]
    if along:
        wide = xp.moveaxis(xp.zeros((batch, *sizes, channels), x.dtype), -1, 1)
    elif tuple(sizes) == x.shape[2:] and not any(starts):
        return x
    else:
        wide = xp.zeros((batch, channels, *sizes), x.dtype)
    inside, taken = [], []
    for start, size, length in zip(starts, sizes, x.shape[2:], strict=True):
        low, high = max(0, start), max(0, min(length, start + size))
        taken.append(slice(low, high))
        inside.append(slice(low - start, max(low, high) - start))
    wide[(..., *inside)] = x[(..., *taken)]
    return wide


def _by_channels(channels: int, kernel: tuple[int, ...], width: int) -> list[Part]:
    """The parts of a kernel that have sums of their own: its channels, and places in its rows."""
    step = width or (CHANNELS if prod(kernel) > 1 else channels)
    return [(slice(at, at + step), slice(None)) for at in range(0, channels, step)]


def _by_columns(columns: int) -> list[Part]:
    if columns == 1:
        return [(slice(None), slice(None))]
    return [(slice(None), slice(at, at + 1)) for at in range(columns)]


def _products(
    xp: Any, view: Any, filters: Any, bias: Any, along: bool, parts: Sequence[Part],
    bias_first: bool = True,
) -> Any:  # fmt: skip
    """Windows (batch, channels, *count, *kernel) and filters (out, channels, *kernel) give
    (batch, out, *count)."""
    ndim, out = filters.ndim - 2, len(filters)
    batch, count = len(view), view.shape[2 : 2 + ndim]
    places, taps = range(2, 2 + ndim), range(2 + ndim, 2 + 2 * ndim)
    total = None
    bias_first &= filters.shape[2:].count(1) == ndim  # of a kernel of one place
    for channels, columns in parts:
        seen, taken = view[:, channels, ..., columns], filters[:, channels, ..., columns]
        held = prod(taken.shape[1:])
        if along:
            rows = seen.transpose(0, *places, *taps, 1).reshape(-1, held)
            matrix = taken.transpose(*range(2, 2 + ndim), 1, 0).reshape(held, out)
            if bias_first and bias is not None:
                rows = xp.concatenate([xp.ones_like(rows[:, :1]), rows], axis=1)
                matrix = xp.concatenate([bias[None], matrix])
            part = multiplied_as_one_sum(xp, rows, matrix)
        else:
            lain = _columns(xp, seen.transpose(*taps, 1, 0, *places), held)
            matrix = taken.transpose(0, *range(2, 2 + ndim), 1).reshape(out, held)
            if bias_first and bias is not None:
                matrix = xp.concatenate([bias[:, None], matrix], axis=1)
                lain = xp.concatenate([xp.ones_like(lain[:1]), lain])
            part = multiplied_as_one_sum(xp, matrix, lain)[:, : batch * prod(count)]
        if total is not None:
            part = part + total
        elif bias is not None and not bias_first:
            part = part + (bias if along else bias[:, None])
        total = part
    assert total is not None
    if along:
        return xp.moveaxis(total.reshape(batch, *count, out), -1, 1)
    return total.reshape(out, batch, *count).swapaxes(0, 1)


def _columns(xp: Any, seen: Any, held: int) -> Any:
    """Windows as the columns of a matrix, which has whole vectors of them."""
    many = seen.size // held
    matrix = xp.empty((held, -(-many // VECTOR) * VECTOR), seen.dtype)
    matrix[:, many:] = 0
    matrix[:, :many].reshape(seen.shape)[...] = seen
    return matrix
