"""Operators: images sampled at the points of a grid."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from ...engine.schema.dtypes import FLOATING
from ...engine.schema.operator import composite, operator, warn
from ..conventions import floating_only
from ..index.adding import add_in_turn
from ..linalg.product import bmm
from ..shape.shape import view
from ..shape.transposed import transpose

BILINEAR, NEAREST, BICUBIC = 0, 1, 2
ZEROS, BORDER, REFLECTION = 0, 1, 2
CUBIC = -0.75  # how far Keys' cubic overshoots

# A sample is a sum over the neighbours of its point: a product of one weight for each dimension,
# times the element. Weights come as values, first and second derivatives by the grid's coordinate.


def _reflected(xp: Any, place: Any, low: float, span: float) -> tuple[Any, Any]:
    """Places folded back at both edges, and the direction in which they run there."""
    if span == 0:
        return xp.zeros_like(place), xp.zeros_like(place)
    ahead = place - place.dtype.type(low)
    sign = xp.where(ahead < 0, -1, 1).astype(place.dtype)
    ahead = abs(ahead)
    rest = xp.fmod(ahead, place.dtype.type(span))
    odd = xp.floor(ahead / place.dtype.type(span)) % 2 == 1
    low = place.dtype.type(low)
    return xp.where(odd, span - rest + low, rest + low), xp.where(odd, -sign, sign)


def _folded(xp: Any, place: Any, size: int, padding: int, align: bool) -> tuple[Any, Any]:
    """Places brought inside as the padding asks, and their slope."""
    slope = xp.ones_like(place)
    if padding == REFLECTION:
        low, span = (0.0, float(size - 1)) if align else (-0.5, float(size))
        place, slope = _reflected(xp, place, low, span)
    if padding != ZEROS:
        slope = xp.where((place <= 0) | (place >= size - 1), 0, slope)
        place = xp.clip(place, 0, size - 1)
    return xp.where(xp.isfinite(place) & (abs(place) < 2**31), place, -100), slope


def _cubic(xp: Any, t: Any) -> list[tuple[Any, Any, Any]]:
    """Keys' weights of four neighbours at t behind the second, with two derivatives."""
    parts = []
    for offset in (-1, 0, 1, 2):
        x = abs(t - offset)
        toward = xp.where(t - offset < 0, -1, 1).astype(t.dtype)
        if offset in (0, 1):
            parts.append((
                ((CUBIC + 2) * x - (CUBIC + 3)) * x * x + 1,
                (3 * (CUBIC + 2) * x - 2 * (CUBIC + 3)) * x * toward,
                6 * (CUBIC + 2) * x - 2 * (CUBIC + 3),
            ))  # fmt: skip
        else:
            parts.append((
                ((CUBIC * x - 5 * CUBIC) * x + 8 * CUBIC) * x - 4 * CUBIC,
                ((3 * CUBIC * x - 10 * CUBIC) * x + 8 * CUBIC) * toward,
                6 * CUBIC * x - 10 * CUBIC,
            ))  # fmt: skip
    return parts


def _neighbours(
    xp: Any, coordinate: Any, size: int, mode: int, padding: int, align: bool
) -> list[tuple[Any, Any, tuple[Any, Any, Any]]]:
    """Along one dimension, for each neighbour: its index, whether it exists, its weights."""
    scale = (size - 1) / 2 if align else size / 2
    place = (coordinate + 1) / 2 * (size - 1) if align else ((coordinate + 1) * size - 1) / 2
    if mode == BICUBIC:
        floor = xp.floor(place)
        found = []
        for offset, (value, slope, bend) in enumerate(_cubic(xp, place - floor), -1):
            index, _ = _folded(xp, floor + offset, size, padding, align)
            weights = (value, slope * scale, bend * scale * scale)
            found.append((*_existing(xp, index, size), weights))
        return found
    place, slope = _folded(xp, place, size, padding, align)
    zero = xp.zeros_like(place)
    if mode == NEAREST:
        return [(*_existing(xp, xp.rint(place), size), (zero + 1, zero, zero))]
    floor, slope = xp.floor(place), slope * scale
    near, far = floor + 1 - place, place - floor
    return [
        (*_existing(xp, floor, size), (near, -slope, zero)),
        (*_existing(xp, floor + 1, size), (far, slope, zero)),
    ]


