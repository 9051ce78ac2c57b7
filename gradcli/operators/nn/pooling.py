"""Operators: max and average pooling; one-dimensional pooling runs the two-dimensional kernel."""

from __future__ import annotations

from typing import Any

from ...engine.schema.operator import Reduced, catalogue, operator
from ...numerics.reduced_kernels import add_at
from ...numerics.summation import sum_of_window
from ..conventions import COMPLEX, INTEGERS, REDUCED, size_at, unimplemented
from ..shape.constants import zeros_of
from ..shape.shape import reshaped
from .windows import each, padded, pooled_size, scatter, windows

# ---- max pooling: values and where they stood, as flat places in the image


def _settled(kernel: Any, stride: Any, padding: Any, dilation: Any) -> tuple[Any, Any, Any]:
    """Stride, padding and dilation of each dimension, from what the call gave (and nodes show)."""
    ndim = len(kernel)
    return each(stride, ndim) if stride else kernel, each(padding, ndim), each(dilation, ndim)


def _geometry(
    x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: bool
) -> tuple[Any, Any]:
    """(how many windows along each dimension, padding needed after the end)"""
    ndim = len(kernel)
    count = tuple(
        pooled_size(size, k, p, p, s, d, ceil)
        for size, k, p, s, d in zip(x.shape[-ndim:], kernel, padding, stride, dilation, strict=True)
    )
    after = tuple(
        max(p, (n - 1) * s + d * (k - 1) + 1 - size - p)
        for n, s, d, k, size, p in zip(
            count, stride, dilation, kernel, x.shape[-ndim:], padding, strict=True
        )
    )
    return count, after


def _max_pool(
    xp: Any, x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: bool
) -> tuple[Any, Any]:
    ndim = len(kernel)
    stride, padding, dilation = _settled(kernel, stride, padding, dilation)
    count, after = _geometry(x, kernel, stride, padding, dilation, ceil)
    if not any(padding) and not any(after):
        return _largest(xp, x, kernel, stride, dilation, count)
    lowest = -float("inf") if x.dtype.kind == "f" else int(xp.iinfo(x.dtype).min)
    wide = padded(xp, x, padding, after, lowest)
    sizes = x.shape[-ndim:]
    places = padded(xp, xp.arange(_product(sizes)).reshape(sizes), padding, after, -1)
    taken, index = _largest(xp, wide, kernel, stride, dilation, count)
    index = places.reshape(-1).take(index)
    if not (index < 0).any():
        return taken, index
    # Somewhere nothing is larger than the padding: of equals, one that is none counts.
    values = windows(xp, wide, kernel, stride, dilation, count)
    places = windows(xp, places, kernel, stride, dilation, count)
    flat = values.reshape((*values.shape[:-ndim], _product(kernel)))
    where = places.reshape((*places.shape[:-ndim], _product(kernel)))
    flat = xp.where(where < 0, lowest, flat)
    missing = xp.isnan(flat) if x.dtype.kind == "f" else flat != flat
    best = flat.shape[-1] - 1 - missing[..., ::-1].argmax(axis=-1)  # the last NaN
    has_nan = xp.isnan(flat).any(axis=-1) if x.dtype.kind == "f" else xp.zeros(best.shape, bool)
    masked = xp.where(where < 0, False, flat == flat.max(axis=-1, keepdims=True))
    best = xp.where(has_nan, best, masked.argmax(axis=-1))
    taken = xp.take_along_axis(flat, best[..., None], -1)[..., 0]
    index = xp.take_along_axis(xp.broadcast_to(where, flat.shape), best[..., None], -1)[..., 0]
    return taken.astype(x.dtype, copy=False), index.astype("int64")


