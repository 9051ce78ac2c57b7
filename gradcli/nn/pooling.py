"""Library: pooling modules."""

from __future__ import annotations

from typing import Any

from . import functional
from .configured import REQUIRED, Configured, function, named_calls


class _MaxPool(Configured):
    PUBLIC = ("kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode")
    SETTINGS = (
        ("kernel_size", REQUIRED), ("stride", None), ("padding", 0), ("dilation", 1),
        ("return_indices", False), ("ceil_mode", False),
    )  # fmt: skip
    PASSED = ("kernel_size", "stride", "padding", "dilation", "ceil_mode", "return_indices")
    SHOWN = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")

    def _settle(self) -> None:
        if self.stride is None:
            self.stride = self.kernel_size


class MaxPool1d(_MaxPool):
    FUNCTION = "max_pool1d"


class MaxPool2d(_MaxPool):
    FUNCTION = "max_pool2d"


class MaxPool3d(_MaxPool):
    FUNCTION = "max_pool3d"


class AvgPool1d(Configured):
    PUBLIC = ("kernel_size", "stride", "padding", "ceil_mode", "count_include_pad")
    SETTINGS = (
        ("kernel_size", REQUIRED), ("stride", None), ("padding", 0), ("ceil_mode", False),
        ("count_include_pad", True),
    )  # fmt: skip
    SHOWN = ("kernel_size", "stride", "padding")

    def _settle(self) -> None:
        from .sizes import spread

        if self.stride is None:
            self.stride = self.kernel_size
        self.kernel_size, self.stride = spread(self.kernel_size, 1), spread(self.stride, 1)
        self.padding = spread(self.padding, 1)

    def forward(self, input: Any) -> Any:
        return functional.avg_pool1d(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
            self.count_include_pad,
        )  # fmt: skip


class _AvgPool(Configured):
    PUBLIC = (*AvgPool1d.PUBLIC, "divisor_override")
    SETTINGS = (*AvgPool1d.SETTINGS, ("divisor_override", None))
    SHOWN = ("kernel_size", "stride", "padding")

    def _settle(self) -> None:
        if self.stride is None:
            self.stride = self.kernel_size

    def forward(self, input: Any) -> Any:
        return function(type(self).FUNCTION)(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
            self.count_include_pad, self.divisor_override,
        )  # fmt: skip


@named_calls
class AvgPool2d(_AvgPool):
    FUNCTION = "avg_pool2d"


@named_calls
class AvgPool3d(_AvgPool):
    FUNCTION = "avg_pool3d"


class _Adaptive(Configured):
    PUBLIC = ("output_size",)
    SETTINGS = (("output_size", REQUIRED),)
    PASSED = SHOWN = ("output_size",)


class AdaptiveAvgPool1d(_Adaptive):
    FUNCTION = "adaptive_avg_pool1d"


class AdaptiveAvgPool2d(_Adaptive):
    FUNCTION = "adaptive_avg_pool2d"


class AdaptiveAvgPool3d(_Adaptive):
    FUNCTION = "adaptive_avg_pool3d"


class _AdaptiveMax(_Adaptive):
    PUBLIC = ("return_indices",)
    SETTINGS = (("output_size", REQUIRED), ("return_indices", False))
    PASSED = ("output_size", "return_indices")
    SHOWN = ("output_size",)


class AdaptiveMaxPool1d(_AdaptiveMax):
    FUNCTION = "adaptive_max_pool1d"


class AdaptiveMaxPool2d(_AdaptiveMax):
    FUNCTION = "adaptive_max_pool2d"


class AdaptiveMaxPool3d(_AdaptiveMax):
    FUNCTION = "adaptive_max_pool3d"


class _LPPool(Configured):
    PUBLIC = ("norm_type", "kernel_size", "stride", "ceil_mode")
    SETTINGS = (
        ("norm_type", REQUIRED), ("kernel_size", REQUIRED), ("stride", None), ("ceil_mode", False),
    )  # fmt: skip
    PASSED = SHOWN = PUBLIC


class LPPool1d(_LPPool):
    FUNCTION = "lp_pool1d"


class LPPool2d(_LPPool):
    FUNCTION = "lp_pool2d"


class LPPool3d(_LPPool):
    FUNCTION = "lp_pool3d"
