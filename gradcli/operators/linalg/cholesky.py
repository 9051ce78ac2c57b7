"""Operators: Cholesky factors, and the systems that they solve."""

from __future__ import annotations

from typing import Any

from ...engine.schema.errors import _LinAlgError
from ...engine.schema.operator import composite, operator, warn
from ..conventions import (
    INTEGERS,
    REDUCED,
    check_floating,
    check_precision,
    check_square,
    unimplemented,
)
from ..shape.rearrange import tril
from ..shape.transposed import mh
from .inverse import (
    batch_clause,
    check_floating_square,
    column_major,
    named_outputs,
    solved,
)
from .product import matmul_of, product_of
from .triangular import check_old_system, solve_triangular


def _cholesky_kernel(xp: Any, A: Any, upper: bool, check_errors: bool) -> tuple[Any, Any]:
    lower = xp.tril(A) if not upper else xp.tril(xp.conj(A.swapaxes(-1, -2)))
    wide = "complex128" if A.dtype.kind == "c" else "float64"
    flat = lower.reshape((product_of(A.shape[:-2]), *A.shape[-2:])).astype(wide)
    factor, info = _by_library(xp, flat)
    if factor is None:
        factor, info = _column_by_column(xp, flat)
    result = factor.reshape(A.shape).astype(A.dtype)
    result = xp.conj(result.swapaxes(-1, -2)).copy() if upper else result
    return column_major(xp, result), info.reshape(A.shape[:-2])


def _by_library(xp: Any, flat: Any) -> tuple[Any, Any]:
    """None where a minor is not positive: the library does not say which."""
    if xp.__name__ != "numpy":
        return None, None
    try:
        factor = xp.linalg.cholesky(flat)
    except xp.linalg.LinAlgError:
        return None, None
    good = bool(xp.isfinite(factor).all())
    return factor if good else None, xp.zeros(flat.shape[0], dtype="int32")


def _column_by_column(xp: Any, flat: Any) -> tuple[Any, Any]:
    """As far as minors are positive; what comes after is left as it was, as by LAPACK."""
    factor, info = flat.copy(), xp.zeros(flat.shape[0], dtype="int32")
    for k in range(flat.shape[-1]):
        rest = flat[:, k, k].real - (xp.abs(factor[:, k, :k]) ** 2).sum(-1)
        is_positive, goes_on = rest > 0, info == 0
        info = xp.where(goes_on & ~is_positive, k + 1, info).astype("int32")
        root = xp.sqrt(xp.where(is_positive, rest, 1))
        factor[:, k, k] = xp.where(goes_on, xp.where(is_positive, root, rest), flat[:, k, k])
        row = xp.conj(factor[:, k, None, :k])
        below = flat[:, k + 1 :, k] - (factor[:, k + 1 :, :k] * row).sum(-1)
        kept = (goes_on & is_positive)[:, None]
        factor[:, k + 1 :, k] = xp.where(kept, below / root[:, None], flat[:, k + 1 :, k])
    return factor, info


def _cholesky_gradient(grad: Any, L: Any, upper: bool) -> Any:
    """L^-H (tril(L^H gL), symmetric, halved) L^-1."""
    if upper:
        L, grad = mh(L), mh(grad)
    phi = tril(matmul_of(mh(L), grad), 0)
    phi = (phi + mh(tril(phi, -1))) * 0.5
    half = solve_triangular(mh(L), phi, True, True, False)
    return solve_triangular(L, half, False, False, False)


cholesky_row = operator(
    "_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> "
    "(Tensor L, Tensor info)",
    node="LinalgCholeskyExBackward0",
    where="hidden",
    holomorphic=False,
    forward=_cholesky_kernel,
    self=lambda grads, L, upper: _cholesky_gradient(grads[0], L, upper),
    doc="The Cholesky factor, and the order of the first minor that is not positive.",
    samples=("torch.linalg.cholesky(a @ a.t())",),
)


def _refuse_indefinite(info: Any) -> None:
    data = info._data
    if data.size and bool((data != 0).any()):
        clause, order = batch_clause(data)
        raise _LinAlgError(
            f"linalg.cholesky: {clause}The factorization could not be completed because the input "
            f"is not positive-definite (the leading minor of order {order} is not "
            "positive-definite)."
        )


def _cholesky(self: Any, upper: bool) -> Any:
    check_floating_square(self, "linalg.cholesky", "cholesky_cpu")
    factor, info = cholesky_row.run(self, upper, False)
    _refuse_indefinite(info)
    return factor


cholesky = composite(
    "cholesky.linalg(Tensor self, *, bool upper=False) -> Tensor",
    _cholesky,
    where="linalg",
    doc="Cholesky decomposition: a triangular L with L L^T = A, of a positive-definite matrix.",
    samples=("torch.linalg.cholesky(a @ a.t())", "torch.linalg.cholesky(a @ a.t(), upper=True)"),
    errors=("torch.linalg.cholesky(-a)", "torch.linalg.cholesky(x)"),
)


def _cholesky_ex(self: Any, upper: bool, check_errors: bool) -> Any:
    check_floating_square(self, "linalg.cholesky", "cholesky_cpu")
    return named_outputs("linalg_cholesky_ex", ("L", "info"), cholesky_row.run(self, upper, False))


