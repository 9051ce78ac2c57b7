"""Operators: triangular systems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.schema.operator import composite, operator, warn
from ..conventions import (
    check_precision,
    check_square,
)
from ..shape.rearrange import tril, triu
from ..shape.transposed import mt
from .inverse import (
    column_major,
    named_outputs,
    solved,
    to_sizes,
)
from .product import matmul_of


def _part(xp: Any, A: Any, upper: bool, unitriangular: bool, transposed: bool = False) -> Any:
    part = xp.triu(A) if upper else xp.tril(A)
    if unitriangular:
        eye = xp.eye(A.shape[-1], dtype=A.dtype)
        part = part * (1 - eye) + eye
    return part.swapaxes(-1, -2) if transposed else part


def _triangular_solution(
    xp: Any, A: Any, B: Any, upper: bool, left: bool, unitriangular: bool
) -> Any:
    part = _part(xp, A, upper, unitriangular)
    if left:
        return column_major(xp, xp.asarray(solved(xp, part, B)))
    return solved(xp, part.swapaxes(-1, -2), B.swapaxes(-1, -2)).swapaxes(-1, -2)


def _triangular_gradients(
    grad: Any, A: Any, result: Any, upper: bool, left: bool, unitriangular: bool, needs: Any
) -> tuple[Any, Any]:
    into_b = solve_triangular(mt(A), grad, not upper, left, unitriangular)
    into_a = None
    if needs["self"]:
        product = matmul_of(into_b, mt(result)) if left else matmul_of(mt(result), into_b)
        part = -product
        into_a = triu(part, int(unitriangular)) if upper else tril(part, -int(unitriangular))
    return into_a, into_b if needs["B"] else None


def _check_triangular(A: Any, B: Any, upper: bool, left: bool, unitriangular: bool) -> None:
    name = "linalg.solve_triangular"
    check_square(A, name)
    check_right_side(A, B, left, name)
    check_precision(A, "triangular_solve_cpu", empty=True)


def check_right_side(A: Any, B: Any, left: bool, name: str) -> None:
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
            to_sizes(
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


# ---- under the older name


def check_old_system(b: Any, A: Any, name: str) -> None:
    """What the older names say of a system whose matrices do not fit."""
    if b.dtype is not A.dtype:
        raise RuntimeError(
            f"Expected b and A to have the same dtype, but found b of type {b.dtype.word} and A "
            f"of type {A.dtype.word} instead."
        )
    (rows, columns), (tall, wide) = A.shape[-2:], b.shape[-2:]
    if rows != columns:
        raise RuntimeError(
            f"A must be batches of square matrices, but they are {rows} by {columns} matrices"
        )
    if tall != rows:
        raise RuntimeError(
            f"Incompatible matrix sizes for {name}: each A matrix is {rows} by {columns} but each "
            f"b matrix is {tall} by {wide}"
        )
    check_precision(b, f"{name}_cpu", empty=True)


def _check_old_triangular(self: Any, A: Any, *settings: bool) -> None:
    for name, tensor in (("b", self), ("A", A)):
        if tensor.ndim < 2:
            raise RuntimeError(
                f"torch.triangular_solve: Expected {name} to have at least 2 dimensions, but it "
                f"has {tensor.ndim} dimensions instead"
            )
    check_old_system(self, A, "triangular_solve")


def _old_gradients(
    grads: Sequence[Any],
    A: Any,
    solution: Any,
    upper: bool,
    transpose_: bool,
    unit: bool,
    needs: Any,
) -> tuple[Any, Any]:
    of_solution, of_copy = grads
    into_b = into_a = None
    if of_solution is not None:
        into_b = triangular_row(of_solution, A, upper, not transpose_, unit)[0]
        if needs["A"]:
            product = (
                matmul_of(solution, mt(into_b)) if transpose_ else matmul_of(into_b, mt(solution))
            )
            into_a = triu(-product, int(unit)) if upper else tril(-product, -int(unit))
    if of_copy is not None:
        into_a = of_copy if into_a is None else into_a + of_copy
    return into_b if needs["self"] else None, into_a


triangular_row = operator(
    "_triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, "
    "bool unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)",
    node="TriangularSolveBackward0",
    where="hidden",
    check=_check_old_triangular,
    forward=lambda xp, self, A, upper, transpose, unitriangular: (
        column_major(xp, solved(xp, _part(xp, A, upper, unitriangular, transpose), self)),
        column_major(xp, A),
    ),
    joint={
        ("self", "A"): lambda grads, self, A, solution, upper, transpose, unitriangular, needs: (
            _old_gradients(grads, A, solution, upper, transpose, unitriangular, needs)
        )
    },
    doc="The solution of a triangular system, and a copy of its matrix.",
    samples=("torch.triangular_solve(b, a)[0]",),
)


def _old_triangular(self: Any, A: Any, *settings: bool) -> Any:
    warn(
        "torch.triangular_solve is deprecated in favor of torch.linalg.solve_triangularand will be "
        "removed in a future PyTorch release.\n"
        "torch.linalg.solve_triangular has its arguments reversed and does not return a copy of "
        "one of the inputs.\n"
        "X = torch.triangular_solve(B, A).solution\nshould be replaced with\n"
        "X = torch.linalg.solve_triangular(A, B)."
    )
    return triangular_row.run(self, A, *settings)


composite(
    "triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, "
    "bool unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)",
    lambda self, A, upper, transpose, unitriangular: named_outputs(
        "triangular_solve",
        ("solution", "cloned_coefficient"),
        _old_triangular(self, A, upper, transpose, unitriangular),
    ),
    doc="The solution of a triangular system under its older name.",
    samples=(
        "torch.triangular_solve(b, a)[0]",
        "b.triangular_solve(a, upper=False, transpose=True).solution",
    ),
    errors=(
        "torch.triangular_solve(v, a)",
        "torch.triangular_solve(b, v)",
        "torch.triangular_solve(b, a.double())",
        "torch.triangular_solve(b, a[:, :2])",
        "torch.triangular_solve(b[:2], a)",
    ),
)
