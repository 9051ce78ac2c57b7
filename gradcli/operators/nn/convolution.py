"""Operators: convolution and transposed convolution of one, two and three dimensions."""

from __future__ import annotations

from typing import Any

from ...engine.memory.layout import (
    channels,
    element_strides,
    relaid,
    row_major,
    suggests,
    suggests_channels_last,
)
from ...engine.schema.operator import Reduced, composite, operator
from ..conventions import Late
from . import convolution_kernels as kernels
from .convolution_checks import (
    check_groups,
    check_input,
    check_operands,
    check_same,
    check_weight,
    expanded,
)
from .windows import each

transpose = Late("transpose.int")
slice_ = Late("slice.Tensor")
view = Late("view")
expand = Late("expand")


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
    return _cropped(_swapped(out), weight)


def _cropped(out: Any, like: Any) -> Any:
    for place, size in enumerate(like.shape[2:], 2):
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
        return _cropped(out, input)
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
    forward=kernels.backward,
    reduced=Reduced(
        lambda kind, *given: kernels.backward(kind.xp, *given, settle=_steps(kind))
    ),
    joint={("grad_output", "input", "weight"): _double},
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
        kernels.forward(xp, input, weight, *settings), input, weight
    ),
    reduced=Reduced(
        lambda kind, input, weight, *settings: _laid_out(
            kernels.forward(kind.xp, input, weight, *settings, settle=_steps(kind)), input, weight
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
    cost=kernels.elements,
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
