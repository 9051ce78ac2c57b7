"""Operators: distinct elements, and places in sorted sequences."""

from __future__ import annotations

from typing import Any

from ...engine.schema import dtypes
from ...engine.schema.operator import composite, operator
from ...numerics.tie_order import sort
from ..conventions import COMPLEX, underivable, unimplemented, wrap_dim
from ..geometry import sizes_text

# ---- distinct elements


def _distinct(xp: Any, self: Any, inverse: bool, counts: bool) -> Any:
    """NaNs are all distinct; a value's place among the values goes to each element."""
    values, where, count = xp.unique(self, return_inverse=True, return_counts=True, equal_nan=False)
    return values, where.reshape(self.shape), count


_unique2 = operator(
    "_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) "
    "-> (Tensor, Tensor, Tensor)",
    node="Unique2Backward0",
    where="hidden",
    refuse=unimplemented("unique", *COMPLEX),
    forward=lambda xp, self, sorted, return_inverse, return_counts: _distinct(
        xp, self, return_inverse, return_counts
    ),
    self=lambda grads: underivable("_unique2"),
    acts="dynamic",
    doc="The distinct elements in order, which of them each element is, and how many there are.",
    samples=("torch.unique(i, return_inverse=True, return_counts=True)",),
)


class _Slice(list[float]):
    """Numbers in the order of their first difference; NaN differs from none."""

    def __lt__(self, other: list[float]) -> bool:
        for mine, its in zip(self, other, strict=True):
            if mine < its:
                return True
            if mine > its:
                return False
        return False


def _distinct_missing(xp: Any, self: Any, dim: int) -> Any:
    """Slices with NaN, which no order suits: PyTorch sorts them, and each is one of its own."""
    lines = xp.moveaxis(self, dim, 0).reshape(self.shape[dim], -1)
    places = list(range(len(lines)))
    sort(places, [_Slice(line) for line in lines.tolist()])
    ranked = lines[places]
    starts = xp.ones(len(places), dtype=bool)
    starts[1:] = (ranked[1:] != ranked[:-1]).any(axis=1)
    first = xp.nonzero(starts)[0]
    where = xp.empty(len(places), dtype="int64")
    where[places] = xp.cumsum(starts) - 1
    counts = xp.diff(xp.append(first, len(places)))
    return xp.take(self, xp.asarray(places)[first], axis=dim), where, counts


def _distinct_slices(xp: Any, self: Any, dim: int) -> Any:
    if self.size and (self != self).any():
        return _distinct_missing(xp, self, wrap_dim(dim, self.ndim))
    values, where, count = xp.unique(
        self, axis=wrap_dim(dim, self.ndim), return_inverse=True, return_counts=True
    )
    return values, where.reshape(-1), count


unique_dim = operator(
    "unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, "
    "bool return_counts=False) -> (Tensor, Tensor, Tensor)",
    node="UniqueDimBackward0",
    where="hidden",
    layout="row-major",
    refuse=unimplemented("unique_dim", *COMPLEX),
    forward=lambda xp, self, dim, sorted, return_inverse, return_counts: _distinct_slices(
        xp, self, dim
    ),
    self=lambda grads: underivable("unique_dim"),
    acts="dynamic",
    doc="The distinct slices of a dimension in order.",
    samples=("torch.unique(i, dim=1)",),
)


def _runs(xp: Any, self: Any, dim: int | None) -> Any:
    """The first element (or slice) of each run of equals, and the runs' lengths."""
    lines = self.reshape(self.size, 1) if dim is None else xp.moveaxis(self, dim, 0)
    length = lines.shape[0]
    starts = xp.ones(length, dtype=bool)
    if length:
        flat = lines.reshape(length, -1)
        starts[1:] = (flat[1:] != flat[:-1]).any(axis=1)
    first = xp.nonzero(starts)[0]
    counts = xp.diff(xp.append(first, length))
    where = xp.cumsum(starts) - 1
    if dim is None:
        return self.reshape(-1)[first], where.reshape(self.shape), counts
    return xp.take(self, first, axis=dim), where, counts


_consecutive = operator(
    "_unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, "
    "int? dim=None) -> (Tensor, Tensor, Tensor)",
    node="UniqueConsecutiveBackward0",
    where="hidden",
    refuse=unimplemented("unique", *COMPLEX),
    forward=lambda xp, self, return_inverse, return_counts, dim: _runs(
        xp, self, None if dim is None else wrap_dim(dim, self.ndim)
    ),
    self=lambda grads: underivable("unique_consecutive"),
    doc="Elements that differ from the one before.",
    samples=("torch.unique_consecutive(i, return_inverse=True, return_counts=True)",),
)