def _existing(xp: Any, place: Any, size: int) -> tuple[Any, Any]:
    there = (place >= 0) & (place < size)
    return xp.where(there, place, 0).astype("int64"), there


class Points:
    """The neighbours of all points of a grid (batch, ..., dimensions, last one first)."""

    def __init__(self, xp: Any, grid: Any, sizes: Any, mode: int, padding: int, align: bool):
        self.xp, self.ndim = xp, len(sizes)
        self.batch = grid.shape[0]
        flat = grid.reshape((self.batch, _volume(grid.shape[1:-1]), self.ndim))
        self.lines = [
            _neighbours(xp, flat[..., self.ndim - 1 - d], size, mode, padding, align)
            for d, size in enumerate(sizes)
        ]
        self.sizes = sizes

    def corners(self, *along: int) -> Iterator[tuple[Any, Any]]:
        """Flat places and weights of the neighbours; `along` names dimensions to derive by."""
        orders = [along.count(d) for d in range(self.ndim)]
        for corner in itertools.product(*self.lines):
            place, weight, there = 0, 1, True
            for (index, exists, weights), size, order in zip(
                corner, self.sizes, orders, strict=True
            ):
                place, weight = place * size + index, weight * weights[order]
                there = there & exists
            yield place, self.xp.where(there, weight, 0)

    def sample(self, image: Any, *along: int) -> Any:
        """(batch, channels, points) of an image (batch, channels, elements)."""
        out = self.xp.zeros((*image.shape[:2], _points(self)), dtype=image.dtype)
        rows = self.xp.arange(self.batch)[:, None]
        for place, weight in self.corners(*along):
            picked = self.xp.moveaxis(image[rows, :, place], 2, 1)
            out = out + picked * weight[:, None].astype(image.dtype)
        return out

    def spread(self, values: Any, shape: Any, weigh: Any = None) -> Any:
        """The adjoint of sample: values added where the neighbours are."""
        xp = self.xp
        out = xp.zeros((shape[0], _volume(shape[2:]), shape[1]), dtype=values.dtype)
        rows = xp.arange(self.batch)[:, None]
        by_point = xp.moveaxis(values, 1, 2)
        lanes = [(1, self.corners())] if weigh is None else [
            (factor, self.corners(d)) for d, factor in enumerate(weigh)
        ]  # fmt: skip
        for factor, corners in lanes:
            for place, weight in corners:
                share = (weight * factor)[..., None].astype(values.dtype)
                add_in_turn(xp, out, (rows, place), by_point * share)
        return xp.moveaxis(out, 1, 2).reshape(shape)


def _points(points: Points) -> int:
    return int(points.lines[0][0][0].shape[1])


def _volume(sizes: Sequence[int]) -> int:
    count = 1
    for size in sizes:
        count *= size
    return count


def _flat(image: Any) -> Any:
    return image.reshape((*image.shape[:2], _volume(image.shape[2:])))


def _sampled(
    xp: Any, input: Any, grid: Any, interpolation_mode: int, padding_mode: int, align: bool
) -> Any:
    points = Points(xp, grid, input.shape[2:], interpolation_mode, padding_mode, align)
    out = points.sample(_flat(input))
    return out.reshape((input.shape[0], input.shape[1], *grid.shape[1:-1]))


def _sampled_backward(
    xp: Any, grad_output: Any, input: Any, grid: Any, interpolation_mode: int, padding_mode: int,
    align: bool, output_mask: Any,
) -> tuple[Any, Any]:  # fmt: skip
    points = Points(xp, grid, input.shape[2:], interpolation_mode, padding_mode, align)
    grad = _flat(grad_output)
    of_input = points.spread(grad, input.shape) if output_mask[0] else None
    if not output_mask[1]:
        return of_input, None
    image, dims = _flat(input), range(points.ndim)
    slopes = [(points.sample(image, d) * grad).sum(axis=1) for d in reversed(dims)]
    return of_input, xp.stack(slopes, axis=-1).reshape(grid.shape)


