"""Operators: convolution in groups, in the orders of the kernels that oneDNN has for them.

With sixteen, eight or four channels to fill its vectors a group is a convolution of its own; with
one channel in and out there is a kernel for all of them; else oneDNN multiplies matrices of
windows. (oneDNN's verbose mode names the kernel; a large number that swallows what is added between
it and its opposite shows the order.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

from ...numerics.in_turn import VECTOR, multiplied_as_one_sum
from . import (
    convolution_direct as direct,
    convolution_gemm as gemm,
    convolution_matrices as matrices,
    convolution_single as single,
)

LONGEST = 6  # places of an output's row that the kernel for single channels takes at once
FEW = 8  # channels, of fewer all of a group go into the sum at each place, if so many kernels do
KERNELS = (2, 3)  # columns of those whose gradient it has, with strides up to them


@dataclass(frozen=True, slots=True)
class Apart:
    """So many groups, of which PyTorch computes one after another, each as if it were alone."""

    count: int

    def correlated(
        self, xp: Any, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any,
        count: Any,
    ) -> Any:  # fmt: skip
        biases = [None] * self.count if bias is None else xp.split(bias, self.count)
        parts = zip(xp.split(x, self.count, 1), xp.split(weight, self.count), biases, strict=True)
        others = (stride, padding, dilation, count)
        return xp.concatenate([single.correlated(xp, *part, *others) for part in parts], axis=1)

    def spread(self, *_: Any) -> None:
        """Products are scattered."""

    def spread_products(self, xp: Any, x: Any, weight: Any) -> Any:
        """What x (batch, out, *count) leaves at the places of its windows: (groups, channels of a
        group, *kernel, batch, *count)."""
        parts = zip(xp.split(x, self.count, 1), xp.split(weight, self.count), strict=True)
        return xp.stack([single.spread_products(xp, *part) for part in parts])

    def weight_gradient(self, xp: Any, grad: Any, x: Any, *others: Any) -> Any:
        """(out, channels of a group, *kernel). What a bias gets is computed apart."""
        parts = zip(xp.split(grad, self.count, 1), xp.split(x, self.count, 1), strict=True)
        every = [single.weight_gradient(xp, *part, *others)[0] for part in parts]
        return xp.concatenate(every), None

    def bias_gradient(self, xp: Any, grad: Any, *_: Any) -> Any:
        parts = map(xp.ascontiguousarray, xp.split(grad, self.count, 1))
        return xp.concatenate([single.bias_gradient(xp, part) for part in parts])


@dataclass(frozen=True, slots=True)
class Groups:
    """So many groups; images are (batch, channels, *sizes), kernels (out, channels of a group,
    *kernel)."""

    count: int

    def correlated(
        self, xp: Any, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any,
        count: Any,
    ) -> Any:  # fmt: skip
        if width := self._width(weight):

            def group(x: Any, weight: Any, *bias: Any) -> Any:
                start = bias[0] if bias else None
                others = (stride, padding, dilation, count, width)
                return direct.correlated(xp, x, weight, start, *others)

            split = [xp.split(x, self.count, 1), xp.split(weight, self.count)]
            if bias is not None:
                split.append(xp.split(bias, self.count))
            return xp.concatenate(list(map(group, *split)), axis=1)
        others = (weight.shape[2:], stride, padding, dilation, count, self.count)
        view = matrices.windows_of(xp, x, *others)
        if x.shape[1] < FEW and len(weight) // self.count % FEW == 0:
            view, weight = xp.moveaxis(view, 2, -1)[:, :, None], xp.moveaxis(weight, 1, -1)[:, None]
            return _fused(xp, view, weight, bias, len(count))
        if self._is_single(weight) and padding[-1] <= min(LONGEST, count[-1]):
            return _fused(xp, view, weight, bias, len(count))
        out = _fused(xp, view, weight, None, len(count))
        return out if bias is None else out + bias.reshape((-1,) + (1,) * len(count))

    def spread(
        self, xp: Any, x: Any, weight: Any, stride: Any, padding: Any, dilation: Any, shape: Any
    ) -> Any:
        """The adjoint, as convolutions of x; None where products are scattered."""
        if self._is_single(weight) and set(dilation) == {1}:

            def fused(view: Any, taps: Any) -> Any:
                return _fused(xp, view[:, :, None], weight[taps], None, len(shape))

            space = (weight.shape[2:], stride, padding, dilation, shape)
            return direct.by_sets(xp, x, self.count, *space, False, fused)
        width, out = self._width(weight), len(weight) // self.count
        if prod(stride) > 1 and (out > direct.CHANNELS or (out == direct.CHANNELS and not width)):
            width = 0
        elif not width:
            return None
        split = zip(xp.split(x, self.count, 1), xp.split(weight, self.count), strict=True)
        others = (stride, padding, dilation, shape, width)
        every = [direct.spread(xp, *part, *others) for part in split]
        return None if every[0] is None else xp.concatenate(every, axis=1)

    def spread_products(self, xp: Any, x: Any, weight: Any) -> Any:
        """What x (batch, out, *count) leaves at the places of its windows: (groups, elements of a
        window, batch and places)."""
        across = matrices.filters(weight, self.count).swapaxes(1, 2)
        return gemm.multiplied(xp, across, matrices.channel_rows(x, self.count))

    def weight_gradient(
        self, xp: Any, grad: Any, x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any
    ) -> Any:
        """(out, channels of a group, *kernel), and what a bias gets; None where one sum would take
        too long or not be right."""
        shape = (grad.shape[1], x.shape[1] // self.count, *kernel)
        space = (kernel, stride, padding, dilation)
        way = self._way_of_weights(shape, stride, padding, dilation)
        if way is None:
            return gemm.weight_gradient(xp, grad, x, *space, self.count)
        return way(xp, grad, x, *space)

    def bias_gradient(
        self, xp: Any, grad: Any, weight: Any, stride: Any, padding: Any, dilation: Any,
        transposed: bool,
    ) -> Any:  # fmt: skip
        way = self._way_of_weights(weight.shape, stride, padding, dilation)
        return (gemm.bias_gradient if transposed and way is None else direct.added_up)(xp, grad)

    def _way_of_weights(
        self, shape: tuple[int, ...], stride: Any, padding: Any, dilation: Any
    ) -> Callable[..., Any] | None:
        """How a gradient is one sum over all examples; None where each of them has its own."""
        out, channels, columns = *shape[:2], shape[-1]
        if (out, channels) == (self.count, 1):
            is_narrow = columns in KERNELS and stride[-1] <= columns
            return self._of_single_weights if is_narrow and set(dilation) == {1} else None
        if gemm.is_taken(channels, out // self.count, stride, padding, dilation, True):
            return None
        return self._of_weights_by_group

    def _of_single_weights(
        self, xp: Any, grad: Any, x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any
    ) -> Any:
        count = grad.shape[2:]
        view = matrices.windows_of(xp, x, kernel, stride, padding, dilation, count, self.count)
        lain = matrices.columns(view, len(kernel))
        given = xp.ascontiguousarray(xp.moveaxis(grad, 1, -1)).reshape(-1, self.count)
        total = xp.empty((self.count, lain.shape[1]), grad.dtype)
        for first in range(0, self.count, VECTOR):  # of whose products the diagonal is wanted
            some = slice(first, first + VECTOR)
            left, right = lain[some], given[:, some]
            every = multiplied_as_one_sum(xp, left.reshape(-1, len(given)), right)
            total[some] = every.reshape(len(left), -1, len(left)).diagonal(0, 0, 2).T
        return total.reshape(self.count, 1, *kernel), direct.added_up(xp, grad)

    def _of_weights_by_group(
        self, xp: Any, grad: Any, x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any
    ) -> Any:
        parts = zip(xp.split(grad, self.count, 1), xp.split(x, self.count, 1), strict=True)
        space = (kernel, stride, padding, dilation)
        every = [direct.weight_gradient(xp, *part, *space, False) for part in parts]
        if any(one is None for one in every):
            return None
        totals, sums = zip(*every, strict=True)
        return xp.concatenate(totals), xp.concatenate(sums)

    def _width(self, weight: Any) -> int:
        """How many channels of a group fill a vector; 0 where none do."""
        inner, out = weight.shape[1], len(weight) // self.count
        return next((width for width in (16, 8, 4) if inner % width == out % width == 0), 0)

    def _is_single(self, weight: Any) -> bool:
        return weight.shape[1] == 1 and len(weight) == self.count


def _fused(xp: Any, view: Any, weight: Any, bias: Any, ndim: int) -> Any:
    """Windows (batch, groups, channels, *count, *kernel) and kernels give (batch, out, *count):
    each element is one sum in the order of the kernel, which begins with the bias."""
    groups = view.shape[1]
    rows = matrices.filters(weight, groups)
    lain = matrices.columns(view, ndim)
    if bias is not None:
        rows = xp.concatenate([bias.reshape(groups, -1, 1), rows], axis=2)
        lain = xp.concatenate([xp.ones_like(lain[:, :1]), lain], axis=1)
    product = gemm.multiplied(xp, rows, lain)
    return matrices.images(product, len(view), view.shape[3 : 3 + ndim])
