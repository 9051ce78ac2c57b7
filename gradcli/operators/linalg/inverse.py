"""Operators: determinants, inverses and solutions of linear systems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.memory.layout import relaid, strides_in_order
from ...engine.schema.errors import _LinAlgError
from ...engine.schema.operator import composite, operator
from ...numerics.rounding import precise
from ...numerics.small_systems import DIVIDED, below_pivot, is_small_system, substituted
from ..conventions import check_precision, check_square
from ..elementwise.complex_parts import conj, is_complex
from ..elementwise.where import where
from ..geometry import broadcast_sizes
from ..reduce.sums import sum_to
from ..shape.cast import alike
from ..shape.constants import zeros_as
from ..shape.diagonals import diag_embed
from ..shape.shape import expand
from ..shape.squeeze import squeeze_dim, unsqueeze
from ..shape.transposed import mh, mt
from .product import matmul_of, product_of

# ---- kernels


def column_major(xp: Any, matrices: Any) -> Any:
    """LAPACK's order of memory, which PyTorch's results keep."""
    rank = matrices.ndim
    order = (rank - 2, rank - 1, *range(rank - 3, -1, -1))
    return relaid(matrices, strides_in_order(matrices.shape, order))


def factored(xp: Any, matrices: Any) -> tuple[Any, Any, Any]:
    """LU factors packed in one matrix, pivots counted from 1, and where a zero pivot was met."""
    lu = matrices.copy(order="C")
    batch, rows, columns = lu.shape[:-2], lu.shape[-2], lu.shape[-1]
    flat = lu.reshape((product_of(batch), rows, columns))
    steps = min(rows, columns)
    pivots = xp.zeros((flat.shape[0], steps), dtype="int32")
    info = xp.zeros(flat.shape[0], dtype="int32")
    which = xp.arange(flat.shape[0])
    for k in range(steps):
        column = flat[:, k:, k]  # BLAS adds the sizes of the two parts of a complex number
        size = xp.abs(column.real) + xp.abs(column.imag) if lu.dtype.kind == "c" else xp.abs(column)
        best = xp.argmax(size, axis=1) + k
        pivots[:, k] = best + 1
        chosen = flat[which, best].copy()
        flat[which, best] = flat[:, k]
        flat[:, k] = chosen
        pivot = flat[:, k, k]
        info = xp.where((pivot == 0) & (info == 0), k + 1, info).astype("int32")
        safe = xp.where(pivot == 0, xp.ones_like(pivot), pivot)
        last = rows == columns <= DIVIDED and k == rows - 2
        flat[:, k + 1 :, k] = below_pivot(flat[:, k + 1 :, k], safe[:, None], last)
        flat[:, k + 1 :, k + 1 :] -= flat[:, k + 1 :, k, None] * flat[:, None, k, k + 1 :]
    return flat.reshape(lu.shape), pivots.reshape((*batch, steps)), info.reshape(batch)


def factored_for_det(xp: Any, matrices: Any) -> tuple[Any, Any]:
    """LU factors and pivots for a determinant: of the transpose where that needs no copy."""
    turned = matrices.flags.c_contiguous and matrices.dtype.kind == "f"
    return factored(xp, matrices.swapaxes(-1, -2) if turned else matrices)[:2]


def _exchanged(xp: Any, pivots: Any, right: Any) -> Any:
    """A right-hand side with the rows exchanged that the elimination exchanged."""
    shape = xp.broadcast_shapes(pivots.shape[:-1], right.shape[:-2])
    right = xp.broadcast_to(right, (*shape, *right.shape[-2:]))
    if pivots.ndim == 1:
        order = list(range(right.shape[-2]))
        for k, pivot in enumerate(pivots.tolist()):
            order[k], order[pivot - 1] = order[pivot - 1], order[k]
        return right[..., order, :]
    rows, columns = right.shape[-2:]
    flat = right.reshape((product_of(shape), rows, columns)).copy()
    chosen = xp.broadcast_to(pivots, (*shape, rows)).reshape((flat.shape[0], rows)) - 1
    which = xp.arange(flat.shape[0])
    for k in range(rows):
        row = flat[which, chosen[:, k]].copy()
        flat[which, chosen[:, k]] = flat[:, k]
        flat[:, k] = row
    return flat.reshape(right.shape)


def solved_by_factors(xp: Any, lu: Any, pivots: Any, right: Any) -> Any:
    """The solution of a small system of its LU factors, in PyTorch's order."""
    return substituted(xp, lu, _exchanged(xp, pivots, right))


