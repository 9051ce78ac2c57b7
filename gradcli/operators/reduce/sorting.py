"""Operators: sorted elements, and elements by their rank or their frequency."""

from __future__ import annotations

from math import prod
from typing import Any

from ...engine.schema import dtypes
from ...engine.schema.operator import composite, operator
from ...numerics.thresholds import TIED
from ...numerics.tie_order import SHORT, first_few, in_order, settled, sort as sort_places
from ..conventions import COMPLEX, real_by_rule, real_only, unimplemented, wrap_dim
from .extremes import evenly_distribute_backward, value_selecting_backward

LONG = 4096  # elements from which finding a rank takes less than sorting
FEW_TIES = 8  # one of so many may be equal to another, where equals are put in order afterwards

# ---- sorting


def _ranks(xp: Any, self: Any, dim: int, descending: bool) -> Any:
    """Places in sorted order; equals keep their order, NaN counts as the largest."""
    if not descending:
        return _stable_order(xp, self, dim)
    turned = _stable_order(xp, xp.flip(self, dim), dim)
    return self.shape[dim] - 1 - xp.flip(turned, dim)


def _stable_order(xp: Any, self: Any, dim: int) -> Any:
    """argsort that keeps the order of equals. NumPy's quickest does not: where few numbers are
    equal, it and the order of those few take a fifth of the time."""
    if self.size < LONG or self.dtype.char not in "fd":
        return xp.argsort(self, axis=dim, kind="stable")
    order = xp.ascontiguousarray(xp.moveaxis(xp.argsort(self, axis=dim), dim, -1))
    values = xp.take_along_axis(xp.moveaxis(self, dim, -1), order, axis=-1)
    is_nan = values != values
    follows = xp.zeros(order.shape, dtype="bool")  # an equal number, or another NaN
    follows[..., 1:] = values[..., 1:] == values[..., :-1]
    follows[..., 1:] |= is_nan[..., :-1]
    tied = follows.copy()
    tied[..., :-1] |= follows[..., 1:]
    places = xp.flatnonzero(tied)
    if FEW_TIES * places.size > self.size:
        return xp.argsort(self, axis=dim, kind="stable")
    found, run = order.reshape(-1)[places], xp.cumsum(~follows.reshape(-1)[places])
    order.reshape(-1)[places] = found[xp.lexsort(xp.stack((found, run)))]
    return xp.moveaxis(order, -1, dim)


def _sorted(xp: Any, self: Any, dim: int, descending: bool, stable: bool | None = False) -> Any:
    if not self.ndim:
        wrap_dim(dim, 0)
        return self.copy(), xp.zeros((), dtype="int64")
    dim = wrap_dim(dim, self.ndim)
    indices = _ranks(xp, self, dim, descending)
    if not stable and self.shape[dim] > SHORT and not _by_digits(self, descending):
        lines, order = xp.moveaxis(self, dim, -1), xp.moveaxis(indices, dim, -1)
        indices = xp.moveaxis(settled(xp, order, lines, self.shape[dim], in_order), -1, dim)
    return xp.take_along_axis(self, indices, axis=dim), indices


def _by_digits(self: Any, descending: bool) -> bool:
    """Long lines of integers are sorted digit by digit, which is stable."""
    return self.dtype.kind in "iu" and self.ndim == 1 and self.size >= 32768 and not descending


_REAL = real_by_rule(" Sort does not support complex dtypes on CPU")  # the space is PyTorch's

