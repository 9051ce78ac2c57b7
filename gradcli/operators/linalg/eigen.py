"""Operators: eigenvalues of matrices that need not be symmetric: complex numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.schema.mode import state
from ...engine.schema.operator import composite, operator
from ..elementwise.complex_parts import conj, real_part
from ..shape.diagonals import diagonal
from ..shape.squeeze import unsqueeze
from ..shape.transposed import mh
from .decompose import _gaps, check_phase, write_over
from .inverse import check_floating_square, column_major, named_outputs, solve_row
from .product import matmul_of


def _eigen_kernel(xp: Any, A: Any) -> tuple[Any, Any]:
    if not A.size:
        kind = xp.result_type(A.dtype, xp.complex64)
        return xp.zeros(A.shape[:-1], dtype=kind), xp.zeros(A.shape, dtype=kind)
    if not bool(xp.isfinite(A).all()):
        raise RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    values, vectors = xp.linalg.eig(A)
    kind = xp.result_type(A.dtype, xp.complex64)
    return values.astype(kind), column_major(xp, vectors.astype(kind))


def _eigen_gradient(grads: Sequence[Any], L: Any, V: Any) -> Any:
    of_values, of_vectors = grads
    if of_vectors is None:
        return solve_row(mh(V), unsqueeze(of_values, -1) * mh(V), True, False)[0]
    product = matmul_of(mh(V), of_vectors)
    place = diagonal(product, 0, -2, -1)
    check_phase(place, "linalg_eig_backward")
    inner = product - matmul_of(mh(V), V * unsqueeze(real_part(place), -2))
    inner = inner / _gaps(conj(L))
    if of_values is not None:
        write_over(diagonal(inner, 0, -2, -1), of_values)
    return solve_row(mh(V), matmul_of(inner, mh(V)), True, False)[0]


def _check_eigen(A: Any, name: str) -> None:
    if A.dtype.category < 2:
        raise RuntimeError(f"Unknown Complex ScalarType for {A.dtype.word}")
    check_floating_square(A, name, "linalg_eig_out_cpu", empty=True)


def _eigenvalues(A: Any) -> Any:
    if not (A.requires_grad and state.grad_enabled):  # else it is the other function that checks
        _check_eigen(A, "linalg.eigvals")
    return eig_row(A)[0]


eig_row = operator(
    "_linalg_eig(Tensor A) -> (Tensor eigenvalues, Tensor eigenvectors)",
    node="LinalgEigBackward0",
    where="hidden",
    holomorphic=False,
    check=lambda A: _check_eigen(A, "linalg.eig"),
    forward=_eigen_kernel,
    A=lambda grads, A_kind, eigenvalues, eigenvectors: _as(
        A_kind, _eigen_gradient(grads, eigenvalues, eigenvectors)
    ),
    doc="Eigenvalues and eigenvectors of a square matrix.",
    samples=("torch.linalg.eigvals(a)",),
)


def _as(kind: Any, grad: Any) -> Any:
    return grad if kind.dtype.is_complex else real_part(grad)


composite(
    "eig(Tensor A) -> (Tensor eigenvalues, Tensor eigenvectors)",
    lambda A: named_outputs("linalg_eig", ("eigenvalues", "eigenvectors"), eig_row(A)),
    where="linalg",
    doc="Eigenvalues and eigenvectors of a square matrix, complex and in no order.",
    samples=(
        "torch.linalg.eig(a)[0]",
        "torch.linalg.eig(a)[1].abs().detach()",
        "torch.linalg.eig(c)[0]",
    ),
    errors=("torch.linalg.eig(x)",),
)

composite(
    "eigvals(Tensor A) -> Tensor",
    _eigenvalues,
    where="linalg",
    doc="The eigenvalues of a square matrix, complex and in no order.",
    samples=("torch.linalg.eigvals(a)", "torch.linalg.eigvals(c).real.sum(-1)"),
    errors=("torch.linalg.eigvals(x)",),
)
