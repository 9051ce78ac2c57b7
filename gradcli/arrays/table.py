"""arrays: NumPy's functions that programs may call, as text: name, parameters, cost.

A line is `name(parameters) cost`. A call binds its arguments by these parameters and pays the
cost (`costs`) before NumPy's function of the same name runs. `ufunc` and `by method` say what
becomes of tensors: NumPy gives a tensor back, or asks the tensor's own method of that name.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

CREATION = """
array(object, dtype=None, *, copy=True, order='K', ndmin=0) copied
asarray(a, dtype=None, order=None, *, copy=None) copied
asanyarray(a, dtype=None, order=None, *, copy=None) copied
ascontiguousarray(a, dtype=None) copied
asfortranarray(a, dtype=None) copied
copy(a, order='K') copied
zeros(shape, dtype=float, order='C') filled
ones(shape, dtype=None, order='C') filled
empty(shape, dtype=float, order='C') filled
full(shape, fill_value, dtype=None, order='C') filled
zeros_like(a, dtype=None, order='K', subok=True, shape=None) filled
ones_like(a, dtype=None, order='K', subok=True, shape=None) filled
empty_like(prototype, dtype=None, order='K', subok=True, shape=None) filled
full_like(a, fill_value, dtype=None, order='K', subok=True, shape=None) filled
arange(start, stop=None, step=1, dtype=None) counted
linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0) spaced
logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0) spaced
geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0) spaced
eye(N, M=None, k=0, dtype=float, order='C') square
identity(n, dtype=None) square
tri(N, M=None, k=0, dtype=float) square
vander(x, N=None, increasing=False) powers
diag(v, k=0) diagonal
diagflat(v, k=0) diagonals
tril(m, k=0) elementwise
triu(m, k=0) elementwise
tril_indices(n, k=0, m=None) square
triu_indices(n, k=0, m=None) square
diag_indices(n, ndim=2) square
tril_indices_from(arr, k=0) found
triu_indices_from(arr, k=0) found
diag_indices_from(arr) found
hanning(M) spaced
hamming(M) spaced
blackman(M) spaced
bartlett(M) spaced
indices(dimensions, dtype=int, sparse=False) grid
meshgrid(*xi, copy=True, sparse=False, indexing='xy') grid
ix_(*args) whole
"""

SHAPES = """
reshape(a, shape, order='C', *, copy=None) whole ufunc
ravel(a, order='C') whole ufunc
transpose(a, axes=None) view ufunc
permute_dims(a, axes=None) view
moveaxis(a, source, destination) view
swapaxes(a, axis1, axis2) view ufunc
rollaxis(a, axis, start=0) view
concatenate(arrays, axis=0, out=None, *, dtype=None, casting='same_kind') whole
concat(arrays, axis=0, out=None, *, dtype=None, casting='same_kind') whole
stack(arrays, axis=0, out=None, *, dtype=None, casting='same_kind') whole
vstack(tup, *, dtype=None, casting='same_kind') whole
hstack(tup, *, dtype=None, casting='same_kind') whole
dstack(tup) whole
column_stack(tup) whole
block(arrays) composed
append(arr, values, axis=None) whole
insert(arr, obj, values, axis=None) placed
delete(arr, obj, axis=None) whole
trim_zeros(filt, trim='fb') composed
split(ary, indices_or_sections, axis=0) pieces
array_split(ary, indices_or_sections, axis=0) pieces
hsplit(ary, indices_or_sections) pieces
vsplit(ary, indices_or_sections) pieces
dsplit(ary, indices_or_sections) pieces
expand_dims(a, axis) view
squeeze(a, axis=None) view ufunc
tile(A, reps) tiled
repeat(a, repeats, axis=None) repeated
roll(a, shift, axis=None) rolled
flip(m, axis=None) view
fliplr(m) view
flipud(m) view
rot90(m, k=1, axes=(0, 1)) view
broadcast_to(array, shape, subok=False) whole
broadcast_arrays(*args, subok=False) whole
broadcast_shapes(*args) view
atleast_1d(*arys) whole
atleast_2d(*arys) whole
atleast_3d(*arys) whole
pad(array, pad_width, mode='constant', *, constant_values=0, end_values=0, stat_length=None, \
reflect_type='even') padded
resize(a, new_shape) filled
diagonal(a, offset=0, axis1=0, axis2=1) view
fill_diagonal(a, val, wrap=False) whole
shape(a) view
ndim(a) view
size(a, axis=None) view
take(a, indices, axis=None, out=None, mode='raise') taken
take_along_axis(arr, indices, axis=-1) taken
put_along_axis(arr, indices, values, axis) taken
put(a, ind, v, mode='raise') taken
copyto(dst, src, casting='same_kind', where=True) elementwise
unravel_index(indices, shape, order='C') unravelled
ravel_multi_index(multi_index, dims, mode='raise', order='C') elementwise
"""

ONE = """
sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh exp expm1 exp2 log log2
log10 log1p sqrt cbrt square abs absolute fabs sign negative positive reciprocal floor ceil trunc
rint isnan isinf isfinite logical_not signbit deg2rad rad2deg degrees radians conj conjugate invert
bitwise_not asin acos atan asinh acosh atanh
"""
TWO = """
add subtract multiply divide true_divide floor_divide power float_power mod remainder fmod maximum
minimum fmax fmin arctan2 hypot logaddexp logaddexp2 heaviside copysign nextafter equal not_equal
less less_equal greater greater_equal logical_and logical_or logical_xor bitwise_and bitwise_or
bitwise_xor left_shift right_shift gcd lcm pow atan2
"""

MATHEMATICS = """
clip(a, a_min=None, a_max=None, out=None, *, min=None, max=None) elementwise ufunc
round(a, decimals=0, out=None) elementwise ufunc
around(a, decimals=0, out=None) elementwise ufunc
fix(x, out=None) elementwise
real(val) elementwise
imag(val) elementwise
angle(z, deg=False) elementwise
nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None) composed
sinc(x) composed
i0(x) elementwise
interp(x, xp, fp, left=None, right=None, period=None) sorted
diff(a, n=1, axis=-1) repeatedly
ediff1d(ary, to_end=None, to_begin=None) whole
gradient(f, *varargs, axis=None, edge_order=1) gradients
convolve(a, v, mode='full') slid
correlate(a, v, mode='valid') slid
cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None) composed
kron(a, b) outer
trapezoid(y, x=None, dx=1.0, axis=-1) composed
polyfit(x, y, deg) fitted
polyval(p, x) fitted
cov(m, y=None, rowvar=True, bias=False, ddof=None) correlated
corrcoef(x, y=None, rowvar=True) correlated
isreal(x) elementwise
iscomplex(x) elementwise
isrealobj(x) view
iscomplexobj(x) view
isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False) composed
allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False) composed
array_equal(a1, a2, equal_nan=False) elementwise
array_equiv(a1, a2) elementwise
where(condition, x=None, y=None) located
select(condlist, choicelist, default=0) selected
isscalar(element) view
divmod(x1, x2) composed
unwrap(p, discont=None, axis=-1) composed
"""

REDUCTIONS = """
sum(a, axis=None, dtype=None, out=None, keepdims=False, initial=0) reduced by method
prod(a, axis=None, dtype=None, out=None, keepdims=False, initial=1) reduced by method
mean(a, axis=None, dtype=None, out=None, keepdims=False) reduced by method
std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False) whole by method
var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False) whole by method
min(a, axis=None, out=None, keepdims=False) reduced by method
max(a, axis=None, out=None, keepdims=False) reduced by method
amin(a, axis=None, out=None, keepdims=False) reduced
amax(a, axis=None, out=None, keepdims=False) reduced
ptp(a, axis=None, out=None, keepdims=False) reduced
argmin(a, axis=None, out=None, *, keepdims=False) reduced ufunc
argmax(a, axis=None, out=None, *, keepdims=False) reduced ufunc
any(a, axis=None, out=None, keepdims=False) reduced by method
all(a, axis=None, out=None, keepdims=False) reduced by method
cumsum(a, axis=None, dtype=None, out=None) whole ufunc
cumprod(a, axis=None, dtype=None, out=None) whole ufunc
nansum(a, axis=None, dtype=None, out=None, keepdims=False) cleaned
nanprod(a, axis=None, dtype=None, out=None, keepdims=False) cleaned
nanmean(a, axis=None, dtype=None, out=None, keepdims=False) cleaned
nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False) cleaned
nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False) cleaned
nanmin(a, axis=None, out=None, keepdims=False) cleaned
nanmax(a, axis=None, out=None, keepdims=False) cleaned
nanargmin(a, axis=None, out=None, *, keepdims=False) cleaned
nanargmax(a, axis=None, out=None, *, keepdims=False) cleaned
nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False) sorted
nanpercentile(a, q, axis=None, out=None, overwrite_input=False, method='linear', \
keepdims=False) quantiles
nancumsum(a, axis=None, dtype=None, out=None) cleaned
median(a, axis=None, out=None, overwrite_input=False, keepdims=False) sorted
percentile(a, q, axis=None, out=None, overwrite_input=False, method='linear', \
keepdims=False) quantiles
quantile(a, q, axis=None, out=None, overwrite_input=False, method='linear', \
keepdims=False) quantiles
average(a, axis=None, weights=None, returned=False, *, keepdims=False) whole
count_nonzero(a, axis=None, *, keepdims=False) reduced
trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None) reduced
"""

SORTING = """
sort(a, axis=-1, kind=None, *, stable=None) sorted
argsort(a, axis=-1, kind=None, *, stable=None) sorted ufunc
lexsort(keys, axis=-1) sorted
partition(a, kth, axis=-1, kind='introselect') sorted
argpartition(a, kth, axis=-1, kind='introselect') sorted
searchsorted(a, v, side='left', sorter=None) sorted
digitize(x, bins, right=False) sorted
unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None) distinct
nonzero(a) found
flatnonzero(a) found
argwhere(a) found
extract(condition, arr) whole
isin(element, test_elements, assume_unique=False, invert=False) distinct
intersect1d(ar1, ar2, assume_unique=False, return_indices=False) distinct
union1d(ar1, ar2) distinct
setdiff1d(ar1, ar2, assume_unique=False) distinct
setxor1d(ar1, ar2, assume_unique=False) distinct
histogram(a, bins=10, range=None, density=None, weights=None) binned
histogram2d(x, y, bins=10, range=None, density=None, weights=None) binned
histogram_bin_edges(a, bins=10, range=None, weights=None) binned
bincount(x, weights=None, minlength=0) tallied
"""

PRODUCTS = """
dot(a, b, out=None) product
matmul(x1, x2, out=None) multiplied ufunc
vdot(a, b) whole
inner(a, b) inner
outer(a, b, out=None) outer
tensordot(a, b, axes=2) contracted
einsum(subscripts, *operands, optimize=False) summed
linalg.norm(x, ord=None, axis=None, keepdims=False) normed
linalg.inv(a) solved
linalg.pinv(a, rcond=None, hermitian=False) solved
linalg.solve(a, b) solved
linalg.lstsq(a, b, rcond=None) solved
linalg.det(a) solved
linalg.slogdet(a) solved
linalg.eig(a) solved
linalg.eigh(a, UPLO='L') solved
linalg.eigvals(a) solved
linalg.eigvalsh(a, UPLO='L') solved
linalg.svd(a, full_matrices=True, compute_uv=True, hermitian=False) solved
linalg.qr(a, mode='reduced') solved
linalg.cholesky(a, *, upper=False) solved
linalg.matrix_rank(A, tol=None, hermitian=False) solved
linalg.matrix_power(a, n) powered
linalg.cond(x, p=None) solved
polynomial.legendre.leggauss(deg) quadrature
polynomial.hermite.hermgauss(deg) quadrature
polynomial.hermite_e.hermegauss(deg) quadrature
polynomial.laguerre.laggauss(deg) quadrature
polynomial.chebyshev.chebgauss(deg) quadrature
fft.fft(a, n=None, axis=-1, norm=None) transformed
fft.ifft(a, n=None, axis=-1, norm=None) transformed
fft.rfft(a, n=None, axis=-1, norm=None) transformed
fft.irfft(a, n=None, axis=-1, norm=None) transformed
fft.fft2(a, s=None, axes=(-2, -1), norm=None) transformed
fft.ifft2(a, s=None, axes=(-2, -1), norm=None) transformed
fft.rfft2(a, s=None, axes=(-2, -1), norm=None) transformed
fft.irfft2(a, s=None, axes=(-2, -1), norm=None) transformed
fft.fftfreq(n, d=1.0) spaced
fft.rfftfreq(n, d=1.0) spaced
fft.fftshift(x, axes=None) whole
fft.ifftshift(x, axes=None) whole
"""

OTHERS = """
may_share_memory(a, b) view
result_type(*arrays_and_dtypes) view
promote_types(type1, type2) view
can_cast(from_, to, casting='safe') view
issubdtype(arg1, arg2) view
testing.assert_allclose(actual, desired, rtol=1e-07, atol=0, equal_nan=True, err_msg='', \
verbose=True) composed
testing.assert_almost_equal(actual, desired, decimal=7, err_msg='', verbose=True) composed
testing.assert_array_almost_equal(actual, desired, decimal=6, err_msg='', verbose=True) composed
testing.assert_array_equal(actual, desired, err_msg='', verbose=True, *, strict=False) composed
"""

# The methods of an array: the same, without the array itself.
METHODS = """
sum(axis=None, dtype=None, out=None, keepdims=False, initial=0) reduced
prod(axis=None, dtype=None, out=None, keepdims=False, initial=1) reduced
mean(axis=None, dtype=None, out=None, keepdims=False) reduced
std(axis=None, dtype=None, out=None, ddof=0, keepdims=False) whole
var(axis=None, dtype=None, out=None, ddof=0, keepdims=False) whole
min(axis=None, out=None, keepdims=False) reduced
max(axis=None, out=None, keepdims=False) reduced
argmin(axis=None, out=None, *, keepdims=False) reduced
argmax(axis=None, out=None, *, keepdims=False) reduced
any(axis=None, out=None, keepdims=False) reduced
all(axis=None, out=None, keepdims=False) reduced
cumsum(axis=None, dtype=None, out=None) whole
cumprod(axis=None, dtype=None, out=None) whole
trace(offset=0, axis1=0, axis2=1, dtype=None, out=None) reduced
round(decimals=0, out=None) elementwise
clip(min=None, max=None, out=None) elementwise
conj() elementwise
conjugate() elementwise
dot(b, out=None) product
reshape(*shape, order='C', copy=None) whole
transpose(*axes) view
swapaxes(axis1, axis2) view
squeeze(axis=None) view
ravel(order='C') whole
flatten(order='C') whole
diagonal(offset=0, axis1=0, axis2=1) view
repeat(repeats, axis=None) repeated
take(indices, axis=None, out=None, mode='raise') taken
put(indices, values, mode='raise') taken
sort(axis=-1, kind=None, *, stable=None) sorted
argsort(axis=-1, kind=None, *, stable=None) sorted
partition(kth, axis=-1, kind='introselect') sorted
argpartition(kth, axis=-1, kind='introselect') sorted
searchsorted(v, side='left', sorter=None) sorted
nonzero() found
copy(order='C') whole
astype(dtype, order='K', casting='unsafe', subok=True, copy=True) converted
view(dtype) view
fill(value) whole
item(*args) view
tolist() listed
tobytes(order='C') listed
"""

# Of np.add and its like.
UFUNC = """
reduce(a, axis=0, dtype=None, out=None, keepdims=False, initial=0) reduced
accumulate(a, axis=0, dtype=None, out=None) whole
outer(a, b) outer
"""

# Of numpy.random and of a RandomState: the stream of NumPy's first generator.
LEGACY = """
rand(*size) drawn
randn(*size) drawn
random(size=None) drawn
random_sample(size=None) drawn
randint(low, high=None, size=None, dtype=int) drawn
random_integers(low, high=None, size=None) drawn
normal(loc=0.0, scale=1.0, size=None) drawn
standard_normal(size=None) drawn
uniform(low=0.0, high=1.0, size=None) drawn
lognormal(mean=0.0, sigma=1.0, size=None) drawn
logistic(loc=0.0, scale=1.0, size=None) drawn
laplace(loc=0.0, scale=1.0, size=None) drawn
gumbel(loc=0.0, scale=1.0, size=None) drawn
exponential(scale=1.0, size=None) drawn
standard_exponential(size=None) drawn
gamma(shape, scale=1.0, size=None) drawn
standard_gamma(shape, size=None) drawn
beta(a, b, size=None) drawn
chisquare(df, size=None) drawn
standard_t(df, size=None) drawn
standard_cauchy(size=None) drawn
rayleigh(scale=1.0, size=None) drawn
triangular(left, mode, right, size=None) drawn
weibull(a, size=None) drawn
pareto(a, size=None) drawn
binomial(n, p, size=None) drawn
negative_binomial(n, p, size=None) drawn
geometric(p, size=None) drawn
poisson(lam=1.0, size=None) drawn
multinomial(n, pvals, size=None) drawn
dirichlet(alpha, size=None) drawn
multivariate_normal(mean, cov, size=None, check_valid='warn', tol=1e-08) spread_out
choice(a, size=None, replace=True, p=None) chosen
permutation(x) shuffled
shuffle(x) shuffled
"""

# Of the generator that numpy.random.default_rng makes.
MODERN = """
random(size=None, dtype=float, out=None) drawn
integers(low, high=None, size=None, dtype=int, endpoint=False) drawn
normal(loc=0.0, scale=1.0, size=None) drawn
standard_normal(size=None, dtype=float, out=None) drawn
uniform(low=0.0, high=1.0, size=None) drawn
lognormal(mean=0.0, sigma=1.0, size=None) drawn
logistic(loc=0.0, scale=1.0, size=None) drawn
laplace(loc=0.0, scale=1.0, size=None) drawn
gumbel(loc=0.0, scale=1.0, size=None) drawn
exponential(scale=1.0, size=None) drawn
standard_exponential(size=None) drawn
gamma(shape, scale=1.0, size=None) drawn
beta(a, b, size=None) drawn
chisquare(df, size=None) drawn
standard_t(df, size=None) drawn
rayleigh(scale=1.0, size=None) drawn
triangular(left, mode, right, size=None) drawn
weibull(a, size=None) drawn
pareto(a, size=None) drawn
binomial(n, p, size=None) drawn
negative_binomial(n, p, size=None) drawn
geometric(p, size=None) drawn
poisson(lam=1.0, size=None) drawn
multinomial(n, pvals, size=None) drawn
dirichlet(alpha, size=None) drawn
multivariate_normal(mean, cov, size=None, check_valid='warn', tol=1e-08, *, \
method='svd') spread_out
choice(a, size=None, replace=True, p=None, axis=0, shuffle=True) chosen
permutation(x, axis=0) shuffled
permuted(x, *, axis=None, out=None) shuffled
shuffle(x, axis=0) shuffled
"""

# What is no plain call of NumPy's function; written in `functions` and `streams`.
WRITTEN = (
    "apply_along_axis array2string array_repr array_str dtype errstate finfo fromfunction fromiter "
    "frombuffer "
    "format_float_positional format_float_scientific c_ r_ s_ mgrid ogrid iinfo get_printoptions "
    "printoptions set_printoptions seterr geterr "
    "vectorize ndindex ndenumerate shares_memory random.seed random.get_state random.set_state "
    "random.default_rng"
).split()
CLASSES = (
    "ndarray generic number integer signedinteger unsignedinteger inexact floating "
    "complexfloating bool_ bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 "
    "float64 complex64 complex128 intp uintp int_ uint intc half single double csingle cdouble "
    "longlong ulonglong short ushort byte ubyte"
).split()
CONSTANTS = "pi e inf nan euler_gamma newaxis __version__".split()
ERRORS = ("linalg.LinAlgError", "exceptions.AxisError")
# What NumPy has no more, and what stands in its place.
_SUCCESSORS = """
int int, float float, complex complex, object object, str str, unicode_ str, string_ bytes,
float_ numpy.float64, complex_ numpy.complex128, round_ numpy.round, trapz numpy.trapezoid,
product numpy.prod, cumproduct numpy.cumprod, alltrue numpy.all, sometrue numpy.any,
in1d numpy.isin, row_stack numpy.vstack, asfarray numpy.asarray, mat numpy.array,
matrix numpy.array, infty numpy.inf, Infinity numpy.inf, PINF numpy.inf, NINF -numpy.inf
"""
REPLACED: dict[str, str] = dict(pair.split() for pair in _SUCCESSORS.split(","))
STREAMS = ("random.RandomState", "random.Generator")


class Row(NamedTuple):
    """A function: its name below numpy, its parameters, its cost, its ways with tensors."""

    name: str
    parameters: str
    cost: str
    trait: str = ""


def rows(text: str) -> dict[str, Row]:
    """The rows of one of the texts above."""
    found = {}
    for line in text.strip().splitlines():
        head, _, tail = line.rpartition(")")
        name, _, parameters = head.partition("(")
        cost, _, trait = tail.strip().partition(" ")
        found[name] = Row(name, parameters, cost, trait)
    return found


@functools.cache
def functions() -> dict[str, Row]:
    """Every function that is a plain call, by its dotted name below numpy."""
    found: dict[str, Row] = {}
    for text in (CREATION, SHAPES, MATHEMATICS, REDUCTIONS, SORTING, PRODUCTS, OTHERS):
        found.update(rows(text))
    for names, parameters in ((ONE, "x"), (TWO, "x1, x2")):
        for name in names.split():
            given = f"{parameters}, out=None, *, where=True, dtype=None"
            found[name] = Row(name, given, "elementwise", "ufunc")
    for name, row in rows(LEGACY).items():
        found[f"random.{name}"] = row._replace(name=f"random.{name}")
    return found


def names_in(space: str) -> frozenset[str]:
    """The names directly below numpy, or below one of its modules."""
    below = f"{space}." if space else ""
    rest = (name[len(below) :] for name in names() if name.startswith(below))
    return frozenset(name for name in rest if "." not in name)


@functools.cache
def names() -> frozenset[str]:
    """All dotted names below numpy."""
    return frozenset([*functions(), *WRITTEN, *CLASSES, *CONSTANTS, *ERRORS, *STREAMS])
