"""Operators: convolution as products of matrices: windows are columns, kernels are rows, and every
group has a matrix of its own."""

from __future__ import annotations

from math import prod
from typing import Any

from .windows import padded, windows


def windows_of(
    xp: Any, x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, count: Any, groups: int
) -> Any:
    """A view (batch, groups, channels of a group, *count, *kernel)."""
    wide = padded(xp, x, padding, padding)
    return windows(xp, _grouped(wide, groups), kernel, stride, dilation, count)


def columns(view: Any, ndim: int) -> Any:
    """The windows as matrices (groups, elements of a window, windows)."""
    shape = view.shape
    order = (1, 2, *range(3 + ndim, view.ndim), 0, *range(3, 3 + ndim))
    held, many = shape[2] * prod(shape[3 + ndim :]), shape[0] * prod(shape[3 : 3 + ndim])
    return view.transpose(order).reshape((shape[1], held, many))


def channel_rows(x: Any, groups: int) -> Any:
    """Images as matrices (groups, channels of a group, batch and places)."""
    parts = _grouped(x, groups)
    order = (1, 2, 0, *range(3, parts.ndim))
    size = parts.shape[0] * prod(parts.shape[3:])
    return parts.transpose(order).reshape((groups, parts.shape[2], size))


def filters(weight: Any, groups: int) -> Any:
    """Kernels as matrices (groups, kernels of a group, elements of a window)."""
    return weight.reshape((groups, weight.shape[0] // groups, prod(weight.shape[1:])))


def images(product: Any, batch: int, count: Any) -> Any:
    """A product (groups, channels of a group, batch and places) as (batch, channels, *count)."""
    return joined(product.reshape((*product.shape[:2], batch, *count)).transpose(
        (2, 0, 1, *range(3, 3 + len(count)))
    ))  # fmt: skip


def joined(out: Any) -> Any:
    """Groups and channels of a group become channels again."""
    batch, groups, inner = out.shape[:3]
    return out.reshape((batch, groups * inner, *out.shape[3:]))


def _grouped(x: Any, groups: int) -> Any:
    """Splits the channels' dimension into (groups, channels of a group)."""
    shape = x.shape
    return x.reshape((shape[0], groups, shape[1] // groups, *shape[2:]))
