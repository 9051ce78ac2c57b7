"""language: torchvision.utils: many pictures in one tensor, and as a file that exists in memory."""

from __future__ import annotations

from typing import Any

from ....engine.schema.mode import no_grad
from ....engine.tensors.tensor import Tensor
from ....namespace import resolve
from ...operations import collect, type_name
from ...session import session
from ..files import Content, MemoryFile, new_file
from ..publishing import functions

LEAST_RANGE = 1e-5  # what a range of values counts at least


def _batch(tensor: Any) -> Any:
    """Four dimensions and three bands of a picture, a batch or a list of them."""
    if type(tensor) in (list, tuple):
        for item in tensor:
            if not isinstance(item, Tensor):
                raise TypeError(f"tensor or list of tensors expected, got a list containing "
                                f"<class '{type_name(item)}'>")  # fmt: skip
        tensor = resolve("stack")(list(tensor), 0)
    elif not isinstance(tensor, Tensor):
        raise TypeError(f"tensor or list of tensors expected, got <class '{type_name(tensor)}'>")
    found: Any = tensor
    while found.dim() < 4:
        found = found.unsqueeze(0)
    return resolve("cat")([found] * 3, 1) if int(found.shape[1]) == 1 else found


def _to_range(picture: Any, limits: Any) -> None:
    """In place: the smallest value becomes 0, the largest 1."""
    low, high = limits or (float(picture.min()), float(picture.max()))
    picture.clamp_(low, high).sub_(low).div_(max(high - low, LEAST_RANGE))


def _make_grid(
    tensor: Any, nrow: int = 8, padding: int = 2, normalize: bool = False,
    value_range: Any = None, scale_each: bool = False, pad_value: float = 0.0,
) -> Any:  # fmt: skip
    """make_grid: (C, H, W) with `nrow` pictures in a row, `padding` pixels around each."""
    with no_grad():
        batch = _batch(tensor)
        if normalize:
            batch = batch.clone()
            limits = None if value_range is None else tuple(map(float, collect(value_range)))
            if limits is not None and len(limits) != 2:
                raise TypeError("value_range has to be a tuple (min, max) if specified. min and "
                                "max are numbers")  # fmt: skip
            for picture in batch if scale_each else [batch]:
                _to_range(picture, limits)
        count, bands, height, width = map(int, batch.shape)
        if count == 1:
            return batch.squeeze(0)
        columns = min(nrow, count)
        rows = -(-count // columns)
        high, wide = height + padding, width + padding
        grid = batch.new_full((bands, high * rows + padding, wide * columns + padding), pad_value)
        for place in range(count):
            session.budget.charge(1)
            top, left = place // columns * high + padding, place % columns * wide + padding
            grid[:, top : top + height, left : left + width] = batch[place]
        return grid


def _save_image(tensor: Any, fp: Any, format: Any = None, **options: Any) -> None:
    """save_image: the grid as bytes, in the folder that exists in memory."""
    with no_grad():
        grid = _make_grid(tensor, **options)
        levels = grid.mul(255).add_(0.5).clamp_(0, 255).permute(1, 2, 0).to(resolve("uint8"))
    content: Content = fp.content if isinstance(fp, MemoryFile) else new_file(fp)
    content.saved = levels.contiguous()
    content.size = int(levels.numel())


MODULES = {"torchvision.utils": functions({"make_grid": _make_grid, "save_image": _save_image})}
