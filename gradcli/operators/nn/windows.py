"""Operators: windows sliding over the last dimensions of an array, for convolution and pooling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..conventions import wrap_dim

__all__ = ["each", "padded", "pooled_size", "scatter", "windows", "wrap_dim"]


def each(value: Any, count: int) -> tuple[int, ...]:
    """One number for all dimensions, or one for each."""
    sizes = (value,) if isinstance(value, int) else tuple(value)
    return sizes * count if len(sizes) == 1 else sizes


def padded(xp: Any, x: Any, before: Sequence[int], after: Sequence[int], fill: float = 0) -> Any:
    """The last dimensions widened by a constant."""
    if not any(before) and not any(after):
        return x
    lead = x.ndim - len(before)
    pairs = [(0, 0)] * lead + list(zip(before, after, strict=True))
    return xp.pad(x, pairs, constant_values=fill)


def windows(
    xp: Any, x: Any, kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int],
    count: Sequence[int],
) -> Any:  # fmt: skip
    """A view (..., *count, *kernel) of the windows that start every `stride` elements."""
    ndim = len(kernel)
    spans = tuple((k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True))
    axes = tuple(range(x.ndim - ndim, x.ndim))
    view = xp.lib.stride_tricks.sliding_window_view(x, spans, axis=axes)
    lead = (slice(None),) * (x.ndim - ndim)
    starts = tuple(slice(None, (n - 1) * s + 1, s) for n, s in zip(count, stride, strict=True))
    inside = tuple(slice(None, None, d) for d in dilation)
    return view[(*lead, *starts, *inside)]


def scatter(
    xp: Any, values: Any, shape: Sequence[int], stride: Sequence[int], dilation: Sequence[int],
    settle: Any = None, by_window: bool = False,
) -> Any:  # fmt: skip
    """Adds values (..., *count, *kernel) to where their windows lay: the adjoint of windows.

    `settle` rounds each sum; an element's first window is the last of those by place in the kernel.
    """
    ndim = len(stride)
    count, kernel = values.shape[-2 * ndim : -ndim], values.shape[-ndim:]
    sizes = [*values.shape[: -2 * ndim], *shape]
    if math.prod(map(int, sizes)) * values.dtype.itemsize >= 1 << 63:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={sizes}")
    out = xp.zeros(sizes, dtype=values.dtype)
    places = list(xp.ndindex(*kernel))
    for place in reversed(places) if by_window else places:
        target = tuple(
            slice(p * d, p * d + (n - 1) * s + 1, s)
            for p, d, n, s in zip(place, dilation, count, stride, strict=True)
        )
        out[(Ellipsis, *target)] += values[(Ellipsis, *place)]
        if settle is not None:
            out[(Ellipsis, *target)] = settle(out[(Ellipsis, *target)])
    return out


def pooled_size(
    size: int, kernel: int, before: int, after: int, stride: int, dilation: int, ceil: bool
) -> int:
    """How many windows fit; with ceil a last one may start inside and end outside."""
    span = size + before + after - dilation * (kernel - 1) - 1 + (stride - 1 if ceil else 0)
    count = span // stride + 1
    if ceil and (count - 1) * stride >= size + before:
        count -= 1
    return count
