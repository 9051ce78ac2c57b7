"""Tests: each row of the table of arrays: its result is NumPy's, and it asks for what it takes."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy
import pytest

from gradcli.arrays import names
from gradcli.arrays.streams import Generator, RandomState
from gradcli.arrays.table import LEGACY, METHODS, MODERN, functions, rows
from gradcli.arrays.values import wrap
from gradcli.engine.schema.mode import state

# v a line of 60,000, w another, i whole numbers below 60,000, b truths, z complex, m 300 x 200,
# q 200 x 200 and regular, s three stacked matrices, t texts.
SAMPLES = """
array: np.array(v); np.array([1, 2, 3], dtype=float); np.array([v, w]); np.array(i, float)
asarray: np.asarray(v, int); np.asarray([[1, 2]])
asanyarray: np.asanyarray(v)
ascontiguousarray: np.ascontiguousarray(m.T)
asfortranarray: np.asfortranarray(m)
copy: np.copy(v)
zeros: np.zeros(60000); np.zeros((300, 200), int); np.zeros(np.array([300, 200]))
ones: np.ones((300, 200)); np.ones(5, dtype=bool)
empty: np.empty(60000) * 0
full: np.full(60000, 7); np.full((200, 2), [1.0, 2.0]); np.full(1000, 'texts')
zeros_like: np.zeros_like(m); np.zeros_like(v, shape=(300, 300))
ones_like: np.ones_like(i)
empty_like: np.empty_like(v) * 0
full_like: np.full_like(v, 3)
arange: np.arange(60000); np.arange(1, 60000, 0.5); np.arange(9, 0, -2); np.arange(0, 3)
linspace: np.linspace(0, 1, 60000); np.linspace([0, 1], [1, 2], 30000); np.linspace(0, 1)
logspace: np.logspace(0, 1, 60000)
geomspace: np.geomspace(1, 10, 60000)
eye: np.eye(300); np.eye(300, 200, k=1)
identity: np.identity(250)
tri: np.tri(300); np.tri(300, 200, -1)
vander: np.vander(v[:300]); np.vander(v[:30], 4)
diag: np.diag(v[:300]); np.diag(m); np.diag(v[:200], k=100)
diagflat: np.diagflat(m[:10, :20])
tril: np.tril(m)
triu: np.triu(m, 1)
tril_indices: np.tril_indices(300); np.tril_indices(200, 1, 300)
triu_indices: np.triu_indices(300, 1)
diag_indices: np.diag_indices(60000); np.diag_indices(5, 3)
tril_indices_from: np.tril_indices_from(m); np.tril_indices_from(q, -1)
triu_indices_from: np.triu_indices_from(m); np.triu_indices_from(q, k=1)
diag_indices_from: np.diag_indices_from(q)
hanning: np.hanning(60000)
hamming: np.hamming(60000)
blackman: np.blackman(60000)
bartlett: np.bartlett(60000)
indices: np.indices((300, 200))
meshgrid: np.meshgrid(v[:300], w[:200]); np.meshgrid(v[:30], w[:40], indexing='ij')
ix_: np.ix_([0, 1], [2, 3])
reshape: np.reshape(m.T, 60000); np.reshape(v, (300, 200)); np.reshape(v, -1)
ravel: np.ravel(m.T)
transpose: np.transpose(m); np.transpose(s, (2, 0, 1))
permute_dims: np.permute_dims(s, (2, 0, 1))
moveaxis: np.moveaxis(s, 0, -1)
swapaxes: np.swapaxes(m, 0, 1)
rollaxis: np.rollaxis(s, 2)
concatenate: np.concatenate([v, w]); np.concatenate((m, m), axis=1); np.concatenate([v, i, b])
concat: np.concat([v, w])
stack: np.stack([v, w]); np.stack([v, w], axis=1)
vstack: np.vstack([m, m])
hstack: np.hstack((m, m))
dstack: np.dstack([m, m])
column_stack: np.column_stack([v, w])
block: np.block([[m, m], [m, m]]); np.block([v, w, 3.0])
append: np.append(v, 1); np.append(m, m, axis=0)
insert: np.insert(v, 1, 5); np.insert(m, [1, 2], 0, axis=1); np.insert(v, i[:5000], 1)
delete: np.delete(v, 1); np.delete(m, [0, 1], axis=1)
trim_zeros: np.trim_zeros(v); np.trim_zeros(np.append(v, [0, 0]), 'b')
split: np.split(v, 3); np.split(m, [100, 200])
array_split: np.array_split(v, 7); np.array_split(v[:3], 200)
hsplit: np.hsplit(m, 2)
vsplit: np.vsplit(m, 2)
dsplit: np.dsplit(s, 2)
expand_dims: np.expand_dims(v, 0)
squeeze: np.squeeze(v[None])
tile: np.tile(v, 3); np.tile(v[:200], (300, 1))
repeat: np.repeat(v, 3); np.repeat(m, 2, axis=1); np.repeat(v[:3], [1, 2, 3])
roll: np.roll(v, 3); np.roll(m, (1, 2), (0, 1))
flip: np.flip(m)
fliplr: np.fliplr(m)
flipud: np.flipud(m)
rot90: np.rot90(m)
broadcast_to: np.broadcast_to(v, (3, 60000))
broadcast_arrays: np.broadcast_arrays(v[:3], m[:3, :1])
broadcast_shapes: np.broadcast_shapes((3, 1), (1, 4))
atleast_1d: np.atleast_1d(3.0)
atleast_2d: np.atleast_2d(v)
atleast_3d: np.atleast_3d(v)
pad: np.pad(v, 1000); np.pad(m, ((1, 2), (3, 4)), mode='edge'); np.pad(m, 50, mode='reflect')
resize: np.resize(v[:10], 60000)
diagonal: np.diagonal(m)
fill_diagonal: np.fill_diagonal(m, 3)
shape: np.shape(m)
ndim: np.ndim(m)
size: np.size(m); np.size(m, 0)
take: np.take(v, i); np.take(m, [1, 2, 1], axis=1)
take_along_axis: np.take_along_axis(m, np.argsort(m, axis=1), axis=1)
put_along_axis: np.put_along_axis(m, np.zeros((300, 1), dtype=int), 5, 1)
put: np.put(v, [0, 1], [7, 8])
copyto: np.copyto(v, 1.5)
unravel_index: np.unravel_index(i, (300, 200))
ravel_multi_index: np.ravel_multi_index((i[:9] % 3, i[:9] % 4), (3, 4))
clip: np.clip(v, 5, 100); v.clip(3, None)
round: np.round(v / 7, 2)
around: np.around(v / 7)
fix: np.fix(v / 7)
real: np.real(z)
imag: np.imag(z); np.imag(v)
angle: np.angle(z)
nan_to_num: np.nan_to_num(v / 0)
sinc: np.sinc(v)
i0: np.i0(v[:1000] / 100)
interp: np.interp(w, v, w)
diff: np.diff(v); np.diff(m, n=3); np.diff(v[:3], n=5)
ediff1d: np.ediff1d(v)
gradient: np.gradient(v); np.gradient(m)
convolve: np.convolve(v, [1.0, 2.0]); np.convolve(v[:500], w[:400], 'same')
correlate: np.correlate(v, [1.0, 2.0])
cross: np.cross(v.reshape(-1, 3), w.reshape(-1, 3))
kron: np.kron(m[:30, :20], m[:20, :10])
trapezoid: np.trapezoid(v); np.trapezoid(w, v)
polyfit: np.polyfit(v[:5000], w[:5000], 2)
polyval: np.polyval([1.0, 2.0, 3.0], v)
cov: np.cov(m)
corrcoef: np.corrcoef(m.T[:20])
isreal: np.isreal(z)
iscomplex: np.iscomplex(z)
isrealobj: np.isrealobj(v)
iscomplexobj: np.iscomplexobj(z)
isclose: np.isclose(v, w)
allclose: np.allclose(v, v)
array_equal: np.array_equal(v, w)
array_equiv: np.array_equiv(v, v)
where: np.where(b, v, w); np.where(b); np.where(v > 5, 1, 0); np.where(m[:, :1] > m[:1], 1.0, 0.0)
select: np.select([v > 5, v > 3], [v, w], 0); np.select([m[:, :1] > 3], [m[:1]])
isscalar: np.isscalar(3.0)
divmod: np.divmod(v, 7)
unwrap: np.unwrap(v)
sum: np.sum(v); np.sum(m, axis=0); np.sum(i, keepdims=True); np.sum([1, 2, 3])
prod: np.prod(v[:20] + 1)
mean: np.mean(m, 1); np.mean(v.astype(np.float16)); np.mean([1, 2])
std: np.std(v); np.std(m, axis=0, ddof=1)
var: np.var(m, 1)
min: np.min(v)
max: np.max(m, axis=1, keepdims=True)
amin: np.amin(v)
amax: np.amax(v)
ptp: np.ptp(v)
argmin: np.argmin(v)
argmax: np.argmax(m, axis=1)
any: np.any(b)
all: np.all(m, axis=0)
cumsum: np.cumsum(v); np.cumsum(m, axis=1)
cumprod: np.cumprod(v[:20])
nansum: np.nansum(v)
nanprod: np.nanprod(v[:9])
nanmean: np.nanmean(m, axis=0)
nanstd: np.nanstd(v)
nanvar: np.nanvar(m)
nanmin: np.nanmin(v)
nanmax: np.nanmax(v)
nanargmin: np.nanargmin(v)
nanargmax: np.nanargmax(v)
nanmedian: np.nanmedian(m)
nanpercentile: np.nanpercentile(v, 30)
nancumsum: np.nancumsum(v)
median: np.median(v); np.median(m, axis=0)
percentile: np.percentile(v, [10, 50]); np.percentile(m, 30, axis=1)
quantile: np.quantile(v, 0.3); np.quantile(m, v[:500] / 500, axis=1)
average: np.average(v, weights=w); np.average(m, axis=0)
count_nonzero: np.count_nonzero(b)
trace: np.trace(m)
sort: np.sort(w); np.sort(m, axis=0); np.sort(t)
argsort: np.argsort(w); np.argsort(w, kind='stable')
lexsort: np.lexsort((v, w))
partition: np.partition(w, 5)
argpartition: np.argpartition(w, 5) * 0
searchsorted: np.searchsorted(v, w)
digitize: np.digitize(w, v[:100])
unique: np.unique(i % 7, return_counts=True); np.unique(w, return_index=True, return_inverse=True)
nonzero: np.nonzero(m)
flatnonzero: np.flatnonzero(v)
argwhere: np.argwhere(m)
extract: np.extract(b, v)
isin: np.isin(i, [1, 2, 3]); np.isin(v, w)
intersect1d: np.intersect1d(v, w)
union1d: np.union1d(v, w)
setdiff1d: np.setdiff1d(v, w)
setxor1d: np.setxor1d(v, w)
histogram: np.histogram(v, bins=20); np.histogram(v, bins=[0, 10, 100]); np.histogram(v[:9], 50000)
histogram2d: np.histogram2d(v, w, bins=10); np.histogram2d(v[:9], w[:9], 200)
histogram_bin_edges: np.histogram_bin_edges(v, 60000)
bincount: np.bincount(i); np.bincount(i % 3, minlength=60000)
dot: np.dot(m, q); np.dot(v, w); np.dot(v, 3); np.dot(s, q)
matmul: np.matmul(m, q); np.matmul(s, q); np.matmul(v[:200], q)
vdot: np.vdot(v, w)
inner: np.inner(m, m); np.inner(v, w)
outer: np.outer(v[:300], w[:200])
tensordot: np.tensordot(m, q, 1); np.tensordot(m, m, ([0, 1], [0, 1])); np.tensordot(v[:3], w, 0)
einsum: np.einsum('ij,jk->ik', m, q); np.einsum('i,j', v[:300], w[:200]); np.einsum('...i->...', s)
linalg.norm: np.linalg.norm(v); np.linalg.norm(m, axis=1); np.linalg.norm(q, 2)
linalg.inv: np.linalg.inv(q)
linalg.pinv: np.linalg.pinv(m)
linalg.solve: np.linalg.solve(q, q)
linalg.lstsq: np.linalg.lstsq(m, v[:300])
linalg.det: np.linalg.det(q)
linalg.slogdet: np.linalg.slogdet(q)
linalg.eig: np.linalg.eig(q)
linalg.eigh: np.linalg.eigh(q + q.T)
linalg.eigvals: np.linalg.eigvals(q)
linalg.eigvalsh: np.linalg.eigvalsh(q + q.T)
linalg.svd: np.linalg.svd(m); np.linalg.svd(m[:, :3], full_matrices=False)
linalg.qr: np.linalg.qr(m); np.linalg.qr(m[:, :2], mode='complete')
linalg.cholesky: np.linalg.cholesky(q @ q.T)
linalg.matrix_rank: np.linalg.matrix_rank(q)
linalg.matrix_power: np.linalg.matrix_power(q / 300, 5)
linalg.cond: np.linalg.cond(q)
fft.fft: np.fft.fft(v); np.fft.fft(v[:10], 60000); np.fft.fft(m, axis=0)
fft.ifft: np.fft.ifft(z)
fft.rfft: np.fft.rfft(v)
fft.irfft: np.fft.irfft(z[:3000])
fft.fft2: np.fft.fft2(m); np.fft.fft2(m[:5], s=(200, 200))
fft.ifft2: np.fft.ifft2(m)
fft.rfft2: np.fft.rfft2(m); np.fft.rfft2(m, (400, 300))
fft.irfft2: np.fft.irfft2(m); np.fft.irfft2(m, s=(300, 500))
polynomial.legendre.leggauss: np.polynomial.legendre.leggauss(200)
polynomial.hermite.hermgauss: np.polynomial.hermite.hermgauss(200)
polynomial.hermite_e.hermegauss: np.polynomial.hermite_e.hermegauss(200)
polynomial.laguerre.laggauss: np.polynomial.laguerre.laggauss(150)
polynomial.chebyshev.chebgauss: np.polynomial.chebyshev.chebgauss(200)
fft.fftfreq: np.fft.fftfreq(60000)
fft.rfftfreq: np.fft.rfftfreq(60000)
fft.fftshift: np.fft.fftshift(v)
fft.ifftshift: np.fft.ifftshift(v)
may_share_memory: np.may_share_memory(v, v)
result_type: np.result_type(v, i)
promote_types: np.promote_types('int32', 'float32')
can_cast: np.can_cast('int32', 'float32')
issubdtype: np.issubdtype('int32', 'float64')
testing.assert_allclose: np.testing.assert_allclose(v, v)
testing.assert_almost_equal: np.testing.assert_almost_equal(v, v)
testing.assert_array_almost_equal: np.testing.assert_array_almost_equal(m, m)
testing.assert_array_equal: np.testing.assert_array_equal(i, i)
"""
UNARY = "np.{name}(v / 60000); np.{name}(m.T); np.{name}([0.5, 0.25])"
WHOLE = "np.{name}(i); np.{name}([1, 2])"
BINARY = "np.{name}(v, w + 1); np.{name}(m, m[:1]); np.{name}(m[:, :1], m[:1])"
OF_WHOLE = "np.{name}(i, 3); np.{name}([1, 2], [3, 4])"
OF_METHODS = """
sum: m.sum(); m.sum(axis=0, keepdims=True)
prod: v[:9].prod()
mean: m.mean(1)
std: m.std(); m.std(axis=0, ddof=1)
var: v.var()
min: v.min()
max: m.max(axis=0)
argmin: v.argmin()
argmax: m.argmax(axis=1)
any: b.any()
all: b.all()
cumsum: v.cumsum()
cumprod: v[:9].cumprod()
trace: m.trace()
round: (v / 7).round(2)
clip: v.clip(1, 5)
conj: z.conj()
conjugate: z.conjugate()
dot: m.dot(q)
reshape: v.reshape(300, 200); m.T.reshape((60000,)); v.reshape(-1, 2)
transpose: m.transpose(); s.transpose(2, 0, 1)
swapaxes: m.swapaxes(0, 1)
squeeze: v[None].squeeze()
ravel: m.T.ravel()
flatten: m.flatten()
diagonal: m.diagonal()
repeat: v.repeat(2)
take: v.take(i)
put: v.put([1, 2], 5)
sort: w.sort()
argsort: w.argsort()
partition: w.partition(4)
argpartition: w.argpartition(4) * 0
searchsorted: v.searchsorted(w)
nonzero: m.nonzero()
copy: m.copy()
astype: v.astype(int); v.astype(np.float32); i[:999].astype(str); b.astype(float)
view: v.view(np.int64)
fill: v.fill(3)
item: v.item(3)
tolist: v.tolist()
tobytes: v.tobytes()
"""
OF_STREAMS = """
rand: r.rand(300, 200)
randn: r.randn(60000)
randint: r.randint(0, 10, 60000); r.randint(10)
random_integers: r.random_integers(5, size=60000)
uniform: r.uniform(0, 1, (300, 200)); r.uniform(v, v + 1)
normal: r.normal(v, 1); r.normal(size=60000)
gamma: r.gamma(2.0, size=60000)
standard_gamma: r.standard_gamma(2.0, size=60000)
beta: r.beta(1, 2, 60000)
chisquare: r.chisquare(3, 60000)
standard_t: r.standard_t(3, 60000)
triangular: r.triangular(0, 1, 2, 60000)
weibull: r.weibull(2, 60000)
pareto: r.pareto(2, 60000)
binomial: r.binomial(9, 0.5, 60000)
negative_binomial: r.negative_binomial(9, 0.5, 60000)
geometric: r.geometric(0.5, 60000)
multinomial: r.multinomial(9, [0.5, 0.5], 30000)
dirichlet: r.dirichlet([1, 2, 3], 20000)
multivariate_normal: r.multivariate_normal([0, 0], [[1, 0], [0, 1]], 30000)
choice: r.choice(60000, 100, replace=False); r.choice(v, 60000); r.choice(5, 60000, p=[.2] * 5)
permutation: r.permutation(60000); r.permutation(m)
permuted: r.permuted(v)
shuffle: r.shuffle(m)
integers: r.integers(0, 10, 60000)
"""
DRAWN = "r.{name}(size=60000)"
NOT_DRAWN_BY_SIZE = frozenset(("permuted", "shuffle"))


def samples(text: str) -> dict[str, list[str]]:
    lines = (line.partition(": ") for line in text.strip().splitlines())
    return {name: calls.split("; ") for name, _, calls in lines}


def _of_functions() -> dict[str, list[str]]:
    found = samples(SAMPLES)
    for name, row in functions().items():
        if name in found or name.startswith("random."):
            continue
        two = "x2" in row.parameters
        works_on_whole = name.startswith(("bitwise", "invert", "left_", "right_", "gcd", "lcm"))
        text = (OF_WHOLE if two else WHOLE) if works_on_whole else (BINARY if two else UNARY)
        found[name] = text.format(name=name).split("; ")
    return found


def _of_stream(text: str) -> dict[str, list[str]]:
    own = samples(OF_STREAMS)
    return {name: own.get(name) or [DRAWN.format(name=name)] for name in rows(text)}


def inputs() -> dict[str, Any]:
    return {name: array.copy() for name, array in _drawn().items()}


@cache
def _drawn() -> dict[str, Any]:
    draw = numpy.random.RandomState(3)
    v = numpy.arange(60000.0)
    return {
        "v": v, "w": draw.permutation(v), "i": draw.permutation(60000), "b": v % 3 == 0,
        "z": v + 1j, "m": draw.rand(300, 200), "q": draw.rand(200, 200) + 9 * numpy.eye(200),
        "s": draw.rand(3, 40, 200), "t": v[:3000].astype(str),
    }  # fmt: skip


class Names:
    """numpy as a program has it, for Python."""

    def __init__(self, below: str = "") -> None:
        self.below = below

    def __getattr__(self, name: str) -> Any:
        path = self.below + name
        is_module = any(word.startswith(f"{path}.") for word in functions())
        return Names(f"{path}.") if is_module else names.resolve(path)


@pytest.fixture
def asked() -> Iterator[list[int]]:
    """The memory that is requested, in bytes."""
    found: list[int] = []
    before, state.reserve = state.reserve, found.append
    yield found
    state.reserve = before


def shown(value: Any) -> str:
    """The text of a result, whatever it is made of."""
    if isinstance(value, tuple | list) and len(value) < 1000:
        return f"({', '.join(map(shown, value))})"
    return repr(value)


def check(call: str, stream: Callable[[int], Any], own: Callable[[int], Any], asked: Any) -> None:
    """The call gives what NumPy gives, and asks for as much as it takes at its peak."""
    theirs = {"np": numpy, "r": own(5), **inputs()}
    mine = {"np": Names(), "r": stream(5), **{name: wrap(a) for name, a in inputs().items()}}
    expected = eval(call, theirs)
    eval(call, {**mine, "r": stream(5)})  # what is made once, at the first call
    asked.clear()
    arrays = {**mine, **{name: wrap(a) for name, a in inputs().items()}}
    tracemalloc.start()
    result = eval(call, arrays)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert shown(result) == shown(expected)
    assert all(shown(arrays[name]) == shown(theirs[name]) for name in _drawn())
    assert sum(asked) + SMALL >= peak, f"{call} asks for {sum(asked):,} and takes {peak:,}"


SMALL = 200_000  # what NumPy takes for itself: its iterators have buffers
FUNCTIONS = _of_functions()


def test_every_row_has_a_sample() -> None:
    listed = {name for name in functions() if not name.startswith("random.")}
    assert set(FUNCTIONS) == listed
    assert set(samples(OF_METHODS)) == set(rows(METHODS))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str, asked: list[int]) -> None:
    for call in FUNCTIONS[name]:
        check(call, RandomState, numpy.random.RandomState, asked)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", rows(METHODS))
def test_methods(name: str, asked: list[int]) -> None:
    for call in samples(OF_METHODS)[name]:
        check(call, RandomState, numpy.random.RandomState, asked)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", rows(LEGACY))
def test_the_legacy_stream(name: str, asked: list[int]) -> None:
    for call in _of_stream(LEGACY)[name]:
        check(call, RandomState, numpy.random.RandomState, asked)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", rows(MODERN))
def test_the_generator(name: str, asked: list[int]) -> None:
    for call in _of_stream(MODERN)[name]:
        check(call, Generator, numpy.random.default_rng, asked)
