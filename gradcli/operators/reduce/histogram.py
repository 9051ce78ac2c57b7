"""Operators: how many elements there are of each number, or between edges."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

from ...engine.memory.layout import once
from ...engine.schema import dtypes
from ...engine.schema.operator import Reduced, composite, operator
from ..conventions import COMPLEX, INTEGERS, check_precision, unimplemented

# ---- numbers


def _check_bincount(self: Any, weights: Any, minlength: int) -> None:
    if self.dtype.category >= dtypes.FLOATING or self.dtype.category == dtypes.BOOL:
        raise NotImplementedError(f"\"bincount_cpu\" not implemented for '{self.dtype.word}'")
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if self.ndim != 1 or (self.numel() and bool((self < 0).any())):
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is not None and tuple(weights.shape) != tuple(self.shape):
        raise RuntimeError("weights should be 1-d and have the same length as input")


def _count_type(self: Any, weights: Any, minlength: int) -> Any:
    if weights is None:
        return dtypes.int64
    return weights.dtype if weights.dtype is dtypes.float32 else dtypes.float64


bincount = operator(
    "bincount(Tensor self, Tensor? weights=None, int minlength=0) -> Tensor",
    node="torch::autograd::NotImplemented",
    dtype=_count_type,
    check=_check_bincount,
    cost=lambda self, weights, minlength: self.numel() + max(
        minlength, int(once(self._data).max()) + 1 if self.numel() else 0
    ),
    forward=lambda xp, self, weights, minlength: xp.bincount(
        self.astype("int64"), weights, minlength
    ),
    doc="How often each number from 0 on occurs, or the sum of the weights there.",
    samples=("torch.bincount(j)", "j.bincount(w.detach())", "torch.bincount(j, minlength=5)",
             "torch.bincount(j, d[0].detach())", "torch.bincount(j, j)", "torch.bincount(j[:0])"),
    errors=("torch.bincount(v)", "torch.bincount(i)", "torch.bincount(j - 1)",
            "torch.bincount(j, x)", "torch.bincount(j, minlength=-1)"),
)  # fmt: skip

# ---- edges


def _outer(self: Any, low: float, high: float, apart: float = 1) -> tuple[Any, Any]:
    """The first and the last edge: the data's where none are given; never the same."""
    if low == high and self.size:
        of_type = self.dtype.type
        low, high = of_type(self.min().item()), of_type(self.max().item())
    if low == high:
        low, high = low - apart, high + apart
    return low, high


def _check_histc(self: Any, bins: int, min: Any, max: Any) -> None:
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    if min > max:
        raise RuntimeError("torch.histc: max must be larger than min")
    if min == max and self.numel() and not self.dtype.is_complex:
        low, high = float(self.detach().min()), float(self.detach().max())
        if not isfinite(low) or not isfinite(high):
            raise RuntimeError(f"torch.histc: range of [{low}, {high}] is not finite")


def _histc(xp: Any, self: Any, bins: int, min: Any, max: Any, settle: Any = None) -> Any:
    flat = self.reshape(-1)
    low, high = (flat.dtype.type(edge) for edge in _outer(flat, min, max))
    flat = flat[(flat >= low) & (flat <= high)]
    if settle is None:
        part = (flat - low) * flat.dtype.type(bins) / (high - low)
    else:
        low, high = settle(low), settle(high)
        part = settle(settle(settle(flat - low) * bins) / settle(high - low))
    place = part.astype("int64")
    place = xp.minimum(place, bins - 1)
    return xp.bincount(place, minlength=bins).astype(self.dtype)


histc = operator(
    "histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor",
    refuse=unimplemented("histogram_cpu", *INTEGERS) | unimplemented("linspace_cpu", "Bool")
    | unimplemented("aminmax_cpu", *COMPLEX),
    check=_check_histc,
    cost=lambda self, bins, min, max: bins + self.numel(),
    forward=_histc,
    reduced=Reduced(lambda kind, *given: _histc(kind.xp, *given, settle=kind.settle)),
    doc="Histogram: how many elements lie in each of equal bins.",
    samples=("torch.histc(x, 4)", "x.histc(4, -1, 1)", "torch.histc(x)",
             "torch.histc(x, bins=3, min=1, max=1)", "torch.histc(d, 5)"),
    errors=("torch.histc(i, 4)", "torch.histc(x, 0)", "torch.histc(x, 4, 2, 1)"),
)  # fmt: skip


