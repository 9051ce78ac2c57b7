"""Library: modules that pad, resize and rearrange images."""

from __future__ import annotations

from typing import Any

from . import functional
from .configured import REQUIRED, Configured, named_calls
from .sizes import spread


class _Pad(Configured):
    PUBLIC = ("padding",)
    SETTINGS = (("padding", REQUIRED),)
    DIMENSIONS = 0
    MODE = "constant"

    def _settle(self) -> None:
        self.padding = spread(self.padding, 2 * type(self).DIMENSIONS)

    def forward(self, input: Any) -> Any:
        return functional.pad(input, self.padding, type(self).MODE)

    def extra_repr(self) -> str:
        return str(self.padding)


@named_calls
class _ConstantPadNd(_Pad):
    PUBLIC = ("value",)
    SETTINGS = (("padding", REQUIRED), ("value", REQUIRED))

    def forward(self, input: Any) -> Any:
        return functional.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    DIMENSIONS = 1


class ConstantPad2d(_ConstantPadNd):
    DIMENSIONS = 2


class ConstantPad3d(_ConstantPadNd):
    DIMENSIONS = 3


class _ZeroPad(_ConstantPadNd):
    SETTINGS = (("padding", REQUIRED),)

    def _settle(self) -> None:
        super()._settle()
        self.value = 0.0

    def extra_repr(self) -> str:
        return str(self.padding)


class ZeroPad1d(_ZeroPad, ConstantPad1d):
    pass


class ZeroPad2d(_ZeroPad, ConstantPad2d):
    pass


class ZeroPad3d(_ZeroPad, ConstantPad3d):
    pass


@named_calls
class _ReflectionPadNd(_Pad):
    MODE = "reflect"


class ReflectionPad1d(_ReflectionPadNd):
    DIMENSIONS = 1


class ReflectionPad2d(_ReflectionPadNd):
    DIMENSIONS = 2


class ReflectionPad3d(_ReflectionPadNd):
    DIMENSIONS = 3


@named_calls
class _ReplicationPadNd(_Pad):
    MODE = "replicate"


class ReplicationPad1d(_ReplicationPadNd):
    DIMENSIONS = 1


class ReplicationPad2d(_ReplicationPadNd):
    DIMENSIONS = 2


class ReplicationPad3d(_ReplicationPadNd):
    DIMENSIONS = 3


@named_calls
class _CircularPadNd(_Pad):
    MODE = "circular"


class CircularPad1d(_CircularPadNd):
    DIMENSIONS = 1


class CircularPad2d(_CircularPadNd):
    DIMENSIONS = 2


class CircularPad3d(_CircularPadNd):
    DIMENSIONS = 3


class Upsample(Configured):
    PUBLIC = ("size", "scale_factor", "mode", "align_corners", "recompute_scale_factor")
    SETTINGS = (
        ("size", None), ("scale_factor", None), ("mode", "nearest"), ("align_corners", None),
        ("recompute_scale_factor", None),
    )  # fmt: skip
    PASSED = ("size", "scale_factor", "mode", "align_corners", "recompute_scale_factor")
    FUNCTION = "interpolate"

    def _settle(self) -> None:
        if isinstance(self.scale_factor, tuple | list):
            self.scale_factor = tuple(float(factor) for factor in self.scale_factor)
        elif self.scale_factor:
            self.scale_factor = float(self.scale_factor)

    def extra_repr(self) -> str:
        if self.scale_factor is not None:
            return f"scale_factor={self.scale_factor!r}, mode={self.mode!r}"
        return f"size={self.size!r}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    SETTINGS = (("size", None), ("scale_factor", None))

    def _settle(self) -> None:
        super()._settle()
        self.mode, self.align_corners, self.recompute_scale_factor = "nearest", None, None


class UpsamplingBilinear2d(Upsample):
    SETTINGS = (("size", None), ("scale_factor", None))

    def _settle(self) -> None:
        super()._settle()
        self.mode, self.align_corners, self.recompute_scale_factor = "bilinear", True, None


class PixelShuffle(Configured):
    PUBLIC = ("upscale_factor",)
    SETTINGS = (("upscale_factor", REQUIRED),)
    PASSED = SHOWN = ("upscale_factor",)
    FUNCTION = "pixel_shuffle"


class PixelUnshuffle(Configured):
    PUBLIC = ("downscale_factor",)
    SETTINGS = (("downscale_factor", REQUIRED),)
    PASSED = SHOWN = ("downscale_factor",)
    FUNCTION = "pixel_unshuffle"


class ChannelShuffle(Configured):
    PUBLIC = ("groups",)
    SETTINGS = (("groups", REQUIRED),)
    PASSED = SHOWN = ("groups",)
    FUNCTION = "channel_shuffle"


class _Windows(Configured):
    PUBLIC = ("kernel_size", "dilation", "padding", "stride")
    SETTINGS = (("kernel_size", REQUIRED), ("dilation", 1), ("padding", 0), ("stride", 1))


class Unfold(_Windows):
    PASSED = SHOWN = ("kernel_size", "dilation", "padding", "stride")
    FUNCTION = "unfold"


class Fold(_Windows):
    PUBLIC = ("output_size",)
    SETTINGS = (("output_size", REQUIRED), *_Windows.SETTINGS)
    PASSED = SHOWN = ("output_size", "kernel_size", "dilation", "padding", "stride")
    FUNCTION = "fold"
