"""Operators: arithmetic of sparse tensors, and functions of their elements that leave 0 at 0."""

from __future__ import annotations

from typing import Any

from ...engine.schema.carriers import Body
from ...engine.schema.mode import state
from ...engine.schema.operator import catalogue
from ...numerics.rounding import multiply_add
from ...numerics.thresholds import UPDATED
from ..elementwise import circular, exponential, hyperbolic, rounding
from ..elementwise.activation import relu, threshold_backward
from ..elementwise.arithmetic import abs_, add, mul, neg, sub
from ..elementwise.power import pow_scalar, sqrt
from ..elementwise.quotient import div
from ..index.adding import add_scaled_rows
from .convert import looked_up
from .forms import at, coordinates, is_sparse, placed_like, sparse_form

# ---- sums


def _added(xp: Any, self: Any, other: Any, alpha: Any) -> Any:
    if not is_sparse(other):
        raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
    if not is_sparse(self):
        return _into_dense(xp, self, other, alpha)
    if self.shape != other.shape:
        raise RuntimeError(
            f"add: expected sizes of 'self' and 'other' to match, but {list(self.shape)} != "
            f"{list(other.shape)}"
        )
    first, second = self.coordinates(), other.coordinates()
    if first.sparse_dim != second.sparse_dim:
        raise RuntimeError(
            "add: expected 'self' and 'other' to have same number of sparse dimensions, but got "
            f"{first.sparse_dim} and {second.sparse_dim}"
        )
    return placed_like(self, _merged(xp, first, second, alpha))


def _into_dense(xp: Any, self: Any, other: Any, alpha: Any) -> Any:
    shape = getattr(self, "shape", ())
    if shape != other.shape:
        raise RuntimeError(
            "add: expected 'self' and 'other' to have same size, but self has size "
            f"{list(shape)} while other has size {list(other.shape)} (FYI: dense-sparse addition "
            "does not currently support broadcasting)"
        )
    held, out = other.coordinates(), xp.array(self, order="C")
    if held.dense_dim:
        table = out.reshape((-1, *held.shape[held.sparse_dim :]))
        factors = xp.full((held.nnz, *(1,) * held.dense_dim), alpha, dtype=held.dtype)
        add_scaled_rows(xp, table, held.places(), held.values, factors)
    else:
        values = held.values if alpha == 1 else held.values * alpha
        xp.add.at(out, tuple(held.indices), values)
    return out


def _merged(xp: Any, first: Any, second: Any, alpha: Any) -> Any:
    """Sorted coordinates as one, as PyTorch merges them: it takes contiguous elements for sorted,
    and lists others one behind the other."""
    values = second.values if alpha == 1 else second.values * alpha
    whole = first.values.flags.c_contiguous and second.values.flags.c_contiguous
    both = first.is_coalesced and second.is_coalesced
    if whole and xp.array_equal(first.indices, second.indices):
        return first.with_values(_plus(first.values, second.values, alpha), both)
    joined = xp.concatenate([first.indices, second.indices], axis=1)
    together = xp.concatenate([first.values, values])
    if not whole:
        return coordinates(joined, together, first.shape)
    if both:
        order, places, pairs = _sorted(xp, first, second, joined)
    else:
        state.charge(first.nnz + second.nnz)
        order, places, pairs = _turns(first.indices.T.tolist(), second.indices.T.tolist())
    out = together[order]
    if len(places):
        out[places] = _plus(out[places], second.values[pairs], alpha)
    return coordinates(joined[:, order], out, first.shape, both)


def _plus(values: Any, others: Any, alpha: Any) -> Any:
    return values + others if alpha == 1 else multiply_add(others, alpha, values, UPDATED)


def _sorted(xp: Any, first: Any, second: Any, joined: Any) -> tuple[Any, Any, Any]:
    """The row-major order of sorted columns, where two of them meet, and which of the second."""
    order = xp.lexsort(joined[::-1])
    columns = joined[:, order]
    again = xp.zeros(len(order), dtype=bool)
    again[1:] = (columns[:, 1:] == columns[:, :-1]).all(axis=0)
    places = xp.cumsum(~again) - 1
    return order[~again], places[again], order[again] - first.nnz


def _turns(first: list[Any], second: list[Any]) -> tuple[list[int], list[int], list[int]]:
    """The same of columns that may not be sorted: what a merge makes of them."""
    order: list[int] = []
    places: list[int] = []
    pairs: list[int] = []
    i = j = 0
    while i < len(first) or j < len(second):
        if j >= len(second) or (i < len(first) and first[i] < second[j]):
            order.append(i)
            i += 1
        elif i >= len(first) or second[j] < first[i]:
            order.append(len(first) + j)
            j += 1
        else:
            places.append(len(order))
            pairs.append(j)
            order.append(i)
            i, j = i + 1, j + 1
    return order, places, pairs


