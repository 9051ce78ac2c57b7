"""language: torchvision.transforms.functional, for pictures and for tensors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from ....engine.tensors.construct import as_tensor
from ....engine.tensors.tensor import Tensor
from ....namespace import resolve
from ...operations import collect, type_name
from ...session import session
from ..publishing import functions
from . import pictures
from .pictures import BILINEAR, NEAREST, Image, Interpolations, method_of

from_numpy: Any = resolve("from_numpy")  # the first name attaches the operators of tensors


def lengths(size: Any, word: str = "size") -> tuple[int, int]:
    """(height, width) of a number, or of a list with one or two."""
    if type(size) is int:
        return size, size
    if type(size) not in (list, tuple) or len(size) not in (1, 2):
        raise ValueError(f"Please provide only two dimensions (h, w) for {word}.")
    return int(size[0]), int(size[-1])


def height_and_width(img: Any) -> tuple[int, int]:
    if type(img) is Image:
        return img.height, img.width
    if not isinstance(img, Tensor) or len(img.shape) < 2:
        raise TypeError(f"Unexpected type {type_name(img)}")
    return int(img.shape[-2]), int(img.shape[-1])


# ---------------------------------------------------------------- to and from tensors


def to_tensor(pic: Any) -> Any:
    """Pixels to numbers from 0 to 1, the bands first."""
    pixels = pic._pixels if type(pic) is Image else getattr(pic, "array", None)
    if pixels is None or pixels.ndim not in (2, 3):
        raise TypeError(f"pic should be PIL Image or ndarray. Got {type_name(pic)}")
    session.budget.charge_bytes(4 * int(pixels.size))
    planes = pixels[None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1)
    if pixels.dtype == numpy.uint8:
        return from_numpy(planes.astype(numpy.float32, order="C") / numpy.float32(255))
    return from_numpy(numpy.ascontiguousarray(planes))


def to_image(pic: Any, mode: Any = None) -> Image:
    """to_pil_image: a tensor from 0 to 1 with one or three bands, or an array of bytes."""
    if isinstance(pic, Tensor):
        given: Any = pic
        levels = given.mul(255).byte() if given.is_floating_point() else given
        planes = levels.detach().cpu().numpy()
        pixels = planes if planes.ndim == 2 else planes.transpose(1, 2, 0)
    else:
        pixels = getattr(pic, "array", None)
    if pixels is None or pixels.ndim not in (2, 3):
        raise TypeError(f"pic should be Tensor or ndarray. Got {type_name(pic)}.")
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        pixels = pixels[..., 0]
    if pixels.dtype != numpy.uint8 or (pixels.ndim == 3 and pixels.shape[2] != 3):
        raise ValueError("a picture here has one or three bands of bytes")
    session.budget.charge_bytes(pixels.size)
    return Image(pixels.copy())


def normalize(tensor: Any, mean: Any, std: Any, inplace: bool = False) -> Any:
    if not isinstance(tensor, Tensor):
        raise TypeError(f"img should be Tensor Image. Got {type_name(tensor)}")
    given: Any = tensor
    made: list[Any] = [as_tensor(value, dtype=given.dtype) for value in (mean, std)]
    if bool((made[1] == 0).any()):
        raise ValueError("std evaluated to zero after conversion, leading to division by zero.")
    shift, scale = (value.view(-1, 1, 1) if value.dim() == 1 else value for value in made)
    out = given if inplace else given.clone()
    return out.sub_(shift).div_(scale)


# ---------------------------------------------------------------- sizes and parts


def _new_size(img: Any, size: Any, max_size: Any) -> tuple[int, int]:
    """A number is the length of the shorter side; the other one follows."""
    if type(size) in (list, tuple) and len(size) == 2:
        if max_size is not None:
            raise ValueError("max_size should only be passed if size specifies the length of the "
                             "smaller edge, i.e. size should be an int")  # fmt: skip
        return int(size[0]), int(size[1])
    height, width = height_and_width(img)
    shorter, longer = sorted((height, width))
    short = lengths(size)[0]
    long = int(short * longer / shorter)
    if max_size is not None and long > max_size:
        short, long = int(max_size * short / long), max_size
    return (long, short) if width <= height else (short, long)


def _on_batch(img: Any, compute: Callable[[Any], Any]) -> Any:
    """As PyTorch computes with pictures: four dimensions, floats, rounded where it had bytes."""
    batch = img.unsqueeze(0) if img.dim() == 3 else img
    floats = batch if img.dtype in (resolve("float32"), resolve("float64")) else batch.float()
    out = compute(floats)
    out = out.squeeze(0) if img.dim() == 3 else out
    if floats is batch:
        return out
    return (out if img.is_floating_point() else out.round()).to(img.dtype)


def resize(
    img: Any, size: Any, interpolation: Any = 2, max_size: Any = None, antialias: Any = True
) -> Any:  # fmt: skip
    method = method_of(interpolation)
    height, width = _new_size(img, size, max_size)
    if type(img) is Image:
        return Image(pictures.resized(img._pixels, height, width, method))
    if height_and_width(img) == (height, width):
        return img
    options: dict[str, Any] = {"size": (height, width), "mode": method}
    if method != NEAREST:
        options |= {"align_corners": False, "antialias": bool(antialias)}

    def compute(batch: Any) -> Any:
        out = resolve("nn.functional.interpolate")(batch, **options)
        return out.clamp(0, 255) if method == "bicubic" and not img.is_floating_point() else out

    return _on_batch(img, compute)


def crop(img: Any, top: int, left: int, height: int, width: int) -> Any:
    """A part; zeros where it lies outside."""
    if type(img) is Image:
        return Image(pictures.cropped(img._pixels, top, left, height, width))
    rows, columns = height_and_width(img)
    bottom, right = top + height, left + width
    part = img[..., max(top, 0) : max(bottom, 0), max(left, 0) : max(right, 0)]
    if left < 0 or top < 0 or right > columns or bottom > rows:
        sides = [max(-left + min(0, right), 0), max(right - max(columns, left), 0),
                 max(-top + min(0, bottom), 0), max(bottom - max(rows, top), 0)]  # fmt: skip
        part = resolve("nn.functional.pad")(part, sides)
    return part


def center_crop(img: Any, output_size: Any) -> Any:
    height, width = lengths(output_size)
    rows, columns = height_and_width(img)
    if width > columns or height > rows:
        wide, high = max(width - columns, 0), max(height - rows, 0)
        img = pad(img, [wide // 2, high // 2, (wide + 1) // 2, (high + 1) // 2])
        rows, columns = height_and_width(img)
        if (rows, columns) == (height, width):
            return img
    top, left = round((rows - height) / 2.0), round((columns - width) / 2.0)
    return crop(img, top, left, height, width)


def sides_of(padding: Any) -> tuple[int, int, int, int]:
    """Left, top, right, bottom of one, two or four numbers."""
    given = [padding] if type(padding) is int else collect(padding)
    if len(given) not in (1, 2, 4):
        raise ValueError("Padding must be an int or a 1, 2, or 4 element tuple, not a "
                         f"{len(given)} element tuple")  # fmt: skip
    left, top, right, bottom = (int(given[side % len(given)]) for side in range(4))
    return left, top, right, bottom


def pad(img: Any, padding: Any, fill: Any = 0, padding_mode: str = "constant") -> Any:
    if padding_mode not in pictures.PADDINGS:
        raise ValueError("Padding mode should be either constant, edge, reflect or symmetric")
    sides = sides_of(padding)
    if type(img) is Image:
        return Image(pictures.padded(img._pixels, sides, fill, padding_mode))
    height_and_width(img)
    left, top, right, bottom = sides
    if padding_mode == "symmetric":
        return _mirrored(_mirrored(img, -1, left, right), -2, top, bottom)
    mode = "replicate" if padding_mode == "edge" else padding_mode
    around = (left, right, top, bottom)
    if mode == "constant":
        level = float(pictures.levels_of(fill)[0])
        return resolve("nn.functional.pad")(img, around, mode, level)
    return _on_batch(img, lambda batch: resolve("nn.functional.pad")(batch, around, mode))


def _mirrored(img: Any, dim: int, before: int, after: int) -> Any:
    """Widened by what lies at the edge, the edge itself first."""
    length = int(img.shape[dim])
    if max(before, after) > length:
        raise ValueError("symmetric padding can't be wider than the picture")
    parts = [img.narrow(dim, 0, before).flip(dim), img,
             img.narrow(dim, length - after, after).flip(dim)]  # fmt: skip
    return resolve("cat")(parts, dim)


# ---------------------------------------------------------------- turning and colours


def flip(img: Any, axis: int) -> Any:
    if type(img) is Image:
        return Image(numpy.flip(img._pixels, axis))
    height_and_width(img)
    return img.flip(axis - 2)


def hflip(img: Any) -> Any:
    return flip(img, 1)


def vflip(img: Any) -> Any:
    return flip(img, 0)


def rotate(
    img: Any, angle: Any, interpolation: Any = 0, expand: bool = False, center: Any = None,
    fill: Any = 0,
) -> Any:  # fmt: skip
    """Counter-clockwise, by degrees."""
    method, angle = method_of(interpolation), float(angle)
    if type(img) is Image:
        middle = None if center is None else collect(center)
        return Image(pictures.rotated(img._pixels, angle, method, bool(expand), middle, fill))
    height, width = height_and_width(img)
    if expand or center is not None:
        raise NotImplementedError("a tensor is turned about its middle and keeps its size here")
    if method not in (NEAREST, BILINEAR):
        raise ValueError("a tensor is turned with NEAREST or BILINEAR here")
    floats = img.dtype if img.is_floating_point() else resolve("float32")
    turn = math.radians(-angle)
    cos, sin = math.cos(turn), math.sin(turn)
    theta = as_tensor([[cos, sin, 0.0], [-sin, cos, 0.0]], dtype=floats)
    grid = _turned_grid(theta, height, width)
    level = [float(part) for part in pictures.levels_of(fill)]

    def compute(batch: Any) -> Any:
        return _sampled(batch, grid, method, level)

    return _on_batch(img, compute)


def _turned_grid(theta: Any, height: int, width: int) -> Any:
    """Where each pixel comes from, the edges being -1 and 1."""
    linspace, options = resolve("linspace"), {"dtype": theta.dtype}
    base = resolve("ones")(1, height, width, 3, **options)
    base[..., 0] = linspace(-width * 0.5 + 0.5, width * 0.5 - 0.5, width, **options)
    base[..., 1] = linspace(-height * 0.5 + 0.5, height * 0.5 - 0.5, height, **options)[:, None]
    scaled = theta.t() / as_tensor([0.5 * width, 0.5 * height], **options)
    return base.view(1, height * width, 3).bmm(scaled[None]).view(1, height, width, 2)


def _sampled(batch: Any, grid: Any, method: str, level: list[float]) -> Any:
    """The values at the points of a grid; a mask that travels with them says what lay outside."""
    count = int(batch.shape[0])
    grid = grid.expand(count, *grid.shape[1:]).to(batch.dtype)
    mask = resolve("ones")(count, 1, *batch.shape[-2:], dtype=batch.dtype)
    out = resolve("nn.functional.grid_sample")(
        resolve("cat")([batch, mask], 1), grid, mode=method, padding_mode="zeros",
        align_corners=False,
    )  # fmt: skip
    inside, out = out[:, -1:], out[:, :-1]
    levels: Any = as_tensor(level, dtype=batch.dtype)
    fill = levels.view(1, -1, 1, 1)
    if method == NEAREST:
        return resolve("where")(inside < 0.5, fill, out)
    return out * inside + (1.0 - inside) * fill


def rgb_to_grayscale(img: Any, num_output_channels: int = 1) -> Any:
    if num_output_channels not in (1, 3):
        raise ValueError("num_output_channels should be either 1 or 3")
    if type(img) is Image:
        level = pictures.grey(img._pixels)
        return Image(level if num_output_channels == 1 else numpy.stack([level] * 3, 2))
    height_and_width(img)
    if img.dim() < 3:
        raise TypeError("Input image tensor should have at least 3 dimensions, but found "
                        f"{img.dim()}")  # fmt: skip
    if int(img.shape[-3]) == 3:
        red, green, blue = img.unbind(-3)
        img = (0.2989 * red + 0.587 * green + 0.114 * blue).to(img.dtype).unsqueeze(-3)
    return img.clone() if num_output_channels == 1 else img.expand(
        *img.shape[:-3], 3, *img.shape[-2:]
    )  # fmt: skip


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "to_tensor": to_tensor, "normalize": normalize, "to_pil_image": to_image, "resize": resize,
    "crop": crop, "center_crop": center_crop, "pad": pad, "hflip": hflip, "vflip": vflip,
    "rotate": rotate, "rgb_to_grayscale": rgb_to_grayscale, "to_grayscale": rgb_to_grayscale,
}  # fmt: skip
MODES = {"InterpolationMode": Interpolations()}
MODULES = {"torchvision.transforms.functional": functions(_FUNCTIONS) | MODES}
