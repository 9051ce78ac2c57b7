"""Operators: determinants, inverses and solutions of linear systems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..engine.errors import _LinAlgError
from ..engine.operator import composite, operator
from .contract import check_square
from .geometry import broadcast_sizes
from .product import matmul_of
from .rearrange import tril, triu
from .select import diag_embed
from .shape import expand, squeeze_dim, transpose, unsqueeze
from .sums import sum_to
from .where import where

# ---- kernels


def column_major(xp: Any, matrices: Any) -> Any:
    """LAPACK's order of memory, which PyTorch's results keep."""
    return matrices.swapaxes(-1, -2).copy(order="C").swapaxes(-1, -2)


def factored(xp: Any, matrices: Any) -> tuple[Any, Any, Any]:
    """LU factors packed in one matrix, pivots counted from 1, and where a zero pivot was met."""
    lu = matrices.copy(order="C")
    batch, rows, columns = lu.shape[:-2], lu.shape[-2], lu.shape[-1]
    flat = lu.reshape((-1, rows, columns))
    steps = min(rows, columns)
    pivots = xp.zeros((flat.shape[0], steps), dtype="int32")
    info = xp.zeros(flat.shape[0], dtype="int32")
    which = xp.arange(flat.shape[0])
    for k in range(steps):
        best = xp.argmax(xp.abs(flat[:, k:, k]), axis=1) + k if flat.shape[0] else which
        pivots[:, k] = best + 1
        chosen = flat[which, best].copy()
        flat[which, best] = flat[:, k]
        flat[:, k] = chosen
        pivot = flat[:, k, k]
        info = xp.where((pivot == 0) & (info == 0), k + 1, info).astype("int32")
        safe = xp.where(pivot == 0, xp.ones_like(pivot), pivot)
        flat[:, k + 1 :, k] = flat[:, k + 1 :, k] / safe[:, None]
        flat[:, k + 1 :, k + 1 :] -= flat[:, k + 1 :, k, None] * flat[:, None, k, k + 1 :]
    return flat.reshape(lu.shape), pivots.reshape((*batch, steps)), info.reshape(batch)


def solved(xp: Any, matrices: Any, right: Any) -> Any:
    """The solution; a singular matrix is moved off by the smallest step that its type can tell."""
    try:
        return xp.linalg.solve(matrices, right)
    except xp.linalg.LinAlgError:
        size = matrices.shape[-1]
        step = xp.finfo(matrices.dtype).eps * xp.eye(size, dtype=matrices.dtype)
        return xp.linalg.pinv(matrices + step) @ right


def floating(self: Any, name: str) -> None:
    word = self.dtype.word
    if self.dtype.category < 2:
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {word}"
        )
    if self.dtype.name in ("float16", "bfloat16"):
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {word}")


def check_floating_square(self: Any, name: str, argument: str = "A") -> None:
    check_square(self, name, argument)
    floating(self, name)


def _mt(self: Any) -> Any:
    return transpose(self, -2, -1)


# ---- determinants


def _sign_of(xp: Any, pivots: Any) -> Any:
    swaps = (pivots != xp.arange(1, pivots.shape[-1] + 1)).sum(-1)
    return 1 - 2 * (swaps % 2)


def _determinant(xp: Any, A: Any) -> tuple[Any, Any, Any]:
    lu, pivots, _ = factored(xp, A)
    diagonal = xp.diagonal(lu, 0, -2, -1)
    result = xp.asarray(diagonal.prod(-1) * _sign_of(xp, pivots)).astype(A.dtype)
    return result, column_major(xp, lu), pivots


def _on_diagonal(values: Any, size: int) -> Any:
    wide = expand(unsqueeze(values, -1), (*values.shape, size), False)
    return _mt(diag_embed(wide, 0, -2, -1))


det_row = operator(
    "_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)",
    node="LinalgDetBackward0",
    where="hidden",
    check=lambda A: check_floating_square(A, "linalg.det"),
    forward=_determinant,
    A=lambda grads, result, A, LU, pivots: solve_row(
        _mt(A), _on_diagonal(grads[0] * result, A.shape[-1]), True, False
    )[0],
    doc="The determinant and the factors that it was computed from.",
    samples=("torch.linalg.det(a)",),
)

det = composite(
    "det(Tensor A) -> Tensor",
    lambda A: det_row(A)[0],
    where="torch method linalg",
    doc="The determinant of square matrices.",
    samples=("torch.linalg.det(a)", "torch.det(b)", "a.det()", "torch.det(torch.stack([a, b]))"),
    errors=("torch.linalg.det(x)", "torch.linalg.det(v)", "torch.det(i)"),
)


def _log_determinant(xp: Any, A: Any) -> tuple[Any, Any, Any, Any]:
    lu, pivots, _ = factored(xp, A)
    diagonal = xp.diagonal(lu, 0, -2, -1)
    sign = xp.asarray(xp.sign(diagonal).prod(-1) * _sign_of(xp, pivots)).astype(A.dtype)
    logarithm = xp.asarray(xp.log(xp.abs(diagonal)).sum(-1)).astype(A.dtype)
    return sign, logarithm, column_major(xp, lu), pivots


def _slogdet_gradient(grads: Sequence[Any], A: Any) -> Any:
    if grads[1] is None:
        return None
    return solve_row(_mt(A), _on_diagonal(grads[1], A.shape[-1]), True, False)[0]


slogdet_row = operator(
    "_linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)",
    node="LinalgSlogdetBackward0",
    where="hidden",
    check=lambda A: check_floating_square(A, "linalg.slogdet"),
    forward=_log_determinant,
    A=lambda grads, sign, A, LU, pivots: _slogdet_gradient(grads, A),
    doc="The determinant's sign and the logarithm of its size.",
    samples=("torch.linalg.slogdet(a)[1]",),
)


def named_outputs(name: str, fields: tuple[str, ...], values: Sequence[Any]) -> Any:
    from ..engine.returns import named

    return named(name, fields, list(values))


slogdet = composite(
    "slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)",
    lambda A: named_outputs("linalg_slogdet", ("sign", "logabsdet"), slogdet_row(A)[:2]),
    where="torch method linalg",
    doc="The determinant's sign and the logarithm of its size.",
    samples=("torch.linalg.slogdet(a)[0]", "torch.slogdet(b)[1]", "a.slogdet().logabsdet"),
    errors=("torch.linalg.slogdet(x)",),
)


def _logdet(A: Any) -> Any:
    sign, logabsdet = slogdet_row(A)[:2]
    return where.run(sign == -1.0, float("nan"), logabsdet)


logdet = composite(
    "logdet(Tensor A) -> Tensor",
    _logdet,
    doc="The logarithm of the determinant; NaN where that is negative.",
    samples=("torch.logdet(a)", "b.logdet()"),
)

# ---- inverses


def _inverted(xp: Any, A: Any, check_errors: bool) -> tuple[Any, Any]:
    info = factored(xp, A)[2]
    if A.size and bool((info != 0).any()):
        return xp.full_like(A, xp.nan), info
    return column_major(xp, xp.linalg.inv(A)), info


def _batch_clause(info: Any) -> tuple[str, int]:
    """Which matrix of a batch failed first, and at which diagonal element."""
    flat = info.reshape(-1)
    place = int((flat != 0).argmax())
    return (f"(Batch element {place}): " if info.ndim else ""), int(flat[place])


def _refuse_singular(info: Any, name: str) -> None:
    data = info._data
    if data.size and bool((data != 0).any()):
        clause, element = _batch_clause(data)
        raise _LinAlgError(
            f"{name}: {clause}The diagonal element {element} is zero, the inversion could not be "
            "completed because the input matrix is singular."
        )


inv_ex_row = operator(
    "_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
    node="LinalgInvExBackward0",
    where="hidden",
    forward=_inverted,
    A=lambda grads, inverse: -matmul_of(_mt(inverse), matmul_of(grads[0], _mt(inverse))),
    doc="The inverse, and where the elimination met a zero.",
    samples=("torch.linalg.inv(a)",),
)


def _inv_ex(A: Any, check_errors: bool) -> Any:
    check_floating_square(A, "linalg.inv")
    inverse, info = inv_ex_row.run(A, check_errors)
    if check_errors:
        _refuse_singular(info, "linalg.inv_ex")
    return named_outputs("linalg_inv_ex", ("inverse", "info"), (inverse, info))


inv_ex = composite(
    "inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
    _inv_ex,
    where="linalg",
    doc="The inverse of square matrices, and where the elimination met a zero.",
    samples=("torch.linalg.inv_ex(a)[0]", "torch.linalg.inv_ex(a).info"),
    errors=("torch.linalg.inv_ex(x)",),
)


def inverse_of(A: Any, name: str) -> Any:
    check_floating_square(A, name)
    inverse, info = inv_ex_row.run(A, False)
    _refuse_singular(info, name)
    return inverse


inv = composite(
    "inv(Tensor A) -> Tensor",
    lambda A: inverse_of(A, "linalg.inv"),
    where="linalg",
    doc="The inverse of square matrices.",
    samples=("torch.linalg.inv(a)", "torch.linalg.inv(torch.stack([a, b]))"),
    errors=(
        "torch.linalg.inv(x)", "torch.linalg.inv(i)", "torch.linalg.inv(torch.zeros(2, 2))",
        "torch.linalg.inv(torch.zeros(2, 2, 2))",
    ),
)  # fmt: skip

inverse = composite(
    "inverse(Tensor self) -> Tensor",
    lambda self: inverse_of(self, "linalg.inv"),
    doc="The inverse of square matrices.",
    samples=("torch.inverse(a)", "b.inverse()"),
    errors=("torch.inverse(torch.zeros(2, 2))",),
)

# ---- linear systems


def _is_vector(A: Any, B: Any) -> bool:
    """A right-hand side with one dimension less than the matrices is a batch of vectors."""
    return B.ndim == 1 or (A.ndim - 1 == B.ndim and tuple(B.shape) == tuple(A.shape[:-1]))


def _solution(xp: Any, A: Any, B: Any, left: bool, check_errors: bool) -> tuple[Any, ...]:
    lu, pivots, info = factored(xp, A)
    vector = _is_vector(A, B)
    right = B[..., None] if vector else B
    if bool((info != 0).any()) and check_errors:
        shape = xp.broadcast_shapes(A.shape[:-2], right.shape[:-2]) + right.shape[-2:]
        result = xp.full(shape, xp.nan, dtype=B.dtype)
    elif left:
        result = solved(xp, A, right)
    else:
        result = solved(xp, A.swapaxes(-1, -2), right.swapaxes(-1, -2)).swapaxes(-1, -2)
    if vector:
        result = result[..., 0]
    else:
        result = column_major(xp, result) if left else result.copy(order="C")
    return result, column_major(xp, lu), pivots, info


def _solve_gradients(grad: Any, result: Any, A: Any, left: bool, needs: Any) -> tuple[Any, Any]:
    if grad is None:
        return None, None
    vector = _is_vector(A, result)
    wide = unsqueeze(grad, -1) if vector else grad
    into_b = solve_row(_mt(A), wide, left, False)[0]
    into_a = None
    if needs["A"]:
        known = unsqueeze(result, -1) if vector else result
        into_a = -(matmul_of(into_b, _mt(known)) if left else matmul_of(_mt(known), into_b))
    if not needs["B"]:
        return into_a, None
    return into_a, squeeze_dim(into_b, -1) if vector else into_b


solve_row = operator(
    "_linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> "
    "(Tensor result, Tensor LU, Tensor pivots, Tensor info)",
    node="LinalgSolveExBackward0",
    where="hidden",
    forward=_solution,
    joint={
        ("A", "B"): lambda grads, result, A, A_shape, B_shape, LU, pivots, left, needs: _to_sizes(
            _solve_gradients(grads[0], result, A, left, needs), A_shape, B_shape
        )
    },
    doc="The solution of a linear system, and the factors that it was computed from.",
    samples=("torch.linalg.solve(a, v)",),
)


def _to_sizes(grads: Sequence[Any], *shapes: Sequence[int]) -> tuple[Any, ...]:
    """Operands that were broadcast over a batch get their gradients summed."""
    return tuple(
        grad if grad is None or tuple(grad.shape) == tuple(shape) else sum_to(grad, shape)
        for grad, shape in zip(grads, shapes, strict=True)
    )


def _check_system(A: Any, B: Any, left: bool, name: str) -> None:
    check_floating_square(A, name)
    if A.dtype is not B.dtype:
        raise RuntimeError(
            f"{name}: Expected A and B to have the same dtype, but found A of type {A.dtype.word} "
            f"and B of type {B.dtype.word} instead"
        )
    vector = _is_vector(A, B)
    size = (*B.shape, 1) if vector else tuple(B.shape)
    if vector and not left:
        raise RuntimeError(
            f"{name}: Vector broadcasting of the left hand side is not supported for left=False. "
            "In this case linalg.solve is equivalent to B / A.squeeze(-1)"
        )
    if size[-2 if left else -1] != A.shape[-1]:
        equation = "AX = B" if left else "XA = B"
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation {equation} "
            f"({A.shape[-2]}x{A.shape[-1]} and {size[-2]}x{size[-1]})"
        )
    broadcast_sizes(tuple(A.shape[:-2]), tuple(size[:-2]))


def _solve(A: Any, B: Any, left: bool) -> Any:
    _check_system(A, B, left, "linalg.solve")
    result, _, _, info = solve_row.run(A, B, left, True)
    if bool((info._data != 0).any()):
        clause, _ = _batch_clause(info._data)
        raise _LinAlgError(
            f"torch.linalg.solve: {clause}The solver failed because the input matrix is singular."
        )
    return result


solve = composite(
    "solve(Tensor A, Tensor B, *, bool left=True) -> Tensor",
    _solve,
    where="linalg",
    doc="The solution of A X = B, or of X A = B.",
    samples=(
        "torch.linalg.solve(a, v)", "torch.linalg.solve(a, b)",
        "torch.linalg.solve(a, x, left=False)", "torch.linalg.solve(torch.stack([a, b]), b)",
    ),
    errors=(
        "torch.linalg.solve(x, v)", "torch.linalg.solve(a, w[:2])", "torch.linalg.solve(a, x)",
        "torch.linalg.solve(torch.zeros(2, 2), torch.ones(2))", "torch.linalg.solve(a, d)",
    ),
)  # fmt: skip


def _solve_ex(A: Any, B: Any, left: bool, check_errors: bool) -> Any:
    _check_system(A, B, left, "linalg.solve_ex")
    result, _, _, info = solve_row.run(A, B, left, True)
    return named_outputs("linalg_solve_ex", ("result", "info"), (result, info))


solve_ex = composite(
    "solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> "
    "(Tensor result, Tensor info)",
    _solve_ex,
    where="linalg",
    doc="The solution of A X = B, and where the elimination met a zero.",
    samples=("torch.linalg.solve_ex(a, b)[0]", "torch.linalg.solve_ex(a, v).info"),
)


def _triangle(xp: Any, A: Any, upper: bool, unitriangular: bool) -> Any:
    part = xp.triu(A) if upper else xp.tril(A)
    if unitriangular:
        eye = xp.eye(A.shape[-1], dtype=A.dtype)
        part = part * (1 - eye) + eye
    return part


def _triangular_solution(
    xp: Any, A: Any, B: Any, upper: bool, left: bool, unitriangular: bool
) -> Any:
    part = _triangle(xp, A, upper, unitriangular)
    if left:
        return column_major(xp, xp.asarray(solved(xp, part, B)))
    return solved(xp, part.swapaxes(-1, -2), B.swapaxes(-1, -2)).swapaxes(-1, -2)


def _triangular_gradients(
    grad: Any, A: Any, result: Any, upper: bool, left: bool, unitriangular: bool, needs: Any
) -> tuple[Any, Any]:
    into_b = solve_triangular(_mt(A), grad, not upper, left, unitriangular)
    into_a = None
    if needs["self"]:
        product = matmul_of(into_b, _mt(result)) if left else matmul_of(_mt(result), into_b)
        part = -product
        into_a = triu(part, int(unitriangular)) if upper else tril(part, -int(unitriangular))
    return into_a, into_b if needs["B"] else None


def _check_triangular(A: Any, B: Any, upper: bool, left: bool, unitriangular: bool) -> None:
    name = "linalg.solve_triangular"
    check_square(A, name)
    if B.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor B must have at least 2 dimensions.")
    if B.shape[-2 if left else -1] != A.shape[-1]:
        equation = "AX = B" if left else "XA = B"
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation {equation} "
            f"({A.shape[-2]}x{A.shape[-1]} and {B.shape[-2]}x{B.shape[-1]})"
        )


solve_triangular = operator(
    "solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, "
    "bool unitriangular=False) -> Tensor",
    node="LinalgSolveTriangularBackward0",
    where="linalg",
    check=_check_triangular,
    forward=_triangular_solution,
    joint={
        (
            "self",
            "B",
        ): lambda grad, self, self_shape, B_shape, result, upper, left, unitriangular, needs: (
            _to_sizes(
                _triangular_gradients(grad, self, result, upper, left, unitriangular, needs),
                self_shape,
                B_shape,
            )
        )
    },
    doc="The solution of a triangular system.",
    samples=(
        "torch.linalg.solve_triangular(a.triu(), b, upper=True)",
        "torch.linalg.solve_triangular(a, x.t(), upper=False)",
        "torch.linalg.solve_triangular(a, x, upper=True, left=False)",
        "torch.linalg.solve_triangular(a, b, upper=True, unitriangular=True)",
    ),
    errors=(
        "torch.linalg.solve_triangular(a, v, upper=True)",
        "torch.linalg.solve_triangular(x, b, upper=True)",
    ),
)

# ---- Cholesky factors


def _cholesky_kernel(xp: Any, A: Any, upper: bool, check_errors: bool) -> tuple[Any, Any]:
    lower = xp.tril(A) if not upper else xp.tril(A.swapaxes(-1, -2))
    flat = lower.reshape((-1, *lower.shape[-2:])).astype("float64")
    info = xp.zeros(flat.shape[0], dtype="int32")
    size = flat.shape[-1]
    factor = xp.zeros_like(flat)
    for k in range(size):
        rest = flat[:, k, k] - (factor[:, k, :k] ** 2).sum(-1)
        info = xp.where(~(rest > 0) & (info == 0), k + 1, info).astype("int32")
        root = xp.sqrt(xp.where(rest > 0, rest, 1))
        factor[:, k, k] = root
        below = flat[:, k + 1 :, k] - (factor[:, k + 1 :, :k] * factor[:, k, None, :k]).sum(-1)
        factor[:, k + 1 :, k] = below / root[:, None]
    result = factor.reshape(A.shape).astype(A.dtype)
    result = result.swapaxes(-1, -2).copy() if upper else result
    return column_major(xp, result), info.reshape(A.shape[:-2])


def _cholesky_gradient(grad: Any, L: Any, upper: bool) -> Any:
    """L^-T (tril(L^T gL), symmetric, halved) L^-1."""
    if upper:
        L, grad = _mt(L), _mt(grad)
    phi = tril(matmul_of(_mt(L), grad), 0)
    phi = (phi + _mt(tril(phi, -1))) * 0.5
    half = solve_triangular(_mt(L), phi, True, True, False)
    return solve_triangular(L, half, False, False, False)


cholesky_row = operator(
    "_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)",
    node="LinalgCholeskyExBackward0",
    where="hidden",
    forward=_cholesky_kernel,
    self=lambda grads, L, upper: _cholesky_gradient(grads[0], L, upper),
    doc="The Cholesky factor, and the order of the first minor that is not positive.",
    samples=("torch.linalg.cholesky(a @ a.t())",),
)


def _refuse_indefinite(info: Any, name: str) -> None:
    data = info._data
    if data.size and bool((data != 0).any()):
        clause, order = _batch_clause(data)
        raise _LinAlgError(
            f"{name}: {clause}The factorization could not be completed because the input is not "
            f"positive-definite (the leading minor of order {order} is not positive-definite)."
        )


def _cholesky(self: Any, upper: bool) -> Any:
    check_floating_square(self, "linalg.cholesky")
    factor, info = cholesky_row.run(self, upper, False)
    _refuse_indefinite(info, "linalg.cholesky")
    return factor


cholesky = composite(
    "cholesky.linalg(Tensor self, *, bool upper=False) -> Tensor",
    _cholesky,
    where="linalg",
    doc="The triangular L with L L^T = A of a positive-definite matrix.",
    samples=("torch.linalg.cholesky(a @ a.t())", "torch.linalg.cholesky(a @ a.t(), upper=True)"),
    errors=("torch.linalg.cholesky(-a)", "torch.linalg.cholesky(x)"),
)


def _cholesky_ex(self: Any, upper: bool, check_errors: bool) -> Any:
    check_floating_square(self, "linalg.cholesky_ex")
    return named_outputs("linalg_cholesky_ex", ("L", "info"), cholesky_row.run(self, upper, False))


composite(
    "cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)",
    _cholesky_ex,
    where="linalg",
    doc="The Cholesky factor, and the order of the first minor that is not positive.",
    samples=("torch.linalg.cholesky_ex(a @ a.t())[0]", "torch.linalg.cholesky_ex(a @ a.t()).info"),
)

old_cholesky = operator(
    "cholesky(Tensor self, bool upper=False) -> Tensor",
    node="CholeskyBackward0",
    check=lambda self, upper: check_floating_square(self, "cholesky"),
    forward=lambda xp, self, upper: _old_cholesky(xp, self, upper),
    self=lambda grad, result, upper: _cholesky_gradient(grad, result, upper),
    doc="The Cholesky factor under its older name.",
    samples=("torch.cholesky(a @ a.t())", "(a @ a.t()).cholesky(upper=True)"),
)


def _old_cholesky(xp: Any, self: Any, upper: bool) -> Any:
    factor, info = _cholesky_kernel(xp, self, upper, False)
    if bool((info != 0).any()):
        clause, order = _batch_clause(info)
        raise _LinAlgError(
            f"cholesky: {clause}The factorization could not be completed because the input is not "
            f"positive-definite (the leading minor of order {order} is not positive-definite)."
        )
    return factor


def _cholesky_solution(xp: Any, self: Any, input2: Any, upper: bool) -> Any:
    product = input2.swapaxes(-1, -2) @ input2 if upper else input2 @ input2.swapaxes(-1, -2)
    return column_major(xp, solved(xp, product, self))


def _cholesky_solve_gradients(
    grad: Any, self: Any, input2: Any, result: Any, upper: bool, needs: Any
) -> tuple[Any, Any]:
    into_self = cholesky_solve(grad, input2, upper)
    into_factor = None
    if needs["input2"]:
        common = matmul_of(into_self, _mt(result))
        common = common + _mt(common)
        into_factor = -(matmul_of(input2, common) if upper else matmul_of(common, input2))
    return into_self if needs["self"] else None, into_factor


cholesky_solve = operator(
    "cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor",
    node="CholeskySolveBackward0",
    forward=_cholesky_solution,
    joint={
        ("self", "input2"): lambda grad, self, input2, result, upper, needs: (
            _cholesky_solve_gradients(grad, self, input2, result, upper, needs)
        )
    },
    doc="The solution of a system whose matrix is given by its Cholesky factor.",
    samples=("torch.cholesky_solve(b, a.tril())", "b.cholesky_solve(a.triu(), upper=True)"),
)


def _cholesky_inverse_gradient(grad: Any, L: Any, result: Any, upper: bool) -> Any:
    common = grad + _mt(grad)
    common = matmul_of(result, matmul_of(common, result))
    return -(matmul_of(L, common) if upper else matmul_of(common, L))


cholesky_inverse = operator(
    "cholesky_inverse(Tensor self, bool upper=False) -> Tensor",
    node="CholeskyInverseBackward0",
    forward=lambda xp, self, upper: column_major(
        xp,
        xp.linalg.inv(self.swapaxes(-1, -2) @ self if upper else self @ self.swapaxes(-1, -2)),
    ),
    self=lambda grad, self, result, upper: _cholesky_inverse_gradient(grad, self, result, upper),
    doc="The inverse of a matrix that is given by its Cholesky factor.",
    samples=("torch.cholesky_inverse(a.tril())", "a.triu().cholesky_inverse(upper=True)"),
)