def _again(
    xp: Any, grad_output: Any, input: Any, grid: Any, of_input: Any, of_grid: Any,
    interpolation_mode: int, padding_mode: int, align: bool,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """The gradients of <grad_input, of_input> + <grad_grid, of_grid>."""
    points = Points(xp, grid, input.shape[2:], interpolation_mode, padding_mode, align)
    grad, image, dims = _flat(grad_output), _flat(input), range(points.ndim)
    out, slopes, to_input = xp.zeros_like(grad), [xp.zeros_like(grad) for _ in dims], None
    if of_input is not None:
        moved = _flat(of_input)
        out = points.sample(moved)
        slopes = [points.sample(moved, d) for d in dims]
    if of_grid is not None and interpolation_mode != NEAREST:
        turned = of_grid.reshape((points.batch, _points(points), points.ndim))
        factors = [turned[..., points.ndim - 1 - d] for d in dims]
        out = out + sum(points.sample(image, d) * factors[d][:, None] for d in dims)
        slopes = [
            slopes[e] + sum(points.sample(image, d, e) * factors[d][:, None] for d in dims)
            for e in dims
        ]
        to_input = points.spread(grad, input.shape, factors)
    by_grid = [(slopes[d] * grad).sum(axis=1) for d in reversed(dims)]
    return (
        out.reshape(grad_output.shape),
        to_input,
        xp.stack(by_grid, axis=-1).reshape(grid.shape),
    )


def _declare(ndim: int) -> Any:
    settings = "int interpolation_mode, int padding_mode, bool align_corners"
    name, node = f"grid_sampler_{ndim}d", f"GridSampler{ndim}D"
    image, grid = ("c[None]", "u[None, :, :2, None] * torch.ones(2)")
    if ndim == 3:
        image, grid = "c[None, None]", "u[None, :, :2, None, None] * torch.ones(3)"
    sample = f"F.grid_sample({image}, {grid}, align_corners=False)"
    first = f"torch.autograd.grad({sample}.sum(), u, create_graph=True)[0]"
    second_order = f"torch.autograd.grad({first}.sum(), u)[0]"
    again = operator(
        f"{name}_double_backward(Tensor grad_output, Tensor input, Tensor grid, "
        f"Tensor? of_input, Tensor? of_grid, {settings}) -> (Tensor result0, Tensor result1, "
        "Tensor result2)",
        node="torch::autograd::NotImplemented",
        where="hidden",
        forward=_again,
        doc="The gradients of a grid sampler's gradients.",
        samples=(second_order,),
    )

    def second(grads: Any, *saved: Any) -> Any:
        nearest = saved[3] == NEAREST
        if grads[0] is None and (nearest or grads[1] is None):
            return None, None, None
        return again(*saved[:3], *grads, *saved[3:])

    backward = operator(
        f"{name}_backward(Tensor grad_output, Tensor input, Tensor grid, {settings}, "
        "any output_mask) -> (Tensor result0, Tensor result1)",
        node=f"{node}BackwardBackward0",
        where="hidden",
        forward=_sampled_backward,
        joint={
            ("grad_output", "input", "grid"): lambda grads, grad_output, input, grid, interpolation_mode, padding_mode, align_corners: second(  # noqa: E501
                grads, grad_output, input, grid, interpolation_mode, padding_mode, align_corners
            )
        },
        cost=lambda grad_output, input, grid, *rest: input.numel() + grid.numel(),
        doc="The gradients of a grid sampler.",
        samples=(second_order,),
    )  # fmt: skip
    return operator(
        f"{name}(Tensor input, Tensor grid, {settings}) -> Tensor",
        node=f"{node}Backward0",
        where="torch",
        tangent="none",
        forward=_sampled,
        joint={
            ("input", "grid"): lambda grad, input, grid, interpolation_mode, padding_mode, align_corners, needs: backward(  # noqa: E501
                grad, input, grid, interpolation_mode, padding_mode, align_corners,
                (needs["input"], needs["grid"]),
            )
        },
        check=lambda input, grid, *settings: _check(ndim, input, grid, settings[0]),
        refuse=floating_only(("grid_sampler_2d_cpu_kernel_impl", "grid_sampler3d_cpu")[ndim - 2]),
        cost=lambda input, grid, *settings: (
            grid.numel() // max(grid.shape[-1], 1) * input.shape[1]
        ),
        doc="An image's values at the points of a grid.",
        samples=(f"torch.{name}({image}, {grid}, 0, 0, False)",),
    )  # fmt: skip


def _check_common(input: Any, grid: Any) -> None:
    if grid.shape[0] != input.shape[0]:
        raise RuntimeError(
            "grid_sampler(): expected grid and input to have same batch size, but got input with "
            f"sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"
        )
    if grid.shape[-1] != input.ndim - 2:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {input.ndim - 2} in last dimension, but "
            f"got grid with sizes {list(grid.shape)}"
        )
    empty = [place for place, size in enumerate(input.shape) if size == 0 and place > 1]
    if empty:
        raise RuntimeError(
            "grid_sampler(): expected input to have non-empty spatial dimensions, but input has "
            f"sizes {list(input.shape)} with dimension {empty[0]} being empty"
        )