def _requested(found: Any, inverse: bool, counts: bool) -> Any:
    """The values alone, or a tuple with what else was requested."""
    asked = [found[0]] + [found[1]] * inverse + [found[2]] * counts
    return asked[0] if len(asked) == 1 else tuple(asked)


def _unique(self: Any, sorted: bool, inverse: bool, counts: bool, dim: int | None) -> Any:
    found = (
        _unique2.run(self, sorted, inverse, counts)
        if dim is None
        else unique_dim.run(self, dim, sorted, inverse, counts)
    )
    return _requested(found, inverse, counts)


composite(
    "unique(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False, "
    "int? dim=None) -> Tensor",
    _unique,
    doc="The distinct elements (or slices) in order.",
    samples=("torch.unique(i)", "i.unique(return_counts=True)",
             "torch.unique(k, return_inverse=True)", "x.unique()", "torch.unique(i, dim=0)",
             "torch.unique(x, dim=1, return_counts=True)",
             "torch.unique((x - 1).log(), dim=1, return_inverse=True)", "torch.unique(n)",
             "torch.unique(i, dim=1, return_inverse=True, return_counts=True)"),
)  # fmt: skip

composite(
    "unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, "
    "int? dim=None) -> Tensor",
    lambda self, return_inverse, return_counts, dim: _requested(
        _consecutive.run(self, return_inverse, return_counts, dim), return_inverse, return_counts
    ),
    doc="Elements (or slices) that differ from the one before.",
    samples=("torch.unique_consecutive(i)",
             "i.unique_consecutive(return_inverse=True, return_counts=True)",
             "torch.unique_consecutive(i, dim=1)", "x.unique_consecutive()",
             "torch.unique_consecutive(k[0])"),
)  # fmt: skip

# ---- places in sorted sequences


def _searched(
    xp: Any, sequence: Any, values: Any, out_int32: bool, right: bool, side: str | None, sorter: Any
) -> Any:
    way = side or ("right" if right else "left")
    kind = "int32" if out_int32 else "int64"
    if sorter is not None:
        sequence = xp.take_along_axis(sequence, sorter, axis=-1)
    values = xp.asarray(values)
    if not values.size or not sequence.size:
        return xp.zeros(values.shape, dtype=kind)
    in_order = sequence.ndim == 1 and (sequence[1:] >= sequence[:-1]).all()
    if in_order and sequence[0] == sequence[0] and (values == values).all():
        return xp.searchsorted(sequence, values, side=way).astype(kind)
    lines = sequence.reshape((-1, sequence.shape[-1]))
    wanted = values.reshape((lines.shape[0], -1))
    return _bisected(xp, lines, wanted, way == "right").reshape(values.shape).astype(kind)


def _bisected(xp: Any, lines: Any, wanted: Any, right: bool) -> Any:
    """Halves by PyTorch's comparisons, which NaN and lines out of order see differently."""
    low = xp.zeros(wanted.shape, dtype="int64")
    high = xp.full(wanted.shape, lines.shape[-1])
    while (open_ := low < high).any():
        middle = low + (high - low) // 2
        value = xp.take_along_axis(lines, xp.minimum(middle, lines.shape[-1] - 1), axis=-1)
        behind = ~(value > wanted) if right else ~(value >= wanted)
        low = xp.where(open_ & behind, middle + 1, low)
        high = xp.where(open_ & ~behind, middle, high)
    return low


def _place_type(*arguments: Any) -> Any:
    return dtypes.int32 if arguments[2] else dtypes.int64


def _check_search(
    sequence: Any, self: Any, out_int32: bool, right: bool, side: str | None, sorter: Any
) -> None:
    if side is not None and side not in ("left", "right"):
        raise RuntimeError(
            f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}"
        )
    if side == "left" and right:
        raise RuntimeError(
            "torch.searchsorted(): side and right can't be set to opposites, got side of left "
            "while right was True"
        )
    if sequence.ndim == 0:
        raise RuntimeError(
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor "
            "dimension is 1, but we got boundaries tensor dim(0) and input value's dim(0) numel(1)"
            if not hasattr(self, "ndim") or not self.ndim
            else "torch.searchsorted(): boundaries tensor should have positive dimension, but got "
            "0 dimension"
        )
    shape = tuple(getattr(self, "shape", ()))
    if not shape and sequence.ndim != 1:
        raise RuntimeError(
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor "
            f"dimension is 1, but we got boundaries tensor dim({sequence.ndim}) and input value's "
            "dim(0) numel(1)"
        )
    if sequence.ndim != 1 and tuple(sequence.shape[:-1]) != shape[:-1]:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 "
            "dimensions of boundaries tensor and input value tensor must match, but we got "
            f"boundaries tensor {sizes_text(sequence.shape)} and input value tensor "
            f"{sizes_text(shape)}"
        )
    if sorter is not None and tuple(sorter.shape) != tuple(sequence.shape):
        raise RuntimeError(
            "torch.searchsorted(): boundary and sorter must have the same size, but got boundary "
            f"tensor {sizes_text(sequence.shape)}and got sorter tensor {sizes_text(sorter.shape)}"
        )