def _edges(xp: Any, line: Any, bins: int, span: Sequence[float] | None) -> Any:
    """Equal bins over a span or over the data."""
    given = span is not None and span[0] == span[1]  # an empty span is not the data's
    low, high = span if span is not None else (0, 0)
    if not given:
        low, high = _outer(line, low, high, 0.5)
    if given:
        low, high = low - 0.5, high + 0.5
    if not line.size and span is None:
        low, high = 0, 1
    return xp.linspace(low, high, bins + 1).astype(line.dtype)


def _binned(xp: Any, points: Any, edges: Sequence[Any], weight: Any, density: bool) -> Any:
    """Sums of weights in the cells of a grid; the last edge belongs to the last cell."""
    inside = xp.ones(points.shape[0], dtype=bool)
    places = []
    for column, line in enumerate(edges):
        values = points[:, column]
        at = xp.searchsorted(line, values, side="right") - 1
        at = xp.where(values == line[-1], line.size - 2, at)
        inside &= (values >= line[0]) & (values <= line[-1])
        places.append(at)
    shape = tuple(line.size - 1 for line in edges)
    weights = xp.ones(points.shape[0]) if weight is None else weight.reshape(-1).astype("float64")
    hist = xp.zeros(shape)
    xp.add.at(hist, tuple(at[inside] for at in places), weights[inside])
    if density:
        hist = hist / hist.sum()
        for axis, line in enumerate(edges):
            widths = xp.diff(line).astype("float64")
            hist = hist / widths.reshape([-1 if d == axis else 1 for d in range(len(edges))])
    return hist.astype(points.dtype)


_NO_HISTOGRAM = unimplemented("histogramdd", *INTEGERS, "Bool", *COMPLEX)


def _one_line(xp: Any, self: Any, edges: Any, weight: Any, density: bool) -> tuple[Any, Any]:
    return _binned(xp, self.reshape(-1, 1), (edges,), weight, density), edges


def _check_range(range: Any, columns: int) -> None:
    if range is not None and len(range) != 2 * columns:
        raise RuntimeError(
            f"torch.histogramdd: for a {columns}-dimensional histogram range should have "
            f"{2 * columns} elements, but got {len(range)}"
        )


def _check_bins(self: Any, bins: Any, range: Any, weight: Any, place: int = 0) -> None:
    if bins <= 0:
        raise RuntimeError(
            f"torch.histogram(): bins must be > 0, but got {bins} for dimension {place}"
        )
    if range is not None and range[0] > range[1]:
        low, high = range
        raise RuntimeError(
            f"torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} for "
            f"dimension {place}"
        )
    _check_weight(self, weight)


def _check_weight(self: Any, weight: Any) -> None:
    """Points have their coordinates in the last dimension; in a line each is a number."""
    if weight is not None and weight.numel() * self.shape[-1] != self.numel():
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the "
            f"input tensor excluding its innermost dimension, but got input with shape "
            f"{list(self.shape)} and weight with shape {list(weight.shape)}"
        )
    check_precision(self, "histogramdd")


def _check_edges(self: Any, bins: Any, weight: Any, place: int = 0) -> None:
    if bins.ndim != 1:
        raise RuntimeError(
            f"torch.histogramdd: bins tensor should have one dimension, but got {bins.ndim} "
            f"dimensions in the bins tensor for dimension {place}"
        )
    if not bins.numel():
        raise RuntimeError(
            "torch.histogramdd: bins tensor should have at least 1 element, but got 0 elements in "
            f"the bins tensor for dimension {place}"
        )
    if bins.dtype is not self.dtype:
        raise RuntimeError(
            "torch.histogramdd: input tensor and bins tensors should have the same dtype, but got "
            f"input with dtype {self.dtype.c_word} and bins for dimension {place} with dtype "
            f"{bins.dtype.c_word}"
        )
    _check_weight(self, weight)


def _as_points(self: Any) -> Any:
    return self.detach().reshape([-1, 1])


def _check_line(self: Any, bins: int, range: Any, weight: Any, density: bool) -> None:
    _check_range(range, 1)
    if self.dtype.is_complex:
        kernel = "histogramdd" if range is None else "histogram_cpu"
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{self.dtype.word}'")
    _check_bins(_as_points(self), bins, range, weight)


operator(
    "histogram.bin_ct(Tensor self, int bins=100, *, float[]? range=None, Tensor? weight=None, "
    "bool density=False) -> (Tensor hist, Tensor bin_edges)",
    node="torch::autograd::NotImplemented",
    outputs_named="histogram",
    refuse=_NO_HISTOGRAM,
    check=_check_line,
    cost=lambda self, bins, range, weight, density: bins + self.numel(),
    forward=lambda xp, self, bins, range, weight, density: _one_line(
        xp, self, _edges(xp, self.reshape(-1), bins, range), weight, density
    ),
    doc="Histogram: how many elements lie in each of equal bins, and the bins' edges.",
    samples=("torch.histogram(x.detach(), 4)", "torch.histogram(x.detach(), 4, range=(0.0, 1.0))",
             "x.detach().histogram(3, weight=p.detach(), density=True)"),
    errors=("torch.histogram(i, 3)", "torch.histogram(x.detach(), 0)"),
)  # fmt: skip

