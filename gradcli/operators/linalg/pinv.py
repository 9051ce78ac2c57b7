"""Operators: pseudo-inverses, rank, condition, least squares, the matrix exponential."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from ...engine.schema.operator import catalogue, composite, operator
from ..conventions import check_square
from ..geometry import broadcast_sizes
from ..shape.constants import zeros_of
from ..shape.select import slice_
from ..shape.shape import flatten, reshape
from ..shape.squeeze import squeeze_dim, unsqueeze
from ..shape.transposed import mh, moved, mt
from .convergence import nan_clause, singular_values, symmetric_eigenvalues
from .decompose import check_matrix, svd_row, write_over
from .inverse import check_floating_square, inv_ex_row, inverse_of, named_outputs, solve
from .product import matmul_of, product_of

# ---- pseudo-inverses, rank, condition


def _check_pinv(self: Any) -> None:
    if self.ndim < 2 or self.dtype.category < 2 or self.dtype.is_reduced:
        raise RuntimeError(
            f"linalg.pinv({self.dtype.word}{{[{', '.join(map(str, self.shape))}]}}): expected a "
            "tensor with 2 or more dimensions of float, double, cfloat or cdouble types"
        )


def _tolerance(xp: Any, values: Any, shape: Sequence[int], atol: Any, rtol: Any) -> Any:
    """Below what a singular value counts as zero."""
    if rtol is None:
        rtol = xp.finfo(values.dtype).eps * max(shape[-2:])
        rtol = rtol if atol is None else xp.where(xp.asarray(atol) > 0, 0.0, rtol)
    largest = values.max(-1, keepdims=True) if values.shape[-1] else values
    return xp.maximum(0.0 if atol is None else atol, rtol * largest)


def _pinv_kernel(xp: Any, self: Any, atol: Any, rtol: Any, hermitian: bool) -> Any:
    if hermitian:
        values, vectors = symmetric_eigenvalues(xp, self, "L")
        left, right, size = vectors, xp.conj(vectors.swapaxes(-1, -2)), xp.abs(values)
    else:
        left, values, right = singular_values(xp, self, full_matrices=False)
        size = values
    keep = size > _tolerance(xp, size, self.shape, atol, rtol)
    inverse = xp.where(keep, 1 / xp.where(keep, values, 1), 0).astype(self.dtype)
    left, right = (xp.conj(side.swapaxes(-1, -2)) for side in (left, right))
    return (right * inverse[..., None, :]) @ left


def pinv_gradient(grad: Any, pinv: Any, A: Any) -> Any:
    rows, columns = A.shape[-2], A.shape[-1]
    pinv_t, grad_t = mh(pinv), mh(grad)
    if rows <= columns:
        k = matmul_of(grad_t, pinv)
        kp = matmul_of(k, pinv_t)
        return (
            -mh(matmul_of(pinv, k))
            + kp
            - matmul_of(matmul_of(A, pinv), kp)
            + matmul_of(matmul_of(pinv_t, pinv), grad_t - matmul_of(k, A))
        )
    k = matmul_of(pinv, grad_t)
    pk = matmul_of(pinv_t, k)
    return (
        -mh(matmul_of(k, pinv))
        + matmul_of(matmul_of(grad_t - matmul_of(A, k), pinv), pinv_t)
        + pk
        - matmul_of(matmul_of(pk, pinv), A)
    )


pinv_row = operator(
    "_linalg_pinv(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -> "
    "Tensor",
    node="LinalgPinvBackward0",
    where="hidden",
    holomorphic=False,
    check=lambda self, atol, rtol, hermitian: _check_pinv(self),
    forward=_pinv_kernel,
    self=lambda grad, result, self: pinv_gradient(grad, result, self),
    doc="The pseudo-inverse.",
    samples=("torch.linalg.pinv(x)",),
)

pinv = composite(
    "pinv(Tensor A, *, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor",
    lambda A, atol, rtol, hermitian: pinv_row.run(A, atol, rtol, hermitian),
    where="linalg",
    doc="The pseudo-inverse.",
    samples=(
        "torch.linalg.pinv(x)", "torch.linalg.pinv(x.t())", "torch.linalg.pinv(a)",
        "torch.linalg.pinv(a + a.t(), hermitian=True)",
    ),
    errors=("torch.linalg.pinv(v)",),
)  # fmt: skip

composite(
    "pinv.rcond(Tensor A, float rcond, bool hermitian=False) -> Tensor",
    lambda A, rcond, hermitian: pinv_row.run(A, None, rcond, hermitian),
    where="linalg",
    doc="The pseudo-inverse, with a relative bound below which singular values count as zero.",
    samples=("torch.linalg.pinv(x, 1e-3)",),
)

composite(
    "pinverse(Tensor self, float rcond=1e-15) -> Tensor",
    lambda self, rcond: pinv_row.run(self, None, rcond, False),
    doc="The pseudo-inverse under its older name.",
    samples=("torch.pinverse(x)", "a.pinverse()"),
)

rank_row = operator(
    "matrix_rank(Tensor A, *, any atol=None, any rtol=None, bool hermitian=False) -> Tensor",
    where="linalg",
    dtype="int64",
    check=lambda A, atol, rtol, hermitian: _check_rank(A),
    forward=lambda xp, A, atol, rtol, hermitian: _rank(xp, A, atol, rtol, hermitian),
    doc="The rank: the number of singular values that are not zero.",
    samples=("torch.linalg.matrix_rank(x)", "torch.linalg.matrix_rank(c)"),
)

for _overload, _kind, _sample in (
    ("float", "float", "torch.linalg.matrix_rank(x, 0.5)"),
    ("tensor", "Tensor", "torch.linalg.matrix_rank(c, tol=v.detach()[:2])"),
):
    composite(
        f"matrix_rank.tol_{_overload}(Tensor A, {_kind} tol, bool hermitian=False) -> Tensor",
        lambda A, tol, hermitian: rank_row.run(A, tol, 0.0, hermitian),
        where="linalg",
        doc="The rank: the number of singular values above a bound.",
        samples=(_sample,),
        errors=("torch.linalg.matrix_rank(x, 'a')",),
    )


def _check_rank(A: Any) -> None:
    if A.ndim > 1 and A.numel():
        _check_eps(A)
    if not A.dtype.is_reduced or A.ndim < 2:
        check_matrix(A, "torch.linalg.matrix_rank", argument="input")


def _rank(xp: Any, A: Any, atol: Any, rtol: Any, hermitian: bool) -> Any:
    if hermitian:
        values = xp.abs(symmetric_eigenvalues(xp, A, "L", False)[0])
    else:
        values = singular_values(xp, A, compute_uv=False)
    atol, rtol = (_column(bound) for bound in (atol, rtol))
    return (values > _tolerance(xp, values, A.shape, atol, rtol)).sum(-1)


def _column(bound: Any) -> Any:
    """A bound for each matrix of a batch, beside the singular values."""
    array = getattr(bound, "_data", None)
    return bound if array is None else array[..., None]


def _condition(A: Any, p: Any) -> Any:
    if A.ndim < 2:
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if p is None or p in (2, -2):
        values = svd_row.run(A, False, True, None)[1]
        count = values.shape[-1]
        first, last = slice_(values, -1, 0, 1, 1), slice_(values, -1, count - 1, count, 1)
        return squeeze_dim(last / first if p == -2 else first / last, -1)
    if p not in ("fro", "nuc", 1, -1, inf, -inf):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    check_square(A, f"linalg.cond(ord={p})")
    if p == "nuc":
        values = svd_row.run(A, False, True, None)[1]
        return values.sum(-1) * values.reciprocal().sum(-1)
    check_floating_square(A, "linalg.inv")
    inverse, info = inv_ex_row.run(A, False)
    inverse.masked_fill_(unsqueeze(unsqueeze(info > 0, -1), -1), inf)
    norm = catalogue.functions["linalg.matrix_norm"]
    return (norm(A, p) * norm(inverse, p)).nan_to_num_(inf, inf, -inf)  # 0 * inf is inf here


cond = composite(
    "cond(Tensor A, any p=None) -> Tensor",
    _condition,
    where="linalg",
    doc="The ratio of the largest to the smallest singular value, or that of another norm.",
    samples=(
        "torch.linalg.cond(a)",
        "torch.linalg.cond(a, 2)",
        "torch.linalg.cond(a, -2)",
        "torch.linalg.cond(a, 1)",
        "torch.linalg.cond(a, 'nuc')",
        "torch.linalg.cond(torch.ones(2, 2), 'fro')",
    ),
    errors=("torch.linalg.cond(v)",),
)

# ---- least squares


# PyTorch asserts that there is no NaN, and says so at length.
_FAULT = (
    'false INTERNAL ASSERT FAILED at "/__w/pytorch/pytorch/aten/src/ATen/native/'
    'BatchLinearAlgebra.cpp":1613, please report a bug to PyTorch. torch.linalg.lstsq: {}Argument '
    "4 has illegal value. Most certainly there is a bug in the implementation calling the backend "
    "library."
)


def _lstsq_kernel(
    xp: Any, self: Any, b: Any, rcond: float | None, driver: str | None
) -> tuple[Any, Any, Any, Any]:
    vector = b.ndim == 1 or self.ndim - 1 == b.ndim
    right = b[..., None] if vector else b
    wide = "complex128" if self.dtype.kind == "c" else "float64"
    if bool(xp.isnan(self).any()):
        raise RuntimeError(_FAULT.format(nan_clause(xp, self)))
    solution = xp.linalg.pinv(self.astype(wide)) @ right.astype(wide)
    solution = solution.astype(self.dtype)
    rows, columns = self.shape[-2:]
    nothing = xp.zeros(0, dtype=self.real.dtype)
    apart, values = nothing, nothing
    if rows > columns and driver != "gelsy":
        apart = (xp.abs(self @ solution - right) ** 2).sum(-2)
    rank = xp.zeros(0, dtype="int64")
    if driver != "gels":
        rank = xp.asarray(xp.linalg.matrix_rank(self))
    if driver in ("gelss", "gelsd"):
        values = xp.linalg.svd(self, compute_uv=False)
    solution = _first_rows(xp, solution, rows)
    result = solution[..., 0] if vector else solution
    return result, apart[..., 0] if vector and apart.size else apart, rank, values


def _first_rows(xp: Any, solution: Any, rows: int) -> Any:
    """Column-major, in the memory of a right-hand side of that many rows: LAPACK writes over it."""
    *batch, known, columns = solution.shape
    memory = xp.zeros((*batch, columns, max(rows, known)), dtype=solution.dtype)
    part = memory.swapaxes(-1, -2)[..., :known, :]
    part[...] = solution
    return part


def _lstsq_gradients(
    grads: Sequence[Any], self: Any, b: Any, solution: Any, needs: Any
) -> tuple[Any, Any]:
    """Through the solution by the pseudo-inverse; the residuals do not change with the solution."""
    of_solution, of_residuals = grads[0], grads[1]
    vector = b.ndim == 1 or self.ndim - 1 == b.ndim
    right = unsqueeze(b, -1) if vector else b
    into_a = into_b = None
    if of_solution is not None:
        wide = unsqueeze(of_solution, -1) if vector else of_solution
        inverse = pinv_row(self, None, None, False)
        into_a = pinv_gradient(matmul_of(wide, mh(right)), inverse, self)
        into_b = matmul_of(mh(inverse), wide)
    if of_residuals is not None and 0 not in of_residuals.shape:  # empty where none are computed
        known = unsqueeze(solution, -1) if vector else solution
        of_rows = unsqueeze(of_residuals, -1) if vector else of_residuals
        of_rows, apart = unsqueeze(of_rows, -2), matmul_of(self, known) - right
        part = matmul_of(of_rows * apart, mh(known)) * 2
        into_a = part if into_a is None else into_a + part
        part = (of_rows * -2) * apart
        into_b = part if into_b is None else into_b + part
    if into_b is not None and vector:
        into_b = squeeze_dim(into_b, -1)
    return into_a if needs["self"] else None, into_b if needs["b"] else None


lstsq_row = operator(
    "_linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> "
    "(Tensor solution, Tensor residuals, Tensor rank, Tensor singular_values)",
    node="LinalgLstsqBackward0",
    where="hidden",
    holomorphic=False,
    undifferentiable="singular_values",
    check=lambda self, *others: _check_eps(self),
    forward=_lstsq_kernel,
    joint={
        ("self", "b"): lambda grads, self, b, solution, needs: _lstsq_gradients(
            grads, self, b, solution, needs
        )
    },
    doc="The least-squares solution of a linear system.",
    samples=("torch.linalg.lstsq(a, b)[0]",),
)


def _check_eps(self: Any) -> None:
    """The bound below which a singular value counts as zero is known of two types."""
    if self.dtype.is_reduced or self.dtype.category < 2:
        raise RuntimeError("This function doesn't handle types other than float and double")


def _check_system(self: Any, b: Any, driver: str | None) -> None:
    name = "torch.linalg.lstsq"
    if self.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if b.ndim < 1:
        raise RuntimeError(f"{name}: other must have at least 1 dimension.")
    if self.ndim not in (b.ndim, b.ndim + 1):
        raise RuntimeError(
            f"{name}: input.dim() must be greater or equal to other.dim() and (input.dim() - "
            "other.dim()) <= 1"
        )
    if self.dtype is not b.dtype:
        raise RuntimeError(
            f"{name}: Expected input and other to have the same dtype, but got input's dtype "
            f"{self.dtype.word} and other's dtype {b.dtype.word}"
        )
    rows = b.shape[-1] if b.ndim == 1 or self.ndim - 1 == b.ndim else b.shape[-2]
    if self.shape[-2] != rows:
        side = -1 if self.ndim - 1 == b.ndim and b.ndim == 1 else -2
        raise RuntimeError(f"{name}: input.size(-2) should match other.size({side})")
    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError(
            f"{name}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)"
        )
    is_vector = b.ndim == 1 or self.ndim - 1 == b.ndim
    broadcast_sizes(self.shape[:-2], b.shape[:-1] if is_vector else b.shape[:-2])


def _lstsq(self: Any, b: Any, rcond: float | None, driver: str | None) -> Any:
    _check_system(self, b, driver)
    fields = ("solution", "residuals", "rank", "singular_values")
    return named_outputs("linalg_lstsq", fields, lstsq_row.run(self, b, rcond, driver or "gelsy"))


lstsq = composite(
    "lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> "
    "(Tensor solution, Tensor residuals, Tensor rank, Tensor singular_values)",
    _lstsq,
    where="linalg",
    doc="The least-squares solution of a linear system.",
    samples=(
        "torch.linalg.lstsq(a, b)[0]",
        "torch.linalg.lstsq(x.t().double(), a[:, :1].double()).solution",
    ),
)

# ---- the matrix exponential


def _exponential(xp: Any, self: Any) -> Any:
    """Scaled until small, a Taylor series in double, squared back."""
    work = self.astype("float64") if self.dtype.kind == "f" else self
    size = work.shape[-1]
    finite = xp.isfinite(work).all((-2, -1), keepdims=True)
    if not finite.all():  # no number of halvings makes them small
        others = _exponential(xp, xp.where(finite, self, 0))
        return xp.where(finite, others, xp.exp(self) if size == 1 else xp.nan).astype(self.dtype)
    if not work.size:
        return self
    norms = xp.abs(work).sum(-2, keepdims=True).max(-1, keepdims=True)
    halvings = xp.ceil(xp.log2(xp.maximum(norms * 2, 1)))
    small = work / 2**halvings
    term = result = xp.broadcast_to(xp.eye(size, dtype=work.dtype), work.shape)
    for order in range(1, 19):
        term = term @ small / order
        result = result + term
    for number in range(int(halvings.max())):
        result = xp.where(halvings > number, result @ result, result)
    return result.astype(self.dtype)


def _check_exponent(self: Any) -> None:
    check_square(self, "linalg.matrix_exp")
    if not self.dtype.is_reduced:
        check_floating_square(self, "linalg.matrix_exp")


def _exponential_gradient(grad: Any, self: Any) -> Any:
    """The upper right block of the exponential of [[A^T, G], [0, A^T]]."""
    turned = mt(self)
    size = self.shape[-1]
    both = zeros_of(grad, (*self.shape[:-2], 2 * size, 2 * size))
    for row, column, part in ((0, 0, turned), (size, size, turned), (0, size, grad)):
        rows = slice_(both, -2, row, row + size, 1)
        write_over(slice_(rows, -1, column, column + size, 1), part)
    whole = matrix_exp_row(both)
    return slice_(slice_(whole, -2, 0, size, 1), -1, size, 2 * size, 1)


matrix_exp_row = operator(
    "matrix_exp(Tensor self) -> Tensor",
    node="LinalgMatrixExpBackward0",
    where="torch method linalg",
    check=lambda self: _check_exponent(self),
    forward=_exponential,
    self=lambda grad, self: _exponential_gradient(grad, self),
    acts="leading",
    doc="The exponential of square matrices.",
    samples=("torch.matrix_exp(a)", "a.matrix_exp()", "torch.linalg.matrix_exp(b)"),
    errors=("torch.linalg.matrix_exp(x)",),
)

# ---- systems and inverses of tensors


def _tensor_inverse(A: Any, ind: int) -> Any:
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    first, second = tuple(A.shape[:ind]), tuple(A.shape[ind:])
    if product_of(first) != product_of(second):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == "
            f"prod(self.shape[:ind]), but got {product_of(second)} != {product_of(first)}"
        )
    flat = reshape(A, (product_of(first), product_of(second)))
    return reshape(inverse_of(flat), second + first)


tensorinv = composite(
    "tensorinv(Tensor A, int ind=2) -> Tensor",
    _tensor_inverse,
    where="linalg",
    doc="The inverse of a tensor seen as a matrix.",
    samples=("torch.linalg.tensorinv(a, 1)",),
)


def _tensor_solution(A: Any, B: Any, dims: Sequence[int] | None) -> Any:
    if dims is not None:
        A = moved(A, tuple(dims), tuple(range(A.ndim - len(dims), A.ndim)))
    size = tuple(A.shape[B.ndim :])
    rows = product_of(tuple(B.shape))
    if rows != product_of(size):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            f"prod(self.shape[:other.ndim]), but got {product_of(size)} != {rows}"
        )
    flat = reshape(A, (rows, product_of(size)))
    return reshape(solve(flat, flatten(B, 0, -1), left=True), size)


tensorsolve = composite(
    "tensorsolve(Tensor A, Tensor B, int[]? dims=None) -> Tensor",
    _tensor_solution,
    where="linalg",
    doc="The solution of a tensor equation.",
    samples=("torch.linalg.tensorsolve(a, v)",),
)
