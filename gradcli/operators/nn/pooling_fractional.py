"""Operators: pooling over windows whose places are drawn at random."""

from __future__ import annotations

from typing import Any

from ...engine.schema.operator import catalogue, composite, operator
from ..conventions import floating_only, size_at
from ..shape.constants import zeros_of
from .pooling import _max_double, _product, _put_back
from .windows import each


def _starts(xp: Any, draws: Any, size: int, out: int, window: int) -> Any:
    """Where each window begins: steps of a size that is no whole number, shifted at random."""
    draws = draws[..., None]
    if out == 1:
        return xp.full(draws.shape, size - window, dtype="int64")
    alpha = draws.dtype.type(size - window) / draws.dtype.type(out - 1)
    steps = xp.arange(out - 1, dtype=draws.dtype)
    starts = ((steps + draws) * alpha).astype("int64") - (draws * alpha).astype("int64")
    last = xp.full(draws.shape, size - window, dtype="int64")
    return xp.concatenate([starts, last], axis=-1)


def _largest(
    xp: Any, x: Any, kernel_size: Any, output_size: Any, random_samples: Any
) -> tuple[Any, Any]:
    ndim = len(kernel_size)
    sizes = x.shape[-ndim:]
    images = x.reshape((_product(x.shape[:-ndim]), _product(sizes)))
    # 2d draws for the width first, 3d for the depth first
    order = range(ndim) if ndim == 3 else reversed(range(ndim))
    draws = random_samples.reshape((-1, ndim))[: images.shape[0]]
    places = xp.zeros((images.shape[0], *(1,) * (2 * ndim)), dtype="int64")
    for axis, number in enumerate(order):
        starts = _starts(xp, draws[:, number], sizes[axis], output_size[axis], kernel_size[axis])
        inside = starts[..., None] + xp.arange(kernel_size[axis])
        shape = [images.shape[0], *(1,) * (2 * ndim)]
        shape[1 + axis], shape[1 + ndim + axis] = output_size[axis], kernel_size[axis]
        places = places * sizes[axis] + inside.reshape(shape)
    lead = (*x.shape[:-ndim], *output_size)
    places = places.reshape((images.shape[0], _product(output_size), _product(kernel_size)))
    values = xp.take_along_axis(images[:, None, :], places, -1)
    best = values.argmax(axis=-1)[..., None]
    return (
        xp.take_along_axis(values, best, -1).reshape(lead),
        xp.take_along_axis(places, best, -1).reshape(lead),
    )


def _check_samples(self: Any, samples: Any, ndim: int) -> None:
    """Where the windows lie: [at least as many as images, channels, dimensions]."""
    if samples.dtype is not self.dtype:
        raise RuntimeError("Expect _random_samples to have the same dtype as input")
    if samples.ndim != 3:
        raise RuntimeError(f"Expect _random_samples to have 3 dimensions, got {samples.ndim}")
    images = 1 if self.ndim == ndim + 1 else self.shape[0]
    if samples.shape[0] < images:
        raise RuntimeError("Expect _random_samples.size(0) no less then input batch size.")
    if samples.shape[1] != self.shape[-ndim - 1]:
        raise RuntimeError("Expect _random_samples.size(1) equals to input channel size.")
    if samples.shape[2] != ndim:
        raise RuntimeError(
            f"Expect _random_samples.size(2) equals to {ndim}; got {samples.shape[2]}."
        )


def _check(ndim: int) -> Any:
    name = f"fractional_max_pool{ndim}d{'_out' if ndim == 3 else ''}()"

    def check(self: Any, kernel_size: Any, output_size: Any, random_samples: Any) -> None:
        if min(output_size) < 0:
            sizes = [*self.shape[: self.ndim - ndim], *output_size]
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {min(output_size)}: {sizes}"
            )
        if self.ndim not in (ndim + 1, ndim + 2):
            raise RuntimeError(
                f"{name}: Expected {ndim + 1}D or {ndim + 2}D tensor, but got: {list(self.shape)}"
            )
        empty = next((at for at in range(self.ndim - ndim - 1, self.ndim) if not self.shape[at]), 0)
        if self.ndim and not self.shape[empty] and empty >= self.ndim - ndim - 1:
            raise RuntimeError(
                f"{name}: Expected input to have non-zero size for non-batch dimensions, but got"
                f"{list(self.shape)} with dimension {empty} being empty."
            )
        _check_samples(self, random_samples, ndim)
        names = ("height", "width") if ndim == 2 else ("time", "height", "width")
        for word, out, window, size in zip(
            names, output_size, kernel_size, self.shape[-ndim:], strict=True
        ):
            if out + window - 1 > size - (ndim == 3):  # PyTorch's 3d asks for one element more
                raise RuntimeError(
                    f"{name}: pool {word} {window} too large relative to input {word} {size}"
                )

    return check


