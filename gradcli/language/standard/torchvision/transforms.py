"""language: torchvision.transforms: the functions as objects, with PyTorch's random stream."""

from __future__ import annotations

import math
from typing import Any

from ....engine.tensors.construct import as_tensor
from ....namespace import resolve
from ...calls import call
from ...formatting import quoted
from ...operations import collect, type_name
from ..publishing import classes
from .augmentation import ColorJitter, RandomApply, RandomErasing, RandomGrayscale
from .functional import (
    MODES,
    center_crop,
    crop,
    flip,
    height_and_width,
    lengths,
    normalize,
    pad,
    resize,
    rgb_to_grayscale,
    rotate,
    sides_of,
    to_image,
    to_tensor,
)
from .pictures import Interpolation, method_of

_NAME = "torchvision.transforms.transforms."


def _uniform(low: float, high: float) -> float:
    """A number of PyTorch's stream, as empty(1).uniform_ draws it."""
    return float(resolve("empty")(1).uniform_(low, high).item())


def _below(high: int) -> int:
    return int(resolve("randint")(0, high, (1,)).item())


class ToTensor:
    _torch_name = _NAME + "ToTensor"
    PUBLIC = ()

    def __call__(self, pic: Any) -> Any:
        return to_tensor(pic)

    def __repr__(self) -> str:
        return "ToTensor()"


class ToPILImage:
    _torch_name = _NAME + "ToPILImage"
    PUBLIC = ("mode",)

    def __init__(self, mode: Any = None) -> None:
        self.mode = mode

    def __call__(self, pic: Any) -> Any:
        return to_image(pic)

    def __repr__(self) -> str:
        return "ToPILImage()" if self.mode is None else f"ToPILImage(mode={self.mode})"


class Normalize:
    _torch_name = _NAME + "Normalize"
    PUBLIC = ("mean", "std", "inplace")

    def __init__(self, mean: Any, std: Any, inplace: bool = False) -> None:
        self.mean, self.std, self.inplace = mean, std, inplace

    def __call__(self, tensor: Any) -> Any:
        return normalize(tensor, self.mean, self.std, self.inplace)

    def __repr__(self) -> str:
        return f"Normalize(mean={quoted(self.mean)}, std={quoted(self.std)})"


class Compose:
    _torch_name = _NAME + "Compose"
    PUBLIC = ("transforms",)

    def __init__(self, transforms: Any) -> None:
        self.transforms = collect(transforms)

    def __call__(self, img: Any) -> Any:
        for transform in self.transforms:
            img = call(transform, (img,), {})
        return img

    def __repr__(self) -> str:
        rows = "".join(f"    {quoted(transform)}\n" for transform in self.transforms)
        return f"{type(self).__name__}(\n{rows})"


class Lambda:
    _torch_name = _NAME + "Lambda"
    PUBLIC = ("lambd",)

    def __init__(self, lambd: Any) -> None:
        self.lambd = lambd

    def __call__(self, img: Any) -> Any:
        return call(self.lambd, (img,), {})

    def __repr__(self) -> str:
        return "Lambda()"


class Resize:
    _torch_name = _NAME + "Resize"
    PUBLIC = ("size", "interpolation", "max_size", "antialias")

    def __init__(
        self, size: Any, interpolation: Any = 2, max_size: Any = None, antialias: Any = True
    ) -> None:
        if type(size) not in (int, list, tuple):
            raise TypeError(f"Size should be int or sequence. Got {_class_text(size)}")
        if type(size) is not int and len(size) not in (1, 2):
            raise ValueError("If size is a sequence, it should have 1 or 2 values")
        self.size, self.max_size, self.antialias = size, max_size, antialias
        self.interpolation = Interpolation(method_of(interpolation))

    def __call__(self, img: Any) -> Any:
        return resize(img, self.size, self.interpolation, self.max_size, self.antialias)

    def __repr__(self) -> str:
        return (
            f"Resize(size={quoted(self.size)}, interpolation={self.interpolation.value}, "
            f"max_size={self.max_size}, antialias={self.antialias})"
        )