def solved(xp: Any, matrices: Any, right: Any) -> Any:
    """The solution; a singular matrix is moved off by the smallest step of its type."""
    try:
        return xp.linalg.solve(matrices, right)
    except xp.linalg.LinAlgError:
        size = matrices.shape[-1]
        step = xp.finfo(matrices.dtype).eps * xp.eye(size, dtype=matrices.dtype)
        return xp.linalg.pinv(matrices + step) @ right


def floating(self: Any, name: str, kernel: str = "", empty: bool = False) -> None:
    """A type of reduced precision is refused by the function, or by the kernel that it calls."""
    word = self.dtype.word
    if self.dtype.category < 2:
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {word}"
        )
    if kernel:
        check_precision(self, kernel, empty)
    elif self.dtype.is_reduced:
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {word}")


def check_floating_square(self: Any, name: str, kernel: str = "", empty: bool = False) -> None:
    check_square(self, name)
    floating(self, name, kernel, empty)


# ---- determinants


def _sign_of(xp: Any, pivots: Any) -> Any:
    swaps = (pivots != xp.arange(1, pivots.shape[-1] + 1)).sum(-1)
    return 1 - 2 * (swaps % 2)


def _determinant(xp: Any, A: Any) -> tuple[Any, Any, Any]:
    lu, pivots = factored_for_det(xp, A)
    diagonal = xp.diagonal(lu, 0, -2, -1)
    result = xp.asarray(diagonal.prod(-1) * _sign_of(xp, pivots)).astype(A.dtype)
    return result, column_major(xp, lu), pivots


def _on_diagonal(values: Any, size: int) -> Any:
    wide = expand(unsqueeze(values, -1), (*values.shape, size), False)
    return mt(diag_embed(wide, 0, -2, -1))


def _det_gradient(grad: Any, result: Any, A: Any) -> Any:
    size = A.shape[-1]
    if 0 in A.shape[:-2]:
        return zeros_as(A)
    if size <= 1:  # the element itself
        return expand(unsqueeze(unsqueeze(grad, -1), -1), tuple(A.shape), False)
    return solve_row(mt(A), _on_diagonal(grad * result, size), True, False)[0]


det_row = operator(
    "_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)",
    node="LinalgDetBackward0",
    undifferentiable="LU",
    where="hidden",
    check=lambda A: check_floating_square(A, "linalg.det", "lu_cpu"),
    forward=_determinant,
    A=lambda grads, result, A, LU, pivots: _det_gradient(grads[0], result, A),
    acts="leading",
    doc="The determinant and the factors that it was computed from.",
    samples=("torch.linalg.det(a)",),
)

det = composite(
    "det(Tensor A) -> Tensor",
    lambda A: det_row(A)[0],
    where="torch method linalg",
    doc="Determinant of a square matrix, or of a batch of them.",
    corners=("torch.det(tensor([[1., 2.], [2., 4.]]))",),
    samples=("torch.linalg.det(a)", "torch.det(b)", "a.det()", "torch.det(torch.stack([a, b]))"),
    errors=("torch.linalg.det(x)", "torch.linalg.det(v)", "torch.det(i)"),
)


def _log_determinant(xp: Any, A: Any) -> tuple[Any, Any, Any, Any]:
    lu, pivots = factored_for_det(xp, A)
    diagonal = xp.diagonal(lu, 0, -2, -1)
    size = xp.abs(diagonal)
    signs = xp.where(size > 0, diagonal, 0) / xp.where(size > 0, size, 1)
    sign = xp.asarray(signs.prod(-1) * _sign_of(xp, pivots)).astype(A.dtype)
    logarithm = xp.asarray(precise(xp.log, size).sum(-1)).astype(A.real.dtype)
    return sign, logarithm, column_major(xp, lu), pivots


def _slogdet_gradient(grads: Sequence[Any], sign: Any, A: Any, dtype: Any) -> Any:
    of_sign, grad = grads[:2]
    if is_complex(A):
        if of_sign is not None:
            felt = conj(of_sign) * sign
            turn = (conj(felt) - felt) * 0.5  # -i times its imaginary part
            grad = turn if grad is None else grad + turn
        else:
            grad = alike(grad, dtype)
    if grad is None:
        return None
    return solve_row(mh(A), _on_diagonal(grad, A.shape[-1]), True, False)[0]


