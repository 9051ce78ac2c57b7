"""Operators: decompositions that an algorithm does not come to an end of, in PyTorch's words."""

from __future__ import annotations

from typing import Any

from ...engine.schema.errors import _LinAlgError


def singular_values(xp: Any, A: Any, **options: Any) -> Any:
    """xp.linalg.svd"""
    try:
        return xp.linalg.svd(A, **options)
    except ValueError:  # LinAlgError
        pass
    clause, is_nan = _failed(xp, A)
    why = "contained non-finite values" if is_nan else (
        "is ill-conditioned or has too many repeated singular values "
        f"(error code: {max(1, min(A.shape[-2:]) - 1)})"
    )  # fmt: skip
    raise _LinAlgError(
        f"linalg.svd: {clause}The algorithm failed to converge because the input matrix {why}."
    )


def symmetric_eigenvalues(xp: Any, A: Any, UPLO: str, vectors: bool = True) -> tuple[Any, Any]:
    """xp.linalg.eigh; PyTorch's code of the error tells whether vectors were asked for."""
    try:
        values, found = xp.linalg.eigh(A, UPLO)
        return values, found
    except ValueError:
        pass
    clause, _ = _failed(xp, A)
    raise _LinAlgError(
        f"linalg.eigh: {clause}The algorithm failed to converge because the input matrix is "
        "ill-conditioned or has too many repeated eigenvalues "
        f"(error code: {max(1, A.shape[-1] - (1 if vectors else 2))})."
    )


def nan_clause(xp: Any, A: Any) -> str:
    """Which matrix of a batch holds a NaN."""
    return _failed(xp, A)[0]


def _failed(xp: Any, A: Any) -> tuple[str, bool]:
    """Which matrix of a batch it was, and whether it holds a NaN."""
    nan = xp.isnan(A).any((-2, -1)).reshape(-1)
    wrong = nan if bool(nan.any()) else ~xp.isfinite(A).all((-2, -1)).reshape(-1)
    clause = f"(Batch element {int(wrong.argmax())}): " if A.ndim > 2 else ""
    return clause, bool(nan.any())
