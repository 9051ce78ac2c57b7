"""Operators: products of Householder reflections, and the QR factorisation that is made of them."""

from __future__ import annotations

from typing import Any

from ...engine.schema.operator import composite, operator
from ..conventions import check_precision, underivable
from ..elementwise.complex_parts import conj
from ..shape.constants import zeros_of
from ..shape.join import cat
from ..shape.rearrange import tril
from ..shape.select import slice_
from ..shape.squeeze import unsqueeze
from ..shape.transposed import mh
from .inverse import column_major, named_outputs
from .product import matmul_of

NAME = "torch.linalg.householder_product"


def _check(input: Any, tau: Any) -> None:
    if input.ndim < 2:
        raise RuntimeError(f"{NAME}: input must have at least 2 dimensions.")
    if input.shape[-2] < input.shape[-1]:
        raise RuntimeError(
            f"{NAME}: input.shape[-2] must be greater than or equal to input.shape[-1]"
        )
    if input.shape[-1] < tau.shape[-1]:
        raise RuntimeError(
            f"{NAME}: input.shape[-1] must be greater than or equal to tau.shape[-1]"
        )
    if input.ndim - tau.ndim != 1:
        raise RuntimeError(
            f"{NAME}: Expected tau to have one dimension less than input, but got tau.ndim equal "
            f"to {tau.ndim} and input.ndim is equal to {input.ndim}"
        )
    if tau.shape[:-1] != input.shape[:-2]:
        raise RuntimeError(
            f"{NAME}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got "
            f"{list(tau.shape[:-1])}"
        )
    if tau.dtype != input.dtype:
        raise RuntimeError(
            f"{NAME}: tau dtype {tau.dtype.word} does not match input dtype {input.dtype.word}"
        )
    check_precision(input, "orgqr_cpu")


def _product_kernel(xp: Any, input: Any, tau: Any) -> Any:
    """The first columns of H_1 ... H_k, where H_i = 1 - tau_i v_i v_i^H."""
    rows, columns = input.shape[-2:]
    vectors = xp.tril(input, -1) + xp.eye(rows, columns, dtype=input.dtype)
    result = xp.zeros_like(input) + xp.eye(rows, columns, dtype=input.dtype)
    for place in reversed(range(tau.shape[-1])):
        vector = vectors[..., place : place + 1]
        row = xp.conj(vector.swapaxes(-1, -2)) @ result
        result = result - tau[..., None, place : place + 1] * vector * row
    return column_major(xp, result)


def _columns(input: Any, tau: Any) -> tuple[list[Any], list[Any]]:
    """The vectors v_i and the numbers tau_i, each as a matrix of one column."""
    count = tau.shape[-1]
    vectors, taus = [], []
    for place in range(count):
        below = slice_(tril(input, -1), -1, place, place + 1, 1)
        # A one on the diagonal: what is above it is zero, and stays constant.
        one = zeros_of(below, (*below.shape[:-2], 1, 1)) + 1
        parts = [slice_(below, -2, 0, place, 1), one,
                 slice_(below, -2, place + 1, input.shape[-2], 1)]  # fmt: skip
        vectors.append(cat(parts, -2))
        taus.append(unsqueeze(slice_(tau, -1, place, place + 1, 1), -2))
    return vectors, taus


def _gradients(grad: Any, input: Any, tau: Any, result: Any) -> tuple[Any, Any]:
    """Reflection by reflection: R_(i-1) = R_i - tau_i v_i (v_i^H R_i), and R_0 is the result."""
    vectors, taus = _columns(input, tau)
    rest = _last(result, vectors, taus)
    of_vectors, of_taus = [], []
    for vector, factor, right in zip(vectors, taus, rest, strict=True):
        turned, ahead = conj(factor), matmul_of(mh(vector), right)
        back = matmul_of(mh(vector), grad)
        of_taus.append(-matmul_of(back, mh(ahead)))
        of_vectors.append(
            -turned * matmul_of(grad, mh(ahead)) - factor * matmul_of(right, mh(back))
        )
        grad = grad - turned * matmul_of(vector, back)
    width = input.shape[-1] - len(vectors)
    if width:
        of_vectors.append(zeros_of(input, (*input.shape[:-1], width)))
    into_tau = cat([slice_(part, -2, 0, 1, 1) for part in of_taus], -1)
    return tril(cat(of_vectors, -1), -1), into_tau.reshape(tau.shape)


