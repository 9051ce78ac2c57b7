"""Operators: convolution over arrays: windows as matrices, products of them, and their adjoints."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from ...numerics.in_turn import adds_in_turn
from ...numerics.thresholds import GROUPED, TURNS
from . import (
    convolution_direct as direct,
    convolution_matrices as matrices,
    convolution_single as single,
)
from .convolution_groups import Apart, Groups
from .windows import scatter

# Products of two matrices, from which on NumPy's library adds them alike however the operands lie.
_PACKED = 1_000_000


# Elements of the windows that are made at once, unless those of one example are more.
MOST_WINDOWS = 1 << 27


def _examples_at_once(held: int) -> int:
    """How many, where the windows of one have so many elements."""
    return max(1, MOST_WINDOWS // max(1, held))


def _in_pieces(xp: Any, work: Callable[[Any], Any], x: Any, held: int) -> Any:
    """work(x), a few examples at a time where their windows would take too much memory."""
    step = _examples_at_once(held)
    if x.shape[0] <= step:
        return work(x)
    return xp.concatenate([work(x[at : at + step]) for at in range(0, x.shape[0], step)])


def _way(xp: Any, x: Any, weight: Any, stride: Any, dilation: Any, groups: int, settle: Any) -> Any:
    """What adds in PyTorch's order; None where that is not known."""
    if settle is not None or x.dtype.char != "f" or xp.__name__ != "numpy":
        return None
    if not x.size or not weight.size:
        return None
    if not direct.is_taken(x, weight, stride, dilation, groups):
        if groups == 1:
            return single
        return Apart(groups) if groups * len(x) <= TURNS else None
    if not adds_in_turn():
        return None
    if groups > 1 and x.size * prod(weight.shape[2:]) > GROUPED:
        return None
    if weight.shape[1] > 1 and groups > TURNS:
        return None
    return direct if groups == 1 else Groups(groups)


def _product(xp: Any, a: Any, b: Any) -> Any:
    """a @ b for batches of matrices; a single product keeps its sign, also that of -1 * 0."""
    return a * b if a.shape[-1] == 1 else xp.matmul(a, b)


def _correlate(
    xp: Any, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int,
    way: Any,
) -> Any:  # fmt: skip
    kernel = weight.shape[2:]
    count = tuple(
        (size + 2 * p - d * (k - 1) - 1) // s + 1
        for size, k, s, p, d in zip(x.shape[2:], kernel, stride, padding, dilation, strict=True)
    )
    held = x.shape[1] * prod(kernel) * prod(count)
    if way is not None:
        others = (weight, bias, stride, padding, dilation, count)
        return _in_pieces(xp, lambda part: way.correlated(xp, part, *others), x, held)

    def correlated(part: Any) -> Any:
        others = (kernel, stride, padding, dilation, count, groups)
        columns = matrices.columns(matrices.windows_of(xp, part, *others), len(kernel))
        product = _product(xp, matrices.filters(weight, groups), columns)
        return matrices.images(product, part.shape[0], count)

    out = _in_pieces(xp, correlated, x, held)
    return _biased(out, bias)


def _biased(out: Any, bias: Any) -> Any:
    return out if bias is None else out + bias.reshape((1, -1) + (1,) * (out.ndim - 2))


def _spread(
    xp: Any, x: Any, weight: Any, stride: Any, padding: Any, dilation: Any, shape: Any, groups: int,
    settle: Any, way: Any,
) -> Any:  # fmt: skip
    """The adjoint: every element of x leaves a scaled kernel; `shape` is that of the result."""
    ndim, count, kernel = len(stride), x.shape[2:], weight.shape[2:]
    held = weight.shape[1] * groups * prod(kernel) * prod(count)
    if x.shape[0] > _examples_at_once(held):
        others = (weight, stride, padding, dilation, shape, groups, settle, way)
        return _in_pieces(xp, lambda part: _spread(xp, part, *others), x, held)
    if way is not None:
        out = way.spread(xp, x, weight, stride, padding, dilation, shape)
        if out is not None:
            return out
    if way is None or way is direct:
        across = matrices.filters(weight, groups).transpose(0, 2, 1)
        values = _product(xp, across, matrices.channel_rows(x, groups))
    else:
        values = way.spread_products(xp, x, weight)
    values = values.reshape((groups, weight.shape[1], *kernel, x.shape[0], *count))
    places = range(3 + ndim, 3 + 2 * ndim)
    values = values.transpose((2 + ndim, 0, 1, *places, *range(2, 2 + ndim)))
    wide = tuple(size + 2 * p for size, p in zip(shape, padding, strict=True))
    reach = tuple(
        max(w, (n - 1) * s + d * (k - 1) + 1)
        for w, n, s, d, k in zip(wide, count, stride, dilation, kernel, strict=True)
    )
    values = values if settle is None else settle(values)
    out = scatter(xp, values, reach, stride, dilation, settle)
    cut = tuple(slice(p, p + size) for p, size in zip(padding, shape, strict=True))
    out = out[(Ellipsis, *cut)]
    return matrices.joined(out)