def _largest(
    xp: Any, x: Any, kernel: Any, stride: Any, dilation: Any, count: Any
) -> tuple[Any, Any]:
    """The same where no window reaches outside: all windows side by side, place by place in them.

    The first of equals stays, the last NaN wins.
    """
    best: Any = None
    offsets = []
    for number, place in enumerate(xp.ndindex(*kernel)):
        taken = xp.ascontiguousarray(x[(Ellipsis, *(
            slice(p * d, p * d + (n - 1) * s + 1, s)
            for p, d, n, s in zip(place, dilation, count, stride, strict=True)
        ))])  # fmt: skip
        offsets.append(_flat([p * d for p, d in zip(place, dilation, strict=True)], x.shape))
        if best is None:
            best, turn = taken, xp.zeros(taken.shape, "int8" if _product(kernel) < 128 else "int32")
            continue
        better = taken > best
        if x.dtype.kind == "f":
            better |= taken != taken
        best = xp.maximum(best, taken)
        turn += better * (turn.dtype.type(number) - turn)  # which `where` does ten times slower
    starts = [
        xp.arange(n).reshape((-1,) + (1,) * (len(count) - 1 - dim)) * s
        for dim, (n, s) in enumerate(zip(count, stride, strict=True))
    ]
    index = xp.asarray(offsets, dtype="int64").take(turn) + _flat(starts, x.shape)
    # The values are taken by their places: of 0 and -0 the first one counts too.
    return x.reshape(-1).take(_in_memory(xp, index, x.shape, len(kernel))), index


def _in_memory(xp: Any, index: Any, shape: Any, ndim: int) -> Any:
    """Where places of images stand, counted through all of them."""
    images = xp.arange(_product(shape[:-ndim])).reshape((*shape[:-ndim], *(1,) * ndim))
    return index + images * _product(shape[-ndim:])


def _flat(places: Any, shape: Any) -> Any:
    """Where these places of the last dimensions stand, counted through the image."""
    total = 0
    for place, size in zip(places, shape[len(shape) - len(places) :], strict=True):
        total = total * size + place
    return total


def _product(sizes: Any) -> int:
    count = 1
    for size in sizes:
        count *= size
    return count


def _put_back(xp: Any, grad: Any, x: Any, indices: Any, ndim: int, kind: Any = None) -> Any:
    """Each gradient added where its maximum stood."""
    out = xp.zeros(x.size, dtype=grad.dtype)
    places = _in_memory(xp, indices, x.shape, ndim).reshape(-1)
    if kind is None:
        xp.add.at(out, places, grad.reshape(-1))
    else:
        out = add_at(kind, out, places, grad.reshape(-1))
    return out.reshape(x.shape)


def _max_double(grad: Any, indices: Any, ndim: int) -> Any:
    """The gradient's elements at the places of the maxima."""
    lead = tuple(indices.shape[:-ndim])
    flat = reshaped(grad, (*lead, _product(grad.shape[-ndim:])))
    picked = catalogue.row("gather")(
        flat, -1, reshaped(indices, (*lead, _product(indices.shape[-ndim:]))), False
    )
    return catalogue.row("view")(picked, tuple(indices.shape))


def _check_pool(ndim: int) -> Any:
    def check(
        self: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool
    ) -> None:
        _check_window(ndim, self, kernel_size, stride, padding, dilation, ceil_mode)

    return check


def _check_filled(ndim: int, x: Any) -> None:
    """Only the batch may be empty."""
    inner = x.shape[x.ndim - ndim - 1 :]
    if 0 not in inner:
        return
    if ndim == 2:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but "
            f"got:{list(x.shape)}"
        )
    raise RuntimeError(
        "max_pool3d_with_indices_out_cpu_template(): Expected input's non-batch dimensions to have "
        f"positive length, but input has a shape of {list(x.shape)} and non-batch dimension 0 has "
        "length zero!"
    )


def _check_window(
    ndim: int, x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: bool
) -> None:
    if x.ndim not in (ndim + 1, ndim + 2):
        raise RuntimeError(
            f"non-empty {ndim + 1}D or {ndim + 2}D (batch mode) tensor expected for input"
        )
    stride, padding, dilation = _settled(kernel, stride, padding, dilation)
    for size, k, s, d in zip(padding, kernel, stride, dilation, strict=True):
        if s == 0:
            raise RuntimeError("stride should not be zero")
        if size < 0:
            raise RuntimeError(f"pad must be non-negative, but got pad: {size}")
        if size > int(((k - 1) * d + 1) / 2):
            raise RuntimeError(
                "pad should be at most half of effective kernel size, but got "
                f"pad={size}, kernel_size={k} and dilation={d}"
            )
    for word, letter, sizes in (
        ("kernel size", "k", kernel), ("stride", "d", stride), ("dilation", "dilation", dilation),
    ):  # fmt: skip
        if min(sizes) <= 0:
            given = zip("THW"[-ndim:], sizes, strict=True)
            shown = " ".join(f"{letter}{axis}: {size}" for axis, size in given)
            raise RuntimeError(f"{word} should be greater than zero, but got {shown}")
    _check_filled(ndim, x)
    count, _ = _geometry(x, kernel, stride, padding, dilation, ceil)
    if any(n < 1 for n in count):
        planes = x.shape[-ndim - 1]
        before = "x".join(str(size) for size in (planes, *x.shape[-ndim:]))
        after = "x".join(str(n) for n in (planes, *count))
        raise RuntimeError(
            f"Given input size: ({before}). Calculated output size: ({after}). Output size is too "
            "small"
        )


