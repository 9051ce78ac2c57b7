"""Operators: running sums, products and extremes."""

from __future__ import annotations

from typing import Any

from ...engine.schema import dtypes
from ...engine.schema.operator import catalogue, composite, operator
from ..conventions import COMPLEX, INTEGERS, Late, unimplemented, wrap_dim
from ..elementwise.bounds import added_exponentials
from ..elementwise.complex_parts import is_complex
from ..shape.constants import number_as, zeros_of
from ..shape.select import select, slice_
from ..shape.shape import expand
from .reduce import as_kind, has_zeros, prod_dim
from .sums import sum_dims

exp, log, absolute = Late("exp"), Late("log"), Late("abs")
flip = Late("flip")
cat = Late("cat")
where = Late("where.self")
scatter_add = Late("scatter_add")

# ---- sums


def _accumulated(xp: Any, self: Any, dim: int, dtype: Any, how: str) -> Any:
    """numpy's accumulation in the type asked for; integers add up as int64."""
    if dtype is not None:
        self = self.astype(dtype.numpy)
    elif self.dtype.kind in "biu":
        self = self.astype("int64")
    if not self.ndim:
        return self.copy()
    if self.dtype.char == "f":
        return getattr(xp, how).accumulate(self, axis=dim, dtype="float64").astype("float32")
    return getattr(xp, how).accumulate(self, axis=dim, dtype=self.dtype)


def _moves(carrier: Any, dim: int) -> bool:
    """Is there anything to accumulate along the dimension?"""
    numel = 1
    for length in carrier.shape:
        numel *= length
    return numel > 1 and carrier.shape[wrap_dim(dim, carrier.ndim)] > 1


def _reversed_cumsum(grad: Any, dim: int) -> Any:
    return flip(cumsum(flip(grad, (dim,)), dim, None), (dim,))


cumsum = operator(
    "cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
    node="CumsumBackward0",
    inplace="cumsum_",
    dtype="sum",
    check=lambda self, dim, dtype: _in_range(self, dim),
    layout="row-major",
    forward=lambda xp, self, dim, dtype: _accumulated(xp, self, dim, dtype, "add"),
    self=lambda grad, dim, self_kind: _cumsum_backward(as_kind(grad, self_kind), dim),
    acts="along",
    zero="cancels",
    jacobian="triangle of ones",
    doc="Cumulative sum along a dimension.",
    samples=("x.cumsum(1)", "torch.cumsum(x, 0)", "x.cumsum(dim=-1)", "s.cumsum(0)", "i.cumsum(1)",
             "z.cumsum(0)", "x.cumprod(1, dtype=torch.float64)"),
    errors=("x.cumsum(2)", "x.cumsum()", "torch.cumsum(1.0, 0)"),
)  # fmt: skip


def _in_range(self: Any, dim: int) -> None:
    wrap_dim(dim, self.ndim)


def _cumsum_backward(grad: Any, dim: int) -> Any:
    return _reversed_cumsum(grad, dim) if _moves(grad, dim) else grad


# ---- products


def _cumprod_backward(grad: Any, self: Any, dim: int, result: Any) -> Any:
    if not _moves(self, dim):
        return grad
    dim = wrap_dim(dim, self.ndim)
    if not has_zeros(self):
        return _reversed_cumsum(result * grad, dim) / self
    if not hasattr(grad, "grad_fn"):
        return cumprod_through_zeros(grad, self, result, dim)
    slopes = zeros_of(self, tuple(self.shape))
    length = self.shape[dim]
    for at in range(length):
        select.run(slopes, dim, at).copy_(_product_slope(grad, self, dim, at, length))
    return slopes


def _product_slope(grad: Any, self: Any, dim: int, at: int, length: int) -> Any:
    """The slope of one element: the products that it is part of, without it."""
    later = slice_(self, dim, at + 1, length, 1)
    if at:
        before = prod_dim(slice_(self, dim, 0, at, 1), dim, True, None)
        if at == length - 1:
            others = before
        else:
            rest = cumprod(later, dim, None)
            others = cat([before, expand(before, tuple(rest.shape), False) * rest], dim)
    else:
        one = number_as(self, 1)
        size = tuple(1 if d == dim else n for d, n in enumerate(self.shape))
        others = cat([expand(one, size, False), cumprod(later, dim, None)], dim)
    return sum_dims(slice_(grad, dim, at, length, 1) * others, (dim,), False)


