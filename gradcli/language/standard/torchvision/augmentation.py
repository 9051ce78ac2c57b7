"""language: torchvision.transforms that change colours, erase parts, or run by chance."""

from __future__ import annotations

import math
from typing import Any

from ....engine.tensors.construct import as_tensor
from ....engine.tensors.tensor import Tensor
from ....namespace import resolve
from ...calls import call
from ...formatting import quoted, text
from ...operations import collect, type_name
from . import colours
from .functional import rgb_to_grayscale
from .pictures import Image

_NAME = "torchvision.transforms.transforms."


def _drawn(low: float, high: float) -> float:
    return float(resolve("empty")(1).uniform_(low, high).item())


def _chance() -> Any:
    return resolve("rand")(1).item()


class ColorJitter:
    """Brightness, contrast, saturation and hue, each by a drawn factor, in a drawn order."""

    _torch_name = _NAME + "ColorJitter"
    PUBLIC = ("brightness", "contrast", "saturation", "hue")

    def __init__(
        self, brightness: Any = 0, contrast: Any = 0, saturation: Any = 0, hue: Any = 0
    ) -> None:
        self.brightness = _bounds("brightness", brightness)
        self.contrast = _bounds("contrast", contrast)
        self.saturation = _bounds("saturation", saturation)
        self.hue = _bounds("hue", hue, 0.0, (-0.5, 0.5))

    def __call__(self, img: Any) -> Any:
        order = resolve("randperm")(4).tolist()
        bounds = [getattr(self, name) for name in self.PUBLIC]
        factors = [None if pair is None else _drawn(*pair) for pair in bounds]
        for place in order:
            if factors[place] is not None:
                change = colours.OF_COLOURS[f"adjust_{self.PUBLIC[place]}"]
                img = change(img, factors[place])
        return img

    def __repr__(self) -> str:
        listed = ", ".join(f"{name}={quoted(getattr(self, name))}" for name in self.PUBLIC)
        return f"ColorJitter({listed})"


def _bounds(
    name: str, value: Any, center: float = 1.0, within: tuple[float, float] = (0, math.inf)
) -> tuple[float, float] | None:
    """Between what a factor is drawn; None where it changes nothing."""
    if type(value) in (int, float):
        if value < 0:
            raise ValueError(f"If {name} is a single number, it must be non negative.")
        low, high = center - value, center + value
        pair = (max(low, 0.0) if center else float(low), float(high))
    elif type(value) in (list, tuple) and len(value) == 2:
        pair = (float(value[0]), float(value[1]))
    else:
        raise TypeError(f"{name} should be a single number or a list/tuple with length 2.")
    if not within[0] <= pair[0] <= pair[1] <= within[1]:
        shown = within if center == 0 else (0, float("inf"))
        raise ValueError(f"{name} values should be between {shown}, but got {list(pair)}.")
    return None if pair[0] == pair[1] == center else pair


class RandomGrayscale:
    _torch_name = _NAME + "RandomGrayscale"
    PUBLIC = ("p",)

    def __init__(self, p: float = 0.1) -> None:
        self.p = p

    def __call__(self, img: Any) -> Any:
        if type(img) is Image:
            channels = len(img.mode)
        else:
            channels = int(img.shape[-3]) if img.dim() > 2 else 1
        return rgb_to_grayscale(img, channels) if _chance() < self.p else img

    def __repr__(self) -> str:
        return f"RandomGrayscale(p={quoted(self.p)})"


class RandomApply:
    """A row of transforms, all of them or none."""

    _torch_name = _NAME + "RandomApply"
    PUBLIC = ("transforms", "p")

    def __init__(self, transforms: Any, p: float = 0.5) -> None:
        if type(transforms) not in (list, tuple) and type_name(transforms) != "ModuleList":
            raise TypeError("Argument transforms should be a sequence")
        self.transforms, self.p = transforms, p

    def __call__(self, img: Any) -> Any:
        if self.p < _chance():
            return img
        for transform in collect(self.transforms):
            img = call(transform, (img,), {})
        return img

    def __repr__(self) -> str:
        rows = "".join(f"\n    {quoted(transform)}" for transform in collect(self.transforms))
        return f"RandomApply(\n    p={quoted(self.p)}{rows}\n)"


class RandomErasing:
    """A rectangle of a tensor, replaced by a value or by noise."""

    _torch_name = _NAME + "RandomErasing"
    PUBLIC = ("p", "scale", "ratio", "value", "inplace")

    def __init__(
        self, p: float = 0.5, scale: Any = (0.02, 0.33), ratio: Any = (0.3, 3.3), value: Any = 0,
        inplace: bool = False,
    ) -> None:  # fmt: skip
        if type(value) not in (int, float, str, tuple, list):
            raise TypeError("Argument value should be either a number or str or a sequence")
        if type(value) is str and value != "random":
            raise ValueError("If value is str, it should be 'random'")
        if p < 0 or p > 1:
            raise ValueError("Random erasing probability should be between 0 and 1")
        self.p, self.scale, self.ratio = p, scale, ratio
        self.value, self.inplace = value, inplace

    def __call__(self, img: Any) -> Any:
        if _chance() >= self.p:
            return img
        if not isinstance(img, Tensor):
            raise TypeError(f"img should be Tensor Image. Got <class '{type_name(img)}'>")
        area = self._part(*(int(side) for side in img.shape[-3:]))
        if area is None:
            return img
        top, left, height, width, filling = area
        out: Any = img if self.inplace else resolve("clone")(img)
        out[..., top : top + height, left : left + width] = filling
        return out

    def _part(self, channels: int, rows: int, columns: int) -> tuple[Any, ...] | None:
        """Ten draws of an area and a shape; None where no part fits."""
        logs = resolve("log")(as_tensor(tuple(map(float, collect(self.ratio)))))
        low, high = float(logs[0].item()), float(logs[1].item())
        for _ in range(10):
            area = rows * columns * _drawn(*map(float, collect(self.scale)))
            shape = resolve("exp")(resolve("empty")(1).uniform_(low, high)).item()
            height, width = round(math.sqrt(area * shape)), round(math.sqrt(area / shape))
            if height >= rows or width >= columns:
                continue
            if type(self.value) is str:
                filling = resolve("empty")(channels, height, width).normal_()
            else:
                listed = type(self.value) in (list, tuple)
                values = collect(self.value) if listed else [float(self.value)]
                given: Any = as_tensor(values)
                filling = given[:, None, None]
            top = int(resolve("randint")(0, rows - height + 1, (1,)).item())
            left = int(resolve("randint")(0, columns - width + 1, (1,)).item())
            return top, left, height, width, filling
        return None

    def __repr__(self) -> str:
        listed = ", ".join(f"{name}={text(getattr(self, name))}" for name in self.PUBLIC)
        return f"RandomErasing({listed})"