slogdet_row = operator(
    "_linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)",
    node="LinalgSlogdetBackward0",
    undifferentiable="LU",
    where="hidden",
    check=lambda A: check_floating_square(A, "linalg.slogdet"),
    forward=_log_determinant,
    holomorphic=False,
    A=lambda grads, sign, A, A_dtype, LU, pivots: _slogdet_gradient(grads, sign, A, A_dtype),
    acts="leading",
    doc="The sign of the determinant and the logarithm of its absolute value.",
    samples=("torch.linalg.slogdet(a)[1]",),
)


def named_outputs(name: str, fields: tuple[str, ...], values: Sequence[Any]) -> Any:
    from ...engine.schema.returns import named

    return named(name, fields, list(values))


slogdet = composite(
    "slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)",
    lambda A: named_outputs("slogdet", ("sign", "logabsdet"), slogdet_row(A)[:2]),
    doc="The sign of the determinant and the logarithm of its absolute value.",
    corners=("torch.slogdet(tensor([[1., 2.], [2., 4.]]).detach())",),
    samples=("torch.slogdet(b)[1]", "a.slogdet().logabsdet"),
)
composite(
    "slogdet.linalg(Tensor A) -> (Tensor sign, Tensor logabsdet)",
    lambda A: named_outputs("linalg_slogdet", ("sign", "logabsdet"), slogdet_row(A)[:2]),
    where="linalg",
    doc="The sign of the determinant and the logarithm of its absolute value.",
    samples=("torch.linalg.slogdet(a)[0]",),
    errors=("torch.linalg.slogdet(x)",),
)


def _logdet(A: Any) -> Any:
    check_floating_square(A, "logdet")
    sign, logabsdet = slogdet_row(A)[:2]
    if A.dtype.is_complex:
        return logabsdet + sign.log()
    return where.run(sign == -1.0, float("nan"), logabsdet)


logdet = composite(
    "logdet(Tensor A) -> Tensor",
    _logdet,
    doc="The logarithm of the determinant; NaN where that is negative.",
    computes="log(det(A))",
    corners=("torch.logdet(tensor([[1., 0.], [0., -1.]]))",),
    samples=("torch.logdet(a)", "b.logdet()"),
)

# ---- inverses


def _inverted(xp: Any, A: Any, check_errors: bool) -> tuple[Any, Any]:
    lu, pivots, info = factored(xp, A)
    if A.size and bool((info != 0).any()):
        return xp.full_like(A, xp.nan), info
    one = xp.eye(A.shape[-1], dtype=A.dtype)
    if is_small_system(lu, one):
        return column_major(xp, solved_by_factors(xp, lu, pivots, one)), info
    return column_major(xp, xp.linalg.inv(A)), info


def batch_clause(info: Any) -> tuple[str, int]:
    """Which matrix of a batch failed first, and at which diagonal element."""
    flat = info.reshape(-1)
    place = int((flat != 0).argmax())
    return (f"(Batch element {place}): " if info.ndim else ""), int(flat[place])


def _refuse_singular(info: Any, name: str) -> None:
    data = info._data
    if data.size and bool((data != 0).any()):
        clause, element = batch_clause(data)
        raise _LinAlgError(
            f"{name}: {clause}The diagonal element {element} is zero, the inversion could not be "
            "completed because the input matrix is singular."
        )


inv_ex_row = operator(
    "_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
    node="LinalgInvExBackward0",
    where="hidden",
    forward=_inverted,
    A=lambda grads, inverse: -matmul_of(mt(inverse), matmul_of(grads[0], mt(inverse))),
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
    doc="The inverse of square matrices, and an error code.",
    samples=("torch.linalg.inv_ex(a)[0]", "torch.linalg.inv_ex(a).info"),
    errors=("torch.linalg.inv_ex(x)",),
)


def inverse_of(A: Any) -> Any:
    check_floating_square(A, "linalg.inv")
    inverse, info = inv_ex_row.run(A, False)
    _refuse_singular(info, "linalg.inv")
    return inverse


inv = composite(
    "inv(Tensor A) -> Tensor",
    lambda A: inverse_of(A),
    where="linalg",
    doc="Inverse of a square matrix, or of a batch of them.",
    corners=("torch.linalg.inv(tensor([[1., 2.], [2., 4.]]))",),
    samples=("torch.linalg.inv(a)", "torch.linalg.inv(torch.stack([a, b]))"),
    errors=(
        "torch.linalg.inv(x)", "torch.linalg.inv(i)", "torch.linalg.inv(torch.zeros(2, 2))",
        "torch.linalg.inv(torch.zeros(2, 2, 2))",
    ),
)  # fmt: skip