def _check(ndim: int, input: Any, grid: Any, mode: int) -> None:
    _check_common(input, grid)
    if input.ndim != ndim + 2 or grid.ndim != input.ndim:
        raise RuntimeError(
            f"grid_sampler(): expected {ndim + 2}D input and grid with same number of dimensions, "
            f"but got input with sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"
        )
    if ndim == 3 and mode == BICUBIC:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    if input.dtype is not grid.dtype and input.dtype.category == FLOATING:
        raise RuntimeError(f"expected scalar type {input.dtype.word} but found {grid.dtype.word}")


_ROWS = {ndim: _declare(ndim) for ndim in (2, 3)}


def _grid_sampler(input: Any, grid: Any, mode: int, padding: int, align: bool) -> Any:
    _check_common(input, grid)
    if input.ndim not in (4, 5) or input.ndim != grid.ndim:
        raise RuntimeError(
            "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but "
            f"got input with sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"
        )
    return _ROWS[input.ndim - 2].run(input, grid, mode, padding, align)


composite(
    "grid_sampler(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, "
    "bool align_corners) -> Tensor",
    _grid_sampler,
    where="torch",
    doc="An image's values at the points of a grid, settings as numbers.",
    samples=("torch.grid_sampler(c[None], u[None, :, :2, None] * torch.ones(2), 0, 1, True)",),
)

_WORDS = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")
_CHANGED = (
    "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. "
    "Please specify align_corners=True if the old behavior is desired. See the documentation of "
    "grid_sample for details."
)


def _grid_sample(input: Any, grid: Any, mode: str, padding_mode: str, align: bool | None) -> Any:
    modes, paddings = _WORDS
    if mode not in modes:
        raise ValueError(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', "
            f"but got: '{mode}'"
        )
    if padding_mode not in paddings:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or "
            f"'reflection', but got: '{padding_mode}'"
        )
    if align is None:
        warn(_CHANGED)
    return _grid_sampler(input, grid, modes.index(mode), paddings.index(padding_mode), bool(align))


composite(
    "grid_sample(Tensor input, Tensor grid, str mode='bilinear', str padding_mode='zeros', "
    "bool? align_corners=None) -> Tensor",
    _grid_sample,
    where="functional",
    doc="An image's values at the points of a grid, whose edges are -1 and 1.",
    samples=(
        *(
            f"F.grid_sample(c[None], u[None, :, :2, None] * torch.tensor([1.3, -0.8]), '{mode}', "
            f"'{padding}', {align})"
            for mode in _WORDS[0] for padding in _WORDS[1] for align in (True, False)
        ),
        "F.grid_sample(c[None, None], u[None, :, :2, None, None] * torch.ones(3))",
    ),
    errors=(
        "F.grid_sample(c[None], u)", "F.grid_sample(c[None], u[None, None], 'foo')",
        "F.grid_sample(c[None], u[None, None])",
    ),
)  # fmt: skip

# ---- grids of affine maps


def _axis(xp: Any, size: int, align: bool, dtype: Any) -> Any:
    if size <= 1:
        return xp.zeros(size, dtype=dtype)
    line = xp.linspace(-1, 1, size).astype(dtype)
    return line if align else line * dtype.type((size - 1) / size)


