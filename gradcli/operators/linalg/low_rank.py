"""Operators: the largest singular values of a matrix, found on a random subspace."""

from __future__ import annotations

from typing import Any

from ...engine.schema.operator import catalogue, composite
from ...engine.tensors.conversion import default_dtype
from ..shape.transposed import mt
from .product import matmul_of


def _adjoint(matrix: Any) -> Any:
    return mt(matrix.conj()) if matrix.dtype.is_complex else mt(matrix)


def _basis(A: Any, q: int, rounds: int, M: Any) -> Any:
    """An orthonormal basis near the range of A - M, by power iterations on random vectors."""
    call = catalogue.functions
    kind = A.dtype if A.is_floating_point() or A.dtype.is_complex else default_dtype()

    def times(X: Any, adjoint: bool = False) -> Any:
        found = matmul_of(_adjoint(A) if adjoint else A, X)
        return found if M is None else found - matmul_of(_adjoint(M) if adjoint else M, X)

    Q = call["linalg.qr"](times(call["randn"](A.shape[-1], q, dtype=kind, device=A.device)))[0]
    for _ in range(rounds):
        Q = call["linalg.qr"](times(Q, True))[0]
        Q = call["linalg.qr"](times(Q))[0]
    return Q


def _low_rank(A: Any, q: int | None, niter: int | None, M: Any) -> tuple[Any, Any, Any]:
    rows, columns = A.shape[-2:]
    if M is not None:
        M = M.broadcast_to(tuple(A.shape))
    if rows < columns:
        A, M = _adjoint(A), None if M is None else _adjoint(M)
    Q = _basis(A, 6 if q is None else q, 2 if niter is None else niter, M)
    B = matmul_of(_adjoint(Q), A)
    if M is not None:
        B = B - matmul_of(_adjoint(Q), M)
    U, S, Vh = catalogue.functions["linalg.svd"](B, full_matrices=False)
    U, V = matmul_of(Q, U), _adjoint(Vh)
    return (V, S, U) if rows < columns else (U, S, V)


svd_lowrank = composite(
    "svd_lowrank(Tensor A, int? q=6, int? niter=2, Tensor? M=None) -> (Tensor, Tensor, Tensor)",
    _low_rank,
    where="torch",
    doc="Singular vectors and values of a matrix of low rank.",
    samples=(
        "torch.svd_lowrank(x, q=2)[1]", "torch.svd_lowrank(r, 3, 1)[1]",
        "torch.svd_lowrank(a, 3, M=b)[1]",
    ),
)  # fmt: skip


def _components(A: Any, q: int | None, center: bool, niter: int) -> tuple[Any, Any, Any]:
    least = min(A.shape[-2:])
    if q is None:
        q = min(6, least)
    elif not 0 <= q <= least:
        raise ValueError(
            f"q(={q}) must be non-negative integer and not greater than min(m, n)={least}"
        )
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return _low_rank(A - A.mean((-2,), keepdim=True) if center else A, q, niter, None)


pca_lowrank = composite(
    "pca_lowrank(Tensor A, int? q=None, any center=True, int niter=2) -> (Tensor, Tensor, Tensor)",
    _components,
    where="torch",
    doc="Principal components of the rows of a matrix.",
    samples=("torch.pca_lowrank(a, 2)[1]", "torch.pca_lowrank(a, center=False)[1]"),
    errors=("torch.pca_lowrank(a, 5)", "torch.pca_lowrank(a, niter=-1)"),
)
