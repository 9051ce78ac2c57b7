# Written by `python -m gradcli.stubs` from the declarations of the operators; not by hand.
# mypy: disable-error-code="overload-overlap,overload-cannot-match,override,misc,type-arg"
# ruff: noqa
from builtins import bool as _bool, complex as _complex, float as _float, int as _int
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, overload

from . import autograd as autograd, func as func, nn as nn, optim as optim
from . import utils as utils
from .engine.tensors.tensor import Tensor as _Tensor
from .engine.memory.device import Device as _device
from .engine.schema.dtypes import DType as _dtype
from .engine.schema.size import Size as Size

_Number = _int | _float | _bool | _complex
__version__: str
device = _device
dtype = _dtype
class _LU_pivots(NamedTuple):
    LU: Tensor
    pivots: Tensor
class _LU_pivots_info(NamedTuple):
    LU: Tensor
    pivots: Tensor
    info: Tensor
class _L_info(NamedTuple):
    L: Tensor
    info: Tensor
class _P_L_U(NamedTuple):
    P: Tensor
    L: Tensor
    U: Tensor
class _Q_R(NamedTuple):
    Q: Tensor
    R: Tensor
class _U_S_V(NamedTuple):
    U: Tensor
    S: Tensor
    V: Tensor
class _U_S_Vh(NamedTuple):
    U: Tensor
    S: Tensor
    Vh: Tensor
class _a_tau(NamedTuple):
    a: Tensor
    tau: Tensor
class _eigenvalues_eigenvectors(NamedTuple):
    eigenvalues: Tensor
    eigenvectors: Tensor
class _hist_bin_edges(NamedTuple):
    hist: Tensor
    bin_edges: Tensor
class _inverse_info(NamedTuple):
    inverse: Tensor
    info: Tensor
class _mantissa_exponent(NamedTuple):
    mantissa: Tensor
    exponent: Tensor
class _min_max(NamedTuple):
    min: Tensor
    max: Tensor
class _result0_result1_result2(NamedTuple):
    result0: Tensor
    result1: Tensor
    result2: Tensor
class _result0_result1_result2_result3(NamedTuple):
    result0: Tensor
    result1: Tensor
    result2: Tensor
    result3: Tensor
class _result_info(NamedTuple):
    result: Tensor
    info: Tensor
class _sign_logabsdet(NamedTuple):
    sign: Tensor
    logabsdet: Tensor
class _solution_cloned_coefficient(NamedTuple):
    solution: Tensor
    cloned_coefficient: Tensor
class _solution_residuals_rank_singular_values(NamedTuple):
    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor
class _values_indices(NamedTuple):
    values: Tensor
    indices: Tensor