def _base(xp: Any, self: Any, size: Any, align: bool) -> Any:
    """Coordinates of all points, and a one: (batch, points, dimensions + 1)."""
    axes = [_axis(xp, length, align, self.dtype) for length in size[2:]]
    planes = xp.meshgrid(*axes, indexing="ij")
    flat = xp.stack([*(plane.ravel() for plane in reversed(planes)),
                     xp.ones(_volume(size[2:]), dtype=self.dtype)], axis=-1)  # fmt: skip
    return xp.ascontiguousarray(xp.broadcast_to(flat, (size[0], *flat.shape)))


base_grid = operator(
    "_affine_base_grid(Tensor self, int[] size, bool align_corners) -> Tensor",
    where="hidden",
    forward=_base,
    cost=lambda self, size, align_corners: size[0] * _volume(size[2:]) * (len(size) - 1),
    doc="The points of the grid that an affine map moves.",
    samples=("torch.autograd.grad(F.affine_grid(x[None], (1, 1, 2, 2)).sum(), x)[0]",),
)


def _affine_backward(grad: Any, size: Any, align: bool) -> Any:
    ndim = len(size) - 2
    points = base_grid(grad, size, align)
    flat = view(grad, (size[0], _volume(size[2:]), ndim))
    return transpose(bmm(transpose(points, 1, 2), flat), 1, 2)


def _check_theta(theta: Any, size: Any, align_corners: bool) -> None:
    ndim = len(size) - 2
    if ndim not in (2, 3):
        raise RuntimeError(
            f"AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs, got {len(size)}d"
        )


affine_grid_generator = operator(
    "affine_grid_generator(Tensor theta, int[] size, bool align_corners) -> Tensor",
    node="AffineGridGeneratorBackward0",
    where="torch",
    check=_check_theta,
    cost=lambda theta, size, align_corners: size[0] * _volume(size[2:]) * (len(size) - 1),
    forward=lambda xp, theta, size, align_corners: (
        _base(xp, theta, size, align_corners) @ xp.swapaxes(theta, 1, 2)
    ).reshape((size[0], *size[2:], len(size) - 2)),
    theta=lambda grad, size, align_corners: _affine_backward(grad, size, align_corners),
    doc="The points of a grid, moved by an affine map.",
    samples=("torch.affine_grid_generator(x[None], (1, 1, 2, 3), True)",),
)


def _affine_grid(theta: Any, size: Any, align: bool | None) -> Any:
    if align is None:
        warn(_CHANGED)
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    if len(size) not in (4, 5):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, "
            f"respectively. Got size {_size_text(size)}."
        )
    rows = len(size) - 2
    if tuple(theta.shape[-2:]) != (rows, rows + 1) or theta.ndim != 3:
        raise ValueError(
            f"Expected a batch of {rows}D affine matrices of shape Nx{rows}x{rows + 1} for size "
            f"{_size_text(size)}. Got {theta.shape}."
        )
    if align and min(size[2:]) == 1:
        warn(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when "
            "align_corners=True. This is not an intended use case of affine_grid. See the "
            "documentation of affine_grid for details."
        )
    elif min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {_size_text(size)}")
    if theta.dtype.is_reduced and min(size[2:]) <= 1:  # a single point is made by torch.tensor
        raise NotImplementedError(f"\"tensor_cpu\" not implemented for '{theta.dtype.word}'")
    return affine_grid_generator.run(theta, tuple(size), bool(align))


def _size_text(size: Any) -> str:
    return repr(tuple(size))


composite(
    "affine_grid(Tensor theta, int[] size, bool? align_corners=None) -> Tensor",
    _affine_grid,
    where="functional",
    doc="The grid that samples an image as an affine map moves it.",
    samples=(
        "F.affine_grid(x[None], (1, 1, 2, 3), True)", "F.affine_grid(x[None], (1, 2, 3, 1))",
        "F.affine_grid(r[None], (1, 1, 2, 2, 2), False)",
    ),
    errors=("F.affine_grid(x[None], (1, 2, 3))", "F.affine_grid(c, (2, 1, 2, 2))"),
)  # fmt: skip