sort = operator(
    "sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
    node="SortBackward0",
    outputs_named="sort",
    refuse=_REAL,
    layout="like",
    forward=lambda xp, self, dim, descending: _sorted(xp, self, dim, descending),
    self=lambda grads, dim, indices, self_sym_sizes: value_selecting_backward(
        grads[0], dim, indices, self_sym_sizes, True
    ),
    acts="moves",
    jacobian="permutation",
    doc="Elements sorted along a dimension, and their indices.",
    corners=("tensor([2., 1., 2.]).sort()", "tensor([math.nan, 1.]).sort()"),
    samples=("x.sort()", "torch.sort(x, 0, True)", "x.sort(descending=True)", "s.sort()",
             "i.sort(0)", "k.sort()", "c.sort(dim=1).values", "(torch.arange(40) * 7 % 5).sort()",
             "(torch.arange(40.) * 7 % 5).reshape(20, 2).sort(0, True)",
             "(torch.arange(40) % 3 > 1).sort(descending=True)",
             "(torch.arange(60) % 7 - 3.).log().sort(stable=False)",
             "(torch.arange(5200.) * 7919 % 5003).sqrt().sort(descending=True)"),
    errors=("x.sort(2)",),
)  # fmt: skip

operator(
    "sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) "
    "-> (Tensor values, Tensor indices)",
    node="SortBackward1",
    outputs_named="sort",
    refuse=_REAL,
    layout="like",
    forward=lambda xp, self, stable, dim, descending: _sorted(xp, self, dim, descending, stable),
    self=lambda grads, dim, indices, self_sym_sizes: value_selecting_backward(
        grads[0], dim, indices, self_sym_sizes, True
    ),
    acts="moves",
    jacobian="permutation",
    doc="Elements sorted along a dimension; equal elements keep their order.",
    corners=("tensor([2., 1., 2.]).sort(stable=True, descending=True)",),
    samples=("x.sort(stable=True)", "torch.sort(i, stable=True, dim=0, descending=True)"),
)

argsort = operator(
    "argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor",
    dtype="int64",
    refuse=_REAL,
    layout="like",
    forward=lambda xp, self, dim, descending: _sorted(xp, self, dim, descending)[1],
    acts="selects",
    doc="Indices that sort the tensor along a dimension.",
    corners=("tensor([2., 1., 2.]).argsort(stable=True)",),
    samples=(
        "x.argsort()",
        "torch.argsort(x, 0, True)",
        "s.argsort()",
        "i.argsort(0)",
        "(torch.arange(40) * 7 % 5).argsort()",
        "(torch.arange(33000) % 9).argsort()",
        "(torch.arange(33000) % 9).argsort(descending=True)",
    ),
    errors=("x.argsort(2)",),
)

operator(
    "argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor",
    dtype="int64",
    refuse=_REAL,
    layout="like",
    forward=lambda xp, self, stable, dim, descending: _sorted(xp, self, dim, descending, stable)[1],
    acts="selects",
    doc="Indices that sort the tensor along a dimension; equal elements keep their order.",
    samples=(
        "torch.argsort(x, stable=True)",
        "i.argsort(stable=True, dim=0, descending=True)",
        "(torch.arange(40) * 7 % 5).argsort(stable=True)",
        "(torch.arange(40) * 7 % 5).argsort(stable=False)",
    ),
)

msort = composite(
    "msort(Tensor self) -> Tensor",
    lambda self: sort.run(self, 0, False)[0],
    doc="Elements sorted along the first dimension.",
    corners=("tensor([2., 1., 2.]).msort()",),
    samples=("x.msort()", "torch.msort(x)"),
)

# ---- the largest few


def _check_topk(self: Any, k: int, dim: int, largest: bool, sorted: bool) -> None:
    place = wrap_dim(dim, self.ndim)
    if not 0 <= k <= (self.shape[place] if self.ndim else 1):
        raise RuntimeError("selected index k out of range")
    if self.dtype is dtypes.bool_:
        raise RuntimeError("topk does not support bool dtypes on CPU")
    if self.dtype.is_complex:
        raise RuntimeError(" topk does not support complex dtypes on CPU")


