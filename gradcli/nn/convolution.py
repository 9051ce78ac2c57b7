"""Library: convolution modules."""

from __future__ import annotations

import math
from typing import Any

from . import functional, init
from .configured import function, named_calls
from .create import empty
from .module import Module
from .parameter import Parameter
from .sizes import spread


class _ConvNd(Module):
    """What convolutions of one, two and three dimensions share, transposed or not."""

    PUBLIC: tuple[str, ...] = (
        "in_channels", "out_channels", "kernel_size", "stride", "padding", "dilation", "transposed",
        "output_padding", "groups", "padding_mode", "weight", "bias", "reset_parameters",
    )  # fmt: skip
    DIMENSIONS = 0

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any, padding: Any,
        dilation: Any, transposed: bool, output_padding: Any, groups: int, bias: bool,
        padding_mode: str, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self._check(in_channels, out_channels, padding, groups, padding_mode, stride)
        count = type(self).DIMENSIONS
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size, self.stride = spread(kernel_size, count), spread(stride, count)
        in_words = isinstance(padding, str) and not transposed
        self.padding = padding if in_words else spread(padding, count)
        self.dilation, self.transposed = spread(dilation, count), transposed
        self.output_padding, self.groups = spread(output_padding, count), groups
        self.padding_mode = padding_mode
        channels = (in_channels, out_channels // groups)
        if not transposed:
            channels = (out_channels, in_channels // groups)
        self.weight = Parameter(empty((*channels, *self.kernel_size), device, dtype))
        if bias:
            self.bias = Parameter(empty((out_channels,), device, dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    @staticmethod
    def _check(
        in_channels: int, out_channels: int, padding: Any, groups: int, mode: str, stride: Any
    ) -> None:
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups:
            raise ValueError("out_channels must be divisible by groups")
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(
                    f"Invalid padding string {padding!r}, should be one of {{'same', 'valid'}}"
                )
            if padding == "same" and any(step != 1 for step in spread(stride, 1)):
                raise ValueError("padding='same' is not supported for strided convolutions")
        modes = {"zeros", "reflect", "replicate", "circular"}
        if mode not in modes:
            raise ValueError(
                "padding_mode must be one of {'zeros', 'reflect', 'replicate', 'circular'}, but "
                f"got padding_mode='{mode}'"
            )

    def reset_parameters(self) -> None:
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in = math.prod(self.weight.shape[1:])
            if fan_in:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        text = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}"
        )
        for name, given, plain in (
            ("padding", self.padding, 0), ("dilation", self.dilation, 1),
            ("output_padding", self.output_padding, 0),
        ):  # fmt: skip
            if given != (plain,) * len(given):
                text += f", {name}={given}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text


class _Forward(_ConvNd):
    PUBLIC: tuple[str, ...] = ("_conv_forward",)

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1,
        padding: Any = 0, dilation: Any = 1, groups: int = 1, bias: bool = True,
        padding_mode: str = "zeros", device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, False, 0, groups,
            bias, padding_mode, device, dtype,
        )  # fmt: skip

    def forward(self, input: Any) -> Any:
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input: Any, weight: Any, bias: Any) -> Any:
        """With these weights: what layers that change them call."""
        convolve = function(f"conv{type(self).DIMENSIONS}d")
        padding = self.padding
        if self.padding_mode != "zeros":
            input = functional.pad(input, self._reversed_padding(), mode=self.padding_mode)
            padding = (0,) * type(self).DIMENSIONS
        return convolve(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def _reversed_padding(self) -> list[int]:
        """Padding in pad's order: the last dimension first, each side apart."""
        sides: list[int] = []
        for place in reversed(range(type(self).DIMENSIONS)):
            if isinstance(self.padding, str):
                total = 0
                if self.padding == "same":
                    total = self.dilation[place] * (self.kernel_size[place] - 1)
                sides += [total // 2, total - total // 2]
            else:
                sides += [self.padding[place], self.padding[place]]
        return sides


@named_calls
class Conv1d(_Forward):
    DIMENSIONS = 1


@named_calls
class Conv2d(_Forward):
    DIMENSIONS = 2


@named_calls
class Conv3d(_Forward):
    DIMENSIONS = 3


class _Transposed(_ConvNd):
    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1,
        padding: Any = 0, output_padding: Any = 0, groups: int = 1, bias: bool = True,
        dilation: Any = 1, padding_mode: str = "zeros", device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        if padding_mode != "zeros":
            raise ValueError(
                f'Only "zeros" padding mode is supported for ConvTranspose{type(self).DIMENSIONS}d'
            )
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, True, output_padding,
            groups, bias, padding_mode, device, dtype,
        )  # fmt: skip

    def forward(self, input: Any, output_size: Any = None) -> Any:
        convolve = function(f"conv_transpose{type(self).DIMENSIONS}d")
        more = self.output_padding if output_size is None else self._padded_to(input, output_size)
        return convolve(
            input, self.weight, self.bias, self.stride, self.padding, more, self.groups,
            self.dilation,
        )  # fmt: skip

    def _padded_to(self, input: Any, output_size: Any) -> list[int]:
        """What output_padding gives the asked size: several inputs share one size at a stride."""
        count = type(self).DIMENSIONS
        before = 2 if input.ndim == count + 2 else 1
        if len(output_size) == before + count:
            output_size = output_size[before:]
        if len(output_size) != count:
            raise ValueError(
                f"ConvTranspose{count}D: for {input.ndim}D input, output_size must have {count} "
                f"or {before + count} elements (got {len(output_size)})"
            )
        least = [
            (input.shape[before + d] - 1) * self.stride[d] - 2 * self.padding[d]
            + self.dilation[d] * (self.kernel_size[d] - 1) + 1
            for d in range(count)
        ]  # fmt: skip
        most = [size + stride - 1 for size, stride in zip(least, self.stride, strict=True)]
        for size, low, high in zip(output_size, least, most, strict=True):
            if not low <= size <= high:
                raise ValueError(
                    f"requested an output size of {output_size}, but valid sizes range from "
                    f"{least} to {most} (for an input of {input.shape[2:]})"
                )
        return [size - low for size, low in zip(output_size, least, strict=True)]


@named_calls
class ConvTranspose1d(_Transposed):
    DIMENSIONS = 1


@named_calls
class ConvTranspose2d(_Transposed):
    DIMENSIONS = 2


@named_calls
class ConvTranspose3d(_Transposed):
    DIMENSIONS = 3
