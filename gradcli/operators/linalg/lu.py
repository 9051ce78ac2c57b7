"""Operators: LU factors, packed and unpacked, and the systems that they solve."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ...engine.schema import dtypes
from ...engine.schema.operator import composite, operator, warn
from ...numerics.small_systems import is_small_system
from ..conventions import check_floating, check_precision, check_square
from ..geometry import broadcast_sizes
from ..reduce.sums import sum_to
from ..shape.constants import zeros_of
from ..shape.join import cat
from ..shape.rearrange import tril, triu
from ..shape.select import slice_
from ..shape.transposed import mh, mt
from .inverse import batch_clause, column_major, factored, named_outputs, solved, solved_by_factors
from .product import matmul_of, product_of
from .triangular import check_right_side, solve_triangular


def _permutation(xp: Any, pivots: Any, rows: int) -> Any:
    """The order of rows after all exchanges."""
    flat = pivots.reshape((product_of(pivots.shape[:-1]), pivots.shape[-1]))
    order = xp.broadcast_to(xp.arange(rows), (flat.shape[0], rows)).copy()
    which = xp.arange(flat.shape[0])
    for k in range(flat.shape[-1]):
        other = flat[:, k] - 1
        first, second = order[:, k].copy(), order[which, other].copy()
        order[:, k], order[which, other] = second, first
    return order.reshape((*pivots.shape[:-1], rows))


def _permuting(xp: Any, pivots: Any, rows: int, dtype: Any) -> Any:
    order = _permutation(xp, pivots, rows)
    matrix = (order[..., None, :] == xp.arange(rows)[:, None]).astype(dtype)
    return matrix


def _unpacked(xp: Any, lu: Any) -> tuple[Any, Any]:
    rows, columns = lu.shape[-2:]
    steps = min(rows, columns)
    lower = xp.tril(lu[..., :, :steps], -1) + xp.eye(rows, steps, dtype=lu.dtype)
    return lower, xp.triu(lu[..., :steps, :])


# ---- gradients


def lu_gradient(of_l: Any, of_u: Any, P: Any, L: Any, U: Any) -> Any:
    """P L^-T (tril(L^T gL, -1) + triu(gU U^T)) U^-T, and what a longer side adds."""
    rows, columns = L.shape[-2], U.shape[-1]
    if rows == columns:
        return _square_gradient(of_l, of_u, P, L, U)
    steps = min(rows, columns)
    return (
        _wide(of_l, of_u, P, L, U, steps) if rows < columns else _tall(of_l, of_u, P, L, U, steps)
    )


def _wide(of_l: Any, of_u: Any, P: Any, L: Any, U: Any, steps: int) -> Any:
    columns = U.shape[-1]
    first = slice_(U, -1, 0, steps, 1)
    phi = None if of_l is None else matmul_of(mt(L), of_l)
    if of_u is not None:
        part = matmul_of(triu(of_u, 0), mt(U))
        phi = -part if phi is None else phi - part
    result = solve_triangular(mt(first), tril(phi, -1), False, False, False)
    if of_u is None:
        rest = zeros_of(result, (*U.shape[:-1], columns - steps))
    else:
        result = result + triu(slice_(of_u, -1, 0, steps, 1), 0)
        rest = slice_(of_u, -1, steps, columns, 1)
    result = solve_triangular(mt(L), cat([result, rest], -1), True, True, True)
    return result if P is None else matmul_of(P, result)


def _tall(of_l: Any, of_u: Any, P: Any, L: Any, U: Any, steps: int) -> Any:
    rows = L.shape[-2]
    upper = slice_(L, -2, 0, steps, 1)
    phi = None if of_u is None else matmul_of(of_u, mt(U))
    if of_l is not None:
        part = matmul_of(mt(L), tril(of_l, -1))
        phi = -part if phi is None else phi - part
    result = solve_triangular(mt(upper), triu(phi, 0), True, True, True)
    if of_l is None:
        rest = zeros_of(result, (*L.shape[:-2], rows - steps, steps))
    else:
        result = result + tril(slice_(of_l, -2, 0, steps, 1), -1)
        rest = slice_(of_l, -2, steps, rows, 1)
    result = solve_triangular(mt(U), cat([result, rest], -2), False, False, False)
    return result if P is None else matmul_of(P, result)


def _square_gradient(of_l: Any, of_u: Any, P: Any, L: Any, U: Any) -> Any:
    phi = None if of_l is None else tril(matmul_of(mt(L), of_l), -1)
    if of_u is not None:
        part = triu(matmul_of(of_u, mt(U)), 0)
        phi = part if phi is None else phi + part
    result = solve_triangular(mt(U), phi, False, False, False)
    result = solve_triangular(mt(L), result, True, True, True)
    return result if P is None else matmul_of(P, result)


# ---- packed factors


def _check_lu(A: Any, name: str) -> None:
    if A.ndim < 2:
        raise RuntimeError(
            f"{name}: Expected tensor with 2 or more dimensions. Got size: {list(A.shape)} instead"
        )
    check_floating(A, "lu_cpu")


def _packed_gradient(grad: Any, LU: Any, pivots: Any) -> Any:
    rows, columns = LU.shape[-2], LU.shape[-1]
    steps = min(rows, columns)
    L, U, P = lu_unpack_row(LU, pivots, True, True)
    of_l = slice_(grad, -1, 0, steps, 1)
    of_u = slice_(grad, -2, 0, steps, 1)
    return lu_gradient(of_l, of_u, P, L, U)


def _factor_kernel(xp: Any, A: Any, pivot: bool, check_errors: bool) -> tuple[Any, Any, Any]:
    lu, pivots, info = factored(xp, A)
    return column_major(xp, lu), pivots, info


def _factored(name: str, fields: int, A: Any, pivot: bool, check_errors: bool = True) -> Any:
    result = factor_row.run(A, pivot, check_errors)
    info = result[2]._data
    if check_errors and bool((info != 0).any()):
        clause, order = batch_clause(info)
        raise RuntimeError(
            f"torch.linalg.{name}: {clause}U[{order},{order}] is zero and using it on lu_solve "
            "would result in a division by zero. If you still want to perform the factorization, "
            "consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"
        )
    return named_outputs(f"linalg_{name}", ("LU", "pivots", "info")[:fields], result[:fields])


factor_row = operator(
    "_linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> "
    "(Tensor LU, Tensor pivots, Tensor info)",
    node="LinalgLuFactorExBackward0",
    where="hidden",
    check=lambda A, pivot, check_errors: _check_lu(A, "torch.lu_factor"),
    forward=_factor_kernel,
    A=lambda grads, LU, pivots, pivot: _packed_gradient(grads[0], LU, pivots),
    doc="LU factors in one matrix, and the row exchanges.",
    samples=("torch.linalg.lu_factor(a)[0]",),
)

lu_factor_ex = composite(
    "lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> "
    "(Tensor LU, Tensor pivots, Tensor info)",
    partial(_factored, "lu_factor_ex", 3),
    where="linalg",
    doc="LU factors in one matrix, the row exchanges, and where a zero pivot was met.",
    samples=("torch.linalg.lu_factor_ex(a)[0]", "torch.linalg.lu_factor_ex(a).info"),
)

lu_factor = composite(
    "lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)",
    partial(_factored, "lu_factor", 2),
    where="linalg",
    doc="LU factors in one matrix, and the row exchanges.",
    samples=(
        "torch.linalg.lu_factor(a)[0]", "torch.linalg.lu_factor(x)[0]",
        "torch.linalg.lu_factor(a).pivots",
    ),
)  # fmt: skip


def _old_lu(self: Any, pivot: bool, get_infos: bool) -> Any:
    warn(
        "torch.lu is deprecated in favor of torch.linalg.lu_factor / torch.linalg.lu_factor_ex "
        "and will be removed in a future PyTorch release.\n"
        "LU, pivots = torch.lu(A, compute_pivots)\nshould be replaced with\n"
        "LU, pivots = torch.linalg.lu_factor(A, compute_pivots)\nand\n"
        "LU, pivots, info = torch.lu(A, compute_pivots, get_infos=True)\nshould be replaced with\n"
        "LU, pivots, info = torch.linalg.lu_factor_ex(A, compute_pivots)"
    )
    return factor_row.run(self, pivot, False)[: 3 if get_infos else 2]


composite(
    "lu(Tensor self, bool pivot=True, bool get_infos=False) -> (Tensor LU, Tensor pivots)",
    _old_lu,
    doc="LU factors under their older name.",
    samples=("torch.lu(a)[0]", "a.lu()[1]"),
)

# ---- factors apart
#
# The rows list P last: PyTorch numbers a node's differentiable outputs only.


def _first(outputs: Sequence[Any]) -> tuple[Any, ...]:
    """P L U, as programs get them."""
    return (outputs[-1], *outputs[:-1])


def _unpack_gradient(grads: Sequence[Any], rows: int, columns: int) -> Any:
    of_l, of_u, _ = grads
    some = of_l if of_l is not None else of_u
    steps = min(rows, columns)
    shape = tuple(some.shape[:-2])
    total = None
    if of_l is not None:
        total = tril(of_l, -1)
        if columns > steps:
            total = cat([total, zeros_of(some, (*shape, rows, columns - steps))], -1)
    if of_u is not None:
        part = triu(of_u, 0)
        if rows > steps:
            part = cat([part, zeros_of(some, (*shape, rows - steps, columns))], -2)
        total = part if total is None else total + part
    return total


def _unpack_kernel(
    xp: Any, LU_data: Any, LU_pivots: Any, unpack_data: bool, unpack_pivots: bool
) -> tuple[Any, Any, Any]:
    empty = xp.zeros(0, dtype=LU_data.dtype)
    P = _permuting(xp, LU_pivots, LU_data.shape[-2], LU_data.dtype) if unpack_pivots else empty
    L, U = _unpacked(xp, LU_data) if unpack_data else (empty, empty)
    return L, U, P


lu_unpack_row = operator(
    "_lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, "
    "bool unpack_pivots=True) -> (Tensor L, Tensor U, Tensor P)",
    node="LuUnpackBackward0",
    where="hidden",
    undifferentiable="P",
    layout="row-major",
    forward=_unpack_kernel,
    LU_data=lambda grads, LU_data_sym_argsize_minus_2, LU_data_sym_argsize_minus_1: (
        _unpack_gradient(grads, LU_data_sym_argsize_minus_2, LU_data_sym_argsize_minus_1)
    ),
    doc="The permutation and both factors of a packed LU.",
    samples=("torch.lu_unpack(*torch.linalg.lu_factor(a))[1]",),
)

composite(
    "lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, "
    "bool unpack_pivots=True) -> (Tensor P, Tensor L, Tensor U)",
    lambda LU_data, LU_pivots, unpack_data, unpack_pivots: named_outputs(
        "lu_unpack",
        ("P", "L", "U"),
        _first(lu_unpack_row.run(LU_data, LU_pivots, unpack_data, unpack_pivots)),
    ),
    where="torch",
    doc="The permutation and both factors of a packed LU.",
    samples=(
        "torch.lu_unpack(*torch.linalg.lu_factor(a))[1]",
        "torch.lu_unpack(*torch.linalg.lu_factor(a))[2]",
        "torch.lu_unpack(*torch.linalg.lu_factor(a)).P",
    ),
)


def _apart_kernel(xp: Any, A: Any, pivot: bool) -> tuple[Any, Any, Any]:
    lu, pivots, _ = factored(xp, A)
    return (*_unpacked(xp, lu), _permuting(xp, pivots, A.shape[-2], A.dtype))


lu_row = operator(
    "_linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor L, Tensor U, Tensor P)",
    node="LinalgLuBackward0",
    where="hidden",
    undifferentiable="P",
    check=lambda A, pivot: _check_lu(A, "linalg.lu"),
    forward=_apart_kernel,
    A=lambda grads, P, L, U, pivot: lu_gradient(grads[0], grads[1], P, L, U),
    doc="A = P L U.",
    samples=("torch.linalg.lu(a)[1]",),
)

composite(
    "lu.linalg(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)",
    lambda A, pivot: named_outputs("linalg_lu", ("P", "L", "U"), _first(lu_row.run(A, pivot))),
    where="linalg",
    doc="A = P L U.",
    samples=(
        "torch.linalg.lu(a)[0]", "torch.linalg.lu(a)[1]", "torch.linalg.lu(a)[2]",
        "torch.linalg.lu(x)[2]", "torch.linalg.lu(x.t())[1]",
    ),
    errors=("torch.linalg.lu(v)",),
)  # fmt: skip

# ---- systems


def _check_solvable(LU: Any, pivots: Any, B: Any, left: bool, adjoint: bool) -> None:
    name = "linalg.lu_solve"
    if LU.dtype is not B.dtype:
        raise RuntimeError(
            f"{name}: Expected LU and B to have the same dtype, but found LU of type "
            f"{LU.dtype.word} and B of type {B.dtype.word} instead"
        )
    if pivots.dtype is not dtypes.int32:
        raise RuntimeError(f"{name}: pivots should be a Tensor of scalar type torch.int32")
    check_square(LU, f"torch.{name}")
    check_right_side(LU, B, left, name)
    if not pivots.ndim:
        raise IndexError("Dimension specified as -1 but tensor has no dimensions")
    if LU.shape[-1] != pivots.shape[-1]:
        raise RuntimeError(
            f"{name}: Number of pivots per batch should be same as the dimension of the matrix"
        )
    if LU.shape[:-1] != pivots.shape:
        raise RuntimeError(
            f"{name}: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with "
            f"shape {list(pivots.shape)} instead"
        )
    broadcast_sizes(B.shape[:-2], LU.shape[:-2])
    check_precision(B if LU.numel() else LU, "linalg.lu_solve_cpu")


def _lu_solution(xp: Any, LU: Any, pivots: Any, B: Any, left: bool, adjoint: bool) -> Any:
    if (pivots > LU.shape[-1]).any():
        raise RuntimeError(
            "Pivots given to lu_solve must all be smaller or equal to LU.size(-2). Did you "
            "properly pass the result of lu_factor?"
        )
    if left and not adjoint and is_small_system(LU, B) and xp.diagonal(LU, 0, -2, -1).all():
        return column_major(xp, solved_by_factors(xp, LU, pivots, B))
    L, U = _unpacked(xp, LU)
    A = _permuting(xp, pivots, LU.shape[-2], LU.dtype) @ (L @ U)
    A = xp.conj(A.swapaxes(-1, -2)) if adjoint else A
    if left:
        return column_major(xp, solved(xp, A, B))
    return solved(xp, A.swapaxes(-1, -2), B.swapaxes(-1, -2)).swapaxes(-1, -2).copy(order="C")


def _lu_solve_gradient(
    grad: Any, LU: Any, pivots: Any, result: Any, left: bool, adjoint: bool
) -> Any:
    """The gradient of the packed factors of A = P L U, whichever side was solved for."""
    L, U, P = lu_unpack_row(LU, pivots, True, left == adjoint)
    if left != adjoint:
        product = -matmul_of(grad if left else mh(grad), mh(result) if left else result)
        of_u = solve_triangular(mh(U), product, False, True, False)
        inner = matmul_of(of_u, mh(U))
        of_l = tril(solve_triangular(mh(L), inner, True, True, True), -1)
        return of_l + triu(of_u, 0)
    known = result if left else mh(result)
    product = matmul_of(matmul_of(mh(P), known), mh(grad) if left else grad)
    of_l = solve_triangular(mh(L), -matmul_of(product, P), True, False, True)
    of_u = triu(solve_triangular(mh(U), matmul_of(mh(L), of_l), False, False, False), 0)
    return tril(of_l, -1) + of_u


lu_solve = operator(
    "lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor",
    node="LinalgLuSolveBackward0",
    where="linalg",
    holomorphic=False,
    check=_check_solvable,
    forward=_lu_solution,
    LU=lambda grad, LU, pivots, result, left, adjoint: _lu_solve_gradient(
        grad, LU, pivots, result, left, adjoint
    ),
    B=lambda grad, LU, pivots, B_shape, left, adjoint: sum_to(
        lu_solve(LU, pivots, grad, left, not adjoint), B_shape
    ),
    doc="The solution of a system whose matrix is given by its packed LU factors.",
    samples=(
        "torch.linalg.lu_solve(*torch.linalg.lu_factor(a), b)",
        "torch.linalg.lu_solve(*torch.linalg.lu_factor(a), x, left=False)",
        "torch.linalg.lu_solve(*torch.linalg.lu_factor(a), b, adjoint=True)",
    ),
    errors=(
        "torch.linalg.lu_solve(*torch.linalg.lu_factor(a), v)",
        "torch.linalg.lu_solve(*torch.linalg.lu_factor(a), b.double())",
        "torch.linalg.lu_solve(*torch.linalg.lu_factor(a), b[:2])",
        "torch.linalg.lu_solve(*torch.linalg.lu_factor(a), a[:, :2], left=False)",
        "torch.linalg.lu_solve(a, torch.ones(3), b)",
        "torch.linalg.lu_solve(a, torch.ones(2, dtype=torch.int32), b)",
        "torch.linalg.lu_solve(a, torch.ones(1, 3, dtype=torch.int32), b)",
        "torch.linalg.lu_solve(a, torch.tensor([1, 9, 3], dtype=torch.int32), b)",
    ),
)


def _old_lu_solve(self: Any, LU_data: Any, LU_pivots: Any) -> Any:
    warn(
        "torch.lu_solve is deprecated in favor of torch.linalg.lu_solveand will be removed in a "
        "future PyTorch release.\nNote that torch.linalg.lu_solve has its arguments reversed.\n"
        "X = torch.lu_solve(B, LU, pivots)\nshould be replaced with\n"
        "X = torch.linalg.lu_solve(LU, pivots, B)"
    )
    return lu_solve.run(LU_data, LU_pivots, self, True, False)


composite(
    "lu_solve.torch(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor",
    _old_lu_solve,
    doc="The solution under its older name, the right-hand side first.",
    samples=("torch.lu_solve(b, *torch.linalg.lu_factor(a))",),
)
