"""Operators: eigenvalues, singular values, QR, pseudo-inverses, least squares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.schema.mode import state
from ...engine.schema.operator import catalogue, composite, operator, warn
from ..conventions import check_floating, check_square
from ..elementwise.complex_parts import is_complex
from ..shape.constants import zeros_of
from ..shape.diagonals import diag_embed, diagonal
from ..shape.join import cat
from ..shape.rearrange import tril, triu
from ..shape.select import slice_
from ..shape.squeeze import unsqueeze
from ..shape.transposed import mh
from .convergence import singular_values, symmetric_eigenvalues
from .inverse import column_major, floating, named_outputs
from .product import matmul_of
from .triangular import solve_triangular


def check_matrix(self: Any, name: str, kernel: str = "", argument: str = "A") -> None:
    if self.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor {argument} must have at least 2 dimensions.")
    floating(self, name, kernel, kernel == "geqrf_cpu")


# PyTorch's formulas write into diagonals of tensors that they have just made, and its graph shows
# it. Arrays and tensors differ in how they are written to; everything else is the same.


def _gaps(values: Any) -> Any:
    """Differences of all pairs, with ones on the diagonal."""
    apart = unsqueeze(values, -2) - unsqueeze(values, -1)
    place = diagonal(apart, 0, -2, -1)
    if hasattr(place, "fill_"):
        place.fill_(1.0)
    else:
        place[...] = 1
    return apart


def _with_diagonal(self: Any, values: Any) -> Any:
    """The same matrix, its diagonal written over."""
    write_over(diagonal(self, 0, -2, -1), values)
    return self


def write_over(place: Any, values: Any) -> None:
    if hasattr(place, "copy_"):
        place.copy_(values)
    else:
        place[...] = values


operator(
    "_scaled_by(Tensor self, Scalar other) -> Tensor",
    node="MulBackward1",
    inplace="_scaled_by_",
    where="hidden",
    forward=lambda xp, self, other: self * self.dtype.type(other),
    self=lambda grad, other: grad * other,
    doc="A product with a number, written in place by a formula.",
    samples=("torch.linalg.qr(a)[1]",),
)

# ---- symmetric eigenvalues


def _eigh_kernel(xp: Any, A: Any, UPLO: str, compute_v: bool) -> tuple[Any, Any]:
    values, vectors = symmetric_eigenvalues(xp, A, UPLO, compute_v)
    return values, column_major(xp, vectors)


def check_phase(place: Any, function: str) -> None:
    """An eigenvector may be turned by any angle; a loss that feels it has no gradient."""
    array = place._data if hasattr(place, "detach") else place
    if array.dtype.kind != "c" or not array.size:
        return
    if bool((abs(array.imag) > 1e-2 * (abs(array).max() + 1e-12) + 1e-3).any()):
        raise RuntimeError(
            f"{function}: The eigenvectors in the complex case are specified up to "
            "multiplication by e^{i phi}. The specified loss function depends on this quantity, so "
            "it is ill-defined."
        )


def _eigh_gradient(grads: Sequence[Any], L: Any, V: Any) -> Any:
    of_values, of_vectors = grads
    if of_vectors is None:
        return matmul_of(V * unsqueeze(of_values, -2), mh(V))
    product = matmul_of(mh(V), of_vectors)
    check_phase(diagonal(product, 0, -2, -1), "linalg_eigh_backward")
    inner = ((product - mh(product)) * 0.5) / _gaps(L)
    if of_values is not None:
        inner = _with_diagonal(inner, of_values)
    return matmul_of(V, matmul_of(inner, mh(V)))


def _check_eigh(A: Any) -> None:
    check_square(A, "linalg.eigh")
    check_floating(A, "linalg_eigh_cpu")


eigh_row = operator(
    "_linalg_eigh(Tensor A, str UPLO='L', bool compute_v=True) -> "
    "(Tensor eigenvalues, Tensor eigenvectors)",
    node="LinalgEighBackward0",
    where="hidden",
    holomorphic=False,
    check=lambda A, UPLO, compute_v: _check_eigh(A),
    forward=_eigh_kernel,
    A=lambda grads, eigenvalues, eigenvectors: _eigh_gradient(grads, eigenvalues, eigenvectors),
    acts="leading",
    doc="Eigenvalues and eigenvectors of a symmetric matrix.",
    samples=("torch.linalg.eigvalsh(a + a.t())",),
)

eigh = composite(
    "eigh(Tensor A, str UPLO='L') -> (Tensor eigenvalues, Tensor eigenvectors)",
    lambda A, UPLO: named_outputs(
        "linalg_eigh", ("eigenvalues", "eigenvectors"), eigh_row.run(A, UPLO, True)
    ),
    where="linalg",
    doc="Eigenvalues and eigenvectors of a symmetric matrix, in ascending order.",
    corners=("torch.linalg.eigh(tensor([[2., 0.], [0., 2.]]))[0]",),
    samples=("torch.linalg.eigh(a + a.t())[0]", "torch.linalg.eigh(a + a.t())[1] ** 2"),
    errors=("torch.linalg.eigh(x)",),
)

eigvalsh = composite(
    "eigvalsh(Tensor A, str UPLO='L') -> Tensor",
    lambda A, UPLO: eigh_row.run(A, UPLO, A.requires_grad and state.grad_enabled)[0],
    where="linalg",
    doc="Eigenvalues of a symmetric matrix, in ascending order.",
    samples=("torch.linalg.eigvalsh(a + a.t())", "torch.linalg.eigvalsh(c + c.mT)"),
    errors=("torch.linalg.eigvalsh(x)",),
)

# ---- singular values


def _svd_kernel(
    xp: Any, A: Any, full_matrices: bool, compute_uv: bool, driver: str | None
) -> tuple[Any, Any, Any]:
    left, values, right = singular_values(xp, A, full_matrices=full_matrices)
    return column_major(xp, left), values, column_major(xp, right)


def _skew(self: Any) -> Any:
    return self - mh(self)


def _check_turn(turned_u: Any, turned_v: Any) -> None:
    """Pairs of singular vectors may be turned by any angle, which a loss must not feel."""
    if not is_complex(turned_v if turned_u is None else turned_u):
        return
    one, other = (_imaginary_diagonal(part) for part in (turned_u, turned_v))
    apart = abs(one + other) - 1e-2 * abs(other)
    if apart.size and apart.max() > 1e-2:
        raise RuntimeError(
            "svd_backward: The singular vectors in the complex case are specified up to "
            "multiplication by e^{i phi}. The specified loss function depends on this phase term, "
            "making it ill-defined."
        )


def _imaginary_diagonal(matrix: Any) -> Any:
    if matrix is None:
        return 0.0
    array = matrix._data if hasattr(matrix, "detach") else matrix
    return array.diagonal(0, -2, -1).imag


def _svd_gradient(grads: Sequence[Any], full: bool, U: Any, S: Any, Vh: Any) -> Any:
    """For U diag(S) Vh: the parts within the singular spaces, then what leads out of them."""
    of_u, of_s, of_v = grads
    count = S.shape[-1]
    if full:
        U, Vh = slice_(U, -1, 0, count, 1), slice_(Vh, -2, 0, count, 1)
        of_u = None if of_u is None else slice_(of_u, -1, 0, count, 1)
        of_v = None if of_v is None else slice_(of_v, -2, 0, count, 1)
    rows, columns = U.shape[-2], Vh.shape[-1]
    if of_u is None and of_v is None:
        if rows >= columns:
            return matmul_of(U, unsqueeze(of_s, -1) * Vh)
        return matmul_of(U * unsqueeze(of_s, -2), Vh)
    squares = S * S
    gaps = _gaps(squares)
    turned_u = None if of_u is None else _skew(matmul_of(mh(U), of_u))
    turned_v = None if of_v is None else _skew(matmul_of(Vh, mh(of_v)))
    _check_turn(turned_u, turned_v)
    if turned_v is None:
        inner = (turned_u / gaps) * unsqueeze(S, -2)
    elif turned_u is None:
        inner = unsqueeze(S, -1) * (turned_v / gaps)
    else:
        inner = (turned_u * unsqueeze(S, -2) + unsqueeze(S, -1) * turned_v) / gaps
    if of_s is not None:
        inner = inner + diag_embed(of_s, 0, -2, -1)
    if is_complex(U) and turned_u is not None and turned_v is not None:
        inner = inner + diag_embed(diagonal(turned_u, 0, -2, -1) / (S * 2), 0, -2, -1)
    if rows > count and of_u is not None:
        inner = matmul_of(U, inner)
        scaled = of_u / unsqueeze(S, -2)
        inner = inner + scaled - matmul_of(U, matmul_of(mh(U), scaled))
        return matmul_of(inner, Vh)
    if columns > count and of_v is not None:
        inner = matmul_of(inner, Vh)
        scaled = of_v / unsqueeze(S, -1)
        inner = inner + scaled - matmul_of(matmul_of(scaled, mh(Vh)), Vh)
        return matmul_of(U, inner)
    return (
        matmul_of(U, matmul_of(inner, Vh))
        if rows >= columns
        else matmul_of(matmul_of(U, inner), Vh)
    )


svd_row = operator(
    "_linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? driver=None) -> "
    "(Tensor U, Tensor S, Tensor Vh)",
    node="LinalgSvdBackward0",
    where="hidden",
    holomorphic=False,
    check=lambda A, full_matrices, compute_uv, driver: check_matrix(
        A, "linalg.svd", "linalg_svd_cpu"
    ),
    forward=_svd_kernel,
    A=lambda grads, full_matrices, U, S, S_sym_argsize_minus_1, Vh: _svd_gradient(
        grads, full_matrices, U, S, Vh
    ),
    acts="leading",
    doc="The singular value decomposition.",
    samples=("torch.linalg.svdvals(x)",),
)

svd = composite(
    "svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> "
    "(Tensor U, Tensor S, Tensor Vh)",
    lambda A, full_matrices, driver: named_outputs(
        "linalg_svd", ("U", "S", "Vh"), svd_row.run(A, full_matrices, True, driver)
    ),
    where="linalg",
    doc="The singular value decomposition U diag(S) Vh.",
    samples=(
        "torch.linalg.svd(x)[1]", "torch.linalg.svd(x, full_matrices=False)[1]",
        "torch.linalg.svd(a)[0].abs()", "torch.linalg.svd(x, full_matrices=False)[2] ** 2",
    ),
    errors=("torch.linalg.svd(v)",),
)  # fmt: skip


def _old_svd(self: Any, some: bool, compute_uv: bool) -> Any:
    if self.ndim < 2:
        raise RuntimeError(
            f"linalg.svd: input should have at least 2 dimensions, but has {self.ndim} dimensions "
            "instead"
        )
    left, values, right = svd_row.run(self, not some, True, None)
    return named_outputs("svd", ("U", "S", "V"), (left, values, mh(right)))


composite(
    "svd.torch(Tensor self, bool some=True, bool compute_uv=True) -> "
    "(Tensor U, Tensor S, Tensor V)",
    _old_svd,
    doc="The singular value decomposition under its older name, with V instead of Vh.",
    samples=("torch.svd(x)[1]", "x.svd().V ** 2"),
)

svdvals = composite(
    "svdvals(Tensor A, *, str? driver=None) -> Tensor",
    lambda A, driver: svd_row.run(A, False, True, driver)[1],
    where="linalg",
    doc="The singular values.",
    corners=("torch.linalg.svdvals(tensor([[2., 0.], [0., 2.]]))",),
    samples=("torch.linalg.svdvals(x)", "torch.linalg.svdvals(a)", "torch.linalg.svdvals(x.t())"),
    errors=("torch.linalg.svdvals(v)",),
)

# ---- QR


def _check_qr(A: Any, mode: str) -> None:
    check_matrix(A, "linalg.qr", "geqrf_cpu")
    if mode not in ("reduced", "r", "complete"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', "
            "or 'complete'"
        )


def _qr_kernel(xp: Any, A: Any, mode: str) -> tuple[Any, Any]:
    if mode == "r":
        return xp.zeros(0, dtype=A.dtype), column_major(xp, xp.linalg.qr(A, mode="r"))
    q, r = xp.linalg.qr(A, mode=mode)
    return column_major(xp, q), column_major(xp, r)


def _halved_diagonal(self: Any) -> Any:
    place = diagonal(self, 0, -2, -1)
    if hasattr(place, "mul_"):
        catalogue.row("_scaled_by_").run(place, 0.5)
    else:
        place *= 0.5
    return self


def _lower(self: Any) -> Any:
    """The lower part of what is left of a matrix without its mirror image, the diagonal once."""
    part = tril(self - mh(self), 0)
    return _halved_diagonal(part) if is_complex(self) else part


def _square_qr(of_q: Any, of_r: Any, Q: Any, R: Any) -> Any:
    inner = None
    if of_r is not None:
        inner = matmul_of(of_r, mh(R))
    if of_q is not None:
        part = matmul_of(mh(Q), of_q)
        inner = -part if inner is None else inner - part
    upper = triu(inner, 0)
    result = matmul_of(Q, _halved_diagonal(upper + mh(upper)))
    result = result if of_q is None else result + of_q
    return solve_triangular(mh(R), result, False, False, False)


def _qr_gradient(grads: Sequence[Any], Q: Any, R: Any, mode: str) -> Any:
    of_q, of_r = grads
    if mode == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please "
            "use linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr."
        )
    rows, columns = Q.shape[-2], R.shape[-1]
    if mode == "complete" and rows > columns:
        raise RuntimeError(
            "The QR decomposition is not differentiable when mode='complete' and nrows > ncols"
        )
    if rows >= columns:
        return _square_qr(of_q, of_r, Q, R)
    turned = None if of_q is None else matmul_of(mh(Q), of_q)
    if of_r is None:
        inner = turned
    else:
        inner = matmul_of(of_r, mh(R))
        inner = -(inner if turned is None else inner - turned)
    result = matmul_of(Q, _lower(inner))
    result = solve_triangular(mh(slice_(R, -1, 0, rows, 1)), result, False, False, False)
    result = cat([result, zeros_of(result, (*R.shape[:-2], rows, columns - rows))], -1)
    return result if of_r is None else result + matmul_of(Q, of_r)


qr_row = operator(
    "_linalg_qr(Tensor A, str mode='reduced') -> (Tensor Q, Tensor R)",
    node="LinalgQrBackward0",
    where="hidden",
    holomorphic=False,
    check=_check_qr,
    forward=_qr_kernel,
    A=lambda grads, Q, R, mode: _qr_gradient(grads, Q, R, mode),
    doc="QR decomposition: an orthogonal and an upper triangular factor.",
    samples=("torch.linalg.qr(a)[1]",),
)

qr = composite(
    "qr(Tensor A, str mode='reduced') -> (Tensor Q, Tensor R)",
    lambda A, mode: named_outputs("linalg_qr", ("Q", "R"), qr_row.run(A, mode)),
    where="linalg",
    doc="QR decomposition: an orthogonal and an upper triangular factor.",
    samples=(
        "torch.linalg.qr(a)[0]", "torch.linalg.qr(a)[1]", "torch.linalg.qr(x.t())[1]",
        "torch.linalg.qr(x)[1]", "torch.linalg.qr(a, mode='complete')[0]",
        "torch.linalg.qr(a.detach(), mode='r')[1]",
    ),
    errors=("torch.linalg.qr(v)", "torch.linalg.qr(x, 'foo')"),
)  # fmt: skip


def _old_qr(self: Any, mode: str) -> Any:
    warn(
        "torch.qr is deprecated in favor of torch.linalg.qr and will be removed in a future "
        "PyTorch release.\n"
        "The boolean parameter 'some' has been replaced with a string parameter 'mode'.\n"
        "Q, R = torch.qr(A, some)\nshould be replaced with\n"
        "Q, R = torch.linalg.qr(A, 'reduced' if some else 'complete')"
    )
    return qr_row.run(self, mode)


composite(
    "qr.torch(Tensor self, bool some=True) -> (Tensor Q, Tensor R)",
    lambda self, some: named_outputs(
        "qr", ("Q", "R"), _old_qr(self, "reduced" if some else "complete")
    ),
    doc="QR under its older name.",
    samples=("torch.qr(a)[0]", "a.qr()[1]"),
)