def _weight_gradient(
    xp: Any, grad: Any, x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, groups: int,
    settle: Any = None,
) -> Any:  # fmt: skip
    if settle is not None:  # one example after the other
        total = xp.zeros((), dtype=x.dtype)
        for place in range(x.shape[0]):
            part = slice(place, place + 1)
            total = settle(total + _weight_gradient(
                xp, grad[part], x[part], kernel, stride, padding, dilation, groups
            ))  # fmt: skip
        return total
    others = (kernel, stride, padding, dilation, grad.shape[2:], groups)
    view = matrices.windows_of(xp, x, *others)
    rows, columns = matrices.channel_rows(grad, groups), matrices.columns(view, len(kernel))
    kernels, held = rows.shape[1], columns.shape[1]
    if held > 1 and (kernels == 1 or rows[0].size * held < _PACKED):
        out = _product(xp, rows, xp.ascontiguousarray(columns.transpose(0, 2, 1)))
    else:  # the columns, which are most of it, stay as they lie
        out = _product(xp, columns, rows.transpose(0, 2, 1)).transpose(0, 2, 1)
    return xp.ascontiguousarray(out).reshape((grad.shape[1], view.shape[2], *kernel))


def forward(
    xp: Any, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any,
    transposed: bool, output_padding: Any, groups: int, settle: Any = None,
) -> Any:  # fmt: skip
    way = _way(xp, x, weight, stride, dilation, groups, settle)
    if transposed:
        shape = tuple(
            (n - 1) * s - 2 * p + d * (k - 1) + o + 1
            for n, s, p, d, k, o in zip(
                x.shape[2:],
                stride,
                padding,
                dilation,
                weight.shape[2:],
                output_padding,
                strict=True,
            )
        )
        out = _biased(
            _spread(xp, x, weight, stride, padding, dilation, shape, groups, settle, way),
            bias,
        )
    else:
        out = _correlate(xp, x, weight, bias, stride, padding, dilation, groups, way)
    return out.astype(x.dtype, copy=False)


def elements(
    input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: Any,
    output_padding: Any, groups: Any,
) -> int:  # fmt: skip
    """What the kernels make on the way: the windows as matrices, and the result."""
    sizes, kernel = input.shape[2:], weight.shape[2:]
    if transposed:
        windows, channels = prod(sizes), weight.shape[1] * max(1, int(groups))
        made = channels
        places = prod((n - 1) * s + k for n, s, k in zip(sizes, stride, kernel, strict=False))
    else:
        windows, channels, made = 1, input.shape[1], weight.shape[0]
        for n, k, s, p, d in zip(sizes, kernel, stride, padding, dilation, strict=False):
            windows *= max(0, n + 2 * p - d * (k - 1) - 1) // max(1, s) + 1
        places = windows
    held = int(windows * channels * prod(kernel))
    batch = input.shape[0]
    at_once = min(batch, _examples_at_once(held))
    return int(at_once * held + batch * 2 * places * made + input.numel())


def backward(
    xp: Any, grad: Any, x: Any, weight: Any, bias_sizes: Any, stride: Any, padding: Any,
    dilation: Any, transposed: bool, output_padding: Any, groups: int, output_mask: Any,
    settle: Any = None,
) -> tuple[Any, Any, Any]:  # fmt: skip
    to_input = to_weight = to_bias = found = None
    kernel = weight.shape[2:]
    way = _way(xp, x, weight, stride, dilation, groups, settle)
    if output_mask[0]:
        if transposed:
            to_input = _correlate(xp, grad, weight, None, stride, padding, dilation, groups, way)
            to_input = to_input[(Ellipsis, *(slice(size) for size in x.shape[2:]))]
        else:
            to_input = _spread(
                xp, grad, weight, stride, padding, dilation, x.shape[2:], groups, settle, way
            )
    if output_mask[1]:
        pair = (x, grad) if transposed else (grad, x)
        if way is not None:
            found = way.weight_gradient(xp, *pair, kernel, stride, padding, dilation)
        if found is not None:
            to_weight, to_bias = found
        else:
            to_weight = _weight_gradient(
                xp, *pair, kernel, stride, padding, dilation, groups, settle
            )
    if output_mask[2] and (to_bias is None or transposed):
        others = (weight, stride, padding, dilation, transposed)
        to_bias = (way or single).bias_gradient(xp, grad, *others)
    return to_input, to_weight, to_bias
