"""Operators: norms of vectors and matrices, and the distance of two tensors."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isinf, prod
from typing import Any

from ...engine.schema import dtypes
from ...engine.schema.operator import Domain, catalogue, composite, operator
from ...numerics.rounding import precise
from ...numerics.summation import squares_of, sum_of, sum_one_by_one
from ..conventions import Late, wrap_dim
from ..elementwise.arithmetic import ONE_BOOL, TWO_BOOLS
from ..elementwise.complex_parts import is_complex
from ..geometry import broadcast_sizes, sizes_text
from ..linalg.inverse import floating
from ..shape.cast import alike
from .reduce import as_kind, axes, unreduced
from .sums import sum_dims, sum_to

masked_fill = Late("masked_fill.Scalar")
absolute = Late("abs")
sgn = Late("sgn")
amax, amin = Late("amax"), Late("amin")

# ---- vectors


def _length(xp: Any, self: Any, order: float, axis: Any, keepdim: bool) -> Any:
    """The p-norm of floating numbers over axes."""
    size = xp.abs(self)
    if isinf(order):
        return (size.max if order > 0 else size.min)(axis=axis, keepdims=keepdim)
    if order == 0:
        return sum_of(xp, (self != 0).astype(size.dtype), axis, keepdim, None)
    if order == 1:
        return sum_one_by_one(xp, size, axis, keepdim)
    if order == 2:
        return xp.sqrt(squares_of(xp, size, axis, keepdim))
    powers = precise(xp.power, size, size.dtype.type(order))
    total = xp.asarray(sum_one_by_one(xp, powers, axis, keepdim))
    return precise(xp.power, total, size.dtype.type(1 / order))


def _vector_norm(xp: Any, self: Any, ord: Any, dim: Any, keepdim: bool, dtype: Any) -> Any:
    if dtype is not None:
        self = self.astype(dtype.numpy)
    order, axis = float(ord), axes(dim, self.ndim)
    if order and prod([self.shape[place] for place in axis]) == 1:
        order = inf  # PyTorch takes the size of a single number, without a power and its root
    return _length(xp, self, order, axis, keepdim)


def _check_vector(self: Any, ord: Any, dim: Any, keepdim: bool, dtype: Any) -> None:
    if self.dtype.category < dtypes.FLOATING:
        raise RuntimeError(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
            + self.dtype.word
        )
    if dtype is not None:
        _check_norm_dtype(self.dtype, dtype)
    order = float(ord)
    if order < 0 or order == inf:
        _check_empty(self, ord, axes(dim, self.ndim))


def _check_norm_dtype(mine: Any, dtype: Any) -> None:
    if dtype.category < dtypes.FLOATING:
        raise RuntimeError(
            "linalg.vector_norm: dtype should be floating point or complex, but got " + dtype.word
        )
    if dtype.itemsize < mine.itemsize:
        raise RuntimeError(
            f"linalg.vector_norm: the dtype of the input ({mine.word}) should be convertible "
            f"without narrowing to the specified dtype ({dtype.word})"
        )


def _check_empty(self: Any, ord: Any, dims: Sequence[int]) -> None:
    if self.numel():
        return
    order = "inf" if ord == inf else "-inf" if ord == -inf else f"{float(ord):g}"
    if len(dims) == self.ndim:
        raise RuntimeError(
            f"linalg.vector_norm cannot compute the {order} norm on an empty tensor because the "
            "operation does not have an identity"
        )
    for dim in dims:
        if self.shape[dim] == 0:
            raise RuntimeError(
                f"linalg.vector_norm cannot compute the {order} norm on the dimension {dim}"
                "because this dimension is empty and the operation does not have an identity"
            )


def norm_backward(grad: Any, self: Any, order: float, result: Any, dim: Any, keepdim: bool) -> Any:
    """The slope of a p-norm; 0 where the norm is."""
    if not keepdim and self.ndim and dim:
        grad, result = unreduced(grad, dim, self.ndim), unreduced(result, dim, self.ndim)
    if order == 0:
        return None
    if order == 1:
        return sgn(self) * grad
    if order == 2:
        return grad * masked_fill(self / result, result == 0, 0)
    if isinf(order):
        return _extreme_backward(grad, self, result, dim)
    if order < 1:
        steep = masked_fill(absolute(self) ** (order - 1), self == 0, 0)
        return sgn(self) * steep * grad * result ** (1 - order)
    if order < 2:
        scaled = sgn(self) * absolute(self) ** (order - 1)
    else:
        scaled = self * absolute(self) ** (order - 2)
    return scaled * masked_fill(grad / result ** (order - 1), result == 0, 0)


def _extreme_backward(grad: Any, self: Any, result: Any, dim: Any) -> Any:
    """The gradient goes in equal shares to the elements whose size is the norm."""
    mask = extreme_weights(self, result)
    share = grad / sum_dims(mask, axes(dim, self.ndim), True)
    return sgn(self) * (share * mask)


extreme_weights = operator(
    "_extreme_weights(Tensor self, Tensor value) -> Tensor",
    where="hidden",
    dtype=lambda self, value: value.dtype,
    forward=lambda xp, self, value: ((xp.abs(self) == value) | (self != self)).astype(value.dtype),
    doc="1 where an element has the size of the norm, or is NaN.",
    samples=("torch.autograd.grad(x.norm(math.inf), x, create_graph=True)[0]",),
)

vector_norm = operator(
    "vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor",
    node="LinalgVectorNormBackward0",
    where="linalg",
    dtype=lambda self, ord, dim, keepdim, dtype: dtypes.real_of(dtype or self.dtype),
    holomorphic=False,
    check=_check_vector,
    layout="row-major",
    forward=_vector_norm,
    self=lambda grad, self, ord, result, dim, keepdim, self_kind: _vector_norm_backward(
        grad, self, ord, result, dim, keepdim, self_kind
    ),
    acts="along",
    domain=Domain(nonzero=True),
    jacobian="norm",
    doc="The p-norm of the elements, over some dimensions or all.",
    computes="(abs(self)**ord).sum(dim, keepdim)**(1/ord)",
    corners=(
        "torch.linalg.vector_norm(tensor([0., 0.]))",
        "torch.linalg.vector_norm(tensor([0., 0.]), 1)",
        "torch.linalg.vector_norm(tensor([3., -3.]), math.inf)",
    ),
    samples=("torch.linalg.vector_norm(x)", "torch.linalg.vector_norm(x, 3, 1)",
             "torch.linalg.vector_norm(x, 0)", "torch.linalg.vector_norm(x, math.inf, (0, 1))",
             "torch.linalg.vector_norm(x, dtype=torch.float64)",
             "torch.linalg.vector_norm(c, 1.5, (0, 2), True)",
             "torch.linalg.vector_norm(torch.complex(x, y))",
             "torch.linalg.vector_norm(torch.complex(x, y), 3, 1)",
             "torch.linalg.vector_norm(torch.complex(x, y), 0)",
             "torch.linalg.vector_norm(torch.complex(x, y), math.inf)",
             "torch.linalg.vector_norm(torch.complex(x, y), 1, 0)",
             "torch.linalg.vector_norm(torch.complex(x, y), 0.5)"),
    errors=("torch.linalg.vector_norm(i)", "torch.linalg.vector_norm(torch.zeros(0), math.inf)",
            "torch.linalg.vector_norm(x, dtype=torch.float16)",
            "torch.linalg.vector_norm(x, dim=3)", "torch.linalg.vector_norm(x, dtype=torch.int32)",
            "torch.linalg.vector_norm(torch.zeros(2, 0), math.inf, 1)"),
)  # fmt: skip


def _vector_norm_backward(
    grad: Any, self: Any, ord: Any, result: Any, dim: Any, keepdim: bool, kind: Any
) -> Any:
    slope = norm_backward(grad, self, float(ord), result, dim, keepdim)
    return None if slope is None else as_kind(slope, kind)


def _norm(self: Any, p: Any, dim: Any, keepdim: bool, dtype: Any) -> Any:
    if isinstance(p, str):
        if p == "fro" and (dim is None or len(dim) <= 2):
            return vector_norm.run(self, 2, dim, keepdim, dtype)
        dims = tuple(range(self.ndim)) if dim is None else dim
        return _matrix_norm(self, p, dims, keepdim, dtype)
    return vector_norm.run(self, 2.0 if p is None else p, dim, keepdim, dtype)


norm = composite(
    "norm(Tensor self, any p='fro', int[1]? dim=None, bool keepdim=False, "
    "ScalarType? dtype=None) -> Tensor",
    _norm,
    domain=Domain(nonzero=True),
    doc="The p-norm of the elements; 'fro' is the root of the sum of squares.",
    corners=(
        "tensor([0., 0.]).norm()",
        "tensor([0., 0.]).norm(1)",
        "tensor([3., -3.]).norm(math.inf)",
        "tensor([0., 2.]).norm(0)",
    ),
    samples=("x.norm()", "torch.norm(x, dim=1)", "x.norm(p=1, dim=1)", "x.norm(3, 1)",
             "x.norm(1.5)", "x.norm(0.5)", "x.norm(math.inf)", "x.norm(-math.inf, 1)", "x.norm(0)",
             "torch.norm(x, 2, 0, True)", "s.norm()", "torch.norm(c, 'fro', (0, 1))",
             "x.norm(2, 0, True, torch.float64)", "d.norm()", "v.norm(3)"),
    errors=("i.norm()", "x.norm('foo')", "x.norm(2, 5)", "torch.norm(c, 'fro', (0, 1, 2))"),
)  # fmt: skip

# ---- matrices


def _check_matrix(A: Any, dim: Sequence[int]) -> tuple[int, int]:
    if A.dtype.category < dtypes.FLOATING:
        raise RuntimeError(
            "linalg.matrix_norm: Expected a floating point or complex tensor as input. Got "
            + A.dtype.word
        )
    if A.ndim < 2:
        raise RuntimeError(
            "linalg.matrix_norm: The input tensor A must have at least 2 dimensions."
        )
    if len(dim) != 2:
        got = " ".join(map(str, dim))
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {got}")
    first, second = wrap_dim(dim[0], A.ndim), wrap_dim(dim[1], A.ndim)
    if first == second:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({first}, {second})")
    return first, second


def _matrix_norm(A: Any, ord: Any, dim: Sequence[int], keepdim: bool, dtype: Any) -> Any:
    first, second = _check_matrix(A, dim)
    if ord == "fro":
        return vector_norm.run(A, 2, (first, second), keepdim, dtype)
    if ord != "nuc" and (isinstance(ord, str) or abs(ord) not in (1, 2, inf)):
        shown_order = ord if isinstance(ord, str) else f"{float(ord):g}"
        raise RuntimeError(f"linalg.matrix_norm: Order {shown_order} not supported.")
    if dtype is not None:
        A = A.to(dtype)
    if ord == "nuc" or abs(ord) == 2:
        return _spectral(A, ord, first, second, keepdim)
    if isinf(ord):
        first, second = second, first
    sums = vector_norm.run(A, 1.0, (first,), keepdim, None)
    if not keepdim and first < second:
        second -= 1
    return (amax if ord > 0 else amin)(sums, (second,), keepdim)


def _spectral(A: Any, ord: Any, first: int, second: int, keepdim: bool) -> Any:
    """Norms that the singular values give."""
    floating(A, "linalg.matrix_norm")
    order = [place for place in range(A.ndim) if place not in (first, second)] + [first, second]
    values = catalogue.functions["linalg.svdvals"](A.permute(order))
    if ord == "nuc":
        result = values.sum(-1, keepdim)
    else:
        result = (amax if ord > 0 else amin)(values, (-1,), keepdim)
    if keepdim:
        back = [order.index(place) for place in range(A.ndim)]
        result = result.unsqueeze(-1).permute(back)
    return result


composite(
    "matrix_norm(Tensor self, Scalar ord, int[] dim=[-2,-1], bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor",
    _matrix_norm,
    where="linalg",
    doc="The norm of a matrix: of sums of sizes (1, inf) or of singular values (2).",
    samples=("torch.linalg.matrix_norm(c, 1)", "torch.linalg.matrix_norm(x, -math.inf)",
             "torch.linalg.matrix_norm(c, math.inf, (2, 0))", "torch.linalg.matrix_norm(c, 2)",
             "torch.linalg.matrix_norm(c, 1, (0, 2), True)",
             "torch.linalg.matrix_norm(c, -2, keepdim=True)"),
    errors=("torch.linalg.matrix_norm(x, 3)", "torch.linalg.matrix_norm(v, 1)"),
)  # fmt: skip

composite(
    "matrix_norm.str_ord(Tensor self, str ord='fro', int[] dim=[-2,-1], bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor",
    _matrix_norm,
    where="linalg",
    doc="The norm of a matrix: Frobenius or nuclear.",
    samples=("torch.linalg.matrix_norm(c)", "torch.linalg.matrix_norm(c, 'nuc')"),
    errors=("torch.linalg.matrix_norm(v)", "torch.linalg.matrix_norm(i)",
            "torch.linalg.matrix_norm(c, 'fro', (0, 0))",
            "torch.linalg.matrix_norm(x, 'fro', (0,))"),
)  # fmt: skip


def _linalg_norm(A: Any, ord: Any, dim: Any, keepdim: bool, dtype: Any) -> Any:
    if dim is not None:
        if len(dim) not in (1, 2):
            raise RuntimeError(
                "linalg.norm: If dim is specified, it must be of length 1 or 2. Got "
                + sizes_text(dim)
            )
    elif ord is not None and A.ndim not in (1, 2):
        raise RuntimeError(
            "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
            f"{A.ndim}D."
        )
    matrix = len(dim) == 2 if dim is not None else A.ndim == 2
    if ord is not None and matrix:
        return _matrix_norm(A, ord, dim if dim is not None else (0, 1), keepdim, dtype)
    return vector_norm.run(A, 2.0 if ord is None else ord, dim, keepdim, dtype)


composite(
    "norm.linalg(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor",
    _linalg_norm,
    where="linalg",
    domain=Domain(nonzero=True),
    doc="The norm of a vector or of a matrix, whichever the dimensions and the order mean.",
    corners=("torch.linalg.norm(tensor([0., 0.]))",),
    samples=("torch.linalg.norm(x)", "torch.linalg.norm(v, 1)", "torch.linalg.norm(x, 1)",
             "torch.linalg.norm(c)", "torch.linalg.norm(x, -1)", "torch.linalg.norm(x, 2, 1)",
             "torch.linalg.norm(x, None, (0, 1), True)",
             "torch.linalg.norm(x, math.inf, keepdim=True)"),
    errors=("torch.linalg.norm(c, 2)", "torch.linalg.norm(c, 2, (0, 1, 2))"),
)  # fmt: skip

composite(
    "norm.linalg_ord_str(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *, "
    "ScalarType? dtype=None) -> Tensor",
    lambda A, ord, dim, keepdim, dtype: _matrix_norm(
        A, ord, dim if dim is not None else (-2, -1), keepdim, dtype
    ),
    where="linalg",
    domain=Domain(nonzero=True),
    doc="The Frobenius or the nuclear norm of a matrix.",
    samples=("torch.linalg.norm(x, 'fro')",),
    errors=("torch.linalg.norm(v, 'fro')",),
)

# ---- the distance of two tensors


def _check_dist(self: Any, other: Any, p: Any) -> None:
    bools = [tensor.dtype.word == "Bool" for tensor in (self, other)]
    if any(bools):
        raise RuntimeError(TWO_BOOLS if all(bools) else ONE_BOOL)
    broadcast_sizes(self.shape, other.shape)
    if self.dtype.category < dtypes.FLOATING and other.dtype.category < dtypes.FLOATING:
        raise RuntimeError(
            "norm(): input dtype should be either floating point or complex. Got "
            f"{self.dtype.word} instead."
        )


def _real_result(self: Any, other: Any) -> Any:
    from ...engine.tensors.promotion import result_dtype

    return dtypes.real_of(result_dtype(self, other))


def _to_side(slope: Any, side: Any, dtype: Any) -> Any:
    """The slope towards one of the two, in its shape and type: both may have been stretched."""
    if slope is None:
        return None
    if is_complex(slope) and not is_complex(side):
        raise RuntimeError(
            "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex) "
            "to be true, but got false.  (Could this error message be improved?  If so, please "
            "report an enhancement request to PyTorch.)"
        )
    return alike(sum_to(slope, side.shape), dtype)


def _difference(xp: Any, self: Any, other: Any, p: float) -> tuple[Any, float, Any, bool]:
    off = xp.asarray(self - other)
    return off, p, tuple(range(off.ndim)), False


dist = operator(
    "dist(Tensor self, Tensor other, Scalar p=2) -> Tensor",
    node="DistBackward0",
    dtype=lambda self, other, p: _real_result(self, other),
    holomorphic=False,
    check=_check_dist,
    forward=lambda xp, self, other, p: xp.asarray(
        _length(xp, *_difference(xp, self, other, float(p)))
    ),
    self=lambda grad, self, other, p, result, self_dtype: _to_side(
        norm_backward(grad, self - other, float(p), result, None, True), self, self_dtype
    ),
    other=lambda grad, self, other, p, result, other_dtype: _to_side(
        _negated(norm_backward(grad, self - other, float(p), result, None, True)),
        other,
        other_dtype,
    ),
    acts="along",
    doc="The p-norm of the difference of two tensors.",
    computes="(abs(self - other)**p).sum()**(1/p)",
    corners=("tensor([1., 2.]).dist(tensor([1., 2.]))",),
    samples=("torch.dist(x, y)", "torch.dist(x, y, 1)", "x.dist(v)", "torch.dist(x, y, 3)",
             "torch.dist(x, y.detach(), 0)", "torch.dist(x, y, math.inf)", "torch.dist(x, d)",
             "torch.dist(x, y, 0.5)", "torch.dist(torch.complex(x, y), y)"),
    errors=("torch.dist(i, i)", "torch.dist(x, r)"),
)  # fmt: skip


def _negated(slope: Any) -> Any:
    if slope is None:
        raise RuntimeError(
            "Expected a proper Tensor but got None (or an undefined Tensor in C++) for argument #0 "
            "'self'"
        )
    return -slope