def _through_zeros(xp: Any, grad: Any, self: Any, result: Any, dim: int) -> Any:
    """The same in one pass: plain up to the first zero, then its own slope, then nothing."""
    zeros = xp.cumsum(self == 0, axis=dim)
    first = (self == 0) & (zeros == 1)
    filled = xp.where(first, self.dtype.type(1), self)

    def behind(values: Any) -> Any:
        return xp.flip(xp.cumsum(xp.flip(values, dim), axis=dim), dim)

    plain = behind(grad * result) / filled
    at_first = behind(xp.where(zeros >= 1, grad * xp.cumprod(filled, axis=dim), 0))
    slope = xp.where(first, at_first, xp.where(zeros == 0, plain, 0))
    return slope.astype(self.dtype)


cumprod_through_zeros = operator(
    "_cumprod_through_zeros(Tensor grad, Tensor self, Tensor result, int dim) -> Tensor",
    where="hidden",
    forward=_through_zeros,
    doc="The slope of running products where an element is 0.",
    samples=("(x * k).cumprod(1)",),
)

cumprod = operator(
    "cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
    node="CumprodBackward0",
    inplace="cumprod_",
    dtype="sum",
    check=lambda self, dim, dtype: _in_range(self, dim),
    layout="row-major",
    forward=lambda xp, self, dim, dtype: _accumulated(xp, self, dim, dtype, "multiply"),
    self=lambda grad, self, dim, result, self_kind: as_kind(
        _cumprod_backward(as_kind(grad, self_kind), self, dim, result), self_kind
    ),
    acts="along",
    jacobian="triangle",
    doc="Cumulative product along a dimension.",
    corners=("tensor([2., 0., 3.]).cumprod(0)",),
    samples=("x.cumprod(1)", "torch.cumprod(x, 0)", "(x * k).cumprod(1)", "s.cumprod(0)",
             "i.cumprod(1)", "k.cumsum(1)", "x.cumsum(1, dtype=torch.float64)",
             "(c * 0).cumprod(-1)", "(r * (r > 0)).cumprod(0)"),
    errors=("x.cumprod(2)",),
)  # fmt: skip

# ---- extremes


def _in_reach(self: Any, dim: int, name: str) -> None:
    if not self.ndim and dim not in (-1, 0):
        message = f"{name}(): Expected reduction dim -1 or 0 for scalar but got {dim}"
        raise IndexError(message)
    wrap_dim(dim, self.ndim)


def _running(xp: Any, self: Any, dim: int, how: str) -> Any:
    """Running extremes and where they were met last; NaN is above all."""
    if not self.ndim:
        return self.copy(), xp.zeros((), dtype="int64")
    dim = wrap_dim(dim, self.ndim)
    values = getattr(xp, how).accumulate(self, axis=dim)
    shape = [1] * self.ndim
    shape[dim] = self.shape[dim]
    places = xp.arange(self.shape[dim]).reshape(shape)
    met = (self == values) | (self != self)
    indices = xp.maximum.accumulate(xp.where(met, places, 0), axis=dim)
    return values, indices


for _name, _node, _how, _tie in (
    ("cummax", "Cummax", "maximum", "tensor([3., 3., 1.])"),
    ("cummin", "Cummin", "minimum", "tensor([1., 1., 3.])"),
):
    operator(
        f"{_name}(Tensor self, int dim) -> (Tensor values, Tensor indices)",
        node=f"{_node}Backward0",
        outputs_named=_name,
        check=lambda self, dim, _name=_name: _in_reach(self, dim, _name),
        refuse=unimplemented(f"{_name}_cpu", *COMPLEX),
        layout="row-major",
        forward=lambda xp, self, dim, _how=_how: _running(xp, self, dim, _how),
        self=lambda grads, self, indices, dim: _cummaxmin_backward(grads[0], self, indices, dim),
        acts="selects",
        doc=f"Cumulative (running) {_how} along a dimension, and its index.",
        corners=(f"{_tie}.{_name}(0)",),
        samples=(
            f"x.{_name}(1)",
            f"torch.{_name}(x, 0)",
            f"i.{_name}(1)",
            f"s.{_name}(0)",
            f"k.{_name}(0)",
        ),
        errors=(f"x.{_name}(2)", f"s.{_name}(1)", f"torch.{_name}(s, -2)"),
    )