def _declare(ndim: int) -> Any:
    image, size = ("c", "2, 2") if ndim == 2 else ("c[None]", "(1, 2, 2), 1")
    backward = operator(
        f"fractional_max_pool{ndim}d_backward(Tensor grad_output, Tensor self, "
        f"int[{ndim}] kernel_size, int[{ndim}] output_size, Tensor indices) -> Tensor",
        node=f"FractionalMaxPool{ndim}DBackwardBackward0",
        where="hidden",
        forward=lambda xp, grad_output, self, kernel_size, output_size, indices: _put_back(
            xp, grad_output, self, indices, ndim
        ),
        grad_output=lambda grad, indices: _max_double(grad, indices, ndim),
        self=lambda grad, self_shape: zeros_of(grad, self_shape),
        doc="The gradient at the places of the maxima.",
        samples=(
            f"torch.autograd.grad(F.fractional_max_pool{ndim}d({image}, {size}).sum(), c)[0]",
        ),
    )
    return operator(
        f"fractional_max_pool{ndim}d.kernel(Tensor self, int[{ndim}] kernel_size, "
        f"int[{ndim}] output_size, Tensor random_samples) -> (Tensor result0, Tensor result1)",
        node=f"FractionalMaxPool{ndim}DBackward0",
        where="hidden",
        forward=_largest,
        self=lambda grads, self, kernel_size, output_size, result1: backward(
            grads[0], self, kernel_size, output_size, result1
        ),
        check=_check(ndim),
        refuse=floating_only(f"fractional_max_pool{ndim}d_out_frame"),
        doc="The largest elements of windows at random places.",
        samples=(f"F.fractional_max_pool{ndim}d({image}, {size})",),
    )


_ROWS = {ndim: _declare(ndim) for ndim in (2, 3)}


def _pool(ndim: int, both: bool) -> Any:
    name = f"fractional_max_pool{ndim}d"

    def body(
        input: Any, kernel_size: Any, output_size: Any, output_ratio: Any, return_indices: bool,
        samples: Any,
    ) -> Any:  # fmt: skip
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
        if output_size is None:
            ratios = output_ratio
            output_size = tuple(int(size_at(input, n - ndim) * ratios[n]) for n in range(ndim))
        if samples is None:
            batch = 1 if input.ndim == ndim + 1 else size_at(input, 0)
            samples = catalogue.functions["rand"](
                batch, size_at(input, -ndim - 1), ndim, dtype=input.dtype, device=input.device
            )
        if len(each(kernel_size, ndim)) != ndim:
            raise RuntimeError(f"{name}: kernel_size must either be a single Int or tuple of Ints")
        found = _ROWS[ndim].run(input, each(kernel_size, ndim), each(output_size, ndim), samples)
        return found if both or return_indices else found[0]

    return body


for _ndim, _x, _size, _ratio in (
    (2, "c[None]", "2, 2", (0.7, 0.7)),
    (3, "c[None, None]", "(1, 2, 2), 1", (0.5, 0.4, 0.5)),
):
    for _suffix, _returns in (("", "Tensor"), ("_with_indices", "(Tensor, Tensor)")):
        composite(
            f"fractional_max_pool{_ndim}d{_suffix}(Tensor input, int[{_ndim}] kernel_size, "
            f"int[{_ndim}]? output_size=None, any output_ratio=None, bool return_indices=False, "
            f"Tensor? _random_samples=None) -> {_returns}",
            _pool(_ndim, bool(_suffix)),
            where="functional",
            doc="Fractional max pooling: the largest element of windows at random places.",
            samples=(
                f"F.fractional_max_pool{_ndim}d{_suffix}({_x}, {_size})",
                f"F.fractional_max_pool{_ndim}d{_suffix}({_x}, 1, output_ratio={_ratio})",
                f"F.fractional_max_pool{_ndim}d{_suffix}({_x}, 1, 1, return_indices=True)[0]",
            ),
            errors=(
                f"F.fractional_max_pool{_ndim}d{_suffix}({_x}, 2)",
                f"F.fractional_max_pool{_ndim}d{_suffix}({_x}, 3, 3)",
            ),
        )
