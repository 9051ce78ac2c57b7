"""Operators: pixels and channels rearranged; windows laid out as columns, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.schema.operator import Reduced, composite, operator
from ..conventions import INTEGERS
from .windows import padded, scatter, windows

# ---- pixel and channel shuffles


def _check_shuffle(self: Any, upscale_factor: int) -> None:
    if self.ndim < 3:
        raise RuntimeError(
            "pixel_shuffle expects input to have at least 3 dimensions, but got input with "
            f"{self.ndim} dimension(s)"
        )
    if upscale_factor <= 0:
        raise RuntimeError(
            f"pixel_shuffle expects a positive upscale_factor, but got {upscale_factor}"
        )
    square = upscale_factor * upscale_factor
    if self.shape[-3] % square:
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
            f"of upscale_factor, but input.size(-3)={self.shape[-3]} is not divisible by {square}"
        )


def _pixel_shuffle(xp: Any, x: Any, r: int) -> Any:
    *lead, c, h, w = x.shape
    out = x.reshape((*lead, c // (r * r), r, r, h, w))
    n = len(lead)
    order = (*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return _moved(xp, out.transpose(order)).reshape((*lead, c // (r * r), h * r, w * r))


def _moved(xp: Any, out: Any) -> Any:
    """Row-major, and never the memory of the operand."""
    return xp.array(out, order="C")


def _check_unshuffle(self: Any, downscale_factor: int) -> None:
    if self.ndim < 3:
        raise RuntimeError(
            "pixel_unshuffle expects input to have at least 3 dimensions, but got input with "
            f"{self.ndim} dimension(s)"
        )
    for place, word in ((-2, "height"), (-1, "width")):
        if self.shape[place] % downscale_factor:
            raise RuntimeError(
                f"pixel_unshuffle expects {word} to be divisible by downscale_factor, but "
                f"input.size({place})={self.shape[place]} is not divisible by {downscale_factor}"
            )


def _pixel_unshuffle(xp: Any, x: Any, r: int) -> Any:
    *lead, c, h, w = x.shape
    out = x.reshape((*lead, c, h // r, r, w // r, r))
    n = len(lead)
    order = (*range(n), n, n + 2, n + 4, n + 1, n + 3)
    return _moved(xp, out.transpose(order)).reshape((*lead, c * r * r, h // r, w // r))


pixel_shuffle = operator(
    "pixel_shuffle(Tensor self, int upscale_factor) -> Tensor",
    node="PixelShuffleBackward0",
    where="torch functional",
    forward=_pixel_shuffle,
    self=lambda grad, upscale_factor: pixel_unshuffle(grad, upscale_factor),
    check=_check_shuffle,
    jacobian="permutation",
    doc="Moves channels into the image: (C * r * r, H, W) to (C, H * r, W * r).",
    samples=("F.pixel_shuffle(c.repeat(1, 2, 1)[:, :4, None], 2)",),
    errors=("F.pixel_shuffle(c, 2)",),
)

pixel_unshuffle = operator(
    "pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor",
    node="PixelUnshuffleBackward0",
    where="torch functional",
    forward=_pixel_unshuffle,
    self=lambda grad, downscale_factor: pixel_shuffle(grad, downscale_factor),
    check=_check_unshuffle,
    jacobian="permutation",
    doc="Moves the image into channels: the inverse of pixel_shuffle.",
    samples=("F.pixel_unshuffle(c[:, :2, :2], 2)",),
    errors=("F.pixel_unshuffle(c, 2)",),
)


def _channel_shuffle(xp: Any, x: Any, groups: int) -> Any:
    n, c, *rest = x.shape
    out = x.reshape((n, groups, c // groups, *rest)).swapaxes(1, 2)
    return _moved(xp, out).reshape(x.shape)


def _check_channels(self: Any, groups: int) -> None:
    if self.ndim < 3:
        raise RuntimeError(
            "channel_shuffle expects input with > 2 dims, but got input with sizes "
            f"{list(self.shape)}"
        )
    if groups <= 0:
        raise RuntimeError(
            f"Number of groups to divide channels in must be positive. Value of groups:{groups}"
        )
    if self.shape[1] % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {self.shape[1]} channels and "
            f"{groups} groups."
        )


channel_shuffle = operator(
    "channel_shuffle(Tensor self, int groups) -> Tensor",
    node="ChannelShuffleBackward0",
    where="torch functional",
    forward=_channel_shuffle,
    self=lambda grad, groups: channel_shuffle(grad, grad.shape[1] // groups),
    check=_check_channels,
    jacobian="permutation",
    doc="Shuffles the channels of groups.",
    samples=("F.channel_shuffle(c[:, :2, None], 2)",),
    errors=("F.channel_shuffle(c, 2)",),
)

# ---- windows as columns

_WINDOW = "int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride"


def _count(size: int, k: int, d: int, p: int, s: int) -> int:
    return (size + 2 * p - d * (k - 1) - 1) // s + 1


def _im2col(xp: Any, x: Any, kernel: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    count = tuple(
        _count(size, *rest)
        for size, *rest in zip(x.shape[-2:], kernel, dilation, padding, stride, strict=True)
    )
    view = windows(xp, padded(xp, x, padding, padding), kernel, stride, dilation, count)
    lead = x.shape[:-3]
    n = len(lead)
    order = (*range(n), n, n + 3, n + 4, n + 1, n + 2)
    columns = view.transpose(order)
    channels = x.shape[-3] * kernel[0] * kernel[1]
    return xp.ascontiguousarray(columns).reshape((*lead, channels, count[0] * count[1]))


def _col2im(
    xp: Any, x: Any, output_size: Any, kernel: Any, dilation: Any, padding: Any, stride: Any,
    settle: Any = None,
) -> Any:  # fmt: skip
    count = tuple(
        _count(size, *rest)
        for size, *rest in zip(output_size, kernel, dilation, padding, stride, strict=True)
    )
    lead = x.shape[:-2]
    n = len(lead)
    channels = x.shape[-2] // (kernel[0] * kernel[1])
    values = x.reshape((*lead, channels, *kernel, *count))
    values = values.transpose((*range(n), n, n + 3, n + 4, n + 1, n + 2))
    wide = tuple(size + 2 * p for size, p in zip(output_size, padding, strict=True))
    out = scatter(xp, values, wide, stride, dilation, settle)
    cut = tuple(slice(p, p + size) for p, size in zip(padding, output_size, strict=True))
    return xp.ascontiguousarray(out[(Ellipsis, *cut)])


im2col = operator(
    f"im2col(Tensor self, {_WINDOW}) -> Tensor",
    node="Im2ColBackward0",
    where="hidden",
    forward=_im2col,
    self=lambda grad, self_sym_argsize_minus_2, self_sym_argsize_minus_1, kernel_size, dilation,
    padding, stride: col2im(
        grad, (self_sym_argsize_minus_2, self_sym_argsize_minus_1), kernel_size, dilation, padding,
        stride,
    ),
    cost=lambda self, kernel_size, *rest: self.numel() * kernel_size[0] * kernel_size[1],
    doc="Every window of an image as a column.",
    samples=("F.unfold(c[None], 2)",),
)  # fmt: skip

col2im = operator(
    f"col2im(Tensor self, int[2] output_size, {_WINDOW}) -> Tensor",
    node="Col2ImBackward0",
    where="hidden",
    forward=_col2im,
    reduced=Reduced(lambda kind, *given: _col2im(kind.xp, *given, settle=kind.settle)),
    self=lambda grad, kernel_size, dilation, padding, stride: im2col(
        grad, kernel_size, dilation, padding, stride
    ),
    doc="Columns added back to the windows of an image.",
    samples=("F.fold(F.unfold(c[None], 2), (3, 3), 2)",),
)


def _settings(**given: Any) -> list[Any]:
    """Two numbers of each setting, the last four of which are those of the window."""
    found = []
    for word, value in given.items():
        sizes = (value,) * 2 if isinstance(value, int) else tuple(value)
        if len(sizes) != 2:
            raise RuntimeError(f"It is expected {word} equals to 2, but got size {len(sizes)}")
        found.append(sizes)
    kernel, dilation, padding, stride = found[-4:]
    for sizes, least, words in (
        (kernel, 1, "kernel size should be greater than zero, but got kernel"),
        (stride, 1, "stride should be greater than zero, but got stride"),
        (dilation, 1, "dilation should be greater than zero, but got dilation"),
        (padding, 0, "padding should be non-negative, but got pad"),
    ):
        if min(sizes) < least:
            word = words.rpartition(" ")[2]
            raise RuntimeError(f"{words}_height: {sizes[0]} {word}_width: {sizes[1]}")
    return found


def _settings_text(**settings: Sequence[int]) -> str:
    return ", ".join(f"{name}=({pair[0]}, {pair[1]})" for name, pair in settings.items())


def _unfold(input: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    kernel, dilation, padding, stride = settings = _settings(
        kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride
    )
    if input.ndim not in (3, 4) or 0 in input.shape[1 if input.ndim == 4 else 0 :]:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {list(input.shape)}"
        )
    size = input.shape[-2:]
    counts = [_count(*one) for one in zip(size, *settings, strict=True)]
    if min(counts) < 1:
        told = _settings_text(kernel_size=kernel, dilation=dilation, padding=padding)
        raise RuntimeError(
            f"Given input with spatial size ({size[0]}, {size[1]}), {told}, calculated shape of "
            f"the array of sliding blocks as ({counts[0]}, {counts[1]}), but its components must "
            "be at least one."
        )
    _check_type(input, "im2col_out_cpu")
    return im2col.run(input, *settings)


def _check_type(input: Any, kernel: str) -> None:
    if input.dtype.word in INTEGERS and input.numel():
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{input.dtype.word}'")


def _fold(
    input: Any, output_size: Any, kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> Any:
    size, *settings = _settings(
        output_size=output_size, kernel_size=kernel_size, dilation=dilation,
        padding=padding, stride=stride,
    )  # fmt: skip
    kernel, dilation, padding, stride = settings
    if input.ndim not in (2, 3) or 0 in input.shape[1 if input.ndim == 3 else 0 :]:
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and "
            f"non-zero dimensions for input, but got: {list(input.shape)}"
        )
    if input.shape[-2] % (kernel[0] * kernel[1]):
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, "
            f"but got input.size(1)={input.shape[-2]} and kernel_size=({kernel[0]}, {kernel[1]})."
        )
    rows, columns = counts = [_count(*one) for one in zip(size, *settings, strict=True)]
    told = _settings_text(
        output_size=size, kernel_size=kernel, dilation=dilation, padding=padding, stride=stride
    )
    if input.shape[-1] != rows * columns:
        raise RuntimeError(
            f"Given {told}, expected size of input's dimension 2 to match the calculated number of "
            f"sliding blocks {rows} * {columns} = {rows * columns}, but got "
            f"input.size(2)={input.shape[-1]}."
        )
    if min(counts) < 1:
        raise RuntimeError(
            f"Given {told}, calculated shape of the array of sliding blocks as ({rows}, "
            f"{columns}), which is too small (non-positive)"
        )
    _check_type(input, "col2im_out_cpu")
    return col2im.run(input, size, *settings)


composite(
    "unfold.functional(Tensor input, int[2] kernel_size, int[2] dilation=1, int[2] padding=0, "
    "int[2] stride=1) -> Tensor",
    _unfold,
    where="functional",
    doc="Every window of an image as a column.",
    samples=("F.unfold(c[None], 2)", "F.unfold(c[None], (2, 1), padding=1, stride=2)"),
)

composite(
    "fold(Tensor input, int[2] output_size, int[2] kernel_size, int[2] dilation=1, "
    "int[2] padding=0, int[2] stride=1) -> Tensor",
    _fold,
    where="functional",
    doc="Columns added back to the windows of an image.",
    samples=("F.fold(F.unfold(c[None], 2), (3, 3), 2)",),
)
