"""Operators: sums, means and products over dimensions, and tests of all elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.schema import dtypes
from ...engine.schema.carriers import ARRAYS
from ...engine.schema.operator import Reduced, composite, operator
from ...numerics import reduced_kernels as halves
from ...numerics.rounding import precise
from ...numerics.summation import mean_of, sum_of
from ..conventions import Late, real_by_rule, wrap_dim
from ..geometry import array_of, elements_along, wrap_dims
from ..shape.cast import to_copy
from ..shape.shape import expand, reshape
from ..shape.squeeze import unsqueeze

exp = Late("exp")
narrow = Late("slice.Tensor")
flip = Late("flip")
cat = Late("cat")
cumprod = Late("cumprod")

# ---- what the formulas and kernels of reductions share


def axes(dim: Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """The dimensions that are reduced, counted from the front: no dimension means all of them."""
    return wrap_dims(dim, ndim)[:ndim] if dim else tuple(range(ndim))


def unreduced(grad: Any, dim: Sequence[int], ndim: int) -> Any:
    """Puts dimensions of size 1 where a reduction took some away."""
    for place in sorted(axes(dim, ndim)):
        grad = unsqueeze(grad, place)
    return grad


def restored(output: Any, dim: Sequence[int] | None, keepdim: bool, shape: Sequence[int]) -> Any:
    """The same in one view."""
    if keepdim:
        return output
    gone = axes(dim, len(shape))
    return reshape(output, tuple(1 if d in gone else n for d, n in enumerate(shape)))


def as_kind(grad: Any, kind: Any) -> Any:
    """A gradient as the element type of its input, where `dtype=` made another one."""
    dtype = grad.dtype
    if dtype is kind.array_dtype or dtype is kind.dtype or dtype == kind.array_dtype:
        return grad
    return to_copy(grad, kind.dtype, None)


def has_zeros(carrier: Any) -> bool:
    """Is there an element 0? A symbol has no elements."""
    array = array_of(carrier)
    return hasattr(array, "flags") and not bool(array.all())


# ---- sums

operator(
    "sum(Tensor self, *, ScalarType? dtype=None) -> Tensor",
    node="SumBackward0",
    dtype="sum",
    layout="row-major",
    forward=lambda xp, self, dtype: sum_of(xp, self, None, False, dtype),
    self=lambda grad, self_sym_sizes, self_kind: as_kind(
        expand(grad, self_sym_sizes, False), self_kind
    ),
    acts="along",
    zero="cancels",
    jacobian="sum",
    doc="The sum of all elements.",
    corners=("torch.sum(tensor([]))",),
    samples=("x.sum()", "torch.sum(x)", "s.sum()", "i.sum()", "k.sum()",
             "x.sum(dtype=torch.float64)", "d.sum()", "r.sum()", "c.sum()", "torch.zeros(0).sum()"),
    errors=("torch.sum(1.0)", "x.sum('a')"),
)  # fmt: skip


def sum_backward(grad: Any, sizes: Sequence[int], dim: Any, keepdim: bool) -> Any:
    if not keepdim and sizes and dim:
        grad = unreduced(grad, dim, len(sizes))
    return expand(grad, tuple(sizes), False)


sum_dim = operator(
    "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) "
    "-> Tensor",
    node="SumBackward1",
    dtype="sum",
    layout="row-major",
    forward=lambda xp, self, dim, keepdim, dtype: sum_of(
        xp, self, axes(dim, self.ndim), keepdim, dtype
    ),
    self=lambda grad, self_sym_sizes, dim, keepdim, self_kind: as_kind(
        sum_backward(grad, self_sym_sizes, dim, keepdim), self_kind
    ),
    acts="along",
    zero="cancels",
    jacobian="sum",
    doc="The sum over some dimensions.",
    samples=("x.sum(1)", "torch.sum(c, (0, 2))", "x.sum(0, keepdim=True)", "x.sum(dim=-1)",
             "x.sum(dim=None)", "x.sum((0, 1))", "s.sum(0)", "i.sum(1)",
             "x.sum(1, dtype=torch.float64)", "x.t().sum(0)"),
    errors=("x.sum(2)", "x.sum((0, 0))", "x.sum((0, -2))"),
)  # fmt: skip

# ---- means


def _check_mean(self: Any, dtype: Any) -> None:
    kind, word = (self.dtype, "Input") if dtype is None else (dtype, "Optional")
    if kind.category < dtypes.FLOATING:
        raise RuntimeError(
            f"mean(): could not infer output dtype. {word} dtype must be either a floating point "
            f"or complex dtype. Got: {kind.word}"
        )


def shared_out(grad: Any, sizes: Sequence[int], count: int) -> Any:
    """An equal part for each element; of an array, one quotient that is written everywhere."""
    xp = ARRAYS.get(grad.__class__)
    if xp is None or not count:
        return expand(grad, sizes, False) / count
    parts = xp.empty(sizes, grad.dtype)
    parts.fill(grad / count)
    return parts


mean = operator(
    "mean(Tensor self, *, ScalarType? dtype=None) -> Tensor",
    node="MeanBackward0",
    dtype="given",
    check=_check_mean,
    layout="row-major",
    forward=lambda xp, self, dtype: mean_of(xp, self, None, False, dtype),
    self=lambda grad, self_sym_sizes, self_sym_numel, self_kind: as_kind(
        shared_out(grad, self_sym_sizes, self_sym_numel), self_kind
    ),
    acts="along",
    zero="cancels",
    jacobian="mean",
    doc="The mean of all elements.",
    computes="self.sum()/self.numel()",
    corners=("torch.mean(tensor([]))",),
    samples=("x.mean()", "torch.mean(x)", "s.mean()", "i.mean(dtype=torch.float32)",
             "x.mean(dtype=torch.float64)", "d.mean()", "torch.zeros(0).mean()"),
    errors=("i.mean()", "k.mean()", "x.mean(dtype=torch.int64)", "torch.mean(1.0)"),
)  # fmt: skip


def mean_backward(grad: Any, sizes: Sequence[int], dim: Any, numel: int, keepdim: bool) -> Any:
    count = elements_along(sizes, axes(dim, len(sizes))) if dim else numel
    return sum_backward(grad, sizes, dim, keepdim) / count


mean_dim = operator(
    "mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    node="MeanBackward1",
    dtype=lambda self, dim, keepdim, dtype: dtype or self.dtype,
    check=lambda self, dim, keepdim, dtype: _check_mean(self, dtype),
    layout="row-major",
    forward=lambda xp, self, dim, keepdim, dtype: mean_of(
        xp, self, axes(dim, self.ndim), keepdim, dtype
    ),
    self=lambda grad, self_sym_sizes, dim, self_sym_numel, keepdim, self_kind: as_kind(
        mean_backward(grad, self_sym_sizes, dim, self_sym_numel, keepdim), self_kind
    ),
    acts="along",
    zero="cancels",
    jacobian="mean",
    doc="The mean over some dimensions.",
    computes="",
    samples=("x.mean(1)", "torch.mean(c, (0, 1))", "x.mean(0, keepdim=True)", "x.mean(dim=None)",
             "s.mean(-1)", "x.mean(1, dtype=torch.float64)"),
    errors=("i.mean(1)", "x.mean(2)", "x.mean((0, -2))"),
)  # fmt: skip

# ---- products


def _product(xp: Any, self: Any, axis: int | None, keepdim: bool, dtype: Any) -> Any:
    if not self.ndim:
        axis = None
    if dtype is None:
        if self.dtype.kind in "biu":
            return self.prod(axis=axis, keepdims=keepdim, dtype="int64")
        return self.prod(axis=axis, keepdims=keepdim)
    return self.astype(dtype.numpy).prod(axis=axis, keepdims=keepdim)


def in_type_of(self: Any, grad: Any) -> Any:
    """The input in the type in which its product was made."""
    return self if self.dtype == grad.dtype else to_copy(self, _dtype_of(grad), None)


def _dtype_of(grad: Any) -> Any:
    return dtypes.OF_ARRAY[grad.dtype.name] if not hasattr(grad.dtype, "numpy") else grad.dtype


def _safe_product_backward(grad: Any, self: Any, dim: int) -> Any:
    """Products of all the others without division: what stands before times what comes after."""
    length = self.shape[dim]
    if length == 1:
        return grad
    ones = ones_at(grad, tuple(1 if d == dim else n for d, n in enumerate(self.shape)))
    before = cumprod(cat([ones, narrow(self, dim, 0, length - 1, 1)], dim), dim, None)
    rest = flip(narrow(self, dim, 1, length, 1), (dim,))
    after = flip(cumprod(cat([ones, rest], dim), dim, None), (dim,))
    return grad * (before * after)


ones_at = operator(
    "_ones_at(Tensor self, int[] size) -> Tensor",
    where="hidden",
    forward=lambda xp, self, size: xp.ones(tuple(size), dtype=self.dtype),
    doc="Ones of a given shape: the empty product, in front of running ones.",
    samples=("torch.autograd.grad((x * k).prod(), x, create_graph=True)[0]",),
)


def _prod_backward(grad: Any, self: Any, result: Any) -> Any:
    if self.ndim == 0:
        return grad
    if not has_zeros(self):
        return grad * (result / self)
    flat = reshape(self, (-1,))
    return reshape(_safe_product_backward(grad, flat, 0), tuple(self.shape))


def _prod_dim_backward(grad: Any, self: Any, result: Any, dim: int, keepdim: bool) -> Any:
    if self.ndim == 0:
        return grad
    dim = wrap_dim(dim, self.ndim)
    if not keepdim:
        grad, result = unsqueeze(grad, dim), unsqueeze(result, dim)
    if not has_zeros(self):
        return grad * (result / self)
    return _safe_product_backward(grad, self, dim)


prod = operator(
    "prod(Tensor self, *, ScalarType? dtype=None) -> Tensor",
    node="ProdBackward0",
    dtype="sum",
    forward=lambda xp, self, dtype: _product(xp, self, None, False, dtype),
    reduced=Reduced(
        lambda kind, self, dtype: (
            halves.product(kind, self, None, False)
            if dtype is None
            else _product(kind.xp, self, None, False, dtype)
        )
    ),
    self=lambda grad, self, result, self_kind: as_kind(
        _prod_backward(grad, in_type_of(self, grad), result), self_kind
    ),
    acts="along",
    jacobian="product",
    doc="The product of all elements.",
    corners=("tensor([2., 0., 3.]).prod()", "tensor([0., 0., 3.]).prod()"),
    samples=("x.prod()", "torch.prod(x)", "s.prod()", "(x * k).prod()", "i.prod()", "k.prod()",
             "x.prod(dtype=torch.float64)", "torch.zeros(0).prod()", "v[:1].prod()"),
    errors=("torch.prod(1.0)",),
)  # fmt: skip

prod_dim = operator(
    "prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
    node="ProdBackward1",
    dtype="sum",
    layout="row-major",
    forward=lambda xp, self, dim, keepdim, dtype: _product(
        xp, self, wrap_dim(dim, self.ndim), keepdim, dtype
    ),
    reduced=Reduced(
        lambda kind, self, dim, keepdim, dtype: (
            halves.product(kind, self, wrap_dim(dim, self.ndim), keepdim)
            if dtype is None and self.ndim
            else _product(kind.xp, self, wrap_dim(dim, self.ndim), keepdim, dtype)
        )
    ),
    self=lambda grad, self, result, dim, keepdim, self_kind: as_kind(
        _prod_dim_backward(grad, in_type_of(self, grad), result, dim, keepdim), self_kind
    ),
    acts="along",
    jacobian="product",
    doc="The product along one dimension.",
    corners=("tensor([2., 0., 3.]).prod(0)",),
    samples=("x.prod(1)", "torch.prod(x, 0, True)", "(x * k).prod(1)", "s.prod(0)", "i.prod(1)",
             "x.prod(-1, dtype=torch.float64)"),
    errors=("x.prod(2)",),
)  # fmt: skip

# ---- NaN left out


def _nansum(xp: Any, self: Any, dim: Any, keepdim: bool, dtype: Any) -> Any:
    if self.dtype.kind == "f":
        self = xp.where(self != self, self.dtype.type(0), self)
    return sum_of(xp, self, axes(dim, self.ndim), keepdim, dtype)


nansum = operator(
    "nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) "
    "-> Tensor",
    node="NansumBackward0",
    dtype="sum",
    layout="row-major",
    refuse=real_by_rule("nansum on CPU does not support complex inputs"),
    forward=_nansum,
    self=lambda grad, self, dim, keepdim, self_kind: (
        sum_backward(as_kind(grad, self_kind), tuple(self.shape), dim, keepdim) * (self == self)
    ),
    acts="along",
    doc="The sum of the elements that are not NaN.",
    computes="where(isnan(self), 0, self).sum()",
    corners=("tensor([1., math.nan]).nansum()",),
    samples=("x.nansum()", "torch.nansum(x, 1)", "x.log().nansum(0, keepdim=True)", "i.nansum()"),
)


def _nanmean(self: Any, dim: Any, keepdim: bool, dtype: Any) -> Any:
    if self.dtype.category < dtypes.FLOATING:
        raise RuntimeError(
            "nanmean(): expected input to have floating point or complex dtype but got "
            + self.dtype.word
        )
    there = self.detach() == self.detach()
    return nansum.run(self, dim, keepdim, dtype) / sum_dim.run(there, dim, keepdim, None)


nanmean = composite(
    "nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) "
    "-> Tensor",
    _nanmean,
    doc="The mean of the elements that are not NaN.",
    computes="nansum(self)/(self == self).sum()",
    corners=("tensor([1., math.nan]).nanmean()",),
    samples=("x.nanmean()", "torch.nanmean(x, 1)", "x.log().nanmean(0)"),
    errors=("i.nanmean()",),
)

# ---- logsumexp


def _logsumexp(xp: Any, self: Any, dim: Sequence[int], keepdim: bool) -> Any:
    axis = axes(dim, self.ndim)
    if not self.size:
        with_zero = xp.exp(self).sum(axis=axis, keepdims=keepdim)
        return xp.log(with_zero)
    high = self.real.max(axis=axis, keepdims=True)
    high = xp.where(xp.isinf(high), high.dtype.type(0), high)
    total = precise(xp.exp, self - high).sum(axis=axis, keepdims=True)
    result = precise(xp.log, xp.asarray(total)) + high
    shape = [n for d, n in enumerate(self.shape) if d not in axis]
    return result if keepdim else result.reshape(shape)


def _logsumexp_backward(grad: Any, self: Any, result: Any, dim: Any, keepdim: bool) -> Any:
    if not keepdim and self.ndim:
        grad, result = unreduced(grad, dim, self.ndim), unreduced(result, dim, self.ndim)
    return grad * exp(self - result)


logsumexp = operator(
    "logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
    node="LogsumexpBackward0",
    where="torch method special",
    dtype="promote_float",
    layout="row-major",
    forward=_logsumexp,
    reduced=Reduced(
        lambda kind, self, dim, keepdim: halves.log_sum_exp(
            kind, self, axes(dim, self.ndim), keepdim
        )
    ),
    self=lambda grad, self, result, dim, keepdim: _logsumexp_backward(
        grad, self, result, dim, keepdim
    ),
    acts="along",
    zero="cancels",
    jacobian="log-sum-exp",
    doc="Log-sum-exp: the logarithm of the sum of exponentials.",
    computes="log(exp(self).sum(dim, keepdim))",
    corners=("tensor([-math.inf, -math.inf]).logsumexp(0)",),
    samples=("x.logsumexp(1)", "torch.logsumexp(c, (0, 2))", "x.logsumexp(0, keepdim=True)",
             "s.logsumexp(0)", "i.logsumexp(1)", "torch.special.logsumexp(x, 1)"),
    errors=("x.logsumexp()", "x.logsumexp(3)"),
)  # fmt: skip

# ---- tests of all elements


def _truth(self: Any, *rest: Any) -> Any:
    return dtypes.uint8 if self.dtype.name == "uint8" else dtypes.bool_


for _name, _word in (("all", "Are all elements"), ("any", "Is any element")):
    operator(
        f"{_name}(Tensor self) -> Tensor",
        dtype=_truth,
        forward=lambda xp, self, _name=_name: xp.asarray(getattr(xp, _name)(self)),
        acts="along",
        doc=f"{_word} different from zero?",
        samples=(
            f"k.{_name}()",
            f"torch.{_name}(x)",
            f"i.{_name}()",
            f"i.to(torch.uint8).{_name}()",
        ),
    )
    operator(
        f"{_name}.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
        dtype=_truth,
        layout="row-major",
        forward=lambda xp, self, dim, keepdim, _name=_name: xp.asarray(
            getattr(xp, _name)(self, axis=axes((dim,), self.ndim), keepdims=keepdim)
        ),
        acts="along",
        doc=f"{_word} along one dimension different from zero?",
        samples=(f"k.{_name}(1)", f"torch.{_name}(x, 0, True)", f"(s > 0).{_name}(0)"),
        errors=(f"k.{_name}(2)",),
    )
    operator(
        f"{_name}.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
        dtype=_truth,
        layout="row-major",
        forward=lambda xp, self, dim, keepdim, _name=_name: xp.asarray(
            getattr(xp, _name)(
                self, axis=() if dim == () else axes(dim, self.ndim), keepdims=keepdim
            )
        ),
        acts="along",
        doc=f"{_word} over some dimensions different from zero?",
        samples=(
            f"k.{_name}((0, 1))",
            f"torch.{_name}(c > 0, dim=(0, 2), keepdim=True)",
            f"k.{_name}(dim=())",
        ),
        errors=(f"k.{_name}((0, 0))",),
    )

count_nonzero = operator(
    "count_nonzero(Tensor self, int? dim=None) -> Tensor",
    dtype="int64",
    layout="row-major",
    forward=lambda xp, self, dim: xp.asarray(
        (self != 0).sum(axis=axes(None if dim is None else (dim,), self.ndim), dtype="int64")
    ),
    acts="along",
    doc="The number of elements that are not zero.",
    computes="(self != 0).sum()",
    samples=("k.count_nonzero()", "torch.count_nonzero(x, 1)", "i.count_nonzero(dim=0)"),
    errors=("x.count_nonzero(2)",),
)

operator(
    "count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor",
    dtype="int64",
    layout="row-major",
    forward=lambda xp, self, dim: xp.asarray(
        (self != 0).sum(axis=axes(dim, self.ndim), dtype="int64")
    ),
    acts="along",
    doc="The number of elements that are not zero, over some dimensions.",
    samples=("k.count_nonzero((0, 1))", "torch.count_nonzero(c > 0, (0, 2))"),
)
