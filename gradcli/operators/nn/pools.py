"""Operators: pooling as torch.nn.functional offers it."""

from __future__ import annotations

from typing import Any

from ...engine.schema.call_errors import type_word
from ...engine.schema.operator import composite
from ...engine.schema.signature import is_int
from ..conventions import native
from .pooling import avg_pool2d, avg_pool3d, max_pool2d_with_indices, max_pool3d_with_indices
from .pooling_adaptive import (
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    adaptive_max_pool2d,
    adaptive_max_pool3d,
    check_filled,
)
from .windows import each, pooled_size

_MAX = {2: max_pool2d_with_indices, 3: max_pool3d_with_indices}
_AVERAGE = {2: avg_pool2d, 3: avg_pool3d}


def _settings(name: str, ndim: int, **given: Any) -> list[tuple[int, ...]]:
    """Each setting for each dimension. A stride not given stays empty, as nodes show it."""
    settings = []
    for word, value in given.items():
        absent = word == "stride" and value in (None, ())
        sizes = () if absent else each(value, ndim)
        if len(sizes) != ndim and not absent:
            raise RuntimeError(_miscounted(name, ndim, word, len(sizes)))
        settings.append(sizes)
    return settings


def _miscounted(name: str, ndim: int, word: str, count: int) -> str:
    if ndim == 1 and name == "avg_pool1d":
        return f"{name}() argument '{word}' should contain one int (got {count})"
    if ndim == 1:
        return (
            f"{name}() {word} must be an int, list of ints{',' if word == 'padding' else ''} or "
            f"tuple of ints of size 1 but got size {count}"
        )
    if (name, word) == ("avg_pool3d", "padding"):
        return f"{name}: {word} must be a single int, or a tuple of three ints"
    choice = "must be either" if word == "dilation" else "must either be"
    if word == "stride":
        choice = "must be omitted," if name == "avg_pool3d" else "must either be omitted,"
    return f"{name}: {word} {choice} a single int, or a tuple of {_NUMBERS[ndim]} ints"


_NUMBERS = {2: "two", 3: "three"}


def _max_pool(ndim: int, indices: bool) -> Any:
    def body(
        input: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool,
        return_indices: bool = False,
    ) -> Any:  # fmt: skip
        settings = _settings(
            f"max_pool{ndim}d", ndim, kernel_size=kernel_size, stride=stride, padding=padding,
            dilation=dilation,
        )  # fmt: skip
        places = indices or return_indices
        if ndim == 1 and not places:
            _check_line(input, settings, ceil_mode)
        both = _max_any(input, settings, ceil_mode, ndim)
        return both if places else both[0]

    return body


def _max_any(input: Any, settings: Any, ceil: bool, ndim: int) -> tuple[Any, Any]:
    if ndim > 1:
        return _MAX[ndim].run(input, *settings, ceil)
    kernel, stride, padding, dilation = (pair[0] if pair else None for pair in settings)
    values, places = max_pool2d_with_indices.run(
        input.unsqueeze(-2), (1, kernel), (1, kernel if stride is None else stride), (0, padding),
        (1, dilation), ceil,
    )  # fmt: skip
    return values.squeeze(-2), places.squeeze(-2)


def _check_line(input: Any, settings: Any, ceil: bool) -> None:
    """What the kernel without indices asks; the one with indices is that of two dimensions."""
    if input.ndim not in (2, 3) or 0 in input.shape[-2:]:
        raise RuntimeError(
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for "
            f"input, but got:{list(input.shape)}"
        )
    kernel, padding, dilation = (settings[place][0] for place in (0, 2, 3))
    stride = settings[1][0] if settings[1] else kernel
    for word, number in (("kernel_size", kernel), ("stride", stride)):
        if number <= 0:
            raise RuntimeError(f"max_pool1d() {word} must be greater than zero, but got {number}")
    if padding < 0:
        raise RuntimeError(f"max_pool1d() padding must be non-negative, but got {padding}")
    if padding > kernel // 2:
        raise RuntimeError(
            "max_pool1d() padding should be at most half of kernel size, but got "
            f"padding={padding} and kernel_size={kernel}"
        )
    if dilation <= 0:
        raise RuntimeError(f"max_pool1d() dilation must be greater than zero, but got {dilation}")
    count = pooled_size(input.shape[-1], kernel, padding, padding, stride, dilation, ceil)
    if count <= 0:
        raise RuntimeError(f"max_pool1d() Invalid computed output size: {count}")
    if input.dtype.category != 2:
        raise NotImplementedError(f"\"max_pool1d_impl\" not implemented for '{input.dtype.word}'")


