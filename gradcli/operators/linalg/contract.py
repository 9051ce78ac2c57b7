"""Operators: contractions: einsum, tensordot, inner, kron, chains and powers of matrices."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from ...engine.schema import dtypes
from ...engine.schema.operator import Reduced, composite, operator, warn
from ..conventions import check_square, unimplemented
from ..elementwise.complex_parts import conj
from ..geometry import broadcast_sizes, is_contiguous, sizes_text, wrap_dim
from ..index.index_dim import index_fill_tensor
from ..reduce.sums import sum_all, sum_dims, sum_to
from ..shape.constants import zeros_of
from ..shape.create import eye
from ..shape.shape import clone, reshape, unsafe_view, view
from ..shape.squeeze import squeeze, unsqueeze
from ..shape.transposed import permute
from .product import dot, matmul_of, mm, product_of, vdot

# ---- tensordot, inner


def _dims_of(a: Any, b: Any, dims: Any) -> tuple[list[int], list[int]]:
    if hasattr(dims, "item"):
        if dims.numel() > 1 and len(dims) != 2:
            raise AssertionError(
                f"dims tensor must have size 2 in first dimension, got {len(dims)}"
            )
        dims = dims.tolist() if dims.numel() > 1 else int(dims.item())
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.ndim, b.ndim):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        return list(range(-dims, 0)), list(range(dims))
    if not isinstance(dims, list | tuple) or len(dims) != 2:
        raise RuntimeError(
            "tensordot expects dims to be int or tuple[list[int], list[int]] or list[list[int]] "
            f"containing two lists, but got dims={dims}"
        )
    left, right = dims
    return (
        list(left) if isinstance(left, list | tuple) else [left],
        list(right) if isinstance(right, list | tuple) else [right],
    )


def tensordot_of(a: Any, b: Any, dims_a: Sequence[int], dims_b: Sequence[int]) -> Any:
    if len(dims_a) != len(dims_b):
        raise RuntimeError(
            f"both dimension lists should have the same length, got {len(dims_a)} and {len(dims_b)}"
        )
    if a.dtype is not b.dtype:
        raise RuntimeError("both inputs should have same dtype")
    left = [wrap_dim(dim, a.ndim) for dim in dims_a]
    right = [wrap_dim(dim, b.ndim) for dim in dims_b]
    sums = 1
    for place, (i, j) in enumerate(zip(left, right, strict=True)):
        m, n = a.shape[i], b.shape[j]
        if n == 1:
            a = sum_dims(a, (i,), True, a.dtype)
        elif m == 1:
            b = sum_dims(b, (j,), True, b.dtype)
        elif m != n:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {m} in dim "
                f"{dims_a[place]} and second has size {n} in dim {dims_b[place]}"
            )
        else:
            sums *= m
    rest_a = [dim for dim in range(a.ndim) if dim not in left]
    rest_b = [dim for dim in range(b.ndim) if dim not in right]
    size = (*(a.shape[dim] for dim in rest_a), *(b.shape[dim] for dim in rest_b))
    rows = product_of([a.shape[dim] for dim in rest_a])
    columns = product_of([b.shape[dim] for dim in rest_b])
    if rows == 1 and columns == 1:  # one number
        a = permute(a, (*rest_a, *dims_a))
        b = permute(b, (*dims_b, *rest_b))
        if is_contiguous(a) and is_contiguous(b):
            last = _vector(b, sums)  # PyTorch's compiler evaluates it first
            return view(dot(_vector(a, sums), last), size)
        return view(sum_all(squeeze(a) * squeeze(b)).to(a.dtype), size)
    a = reshape(permute(a, (*rest_a, *dims_a)), (rows, sums))
    return view(mm(a, reshape(permute(b, (*dims_b, *rest_b)), (sums, columns))), size)


def _vector(self: Any, length: int) -> Any:
    return self if tuple(self.shape) == (length,) and self.ndim == 1 else reshape(self, (length,))


tensordot = composite(
    "tensordot(Tensor a, Tensor b, any dims=2) -> Tensor",
    lambda a, b, dims: tensordot_of(a, b, *_dims_of(a, b, dims)),
    where="torch",
    doc="Products summed over dimensions of two tensors.",
    samples=(
        "torch.tensordot(x, a, 1)", "torch.tensordot(x, y, 2)", "torch.tensordot(x, y, ([0], [0]))",
        "torch.tensordot(c, a, dims=([2], [0]))", "torch.tensordot(v, w, 0)",
    ),
    errors=(
        "torch.tensordot(x, y, 1)", "torch.tensordot(x, y, 3)", "torch.tensordot(x, y, ([0], [1]))",
        "torch.tensordot(x, y, -1)",
    ),
)  # fmt: skip


def _inner(self: Any, other: Any) -> Any:
    if self.ndim == 0 or other.ndim == 0:
        return self * other
    if self.shape[-1] != other.shape[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{sizes_text(self.shape)} and {sizes_text(other.shape)}"
        )
    return tensordot_of(self, other, (-1,), (-1,))


inner = composite(
    "inner(Tensor self, Tensor other) -> Tensor",
    _inner,
    doc="Inner product over the last dimension.",
    samples=("torch.inner(v, w)", "torch.inner(x, a)", "torch.inner(s, x)", "x.inner(y)"),
    errors=("torch.inner(x, r)", "torch.inner(v, w.double())"),
)

# ---- chains


def _kron(self: Any, other: Any) -> Any:
    """Each operand with sizes of 1 between its dimensions; their product, seen as one matrix."""
    rank = max(self.ndim, other.ndim)
    mine = (1,) * (rank - self.ndim) + tuple(self.shape)
    theirs = (1,) * (rank - other.ndim) + tuple(other.shape)
    left = [n for pair in ((length, 1) for length in mine) for n in pair]
    right = [n for pair in ((1, length) for length in theirs) for n in pair]
    size = tuple(m * n for m, n in zip(mine, theirs, strict=True))
    return unsafe_view(unsafe_view(self, tuple(left)) * unsafe_view(other, tuple(right)), size)


kron = composite(
    "kron(Tensor self, Tensor other) -> Tensor",
    _kron,
    doc="Kronecker product.",
    samples=("torch.kron(a, b)", "torch.kron(v, a)", "x.kron(y)", "torch.kron(s, v)"),
    errors=("torch.kron(x, 1)",),
)


def _chain_order(sizes: Sequence[int]) -> list[list[int]]:
    """Where to cut each stretch of a chain so that the fewest multiplications are made."""
    count = len(sizes) - 1
    cost = [[0] * count for _ in range(count)]
    cut = [[0] * count for _ in range(count)]
    for width in range(1, count):
        for first in range(count - width):
            last = first + width
            best = None
            for middle in range(first, last):
                total = (
                    cost[first][middle]
                    + cost[middle + 1][last]
                    + sizes[first] * sizes[middle + 1] * sizes[last + 1]
                )
                if best is None or total < best:
                    best, cut[first][last] = total, middle
            cost[first][last] = best or 0
    return cut


def _multiplied_chain(tensors: Sequence[Any], cut: list[list[int]], first: int, last: int) -> Any:
    if first == last:
        return tensors[first]
    middle = cut[first][last]
    return mm(
        _multiplied_chain(tensors, cut, first, middle),
        _multiplied_chain(tensors, cut, middle + 1, last),
    )


def _check_chain(tensors: Sequence[Any]) -> None:
    count = len(tensors)
    if count < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {count}")
    for place, word in ((0, "first"), (count - 1, "last")):
        if tensors[place].ndim not in (1, 2):
            raise RuntimeError(
                f"multi_dot(): the {word} tensor must be 1D or 2D but got {tensors[place].ndim}D"
            )
    for place in range(1, count - 1):
        if tensors[place].ndim != 2:
            raise RuntimeError(
                f"multi_dot(): tensor {place} must be 2D but got {tensors[place].ndim}D"
            )


def _chain(tensors: Sequence[Any]) -> Any:
    _check_chain(tensors)
    for place, tensor in enumerate(tensors):
        if tensor.dtype is not tensors[0].dtype:
            raise RuntimeError(
                "multi_dot(): all tensors must have be the same dtype but tensor 0 is "
                f"{tensors[0].dtype.c_word} and tensor {place} {tensor.dtype.c_word}"
            )
    given = tensors
    tensors = list(tensors)
    size: list[int] = []
    if tensors[0].ndim == 1:
        tensors[0] = unsqueeze(tensors[0], 0)
    else:
        size.append(tensors[0].shape[0])
    if tensors[-1].ndim == 1:
        tensors[-1] = unsqueeze(tensors[-1], -1)
    else:
        size.append(tensors[-1].shape[1])
    for place, (a, b) in enumerate(itertools.pairwise(tensors)):
        if a.shape[1] != b.shape[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {place} and {place + 1} with shapes "
                f"{sizes_text(given[place].shape)} and {sizes_text(given[place + 1].shape)} cannot "
                "be multiplied"
            )
    if len(tensors) == 2:
        return view(mm(tensors[0], tensors[1]), tuple(size))
    if len(tensors) == 3:
        return view(_of_three(*tensors), tuple(size))
    cut = _chain_order([tensors[0].shape[0], *(tensor.shape[1] for tensor in tensors)])
    return view(_multiplied_chain(tensors, cut, 0, len(tensors) - 1), tuple(size))


def _of_three(first: Any, second: Any, third: Any) -> Any:
    a, b, c, e = first.shape[0], second.shape[0], third.shape[0], third.shape[1]
    left = a * c * (b + e)
    right = b * e * (a + c)
    return mm(mm(first, second), third) if left <= right else mm(first, mm(second, third))


multi_dot = composite(
    "multi_dot(Tensor[] tensors) -> Tensor",
    _chain,
    where="linalg",
    doc="The product of several matrices, multiplied in the cheapest order.",
    samples=(
        "torch.linalg.multi_dot([a, b, a])", "torch.linalg.multi_dot([v, b, w])",
        "torch.linalg.multi_dot([a, b])", "torch.linalg.multi_dot([x, a, b, b])",
        "torch.linalg.multi_dot([x, a, b, v])",
    ),
    errors=(
        "torch.linalg.multi_dot([a])", "torch.linalg.multi_dot([a, c])",
        "torch.linalg.multi_dot([a, x])",
    ),
)  # fmt: skip


def _old_chain(matrices: Any) -> Any:
    warn(
        "torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use "
        "torch.linalg.multi_dot instead, which accepts a list of two or more tensors rather than "
        "multiple parameters."
    )
    for matrix in matrices:
        if matrix.ndim != 2:
            raise RuntimeError(f"Tensor dimension is {matrix.ndim}, expected 2 instead.")
    return matrices[0] if len(matrices) == 1 else _chain(matrices)


chain_matmul = composite(
    "chain_matmul(Tensor[] matrices) -> Tensor",
    _old_chain,
    where="torch",
    doc="The product of several matrices, multiplied in the cheapest order.",
    samples=("torch.chain_matmul(a, b, a)", "torch.chain_matmul(x, a)"),
)


def _power(self: Any, n: int) -> Any:
    check_square(self, "linalg.matrix_power")
    if n == 0:
        return clone(self, None).copy_(eye(self.shape[-1], dtype=self.dtype, device=self.device))
    if n == 1:
        return clone(self, None)
    if n < 0:
        from .inverse import inverse_of

        self, n = inverse_of(self), -n
        if n == 1:
            return self
    if n == 2:
        return matmul_of(self, self)
    if n == 3:
        return matmul_of(matmul_of(self, self), self)
    result = square = None
    while n > 0:
        square = self if square is None else matmul_of(square, square)
        if n % 2:
            result = square if result is None else matmul_of(result, square)
        n //= 2
    return result


matrix_power = composite(
    "matrix_power(Tensor self, int n) -> Tensor",
    _power,
    where="torch method linalg",
    doc="The n-th power of a square matrix; for negative n, of its inverse.",
    samples=(
        "torch.linalg.matrix_power(a, 3)", "a.matrix_power(0)", "a.matrix_power(1)",
        "a.matrix_power(2)", "a.matrix_power(5)", "a.matrix_power(-2)", "torch.matrix_power(c, 2)",
    ),
    errors=("torch.linalg.matrix_power(x, 2)",),
)  # fmt: skip

# ---- cross products, traces


def _check_cross(self: Any, other: Any, dim: int) -> None:
    if self.ndim != other.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    if self.ndim == 0:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    wrapped = wrap_dim(dim, self.ndim)
    if self.shape[wrapped] != 3 or other.shape[wrapped] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got "
            f"{self.shape[wrapped]} and {other.shape[wrapped]}"
        )
    broadcast_sizes(self.shape, other.shape)
    if self.dtype is not other.dtype:
        raise RuntimeError(f"expected scalar type {self.dtype.word} but found {other.dtype.word}")
    if self.dtype is dtypes.bool_:
        raise NotImplementedError("\"cross\" not implemented for 'Bool'")


def _crossed(xp: Any, self: Any, other: Any, dim: int, settle: Any = None) -> Any:
    """Each product rounded before they are subtracted."""
    a, b = xp.broadcast_arrays(xp.moveaxis(self, dim, 0), xp.moveaxis(other, dim, 0))
    parts = []
    for i, j in ((1, 2), (2, 0), (0, 1)):
        first, second = a[i] * b[j], a[j] * b[i]
        parts.append(first - second if settle is None else settle(first) - settle(second))
    return xp.stack(parts, dim)


linalg_cross = operator(
    "cross.linalg(Tensor self, Tensor other, *, int dim=-1) -> Tensor",
    node="LinalgCrossBackward0",
    where="linalg",
    check=_check_cross,
    layout="row-major",
    forward=_crossed,
    reduced=Reduced(
        lambda kind, self, other, dim: _crossed(kind.xp, self, other, dim, kind.settle)
    ),
    self=lambda grad, self_shape, other, dim: sum_to_shape(
        linalg_cross(other, grad, dim), self_shape
    ),
    other=lambda grad, self, other_shape, dim: sum_to_shape(
        linalg_cross(grad, self, dim), other_shape
    ),
    doc="The cross product along a dimension of size 3.",
    samples=(
        "torch.linalg.cross(v, w)", "torch.linalg.cross(a, b, dim=0)", "torch.linalg.cross(x, z)",
    ),
    errors=("torch.linalg.cross(v, w[:2])", "torch.linalg.cross(w[:2], w[:2])"),
)  # fmt: skip


def sum_to_shape(grad: Any, shape: Sequence[int]) -> Any:
    return grad if tuple(grad.shape) == tuple(shape) else sum_to(grad, shape)


def _cross(self: Any, other: Any, dim: int | None) -> Any:
    if dim is None:
        found = next((place for place, length in enumerate(self.shape) if length == 3), None)
        if found is None:
            raise RuntimeError("no dimension of size 3 in input")
        dim = found
        warn(
            "Using torch.cross without specifying the dim arg is deprecated.\n"
            "Please either pass the dim explicitly or simply use torch.linalg.cross.\n"
            "The default value of dim will change to agree with that of linalg.cross in a future "
            "release."
        )
    return linalg_cross.run(self, other, dim)


cross = composite(
    "cross(Tensor self, Tensor other, int? dim=None) -> Tensor",
    _cross,
    doc="Cross product along a dimension of size 3, by default the first such dimension.",
    samples=("torch.cross(a, b)", "torch.cross(a, b, dim=1)", "v.cross(w, 0)", "torch.cross(x, y)"),
    errors=(
        "torch.cross(x.t(), y)",
        "torch.cross(x, y, 0)",
        "torch.linalg.cross(v, x)",
        "torch.linalg.cross(s, t)",
        "torch.linalg.cross(x, i)",
        "torch.linalg.cross(k, k)",
    ),
)


def _check_trace(self: Any) -> None:
    if self.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {self.ndim}")


def _trace_gradient(grad: Any, sizes: Sequence[int]) -> Any:
    flat = zeros_of(grad, (sizes[0] * sizes[1],))
    places = diagonal_places(flat, sizes[0], sizes[1])
    return view(index_fill_tensor(flat, 0, places, grad), tuple(sizes))


diagonal_places = operator(
    "_diagonal_places(Tensor self, int rows, int columns) -> Tensor",
    where="hidden",
    dtype="int64",
    forward=lambda xp, self, rows, columns: xp.arange(min(rows, columns)) * (columns + 1),
    doc="Where the diagonal of a matrix stands in its memory.",
    samples=("torch.autograd.grad(torch.trace(a), a, create_graph=True)[0]",),
)

trace = operator(
    "trace(Tensor self) -> Tensor",
    node="TraceBackward0",
    check=_check_trace,
    refuse=unimplemented("trace", "Bool"),
    dtype="sum",
    forward=lambda xp, self: self.trace(dtype="int64" if self.dtype.kind in "iub" else None),
    self=lambda grad, self_sym_sizes: _trace_gradient(grad, self_sym_sizes),
    jacobian="selection and sum",
    doc="Trace: the sum of the diagonal of a matrix.",
    computes="self.diagonal().sum()",
    samples=("torch.trace(a)", "x.trace()", "i.trace()"),
    errors=("torch.trace(v)",),
)


def _vecdot(x: Any, y: Any, dim: int) -> Any:
    if x.dtype is not y.dtype:
        raise RuntimeError(
            "linalg.vecdot: Expected x and y to have the same dtype, but found x of type "
            f"{x.dtype.word} and y of type {y.dtype.word} instead"
        )
    if x.ndim == 1 and y.ndim == 1:
        return vdot(x, y)
    return sum_dims(conj(x) * y, (dim,), False)


vecdot = composite(
    "vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor",
    _vecdot,
    where="linalg",
    doc="Products summed over a dimension.",
    computes="(conj(x)*y).sum(dim)",
    samples=(
        "torch.linalg.vecdot(v, w)", "torch.linalg.vecdot(x, y)",
        "torch.linalg.vecdot(x, y, dim=0)",
        "torch.linalg.vecdot(torch.complex(x, y), torch.complex(y, x))",
    ),
    errors=("torch.linalg.vecdot(x, d)",),
)  # fmt: skip