inverse = composite(
    "inverse(Tensor self) -> Tensor",
    lambda self: inverse_of(self),
    doc="Inverse of a square matrix, or of a batch of them.",
    corners=("torch.inverse(tensor([[1., 2.], [2., 4.]]))",),
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
    elif left and is_small_system(lu, right) and not bool((info != 0).any()):
        result = solved_by_factors(xp, lu, pivots, right)
    elif left:
        result = solved(xp, A, right)
    else:
        result = solved(xp, A.swapaxes(-1, -2), right.swapaxes(-1, -2)).swapaxes(-1, -2)
    result = result[..., 0] if vector else result
    if result.ndim > 1:  # PyTorch lays a batch of vectors out like the columns of a matrix
        result = column_major(xp, result) if left else result.copy(order="C")
    return result, column_major(xp, lu), pivots, info


def _solve_gradients(grad: Any, result: Any, A: Any, left: bool, needs: Any) -> tuple[Any, Any]:
    if grad is None:
        return None, None
    vector = _is_vector(A, result)
    wide = unsqueeze(grad, -1) if vector else grad
    into_b = solve_row(mt(A), wide, left, False)[0]
    into_a = None
    if needs["A"]:
        known = unsqueeze(result, -1) if vector else result
        into_a = -(matmul_of(into_b, mt(known)) if left else matmul_of(mt(known), into_b))
    if not needs["B"]:
        return into_a, None
    return into_a, squeeze_dim(into_b, -1) if vector else into_b


solve_row = operator(
    "_linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> "
    "(Tensor result, Tensor LU, Tensor pivots, Tensor info)",
    node="LinalgSolveExBackward0",
    undifferentiable="LU",
    where="hidden",
    forward=_solution,
    joint={
        ("A", "B"): lambda grads, result, A, A_shape, B_shape, LU, pivots, left, needs: to_sizes(
            _solve_gradients(grads[0], result, A, left, needs), A_shape, B_shape
        )
    },
    doc="The solution of a linear system, and the factors that it was computed from.",
    samples=("torch.linalg.solve(a, v)",),
)


def to_sizes(grads: Sequence[Any], *shapes: Sequence[int]) -> tuple[Any, ...]:
    """Operands that were broadcast over a batch get their gradients summed."""
    return tuple(
        grad if grad is None or tuple(grad.shape) == tuple(shape) else sum_to(grad, shape)
        for grad, shape in zip(grads, shapes, strict=True)
    )


def _check_system(A: Any, B: Any, left: bool) -> None:
    name = "linalg.solve"
    if A.dtype.category < 2:
        floating(A, name)
    if A.dtype is not B.dtype:
        raise RuntimeError(
            f"{name}: Expected A and B to have the same dtype, but found A of type {A.dtype.word} "
            f"and B of type {B.dtype.word} instead"
        )
    check_square(A, name)
    if not B.ndim:
        raise RuntimeError(f"{name}: The input tensor B must have at least 2 dimensions.")
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
    check_precision(A, "lu_cpu")


def _refuse_unsolvable(info: Any, name: str) -> None:
    if bool((info != 0).any()):
        clause, _ = batch_clause(info)
        raise _LinAlgError(
            f"torch.linalg.{name}: {clause}The solver failed because the input matrix is singular."
        )


def _solve(A: Any, B: Any, left: bool) -> Any:
    _check_system(A, B, left)
    result, _, _, info = solve_row.run(A, B, left, True)
    _refuse_unsolvable(info._data, "solve")
    return result


solve = composite(
    "solve(Tensor A, Tensor B, *, bool left=True) -> Tensor",
    _solve,
    where="linalg",
    doc="Solves a linear system: the solution of A X = B, or of X A = B.",
    computes="inverse(A) @ B",
    corners=("torch.linalg.solve(tensor([[1., 2.], [2., 4.]]), tensor([1., 1.]))",),
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
    _check_system(A, B, left)
    result, _, _, info = solve_row.run(A, B, left, True)
    if check_errors:
        _refuse_unsolvable(info._data, "solve_ex")
    return named_outputs("linalg_solve_ex", ("result", "info"), (result, info))


solve_ex = composite(
    "solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> "
    "(Tensor result, Tensor info)",
    _solve_ex,
    where="linalg",
    doc="The solution of A X = B, and an error code.",
    samples=("torch.linalg.solve_ex(a, b)[0]", "torch.linalg.solve_ex(a, v).info"),
)
