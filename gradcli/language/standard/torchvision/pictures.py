"""language: PIL images, and how Pillow moves their pixels: in integer arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from ....engine.schema.numpy_wrappers import WITH_NUMPY
from ...formatting import quoted
from ...session import session

WEIGHT_BITS = 22  # Pillow's weights are whole numbers: 32 bits, less those of a pixel, less two
PLACE_BITS = 16  # of a place between pixels, where Pillow turns a picture
# The weights of red, green and blue in a grey level, of 65,536.
GREY = (19595, 38470, 7471)
NEAREST, BILINEAR, BICUBIC = "nearest", "bilinear", "bicubic"


class Image:
    """PIL.Image.Image: grey levels (mode L), or red, green and blue (mode RGB)."""

    _torch_name = "PIL.Image.Image"
    PUBLIC = ("size", "mode", "width", "height", "convert", "show", "resize", "rotate", "crop",
              "copy", "getbands")  # fmt: skip
    __slots__ = ("_pixels", "height", "mode", "size", "width")

    def __init__(self, pixels: Any) -> None:
        self._pixels = pixels
        self.height, self.width = (int(size) for size in pixels.shape[:2])
        self.size = (self.width, self.height)
        self.mode = "L" if pixels.ndim == 2 else "RGB"

    def numpy(self) -> Any:
        """The pixels as an array of their own, for np.array(picture)."""
        session.budget.charge_bytes(self._pixels.size)
        return self._pixels.copy()

    def getbands(self) -> tuple[str, ...]:
        return tuple(self.mode)

    def copy(self) -> Image:
        return Image(self._pixels)

    def convert(self, mode: str = "L") -> Image:
        if mode not in ("L", "RGB"):
            raise ValueError(f"a picture here has the mode 'L' or 'RGB', not {quoted(mode)}")
        if mode == self.mode:
            return self.copy()
        session.budget.charge_bytes(12 * self._pixels.size)
        return Image(grey(self._pixels) if mode == "L" else numpy.stack([self._pixels] * 3, 2))

    def resize(self, size: Any, resample: Any = 3) -> Image:
        width, height = (int(length) for length in size)
        return Image(resized(self._pixels, height, width, method_of(resample)))

    def rotate(self, angle: float, resample: Any = 0, expand: bool = False) -> Image:
        return Image(rotated(self._pixels, angle, method_of(resample), expand, None, 0))

    def crop(self, box: Any) -> Image:
        left, upper, right, lower = (int(place) for place in box)
        return Image(cropped(self._pixels, upper, left, lower - upper, right - left))

    def show(self, *more: Any) -> None:
        """Nothing is drawn."""

    def __repr__(self) -> str:
        place = session.address_of(self)
        return (
            f"<PIL.Image.Image image mode={self.mode} size={self.width}x{self.height} at {place}>"
        )


WITH_NUMPY.add(Image)


class Interpolation:
    """InterpolationMode: one way to compute a pixel that lies between pixels."""

    _torch_name = "torchvision.transforms.functional.InterpolationMode"
    PUBLIC = ("name", "value")
    __slots__ = ("name", "value")

    def __init__(self, value: str = NEAREST) -> None:
        if value not in (NEAREST, BILINEAR, BICUBIC):
            raise ValueError(f"{quoted(value)} is not a valid InterpolationMode")
        self.value, self.name = value, value.upper()

    def __repr__(self) -> str:
        return f"InterpolationMode.{self.name}"


class Interpolations:
    """What the name InterpolationMode stands for: the members by their names."""

    _torch_name = "torchvision.transforms.functional.InterpolationMode"
    PUBLIC = ("NEAREST", "BILINEAR", "BICUBIC")
    __slots__ = ("BICUBIC", "BILINEAR", "NEAREST")

    def __init__(self) -> None:
        self.NEAREST, self.BILINEAR, self.BICUBIC = map(Interpolation, (NEAREST, BILINEAR, BICUBIC))


BY_NUMBER = {0: NEAREST, 2: BILINEAR, 3: BICUBIC}  # Pillow's numbers


def method_of(given: Any) -> str:
    """The word for a member of InterpolationMode, or for one of Pillow's numbers."""
    if type(given) is Interpolation:
        return given.value
    if type(given) is int and given in BY_NUMBER:
        return BY_NUMBER[given]
    raise ValueError("interpolation is one of NEAREST, BILINEAR and BICUBIC of InterpolationMode")


# ---------------------------------------------------------------- pixels


def grey(pixels: Any) -> Any:
    """Red, green and blue to one level, as Pillow rounds."""
    if pixels.ndim == 2:
        return pixels
    sums = sum(pixels[..., band].astype(numpy.uint32) * part for band, part in enumerate(GREY))
    return ((sums + 0x8000) >> 16).astype(numpy.uint8)