def _few_of_many(xp: Any, lines: Any, k: int, largest: bool) -> Any:
    """The places of the first few of each line, found without sorting all; None where a NaN is
    among them, or which of several equals comes first is asked."""
    *others, count = lines.shape
    at = count - k if largest else k - 1
    last = xp.partition(lines, at, axis=-1)[..., at : at + 1]
    places = xp.flatnonzero(lines >= last if largest else lines <= last)
    if places.size != k * prod(others):
        return None
    numbers, few = xp.divmod(places.reshape((-1, k)), count)
    if not (numbers == xp.arange(len(numbers))[:, None]).all():
        return None
    few = few.reshape((*others, k))
    order = xp.argsort(xp.take_along_axis(lines, few, axis=-1), axis=-1)
    few = xp.take_along_axis(few, order, axis=-1)
    values = xp.take_along_axis(lines, few, axis=-1)
    if not (values[..., 1:] > values[..., :-1]).all():
        return None
    return xp.flip(few, -1) if largest else few


def _top(xp: Any, self: Any, k: int, dim: int, largest: bool, ordered: bool) -> Any:
    if not self.ndim:
        return self.copy(), xp.zeros((), dtype="int64")
    dim = wrap_dim(dim, self.ndim)
    lines = xp.moveaxis(self, dim, -1)
    if self.size >= LONG and 0 < 8 * k <= self.shape[dim] and (ordered or self.size > TIED):
        few = _few_of_many(xp, lines, k, largest)
        if few is not None:
            indices = xp.moveaxis(few, -1, dim)
            return xp.take_along_axis(self, indices, axis=dim), indices
    order = xp.moveaxis(_ranks(xp, self, dim, largest), dim, -1)
    chosen = settled(
        xp, order, lines, k, lambda keys: first_few(keys, k, ordered), always=not ordered
    )
    indices = xp.moveaxis(chosen, -1, dim)
    return xp.take_along_axis(self, indices, axis=dim), indices


topk = operator(
    "topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True) "
    "-> (Tensor values, Tensor indices)",
    node="TopkBackward0",
    outputs_named="topk",
    check=_check_topk,
    layout="row-major",
    forward=lambda xp, self, k, dim, largest, sorted: _top(xp, self, k, dim, largest, sorted),
    self=lambda grads, dim, indices, self_sym_sizes: value_selecting_backward(
        grads[0], dim, indices, self_sym_sizes, True
    ),
    acts="selects",
    doc="The k largest (or smallest) elements along a dimension, sorted, and their indices.",
    corners=("tensor([1., 2., 2.]).topk(1)",),
    samples=("x.topk(2)", "torch.topk(x, 1, 0)", "x.topk(2, largest=False)", "s.topk(1)",
             "i.topk(2)", "c.topk(2, dim=1).values", "x.topk(2, sorted=False)",
             "(torch.arange(40) * 7 % 5).topk(9)", "(torch.arange(400) * 7 % 5).topk(5)",
             "(torch.arange(40) * 7 % 5).topk(9, sorted=False, largest=False)",
             "(torch.arange(60) % 7 - 3.).log().topk(20)", "x.topk(0)",
             "(torch.arange(5200.) * 7919 % 5003).reshape(2, 2600).topk(3, largest=False)"),
    errors=("x.topk(5)", "x.topk(1, 3)", "k.topk(1)", "k.topk(9)"),
)  # fmt: skip

# ---- one rank


def _by_rank(xp: Any, self: Any, dim: int, keepdim: bool, rank: Any) -> Any:
    """The elements that are at a rank (of each line) in sorted order."""
    if not self.ndim:
        return self.copy(), xp.zeros((), dtype="int64")
    dim = wrap_dim(dim, self.ndim)
    at = xp.expand_dims(xp.broadcast_to(rank, self.shape[:dim] + self.shape[dim + 1 :]), dim)
    indices = _place_without_sorting(xp, self, dim, at) if self.size >= LONG else None
    if indices is None:
        order = xp.argsort(self, axis=dim, kind="stable")
        indices = xp.take_along_axis(order, at, axis=dim)
    values = xp.take_along_axis(self, indices, axis=dim)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