for _overload, _kind in (("Tensor", "Tensor"), ("Scalar", "Scalar")):
    operator(
        f"searchsorted.{_overload}(Tensor sorted_sequence, {_kind} self, *, bool out_int32=False, "
        "bool right=False, str? side=None, Tensor? sorter=None) -> Tensor",
        where="torch",
        dtype=_place_type,
        check=_check_search,
        refuse=unimplemented("searchsorted_out_cpu", "Bool", *COMPLEX),
        forward=_searched,
        doc="Indices at which values would be inserted to keep a sequence sorted.",
        samples=("torch.searchsorted(p[0].sort()[0], x)", "torch.searchsorted(x.sort()[0], y)",
                 "torch.searchsorted(w, x, sorter=w.argsort())",
                 "torch.searchsorted(w.sort()[0], x, side='right')",
                 "torch.searchsorted(w.sort()[0], x, right=True, out_int32=True)",
                 "torch.searchsorted(w.sort()[0], s)", "torch.searchsorted(w, x)",
                 "torch.searchsorted(x, y, right=True)",
                 "torch.searchsorted((x / 0).sort()[0], (x / 0).log())")
        if _kind == "Tensor"
        else ("torch.searchsorted(w.sort()[0], 0.3)",
              "torch.searchsorted(w.sort()[0], 1, right=True)"),
        errors=("torch.searchsorted(x, v)", "torch.searchsorted(w, x, side='up')",
                "torch.searchsorted(k[0], k)")
        if _kind == "Tensor"
        else (),
    )  # fmt: skip


def _check_boundaries(self: Any, boundaries: Any, out_int32: bool, right: bool) -> None:
    if boundaries.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")


operator(
    "bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) "
    "-> Tensor",
    where="torch",
    dtype=_place_type,
    check=_check_boundaries,
    refuse=unimplemented("searchsorted_out_cpu", "Bool", *COMPLEX),
    forward=lambda xp, self, boundaries, out_int32, right: _searched(
        xp, boundaries, self, out_int32, right, None, None
    ),
    doc="Which bucket between boundaries each element falls into.",
    samples=("torch.bucketize(x, w.sort()[0])",
             "torch.bucketize(x, w.sort()[0], right=True, out_int32=True)",
             "torch.bucketize(i, torch.tensor([0, 1, 2]))"),
    errors=("torch.bucketize(x, a)",),
)  # fmt: skip

operator(
    "bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False) "
    "-> Tensor",
    where="torch",
    dtype=_place_type,
    check=_check_boundaries,
    refuse=unimplemented("searchsorted_out_cpu", "Bool", *COMPLEX),
    forward=lambda xp, self, boundaries, out_int32, right: _searched(
        xp, boundaries, self, out_int32, right, None, None
    ),
    doc="Which bucket between boundaries a number falls into.",
    samples=("torch.bucketize(0.5, w.sort()[0])",),
)

# ---- membership


def _isin(xp: Any, elements: Any, test_elements: Any, assume_unique: bool, invert: bool) -> Any:
    """A number is compared in the type of the tensor beside it."""
    kind = getattr(elements, "dtype", None) or test_elements.dtype
    if kind.kind == "f":
        elements, test_elements = (xp.asarray(v, dtype=kind) for v in (elements, test_elements))
    return xp.isin(elements, test_elements, invert=invert)


def _check_isin(elements: Any, test_elements: Any, assume_unique: bool, invert: bool) -> None:
    for value in (elements, test_elements):
        kind = value.dtype if hasattr(value, "dtype") else dtypes.of_number(value)
        if kind is dtypes.bool_ or kind.is_complex:
            raise RuntimeError(f"Unsupported input type encountered for isin(): {kind.word}")


for _overload, _arguments, _samples in (
    (
        "Tensor_Tensor", "Tensor elements, Tensor test_elements",
        ("torch.isin(i, j)", "torch.isin(x, v)", "torch.isin(i, j[:1], invert=True)"),
    ),
    ("Tensor_Scalar", "Tensor elements, Scalar test_element", ("torch.isin(i, 2)",)),
    ("Scalar_Tensor", "Scalar element, Tensor test_elements", ("torch.isin(2, i)",)),
):  # fmt: skip
    operator(
        f"isin.{_overload}({_arguments}, *, bool assume_unique=False, bool invert=False) -> Tensor",
        dtype="bool",
        where="torch",
        check=_check_isin,
        forward=_isin,
        doc="Is each element among the others?",
        samples=_samples,
        errors=("torch.isin(k, k)",) if _overload == "Tensor_Tensor" else (),
    )
