"""Operators: images resized, dimension by dimension."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

from ...engine.schema.operator import catalogue, composite, operator, warn
from ...engine.schema.signature import is_int
from ..conventions import COMPLEX, INTEGERS, Late, unimplemented

# ---- what one dimension is resampled by: for each place of the output, places of the input and
# their weights

Taps = list[list[tuple[int, float]]]


def _scale(size: int, out: int, align: bool, given: float | None) -> float:
    if align:
        return (size - 1) / (out - 1) if out > 1 else 0.0
    return 1.0 / given if given is not None and given > 0 else size / out


def _linear(size: int, out: int, scale: float, align: bool) -> Taps:
    taps = []
    for row in range(out):
        at = row * scale if align else max((row + 0.5) * scale - 0.5, 0.0)
        low = min(int(at), size - 1)
        share = min(max(at - low, 0.0), 1.0)
        taps.append([(low, 1 - share), (min(low + 1, size - 1), share)])
    return taps


def _cubic_weights(t: float) -> list[float]:
    a = -0.75

    def near(x: float) -> float:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x: float) -> float:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


def _cubic(size: int, out: int, scale: float, align: bool) -> Taps:
    taps = []
    for row in range(out):
        at = row * scale if align else (row + 0.5) * scale - 0.5
        low = math.floor(at)
        weights = enumerate(_cubic_weights(at - low), -1)
        taps.append([(min(max(low + offset, 0), size - 1), weight) for offset, weight in weights])
    return taps


def _sinc(x: float) -> float:
    return math.sin(math.pi * x) / (math.pi * x) if x else 1.0


def _triangle(x: float) -> float:
    return max(1 - abs(x), 0.0)


def _bump(x: float) -> float:
    a, x = -0.5, abs(x)
    if x < 1:
        return ((a + 2) * x - (a + 3)) * x * x + 1
    return (((x - 5) * x + 8) * x - 4) * a if x < 2 else 0.0


def _lanczos(x: float) -> float:
    return _sinc(x) * _sinc(x / 3) if abs(x) < 3 else 0.0


def _smoothed(
    size: int, out: int, scale: float, align: bool, weigh: Callable[[float], float], reach: int
) -> Taps:
    """With antialias=True: where the image shrinks, a place takes all that it covers."""
    wide = max(scale, 1.0)
    taps = []
    for row in range(out):
        center = scale * (row + 0.5)
        low = max(int(center - reach * wide + 0.5), 0)
        high = min(int(center + reach * wide + 0.5), size)
        weights = [weigh((place - center + 0.5) / wide) for place in range(low, high)]
        total = sum(weights) or 1.0
        taps.append([(place, weight / total) for place, weight in enumerate(weights, low)])
    return taps


_KINDS: dict[str, Callable[[int, int, float, bool], Taps]] = {
    "bicubic": _cubic,
    "bilinear_aa": functools.partial(_smoothed, weigh=_triangle, reach=1),
    "bicubic_aa": functools.partial(_smoothed, weigh=_bump, reach=2),
    "lanczos_aa": functools.partial(_smoothed, weigh=_lanczos, reach=3),
}  # fmt: skip


def _resampled(
    xp: Any, x: Any, kind: str, sizes: Any, outs: Any, scales: Any, align: bool, back: bool
) -> Any:
    from ...numerics import resampling as numerics

    if x.dtype.kind != "f" and not kind.startswith("nearest"):  # pictures of bytes
        fine = _resampled(xp, x.astype("float32"), kind, sizes, outs, scales, align, back)
        return xp.clip(xp.floor(fine + 0.5), 0, 255)
    is_nearest = kind.startswith("nearest")
    in_order = numerics.is_known(xp, x, kind, outs)
    if in_order and not is_nearest:
        if back:
            return numerics.returned(x, kind, sizes, scales, align)
        return numerics.resampled(x, kind, outs, scales, align)
    every = []
    for size, out, given in zip(sizes, outs, scales, strict=True):
        scale = _scale(size, out, align, given)
        if is_nearest:
            small = len(outs) == 2 and sum(outs) <= numerics.SMALL
            exact = kind == "nearest_exact"
            rows = numerics.neighbours(size, out, scale, x.dtype, exact, small)
            every.append([[(row, 1.0)] for row in rows])
        else:
            every.append(_KINDS.get(kind, _linear)(size, out, scale, align))
    if in_order and back:
        return numerics.scattered(x, [[place for [(place, _)] in taps] for taps in every], sizes)
    # A product with a matrix takes NaN and infinities everywhere, also to what does not see them.
    spreads = is_nearest or not bool(xp.isfinite(x).all())
    apply = _by_places if spreads else _by_matrix
    for axis, (size, taps) in enumerate(zip(sizes, every, strict=True), x.ndim - len(outs)):
        x = xp.moveaxis(apply(xp, xp.moveaxis(x, axis, 0), taps, size, back), 0, axis)
    return xp.ascontiguousarray(x)


def _by_matrix(xp: Any, x: Any, taps: Taps, size: int, back: bool) -> Any:
    matrix = xp.zeros((len(taps), size), dtype=x.dtype)
    for row, parts in enumerate(taps):
        for place, weight in parts:
            matrix[row, place] += weight
    applied = xp.tensordot(xp.moveaxis(x, 0, -1), matrix.T if back else matrix, axes=((-1,), (1,)))
    return xp.moveaxis(applied, -1, 0)


def _by_places(xp: Any, x: Any, taps: Taps, size: int, back: bool) -> Any:
    made = xp.zeros((size if back else len(taps), *x.shape[1:]), dtype=x.dtype)
    for row, parts in enumerate(taps):
        for place, weight in parts:
            to, come = (place, row) if back else (row, place)
            made[to] += x[come] if weight == 1.0 else x.dtype.type(weight) * x[come]
    return made


# ---- a row for each kind and number of dimensions, with PyTorch's names of the scales

_SCALES = {1: ("scales",), 2: ("scales_h", "scales_w"), 3: ("scales_d", "scales_h", "scales_w")}


def _declare(kind: str, ndim: int, word: str, aligned: bool) -> Any:
    names = _SCALES[ndim]
    flag = "bool align_corners, " if aligned else ""
    scales = ", ".join(f"float? {name}=None" for name in names)
    plain, smooth = kind.removesuffix("_aa"), kind.endswith("_aa")
    label = {"nearest_exact": "NearestExact"}.get(kind, plain.capitalize())
    hidden = "_" if kind == "nearest_exact" or smooth else ""
    base = f"{hidden}upsample_{plain}{ndim}d{'_aa' if smooth else ''}"
    node = f"Upsample{label}{ndim}D{'Aa' if smooth else ''}Backward"

    kernel = f"compute_indices_weights_{kind.removesuffix('_exact').removeprefix('bi')}"
    if smooth:
        kernel = "compute_index_ranges_weights"
    elif ndim == 2 and kind != "bicubic":
        kernel = f"upsample_{kind.removesuffix('_exact')}2d_channels_last"
    kernel = kernel.replace("trilinear", "linear")
    of_bytes = ndim == 2 or kind.startswith("nearest")  # pictures of bytes are resized

    def settings(rest: tuple[Any, ...]) -> tuple[bool, tuple[Any, ...]]:
        return (bool(rest[0]), rest[1:]) if aligned else (False, rest)

    def forward(xp: Any, x: Any, output_size: Any, *rest: Any) -> Any:
        align, given = settings(rest)
        return _resampled(xp, x, kind, x.shape[-ndim:], output_size, given, align, False)

    def backward(xp: Any, grad: Any, output_size: Any, input_size: Any, *rest: Any) -> Any:
        align, given = settings(rest)
        return _resampled(xp, grad, kind, input_size[-ndim:], output_size, given, align, True)

    there, back = Late(base), Late(base + "_backward")
    formulas = _FORMULAS[ndim, aligned](there, back)
    operator(
        f"{base}_backward(Tensor grad_output, int[] output_size, int[] input_size, "
        f"{flag}{scales}) -> Tensor",
        node=node + "Backward0",
        where="hidden",
        forward=backward,
        grad_output=formulas[1],
        jacobian="resampling",
        doc="The gradient of resampling: the transposed matrices.",
        samples=(_example(kind, ndim, "sum()", True),),
    )
    return operator(
        f"{base}(Tensor self, int[] output_size, {flag}{scales}) -> Tensor",
        node=node + "0",
        where="hidden",
        layout="channels",
        forward=forward,
        self=formulas[0],
        refuse=unimplemented(
            kernel,
            *INTEGERS[of_bytes:],
            "Bool",
            *COMPLEX,
            *(("Half", "BFloat16") if smooth else ()),
        ),
        cost=lambda self, output_size, *rest: self.shape[0] * self.shape[1] * _product(output_size),
        jacobian="resampling",
        doc="An image resampled to another size.",
        samples=(_example(kind, ndim, "", False),),
    )


def _product(sizes: Any) -> int:
    count = 1
    for size in sizes:
        count *= size
    return count


def _example(kind: str, ndim: int, end: str, grad: bool) -> str:
    x = {1: "c", 2: "c[None]", 3: "c[None, None]"}[ndim]
    smooth = ", antialias=True" if kind.endswith("_aa") else ""
    mode, factor = kind.removesuffix("_aa").replace("_", "-"), 0.6 if smooth else 2
    call = f"F.interpolate({x}, scale_factor={factor}, mode='{mode}'{smooth})"
    return f"torch.autograd.grad({call}.sum(), c)[0]" if grad else call


def _formulas(ndim: int, aligned: bool) -> Any:
    """Formulas name what is saved, so each number of dimensions has its own."""
    if ndim == 1 and not aligned:
        return lambda there, back: (
            lambda grad, output_size, self_sym_sizes, scales: back(
                grad, output_size, self_sym_sizes, scales
            ),
            lambda grad, output_size, scales: there(grad, output_size, scales),
        )
    if ndim == 1:
        return lambda there, back: (
            lambda grad, output_size, self_sym_sizes, align_corners, scales: back(
                grad, output_size, self_sym_sizes, align_corners, scales
            ),
            lambda grad, output_size, align_corners, scales: there(
                grad, output_size, align_corners, scales
            ),
        )
    if ndim == 2 and not aligned:
        return lambda there, back: (
            lambda grad, output_size, self_sym_sizes, scales_h, scales_w: back(
                grad, output_size, self_sym_sizes, scales_h, scales_w
            ),
            lambda grad, output_size, scales_h, scales_w: there(
                grad, output_size, scales_h, scales_w
            ),
        )
    if ndim == 2:
        return lambda there, back: (
            lambda grad, output_size, self_sym_sizes, align_corners, scales_h, scales_w: back(
                grad, output_size, self_sym_sizes, align_corners, scales_h, scales_w
            ),
            lambda grad, output_size, align_corners, scales_h, scales_w: there(
                grad, output_size, align_corners, scales_h, scales_w
            ),
        )
    return _formulas_of_volumes(aligned)


def _formulas_of_volumes(aligned: bool) -> Any:
    if not aligned:
        return lambda there, back: (
            lambda grad, output_size, self_sym_sizes, scales_d, scales_h, scales_w: back(
                grad, output_size, self_sym_sizes, scales_d, scales_h, scales_w
            ),
            lambda grad, output_size, scales_d, scales_h, scales_w: there(
                grad, output_size, scales_d, scales_h, scales_w
            ),
        )
    return lambda there, back: (
        lambda grad, output_size, self_sym_sizes, align_corners, scales_d, scales_h, scales_w: back(
            grad, output_size, self_sym_sizes, align_corners, scales_d, scales_h, scales_w
        ),
        lambda grad, output_size, align_corners, scales_d, scales_h, scales_w: there(
            grad, output_size, align_corners, scales_d, scales_h, scales_w
        ),
    )


_FORMULAS = {
    (ndim, aligned): _formulas(ndim, aligned) for ndim in (1, 2, 3) for aligned in (False, True)
}
_ROWS: dict[tuple[str, int | str], Any] = {}
for _ndim in (1, 2, 3):
    _ROWS["nearest", _ndim] = _declare("nearest", _ndim, "nearest", False)
    _ROWS["nearest-exact", _ndim] = _declare("nearest_exact", _ndim, "nearest-exact", False)
for _kind, _ndim in (("linear", 1), ("bilinear", 2), ("bicubic", 2), ("trilinear", 3)):
    _ROWS[_kind, _ndim] = _declare(_kind, _ndim, _kind, True)
for _kind in ("bilinear", "bicubic", "lanczos"):
    _ROWS[_kind, "aa"] = _declare(f"{_kind}_aa", 2, _kind, True)

_MODES = "nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact"


def _asked_sizes(
    input: Any, size: Any, scale_factor: Any, recompute: Any
) -> tuple[list[Any] | None, list[Any]]:
    """The size of each dimension, or else its factor."""
    ndim = input.ndim - 2
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        sizes = list(size) if isinstance(size, tuple | list) else [size] * ndim
        if len(sizes) != ndim:
            raise ValueError(
                "Input and output must have the same number of spatial dimensions, but got input "
                f"with spatial dimensions of {list(input.shape[2:])} and output size of "
                f"{size}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and output "
                "size in (o1, o2, ...,oK) format."
            )
        if isinstance(size, tuple | list) and not all(map(is_int, sizes)):
            kinds = [type(n) for n in sizes]
            raise TypeError(
                "expected size to be one of int or Tuple[int] or Tuple[int, int] or "
                f"Tuple[int, int, int], but got size with types {kinds}"
            )
        if recompute:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        return sizes, []
    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    many = isinstance(scale_factor, tuple | list)
    factors = list(scale_factor) if many else [scale_factor] * ndim
    if len(factors) != ndim:
        raise ValueError(
            "Input and scale_factor must have the same number of spatial dimensions, but got input "
            f"with spatial dimensions of {list(input.shape[2:])} and scale_factor of shape "
            f"{scale_factor}. Please provide input tensor in (N, C, d1, d2, ...,dK) format and "
            "scale_factor in (s1, s2, ...,sK) format."
        )
    return None, factors


def _output_sizes(
    input: Any, sizes: list[Any] | None, factors: list[Any], recompute: Any
) -> tuple[list[int], list[float | None]]:
    unscaled: list[float | None] = [None] * (input.ndim - 2)
    if sizes is not None:
        return [int(n) for n in sizes], unscaled
    sizes = [
        math.floor(float(n) * factor) for n, factor in zip(input.shape[2:], factors, strict=True)
    ]
    return sizes, unscaled if recompute else [float(factor) for factor in factors]


def _no_image(before: Sequence[int], after: Sequence[int]) -> str:
    shown = [
        ", ".join(f"{word}: {n}" for word, n in zip("DHW"[-len(sizes) :], sizes, strict=True))
        for sizes in (before, after)
    ]
    return (
        f"Input and output sizes should be greater than 0, but got input ({shown[0]})"
        f"{' and' if len(before) == 1 else ''} output ({shown[1]})"
    )


def _no_mode(rank: int, mode: str) -> str:
    needed = {"linear": 3, "bilinear": 4, "trilinear": 5}
    if isinstance(mode, str) and mode in needed and 3 <= rank <= 5:
        return f"Got {rank}D input, but {mode} mode needs {needed[mode]}D input"
    return (
        f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {rank}D) for the modes: "
        f"{_MODES} (got {mode})"
    )


def _interpolate(
    input: Any, size: Any, scale_factor: Any, mode: str, align_corners: bool | None,
    recompute_scale_factor: bool | None, antialias: bool,
) -> Any:  # fmt: skip
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError(
                "align_corners option can only be set with the interpolating modes: linear | "
                "bilinear | bicubic | trilinear"
            )
    elif align_corners is None:
        align_corners = False
    ndim = input.ndim - 2
    asked = _asked_sizes(input, size, scale_factor, recompute_scale_factor)
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and ndim == 2):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires "
            "a 4-D tensor as input"
        )
    if mode == "area" and 1 <= ndim <= 3:
        sizes, _ = _output_sizes(input, *asked, True)
        return catalogue.functions[f"nn.functional.adaptive_avg_pool{ndim}d"](input, tuple(sizes))
    if mode == "lanczos" and ndim == 2 and (align_corners or not antialias):
        wrong = (
            "does not support align_corners=True" if align_corners else "requires antialias=True"
        )
        raise ValueError(f"Lanczos mode {wrong}")
    row = _ROWS.get((mode, "aa" if antialias else ndim)) if isinstance(mode, str) else None
    if row is None:
        raise NotImplementedError(_no_mode(input.ndim, mode))
    sizes, scales = _output_sizes(input, *asked, recompute_scale_factor)
    if min(*input.shape[2:], *sizes) <= 0:
        raise RuntimeError(_no_image(input.shape[2:], sizes))
    if not math.prod(input.shape[1:]):
        raise RuntimeError(
            f"Non-empty {input.ndim}D data tensor expected but got a tensor with sizes "
            f"{list(input.shape)}"
        )
    given = (align_corners,) if mode not in ("nearest", "nearest-exact") else ()
    return row.run(input, tuple(sizes), *given, *scales)


composite(
    "interpolate(Tensor input, any size=None, any scale_factor=None, any mode='nearest', "
    "bool? align_corners=None, bool? recompute_scale_factor=None, bool antialias=False) -> Tensor",
    _interpolate,
    where="functional",
    doc="An image resampled to a size, or by a factor.",
    samples=(
        "F.interpolate(c, scale_factor=2)",
        "F.interpolate(c[None], (5, 4), mode='bilinear')",
        "F.interpolate(c[None], scale_factor=2.0, mode='bicubic', align_corners=True)",
    ),
    errors=("F.interpolate(x, 2)", "F.interpolate(c)", "F.interpolate(c[:, :0], 2)"),
)


def _upsample(input: Any, size: Any, scale_factor: Any, mode: str, align_corners: Any) -> Any:
    warn("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.")
    return _interpolate(input, size, scale_factor, mode, align_corners, None, False)


composite(
    "upsample(Tensor input, any size=None, any scale_factor=None, any mode='nearest', "
    "bool? align_corners=None) -> Tensor",
    _upsample,
    where="functional",
    doc="The older name of interpolate.",
    samples=("F.upsample(c, scale_factor=2)",),
)


def _declare_older(name: str, mode: str, align_corners: bool | None) -> None:
    def body(input: Any, size: Any, scale_factor: Any) -> Any:
        warn(f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.")
        return _interpolate(input, size, scale_factor, mode, align_corners, None, False)

    composite(
        f"{name}(Tensor input, any size=None, any scale_factor=None) -> Tensor",
        body,
        where="functional",
        doc=f"interpolate in the mode {mode!r}.",
        samples=(f"F.{name}(c[None], scale_factor=2)",),
    )


_declare_older("upsample_nearest", "nearest", None)
_declare_older("upsample_bilinear", "bilinear", True)