composite(
    "cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> "
    "(Tensor L, Tensor info)",
    _cholesky_ex,
    where="linalg",
    doc="The Cholesky factor, and the order of the first minor that is not positive.",
    corners=("torch.linalg.cholesky_ex(tensor([[4., 2.], [2., 0.5]]))",),
    samples=("torch.linalg.cholesky_ex(a @ a.t())[0]", "torch.linalg.cholesky_ex(a @ a.t()).info"),
)

operator(
    "cholesky(Tensor self, bool upper=False) -> Tensor",
    node="CholeskyBackward0",
    holomorphic=False,
    check=lambda self, upper: _check_old(self),
    forward=lambda xp, self, upper: _old_cholesky(xp, self, upper),
    self=lambda grad, result, upper: _cholesky_gradient(grad, result, upper),
    jacobian="triangular",
    doc="The Cholesky factor under its older name.",
    samples=("torch.cholesky(a @ a.t())", "(a @ a.t()).cholesky(upper=True)"),
)


def _check_old(self: Any) -> None:
    warn(
        "torch.cholesky is deprecated in favor of torch.linalg.cholesky and will be removed in a "
        "future PyTorch release.\n"
        "L = torch.cholesky(A)\nshould be replaced with\nL = torch.linalg.cholesky(A)\nand\n"
        "U = torch.cholesky(A, upper=True)\nshould be replaced with\n"
        "U = torch.linalg.cholesky(A).mH\n"
        "This transform will produce equivalent results for all valid (symmetric positive "
        "definite) inputs."
    )
    check_square(self, "cholesky")
    check_floating(self, "cholesky_cpu")


def _old_cholesky(xp: Any, self: Any, upper: bool) -> Any:
    factor, info = _cholesky_kernel(xp, self, upper, False)
    if bool((info != 0).any()):
        clause, order = batch_clause(info)
        raise _LinAlgError(
            f"cholesky: {clause}The factorization could not be completed because the input is not "
            f"positive-definite (the leading minor of order {order} is not positive-definite)."
        )
    return factor


def _cholesky_solution(xp: Any, self: Any, input2: Any, upper: bool) -> Any:
    return column_major(xp, solved(xp, _squared(xp, input2, upper), self))


def _squared(xp: Any, factor: Any, upper: bool) -> Any:
    """The matrix of a Cholesky factor; what lies beyond its triangle is not looked at."""
    factor = xp.triu(factor) if upper else xp.tril(factor)
    turned = factor.swapaxes(-1, -2).conj()
    return turned @ factor if upper else factor @ turned


def _cholesky_solve_gradients(
    grad: Any, input2: Any, result: Any, upper: bool, needs: Any
) -> tuple[Any, Any]:
    into_self = cholesky_solve(grad, input2, upper)
    into_factor = None
    if needs["input2"]:
        common = matmul_of(into_self, mh(result))
        common = common + mh(common)
        into_factor = -(matmul_of(input2, common) if upper else matmul_of(common, input2))
    return into_self if needs["self"] else None, into_factor


def _check_system(b: Any, A: Any) -> None:
    for word, matrix in (("b", b), ("u", A)):
        if matrix.ndim < 2:
            raise RuntimeError(
                f"{word} should have at least 2 dimensions, but has {matrix.ndim} dimensions "
                "instead"
            )
    check_old_system(b, A, "cholesky_solve")


def _check_factor(self: Any) -> None:
    check_square(self, "cholesky_inverse")
    check_precision(self, "cholesky_inverse_out_cpu", empty=True)


cholesky_solve = operator(
    "cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor",
    node="CholeskySolveBackward0",
    holomorphic=False,
    check=lambda self, input2, upper: _check_system(self, input2),
    forward=_cholesky_solution,
    joint={
        ("self", "input2"): lambda grad, self, input2, result, upper, needs: (
            _cholesky_solve_gradients(grad, input2, result, upper, needs)
        )
    },
    doc="The solution of a system whose matrix is given by its Cholesky factor.",
    computes="solve(input2 @ input2.mT, self)",
    samples=("torch.cholesky_solve(b, a.tril())", "b.cholesky_solve(a.triu(), upper=True)"),
    errors=("v.cholesky_solve(a)", "a.cholesky_solve(v)", "d.cholesky_solve(a)",
            "x.cholesky_solve(a)", "a.cholesky_solve(x)"),
)  # fmt: skip


def _cholesky_inverse_gradient(grad: Any, L: Any, result: Any, upper: bool) -> Any:
    common = grad + mh(grad)
    common = matmul_of(result, matmul_of(common, result))
    return -(matmul_of(L, common) if upper else matmul_of(common, L))


cholesky_inverse = operator(
    "cholesky_inverse(Tensor self, bool upper=False) -> Tensor",
    node="CholeskyInverseBackward0",
    holomorphic=False,
    refuse=unimplemented("cholesky_inverse_out_cpu", *INTEGERS, "Bool", *REDUCED),
    check=lambda self, upper: _check_factor(self),
    forward=lambda xp, self, upper: column_major(
        xp,
        xp.linalg.inv(_squared(xp, self, upper)),
    ),
    self=lambda grad, self, result, upper: _cholesky_inverse_gradient(grad, self, result, upper),
    doc="The inverse of a matrix that is given by its Cholesky factor.",
    computes="inverse(self @ self.mT)",
    samples=("torch.cholesky_inverse(a.tril())", "a.triu().cholesky_inverse(upper=True)"),
    errors=("v.cholesky_inverse()", "x.cholesky_inverse()"),
)
