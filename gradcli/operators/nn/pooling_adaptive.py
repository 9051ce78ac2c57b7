"""Operators: pooling to a given size, whatever the input's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, product
from math import prod
from typing import Any

from ...engine.schema.operator import Reduced, operator
from ...numerics.summation import sum_of_window
from ...numerics.thresholds import ONE_BY_ONE
from ..conventions import floating_only
from ..shape.constants import zeros_of
from .pooling import _max_double, _product, _put_back


def _bounds(size: int, out: int) -> list[tuple[int, int]]:
    """The windows that divide `size` elements into `out` parts; neighbours may share an element."""
    return [(i * size // out, -((-(i + 1) * size) // out)) for i in range(out)]


def _cells(
    xp: Any, sizes: Any, output_size: Any
) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...], list[int]]]:
    """Each output element's place, the window that it stands for, and the window's sizes."""
    bounds = [_bounds(size, out) for size, out in zip(sizes, output_size, strict=True)]
    for cell in xp.ndindex(*output_size):
        ends = [bounds[axis][place] for axis, place in enumerate(cell)]
        window = tuple(slice(*pair) for pair in ends)
        yield (Ellipsis, *cell), (Ellipsis, *window), [end - start for start, end in ends]


def _groups(
    xp: Any, bounds: Sequence[Sequence[tuple[int, int]]]
) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...], tuple[int, ...]]]:
    """Elements whose windows are of one size: their places, where the windows begin, the size."""
    axes = []
    for pairs in bounds:
        alike: dict[int, list[tuple[int, int]]] = {}
        for place, (start, stop) in enumerate(pairs):
            alike.setdefault(stop - start, []).append((place, start))
        axes.append([(length, *map(xp.asarray, zip(*of))) for length, of in alike.items()])
    for group in product(*axes):
        lengths, places, starts = zip(*group)
        yield xp.ix_(*places), xp.ix_(*starts), lengths


def _one_by_one(xp: Any, x: Any, starts: Sequence[Any], lengths: Any, settle: Any) -> Any:
    """The sums of windows, one element after another."""
    total = None
    for offsets in xp.ndindex(*lengths):
        part = x[(..., *(start + offset for start, offset in zip(starts, offsets)))]
        total = part if total is None else total + part
        total = total if settle is None else settle(total)
    return total


def _side_by_side(x: Any, counts: Sequence[int], lengths: Sequence[int]) -> Any:
    """Windows of one size that share no element: (elements of a window, all windows)."""
    lead = x.shape[: -len(counts)]
    parts = x.reshape((*lead, *chain.from_iterable(zip(counts, lengths, strict=True))))
    within = range(len(lead) + 1, parts.ndim, 2)
    order = (*within, *(axis for axis in range(parts.ndim) if axis not in within))
    return parts.transpose(order).reshape((prod(lengths), -1))


def _average(xp: Any, x: Any, output_size: Any, settle: Any = None) -> Any:
    ndim = len(output_size)
    out = xp.empty((*x.shape[:-ndim], *output_size), dtype=x.dtype)
    bounds = [_bounds(*pair) for pair in zip(x.shape[-ndim:], output_size, strict=True)]
    for places, starts, lengths in _groups(xp, bounds):
        disjoint = out.size > 1 and out.size * prod(lengths) == x.size and xp.__name__ == "numpy"
        if disjoint and settle is None and prod(lengths) <= ONE_BY_ONE:
            apart = xp.ascontiguousarray(_side_by_side(x, output_size, lengths))
            total = xp.add.reduce(apart, axis=0, initial=-0.0).reshape(out.shape)  # in turn
        elif settle is not None or prod(lengths) <= ONE_BY_ONE:
            total = _one_by_one(xp, x, starts, lengths, settle)
        else:
            total = xp.empty_like(out[(..., *places)])
            for cell in xp.ndindex(*total.shape[-ndim:]):
                begins = [int(start.reshape(-1)[at]) for start, at in zip(starts, cell)]
                window = (slice(begin, begin + n) for begin, n in zip(begins, lengths))
                total[(..., *cell)] = sum_of_window(x[(..., *window)], ndim)
        for length in lengths:
            total = total / x.dtype.type(length)
            total = total if settle is None else settle(total)
        out[(..., *places)] = total
    return out


def _check_cells(name: str, grad: Any) -> None:
    """There is a gradient for some cell, but for a batch of none."""
    for dim, size in enumerate(grad.shape[1:], 1):
        if not size:
            raise RuntimeError(
                f"{name}_backward(): Expected grad_output to have non-zero size for non-batch "
                f"dimensions, but grad_output has sizes {list(grad.shape)} with dimension {dim} "
                "being empty"
            )


def _average_backward(xp: Any, grad: Any, x: Any, ndim: int, settle: Any = None) -> Any:
    _check_cells(f"adaptive_avg_pool{ndim}d", grad)
    out = xp.zeros(x.shape, dtype=grad.dtype)
    shares, covers = grad, []
    for axis, (size, count) in enumerate(zip(x.shape[-ndim:], grad.shape[-ndim:], strict=True)):
        bounds = _bounds(size, count)
        lengths = xp.asarray([stop - start for start, stop in bounds], dtype=grad.dtype)
        shares = shares / lengths.reshape(-1, *(1,) * (ndim - 1 - axis))
        shares = shares if settle is None else settle(shares)
        cells: list[list[int]] = [[] for _ in range(size)]  # whose windows hold each element
        for cell, pair in enumerate(bounds):
            for place in range(*pair):
                cells[place].append(cell)
        covers.append([(of[0], of[-1] + 1) for of in cells if of])
    if all(size % count == 0 for size, count in zip(x.shape[-ndim:], grad.shape[-ndim:])):
        for axis in range(-ndim, 0):
            shares = xp.repeat(shares, x.shape[axis] // grad.shape[axis], axis=axis)
        return out + shares
    for places, starts, lengths in _groups(xp, covers):
        total = _one_by_one(xp, shares, starts, lengths, settle)
        out[(..., *places)] += total
    return out


def _largest(xp: Any, x: Any, output_size: Any) -> tuple[Any, Any]:
    ndim = len(output_size)
    sizes = x.shape[-ndim:]
    values = xp.empty((*x.shape[:-ndim], *output_size), dtype=x.dtype)
    indices = xp.empty(values.shape, dtype="int64")
    places = xp.arange(_product(sizes)).reshape(sizes)
    for cell, window, _ in _cells(xp, sizes, output_size):
        flat = x[window].reshape((*x.shape[:-ndim], _product(x[window].shape[-ndim:])))
        best = flat.argmax(axis=-1)
        missing = flat != flat
        if missing.any():  # the last NaN, where NumPy takes the first
            last = flat.shape[-1] - 1 - missing[..., ::-1].argmax(axis=-1)
            best = xp.where(missing.any(axis=-1), last, best)
        values[cell] = xp.take_along_axis(flat, best[..., None], -1)[..., 0]
        indices[cell] = places[window].reshape(-1)[best]
    return values, indices


def check_filled(self: Any, name: str) -> None:
    """Only the batch may be empty; of a lone example the channels may."""
    for dim in range(1, self.ndim):
        if not self.shape[dim]:
            raise RuntimeError(
                f"{name}(): Expected input to have non-zero size for non-batch dimensions, but "
                f"input has sizes {list(self.shape)} with dimension {dim} being empty"
            )


def _check_output(kind: str, ndim: int, self: Any, output_size: Any) -> None:
    name = f"adaptive_{'avg' if kind == 'average' else 'max'}_pool{ndim}d"
    if len(output_size) != ndim:
        words = f": output_size must be {ndim}"
        if kind != "average":
            words = f"(): internal error: output_size.size() must be {ndim}"
        raise RuntimeError(name + words)
    if kind != "average":
        check_filled(self, name)
    if min(output_size) < 0:
        if kind == "average":  # the blank is missing there
            first, *rest = map(str, output_size)
            received = f"{first}, {','.join(rest)}"
            raise RuntimeError(
                f"{name}: elements of output_size must be greater than or equal to 0 but received "
                f"{{{received}}}"
            )
        sizes = [*self.shape[: self.ndim - ndim], *output_size]
        raise RuntimeError(
            f"Trying to create tensor with negative dimension {min(output_size)}: {sizes}"
        )


def _check(kind: str, ndim: int) -> Any:
    def check(self: Any, output_size: Any) -> None:
        if kind == "average":
            _check_output(kind, ndim, self, output_size)
        if self.ndim not in (ndim + 1, ndim + 2):
            name, end = ("avg", "") if kind == "average" else ("max", ":")
            raise RuntimeError(
                f"adaptive_{name}_pool{ndim}d(): Expected {ndim + 1}D or {ndim + 2}D tensor, but "
                f"got{end} {list(self.shape)}"
            )
        if kind != "average":
            _check_output(kind, ndim, self, output_size)
        elif self.ndim == ndim + 2 or 0 in self.shape[1:]:
            start = 1 if ndim == 3 else self.ndim - ndim
            if 0 in self.shape[start:]:
                check_filled(self, f"adaptive_avg_pool{ndim}d")

    return check


def _again(average: Callable[..., Any]) -> dict[int, Callable[..., Any]]:
    """The average of a gradient's gradient. The parameters' names are what nodes show."""

    def of_planes(
        grad: Any, grad_output_sym_argsize_minus_2: int, grad_output_sym_argsize_minus_1: int
    ) -> Any:
        return average(grad, (grad_output_sym_argsize_minus_2, grad_output_sym_argsize_minus_1))

    def of_volumes(
        grad: Any, grad_output_sym_argsize_minus_3: int, grad_output_sym_argsize_minus_2: int,
        grad_output_sym_argsize_minus_1: int,
    ) -> Any:  # fmt: skip
        sizes = (grad_output_sym_argsize_minus_3, grad_output_sym_argsize_minus_2)
        return average(grad, (*sizes, grad_output_sym_argsize_minus_1))

    return {2: of_planes, 3: of_volumes}


def _declare_average(ndim: int) -> Any:
    image = _image(ndim)
    again = _again(lambda *sizes: average(*sizes))[ndim]
    average_backward = operator(
        f"_adaptive_avg_pool{ndim}d_backward(Tensor grad_output, Tensor self) -> Tensor",
        node=f"AdaptiveAvgPool{ndim}DBackwardBackward0",
        where="hidden",
        forward=lambda xp, grad_output, self: _average_backward(xp, grad_output, self, ndim),
        reduced=Reduced(
            lambda kind, grad_output, self: _average_backward(
                kind.xp, grad_output, self, ndim, kind.settle
            )
        ),
        grad_output=again,
        self=lambda grad, self_shape: zeros_of(grad, self_shape),
        jacobian="mean",
        doc="Each gradient shared among its window.",
        samples=(f"torch.autograd.grad(F.adaptive_avg_pool{ndim}d({image}, 2).sum(), c)[0]",),
    )
    average = operator(
        f"_adaptive_avg_pool{ndim}d(Tensor self, int[{ndim}] output_size) -> Tensor",
        node=f"AdaptiveAvgPool{ndim}DBackward0",
        where="hidden",
        layout="channels",
        forward=_average,
        reduced=Reduced(
            lambda kind, self, output_size: _average(
                kind.xp, self, output_size, kind.settle if ndim == 3 else None
            )
        ),
        self=lambda grad, self: average_backward(grad, self),
        check=_check("average", ndim),
        refuse=floating_only(f"adaptive_avg_pool{ndim}d" + "_cpu" * (ndim == 3)),
        jacobian="mean",
        doc="The means of windows that divide the input evenly.",
        samples=(f"F.adaptive_avg_pool{ndim}d({image}, 2)",),
    )
    return average


def _largest_backward(xp: Any, grad: Any, x: Any, indices: Any, ndim: int) -> Any:
    _check_cells(f"adaptive_max_pool{ndim}d", grad)
    return _put_back(xp, grad, x, indices, ndim)


def _declare_largest(ndim: int) -> Any:
    image = _image(ndim)
    largest_backward = operator(
        f"adaptive_max_pool{ndim}d_backward(Tensor grad_output, Tensor self, Tensor indices) "
        "-> Tensor",
        node=f"AdaptiveMaxPool{ndim}DBackwardBackward0",
        where="hidden",
        forward=lambda xp, grad_output, self, indices: _largest_backward(
            xp, grad_output, self, indices, ndim
        ),
        grad_output=lambda grad, indices: _max_double(grad, indices, ndim),
        self=lambda grad, self_shape: zeros_of(grad, self_shape),
        zero="mask",
        jacobian="selection",
        doc="The gradient at the places of the maxima.",
        samples=(f"torch.autograd.grad(F.adaptive_max_pool{ndim}d({image}, 2).sum(), c)[0]",),
    )
    largest = operator(
        f"adaptive_max_pool{ndim}d.kernel(Tensor self, int[{ndim}] output_size) "
        "-> (Tensor result0, Tensor result1)",
        node=f"AdaptiveMaxPool{ndim}DBackward0",
        where="hidden",
        layout="channels",
        forward=_largest,
        self=lambda grads, self, result1: largest_backward(grads[0], self, result1),
        check=_check("largest", ndim),
        refuse=floating_only(f"adaptive_max_pool{ndim}d" + "_cpu" * (ndim == 3)),
        zero="mask",
        jacobian="selection",
        doc="The largest elements of windows that divide the input evenly.",
        samples=(f"F.adaptive_max_pool{ndim}d({image}, 2)",),
    )
    return largest


def _image(ndim: int) -> str:
    """A sample's input of that many dimensions, with its channels."""
    return "c" if ndim == 2 else "c[None]"


adaptive_avg_pool2d, adaptive_max_pool2d = _declare_average(2), _declare_largest(2)
adaptive_avg_pool3d, adaptive_max_pool3d = _declare_average(3), _declare_largest(3)