operator(
    "histogram.bins_tensor(Tensor self, Tensor bins, *, Tensor? weight=None, bool density=False) "
    "-> (Tensor hist, Tensor bin_edges)",
    node="torch::autograd::NotImplemented",
    outputs_named="histogram",
    refuse=_NO_HISTOGRAM,
    check=lambda self, bins, weight, density: _check_edges(_as_points(self), bins, weight),
    forward=lambda xp, self, bins, weight, density: _one_line(
        xp, self, bins.copy(), weight, density
    ),
    doc="How many elements lie between given edges.",
    samples=("torch.histogram(x.detach(), torch.tensor([-1.0, 0.0, 1.0]))",),
)

_histogramdd_edges = operator(
    "_histogramdd_edges(Tensor self, int column, int bins, float[]? range=None) -> Tensor",
    where="hidden",
    refuse=_NO_HISTOGRAM,
    check=lambda self, *rest: check_precision(self, "histogramdd"),
    cost=lambda self, column, bins, range: bins + self.numel(),
    forward=lambda xp, self, column, bins, range: _edges(
        xp, self.reshape(-1, self.shape[-1])[:, column], bins, range
    ),
    doc="The edges of the bins of one coordinate.",
    samples=("torch.histogramdd(x.detach(), [2, 2, 2])",),
)

_histogramdd_cells = operator(
    "_histogramdd_cells(Tensor self, Tensor[] edges, Tensor? weight, bool density) -> Tensor",
    where="hidden",
    refuse=_NO_HISTOGRAM,
    check=lambda self, *rest: check_precision(self, "histogramdd"),
    cost=lambda self, edges, weight, density: _cells(edges) + self.numel(),
    forward=lambda xp, self, edges, weight, density: _binned(
        xp, self.reshape(-1, self.shape[-1]), edges, weight, density
    ),
    doc="How many points lie in each cell of a grid.",
    samples=("torch.histogramdd(x.detach(), [2, 2, 2])",),
)


def _cells(edges: Sequence[Any]) -> int:
    count = 1
    for line in edges:
        count *= max(line.numel() - 1, 0)
    return count


def _histogramdd(self: Any, bins: Any, range: Any, weight: Any, density: bool) -> Any:
    from ...engine.schema.returns import named

    if self.ndim < 2:
        raise RuntimeError("torch.histogramdd: input tensor should have at least 2 dimensions")
    columns = self.shape[-1]
    counts = [bins] * columns if isinstance(bins, int) else list(bins)
    if len(counts) != columns:
        if not counts or isinstance(counts[0], int):
            raise RuntimeError(
                "histogramdd: The size of bins must be equal to the innermost dimension of the "
                "input."
            )
        raise RuntimeError(
            f"torch.histogramdd: expected {columns} sequences of bin edges for a "
            f"{columns}-dimensional histogram but got {len(counts)}"
        )
    _check_range(range, columns)
    spans = [None if range is None else range[2 * n : 2 * n + 2] for n, _ in enumerate(counts)]
    for place, count in enumerate(counts):
        if hasattr(count, "ndim"):
            _check_edges(self, count, weight, place)
        else:
            _check_bins(self, count, spans[place], weight, place)
    edges = [
        count
        if hasattr(count, "ndim")
        else _histogramdd_edges.run(self, place, count, spans[place])
        for place, count in enumerate(counts)
    ]
    hist = _histogramdd_cells.run(self, edges, weight, density)
    return named("histogramdd", ("hist", "bin_edges"), (hist, tuple(edges)))


composite(
    "histogramdd(Tensor self, any bins, float[]? range=None, Tensor? weight=None, "
    "bool density=False) -> (Tensor hist, Tensor bin_edges)",
    _histogramdd,
    where="torch",
    doc="How many points lie in each cell of a grid, and the grid's edges.",
    samples=("torch.histogramdd(x.detach(), [2, 2, 2])", "torch.histogramdd(x.detach()[:, :2], 3)",
             "torch.histogramdd(x.detach()[:, :2], [2, 3], range=(-2.0, 2.0, -1.0, 1.0), "
             "density=True)",
             "torch.histogramdd(x.detach()[:, :1], [torch.tensor([-1.0, 0.0, 2.0])], "
             "weight=w.detach()[:2])"),
)  # fmt: skip