def cropped(pixels: Any, top: int, left: int, height: int, width: int) -> Any:
    """A part; black where it lies outside of the picture."""
    if height < 0 or width < 0:
        raise ValueError("a part of a picture can't have a negative size")
    session.budget.charge_bytes(height * width * 3)
    out = numpy.zeros((height, width, *pixels.shape[2:]), numpy.uint8)
    rows = slice(max(top, 0), max(min(top + height, len(pixels)), 0))
    columns = slice(max(left, 0), max(min(left + width, pixels.shape[1]), 0))
    part = pixels[rows, columns]
    y, x = rows.start - top, columns.start - left
    if part.size:
        out[y : y + len(part), x : x + part.shape[1]] = part
    return out


def padded(pixels: Any, sides: tuple[int, int, int, int], fill: Any, mode: str) -> Any:
    """Widened at its left, top, right and bottom; a negative number takes away."""
    left, top, right, bottom = sides
    height, width = len(pixels) + top + bottom, pixels.shape[1] + left + right
    if min(sides) < 0:
        inner = [min(side, 0) for side in sides]
        pixels = cropped(
            pixels, -inner[1], -inner[0], len(pixels) + inner[1] + inner[3],
            pixels.shape[1] + inner[0] + inner[2],
        )  # fmt: skip
        left, top, right, bottom = (max(side, 0) for side in sides)
    session.budget.charge_bytes(max(height, 0) * max(width, 0) * 6)
    around = ((top, bottom), (left, right), (0, 0))[: pixels.ndim]
    if mode != "constant":
        return numpy.pad(pixels, around, PADDINGS[mode])
    out = numpy.empty((height, width, *pixels.shape[2:]), numpy.uint8)
    out[...] = colour(fill, pixels)
    out[top : height - bottom, left : width - right] = pixels
    return out


PADDINGS: dict[str, Any] = {
    "constant": "constant", "edge": "edge", "reflect": "reflect", "symmetric": "symmetric",
}  # fmt: skip


def levels_of(fill: Any) -> Any:
    """The numbers of a fill, which is None, a number, or one for each band."""
    return fill if type(fill) in (tuple, list) and fill else (fill or 0,)


def colour(fill: Any, pixels: Any) -> Any:
    """The pixel that stands where the picture has none."""
    parts = [int(part) for part in levels_of(fill)]
    bands = pixels.shape[2] if pixels.ndim == 3 else 1
    if len(parts) == 1:
        parts *= bands
    if len(parts) != bands:
        raise ValueError(f"fill has {len(parts)} numbers, the picture {bands} bands")
    return numpy.clip(parts, 0, 255).astype(numpy.uint8) if pixels.ndim == 3 else parts[0]


# ---------------------------------------------------------------- sizes


def _triangle(x: Any) -> Any:
    return numpy.maximum(0.0, 1.0 - abs(x))


def _cubic(x: Any) -> Any:
    """Keys' cubic with a = -1/2."""
    x = abs(x)
    near = ((-0.5 + 2.0) * x - (-0.5 + 3.0)) * x * x + 1
    far = (((x - 5) * x + 8) * x - 4) * -0.5
    return numpy.where(x < 1.0, near, numpy.where(x < 2.0, far, 0.0))


FILTERS: dict[str, tuple[Callable[[Any], Any], float]] = {
    BILINEAR: (_triangle, 1.0), BICUBIC: (_cubic, 2.0),
}  # fmt: skip


def _weights(before: int, after: int, method: str) -> Any:
    """What each old pixel of a line brings to each new one, in units of 2**-WEIGHT_BITS."""
    session.budget.charge_bytes(24 * before * after)
    curve, reach = FILTERS[method]
    scale = before / after
    wide = max(scale, 1.0)
    centre = ((numpy.arange(after) + 0.5) * scale)[:, None]
    first = numpy.maximum((centre - reach * wide + 0.5).astype(numpy.int64), 0)
    last = numpy.minimum((centre + reach * wide + 0.5).astype(numpy.int64), before)
    place = numpy.arange(before)[None]
    weights = curve((place - centre + 0.5) * (1.0 / wide))
    weights[(place < first) | (place >= last)] = 0.0
    weights /= weights.sum(1, keepdims=True)
    scaled = weights * (1 << WEIGHT_BITS)
    return numpy.trunc(scaled + numpy.copysign(0.5, scaled))


def _blended(weights: Any, lines: Any) -> Any:
    """Each line's new pixels, rounded; sums of such whole numbers are exact in float64."""
    session.budget.charge_bytes(16 * len(weights) * lines.shape[1])
    sums = weights @ lines.astype(numpy.float64) + (1 << WEIGHT_BITS - 1)
    return numpy.clip(numpy.floor(sums / (1 << WEIGHT_BITS)), 0, 255).astype(numpy.uint8)


def _nearest(before: int, after: int) -> Any:
    """The old pixel for each new one: Pillow adds the step again and again."""
    step = before / after
    places = numpy.full(after, step)
    places[0] = step * 0.5
    return numpy.minimum(numpy.add.accumulate(places).astype(numpy.int64), before - 1)