def _last(result: Any, vectors: list[Any], taus: list[Any]) -> list[Any]:
    """R_1 ... R_k, from the identity backwards."""
    ones = zeros_of(result, result.shape) + 1
    current = tril(ones, 0) - tril(ones, -1)
    found = []
    for vector, factor in zip(reversed(vectors), reversed(taus), strict=True):
        found.append(current)
        current = current - factor * matmul_of(vector, matmul_of(mh(vector), current))
    return found[::-1]


householder_product = operator(
    "householder_product(Tensor input, Tensor tau) -> Tensor",
    node="LinalgHouseholderProductBackward0",
    where="linalg",
    check=_check,
    forward=_product_kernel,
    holomorphic=False,
    joint={("input", "tau"): lambda grad, input, tau, result: _gradients(grad, input, tau, result)},
    acts="leading",
    doc="The first columns of a product of Householder reflections.",
    samples=(
        "torch.linalg.householder_product(a, a[0])",
        "torch.linalg.householder_product(x.t(), a[0, :2])",
        "torch.linalg.householder_product(a, b[1, :2]).sin()",
        "torch.linalg.householder_product(torch.complex(a, b), torch.complex(v, w)).abs()",
    ),
    errors=(
        "torch.linalg.householder_product(x, v)", "torch.linalg.householder_product(v, v)",
        "torch.linalg.householder_product(a[:, :1], v)",
    ),
)  # fmt: skip


# ---- QR in the form of LAPACK


def _check_geqrf(self: Any) -> None:
    if self.ndim < 2:
        raise RuntimeError("torch.geqrf: input must have at least 2 dimensions.")
    check_precision(self, "geqrf_cpu", True)


def _geqrf_kernel(xp: Any, self: Any) -> tuple[Any, Any]:
    """Below the diagonal the vectors without their ones, on it and above the factor R."""
    work = self.astype("complex128" if self.dtype.kind == "c" else "float64")
    rows, columns = work.shape[-2:]
    taus = xp.zeros((*work.shape[:-2], min(rows, columns)), dtype=work.dtype)
    for place in range(min(rows, columns)):
        first = work[..., place, place]
        below = work[..., place + 1 :, place]
        length = xp.sqrt(xp.abs(first) ** 2 + (xp.abs(below) ** 2).sum(-1))
        beta = xp.where(first.real > 0, -length, length)
        some = (below != 0).any(-1) | (first.imag != 0)
        safe = xp.where(some, beta, 1.0)
        tau = xp.where(some, (safe - first) / safe, 0.0)
        vector = below / xp.where(some, first - beta, 1.0)[..., None]
        right = work[..., place:, place + 1 :]
        row = right[..., 0, :] + (xp.conj(vector)[..., None] * right[..., 1:, :]).sum(-2)
        row = xp.conj(tau)[..., None] * row  # H^H from the left
        right[..., 0, :] -= row
        right[..., 1:, :] -= vector[..., None] * row[..., None, :]
        work[..., place + 1 :, place] = vector
        work[..., place, place] = xp.where(some, beta, first)
        taus[..., place] = tau
    return column_major(xp, work.astype(self.dtype)), taus.astype(self.dtype)


geqrf_row = operator(
    "_geqrf(Tensor self) -> (Tensor a, Tensor tau)",
    node="GeqrfBackward0",
    where="hidden",
    check=_check_geqrf,
    forward=_geqrf_kernel,
    self=lambda grads: underivable("geqrf"),
    doc="The QR factorisation as LAPACK keeps it.",
    samples=("torch.geqrf(x.detach())[0].abs()",),
)

geqrf = composite(
    "geqrf(Tensor self) -> (Tensor a, Tensor tau)",
    lambda self: named_outputs("geqrf", ("a", "tau"), geqrf_row.run(self)),
    where="torch method",
    doc="The QR factorisation as LAPACK keeps it: reflections below the diagonal, R above.",
    samples=("torch.geqrf(x.detach())[0].abs()", "torch.geqrf(torch.complex(x, y).data)[0].abs()"),
    errors=("torch.geqrf(v)",),
)