def _place_without_sorting(xp: Any, self: Any, dim: int, ranks: Any) -> Any:
    """The places of one rank, without sorting; None where ranks differ or a NaN is there. Equals
    stand in sorted order as they stand in the line."""
    rank = int(ranks.max())
    if rank != int(ranks.min()):
        return None
    value = xp.take(xp.partition(self, rank, axis=dim), xp.asarray([rank]), axis=dim)
    equal = self == value
    counts = equal.sum(axis=dim, keepdims=True)
    if not bool(counts.all()):
        return None
    if int(counts.max()) > 1:
        nth = ranks - (self < value).sum(axis=dim, keepdims=True)
        equal &= xp.cumsum(equal, axis=dim) == nth + 1
    return xp.expand_dims(xp.argmax(equal, axis=dim), dim)


def _kth(xp: Any, self: Any, rank: int, dim: int, keepdim: bool) -> Any:
    """One rank of each line; which of several equals it is, PyTorch's quickselect decides."""
    values, indices = _by_rank(xp, self, dim, True, rank)
    if self.ndim:
        dim = wrap_dim(dim, self.ndim)
        lines = xp.moveaxis(self, dim, -1)
        places = xp.moveaxis(indices, dim, -1)
        value = xp.moveaxis(values, dim, -1)
        tied = ((lines == value) | ((lines != lines) & (value != value))).sum(axis=-1) > 1
        for at in xp.argwhere(tied).tolist():
            places[(*at, 0)] = _selected(lines[tuple(at)].tolist(), rank)
        values = xp.take_along_axis(self, indices, axis=dim)
    if keepdim or not self.ndim:
        return values, indices
    return values.squeeze(dim), indices.squeeze(dim)


def _above(left: Any, right: Any) -> bool:
    """Is the left one larger? NaN is larger than any number."""
    return bool(left > right or (left != left and right == right))