for _ndim, _x, _corner in (
    (1, "c", "F.max_pool1d(tensor([[3., 3., 1.]]), 3)"),
    (2, "c[None]", "F.max_pool2d(tensor([[[3., 3.], [3., 1.]]]), 2)"),
    (3, "c[None, None]", "F.max_pool3d(tensor([[[[3., 3.], [3., 1.]]]]), (1, 2, 2))"),
):
    _window = (
        f"Tensor input, int[{_ndim}] kernel_size, int[{_ndim}]? stride=None, "
        f"int[{_ndim}] padding=0, int[{_ndim}] dilation=1, bool ceil_mode=False"
    )
    composite(
        f"max_pool{_ndim}d.functional({_window}, bool return_indices=False) -> Tensor",
        _max_pool(_ndim, False),
        where="functional",
        doc="Max pooling: the largest element of each window.",
        samples=(f"F.max_pool{_ndim}d({_x}, 2)", f"F.max_pool{_ndim}d({_x}, 2, 1, padding=1)"),
        errors=(f"F.max_pool{_ndim}d(s, 2)",),
    )
    composite(
        f"max_pool{_ndim}d({_window}) -> Tensor",
        _max_pool(_ndim, False),
        where="torch",
        doc="Max pooling: the largest element of each window.",
        corners=(_corner,),
        samples=(f"torch.max_pool{_ndim}d({_x}, 2)",),
    )
    composite(
        f"max_pool{_ndim}d_with_indices.functional({_window}, bool return_indices=False) "
        "-> (Tensor, Tensor)",
        _max_pool(_ndim, True),
        where="functional",
        doc="The largest element of each window, and where it stood.",
        samples=(f"F.max_pool{_ndim}d_with_indices({_x}, 2)[0]",),
    )


def _avg_pool1d(
    input: Any, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool,
    count_include_pad: bool,
) -> Any:  # fmt: skip
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"Expected 2 to 3 dimensions, but got {input.ndim}-dimensional tensor for argument #1 "
            "'self' (while checking arguments for avg_pool1d)"
        )
    kernel, step, before = _settings(
        "avg_pool1d", 1, kernel_size=kernel_size, stride=stride, padding=padding
    )
    out = avg_pool2d.run(
        input.unsqueeze(-2), (1, *kernel), (1, *(step or kernel)), (0, *before), ceil_mode,
        count_include_pad, None,
    )  # fmt: skip
    return out.squeeze(-2)


composite(
    "avg_pool1d(Tensor input, int[1] kernel_size, int[1]? stride=None, int[1] padding=0, "
    "bool ceil_mode=False, bool count_include_pad=True) -> Tensor",
    _avg_pool1d,
    where="torch functional",
    doc="Average pooling: the mean of each window.",
    samples=("F.avg_pool1d(c, 2)", "F.avg_pool1d(c, 2, 1, 1, count_include_pad=False)"),
    errors=("F.avg_pool1d(v, 2)", "F.avg_pool1d(s, 2)"),
)


def _avg_pool(ndim: int) -> Any:
    def body(
        input: Any, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool,
        count_include_pad: bool, divisor_override: int | None,
    ) -> Any:  # fmt: skip
        settings = _settings(
            f"avg_pool{ndim}d", ndim, kernel_size=kernel_size, stride=stride, padding=padding
        )
        return _AVERAGE[ndim].run(
            input, *settings, ceil_mode, count_include_pad, divisor_override
        )  # fmt: skip

    return body


for _ndim, _x in ((2, "c[None]"), (3, "c[None, None]")):
    composite(
        f"avg_pool{_ndim}d(Tensor input, int[{_ndim}] kernel_size, int[{_ndim}]? stride=None, "
        f"int[{_ndim}] padding=0, bool ceil_mode=False, bool count_include_pad=True, "
        "int? divisor_override=None) -> Tensor",
        _avg_pool(_ndim),
        where="functional",
        doc="Average pooling: the mean of each window.",
        samples=(
            f"F.avg_pool{_ndim}d({_x}, 2)",
            f"F.avg_pool{_ndim}d({_x}, 2, 2, ceil_mode=True)",
        ),
        errors=(f"F.avg_pool{_ndim}d({_x}[None, None], 2)",),
    )