class Tensor(_Tensor):
    shape: Size
    dtype: _dtype
    device: _device
    ndim: _int
    requires_grad: _bool
    is_leaf: _bool
    retains_grad: _bool
    grad: Tensor | None
    data: Tensor
    grad_fn: Any
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def __add__(self, other: _Tensor | _Number) -> Tensor: ...
    def __radd__(self, other: _Tensor | _Number) -> Tensor: ...
    def __sub__(self, other: _Tensor | _Number) -> Tensor: ...
    def __rsub__(self, other: _Tensor | _Number) -> Tensor: ...
    def __mul__(self, other: _Tensor | _Number) -> Tensor: ...
    def __rmul__(self, other: _Tensor | _Number) -> Tensor: ...
    def __truediv__(self, other: _Tensor | _Number) -> Tensor: ...
    def __rtruediv__(self, other: _Tensor | _Number) -> Tensor: ...
    def __pow__(self, other: _Tensor | _Number) -> Tensor: ...
    def __rpow__(self, other: _Tensor | _Number) -> Tensor: ...
    def __floordiv__(self, other: _Tensor | _Number) -> Tensor: ...
    def __rfloordiv__(self, other: _Tensor | _Number) -> Tensor: ...
    def __mod__(self, other: _Tensor | _Number) -> Tensor: ...
    def __rmod__(self, other: _Tensor | _Number) -> Tensor: ...
    def __and__(self, other: _Tensor | _Number) -> Tensor: ...
    def __rand__(self, other: _Tensor | _Number) -> Tensor: ...
    def __or__(self, other: _Tensor | _Number) -> Tensor: ...
    def __ror__(self, other: _Tensor | _Number) -> Tensor: ...
    def __xor__(self, other: _Tensor | _Number) -> Tensor: ...
    def __rxor__(self, other: _Tensor | _Number) -> Tensor: ...
    def __lshift__(self, other: _Tensor | _Number) -> Tensor: ...
    def __rlshift__(self, other: _Tensor | _Number) -> Tensor: ...
    def __rshift__(self, other: _Tensor | _Number) -> Tensor: ...
    def __rrshift__(self, other: _Tensor | _Number) -> Tensor: ...
    def __matmul__(self, other: _Tensor) -> Tensor: ...
    def __neg__(self) -> Tensor: ...
    def __pos__(self) -> Tensor: ...
    def __abs__(self) -> Tensor: ...
    def __invert__(self) -> Tensor: ...
    def __lt__(self, other: _Tensor | _Number) -> Tensor: ...
    def __le__(self, other: _Tensor | _Number) -> Tensor: ...
    def __gt__(self, other: _Tensor | _Number) -> Tensor: ...
    def __ge__(self, other: _Tensor | _Number) -> Tensor: ...
    def __eq__(self, other: object) -> Tensor: ...
    def __ne__(self, other: object) -> Tensor: ...
    def __hash__(self) -> _int: ...
    def __getitem__(self, index: Any) -> Tensor: ...
    def __setitem__(self, index: Any, value: Any) -> None: ...
    def __iter__(self) -> Iterator[Tensor]: ...
    def __float__(self) -> _float: ...
    def __int__(self) -> _int: ...
    def __bool__(self) -> _bool: ...
    def __len__(self) -> _int: ...
    def _dimI(self) -> tuple[Any]: """How many dimensions are sparse."""
    def _dimV(self) -> tuple[Any]: """How many dimensions of the elements are dense."""
    def _indices(self) -> tuple[Any]: """The coordinates of the elements of a sparse tensor."""
    def _nnz(self) -> tuple[Any]: """How many elements a sparse tensor keeps."""
    def _values(self) -> tuple[Any]: """The elements of a sparse tensor, outside the graph."""
    def abs(self) -> Tensor: """Absolute value, elementwise."""
    def abs_(self) -> Tensor: """In-place form of abs. Absolute value, elementwise."""
    def absolute(self) -> Tensor: """Absolute value, elementwise."""
    def absolute_(self) -> Tensor: """In-place form of abs. Absolute value, elementwise."""
    def acos(self) -> Tensor: """Arc cosine (inverse cosine), in radians from 0 to pi."""
    def acos_(self) -> Tensor: """In-place form of acos. Arc cosine (inverse cosine), in radians from 0 to pi."""
    def acosh(self) -> Tensor: """Inverse hyperbolic cosine, for x of at least 1."""
    def acosh_(self) -> Tensor: """In-place form of acosh. In-place acosh; it has no derivative, and backward says so."""
    def add(self, other: _Tensor | _Number, *, alpha: _Number = ...) -> Tensor: """Sum of two tensors, the second one scaled by alpha."""
    def add_(self, other: _Tensor | _Number, *, alpha: _Number = ...) -> Tensor: """In-place form of add. Sum of two tensors, the second one scaled by alpha."""
    def addbmm(self, batch1: _Tensor, batch2: _Tensor, *, beta: _Number = ..., alpha: _Number = ...) -> Tensor: """beta * self + alpha * the sum of the products of two batches."""
    def addbmm_(self, batch1: _Tensor, batch2: _Tensor, *, beta: _Number = ..., alpha: _Number = ...) -> Tensor: """In-place form of addbmm. beta * self + alpha * the sum of the products of two batches."""
    def addcdiv(self, tensor1: _Tensor, tensor2: _Tensor, *, value: _Number = ...) -> Tensor: """A tensor plus the scaled quotient of two others."""
    def addcdiv_(self, tensor1: _Tensor, tensor2: _Tensor, *, value: _Number = ...) -> Tensor: """In-place form of addcdiv. A tensor plus the scaled quotient of two others."""
    def addcmul(self, tensor1: _Tensor, tensor2: _Tensor, *, value: _Number = ...) -> Tensor: """A tensor plus the scaled product of two others."""
    def addcmul_(self, tensor1: _Tensor, tensor2: _Tensor, *, value: _Number = ...) -> Tensor: """In-place form of addcmul. A tensor plus the scaled product of two others."""
    def addmm(self, mat1: _Tensor, mat2: _Tensor, *, beta: _Number = ..., alpha: _Number = ...) -> Tensor: """beta * self + alpha * (mat1 @ mat2)."""
    def addmm_(self, mat1: _Tensor, mat2: _Tensor, *, beta: _Number = ..., alpha: _Number = ...) -> Tensor: """In-place form of addmm. beta * self + alpha * (mat1 @ mat2)."""
    def addmv(self, mat: _Tensor, vec: _Tensor, *, beta: _Number = ..., alpha: _Number = ...) -> Tensor: """beta * self + alpha * (mat @ vec)."""
    def addmv_(self, mat: _Tensor, vec: _Tensor, *, beta: _Number = ..., alpha: _Number = ...) -> Tensor: """In-place form of addmv. beta * self + alpha * (mat @ vec)."""
    def addr(self, vec1: _Tensor, vec2: _Tensor, *, beta: _Number = ..., alpha: _Number = ...) -> Tensor: """beta * self + alpha * the outer product of two vectors."""
    def addr_(self, vec1: _Tensor, vec2: _Tensor, *, beta: _Number = ..., alpha: _Number = ...) -> Tensor: """In-place form of addr. beta * self + alpha * the outer product of two vectors."""
    def adjoint(self) -> Tensor: """Swaps the last two dimensions and conjugates."""
    @overload
    def all(self) -> Tensor: """Are all elements different from zero?"""
    @overload
    def all(self, dim: _int, keepdim: _bool = ...) -> Tensor: """Are all elements along one dimension different from zero?"""
    @overload
    def all(self, dim: _int | Sequence[_int] | None = ..., keepdim: _bool = ...) -> Tensor: """Are all elements over some dimensions different from zero?"""
    def allclose(self, other: _Tensor, rtol: _float = ..., atol: _float = ..., equal_nan: _bool = ...) -> _bool: """Are all elements close, as a Python bool?"""
    def amax(self, dim: _int | Sequence[_int] | None = ..., keepdim: _bool = ...) -> Tensor: """The largest elements over some dimensions; ties share the gradient equally."""
    def amin(self, dim: _int | Sequence[_int] | None = ..., keepdim: _bool = ...) -> Tensor: """The smallest elements over some dimensions; ties share the gradient equally."""
    def aminmax(self, *, dim: _int | None = ..., keepdim: _bool = ...) -> _min_max: """The smallest and the largest elements."""
    def angle(self) -> Tensor: """The angle of a number in the complex plane: 0 or pi for real ones."""
    @overload
    def any(self) -> Tensor: """Is any element different from zero?"""
    @overload
    def any(self, dim: _int, keepdim: _bool = ...) -> Tensor: """Is any element along one dimension different from zero?"""
    @overload
    def any(self, dim: _int | Sequence[_int] | None = ..., keepdim: _bool = ...) -> Tensor: """Is any element over some dimensions different from zero?"""
    def arccos(self) -> Tensor: """Arc cosine (inverse cosine), in radians from 0 to pi."""
    def arccos_(self) -> Tensor: """In-place form of acos. Arc cosine (inverse cosine), in radians from 0 to pi."""
    def arccosh(self) -> Tensor: """Inverse hyperbolic cosine, for x of at least 1."""
    def arccosh_(self) -> Tensor: """In-place form of acosh. In-place acosh; it has no derivative, and backward says so."""
    def arcsin(self) -> Tensor: """Arc sine (inverse sine), in radians from -pi/2 to pi/2."""
    def arcsin_(self) -> Tensor: """In-place form of asin. Arc sine (inverse sine), in radians from -pi/2 to pi/2."""
    def arcsinh(self) -> Tensor: """Inverse hyperbolic sine."""
    def arcsinh_(self) -> Tensor: """In-place form of asinh. In-place asinh; it has no derivative, and backward says so."""
    def arctan(self) -> Tensor: """Arc tangent (inverse tangent), in radians from -pi/2 to pi/2."""
    def arctan2(self, other: _Tensor) -> Tensor: """Arc tangent of self / other by quadrant, in radians from -pi to pi."""
    def arctan2_(self, other: _Tensor) -> Tensor: """In-place form of atan2. Arc tangent of self / other by quadrant, in radians from -pi to pi."""
    def arctan_(self) -> Tensor: """In-place form of atan. Arc tangent (inverse tangent), in radians from -pi/2 to pi/2."""
    def arctanh(self) -> Tensor: """Inverse hyperbolic tangent."""
    def arctanh_(self) -> Tensor: """In-place form of atanh. In-place atanh; it has no derivative, and backward says so."""
    def argmax(self, dim: _int | None = ..., keepdim: _bool = ...) -> Tensor: """Index of the largest element; at a tie the first one."""
    def argmin(self, dim: _int | None = ..., keepdim: _bool = ...) -> Tensor: """Index of the smallest element; at a tie the first one."""
    @overload
    def argsort(self, dim: _int = ..., descending: _bool = ...) -> Tensor: """Indices that sort the tensor along a dimension."""
    @overload
    def argsort(self, *, stable: _bool, dim: _int = ..., descending: _bool = ...) -> Tensor: """Indices that sort the tensor along a dimension; equal elements keep their order."""
    def argwhere(self) -> Tensor: """Indices of the elements that are not zero, one row for each."""
    def as_strided(self, size: _int | Sequence[_int], stride: _int | Sequence[_int], storage_offset: _int | None = ...) -> Tensor: """A view of the same memory with the given size and strides."""
    def as_strided_(self, size: _int | Sequence[_int], stride: _int | Sequence[_int], storage_offset: _int | None = ...) -> Tensor: """In-place form of as_strided. A view of the same memory with the given size and strides."""
    def as_strided_scatter(self, src: _Tensor, size: _int | Sequence[_int], stride: _int | Sequence[_int], storage_offset: _int | None = ...) -> Tensor: """A copy whose memory is written over where a geometry lies."""
    def asin(self) -> Tensor: """Arc sine (inverse sine), in radians from -pi/2 to pi/2."""
    def asin_(self) -> Tensor: """In-place form of asin. Arc sine (inverse sine), in radians from -pi/2 to pi/2."""
    def asinh(self) -> Tensor: """Inverse hyperbolic sine."""
    def asinh_(self) -> Tensor: """In-place form of asinh. In-place asinh; it has no derivative, and backward says so."""
    def atan(self) -> Tensor: """Arc tangent (inverse tangent), in radians from -pi/2 to pi/2."""
    def atan2(self, other: _Tensor) -> Tensor: """Arc tangent of self / other by quadrant, in radians from -pi to pi."""
    def atan2_(self, other: _Tensor) -> Tensor: """In-place form of atan2. Arc tangent of self / other by quadrant, in radians from -pi to pi."""
    def atan_(self) -> Tensor: """In-place form of atan. Arc tangent (inverse tangent), in radians from -pi/2 to pi/2."""
    def atanh(self) -> Tensor: """Inverse hyperbolic tangent."""
    def atanh_(self) -> Tensor: """In-place form of atanh. In-place atanh; it has no derivative, and backward says so."""
    def baddbmm(self, batch1: _Tensor, batch2: _Tensor, *, beta: _Number = ..., alpha: _Number = ...) -> Tensor: """beta * self + alpha * the products of two batches, pair by pair."""
    def baddbmm_(self, batch1: _Tensor, batch2: _Tensor, *, beta: _Number = ..., alpha: _Number = ...) -> Tensor: """In-place form of baddbmm. beta * self + alpha * the products of two batches, pair by pair."""
    @overload
    def bernoulli(self, *, generator: Any = ...) -> Tensor: """Ones and zeros, each one with its own probability."""
    @overload
    def bernoulli(self, p: _float, *, generator: Any = ...) -> Tensor: """Ones with one probability, else zeros, in another tensor's size."""
    @overload
    def bernoulli_(self, p: _Tensor, *, generator: Any = ...) -> Tensor: """In-place form of bernoulli. Ones and zeros, each one with its own probability."""
    @overload
    def bernoulli_(self, p: _float = ..., *, generator: Any = ...) -> Tensor: """In-place form of bernoulli. Ones with one probability, else zeros."""
    def bfloat16(self, *, memory_format: Any = ...) -> Tensor: """As bfloat16; the tensor itself where it is that already."""
    def bincount(self, weights: _Tensor | None = ..., minlength: _int = ...) -> Tensor: """How often each number from 0 on occurs, or the sum of the weights there."""
    def bitwise_and(self, other: _Tensor | _Number) -> Tensor: """Bitwise AND."""
    def bitwise_and_(self, other: _Tensor | _Number) -> Tensor: """In-place form of bitwise_and. Bitwise AND."""
    def bitwise_left_shift(self, other: _Tensor | _Number) -> Tensor: """Bitwise shift to the left."""
    def bitwise_left_shift_(self, other: _Tensor | _Number) -> Tensor: """In-place form of bitwise_left_shift. Bitwise shift to the left."""
    def bitwise_not(self) -> Tensor: """Bitwise NOT."""
    def bitwise_not_(self) -> Tensor: """In-place form of bitwise_not. Bitwise NOT."""
    def bitwise_or(self, other: _Tensor | _Number) -> Tensor: """Bitwise OR."""
    def bitwise_or_(self, other: _Tensor | _Number) -> Tensor: """In-place form of bitwise_or. Bitwise OR."""
    def bitwise_right_shift(self, other: _Tensor | _Number) -> Tensor: """Bitwise shift to the right."""
    def bitwise_right_shift_(self, other: _Tensor | _Number) -> Tensor: """In-place form of bitwise_right_shift. Bitwise shift to the right."""
    def bitwise_xor(self, other: _Tensor | _Number) -> Tensor: """Bitwise XOR (exclusive or)."""
    def bitwise_xor_(self, other: _Tensor | _Number) -> Tensor: """In-place form of bitwise_xor. Bitwise XOR (exclusive or)."""
    def bmm(self, mat2: _Tensor) -> Tensor: """Matrix products of a batch, pair by pair."""
    def bool(self, *, memory_format: Any = ...) -> Tensor: """As bool; the tensor itself where it is that already."""
    @overload
    def broadcast_to(self, size: _int | Sequence[_int]) -> Tensor: """Alias of expand, with NumPy's name."""
    @overload
    def broadcast_to(self, *size: _int) -> Tensor: """Alias of expand, with NumPy's name."""
    def byte(self, *, memory_format: Any = ...) -> Tensor: """As uint8; the tensor itself where it is that already."""
    def cauchy_(self, median: _float = ..., sigma: _float = ..., *, generator: Any = ...) -> Tensor: """In-place form of cauchy. Numbers from a Cauchy distribution."""
    def cdouble(self, *, memory_format: Any = ...) -> Tensor: """As complex128; the tensor itself where it is that already."""
    def ceil(self) -> Tensor: """The smallest integer greater than or equal to x."""
    def ceil_(self) -> Tensor: """In-place form of ceil. The smallest integer greater than or equal to x."""
    def cfloat(self, *, memory_format: Any = ...) -> Tensor: """As complex64; the tensor itself where it is that already."""
    def char(self, *, memory_format: Any = ...) -> Tensor: """As int8; the tensor itself where it is that already."""
    def cholesky(self, upper: _bool = ...) -> Tensor: """The Cholesky factor under its older name."""
    def cholesky_inverse(self, upper: _bool = ...) -> Tensor: """The inverse of a matrix that is given by its Cholesky factor."""
    def cholesky_solve(self, input2: _Tensor, upper: _bool = ...) -> Tensor: """The solution of a system whose matrix is given by its Cholesky factor."""
    def chunk(self, chunks: _int, dim: _int = ...) -> tuple[Tensor, ...]: """Splits into at most the given number of pieces of one size, along a dimension."""
    @overload
    def clamp(self, min: _Tensor | None = ..., max: _Tensor | None = ...) -> Tensor: """Clamps (clips) elements between two tensors."""
    @overload
    def clamp(self, min: _Number | None = ..., max: _Number | None = ...) -> Tensor: """Clamps elements between two numbers; the gradient passes at the bounds."""
    @overload
    def clamp_(self, min: _Tensor | None = ..., max: _Tensor | None = ...) -> Tensor: """In-place form of clamp. Clamps (clips) elements between two tensors."""
    @overload
    def clamp_(self, min: _Number | None = ..., max: _Number | None = ...) -> Tensor: """In-place form of clamp. Clamps elements between two numbers; the gradient passes at the bounds."""
    @overload
    def clamp_max(self, max: _Tensor) -> Tensor: """Clamps elements from above to those of another tensor."""
    @overload
    def clamp_max(self, max: _Number) -> Tensor: """Clamps elements from above to a number."""
    @overload
    def clamp_max_(self, max: _Tensor) -> Tensor: """In-place form of clamp_max. Clamps elements from above to those of another tensor."""
    @overload
    def clamp_max_(self, max: _Number) -> Tensor: """In-place form of clamp_max. Clamps elements from above to a number."""
    @overload
    def clamp_min(self, min: _Tensor) -> Tensor: """Clamps elements from below to those of another tensor."""
    @overload
    def clamp_min(self, min: _Number) -> Tensor: """Clamps elements from below to a number."""
    @overload
    def clamp_min_(self, min: _Tensor) -> Tensor: """In-place form of clamp_min. Clamps elements from below to those of another tensor."""
    @overload
    def clamp_min_(self, min: _Number) -> Tensor: """In-place form of clamp_min. Clamps elements from below to a number."""
    @overload
    def clip(self, min: _Tensor | None = ..., max: _Tensor | None = ...) -> Tensor: """Clamps (clips) elements between two tensors."""
    @overload
    def clip(self, min: _Number | None = ..., max: _Number | None = ...) -> Tensor: """Clamps elements between two numbers; the gradient passes at the bounds."""
    @overload
    def clip_(self, min: _Tensor | None = ..., max: _Tensor | None = ...) -> Tensor: """In-place form of clamp. Clamps (clips) elements between two tensors."""
    @overload
    def clip_(self, min: _Number | None = ..., max: _Number | None = ...) -> Tensor: """In-place form of clamp. Clamps elements between two numbers; the gradient passes at the bounds."""
    def clone(self, *, memory_format: Any = ...) -> Tensor: """A copy in new memory."""
    def coalesce(self) -> Tensor: """A sparse tensor that names each place once, in row-major order."""
    def col_indices(self) -> Tensor: """The columns of the elements of a matrix of the layout torch.sparse_csr."""
    def conj(self) -> Tensor: """The complex conjugate: a real tensor itself."""
    def conj_physical(self) -> Tensor: """The complex conjugate, carried out: a real tensor itself."""
    def conj_physical_(self) -> Tensor: """In-place form of _conj_physical. The complex conjugate, carried out."""
    def contiguous(self, *, memory_format: Any = ...) -> Tensor: """The tensor itself if its memory is in row-major order, else a copy that is."""
    def copy_(self, src: _Tensor | _Number, non_blocking: _bool = ...) -> Tensor: """In-place form of copy. Copies the elements of another tensor."""
    @overload
    def copysign(self, other: _Tensor) -> Tensor: """The magnitude of self with the sign of other."""
    @overload
    def copysign(self, other: _Number) -> Tensor: """The magnitude of self with the sign of a number."""
    @overload
    def copysign_(self, other: _Tensor) -> Tensor: """In-place form of copysign. The magnitude of self with the sign of other."""
    @overload
    def copysign_(self, other: _Number) -> Tensor: """In-place form of copysign. The magnitude of self with the sign of a number."""
    def corrcoef(self) -> Tensor: """Correlation coefficients of the rows."""
    def cos(self) -> Tensor: """Cosine of an angle in radians."""
    def cos_(self) -> Tensor: """In-place form of cos. Cosine of an angle in radians."""
    def cosh(self) -> Tensor: """Hyperbolic cosine."""
    def cosh_(self) -> Tensor: """In-place form of cosh. Hyperbolic cosine."""
    @overload
    def count_nonzero(self, dim: _int | None = ...) -> Tensor: """The number of elements that are not zero."""
    @overload
    def count_nonzero(self, dim: _int | Sequence[_int]) -> Tensor: """The number of elements that are not zero, over some dimensions."""
    @overload
    def count_nonzero(self, *dim: _int) -> Tensor: """The number of elements that are not zero, over some dimensions."""
    def cov(self, *, correction: _int = ..., fweights: _Tensor | None = ..., aweights: _Tensor | None = ...) -> Tensor: """Covariance matrix of the rows."""
    def cpu(self, *, memory_format: Any = ...) -> Tensor: """In the host's memory."""
    def cross(self, other: _Tensor, dim: _int | None = ...) -> Tensor: """Cross product along a dimension of size 3, by default the first such dimension."""
    def crow_indices(self) -> Tensor: """Where the rows of a matrix of the layout torch.sparse_csr begin."""
    def cuda(self, device: _device | str | None = ..., non_blocking: _bool = ..., *, memory_format: Any = ...) -> Tensor: """On a CUDA device."""
    def cummax(self, dim: _int) -> _values_indices: """Cumulative (running) maximum along a dimension, and its index."""
    def cummin(self, dim: _int) -> _values_indices: """Cumulative (running) minimum along a dimension, and its index."""
    def cumprod(self, dim: _int, *, dtype: _dtype | None = ...) -> Tensor: """Cumulative product along a dimension."""
    def cumprod_(self, dim: _int, *, dtype: _dtype | None = ...) -> Tensor: """In-place form of cumprod. Cumulative product along a dimension."""
    def cumsum(self, dim: _int, *, dtype: _dtype | None = ...) -> Tensor: """Cumulative sum along a dimension."""
    def cumsum_(self, dim: _int, *, dtype: _dtype | None = ...) -> Tensor: """In-place form of cumsum. Cumulative sum along a dimension."""
    def deg2rad(self) -> Tensor: """Degrees to radians."""
    def deg2rad_(self) -> Tensor: """In-place form of deg2rad. Degrees to radians."""
    def dense_dim(self) -> tuple[Any]: """How many dimensions are dense."""
    def det(self, A: _Tensor) -> Tensor: """Determinant of a square matrix, or of a batch of them."""
    def diag(self, diagonal: _int = ...) -> Tensor: """A matrix with this vector as its diagonal, or this matrix's diagonal."""
    def diag_embed(self, offset: _int = ..., dim1: _int = ..., dim2: _int = ...) -> Tensor: """The last dimension as a diagonal of two."""
    def diagflat(self, offset: _int = ...) -> Tensor: """A matrix with all elements on a diagonal."""
    def diagonal(self, offset: _int = ..., dim1: _int = ..., dim2: _int = ...) -> Tensor: """A diagonal of two dimensions, as the last dimension of a view."""
    def diagonal_scatter(self, src: _Tensor, offset: _int = ..., dim1: _int = ..., dim2: _int = ...) -> Tensor: """A copy with a diagonal replaced."""
    def diff(self, n: _int = ..., dim: _int = ..., prepend: _Tensor | None = ..., append: _Tensor | None = ...) -> Tensor: """Differences of neighbours along a dimension, n times."""
    def digamma(self) -> Tensor: """The derivative of the logarithm of the gamma function."""
    def digamma_(self) -> Tensor: """In-place form of digamma. The derivative of the logarithm of the gamma function."""
    def dist(self, other: _Tensor, p: _Number = ...) -> Tensor: """The p-norm of the difference of two tensors."""
    @overload
    def div(self, other: _Tensor | _Number) -> Tensor: """Quotient, elementwise; integers become floating."""
    @overload
    def div(self, other: _Tensor | _Number, *, rounding_mode: str | None) -> Tensor: """Quotient, rounded down ('floor') or towards zero ('trunc')."""
    @overload
    def div_(self, other: _Tensor | _Number) -> Tensor: """In-place form of div. Quotient, elementwise; integers become floating."""
    @overload
    def div_(self, other: _Tensor | _Number, *, rounding_mode: str | None) -> Tensor: """In-place form of div. Quotient, rounded down ('floor') or towards zero ('trunc')."""
    @overload
    def divide(self, other: _Tensor | _Number) -> Tensor: """Quotient, elementwise; integers become floating."""
    @overload
    def divide(self, other: _Tensor | _Number, *, rounding_mode: str | None) -> Tensor: """Quotient, rounded down ('floor') or towards zero ('trunc')."""
    @overload
    def divide_(self, other: _Tensor | _Number) -> Tensor: """In-place form of div. Quotient, elementwise; integers become floating."""
    @overload
    def divide_(self, other: _Tensor | _Number, *, rounding_mode: str | None) -> Tensor: """In-place form of div. Quotient, rounded down ('floor') or towards zero ('trunc')."""
    def dot(self, tensor: _Tensor) -> Tensor: """Dot product (inner product) of two vectors."""
    def double(self, *, memory_format: Any = ...) -> Tensor: """As float64; the tensor itself where it is that already."""
    @overload
    def dsplit(self, sections: _int) -> tuple[Tensor, ...]: """Split in depth."""
    @overload
    def dsplit(self, indices: _int | Sequence[_int]) -> tuple[Tensor, ...]: """Split in depth."""
    @overload
    def dsplit(self, *indices: _int) -> tuple[Tensor, ...]: """Split in depth."""
    def eq(self, other: _Tensor | _Number) -> Tensor: """Is self equal to other?"""
    def eq_(self, other: _Tensor | _Number) -> Tensor: """In-place form of eq. Is self equal to other?"""
    def equal(self, other: _Tensor) -> _bool: """The same shape and elements, as a Python bool?"""
    def erf(self) -> Tensor: """The error function."""
    def erf_(self) -> Tensor: """In-place form of erf. The error function."""
    def erfc(self) -> Tensor: """1 - erf(x), accurate for large x."""
    def erfc_(self) -> Tensor: """In-place form of erfc. 1 - erf(x), accurate for large x."""
    def erfinv(self) -> Tensor: """The inverse error function."""
    def erfinv_(self) -> Tensor: """In-place form of erfinv. The inverse error function."""
    def exp(self) -> Tensor: """The exponential function."""
    def exp2(self) -> Tensor: """2 to the power x."""
    def exp2_(self) -> Tensor: """In-place form of exp2. 2 to the power x."""
    def exp_(self) -> Tensor: """In-place form of exp. The exponential function."""
    @overload
    def expand(self, size: _int | Sequence[_int], *, implicit: _bool = ...) -> Tensor: """A view that repeats dimensions of size 1 without a copy."""
    @overload
    def expand(self, *size: _int, implicit: _bool = ...) -> Tensor: """A view that repeats dimensions of size 1 without a copy."""
    def expand_as(self, other: _Tensor) -> Tensor: """expand to the size of another tensor."""
    def expm1(self) -> Tensor: """exp(x) - 1, accurate near 0."""
    def expm1_(self) -> Tensor: """In-place form of expm1. exp(x) - 1, accurate near 0."""
    def exponential_(self, lambd: _float = ..., *, generator: Any = ...) -> Tensor: """In-place form of exponential. Numbers from an exponential distribution."""
    @overload
    def fill_(self, value: _Tensor) -> Tensor: """In-place form of fill. Sets every element to the value of a 0-dim tensor."""
    @overload
    def fill_(self, value: _Number) -> Tensor: """In-place form of fill. Sets every element to a number."""
    def fill_diagonal_(self, fill_value: _Number, wrap: _bool = ...) -> Tensor: """Writes one number on the main diagonal."""
    def fix(self) -> Tensor: """The integer part of x."""
    def fix_(self) -> Tensor: """In-place form of trunc. The integer part of x."""
    def flatten(self, start_dim: _int = ..., end_dim: _int = ...) -> Tensor: """Merges a range of dimensions into one."""
    @overload
    def flip(self, dims: _int | Sequence[_int]) -> Tensor: """Reverses the order of elements along the given dimensions."""
    @overload
    def flip(self, *dims: _int) -> Tensor: """Reverses the order of elements along the given dimensions."""
    def fliplr(self) -> Tensor: """The second dimension in reverse order."""
    def flipud(self) -> Tensor: """The first dimension in reverse order."""
    def float(self, *, memory_format: Any = ...) -> Tensor: """As float32; the tensor itself where it is that already."""
    @overload
    def float_power(self, exponent: _Tensor) -> Tensor: """Power of tensors in double precision."""
    @overload
    def float_power(self, exponent: _Number) -> Tensor: """Power in double precision."""
    def float_power_(self, exponent: _Tensor | _Number) -> Tensor: """The power of a tensor of double precision, in its place."""
    def floor(self) -> Tensor: """The largest integer less than or equal to x."""
    def floor_(self) -> Tensor: """In-place form of floor. The largest integer less than or equal to x."""
    def floor_divide(self, other: _Tensor | _Number) -> Tensor: """Quotient rounded down; it has no derivative, and backward says so."""
    def floor_divide_(self, other: _Tensor | _Number) -> Tensor: """In-place form of floor_divide. Quotient rounded down; it has no derivative, and backward says so."""
    def fmax(self, other: _Tensor) -> Tensor: """The greater element, NaN ignored; at a tie the first gets the gradient."""
    def fmin(self, other: _Tensor) -> Tensor: """The smaller element, NaN ignored; at a tie the first gets the gradient."""
    @overload
    def fmod(self, other: _Tensor) -> Tensor: """Remainder (modulo) with the sign of the dividend, as C's fmod."""
    @overload
    def fmod(self, other: _Number) -> Tensor: """Remainder by a number, with the sign of the dividend."""
    @overload
    def fmod_(self, other: _Tensor) -> Tensor: """In-place form of fmod. Remainder (modulo) with the sign of the dividend, as C's fmod."""
    @overload
    def fmod_(self, other: _Number) -> Tensor: """In-place form of fmod. Remainder by a number, with the sign of the dividend."""
    def frac(self) -> Tensor: """The fractional part of x, with its sign."""
    def frac_(self) -> Tensor: """In-place form of frac. The fractional part of x, with its sign."""
    def frexp(self) -> _mantissa_exponent: """The fraction between 0.5 and 1 and the power of two that make up a number."""
    def gather(self, dim: _int, index: _Tensor, *, sparse_grad: _bool = ...) -> Tensor: """Gathers elements along a dimension by index."""
    def gcd(self, other: _Tensor) -> Tensor: """Greatest common divisor, elementwise."""
    def gcd_(self, other: _Tensor) -> Tensor: """In-place form of gcd. Greatest common divisor, elementwise."""
    def ge(self, other: _Tensor | _Number) -> Tensor: """Is self at least other?"""
    def ge_(self, other: _Tensor | _Number) -> Tensor: """In-place form of ge. Is self at least other?"""
    def geometric_(self, p: _float, *, generator: Any = ...) -> Tensor: """In-place form of geometric. Random number of trials until the first success (geometric distribution)."""
    def geqrf(self) -> _a_tau: """The QR factorisation as LAPACK keeps it: reflections below the diagonal, R above."""
    def ger(self, vec2: _Tensor) -> Tensor: """Outer product of two vectors."""
    def greater(self, other: _Tensor | _Number) -> Tensor: """Is self greater than other?"""
    def greater_(self, other: _Tensor | _Number) -> Tensor: """In-place form of gt. Is self greater than other?"""
    def greater_equal(self, other: _Tensor | _Number) -> Tensor: """Is self at least other?"""
    def greater_equal_(self, other: _Tensor | _Number) -> Tensor: """In-place form of ge. Is self at least other?"""
    def gt(self, other: _Tensor | _Number) -> Tensor: """Is self greater than other?"""
    def gt_(self, other: _Tensor | _Number) -> Tensor: """In-place form of gt. Is self greater than other?"""
    def half(self, *, memory_format: Any = ...) -> Tensor: """As float16; the tensor itself where it is that already."""
    def hardshrink(self, lambd: _Number = ...) -> Tensor: """self outside [-lambd, lambd], zero inside."""
    def heaviside(self, values: _Tensor) -> Tensor: """0 below 0, 1 above, and the given value at 0."""
    def heaviside_(self, values: _Tensor) -> Tensor: """In-place form of heaviside. 0 below 0, 1 above, and the given value at 0."""
    def histc(self, bins: _int = ..., min: _Number = ..., max: _Number = ...) -> Tensor: """Histogram: how many elements lie in each of equal bins."""
    @overload
    def histogram(self, bins: _int = ..., *, range: Sequence[_float] | None = ..., weight: _Tensor | None = ..., density: _bool = ...) -> _hist_bin_edges: """Histogram: how many elements lie in each of equal bins, and the bins' edges."""
    @overload
    def histogram(self, bins: _Tensor, *, weight: _Tensor | None = ..., density: _bool = ...) -> _hist_bin_edges: """How many elements lie between given edges."""
    @overload
    def hsplit(self, sections: _int) -> tuple[Tensor, ...]: """Split side by side."""
    @overload
    def hsplit(self, indices: _int | Sequence[_int]) -> tuple[Tensor, ...]: """Split side by side."""
    @overload
    def hsplit(self, *indices: _int) -> tuple[Tensor, ...]: """Split side by side."""
    def hypot(self, other: _Tensor) -> Tensor: """Length of the hypotenuse, elementwise."""
    def hypot_(self, other: _Tensor) -> Tensor: """In-place form of hypot. Length of the hypotenuse, elementwise."""
    def i0(self) -> Tensor: """The modified Bessel function of the first kind, of order 0."""
    def i0_(self) -> Tensor: """In-place form of i0. The modified Bessel function of the first kind, of order 0."""
    def igamma(self, other: _Tensor) -> Tensor: """The lower incomplete gamma function of order self, divided by the whole."""
    def igamma_(self, other: _Tensor) -> Tensor: """In-place form of igamma. The lower incomplete gamma function of order self, divided by the whole."""
    def igammac(self, other: _Tensor) -> Tensor: """The upper incomplete gamma function of order self, divided by the whole."""
    def igammac_(self, other: _Tensor) -> Tensor: """In-place form of igammac. The upper incomplete gamma function of order self, divided by the whole."""
    def index_add(self, dim: _int, index: _Tensor, source: _Tensor, *, alpha: _Number = ...) -> Tensor: """Adds slices into a copy, along a dimension by index."""
    def index_add_(self, dim: _int, index: _Tensor, source: _Tensor, *, alpha: _Number = ...) -> Tensor: """In-place form of index_add. Adds slices into a copy, along a dimension by index."""
    def index_copy(self, dim: _int, index: _Tensor, source: _Tensor) -> Tensor: """Replaces slices in a copy, along a dimension by index."""
    def index_copy_(self, dim: _int, index: _Tensor, source: _Tensor) -> Tensor: """In-place form of index_copy. Replaces slices in a copy, along a dimension by index."""
    @overload
    def index_fill(self, dim: _int, index: _Tensor, value: _Tensor) -> Tensor: """A copy with slices of a dimension filled with the value of a 0-dim tensor."""
    @overload
    def index_fill(self, dim: _int, index: _Tensor, value: _Number) -> Tensor: """A copy with slices of a dimension filled with a number."""
    @overload
    def index_fill_(self, dim: _int, index: _Tensor, value: _Tensor) -> Tensor: """In-place form of index_fill. A copy with slices of a dimension filled with the value of a 0-dim tensor."""
    @overload
    def index_fill_(self, dim: _int, index: _Tensor, value: _Number) -> Tensor: """In-place form of index_fill. A copy with slices of a dimension filled with a number."""
    def index_put(self, indices: Sequence[_Tensor], values: _Tensor, accumulate: _bool = ...) -> Tensor: """The elements that index tensors point at, written over or added to."""
    def index_put_(self, indices: Sequence[_Tensor], values: _Tensor, accumulate: _bool = ...) -> Tensor: """In-place form of index_put. The elements that index tensors point at, written over or added to."""
    def index_reduce(self, dim: _int, index: _Tensor, source: _Tensor, reduce: str, *, include_self: _bool = ...) -> Tensor: """A copy with slices multiplied, averaged or compared into a dimension."""
    def index_reduce_(self, dim: _int, index: _Tensor, source: _Tensor, reduce: str, *, include_self: _bool = ...) -> Tensor: """In-place form of index_reduce. A copy with slices multiplied, averaged or compared into a dimension."""
    def index_select(self, dim: _int, index: _Tensor) -> Tensor: """Selects slices of a dimension by index."""
    def inner(self, other: _Tensor) -> Tensor: """Inner product over the last dimension."""
    def int(self, *, memory_format: Any = ...) -> Tensor: """As int32; the tensor itself where it is that already."""
    def inverse(self) -> Tensor: """Inverse of a square matrix, or of a batch of them."""
    def is_coalesced(self) -> _bool: """Whether a sparse tensor names each place once."""
    def is_same_size(self, other: _Tensor) -> _bool: """Whether two tensors have one size."""
    def isclose(self, other: _Tensor, rtol: _float = ..., atol: _float = ..., equal_nan: _bool = ...) -> Tensor: """Is |self - other| at most atol + rtol * |other|?"""
    def isfinite(self) -> Tensor: """Is it neither infinite nor NaN?"""
    def isinf(self) -> Tensor: """Is it infinite?"""
    def isnan(self) -> Tensor: """Is the element NaN (not a number)?"""
    def isneginf(self) -> Tensor: """Is it minus infinity?"""
    def isposinf(self) -> Tensor: """Is it infinity?"""
    def isreal(self) -> Tensor: """Is it a real number?"""
    def istft(self, input: _Tensor, n_fft: _int, hop_length: _int | None = ..., win_length: _int | None = ..., window: _Tensor | None = ..., center: _bool = ..., normalized: _bool = ..., onesided: _bool | None = ..., length: _int | None = ..., return_complex: _bool = ...) -> Tensor: """The signal whose overlapping pieces have these discrete Fourier transforms."""
    def kron(self, other: _Tensor) -> Tensor: """Kronecker product."""
    def kthvalue(self, k: _int, dim: _int = ..., keepdim: _bool = ...) -> _values_indices: """The k-th smallest element along a dimension, and its index."""
    def lcm(self, other: _Tensor) -> Tensor: """Least common multiple, elementwise."""
    def lcm_(self, other: _Tensor) -> Tensor: """In-place form of lcm. Least common multiple, elementwise."""
    def ldexp(self, other: _Tensor) -> Tensor: """self times 2 ** other."""
    def ldexp_(self, other: _Tensor) -> Tensor: """In-place form of ldexp. self times 2 ** other."""
    def le(self, other: _Tensor | _Number) -> Tensor: """Is self at most other?"""
    def le_(self, other: _Tensor | _Number) -> Tensor: """In-place form of le. Is self at most other?"""
    @overload
    def lerp(self, end: _Tensor, weight: _Tensor) -> Tensor: """Linear interpolation by a tensor between two tensors."""
    @overload
    def lerp(self, end: _Tensor, weight: _Number) -> Tensor: """Linear interpolation by a number between two tensors."""
    @overload
    def lerp_(self, end: _Tensor, weight: _Tensor) -> Tensor: """In-place form of lerp. Linear interpolation by a tensor between two tensors."""
    @overload
    def lerp_(self, end: _Tensor, weight: _Number) -> Tensor: """In-place form of lerp. Linear interpolation by a number between two tensors."""
    def less(self, other: _Tensor | _Number) -> Tensor: """Is self less than other?"""
    def less_(self, other: _Tensor | _Number) -> Tensor: """In-place form of lt. Is self less than other?"""
    def less_equal(self, other: _Tensor | _Number) -> Tensor: """Is self at most other?"""
    def less_equal_(self, other: _Tensor | _Number) -> Tensor: """In-place form of le. Is self at most other?"""
    def lgamma(self) -> Tensor: """Log-gamma: logarithm of the absolute value of the gamma function."""
    def lgamma_(self) -> Tensor: """In-place form of lgamma. Log-gamma: logarithm of the absolute value of the gamma function."""
    def log(self) -> Tensor: """Natural logarithm."""
    def log10(self) -> Tensor: """Logarithm to base 10."""
    def log10_(self) -> Tensor: """In-place form of log10. Logarithm to base 10."""
    def log1p(self) -> Tensor: """log(1 + x), accurate near 0."""
    def log1p_(self) -> Tensor: """In-place form of log1p. log(1 + x), accurate near 0."""
    def log2(self) -> Tensor: """Logarithm to base 2."""
    def log2_(self) -> Tensor: """In-place form of log2. Logarithm to base 2."""
    def log_(self) -> Tensor: """In-place form of log. Natural logarithm."""
    def log_normal_(self, mean: _float = ..., std: _float = ..., *, generator: Any = ...) -> Tensor: """In-place form of log_normal. Numbers whose logarithm is normal."""
    def log_softmax(self, dim: _int, dtype: _dtype | None = ...) -> Tensor: """The logarithm of softmax."""
    def logaddexp(self, other: _Tensor) -> Tensor: """log(exp(self) + exp(other))."""
    def logaddexp2(self, other: _Tensor) -> Tensor: """log2(2 ** self + 2 ** other)."""
    def logcumsumexp(self, dim: _int) -> Tensor: """The logarithm of the cumulative sum of exponentials."""
    def logdet(self, A: _Tensor) -> Tensor: """The logarithm of the determinant; NaN where that is negative."""
    def logical_and(self, other: _Tensor) -> Tensor: """Are both true, that is not zero?"""
    def logical_and_(self, other: _Tensor) -> Tensor: """In-place form of logical_and. Are both true, that is not zero?"""
    def logical_not(self) -> Tensor: """Is the element zero?"""
    def logical_not_(self) -> Tensor: """In-place form of logical_not. Is the element zero?"""
    def logical_or(self, other: _Tensor) -> Tensor: """Is one of them true?"""
    def logical_or_(self, other: _Tensor) -> Tensor: """In-place form of logical_or. Is one of them true?"""
    def logical_xor(self, other: _Tensor) -> Tensor: """Logical XOR (exclusive or), elementwise."""
    def logical_xor_(self, other: _Tensor) -> Tensor: """In-place form of logical_xor. Logical XOR (exclusive or), elementwise."""
    def logit(self, eps: _float | None = ...) -> Tensor: """log(x / (1 - x)), x held within eps of 0 and 1 if eps is given."""
    def logit_(self, eps: _float | None = ...) -> Tensor: """In-place form of logit. log(x / (1 - x)), x held within eps of 0 and 1 if eps is given."""
    def logsumexp(self, dim: _int | Sequence[_int], keepdim: _bool = ...) -> Tensor: """Log-sum-exp: the logarithm of the sum of exponentials."""
    def long(self, *, memory_format: Any = ...) -> Tensor: """As int64; the tensor itself where it is that already."""
    def lt(self, other: _Tensor | _Number) -> Tensor: """Is self less than other?"""
    def lt_(self, other: _Tensor | _Number) -> Tensor: """In-place form of lt. Is self less than other?"""
    def lu(self, pivot: _bool = ..., get_infos: _bool = ...) -> _LU_pivots: """LU factors under their older name."""
    def lu_solve(self, LU_data: _Tensor, LU_pivots: _Tensor) -> Tensor: """The solution under its older name, the right-hand side first."""
    @overload
    def masked_fill(self, mask: _Tensor, value: _Tensor) -> Tensor: """Fills elements with the value of a 0-dim tensor where the mask is True."""
    @overload
    def masked_fill(self, mask: _Tensor, value: _Number) -> Tensor: """Fills elements with a number where the mask is True."""
    @overload
    def masked_fill_(self, mask: _Tensor, value: _Tensor) -> Tensor: """In-place form of masked_fill. Fills elements with the value of a 0-dim tensor where the mask is True."""
    @overload
    def masked_fill_(self, mask: _Tensor, value: _Number) -> Tensor: """In-place form of masked_fill. Fills elements with a number where the mask is True."""
    def masked_scatter(self, mask: _Tensor, source: _Tensor) -> Tensor: """The first elements of a source, in order, where the mask is set."""
    def masked_scatter_(self, mask: _Tensor, source: _Tensor) -> Tensor: """In-place form of masked_scatter. The first elements of a source, in order, where the mask is set."""
    def masked_select(self, mask: _Tensor) -> Tensor: """The elements where the mask is True, as a 1-dimensional tensor."""
    def matmul(self, other: _Tensor) -> Tensor: """Matrix product (matrix multiplication) of vectors, matrices or batches of matrices."""
    def matrix_exp(self) -> Tensor: """The exponential of square matrices."""
    def matrix_power(self, n: _int) -> Tensor: """The n-th power of a square matrix; for negative n, of its inverse."""
    @overload
    def max(self) -> Tensor: """The largest element; ties share the gradient equally."""
    @overload
    def max(self, other: _Tensor) -> Tensor: """The largest of two elements."""
    @overload
    def max(self, dim: _int, keepdim: _bool = ...) -> _values_indices: """The largest elements along a dimension, and their indices; at a tie the first one."""
    def maximum(self, other: _Tensor) -> Tensor: """The greater element; at a tie both get half of the gradient."""
    @overload
    def mean(self, *, dtype: _dtype | None = ...) -> Tensor: """The mean of all elements."""
    @overload
    def mean(self, dim: _int | Sequence[_int] | None, keepdim: _bool = ..., *, dtype: _dtype | None = ...) -> Tensor: """The mean over some dimensions."""
    @overload
    def median(self) -> Tensor: """The lower median of all elements."""
    @overload
    def median(self, dim: _int, keepdim: _bool = ...) -> _values_indices: """The lower median along a dimension, and its index."""
    @overload
    def min(self) -> Tensor: """The smallest element; ties share the gradient equally."""
    @overload
    def min(self, other: _Tensor) -> Tensor: """The smallest of two elements."""
    @overload
    def min(self, dim: _int, keepdim: _bool = ...) -> _values_indices: """The smallest elements along a dimension, and their indices; at a tie the first one."""
    def minimum(self, other: _Tensor) -> Tensor: """The smaller element; at a tie both get half of the gradient."""
    def mm(self, mat2: _Tensor) -> Tensor: """Product of two matrices, without broadcasting."""
    def mode(self, dim: _int = ..., keepdim: _bool = ...) -> _values_indices: """The most frequent element along a dimension, and its index."""
    @overload
    def moveaxis(self, source: _int, destination: _int) -> Tensor: """One dimension moved to another place."""
    @overload
    def moveaxis(self, source: _int | Sequence[_int], destination: _int | Sequence[_int]) -> Tensor: """Several dimensions moved to other places."""
    @overload
    def movedim(self, source: _int, destination: _int) -> Tensor: """One dimension moved to another place."""
    @overload
    def movedim(self, source: _int | Sequence[_int], destination: _int | Sequence[_int]) -> Tensor: """Several dimensions moved to other places."""
    def msort(self) -> Tensor: """Elements sorted along the first dimension."""
    def mul(self, other: _Tensor | _Number) -> Tensor: """Product of two tensors, elementwise."""
    def mul_(self, other: _Tensor | _Number) -> Tensor: """In-place form of mul. Product of two tensors, elementwise."""
    def multinomial(self, num_samples: _int, replacement: _bool = ..., *, generator: Any = ...) -> Tensor: """Indices drawn with the probabilities of a row."""
    def multiply(self, other: _Tensor | _Number) -> Tensor: """Product of two tensors, elementwise."""
    def multiply_(self, other: _Tensor | _Number) -> Tensor: """In-place form of mul. Product of two tensors, elementwise."""
    def mv(self, vec: _Tensor) -> Tensor: """The product of a matrix with a vector."""
    def mvlgamma(self, p: _int) -> Tensor: """The logarithm of the multivariate gamma function of dimension p."""
    def mvlgamma_(self, p: _int) -> Tensor: """In-place form of mvlgamma. The logarithm of the multivariate gamma function of dimension p."""
    def nan_to_num(self, nan: _float | None = ..., posinf: _float | None = ..., neginf: _float | None = ...) -> Tensor: """NaN and infinities replaced by numbers."""
    def nan_to_num_(self, nan: _float | None = ..., posinf: _float | None = ..., neginf: _float | None = ...) -> Tensor: """In-place form of nan_to_num. NaN and infinities replaced by numbers."""
    def nanmean(self, dim: _int | Sequence[_int] | None = ..., keepdim: _bool = ..., *, dtype: _dtype | None = ...) -> Tensor: """The mean of the elements that are not NaN."""
    @overload
    def nanmedian(self) -> Tensor: """The lower median without NaN of all elements."""
    @overload
    def nanmedian(self, dim: _int, keepdim: _bool = ...) -> _values_indices: """The lower median without NaN along a dimension, and its index."""
    @overload
    def nanquantile(self, q: _float, dim: _int | None = ..., keepdim: _bool = ..., *, interpolation: str = ...) -> Tensor: """Quantiles of what is not NaN of all elements, or along a dimension."""
    @overload
    def nanquantile(self, q: _Tensor, dim: _int | None = ..., keepdim: _bool = ..., *, interpolation: str = ...) -> Tensor: """Quantiles of what is not NaN of all elements, or along a dimension."""
    def nansum(self, dim: _int | Sequence[_int] | None = ..., keepdim: _bool = ..., *, dtype: _dtype | None = ...) -> Tensor: """The sum of the elements that are not NaN."""
    @overload
    def narrow(self, dim: _int, start: _int, length: _int) -> Tensor: """A range of a dimension, given by start and length."""
    @overload
    def narrow(self, dim: _int, start: _Tensor, length: _int) -> Tensor: """A range of a dimension, given by start and length."""
    def narrow_copy(self, dim: _int, start: _int, length: _int) -> Tensor: """narrow as a copy."""
    def ne(self, other: _Tensor | _Number) -> Tensor: """Is self different from other?"""
    def ne_(self, other: _Tensor | _Number) -> Tensor: """In-place form of ne. Is self different from other?"""
    def neg(self) -> Tensor: """The negative, elementwise."""
    def neg_(self) -> Tensor: """In-place form of neg. The negative, elementwise."""
    def negative(self) -> Tensor: """The negative, elementwise."""
    def negative_(self) -> Tensor: """In-place form of neg. The negative, elementwise."""
    @overload
    def new_empty(self, size: _int | Sequence[_int], *, dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """A tensor of another one's type, filled with 0."""
    @overload
    def new_empty(self, *size: _int, dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """A tensor of another one's type, filled with 0."""
    def new_full(self, size: _int | Sequence[_int], fill_value: _Number, *, dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """A tensor of another one's type, filled with a number."""
    @overload
    def new_ones(self, size: _int | Sequence[_int], *, dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """A tensor of another one's type, filled with 1."""
    @overload
    def new_ones(self, *size: _int, dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """A tensor of another one's type, filled with 1."""
    def new_tensor(self, data: Any, *, dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ...) -> Tensor: """torch.tensor with another tensor's type and device."""
    @overload
    def new_zeros(self, size: _int | Sequence[_int], *, dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """A tensor of another one's type, filled with 0."""
    @overload
    def new_zeros(self, *size: _int, dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """A tensor of another one's type, filled with 0."""
    def nextafter(self, other: _Tensor) -> Tensor: """The next number of self's type in the direction of other."""
    def nextafter_(self, other: _Tensor) -> Tensor: """In-place form of nextafter. The next number of self's type in the direction of other."""
    @overload
    def nonzero(self) -> Tensor: """Indices of the elements that are not zero, one row for each."""
    @overload
    def nonzero(self, *, as_tuple: _bool) -> Tensor: """The positions of the elements that are not zero, as one tensor a dimension."""
    def nonzero_static(self, *, size: _int, fill_value: _int = ...) -> Tensor: """So many positions of elements that are not zero, the missing ones filled."""
    def norm(self, p: Any = ..., dim: _int | Sequence[_int] | None = ..., keepdim: _bool = ..., dtype: _dtype | None = ...) -> Tensor: """The p-norm of the elements; 'fro' is the root of the sum of squares."""
    def normal_(self, mean: _float = ..., std: _float = ..., *, generator: Any = ...) -> Tensor: """In-place form of normal. Normal numbers."""
    def not_equal(self, other: _Tensor | _Number) -> Tensor: """Is self different from other?"""
    def not_equal_(self, other: _Tensor | _Number) -> Tensor: """In-place form of ne. Is self different from other?"""
    def outer(self, vec2: _Tensor) -> Tensor: """Outer product of two vectors."""
    @overload
    def permute(self, dims: _int | Sequence[_int]) -> Tensor: """Permutes the dimensions."""
    @overload
    def permute(self, *dims: _int) -> Tensor: """Permutes the dimensions."""
    def pinverse(self, rcond: _float = ...) -> Tensor: """The pseudo-inverse under its older name."""
    def polygamma(self, n: _int) -> Tensor: """The n-th derivative of digamma."""
    def polygamma_(self, n: _int) -> Tensor: """In-place form of polygamma. The n-th derivative of digamma."""
    def positive(self) -> Tensor: """The tensor itself: what `+x` runs."""
    @overload
    def pow(self, exponent: _Tensor) -> Tensor: """Power, elementwise."""
    @overload
    def pow(self, exponent: _Number) -> Tensor: """Power with a number as exponent."""
    @overload
    def pow_(self, exponent: _Tensor) -> Tensor: """In-place form of pow. Power, elementwise."""
    @overload
    def pow_(self, exponent: _Number) -> Tensor: """In-place form of pow. Power with a number as exponent."""
    def prelu(self, weight: _Tensor) -> Tensor: """self above zero, weight * self below, a weight for each channel or one for all."""
    @overload
    def prod(self, *, dtype: _dtype | None = ...) -> Tensor: """The product of all elements."""
    @overload
    def prod(self, dim: _int, keepdim: _bool = ..., *, dtype: _dtype | None = ...) -> Tensor: """The product along one dimension."""
    def put(self, index: _Tensor, source: _Tensor, accumulate: _bool = ...) -> Tensor: """A copy with elements written by their position in the flattened tensor."""
    def put_(self, index: _Tensor, source: _Tensor, accumulate: _bool = ...) -> Tensor: """In-place form of put. A copy with elements written by their position in the flattened tensor."""
    def qr(self, some: _bool = ...) -> _Q_R: """QR under its older name."""
    @overload
    def quantile(self, q: _float, dim: _int | None = ..., keepdim: _bool = ..., *, interpolation: str = ...) -> Tensor: """Quantiles of all elements, or along a dimension."""
    @overload
    def quantile(self, q: _Tensor, dim: _int | None = ..., keepdim: _bool = ..., *, interpolation: str = ...) -> Tensor: """Quantiles of all elements, or along a dimension."""
    def rad2deg(self) -> Tensor: """Radians to degrees."""
    def rad2deg_(self) -> Tensor: """In-place form of rad2deg. Radians to degrees."""
    @overload
    def random_(self, from_: _int, to: _int | None, *, generator: Any = ...) -> Tensor: """In-place form of random. Whole numbers between bounds."""
    @overload
    def random_(self, to: _int, *, generator: Any = ...) -> Tensor: """In-place form of random. Whole numbers between bounds."""
    @overload
    def random_(self, *, generator: Any = ...) -> Tensor: """In-place form of random. Random whole numbers, as large as the type represents exactly."""
    def ravel(self) -> Tensor: """The elements as a 1-dimensional tensor."""
    def reciprocal(self) -> Tensor: """1 / x, elementwise."""
    def reciprocal_(self) -> Tensor: """In-place form of reciprocal. 1 / x, elementwise."""
    def relu(self) -> Tensor: """Rectified linear unit: max(self, 0), elementwise; the gradient at 0 is 0."""
    def relu_(self) -> Tensor: """In-place form of relu. Rectified linear unit: max(self, 0), elementwise; the gradient at 0 is 0."""
    @overload
    def remainder(self, other: _Tensor) -> Tensor: """Remainder (modulo) with the sign of the divisor, as Python's %."""
    @overload
    def remainder(self, other: _Number) -> Tensor: """Remainder by a number."""
    @overload
    def remainder_(self, other: _Tensor) -> Tensor: """In-place form of remainder. Remainder (modulo) with the sign of the divisor, as Python's %."""
    @overload
    def remainder_(self, other: _Number) -> Tensor: """In-place form of remainder. Remainder by a number."""
    def renorm(self, p: _Number, dim: _int, maxnorm: _Number) -> Tensor: """Slices along dim whose p-norm exceeds maxnorm, scaled down to it."""
    def renorm_(self, p: _Number, dim: _int, maxnorm: _Number) -> Tensor: """In-place form of renorm. Slices along dim whose p-norm exceeds maxnorm, scaled down to it."""
    @overload
    def repeat(self, repeats: _int | Sequence[_int]) -> Tensor: """Repeats the tensor along each dimension."""
    @overload
    def repeat(self, *repeats: _int) -> Tensor: """Repeats the tensor along each dimension."""
    @overload
    def repeat_interleave(self, repeats: _Tensor, dim: _int | None = ..., *, output_size: _int | None = ...) -> Tensor: """Repeats each element as often as its count says."""
    @overload
    def repeat_interleave(self, repeats: _int, dim: _int | None = ..., *, output_size: _int | None = ...) -> Tensor: """Repeats each element."""
    @overload
    def reshape(self, shape: _int | Sequence[_int]) -> Tensor: """The same elements with another size: a view where possible, else a copy."""
    @overload
    def reshape(self, *shape: _int) -> Tensor: """The same elements with another size: a view where possible, else a copy."""
    def reshape_as(self, other: _Tensor) -> Tensor: """reshape with the size of another tensor."""
    @overload
    def resize(self, size: _int | Sequence[_int] = ...) -> Tensor: """reshape under its older name."""
    @overload
    def resize(self, *size: _int) -> Tensor: """reshape under its older name."""
    @overload
    def resize(self, size: Any) -> Tensor: """What is no size is refused."""
    @overload
    def resize_(self, size: _int | Sequence[_int], *, memory_format: Any = ...) -> Tensor: """Another shape over the same memory, or over more."""
    @overload
    def resize_(self, *size: _int, memory_format: Any = ...) -> Tensor: """Another shape over the same memory, or over more."""
    def resize_as(self, tensor: Any) -> Tensor: """reshape_as under its older name."""
    def resize_as_(self, the_template: _Tensor, *, memory_format: Any = ...) -> Tensor: """The shape of another tensor over the same memory, or over more."""
    def resolve_conj(self) -> Tensor: """The tensor with its conjugation carried out."""
    def resolve_neg(self) -> Tensor: """The tensor with its negation carried out."""
    def roll(self, shifts: _int | Sequence[_int], dims: _int | Sequence[_int] = ...) -> Tensor: """Shifts elements along dimensions; elements shifted past the end return at the start."""
    def rot90(self, k: _int = ..., dims: _int | Sequence[_int] = ...) -> Tensor: """Rotates by multiples of 90 degrees in the plane of two dimensions."""
    @overload
    def round(self) -> Tensor: """The nearest integer; halves round to even."""
    @overload
    def round(self, *, decimals: _int) -> Tensor: """Rounded to a number of decimals."""
    @overload
    def round_(self) -> Tensor: """In-place form of round. The nearest integer; halves round to even."""
    @overload
    def round_(self, *, decimals: _int) -> Tensor: """In-place form of round. Rounded to a number of decimals."""
    def rsqrt(self) -> Tensor: """1 / sqrt(x), elementwise."""
    def rsqrt_(self) -> Tensor: """In-place form of rsqrt. 1 / sqrt(x), elementwise."""
    @overload
    def scatter(self, dim: _int, index: _Tensor, src: _Tensor) -> Tensor: """Writes elements into a copy, along a dimension by index."""
    @overload
    def scatter(self, dim: _int, index: _Tensor, value: _Number) -> Tensor: """Writes a number into a copy, along a dimension by index."""
    @overload
    def scatter(self, dim: _int, index: _Tensor, src: _Tensor, *, reduce: str) -> Tensor: """A copy with elements added or multiplied in; it has no derivative."""
    @overload
    def scatter(self, dim: _int, index: _Tensor, value: _Number, *, reduce: str) -> Tensor: """A copy with elements added or multiplied in; it has no derivative."""
    @overload
    def scatter_(self, dim: _int, index: _Tensor, src: _Tensor) -> Tensor: """In-place form of scatter. Writes elements into a copy, along a dimension by index."""
    @overload
    def scatter_(self, dim: _int, index: _Tensor, value: _Number) -> Tensor: """In-place form of scatter. Writes a number into a copy, along a dimension by index."""
    @overload
    def scatter_(self, dim: _int, index: _Tensor, src: _Tensor, *, reduce: str) -> Tensor: """In-place form of scatter. A copy with elements added or multiplied in; it has no derivative."""
    @overload
    def scatter_(self, dim: _int, index: _Tensor, value: _Number, *, reduce: str) -> Tensor: """In-place form of scatter. A copy with elements added or multiplied in; it has no derivative."""
    def scatter_add(self, dim: _int, index: _Tensor, src: _Tensor) -> Tensor: """Adds elements into a copy, along a dimension by index."""
    def scatter_add_(self, dim: _int, index: _Tensor, src: _Tensor) -> Tensor: """In-place form of scatter_add. Adds elements into a copy, along a dimension by index."""
    def scatter_reduce(self, dim: _int, index: _Tensor, src: _Tensor, reduce: str, *, include_self: _bool = ...) -> Tensor: """A copy with elements summed, multiplied, averaged or compared in along a dimension."""
    def scatter_reduce_(self, dim: _int, index: _Tensor, src: _Tensor, reduce: str, *, include_self: _bool = ...) -> Tensor: """In-place form of scatter_reduce. A copy with elements summed, multiplied, averaged or compared in along a dimension."""
    def select(self, dim: _int, index: _int) -> Tensor: """Selects one index of a dimension and removes that dimension."""
    def select_scatter(self, src: _Tensor, dim: _int, index: _int) -> Tensor: """A copy with one index of a dimension replaced."""
    def sgn(self) -> Tensor: """The sign; of a complex number its direction z / |z|."""
    def sgn_(self) -> Tensor: """In-place form of sgn. The sign; of a complex number its direction z / |z|."""
    def short(self, *, memory_format: Any = ...) -> Tensor: """As int16; the tensor itself where it is that already."""
    def sigmoid(self) -> Tensor: """1 / (1 + exp(-x))."""
    def sigmoid_(self) -> Tensor: """In-place form of sigmoid. 1 / (1 + exp(-x))."""
    def sign(self) -> Tensor: """-1, 0 or 1."""
    def sign_(self) -> Tensor: """In-place form of sign. -1, 0 or 1."""
    def signbit(self) -> Tensor: """Is its sign bit set?"""
    def sin(self) -> Tensor: """Sine of an angle in radians."""
    def sin_(self) -> Tensor: """In-place form of sin. Sine of an angle in radians."""
    def sinc(self) -> Tensor: """sin(pi x) / (pi x), 1 at 0."""
    def sinc_(self) -> Tensor: """In-place form of sinc. sin(pi x) / (pi x), 1 at 0."""
    def sinh(self) -> Tensor: """Hyperbolic sine."""
    def sinh_(self) -> Tensor: """In-place form of sinh. Hyperbolic sine."""
    def slice_scatter(self, src: _Tensor, dim: _int = ..., start: _int | None = ..., end: _int | None = ..., step: _int = ...) -> Tensor: """A copy with a range of a dimension replaced."""
    def slogdet(self, A: _Tensor) -> _sign_logabsdet: """The sign of the determinant and the logarithm of its absolute value."""
    def softmax(self, dim: _int, dtype: _dtype | None = ...) -> Tensor: """exp(self) divided by its sum along dim."""
    @overload
    def sort(self, dim: _int = ..., descending: _bool = ...) -> _values_indices: """Elements sorted along a dimension, and their indices."""
    @overload
    def sort(self, *, stable: _bool | None, dim: _int = ..., descending: _bool = ...) -> _values_indices: """Elements sorted along a dimension; equal elements keep their order."""
    def sparse_dim(self) -> tuple[Any]: """How many dimensions are sparse."""
    def sparse_mask(self, mask: _Tensor) -> Tensor: """The elements at the places of a sparse tensor, which the result has too."""
    @overload
    def split(self, split_size: _int, dim: _int = ...) -> tuple[Tensor, ...]: """Pieces of one size along a dimension; the last may be shorter."""
    @overload
    def split(self, split_size: _int | Sequence[_int], dim: _int = ...) -> tuple[Tensor, ...]: """Pieces of given sizes along a dimension."""
    def split_with_sizes(self, split_sizes: _int | Sequence[_int], dim: _int = ...) -> tuple[Tensor, ...]: """Pieces of given sizes along a dimension."""
    def sqrt(self) -> Tensor: """Square root, elementwise."""
    def sqrt_(self) -> Tensor: """In-place form of sqrt. Square root, elementwise."""
    def square(self) -> Tensor: """x * x, as the power it is in PyTorch."""
    def square_(self) -> Tensor: """In-place square."""
    @overload
    def squeeze(self) -> Tensor: """Removes all dimensions of size 1."""
    @overload
    def squeeze(self, dim: _int) -> Tensor: """Removes one dimension if its size is 1."""
    @overload
    def squeeze(self, dim: _int | Sequence[_int]) -> Tensor: """Removes the given dimensions whose size is 1."""
    @overload
    def squeeze(self, *dim: _int) -> Tensor: """Removes the given dimensions whose size is 1."""
    @overload
    def squeeze_(self) -> Tensor: """In-place form of squeeze. Removes all dimensions of size 1."""
    @overload
    def squeeze_(self, dim: _int) -> Tensor: """In-place form of squeeze. Removes one dimension if its size is 1."""
    @overload
    def squeeze_(self, dim: _int | Sequence[_int]) -> Tensor: """In-place form of squeeze. Removes the given dimensions whose size is 1."""
    @overload
    def squeeze_(self, *dim: _int) -> Tensor: """In-place form of squeeze. Removes the given dimensions whose size is 1."""
    @overload
    def std(self, dim: _int | Sequence[_int] | None, unbiased: _bool = ..., keepdim: _bool = ...) -> Tensor: """Standard deviation over some dimensions."""
    @overload
    def std(self, dim: _int | Sequence[_int] | None = ..., *, correction: _Number | None = ..., keepdim: _bool = ...) -> Tensor: """Standard deviation, by default with one degree of freedom less than there are elements."""
    @overload
    def std(self, unbiased: _bool = ...) -> Tensor: """Standard deviation of all elements."""
    def stft(self, input: _Tensor, n_fft: _int, hop_length: _int | None = ..., win_length: _int | None = ..., window: _Tensor | None = ..., center: _bool = ..., pad_mode: str = ..., normalized: _bool = ..., onesided: _bool | None = ..., return_complex: _bool | None = ..., align_to_window: _bool | None = ...) -> Tensor: """The discrete Fourier transforms of overlapping pieces of a signal."""
    def sub(self, other: _Tensor | _Number, *, alpha: _Number = ...) -> Tensor: """Difference of two tensors, the second one scaled by alpha."""
    def sub_(self, other: _Tensor | _Number, *, alpha: _Number = ...) -> Tensor: """In-place form of sub. Difference of two tensors, the second one scaled by alpha."""
    def subtract(self, other: _Tensor | _Number, *, alpha: _Number = ...) -> Tensor: """Difference of two tensors, the second one scaled by alpha."""
    def subtract_(self, other: _Tensor | _Number, *, alpha: _Number = ...) -> Tensor: """In-place form of sub. Difference of two tensors, the second one scaled by alpha."""
    @overload
    def sum(self, *, dtype: _dtype | None = ...) -> Tensor: """The sum of all elements."""
    @overload
    def sum(self, dim: _int | Sequence[_int] | None, keepdim: _bool = ..., *, dtype: _dtype | None = ...) -> Tensor: """The sum over some dimensions."""
    @overload
    def sum_to_size(self, size: _int | Sequence[_int]) -> Tensor: """The sum over the dimensions that expand added: the inverse of expand."""
    @overload
    def sum_to_size(self, *size: _int) -> Tensor: """The sum over the dimensions that expand added: the inverse of expand."""
    def svd(self, some: _bool = ..., compute_uv: _bool = ...) -> _U_S_V: """The singular value decomposition under its older name, with V instead of Vh."""
    def swapaxes(self, dim0: _int, dim1: _int) -> Tensor: """Swaps two dimensions."""
    def swapaxes_(self, dim0: _int, dim1: _int) -> Tensor: """In-place form of transpose. Swaps two dimensions."""
    def swapdims(self, dim0: _int, dim1: _int) -> Tensor: """Swaps two dimensions."""
    def swapdims_(self, dim0: _int, dim1: _int) -> Tensor: """In-place form of transpose. Swaps two dimensions."""
    def t(self) -> Tensor: """The transpose of a matrix; tensors of fewer dimensions stay as they are."""
    def t_(self) -> Tensor: """In-place form of t. The transpose of a matrix; tensors of fewer dimensions stay as they are."""
    def take(self, index: _Tensor) -> Tensor: """Elements by their position in the flattened tensor."""
    def take_along_dim(self, indices: _Tensor, dim: _int | None = ...) -> Tensor: """gather with operands broadcast against each other."""
    def tan(self) -> Tensor: """Tangent of an angle in radians."""
    def tan_(self) -> Tensor: """In-place form of tan. Tangent of an angle in radians."""
    def tanh(self) -> Tensor: """Hyperbolic tangent."""
    def tanh_(self) -> Tensor: """In-place form of tanh. Hyperbolic tangent."""
    @overload
    def tensor_split(self, sections: _int, dim: _int = ...) -> tuple[Tensor, ...]: """So many pieces along a dimension, the first ones longer by one where it does not divide."""
    @overload
    def tensor_split(self, indices: _int | Sequence[_int], dim: _int = ...) -> tuple[Tensor, ...]: """Cut at given places along a dimension."""
    @overload
    def tensor_split(self, tensor_indices_or_sections: _Tensor, dim: _int = ...) -> tuple[Tensor, ...]: """Cut as a tensor of whole numbers says."""
    @overload
    def tile(self, dims: _int | Sequence[_int]) -> Tensor: """Repeats the tensor along each dimension; missing counts are 1, from the front."""
    @overload
    def tile(self, *dims: _int) -> Tensor: """Repeats the tensor along each dimension; missing counts are 1, from the front."""
    @overload
    def to(self, dtype: _dtype, non_blocking: _bool = ..., copy: _bool = ..., *, memory_format: Any = ...) -> Tensor: """As another element type; the tensor itself where it has that type already."""
    @overload
    def to(self, device: _device | str | None = ..., dtype: _dtype | None = ..., non_blocking: _bool = ..., copy: _bool = ..., *, memory_format: Any = ...) -> Tensor: """On another device, perhaps as another element type."""
    @overload
    def to(self, other: _Tensor, non_blocking: _bool = ..., copy: _bool = ..., *, memory_format: Any = ...) -> Tensor: """As the element type and on the device of another tensor."""
    def to_dense(self, dtype: _dtype | None = ..., *, masked_grad: _bool | None = ...) -> Tensor: """The tensor with all its elements; a dense one is returned as it is."""
    @overload
    def to_sparse(self, sparse_dim: _int) -> Tensor: """A tensor that keeps the slices with an element other than zero, by coordinates (COO)."""
    @overload
    def to_sparse(self, *, layout: Any = ..., blocksize: Any = ..., dense_dim: _int | None = ...) -> Tensor: """A tensor that keeps the elements other than zero, by coordinates (COO)."""
    def to_sparse_coo(self) -> Tensor: """A tensor that keeps the elements other than zero, by coordinates (COO)."""
    def to_sparse_csr(self, dense_dim: _int | None = ...) -> Tensor: """A matrix that keeps the elements other than zero, by its rows (CSR)."""
    def topk(self, k: _int, dim: _int = ..., largest: _bool = ..., sorted: _bool = ...) -> _values_indices: """The k largest (or smallest) elements along a dimension, sorted, and their indices."""
    def trace(self) -> Tensor: """Trace: the sum of the diagonal of a matrix."""
    def transpose(self, dim0: _int, dim1: _int) -> Tensor: """Swaps two dimensions."""
    def transpose_(self, dim0: _int, dim1: _int) -> Tensor: """In-place form of transpose. Swaps two dimensions."""
    def triangular_solve(self, A: _Tensor, upper: _bool = ..., transpose: _bool = ..., unitriangular: _bool = ...) -> _solution_cloned_coefficient: """The solution of a triangular system under its older name."""
    def tril(self, diagonal: _int = ...) -> Tensor: """The lower triangle, zeros above a diagonal."""
    def tril_(self, diagonal: _int = ...) -> Tensor: """In-place form of tril. The lower triangle, zeros above a diagonal."""
    def triu(self, diagonal: _int = ...) -> Tensor: """Upper triangle, zeros below a diagonal."""
    def triu_(self, diagonal: _int = ...) -> Tensor: """In-place form of triu. Upper triangle, zeros below a diagonal."""
    def true_divide(self, other: _Tensor | _Number) -> Tensor: """Quotient, elementwise; integers become floating."""
    def true_divide_(self, other: _Tensor | _Number) -> Tensor: """In-place form of div. Quotient, elementwise; integers become floating."""
    def trunc(self) -> Tensor: """The integer part of x."""
    def trunc_(self) -> Tensor: """In-place form of trunc. The integer part of x."""
    def type(self, dtype: Any = ..., non_blocking: _bool = ...) -> Tensor: """The name of the tensor's type, or the tensor as another type."""
    def type_as(self, other: _Tensor) -> Tensor: """As the element type of another tensor."""
    def unbind(self, dim: _int = ...) -> tuple[Tensor, ...]: """All slices along a dimension, with that dimension removed."""
    def unflatten(self, dim: _int, sizes: _int | Sequence[_int]) -> Tensor: """Splits one dimension into several."""
    def unfold(self, dimension: _int, size: _int, step: _int) -> Tensor: """Windows of a dimension, as a new last dimension; overlapping windows share memory."""
    def uniform_(self, from_: _float = ..., to: _float = ..., *, generator: Any = ...) -> Tensor: """In-place form of uniform. Uniform numbers."""
    def unique(self, sorted: _bool = ..., return_inverse: _bool = ..., return_counts: _bool = ..., dim: _int | None = ...) -> Tensor: """The distinct elements (or slices) in order."""
    def unique_consecutive(self, return_inverse: _bool = ..., return_counts: _bool = ..., dim: _int | None = ...) -> Tensor: """Elements (or slices) that differ from the one before."""
    def unsafe_chunk(self, chunks: _int, dim: _int = ...) -> tuple[Tensor, ...]: """Copies of at most the given number of pieces of one size."""
    def unsafe_split(self, split_size: _int, dim: _int = ...) -> tuple[Tensor, ...]: """Copies of pieces of one size along a dimension."""
    def unsafe_split_with_sizes(self, split_sizes: _int | Sequence[_int], dim: _int = ...) -> tuple[Tensor, ...]: """Copies of pieces of given sizes along a dimension."""
    def unsqueeze(self, dim: _int) -> Tensor: """Adds a dimension of size 1."""
    def unsqueeze_(self, dim: _int) -> Tensor: """In-place form of unsqueeze. Adds a dimension of size 1."""
    @overload
    def var(self, dim: _int | Sequence[_int] | None, unbiased: _bool = ..., keepdim: _bool = ...) -> Tensor: """Variance over some dimensions."""
    @overload
    def var(self, dim: _int | Sequence[_int] | None = ..., *, correction: _Number | None = ..., keepdim: _bool = ...) -> Tensor: """Variance, by default with one degree of freedom less than there are elements."""
    @overload
    def var(self, unbiased: _bool = ...) -> Tensor: """Variance of all elements."""
    def vdot(self, other: _Tensor) -> Tensor: """Dot product (inner product) of two vectors; of complex ones the first is conjugated."""
    @overload
    def view(self, size: _int | Sequence[_int]) -> Tensor: """A view with another size."""
    @overload
    def view(self, *size: _int) -> Tensor: """A view with another size."""
    @overload
    def view(self, dtype: _dtype) -> Tensor: """The same bytes read as another element type."""
    def view_as(self, other: _Tensor) -> Tensor: """view with the size of another tensor."""
    @overload
    def vsplit(self, sections: _int) -> tuple[Tensor, ...]: """Split one below the other."""
    @overload
    def vsplit(self, indices: _int | Sequence[_int]) -> tuple[Tensor, ...]: """Split one below the other."""
    @overload
    def vsplit(self, *indices: _int) -> tuple[Tensor, ...]: """Split one below the other."""
    def where(self, condition: _Tensor, other: _Tensor | _Number) -> Tensor: """Selects elements of self where the condition holds, of other elsewhere."""
    @overload
    def xlogy(self, other: _Tensor) -> Tensor: """self * log(other), 0 where self is 0."""
    @overload
    def xlogy(self, other: _Number) -> Tensor: """self * log(other) for a number, 0 where self is 0."""
    @overload
    def xlogy_(self, other: _Tensor) -> Tensor: """In-place form of xlogy. self * log(other), 0 where self is 0."""
    @overload
    def xlogy_(self, other: _Number) -> Tensor: """In-place form of xlogy. self * log(other) for a number, 0 where self is 0."""
    def zero_(self) -> Tensor: """In-place form of zero. Sets every element to 0."""
    H: Tensor
    T: Tensor
    imag: Tensor
    mH: Tensor
    mT: Tensor
    real: Tensor
    def size(self, dim: _int | None = ...) -> Any: ...
    def dim(self) -> _int: ...
    def ndimension(self) -> _int: ...
    def numel(self) -> _int: ...
    def nelement(self) -> _int: ...
    def stride(self, dim: _int | None = ...) -> Any: ...
    def storage_offset(self) -> _int: ...
    itemsize: Any
    def element_size(self) -> _int: ...
    nbytes: Any
    def is_contiguous(self, *, memory_format: Any = ...) -> _bool: ...
    def is_floating_point(self) -> _bool: ...
    def is_complex(self) -> _bool: ...
    def is_signed(self) -> _bool: ...
    def data_ptr(self) -> _int: ...
    def get_device(self) -> _int: ...
    is_cuda: Any
    is_cpu: Any
    volatile: Any
    def indices(self) -> Any: ...
    def values(self) -> Any: ...
    is_sparse: _bool
    is_sparse_csr: _bool
    is_quantized: _bool
    is_mps: _bool
    is_meta: _bool
    is_nested: _bool
    layout: Any
    def item(self) -> Any: ...
    def tolist(self) -> Any: ...
    def numpy(self, *, force: _bool = ...) -> Any: ...
    is_parameter: Any
    def requires_grad_(self, requires_grad: _bool = ...) -> Tensor: ...
    output_nr: Any
    def is_inference(self) -> _bool: ...
    def detach(self) -> Tensor: ...
    def detach_(self) -> Tensor: ...
    def new(tensor: Tensor, data: Any = ..., *more: Any, device: Any = ...) -> Tensor: ...
    def backward(tensor: Tensor, gradient: Tensor | None = ..., retain_graph: _bool | None = ..., create_graph: _bool = ..., inputs: Any = ...) -> None: ...
    def register_hook(tensor: Tensor, hook: Any) -> Any: ...
    def register_post_accumulate_grad_hook(tensor: Tensor, hook: Any) -> Any: ...
    def retain_grad(tensor: Tensor) -> None: ...
    def share_memory_(tensor: Tensor) -> Tensor: ...
    def is_nonzero(tensor: Tensor) -> _bool: ...
    def apply_(self, callable: Any) -> Tensor: ...
    def map_(self, other: Tensor, callable: Any) -> Tensor: ...
    def map2_(self, x: Tensor, y: Tensor, callable: Any) -> Tensor: ...
    def storage(tensor: Tensor) -> Any: ...
    def untyped_storage(tensor: Tensor) -> Any: ...
def abs(input: _Tensor, *, out: Any = ...) -> Tensor: """Absolute value, elementwise."""
def abs_(input: _Tensor) -> Tensor: """In-place form of abs. Absolute value, elementwise."""
def absolute(input: _Tensor, *, out: Any = ...) -> Tensor: """Absolute value, elementwise."""
def acos(input: _Tensor, *, out: Any = ...) -> Tensor: """Arc cosine (inverse cosine), in radians from 0 to pi."""
def acos_(input: _Tensor) -> Tensor: """In-place form of acos. Arc cosine (inverse cosine), in radians from 0 to pi."""
def acosh(input: _Tensor, *, out: Any = ...) -> Tensor: """Inverse hyperbolic cosine, for x of at least 1."""
def acosh_(input: _Tensor) -> Tensor: """In-place form of acosh. In-place acosh; it has no derivative, and backward says so."""
def adaptive_avg_pool1d(input: _Tensor, output_size: _int | Sequence[_int]) -> Tensor: """Adaptive average pooling: the means of windows, this many of them."""
@overload
def add(input: _Tensor, other: _Tensor | _Number, *, alpha: _Number = ..., out: Any = ...) -> Tensor: """Sum of two tensors, the second one scaled by alpha."""
@overload
def add(self: _Number, other: _Tensor | _Number, *, alpha: _Number = ..., out: Any = ...) -> Tensor: """Sum of two tensors, the second one scaled by alpha. A number stands first."""
def addbmm(input: _Tensor, batch1: _Tensor, batch2: _Tensor, *, beta: _Number = ..., alpha: _Number = ..., out: Any = ...) -> Tensor: """beta * self + alpha * the sum of the products of two batches."""
def addcdiv(input: _Tensor, tensor1: _Tensor, tensor2: _Tensor, *, value: _Number = ..., out: Any = ...) -> Tensor: """A tensor plus the scaled quotient of two others."""
def addcmul(input: _Tensor, tensor1: _Tensor, tensor2: _Tensor, *, value: _Number = ..., out: Any = ...) -> Tensor: """A tensor plus the scaled product of two others."""
def addmm(input: _Tensor, mat1: _Tensor, mat2: _Tensor, *, beta: _Number = ..., alpha: _Number = ..., out: Any = ...) -> Tensor: """beta * self + alpha * (mat1 @ mat2)."""
def addmv(input: _Tensor, mat: _Tensor, vec: _Tensor, *, beta: _Number = ..., alpha: _Number = ..., out: Any = ...) -> Tensor: """beta * self + alpha * (mat @ vec)."""
def addmv_(input: _Tensor, mat: _Tensor, vec: _Tensor, *, beta: _Number = ..., alpha: _Number = ...) -> Tensor: """In-place form of addmv. beta * self + alpha * (mat @ vec)."""
def addr(input: _Tensor, vec1: _Tensor, vec2: _Tensor, *, beta: _Number = ..., alpha: _Number = ..., out: Any = ...) -> Tensor: """beta * self + alpha * the outer product of two vectors."""
def adjoint(input: _Tensor) -> Tensor: """Swaps the last two dimensions and conjugates."""
def affine_grid_generator(theta: _Tensor, size: _int | Sequence[_int], align_corners: _bool) -> Tensor: """The points of a grid, moved by an affine map."""
@overload
def all(input: _Tensor, *, out: Any = ...) -> Tensor: """Are all elements different from zero?"""
@overload
def all(input: _Tensor, dim: _int, keepdim: _bool = ..., *, out: Any = ...) -> Tensor: """Are all elements along one dimension different from zero?"""
@overload
def all(input: _Tensor, dim: _int | Sequence[_int] | None = ..., keepdim: _bool = ..., *, out: Any = ...) -> Tensor: """Are all elements over some dimensions different from zero?"""
def allclose(input: _Tensor, other: _Tensor, rtol: _float = ..., atol: _float = ..., equal_nan: _bool = ...) -> _bool: """Are all elements close, as a Python bool?"""
def alpha_dropout(input: _Tensor, p: _float, train: _bool) -> Tensor: """Zeroes elements or channels with probability p, in training."""
def alpha_dropout_(input: _Tensor, p: _float, train: _bool) -> Tensor: """In-place form of alpha_dropout."""
def amax(input: _Tensor, dim: _int | Sequence[_int] | None = ..., keepdim: _bool = ..., *, out: Any = ...) -> Tensor: """The largest elements over some dimensions; ties share the gradient equally."""
def amin(input: _Tensor, dim: _int | Sequence[_int] | None = ..., keepdim: _bool = ..., *, out: Any = ...) -> Tensor: """The smallest elements over some dimensions; ties share the gradient equally."""
def aminmax(input: _Tensor, *, dim: _int | None = ..., keepdim: _bool = ..., out: Any = ...) -> _min_max: """The smallest and the largest elements."""
def angle(input: _Tensor, *, out: Any = ...) -> Tensor: """The angle of a number in the complex plane: 0 or pi for real ones."""
@overload
def any(input: _Tensor, *, out: Any = ...) -> Tensor: """Is any element different from zero?"""
@overload
def any(input: _Tensor, dim: _int, keepdim: _bool = ..., *, out: Any = ...) -> Tensor: """Is any element along one dimension different from zero?"""
@overload
def any(input: _Tensor, dim: _int | Sequence[_int] | None = ..., keepdim: _bool = ..., *, out: Any = ...) -> Tensor: """Is any element over some dimensions different from zero?"""
@overload
def arange(end: _Number, *, dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """0, 1, 2 ... up to but not including the end."""
@overload
def arange(start: _Number, end: _Number, *, dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """Numbers from start up to but not including end, in steps of 1."""
@overload
def arange(start: _Number, end: _Number, step: _Number = ..., *, dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """Numbers from start up to but not including end, in equal steps."""
def arccos(input: _Tensor, *, out: Any = ...) -> Tensor: """Arc cosine (inverse cosine), in radians from 0 to pi."""
def arccos_(input: _Tensor) -> Tensor: """In-place form of acos. Arc cosine (inverse cosine), in radians from 0 to pi."""
def arccosh(input: _Tensor, *, out: Any = ...) -> Tensor: """Inverse hyperbolic cosine, for x of at least 1."""
def arccosh_(input: _Tensor) -> Tensor: """In-place form of acosh. In-place acosh; it has no derivative, and backward says so."""
def arcsin(input: _Tensor, *, out: Any = ...) -> Tensor: """Arc sine (inverse sine), in radians from -pi/2 to pi/2."""
def arcsin_(input: _Tensor) -> Tensor: """In-place form of asin. Arc sine (inverse sine), in radians from -pi/2 to pi/2."""
def arcsinh(input: _Tensor, *, out: Any = ...) -> Tensor: """Inverse hyperbolic sine."""
def arcsinh_(input: _Tensor) -> Tensor: """In-place form of asinh. In-place asinh; it has no derivative, and backward says so."""
def arctan(input: _Tensor, *, out: Any = ...) -> Tensor: """Arc tangent (inverse tangent), in radians from -pi/2 to pi/2."""
def arctan2(input: _Tensor, other: _Tensor, *, out: Any = ...) -> Tensor: """Arc tangent of self / other by quadrant, in radians from -pi to pi."""
def arctan_(input: _Tensor) -> Tensor: """In-place form of atan. Arc tangent (inverse tangent), in radians from -pi/2 to pi/2."""
def arctanh(input: _Tensor, *, out: Any = ...) -> Tensor: """Inverse hyperbolic tangent."""
def arctanh_(input: _Tensor) -> Tensor: """In-place form of atanh. In-place atanh; it has no derivative, and backward says so."""
def argmax(input: _Tensor, dim: _int | None = ..., keepdim: _bool = ..., *, out: Any = ...) -> Tensor: """Index of the largest element; at a tie the first one."""
def argmin(input: _Tensor, dim: _int | None = ..., keepdim: _bool = ..., *, out: Any = ...) -> Tensor: """Index of the smallest element; at a tie the first one."""
@overload
def argsort(input: _Tensor, dim: _int = ..., descending: _bool = ..., *, out: Any = ...) -> Tensor: """Indices that sort the tensor along a dimension."""
@overload
def argsort(input: _Tensor, *, stable: _bool, dim: _int = ..., descending: _bool = ..., out: Any = ...) -> Tensor: """Indices that sort the tensor along a dimension; equal elements keep their order."""
def argwhere(input: _Tensor) -> Tensor: """Indices of the elements that are not zero, one row for each."""
def as_strided(input: _Tensor, size: _int | Sequence[_int], stride: _int | Sequence[_int], storage_offset: _int | None = ...) -> Tensor: """A view of the same memory with the given size and strides."""
def as_strided_(input: _Tensor, size: _int | Sequence[_int], stride: _int | Sequence[_int], storage_offset: _int | None = ...) -> Tensor: """In-place form of as_strided. A view of the same memory with the given size and strides."""
def as_strided_scatter(input: _Tensor, src: _Tensor, size: _int | Sequence[_int], stride: _int | Sequence[_int], storage_offset: _int | None = ...) -> Tensor: """A copy whose memory is written over where a geometry lies."""
def asin(input: _Tensor, *, out: Any = ...) -> Tensor: """Arc sine (inverse sine), in radians from -pi/2 to pi/2."""
def asin_(input: _Tensor) -> Tensor: """In-place form of asin. Arc sine (inverse sine), in radians from -pi/2 to pi/2."""
def asinh(input: _Tensor, *, out: Any = ...) -> Tensor: """Inverse hyperbolic sine."""
def asinh_(input: _Tensor) -> Tensor: """In-place form of asinh. In-place asinh; it has no derivative, and backward says so."""
def atan(input: _Tensor, *, out: Any = ...) -> Tensor: """Arc tangent (inverse tangent), in radians from -pi/2 to pi/2."""
def atan2(input: _Tensor, other: _Tensor, *, out: Any = ...) -> Tensor: """Arc tangent of self / other by quadrant, in radians from -pi to pi."""
def atan_(input: _Tensor) -> Tensor: """In-place form of atan. Arc tangent (inverse tangent), in radians from -pi/2 to pi/2."""
def atanh(input: _Tensor, *, out: Any = ...) -> Tensor: """Inverse hyperbolic tangent."""
def atanh_(input: _Tensor) -> Tensor: """In-place form of atanh. In-place atanh; it has no derivative, and backward says so."""
@overload
def atleast_1d(input: _Tensor) -> Tensor: """A view with at least 1 dimension."""
@overload
def atleast_1d(tensors: Sequence[_Tensor]) -> tuple[Tensor, ...]: """Views of tensors with at least 1 dimension."""
@overload
def atleast_2d(input: _Tensor) -> Tensor: """A view with at least 2 dimensions."""
@overload
def atleast_2d(tensors: Sequence[_Tensor]) -> tuple[Tensor, ...]: """Views of tensors with at least 2 dimensions."""
@overload
def atleast_3d(input: _Tensor) -> Tensor: """A view with at least 3 dimensions."""
@overload
def atleast_3d(tensors: Sequence[_Tensor]) -> tuple[Tensor, ...]: """Views of tensors with at least 3 dimensions."""
def avg_pool1d(input: _Tensor, kernel_size: _int | Sequence[_int], stride: _int | Sequence[_int] | None = ..., padding: _int | Sequence[_int] = ..., ceil_mode: _bool = ..., count_include_pad: _bool = ...) -> Tensor: """Average pooling: the mean of each window."""
def baddbmm(input: _Tensor, batch1: _Tensor, batch2: _Tensor, *, beta: _Number = ..., alpha: _Number = ..., out: Any = ...) -> Tensor: """beta * self + alpha * the products of two batches, pair by pair."""
def bartlett_window(window_length: _int, periodic: _bool = ..., *, dtype: _dtype | None = ..., layout: Any = ..., device: _device | str | None = ..., requires_grad: _bool = ...) -> Tensor: """A triangle."""
def batch_norm(input: _Tensor, weight: _Tensor | None, bias: _Tensor | None, running_mean: _Tensor | None, running_var: _Tensor | None, training: _bool, momentum: _float, eps: _float, cudnn_enabled: _bool) -> Tensor: """torch.nn.functional.batch_norm, its arguments in another order."""
@overload
def bernoulli(input: _Tensor, *, generator: Any = ..., out: Any = ...) -> Tensor: """Ones and zeros, each one with its own probability."""
@overload
def bernoulli(input: _Tensor, p: _float, *, generator: Any = ..., out: Any = ...) -> Tensor: """Ones with one probability, else zeros, in another tensor's size."""
def bilinear(input1: _Tensor, input2: _Tensor, weight: _Tensor, bias: _Tensor | None = ...) -> Tensor: """input1 @ weight[k] @ input2 for each output k, plus bias."""
def binary_cross_entropy_with_logits(input: _Tensor, target: _Tensor, weight: _Tensor | None = ..., pos_weight: _Tensor | None = ..., reduction: _int = ...) -> Tensor: """torch.nn.functional.binary_cross_entropy_with_logits, its reduction as a number: 0 none, 1 mean, 2 sum."""
def bincount(input: _Tensor, weights: _Tensor | None = ..., minlength: _int = ...) -> Tensor: """How often each number from 0 on occurs, or the sum of the weights there."""
def bitwise_and(input: _Tensor | _Number, other: _Tensor | _Number, *, out: Any = ...) -> Tensor: """Bitwise AND."""
def bitwise_left_shift(input: _Tensor | _Number, other: _Tensor | _Number, *, out: Any = ...) -> Tensor: """Bitwise shift to the left."""
def bitwise_not(input: _Tensor, *, out: Any = ...) -> Tensor: """Bitwise NOT."""
def bitwise_or(input: _Tensor | _Number, other: _Tensor | _Number, *, out: Any = ...) -> Tensor: """Bitwise OR."""
def bitwise_right_shift(input: _Tensor | _Number, other: _Tensor | _Number, *, out: Any = ...) -> Tensor: """Bitwise shift to the right."""
def bitwise_xor(input: _Tensor | _Number, other: _Tensor | _Number, *, out: Any = ...) -> Tensor: """Bitwise XOR (exclusive or)."""
def blackman_window(window_length: _int, periodic: _bool = ..., *, dtype: _dtype | None = ..., layout: Any = ..., device: _device | str | None = ..., requires_grad: _bool = ...) -> Tensor: """Blackman's window."""
@overload
def block_diag(tensors: Sequence[_Tensor]) -> Tensor: """Matrices along the diagonal of a larger one, zeros around them."""
@overload
def block_diag(tensor: _Tensor) -> Tensor: """block_diag of one tensor."""
def bmm(input: _Tensor, mat2: _Tensor, *, out: Any = ...) -> Tensor: """Matrix products of a batch, pair by pair."""
@overload
def broadcast_tensors(tensors: Sequence[_Tensor]) -> tuple[Tensor, ...]: """Broadcasts tensors to their common size."""
@overload
def broadcast_tensors(tensor: _Tensor) -> Tensor: """broadcast_tensors of one tensor."""
def broadcast_to(input: _Tensor, size: _int | Sequence[_int]) -> Tensor: """Alias of expand, with NumPy's name."""
@overload
def bucketize(input: _Tensor, boundaries: _Tensor, *, out_int32: _bool = ..., right: _bool = ..., out: Any = ...) -> Tensor: """Which bucket between boundaries each element falls into."""
@overload
def bucketize(self: _Number, boundaries: _Tensor, *, out_int32: _bool = ..., right: _bool = ..., out: Any = ...) -> Tensor: """Which bucket between boundaries a number falls into."""
@overload
def cartesian_prod(tensors: Sequence[_Tensor]) -> Tensor: """All combinations of one element from each vector."""
@overload
def cartesian_prod(tensor: _Tensor) -> Tensor: """cartesian_prod of one tensor."""
def cat(tensors: Sequence[_Tensor], dim: _int = ..., *, out: Any = ...) -> Tensor: """Concatenates tensors along an existing dimension."""
def cdist(x1: _Tensor, x2: _Tensor, p: _float = ..., compute_mode: str = ...) -> Tensor: """Distance (p-norm) between each row of one matrix and each row of another."""
def ceil(input: _Tensor, *, out: Any = ...) -> Tensor: """The smallest integer greater than or equal to x."""
def ceil_(input: _Tensor) -> Tensor: """In-place form of ceil. The smallest integer greater than or equal to x."""
def celu(input: _Tensor, alpha: _Number = ...) -> Tensor: """self above zero, alpha * (exp(self / alpha) - 1) below."""
def celu_(input: _Tensor, alpha: _Number = ...) -> Tensor: """In-place form of celu."""
def chain_matmul(matrices: Sequence[_Tensor]) -> Tensor: """The product of several matrices, multiplied in the cheapest order."""
def channel_shuffle(input: _Tensor, groups: _int) -> Tensor: """Shuffles the channels of groups."""
def cholesky(input: _Tensor, upper: _bool = ..., *, out: Any = ...) -> Tensor: """The Cholesky factor under its older name."""
def cholesky_inverse(input: _Tensor, upper: _bool = ..., *, out: Any = ...) -> Tensor: """The inverse of a matrix that is given by its Cholesky factor."""
def cholesky_solve(input: _Tensor, input2: _Tensor, upper: _bool = ..., *, out: Any = ...) -> Tensor: """The solution of a system whose matrix is given by its Cholesky factor."""
def chunk(input: _Tensor, chunks: _int, dim: _int = ...) -> tuple[Tensor, ...]: """Splits into at most the given number of pieces of one size, along a dimension."""
@overload
def clamp(input: _Tensor, min: _Tensor | None = ..., max: _Tensor | None = ..., *, out: Any = ...) -> Tensor: """Clamps (clips) elements between two tensors."""
@overload
def clamp(input: _Tensor, min: _Number | None = ..., max: _Number | None = ..., *, out: Any = ...) -> Tensor: """Clamps elements between two numbers; the gradient passes at the bounds."""
@overload
def clamp_(input: _Tensor, min: _Tensor | None = ..., max: _Tensor | None = ...) -> Tensor: """In-place form of clamp. Clamps (clips) elements between two tensors."""
@overload
def clamp_(input: _Tensor, min: _Number | None = ..., max: _Number | None = ...) -> Tensor: """In-place form of clamp. Clamps elements between two numbers; the gradient passes at the bounds."""
@overload
def clamp_max(input: _Tensor, max: _Tensor, *, out: Any = ...) -> Tensor: """Clamps elements from above to those of another tensor."""
@overload
def clamp_max(input: _Tensor, max: _Number, *, out: Any = ...) -> Tensor: """Clamps elements from above to a number."""
@overload
def clamp_max_(input: _Tensor, max: _Tensor) -> Tensor: """In-place form of clamp_max. Clamps elements from above to those of another tensor."""
@overload
def clamp_max_(input: _Tensor, max: _Number) -> Tensor: """In-place form of clamp_max. Clamps elements from above to a number."""
@overload
def clamp_min(input: _Tensor, min: _Tensor, *, out: Any = ...) -> Tensor: """Clamps elements from below to those of another tensor."""
@overload
def clamp_min(input: _Tensor, min: _Number, *, out: Any = ...) -> Tensor: """Clamps elements from below to a number."""
@overload
def clamp_min_(input: _Tensor, min: _Tensor) -> Tensor: """In-place form of clamp_min. Clamps elements from below to those of another tensor."""
@overload
def clamp_min_(input: _Tensor, min: _Number) -> Tensor: """In-place form of clamp_min. Clamps elements from below to a number."""
@overload
def clip(input: _Tensor, min: _Tensor | None = ..., max: _Tensor | None = ..., *, out: Any = ...) -> Tensor: """Clamps (clips) elements between two tensors."""
@overload
def clip(input: _Tensor, min: _Number | None = ..., max: _Number | None = ..., *, out: Any = ...) -> Tensor: """Clamps elements between two numbers; the gradient passes at the bounds."""
@overload
def clip_(input: _Tensor, min: _Tensor | None = ..., max: _Tensor | None = ...) -> Tensor: """In-place form of clamp. Clamps (clips) elements between two tensors."""
@overload
def clip_(input: _Tensor, min: _Number | None = ..., max: _Number | None = ...) -> Tensor: """In-place form of clamp. Clamps elements between two numbers; the gradient passes at the bounds."""
def clone(input: _Tensor, *, memory_format: Any = ...) -> Tensor: """A copy in new memory."""
def column_stack(tensors: Sequence[_Tensor], *, out: Any = ...) -> Tensor: """Stacks tensors as columns."""
def combinations(input: _Tensor, r: _int = ..., with_replacement: _bool = ...) -> Tensor: """All combinations of r elements of a vector."""
def complex(real: _Tensor, imag: _Tensor, *, out: Any = ...) -> Tensor: """Complex numbers of their real and imaginary parts."""
def concat(tensors: Sequence[_Tensor], dim: _int = ..., *, out: Any = ...) -> Tensor: """Concatenates tensors along an existing dimension."""
def concatenate(tensors: Sequence[_Tensor], dim: _int = ..., *, out: Any = ...) -> Tensor: """Concatenates tensors along an existing dimension."""
def conj(input: _Tensor) -> Tensor: """The complex conjugate: a real tensor itself."""
def conj_physical(input: _Tensor, *, out: Any = ...) -> Tensor: """The complex conjugate, carried out: a real tensor itself."""
def constant_pad_nd(input: _Tensor, pad: _int | Sequence[_int], value: _Number = ...) -> Tensor: """Widens dimensions by a constant, the last dimension first."""
def conv1d(input: _Tensor, weight: _Tensor, bias: _Tensor | None = ..., stride: Any = ..., padding: Any = ..., dilation: Any = ..., groups: _int = ...) -> Tensor: """Convolution over 1 dimension."""
def conv2d(input: _Tensor, weight: _Tensor, bias: _Tensor | None = ..., stride: Any = ..., padding: Any = ..., dilation: Any = ..., groups: _int = ...) -> Tensor: """Convolution over 2 dimensions."""
def conv3d(input: _Tensor, weight: _Tensor, bias: _Tensor | None = ..., stride: Any = ..., padding: Any = ..., dilation: Any = ..., groups: _int = ...) -> Tensor: """Convolution over 3 dimensions."""
def conv_transpose1d(input: _Tensor, weight: _Tensor, bias: _Tensor | None = ..., stride: _int | Sequence[_int] = ..., padding: _int | Sequence[_int] = ..., output_padding: _int | Sequence[_int] = ..., groups: _int = ..., dilation: _int | Sequence[_int] = ...) -> Tensor: """Transposed convolution over 1 dimension."""
def conv_transpose2d(input: _Tensor, weight: _Tensor, bias: _Tensor | None = ..., stride: _int | Sequence[_int] = ..., padding: _int | Sequence[_int] = ..., output_padding: _int | Sequence[_int] = ..., groups: _int = ..., dilation: _int | Sequence[_int] = ...) -> Tensor: """Transposed convolution over 2 dimensions."""
def conv_transpose3d(input: _Tensor, weight: _Tensor, bias: _Tensor | None = ..., stride: _int | Sequence[_int] = ..., padding: _int | Sequence[_int] = ..., output_padding: _int | Sequence[_int] = ..., groups: _int = ..., dilation: _int | Sequence[_int] = ...) -> Tensor: """Transposed convolution over 3 dimensions."""
@overload
def copysign(input: _Tensor, other: _Tensor, *, out: Any = ...) -> Tensor: """The magnitude of self with the sign of other."""
@overload
def copysign(input: _Tensor, other: _Number, *, out: Any = ...) -> Tensor: """The magnitude of self with the sign of a number."""
def corrcoef(input: _Tensor) -> Tensor: """Correlation coefficients of the rows."""
def cos(input: _Tensor, *, out: Any = ...) -> Tensor: """Cosine of an angle in radians."""
def cos_(input: _Tensor) -> Tensor: """In-place form of cos. Cosine of an angle in radians."""
def cosh(input: _Tensor, *, out: Any = ...) -> Tensor: """Hyperbolic cosine."""
def cosh_(input: _Tensor) -> Tensor: """In-place form of cosh. Hyperbolic cosine."""
def cosine_embedding_loss(input1: _Tensor, input2: _Tensor, target: _Tensor, margin: _float = ..., reduction: _int = ...) -> Tensor: """torch.nn.functional.cosine_embedding_loss, its reduction as a number: 0 none, 1 mean, 2 sum."""
def cosine_similarity(x1: _Tensor, x2: _Tensor, dim: _int = ..., eps: _float = ...) -> Tensor: """The cosine of the angle between vectors along dim."""
@overload
def count_nonzero(input: _Tensor, dim: _int | None = ...) -> Tensor: """The number of elements that are not zero."""
@overload
def count_nonzero(input: _Tensor, dim: _int | Sequence[_int]) -> Tensor: """The number of elements that are not zero, over some dimensions."""
def cov(input: _Tensor, *, correction: _int = ..., fweights: _Tensor | None = ..., aweights: _Tensor | None = ...) -> Tensor: """Covariance matrix of the rows."""
def cross(input: _Tensor, other: _Tensor, dim: _int | None = ..., *, out: Any = ...) -> Tensor: """Cross product along a dimension of size 3, by default the first such dimension."""
@overload
def ctc_loss(log_probs: _Tensor, targets: _Tensor, input_lengths: _int | Sequence[_int], target_lengths: _int | Sequence[_int], blank: _int = ..., reduction: _int = ..., zero_infinity: _bool = ...) -> Tensor: """ctc_loss, the reduction as a number."""
@overload
def ctc_loss(log_probs: _Tensor, targets: _Tensor, input_lengths: _Tensor, target_lengths: _Tensor, blank: _int = ..., reduction: _int = ..., zero_infinity: _bool = ...) -> Tensor: """ctc_loss, the reduction as a number."""
def cummax(input: _Tensor, dim: _int, *, out: Any = ...) -> _values_indices: """Cumulative (running) maximum along a dimension, and its index."""
def cummin(input: _Tensor, dim: _int, *, out: Any = ...) -> _values_indices: """Cumulative (running) minimum along a dimension, and its index."""
def cumprod(input: _Tensor, dim: _int, *, dtype: _dtype | None = ..., out: Any = ...) -> Tensor: """Cumulative product along a dimension."""
def cumsum(input: _Tensor, dim: _int, *, dtype: _dtype | None = ..., out: Any = ...) -> Tensor: """Cumulative sum along a dimension."""
@overload
def cumulative_trapezoid(y: _Tensor, x: _Tensor, *, dim: _int = ...) -> Tensor: """The integral up to each place, at given places."""
@overload
def cumulative_trapezoid(y: _Tensor, *, dx: _Number = ..., dim: _int = ...) -> Tensor: """The integral up to each place, at equal distances."""
def deg2rad(input: _Tensor, *, out: Any = ...) -> Tensor: """Degrees to radians."""
def deg2rad_(input: _Tensor) -> Tensor: """In-place form of deg2rad. Degrees to radians."""
def det(A: _Tensor) -> Tensor: """Determinant of a square matrix, or of a batch of them."""
def detach(input: _Tensor) -> Tensor: """A view of the same memory that does not belong to the graph."""
def detach_(input: _Tensor) -> Tensor: """Detaches the tensor itself from the graph."""
def diag(input: _Tensor, diagonal: _int = ..., *, out: Any = ...) -> Tensor: """A matrix with this vector as its diagonal, or this matrix's diagonal."""
def diag_embed(input: _Tensor, offset: _int = ..., dim1: _int = ..., dim2: _int = ...) -> Tensor: """The last dimension as a diagonal of two."""
def diagflat(input: _Tensor, offset: _int = ...) -> Tensor: """A matrix with all elements on a diagonal."""
def diagonal(input: _Tensor, offset: _int = ..., dim1: _int = ..., dim2: _int = ...) -> Tensor: """A diagonal of two dimensions, as the last dimension of a view."""
def diagonal_copy(input: _Tensor, offset: _int = ..., dim1: _int = ..., dim2: _int = ..., *, out: Any = ...) -> Tensor: """A diagonal as a copy."""
def diagonal_scatter(input: _Tensor, src: _Tensor, offset: _int = ..., dim1: _int = ..., dim2: _int = ...) -> Tensor: """A copy with a diagonal replaced."""
def diff(input: _Tensor, n: _int = ..., dim: _int = ..., prepend: _Tensor | None = ..., append: _Tensor | None = ..., *, out: Any = ...) -> Tensor: """Differences of neighbours along a dimension, n times."""
def digamma(input: _Tensor, *, out: Any = ...) -> Tensor: """The derivative of the logarithm of the gamma function."""
def dist(input: _Tensor, other: _Tensor, p: _Number = ...) -> Tensor: """The p-norm of the difference of two tensors."""
@overload
def div(input: _Tensor, other: _Tensor | _Number, *, out: Any = ...) -> Tensor: """Quotient, elementwise; integers become floating."""
@overload
def div(self: _Number, other: _Tensor | _Number, *, out: Any = ...) -> Tensor: """Quotient, elementwise; integers become floating. A number stands first."""
@overload
def div(input: _Tensor, other: _Tensor | _Number, *, rounding_mode: str | None, out: Any = ...) -> Tensor: """Quotient, rounded down ('floor') or towards zero ('trunc')."""
@overload
def div(self: _Number, other: _Tensor | _Number, *, rounding_mode: str | None, out: Any = ...) -> Tensor: """Quotient, rounded down ('floor') or towards zero ('trunc'). A number stands first."""
@overload
def divide(input: _Tensor, other: _Tensor | _Number, *, out: Any = ...) -> Tensor: """Quotient, elementwise; integers become floating."""
@overload
def divide(self: _Number, other: _Tensor | _Number, *, out: Any = ...) -> Tensor: """Quotient, elementwise; integers become floating. A number stands first."""
@overload
def divide(input: _Tensor, other: _Tensor | _Number, *, rounding_mode: str | None, out: Any = ...) -> Tensor: """Quotient, rounded down ('floor') or towards zero ('trunc')."""
@overload
def divide(self: _Number, other: _Tensor | _Number, *, rounding_mode: str | None, out: Any = ...) -> Tensor: """Quotient, rounded down ('floor') or towards zero ('trunc'). A number stands first."""
def dot(input: _Tensor, tensor: _Tensor, *, out: Any = ...) -> Tensor: """Dot product (inner product) of two vectors."""
def dropout(input: _Tensor, p: _float, train: _bool) -> Tensor: """Zeroes elements or channels with probability p, in training."""
def dropout_(input: _Tensor, p: _float, train: _bool) -> Tensor: """In-place form of dropout."""
@overload
def dsplit(input: _Tensor, sections: _int) -> tuple[Tensor, ...]: """Split in depth."""
@overload
def dsplit(input: _Tensor, indices: _int | Sequence[_int]) -> tuple[Tensor, ...]: """Split in depth."""
def dstack(tensors: Sequence[_Tensor], *, out: Any = ...) -> Tensor: """Stacks tensors along the third dimension."""
@overload
def einsum(equation: str, tensors: Sequence[_Tensor]) -> Tensor: """Products summed over the dimensions whose letters the result leaves out."""
@overload
def einsum(equation: str, operand: _Tensor) -> Tensor: """einsum of one operand."""
@overload
def einsum(part0: _Tensor, part1: Any) -> Tensor: """einsum with lists of numbers for the letters."""
@overload
def einsum(part0: _Tensor, part1: Any, part2: Any) -> Tensor: """einsum with lists of numbers for the letters."""
@overload
def einsum(part0: _Tensor, part1: Any, part2: _Tensor, part3: Any) -> Tensor: """einsum with lists of numbers for the letters."""
@overload
def einsum(part0: _Tensor, part1: Any, part2: _Tensor, part3: Any, part4: Any) -> Tensor: """einsum with lists of numbers for the letters."""
@overload
def einsum(part0: _Tensor, part1: Any, part2: _Tensor, part3: Any, part4: _Tensor, part5: Any) -> Tensor: """einsum with lists of numbers for the letters."""
@overload
def einsum(part0: _Tensor, part1: Any, part2: _Tensor, part3: Any, part4: _Tensor, part5: Any, part6: Any) -> Tensor: """einsum with lists of numbers for the letters."""
def embedding(weight: _Tensor, indices: _Tensor, padding_idx: _int = ..., scale_grad_by_freq: _bool = ..., sparse: _bool = ...) -> Tensor: """Embedding lookup: the rows of weight at these indices."""
@overload
def empty(size: _int | Sequence[_int], *, dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """An uninitialized tensor; gradcli fills it with zeros, so that every run prints the same."""
@overload
def empty(*size: _int, dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """An uninitialized tensor; gradcli fills it with zeros, so that every run prints the same."""
def empty_like(input: _Tensor, *, dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """A tensor of another one's size and type, filled with 0."""
def empty_strided(size: _int | Sequence[_int], stride: _int | Sequence[_int], *, dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """An uninitialized tensor with the given strides; gradcli fills it with zeros."""
def eq(input: _Tensor, other: _Tensor | _Number, *, out: Any = ...) -> Tensor: """Is self equal to other?"""
def equal(input: _Tensor, other: _Tensor) -> _bool: """The same shape and elements, as a Python bool?"""
def erf(input: _Tensor, *, out: Any = ...) -> Tensor: """The error function."""
def erf_(input: _Tensor) -> Tensor: """In-place form of erf. The error function."""
def erfc(input: _Tensor, *, out: Any = ...) -> Tensor: """1 - erf(x), accurate for large x."""
def erfc_(input: _Tensor) -> Tensor: """In-place form of erfc. 1 - erf(x), accurate for large x."""
def erfinv(input: _Tensor, *, out: Any = ...) -> Tensor: """The inverse error function."""
def exp(input: _Tensor, *, out: Any = ...) -> Tensor: """The exponential function."""
def exp2(input: _Tensor, *, out: Any = ...) -> Tensor: """2 to the power x."""
def exp2_(input: _Tensor) -> Tensor: """In-place form of exp2. 2 to the power x."""
def exp_(input: _Tensor) -> Tensor: """In-place form of exp. The exponential function."""
def expand_copy(input: _Tensor, size: _int | Sequence[_int], *, implicit: _bool = ..., out: Any = ...) -> Tensor: """A view that repeats dimensions of size 1 without a copy, as a copy."""
def expm1(input: _Tensor, *, out: Any = ...) -> Tensor: """exp(x) - 1, accurate near 0."""
def expm1_(input: _Tensor) -> Tensor: """In-place form of expm1. exp(x) - 1, accurate near 0."""
@overload
def eye(n: _int, *, dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """An identity matrix."""
@overload
def eye(n: _int, m: _int, *, dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """Ones on the diagonal of a matrix that need not be square."""
def feature_alpha_dropout(input: _Tensor, p: _float, train: _bool) -> Tensor: """Zeroes elements or channels with probability p, in training."""
def feature_alpha_dropout_(input: _Tensor, p: _float, train: _bool) -> Tensor: """In-place form of feature_alpha_dropout."""
def feature_dropout(input: _Tensor, p: _float, train: _bool) -> Tensor: """Zeroes elements or channels with probability p, in training."""
def feature_dropout_(input: _Tensor, p: _float, train: _bool) -> Tensor: """In-place form of feature_dropout."""
@overload
def fill(input: _Tensor, value: _Tensor) -> Tensor: """Sets every element to the value of a 0-dim tensor."""
@overload
def fill(input: _Tensor, value: _Number) -> Tensor: """Sets every element to a number."""
@overload
def fill_(input: _Tensor, value: _Tensor) -> Tensor: """In-place form of fill. Sets every element to the value of a 0-dim tensor."""
@overload
def fill_(input: _Tensor, value: _Number) -> Tensor: """In-place form of fill. Sets every element to a number."""
def fix(input: _Tensor, *, out: Any = ...) -> Tensor: """The integer part of x."""
def fix_(input: _Tensor) -> Tensor: """In-place form of trunc. The integer part of x."""
def flatten(input: _Tensor, start_dim: _int = ..., end_dim: _int = ...) -> Tensor: """Merges a range of dimensions into one."""
def flip(input: _Tensor, dims: _int | Sequence[_int]) -> Tensor: """Reverses the order of elements along the given dimensions."""
def fliplr(input: _Tensor) -> Tensor: """The second dimension in reverse order."""
def flipud(input: _Tensor) -> Tensor: """The first dimension in reverse order."""
@overload
def float_power(input: _Tensor, exponent: _Tensor, *, out: Any = ...) -> Tensor: """Power of tensors in double precision."""
@overload
def float_power(input: _Tensor, exponent: _Number, *, out: Any = ...) -> Tensor: """Power in double precision."""
@overload
def float_power(self: _Number, exponent: _Tensor, *, out: Any = ...) -> Tensor: """Power of a number in double precision."""
def floor(input: _Tensor, *, out: Any = ...) -> Tensor: """The largest integer less than or equal to x."""
def floor_(input: _Tensor) -> Tensor: """In-place form of floor. The largest integer less than or equal to x."""
@overload
def floor_divide(input: _Tensor, other: _Tensor | _Number, *, out: Any = ...) -> Tensor: """Quotient rounded down; it has no derivative, and backward says so."""
@overload
def floor_divide(self: _Number, other: _Tensor | _Number, *, out: Any = ...) -> Tensor: """Quotient rounded down; it has no derivative, and backward says so. A number stands first."""
def fmax(input: _Tensor, other: _Tensor, *, out: Any = ...) -> Tensor: """The greater element, NaN ignored; at a tie the first gets the gradient."""
def fmin(input: _Tensor, other: _Tensor, *, out: Any = ...) -> Tensor: """The smaller element, NaN ignored; at a tie the first gets the gradient."""
@overload
def fmod(input: _Tensor, other: _Tensor, *, out: Any = ...) -> Tensor: """Remainder (modulo) with the sign of the dividend, as C's fmod."""
@overload
def fmod(input: _Tensor, other: _Number, *, out: Any = ...) -> Tensor: """Remainder by a number, with the sign of the dividend."""
def frac(input: _Tensor, *, out: Any = ...) -> Tensor: """The fractional part of x, with its sign."""
def frac_(input: _Tensor) -> Tensor: """In-place form of frac. The fractional part of x, with its sign."""
def frexp(input: _Tensor, *, out: Any = ...) -> _mantissa_exponent: """The fraction between 0.5 and 1 and the power of two that make up a number."""
def full(size: _int | Sequence[_int], fill_value: _Number, *, dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """A tensor filled with one number, whose type decides the dtype."""
def full_like(input: _Tensor, fill_value: _Number, *, dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """A tensor of another one's size and type, filled with a number."""
def gather(input: _Tensor, dim: _int, index: _Tensor, *, sparse_grad: _bool = ..., out: Any = ...) -> Tensor: """Gathers elements along a dimension by index."""
def gcd(input: _Tensor, other: _Tensor, *, out: Any = ...) -> Tensor: """Greatest common divisor, elementwise."""
def gcd_(input: _Tensor, other: _Tensor) -> Tensor: """In-place form of gcd. Greatest common divisor, elementwise."""
def ge(input: _Tensor, other: _Tensor | _Number, *, out: Any = ...) -> Tensor: """Is self at least other?"""
def geqrf(input: _Tensor, *, out: Any = ...) -> _a_tau: """The QR factorisation as LAPACK keeps it: reflections below the diagonal, R above."""
def ger(input: _Tensor, vec2: _Tensor, *, out: Any = ...) -> Tensor: """Outer product of two vectors."""
def gradient(input: _Tensor, *, spacing: Any = ..., dim: Any = ..., edge_order: _int = ...) -> tuple[Tensor, ...]: """Numerical gradient of a sampled function along each dimension."""
def greater(input: _Tensor, other: _Tensor | _Number, *, out: Any = ...) -> Tensor: """Is self greater than other?"""
def greater_equal(input: _Tensor, other: _Tensor | _Number, *, out: Any = ...) -> Tensor: """Is self at least other?"""
def grid_sampler(input: _Tensor, grid: _Tensor, interpolation_mode: _int, padding_mode: _int, align_corners: _bool) -> Tensor: """An image's values at the points of a grid, settings as numbers."""
def grid_sampler_2d(input: _Tensor, grid: _Tensor, interpolation_mode: _int, padding_mode: _int, align_corners: _bool) -> Tensor: """An image's values at the points of a grid."""
def grid_sampler_3d(input: _Tensor, grid: _Tensor, interpolation_mode: _int, padding_mode: _int, align_corners: _bool) -> Tensor: """An image's values at the points of a grid."""
def group_norm(input: _Tensor, num_groups: _int, weight: _Tensor | None = ..., bias: _Tensor | None = ..., eps: _float = ..., cudnn_enabled: _bool = ...) -> Tensor: """Group normalization: mean 0 and variance 1 over groups of channels of each example."""
@overload
def gru(input: _Tensor, hx: _Tensor, params: Sequence[_Tensor], has_biases: _bool, num_layers: _int, dropout: _float, train: _bool, bidirectional: _bool, batch_first: _bool) -> tuple[Tensor, Tensor]: """A recurrent network over sequences: what each step gives, and the last states."""
@overload
def gru(data: _Tensor, batch_sizes: _Tensor, hx: _Tensor, params: Sequence[_Tensor], has_biases: _bool, num_layers: _int, dropout: _float, train: _bool, bidirectional: _bool) -> tuple[Tensor, Tensor]: """A recurrent network over packed sequences."""
def gru_cell(input: _Tensor, hx: _Tensor, w_ih: _Tensor, w_hh: _Tensor, b_ih: _Tensor | None = ..., b_hh: _Tensor | None = ...) -> Tensor: """One step of a recurrent network."""
def gt(input: _Tensor, other: _Tensor | _Number, *, out: Any = ...) -> Tensor: """Is self greater than other?"""
def hamming_window(window_length: _int, periodic: _bool = ..., alpha: _float = ..., beta: _float = ..., *, dtype: _dtype | None = ..., layout: Any = ..., device: _device | str | None = ..., requires_grad: _bool = ...) -> Tensor: """Hamming's window."""
def hann_window(window_length: _int, periodic: _bool = ..., *, dtype: _dtype | None = ..., layout: Any = ..., device: _device | str | None = ..., requires_grad: _bool = ...) -> Tensor: """Hann's window."""
def hardshrink(input: _Tensor, lambd: _Number = ..., *, out: Any = ...) -> Tensor: """self outside [-lambd, lambd], zero inside."""
def heaviside(input: _Tensor, values: _Tensor, *, out: Any = ...) -> Tensor: """0 below 0, 1 above, and the given value at 0."""
def hinge_embedding_loss(input: _Tensor, target: _Tensor, margin: _float = ..., reduction: _int = ...) -> Tensor: """torch.nn.functional.hinge_embedding_loss, its reduction as a number: 0 none, 1 mean, 2 sum."""
def histc(input: _Tensor, bins: _int = ..., min: _Number = ..., max: _Number = ..., *, out: Any = ...) -> Tensor: """Histogram: how many elements lie in each of equal bins."""
@overload
def histogram(input: _Tensor, bins: _int = ..., *, range: Sequence[_float] | None = ..., weight: _Tensor | None = ..., density: _bool = ..., out: Any = ...) -> _hist_bin_edges: """Histogram: how many elements lie in each of equal bins, and the bins' edges."""
@overload
def histogram(input: _Tensor, bins: _Tensor, *, weight: _Tensor | None = ..., density: _bool = ..., out: Any = ...) -> _hist_bin_edges: """How many elements lie between given edges."""
def histogramdd(input: _Tensor, bins: Any, range: Sequence[_float] | None = ..., weight: _Tensor | None = ..., density: _bool = ...) -> _hist_bin_edges: """How many points lie in each cell of a grid, and the grid's edges."""
@overload
def hsplit(input: _Tensor, sections: _int) -> tuple[Tensor, ...]: """Split side by side."""
@overload
def hsplit(input: _Tensor, indices: _int | Sequence[_int]) -> tuple[Tensor, ...]: """Split side by side."""
def hstack(tensors: Sequence[_Tensor], *, out: Any = ...) -> Tensor: """Concatenates along the second dimension (vectors along the first)."""
def hypot(input: _Tensor, other: _Tensor, *, out: Any = ...) -> Tensor: """Length of the hypotenuse, elementwise."""
def i0(input: _Tensor, *, out: Any = ...) -> Tensor: """The modified Bessel function of the first kind, of order 0."""
def i0_(input: _Tensor) -> Tensor: """In-place form of i0. The modified Bessel function of the first kind, of order 0."""
def igamma(input: _Tensor, other: _Tensor, *, out: Any = ...) -> Tensor: """The lower incomplete gamma function of order self, divided by the whole."""
def igammac(input: _Tensor, other: _Tensor, *, out: Any = ...) -> Tensor: """The upper incomplete gamma function of order self, divided by the whole."""
def imag(input: _Tensor) -> Tensor: """The imaginary part, as a view."""
def index_add(input: _Tensor, dim: _int, index: _Tensor, source: _Tensor, *, alpha: _Number = ..., out: Any = ...) -> Tensor: """Adds slices into a copy, along a dimension by index."""
def index_copy(input: _Tensor, dim: _int, index: _Tensor, source: _Tensor, *, out: Any = ...) -> Tensor: """Replaces slices in a copy, along a dimension by index."""
@overload
def index_fill(input: _Tensor, dim: _int, index: _Tensor, value: _Tensor) -> Tensor: """A copy with slices of a dimension filled with the value of a 0-dim tensor."""
@overload
def index_fill(input: _Tensor, dim: _int, index: _Tensor, value: _Number) -> Tensor: """A copy with slices of a dimension filled with a number."""
def index_put(input: _Tensor, indices: Sequence[_Tensor], values: _Tensor, accumulate: _bool = ...) -> Tensor: """The elements that index tensors point at, written over or added to."""
def index_put_(input: _Tensor, indices: Sequence[_Tensor], values: _Tensor, accumulate: _bool = ...) -> Tensor: """In-place form of index_put. The elements that index tensors point at, written over or added to."""
def index_reduce(input: _Tensor, dim: _int, index: _Tensor, source: _Tensor, reduce: str, *, include_self: _bool = ..., out: Any = ...) -> Tensor: """A copy with slices multiplied, averaged or compared into a dimension."""
def index_select(input: _Tensor, dim: _int, index: _Tensor, *, out: Any = ...) -> Tensor: """Selects slices of a dimension by index."""
def inner(input: _Tensor, other: _Tensor, *, out: Any = ...) -> Tensor: """Inner product over the last dimension."""
def instance_norm(input: _Tensor, weight: _Tensor | None, bias: _Tensor | None, running_mean: _Tensor | None, running_var: _Tensor | None, use_input_stats: _bool, momentum: _float, eps: _float, cudnn_enabled: _bool) -> Tensor: """torch.nn.functional.instance_norm, its arguments in another order."""
def inverse(input: _Tensor, *, out: Any = ...) -> Tensor: """Inverse of a square matrix, or of a batch of them."""
def is_same_size(input: _Tensor, other: _Tensor, *, out: Any = ...) -> _bool: """Whether two tensors have one size."""
def isclose(input: _Tensor, other: _Tensor, rtol: _float = ..., atol: _float = ..., equal_nan: _bool = ...) -> Tensor: """Is |self - other| at most atol + rtol * |other|?"""
def isfinite(input: _Tensor) -> Tensor: """Is it neither infinite nor NaN?"""
@overload
def isin(elements: _Tensor, test_elements: _Tensor, *, assume_unique: _bool = ..., invert: _bool = ..., out: Any = ...) -> Tensor: """Is each element among the others?"""
@overload
def isin(elements: _Tensor, test_element: _Number, *, assume_unique: _bool = ..., invert: _bool = ..., out: Any = ...) -> Tensor: """Is each element among the others?"""
@overload
def isin(element: _Number, test_elements: _Tensor, *, assume_unique: _bool = ..., invert: _bool = ..., out: Any = ...) -> Tensor: """Is each element among the others?"""
def isinf(input: _Tensor) -> Tensor: """Is it infinite?"""
def isnan(input: _Tensor) -> Tensor: """Is the element NaN (not a number)?"""
def isneginf(input: _Tensor, *, out: Any = ...) -> Tensor: """Is it minus infinity?"""
def isposinf(input: _Tensor, *, out: Any = ...) -> Tensor: """Is it infinity?"""
def isreal(input: _Tensor) -> Tensor: """Is it a real number?"""
def istft(input: _Tensor, n_fft: _int, hop_length: _int | None = ..., win_length: _int | None = ..., window: _Tensor | None = ..., center: _bool = ..., normalized: _bool = ..., onesided: _bool | None = ..., length: _int | None = ..., return_complex: _bool = ...) -> Tensor: """The signal whose overlapping pieces have these discrete Fourier transforms."""
def kaiser_window(window_length: _int, periodic: _bool = ..., beta: _float = ..., *, dtype: _dtype | None = ..., layout: Any = ..., device: _device | str | None = ..., requires_grad: _bool = ...) -> Tensor: """The window of Kaiser and Bessel."""
def kl_div(input: _Tensor, target: _Tensor, reduction: _int = ..., *, log_target: _bool = ...) -> Tensor: """torch.nn.functional.kl_div, its reduction as a number: 0 none, 1 mean, 2 sum."""
def kron(input: _Tensor, other: _Tensor, *, out: Any = ...) -> Tensor: """Kronecker product."""
def kthvalue(input: _Tensor, k: _int, dim: _int = ..., keepdim: _bool = ..., *, out: Any = ...) -> _values_indices: """The k-th smallest element along a dimension, and its index."""
def layer_norm(input: _Tensor, normalized_shape: _int | Sequence[_int], weight: _Tensor | None = ..., bias: _Tensor | None = ..., eps: _float = ..., cudnn_enable: _bool = ...) -> Tensor: """Layer normalization: mean 0, variance 1 over the last dimensions; scaled, shifted."""
def lcm(input: _Tensor, other: _Tensor, *, out: Any = ...) -> Tensor: """Least common multiple, elementwise."""
def lcm_(input: _Tensor, other: _Tensor) -> Tensor: """In-place form of lcm. Least common multiple, elementwise."""
def ldexp(input: _Tensor, other: _Tensor, *, out: Any = ...) -> Tensor: """self times 2 ** other."""
def ldexp_(input: _Tensor, other: _Tensor) -> Tensor: """In-place form of ldexp. self times 2 ** other."""
def le(input: _Tensor, other: _Tensor | _Number, *, out: Any = ...) -> Tensor: """Is self at most other?"""
@overload
def lerp(input: _Tensor, end: _Tensor, weight: _Tensor, *, out: Any = ...) -> Tensor: """Linear interpolation by a tensor between two tensors."""
@overload
def lerp(input: _Tensor, end: _Tensor, weight: _Number, *, out: Any = ...) -> Tensor: """Linear interpolation by a number between two tensors."""
def less(input: _Tensor, other: _Tensor | _Number, *, out: Any = ...) -> Tensor: """Is self less than other?"""
def less_equal(input: _Tensor, other: _Tensor | _Number, *, out: Any = ...) -> Tensor: """Is self at most other?"""
def lgamma(input: _Tensor, *, out: Any = ...) -> Tensor: """Log-gamma: logarithm of the absolute value of the gamma function."""
@overload
def linspace(start: _Number, end: _Number, steps: _int, *, dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """Evenly spaced numbers from start to end, both included."""
@overload
def linspace(start: _Tensor | _Number, end: _Tensor | _Number, steps: _int, *, dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: Any = ...) -> Tensor: """linspace between 0-dim tensors."""
def log(input: _Tensor, *, out: Any = ...) -> Tensor: """Natural logarithm."""
def log10(input: _Tensor, *, out: Any = ...) -> Tensor: """Logarithm to base 10."""
def log10_(input: _Tensor) -> Tensor: """In-place form of log10. Logarithm to base 10."""
def log1p(input: _Tensor, *, out: Any = ...) -> Tensor: """log(1 + x), accurate near 0."""
def log1p_(input: _Tensor) -> Tensor: """In-place form of log1p. log(1 + x), accurate near 0."""
def log2(input: _Tensor, *, out: Any = ...) -> Tensor: """Logarithm to base 2."""
def log2_(input: _Tensor) -> Tensor: """In-place form of log2. Logarithm to base 2."""
def log_(input: _Tensor) -> Tensor: """In-place form of log. Natural logarithm."""
def log_softmax(input: _Tensor, dim: _int, dtype: _dtype | None = ..., *, out: Any = ...) -> Tensor: """The logarithm of softmax."""
def logaddexp(input: _Tensor, other: _Tensor, *, out: Any = ...) -> Tensor: """log(exp(self) + exp(other))."""
def logaddexp2(input: _Tensor, other: _Tensor, *, out: Any = ...) -> Tensor: """log2(2 ** self + 2 ** other)."""
def logcumsumexp(input: _Tensor, dim: _int, *, out: Any = ...) -> Tensor: """The logarithm of the cumulative sum of exponentials."""
def logdet(A: _Tensor) -> Tensor: """The logarithm of the determinant; NaN where that is negative."""
def logical_and(input: _Tensor, other: _Tensor, *, out: Any = ...) -> Tensor: """Are both true, that is not zero?"""
def logical_not(input: _Tensor, *, out: Any = ...) -> Tensor: """Is the element zero?"""
def logical_or(input: _Tensor, other: _Tensor, *, out: Any = ...) -> Tensor: """Is one of them true?"""
def logical_xor(input: _Tensor, other: _Tensor, *, out: Any = ...) -> Tensor: """Logical XOR (exclusive or), elementwise."""
def logit(input: _Tensor, eps: _float | None = ..., *, out: Any = ...) -> Tensor: """log(x / (1 - x)), x held within eps of 0 and 1 if eps is given."""
def logit_(input: _Tensor, eps: _float | None = ...) -> Tensor: """In-place form of logit. log(x / (1 - x)), x held within eps of 0 and 1 if eps is given."""
@overload
def logspace(start: _Number, end: _Number, steps: _int, base: _float = ..., *, dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """Powers of a base with evenly spaced exponents."""
@overload
def logspace(start: _Tensor | _Number, end: _Tensor | _Number, steps: _int, base: _float = ..., *, dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: Any = ...) -> Tensor: """logspace between 0-dim tensors."""
def logsumexp(input: _Tensor, dim: _int | Sequence[_int], keepdim: _bool = ..., *, out: Any = ...) -> Tensor: """Log-sum-exp: the logarithm of the sum of exponentials."""
@overload
def lstm(input: _Tensor, hx: Sequence[_Tensor], params: Sequence[_Tensor], has_biases: _bool, num_layers: _int, dropout: _float, train: _bool, bidirectional: _bool, batch_first: _bool) -> tuple[Tensor, Tensor, Tensor]: """An LSTM over sequences: what each step gives, the last states and the last cells."""
@overload
def lstm(data: _Tensor, batch_sizes: _Tensor, hx: Sequence[_Tensor], params: Sequence[_Tensor], has_biases: _bool, num_layers: _int, dropout: _float, train: _bool, bidirectional: _bool) -> tuple[Tensor, Tensor, Tensor]: """A recurrent network over packed sequences."""
def lstm_cell(input: _Tensor, hx: Sequence[_Tensor], w_ih: _Tensor, w_hh: _Tensor, b_ih: _Tensor | None = ..., b_hh: _Tensor | None = ...) -> tuple[Tensor, Tensor]: """One step of a recurrent network."""
def lt(input: _Tensor, other: _Tensor | _Number, *, out: Any = ...) -> Tensor: """Is self less than other?"""
def lu(input: _Tensor, pivot: _bool = ..., get_infos: _bool = ...) -> _LU_pivots: """LU factors under their older name."""
def lu_solve(input: _Tensor, LU_data: _Tensor, LU_pivots: _Tensor, *, out: Any = ...) -> Tensor: """The solution under its older name, the right-hand side first."""
def lu_unpack(LU_data: _Tensor, LU_pivots: _Tensor, unpack_data: _bool = ..., unpack_pivots: _bool = ..., *, out: Any = ...) -> _P_L_U: """The permutation and both factors of a packed LU."""
def margin_ranking_loss(input1: _Tensor, input2: _Tensor, target: _Tensor, margin: _float = ..., reduction: _int = ...) -> Tensor: """torch.nn.functional.margin_ranking_loss, its reduction as a number: 0 none, 1 mean, 2 sum."""
@overload
def masked_fill(input: _Tensor, mask: _Tensor, value: _Tensor) -> Tensor: """Fills elements with the value of a 0-dim tensor where the mask is True."""
@overload
def masked_fill(input: _Tensor, mask: _Tensor, value: _Number) -> Tensor: """Fills elements with a number where the mask is True."""
def masked_scatter(input: _Tensor, mask: _Tensor, source: _Tensor) -> Tensor: """The first elements of a source, in order, where the mask is set."""
def masked_select(input: _Tensor, mask: _Tensor, *, out: Any = ...) -> Tensor: """The elements where the mask is True, as a 1-dimensional tensor."""
def matmul(input: _Tensor, other: _Tensor, *, out: Any = ...) -> Tensor: """Matrix product (matrix multiplication) of vectors, matrices or batches of matrices."""
def matrix_exp(input: _Tensor) -> Tensor: """The exponential of square matrices."""
def matrix_power(input: _Tensor, n: _int, *, out: Any = ...) -> Tensor: """The n-th power of a square matrix; for negative n, of its inverse."""
@overload
def max(input: _Tensor, *, out: Any = ...) -> Tensor: """The largest element; ties share the gradient equally."""
@overload
def max(input: _Tensor, other: _Tensor, *, out: Any = ...) -> Tensor: """The largest of two elements."""
@overload
def max(input: _Tensor, dim: _int, keepdim: _bool = ..., *, out: Any = ...) -> _values_indices: """The largest elements along a dimension, and their indices; at a tie the first one."""
def max_pool1d(input: _Tensor, kernel_size: _int | Sequence[_int], stride: _int | Sequence[_int] | None = ..., padding: _int | Sequence[_int] = ..., dilation: _int | Sequence[_int] = ..., ceil_mode: _bool = ...) -> Tensor: """Max pooling: the largest element of each window."""
def max_pool2d(input: _Tensor, kernel_size: _int | Sequence[_int], stride: _int | Sequence[_int] | None = ..., padding: _int | Sequence[_int] = ..., dilation: _int | Sequence[_int] = ..., ceil_mode: _bool = ...) -> Tensor: """Max pooling: the largest element of each window."""
def max_pool3d(input: _Tensor, kernel_size: _int | Sequence[_int], stride: _int | Sequence[_int] | None = ..., padding: _int | Sequence[_int] = ..., dilation: _int | Sequence[_int] = ..., ceil_mode: _bool = ...) -> Tensor: """Max pooling: the largest element of each window."""
def maximum(input: _Tensor, other: _Tensor, *, out: Any = ...) -> Tensor: """The greater element; at a tie both get half of the gradient."""
@overload
def mean(input: _Tensor, *, dtype: _dtype | None = ..., out: Any = ...) -> Tensor: """The mean of all elements."""
@overload
def mean(input: _Tensor, dim: _int | Sequence[_int] | None, keepdim: _bool = ..., *, dtype: _dtype | None = ..., out: Any = ...) -> Tensor: """The mean over some dimensions."""
@overload
def median(input: _Tensor, *, out: Any = ...) -> Tensor: """The lower median of all elements."""
@overload
def median(input: _Tensor, dim: _int, keepdim: _bool = ..., *, out: Any = ...) -> _values_indices: """The lower median along a dimension, and its index."""
@overload
def meshgrid(tensors: Sequence[_Tensor], *, indexing: str | None = ...) -> tuple[Tensor, ...]: """Coordinates of all points of a grid."""
@overload
def meshgrid(tensor: _Tensor, *, indexing: str | None = ...) -> tuple[Tensor, ...]: """The grid of one tensor."""
@overload
def min(input: _Tensor, *, out: Any = ...) -> Tensor: """The smallest element; ties share the gradient equally."""
@overload
def min(input: _Tensor, other: _Tensor, *, out: Any = ...) -> Tensor: """The smallest of two elements."""
@overload
def min(input: _Tensor, dim: _int, keepdim: _bool = ..., *, out: Any = ...) -> _values_indices: """The smallest elements along a dimension, and their indices; at a tie the first one."""
def minimum(input: _Tensor, other: _Tensor, *, out: Any = ...) -> Tensor: """The smaller element; at a tie both get half of the gradient."""
def mkldnn_rnn_layer(input: _Tensor, weight0: _Tensor, weight1: _Tensor, weight2: _Tensor, weight3: _Tensor, hx_: _Tensor, cx_: _Tensor, reverse: _bool, batch_sizes: _int | Sequence[_int], mode: _int, hidden_size: _int, num_layers: _int, has_biases: _bool, bidirectional: _bool, batch_first: _bool, train: _bool, *, out: Any = ...) -> _result0_result1_result2_result3: """A layer of an LSTM, one way through the sequence."""
def mm(input: _Tensor, mat2: _Tensor, *, out: Any = ...) -> Tensor: """Product of two matrices, without broadcasting."""
def mode(input: _Tensor, dim: _int = ..., keepdim: _bool = ..., *, out: Any = ...) -> _values_indices: """The most frequent element along a dimension, and its index."""
@overload
def moveaxis(input: _Tensor, source: _int, destination: _int) -> Tensor: """One dimension moved to another place."""
@overload
def moveaxis(input: _Tensor, source: _int | Sequence[_int], destination: _int | Sequence[_int]) -> Tensor: """Several dimensions moved to other places."""
@overload
def movedim(input: _Tensor, source: _int, destination: _int) -> Tensor: """One dimension moved to another place."""
@overload
def movedim(input: _Tensor, source: _int | Sequence[_int], destination: _int | Sequence[_int]) -> Tensor: """Several dimensions moved to other places."""
def msort(input: _Tensor, *, out: Any = ...) -> Tensor: """Elements sorted along the first dimension."""
@overload
def mul(input: _Tensor, other: _Tensor | _Number, *, out: Any = ...) -> Tensor: """Product of two tensors, elementwise."""
@overload
def mul(self: _Number, other: _Tensor | _Number, *, out: Any = ...) -> Tensor: """Product of two tensors, elementwise. A number stands first."""
def multinomial(input: _Tensor, num_samples: _int, replacement: _bool = ..., *, generator: Any = ..., out: Any = ...) -> Tensor: """Indices drawn with the probabilities of a row."""
@overload
def multiply(input: _Tensor, other: _Tensor | _Number, *, out: Any = ...) -> Tensor: """Product of two tensors, elementwise."""
@overload
def multiply(self: _Number, other: _Tensor | _Number, *, out: Any = ...) -> Tensor: """Product of two tensors, elementwise. A number stands first."""
def mv(input: _Tensor, vec: _Tensor, *, out: Any = ...) -> Tensor: """The product of a matrix with a vector."""
def mvlgamma(input: _Tensor, p: _int, *, out: Any = ...) -> Tensor: """The logarithm of the multivariate gamma function of dimension p."""
def nan_to_num(input: _Tensor, nan: _float | None = ..., posinf: _float | None = ..., neginf: _float | None = ..., *, out: Any = ...) -> Tensor: """NaN and infinities replaced by numbers."""
def nan_to_num_(input: _Tensor, nan: _float | None = ..., posinf: _float | None = ..., neginf: _float | None = ...) -> Tensor: """In-place form of nan_to_num. NaN and infinities replaced by numbers."""
def nanmean(input: _Tensor, dim: _int | Sequence[_int] | None = ..., keepdim: _bool = ..., *, dtype: _dtype | None = ..., out: Any = ...) -> Tensor: """The mean of the elements that are not NaN."""
@overload
def nanmedian(input: _Tensor, *, out: Any = ...) -> Tensor: """The lower median without NaN of all elements."""
@overload
def nanmedian(input: _Tensor, dim: _int, keepdim: _bool = ..., *, out: Any = ...) -> _values_indices: """The lower median without NaN along a dimension, and its index."""
@overload
def nanquantile(input: _Tensor, q: _float, dim: _int | None = ..., keepdim: _bool = ..., *, interpolation: str = ..., out: Any = ...) -> Tensor: """Quantiles of what is not NaN of all elements, or along a dimension."""
@overload
def nanquantile(input: _Tensor, q: _Tensor, dim: _int | None = ..., keepdim: _bool = ..., *, interpolation: str = ..., out: Any = ...) -> Tensor: """Quantiles of what is not NaN of all elements, or along a dimension."""
def nansum(input: _Tensor, dim: _int | Sequence[_int] | None = ..., keepdim: _bool = ..., *, dtype: _dtype | None = ..., out: Any = ...) -> Tensor: """The sum of the elements that are not NaN."""
@overload
def narrow(input: _Tensor, dim: _int, start: _int, length: _int) -> Tensor: """A range of a dimension, given by start and length."""
@overload
def narrow(input: _Tensor, dim: _int, start: _Tensor, length: _int) -> Tensor: """A range of a dimension, given by start and length."""
def narrow_copy(input: _Tensor, dim: _int, start: _int, length: _int, *, out: Any = ...) -> Tensor: """narrow as a copy."""
def native_layer_norm(input: _Tensor, normalized_shape: _int | Sequence[_int], weight: _Tensor | None, bias: _Tensor | None, eps: _float) -> _result0_result1_result2: """Each vector over the last dimensions, moved to mean 0 and scaled to variance 1."""
def ne(input: _Tensor, other: _Tensor | _Number, *, out: Any = ...) -> Tensor: """Is self different from other?"""
def neg(input: _Tensor, *, out: Any = ...) -> Tensor: """The negative, elementwise."""
def neg_(input: _Tensor) -> Tensor: """In-place form of neg. The negative, elementwise."""
def negative(input: _Tensor, *, out: Any = ...) -> Tensor: """The negative, elementwise."""
def negative_(input: _Tensor) -> Tensor: """In-place form of neg. The negative, elementwise."""
def nextafter(input: _Tensor, other: _Tensor, *, out: Any = ...) -> Tensor: """The next number of self's type in the direction of other."""
def nonzero(input: _Tensor, *, as_tuple: _bool = ..., out: Any = ...) -> Tensor: """Indices of the elements that are not zero, as rows or as one tensor for each dimension."""
def nonzero_static(input: _Tensor, *, size: _int, fill_value: _int = ..., out: Any = ...) -> Tensor: """So many positions of elements that are not zero, the missing ones filled."""
def norm(input: _Tensor, p: Any = ..., dim: _int | Sequence[_int] | None = ..., keepdim: _bool = ..., dtype: _dtype | None = ..., *, out: Any = ...) -> Tensor: """The p-norm of the elements; 'fro' is the root of the sum of squares."""
def norm_except_dim(v: _Tensor, pow: _int = ..., dim: _int = ...) -> Tensor: """The norms of the slices along one dimension; of the whole tensor where dim is -1."""
@overload
def normal(mean: _Tensor, std: _Tensor, *, generator: Any = ..., out: Any = ...) -> Tensor: """Random numbers of a normal distribution: mean and standard deviation by element."""
@overload
def normal(mean: _Tensor, std: _float = ..., *, generator: Any = ..., out: Any = ...) -> Tensor: """Normal numbers with a mean for each element."""
@overload
def normal(mean: _float, std: _Tensor, *, generator: Any = ..., out: Any = ...) -> Tensor: """Normal numbers with a deviation for each element."""
@overload
def normal(mean: _float, std: _float, size: _int | Sequence[_int], *, generator: Any = ..., dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """Normal numbers of one mean and deviation."""
def not_equal(input: _Tensor, other: _Tensor | _Number, *, out: Any = ...) -> Tensor: """Is self different from other?"""
@overload
def ones(size: _int | Sequence[_int], *, dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """Ones."""
@overload
def ones(*size: _int, dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """Ones."""
def ones_like(input: _Tensor, *, dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """A tensor of another one's size and type, filled with 1."""
def outer(input: _Tensor, vec2: _Tensor, *, out: Any = ...) -> Tensor: """Outer product of two vectors."""
def pairwise_distance(x1: _Tensor, x2: _Tensor, p: _float = ..., eps: _float = ..., keepdim: _bool = ...) -> Tensor: """The p-norm of x1 - x2 + eps along the last dimension."""
def pca_lowrank(A: _Tensor, q: _int | None = ..., center: Any = ..., niter: _int = ...) -> tuple[Tensor, Tensor, Tensor]: """Principal components of the rows of a matrix."""
def pdist(input: _Tensor, p: _float = ...) -> Tensor: """The distance between each pair of rows."""
def permute(input: _Tensor, dims: _int | Sequence[_int]) -> Tensor: """Permutes the dimensions."""
def permute_copy(input: _Tensor, dims: _int | Sequence[_int], *, out: Any = ...) -> Tensor: """Permutes the dimensions, as a copy."""
def pinverse(input: _Tensor, rcond: _float = ...) -> Tensor: """The pseudo-inverse under its older name."""
def pixel_shuffle(input: _Tensor, upscale_factor: _int) -> Tensor: """Moves channels into the image: (C * r * r, H, W) to (C, H * r, W * r)."""
def pixel_unshuffle(input: _Tensor, downscale_factor: _int) -> Tensor: """Moves the image into channels: the inverse of pixel_shuffle."""
def poisson_nll_loss(input: _Tensor, target: _Tensor, log_input: _bool, full: _bool, eps: _float, reduction: _int) -> Tensor: """torch.nn.functional.poisson_nll_loss, its reduction as a number: 0 none, 1 mean, 2 sum."""
def polar(abs: _Tensor, angle: _Tensor, *, out: Any = ...) -> Tensor: """Complex numbers of their absolute values and angles."""
def polygamma(n: _int, input: _Tensor, *, out: Any = ...) -> Tensor: """The n-th derivative of digamma."""
def positive(input: _Tensor) -> Tensor: """The tensor itself: what `+x` runs."""
@overload
def pow(input: _Tensor, exponent: _Tensor, *, out: Any = ...) -> Tensor: """Power, elementwise."""
@overload
def pow(input: _Tensor, exponent: _Number, *, out: Any = ...) -> Tensor: """Power with a number as exponent."""
@overload
def pow(self: _Number, exponent: _Tensor, *, out: Any = ...) -> Tensor: """A number to the power of a tensor."""
def prelu(input: _Tensor, weight: _Tensor) -> Tensor: """self above zero, weight * self below, a weight for each channel or one for all."""
@overload
def prod(input: _Tensor, *, dtype: _dtype | None = ..., out: Any = ...) -> Tensor: """The product of all elements."""
@overload
def prod(input: _Tensor, dim: _int, keepdim: _bool = ..., *, dtype: _dtype | None = ..., out: Any = ...) -> Tensor: """The product along one dimension."""
def put(input: _Tensor, index: _Tensor, source: _Tensor, accumulate: _bool = ...) -> Tensor: """A copy with elements written by their position in the flattened tensor."""
def qr(input: _Tensor, some: _bool = ..., *, out: Any = ...) -> _Q_R: """QR under its older name."""
@overload
def quantile(input: _Tensor, q: _float, dim: _int | None = ..., keepdim: _bool = ..., *, interpolation: str = ..., out: Any = ...) -> Tensor: """Quantiles of all elements, or along a dimension."""
@overload
def quantile(input: _Tensor, q: _Tensor, dim: _int | None = ..., keepdim: _bool = ..., *, interpolation: str = ..., out: Any = ...) -> Tensor: """Quantiles of all elements, or along a dimension."""
def rad2deg(input: _Tensor, *, out: Any = ...) -> Tensor: """Radians to degrees."""
def rad2deg_(input: _Tensor) -> Tensor: """In-place form of rad2deg. Radians to degrees."""
@overload
def rand(size: _int | Sequence[_int], *, generator: Any = ..., dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """Random numbers, uniform between 0 and 1."""
@overload
def rand(*size: _int, generator: Any = ..., dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """Random numbers, uniform between 0 and 1."""
def rand_like(input: _Tensor, *, generator: Any = ..., dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """Uniform numbers in another tensor's size and type."""
@overload
def randint(high: _int, size: _int | Sequence[_int], *, generator: Any = ..., dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """Random integers from 0 up to but not including a bound."""
@overload
def randint(low: _int, high: _int, size: _int | Sequence[_int], *, generator: Any = ..., dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """Random integers from one bound up to but not including another."""
@overload
def randint_like(input: _Tensor, high: _int, *, generator: Any = ..., dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """Whole numbers below a bound in another tensor's size and type."""
@overload
def randint_like(input: _Tensor, low: _int, high: _int, *, generator: Any = ..., dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """Whole numbers between bounds in another tensor's size and type."""
@overload
def randn(size: _int | Sequence[_int], *, generator: Any = ..., dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """Numbers from the standard normal distribution."""
@overload
def randn(*size: _int, generator: Any = ..., dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """Numbers from the standard normal distribution."""
def randn_like(input: _Tensor, *, generator: Any = ..., dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """Numbers from the standard normal distribution in another tensor's size and type."""
def randperm(n: _int, *, generator: Any = ..., dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """A random permutation of the integers below a bound."""
def range(start: _Number, end: _Number, step: _Number = ..., *, dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """Numbers from start to end inclusive, always floating (deprecated; use arange)."""
def ravel(input: _Tensor) -> Tensor: """The elements as a 1-dimensional tensor."""
def real(input: _Tensor) -> Tensor: """The real part: a view of it, or the real tensor itself."""
def reciprocal(input: _Tensor, *, out: Any = ...) -> Tensor: """1 / x, elementwise."""
def reciprocal_(input: _Tensor) -> Tensor: """In-place form of reciprocal. 1 / x, elementwise."""
def relu(input: _Tensor) -> Tensor: """Rectified linear unit: max(self, 0), elementwise; the gradient at 0 is 0."""
def relu_(input: _Tensor) -> Tensor: """In-place form of relu. Rectified linear unit: max(self, 0), elementwise; the gradient at 0 is 0."""
@overload
def remainder(input: _Tensor, other: _Tensor, *, out: Any = ...) -> Tensor: """Remainder (modulo) with the sign of the divisor, as Python's %."""
@overload
def remainder(input: _Tensor, other: _Number, *, out: Any = ...) -> Tensor: """Remainder by a number."""
@overload
def remainder(self: _Number, other: _Tensor, *, out: Any = ...) -> Tensor: """Remainder of a number."""
def renorm(input: _Tensor, p: _Number, dim: _int, maxnorm: _Number, *, out: Any = ...) -> Tensor: """Slices along dim whose p-norm exceeds maxnorm, scaled down to it."""
@overload
def repeat_interleave(repeats: _Tensor, *, output_size: _int | None = ...) -> Tensor: """Repeats each index as often as its count says."""
@overload
def repeat_interleave(input: _Tensor, repeats: _Tensor, dim: _int | None = ..., *, output_size: _int | None = ...) -> Tensor: """Repeats each element as often as its count says."""
@overload
def repeat_interleave(input: _Tensor, repeats: _int, dim: _int | None = ..., *, output_size: _int | None = ...) -> Tensor: """Repeats each element."""
def reshape(input: _Tensor, shape: _int | Sequence[_int]) -> Tensor: """The same elements with another size: a view where possible, else a copy."""
def resize_as_(input: _Tensor, the_template: _Tensor, *, memory_format: Any = ...) -> Tensor: """The shape of another tensor over the same memory, or over more."""
def resolve_conj(input: _Tensor) -> Tensor: """The tensor with its conjugation carried out."""
def resolve_neg(input: _Tensor) -> Tensor: """The tensor with its negation carried out."""
def rms_norm(input: _Tensor, normalized_shape: _int | Sequence[_int], weight: _Tensor | None = ..., eps: _float | None = ...) -> Tensor: """Each vector over the last dimensions, divided by its root mean square."""
@overload
def rnn_relu(input: _Tensor, hx: _Tensor, params: Sequence[_Tensor], has_biases: _bool, num_layers: _int, dropout: _float, train: _bool, bidirectional: _bool, batch_first: _bool) -> tuple[Tensor, Tensor]: """A recurrent network over sequences: what each step gives, and the last states."""
@overload
def rnn_relu(data: _Tensor, batch_sizes: _Tensor, hx: _Tensor, params: Sequence[_Tensor], has_biases: _bool, num_layers: _int, dropout: _float, train: _bool, bidirectional: _bool) -> tuple[Tensor, Tensor]: """A recurrent network over packed sequences."""
def rnn_relu_cell(input: _Tensor, hx: _Tensor, w_ih: _Tensor, w_hh: _Tensor, b_ih: _Tensor | None = ..., b_hh: _Tensor | None = ...) -> Tensor: """One step of a recurrent network."""
@overload
def rnn_tanh(input: _Tensor, hx: _Tensor, params: Sequence[_Tensor], has_biases: _bool, num_layers: _int, dropout: _float, train: _bool, bidirectional: _bool, batch_first: _bool) -> tuple[Tensor, Tensor]: """A recurrent network over sequences: what each step gives, and the last states."""
@overload
def rnn_tanh(data: _Tensor, batch_sizes: _Tensor, hx: _Tensor, params: Sequence[_Tensor], has_biases: _bool, num_layers: _int, dropout: _float, train: _bool, bidirectional: _bool) -> tuple[Tensor, Tensor]: """A recurrent network over packed sequences."""
def rnn_tanh_cell(input: _Tensor, hx: _Tensor, w_ih: _Tensor, w_hh: _Tensor, b_ih: _Tensor | None = ..., b_hh: _Tensor | None = ...) -> Tensor: """One step of a recurrent network."""
def roll(input: _Tensor, shifts: _int | Sequence[_int], dims: _int | Sequence[_int] = ...) -> Tensor: """Shifts elements along dimensions; elements shifted past the end return at the start."""
def rot90(input: _Tensor, k: _int = ..., dims: _int | Sequence[_int] = ...) -> Tensor: """Rotates by multiples of 90 degrees in the plane of two dimensions."""
@overload
def round(input: _Tensor, *, out: Any = ...) -> Tensor: """The nearest integer; halves round to even."""
@overload
def round(input: _Tensor, *, decimals: _int, out: Any = ...) -> Tensor: """Rounded to a number of decimals."""
@overload
def round_(input: _Tensor) -> Tensor: """In-place form of round. The nearest integer; halves round to even."""
@overload
def round_(input: _Tensor, *, decimals: _int) -> Tensor: """In-place form of round. Rounded to a number of decimals."""
def row_stack(tensors: Sequence[_Tensor], *, out: Any = ...) -> Tensor: """Stacks tensors as rows."""
def rrelu(input: _Tensor, lower: _Number = ..., upper: _Number = ..., training: _bool = ..., generator: Any = ...) -> Tensor: """leaky_relu with a slope drawn for each element in training, their mean otherwise."""
def rrelu_(input: _Tensor, lower: _Number = ..., upper: _Number = ..., training: _bool = ..., generator: Any = ...) -> Tensor: """In-place form of rrelu."""
def rsqrt(input: _Tensor, *, out: Any = ...) -> Tensor: """1 / sqrt(x), elementwise."""
def rsqrt_(input: _Tensor) -> Tensor: """In-place form of rsqrt. 1 / sqrt(x), elementwise."""
@overload
def rsub(input: _Tensor, other: _Tensor, *, alpha: _Number = ...) -> Tensor: """The other tensor minus this one."""
@overload
def rsub(input: _Tensor, other: _Number, alpha: _Number = ...) -> Tensor: """A number minus a tensor: what `2 - x` runs."""
def scalar_tensor(s: _Number, *, dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """A number as a 0-dim tensor of the default element type."""
@overload
def scatter(input: _Tensor, dim: _int, index: _Tensor, src: _Tensor, *, out: Any = ...) -> Tensor: """Writes elements into a copy, along a dimension by index."""
@overload
def scatter(input: _Tensor, dim: _int, index: _Tensor, value: _Number, *, out: Any = ...) -> Tensor: """Writes a number into a copy, along a dimension by index."""
@overload
def scatter(input: _Tensor, dim: _int, index: _Tensor, src: _Tensor, *, reduce: str, out: Any = ...) -> Tensor: """A copy with elements added or multiplied in; it has no derivative."""
@overload
def scatter(input: _Tensor, dim: _int, index: _Tensor, value: _Number, *, reduce: str, out: Any = ...) -> Tensor: """A copy with elements added or multiplied in; it has no derivative."""
def scatter_add(input: _Tensor, dim: _int, index: _Tensor, src: _Tensor, *, out: Any = ...) -> Tensor: """Adds elements into a copy, along a dimension by index."""
def scatter_reduce(input: _Tensor, dim: _int, index: _Tensor, src: _Tensor, reduce: str, *, include_self: _bool = ..., out: Any = ...) -> Tensor: """A copy with elements summed, multiplied, averaged or compared in along a dimension."""
@overload
def searchsorted(sorted_sequence: _Tensor, input: _Tensor, *, out_int32: _bool = ..., right: _bool = ..., side: str | None = ..., sorter: _Tensor | None = ..., out: Any = ...) -> Tensor: """Indices at which values would be inserted to keep a sequence sorted."""
@overload
def searchsorted(sorted_sequence: _Tensor, self: _Number, *, out_int32: _bool = ..., right: _bool = ..., side: str | None = ..., sorter: _Tensor | None = ..., out: Any = ...) -> Tensor: """Indices at which values would be inserted to keep a sequence sorted."""
def select(input: _Tensor, dim: _int, index: _int) -> Tensor: """Selects one index of a dimension and removes that dimension."""
def select_scatter(input: _Tensor, src: _Tensor, dim: _int, index: _int) -> Tensor: """A copy with one index of a dimension replaced."""
def selu(input: _Tensor) -> Tensor: """elu with the alpha and scale that keep mean and variance."""
def selu_(input: _Tensor) -> Tensor: """In-place form of selu."""
def sgn(input: _Tensor, *, out: Any = ...) -> Tensor: """The sign; of a complex number its direction z / |z|."""
def sigmoid(input: _Tensor, *, out: Any = ...) -> Tensor: """1 / (1 + exp(-x))."""
def sigmoid_(input: _Tensor) -> Tensor: """In-place form of sigmoid. 1 / (1 + exp(-x))."""
def sign(input: _Tensor, *, out: Any = ...) -> Tensor: """-1, 0 or 1."""
def signbit(input: _Tensor, *, out: Any = ...) -> Tensor: """Is its sign bit set?"""
def sin(input: _Tensor, *, out: Any = ...) -> Tensor: """Sine of an angle in radians."""
def sin_(input: _Tensor) -> Tensor: """In-place form of sin. Sine of an angle in radians."""
def sinc(input: _Tensor, *, out: Any = ...) -> Tensor: """sin(pi x) / (pi x), 1 at 0."""
def sinc_(input: _Tensor) -> Tensor: """In-place form of sinc. sin(pi x) / (pi x), 1 at 0."""
def sinh(input: _Tensor, *, out: Any = ...) -> Tensor: """Hyperbolic sine."""
def sinh_(input: _Tensor) -> Tensor: """In-place form of sinh. Hyperbolic sine."""
def slice_scatter(input: _Tensor, src: _Tensor, dim: _int = ..., start: _int | None = ..., end: _int | None = ..., step: _int = ..., *, out: Any = ...) -> Tensor: """A copy with a range of a dimension replaced."""
def slogdet(A: _Tensor, *, out: Any = ...) -> _sign_logabsdet: """The sign of the determinant and the logarithm of its absolute value."""
def softmax(input: _Tensor, dim: _int, dtype: _dtype | None = ..., *, out: Any = ...) -> Tensor: """exp(self) divided by its sum along dim."""
@overload
def sort(input: _Tensor, dim: _int = ..., descending: _bool = ..., *, out: Any = ...) -> _values_indices: """Elements sorted along a dimension, and their indices."""
@overload
def sort(input: _Tensor, *, stable: _bool | None, dim: _int = ..., descending: _bool = ..., out: Any = ...) -> _values_indices: """Elements sorted along a dimension; equal elements keep their order."""
@overload
def sparse_coo_tensor(indices: Any, values: Any, *, dtype: _dtype | None = ..., device: _device | str | None = ..., pin_memory: _bool | None = ..., requires_grad: _bool = ..., check_invariants: _bool | None = ..., is_coalesced: _bool | None = ..., out: Any = ...) -> Tensor: """A sparse tensor of elements and their coordinates, as large as these ask for."""
@overload
def sparse_coo_tensor(indices: Any, values: Any, size: _int | Sequence[_int], *, dtype: _dtype | None = ..., device: _device | str | None = ..., pin_memory: _bool | None = ..., requires_grad: _bool = ..., check_invariants: _bool | None = ..., is_coalesced: _bool | None = ..., out: Any = ...) -> Tensor: """A sparse tensor of elements and their coordinates (COO). Elements of one place add up."""
@overload
def sparse_coo_tensor(size: _int | Sequence[_int], *, dtype: _dtype | None = ..., device: _device | str | None = ..., pin_memory: _bool | None = ..., requires_grad: _bool = ..., check_invariants: _bool | None = ..., out: Any = ...) -> Tensor: """A sparse tensor of this size without elements: all are zero."""
@overload
def sparse_coo_tensor(*size: _int, dtype: _dtype | None = ..., device: _device | str | None = ..., pin_memory: _bool | None = ..., requires_grad: _bool = ..., check_invariants: _bool | None = ..., out: Any = ...) -> Tensor: """A sparse tensor of this size without elements: all are zero."""
@overload
def sparse_csr_tensor(crow_indices: Any, col_indices: Any, values: Any, size: _int | Sequence[_int], *, dtype: _dtype | None = ..., device: _device | str | None = ..., pin_memory: _bool | None = ..., requires_grad: _bool = ..., check_invariants: _bool | None = ..., out: Any = ...) -> Tensor: """A sparse matrix by its rows (CSR)."""
@overload
def sparse_csr_tensor(crow_indices: Any, col_indices: Any, values: Any, *, dtype: _dtype | None = ..., device: _device | str | None = ..., pin_memory: _bool | None = ..., requires_grad: _bool = ..., check_invariants: _bool | None = ..., out: Any = ...) -> Tensor: """A sparse matrix by its rows (CSR), as wide as its columns ask for."""
@overload
def split(input: _Tensor, split_size: _int, dim: _int = ...) -> tuple[Tensor, ...]: """Pieces of one size along a dimension; the last may be shorter."""
@overload
def split(input: _Tensor, split_size: _int | Sequence[_int], dim: _int = ...) -> tuple[Tensor, ...]: """Pieces of given sizes along a dimension."""
@overload
def split(tensor: _Tensor, split_size_or_sections: Any, dim: _int = ...) -> tuple[Tensor, ...]: """The same by the names that the function has in Python."""
def split_with_sizes(input: _Tensor, split_sizes: _int | Sequence[_int], dim: _int = ...) -> tuple[Tensor, ...]: """Pieces of given sizes along a dimension."""
def spmm(input: _Tensor, mat2: _Tensor, *, out: Any = ...) -> Tensor: """The product of two matrices: torch.mm."""
def sqrt(input: _Tensor, *, out: Any = ...) -> Tensor: """Square root, elementwise."""
def sqrt_(input: _Tensor) -> Tensor: """In-place form of sqrt. Square root, elementwise."""
def square(input: _Tensor, *, out: Any = ...) -> Tensor: """x * x, as the power it is in PyTorch."""
def square_(input: _Tensor) -> Tensor: """In-place square."""
@overload
def squeeze(input: _Tensor) -> Tensor: """Removes all dimensions of size 1."""
@overload
def squeeze(input: _Tensor, dim: _int) -> Tensor: """Removes one dimension if its size is 1."""
@overload
def squeeze(input: _Tensor, dim: _int | Sequence[_int]) -> Tensor: """Removes the given dimensions whose size is 1."""
@overload
def squeeze_copy(input: _Tensor, *, out: Any = ...) -> Tensor: """Removes all dimensions of size 1, as a copy."""
@overload
def squeeze_copy(input: _Tensor, dim: _int, *, out: Any = ...) -> Tensor: """Removes one dimension if its size is 1, as a copy."""
def stack(tensors: Sequence[_Tensor], dim: _int = ..., *, out: Any = ...) -> Tensor: """Stacks tensors of one size along a new dimension."""
@overload
def std(input: _Tensor, dim: _int | Sequence[_int] | None, unbiased: _bool = ..., keepdim: _bool = ..., *, out: Any = ...) -> Tensor: """Standard deviation over some dimensions."""
@overload
def std(input: _Tensor, dim: _int | Sequence[_int] | None = ..., *, correction: _Number | None = ..., keepdim: _bool = ..., out: Any = ...) -> Tensor: """Standard deviation, by default with one degree of freedom less than there are elements."""
@overload
def std(input: _Tensor, unbiased: _bool = ..., *, out: Any = ...) -> Tensor: """Standard deviation of all elements."""
@overload
def std_mean(input: _Tensor, dim: _int | Sequence[_int] | None, unbiased: _bool = ..., keepdim: _bool = ...) -> Tensor: """Standard deviation and mean over some dimensions."""
@overload
def std_mean(input: _Tensor, dim: _int | Sequence[_int] | None = ..., *, correction: _Number | None = ..., keepdim: _bool = ...) -> tuple[Tensor, Tensor]: """Standard deviation and mean."""
@overload
def std_mean(input: _Tensor, unbiased: _bool = ...) -> Tensor: """Standard deviation and mean of all elements."""
def stft(input: _Tensor, n_fft: _int, hop_length: _int | None = ..., win_length: _int | None = ..., window: _Tensor | None = ..., center: _bool = ..., pad_mode: str = ..., normalized: _bool = ..., onesided: _bool | None = ..., return_complex: _bool | None = ..., align_to_window: _bool | None = ...) -> Tensor: """The discrete Fourier transforms of overlapping pieces of a signal."""
@overload
def sub(input: _Tensor, other: _Tensor | _Number, *, alpha: _Number = ..., out: Any = ...) -> Tensor: """Difference of two tensors, the second one scaled by alpha."""
@overload
def sub(self: _Number, other: _Tensor | _Number, *, alpha: _Number = ..., out: Any = ...) -> Tensor: """Difference of two tensors, the second one scaled by alpha. A number stands first."""
@overload
def subtract(input: _Tensor, other: _Tensor | _Number, *, alpha: _Number = ..., out: Any = ...) -> Tensor: """Difference of two tensors, the second one scaled by alpha."""
@overload
def subtract(self: _Number, other: _Tensor | _Number, *, alpha: _Number = ..., out: Any = ...) -> Tensor: """Difference of two tensors, the second one scaled by alpha. A number stands first."""
@overload
def sum(input: _Tensor, *, dtype: _dtype | None = ..., out: Any = ...) -> Tensor: """The sum of all elements."""
@overload
def sum(input: _Tensor, dim: _int | Sequence[_int] | None, keepdim: _bool = ..., *, dtype: _dtype | None = ..., out: Any = ...) -> Tensor: """The sum over some dimensions."""
def svd(input: _Tensor, some: _bool = ..., compute_uv: _bool = ..., *, out: Any = ...) -> _U_S_V: """The singular value decomposition under its older name, with V instead of Vh."""
def svd_lowrank(A: _Tensor, q: _int | None = ..., niter: _int | None = ..., M: _Tensor | None = ...) -> tuple[Tensor, Tensor, Tensor]: """Singular vectors and values of a matrix of low rank."""
def swapaxes(input: _Tensor, dim0: _int, dim1: _int) -> Tensor: """Swaps two dimensions."""
def swapdims(input: _Tensor, dim0: _int, dim1: _int) -> Tensor: """Swaps two dimensions."""
def t(input: _Tensor) -> Tensor: """The transpose of a matrix; tensors of fewer dimensions stay as they are."""
def t_copy(input: _Tensor, *, out: Any = ...) -> Tensor: """The transpose of a matrix; tensors of fewer dimensions stay as they are, as a copy."""
def take(input: _Tensor, index: _Tensor, *, out: Any = ...) -> Tensor: """Elements by their position in the flattened tensor."""
def take_along_dim(input: _Tensor, indices: _Tensor, dim: _int | None = ..., *, out: Any = ...) -> Tensor: """gather with operands broadcast against each other."""
def tan(input: _Tensor, *, out: Any = ...) -> Tensor: """Tangent of an angle in radians."""
def tan_(input: _Tensor) -> Tensor: """In-place form of tan. Tangent of an angle in radians."""
def tanh(input: _Tensor, *, out: Any = ...) -> Tensor: """Hyperbolic tangent."""
def tanh_(input: _Tensor) -> Tensor: """In-place form of tanh. Hyperbolic tangent."""
@overload
def tensor_split(input: _Tensor, sections: _int, dim: _int = ...) -> tuple[Tensor, ...]: """So many pieces along a dimension, the first ones longer by one where it does not divide."""
@overload
def tensor_split(input: _Tensor, indices: _int | Sequence[_int], dim: _int = ...) -> tuple[Tensor, ...]: """Cut at given places along a dimension."""
@overload
def tensor_split(input: _Tensor, tensor_indices_or_sections: _Tensor, dim: _int = ...) -> tuple[Tensor, ...]: """Cut as a tensor of whole numbers says."""
def tensordot(a: _Tensor, b: _Tensor, dims: Any = ..., *, out: Any = ...) -> Tensor: """Products summed over dimensions of two tensors."""
def threshold(input: _Tensor, threshold: _Number, value: _Number, *, out: Any = ...) -> Tensor: """self where it is above the threshold, the given value elsewhere."""
def threshold_(input: _Tensor, threshold: _Number, value: _Number) -> Tensor: """In-place form of threshold. self where it is above the threshold, the given value elsewhere."""
def tile(input: _Tensor, dims: _int | Sequence[_int]) -> Tensor: """Repeats the tensor along each dimension; missing counts are 1, from the front."""
def topk(input: _Tensor, k: _int, dim: _int = ..., largest: _bool = ..., sorted: _bool = ..., *, out: Any = ...) -> _values_indices: """The k largest (or smallest) elements along a dimension, sorted, and their indices."""
def trace(input: _Tensor) -> Tensor: """Trace: the sum of the diagonal of a matrix."""
def transpose(input: _Tensor, dim0: _int, dim1: _int) -> Tensor: """Swaps two dimensions."""
def transpose_copy(input: _Tensor, dim0: _int, dim1: _int, *, out: Any = ...) -> Tensor: """Swaps two dimensions, as a copy."""
@overload
def trapezoid(y: _Tensor, x: _Tensor, *, dim: _int = ...) -> Tensor: """The integral by the trapezoidal rule, at given places."""
@overload
def trapezoid(y: _Tensor, *, dx: _Number = ..., dim: _int = ...) -> Tensor: """The integral by the trapezoidal rule, at equal distances."""
@overload
def trapz(y: _Tensor, x: _Tensor, *, dim: _int = ...) -> Tensor: """The integral by the trapezoidal rule, at given places."""
@overload
def trapz(y: _Tensor, *, dx: _Number = ..., dim: _int = ...) -> Tensor: """The integral by the trapezoidal rule, at equal distances."""
def triangular_solve(input: _Tensor, A: _Tensor, upper: _bool = ..., transpose: _bool = ..., unitriangular: _bool = ..., *, out: Any = ...) -> _solution_cloned_coefficient: """The solution of a triangular system under its older name."""
def tril(input: _Tensor, diagonal: _int = ..., *, out: Any = ...) -> Tensor: """The lower triangle, zeros above a diagonal."""
def tril_indices(row: _int, col: _int, offset: _int = ..., *, dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """The positions of the lower triangle of a matrix."""
def triplet_margin_loss(anchor: _Tensor, positive: _Tensor, negative: _Tensor, margin: _float = ..., p: _float = ..., eps: _float = ..., swap: _bool = ..., reduction: _int = ...) -> Tensor: """torch.nn.functional.triplet_margin_loss, its reduction as a number: 0 none, 1 mean, 2 sum."""
def triu(input: _Tensor, diagonal: _int = ..., *, out: Any = ...) -> Tensor: """Upper triangle, zeros below a diagonal."""
def triu_indices(row: _int, col: _int, offset: _int = ..., *, dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """The positions of the upper triangle of a matrix."""
@overload
def true_divide(input: _Tensor, other: _Tensor | _Number, *, out: Any = ...) -> Tensor: """Quotient, elementwise; integers become floating."""
@overload
def true_divide(self: _Number, other: _Tensor | _Number, *, out: Any = ...) -> Tensor: """Quotient, elementwise; integers become floating. A number stands first."""
def trunc(input: _Tensor, *, out: Any = ...) -> Tensor: """The integer part of x."""
def trunc_(input: _Tensor) -> Tensor: """In-place form of trunc. The integer part of x."""
def unbind(input: _Tensor, dim: _int = ...) -> tuple[Tensor, ...]: """All slices along a dimension, with that dimension removed."""
def unflatten(input: _Tensor, dim: _int, sizes: _int | Sequence[_int]) -> Tensor: """Splits one dimension into several."""
def unique(input: _Tensor, sorted: _bool = ..., return_inverse: _bool = ..., return_counts: _bool = ..., dim: _int | None = ...) -> Tensor: """The distinct elements (or slices) in order."""
def unique_consecutive(input: _Tensor, return_inverse: _bool = ..., return_counts: _bool = ..., dim: _int | None = ...) -> Tensor: """Elements (or slices) that differ from the one before."""
def unravel_index(indices: _Tensor, shape: Any) -> tuple[Tensor, ...]: """The coordinates of flat positions, one tensor a dimension."""
def unsafe_chunk(input: _Tensor, chunks: _int, dim: _int = ...) -> tuple[Tensor, ...]: """Copies of at most the given number of pieces of one size."""
def unsafe_split(input: _Tensor, split_size: _int, dim: _int = ...) -> tuple[Tensor, ...]: """Copies of pieces of one size along a dimension."""
def unsafe_split_with_sizes(input: _Tensor, split_sizes: _int | Sequence[_int], dim: _int = ...) -> tuple[Tensor, ...]: """Copies of pieces of given sizes along a dimension."""
def unsqueeze(input: _Tensor, dim: _int) -> Tensor: """Adds a dimension of size 1."""
def unsqueeze_copy(input: _Tensor, dim: _int, *, out: Any = ...) -> Tensor: """Adds a dimension of size 1, as a copy."""
def vander(x: _Tensor, N: _int | None = ..., increasing: _bool = ...) -> Tensor: """A row of powers for each element of a vector, the highest first."""
@overload
def var(input: _Tensor, dim: _int | Sequence[_int] | None, unbiased: _bool = ..., keepdim: _bool = ..., *, out: Any = ...) -> Tensor: """Variance over some dimensions."""
@overload
def var(input: _Tensor, dim: _int | Sequence[_int] | None = ..., *, correction: _Number | None = ..., keepdim: _bool = ..., out: Any = ...) -> Tensor: """Variance, by default with one degree of freedom less than there are elements."""
@overload
def var(input: _Tensor, unbiased: _bool = ..., *, out: Any = ...) -> Tensor: """Variance of all elements."""
@overload
def var_mean(input: _Tensor, dim: _int | Sequence[_int] | None, unbiased: _bool = ..., keepdim: _bool = ...) -> Tensor: """Variance and mean over some dimensions."""
@overload
def var_mean(input: _Tensor, dim: _int | Sequence[_int] | None = ..., *, correction: _Number | None = ..., keepdim: _bool = ...) -> tuple[Tensor, Tensor]: """Variance and mean."""
@overload
def var_mean(input: _Tensor, unbiased: _bool = ...) -> Tensor: """Variance and mean of all elements."""
def vdot(input: _Tensor, other: _Tensor, *, out: Any = ...) -> Tensor: """Dot product (inner product) of two vectors; of complex ones the first is conjugated."""
def view_as_complex(input: _Tensor) -> Tensor: """Pairs of real numbers in a last dimension of size 2 as complex ones."""
def view_as_real(input: _Tensor) -> Tensor: """Complex numbers as pairs of real ones, in a last dimension of size 2."""
@overload
def view_copy(input: _Tensor, size: _int | Sequence[_int], *, out: Any = ...) -> Tensor: """A view with another size, as a copy."""
@overload
def view_copy(input: _Tensor, dtype: _dtype, *, out: Any = ...) -> Tensor: """The same bytes read as another element type, as a copy."""
@overload
def vsplit(input: _Tensor, sections: _int) -> tuple[Tensor, ...]: """Split one below the other."""
@overload
def vsplit(input: _Tensor, indices: _int | Sequence[_int]) -> tuple[Tensor, ...]: """Split one below the other."""
def vstack(tensors: Sequence[_Tensor], *, out: Any = ...) -> Tensor: """Stacks tensors as rows."""
@overload
def where(condition: _Tensor, input: _Tensor | _Number, other: _Tensor | _Number, *, out: Any = ...) -> Tensor: """Selects elements of self where the condition holds, of other elsewhere."""
@overload
def where(condition: _Tensor, *, out: Any = ...) -> tuple[Tensor, ...]: """The positions where the condition holds, as one tensor a dimension."""
@overload
def xlogy(input: _Tensor, other: _Tensor, *, out: Any = ...) -> Tensor: """self * log(other), 0 where self is 0."""
@overload
def xlogy(input: _Tensor, other: _Number, *, out: Any = ...) -> Tensor: """self * log(other) for a number, 0 where self is 0."""
@overload
def xlogy(self: _Number, other: _Tensor, *, out: Any = ...) -> Tensor: """A number times log(other)."""
@overload
def xlogy_(input: _Tensor, other: _Tensor) -> Tensor: """In-place form of xlogy. self * log(other), 0 where self is 0."""
@overload
def xlogy_(input: _Tensor, other: _Number) -> Tensor: """In-place form of xlogy. self * log(other) for a number, 0 where self is 0."""
def zero_(input: _Tensor) -> Tensor: """In-place form of zero. Sets every element to 0."""
@overload
def zeros(size: _int | Sequence[_int], *, dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """Zeros."""
@overload
def zeros(*size: _int, dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """Zeros."""
def zeros_like(input: _Tensor, *, dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """A tensor of another one's size and type, filled with 0."""
class linalg:
    @staticmethod
    def cholesky(input: _Tensor, *, upper: _bool = ..., out: Any = ...) -> Tensor: """Cholesky decomposition: a triangular L with L L^T = A, of a positive-definite matrix."""
    @staticmethod
    def cholesky_ex(input: _Tensor, *, upper: _bool = ..., check_errors: _bool = ..., out: Any = ...) -> _L_info: """The Cholesky factor, and the order of the first minor that is not positive."""
    @staticmethod
    def cond(A: _Tensor, p: Any = ..., *, out: Any = ...) -> Tensor: """The ratio of the largest to the smallest singular value, or that of another norm."""
    @staticmethod
    def cross(input: _Tensor, other: _Tensor, *, dim: _int = ..., out: Any = ...) -> Tensor: """The cross product along a dimension of size 3."""
    @staticmethod
    def det(A: _Tensor, *, out: Any = ...) -> Tensor: """Determinant of a square matrix, or of a batch of them."""
    @staticmethod
    def diagonal(A: _Tensor, *, offset: _int = ..., dim1: _int = ..., dim2: _int = ...) -> Tensor: """A diagonal of the last two dimensions."""
    @staticmethod
    def eig(A: _Tensor, *, out: Any = ...) -> _eigenvalues_eigenvectors: """Eigenvalues and eigenvectors of a square matrix, complex and in no order."""
    @staticmethod
    def eigh(A: _Tensor, UPLO: str = ..., *, out: Any = ...) -> _eigenvalues_eigenvectors: """Eigenvalues and eigenvectors of a symmetric matrix, in ascending order."""
    @staticmethod
    def eigvals(A: _Tensor, *, out: Any = ...) -> Tensor: """The eigenvalues of a square matrix, complex and in no order."""
    @staticmethod
    def eigvalsh(A: _Tensor, UPLO: str = ..., *, out: Any = ...) -> Tensor: """Eigenvalues of a symmetric matrix, in ascending order."""
    @staticmethod
    def householder_product(input: _Tensor, tau: _Tensor, *, out: Any = ...) -> Tensor: """The first columns of a product of Householder reflections."""
    @staticmethod
    def inv(A: _Tensor, *, out: Any = ...) -> Tensor: """Inverse of a square matrix, or of a batch of them."""
    @staticmethod
    def inv_ex(A: _Tensor, *, check_errors: _bool = ..., out: Any = ...) -> _inverse_info: """The inverse of square matrices, and an error code."""
    @staticmethod
    def lstsq(input: _Tensor, b: _Tensor, rcond: _float | None = ..., *, driver: str | None = ..., out: Any = ...) -> _solution_residuals_rank_singular_values: """The least-squares solution of a linear system."""
    @staticmethod
    def lu(A: _Tensor, *, pivot: _bool = ..., out: Any = ...) -> _P_L_U: """A = P L U."""
    @staticmethod
    def lu_factor(A: _Tensor, *, pivot: _bool = ..., out: Any = ...) -> _LU_pivots: """LU factors in one matrix, and the row exchanges."""
    @staticmethod
    def lu_factor_ex(A: _Tensor, *, pivot: _bool = ..., check_errors: _bool = ..., out: Any = ...) -> _LU_pivots_info: """LU factors in one matrix, the row exchanges, and where a zero pivot was met."""
    @staticmethod
    def lu_solve(LU: _Tensor, pivots: _Tensor, B: _Tensor, *, left: _bool = ..., adjoint: _bool = ..., out: Any = ...) -> Tensor: """The solution of a system whose matrix is given by its packed LU factors."""
    @staticmethod
    def matmul(input: _Tensor, other: _Tensor, *, out: Any = ...) -> Tensor: """Matrix product (matrix multiplication) of vectors, matrices or batches of matrices."""
    @staticmethod
    def matrix_exp(input: _Tensor) -> Tensor: """The exponential of square matrices."""
    @overload
    @staticmethod
    def matrix_norm(input: _Tensor, ord: _Number, dim: _int | Sequence[_int] = ..., keepdim: _bool = ..., *, dtype: _dtype | None = ..., out: Any = ...) -> Tensor: """The norm of a matrix: of sums of sizes (1, inf) or of singular values (2)."""
    @overload
    @staticmethod
    def matrix_norm(input: _Tensor, ord: str = ..., dim: _int | Sequence[_int] = ..., keepdim: _bool = ..., *, dtype: _dtype | None = ..., out: Any = ...) -> Tensor: """The norm of a matrix: Frobenius or nuclear."""
    @staticmethod
    def matrix_power(input: _Tensor, n: _int, *, out: Any = ...) -> Tensor: """The n-th power of a square matrix; for negative n, of its inverse."""
    @overload
    @staticmethod
    def matrix_rank(A: _Tensor, *, atol: Any = ..., rtol: Any = ..., hermitian: _bool = ..., out: Any = ...) -> Tensor: """The rank: the number of singular values that are not zero."""
    @overload
    @staticmethod
    def matrix_rank(A: _Tensor, tol: _float, hermitian: _bool = ..., *, out: Any = ...) -> Tensor: """The rank: the number of singular values above a bound."""
    @overload
    @staticmethod
    def matrix_rank(A: _Tensor, tol: _Tensor, hermitian: _bool = ..., *, out: Any = ...) -> Tensor: """The rank: the number of singular values above a bound."""
    @staticmethod
    def multi_dot(tensors: Sequence[_Tensor], *, out: Any = ...) -> Tensor: """The product of several matrices, multiplied in the cheapest order."""
    @overload
    @staticmethod
    def norm(input: _Tensor, ord: _Number | None = ..., dim: _int | Sequence[_int] | None = ..., keepdim: _bool = ..., *, dtype: _dtype | None = ..., out: Any = ...) -> Tensor: """The norm of a vector or of a matrix, whichever the dimensions and the order mean."""
    @overload
    @staticmethod
    def norm(input: _Tensor, ord: str, dim: _int | Sequence[_int] | None = ..., keepdim: _bool = ..., *, dtype: _dtype | None = ..., out: Any = ...) -> Tensor: """The Frobenius or the nuclear norm of a matrix."""
    @overload
    @staticmethod
    def pinv(A: _Tensor, *, atol: _float | None = ..., rtol: _float | None = ..., hermitian: _bool = ..., out: Any = ...) -> Tensor: """The pseudo-inverse."""
    @overload
    @staticmethod
    def pinv(A: _Tensor, rcond: _float, hermitian: _bool = ..., *, out: Any = ...) -> Tensor: """The pseudo-inverse, with a relative bound below which singular values count as zero."""
    @staticmethod
    def qr(A: _Tensor, mode: str = ..., *, out: Any = ...) -> _Q_R: """QR decomposition: an orthogonal and an upper triangular factor."""
    @staticmethod
    def slogdet(A: _Tensor, *, out: Any = ...) -> _sign_logabsdet: """The sign of the determinant and the logarithm of its absolute value."""
    @staticmethod
    def solve(A: _Tensor, B: _Tensor, *, left: _bool = ..., out: Any = ...) -> Tensor: """Solves a linear system: the solution of A X = B, or of X A = B."""
    @staticmethod
    def solve_ex(A: _Tensor, B: _Tensor, *, left: _bool = ..., check_errors: _bool = ..., out: Any = ...) -> _result_info: """The solution of A X = B, and an error code."""
    @staticmethod
    def solve_triangular(input: _Tensor, B: _Tensor, *, upper: _bool, left: _bool = ..., unitriangular: _bool = ..., out: Any = ...) -> Tensor: """The solution of a triangular system."""
    @staticmethod
    def svd(A: _Tensor, full_matrices: _bool = ..., *, driver: str | None = ..., out: Any = ...) -> _U_S_Vh: """The singular value decomposition U diag(S) Vh."""
    @staticmethod
    def svdvals(A: _Tensor, *, driver: str | None = ..., out: Any = ...) -> Tensor: """The singular values."""
    @staticmethod
    def tensorinv(A: _Tensor, ind: _int = ..., *, out: Any = ...) -> Tensor: """The inverse of a tensor seen as a matrix."""
    @staticmethod
    def tensorsolve(A: _Tensor, B: _Tensor, dims: _int | Sequence[_int] | None = ..., *, out: Any = ...) -> Tensor: """The solution of a tensor equation."""
    @staticmethod
    def vander(x: _Tensor, *, N: _int | None = ...) -> Tensor: """The powers of every element, one row for each."""
    @staticmethod
    def vecdot(x: _Tensor, y: _Tensor, *, dim: _int = ..., out: Any = ...) -> Tensor: """Products summed over a dimension."""
    @staticmethod
    def vector_norm(input: _Tensor, ord: _Number = ..., dim: _int | Sequence[_int] | None = ..., keepdim: _bool = ..., *, dtype: _dtype | None = ..., out: Any = ...) -> Tensor: """The p-norm of the elements, over some dimensions or all."""
    LinAlgError: type[RuntimeError]
class special:
    @staticmethod
    def airy_ai(input: _Tensor, *, out: Any = ...) -> Tensor: """Airy's function Ai."""
    @staticmethod
    def bessel_j0(input: _Tensor, *, out: Any = ...) -> Tensor: """The Bessel function of the first kind, of order 0."""
    @staticmethod
    def bessel_j1(input: _Tensor, *, out: Any = ...) -> Tensor: """The Bessel function of the first kind, of order 1."""
    @staticmethod
    def bessel_y0(input: _Tensor, *, out: Any = ...) -> Tensor: """The Bessel function of the second kind, of order 0."""
    @staticmethod
    def bessel_y1(input: _Tensor, *, out: Any = ...) -> Tensor: """The Bessel function of the second kind, of order 1."""
    @staticmethod
    def chebyshev_polynomial_t(x: _Tensor | _Number, n: _Tensor | _Number, *, out: Any = ...) -> Tensor: """Chebyshev's polynomial of the first kind, of degree n."""
    @staticmethod
    def chebyshev_polynomial_u(x: _Tensor | _Number, n: _Tensor | _Number, *, out: Any = ...) -> Tensor: """Chebyshev's polynomial of the second kind, of degree n."""
    @staticmethod
    def chebyshev_polynomial_v(x: _Tensor | _Number, n: _Tensor | _Number, *, out: Any = ...) -> Tensor: """Chebyshev's polynomial of the third kind, of degree n."""
    @staticmethod
    def chebyshev_polynomial_w(x: _Tensor | _Number, n: _Tensor | _Number, *, out: Any = ...) -> Tensor: """Chebyshev's polynomial of the fourth kind, of degree n."""
    @staticmethod
    def digamma(input: _Tensor, *, out: Any = ...) -> Tensor: """The derivative of the logarithm of the gamma function."""
    @staticmethod
    def entr(input: _Tensor, *, out: Any = ...) -> Tensor: """-x log(x): 0 at 0, minus infinity below."""
    @staticmethod
    def erf(input: _Tensor, *, out: Any = ...) -> Tensor: """The error function."""
    @staticmethod
    def erfc(input: _Tensor, *, out: Any = ...) -> Tensor: """1 - erf(x), accurate for large x."""
    @staticmethod
    def erfcx(input: _Tensor, *, out: Any = ...) -> Tensor: """exp(x * x) erfc(x), without leaving the range of numbers."""
    @staticmethod
    def erfinv(input: _Tensor, *, out: Any = ...) -> Tensor: """The inverse error function."""
    @staticmethod
    def exp2(input: _Tensor, *, out: Any = ...) -> Tensor: """2 to the power x."""
    @staticmethod
    def expit(input: _Tensor, *, out: Any = ...) -> Tensor: """1 / (1 + exp(-x))."""
    @staticmethod
    def expm1(input: _Tensor, *, out: Any = ...) -> Tensor: """exp(x) - 1, accurate near 0."""
    @staticmethod
    def gammainc(input: _Tensor, other: _Tensor, *, out: Any = ...) -> Tensor: """The lower incomplete gamma function of order self, divided by the whole."""
    @staticmethod
    def gammaincc(input: _Tensor, other: _Tensor, *, out: Any = ...) -> Tensor: """The upper incomplete gamma function of order self, divided by the whole."""
    @staticmethod
    def gammaln(input: _Tensor, *, out: Any = ...) -> Tensor: """Log-gamma: logarithm of the absolute value of the gamma function."""
    @staticmethod
    def hermite_polynomial_h(x: _Tensor | _Number, n: _Tensor | _Number, *, out: Any = ...) -> Tensor: """The physicist's Hermite polynomial of degree n."""
    @staticmethod
    def hermite_polynomial_he(x: _Tensor | _Number, n: _Tensor | _Number, *, out: Any = ...) -> Tensor: """The probabilist's Hermite polynomial of degree n."""
    @staticmethod
    def i0(input: _Tensor, *, out: Any = ...) -> Tensor: """The modified Bessel function of the first kind, of order 0."""
    @staticmethod
    def i0e(input: _Tensor, *, out: Any = ...) -> Tensor: """i0 times exp(-|x|)."""
    @staticmethod
    def i1(input: _Tensor, *, out: Any = ...) -> Tensor: """The modified Bessel function of the first kind, of order 1."""
    @staticmethod
    def i1e(input: _Tensor, *, out: Any = ...) -> Tensor: """i1 times exp(-|x|)."""
    @staticmethod
    def laguerre_polynomial_l(x: _Tensor | _Number, n: _Tensor | _Number, *, out: Any = ...) -> Tensor: """Laguerre's polynomial of degree n."""
    @staticmethod
    def legendre_polynomial_p(x: _Tensor | _Number, n: _Tensor | _Number, *, out: Any = ...) -> Tensor: """Legendre's polynomial of degree n."""
    @staticmethod
    def log1p(input: _Tensor, *, out: Any = ...) -> Tensor: """log(1 + x), accurate near 0."""
    @staticmethod
    def log_ndtr(input: _Tensor, *, out: Any = ...) -> Tensor: """The logarithm of ndtr, exact far below zero."""
    @staticmethod
    def log_softmax(input: _Tensor, dim: _int, *, dtype: _dtype | None = ...) -> Tensor: """The logarithm of softmax."""
    @staticmethod
    def logit(input: _Tensor, eps: _float | None = ..., *, out: Any = ...) -> Tensor: """log(x / (1 - x)), x held within eps of 0 and 1 if eps is given."""
    @staticmethod
    def logsumexp(input: _Tensor, dim: _int | Sequence[_int], keepdim: _bool = ..., *, out: Any = ...) -> Tensor: """Log-sum-exp: the logarithm of the sum of exponentials."""
    @staticmethod
    def modified_bessel_i0(input: _Tensor, *, out: Any = ...) -> Tensor: """The same as special.i0, not differentiable."""
    @staticmethod
    def modified_bessel_i1(input: _Tensor, *, out: Any = ...) -> Tensor: """The same as special.i1, not differentiable."""
    @staticmethod
    def modified_bessel_k0(input: _Tensor, *, out: Any = ...) -> Tensor: """The modified second kind, of order 0."""
    @staticmethod
    def modified_bessel_k1(input: _Tensor, *, out: Any = ...) -> Tensor: """The modified second kind, of order 1."""
    @staticmethod
    def multigammaln(input: _Tensor, p: _int, *, out: Any = ...) -> Tensor: """The logarithm of the multivariate gamma function of dimension p."""
    @staticmethod
    def ndtr(input: _Tensor, *, out: Any = ...) -> Tensor: """The cumulative distribution of the standard normal distribution."""
    @staticmethod
    def ndtri(input: _Tensor, *, out: Any = ...) -> Tensor: """The number below which the standard normal distribution lies with probability x."""
    @staticmethod
    def polygamma(n: _int, input: _Tensor, *, out: Any = ...) -> Tensor: """The n-th derivative of digamma."""
    @staticmethod
    def psi(input: _Tensor, *, out: Any = ...) -> Tensor: """Another name of digamma."""
    @staticmethod
    def round(input: _Tensor, *, decimals: _int = ..., out: Any = ...) -> Tensor: """Rounded to a number of decimals."""
    @staticmethod
    def scaled_modified_bessel_k0(input: _Tensor, *, out: Any = ...) -> Tensor: """modified_bessel_k0 times exp(x)."""
    @staticmethod
    def scaled_modified_bessel_k1(input: _Tensor, *, out: Any = ...) -> Tensor: """modified_bessel_k1 times exp(x)."""
    @staticmethod
    def shifted_chebyshev_polynomial_t(x: _Tensor | _Number, n: _Tensor | _Number, *, out: Any = ...) -> Tensor: """Chebyshev's polynomial of the first kind at 2 x - 1, of degree n."""
    @staticmethod
    def shifted_chebyshev_polynomial_u(x: _Tensor | _Number, n: _Tensor | _Number, *, out: Any = ...) -> Tensor: """Chebyshev's polynomial of the second kind at 2 x - 1, of degree n."""
    @staticmethod
    def shifted_chebyshev_polynomial_v(x: _Tensor | _Number, n: _Tensor | _Number, *, out: Any = ...) -> Tensor: """Chebyshev's polynomial of the third kind at 2 x - 1, of degree n."""
    @staticmethod
    def shifted_chebyshev_polynomial_w(x: _Tensor | _Number, n: _Tensor | _Number, *, out: Any = ...) -> Tensor: """Chebyshev's polynomial of the fourth kind at 2 x - 1, of degree n."""
    @staticmethod
    def sinc(input: _Tensor, *, out: Any = ...) -> Tensor: """sin(pi x) / (pi x), 1 at 0."""
    @staticmethod
    def softmax(input: _Tensor, dim: _int, *, dtype: _dtype | None = ...) -> Tensor: """exp(self) divided by its sum along dim."""
    @staticmethod
    def spherical_bessel_j0(input: _Tensor, *, out: Any = ...) -> Tensor: """sin(x) / x, the spherical kind of order 0."""
    @overload
    @staticmethod
    def xlog1py(input: _Tensor, other: _Tensor, *, out: Any = ...) -> Tensor: """self * log(1 + other), 0 where self is 0."""
    @overload
    @staticmethod
    def xlog1py(input: _Tensor, other: _Number, *, out: Any = ...) -> Tensor: """self * log(1 + other) for a number, 0 where self is 0."""
    @overload
    @staticmethod
    def xlog1py(self: _Number, other: _Tensor, *, out: Any = ...) -> Tensor: """A number times log(1 + other)."""
    @overload
    @staticmethod
    def xlogy(input: _Tensor, other: _Tensor, *, out: Any = ...) -> Tensor: """self * log(other), 0 where self is 0."""
    @overload
    @staticmethod
    def xlogy(input: _Tensor, other: _Number, *, out: Any = ...) -> Tensor: """self * log(other) for a number, 0 where self is 0."""
    @overload
    @staticmethod
    def xlogy(self: _Number, other: _Tensor, *, out: Any = ...) -> Tensor: """A number times log(other)."""
    @overload
    @staticmethod
    def zeta(input: _Tensor, other: _Tensor, *, out: Any = ...) -> Tensor: """Hurwitz's zeta function: the sum of (other + k) ** -self over k >= 0."""
    @overload
    @staticmethod
    def zeta(input: _Tensor, other: _Number, *, out: Any = ...) -> Tensor: """Hurwitz's zeta function at a number."""
    @overload
    @staticmethod
    def zeta(self: _Number, other: _Tensor, *, out: Any = ...) -> Tensor: """Hurwitz's zeta function of a number's order."""
class fft:
    @staticmethod
    def fft(input: _Tensor, n: _int | None = ..., dim: _int = ..., norm: str | None = ..., *, out: Any = ...) -> Tensor: """Discrete Fourier transform along a dimension."""
    @staticmethod
    def fft2(input: _Tensor, s: _int | Sequence[_int] | None = ..., dim: _int | Sequence[_int] = ..., norm: str | None = ..., *, out: Any = ...) -> Tensor: """The discrete Fourier transform of several dimensions, over two of them."""
    @staticmethod
    def fftfreq(n: _int, d: _float = ..., *, dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """The frequencies that fft's entries belong to."""
    @staticmethod
    def fftn(input: _Tensor, s: _int | Sequence[_int] | None = ..., dim: _int | Sequence[_int] | None = ..., norm: str | None = ..., *, out: Any = ...) -> Tensor: """The discrete Fourier transform of several dimensions."""
    @staticmethod
    def fftshift(input: _Tensor, dim: _int | Sequence[_int] | None = ...) -> Tensor: """Frequency zero moved to the middle."""
    @staticmethod
    def hfft(input: _Tensor, n: _int | None = ..., dim: _int = ..., norm: str | None = ..., *, out: Any = ...) -> Tensor: """The transform of a signal whose spectrum is real."""
    @staticmethod
    def hfft2(input: _Tensor, s: _int | Sequence[_int] | None = ..., dim: _int | Sequence[_int] = ..., norm: str | None = ..., *, out: Any = ...) -> Tensor: """The transform of what has a real spectrum, over two of them."""
    @staticmethod
    def hfftn(input: _Tensor, s: _int | Sequence[_int] | None = ..., dim: _int | Sequence[_int] | None = ..., norm: str | None = ..., *, out: Any = ...) -> Tensor: """The transform of what has a real spectrum."""
    @staticmethod
    def ifft(input: _Tensor, n: _int | None = ..., dim: _int = ..., norm: str | None = ..., *, out: Any = ...) -> Tensor: """Inverse discrete Fourier transform along a dimension."""
    @staticmethod
    def ifft2(input: _Tensor, s: _int | Sequence[_int] | None = ..., dim: _int | Sequence[_int] = ..., norm: str | None = ..., *, out: Any = ...) -> Tensor: """The inverse of fftn, over two of them."""
    @staticmethod
    def ifftn(input: _Tensor, s: _int | Sequence[_int] | None = ..., dim: _int | Sequence[_int] | None = ..., norm: str | None = ..., *, out: Any = ...) -> Tensor: """The inverse of fftn."""
    @staticmethod
    def ifftshift(input: _Tensor, dim: _int | Sequence[_int] | None = ...) -> Tensor: """The inverse of fftshift."""
    @staticmethod
    def ihfft(input: _Tensor, n: _int | None = ..., dim: _int = ..., norm: str | None = ..., *, out: Any = ...) -> Tensor: """The inverse of hfft."""
    @staticmethod
    def ihfft2(input: _Tensor, s: _int | Sequence[_int] | None = ..., dim: _int | Sequence[_int] = ..., norm: str | None = ..., *, out: Any = ...) -> Tensor: """The inverse of hfftn, over two of them."""
    @staticmethod
    def ihfftn(input: _Tensor, s: _int | Sequence[_int] | None = ..., dim: _int | Sequence[_int] | None = ..., norm: str | None = ..., *, out: Any = ...) -> Tensor: """The inverse of hfftn."""
    @staticmethod
    def irfft(input: _Tensor, n: _int | None = ..., dim: _int = ..., norm: str | None = ..., *, out: Any = ...) -> Tensor: """Inverse of rfft: real numbers of half a transform."""
    @staticmethod
    def irfft2(input: _Tensor, s: _int | Sequence[_int] | None = ..., dim: _int | Sequence[_int] = ..., norm: str | None = ..., *, out: Any = ...) -> Tensor: """The inverse of rfftn, over two of them."""
    @staticmethod
    def irfftn(input: _Tensor, s: _int | Sequence[_int] | None = ..., dim: _int | Sequence[_int] | None = ..., norm: str | None = ..., *, out: Any = ...) -> Tensor: """The inverse of rfftn."""
    @staticmethod
    def rfft(input: _Tensor, n: _int | None = ..., dim: _int = ..., norm: str | None = ..., *, out: Any = ...) -> Tensor: """Discrete Fourier transform of real numbers, half of it."""
    @staticmethod
    def rfft2(input: _Tensor, s: _int | Sequence[_int] | None = ..., dim: _int | Sequence[_int] = ..., norm: str | None = ..., *, out: Any = ...) -> Tensor: """The transform of real numbers, the last one halved, over two of them."""
    @staticmethod
    def rfftfreq(n: _int, d: _float = ..., *, dtype: _dtype | None = ..., device: _device | str | None = ..., requires_grad: _bool = ..., out: _Tensor | None = ..., layout: Any = ..., pin_memory: _bool | None = ..., memory_format: Any = ...) -> Tensor: """The frequencies that rfft's entries belong to."""
    @staticmethod
    def rfftn(input: _Tensor, s: _int | Sequence[_int] | None = ..., dim: _int | Sequence[_int] | None = ..., norm: str | None = ..., *, out: Any = ...) -> Tensor: """The transform of real numbers, the last one halved."""
bfloat16: _dtype
bool: _dtype
cdouble: _dtype
cfloat: _dtype
complex128: _dtype
complex64: _dtype
double: _dtype
float: _dtype
float16: _dtype
float32: _dtype
float64: _dtype
half: _dtype
int: _dtype
int16: _dtype
int32: _dtype
int64: _dtype
int8: _dtype
long: _dtype
short: _dtype
uint8: _dtype
pi: _float
e: _float
inf: _float
nan: _float
newaxis: None
class Generator:
    def __init__(self, device: Any = ...) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
class GradScaler:
    def __init__(self, device: str = ..., init_scale: _float = ..., growth_factor: _float = ..., backoff_factor: _float = ..., growth_interval: _int = ..., enabled: _bool = ...) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
class OutOfMemoryError:
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
def _assert(condition: Any, message: Any) -> None: ...
def are_deterministic_algorithms_enabled() -> _bool: ...
def as_tensor(data: Any, dtype: Any = ..., device: Any = ...) -> Tensor: ...
def asarray(obj: Any, *, dtype: Any = ..., device: Any = ..., copy: _bool | None = ..., requires_grad: _bool | None = ...) -> Tensor: ...
class autocast:
    def __init__(self, device_type: str, dtype: Any = ..., enabled: _bool = ..., cache_enabled: _bool | None = ...) -> None: ...
    def __enter__(self) -> Any: ...
    def __exit__(self, *args: Any) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...
def binomial(count: Any, prob: Any, generator: Any = ...) -> Any: ...
def broadcast_shapes(*shapes: Any) -> Any: ...
def can_cast(source: Any, target: Any) -> _bool: ...
channels_last: Any
channels_last_3d: Any
def clear_autocast_cache() -> None: ...
def compile(model: Any = ..., **options: Any) -> Any: ...
contiguous_format: Any
default_generator: Any
def eig(self: Any, eigenvectors: _bool = ..., *, e: Any = ..., v: Any = ...) -> Any: ...
class enable_grad:
    def __init__(self) -> None: ...
    def __enter__(self) -> Any: ...
    def __exit__(self, *args: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
class finfo:
    def __init__(self, type: Any = ...) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
def from_dlpack(source: Any) -> Tensor: ...
def from_numpy(array: Any) -> Tensor: ...
def get_autocast_dtype(device_type: str) -> Any: ...
def get_default_device() -> Any: ...
def get_default_dtype() -> Any: ...
def get_device(input: Tensor) -> _int: ...
def get_float32_matmul_precision() -> str: ...
def get_num_threads() -> _int: ...
def get_rng_state() -> Any: ...
class iinfo:
    def __init__(self, *types: Any, **named: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
class inference_mode:
    def __init__(self, mode: _bool = ...) -> None: ...
    def __enter__(self) -> Any: ...
    def __exit__(self, *args: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
def initial_seed() -> _int: ...
def is_anomaly_check_nan_enabled() -> _bool: ...
def is_anomaly_enabled() -> _bool: ...
def is_autocast_enabled(device_type: str = ...) -> _bool: ...
def is_complex(input: Any) -> _bool: ...
def is_distributed(*asked: Any) -> _bool: ...
def is_floating_point(input: Any) -> _bool: ...
def is_grad_enabled() -> _bool: ...
def is_inference(input: Tensor) -> _bool: ...
def is_inference_mode_enabled() -> _bool: ...
def is_nonzero(input: Any) -> _bool: ...
def is_storage(obj: Any) -> _bool: ...
def is_tensor(value: Any) -> _bool: ...
def is_warn_always_enabled(*asked: Any) -> _bool: ...
def lstsq(input: Any, A: Any, *, out: Any = ...) -> Any: ...
def manual_seed(seed: Any) -> Any: ...
def matrix_rank(input: Any, tol: Any = ..., symmetric: _bool = ..., *, out: Any = ...) -> Any: ...
class no_grad:
    def __init__(self) -> None: ...
    def __enter__(self) -> Any: ...
    def __exit__(self, *args: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
def numel(input: Any) -> _int: ...
def poisson(input: Any, generator: Any = ...) -> Any: ...
preserve_format: Any
def promote_types(a: Any, b: Any) -> Any: ...
def result_type(*tensors: Any) -> Any: ...
def seed() -> _int: ...
def set_default_device(value: Any) -> None: ...
def set_default_dtype(dtype: Any) -> None: ...
def set_default_tensor_type(t: Any) -> None: ...
def set_float32_matmul_precision(precision: str) -> None: ...
def set_flush_denormal(*asked: Any) -> _bool: ...
class set_grad_enabled:
    def __init__(self, mode: _bool) -> None: ...
    def __enter__(self) -> Any: ...
    def __exit__(self, *args: Any) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...
def set_num_interop_threads(count: _int) -> None: ...
def set_num_threads(count: _int) -> None: ...
def set_printoptions(precision: _int | None = ..., threshold: _float | None = ..., edgeitems: _int | None = ..., linewidth: _int | None = ..., profile: str | None = ..., sci_mode: _bool | None = ...) -> None: ...
def set_rng_state(new_state: Any) -> None: ...
def set_warn_always(*given: Any, **options: Any) -> None: ...
def solve(input: Any, A: Any, *, out: Any = ...) -> Any: ...
sparse_coo: Any
sparse_csr: Any
strided: Any
def symeig(input: Any, eigenvectors: _bool = ..., upper: _bool = ..., *, out: Any = ...) -> Any: ...
def tensor(data: Any, *, dtype: Any = ..., device: Any = ..., requires_grad: _bool = ..., pin_memory: _bool = ...) -> Tensor: ...
def typename(value: Any) -> str: ...
def use_deterministic_algorithms(mode: _bool, *, warn_only: _bool = ...) -> None: ...
def vmap(func: Any, in_dims: Any = ..., out_dims: Any = ..., randomness: str = ..., *, chunk_size: _int | None = ...) -> Any: ...
def __getattr__(name: str) -> Any: ...
