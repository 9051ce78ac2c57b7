"""Operators: products of vectors and matrices, and matmul, which folds every case into them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.schema.carriers import ARRAYS
from ...engine.schema.causes import mismatch
from ...engine.schema.operator import composite, operator
from ...numerics.small_matmul import multiplied
from ..conventions import unimplemented
from ..elementwise.complex_parts import conj
from ..geometry import broadcast_sizes, element_strides, repeated, sizes_text
from ..reduce.sums import scaled
from ..shape.shape import contiguous, expand, reshape, unsafe_view
from ..shape.squeeze import squeeze_dim, squeezed_away, unsqueeze
from ..shape.transposed import mt, t, transpose

NO_BOOL = {"Bool": (NotImplementedError, "\"addmm_impl_cpu_\" not implemented for 'Bool'")}


# ---- vectors


def _check_vectors(name: str, a: Any, b: Any) -> None:
    if a.ndim != 1 or b.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {a.ndim}D and {b.ndim}D tensors")
    if a.dtype is not b.dtype:
        raise RuntimeError(
            f"dot : expected both vectors to have same dtype, but found {a.dtype.word} and "
            f"{b.dtype.word}"
        )
    if a.shape != b.shape:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor {sizes_text(a.shape)} and src "
            f"{sizes_text(b.shape)} to have the same number of elements, but got {a.numel()} and "
            f"{b.numel()} elements respectively"
        )
    if name == "dot" and a.dtype.word == "Bool":
        error, text = unimplemented(name, "Bool")["Bool"]
        raise error(text)


dot = operator(
    "dot(Tensor self, Tensor tensor) -> Tensor",
    node="DotBackward0",
    check=lambda self, tensor: _check_vectors("dot", self, tensor),
    forward=lambda xp, self, tensor: multiplied(xp, self, tensor),
    self=lambda grad, tensor: grad * tensor,
    tensor=lambda grad, self: grad * self,
    acts="product",
    jacobian="dot product",
    doc="Dot product (inner product) of two vectors.",
    computes="(self*tensor).sum()",
    samples=("torch.dot(v, w)", "v.dot(w)", "v @ w", "j.dot(j)"),
    errors=("v.dot(x)", "v.dot(w[:2])", "v.dot(d[0])", "torch.dot(v, 1)"),
)

vdot = operator(
    "vdot(Tensor self, Tensor other) -> Tensor",
    node="VdotBackward0",
    check=lambda self, other: _check_vectors("vdot", self, other),
    holomorphic=False,
    forward=lambda xp, self, other: multiplied(xp, xp.conj(self), other),
    self=lambda grad, other: conj(grad) * other,
    other=lambda grad, self: grad * self,
    acts="product",
    jacobian="dot product",
    doc="Dot product (inner product) of two vectors; of complex ones the first is conjugated.",
    computes="(conj(self)*other).sum()",
    samples=("torch.vdot(v, w)", "v.vdot(w)", "torch.vdot(torch.complex(v, w), w * 1j)"),
    errors=("torch.vdot(v, x)", "torch.vdot(v, w[:2])"),
)


def _check_outer(a: Any, b: Any) -> None:
    for name, vector in (("self", a), ("vec2", b)):
        if vector.ndim != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {vector.ndim}-D")


def outer_of(self: Any, vec2: Any) -> Any:
    return reshape(self, (self.shape[0], 1)) * vec2


def _outer(self: Any, vec2: Any) -> Any:
    _check_outer(self, vec2)
    return outer_of(self, vec2)


outer = composite(
    "outer(Tensor self, Tensor vec2) -> Tensor",
    _outer,
    aliases=("ger",),
    doc="Outer product of two vectors.",
    computes="self.unsqueeze(1)*vec2",
    samples=("torch.outer(v, w)", "v.outer(w[:2])", "torch.ger(v, w)"),
    errors=("torch.outer(x, v)", "torch.outer(v, x)"),
)

# ---- matrix and matrix


def _is_column_major(sizes: Sequence[int], strides: Sequence[int]) -> bool:
    return strides[0] == 1 and strides[1] == sizes[0]


def _check_unpacked(matrix: Any, name: str) -> None:
    """A hook may have unpacked something else than a matrix."""
    if matrix.ndim > 2:
        told = f"{name} must be a matrix"
        if not name:
            told = f"t() expects a tensor with <= 2 dimensions, but self is {matrix.ndim}D"
        raise RuntimeError(told)


def left_gradient(grad: Any, mat2: Any, sizes: Any, strides: Any, alpha: Any) -> Any:
    """In the memory order of the matrix that it belongs to."""
    column_major = _is_column_major(sizes, strides)
    _check_unpacked(mat2, "self" if column_major else "")
    xp = ARRAYS.get(grad.__class__)
    if xp is not None and grad.size and mat2.ndim == 2:  # at once: no row has to be asked
        pair = (mat2, grad.T) if column_major else (grad, mat2.T)
        product = multiplied(xp, *pair)
        return scaled(product.T if column_major else product, alpha)
    if column_major:
        return scaled(t(mm(mat2, t(grad))), alpha)
    return scaled(mm(grad, t(mat2)), alpha)


def right_gradient(grad: Any, mat1: Any, sizes: Any, strides: Any, alpha: Any) -> Any:
    column_major = _is_column_major(sizes, strides)
    _check_unpacked(mat1, "mat2" if column_major else "")
    xp = ARRAYS.get(grad.__class__)
    if xp is not None and grad.size and mat1.ndim == 2:
        pair = (grad.T, mat1) if column_major else (mat1.T, grad)
        product = multiplied(xp, *pair)
        return scaled(product.T if column_major else product, alpha)
    if column_major:
        return scaled(t(mm(t(grad), mat1)), alpha)
    return scaled(mm(t(mat1), grad), alpha)


def product_cost(mat1: Any, mat2: Any) -> int:
    """The elements of a product, and those of operands that repeat what they hold."""
    a, b = mat1._data, mat2._data
    elements: int = a.shape[0] * b.shape[1]
    return elements + repeated(mat1, mat2) if 0 in a.strides or 0 in b.strides else elements


def _check_mm(self: Any, mat2: Any) -> None:
    if self.ndim != 2:
        raise RuntimeError("self must be a matrix")
    if mat2.ndim != 2:
        raise RuntimeError("mat2 must be a matrix")
    check_inner(self, mat2)
    if self.dtype is not mat2.dtype:
        raise RuntimeError(
            "expected m1 and m2 to have the same dtype, but got: "
            f"{self.dtype.c_word} != {mat2.dtype.c_word}"
        )


def check_inner(mat1: Any, mat2: Any) -> None:
    if mat1.shape[1] != mat2.shape[0]:
        a, b = ("x".join(map(str, matrix.shape)) for matrix in (mat1, mat2))
        message = f"mat1 and mat2 shapes cannot be multiplied ({a} and {b})"
        raise mismatch(RuntimeError(message), mat1.shape, mat2.shape)


mm = operator(
    "mm(Tensor self, Tensor mat2) -> Tensor",
    node="MmBackward0",
    check=_check_mm,
    refuse=NO_BOOL,
    forward=multiplied,
    self=lambda grad, mat2, self_sym_sizes, self_sym_strides: left_gradient(
        grad, mat2, self_sym_sizes, self_sym_strides, 1
    ),
    mat2=lambda grad, self, mat2_sym_sizes, mat2_sym_strides: right_gradient(
        grad, self, mat2_sym_sizes, mat2_sym_strides, 1
    ),
    cost=product_cost,
    acts="product",
    doc="Product of two matrices, without broadcasting.",
    computes="self @ mat2",
    samples=(
        "torch.mm(x, a)", "x.mm(r)", "a @ b", "x.t() @ y", "x @ y.t()", "i.mm(i.t())", "x.t() @ x",
        "x[:, :1] @ (0 * y[:1])",
    ),
    errors=("x.mm(y)", "v.mm(a)", "x.mm(d.t())", "k.mm(k.t())", "torch.mm(x, 1)", "x.mm(v)"),
)  # fmt: skip


def _check_mv(self: Any, vec: Any) -> None:
    if self.ndim != 2 or vec.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {1}, {self.ndim}, {vec.ndim}")
    if self.shape[1] != vec.shape[0]:
        raise RuntimeError(
            f"size mismatch, got input ({self.shape[0]}), mat "
            f"({self.shape[0]}x{self.shape[1]}), vec ({vec.shape[0]})"
        )
    if self.dtype is not vec.dtype:
        raise RuntimeError(
            "addmv input tensors must have the same dtype, but got "
            f"{vec.dtype.word}, {self.dtype.word}, and {vec.dtype.word}"
        )


mv = operator(
    "mv(Tensor self, Tensor vec) -> Tensor",
    node="MvBackward0",
    check=_check_mv,
    forward=multiplied,
    self=lambda grad, vec: outer_of(grad, vec),
    vec=lambda grad, self: mv(t(self), grad),
    acts="product",
    jacobian="matrix-vector product",
    doc="The product of a matrix with a vector.",
    computes="self @ vec",
    samples=("torch.mv(a, v)", "x.mv(v)", "a @ v", "x @ v", "x.t().mv(v[:2])"),
    errors=("a.mv(x)", "a.mv(w[:2])", "x.mv(d[0])"),
)


def check_bmm(self: Any, mat2: Any) -> None:
    for place, batch in (("batch1", self), ("batch2", mat2)):
        if batch.ndim != 3:
            raise RuntimeError(f"{place} must be a 3D tensor")
    if tuple(mat2.shape[:2]) != (self.shape[0], self.shape[2]):
        raise RuntimeError(
            "Expected size for first two dimensions of batch2 tensor to be: "
            f"{sizes_text((self.shape[0], self.shape[2]))} but got: {sizes_text(mat2.shape[:2])}."
        )
    if self.dtype is not mat2.dtype:
        raise RuntimeError(f"expected scalar type {self.dtype.word} but found {mat2.dtype.word}")


bmm = operator(
    "bmm(Tensor self, Tensor mat2) -> Tensor",
    node="BmmBackward0",
    check=check_bmm,
    refuse=unimplemented("bmm", "Bool"),
    forward=multiplied,
    self=lambda grad, mat2: bmm(grad, transpose(mat2, 1, 2)),
    mat2=lambda grad, self: bmm(transpose(self, 1, 2), grad),
    cost=lambda self, mat2: self.shape[0] * self.shape[1] * mat2.shape[2] + repeated(self, mat2),
    acts="product",
    jacobian="batched matmul",
    doc="Matrix products of a batch, pair by pair.",
    computes="self @ mat2",
    samples=("torch.bmm(c, c)", "c.bmm(c.mT)", "c @ c"),
    errors=("c.bmm(x)", "c.bmm(c[:1])", "c.bmm(c[:, :2])", "c.bmm(c.double())"),
)

# ---- matmul


def _strides(self: Any) -> Sequence[int]:
    strides: Sequence[int] = self.stride() if hasattr(self, "stride") else element_strides(self)
    return strides


def _folds(a: Any, b: Any) -> bool:
    """May the batch of one operand become rows of a plain matrix product?

    Always where the other one needs a gradient, which would be expanded to the batch otherwise;
    else where the batch can be merged without a copy.
    """
    a_larger = a.ndim >= b.ndim
    big, small = (a, b) if a_larger else (b, a)
    if not (big.ndim >= 3 and small.ndim <= 2):
        return False
    if getattr(small, "requires_grad", False):
        return True
    if a.ndim == 2:
        return False
    if 0 in big.shape:
        return True
    sizes, strides = list(big.shape), list(_strides(big))
    if not a_larger:
        sizes[-2:], strides[-2:] = sizes[:-3:-1], strides[:-3:-1]
    return all(
        strides[place] == strides[place + 1] * sizes[place + 1] for place in range(big.ndim - 2)
    )


def _folded(a: Any, b: Any) -> Any:
    swapped = b.ndim > a.ndim
    big, small = (mt(b), t(a) if a.ndim == 2 else a) if swapped else (a, b)
    output = tuple(big.shape[:-1])
    flat = reshape(big, (product_of(output), big.shape[-1]))
    if small.ndim == 1:
        return unsafe_view(mv(flat, small), output)
    result = unsafe_view(mm(flat, small), (*output, small.shape[1]))
    return contiguous(mt(result)) if swapped else result


def product_of(sizes: Sequence[int]) -> int:
    total = 1
    for length in sizes:
        total *= length
    return total


def _batched(a: Any, b: Any) -> Any:
    """Both operands as batches of one size; a vector is a matrix of one row or column."""
    batch_a, batch_b = tuple(a.shape[:-2]), tuple(b.shape[:-2])
    if a.ndim == 3 and b.ndim == 3 and batch_a[0] != batch_b[0]:
        if batch_a[0] == 1 and getattr(a, "requires_grad", False):
            return matmul_of(squeeze_dim(a, 0), b)
        if batch_b[0] == 1 and getattr(b, "requires_grad", False):
            return matmul_of(a, squeeze_dim(b, 0))
    batch = broadcast_sizes(batch_a, batch_b)
    count = product_of(batch)
    rows = a.shape[-2] if a.ndim > 1 else 1
    inner = b.shape[-2] if b.ndim > 1 else b.shape[-1]
    left = reshape(expand(a, (*batch, rows, a.shape[-1]), False), (count, rows, a.shape[-1]))
    output = (*batch, rows) if a.ndim > 1 else batch
    if b.ndim == 1:
        column = unsqueeze(reshape(expand(b, (*batch, inner), False), (count, inner)), 2)
        return unsafe_view(squeeze_dim(bmm(left, column), -1), output)
    columns = b.shape[-1]
    right = reshape(expand(b, (*batch, inner, columns), False), (count, inner, columns))
    return unsafe_view(bmm(left, right), (*output, columns))


def _squeezed(row: Any) -> Any:
    """PyTorch takes the dimension away in place: the product has been changed once."""
    vector = squeezed_away(row, 0)
    if hasattr(vector, "_need_storage"):
        vector._need_storage().version += 1
    return vector


def matmul_of(a: Any, b: Any) -> Any:
    """PyTorch's cases, in its order."""
    if a.ndim == 0 or b.ndim == 0:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {a.ndim}D and {b.ndim}D"
        )
    if a.ndim == 1 and b.ndim == 1:
        return dot(a, b)
    if a.ndim == 2 and b.ndim == 1:
        return mv(a, b)
    if a.ndim == 1 and b.ndim == 2:
        return _squeezed(mm(unsqueeze(a, 0), b))
    if a.ndim == 2 and b.ndim == 2:
        return mm(a, b)
    return _folded(a, b) if _folds(a, b) else _batched(a, b)


matmul = composite(
    "matmul(Tensor self, Tensor other) -> Tensor",
    matmul_of,
    where="torch method linalg",
    doc="Matrix product (matrix multiplication) of vectors, matrices or batches of matrices.",
    samples=(
        "x @ a", "v @ w", "a @ v", "v @ a", "c @ a", "a @ c", "c @ c", "c @ v", "v @ c",
        "c[:1] @ c", "c[:, None] @ c", "x @ c", "c @ x.t()", "torch.matmul(x, a)", "x.matmul(r)",
        "torch.linalg.matmul(a, b)", "c @ a.detach()", "a.detach() @ c", "c.detach() @ a",
        "c.mT @ a", "c @ v.detach()", "c @ c[0]", "c.detach() @ v",
    ),
    errors=(
        "x @ y", "s @ v", "v @ w[:2]", "a @ w[:2]", "v[:2] @ a", "c @ x", "c @ c[:, :2]",
        "x @ d.t()", "x @ 1", "k @ k.t()",
    ),
)  # fmt: skip