def _sizes(kind: str, output_size: Any, input: Any, ndim: int) -> tuple[int, ...]:
    """None keeps a dimension's size."""
    wrong = f"adaptive_{kind}_pool{ndim}d(): argument 'output_size' (position 2) must be tuple of "
    if isinstance(output_size, bool):
        raise TypeError(f"{wrong}ints, not bool")
    if is_int(output_size):
        return (int(output_size),) * ndim
    if input.ndim <= len(output_size):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")
    kept = input.shape[-len(output_size) :]
    sizes = tuple(n if size is None else size for size, n in zip(output_size, kept, strict=False))
    if sizes and not is_int(sizes[0]):
        raise TypeError(f"{wrong}ints, but found element of type {type_word(sizes[0])} at pos 0")
    return sizes


def _check_flat(input: Any, output_size: Any, kind: str) -> None:
    name = f"adaptive_{kind}_pool1d"
    if len(output_size) != 1:
        count = len(output_size)
        raise RuntimeError(f"{name}() argument 'output_size' should contain one int (got {count})")
    if input.ndim not in (2, 3):
        raise RuntimeError(
            f"Expected 2 to 3 dimensions, but got {input.ndim}-dimensional tensor for argument #1 "
            f"'self' (while checking arguments for {name})"
        )
    if kind == "max":
        check_filled(input, name)


def _adaptive_average(ndim: int) -> Any:
    rows = {2: adaptive_avg_pool2d, 3: adaptive_avg_pool3d}

    def body(input: Any, output_size: Any) -> Any:
        size = _sizes("avg", output_size, input, ndim)
        if all(n == 1 for n in size) and len(size) == ndim:
            return input.mean(list(range(-ndim, 0)), keepdim=True)
        return rows[ndim].run(input, size)

    def flat(input: Any, output_size: Any) -> Any:
        _check_flat(input, output_size, "avg")
        wide = input.unsqueeze(-2)
        if output_size == (1,):
            return wide.mean([-1, -2], keepdim=True).squeeze(-2)
        return adaptive_avg_pool2d.run(wide, (1, *output_size)).squeeze(-2)

    return flat if ndim == 1 else body


def _adaptive_max(ndim: int) -> Any:
    rows = {2: adaptive_max_pool2d, 3: adaptive_max_pool3d}

    def body(input: Any, output_size: Any, return_indices: bool) -> Any:
        if ndim == 1:
            _check_flat(input, output_size, "max")
        if ndim > 1:
            both = rows[ndim].run(input, _sizes("max", output_size, input, ndim))
        else:
            values, places = adaptive_max_pool2d.run(input.unsqueeze(-2), (1, *output_size))
            both = (values.squeeze(-2), places.squeeze(-2))
        return both if return_indices else both[0]

    return body


for _ndim, _x, _corner in (
    (1, "c", "[[3., 3., 1.]]"), (2, "c[None]", "[[[3., 3.], [3., 1.]]]"),
    (3, "c[None, None]", "[[[[3., 3.], [3., 1.]]]]"),
):  # fmt: skip
    _output = "int[1] output_size" if _ndim == 1 else "any output_size"
    composite(
        f"adaptive_avg_pool{_ndim}d(Tensor input, {_output}) -> Tensor",
        native(_adaptive_average(_ndim)),
        where="torch functional" if _ndim == 1 else "functional",
        doc="Adaptive average pooling: the means of windows, this many of them.",
        samples=(f"F.adaptive_avg_pool{_ndim}d({_x}, 2)", f"F.adaptive_avg_pool{_ndim}d({_x}, 1)"),
    )
    composite(
        f"adaptive_max_pool{_ndim}d(Tensor input, {_output}, bool return_indices=False) -> Tensor",
        _adaptive_max(_ndim),
        where="functional",
        doc="The largest elements of windows that divide the input into this many parts.",
        corners=(f"F.adaptive_max_pool{_ndim}d(tensor({_corner}), 1)",),
        samples=(f"F.adaptive_max_pool{_ndim}d({_x}, 2)",),
    )
