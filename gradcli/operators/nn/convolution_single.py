"""Operators: convolution of single examples as PyTorch's own kernels add it: the windows of an
example are the columns of a matrix, and Intel's library multiplies it with the kernels."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

from ...numerics.small_matmul import added_product, multiplied
from ..reduce.sums import sum_dims
from .windows import padded, windows


def correlated(
    xp: Any, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, count: Any
) -> Any:
    """x (batch, channels, *sizes) and weight (out, channels, *kernel) give
    (batch, out, *count)."""
    filters = _filters(weight)
    start = None if bias is None else bias[:, None]
    every = [
        added_product(xp, start, filters, columns, 1).reshape(-1, *count)
        for columns in _columns(xp, x, weight.shape[2:], stride, padding, dilation, count)
    ]
    return xp.stack(every)


def spread(
    xp: Any, x: Any, weight: Any, stride: Any, padding: Any, dilation: Any, shape: Any
) -> None:
    """The adjoint is no convolution here: products are scattered."""


def spread_products(xp: Any, x: Any, weight: Any) -> Any:
    """What x (batch, out, *count) leaves at the places of its windows:
    (channels, *kernel, batch, *count)."""
    across = _filters(weight).T
    every = [multiplied(xp, across, example.reshape(len(weight), -1)) for example in x]
    shape = (*weight.shape[1:], *x.shape[2:])
    return xp.stack([one.reshape(shape) for one in every], axis=weight.ndim - 1)


def weight_gradient(
    xp: Any, grad: Any, x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any
) -> Any:
    """(out, channels, *kernel): every example is added to what the ones before it gave. What a
    bias gets is computed apart."""
    total, out, count = None, grad.shape[1], grad.shape[2:]
    every = _columns(xp, x, kernel, stride, padding, dilation, count)
    for given, columns in zip(grad, every, strict=True):
        total = added_product(xp, total, given.reshape(out, -1), columns.T, 1)
    return total.reshape(out, x.shape[1], *kernel), None


def bias_gradient(xp: Any, grad: Any, *_: Any) -> Any:
    return sum_dims(grad, (0, *range(2, grad.ndim)), False)


def _filters(weight: Any) -> Any:
    return weight.reshape(len(weight), prod(weight.shape[1:]))


def _columns(
    xp: Any, x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, count: Any
) -> Iterator[Any]:
    """Of each example (channels and places of the kernel, windows)."""
    ndim = len(kernel)
    view = windows(xp, padded(xp, x, padding, padding), kernel, stride, dilation, count)
    order = (0, *range(1 + ndim, 1 + 2 * ndim), *range(1, 1 + ndim))
    for example in view:
        yield example.transpose(order).reshape(x.shape[1] * prod(kernel), prod(count))