def _declare_max(ndim: int) -> tuple[Any, Any]:
    image = "c" if ndim == 2 else "c[None]"
    window = (
        f"int[{ndim}] kernel_size, int[{ndim}] stride, int[{ndim}] padding, int[{ndim}] dilation"
    )
    name = f"max_pool{ndim}d_with_indices"
    node = f"MaxPool{ndim}DWithIndicesBackward"
    backward = operator(
        f"{name}_backward(Tensor grad_output, Tensor self, {window}, bool ceil_mode, "
        "Tensor indices) -> Tensor",
        node=node + "Backward0",
        where="hidden",
        forward=lambda xp, grad_output, self, kernel_size, stride, padding, dilation, ceil_mode,
        indices: _put_back(xp, grad_output, self, indices, ndim),
        reduced=Reduced(
            lambda kind, grad_output, self, *rest: _put_back(
                kind.xp, grad_output, self, rest[-1], ndim, kind
            )
        ),
        grad_output=lambda grad, indices: _max_double(grad, indices, ndim),
        self=lambda grad, self_shape: zeros_of(grad, self_shape),
        zero="mask",
        jacobian="selection",
        doc="The gradient at the places of the maxima.",
        samples=(f"torch.autograd.grad(F.max_pool{ndim}d({image}, 2).sum(), c)[0]",),
    )  # fmt: skip
    forward = operator(
        f"{name}(Tensor self, {window}, bool ceil_mode) -> (Tensor result0, Tensor result1)",
        node=node + "0",
        where="hidden",
        layout="channels",
        forward=lambda xp, self, kernel_size, stride, padding, dilation, ceil_mode: _max_pool(
            xp, self, kernel_size, stride, padding, dilation, ceil_mode
        ),
        self=lambda grads, self, kernel_size, stride, padding, dilation, ceil_mode, result1: (
            backward(grads[0], self, kernel_size, stride, padding, dilation, ceil_mode, result1)
        ),
        check=_check_pool(ndim),
        refuse=unimplemented(f"max_pool{ndim}d", "Bool", *COMPLEX),
        zero="mask",
        jacobian="selection",
        doc="The largest element of each window, and where it stood.",
        samples=(f"F.max_pool{ndim}d({image}, 2)",),
    )
    return forward, backward


max_pool2d_with_indices, _ = _declare_max(2)
max_pool3d_with_indices, _ = _declare_max(3)

# ---- average pooling


def _divisors(
    xp: Any, x: Any, kernel: Any, stride: Any, padding: Any, count: Any, include: bool,
    override: int | None,
) -> Any:  # fmt: skip
    """How many elements each window's sum is divided by."""
    if override is not None:
        return override
    ndim, out = len(kernel), xp.ones((), dtype=x.dtype)
    for place in range(ndim):
        size, k, s, p, n = (
            x.shape[place - ndim],
            kernel[place],
            stride[place],
            padding[place],
            count[place],
        )
        starts = xp.arange(n) * s - p
        ends = xp.minimum(starts + k, size + p)
        if not include:
            starts, ends = xp.maximum(starts, 0), xp.minimum(ends, size)
        lengths = (ends - starts).astype(x.dtype).reshape((-1,) + (1,) * (ndim - place - 1))
        out = out * lengths
    return out


def _avg_pool(
    xp: Any, x: Any, kernel: Any, stride: Any, padding: Any, ceil: bool, include: bool,
    override: int | None,
) -> Any:  # fmt: skip
    ndim = len(kernel)
    stride, padding, ones = _settled(kernel, stride, padding, 1)
    count, after = _geometry(x, kernel, stride, padding, ones, ceil)
    view = windows(xp, padded(xp, x, padding, after), kernel, stride, ones, count)
    total = sum_of_window(view, ndim)
    divisor = _divisors(xp, x, kernel, stride, padding, count, include, override)
    return total / divisor if x.dtype.kind == "f" else xp.trunc(total / divisor)