def resized(pixels: Any, height: int, width: int, method: str) -> Any:
    """Another size: first along the rows, then along the columns, each rounded to bytes."""
    if height <= 0 or width <= 0:
        raise ValueError("height and width must be > 0")
    session.budget.charge_bytes(3 * height * width)
    if pixels.shape[:2] == (height, width):
        return pixels
    if method == NEAREST:
        rows, columns = _nearest(len(pixels), height), _nearest(pixels.shape[1], width)
        return pixels[rows][:, columns]
    for axis, length in ((1, width), (0, height)):
        if pixels.shape[axis] != length:
            lines = numpy.moveaxis(pixels, axis, 0)
            rest = lines.shape[1:]
            new = _blended(_weights(len(lines), length, method), lines.reshape(len(lines), -1))
            pixels = numpy.moveaxis(new.reshape(length, *rest), 0, axis)
    return pixels


# ---------------------------------------------------------------- turning


def rotated(
    pixels: Any, angle: float, method: str, expand: bool, centre: Any, fill: Any
) -> Any:  # fmt: skip
    """Turned counter-clockwise by degrees, about the middle or about (x, y)."""
    angle %= 360.0
    height, width = pixels.shape[:2]
    quarters = {0.0: 0, 90.0: 1, 180.0: 2, 270.0: 3}.get(angle)
    if centre is None and quarters is not None:
        if quarters % 2 == 0 or expand or width == height:
            return numpy.ascontiguousarray(numpy.rot90(pixels, quarters))
    middle = (width / 2.0, height / 2.0) if centre is None else tuple(map(float, centre))
    turn = -math.radians(angle)
    a, b = round(math.cos(turn), 15), round(math.sin(turn), 15)
    d, e = round(-math.sin(turn), 15), round(math.cos(turn), 15)
    c = a * -middle[0] + b * -middle[1] + 0.0 + middle[0]
    f = d * -middle[0] + e * -middle[1] + 0.0 + middle[1]
    if expand:
        corners = [(0, 0), (width, 0), (width, height), (0, height)]
        xs = [a * x + b * y + c for x, y in corners]
        ys = [d * x + e * y + f for x, y in corners]
        new_width = math.ceil(max(xs)) - math.floor(min(xs))
        new_height = math.ceil(max(ys)) - math.floor(min(ys))
        x, y = -(new_width - width) / 2.0, -(new_height - height) / 2.0
        c, f = a * x + b * y + c, d * x + e * y + f
        height, width = new_height, new_width
    session.budget.charge_bytes(60 * height * width)
    found = _turned_nearest if method == NEAREST else _turned_bilinear
    if method == BICUBIC:
        raise ValueError("a picture is turned with NEAREST or BILINEAR here")
    return found(pixels, (a, b, c, d, e, f), height, width, fill)


def _turned_nearest(pixels: Any, affine: Any, height: int, width: int, fill: Any) -> Any:
    """In whole numbers, as Pillow walks from pixel to pixel."""
    a, b, c, d, e, f = affine

    def fixed(value: float) -> int:
        return math.floor(value * (1 << PLACE_BITS) + 0.5)

    y, x = numpy.mgrid[:height, :width]
    across = (fixed(c + a * 0.5 + b * 0.5) + x * fixed(a) + y * fixed(b)) >> PLACE_BITS
    down = (fixed(f + d * 0.5 + e * 0.5) + x * fixed(d) + y * fixed(e)) >> PLACE_BITS
    return _taken(pixels, down, across, fill)


def _inside(pixels: Any, down: Any, across: Any) -> Any:
    return (down >= 0) & (down < len(pixels)) & (across >= 0) & (across < pixels.shape[1])


def _taken(pixels: Any, down: Any, across: Any, fill: Any) -> Any:
    inside = _inside(pixels, down, across)
    out = numpy.empty((*inside.shape, *pixels.shape[2:]), numpy.uint8)
    out[...] = colour(fill, pixels)
    out[inside] = pixels[down[inside], across[inside]]
    return out


def _turned_bilinear(pixels: Any, affine: Any, height: int, width: int, fill: Any) -> Any:
    a, b, c, d, e, f = affine
    y, x = numpy.mgrid[:height, :width] + 0.5
    across, down = a * x + b * y + c, d * x + e * y + f
    inside = _inside(pixels, down, across)
    across, down = across[inside] - 0.5, down[inside] - 0.5
    left, top = numpy.floor(across).astype(int), numpy.floor(down).astype(int)
    dx, dy = across - left, down - top
    columns = [numpy.clip(left + step, 0, pixels.shape[1] - 1) for step in (0, 1)]
    lines = []
    for step in (0, 1):
        row = numpy.clip(top + step, 0, len(pixels) - 1)
        one, other = (pixels[row, column].astype(float) for column in columns)
        lines.append(one + (other - one) * (dx if one.ndim == 1 else dx[:, None]))
    blend = lines[0] + (lines[1] - lines[0]) * (dy if lines[0].ndim == 1 else dy[:, None])
    out = numpy.empty((height, width, *pixels.shape[2:]), numpy.uint8)
    out[...] = colour(fill, pixels)
    out[inside] = blend.astype(numpy.uint8)
    return out
