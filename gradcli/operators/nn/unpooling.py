"""Operators: maxima put back where they stood before pooling."""

from __future__ import annotations

from typing import Any

from ...engine.schema.operator import composite, operator
from ..conventions import floating_only
from .pooling import _max_double, _product
from .windows import each


def _check_indices(self: Any, indices: Any, ndim: int) -> None:
    if indices.dtype.word != "Long":
        raise RuntimeError(
            f"elements in indices should be type int64 but got: {indices.dtype.word}"
        )
    if self.ndim not in (ndim + 1, ndim + 2):
        raise RuntimeError(
            f"Input to max_unpooling{ndim}d should be a {ndim + 1}d or {ndim + 2}d Tensor, but got "
            f"a tensor with {self.ndim} dimensions."
        )
    if tuple(self.shape) != tuple(indices.shape):
        raise RuntimeError(
            f"Expected shape of indices to be same as that of the input tensor "
            f"({list(self.shape)}) but got indices tensor with shape: {list(indices.shape)}"
        )


def _unpool(xp: Any, x: Any, indices: Any, output_size: Any) -> Any:
    ndim, volume = len(output_size), _product(output_size)
    lead = x.shape[:-ndim]
    rows = _product(lead)
    out = xp.zeros((rows, volume), dtype=x.dtype)
    places = indices.reshape(rows, _product(x.shape[-ndim:]))
    if bool(((places < 0) | (places >= volume)).any()):
        wrong = int(places[(places < 0) | (places >= volume)][0])
        sizes = "x".join(str(size) for size in output_size)
        raise RuntimeError(
            f"Found an invalid max index: {wrong} (output volumes are of size {sizes}"
            + (")" if ndim == 3 else "")
        )
    xp.put_along_axis(out, places, x.reshape(places.shape), 1)
    return out.reshape((*lead, *output_size))


def _check_strides(self: Any, indices: Any, stride: Any) -> None:
    _check_indices(self, indices, 3)
    if min(stride) <= 0:
        raise RuntimeError(f"strides should be greater than zero, but got stride: {list(stride)}")


max_unpool2d = operator(
    "max_unpool2d.kernel(Tensor self, Tensor indices, int[2] output_size) -> Tensor",
    node="MaxUnpool2DBackward0",
    where="hidden",
    layout="channels",
    forward=_unpool,
    self=lambda grad, indices: _max_double(grad, indices, 2),
    check=lambda self, indices, output_size: _check_indices(self, indices, 2),
    refuse=floating_only("max_unpool2d"),
    cost=lambda self, indices, output_size: self.numel() + _product(output_size),
    doc="Values put at flat places of an image of zeros.",
    samples=("F.max_unpool2d(*F.max_pool2d(c, 2, return_indices=True), 2)",),
)

max_unpool3d = operator(
    "max_unpool3d.kernel(Tensor self, Tensor indices, int[3] output_size, int[3] stride, "
    "int[3] padding) -> Tensor",
    node="MaxUnpool3DBackward0",
    where="hidden",
    layout="channels",
    forward=lambda xp, self, indices, output_size, stride, padding: _unpool(
        xp, self, indices, output_size
    ),
    self=lambda grad, indices: _max_double(grad, indices, 3),
    check=lambda self, indices, output_size, stride, padding: _check_strides(self, indices, stride),
    refuse=floating_only("max_unpool3d"),
    cost=lambda self, indices, output_size, *rest: self.numel() + _product(output_size),
    doc="Values put at flat places of a volume of zeros.",
    samples=("F.max_unpool3d(*F.max_pool3d(c[None], 2, return_indices=True), 2)",),
)


def _sizes(input: Any, kernel: Any, stride: Any, padding: Any, wanted: Any) -> tuple[int, ...]:
    """The size that pooling would have started from; a size that is given has to be near it."""
    ndim = len(kernel)
    default = tuple(
        (size - 1) * s + k - 2 * p
        for size, s, k, p in zip(input.shape[-ndim:], stride, kernel, padding, strict=True)
    )
    if wanted is None:
        return _natural(default)
    if len(wanted) == ndim + 2:
        wanted = wanted[2:]
    sizes = tuple(wanted)
    if len(sizes) != ndim:
        raise ValueError(
            f"output_size should be a sequence containing {ndim} or {ndim + 2} elements, but it "
            f"has a length of '{len(sizes)}'"
        )
    for place, (size, near, s) in enumerate(zip(sizes, default, stride, strict=True)):
        if not near - s < size < near + s:
            raise ValueError(
                f'invalid output_size "{wanted}" (dim {place} must be between {near - s} and '
                f"{near + s})"
            )
    return _natural(sizes)


def _natural(sizes: tuple[int, ...]) -> tuple[int, ...]:
    for place, size in enumerate(sizes):
        if size < 0:
            raise ValueError(
                "max_unpooling: output_size must contain non-negative spatial dimensions, but got "
                f"output_size[{place}]={size}"
            )
    return sizes


def _body(ndim: int) -> Any:
    def body(
        input: Any, indices: Any, kernel_size: Any, stride: Any, padding: Any, output_size: Any
    ) -> Any:
        kernel = each(kernel_size, ndim)
        step = kernel if stride is None else each(stride, ndim)
        pads = each(padding, ndim)
        sizes = _sizes(input, kernel, step, pads, output_size)
        if ndim == 3:
            return max_unpool3d.run(input, indices, sizes, step, pads)
        if ndim == 2:
            return max_unpool2d.run(input, indices, sizes)
        flat = max_unpool2d.run(input.unsqueeze(-1), indices.unsqueeze(-1), (*sizes, 1))
        return flat.squeeze(-1)

    return body


for _ndim, _x in ((1, "c"), (2, "c"), (3, "c[None]")):
    composite(
        f"max_unpool{_ndim}d(Tensor input, Tensor indices, any kernel_size, any stride=None, "
        "any padding=0, any output_size=None) -> Tensor",
        _body(_ndim),
        where="functional",
        doc="Maxima put back where they stood, zeros elsewhere.",
        samples=(f"F.max_unpool{_ndim}d(*F.max_pool{_ndim}d({_x}, 2, return_indices=True), 2)",),
    )