sparse_form(
    add,
    _added,
    samples=("(x.to_sparse() + y.to_sparse()).to_dense()", "x + y.to_sparse()"),
    errors=("x.to_sparse() + y",),
)
sparse_form(
    sub,
    lambda xp, self, other, alpha: _added(xp, self, other, -alpha),
    samples=("(x.to_sparse() - y.to_sparse()).to_dense()", "x - y.to_sparse()"),
)
sparse_form(
    catalogue.row("rsub.Scalar"),
    lambda xp, self, other, alpha: _added(xp, other, self, -alpha),
    samples=("torch.zeros(2, 3) - x.to_sparse()",),
    errors=("1 - x.to_sparse()",),
)
sparse_form(
    neg,
    lambda xp, self: self.with_values(-self.values),
    samples=("(-x.to_sparse()).to_dense()",),
)

# ---- products


def _product(xp: Any, self: Any, other: Any) -> Any:
    if is_sparse(self) and is_sparse(other):
        if self.shape != other.shape:
            raise RuntimeError(
                "sparse_binary_op_intersection_cpu(): expects sparse inputs with equal "
                "dimensionality, number of sparse dimensions, and shape of sparse dimensions"
            )
        first, second = self.coordinates(), other.coordinates()
        return placed_like(self, _common(xp, first, second))
    one, factor = (self, other) if is_sparse(self) else (other, self)
    if getattr(factor, "ndim", False):
        held = one.coordinates()
        shown = _broadcast(xp, factor, one.shape)
        return one.with_values(held.values * at(shown, held))
    return one.with_values(one.values * factor)


def _broadcast(xp: Any, array: Any, shape: tuple[int, ...]) -> Any:
    try:
        return xp.broadcast_to(array, shape)
    except ValueError:
        from ...engine.tensors.promotion import broadcast_message

        raise RuntimeError(broadcast_message(array.shape, shape)) from None


def _common(xp: Any, first: Any, second: Any) -> Any:
    """At the places of both, in the order of that one which PyTorch goes over."""
    known, source = first, second
    if first.is_coalesced != second.is_coalesced:
        known, source = (first, second) if first.is_coalesced else (second, first)
    elif first.nnz < second.nnz:
        known, source = second, first
    known = known.coalesced()
    values, hit = looked_up(xp, known, source)
    return coordinates(
        source.indices[:, hit], source.values[hit] * values[hit], first.shape, source.is_coalesced
    )


def _quotient(xp: Any, self: Any, other: Any) -> Any:
    if is_sparse(other) or getattr(other, "ndim", False):
        raise RuntimeError(
            "Sparse division requires a scalar or zero-dim dense tensor divisor (got shape "
            f"{list(other.shape)} for divisor)"
        )
    return self.with_values(self.values / other)


sparse_form(
    mul,
    _product,
    samples=(
        "(x.to_sparse() * y.to_sparse()).to_dense()", "(x.to_sparse() * y).to_dense()",
        "(2 * x.to_sparse()).to_dense()",
    ),
)  # fmt: skip
sparse_form(
    div,
    _quotient,
    samples=("(x.to_sparse() / 2).to_dense()",),
    errors=("x.to_sparse() / y.to_sparse()",),
)

# ---- functions


def _of_elements(function: Body) -> Body:
    """A function of each element, which is there once."""

    def forward(xp: Any, self: Any, *more: Any) -> Any:
        held = self.coalesced() if self.layout == "sparse_coo" else self
        return held.with_values(function(xp, held.values, *more))

    return forward


def _power(xp: Any, self: Any, exponent: Any) -> Any:
    if not exponent:
        raise RuntimeError(
            "pow: cannot raise to zeroth power on sparse tensor; it would make the result tensor "
            "dense"
        )
    return _of_elements(pow_scalar.forward)(xp, self, exponent)


def _thresholded(xp: Any, grad_output: Any, self: Any, threshold: Any) -> Any:
    held = self.coordinates().coalesced()
    if is_sparse(grad_output):
        grads, _ = looked_up(xp, grad_output.coordinates().coalesced(), held)
    else:
        grads = at(grad_output, held)
    return placed_like(self, held.with_values(xp.where(held.values > threshold, grads, 0)))


for _row in (
    abs_, relu, sqrt, circular.sin, circular.tan, circular.asin, circular.atan,
    hyperbolic.sinh, hyperbolic.tanh, hyperbolic.asinh, hyperbolic.atanh,
    exponential.log1p, exponential.expm1,
    rounding.floor, rounding.ceil, rounding.trunc, rounding.sign, rounding.sgn,
):  # fmt: skip
    sparse_form(
        _row,
        _of_elements(_row.forward),
        samples=(f"x.detach().to_sparse().{_row.name}().to_dense()",),
    )
sparse_form(
    pow_scalar,
    _power,
    samples=("(x.to_sparse() ** 2).to_dense()",),
    errors=("x.to_sparse() ** 0",),
)
sparse_form(
    threshold_backward,
    _thresholded,
    samples=("torch.autograd.grad(x.to_sparse().relu().to_dense().sum(), x)[0]",),
)