def _selected(line: list[Any], rank: int) -> int:
    """Where the element of a rank stood before quickselect, with the middle of three as pivot."""
    places = list(range(len(line)))

    def swap(i: int, j: int) -> None:
        line[i], line[j] = line[j], line[i]
        places[i], places[j] = places[j], places[i]

    low, high = 0, len(line) - 1
    while high > low + 1:
        swap(low + (high - low) // 2, low + 1)
        for one, other in ((low + 1, high), (low, high), (low + 1, low)):
            if _above(line[one], line[other]):
                swap(one, other)
        after, cut = _parted(line, low, high, swap)
        swap(low, cut)
        if cut <= rank:
            low = after
        if cut >= rank:
            high = cut - 1
    if high == low + 1 and _above(line[low], line[high]):
        swap(low, high)
    return places[rank]


def _parted(line: list[Any], low: int, high: int, swap: Any) -> tuple[int, int]:
    """Moves what is above the pivot (at low) behind what is below it; where both parts end."""
    i, j, pivot = low + 1, high, line[low]
    while True:
        i += 1
        while _above(pivot, line[i]):
            i += 1
        j -= 1
        while _above(line[j], pivot):
            j -= 1
        if j < i:
            return i, j
        swap(i, j)


def _check_kth(self: Any, k: int, dim: int, keepdim: bool) -> None:
    place = wrap_dim(dim, self.ndim)
    if self.ndim and self.shape[place] == 0:
        raise IndexError(f"kthvalue(): Expected reduction dim {place} to have non-zero size.")
    if not 1 <= k <= (self.shape[place] if self.ndim else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {place}")
    if self.dtype is dtypes.bool_:
        raise NotImplementedError("\"kthvalue_cpu\" not implemented for 'Bool'")


def _rank_row(
    name: str, node: str, arguments: str, forward: Any, check: Any, refuse: Any, **words: Any
) -> None:
    """A reduction that takes one element of each line."""
    operator(
        f"{name}(Tensor self, {arguments}, bool keepdim=False) -> (Tensor values, Tensor indices)",
        node=node,
        outputs_named=name.partition(".")[0],
        check=check,
        refuse=refuse,
        acts="selects",
        layout="row-major",
        forward=forward,
        self=lambda grads, dim, indices, self_sym_sizes, keepdim: value_selecting_backward(
            grads[0], dim, indices, self_sym_sizes, keepdim
        ),
        **words,
    )


_rank_row(
    "kthvalue", "KthvalueBackward0", "int k, int dim=-1",
    lambda xp, self, k, dim, keepdim: _kth(xp, self, k - 1, dim, keepdim),
    _check_kth,
    real_only("kthvalue_cpu"),
    doc="The k-th smallest element along a dimension, and its index.",
    corners=("tensor([1., 3., 3., 2.]).kthvalue(3)",),
    samples=("x.kthvalue(2)", "torch.kthvalue(x, 1, 0, True)", "s.kthvalue(1)", "i.kthvalue(2)",
             "torch.tensor([1, 3, 3, 2]).kthvalue(3)"),
    errors=("x.kthvalue(5)", "x.kthvalue(1, 2)", "k.kthvalue(1)", "k.kthvalue(9)"),
)  # fmt: skip


def _middle(xp: Any, self: Any, dim: int, keepdim: bool, ignore: bool) -> Any:
    """The lower median; NaN wins over all, or is left out."""
    if not self.ndim:
        return self.copy(), xp.zeros((), dtype="int64")
    dim = wrap_dim(dim, self.ndim)
    length = self.shape[dim]
    missing = (self != self).sum(axis=dim)
    if ignore:
        rank = xp.maximum(length - missing - 1, 0) // 2
    else:
        rank = xp.where(missing > 0, length - missing, (length - 1) // 2)
    return _by_rank(xp, self, dim, keepdim, rank)


def _middle_of_all(xp: Any, self: Any, ignore: bool) -> Any:
    if not self.size:
        return xp.asarray(xp.nan if self.dtype.kind == "f" else -(2**63)).astype(self.dtype)
    return _middle(xp, self.reshape(-1), 0, False, ignore)[0]


def _check_line(name: str) -> Any:
    def check(self: Any, dim: int, keepdim: bool) -> None:
        place = wrap_dim(dim, self.ndim)
        if self.ndim and self.shape[place] == 0:
            raise IndexError(f"{name}(): Expected reduction dim {place} to have non-zero size.")

    return check


for _name, _node, _ignore, _doc, _of_all, _of_lines in (
    (
        "median", "Median", False, "The lower median",
        ("tensor([1., 4., 2., 3.])", "tensor([3., 3., 1.])", "tensor([1., math.nan])"),
        ("tensor([1., 4., 2., 3.])", "tensor([3., 3., 1.])"),
    ),
    (
        "nanmedian", "Nanmedian", True, "The lower median without NaN",
        ("tensor([1., math.nan])", "tensor([3., 3., 1.])"), ("tensor([1., math.nan])",),
    ),
):  # fmt: skip
    _refuse = unimplemented("median_cpu", "Bool", *COMPLEX)
    operator(
        f"{_name}(Tensor self) -> Tensor",
        node=f"{_node}Backward0",
        refuse=_refuse,
        forward=lambda xp, self, _ignore=_ignore: _middle_of_all(xp, self, _ignore),
        self=lambda grad, self, result: evenly_distribute_backward(grad, self, result),
        acts="selects",
        smooth="(self).mean()",
        doc=f"{_doc} of all elements.",
        corners=tuple(f"{_tensor}.{_name}()" for _tensor in _of_all),
        samples=(f"x.{_name}()", f"torch.{_name}(v)", f"i.{_name}()", f"s.{_name}()",
                 f"c.{_name}()", f"torch.zeros(0).{_name}()"),
        errors=(f"k.{_name}()",),
    )  # fmt: skip
    _rank_row(
        f"{_name}.dim", f"{_node}Backward1", "int dim",
        lambda xp, self, dim, keepdim, _ignore=_ignore: _middle(xp, self, dim, keepdim, _ignore),
        _check_line("median"),
        unimplemented("median_out", "Bool", *COMPLEX),
        doc=f"{_doc} along a dimension, and its index.",
        corners=tuple(f"{_tensor}.{_name}(0)" for _tensor in _of_lines),
        samples=(f"x.{_name}(1)", f"torch.{_name}(x, 0, True)", f"i.{_name}(dim=1)",
                 f"s.{_name}(0)"),
        errors=(f"x.{_name}(2)", f"k.{_name}(1)", f"torch.zeros(2, 0).{_name}(1)"),
    )  # fmt: skip


def _commonest(xp: Any, self: Any, dim: int, keepdim: bool) -> Any:
    """The smallest of the most frequent elements, and the last place where it was sorted to."""
    if not self.ndim:
        return self.copy(), xp.zeros((), dtype="int64")
    dim = wrap_dim(dim, self.ndim)
    order = xp.moveaxis(xp.argsort(self, axis=dim, kind="stable"), dim, -1)
    ranked = xp.take_along_axis(xp.moveaxis(self, dim, -1), order, axis=-1)
    places = xp.arange(ranked.shape[-1])
    starts = xp.ones(ranked.shape, dtype=bool)
    starts[..., 1:] = ranked[..., 1:] != ranked[..., :-1]
    began = xp.maximum.accumulate(xp.where(starts, places, 0), axis=-1)
    at = xp.argmax(places - began, axis=-1)[..., None]
    chosen = xp.take_along_axis(order, at, axis=-1)
    lines = xp.moveaxis(self, dim, -1)
    for line in xp.argwhere(_unsettled(lines, ranked)).tolist():
        chosen[(*line, 0)] = _commonest_of(lines[tuple(line)].tolist())
    values = xp.moveaxis(xp.take_along_axis(lines, chosen, axis=-1), -1, dim)
    indices = xp.moveaxis(chosen, -1, dim)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


def _unsettled(lines: Any, ranked: Any) -> Any:
    """The lines whose equals a stable order may leave otherwise; NaN has no place in order."""
    if lines.size > TIED:
        return (lines != lines).any(axis=-1) & False
    missing = (lines != lines).any(axis=-1)
    if lines.shape[-1] <= SHORT:
        return missing
    return missing | (ranked[..., 1:] == ranked[..., :-1]).any(axis=-1)


def _commonest_of(line: list[Any]) -> int:
    """As PyTorch counts: elements sorted by `<`, the last place of the first longest run."""
    places = list(range(len(line)))
    sort_places(places, line)
    best = most = run = 0
    for at, place in enumerate(places):
        run += 1
        if at + 1 == len(places) or line[place] != line[places[at + 1]]:
            if run > most:
                best, most = place, run
            run = 0
    return best


_rank_row(
    "mode", "ModeBackward0", "int dim=-1",
    lambda xp, self, dim, keepdim: _commonest(xp, self, dim, keepdim),
    _check_line("mode"),
    real_only("mode_cpu"),
    doc="The most frequent element along a dimension, and its index.",
    corners=("tensor([1., 3., 3., 2.]).mode()",),
    samples=("x.mode()", "torch.mode(i, 0)", "x.mode(0, True)", "i.mode()", "k.mode(1)", "s.mode()",
             "torch.tensor([2., 1., 3., 3., 2., 3., 1.]).mode()",
             "(torch.arange(40) * 7 % 5).mode()", "(torch.arange(60) % 7 - 3.).log().mode()",
             "(torch.arange(12) % 7 - 3.).log().mode()"),
    errors=("x.mode(2)",),
)  # fmt: skip
