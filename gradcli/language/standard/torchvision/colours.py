"""language: torchvision's changes of brightness, contrast, saturation and hue.

Of tensors in torchvision's formulas, of pictures in Pillow's, which has whole levels.
"""

from __future__ import annotations

from typing import Any

import numpy

from ....namespace import resolve
from ...session import session
from ..publishing import functions
from .functional import MODULES, height_and_width, rgb_to_grayscale
from .pictures import Image, grey

_PIXEL_BYTES = 64  # what a change of hue keeps of each number, about


def _mixed(img: Any, other: Any, ratio: float) -> Any:
    bound = 1.0 if img.dtype.is_floating_point else 255
    return (ratio * img + (1.0 - ratio) * other).clamp(0, bound).to(img.dtype)


def _mixed_levels(pixels: Any, other: Any, ratio: float) -> Any:
    """Pillow's Image.blend from `other` to the picture."""
    session.budget.charge_bytes(12 * pixels.size)
    first = numpy.asarray(other, numpy.float32)
    levels = first + numpy.float32(ratio) * (pixels.astype(numpy.float32) - first)
    return Image(numpy.clip(levels, 0, 255).astype(numpy.uint8))


def _checked(factor: Any, name: str) -> float:
    if factor < 0:
        raise ValueError(f"{name}_factor ({factor}) is not non-negative.")
    return float(factor)


def adjust_brightness(img: Any, brightness_factor: Any) -> Any:
    ratio = _checked(brightness_factor, "brightness")
    if type(img) is Image:
        return _mixed_levels(img._pixels, 0, ratio)
    height_and_width(img)
    return _mixed(img, resolve("zeros_like")(img), ratio)


def adjust_contrast(img: Any, contrast_factor: Any) -> Any:
    ratio = _checked(contrast_factor, "contrast")
    if type(img) is Image:
        levels = img._pixels if img.mode == "L" else grey(img._pixels)
        return _mixed_levels(img._pixels, int(levels.mean() + 0.5), ratio)
    height_and_width(img)
    levels = rgb_to_grayscale(img) if int(img.shape[-3]) == 3 else img
    if not img.dtype.is_floating_point:
        levels = levels.to(resolve("float32"))
    return _mixed(img, levels.mean(dim=(-3, -2, -1), keepdim=True), ratio)


def adjust_saturation(img: Any, saturation_factor: Any) -> Any:
    ratio = _checked(saturation_factor, "saturation")
    if type(img) is Image:
        plain = img.mode == "L"
        levels = img._pixels if plain else numpy.stack([grey(img._pixels)] * 3, 2)
        return _mixed_levels(img._pixels, levels, ratio)
    height_and_width(img)
    return img if int(img.shape[-3]) == 1 else _mixed(img, rgb_to_grayscale(img), ratio)


def adjust_hue(img: Any, hue_factor: Any) -> Any:
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"hue_factor ({hue_factor}) is not in [-0.5, 0.5].")
    if type(img) is Image:
        return img if img.mode == "L" else _turned_picture(img._pixels, float(hue_factor))
    height_and_width(img)
    if int(img.shape[-3]) == 1:
        return img
    whole = not img.dtype.is_floating_point
    hue, saturation, value = _hue_of(img.to(resolve("float32")) / 255 if whole else img)
    turned = _colours_of((hue + hue_factor) % 1.0, saturation, value)
    return (turned * (255 + 1.0 - 1e-3)).to(img.dtype) if whole else turned


def _hue_of(img: Any) -> tuple[Any, Any, Any]:
    """Hue, saturation and value of a tensor of colours; of grey both are 0."""
    where, ones = resolve("where"), resolve("ones_like")
    red, green, blue = img.unbind(-3)
    top, bottom = img.max(-3).values, img.min(-3).values
    same, spread = top == bottom, top - bottom
    saturation = spread / where(same, ones(top), top)
    width = where(same, ones(top), spread)
    from_red, from_green, from_blue = ((top - part) / width for part in (red, green, blue))
    hue = (
        (top == red) * (from_blue - from_green)
        + ((top == green) & (top != red)) * (2.0 + from_red - from_blue)
        + ((top != green) & (top != red)) * (4.0 + from_green - from_red)
    )
    return resolve("fmod")(hue / 6.0 + 1.0, 1.0), saturation, top


# Of each sixth of the circle: which of value, falling, low and rising are red, green and blue.
_SIXTHS = ((0, 3, 2), (1, 0, 2), (2, 0, 3), (2, 1, 0), (3, 2, 0), (0, 2, 1))


def _colours_of(hue: Any, saturation: Any, value: Any) -> Any:
    sixth = (hue * 6.0).floor()
    part = hue * 6.0 - sixth
    low = (value * (1.0 - saturation)).clamp(0.0, 1.0)
    falling = (value * (1.0 - saturation * part)).clamp(0.0, 1.0)
    rising = (value * (1.0 - saturation * (1.0 - part))).clamp(0.0, 1.0)
    levels = (value, falling, low, rising)
    place = sixth.to(resolve("int32")) % 6
    rows = []
    for colour in range(3):
        found = resolve("zeros_like")(value)
        for number, chosen in enumerate(_SIXTHS):
            found = resolve("where")(place == number, levels[chosen[colour]], found)
        rows.append(found)
    return resolve("stack")(rows, -3)


def _turned_picture(pixels: Any, factor: float) -> Image:
    """The same in whole levels, as Pillow goes to HSV and back."""
    session.budget.charge_bytes(_PIXEL_BYTES * pixels.size)
    colours = pixels.astype(numpy.float32)
    red, green, blue = (colours[..., part] for part in range(3))
    top, bottom = colours.max(2), colours.min(2)
    grey_ones, width = top == bottom, numpy.where(top == bottom, 1, top - bottom)
    from_red, from_green, from_blue = ((top - part) / width for part in (red, green, blue))
    hue = numpy.where(
        red == top, from_blue - from_green,
        numpy.where(green == top, 2.0 + from_red - from_blue, 4.0 + from_green - from_red),
    ).astype(numpy.float64)  # fmt: skip
    hue = numpy.where(grey_ones, 0, numpy.fmod(hue / 6.0 + 1.0, 1.0) * 255.0)
    strength = numpy.where(grey_ones, 0, width / numpy.where(top == 0, 1, top) * 255.0)
    step = int(factor * 255) % 256
    turned = (numpy.clip(hue, 0, 255).astype(numpy.int64) + step) % 256
    share = numpy.clip(strength, 0, 255).astype(numpy.int64).astype(numpy.float32) / 255.0
    place = turned.astype(numpy.float32) * 6.0 / 255.0
    sixth = numpy.floor(place).astype(numpy.int64)
    part = place - sixth

    def level(of_saturation: Any) -> Any:
        found = top * (1.0 - share * of_saturation)
        return numpy.clip(numpy.floor(found + 0.5), 0, 255)

    levels = numpy.stack([top, level(part), level(1.0), level(1.0 - part)])
    chosen = numpy.array(_SIXTHS)[sixth % 6]
    made = numpy.take_along_axis(levels, chosen.transpose(2, 0, 1), 0)
    made = numpy.where(share == 0, top, made)
    return Image(made.transpose(1, 2, 0).astype(numpy.uint8))


OF_COLOURS = {
    "adjust_brightness": adjust_brightness, "adjust_contrast": adjust_contrast,
    "adjust_saturation": adjust_saturation, "adjust_hue": adjust_hue,
}  # fmt: skip
MODULES = {
    "torchvision.transforms.functional": MODULES["torchvision.transforms.functional"]
    | functions(OF_COLOURS)
}