def _class_text(value: Any) -> str:
    return f"<class '{type_name(value)}'>"


class CenterCrop:
    _torch_name = _NAME + "CenterCrop"
    PUBLIC = ("size",)

    def __init__(self, size: Any) -> None:
        self.size = lengths(size)

    def __call__(self, img: Any) -> Any:
        return center_crop(img, self.size)

    def __repr__(self) -> str:
        return f"CenterCrop(size={self.size})"


class Pad:
    _torch_name = _NAME + "Pad"
    PUBLIC = ("padding", "fill", "padding_mode")

    def __init__(self, padding: Any, fill: Any = 0, padding_mode: str = "constant") -> None:
        if type(padding) not in (int, list, tuple):
            raise TypeError("Got inappropriate padding arg")
        sides_of(padding)
        self.padding, self.fill, self.padding_mode = padding, fill, padding_mode

    def __call__(self, img: Any) -> Any:
        return pad(img, self.padding, self.fill, self.padding_mode)

    def __repr__(self) -> str:
        return (
            f"Pad(padding={quoted(self.padding)}, fill={quoted(self.fill)}, "
            f"padding_mode={self.padding_mode})"
        )


class RandomCrop:
    _torch_name = _NAME + "RandomCrop"
    PUBLIC = ("size", "padding", "pad_if_needed", "fill", "padding_mode")

    def __init__(
        self, size: Any, padding: Any = None, pad_if_needed: bool = False, fill: Any = 0,
        padding_mode: str = "constant",
    ) -> None:  # fmt: skip
        self.size, self.padding, self.pad_if_needed = lengths(size), padding, pad_if_needed
        self.fill, self.padding_mode = fill, padding_mode

    def __call__(self, img: Any) -> Any:
        height, width = self.size
        if self.padding is not None:
            img = pad(img, self.padding, self.fill, self.padding_mode)
        rows, columns = height_and_width(img)
        if self.pad_if_needed and columns < width:
            img = pad(img, [width - columns, 0], self.fill, self.padding_mode)
        if self.pad_if_needed and rows < height:
            img = pad(img, [0, height - rows], self.fill, self.padding_mode)
        rows, columns = height_and_width(img)
        if rows < height or columns < width:
            raise ValueError(f"Required crop size {self.size} is larger than input image size "
                             f"{(rows, columns)}")  # fmt: skip
        if (rows, columns) == self.size:
            return crop(img, 0, 0, height, width)
        top = _below(rows - height + 1)
        left = _below(columns - width + 1)
        return crop(img, top, left, height, width)

    def __repr__(self) -> str:
        return f"RandomCrop(size={self.size}, padding={quoted(self.padding)})"


class RandomResizedCrop:
    _torch_name = _NAME + "RandomResizedCrop"
    PUBLIC = ("size", "scale", "ratio", "interpolation", "antialias")

    def __init__(
        self, size: Any, scale: Any = (0.08, 1.0), ratio: Any = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: Any = 2, antialias: Any = True,
    ) -> None:  # fmt: skip
        for word, pair in (("Scale", scale), ("Ratio", ratio)):
            if type(pair) not in (list, tuple):
                raise TypeError(f"{word} should be a sequence")
        self.size, self.antialias = lengths(size), antialias
        self.scale, self.ratio = (tuple(map(float, collect(pair))) for pair in (scale, ratio))
        self.interpolation = Interpolation(method_of(interpolation))

    def _part(self, rows: int, columns: int) -> tuple[int, int, int, int]:
        """Ten draws of an area and a shape; where none fits, the largest part in the middle."""
        logs = resolve("log")(as_tensor(self.ratio))
        low, high = float(logs[0].item()), float(logs[1].item())
        for _ in range(10):
            area = rows * columns * _uniform(self.scale[0], self.scale[1])
            drawn = resolve("exp")(resolve("empty")(1).uniform_(low, high)).item()
            width = round(math.sqrt(area * drawn))
            height = round(math.sqrt(area / drawn))
            if 0 < width <= columns and 0 < height <= rows:
                top = _below(rows - height + 1)
                return top, _below(columns - width + 1), height, width
        width, height = columns, rows
        if columns / rows < min(self.ratio):
            height = round(columns / min(self.ratio))
        elif columns / rows > max(self.ratio):
            width = round(rows * max(self.ratio))
        return (rows - height) // 2, (columns - width) // 2, height, width

    def __call__(self, img: Any) -> Any:
        part = crop(img, *self._part(*height_and_width(img)))
        return resize(part, self.size, self.interpolation, None, self.antialias)

    def __repr__(self) -> str:
        scale, ratio = (tuple(round(part, 4) for part in pair) for pair in (self.scale, self.ratio))
        return (
            f"RandomResizedCrop(size={self.size}, scale={scale}, ratio={ratio}, "
            f"interpolation={self.interpolation.value}, antialias={self.antialias})"
        )


