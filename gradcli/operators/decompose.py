"""Operators: eigenvalues, singular values, QR, pseudo-inverses, least squares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..engine.operator import catalogue, composite, operator
from .constants import zeros_of
from .contract import check_square
from .inverse import (
    check_floating_square,
    column_major,
    floating,
    inverse_of,
    named_outputs,
    solve,
    solve_triangular,
)
from .join import cat
from .product import matmul_of, product_of
from .rearrange import tril, triu
from .select import diag_embed, diagonal, slice_
from .shape import flatten, movedim, reshape, squeeze, squeeze_dim, t, transpose, unsqueeze
from .sums import sum_dims


def _mt(self: Any) -> Any:
    return transpose(self, -2, -1)


def check_matrix(self: Any, name: str, argument: str = "A") -> None:
    if self.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor {argument} must have at least 2 dimensions.")
    floating(self, name)


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
    _write(diagonal(self, 0, -2, -1), values)
    return self


def _write(place: Any, values: Any) -> None:
    if hasattr(place, "copy_"):
        place.copy_(values)
    else:
        place[...] = values


scaled_by = operator(
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
    values, vectors = xp.linalg.eigh(A, UPLO)
    return values, column_major(xp, vectors)


def _eigh_gradient(grads: Sequence[Any], L: Any, V: Any) -> Any:
    of_values, of_vectors = grads
    if of_vectors is None:
        return matmul_of(V * unsqueeze(of_values, -2), _mt(V))
    product = matmul_of(_mt(V), of_vectors)
    inner = ((product - _mt(product)) * 0.5) / _gaps(L)
    if of_values is not None:
        inner = _with_diagonal(inner, of_values)
    return matmul_of(V, matmul_of(inner, _mt(V)))


eigh_row = operator(
    "_linalg_eigh(Tensor A, str UPLO='L', bool compute_v=True) -> "
    "(Tensor eigenvalues, Tensor eigenvectors)",
    node="LinalgEighBackward0",
    where="hidden",
    check=lambda A, UPLO, compute_v: check_floating_square(A, "linalg.eigh"),
    forward=_eigh_kernel,
    A=lambda grads, eigenvalues, eigenvectors: _eigh_gradient(grads, eigenvalues, eigenvectors),
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
    samples=("torch.linalg.eigh(a + a.t())[0]", "torch.linalg.eigh(a + a.t())[1] ** 2"),
    errors=("torch.linalg.eigh(x)",),
)

eigvalsh = composite(
    "eigvalsh(Tensor A, str UPLO='L') -> Tensor",
    lambda A, UPLO: eigh_row.run(A, UPLO, True)[0],
    where="linalg",
    doc="Eigenvalues of a symmetric matrix, in ascending order.",
    samples=("torch.linalg.eigvalsh(a + a.t())", "torch.linalg.eigvalsh(c + c.mT)"),
    errors=("torch.linalg.eigvalsh(x)",),
)

# ---- singular values


def _svd_kernel(
    xp: Any, A: Any, full_matrices: bool, compute_uv: bool, driver: str | None
) -> tuple[Any, Any, Any]:
    left, values, right = xp.linalg.svd(A, full_matrices=full_matrices)
    return column_major(xp, left), values, column_major(xp, right)


def _skew(self: Any) -> Any:
    return self - _mt(self)


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
    turned_u = None if of_u is None else _skew(matmul_of(_mt(U), of_u))
    turned_v = None if of_v is None else _skew(matmul_of(Vh, _mt(of_v)))
    if turned_v is None:
        inner = (turned_u / gaps) * unsqueeze(S, -2)
    elif turned_u is None:
        inner = unsqueeze(S, -1) * (turned_v / gaps)
    else:
        inner = (turned_u * unsqueeze(S, -2) + unsqueeze(S, -1) * turned_v) / gaps
    if of_s is not None:
        inner = inner + diag_embed(of_s, 0, -2, -1)
    if rows > count and of_u is not None:
        inner = matmul_of(U, inner)
        scaled = of_u / unsqueeze(S, -2)
        inner = inner + scaled - matmul_of(U, matmul_of(_mt(U), scaled))
        return matmul_of(inner, Vh)
    if columns > count and of_v is not None:
        inner = matmul_of(inner, Vh)
        scaled = of_v / unsqueeze(S, -1)
        inner = inner + scaled - matmul_of(matmul_of(scaled, _mt(Vh)), Vh)
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
    check=lambda A, full_matrices, compute_uv, driver: check_matrix(A, "linalg.svd"),
    forward=_svd_kernel,
    A=lambda grads, full_matrices, U, S, S_sym_argsize_minus_1, Vh: _svd_gradient(
        grads, full_matrices, U, S, Vh
    ),
    doc="The singular value decomposition.",
    samples=("torch.linalg.svdvals(x)",),
)

svd = composite(
    "svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)",
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
    left, values, right = svd_row.run(self, not some, True, None)
    return named_outputs("svd", ("U", "S", "V"), (left, values, _mt(right)))


composite(
    "svd.torch(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)",
    _old_svd,
    doc="The singular value decomposition under its older name, with V instead of Vh.",
    samples=("torch.svd(x)[1]", "x.svd().V ** 2"),
)

svdvals = composite(
    "svdvals(Tensor A, *, str? driver=None) -> Tensor",
    lambda A, driver: svd_row.run(A, False, True, driver)[1],
    where="linalg",
    doc="The singular values.",
    samples=("torch.linalg.svdvals(x)", "torch.linalg.svdvals(a)", "torch.linalg.svdvals(x.t())"),
    errors=("torch.linalg.svdvals(v)",),
)

# ---- QR


def _check_qr(A: Any, mode: str) -> None:
    check_matrix(A, "linalg.qr")
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


def _symmetric(self: Any) -> Any:
    """Mirrored, the diagonal once."""
    mirrored = self + _mt(self)
    place = diagonal(mirrored, 0, -2, -1)
    if hasattr(place, "mul_"):
        catalogue.row("_scaled_by_").run(place, 0.5)
    else:
        place *= 0.5
    return mirrored


def _square_qr(of_q: Any, of_r: Any, Q: Any, R: Any) -> Any:
    inner = None
    if of_r is not None:
        inner = matmul_of(of_r, _mt(R))
    if of_q is not None:
        part = matmul_of(_mt(Q), of_q)
        inner = -part if inner is None else inner - part
    result = matmul_of(Q, _symmetric(triu(inner, 0)))
    result = result if of_q is None else result + of_q
    return solve_triangular(_mt(R), result, False, False, False)


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
    inner = None
    if of_q is not None:
        inner = matmul_of(_mt(Q), of_q)
    if of_r is not None:
        part = -matmul_of(of_r, _mt(R))
        inner = part if inner is None else inner + part
    result = matmul_of(Q, tril(inner - _mt(inner), 0))
    result = solve_triangular(_mt(slice_(R, -1, 0, rows, 1)), result, False, False, False)
    result = cat([result, zeros_of(result, (*R.shape[:-2], rows, columns - rows))], -1)
    return result if of_r is None else result + matmul_of(Q, of_r)


qr_row = operator(
    "_linalg_qr(Tensor A, str mode='reduced') -> (Tensor Q, Tensor R)",
    node="LinalgQrBackward0",
    where="hidden",
    check=_check_qr,
    forward=_qr_kernel,
    A=lambda grads, Q, R, mode: _qr_gradient(grads, Q, R, mode),
    doc="An orthogonal and an upper triangular factor.",
    samples=("torch.linalg.qr(a)[1]",),
)

qr = composite(
    "qr(Tensor A, str mode='reduced') -> (Tensor Q, Tensor R)",
    lambda A, mode: named_outputs("linalg_qr", ("Q", "R"), qr_row.run(A, mode)),
    where="linalg",
    doc="An orthogonal and an upper triangular factor.",
    samples=(
        "torch.linalg.qr(a)[0]", "torch.linalg.qr(a)[1]", "torch.linalg.qr(x.t())[1]",
        "torch.linalg.qr(x)[1]", "torch.linalg.qr(a, mode='complete')[0]",
        "torch.linalg.qr(a.detach(), mode='r')[1]",
    ),
    errors=("torch.linalg.qr(v)", "torch.linalg.qr(x, 'foo')"),
)  # fmt: skip

composite(
    "qr.torch(Tensor self, bool some=True) -> (Tensor Q, Tensor R)",
    lambda self, some: named_outputs(
        "qr", ("Q", "R"), qr_row.run(self, "reduced" if some else "complete")
    ),
    doc="QR under its older name.",
    samples=("torch.qr(a)[0]", "a.qr()[1]"),
)

# ---- pseudo-inverses, rank, condition


def _check_pinv(self: Any) -> None:
    if self.ndim < 2 or self.dtype.category < 2:
        raise RuntimeError(
            f"linalg.pinv({self.dtype.word}{{[{', '.join(map(str, self.shape))}]}}): expected a "
            "tensor with 2 or more dimensions of float, double, cfloat or cdouble types"
        )


def _tolerance(xp: Any, values: Any, shape: Sequence[int], atol: Any, rtol: Any) -> Any:
    """Below what a singular value counts as zero."""
    if rtol is None:
        rtol = xp.finfo(values.dtype).eps * max(shape[-2:]) if not atol else 0.0
    largest = values.max(-1, keepdims=True) if values.shape[-1] else values
    return xp.maximum(0.0 if atol is None else atol, rtol * largest)


def _pinv_kernel(xp: Any, self: Any, atol: Any, rtol: Any, hermitian: bool) -> Any:
    if hermitian:
        values, vectors = xp.linalg.eigh(self)
        left, right, size = vectors, vectors.swapaxes(-1, -2), xp.abs(values)
    else:
        left, values, right = xp.linalg.svd(self, full_matrices=False)
        size = values
    keep = size > _tolerance(xp, size, self.shape, atol, rtol)
    inverse = xp.where(keep, 1 / xp.where(keep, values, 1), 0).astype(self.dtype)
    return (right.swapaxes(-1, -2) * inverse[..., None, :]) @ left.swapaxes(-1, -2)


def pinv_gradient(grad: Any, pinv: Any, A: Any) -> Any:
    rows, columns = A.shape[-2], A.shape[-1]
    pinv_t, grad_t = _mt(pinv), _mt(grad)
    if rows <= columns:
        k = matmul_of(grad_t, pinv)
        kp = matmul_of(k, pinv_t)
        return (
            -_mt(matmul_of(pinv, k))
            + kp
            - matmul_of(matmul_of(A, pinv), kp)
            + matmul_of(matmul_of(pinv_t, pinv), grad_t - matmul_of(k, A))
        )
    k = matmul_of(pinv, grad_t)
    pk = matmul_of(pinv_t, k)
    return (
        -_mt(matmul_of(k, pinv))
        + matmul_of(matmul_of(grad_t - matmul_of(A, k), pinv), pinv_t)
        + pk
        - matmul_of(matmul_of(pk, pinv), A)
    )


pinv_row = operator(
    "_linalg_pinv(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor",
    node="LinalgPinvBackward0",
    where="hidden",
    check=lambda self, atol, rtol, hermitian: _check_pinv(self),
    forward=_pinv_kernel,
    self=lambda grad, result, self: pinv_gradient(grad, result, self),
    doc="The pseudo-inverse.",
    samples=("torch.linalg.pinv(x)",),
)

pinv = composite(
    "pinv(Tensor A, *, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor",
    lambda A, atol, rtol, hermitian: pinv_row.run(A, atol, rtol, hermitian),
    where="linalg",
    doc="The pseudo-inverse.",
    samples=(
        "torch.linalg.pinv(x)", "torch.linalg.pinv(x.t())", "torch.linalg.pinv(a)",
        "torch.linalg.pinv(a + a.t(), hermitian=True)",
    ),
    errors=("torch.linalg.pinv(v)",),
)  # fmt: skip

composite(
    "pinv.rcond(Tensor A, float rcond, bool hermitian=False) -> Tensor",
    lambda A, rcond, hermitian: pinv_row.run(A, None, rcond, hermitian),
    where="linalg",
    doc="The pseudo-inverse, with a relative bound below which singular values count as zero.",
    samples=("torch.linalg.pinv(x, 1e-3)",),
)

composite(
    "pinverse(Tensor self, float rcond=1e-15) -> Tensor",
    lambda self, rcond: pinv_row.run(self, None, rcond, False),
    doc="The pseudo-inverse under its older name.",
    samples=("torch.pinverse(x)", "a.pinverse()"),
)

rank_row = operator(
    "matrix_rank(Tensor A, *, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor",
    where="linalg",
    dtype="int64",
    check=lambda A, atol, rtol, hermitian: check_matrix(A, "linalg.matrix_rank"),
    forward=lambda xp, A, atol, rtol, hermitian: _rank(xp, A, atol, rtol),
    doc="How many singular values are not zero.",
    samples=("torch.linalg.matrix_rank(x)", "torch.linalg.matrix_rank(c)"),
)


def _rank(xp: Any, A: Any, atol: Any, rtol: Any) -> Any:
    values = xp.linalg.svd(A, compute_uv=False)
    return (values > _tolerance(xp, values, A.shape, atol, rtol)).sum(-1)


def _condition(A: Any, p: Any) -> Any:
    if A.ndim < 2:
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if p is None or p in (2, -2):
        values = svd_row.run(A, False, True, None)[1]
        count = values.shape[-1]
        first, last = slice_(values, -1, 0, 1, 1), slice_(values, -1, count - 1, count, 1)
        return squeeze_dim(last / first if p == -2 else first / last, -1)
    check_square(A, "linalg.cond")
    norm = catalogue.functions["linalg.matrix_norm"]
    return norm(A, p) * norm(inverse_of(A, "linalg.inv"), p)


cond = composite(
    "cond(Tensor A, any p=None) -> Tensor",
    _condition,
    where="linalg",
    doc="The ratio of the largest to the smallest singular value, or that of another norm.",
    samples=("torch.linalg.cond(a)", "torch.linalg.cond(a, 2)", "torch.linalg.cond(a, -2)"),
    errors=("torch.linalg.cond(v)",),
)

# ---- least squares


def _lstsq_kernel(
    xp: Any, self: Any, b: Any, rcond: float | None, driver: str | None
) -> tuple[Any, Any, Any, Any]:
    vector = b.ndim == 1 or self.ndim - 1 == b.ndim
    right = b[..., None] if vector else b
    solution = xp.linalg.pinv(self.astype("float64")) @ right.astype("float64")
    solution = solution.astype(self.dtype)
    rows, columns = self.shape[-2:]
    apart = ((self @ solution - right) ** 2).sum(-2) if rows > columns else xp.zeros(0, self.dtype)
    rank = xp.zeros(0, dtype="int64")
    if driver not in (None, "gels"):
        rank = xp.asarray(xp.linalg.matrix_rank(self))
    result = solution[..., 0] if vector else column_major(xp, solution)
    return result, apart[..., 0] if vector and apart.size else apart, rank, xp.zeros(0, self.dtype)


def _lstsq_gradients(grads: Sequence[Any], self: Any, b: Any, needs: Any) -> tuple[Any, Any]:
    grad = grads[0]
    if grad is None:
        return None, None
    vector = b.ndim == 1 or self.ndim - 1 == b.ndim
    wide, right = (unsqueeze(grad, -1), unsqueeze(b, -1)) if vector else (grad, b)
    inverse = pinv_row(self, None, None, False)
    into_a = into_b = None
    if needs["self"]:
        into_a = pinv_gradient(matmul_of(wide, _mt(right)), inverse, self)
    if needs["b"]:
        into_b = matmul_of(_mt(inverse), wide)
        into_b = squeeze_dim(into_b, -1) if vector else into_b
    return into_a, into_b


lstsq_row = operator(
    "_linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> "
    "(Tensor solution, Tensor residuals, Tensor rank, Tensor singular_values)",
    node="LinalgLstsqBackward0",
    where="hidden",
    forward=_lstsq_kernel,
    joint={
        ("self", "b"): lambda grads, self, b, solution, needs: _lstsq_gradients(
            grads, self, b, needs
        )
    },
    doc="The least-squares solution of a linear system.",
    samples=("torch.linalg.lstsq(a, b)[0]",),
)


def _lstsq(self: Any, b: Any, rcond: float | None, driver: str | None) -> Any:
    fields = ("solution", "residuals", "rank", "singular_values")
    return named_outputs("linalg_lstsq", fields, lstsq_row.run(self, b, rcond, driver or "gelsy"))


lstsq = composite(
    "lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> "
    "(Tensor solution, Tensor residuals, Tensor rank, Tensor singular_values)",
    _lstsq,
    where="linalg",
    doc="The least-squares solution of a linear system.",
    samples=("torch.linalg.lstsq(a, b)[0]", "torch.linalg.lstsq(x.t(), a[:, :1]).solution"),
)

# ---- the matrix exponential


def _exponential(xp: Any, self: Any) -> Any:
    """Scaled until small, a Taylor series in double, squared back."""
    work = self.astype("float64") if self.dtype.kind == "f" else self
    size = work.shape[-1]
    norm = float(xp.abs(work).sum(-2).max()) if work.size else 0.0
    halvings = 0
    while norm > 0.5:
        norm, halvings = norm / 2, halvings + 1
    small = work / 2**halvings
    term = result = xp.broadcast_to(xp.eye(size, dtype=work.dtype), work.shape)
    for order in range(1, 19):
        term = term @ small / order
        result = result + term
    for _ in range(halvings):
        result = result @ result
    return result.astype(self.dtype)


def _exponential_gradient(grad: Any, self: Any) -> Any:
    """The upper right block of the exponential of [[A^T, G], [0, A^T]]."""
    turned = _mt(self)
    size = self.shape[-1]
    both = zeros_of(grad, (*self.shape[:-2], 2 * size, 2 * size))
    for row, column, part in ((0, 0, turned), (size, size, turned), (0, size, grad)):
        rows = slice_(both, -2, row, row + size, 1)
        _write(slice_(rows, -1, column, column + size, 1), part)
    whole = matrix_exp_row(both)
    return slice_(slice_(whole, -2, 0, size, 1), -1, size, 2 * size, 1)


matrix_exp_row = operator(
    "matrix_exp(Tensor self) -> Tensor",
    node="LinalgMatrixExpBackward0",
    where="torch method linalg",
    check=lambda self: check_floating_square(self, "linalg.matrix_exp"),
    forward=_exponential,
    self=lambda grad, self: _exponential_gradient(grad, self),
    doc="The exponential of square matrices.",
    samples=("torch.matrix_exp(a)", "a.matrix_exp()", "torch.linalg.matrix_exp(b)"),
    errors=("torch.linalg.matrix_exp(x)",),
)

# ---- systems and inverses of tensors


def _tensor_inverse(A: Any, ind: int) -> Any:
    if ind <= 0:
        raise RuntimeError("Expected a strictly positive integer for 'ind'")
    first, second = tuple(A.shape[:ind]), tuple(A.shape[ind:])
    if product_of(first) != product_of(second):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == "
            f"prod(self.shape[:ind]), but got {product_of(second)} != {product_of(first)}"
        )
    flat = reshape(A, (product_of(first), product_of(second)))
    return reshape(inverse_of(flat, "linalg.inv"), second + first)


tensorinv = composite(
    "tensorinv(Tensor A, int ind=2) -> Tensor",
    _tensor_inverse,
    where="linalg",
    doc="The inverse of a tensor seen as a matrix.",
    samples=("torch.linalg.tensorinv(a, 1)",),
)


def _tensor_solution(A: Any, B: Any, dims: Sequence[int] | None) -> Any:
    if dims is not None:
        for dim in dims:
            A = movedim(A, dim, -1)
    size = tuple(A.shape[B.ndim :])
    rows = product_of(tuple(B.shape))
    flat = reshape(A, (rows, product_of(size)))
    return reshape(solve(flat, flatten(B, 0, -1), left=True), size)


tensorsolve = composite(
    "tensorsolve(Tensor A, Tensor B, int[]? dims=None) -> Tensor",
    _tensor_solution,
    where="linalg",
    doc="The solution of a tensor equation.",
    samples=("torch.linalg.tensorsolve(a, v)",),
)


def _covariance(self: Any, correction: int) -> Any:
    rows = unsqueeze(self, 0) if self.ndim < 2 else self
    count = rows.shape[1]
    mean = sum_dims(rows, (1,), False) / float(count)
    apart = rows - unsqueeze(mean, 1)
    return squeeze(matmul_of(apart, t(apart)) / float(max(count - correction, 0)))


cov = composite(
    "cov(Tensor self, *, int correction=1) -> Tensor",
    _covariance,
    doc="The covariances of the rows.",
    samples=("torch.cov(x)", "x.cov(correction=0)"),
)
