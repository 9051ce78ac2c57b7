"""Operators: convolution and transposed convolution of one, two and three dimensions."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from ...engine.layout import (
    channels,
    element_strides,
    relaid,
    row_major,
    suggests,
    suggests_channels_last,
)
from ...engine.operator import Reduced, composite, operator
from ..conventions import Late
from .convolution_checks import (
    check_groups,
    check_input,
    check_operands,
    check_same,
    check_weight,
    expanded,
)
from .windows import each, padded, scatter, windows

transpose = Late("transpose.int")
slice_ = Late("slice.Tensor")
view = Late("view")
expand = Late("expand")


# Products of two matrices, from which on NumPy's library adds them alike however the operands lie.
_PACKED = 1_000_000


def _grouped(x: Any, groups: int, dim: int) -> Any:
    """Splits the channels' dimension into (groups, channels of a group)."""
    shape = x.shape
    return x.reshape((*shape[:dim], groups, shape[dim] // groups, *shape[dim + 1 :]))


def _windows_of(
    xp: Any, x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, count: Any, groups: int
) -> Any:
    """A view (batch, groups, channels of a group, *count, *kernel)."""
    wide = padded(xp, x, padding, padding)
    return windows(xp, _grouped(wide, groups, 1), kernel, stride, dilation, count)


def _columns(view: Any, ndim: int) -> Any:
    """The windows as matrices (groups, elements of a window, windows)."""
    shape = view.shape
    order = (1, 2, *range(3 + ndim, 3 + 2 * ndim), 0, *range(3, 3 + ndim))
    held, many = shape[2] * prod(shape[3 + ndim :]), shape[0] * prod(shape[3 : 3 + ndim])
    return view.transpose(order).reshape((shape[1], held, many))


def _channel_rows(x: Any, groups: int) -> Any:
    """Images as matrices (groups, channels of a group, batch and places)."""
    parts = _grouped(x, groups, 1)
    order = (1, 2, 0, *range(3, parts.ndim))
    size = parts.shape[0] * prod(parts.shape[3:])
    return parts.transpose(order).reshape((groups, parts.shape[2], size))


def _filters(weight: Any, groups: int) -> Any:
    """Kernels as matrices (groups, kernels of a group, elements of a window)."""
    return weight.reshape((groups, weight.shape[0] // groups, prod(weight.shape[1:])))


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


def _product(xp: Any, a: Any, b: Any) -> Any:
    """a @ b for batches of matrices; a single product keeps its sign, also that of -1 * 0."""
    return a * b if a.shape[-1] == 1 else xp.matmul(a, b)


def _correlate(
    xp: Any, x: Any, weight: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    ndim, kernel = len(stride), weight.shape[2:]
    count = tuple(
        (size + 2 * p - d * (k - 1) - 1) // s + 1
        for size, k, s, p, d in zip(x.shape[2:], kernel, stride, padding, dilation, strict=True)
    )

    def correlated(part: Any) -> Any:
        view = _windows_of(xp, part, kernel, stride, padding, dilation, count, groups)
        out = _product(xp, _filters(weight, groups), _columns(view, ndim))
        out = out.reshape((*out.shape[:2], part.shape[0], *count))
        return _joined(out.transpose((2, 0, 1, *range(3, 3 + ndim))))

    return _in_pieces(xp, correlated, x, x.shape[1] * prod(kernel) * prod(count))


def _joined(out: Any) -> Any:
    """Groups and channels of a group become channels again."""
    batch, groups, inner = out.shape[:3]
    return out.reshape((batch, groups * inner, *out.shape[3:]))


def _spread(
    xp: Any, x: Any, weight: Any, stride: Any, padding: Any, dilation: Any, shape: Any, groups: int,
    settle: Any = None,
) -> Any:  # fmt: skip
    """The adjoint: every element of x leaves a scaled kernel; `shape` is that of the result."""
    ndim, count, kernel = len(stride), x.shape[2:], weight.shape[2:]
    held = weight.shape[1] * groups * prod(kernel) * prod(count)
    if x.shape[0] > _examples_at_once(held):
        others = (weight, stride, padding, dilation, shape, groups, settle)
        return _in_pieces(xp, lambda part: _spread(xp, part, *others), x, held)
    values = _product(xp, _filters(weight, groups).transpose(0, 2, 1), _channel_rows(x, groups))
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
    return _joined(out)


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
    view = _windows_of(xp, x, kernel, stride, padding, dilation, grad.shape[2:], groups)
    rows, columns = _channel_rows(grad, groups), _columns(view, len(stride))
    kernels, held = rows.shape[1], columns.shape[1]
    if held > 1 and (kernels == 1 or rows[0].size * held < _PACKED):
        out = _product(xp, rows, xp.ascontiguousarray(columns.transpose(0, 2, 1)))
    else:  # the columns, which are most of it, stay as they lie
        out = _product(xp, columns, rows.transpose(0, 2, 1)).transpose(0, 2, 1)
    return xp.ascontiguousarray(out).reshape((grad.shape[1], view.shape[2], *kernel))


def _laid_out(out: Any, input: Any, weight: Any) -> Any:
    """Channels last where the input or the weight lies so. PyTorch takes a line for an image of
    one row, once it has made the input row-major."""
    if input.ndim == 3:
        sizes, strides = weight.shape, element_strides(weight)
        image = ((*sizes[:2], 1, sizes[2]), (*strides[:2], sizes[2] * strides[2], strides[2]))
        if suggests(*image):
            return relaid(out, (out.shape[1] * out.shape[2], 1, out.shape[1]))
        return row_major(out)
    return channels(out, input if suggests_channels_last(input) else weight)


def _convolution(
    xp: Any, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any,
    transposed: bool, output_padding: Any, groups: int, settle: Any = None,
) -> Any:  # fmt: skip
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
        out = _spread(xp, x, weight, stride, padding, dilation, shape, groups, settle)
    else:
        out = _correlate(xp, x, weight, stride, padding, dilation, groups)
    if bias is not None:
        out = out + bias.reshape((1, -1) + (1,) * len(stride))
    return out.astype(x.dtype, copy=False)


def _elements(
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


def _convolution_backward(
    xp: Any, grad: Any, x: Any, weight: Any, bias_sizes: Any, stride: Any, padding: Any,
    dilation: Any, transposed: bool, output_padding: Any, groups: int, output_mask: Any,
    settle: Any = None,
) -> tuple[Any, Any, Any]:  # fmt: skip
    to_input = to_weight = to_bias = None
    kernel = weight.shape[2:]
    if output_mask[0]:
        if transposed:
            to_input = _correlate(xp, grad, weight, stride, padding, dilation, groups)
            to_input = to_input[(Ellipsis, *(slice(size) for size in x.shape[2:]))]
        else:
            to_input = _spread(
                xp, grad, weight, stride, padding, dilation, x.shape[2:], groups, settle
            )
    if output_mask[1]:
        pair = (x, grad) if transposed else (grad, x)
        to_weight = _weight_gradient(xp, *pair, kernel, stride, padding, dilation, groups, settle)
    if output_mask[2]:
        to_bias = grad.sum(axis=(0, *range(2, grad.ndim)))
    return to_input, to_weight, to_bias


def _swapped(x: Any) -> Any:
    return transpose(x, 0, 1)


def _double_weight(
    ggi: Any, grad_output: Any, weight: Any, stride: Any, padding: Any, dilation: Any,
    transposed: bool,
) -> Any:  # fmt: skip
    """The weight's gradient as a convolution itself, stride and dilation exchanged."""
    zeros = (0,) * len(stride)
    first, second = (grad_output, ggi) if transposed else (ggi, grad_output)
    out = convolution(
        _swapped(first), _swapped(second), None, dilation, padding, stride, False, zeros, 1
    )
    out = _swapped(out)
    for place, size in enumerate(weight.shape[2:], 2):
        if out.shape[place] > size:
            out = slice_(out, place, 0, size, 1)
    return out


def _double(
    grads: Any, grad_output: Any, input: Any, weight: Any, stride: Any, padding: Any,
    dilation: Any, transposed: bool, output_padding: Any, groups: int, needs: Any,
) -> tuple[Any, Any, Any]:  # fmt: skip
    ggi, ggw, ggb = grads
    settings = (stride, padding, dilation, transposed, output_padding, groups)
    to_grad = to_input = to_weight = None
    if needs["grad_output"]:
        if ggi is not None:
            to_grad = convolution(ggi, weight, None, *settings)
        if ggw is not None:
            term = convolution(input, ggw, None, *settings)
            to_grad = term if to_grad is None else to_grad + term
        if ggb is not None:
            shape = (1, ggb.shape[0], *(1,) * len(stride))
            term = expand(view(ggb, shape), tuple(grad_output.shape), False)
            to_grad = term if to_grad is None else to_grad + term
    if needs["weight"] and ggi is not None:
        if groups == 1:
            to_weight = _double_weight(
                ggi, grad_output, weight, stride, padding, dilation, transposed
            )
        else:
            to_weight = convolution_backward(
                grad_output, ggi, weight, None, *settings, (False, True, False)
            )[1]
    if needs["input"] and ggw is not None:
        to_input = _double_input(ggw, grad_output, input, *settings)
    return to_grad, to_input, to_weight


def _double_input(
    ggw: Any, grad_output: Any, input: Any, stride: Any, padding: Any, dilation: Any,
    transposed: bool, output_padding: Any, groups: int,
) -> Any:  # fmt: skip
    zeros = (0,) * len(stride)
    if transposed:
        out = convolution(grad_output, ggw, None, stride, padding, dilation, False, zeros, groups)
        for place, size in enumerate(input.shape[2:], 2):
            if out.shape[place] > size:
                out = slice_(out, place, 0, size, 1)
        return out
    extra = tuple(
        size - ((n - 1) * s - 2 * p + d * (k - 1) + 1)
        for size, n, s, p, d, k in zip(
            input.shape[2:],
            grad_output.shape[2:],
            stride,
            padding,
            dilation,
            ggw.shape[2:],
            strict=True,
        )
    )
    return convolution(grad_output, ggw, None, stride, padding, dilation, True, extra, groups)


_SETTINGS = (
    "int[] stride, int[] padding, int[] dilation, bool transposed, int[] output_padding, int groups"
)


def _steps(kind: Any) -> Any:
    """float16 is added up column by column; bfloat16 has a library that rounds once."""
    return kind.settle if kind.dtype.name == "float16" else None


convolution_backward = operator(
    "convolution_backward(Tensor grad_output, Tensor input, Tensor weight, int[]? bias_sizes, "
    f"{_SETTINGS}, bool[] output_mask) -> (Tensor result0, Tensor result1, Tensor result2)",
    node="ConvolutionBackwardBackward0",
    where="hidden",
    forward=_convolution_backward,
    reduced=Reduced(
        lambda kind, *given: _convolution_backward(kind.xp, *given, settle=_steps(kind))
    ),
    joint={
        ("grad_output", "input", "weight"): (
            lambda grads, grad_output, input, weight, stride, padding, dilation, transposed,
            output_padding, groups, needs: _double(
                grads, grad_output, input, weight, stride, padding, dilation, transposed,
                output_padding, groups, needs,
            )
        )
    },
    zero="cancels",
    jacobian="convolution",
    doc="The gradients of convolution.",
    samples=("torch.autograd.grad(F.conv1d(c, c[:, :, :2]).sum(), c, create_graph=True)",),
)  # fmt: skip

convolution = operator(
    f"convolution(Tensor input, Tensor weight, Tensor? bias, {_SETTINGS}) -> Tensor",
    node="ConvolutionBackward0",
    where="hidden",
    forward=lambda xp, input, weight, *settings: _laid_out(
        _convolution(xp, input, weight, *settings), input, weight
    ),
    reduced=Reduced(
        lambda kind, input, weight, *settings: _laid_out(
            _convolution(kind.xp, input, weight, *settings, settle=_steps(kind)), input, weight
        )
    ),
    joint={
        ("input", "weight", "bias"): (
            lambda grad, input, weight, bias_sym_sizes_opt, stride, padding, dilation, transposed,
            output_padding, groups, needs: convolution_backward(
                grad, input, weight, bias_sym_sizes_opt, stride, padding, dilation, transposed,
                output_padding, groups, (needs["input"], needs["weight"], needs["bias"]),
            )
        )
    },
    cost=_elements,
    acts="product",
    jacobian="convolution",
    doc="Convolution (cross-correlation) of an input with a kernel.",
    samples=("F.conv1d(c, c[:, :, :2])",),
)  # fmt: skip


# ---- as torch.nn.functional offers it


def _batched(input: Any, ndim: int) -> tuple[Any, bool]:
    return (input, True) if input.ndim == ndim + 2 else (input.unsqueeze(0), False)


def _conv(ndim: int) -> Any:
    def body(
        input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
    ) -> Any:
        check_input(input, f"conv{ndim}d", ndim)
        x, batched = _batched(input, ndim)
        check_weight(weight)
        check_groups(groups)
        named = isinstance(padding, str)
        if named:
            check_same(x, weight, padding)
        stride = expanded(each(stride, ndim), "stride", weight)
        dilation = each(dilation, ndim)
        if named:
            x, padding = _named_padding(x, weight, padding, stride, dilation)
        padding = expanded(each(padding, ndim), "padding", weight)
        dilation = expanded(dilation, "dilation", weight)
        none = (0,) * len(stride)
        check_operands(x, weight, bias, stride, padding, dilation, none, groups, False)
        out = convolution.run(x, weight, bias, stride, padding, dilation, False, none, groups)
        return out if batched else out.squeeze(0)

    return body


def _named_padding(x: Any, weight: Any, padding: str, stride: Any, dilation: Any) -> Any:
    """'same' pads by what the kernel takes away; an odd element goes to the end."""
    if padding == "valid":
        return x, (0,) * len(stride)
    if padding != "same":
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    if any(step != 1 for step in stride):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    dims = weight.ndim - 2
    if len(dilation) not in (1, dims):
        raise RuntimeError(f"dilation cannot broadcast to {dims} dimensions")
    steps = tuple(dilation) * dims if len(dilation) == 1 else dilation
    total = [d * (k - 1) for k, d in zip(weight.shape[2:], steps, strict=True)]
    if min(total, default=0) < 0:
        raise RuntimeError("negative padding is not supported")
    if any(size % 2 for size in total):
        from .padding import constant_pad_nd

        sides: list[int] = []
        for size in reversed(total):
            sides += [0, size % 2]
        x = constant_pad_nd.run(x, tuple(sides), 0)
    return x, tuple(size // 2 for size in total)


def _conv_transpose(ndim: int) -> Any:
    def body(
        input: Any, weight: Any, bias: Any, stride: Any, padding: Any, output_padding: Any,
        groups: int, dilation: Any,
    ) -> Any:  # fmt: skip
        check_input(input, f"conv_transpose{ndim}d", ndim)
        x, batched = _batched(input, ndim)
        check_weight(weight)
        check_groups(groups)
        stride, padding, dilation, extra = (
            expanded(each(setting, ndim), name, weight)
            for name, setting in (
                ("stride", stride), ("padding", padding), ("dilation", dilation),
                ("output_padding", output_padding),
            )
        )  # fmt: skip
        check_operands(x, weight, bias, stride, padding, dilation, extra, groups, True)
        out = convolution.run(
            x, weight, bias, stride, padding, dilation, True, extra, groups
        )  # fmt: skip
        return out if batched else out.squeeze(0)

    return body


_EXAMPLES = {
    1: "c, c[:, :, :2]",
    2: "c[None], c[:2, None, :2, :2].repeat(1, 2, 1, 1)",
    3: "c[None, None], c[None, None, :1, :2, :2]",
}
_TRANSPOSED = {
    1: "c.permute(0, 2, 1)[:, :2], c[:, :, :2]",
    2: "c[None], c[:, None, :2, :2], None, 2, output_padding=1",
    3: "c[None, None], c[None, None, :1, :2, :2], padding=(0, 1, 0)",
}
for _ndim, _example in _EXAMPLES.items():
    composite(
        f"conv{_ndim}d(Tensor input, Tensor weight, Tensor? bias=None, any stride=1, "
        "any padding=0, any dilation=1, int groups=1) -> Tensor",
        _conv(_ndim),
        where="torch functional",
        doc=f"Convolution over {_ndim} dimension{'s' * (_ndim > 1)}.",
        samples=(f"F.conv{_ndim}d({_example})", f"F.conv{_ndim}d({_example}, padding=1)"),
        errors=(f"F.conv{_ndim}d(s, c)", "F.conv1d(c, x)", "F.conv2d(c, c)"),
    )
    composite(
        f"conv_transpose{_ndim}d(Tensor input, Tensor weight, Tensor? bias=None, "
        f"int[{_ndim}] stride=1, int[{_ndim}] padding=0, int[{_ndim}] output_padding=0, "
        f"int groups=1, int[{_ndim}] dilation=1) -> Tensor",
        _conv_transpose(_ndim),
        where="torch functional",
        doc=f"Transposed convolution over {_ndim} dimension{'s' * (_ndim > 1)}.",
        samples=(f"F.conv_transpose{_ndim}d({_TRANSPOSED[_ndim]})",),
        errors=("F.conv_transpose2d(c[None], c[:, None], output_padding=1)",) if _ndim == 2 else (),
    )