class _RandomFlip:
    """Turned over with the probability p."""

    axis = 1
    PUBLIC = ("p",)

    def __init__(self, p: float = 0.5) -> None:
        self.p = p

    def __call__(self, img: Any) -> Any:
        return flip(img, self.axis) if resolve("rand")(1).item() < self.p else img

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p={quoted(self.p)})"


class RandomHorizontalFlip(_RandomFlip):
    _torch_name = _NAME + "RandomHorizontalFlip"


class RandomVerticalFlip(_RandomFlip):
    _torch_name = _NAME + "RandomVerticalFlip"
    axis = 0


class RandomRotation:
    _torch_name = _NAME + "RandomRotation"
    PUBLIC = ("degrees", "interpolation", "expand", "center", "fill")

    def __init__(
        self, degrees: Any, interpolation: Any = 0, expand: bool = False, center: Any = None,
        fill: Any = 0,
    ) -> None:  # fmt: skip
        if type(degrees) in (int, float):
            if degrees < 0:
                raise ValueError("If degrees is a single number, it must be positive.")
            degrees = [-degrees, degrees]
        elif len(degrees) != 2:
            raise ValueError("degrees should be a sequence of length 2.")
        self.degrees = [float(degree) for degree in degrees]
        self.interpolation = Interpolation(method_of(interpolation))
        self.expand, self.center, self.fill = expand, center, fill

    def __call__(self, img: Any) -> Any:
        angle = _uniform(self.degrees[0], self.degrees[1])
        return rotate(img, angle, self.interpolation, self.expand, self.center, self.fill)

    def __repr__(self) -> str:
        centre = "" if self.center is None else f", center={quoted(self.center)}"
        fill = "" if self.fill is None else f", fill={quoted(self.fill)}"
        return (
            f"RandomRotation(degrees={self.degrees}, interpolation={self.interpolation.value}, "
            f"expand={self.expand}{centre}{fill})"
        )


class Grayscale:
    _torch_name = _NAME + "Grayscale"
    PUBLIC = ("num_output_channels",)

    def __init__(self, num_output_channels: int = 1) -> None:
        self.num_output_channels = num_output_channels

    def __call__(self, img: Any) -> Any:
        return rgb_to_grayscale(img, self.num_output_channels)

    def __repr__(self) -> str:
        return f"Grayscale(num_output_channels={self.num_output_channels})"


_CLASSES = classes([
    Compose, ToTensor, ToPILImage, Normalize, Lambda, Resize, CenterCrop, Pad, RandomCrop,
    RandomResizedCrop, RandomHorizontalFlip, RandomVerticalFlip, RandomRotation, Grayscale,
    ColorJitter, RandomGrayscale, RandomApply, RandomErasing,
]) | MODES  # fmt: skip
MODULES = {"torchvision.transforms": _CLASSES, "torchvision.transforms.transforms": _CLASSES}