def _cummaxmin_backward(grad: Any, self: Any, indices: Any, dim: int) -> Any:
    return scatter_add(zeros_of(grad, tuple(self.shape)), dim, indices, grad)


# ---- logcumsumexp

LOWEST = {
    "float16": -65504.0,
    "bfloat16": -3.3895313892515355e38,
    "float32": -3.4028234663852886e38,
    "float64": -1.7976931348623157e308,
}


def _logcumsumexp(xp: Any, self: Any, dim: int) -> Any:
    if not self.ndim:
        return self.copy()
    if self.dtype.kind == "c":
        lines = xp.moveaxis(self.astype("complex128"), dim, 0).copy()
        for place in range(1, len(lines)):
            lines[place] = added_exponentials(xp, lines[place], lines[place - 1])
        return xp.moveaxis(lines, 0, dim).astype(self.dtype)
    wide = self.astype("float64")
    result = xp.logaddexp.accumulate(wide, axis=dim) + 0.0  # added to nothing, -0 is 0
    return result.astype(self.dtype)


def _logcumsumexp_backward(grad: Any, self: Any, result: Any, dim: int) -> Any:
    if not self.ndim:
        return grad
    if is_complex(grad):
        running = logcumsumexp(flip(log(grad) - result, (dim,)), dim)
        return exp(flip(running, (dim,)) + self)
    size = log(absolute(grad))
    lowest = number_as(grad, LOWEST[str(grad.dtype).rpartition(".")[2]])

    def behind(values: Any) -> Any:
        running = logcumsumexp(flip(values - result, (dim,)), dim)
        return exp(flip(running, (dim,)) + self)

    return behind(where(grad > 0, size, lowest)) - behind(where(grad < 0, size, lowest))


logcumsumexp = operator(
    "logcumsumexp(Tensor self, int dim) -> Tensor",
    node="LogcumsumexpBackward0",
    check=_in_range,
    refuse={
        word: f"\"logcumsumexp_out_cpu\" not implemented for '{word}'"
        for word in (*INTEGERS, "Bool")
    },
    layout="row-major",
    forward=_logcumsumexp,
    self=lambda grad, self, result, dim: _logcumsumexp_backward(grad, self, result, dim),
    acts="along",
    doc="The logarithm of the cumulative sum of exponentials.",
    computes="log(exp(self).cumsum(dim))",
    corners=("tensor([-math.inf, -math.inf]).logcumsumexp(0)",),
    samples=("x.logcumsumexp(1)", "torch.logcumsumexp(x, 0)", "s.logcumsumexp(0)"),
    errors=("i.logcumsumexp(1)", "x.logcumsumexp(2)"),
)

# ---- matrices of powers


def _vander(x: Any, N: int | None, increasing: bool) -> Any:
    if x.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    columns = x.shape[0] if N is None else N
    if columns < 0:
        raise RuntimeError("N must be non-negative.")
    kind = x.dtype if x.dtype.category >= dtypes.FLOATING else dtypes.int64
    result = x.new_empty((x.shape[0], columns), dtype=kind)
    part = catalogue.row("slice.Tensor").run
    if columns > 0:
        result.select(1, 0).fill_(1)
    if columns > 1:
        part(result, 1, 1, None, 1).copy_(x.unsqueeze(1))
        part(result, 1, 1, None, 1).copy_(part(result, 1, 1, None, 1).cumprod(1))
    return result if increasing else result.flip((1,))


composite(
    "vander.torch(Tensor x, int? N=None, bool increasing=False) -> Tensor",
    _vander,
    where="torch",
    doc="A row of powers for each element of a vector, the highest first.",
    samples=(
        "torch.vander(v)",
        "torch.vander(v, N=2)",
        "torch.vander(v, 4, increasing=True)",
        "torch.vander(j)",
        "torch.vander(v, 0)",
    ),
    errors=("torch.vander(x)", "torch.vander(v, -1)", "torch.vander(1.0)"),
)