def _avg_pool_backward(
    xp: Any, grad: Any, x: Any, kernel: Any, stride: Any, padding: Any, ceil: bool, include: bool,
    override: int | None, settle: Any = None,
) -> Any:  # fmt: skip
    ndim = len(kernel)
    stride, padding, ones = _settled(kernel, stride, padding, 1)
    count, after = _geometry(x, kernel, stride, padding, ones, ceil)
    share = grad / _divisors(xp, x, kernel, stride, padding, count, include, override)
    share = share if settle is None else settle(share)
    values = xp.broadcast_to(share[(..., *(None,) * ndim)], (*share.shape, *kernel))
    wide = tuple(size + p + a for size, p, a in zip(x.shape[-ndim:], padding, after, strict=True))
    out = scatter(xp, values, wide, stride, ones, settle, True)
    cut = tuple(slice(p, p + size) for p, size in zip(padding, x.shape[-ndim:], strict=True))
    return out[(Ellipsis, *cut)].astype(grad.dtype, copy=False)


def _check_average(ndim: int) -> Any:
    def check(
        self: Any, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool, include: bool,
        override: int | None,
    ) -> None:  # fmt: skip
        if self.ndim not in (ndim + 1, ndim + 2):
            if ndim == 2:
                size_at(self, -3)
                raise RuntimeError(
                    "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for "
                    f"input, but got:{list(self.shape)}"
                )
            raise RuntimeError("non-empty 4D or 5D (batch mode) tensor expected for input")
        _check_window(ndim, self, kernel_size, stride, padding, (1,) * ndim, ceil_mode)
        if override == 0:
            raise RuntimeError("divisor must be not zero")

    return check


# The kernels of means, and what each was not written for beside small integers.
_AVERAGED = ("avg_pool2d",), ("avg_pool3d_out_frame", *REDUCED)


def _declare_average(ndim: int) -> Any:
    image = "c" if ndim == 2 else "c[None]"
    window = (
        f"int[{ndim}] kernel_size, int[{ndim}] stride, int[{ndim}] padding, bool ceil_mode, "
        "bool count_include_pad, int? divisor_override"
    )
    node = f"AvgPool{ndim}DBackward"

    def again(grad: Any, *settings: Any) -> Any:
        return forward(grad, *settings)

    backward = operator(
        f"avg_pool{ndim}d_backward(Tensor grad_output, Tensor self, {window}) -> Tensor",
        node=node + "Backward0",
        where="hidden",
        forward=_avg_pool_backward,
        reduced=Reduced(
            lambda kind, *given: _avg_pool_backward(kind.xp, *given, settle=kind.settle)
        ),
        grad_output=lambda grad, kernel_size, stride, padding, ceil_mode, count_include_pad,
        divisor_override: again(
            grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        ),
        self=lambda grad, self_shape: zeros_of(grad, self_shape),
        jacobian="mean",
        doc="Each gradient shared among its window.",
        samples=(f"torch.autograd.grad(F.avg_pool{ndim}d({image}, 2).sum(), c)[0]",),
    )  # fmt: skip
    forward = operator(
        f"avg_pool{ndim}d.kernel(Tensor self, {window}) -> Tensor",
        node=node + "0",
        where="hidden",
        layout="channels",
        forward=_avg_pool,
        self=lambda grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad,
        divisor_override: backward(
            grad, self, kernel_size, stride, padding, ceil_mode, count_include_pad,
            divisor_override,
        ),
        check=_check_average(ndim),
        refuse=unimplemented(*_AVERAGED[ndim == 3], *INTEGERS[:-1], "Bool", *COMPLEX),
        jacobian="mean",
        doc="Average pooling: the mean of each window.",
        samples=(f"F.avg_pool{ndim}d({image}, 2)",),
    )  # fmt: skip
    return forward


avg_pool2d = _declare_average(2)
avg_pool3d = _declare_average(3)

__all__ = ["avg_pool2d", "avg_pool3d", "each", "max_pool2d_with_indices", "max_pool3d_with_indices"]
